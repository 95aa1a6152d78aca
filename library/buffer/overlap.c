/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whether two buffers share elements.
 *
 * In one process's memory the elements of a view are at sums of strides, so two views share one
 * exactly where
 *
 *     sum of stride(d) i(d), first view - sum of stride(d) j(d), second view
 *         = where the second begins
 *
 * has a solution with every index within its extent: a bounded Diophantine equation, as NumPy
 * solves for np.shares_memory (numpy/_core/src/common/mem_overlap.c, P. Virtanen). In general it is
 * NP-complete. For views of one buffer, whose strides nest, each index has two or three candidates
 * at most, so blocks of one matrix are told apart at once; a search that takes longer is given up
 * and called an overlap.
 *
 * Views of a distributed buffer are rectangles of one matrix. Which triangle a structure stores is
 * not looked at. */

#include "buffer/buffer.h"

#define OVERLAP_STEPS 1000 /* of the search: a microsecond or two */

/* ---- Strided views ---- */

/* coefficient * x with low <= x <= high. */
typedef struct overlap_term {
    int64_t coefficient, low, high;
    int64_t rest_low, rest_high; /* what the terms behind it can sum up to */
} overlap_term_t;

/* The terms by falling coefficients, those with the same one together. */
static int overlap_add_term(overlap_term_t terms[], int count, int64_t coefficient, int64_t low,
                            int64_t high) {
    int at = count;
    for (int k = 0; k < count; ++k)
        if (terms[k].coefficient == coefficient) {
            terms[k].low += low;
            terms[k].high += high;
            return count;
        }

    for (; at > 0 && terms[at - 1].coefficient < coefficient; --at)
        terms[at] = terms[at - 1];
    terms[at] = (overlap_term_t){.coefficient = coefficient, .low = low, .high = high};
    return count + 1;
}

static int64_t overlap_floor(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whether the terms can sum up to `target`; true, too, where that took too many steps to find
 * out. */
static bool overlap_reaches(const overlap_term_t *terms, int count, int64_t target, int *steps) {
    if (count == 0)
        return target == 0;
    if (--*steps < 0)
        return true;

    int64_t first = -overlap_floor(terms->rest_high - target, terms->coefficient);
    int64_t last = overlap_floor(target - terms->rest_low, terms->coefficient);
    first = first > terms->low ? first : terms->low;
    last = last < terms->high ? last : terms->high;

    for (int64_t x = first; x <= last; ++x)
        if (overlap_reaches(terms + 1, count - 1, target - x * terms->coefficient, steps))
            return true;
    return false;
}

/* The last element's distance from the first; -1: there is none. Sums of two do not overflow. */
static int64_t overlap_span(const jlayout_t *layout) {
    int64_t span = 0;

    for (int d = 0; d < layout->rank; ++d)
        if (layout->extents[d] == 0)
            return -1;

    for (int d = 0; d < layout->rank; ++d)
        span += (layout->extents[d] - 1) * layout->strides[d];
    return span;
}

static bool overlap_is_same_layout(const jlayout_t *a, const jlayout_t *b) {
    if (!jlayout_same_shape(a, b) || a->structure != b->structure)
        return false;
    for (int d = 0; d < a->rank; ++d)
        if (a->extents[d] > 1 && a->strides[d] != b->strides[d])
            return false;
    return true;
}

/* Elements in this process's memory. */
typedef struct overlap_region {
    jlayout_t layout;
    int64_t size; /* of an element */
    uintptr_t at; /* address of the first one */
} overlap_region_t;

/* Those of a buffer. A placeholder's memory begins at 0, as far as its views among themselves are
 * concerned. */
static overlap_region_t overlap_region(const jbuffer_t *buffer) {
    const ji_elements_t elements = ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED
                                       ? ji_buffer_part_elements(buffer)
                                       : ji_buffer_elements(buffer);
    const int64_t size = (int64_t)jhandle_sizeof_datatype(elements.type);
    return (overlap_region_t){elements.layout, size,
                              ji_buffer_is_placeholder(buffer) ? (uintptr_t)(buffer->offset * size)
                                                               : (uintptr_t)elements.data};
}

static ji_overlap_t overlap_of_regions(const overlap_region_t *a, const overlap_region_t *b) {
    const int64_t size = a->size, size_b = b->size;
    const int64_t span_a = overlap_span(&a->layout), span_b = overlap_span(&b->layout);
    const uintptr_t at_a = a->at, at_b = b->at;

    if (span_a < 0 || span_b < 0 || at_a + (uintptr_t)(span_a * size) + (uintptr_t)size <= at_b ||
        at_b + (uintptr_t)(span_b * size_b) + (uintptr_t)size_b <= at_a)
        return JI_OVERLAP_NONE;

    if (size == size_b && at_a == at_b && overlap_is_same_layout(&a->layout, &b->layout))
        return JI_OVERLAP_SAME;

    const int64_t distance = at_b >= at_a ? (int64_t)(at_b - at_a) : -(int64_t)(at_a - at_b);
    if (size != size_b || distance % size != 0 || span_a > INT64_MAX / 4 || span_b > INT64_MAX / 4)
        return JI_OVERLAP_SOME; /* nothing that can be seen element by element */

    overlap_term_t terms[2 * JLAYOUT_MAX_RANK];
    int count = 0, steps = OVERLAP_STEPS;

    for (int d = 0; d < a->layout.rank; ++d)
        if (a->layout.extents[d] > 1)
            count =
                overlap_add_term(terms, count, a->layout.strides[d], 0, a->layout.extents[d] - 1);
    for (int d = 0; d < b->layout.rank; ++d)
        if (b->layout.extents[d] > 1)
            count =
                overlap_add_term(terms, count, b->layout.strides[d], 1 - b->layout.extents[d], 0);

    for (int k = count - 2; k >= 0; --k) {
        const overlap_term_t *next = &terms[k + 1];
        terms[k].rest_low = next->rest_low + next->low * next->coefficient;
        terms[k].rest_high = next->rest_high + next->high * next->coefficient;
    }

    return overlap_reaches(terms, count, distance / size, &steps) ? JI_OVERLAP_SOME
                                                                  : JI_OVERLAP_NONE;
}

/* ---- Buffers ---- */

/* Views of one distributed matrix. */
static ji_overlap_t overlap_of_rectangles(const jbuffer_t *a, const jbuffer_t *b) {
    bool same = a->layout.structure == b->layout.structure;
    for (int d = 0; d < 2; ++d) {
        const int64_t extent_a = d < a->layout.rank ? a->layout.extents[d] : 1,
                      extent_b = d < b->layout.rank ? b->layout.extents[d] : 1;
        if (a->starts[d] + extent_a <= b->starts[d] || b->starts[d] + extent_b <= a->starts[d] ||
            extent_a == 0 || extent_b == 0)
            return JI_OVERLAP_NONE;

        same = same && a->starts[d] == b->starts[d] && extent_a == extent_b;
    }
    return same ? JI_OVERLAP_SAME : JI_OVERLAP_SOME;
}

ji_overlap_t ji_buffer_overlap(const jbuffer_t *a, const jbuffer_t *b) {
    const bool distributed_a = ji_buffer_kind(a) == JBUFFER_DISTRIBUTED,
               distributed_b = ji_buffer_kind(b) == JBUFFER_DISTRIBUTED;

    if (a->storage != b->storage && (ji_buffer_is_placeholder(a) || ji_buffer_is_placeholder(b)))
        return JI_OVERLAP_NONE;
    if (a->storage == b->storage && distributed_a)
        return overlap_of_rectangles(a, b);

    const overlap_region_t region_a = overlap_region(a), region_b = overlap_region(b);
    const ji_overlap_t overlap = overlap_of_regions(&region_a, &region_b);
    return overlap != JI_OVERLAP_NONE && (distributed_a || distributed_b) ? JI_OVERLAP_HERE
                                                                          : overlap;
}
