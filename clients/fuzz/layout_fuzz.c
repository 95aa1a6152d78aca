/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A fuzz target: the input is the text of a layout, or a file of NumPy's.
 *
 *     byte 0         which, and how the rest makes it: as it stands, or each byte a word of the
 *                    grammar
 *     then           the text, or the file
 *
 * A text is refused, or gives a layout whose own text gives the same layout again, and whose
 * slices, blocks and measures agree with each other. A file is refused, or becomes a buffer that,
 * saved and loaded, has the same elements. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "jalloc/jalloc.h"

enum { LARGEST_INPUT = 600, LARGEST_TEXT = 8192 };

/* clang-format off */
static const char *const layout_words[] = {
    "f64", "f32_c", "i8", "[", "[", "]", "]", ",", ",", "1", "2", "3", "0", "64",
    "9223372036854775807", " ", " ", " row", " ld=", " strides=(", " blocks=(", ")",
    " symmetric-upper", " hermitian-lower", " triangular-upper", "4,4", "-", "[4,4]", "[2,3,4]",
    "(", "99999999999999999999", "\xff",
};
static const char *const header_words[] = {
    "{", "}", "'descr'", "'fortran_order'", "'shape'", ": ", ", ", "'<f8'", "'<i4'", "'|i1'",
    "'>f8'", "True", "False", "(", ")", "(2, 3)", "(3,)", "()", "0", "7", "\"", "'", " ", "\n",
    "9223372036854775807", "L", "{'descr': '<f8', 'fortran_order': ", "'shape': (",
    "[('x', '<f8')]", "{'shape': (2, ", "}    \n", "\xff",
};
/* clang-format on */

/* Each byte a word. */
static size_t put_words(const char *const *words, size_t count, const uint8_t *data, size_t size,
                        char *text) {
    size_t length = 0;
    for (size_t i = 0; i < size; ++i) {
        const char *word = words[data[i] % count];
        if (length + strlen(word) >= LARGEST_TEXT)
            break;
        memcpy(text + length, word, strlen(word));
        length += strlen(word);
    }
    text[length] = '\0';
    return length;
}

/* ---- Layouts ---- */

static void measure(const jlayout_t *layout) {
    int64_t count, span, blocks, covered = 0, offset, starts[JLAYOUT_MAX_RANK],
                                 extents[JLAYOUT_MAX_RANK];
    jlayout_t slice;
    FUZZ_DEMAND(jlayout_get_count(layout, &count) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jlayout_get_span(layout, &span) == JSTATUS_SUCCESS);
    FUZZ_DEMAND((count == 0) == (span == 0));
    FUZZ_DEMAND(!jlayout_is_packed(layout) || count == span);
    FUZZ_DEMAND(jlayout_get_block_count(layout, &blocks) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(blocks <= count && (blocks == 0) == (count == 0));
    for (int64_t number = 0; number < blocks && number < 64; ++number) {
        int64_t elements = 1;
        FUZZ_DEMAND(jlayout_get_block(layout, number, starts, extents) == JSTATUS_SUCCESS);
        FUZZ_DEMAND(jlayout_slice(layout, starts, extents, NULL, &slice, &offset) ==
                    JSTATUS_SUCCESS);
        FUZZ_DEMAND(jlayout_get_count(&slice, &elements) == JSTATUS_SUCCESS);
        FUZZ_DEMAND(jlayout_get_span(&slice, &extents[0]) == JSTATUS_SUCCESS);
        FUZZ_DEMAND(elements >= 1 && offset >= 0 && offset <= span - extents[0]);
        covered += elements;
    }
    FUZZ_DEMAND(blocks > 64 || covered == count);
}

static void read_text(const char *text, bool typed) {
    jlayout_t layout, again;
    jdatatype_t type, type_again;
    char back[JLAYOUT_TEXT_BYTES];
    const jstatus_t status = jlayout_parse(text, &layout, typed ? &type : NULL);
    if (status != JSTATUS_SUCCESS) {
        FUZZ_DEMAND(status == JSTATUS_INVALID_VALUE || status == JSTATUS_INVALID_SIZE);
        return;
    }
    FUZZ_DEMAND(jlayout_format(&layout, typed ? &type : NULL, back, sizeof back) ==
                JSTATUS_SUCCESS);
    FUZZ_DEMAND(jlayout_parse(back, &again, typed ? &type_again : NULL) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jlayout_equal(&layout, &again) && (!typed || type == type_again));
    measure(&layout);
}

/* ---- Files ---- */

static jbuffer_t *load(const char *path, jdatatype_t type) {
    static jruntime_t *runtime; /* one for all inputs */
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    jbuffer_t *buffer = NULL;
    if (runtime == NULL)
        FUZZ_DEMAND(jruntime_create(&runtime) == JSTATUS_SUCCESS);
    options.type = type;
    FUZZ_DEMAND(jbuffer_allocator_create(runtime, &options, &allocator) == JSTATUS_SUCCESS);
    const jstatus_t status = jbuffer_load(allocator, path, &buffer);
    FUZZ_DEMAND(status == JSTATUS_SUCCESS || status == JSTATUS_INVALID_VALUE ||
                status == JSTATUS_TRUNCATED);
    FUZZ_DEMAND(jbuffer_allocator_release(allocator) == JSTATUS_SUCCESS);
    return buffer;
}

static void compare(jbuffer_t *a, jbuffer_t *b, jdatatype_t type) {
    jlayout_t layout_a, layout_b;
    size_t bytes;
    void *data_a, *data_b;
    FUZZ_DEMAND(jbuffer_get_layout(a, &layout_a) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jbuffer_get_layout(b, &layout_b) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jlayout_same_shape(&layout_a, &layout_b));
    FUZZ_DEMAND(jlayout_is_packed(&layout_a) && jlayout_is_packed(&layout_b));
    FUZZ_DEMAND(jlayout_get_bytes(&layout_a, type, &bytes) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jbuffer_as_pointer(a, JDEVICE_HOST, &data_a) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jbuffer_as_pointer(b, JDEVICE_HOST, &data_b) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(bytes == 0 || memcmp(data_a, data_b, bytes) == 0);
}

static void read_npy(const void *bytes, size_t size) {
    static const jdatatype_t types[] = {JDATATYPE_F64, JDATATYPE_I32, JDATATYPE_I8};
    char path[64], saved[64];
    const int file = memfd_create("layout_fuzz", 0);
    FUZZ_DEMAND(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    snprintf(saved, sizeof saved, "/tmp/layout_fuzz-%ld.npy", (long)getpid());
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        jbuffer_t *buffer = load(path, types[i]);
        if (buffer == NULL)
            continue;
        FUZZ_DEMAND(jbuffer_save(buffer, saved) == JSTATUS_SUCCESS);
        jbuffer_t *again = load(saved, types[i]);
        FUZZ_DEMAND(again != NULL && unlink(saved) == 0);
        compare(buffer, again, types[i]);
        FUZZ_DEMAND(jbuffer_release(again) == JSTATUS_SUCCESS);
        FUZZ_DEMAND(jbuffer_release(buffer) == JSTATUS_SUCCESS);
    }
    close(file);
}

/* A file around the words of a header, and a few elements. */
static void read_header(const uint8_t *data, size_t size) {
    static char file[12 + LARGEST_TEXT + 256];
    char *const text = file + 10;
    const size_t length =
        put_words(header_words, sizeof header_words / sizeof header_words[0], data, size, text);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8);
    memset(text + length, 'e', 256);
    read_npy(file, 10 + length + 256);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[LARGEST_TEXT];
    if (size < 1 || size > LARGEST_TEXT / 2)
        return 0;
    (void)jlog_set_level(JLOG_OFF);
    const unsigned way = data[0];
    data++, size--;
    switch (way % 4) {
    case 0:
        memcpy(text, data, size);
        text[size] = '\0';
        read_text(text, way & 4);
        break;
    case 1:
        (void)put_words(layout_words, sizeof layout_words / sizeof layout_words[0], data,
                        size < 24 ? size : size % 24, text);
        read_text(text, way & 4);
        break;
    case 2: read_npy(data, size); break;
    default: read_header(data, size < 24 ? size : size % 24); break;
    }
    return 0;
}

#ifndef JALLOC_LIBFUZZER
int main(int argc, char **argv) { return fuzz_run(argc, argv, LARGEST_INPUT); }
#endif
