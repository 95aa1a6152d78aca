/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How a segment is addressed and looked at: roots, offsets and pointers, statistics, extents, the
 * picture. */

#include "segment_helper.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Roots ---- */

static jsegment_t *private_segment(size_t size_bytes) {
    PLACE(place, JSEGMENT_PRIVATE, size_bytes, 0);
    return place_create(&place);
}
static joffset_t root_of(jsegment_t *segment, const char *name) {
    joffset_t offset = 77;
    const jstatus_t status = jsegment_get_root(segment, name, &offset);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_STATUS(status, JSTATUS_NOT_FOUND);
        return JOFFSET_NULL;
    }
    return offset;
}

/* Each index once; names as they were given, also the longest. */
JTEST(SegmentRoot, AreListed) {
    jsegment_t *segment = private_segment(MIB);
    char longest[JSEGMENT_ROOT_NAME_BYTES], name[JSEGMENT_ROOT_NAME_BYTES] = "untouched";
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    joffset_t offset = 7;
    JEXPECT_STATUS(jsegment_get_root_at(segment, 0, name, &offset), JSTATUS_NOT_FOUND);
    JEXPECT_STREQ(name, "untouched");
    JEXPECT_EQ(offset, 7);
    JEXPECT_STATUS(jsegment_get_root_at(segment, JSEGMENT_MAX_ROOTS, name, &offset),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jsegment_set_root(segment, "gone", 300));
    JEXPECT_OK(jsegment_set_root(segment, longest, 100));
    JEXPECT_OK(jsegment_set_root(segment, "short", 200));
    JEXPECT_OK(jsegment_set_root(segment, "gone", JOFFSET_NULL));
    unsigned seen = 0, right = 0;
    for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; ++i) {
        if (jsegment_get_root_at(segment, i, name, &offset) != JSTATUS_SUCCESS)
            continue;
        ++seen;
        right += (strcmp(name, longest) == 0 && offset == 100) ||
                 (strcmp(name, "short") == 0 && offset == 200);
    }
    JEXPECT_EQ(seen, 2);
    JEXPECT_EQ(right, 2);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentRoot, AreSetReplacedAndTakenAway) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    JEXPECT_EQ(root_of(segment, "a"), JOFFSET_NULL);
    JEXPECT_STATUS(jsegment_set_root(segment, "a", JOFFSET_NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jsegment_set_root(segment, "a", 100));
    JEXPECT_OK(jsegment_set_root(segment, "b", MIB - 1));
    JEXPECT_EQ(root_of(segment, "a"), 100);
    JEXPECT_EQ(root_of(segment, "b"), MIB - 1);
    JEXPECT_OK(jsegment_set_root(segment, "a", 200));
    JEXPECT_EQ(root_of(segment, "a"), 200);
    JEXPECT_OK(jsegment_set_root(segment, "a", JOFFSET_NULL));
    JEXPECT_EQ(root_of(segment, "a"), JOFFSET_NULL);
    JEXPECT_EQ(root_of(segment, "b"), MIB - 1);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentRoot, ArgumentsAreChecked) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    joffset_t offset = 5;
    const char *longest = "123456789012345678901234567890123456789",
               *too_long = "1234567890123456789012345678901234567890";
    JASSERT_EQ(strlen(longest), JSEGMENT_ROOT_NAME_BYTES - 1);
    JEXPECT_STATUS(jsegment_set_root(NULL, "a", 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_set_root(segment, NULL, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_set_root(segment, "", 8), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_set_root(segment, too_long, 8), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_set_root(segment, "a", MIB), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_set_root(segment, "a", UINT64_MAX), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_get_root(NULL, "a", &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_root(segment, NULL, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_root(segment, "a", NULL), JSTATUS_INVALID_POINTER);
    const jstatus_t empty = jsegment_get_root(segment, "", &offset),
                    beyond = jsegment_get_root(segment, too_long, &offset);
    JEXPECT_TRUE(empty == JSTATUS_NOT_FOUND || empty == JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(beyond == JSTATUS_NOT_FOUND || beyond == JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jsegment_set_root(segment, longest, 4096));
    JEXPECT_EQ(root_of(segment, longest), 4096);
    /* A beginning is no name. */
    JEXPECT_EQ(root_of(segment, "12345678901234567890123456789012345678"), JOFFSET_NULL);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentRoot, AsManyAsPromised) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    char name[JSEGMENT_ROOT_NAME_BYTES];
    for (int round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; ++i) {
            snprintf(name, sizeof name, "root number %u", i);
            JASSERT_OK(jsegment_set_root(segment, name, 8 + i));
        }
        JEXPECT_STATUS(jsegment_set_root(segment, "one more", 8), JSTATUS_MEMORY_ERROR);
        /* Replacing needs no place. */
        JEXPECT_OK(jsegment_set_root(segment, "root number 5", 4000));
        for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; ++i) {
            snprintf(name, sizeof name, "root number %u", i);
            JEXPECT_EQ(root_of(segment, name), i == 5 ? 4000 : 8 + i);
        }
        segment_books(segment);
        for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; ++i) {
            snprintf(name, sizeof name, "root number %u", (i * 37) % JSEGMENT_MAX_ROOTS);
            JASSERT_OK(jsegment_set_root(segment, name, JOFFSET_NULL));
            JEXPECT_EQ(root_of(segment, name), JOFFSET_NULL);
        }
    }
    JEXPECT_OK(jsegment_destroy(segment));
}

/* Readers take no lock: each must find a value that was there, of the name that it asked for. */
static void replace_for_ever(peer_t *self, void *argument) {
    jsegment_t *segment = place_attach(argument);
    JASSERT_NOT_NULL(segment);
    peer_tell(self);
    for (uint64_t i = 0;; ++i) {
        JASSERT_OK(jsegment_set_root(segment, "even", 1000 + 2 * (i % 1000)));
        JASSERT_OK(jsegment_set_root(segment, "odd", 1001 + 2 * (i % 1000)));
        JASSERT_OK(jsegment_set_root(segment, "comes", 5000));
        JASSERT_OK(jsegment_set_root(segment, "comes", JOFFSET_NULL));
        JASSERT_OK(jsegment_set_root(segment, "goes", 6000));
        JASSERT_OK(jsegment_set_root(segment, "goes", JOFFSET_NULL));
    }
}
JTEST(SegmentRoot, ReadersSeeWholeValuesWhileAnotherProcessReplacesThem) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_set_root(segment, "even", 1000));
    JEXPECT_OK(jsegment_set_root(segment, "odd", 1001));
    JEXPECT_OK(jsegment_set_root(segment, "still", 3333));
    PEER(peer, replace_for_ever, &place);
    JASSERT_TRUE(peer_await(&peer));
    for (int64_t i = jtest_iterations(200000); i > 0 && !jtest_has_failure(); --i) {
        const joffset_t even = root_of(segment, "even"), odd = root_of(segment, "odd");
        JASSERT_TRUE(even % 2 == 0 && even >= 1000 && even < 3000);
        JASSERT_TRUE(odd % 2 == 1 && odd > 1000 && odd < 3001);
        JASSERT_EQ(root_of(segment, "still"), 3333);
        const joffset_t comes = root_of(segment, "comes"), goes = root_of(segment, "goes");
        JASSERT_TRUE(comes == JOFFSET_NULL || comes == 5000);
        JASSERT_TRUE(goes == JOFFSET_NULL || goes == 6000);
    }
    peer_kill(&peer);
    JEXPECT_OK(jsegment_recover(segment, NULL));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Offsets and pointers ---- */

JTEST(SegmentOffset, ConversionsAtEveryBoundary) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 2 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    char *base = (char *)jsegment_pointer(segment, 4096, 1) - 4096;
    JEXPECT_NULL(jsegment_pointer(segment, JOFFSET_NULL, 0));
    JEXPECT_NULL(jsegment_pointer(segment, JOFFSET_NULL, 1));
    JEXPECT_NULL(jsegment_pointer(NULL, 4096, 1));
    JEXPECT_EQ(jsegment_pointer(segment, 1, 1), (void *)(base + 1));
    JEXPECT_EQ(jsegment_pointer(segment, 1, MIB - 1), (void *)(base + 1));
    JEXPECT_NULL(jsegment_pointer(segment, 1, MIB));
    JEXPECT_EQ(jsegment_pointer(segment, MIB - 1, 1), (void *)(base + MIB - 1));
    JEXPECT_NULL(jsegment_pointer(segment, MIB - 1, 2));
    JEXPECT_NULL(jsegment_pointer(segment, MIB, 1));
    JEXPECT_NULL(jsegment_pointer(segment, 2 * MIB, 1));
    JEXPECT_NULL(jsegment_pointer(segment, 100, SIZE_MAX));
    JEXPECT_NULL(jsegment_pointer(segment, 100, SIZE_MAX - 99));
    JEXPECT_NULL(jsegment_pointer(segment, UINT64_MAX, 1));
    JEXPECT_NULL(jsegment_pointer(segment, UINT64_MAX, 2));
    JEXPECT_NULL(jsegment_pointer(segment, UINT64_MAX - 4095, 4096));
    JEXPECT_EQ(jsegment_offset(segment, NULL), JOFFSET_NULL);
    JEXPECT_EQ(jsegment_offset(NULL, base), JOFFSET_NULL);
    JEXPECT_EQ(jsegment_offset(segment, base), JOFFSET_NULL); /* offset 0 is no offset */
    JEXPECT_EQ(jsegment_offset(segment, base + 1), 1);
    JEXPECT_EQ(jsegment_offset(segment, base + MIB - 1), MIB - 1);
    JEXPECT_EQ(jsegment_offset(segment, base + MIB), JOFFSET_NULL); /* not yet */
    JEXPECT_EQ(jsegment_offset(segment, base - 1), JOFFSET_NULL);
    JEXPECT_EQ(jsegment_offset(segment, &place), JOFFSET_NULL);
    JEXPECT_OK(jsegment_grow(segment, 2 * MIB));
    JEXPECT_EQ(jsegment_offset(segment, base + MIB), MIB);
    JEXPECT_EQ(jsegment_pointer(segment, 2 * MIB - 8, 8), (void *)(base + 2 * MIB - 8));
    JEXPECT_NULL(jsegment_pointer(segment, 2 * MIB - 8, 9));
    JEXPECT_OK(jsegment_destroy(segment));
}

typedef struct aligned32 {
    _Alignas(32) char bytes[32];
} aligned32_t;
JTEST(SegmentOffset, TypedPointersKeepTheTypesAlignment) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    double *numbers = JSEGMENT_AT(segment, double, 8192, 100);
    JASSERT_NOT_NULL(numbers);
    JEXPECT_EQ(jsegment_offset(segment, numbers), 8192);
    JEXPECT_NULL(JSEGMENT_AT(segment, double, 8193, 1));
    JEXPECT_NULL(JSEGMENT_AT(segment, double, 8196, 1));
    JEXPECT_NOT_NULL(JSEGMENT_AT(segment, char, 8193, 1));
    JEXPECT_NULL(JSEGMENT_AT(segment, aligned32_t, 8192 + 16, 1));
    JEXPECT_NOT_NULL(JSEGMENT_AT(segment, aligned32_t, 8192 + 32, 1));
    JEXPECT_NOT_NULL(JSEGMENT_AT(segment, double, MIB - 80, 10));
    JEXPECT_NULL(JSEGMENT_AT(segment, double, MIB - 80, 11));
    JEXPECT_NULL(JSEGMENT_AT(segment, double, 8192, SIZE_MAX / 8 + 2)); /* the product overflows */
    JEXPECT_NULL(JSEGMENT_AT(segment, double, 8192, SIZE_MAX / 8));
    JEXPECT_NULL(JSEGMENT_AT(segment, double, JOFFSET_NULL, 1));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentOffset, PointersThatNameTheirAllocator) {
    jsegment_t *one = private_segment(MIB), *two = private_segment(MIB);
    JASSERT_TRUE(one != NULL && two != NULL);
    jshared_t *first = shared_make(one, 1001), *second = shared_make(two, 1002), *found = NULL;
    const jshared_pointer_t a = {1001, shared_take(first, 64)}, b = {1002, shared_take(second, 64)},
                            c = {1003, a.offset};
    const jshared_pointer_t null = JSHARED_POINTER_NULL;
    JEXPECT_EQ(jshared_pointer_resolve(a, 64), jsegment_pointer(one, a.offset, 64));
    JEXPECT_EQ(jshared_pointer_resolve(b, 64), jsegment_pointer(two, b.offset, 64));
    JEXPECT_NULL(jshared_pointer_resolve(b, 2 * MIB));
    JEXPECT_NULL(jshared_pointer_resolve(c, 1));
    JEXPECT_NULL(jshared_pointer_resolve(null, 1));
    JEXPECT_OK(jshared_find(1002, &found));
    JEXPECT_EQ(found, second);
    JEXPECT_STATUS(jshared_find(1003, &found), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_find(1001, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jshared_close(second));
    JEXPECT_STATUS(jshared_find(1002, &found), JSTATUS_NOT_FOUND);
    JEXPECT_NULL(jshared_pointer_resolve(b, 64));
    jshared_pointer_atomic_t atomic = {1001, {JOFFSET_NULL}};
    joffset_store(&atomic.offset, a.offset);
    JEXPECT_EQ(joffset_load(&atomic.offset), a.offset);
    JEXPECT_EQ(joffset_exchange(&atomic.offset, 5), a.offset);
    joffset_t expected = 6;
    JEXPECT_FALSE(joffset_compare_exchange(&atomic.offset, &expected, 7));
    JEXPECT_EQ(expected, 5);
    JEXPECT_TRUE(joffset_compare_exchange(&atomic.offset, &expected, 7));
    JEXPECT_EQ(joffset_load(&atomic.offset), 7);
    JEXPECT_OK(jsegment_destroy(one));
    JEXPECT_OK(jsegment_destroy(two));
}

/* ---- Statistics, extents, the picture ---- */

/* Some of everything. */
static jshared_t *populate(jsegment_t *segment, joffset_t *given, joffset_t *large) {
    jshared_t *general = shared_make(segment, 11);
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    options.header_bytes = 5000;
    options.kind = JSHARED_STACK;
    options.region_bytes = 100000;
    jshared_t *stack = NULL;
    JEXPECT_OK(jshared_create(segment, 12, &options, &stack));
    for (int i = 0; i < 100; ++i)
        shared_take(general, 48);
    shared_take(stack, 12345);
    *given = shared_take(general, 20000);
    *large = shared_take(general, 60000);
    const joffset_t hole = shared_take(general, 300000);
    shared_take(general, 9000);
    JEXPECT_OK(jshared_deallocate(general, hole));
    JEXPECT_OK(jshared_give(general, *given, JSEGMENT_SLOT_SEGMENT));
    return general;
}

typedef struct seen {
    const char *wrong;
    joffset_t given, large;
    unsigned slot, headers, slabs, blocks, regions, free_extents;
    bool saw_given, saw_large, saw_stack;
} seen_t;
static bool look(void *context, const jextent_t *extent) {
    seen_t *seen = context;
    switch (extent->state) {
    case JEXTENT_HEADER:
        ++seen->headers;
        seen->wrong = extent->offset != 0 || extent->owner != 0 ? "header" : seen->wrong;
        break;
    case JEXTENT_FREE:
        ++seen->free_extents;
        seen->wrong = extent->owner != 0 ? "free" : seen->wrong;
        break;
    case JEXTENT_BLOCK:
        ++seen->blocks;
        seen->wrong = extent->allocator_id != 11 ? "block" : seen->wrong;
        if (extent->offset == seen->given)
            seen->saw_given = extent->owner == JSEGMENT_SLOT_SEGMENT && extent->size_bytes >= 20000;
        if (extent->offset == seen->large)
            seen->saw_large = extent->owner == seen->slot && extent->size_bytes >= 60000;
        break;
    case JEXTENT_CACHED: seen->wrong = extent->owner != seen->slot ? "cached" : seen->wrong; break;
    case JEXTENT_SLAB:
        ++seen->slabs;
        seen->wrong = extent->owner != seen->slot || extent->allocator_id != 11 ||
                              extent->block_bytes < 48 || extent->live_count > extent->block_count
                          ? "slab"
                          : seen->wrong;
        break;
    case JEXTENT_REGION:
        ++seen->regions;
        seen->saw_stack |= extent->block_bytes >= 12345 && extent->size_bytes >= 100000 &&
                           extent->allocator_id == 12;
        break;
    default: seen->wrong = "state";
    }
    if (extent->struct_size != sizeof *extent)
        seen->wrong = "struct_size";
    return true;
}
static bool stop_at_once(void *context, const jextent_t *extent) {
    (void)extent;
    ++*(unsigned *)context;
    return false;
}

JTEST(SegmentView, VisitShowsEveryExtentForWhatItIs) {
    jsegment_t *segment = private_segment(2 * MIB);
    JASSERT_NOT_NULL(segment);
    seen_t seen = {0};
    populate(segment, &seen.given, &seen.large);
    seen.slot = jsegment_slot(segment);
    segment_books(segment);
    JEXPECT_OK(jsegment_visit(segment, look, &seen));
    JEXPECT_NULL(seen.wrong);
    JEXPECT_EQ(seen.headers, 1);
    JEXPECT_GE(seen.slabs, 1);
    JEXPECT_GE(seen.blocks, 3);
    JEXPECT_GE(seen.regions, 1);
    JEXPECT_GE(seen.free_extents, 1);
    JEXPECT_TRUE(seen.saw_given && seen.saw_large && seen.saw_stack);
    unsigned count = 0;
    JEXPECT_OK(jsegment_visit(segment, stop_at_once, &count));
    JEXPECT_EQ(count, 1);
    JEXPECT_STATUS(jsegment_visit(segment, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_visit(NULL, look, &seen), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentView, ArgumentsAreChecked) {
    jsegment_t *segment = private_segment(MIB);
    JASSERT_NOT_NULL(segment);
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    jsegment_process_t process = JSEGMENT_PROCESS_INIT;
    JEXPECT_STATUS(jsegment_get_stats(NULL, &stats), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_stats(segment, NULL), JSTATUS_INVALID_POINTER);
    stats.struct_size = 8;
    JEXPECT_STATUS(jsegment_get_stats(segment, &stats), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_get_process(NULL, 1, &process), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_process(segment, 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_process(segment, 0, &process), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_get_process(segment, 65, &process), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jsegment_get_process(segment, 64, &process));
    JEXPECT_FALSE(process.attached);
    process.struct_size = 8;
    JEXPECT_STATUS(jsegment_get_process(segment, 1, &process), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_verify(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_recover(NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_grow(NULL, MIB), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_draw(segment, NULL, NULL), JSTATUS_INVALID_POINTER);
    unsigned count = 9;
    JEXPECT_OK(jsegment_recover(segment, &count));
    JEXPECT_EQ(count, 0);
    JEXPECT_OK(jsegment_destroy(segment));
}

typedef struct text {
    char bytes[1 << 20];
    size_t length;
} text_t;
static void append(void *context, const char *bytes, size_t length) {
    text_t *text = context;
    if (text->length + length < sizeof text->bytes) {
        memcpy(text->bytes + text->length, bytes, length);
        text->length += length;
    }
}
/* Reads just so much XML that a missing end, a stray '<' or '&', or an unquoted value is noticed.
 * NULL: it is well formed. */
static const char *xml_error(const char *text, unsigned *rectangles) {
    char open[32][32];
    unsigned depth = 0, elements = 0;
    for (const char *at = text; *at != '\0'; ++at) {
        if (*at == '&') {
            const size_t length = strcspn(at, "; <");
            if (at[length] != ';')
                return "a bare &";
        }
        if (*at != '<') {
            if (depth == 0 && (unsigned char)*at > ' ')
                return "text outside";
            continue;
        }
        if (at[1] == '?' || at[1] == '!') {
            at = strchr(at, '>');
            if (at == NULL)
                return "no end of a declaration";
            continue;
        }
        const bool closes = at[1] == '/';
        const char *name = at + 1 + closes;
        const size_t length = strcspn(name, " />\n\t");
        if (length == 0 || length >= 32)
            return "a name";
        for (at = name + length; *at != '>' && *at != '\0'; ++at) {
            if (*at == '<')
                return "a < in an element";
            if (*at == '"') {
                at = strchr(at + 1, '"');
                if (at == NULL)
                    return "no end of a value";
            }
        }
        if (*at == '\0')
            return "no end of an element";
        if (closes) {
            if (depth == 0 || strlen(open[depth - 1]) != length ||
                strncmp(open[depth - 1], name, length) != 0)
                return "an end of another element";
            --depth;
        } else {
            if (depth == 0 && elements > 0)
                return "two at the top";
            ++elements;
            *rectangles += length == 4 && strncmp(name, "rect", 4) == 0;
            if (at[-1] != '/') {
                if (depth == 32)
                    return "too deep";
                memcpy(open[depth], name, length);
                open[depth++][length] = '\0';
            }
        }
    }
    return depth != 0 ? "an element without an end" : elements == 0 ? "nothing" : NULL;
}
JTEST(SegmentView, ThePictureIsAWellFormedOneOfEverything) {
    static text_t text;
    unsigned empty = 0, full = 0;
    jsegment_t *segment = private_segment(2 * MIB);
    JASSERT_NOT_NULL(segment);
    text.length = 0;
    JASSERT_OK(jsegment_draw(segment, append, &text));
    text.bytes[text.length] = '\0';
    JEXPECT_NULL(xml_error(text.bytes, &empty));
    JEXPECT_SUBSTR(text.bytes, "<svg");
    JEXPECT_SUBSTR(text.bytes, "</svg>");
    joffset_t given, large;
    populate(segment, &given, &large);
    text.length = 0;
    JASSERT_OK(jsegment_draw(segment, append, &text));
    text.bytes[text.length] = '\0';
    const char *error = xml_error(text.bytes, &full);
    if (error != NULL)
        JFAIL("the picture is not well formed: %s", error);
    JEXPECT_GE(full, empty + 5);
    JFOR_EACH_FAILURE(i) {
        text.length = 0;
        const jstatus_t status = jsegment_draw(segment, append, &text);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
    }
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- While another process works ---- */

typedef struct busy {
    place_t *place;
    bool gives; /* blocks to the segment, so that slabs have blocks of several owners */
} busy_t;

static void allocate_and_free(peer_t *self, void *argument) {
    const busy_t *busy = argument;
    jsegment_t *segment = place_attach(busy->place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_open(segment, 7);
    enum { BLOCKS = 512, BYTES = 128 };
    joffset_t blocks[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; ++i) {
        blocks[i] = shared_take(shared, BYTES);
        if (busy->gives && i % 8 == 0)
            JEXPECT_OK(jshared_give(shared, shared_take(shared, BYTES), JSEGMENT_SLOT_SEGMENT));
    }
    joffset_t extent = shared_take(shared, 40000);
    peer_tell(self);
    for (unsigned i = 0;; ++i) { /* until it is killed */
        joffset_t *block = &blocks[i * 7 % BLOCKS];
        (void)jshared_deallocate(shared, *block);
        (void)jshared_allocate(shared, BYTES, 0, block);
        if (i % 16 == 0) {
            (void)jshared_deallocate(shared, extent);
            (void)jshared_allocate(shared, 40000, 0, &extent);
        }
    }
}

static void discard(void *context, const char *text, size_t length) {
    (void)context, (void)text, (void)length;
}

/* Nobody is kept from its own slabs while another looks: whatever is seen, each byte is in one
 * account. */
JTEST(SegmentStats, AddUpWhileAnotherProcessWorks) {
    for (int gives = 0; gives < 2; ++gives) {
        PLACE(place, JSEGMENT_POSIX, 4 * MIB, 0);
        jsegment_t *segment = place_create(&place);
        JASSERT_NOT_NULL(segment);
        jshared_t *shared = shared_make(segment, 7);
        busy_t busy = {&place, gives != 0};
        PEER(peer, allocate_and_free, &busy);
        JASSERT_TRUE(peer_await(&peer));
        /* Until it was seen at work often; where processors are few, not for ever. */
        unsigned changes = 0;
        size_t before = 0;
        for (int64_t i = jtest_iterations(20000); i > 0 && changes < 1000 && !jtest_has_failure();
             --i) {
            const jsegment_stats_t stats = segment_stats(segment);
            JEXPECT_EQ(stats.metadata_bytes + stats.owned_bytes + stats.given_bytes +
                           stats.cached_bytes + stats.free_bytes,
                       stats.size_bytes);
            changes += stats.owned_bytes != before;
            before = stats.owned_bytes;
            if (i % 64 == 0) {
                const jsegment_process_t process = segment_process(segment, 2);
                JEXPECT_LE(process.owned_bytes + process.cached_bytes, stats.size_bytes);
                JEXPECT_OK(jsegment_verify(segment));
                JEXPECT_OK(jsegment_draw(segment, discard, NULL));
            }
        }
        peer_kill(&peer);
        JEXPECT_OK(jsegment_recover(segment, NULL));
        (void)segment_books(segment);
        JEXPECT_OK(jshared_close(shared));
        JEXPECT_OK(jsegment_destroy(segment));
    }
}
