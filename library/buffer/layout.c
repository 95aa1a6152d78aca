/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Layouts: which elements there are, and where each lies.
 *
 * A layout is a plain value that a caller may have written with anything, so every function looks
 * at it first, by one function (layout_measure). What that has accepted cannot overflow any more:
 * the last element lies within 63 bits, so does every other one, and so does the count of any part.
 *
 *     extents 2 x 3, strides 1 and 4 (a leading dimension of 4)        x: an element, .: a hole
 *     x x . . x x . . x x          count 6, span 10: from the first element to the last one
 *
 * Strides of a dimension with no more than one element are never multiplied by anything but 0; they
 * are kept as they are, since the leading dimension of a single column is one of these. Where a
 * dimension is empty its extent counts as 1 in strides and in what must fit 63 bits, so that it
 * does not matter which dimension it is.
 *
 * Results are made in local variables and leave last: a result may be the argument, and a failure
 * changes nothing. */

#include "buffer/buffer.h"

#include <string.h>

static bool layout_mul(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}
static bool layout_add(int64_t a, int64_t b, int64_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}
static int64_t layout_at_least_one(int64_t n) { return n > 1 ? n : 1; }

/* The k-th fastest dimension of that order. */
static int layout_fastest(int rank, jorder_t order, int k) {
    return order == JORDER_ROW_MAJOR ? rank - 1 - k : k;
}

static bool layout_is_empty(const jlayout_t *layout) {
    for (int d = 0; d < layout->rank; d++)
        if (layout->extents[d] == 0)
            return true;
    return false;
}

/* ---- What is a layout ---- */

/* The count and the span, with success; or the status and a message. */
static jstatus_t layout_measure(const jlayout_t *layout, int64_t *count, int64_t *span) {
    if (layout->rank < 0 || layout->rank > JLAYOUT_MAX_RANK)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: rank %d; it must be 0 to %d", layout->rank,
                       JLAYOUT_MAX_RANK);

    if ((unsigned)layout->structure > JSTRUCTURE_TRIANGULAR_LOWER)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: no structure has the number %d",
                       (int)layout->structure);

    for (int d = 0; d < layout->rank; d++) {
        if (layout->extents[d] < 0)
            return ji_fail(JSTATUS_INVALID_SIZE, "layout: extent %lld of dimension %d is below 0",
                           (long long)layout->extents[d], d);
        if (layout->strides[d] < 1)
            return ji_fail(JSTATUS_INVALID_VALUE, "layout: stride %lld of dimension %d is below 1",
                           (long long)layout->strides[d], d);
        if (layout->blocks[d] < 0)
            return ji_fail(JSTATUS_INVALID_SIZE,
                           "layout: blocks of %lld in dimension %d; they must not be below 0",
                           (long long)layout->blocks[d], d);
    }

    if (layout->structure != JSTRUCTURE_GENERAL) {
        if (layout->rank != 2)
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "layout: a structure of rank %d; only a matrix has one", layout->rank);
        if (layout->extents[0] != layout->extents[1])
            return ji_fail(JSTATUS_INVALID_SIZE,
                           "layout: a structure of a %lld x %lld matrix, which is not square",
                           (long long)layout->extents[0], (long long)layout->extents[1]);
    }

    int64_t elements = 1, length = 1, distance;
    /* Empty dimensions count as one: their order does not matter. */
    for (int d = 0; d < layout->rank; d++)
        if (!layout_mul(elements, layout_at_least_one(layout->extents[d]), &elements))
            return ji_fail(JSTATUS_INVALID_SIZE,
                           "layout: more elements than fit 63 bits, up to dimension %d", d);

    if (layout_is_empty(layout)) {
        *count = *span = 0;
        return JSTATUS_SUCCESS;
    }

    for (int d = 0; d < layout->rank; d++)
        if (!layout_mul(layout->extents[d] - 1, layout->strides[d], &distance) ||
            !layout_add(length, distance, &length))
            return ji_fail(JSTATUS_INVALID_SIZE,
                           "layout: the last element does not lie within 63 bits, by dimension %d",
                           d);

    *count = elements;
    *span = length;
    return JSTATUS_SUCCESS;
}

jstatus_t jlayout_check(const jlayout_t *layout) {
    JREQUIRE(layout != NULL, JSTATUS_INVALID_POINTER);
    int64_t count, span;
    return layout_measure(layout, &count, &span);
}

jstatus_t jlayout_get_count(const jlayout_t *layout, int64_t *count) {
    JREQUIRE(layout != NULL && count != NULL, JSTATUS_INVALID_POINTER);

    int64_t elements, span;
    jstatus_t status = layout_measure(layout, &elements, &span);
    if (status == JSTATUS_SUCCESS)
        *count = elements;
    return status;
}

jstatus_t jlayout_get_span(const jlayout_t *layout, int64_t *span) {
    JREQUIRE(layout != NULL && span != NULL, JSTATUS_INVALID_POINTER);

    int64_t elements, length;
    jstatus_t status = layout_measure(layout, &elements, &length);
    if (status == JSTATUS_SUCCESS)
        *span = length;
    return status;
}

jstatus_t jlayout_get_bytes(const jlayout_t *layout, jdatatype_t type, size_t *bytes) {
    JREQUIRE(layout != NULL && bytes != NULL, JSTATUS_INVALID_POINTER);

    const size_t element = jhandle_sizeof_datatype(type);
    if (element == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: no element type has the number %d",
                       (int)type);

    int64_t elements, span, product;
    JTRY_RETURN(layout_measure(layout, &elements, &span));

    if (!layout_mul(span, (int64_t)element, &product) || (uint64_t)product > SIZE_MAX)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "layout: the bytes of %lld elements of %s do not fit 63 bits",
                       (long long)span, jdatatype_name(type));

    *bytes = (size_t)product;
    return JSTATUS_SUCCESS;
}

jstatus_t jlayout_get_offset(const jlayout_t *layout, const int64_t *indices, int64_t *offset) {
    JREQUIRE(offset != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(jlayout_check(layout));
    JREQUIRE(indices != NULL || layout->rank == 0, JSTATUS_INVALID_POINTER);

    for (int d = 0; d < layout->rank; d++)
        if (indices[d] < 0 || indices[d] >= layout->extents[d])
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "layout: index %lld of dimension %d is outside of its extent %lld",
                           (long long)indices[d], d, (long long)layout->extents[d]);

    /* There is such an element, so it lies within 63 bits. */
    int64_t sum = 0;
    for (int d = 0; d < layout->rank; d++)
        sum += indices[d] * layout->strides[d];
    *offset = sum;
    return JSTATUS_SUCCESS;
}

/* ---- Making layouts ---- */

bool ji_layout_strides(int rank, const int64_t *extents, jorder_t order, int64_t leading_dimension,
                       int64_t *strides) {
    int64_t stride = 1;
    for (int k = 0; k < rank; k++) {
        const int d = layout_fastest(rank, order, k);
        if (k == 1 && leading_dimension != 0)
            stride = leading_dimension;
        strides[d] = stride;
        if (k + 1 < rank && !layout_mul(stride, layout_at_least_one(extents[d]), &stride))
            return false;
    }
    return true;
}

jstatus_t jlayout_init(jlayout_t *layout, int rank, const int64_t *extents, jorder_t order) {
    JREQUIRE(layout != NULL, JSTATUS_INVALID_POINTER);
    if (rank < 0 || rank > JLAYOUT_MAX_RANK)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: rank %d; it must be 0 to %d", rank,
                       JLAYOUT_MAX_RANK);
    if (order != JORDER_COLUMN_MAJOR && order != JORDER_ROW_MAJOR)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: no order has the number %d", (int)order);

    JREQUIRE(extents != NULL || rank == 0, JSTATUS_INVALID_POINTER);

    jlayout_t made = {.rank = rank, .structure = JSTRUCTURE_GENERAL};
    for (int d = 0; d < rank; d++) {
        made.extents[d] = extents[d];
        made.strides[d] = 1;
    }

    JTRY_RETURN(jlayout_check(&made));
    /* None is above the product of extents. */
    (void)ji_layout_strides(rank, made.extents, order, 0, made.strides);

    *layout = made;
    return JSTATUS_SUCCESS;
}

bool ji_layout_order(const jlayout_t *layout, jorder_t *order) {
    const bool column = jlayout_has_order(layout, JORDER_COLUMN_MAJOR),
               row = jlayout_has_order(layout, JORDER_ROW_MAJOR);
    /* Where extents leave both open, the strides of the single elements tell, as far as there is
     * anything to tell. */
    const bool falls = layout->rank > 0 && layout->strides[0] > layout->strides[layout->rank - 1];
    *order = row && (!column || falls) ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
    return column || row;
}

jstatus_t ji_layout_lead(jlayout_t *layout, jorder_t order, int64_t leading_dimension) {
    if (layout->rank < 2)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "layout: a leading dimension of rank %d; it needs at least 2", layout->rank);

    const int fastest = layout_fastest(layout->rank, order, 0);
    if (leading_dimension < layout_at_least_one(layout->extents[fastest]))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "layout: leading dimension %lld is less than the %lld of dimension %d",
                       (long long)leading_dimension,
                       (long long)layout_at_least_one(layout->extents[fastest]), fastest);

    jlayout_t made = *layout;
    if (!ji_layout_strides(made.rank, made.extents, order, leading_dimension, made.strides))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "layout: strides behind a leading dimension of %lld do not fit 63 bits",
                       (long long)leading_dimension);

    jstatus_t status = jlayout_check(&made);
    if (status == JSTATUS_SUCCESS)
        *layout = made;
    return status;
}

jstatus_t jlayout_set_leading_dimension(jlayout_t *layout, int64_t leading_dimension) {
    JTRY_RETURN(jlayout_check(layout));

    jorder_t order;
    if (!ji_layout_order(layout, &order))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "layout: a leading dimension of strides that are neither column- nor "
                       "row-major");
    return ji_layout_lead(layout, order, leading_dimension);
}

jstatus_t jlayout_set_blocks(jlayout_t *layout, const int64_t *blocks) {
    JTRY_RETURN(jlayout_check(layout));

    jlayout_t made = *layout;
    for (int d = 0; d < made.rank; d++)
        made.blocks[d] = blocks != NULL ? blocks[d] : 0;

    jstatus_t status = jlayout_check(&made);
    if (status == JSTATUS_SUCCESS)
        *layout = made;
    return status;
}

jstatus_t jlayout_set_structure(jlayout_t *layout, jstructure_t structure) {
    JTRY_RETURN(jlayout_check(layout));
    jlayout_t made = *layout;
    made.structure = structure;
    jstatus_t status = jlayout_check(&made);
    if (status == JSTATUS_SUCCESS)
        *layout = made;
    return status;
}

/* ---- What a layout is ---- */

static bool layout_has_rank(const jlayout_t *layout) {
    return layout != NULL && layout->rank >= 0 && layout->rank <= JLAYOUT_MAX_RANK;
}

bool jlayout_has_order(const jlayout_t *layout, jorder_t order) {
    if (!layout_has_rank(layout) || (order != JORDER_COLUMN_MAJOR && order != JORDER_ROW_MAJOR))
        return false;

    int64_t before = 0;

    for (int k = 0; k < layout->rank; k++) {
        const int d = layout_fastest(layout->rank, order, k);
        if (layout->extents[d] <= 1)
            continue;
        if (layout->strides[d] <= before)
            return false;
        before = layout->strides[d];
    }
    return true;
}

/* Whether the elements lie one behind the other in that order. */
static bool layout_is_packed_in(const jlayout_t *layout, jorder_t order) {
    int64_t stride = 1;
    for (int k = 0; k < layout->rank; k++) {
        const int d = layout_fastest(layout->rank, order, k);
        if (layout->extents[d] > 1 && layout->strides[d] != stride)
            return false;
        if (!layout_mul(stride, layout->extents[d], &stride))
            return false;
    }
    return true;
}

bool jlayout_is_packed(const jlayout_t *layout) {
    return layout_has_rank(layout) &&
           (layout_is_empty(layout) || layout_is_packed_in(layout, JORDER_COLUMN_MAJOR) ||
            layout_is_packed_in(layout, JORDER_ROW_MAJOR));
}

void ji_layout_sort(const jlayout_t *layout, int order[JLAYOUT_MAX_RANK]) {
    for (int d = 0; d < layout->rank; d++) {
        int k = d;
        for (; k > 0 && layout->strides[order[k - 1]] > layout->strides[d]; k--)
            order[k] = order[k - 1];
        order[k] = d;
    }
}

bool ji_layout_is_nested(const jlayout_t *layout) {
    int64_t reach = 1; /* elements up to the last one of the dimensions so far */
    int order[JLAYOUT_MAX_RANK];
    if (layout_is_empty(layout))
        return true;

    ji_layout_sort(layout, order);
    for (int k = 0; k < layout->rank; k++) {
        const int64_t extent = layout->extents[order[k]], stride = layout->strides[order[k]];
        if (extent > 1 && stride < reach)
            return false;
        reach += (extent - 1) * stride;
    }
    return true;
}

bool jlayout_same_shape(const jlayout_t *a, const jlayout_t *b) {
    return layout_has_rank(a) && layout_has_rank(b) && a->rank == b->rank &&
           memcmp(a->extents, b->extents, (size_t)a->rank * sizeof a->extents[0]) == 0;
}

bool jlayout_equal(const jlayout_t *a, const jlayout_t *b) {
    return jlayout_same_shape(a, b) && a->structure == b->structure &&
           memcmp(a->strides, b->strides, (size_t)a->rank * sizeof a->strides[0]) == 0 &&
           memcmp(a->blocks, b->blocks, (size_t)a->rank * sizeof a->blocks[0]) == 0;
}

/* ---- Parts of a layout ---- */

jstatus_t jlayout_slice(const jlayout_t *layout, const int64_t *starts, const int64_t *extents,
                        const int64_t *steps, jlayout_t *slice, int64_t *offset) {
    JREQUIRE(slice != NULL && offset != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(jlayout_check(layout));
    JREQUIRE((starts != NULL && extents != NULL) || layout->rank == 0, JSTATUS_INVALID_POINTER);

    jlayout_t made = {.rank = layout->rank, .structure = JSTRUCTURE_GENERAL};
    const bool empty = layout_is_empty(layout);
    for (int d = 0; d < made.rank; d++) {
        const int64_t whole = layout->extents[d], step = steps != NULL ? steps[d] : 1;
        if (step < 1)
            return ji_fail(JSTATUS_INVALID_VALUE, "slice: step %lld of dimension %d is below 1",
                           (long long)step, d);

        /* The last element: starts + (extents - 1) * step, without overflow. */
        if (starts[d] < 0 || extents[d] < 0 || starts[d] > whole ||
            (extents[d] > 0 &&
             (starts[d] == whole || extents[d] - 1 > (whole - 1 - starts[d]) / step)))
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "slice: %lld elements from %lld on, by steps of %lld, are not within "
                           "the %lld of dimension %d",
                           (long long)extents[d], (long long)starts[d], (long long)step,
                           (long long)whole, d);
        made.extents[d] = extents[d];
        /* Two elements that lie within the whole have their distance there, too. Of fewer the step
         * means nothing. */
        made.strides[d] = extents[d] > 1 && !empty ? layout->strides[d] * step : layout->strides[d];
    }

    if (made.rank == 2 && starts[0] == starts[1] && extents[0] == extents[1] &&
        (extents[0] <= 1 || steps == NULL || steps[0] == steps[1]))
        made.structure = layout->structure;

    int64_t first = 0;
    if (!layout_is_empty(&made))
        for (int d = 0; d < made.rank; d++)
            first += starts[d] * layout->strides[d];

    *slice = made;
    *offset = first;
    return JSTATUS_SUCCESS;
}

/* The structure of the transposed matrix; of Hermitian ones there is none. */
static const jstructure_t layout_transposed[] = {
    [JSTRUCTURE_GENERAL] = JSTRUCTURE_GENERAL,
    [JSTRUCTURE_SYMMETRIC_UPPER] = JSTRUCTURE_SYMMETRIC_LOWER,
    [JSTRUCTURE_SYMMETRIC_LOWER] = JSTRUCTURE_SYMMETRIC_UPPER,
    [JSTRUCTURE_TRIANGULAR_UPPER] = JSTRUCTURE_TRIANGULAR_LOWER,
    [JSTRUCTURE_TRIANGULAR_LOWER] = JSTRUCTURE_TRIANGULAR_UPPER,
};

jstatus_t jlayout_permute(const jlayout_t *layout, const int *order, jlayout_t *permuted) {
    JREQUIRE(permuted != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(jlayout_check(layout));
    JREQUIRE(order != NULL || layout->rank == 0, JSTATUS_INVALID_POINTER);
    jlayout_t made = {.rank = layout->rank, .structure = layout->structure};

    unsigned seen = 0;
    for (int d = 0; d < made.rank; d++) {
        if (order[d] < 0 || order[d] >= made.rank || (seen >> order[d] & 1u) != 0)
            return ji_fail(
                JSTATUS_INVALID_VALUE,
                "permute: %d at position %d: the order is no permutation of %d dimensions",
                order[d], d, made.rank);

        seen |= 1u << order[d];
        made.extents[d] = layout->extents[order[d]];
        made.strides[d] = layout->strides[order[d]];
        made.blocks[d] = layout->blocks[order[d]];
    }

    if (made.rank == 2 && order[0] == 1) {
        if (made.structure == JSTRUCTURE_HERMITIAN_UPPER ||
            made.structure == JSTRUCTURE_HERMITIAN_LOWER)
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "permute: the other triangle of a Hermitian matrix is conjugated, which "
                           "no layout says");
        made.structure = layout_transposed[made.structure];
    }

    *permuted = made;
    return JSTATUS_SUCCESS;
}

/* ---- Blocks ---- */

/* The extents of a whole block of a dimension. */
static int64_t layout_block_extent(const jlayout_t *layout, int d) {
    return layout->blocks[d] != 0 ? layout->blocks[d] : layout_at_least_one(layout->extents[d]);
}

/* Blocks along a dimension. */
static int64_t layout_blocks_along(const jlayout_t *layout, int d) {
    const int64_t block = layout_block_extent(layout, d);
    return layout->extents[d] / block + (layout->extents[d] % block != 0);
}

static int64_t layout_count_blocks(const jlayout_t *layout) {
    int64_t count = 1;
    if (layout_is_empty(layout))
        return 0;
    for (int d = 0; d < layout->rank; d++) /* no more blocks than elements */
        count *= layout_blocks_along(layout, d);
    return count;
}

jstatus_t jlayout_get_block_count(const jlayout_t *layout, int64_t *count) {
    JREQUIRE(count != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = jlayout_check(layout);
    if (status == JSTATUS_SUCCESS)
        *count = layout_count_blocks(layout);
    return status;
}

jstatus_t jlayout_get_block(const jlayout_t *layout, int64_t number, int64_t *starts,
                            int64_t *extents) {
    JTRY_RETURN(jlayout_check(layout));
    JREQUIRE((starts != NULL && extents != NULL) || layout->rank == 0, JSTATUS_INVALID_POINTER);

    const int64_t count = layout_count_blocks(layout);
    if (number < 0 || number >= count)
        return ji_fail(JSTATUS_INVALID_VALUE, "layout: block %lld of %lld", (long long)number,
                       (long long)count);

    for (int d = 0; d < layout->rank; d++) {
        const int64_t along = layout_blocks_along(layout, d),
                      block = layout_block_extent(layout, d);
        const int64_t start = number % along * block, rest = layout->extents[d] - start;
        number /= along;
        starts[d] = start;
        extents[d] = rest < block ? rest : block;
    }
    return JSTATUS_SUCCESS;
}
