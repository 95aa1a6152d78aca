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

#include "blas/kernels/factor.h"

#define LU_ORDER JI_WOVEN_LU_ORDER
#define LU_BASE JI_LU_COLUMNS
#define LU_ROWS 4 /* of a product at once */
/* That a step goes over at once: two rows of them, and a row of L, are in registers. */
#define LU_COLUMNS (COMPLEX && VECTOR_REGISTERS < 32 ? 2 : 4)
/* Whether some columns are woven when rows of theirs that change places are known: where a block is
 * an element, they change by what is loaded. */
#define LU_LATER (PARTS == BLOCK_REALS)
/* So many rows all change places with a pivot's; of more those alone that are one in some lane. */
#define LU_FEW_ROWS (VECTOR_REGISTERS < 32 && LANES > 4 ? 8 : 2 * LANES)
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
    int64_t woven;                             /* columns */
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

/* A unit triangle's pivots are complex numbers, too, and 1 times what is not finite is not what it
 * was. */
VECTOR_INLINE void NAME(times_one)(VECTOR *x) {
    VECTOR one[PARTS];
    one[PARTS - 1] = V(splat)(0);
    one[0] = V(splat)(1);
    NAME(divide)(x, one);
}

VECTOR_INLINE VECTOR NAME(lu_size)(const REAL *element) {
    VECTOR size = V(abs)(V(load)(element));
    if (COMPLEX)
        size += V(abs)(V(load)(element + (PARTS - 1) * LANES));
    return size;
}

/* The rows of the largest elements of column j, from row j on, the first of equals, and these
 * elements. False: there is a NaN. */
VECTOR_INLINE bool NAME(lu_search)(NAME(woven_lu_t) * lu, int64_t j, VECTOR *pivot) {
    const VECTOR infinity = V(splat)((REAL)INFINITY), one = V(splat)(1);
    const REAL *at = NAME(lu_place)(lu, j, j);
    VECTOR largest = NAME(lu_size)(at), here = V(splat)((REAL)j), row = here;
    VECTOR sum = largest; /* a NaN if one of them is: none is negative */
    NAME(get)(pivot, at);

    for (int64_t left = lu->m - j - 1; left > 0; left--) {
        VECTOR x[PARTS];
        at += PARTS * LANES, here += one;
        const VECTOR size = NAME(lu_size)(at);
        const TRUTH exceeds = V(exceeds)(size, largest);
        sum += size;
        largest = V(max)(size, largest);
        row = V(choose)(exceeds, here, row);
        NAME(get)(x, at);
        VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            pivot[part] = V(choose)(exceeds, x[part], pivot[part]);
    }

    V(store)(lu->pivots[j], row);
    return !V(any)(V(exceeds)(sum, infinity));
}

/* They change places where it is true. */
VECTOR_INLINE void NAME(lu_swap)(TRUTH have, VECTOR *a, VECTOR *b) {
    const VECTOR x = *a, y = *b;
    if (VECTOR_MASKS) {
        *a = V(choose)(have, y, x), *b = V(choose)(have, x, y);
        return;
    }

    /* Choosing by a vector is two or three operations of Intel's processors, each time. */
    const VECTOR difference = V(where)(have, V(flip)(x, y));
    *a = V(flip)(x, difference), *b = V(flip)(y, difference);
}

/* Row j and the pivots', of all columns that are woven, where rows are many. */
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

    for (int64_t c = 0; c < lu->woven; c++)
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

/* Row j and the pivots', of so many columns from c on. Nothing is computed, so one pass does. */
VECTOR_INLINE void NAME(lu_exchange_few)(const NAME(woven_lu_t) * lu, int64_t j, int64_t c,
                                         int columns) {
    const VECTOR one = V(splat)(1), pivots = V(load)(lu->pivots[j]);
    const ptrdiff_t last = (lu->m - j) * PARTS * LANES;
    VECTOR top[LU_COLUMNS][PARTS], here = V(splat)((REAL)j);
    REAL *at[LU_COLUMNS];

    VECTOR_UNROLL
    for (int v = 0; v < columns; v++) {
        at[v] = NAME(lu_place)(lu, j, c + v);
        NAME(get)(top[v], at[v]);
    }
    for (ptrdiff_t i = PARTS * LANES; i < last; i += PARTS * LANES) {
        here += one;
        const TRUTH have = V(equals)(pivots, here);
        VECTOR_UNROLL
        for (int v = 0; v < columns; v++) {
            VECTOR x[PARTS];
            NAME(get)(x, at[v] + i);
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                NAME(lu_swap)(have, &top[v][part], &x[part]);
            NAME(put)(at[v] + i, x);
        }
    }
    VECTOR_UNROLL
    for (int v = 0; v < columns; v++)
        NAME(put)(at[v], top[v]);
}

/* Row j of so many columns, from c on, and rows [j + 1, end) of them. Lanes change places by whole
 * vectors and without a question for each row: a vector that is read where a lane was just written
 * waits for it, and which rows have a pivot in none of the lanes no processor foresees. */
VECTOR_INLINE void NAME(lu_step)(const NAME(woven_lu_t) * lu, ji_lu_step_t step, int64_t j,
                                 int64_t end, int64_t c, int columns) {
    if (step == JI_LU_EXCHANGE) {
        NAME(lu_exchange_few)(lu, j, c, columns);
        return;
    }

    const VECTOR one = V(splat)(1), top = V(splat)((REAL)j), pivots = V(load)(lu->pivots[j]);
    const bool exchanges = step == JI_LU_BOTH;
    const ptrdiff_t last = (end - j) * PARTS * LANES;
    const REAL *const l = NAME(lu_place)(lu, j, j);
    VECTOR old[LU_COLUMNS][PARTS], u[LU_COLUMNS][PARTS], here = top;
    REAL *at[LU_COLUMNS];

    VECTOR_UNROLL
    for (int v = 0; v < columns; v++) {
        at[v] = NAME(lu_place)(lu, j, c + v);
        NAME(get)(old[v], at[v]);
        NAME(get)(u[v], at[v]);
    }

    if (step == JI_LU_SOLVE && COMPLEX) {
        VECTOR_UNROLL
        for (int v = 0; v < columns; v++)
            NAME(times_one)(u[v]);
    }
    for (ptrdiff_t i = PARTS * LANES; exchanges && i < last; i += PARTS * LANES) {
        here += one;
        const TRUTH have = V(equals)(pivots, here);
        VECTOR_UNROLL
        for (int v = 0; v < columns; v++)
            VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            u[v][part] = V(choose)(have, V(load)(at[v] + i + part * LANES), u[v][part]);
    }
    VECTOR_UNROLL
    for (int v = 0; v < columns; v++)
        NAME(put)(at[v], u[v]);

    here = top;
    for (ptrdiff_t i = PARTS * LANES; i < last; i += PARTS * LANES) {
        VECTOR factor[PARTS];
        here += one;
        const TRUTH have = V(equals)(pivots, here);
        NAME(get)(factor, l + i);
        VECTOR_UNROLL
        for (int v = 0; v < columns; v++) {
            VECTOR x[PARTS];
            NAME(get)(x, at[v] + i);
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                if (exchanges)
                    x[part] = V(choose)(have, old[v][part], x[part]);
            if (step == JI_LU_SOLVE)
                NAME(take)(x, factor, u[v]);
            else
                NAME(take)(x, u[v], factor);
            NAME(put)(at[v] + i, x);
        }
    }
}

/* The same of columns [first, last). */
VECTOR_INLINE void NAME(lu_steps)(const NAME(woven_lu_t) * lu, ji_lu_step_t step, int64_t j,
                                  int64_t end, int64_t first, int64_t last) {
    for (; first + LU_COLUMNS <= last; first += LU_COLUMNS)
        NAME(lu_step)(lu, step, j, end, first, LU_COLUMNS);
    for (; LU_COLUMNS > 2 && first + 2 <= last; first += 2)
        NAME(lu_step)(lu, step, j, end, first, 2);
    for (; first < last; first++)
        NAME(lu_step)(lu, step, j, end, first, 1);
}

/* Column j: unless they did, its pivots change places with row j, and what is below becomes L. */
VECTOR_INLINE void NAME(lu_divide)(const NAME(woven_lu_t) * lu, int64_t j, bool exchanges,
                                   const VECTOR *pivot, const VECTOR *inverse) {
    const VECTOR one = V(splat)(1), pivots = V(load)(lu->pivots[j]);
    REAL *at = NAME(lu_place)(lu, j, j);
    VECTOR old[PARTS], here = V(splat)((REAL)j);
    NAME(get)(old, at);
    NAME(put)(at, pivot);

    for (int64_t left = lu->m - j - 1; left > 0; left--) {
        VECTOR x[PARTS];
        at += PARTS * LANES, here += one;
        const TRUTH have = V(equals)(pivots, here);
        NAME(get)(x, at);
        VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            if (exchanges)
                x[part] = V(choose)(have, old[part], x[part]);
        NAME(divide)(x, inverse);
        NAME(put)(at, x);
    }
}

/* Columns [first, end), from row `first` on, as far as the matrix goes. */
static bool NAME(lu_columns)(NAME(woven_lu_t) * lu, int64_t first, int64_t end) {
    for (int64_t j = first; j < end; j++) {
        VECTOR pivot[PARTS], inverse[PARTS];
        if (!NAME(lu_search)(lu, j, pivot) || V(any)(NAME(invert)(pivot, inverse)))
            return false;
        if (LU_FEW_ROWS < LU_ORDER && lu->m - j > LU_FEW_ROWS) {
            NAME(lu_exchange)(lu, j);
            NAME(lu_divide)(lu, j, false, pivot, inverse);
            NAME(lu_steps)(lu, JI_LU_LOSE, j, lu->m, j + 1, end);
            continue;
        }

        NAME(lu_divide)(lu, j, true, pivot, inverse);
        NAME(lu_steps)(lu, JI_LU_BOTH, j, lu->m, j + 1, end);
        NAME(lu_steps)(lu, JI_LU_EXCHANGE, j, lu->m, 0, j);
        NAME(lu_steps)(lu, JI_LU_EXCHANGE, j, lu->m, end, lu->woven);
    }
    return true;
}

/* Rows [0, order) of columns [first, end): inv(L) times what they were. */
static void NAME(lu_solve)(const NAME(woven_lu_t) * lu, int64_t order, int64_t first, int64_t end) {
    for (int64_t p = 0; p < order; p++)
        NAME(lu_steps)(lu, JI_LU_SOLVE, p, order, first, end);
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

/* The first columns of each item. Those without gaps are one run. */
VECTOR_INLINE void NAME(lu_weave)(NAME(woven_lu_t) * lu, const REAL *const *items, int64_t lda,
                                  int64_t columns) {
    const bool is_run = lda == lu->m;
    const int64_t runs = is_run ? 1 : columns, rows = is_run ? lu->m * columns : lu->m;
    for (int64_t j = 0; j < runs; j++)
        NAME(weave)(NAME(lu_place)(lu, 0, j), items, j * lda * PARTS, rows * PARTS);
    lu->woven = columns;
}

/* The columns that are left, each lane's rows as the pivots of `steps` columns have them. */
VECTOR_INLINE void NAME(lu_weave_exchanged)(NAME(woven_lu_t) * lu, const REAL *const *items,
                                            int64_t lda, int64_t steps) {
    ptrdiff_t rows[LU_ORDER][LANES];
    for (int64_t i = 0; i < lu->m; i++)
        for (int lane = 0; lane < LANES; lane++)
            rows[i][lane] = i * PARTS;
    for (int64_t j = 0; j < steps; j++)
        for (int lane = 0; lane < LANES; lane++) {
            ptrdiff_t *const pivot = &rows[(int)lu->pivots[j][lane]][lane], row = *pivot;
            *pivot = rows[j][lane], rows[j][lane] = row;
        }

    for (; lu->woven < lu->n; lu->woven++) {
        REAL *to = NAME(lu_place)(lu, 0, lu->woven);
        const ptrdiff_t column = lu->woven * lda * PARTS;
        for (int64_t i = 0; i < lu->m; i++, to += PARTS * LANES) {
            const REAL *lines[LANES];
            VECTOR_UNROLL
            for (int lane = 0; lane < LANES; lane++)
                lines[lane] = items[lane] + rows[i][lane];
            NAME(weave_stored)(to, lines, column);
        }
    }
}

VECTOR_INLINE bool NAME(lu_factor)(NAME(woven_lu_t) * lu, const REAL *const *items, int64_t lda) {
    const int64_t left = lu->square < LU_BASE ? lu->square : (int64_t)LU_BASE;
    const bool later = LU_LATER && lu->n >= left + LU_COLUMNS;
    NAME(lu_weave)(lu, items, lda, later ? left : lu->n);
    if (!NAME(lu_columns)(lu, 0, left))
        return false;
    if (later)
        NAME(lu_weave_exchanged)(lu, items, lda, left);

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
        if (!NAME(lu_factor)(&lu, (const REAL *const *)a, call->lda))
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
#undef LU_COLUMNS
#undef LU_FEW_ROWS
#undef LU_LATER
#undef LU_NOT_UNROLLED
#undef BLOCK_REALS
