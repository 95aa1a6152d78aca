/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Allocators in a segment: found by id, opened and closed; sizes, alignments, batches,
 * reallocation, ownership, misuse. */

#include "segment_helper.h"

#include <stdlib.h>
#include <string.h>

static jsegment_t *private_segment(size_t size_bytes, size_t max_bytes) {
    PLACE(place, JSEGMENT_PRIVATE, size_bytes, max_bytes);
    return place_create(&place);
}

/* ---- Ids, headers, opening and closing ---- */

JTEST(Shared, IdsAreUniqueInTheirSegment) {
    jsegment_t *segment = private_segment(MIB, 0), *elsewhere = private_segment(MIB, 0);
    JASSERT_TRUE(segment != NULL && elsewhere != NULL);
    jshared_t *first = NULL, *second = NULL;
    JEXPECT_STATUS(jshared_create(segment, 0, NULL, &first), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_create(segment, 1, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_create(NULL, 1, NULL, &first), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jshared_create(segment, UINT64_MAX, NULL, &first));
    JEXPECT_STATUS(jshared_create(segment, UINT64_MAX, NULL, &second), JSTATUS_EXISTS);
    JEXPECT_NULL(second);
    JASSERT_OK(jshared_create(elsewhere, UINT64_MAX, NULL, &second));
    JEXPECT_EQ(jshared_id(first), UINT64_MAX);
    JEXPECT_EQ(jshared_kind(first), JSHARED_GENERAL);
    JEXPECT_EQ(jshared_segment(first), segment);
    JEXPECT_EQ(jshared_segment(second), elsewhere);
    JEXPECT_EQ(jshared_id(NULL), 0);
    JEXPECT_EQ(jshared_kind(NULL), JSHARED_GENERAL);
    JEXPECT_NULL(jshared_segment(NULL));
    JEXPECT_EQ(segment_books(segment).allocators, 1);
    JEXPECT_OK(jshared_destroy(first));
    JEXPECT_EQ(segment_books(segment).allocators, 0);
    JASSERT_OK(jshared_create(segment, UINT64_MAX, NULL, &first)); /* the id is free again */
    JEXPECT_OK(jsegment_destroy(segment));
    JEXPECT_OK(jsegment_destroy(elsewhere));
}

JTEST(Shared, OptionsAreChecked) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = NULL;
    const jshared_options_t init = JSHARED_OPTIONS_INIT;
    jshared_options_t options = init;
#define REFUSED(status, ...)                                                                       \
    do {                                                                                           \
        options = init;                                                                            \
        __VA_ARGS__;                                                                               \
        JEXPECT_STATUS(jshared_create(segment, 1, &options, &shared), status);                     \
        JEXPECT_NULL(shared);                                                                      \
    } while (0)
    REFUSED(JSTATUS_INVALID_VALUE, options.struct_size = 4);
    REFUSED(JSTATUS_INVALID_VALUE, options.kind = (jshared_kind_t)3);
    REFUSED(JSTATUS_INVALID_SIZE, options.kind = JSHARED_PAGES);
    REFUSED(JSTATUS_INVALID_SIZE, options.kind = JSHARED_STACK);
    REFUSED(JSTATUS_INVALID_SIZE, options.kind = JSHARED_PAGES; options.page_bytes = SIZE_MAX);
    REFUSED(JSTATUS_INVALID_SIZE, options.kind = JSHARED_STACK;
            options.region_bytes = SIZE_MAX - 10);
    REFUSED(JSTATUS_INVALID_SIZE, options.header_bytes = SIZE_MAX);
    REFUSED(JSTATUS_MEMORY_ERROR, options.header_bytes = 2 * MIB);
    REFUSED(JSTATUS_MEMORY_ERROR, options.kind = JSHARED_STACK; options.region_bytes = 2 * MIB);
    REFUSED(JSTATUS_MEMORY_ERROR, options.kind = JSHARED_STACK; options.region_bytes = 600 * KIB;
            options.header_bytes = 600 * KIB);
#undef REFUSED
    const jsegment_stats_t stats = segment_books(segment);
    JEXPECT_EQ(stats.allocators, 0);
    JEXPECT_EQ(stats.free_extents, 1); /* nothing was kept */
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, AsManyAsPromised) {
    jsegment_t *segment = private_segment(4 * MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *all[JSHARED_MAX_ALLOCATORS], *more = NULL;
    for (int round = 0; round < 2; ++round) {
        joffset_t blocks[JSHARED_MAX_ALLOCATORS];
        for (unsigned i = 0; i < JSHARED_MAX_ALLOCATORS; ++i) {
            JASSERT_OK(jshared_create(segment, 100 + i, NULL, &all[i]));
            blocks[i] = shared_take(all[i], 64);
        }
        JEXPECT_STATUS(jshared_create(segment, 99, NULL, &more), JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(segment_books(segment).allocators, JSHARED_MAX_ALLOCATORS);
        for (unsigned i = 0; i < JSHARED_MAX_ALLOCATORS; ++i) {
            /* A block is its allocator's alone. */
            JEXPECT_STATUS(jshared_deallocate(all[(i + 1) % JSHARED_MAX_ALLOCATORS], blocks[i]),
                           JSTATUS_NOT_FOUND);
            JEXPECT_TRUE(shared_is_live(all[i], blocks[i]));
            JEXPECT_FALSE(shared_is_live(all[(i + 7) % JSHARED_MAX_ALLOCATORS], blocks[i]));
        }
        for (unsigned i = 0; i < JSHARED_MAX_ALLOCATORS; ++i)
            JEXPECT_OK(jshared_destroy(all[i])); /* with its block */
        segment_expect_empty(segment);
    }
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, OpeningAgainGivesTheSame) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *shared = shared_make(segment, 9), *again = NULL, *other = NULL;
    JASSERT_OK(jshared_open(segment, 9, &again));
    JEXPECT_EQ(again, shared);
    JASSERT_OK(jshared_open(second, 9, &other));
    JEXPECT_NE(other, shared);
    JEXPECT_STATUS(jshared_open(segment, 10, &again), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_open(segment, 0, &again), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_open(segment, 9, NULL), JSTATUS_INVALID_POINTER);
    const joffset_t offset = shared_take(shared, 10);
    JEXPECT_OK(jshared_close(shared));
    /* Opened twice: one is left. */
    JEXPECT_EQ(shared_owner(shared, offset), jsegment_slot(segment));
    JEXPECT_OK(jshared_close(shared));
    JASSERT_OK(jshared_open(segment, 9, &shared));
    JEXPECT_EQ(shared_owner(shared, offset), jsegment_slot(segment)); /* blocks stay */
    JEXPECT_OK(jshared_deallocate(shared, offset));
    JEXPECT_STATUS(jshared_destroy(shared), JSTATUS_BUSY); /* the other attachment has it open */
    JEXPECT_OK(jshared_close(other));
    JEXPECT_OK(jshared_destroy(shared));
    JEXPECT_STATUS(jshared_open(second, 9, &other), JSTATUS_NOT_FOUND);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, HeadersAreZeroedSharedAndAligned) {
    static const size_t sizes[] = {1, 16, 4096, 4097, 100000};
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    for (int kind = JSHARED_GENERAL; kind <= JSHARED_STACK; ++kind)
        for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
            jshared_t *dirt = shared_make(segment, 2);
            const joffset_t dirty = shared_take(dirt, 400000);
            memset(shared_bytes(dirt, dirty, 400000), 0xEE, 400000);
            JEXPECT_OK(jshared_destroy(dirt));
            jshared_options_t options = JSHARED_OPTIONS_INIT;
            options.kind = (jshared_kind_t)kind;
            options.header_bytes = sizes[i];
            options.page_bytes = kind == JSHARED_PAGES ? 100 : 0;
            options.region_bytes = kind == JSHARED_STACK ? 10000 : 0;
            jshared_t *shared = NULL;
            JASSERT_OK(jshared_create(segment, 1, &options, &shared));
            jshared_t *other = shared_open(second, 1);
            size_t size_bytes = 0;
            unsigned char *header = jshared_header(shared, &size_bytes),
                          *seen = jshared_header(other, NULL);
            JASSERT_TRUE(header != NULL && seen != NULL);
            JEXPECT_EQ(size_bytes, sizes[i]);
            JEXPECT_EQ((uintptr_t)header % 4096, 0);
            for (size_t k = 0; k < sizes[i]; ++k)
                JASSERT_EQ(header[k], 0);
            memset(header, 0x77, sizes[i]);
            JEXPECT_EQ(seen[sizes[i] - 1], 0x77);
            const joffset_t block = shared_take(shared, 90);
            memset(shared_bytes(shared, block, 90), 0, 90);
            for (size_t k = 0; k < sizes[i]; ++k)
                JASSERT_EQ(seen[k], 0x77);
            JEXPECT_EQ(jshared_kind(other), kind);
            JEXPECT_OK(jshared_close(other));
            JEXPECT_OK(jshared_destroy(shared));
            segment_expect_empty(segment);
        }
    jshared_t *without = shared_make(segment, 3);
    size_t none = 5;
    JEXPECT_NULL(jshared_header(without, &none));
    JEXPECT_EQ(none, 0);
    JEXPECT_NULL(jshared_header(NULL, NULL));
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Sizes and alignments ---- */

JTEST(Shared, SizesFromZeroToMoreThanThereIs) {
    static const size_t sizes[] = {
        1,    2,    15,   16,    17,    31,    32,    33,    47,     48,     63,     64,   65,
        100,  127,  128,  129,   1000,  1023,  1024,  1025,  4000,   4095,   4096,   4097, 8000,
        8191, 8192, 8193, 12288, 12289, 65535, 65536, 65537, 262144, 262145, 1000000};
    jsegment_t *segment = private_segment(4 * MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offset = 5, offsets[3];
    JEXPECT_OK(jshared_allocate(shared, 0, 0, &offset));
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_OK(jshared_deallocate(shared, JOFFSET_NULL));
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        for (int k = 0; k < 3; ++k) {
            JASSERT_OK(jshared_allocate(shared, sizes[i], 0, &offsets[k]));
            JEXPECT_EQ(offsets[k] % 16, 0);
            const size_t usable = shared_usable(shared, offsets[k]);
            JEXPECT_GE(usable, sizes[i]);
            JEXPECT_LE(usable, sizes[i] <= 16     ? 16
                               : sizes[i] <= 8192 ? sizes[i] + sizes[i] / 4 + 16
                                                  : sizes[i] + 4095);
            memset(shared_bytes(shared, offsets[k], usable), k + 1, usable); /* all of it */
        }
        for (int k = 0; k < 3; ++k) {
            const unsigned char *bytes = shared_bytes(shared, offsets[k], sizes[i]);
            JEXPECT_TRUE(bytes[0] == k + 1 && bytes[sizes[i] - 1] == k + 1);
        }
        for (int k = 0; k < 3; ++k)
            JEXPECT_OK(jshared_deallocate(shared, offsets[(k + 1) % 3]));
    }
    segment_expect_empty(segment);
    static const size_t too_large[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 16,
                                       SIZE_MAX - 4096};
    for (size_t i = 0; i < COUNT_OF(too_large); ++i) {
        offset = 5;
        JEXPECT_STATUS(jshared_allocate(shared, too_large[i], 0, &offset), JSTATUS_INVALID_SIZE);
        JEXPECT_EQ(offset, JOFFSET_NULL);
        JEXPECT_STATUS(jshared_allocate_many(shared, too_large[i], 0, 2, offsets),
                       JSTATUS_INVALID_SIZE);
    }
    static const size_t more_than_there_is[] = {4 * MIB, 5 * MIB, GIB, (size_t)1 << 44,
                                                SIZE_MAX / 2};
    for (size_t i = 0; i < COUNT_OF(more_than_there_is); ++i) {
        const jstatus_t status = jshared_allocate(shared, more_than_there_is[i], 0, &offset);
        JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR ||
                     (status == JSTATUS_INVALID_SIZE && more_than_there_is[i] > ((size_t)1 << 43)));
    }
    JEXPECT_STATUS(jshared_allocate(NULL, 1, 0, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_allocate(shared, 1, 0, NULL), JSTATUS_INVALID_POINTER);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, AlignmentsUpToAPageHoldInEachMapping) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *others[3];
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    for (size_t k = 0; k < COUNT_OF(others); ++k) /* somewhere else each */
        JASSERT_NOT_NULL(others[k] = place_attach(&place));
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (size_t size = 1; size < 10000; size = size * 3 + 1) {
            joffset_t offset;
            JASSERT_OK(jshared_allocate(shared, size, alignment, &offset));
            for (size_t k = 0; k < COUNT_OF(others); ++k)
                JEXPECT_EQ((uintptr_t)jsegment_pointer(others[k], offset, size) % alignment, 0);
            JEXPECT_OK(jshared_deallocate(shared, offset));
        }
    for (size_t k = 0; k < COUNT_OF(others); ++k)
        JEXPECT_OK(jsegment_detach(others[k]));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, AlignmentsUpToAGigabyte) {
    static const size_t sizes[] = {1, 24, 100, 5000, 8193, 100001};
    /* Of one process: what is not touched costs nothing. */
    jsegment_t *segment = private_segment(32 * MIB, 4 * GIB);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offset;
    for (size_t alignment = 1; alignment <= GIB; alignment *= 2)
        for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
            JSCOPED_TRACE("%zu bytes at %zu", sizes[i], alignment);
            joffset_t two[2];
            for (int k = 0; k < 2; ++k) {
                JASSERT_OK(jshared_allocate(shared, sizes[i], alignment, &two[k]));
                JEXPECT_EQ((uintptr_t)shared_bytes(shared, two[k], sizes[i]) % alignment, 0);
                memset(shared_bytes(shared, two[k], sizes[i]), k + 1, sizes[i]);
            }
            JEXPECT_EQ(shared_bytes(shared, two[0], sizes[i])[sizes[i] - 1], 1);
            JEXPECT_OK(jshared_deallocate(shared, two[0]));
            JEXPECT_OK(jshared_deallocate(shared, two[1]));
        }
    JEXPECT_STATUS(jshared_allocate(shared, 16, 3, &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_allocate(shared, 16, 24, &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_allocate(shared, 20000, 24, &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_allocate(shared, 16, 2 * GIB, &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_allocate(shared, 16, SIZE_MAX, &offset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jshared_reallocate(shared, &(joffset_t){0}, 16, 48), JSTATUS_INVALID_VALUE);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* An array is mapped where it is: an offset that is a multiple of what is asked for is not
 * enough. */
JTEST(Shared, AlignmentsThatTheMappingHasNotAreRefused) {
    unsigned char *memory = aligned_alloc(8192, 2 * MIB);
    JASSERT_NOT_NULL(memory);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_ARRAY;
    options.array = memory + 4096;
    options.size_bytes = MIB;
    memset(options.array, 0, options.size_bytes);
    jsegment_t *segment;
    JASSERT_OK(jsegment_create(&options, &segment));

    jshared_t *shared = shared_make(segment, 1);
    joffset_t offsets[2] = {shared_take(shared, 20000), shared_take(shared, 20000)};
    JEXPECT_EQ((offsets[0] ^ offsets[1]) & 4096, 4096); /* one of them is a multiple of 8192 */
    for (int i = 0; i < 2; ++i) {
        const joffset_t was = offsets[i];
        JEXPECT_STATUS(jshared_allocate(shared, 20000, 8192, &(joffset_t){0}),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_reallocate(shared, &offsets[i], 20001, 8192), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jshared_reallocate(shared, &offsets[i], 40000, 8192), JSTATUS_INVALID_VALUE);
        JEXPECT_EQ(offsets[i], was);
    }
    JEXPECT_OK(jsegment_destroy(segment));
    free(memory);
}

JTEST(Shared, NoKindTakesAnAlignmentThatIsNoPowerOfTwo) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared[] = {shared_make(segment, 1), shared_make_kind(segment, 2, JSHARED_PAGES, 64),
                           shared_make_kind(segment, 3, JSHARED_STACK, 4096)};
    for (size_t alignment = 1; alignment <= 64; ++alignment)
        for (size_t i = 0; i < COUNT_OF(shared); ++i)
            JEXPECT_STATUS(jshared_allocate(shared[i], 8, alignment, &(joffset_t){0}),
                           (alignment & (alignment - 1)) == 0 ? JSTATUS_SUCCESS
                                                              : JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, PagesHaveOneSize) {
    static const size_t sizes[] = {1, 16, 17, 64, 100, 1000, 4096, 8192, 8193, 100000};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        JSCOPED_TRACE("blocks of %zu", sizes[i]);
        jsegment_t *segment = private_segment(2 * MIB, 0);
        JASSERT_NOT_NULL(segment);
        jshared_t *shared = shared_make_kind(segment, 1, JSHARED_PAGES, sizes[i]);
        const size_t rounded = (sizes[i] + 15) & ~(size_t)15;
        joffset_t offset;
        JEXPECT_STATUS(jshared_allocate(shared, rounded + 1, 0, &offset), JSTATUS_INVALID_SIZE);
        const size_t natural = rounded <= 8192 ? rounded & -rounded : 4096;
        for (size_t alignment = 1; alignment <= 8192; alignment *= 2) {
            const bool fits = alignment <= natural && alignment <= 4096;
            JEXPECT_STATUS(jshared_allocate(shared, sizes[i], alignment, &offset),
                           fits ? JSTATUS_SUCCESS : JSTATUS_INVALID_VALUE);
            if (fits)
                JEXPECT_OK(jshared_deallocate(shared, offset));
        }
        static joffset_t offsets[140000];
        const size_t count = shared_take_all(shared, sizes[i], offsets, COUNT_OF(offsets));
        const size_t each = rounded <= 8192 ? rounded : (rounded + 4095) / 4096 * 4096;
        JEXPECT_GE(count * each, 2 * MIB * 17 / 20);
        for (size_t k = 0; k < count; ++k)
            memset(shared_bytes(shared, offsets[k], rounded), (int)k, rounded);
        for (size_t k = 0; k < count; ++k)
            JASSERT_EQ(shared_bytes(shared, offsets[k], rounded)[rounded - 1], (unsigned char)k);
        JEXPECT_GE(shared_usable(shared, offsets[0]), rounded);
        segment_books(segment);
        JEXPECT_OK(jshared_deallocate_many(shared, count, offsets));
        segment_expect_empty(segment);
        /* Nothing was lost. */
        const size_t again = shared_take_all(shared, sizes[i], offsets, COUNT_OF(offsets));
        /* Slabs may be of other lengths. */
        JEXPECT_TRUE(again * 100 >= count * 99 && count * 100 >= again * 99);
        JEXPECT_OK(jsegment_destroy(segment));
    }
}

/* ---- Out of memory ---- */

JTEST(Shared, RunningOutLosesNothing) {
    static const size_t sizes[] = {16, 100, 1024, 8192, 8193, 20000, 150000};
    static joffset_t offsets[60000];
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    size_t counts[COUNT_OF(sizes)];
    const jsegment_stats_t empty = segment_books(segment);
    for (int round = 0; round < 3; ++round)
        for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
            JSCOPED_TRACE("%zu bytes, round %d", sizes[i], round);
            const size_t count = shared_take_all(shared, sizes[i], offsets, COUNT_OF(offsets));
            JEXPECT_GT(count, 4);
            if (round == 0)
                counts[i] = count;
            /* Slabs may lie otherwise. */
            JEXPECT_LE(labs((long)count - (long)counts[i]), 1 + (long)counts[i] / 50);
            segment_books(segment);
            for (size_t k = 0; k < count; ++k) /* in an order of its own each time */
                if ((k + (size_t)round) % 3 == 0)
                    JEXPECT_OK(jshared_deallocate(shared, offsets[k]));
            segment_books(segment);
            for (size_t k = 0; k < count; ++k)
                if ((k + (size_t)round) % 3 != 0)
                    JEXPECT_OK(jshared_deallocate(shared, offsets[k]));
            segment_expect_empty(segment);
            /* And it is one extent again. */
            const joffset_t all = shared_take(shared, segment_spare_bytes(&empty));
            JEXPECT_OK(jshared_deallocate(shared, all));
        }
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Batches ---- */

JTEST(Shared, BatchesAreAllOrNone) {
    static joffset_t offsets[5000];
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    static const size_t sizes[] = {1, 64, 500, 8192, 8193, 30000};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        const size_t fits = 500 * KIB / (sizes[i] + 400), more = MIB / sizes[i] + 1;
        JASSERT_OK(jshared_allocate_many(shared, sizes[i], 0, fits, offsets));
        for (size_t k = 0; k < fits; ++k)
            memset(shared_bytes(shared, offsets[k], sizes[i]), (int)(k + 1), sizes[i]);
        for (size_t k = 0; k < fits; ++k)
            JASSERT_EQ(*shared_bytes(shared, offsets[k], sizes[i]), (unsigned char)(k + 1));
        JEXPECT_OK(jshared_deallocate_many(shared, fits, offsets));
        if (more > COUNT_OF(offsets))
            continue;
        memset(offsets, 0xFF, sizeof offsets);
        JEXPECT_STATUS(jshared_allocate_many(shared, sizes[i], 0, more, offsets),
                       JSTATUS_MEMORY_ERROR);
        for (size_t k = 0; k < more; ++k)
            JASSERT_EQ(offsets[k], JOFFSET_NULL);
        segment_expect_empty(segment);
    }
    memset(offsets, 0xFF, sizeof offsets);
    JEXPECT_OK(jshared_allocate_many(shared, 0, 0, 3, offsets));
    JEXPECT_TRUE(offsets[0] == JOFFSET_NULL && offsets[2] == JOFFSET_NULL);
    JEXPECT_OK(jshared_allocate_many(shared, 100, 0, 0, offsets));
    JEXPECT_OK(jshared_allocate_many(shared, 100, 0, 0, NULL));
    JEXPECT_OK(jshared_allocate_many(shared, 100, 256, 3, offsets));
    JEXPECT_EQ((offsets[0] | offsets[1] | offsets[2]) % 256, 0);
    JEXPECT_STATUS(jshared_allocate_many(shared, 1, 0, 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_allocate_many(shared, 1, 3, 1, offsets + 3), JSTATUS_INVALID_VALUE);
    /* One that is wrong does not keep the others from being given back. */
    const joffset_t batch[] = {offsets[0], JOFFSET_NULL, 12345, offsets[1], offsets[1], offsets[2]};
    JEXPECT_STATUS(jshared_deallocate_many(shared, COUNT_OF(batch), batch), JSTATUS_NOT_FOUND);
    segment_expect_empty(segment);
    JEXPECT_OK(jshared_deallocate_many(shared, 0, NULL));
    JEXPECT_STATUS(jshared_deallocate_many(shared, 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Reallocation ---- */

JTEST(Shared, ReallocationKeepsContentsInEveryDirection) {
    static const size_t sizes[] = {1, 16, 100, 4096, 8192, 8193, 40000, 200000};
    static const size_t alignments[] = {0, 64, 4096, 65536};
    PLACE(place, JSEGMENT_MEMFD, 4 * MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *shared = shared_make(segment, 1), *others = shared_open(second, 1);
    for (size_t from = 0; from < COUNT_OF(sizes); ++from)
        for (size_t to = 0; to < COUNT_OF(sizes); ++to)
            for (size_t a = 0; a < COUNT_OF(alignments); ++a)
                for (int foreign = 0; foreign < 2; ++foreign) {
                    JSCOPED_TRACE("from %zu to %zu at %zu, %s", sizes[from], sizes[to],
                                  alignments[a], foreign ? "another's" : "own");
                    joffset_t offset = shared_take(foreign ? others : shared, sizes[from]);
                    /* Often right behind: must stay whole. */
                    const joffset_t behind = shared_take(shared, sizes[from]);
                    unsigned char *bytes = shared_bytes(shared, offset, sizes[from]);
                    for (size_t i = 0; i < sizes[from]; ++i)
                        bytes[i] = (unsigned char)(i * 7 + 1);
                    memset(shared_bytes(shared, behind, sizes[from]), 0xBB, sizes[from]);
                    const unsigned owner = shared_owner(shared, offset);
                    JASSERT_OK(jshared_reallocate(shared, &offset, sizes[to], alignments[a]));
                    JEXPECT_GE(shared_usable(shared, offset), sizes[to]);
                    JEXPECT_EQ(shared_owner(shared, offset), owner);
                    bytes = shared_bytes(shared, offset, sizes[to]);
                    JEXPECT_EQ((uintptr_t)bytes % (alignments[a] ? alignments[a] : 16), 0);
                    for (size_t i = 0; i < sizes[to] && i < sizes[from]; ++i)
                        JASSERT_EQ(bytes[i], (unsigned char)(i * 7 + 1));
                    memset(bytes, 0xCC, sizes[to]);
                    const unsigned char *neighbour = shared_bytes(shared, behind, sizes[from]);
                    for (size_t i = 0; i < sizes[from]; ++i)
                        JASSERT_EQ(neighbour[i], 0xBB);
                    JEXPECT_OK(jshared_deallocate(shared, offset));
                    JEXPECT_OK(jshared_deallocate(shared, behind));
                }
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, ReallocationThatFailsChangesNothing) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    static const size_t sizes[] = {50, 9000, 300000};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        joffset_t offset = JOFFSET_NULL;
        JASSERT_OK(jshared_reallocate(shared, &offset, sizes[i], 0)); /* from nothing */
        JASSERT_NE(offset, JOFFSET_NULL);
        memset(shared_bytes(shared, offset, sizes[i]), 0x44, sizes[i]);
        const joffset_t before = offset;
        JEXPECT_STATUS(jshared_reallocate(shared, &offset, MIB, 0), JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(offset, before);
        JEXPECT_STATUS(jshared_reallocate(shared, &offset, SIZE_MAX, 0), JSTATUS_INVALID_SIZE);
        JEXPECT_EQ(offset, before);
        JEXPECT_EQ(shared_bytes(shared, offset, sizes[i])[sizes[i] - 1], 0x44);
        joffset_t wrong = offset + 16;
        JEXPECT_STATUS(jshared_reallocate(shared, &wrong, 100, 0), JSTATUS_NOT_FOUND);
        JEXPECT_EQ(wrong, offset + 16);
        JEXPECT_OK(jshared_reallocate(shared, &offset, 0, 0)); /* to nothing */
        JEXPECT_EQ(offset, JOFFSET_NULL);
        JEXPECT_FALSE(shared_is_live(shared, before));
        JEXPECT_OK(jshared_reallocate(shared, &offset, 0, 0));
        JEXPECT_EQ(offset, JOFFSET_NULL);
    }
    JEXPECT_STATUS(jshared_reallocate(shared, NULL, 10, 0), JSTATUS_INVALID_POINTER);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* An extent grows in place by what is free behind it; the last one of the segment has nothing
 * behind. */
JTEST(Shared, TheLastExtentIsNotMadeLonger) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    const jsegment_stats_t before = segment_books(segment);
    joffset_t offset = shared_take(shared, before.free_bytes);
    const joffset_t was = offset;
    memset(shared_bytes(shared, offset, before.free_bytes), 0x61, before.free_bytes);
    JEXPECT_STATUS(jshared_reallocate(shared, &offset, before.free_bytes + 1, 0),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(offset, was);
    JEXPECT_EQ(shared_bytes(shared, offset, before.free_bytes)[before.free_bytes - 1], 0x61);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, BlocksOfOneSizeOfManyPagesStayThatSize) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make_kind(segment, 1, JSHARED_PAGES, 20000);
    joffset_t offset = shared_take(shared, 20000);
    const joffset_t was = offset;
    JEXPECT_OK(jshared_reallocate(shared, &offset, 10, 0));
    JEXPECT_EQ(offset, was);
    JEXPECT_STATUS(jshared_reallocate(shared, &offset, 30000, 0), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jshared_reallocate(shared, &offset, 20001, 0), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(offset, was);
    JEXPECT_TRUE(shared_is_live(shared, offset));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, WhatReallocationRefusesStaysAsItWas) {
    jsegment_t *segment = private_segment(MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offset = shared_take(shared, 100), gone = shared_take(shared, 100);
    const joffset_t was = offset, was_gone = gone;
    JEXPECT_STATUS(jshared_reallocate(shared, &offset, 5000, 24), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(offset, was);
    JEXPECT_OK(jshared_deallocate(shared, gone));
    JEXPECT_STATUS(jshared_reallocate(shared, &gone, 0, 0), JSTATUS_NOT_FOUND); /* twice */
    JEXPECT_EQ(gone, was_gone);
    JEXPECT_TRUE(shared_is_live(shared, offset));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Shared, WithoutAnAllocatorThereIsNothingToDo) {
    joffset_t offset = 16;
    unsigned owner = 0;
    uint64_t mark = 0;
    JEXPECT_STATUS(jshared_deallocate(NULL, offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_deallocate_many(NULL, 1, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_allocate_many(NULL, 10, 0, 1, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_describe(NULL, offset, NULL, &owner), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_give(NULL, offset, JSEGMENT_SLOT_SEGMENT), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_reallocate(NULL, &offset, 10, 0), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_get_mark(NULL, &mark), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_rewind(NULL, 0), JSTATUS_INVALID_POINTER);
    JEXPECT_EQ(offset, 16);
}

/* ---- Where an aligned extent is looked for ---- */

/* Many free extents have the length that is asked for and lie wrong; the one that lies right is
 * behind them all. */
JTEST(Shared, AnAlignedExtentIsFoundBehindManyThatAreNotAligned) {
    enum { BYTES = 3 * 4096, ALIGNMENT = 2 * 4096 };
    static joffset_t offsets[400];
    jsegment_t *segment = private_segment(4 * MIB, 0);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offset = JOFFSET_NULL;
    if (jshared_allocate(shared, 1, 2 * (size_t)ALIGNMENT, &offset) == JSTATUS_INVALID_VALUE)
        JSKIP("the address space is nearly full");
    JEXPECT_OK(jshared_deallocate(shared, offset));
    /* One after the other. */
    const size_t count = shared_take_all(shared, BYTES, offsets, COUNT_OF(offsets));
    JASSERT_GT(count, 200);
    const size_t right = offsets[0] % ALIGNMENT == 0 ? 0 : 1;
    JEXPECT_OK(jshared_deallocate(shared, offsets[right]));
    /* Empties the cache. */
    JEXPECT_STATUS(jshared_allocate(shared, MIB, 0, &offset), JSTATUS_MEMORY_ERROR);
    for (size_t i = right + 3; i < count; i += 2)
        JEXPECT_OK(jshared_deallocate(shared, offsets[i]));
    JEXPECT_STATUS(jshared_allocate(shared, MIB, 0, &offset), JSTATUS_MEMORY_ERROR);
    const jsegment_stats_t stats = segment_books(segment);
    JEXPECT_GT(stats.free_extents, 64);
    JEXPECT_OK(jshared_allocate(shared, BYTES, ALIGNMENT, &offset));
    JEXPECT_EQ(offset, offsets[right]);
    JEXPECT_STATUS(jshared_allocate(shared, BYTES, ALIGNMENT, &offset), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jshared_allocate(shared, BYTES, 4096, &offset));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}
