/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The text form of layouts (the grammar stands in layout.h).
 *
 * What is written is the shortest form that gives the same layout again: nothing where the strides
 * are those of a packed column-major layout, else "row", else a leading dimension, else all
 * strides. So two layouts are equal exactly where their texts are.
 *
 * The parser is one pass over the text. It reads everything into a small struct first and builds
 * the layout afterwards, by the functions that a program would use, so it cannot let through what
 * they would refuse. A refusal quotes the text and says at which character, counted from 1,
 * something else was expected. Nothing depends on the locale. */

#include "buffer/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const layout_structures[] = {
    [JSTRUCTURE_GENERAL] = "",
    [JSTRUCTURE_SYMMETRIC_UPPER] = "symmetric-upper",
    [JSTRUCTURE_SYMMETRIC_LOWER] = "symmetric-lower",
    [JSTRUCTURE_HERMITIAN_UPPER] = "hermitian-upper",
    [JSTRUCTURE_HERMITIAN_LOWER] = "hermitian-lower",
    [JSTRUCTURE_TRIANGULAR_UPPER] = "triangular-upper",
    [JSTRUCTURE_TRIANGULAR_LOWER] = "triangular-lower",
};
enum { LAYOUT_STRUCTURES = sizeof layout_structures / sizeof layout_structures[0] };

/* ---- Writing ---- */

typedef struct layout_writer {
    /* The longest is 8 dimensions of three numbers of 19 digits: 506 characters. */
    char text[JLAYOUT_TEXT_BYTES];
    size_t length;
} layout_writer_t;

static void layout_put(layout_writer_t *writer, const char *format, ...) JALLOC_PRINTF(2, 3);
static void layout_put(layout_writer_t *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(writer->text + writer->length,
                                 sizeof writer->text - writer->length, format, arguments);
    va_end(arguments);
    writer->length += (size_t)(length > 0 ? length : 0);
}

static void layout_put_numbers(layout_writer_t *writer, const char *before, int count,
                               const int64_t *numbers, const char *after) {
    layout_put(writer, "%s", before);
    for (int i = 0; i < count; i++)
        layout_put(writer, "%s%lld", i > 0 ? "," : "", (long long)numbers[i]);
    layout_put(writer, "%s", after);
}

/* Whether the strides are those of an order with a leading dimension (0: packed). */
static bool layout_matches(const jlayout_t *layout, jorder_t order, int64_t leading_dimension) {
    int64_t strides[JLAYOUT_MAX_RANK];
    return ji_layout_strides(layout->rank, layout->extents, order, leading_dimension, strides) &&
           memcmp(strides, layout->strides, (size_t)layout->rank * sizeof strides[0]) == 0;
}

static void layout_put_strides(layout_writer_t *writer, const jlayout_t *layout) {
    for (jorder_t order = JORDER_COLUMN_MAJOR; order <= JORDER_ROW_MAJOR; order++)
        if (layout_matches(layout, order, 0)) {
            layout_put(writer, "%s", order == JORDER_ROW_MAJOR ? " row" : "");
            return;
        }

    for (jorder_t order = JORDER_COLUMN_MAJOR; layout->rank >= 2 && order <= JORDER_ROW_MAJOR;
         order++) {
        const int fastest = order == JORDER_ROW_MAJOR ? layout->rank - 1 : 0;
        const int64_t lead = layout->strides[order == JORDER_ROW_MAJOR ? layout->rank - 2 : 1];
        if (lead >= layout->extents[fastest] && layout_matches(layout, order, lead)) {
            layout_put(writer, "%s ld=%lld", order == JORDER_ROW_MAJOR ? " row" : "",
                       (long long)lead);
            return;
        }
    }

    layout_put_numbers(writer, " strides=(", layout->rank, layout->strides, ")");
}

jstatus_t jlayout_format(const jlayout_t *layout, const jdatatype_t *type, char *text,
                         size_t size) {
    JREQUIRE(text != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(jlayout_check(layout));
    if (type != NULL && jhandle_sizeof_datatype(*type) == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: no element type has the number %d",
                       (int)*type);

    layout_writer_t writer = {.length = 0};
    bool divided = false;
    for (int d = 0; d < layout->rank; d++)
        divided |= layout->blocks[d] != 0;

    layout_put_numbers(&writer, type != NULL ? jdatatype_name(*type) : "", 0, NULL, "[");
    layout_put_numbers(&writer, "", layout->rank, layout->extents, "]");
    layout_put_strides(&writer, layout);
    if (divided)
        layout_put_numbers(&writer, " blocks=(", layout->rank, layout->blocks, ")");
    if (layout->structure != JSTRUCTURE_GENERAL)
        layout_put(&writer, " %s", layout_structures[layout->structure]);

    if (writer.length >= size)
        return ji_fail(JSTATUS_INVALID_SIZE, "layout: the text \"%s\" does not fit %zu bytes",
                       writer.text, size);
    memcpy(text, writer.text, writer.length + 1);
    return JSTATUS_SUCCESS;
}

/* ---- Reading ---- */

typedef struct layout_reader {
    const char *text, *at;
    const char *expected; /* what was, where something else stands */
    bool too_large;       /* a number was */
} layout_reader_t;

/* Notes what was expected here. Whoever gets false from here gives it on: there is one miss. */
static bool layout_miss(layout_reader_t *reader, const char *expected) {
    reader->expected = expected;
    return false;
}

/* Takes the word, if it stands here. */
static bool layout_take(layout_reader_t *reader, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool layout_number(layout_reader_t *reader, int64_t *number) {
    if (*reader->at < '0' || *reader->at > '9')
        return layout_miss(reader, "a number");

    int64_t value = 0;
    for (const char *digit = reader->at; *digit >= '0' && *digit <= '9'; digit++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *digit - '0', &value)) {
            reader->too_large = true;
            return layout_miss(reader, "a number of 63 bits");
        }

    while (*reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    *number = value;
    return true;
}

/* NUMBER {"," NUMBER} and the end. */
static bool layout_numbers(layout_reader_t *reader, char end, int *count,
                           int64_t numbers[JLAYOUT_MAX_RANK]) {
    *count = 0;
    do {
        if (*count == JLAYOUT_MAX_RANK)
            return layout_miss(reader, "no more than 8 dimensions");
        if (!layout_number(reader, &numbers[*count]))
            return false;
        ++*count;
    } while (layout_take(reader, ","));

    if (*reader->at != end)
        return layout_miss(reader, end == ']' ? "\",\" or \"]\"" : "\",\" or \")\"");
    reader->at++;
    return true;
}

/* What a text says. */
typedef struct layout_words {
    jdatatype_t type;
    int rank;
    int64_t extents[JLAYOUT_MAX_RANK], strides[JLAYOUT_MAX_RANK], blocks[JLAYOUT_MAX_RANK];
    int64_t leading_dimension;
    jstructure_t structure;
    bool has_row, has_lead, has_strides, has_blocks, has_structure;
} layout_words_t;

/* As many numbers as there are dimensions. */
static bool layout_read_tuple(layout_reader_t *reader, int rank,
                              int64_t numbers[JLAYOUT_MAX_RANK]) {
    const char *const begin = reader->at;
    int count;
    if (!layout_numbers(reader, ')', &count, numbers))
        return false;

    if (count == rank)
        return true;
    reader->at = begin;
    return layout_miss(reader, "one number for each dimension");
}

static bool layout_read_structure(layout_reader_t *reader, jstructure_t *structure) {
    for (int s = 1; s < (int)LAYOUT_STRUCTURES; s++)
        if (layout_take(reader, layout_structures[s])) {
            *structure = (jstructure_t)s;
            return true;
        }
    return false;
}

static bool layout_read_attribute(layout_reader_t *reader, layout_words_t *words) {
    const char *const begin = reader->at;
    bool *seen, excluded = false;

    if (layout_take(reader, "row")) {
        seen = &words->has_row;
        excluded = words->has_strides;
    } else if (layout_take(reader, "ld=")) {
        seen = &words->has_lead;
        excluded = words->has_strides;
        if (!layout_number(reader, &words->leading_dimension))
            return false;
    } else if (layout_take(reader, "strides=(")) {
        seen = &words->has_strides;
        excluded = words->has_row || words->has_lead;
        if (!layout_read_tuple(reader, words->rank, words->strides))
            return false;
    } else if (layout_take(reader, "blocks=(")) {
        seen = &words->has_blocks;
        if (!layout_read_tuple(reader, words->rank, words->blocks))
            return false;
    } else if (layout_read_structure(reader, &words->structure)) {
        seen = &words->has_structure;
    } else {
        return layout_miss(reader, "\"row\", \"ld=\", \"strides=(\", \"blocks=(\" or a structure");
    }

    if (!*seen && !excluded) {
        *seen = true;
        return true;
    }

    reader->at = begin;
    return layout_miss(reader,
                       *seen ? "no attribute a second time" : "strides, or row and ld, not both");
}

static bool layout_read(layout_reader_t *reader, bool with_type, layout_words_t *words) {
    if (with_type) {
        char name[8];
        const size_t length = strcspn(reader->at, "[");
        if (length >= sizeof name)
            return layout_miss(reader, "an element type");
        memcpy(name, reader->at, length);
        name[length] = '\0';
        if (jdatatype_parse(name, &words->type) != JSTATUS_SUCCESS)
            return layout_miss(reader, "an element type");
        reader->at += length;
    }
    if (!layout_take(reader, "["))
        return layout_miss(reader, "\"[\"");
    if (!layout_take(reader, "]") && !layout_numbers(reader, ']', &words->rank, words->extents))
        return false;

    while (layout_take(reader, " "))
        if (!layout_read_attribute(reader, words))
            return false;

    if (*reader->at != '\0')
        return layout_miss(reader, "a space or the end");
    return true;
}

static jstatus_t layout_build(const layout_words_t *words, jlayout_t *layout) {
    const jorder_t order = words->has_row ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
    jlayout_t made;
    jstatus_t status;

    JTRY(jlayout_init(&made, words->rank, words->extents, order));
    if (words->has_lead)
        JTRY(ji_layout_lead(&made, order, words->leading_dimension));
    if (words->has_strides)
        memcpy(made.strides, words->strides, sizeof made.strides);

    made.structure = words->structure;
    memcpy(made.blocks, words->blocks, sizeof made.blocks);

    JTRY(jlayout_check(&made));
    *layout = made;
done:
    return status;
}

jstatus_t jlayout_parse(const char *text, jlayout_t *layout, jdatatype_t *type) {
    JREQUIRE(text != NULL && layout != NULL, JSTATUS_INVALID_POINTER);

    layout_reader_t reader = {.text = text, .at = text};
    layout_words_t words = {.rank = 0};
    if (!layout_read(&reader, type != NULL, &words))
        return ji_fail(reader.too_large ? JSTATUS_INVALID_SIZE : JSTATUS_INVALID_VALUE,
                       "\"%.300s\" is no layout: at character %zu %s was expected", text,
                       (size_t)(reader.at - text) + 1, reader.expected);

    jstatus_t status = layout_build(&words, layout);
    if (status != JSTATUS_SUCCESS)
        return ji_fail(status, "\"%.300s\": %s", text, jstatus_last_message());

    if (type != NULL)
        *type = words.type;
    return JSTATUS_SUCCESS;
}
