/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The element engine against a loop over single elements in long double: every pair of types,
 * random ranks, strides, orders and structures. Not only what should change is looked at: the whole
 * span of the destination is compared, so that holes and the triangle that is not stored must be as
 * they were, and neither side is touched beyond its span. */

#include "buffer_reference.h"
#include "host_failures.h"
#include "pretend_gpu.h"

#include "buffer/buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static jdatatype_t random_type(void) {
    return (jdatatype_t)jtest_random_between(0, REFERENCE_TYPES - 1);
}
static bool is_refused(jdatatype_t to, jdatatype_t from) {
    return reference_is_complex(from) && !reference_is_complex(to);
}

/* Two places of one shape, and what the destination should become. Memory lies before an
 * inaccessible page. */
typedef struct pair {
    ji_elements_t to, from;
    int64_t span;
    void *expected;
} pair_t;

static jlayout_t random_structured(int rank, const int64_t *extents, bool structured) {
    jlayout_t layout = reference_random_layout(rank, extents);
    if (structured)
        layout.structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
    return layout;
}

static pair_t pair_of(const jlayout_t *to_layout, const jlayout_t *from_layout, jdatatype_t to,
                      jdatatype_t from) {
    pair_t pair = {{jdevice_host(), to, *to_layout, NULL},
                   {jdevice_host(), from, *from_layout, NULL},
                   0,
                   NULL};
    pair.span = reference_span(&pair.to.layout);
    const int64_t from_span = reference_span(&pair.from.layout);
    const size_t bytes = (size_t)pair.span * reference_size(to);
    pair.to.data = malloc(bytes + 1);
    pair.from.data = malloc((size_t)from_span * reference_size(from) + 1);
    pair.expected = malloc(bytes + 1);
    reference_random_fill(from, pair.from.data, from_span);
    reference_random_fill(to, pair.to.data, pair.span);
    memcpy(pair.expected, pair.to.data, bytes);
    if (!is_refused(to, from))
        reference_copy(&pair.to.layout, to, pair.expected, &pair.from.layout, from, pair.from.data);
    return pair;
}

static pair_t pair_make(int rank, const int64_t *extents, bool structured, jdatatype_t to,
                        jdatatype_t from) {
    const jlayout_t to_layout = random_structured(rank, extents, structured),
                    from_layout = random_structured(rank, extents, structured);
    return pair_of(&to_layout, &from_layout, to, from);
}

static void pair_end(pair_t *pair) {
    free(pair->to.data);
    free(pair->from.data);
    free(pair->expected);
}

static void check_pair(pair_t pair) {
    char to_text[JLAYOUT_TEXT_BYTES], from_text[JLAYOUT_TEXT_BYTES];
    const jdatatype_t to = pair.to.type, from = pair.from.type;
    JEXPECT_OK(jlayout_format(&pair.to.layout, &to, to_text, sizeof to_text));
    JEXPECT_OK(jlayout_format(&pair.from.layout, &from, from_text, sizeof from_text));
    JSCOPED_TRACE("%s from %s", to_text, from_text);
    JEXPECT_STATUS(ji_elements_copy_host(&pair.to, &pair.from),
                   is_refused(to, from) ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
    REFERENCE_EXPECT_SPAN(to, pair.to.data, pair.expected, pair.span);
    pair_end(&pair);
}

static void check_copy(int rank, const int64_t *extents, bool structured, jdatatype_t to,
                       jdatatype_t from) {
    check_pair(pair_make(rank, extents, structured, to, from));
}

JTEST(Elements, EveryPairOfTypesRoundsToTheNearest) {
    const int64_t extents[1] = {2000};
    for (int to = 0; to < REFERENCE_TYPES; ++to)
        for (int from = 0; from < REFERENCE_TYPES; ++from)
            for (int64_t n = 0; n < jtest_iterations(3); ++n)
                check_copy(1, extents, false, (jdatatype_t)to, (jdatatype_t)from);
}

JTEST(Elements, SixteenBitsAreReachedWithoutRoundingTwice) {
    /* In the middle of two neighbours of binary16 and of bfloat16, and the least bit of a double to
     * either side: rounded to float first, the three would be the same. */
    for (int to = JDATATYPE_F16; to <= JDATATYPE_BF16; ++to)
        for (int side = -1; side <= 1; ++side)
            for (int odd = 0; odd < 2; ++odd) {
                const double step = to == JDATATYPE_F16 ? 0x1p-10 : 0x1p-7;
                double x = 1 + odd * step + step / 2 + side * 0x1p-50;
                uint16_t rounded = 0, expected = 0;
                const ji_elements_t source = {jdevice_host(), JDATATYPE_F64, {.rank = 0}, &x};
                const ji_elements_t destination = {
                    jdevice_host(), (jdatatype_t)to, {.rank = 0}, &rounded};
                reference_encode((jdatatype_t)to, (reference_number_t){x, 0}, &expected);
                JEXPECT_OK(ji_elements_copy_host(&destination, &source));
                JEXPECT_EQ(rounded, expected);
            }
}

JTEST(Elements, IntegersAreClampedAndNotANumberIsZero) {
    const double values[] = {NAN,    INFINITY, -INFINITY, 127.4, 127.5, -128.5,
                             -128.6, 0.5,      1.5,       -0.5,  1e300, 2147483647.4};
    const int8_t bytes[] = {0, 127, -128, 127, 127, -128, -128, 0, 2, 0, 127, 127};
    const int32_t words[] = {0,    INT32_MAX, INT32_MIN, 127, 128,       -128,
                             -129, 0,         2,         0,   INT32_MAX, INT32_MAX};
    enum { COUNT = sizeof values / sizeof values[0] };
    const jlayout_t layout = {.rank = 1, .extents = {COUNT}, .strides = {1}};
    int8_t narrow[COUNT];
    int32_t wide[COUNT];
    const ji_elements_t source = {jdevice_host(), JDATATYPE_F64, layout, (void *)(uintptr_t)values};
    const ji_elements_t to_bytes = {jdevice_host(), JDATATYPE_I8, layout, narrow};
    const ji_elements_t to_words = {jdevice_host(), JDATATYPE_I32, layout, wide};
    JEXPECT_OK(ji_elements_copy_host(&to_bytes, &source));
    JEXPECT_OK(ji_elements_copy_host(&to_words, &source));
    for (int i = 0; i < COUNT; ++i) {
        JSCOPED_TRACE("%g", values[i]);
        JEXPECT_EQ(narrow[i], bytes[i]);
        JEXPECT_EQ(wide[i], words[i]);
    }
}

JTEST(Elements, CopiesOfAnyShapeTouchWhatTheyShouldAlone) {
    for (int64_t n = 0; n < jtest_iterations(3000); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const int rank = (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const jdatatype_t from = random_type(), to = jtest_random_bool() ? from : random_type();
        reference_random_extents(rank, 600, extents);
        check_copy(rank, extents, false, to, from);
    }
}

JTEST(Elements, LargerMatricesAreCopiedAndTransposed) {
    /* Beyond a cache line, a short run and a large square each way, for each size of element. */
    for (int type = 0; type < REFERENCE_TYPES; ++type)
        for (int64_t n = 0; n < jtest_iterations(12); ++n) {
            const int rank = (int)jtest_random_between(2, 3);
            const int64_t extents[3] = {jtest_random_between(1, 300), jtest_random_between(1, 150),
                                        jtest_random_between(1, 3)};
            check_copy(rank, extents, false, (jdatatype_t)type,
                       jtest_random_between(0, 3) == 0 ? random_type() : (jdatatype_t)type);
        }
}

/* More than a cache line each way, and not a multiple of one. */
JTEST(Elements, EverySizeOfElementIsTransposedByLines) {
    const jlayout_t columns = {.rank = 2, .extents = {131, 70}, .strides = {1, 133}},
                    rows = {.rank = 2, .extents = {131, 70}, .strides = {71, 1}};
    for (int type = 0; type < REFERENCE_TYPES; ++type) {
        check_pair(pair_of(&columns, &rows, (jdatatype_t)type, (jdatatype_t)type));
        check_pair(pair_of(&rows, &columns, (jdatatype_t)type, (jdatatype_t)type));
    }
}

JTEST(Elements, StructuresAreReadAsTheWholeAndWrittenAsTheirTriangle) {
    for (int64_t n = 0; n < jtest_iterations(1500); ++n) {
        const int64_t order =
            n % 40 == 0 ? jtest_random_between(60, 150) : jtest_random_between(0, 12);
        const int64_t extents[2] = {order, order};
        const jdatatype_t from = jtest_random_bool() ? JDATATYPE_F64_C : random_type();
        check_copy(2, extents, true, jtest_random_bool() ? from : random_type(), from);
    }
}

JTEST(Elements, FillsWriteStoredElementsAlone) {
    for (int64_t n = 0; n < jtest_iterations(1500); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const bool structured = jtest_random_bool();
        const int rank = structured ? 2 : (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const jdatatype_t type = random_type();
        reference_random_extents(rank, 2000, extents);
        if (structured)
            extents[1] = extents[0] = extents[0] > 90 ? 90 : extents[0];
        const jlayout_t layout = random_structured(rank, extents, structured);
        const int64_t span = reference_span(&layout);
        const size_t size = reference_size(type);
        char value[16], *data = malloc((size_t)span * size + 1),
                        *expected = malloc((size_t)span * size + 1);
        const char zeros[16] = {0};
        const bool zero = jtest_random_bool();
        reference_random_fill(type, value, 1);
        reference_random_fill(type, data, span);
        memcpy(expected, data, (size_t)span * size);
        int64_t indices[JLAYOUT_MAX_RANK];
        for (int64_t i = 0; i < reference_count(&layout); ++i) {
            reference_indices(&layout, i, indices);
            if (reference_is_stored(&layout, indices))
                memcpy(expected + (size_t)reference_offset(&layout, indices) * size,
                       zero ? zeros : value, size);
        }
        const ji_elements_t elements = {jdevice_host(), type, layout, data};
        ji_elements_fill_host(&elements, zero ? NULL : value);
        JEXPECT_EQ(memcmp(data, expected, (size_t)span * size), 0);
        free(data);
        free(expected);
    }
}

JTEST(Elements, NothingBeyondTheSpanIsTouched) {
    for (int64_t n = 0; n < jtest_iterations(60); ++n) {
        int64_t extents[3];
        const int rank = (int)jtest_random_between(1, 3);
        const jdatatype_t from = random_type(),
                          to = reference_is_complex(from) ? from : random_type();
        reference_random_extents(rank, 3000, extents);
        pair_t pair = pair_make(rank, extents, false, to, from);
        const size_t to_bytes = (size_t)pair.span * reference_size(to);
        const size_t from_bytes = (size_t)reference_span(&pair.from.layout) * reference_size(from);
        ji_elements_t destination = pair.to, source = pair.from;
        if (to_bytes > 0) {
            destination.data =
                n % 2 ? jtest_guard_pages(to_bytes) : jtest_guard_pages_before(to_bytes);
            source.data =
                n % 3 ? jtest_guard_pages(from_bytes) : jtest_guard_pages_before(from_bytes);
            memcpy(destination.data, pair.to.data, to_bytes);
            memcpy(source.data, pair.from.data, from_bytes);
        }
        JEXPECT_OK(ji_elements_copy_host(&destination, &source));
        REFERENCE_EXPECT_SPAN(to, destination.data, pair.expected, pair.span);
        pair_end(&pair);
    }
}

JTEST(Elements, ShapesThatDifferAreRefused) {
    double a[6] = {0}, b[6] = {1};
    const ji_elements_t wide = {
        jdevice_host(), JDATATYPE_F64, {.rank = 2, .extents = {2, 3}, .strides = {1, 2}}, a};
    const ji_elements_t high = {
        jdevice_host(), JDATATYPE_F64, {.rank = 2, .extents = {3, 2}, .strides = {1, 3}}, b};
    JEXPECT_STATUS(ji_elements_copy_host(&wide, &high), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(ji_elements_copy(&wide, &high, NULL, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(a[0], 0.0);
}

/* ---- Where a device takes part ---- */

JTEST(Elements, CopiesWithADeviceTouchWhatTheyShouldAlone) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jstream_t *stream;
    JASSERT_OK(jstream_create(&gpu->device, &stream));
    for (int64_t n = 0; n < jtest_iterations(1500); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const bool structured = jtest_random_bool();
        const int rank = structured ? 2 : (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const jdatatype_t type = random_type();
        reference_random_extents(rank, 400, extents);
        if (structured)
            extents[1] = extents[0] = extents[0] > 20 ? 20 : extents[0];
        pair_t pair = pair_make(rank, extents, structured, type, type);
        const int who = (int)jtest_random_between(1, 3);
        if (who & 1)
            pair.to.device = &gpu->device;
        if (who & 2)
            pair.from.device = &gpu->device;
        jstream_t *in = jtest_random_bool() ? stream : NULL;
        const size_t bytes = ji_elements_copy_bytes(&pair.to, &pair.from);
        void *staging = bytes > 0 ? jtest_guard_pages(bytes) : NULL;
        JEXPECT_OK(ji_elements_copy(&pair.to, &pair.from, in, staging));
        JEXPECT_OK(jstream_synchronize(&gpu->device, in));
        REFERENCE_EXPECT_SPAN(type, pair.to.data, pair.expected, pair.span);
        pair_end(&pair);
    }
    JEXPECT_EQ(gpu->violations, 0u);
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Elements, PackedAlikeNeedsNoStaging) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    double a[12] = {0}, b[12] = {0};
    const jlayout_t columns = {.rank = 2, .extents = {3, 4}, .strides = {1, 3}},
                    rows = {.rank = 2, .extents = {3, 4}, .strides = {4, 1}};
    const ji_elements_t here = {jdevice_host(), JDATATYPE_F64, columns, a},
                        there = {&gpu->device, JDATATYPE_F64, columns, b};
    const ji_elements_t other = {&gpu->device, JDATATYPE_F64, rows, b},
                        also_here = {jdevice_host(), JDATATYPE_F64, rows, b};
    JEXPECT_EQ(ji_elements_copy_bytes(&here, &there), 0u);
    JEXPECT_EQ(ji_elements_copy_bytes(&there, &here), 0u);
    JEXPECT_EQ(ji_elements_copy_bytes(&here, &also_here), 0u);
    JEXPECT_EQ(ji_elements_copy_bytes(&here, &other), 128u); /* 96 bytes in units of 64 */
    /* Two devices have a runtime in common, or the host between them. */
    jdevice_t hip = gpu->device;
    hip.kind = JDEVICE_HIP;
    const ji_elements_t elsewhere = {&hip, JDATATYPE_F64, columns, a};
    JEXPECT_EQ(ji_elements_copy_bytes(&there, &there), 0u);
    JEXPECT_EQ(ji_elements_copy_bytes(&there, &elsewhere), 256u);
}

JTEST(Elements, ADeviceConvertsNothing) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    double a[2] = {1, 2};
    float b[2] = {3, 4};
    const jlayout_t layout = {.rank = 1, .extents = {2}, .strides = {1}};
    const ji_elements_t to = {&gpu->device, JDATATYPE_F64, layout, a},
                        from = {jdevice_host(), JDATATYPE_F32, layout, b};
    JEXPECT_STATUS(ji_elements_copy(&to, &from, NULL, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(a[0], 1.0);
}

JTEST(Elements, CopiesInAStreamOfTheHostWaitForTheirTurn) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    double a[6] = {0}, b[6] = {1, 2, 3, 4, 5, 6};
    const ji_elements_t to = {
        host, JDATATYPE_F64, {.rank = 2, .extents = {2, 3}, .strides = {3, 1}}, a};
    const ji_elements_t from = {
        host, JDATATYPE_F64, {.rank = 2, .extents = {2, 3}, .strides = {1, 2}}, b};
    JASSERT_OK(jstream_create(host, &stream));
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    JEXPECT_OK(ji_elements_copy(&to, &from, stream, NULL));
    jtest_gate_await(&gate);
    JEXPECT_EQ(a[5], 0.0);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(host, stream));
    JEXPECT_EQ(a[1], 3.0);
    JEXPECT_EQ(a[5], 6.0);
    JFOR_EACH_FAILURE(i) {
        memset(a, 0, sizeof a);
        const jstatus_t status = ji_elements_copy(&to, &from, stream, NULL);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_OK(jstream_synchronize(host, stream));
        JEXPECT_EQ(a[5], jtest_metadata_failed() ? 0.0 : 6.0);
    }
    memset(a, 0, sizeof a);
    host_fail_after(1);
    JEXPECT_STATUS(ji_elements_copy(&to, &from, stream, NULL), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(host_fail_no_more());
    JEXPECT_OK(jstream_synchronize(host, stream));
    JEXPECT_EQ(a[5], 0.0);
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Elements, LayoutsAreDividedIntoPiecesNoLargerThanAsked) {
    for (int64_t n = 0; n < jtest_iterations(500); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const int rank = (int)jtest_random_between(0, JLAYOUT_MAX_RANK);
        const int64_t most = jtest_random_between(1, 300);
        reference_random_extents(rank, 2000, extents);
        const jlayout_t layout = reference_random_layout(rank, extents),
                        divided = ji_layout_divide(&layout, most);
        int64_t blocks = 0, elements = 0, starts[JLAYOUT_MAX_RANK], sizes[JLAYOUT_MAX_RANK];
        JASSERT_OK(jlayout_get_block_count(&divided, &blocks));
        for (int64_t b = 0; b < blocks; ++b) {
            int64_t size = 1;
            JASSERT_OK(jlayout_get_block(&divided, b, starts, sizes));
            for (int d = 0; d < rank; ++d)
                size *= sizes[d];
            JEXPECT_LE(size, most);
            elements += size;
        }
        JEXPECT_EQ(elements, reference_count(&layout));
    }
}
