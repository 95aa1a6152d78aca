/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sums in a fixed order on the host: JI_REDUCE_BLOCKS and JI_REDUCE_COMBINE.
 *
 * The sum of one block is the CBLAS's: a block is far below the lengths from which a CBLAS uses
 * threads (OpenBLAS: 10,000), so its order is fixed. nrm2 adds squares, by dot. Should the sum of
 * squares leave the range in which nothing was lost to overflow or underflow, which is rare,
 * everything is done again with the elements scaled by a power of two, in the same order (the idea
 * of Blue 1978, without his three accumulators). */

#include "blas/host/host.h"
#include "blas/primitives/reduce.h"
#include "core/team.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

/* From here on more threads bring more memory bandwidth than it costs to wake them. */
#define REDUCE_PARALLEL_BYTES 4194304.0

/* The lowest address of elements [first, first + count) of x, as BLAS wants it. */
static const void *reduce_part(const ji_vector_t *v, const void *x, int64_t increment,
                               int64_t first, int64_t count) {
    int64_t element = increment > 0 ? first * increment : (v->n - first - count) * -increment;
    return ji_at(v->head.type, x, element, 0, 0);
}

/* The largest magnitude among real and imaginary parts; NaN if there is one. */
static double reduce_largest(const ji_vector_t *v) {
    int64_t parts = ji_is_complex(v->head.type) ? 2 : 1, step = ji_abs(v->incx) * parts;
    const float *s = v->x;
    const double *d = v->x;
    double largest = 0;

    for (int64_t i = 0; i < v->n; i++)
        for (int64_t part = 0; part < parts; part++) {
            double value =
                ji_real_of(v->head.type) == JDATATYPE_F32 ? s[i * step + part] : d[i * step + part];
            if (!(fabs(value) <= largest))
                largest = fabs(value);
            if (isnan(largest))
                return largest;
        }

    return largest;
}

/* The sum of squares of one block, each element scaled by 2^-exponent. nrm2's increments are
 * positive. */
static double reduce_scaled_squares(const ji_vector_t *v, int64_t first, int64_t count,
                                    int exponent) {
    int64_t parts = ji_is_complex(v->head.type) ? 2 : 1, step = v->incx * parts;
    const char *start = reduce_part(v, v->x, v->incx, first, count);
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        for (int64_t part = 0; part < parts; part++) {
            double value = ji_real_of(v->head.type) == JDATATYPE_F32
                               ? ((const float *)(const void *)start)[i * step + part]
                               : ((const double *)(const void *)start)[i * step + part];
            value = ldexp(value, -exponent);
            sum += value * value;
        }

    return sum;
}

/* The sum of one block. */
static void reduce_block(const ji_reduce_t *call, int64_t block, ji_value_t *sum) {
    const ji_vector_t *v = &call->vector;
    int64_t first = block * JI_REDUCE_BLOCK;
    int64_t count = v->n - first < JI_REDUCE_BLOCK ? v->n - first : JI_REDUCE_BLOCK;

    ji_vector_t part = *v;
    part.n = count;
    part.x = reduce_part(v, v->x, v->incx, first, count);
    part.result = sum;

    switch (call->reduction) {
    case JI_REDUCE_ASUM: ji_host_run(JI_ASUM, &part); return;
    case JI_REDUCE_NRM2:
        /* The dot of the real parts with themselves, and of the imaginary parts; of contiguous
         * elements at once. */
        part.head.type = ji_real_of(v->head.type);
        part.incx = ji_abs(v->incx);

        if (ji_is_complex(v->head.type)) {
            part.incx *= 2;
            if (part.incx == 2)
                part.incx = 1, part.n = 2 * count;
        }

        part.y = ji_unconst(part.x), part.incy = part.incx;
        ji_host_run(JI_DOT, &part);

        if (part.incx != 1 && ji_is_complex(v->head.type)) {
            ji_value_t imaginary;
            part.x = part.y = ji_at(part.head.type, part.x, 1, 0, 0);
            part.result = &imaginary;
            ji_host_run(JI_DOT, &part);
            if (part.head.type == JDATATYPE_F32)
                sum->s += imaginary.s;
            else
                sum->d += imaginary.d;
        }
        return;
    default:
        part.y = ji_unconst(reduce_part(v, v->y, v->incy, first, count));
        if (call->reduction == JI_REDUCE_DOT)
            ji_host_run(JI_DOT, &part);
        else
            ji_host_run(JI_DOTC, &part);
    }
}

/* The tree over `count` blocks from `first` on. As deep as the number of blocks has bits. */
static void reduce_tree(const ji_reduce_t *call, int64_t first, int64_t count, ji_value_t *sum) {
    jdatatype_t type = ji_reduce_type(call->reduction, call->vector.head.type);
    size_t step = ji_reduce_partial_bytes(call->reduction, call->vector.head.type);

    if (count == 1) {
        if (call->partials != NULL)
            memcpy(sum, (const char *)call->partials + (size_t)first * step, ji_sizeof(type));
        else
            reduce_block(call, first, sum);
        return;
    }

    ji_value_t right;
    reduce_tree(call, first, count / 2, sum);
    reduce_tree(call, first + count / 2, count - count / 2, &right);
    host_add(type, sum, &right);
}

static double reduce_scaled_tree(const ji_reduce_t *call, int64_t first, int64_t count,
                                 int exponent) {
    if (count > 1)
        return reduce_scaled_tree(call, first, count / 2, exponent) +
               reduce_scaled_tree(call, first + count / 2, count - count / 2, exponent);

    int64_t start = first * JI_REDUCE_BLOCK, rest = call->vector.n - start;
    return reduce_scaled_squares(&call->vector, start,
                                 rest < JI_REDUCE_BLOCK ? rest : JI_REDUCE_BLOCK, exponent);
}

/* A sum of squares becomes its root, unless it left the range in which nothing that matters was
 * lost: below `least` a square that vanished might have. */
static bool reduce_take_root(jdatatype_t real, void *squares) {
    float *s = squares;
    double *d = squares;

    const double least_s = (double)FLT_MIN / FLT_EPSILON / FLT_EPSILON,
                 least_d = DBL_MIN / DBL_EPSILON / DBL_EPSILON;

    if (real == JDATATYPE_F32) {
        if (!((double)*s >= least_s && *s <= FLT_MAX))
            return false;
        *s = sqrtf(*s);
    } else {
        if (!(*d >= least_d && *d <= DBL_MAX))
            return false;
        *d = sqrt(*d);
    }

    return true;
}

/* The norm where squares cannot be formed as they are. */
static double reduce_scaled_norm(const ji_reduce_t *call) {
    double largest = reduce_largest(&call->vector);
    if (largest == 0 || isnan(largest) || isinf(largest))
        return largest;

    int exponent;
    frexp(largest, &exponent);
    return ldexp(sqrt(reduce_scaled_tree(call, 0, call->blocks, exponent)), exponent);
}

void ji_host_reduce_combine(void *block) {
    const ji_reduce_t *call = block;
    ji_value_t sum;
    jdatatype_t type = ji_reduce_type(call->reduction, call->vector.head.type);

    reduce_tree(call, 0, call->blocks, &sum);

    if (call->reduction == JI_REDUCE_NRM2 && !reduce_take_root(type, &sum)) {
        if (type == JDATATYPE_F32)
            sum.s = (float)reduce_scaled_norm(call);
        else
            sum.d = reduce_scaled_norm(call);
    }

    memcpy(call->vector.result, &sum, ji_sizeof(type));
}

/* A CBLAS's own norm is as good as its care for overflow, and slower than its dot. One block of
 * numbers side by side is one dot and a root, as a rule. */
void ji_host_nrm2(void *block) {
    const ji_vector_t *v = block;
    const jdatatype_t real = ji_real_of(v->head.type);
    const bool parts = ji_is_complex(v->head.type);

    if (v->n <= 0) {
        memset(v->result, 0, ji_sizeof(real));
        return;
    }

    if (!parts || v->incx == 1) {
        ji_vector_t squares = {
            .head = {.type = real, .row = v->head.row, .threads = v->head.threads},
            .n = parts ? 2 * v->n : v->n,
            .alpha = {NULL, {.z = {0, 0}}},
            .x = v->x,
            .incx = v->incx,
            .y = ji_unconst(v->x),
            .incy = v->incx,
            .result = v->result};

        ji_host_run(JI_DOT, &squares);
        if (reduce_take_root(real, v->result))
            return;
    }

    /* Numbers apart, or squares out of range: one block of a long vector, algorithms/reduce.c. */
    ji_reduce_t call = {.vector = *v, .reduction = JI_REDUCE_NRM2, .blocks = 1};
    ji_host_reduce_combine(&call);
}

/* Partial sums in workspace are for several threads. */
bool ji_host_reduce_pays(ji_reduction_t reduction, const ji_vector_t *vector) {
    if (reduction == JI_REDUCE_IAMAX)
        return false;

    double operands = reduction <= JI_REDUCE_DOTC ? 2 : 1;
    double bytes = operands * (double)vector->n * (double)ji_sizeof(vector->head.type);
    return bytes >= REDUCE_PARALLEL_BYTES && vector->head.threads.count > 1;
}

/* Blocks are taken in turn by whoever is free. Each has a partial sum of its own, so the bits of
 * the result do not depend on who took which. */
typedef struct reduce_work {
    const ji_reduce_t *call;
    _Atomic int64_t next;
} reduce_work_t;

static void reduce_take_blocks(void *data, int index) {
    (void)index;
    reduce_work_t *work = data;
    const ji_reduce_t *call = work->call;
    size_t size = ji_sizeof(ji_reduce_type(call->reduction, call->vector.head.type));
    size_t step = ji_reduce_partial_bytes(call->reduction, call->vector.head.type);

    int64_t i;
    while ((i = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) < call->blocks) {
        ji_value_t sum;
        reduce_block(call, i, &sum);
        memcpy((char *)call->partials + (size_t)i * step, &sum, size);
    }
}

void ji_host_reduce_blocks(void *block) {
    reduce_work_t work = {block, 0};
    ji_team_lease_t lease;
    ji_team_begin(&lease, &work.call->vector.head.threads, (int)ji_min(work.call->blocks, INT_MAX));
    ji_team_do(&lease, reduce_take_blocks, &work);
    ji_team_end(&lease);
}
