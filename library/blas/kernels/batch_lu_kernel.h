/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU with partial pivoting of a batch of small matrices, of one element type and instruction set: a
 * part of batch_kernel.h, which includes it behind batch_triangle_kernel.h. No include guard.
 *
 * Items are woven, so that a column's largest elements are found for all of them at once, and
 * reciprocals, columns and products wait once for all. Each item has pivots of its own: its rows
 * are exchanged by themselves, a lane's elements one by one.
 *
 * Each element is the chain of operations that host/lu.c of libjlapack makes of it, with the same
 * bits: of a square, columns beyond the first LU_BASE are solved for and lose one product, and then
 * what the columns since then take from them; of columns beyond the square there is the solution
 * alone. Where that one goes another way, with a pivot whose reciprocal is no normal number, or a
 * NaN among those that are to be one, the kernel stops before it has written anything of its
 * group. */

#include <math.h>

#define LU_ORDER JI_WOVEN_LU_ORDER
#define LU_BASE JI_WOVEN_LU_BASE
#define LU_ROWS 4 /* of a product at once */
/* Of loops over lanes that have loops of their own: compilers would make all their steps. */
#ifdef __clang__
#define LU_NOT_UNROLLED _Pragma("nounroll")
#else
#define LU_NOT_UNROLLED _Pragma("GCC unroll 1")
#endif

/* Woven matrices: element (i, j) is at at + (i + j m) PARTS LANES. */
typedef struct NAME(woven_lu) {
    REAL *at;
    int64_t m, n, square;
    _Alignas(64) REAL pivots[LU_ORDER][LANES]; /* rows */
} NAME(woven_lu_t);

VECTOR_INLINE REAL *NAME(lu_place)(const NAME(woven_lu_t) * lu, int64_t i, int64_t j) {
    return lu->at + (i + j * lu->m) * PARTS * LANES;
}

/* sum += factor times x. */
VECTOR_INLINE void NAME(give)(VECTOR *sum, const VECTOR *factor, const VECTOR *x) {
    sum[0] = V(fma)(factor[0], x[0], sum[0]);
#if COMPLEX
    sum[0] = V(fnma)(factor[1], x[1], sum[0]);
    sum[1] = V(fma)(factor[0], x[1], V(fma)(factor[1], x[0], sum[1]));
#endif
}

VECTOR_INLINE VECTOR NAME(lu_size)(const REAL *element) {
    VECTOR size = V(abs)(V(load)(element));
    if (COMPLEX)
        size += V(abs)(V(load)(element + (PARTS - 1) * LANES));
    return size;
}

/* The rows of the largest elements of column j, from row j on, the first of equals. False: there is
 * a NaN. */
VECTOR_INLINE bool NAME(lu_search)(NAME(woven_lu_t) * lu, int64_t j) {
    const VECTOR infinity = V(splat)((REAL)INFINITY);
    VECTOR largest = NAME(lu_size)(NAME(lu_place)(lu, j, j)), row = V(splat)((REAL)j);
    TRUTH bad = V(exceeds)(largest, infinity);

    for (int64_t i = j + 1; i < lu->m; i++) {
        const VECTOR size = NAME(lu_size)(NAME(lu_place)(lu, i, j));
        const TRUTH exceeds = V(exceeds)(size, largest);
        bad = V(either)(bad, V(exceeds)(size, infinity));
        largest = V(choose)(exceeds, size, largest);
        row = V(choose)(exceeds, V(splat)((REAL)i), row);
    }

    V(store)(lu->pivots[j], row);
    return !V(any)(bad);
}

/* Row j and the pivots', of all columns: lanes change places by whole vectors, since a vector that
 * is read where a lane was just written waits for it. */
static void NAME(lu_exchange)(const NAME(woven_lu_t) * lu, int64_t j) {
    const VECTOR pivots = V(load)(lu->pivots[j]);
    int64_t places[LU_ORDER]; /* from a column's row j to a row that some lanes have as pivot */
    TRUTH have[LU_ORDER];
    int count = 0;
    for (int64_t i = j + 1; i < lu->m; i++) {
        have[count] = V(equals)(pivots, V(splat)((REAL)i));
        places[count] = (i - j) * PARTS * LANES;
        count += V(any)(have[count]);
    }

    for (int64_t c = 0; c < lu->n; c++)
        for (int part = 0; part < PARTS; part++) {
            REAL *const here = NAME(lu_place)(lu, j, c) + part * LANES;
            const VECTOR old = V(load)(here);
            VECTOR found = old;
            for (int k = 0; k < count; k++) {
                const VECTOR there = V(load)(here + places[k]);
                found = V(choose)(have[k], there, found);
                V(store)(here + places[k], V(choose)(have[k], old, there));
            }
            V(store)(here, found);
        }
}

/* Columns [first, end), from row `first` on, as far as the matrix goes. */
static bool NAME(lu_columns)(NAME(woven_lu_t) * lu, int64_t first, int64_t end) {
    for (int64_t j = first; j < end; j++) {
        VECTOR inverse[PARTS];
        if (!NAME(lu_search)(lu, j))
            return false;
        NAME(lu_exchange)(lu, j);
        NAME(get)(inverse, NAME(lu_place)(lu, j, j));
        if (V(any)(NAME(invert)(inverse, inverse)))
            return false;

        for (int64_t i = j + 1; i < lu->m; i++) {
            VECTOR l[PARTS];
            NAME(get)(l, NAME(lu_place)(lu, i, j));
            NAME(divide)(l, inverse);
            NAME(put)(NAME(lu_place)(lu, i, j), l);
        }
        for (int64_t c = j + 1; c < end; c++) {
            VECTOR u[PARTS];
            NAME(get)(u, NAME(lu_place)(lu, j, c));
            for (int64_t i = j + 1; i < lu->m; i++) {
                VECTOR l[PARTS], x[PARTS];
                NAME(get)(l, NAME(lu_place)(lu, i, j));
                NAME(get)(x, NAME(lu_place)(lu, i, c));
                NAME(take)(x, u, l);
                NAME(put)(NAME(lu_place)(lu, i, c), x);
            }
        }
    }
    return true;
}

/* Rows [0, order) of columns [first, end): inv(L) times what they were. A unit triangle's pivots
 * are complex numbers, too, and 1 times what is not finite is not what it was. */
static void NAME(lu_solve)(const NAME(woven_lu_t) * lu, int64_t order, int64_t first, int64_t end) {
    VECTOR one[PARTS];
    one[PARTS - 1] = V(splat)(0);
    one[0] = V(splat)(1);
    for (int64_t c = first; c < end; c++)
        for (int64_t p = 0; p < order; p++) {
            VECTOR u[PARTS];
            NAME(get)(u, NAME(lu_place)(lu, p, c));
            if (COMPLEX) {
                NAME(divide)(u, one);
                NAME(put)(NAME(lu_place)(lu, p, c), u);
            }
            for (int64_t i = p + 1; i < order; i++) {
                VECTOR l[PARTS], x[PARTS];
                NAME(get)(l, NAME(lu_place)(lu, i, p));
                NAME(get)(x, NAME(lu_place)(lu, i, c));
                NAME(take)(x, l, u);
                NAME(put)(NAME(lu_place)(lu, i, c), x);
            }
        }
}

/* So many elements of column c, from row i on, lose a product of depth `depth`. */
VECTOR_INLINE void NAME(lu_product)(const NAME(woven_lu_t) * lu, int64_t depth, int64_t i,
                                    int64_t c, int rows) {
    VECTOR sums[LU_ROWS][PARTS];
    VECTOR_UNROLL
    for (int v = 0; v < rows; v++)
        VECTOR_UNROLL
    for (int part = 0; part < PARTS; part++)
        sums[v][part] = V(splat)(0);

    for (int64_t p = 0; p < depth; p++) {
        VECTOR u[PARTS];
        NAME(get)(u, NAME(lu_place)(lu, p, c));
        VECTOR_UNROLL
        for (int v = 0; v < rows; v++) {
            VECTOR l[PARTS];
            NAME(get)(l, NAME(lu_place)(lu, i + v, p));
            NAME(give)(sums[v], l, u);
        }
    }

    VECTOR_UNROLL
    for (int v = 0; v < rows; v++) {
        VECTOR x[PARTS];
        NAME(get)(x, NAME(lu_place)(lu, i + v, c));
        VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            x[part] = x[part] - sums[v][part];
        NAME(put)(NAME(lu_place)(lu, i + v, c), x);
    }
}

VECTOR_INLINE bool NAME(lu_factor)(NAME(woven_lu_t) * lu) {
    const int64_t left = lu->square < LU_BASE ? lu->square : (int64_t)LU_BASE;
    if (!NAME(lu_columns)(lu, 0, left))
        return false;

    if (lu->square > left) {
        NAME(lu_solve)(lu, left, left, lu->square);
        for (int64_t c = left; c < lu->square; c++) {
            int64_t i = left;
            for (; i + LU_ROWS <= lu->m; i += LU_ROWS)
                NAME(lu_product)(lu, left, i, c, LU_ROWS);
            for (; i < lu->m; i++)
                NAME(lu_product)(lu, left, i, c, 1);
        }
        if (!NAME(lu_columns)(lu, left, lu->square))
            return false;
    }

    NAME(lu_solve)(lu, lu->square, lu->square, lu->n);
    return true;
}

static int64_t NAME(woven_lu)(const ji_woven_lu_t *call) {
    _Alignas(64) REAL room[LU_ORDER * LU_ORDER * PARTS * LANES];
    NAME(woven_lu_t)
    lu = {.at = room, .m = call->m, .n = call->n, .square = call->m < call->n ? call->m : call->n};
    /* Columns without gaps are one run. */
    const bool is_run = call->lda == lu.m;
    const int64_t runs = is_run ? 1 : lu.n, reals = (is_run ? lu.m * lu.n : lu.m) * PARTS;

    for (int64_t item = 0; item < call->count; item += LANES) {
        REAL *const *const a = (REAL *const *)call->a + item;
        for (int64_t j = 0; j < runs; j++)
            NAME(weave)
        (room + j * reals * LANES, (const REAL *const *)a, j * call->lda * PARTS, reals);
        if (!NAME(lu_factor)(&lu))
            return item;

        for (int64_t j = 0; j < runs; j++)
            NAME(unravel)(a, j * call->lda * PARTS, reals, true, room + j * reals * LANES);
        LU_NOT_UNROLLED
        for (int lane = 0; lane < LANES; lane++)
            for (int64_t j = 0; j < lu.square; j++)
                ((int64_t *)call->ipiv[item + lane])[j] = (int64_t)lu.pivots[j][lane] + 1;
    }
    return call->count;
}

#undef LU_ORDER
#undef LU_BASE
#undef LU_ROWS
#undef LU_NOT_UNROLLED
#undef BLOCK_REALS
