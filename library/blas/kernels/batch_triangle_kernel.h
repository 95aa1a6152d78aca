/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small triangles of a batch, of one element type and instruction set: a part of batch_kernel.h,
 * which includes it. No include guard.
 *
 * As many items as a vector has lanes are woven: an element (of complex ones, a part) of all of
 * them is one vector. So substitution and factors, in which each step waits for the one before,
 * wait once for all items, and no lane is without work, however small the matrices are.
 *
 *     items   a0 a1 a2 ...   b0 b1 b2 ...   c0 c1 c2 ...   d0 d1 d2 ...
 *     woven   a0 b0 c0 d0    a1 b1 c1 d1    a2 b2 c2 d2    ...
 *
 * Both go by tiles that stay in registers: what is found before them is taken from all their sums,
 * which do not wait for each other, and then they are finished, element after element.
 *
 *     Cholesky   +-----+                  solve   +-----+   +-----+
 *                | 1 \                            | 1 \     | 1 3 |    1, 3: SIDES_AT_ONCE
 *                | 2    3 \                       |    2 \  | 2 4 |    right-hand sides
 *                | 2    4   5 \                   +--------+-+-----+
 *
 * Right-hand sides that are as many as the lanes need no weaving of triangles: for such
 * batch_sides_kernel.h has another way.
 *
 * Each element is the chain of operations that factor_kernel.h and triangle_kernel.h make of it,
 * with the same bits. Where one of the items has a pivot with which these go another way, the
 * kernel stops before it has written anything of its group, and the caller does these items one by
 * one. */

#include <float.h>

#define ORDER JI_WOVEN_ORDER
#define TRIANGLE (ORDER * (ORDER + 1) / 2) /* elements */
#define WHOLE 8                            /* up to this order matrices without gaps are one run */
#define STRIP (ORDER * 4)                  /* elements of right-hand sides that are woven at once */
#define MOST_SIDES 8
/* Of groups of Cholesky factors side by side: a quarter of a first cache, which has items, too. */
#define GROUPS_MOST_BYTES 12288
/* A tile: WIDTH columns of a factor by so many rows, or UNKNOWNS by so many right-hand sides. */
#define WIDTH (COMPLEX ? 2 : 4)
#define ROWS_AT_ONCE (VECTOR_REGISTERS / 8)
#define UNKNOWNS (COMPLEX ? 2 : VECTOR_REGISTERS == 32 ? 4 : 3)
#define SIDES_AT_ONCE (COMPLEX ? VECTOR_REGISTERS / 8 : 4)

#include "blas/kernels/batch_weave_kernel.h"

/* sum -= factor times x, and times the conjugate of it. */
VECTOR_INLINE void NAME(take)(VECTOR *sum, const VECTOR *factor, const VECTOR *x) {
    sum[0] = V(fnma)(factor[0], x[0], sum[0]);
#if COMPLEX
    sum[0] = V(fma)(factor[1], x[1], sum[0]);
    sum[1] = V(fnma)(factor[1], x[0], V(fnma)(factor[0], x[1], sum[1]));
#endif
}

VECTOR_INLINE void NAME(take_conjugate)(VECTOR *sum, const VECTOR *factor, const VECTOR *x) {
    sum[0] = V(fnma)(factor[0], x[0], sum[0]);
#if COMPLEX
    sum[0] = V(fnma)(factor[1], x[1], sum[0]);
    sum[1] = V(fma)(factor[1], x[0], V(fnma)(factor[0], x[1], sum[1]));
#endif
}

VECTOR_INLINE void NAME(get)(VECTOR *element, const REAL *from) {
    VECTOR_UNROLL
    for (int part = 0; part < PARTS; part++)
        element[part] = V(load)(from + part * LANES);
}

VECTOR_INLINE void NAME(put)(REAL *to, const VECTOR *element) {
    VECTOR_UNROLL
    for (int part = 0; part < PARTS; part++)
        V(store)(to + part * LANES, element[part]);
}

/* ---- Cholesky ---- */

/* The triangle of columns [j, j + width), and the reciprocals of its pivots. False: one of these is
 * not positive. */
VECTOR_INLINE bool NAME(cholesky_pivots)(const NAME(woven_t) * l, int64_t j, int width,
                                         VECTOR *factors) {
    const VECTOR zero = V(splat)(0);
    VECTOR sums[WIDTH][WIDTH][PARTS];
    const REAL *rows[WIDTH];

    VECTOR_UNROLL
    for (int v = 0; v < width; v++) {
        rows[v] = l->at + l->row[j + v];
        VECTOR_UNROLL
        for (int u = 0; u <= v; u++)
            NAME(get)(sums[v][u], rows[v] + l->column[j + u]);
    }

    for (int64_t p = 0; p < j; p++) {
        VECTOR x[WIDTH][PARTS];
        VECTOR_UNROLL
        for (int v = 0; v < width; v++) {
            NAME(get)(x[v], rows[v] + l->column[p]);
            VECTOR_UNROLL
            for (int u = 0; u <= v; u++)
                NAME(take_conjugate)(sums[v][u], x[u], x[v]);
        }
    }

    VECTOR_UNROLL
    for (int u = 0; u < width; u++) {
        const VECTOR rest = sums[u][u][0];
        if (V(any)(V(either)(V(exceeds)(zero, rest), V(equals)(rest, zero))))
            return false;
        sums[u][u][0] = V(root)(rest);
        sums[u][u][PARTS - 1] = COMPLEX ? zero : sums[u][u][0];
        NAME(put)(NAME(place)(l, j + u, j + u), sums[u][u]);

        factors[u] = V(splat)(1) / sums[u][u][0];
        VECTOR_UNROLL
        for (int v = u + 1; v < width; v++) {
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                sums[v][u][part] = sums[v][u][part] * factors[u];
            NAME(put)(NAME(place)(l, j + v, j + u), sums[v][u]);
            VECTOR_UNROLL
            for (int t = u + 1; t <= v; t++)
                NAME(take_conjugate)(sums[v][t], sums[t][u], sums[v][u]);
        }
    }
    return true;
}

/* Rows [i, i + count) of columns [j, j + WIDTH), of which the pivots are done. */
VECTOR_INLINE void NAME(cholesky_rows)(const NAME(woven_t) * l, int64_t i, int64_t j, int count,
                                       const VECTOR *factors) {
    VECTOR sums[ROWS_AT_ONCE][WIDTH][PARTS];
    REAL *rows[ROWS_AT_ONCE];
    const REAL *columns[WIDTH];

    VECTOR_UNROLL
    for (int u = 0; u < WIDTH; u++)
        columns[u] = l->at + l->row[j + u];
    VECTOR_UNROLL
    for (int v = 0; v < count; v++) {
        rows[v] = l->at + l->row[i + v];
        VECTOR_UNROLL
        for (int u = 0; u < WIDTH; u++)
            NAME(get)(sums[v][u], rows[v] + l->column[j + u]);
    }

    for (int64_t p = 0; p < j; p++) {
        const ptrdiff_t at = l->column[p];
        VECTOR x[ROWS_AT_ONCE][PARTS];
        VECTOR_UNROLL
        for (int v = 0; v < count; v++)
            NAME(get)(x[v], rows[v] + at);
        VECTOR_UNROLL
        for (int u = 0; u < WIDTH; u++) {
            VECTOR y[PARTS];
            NAME(get)(y, columns[u] + at);
            VECTOR_UNROLL
            for (int v = 0; v < count; v++)
                NAME(take_conjugate)(sums[v][u], y, x[v]);
        }
    }

    VECTOR_UNROLL
    for (int u = 0; u < WIDTH; u++) {
        VECTOR_UNROLL
        for (int v = 0; v < count; v++) {
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                sums[v][u][part] = sums[v][u][part] * factors[u];
            NAME(put)(rows[v] + l->column[j + u], sums[v][u]);
        }
        VECTOR_UNROLL
        for (int t = u + 1; t < WIDTH; t++) {
            VECTOR y[PARTS];
            NAME(get)(y, columns[t] + l->column[j + u]);
            VECTOR_UNROLL
            for (int v = 0; v < count; v++)
                NAME(take_conjugate)(sums[v][t], y, sums[v][u]);
        }
    }
}

static bool NAME(cholesky_last)(const NAME(woven_t) * l, int64_t j, int width) {
    VECTOR factors[WIDTH];
    switch (width) {
    case 1: return NAME(cholesky_pivots)(l, j, 1, factors);
    case 2: return NAME(cholesky_pivots)(l, j, 2, factors);
#if !COMPLEX
    case 3: return NAME(cholesky_pivots)(l, j, 3, factors);
    case 4: return NAME(cholesky_pivots)(l, j, 4, factors);
#endif
    default: return true;
    }
}

/* Columns [j, j + WIDTH) of a triangle that has more, of each group in turn: their pivots wait,
 * but not for each other. */
static bool NAME(cholesky_columns)(const NAME(woven_t) * l, int groups, int64_t n, int64_t j) {
    VECTOR factors[JI_WOVEN_GROUPS][WIDTH];
    for (int g = 0; g < groups; g++)
        if (!NAME(cholesky_pivots)(&l[g], j, WIDTH, factors[g]))
            return false;

    for (int g = 0; g < groups; g++) {
        int64_t i = j + WIDTH;
        for (; i + ROWS_AT_ONCE <= n; i += ROWS_AT_ONCE)
            NAME(cholesky_rows)(&l[g], i, j, ROWS_AT_ONCE, factors[g]);
        for (; i < n; i++)
            NAME(cholesky_rows)(&l[g], i, j, 1, factors[g]);
    }
    return true;
}

/* So many groups of items, of matrices that were laid out. */
static __attribute__((noinline)) bool NAME(cholesky_groups)(NAME(woven_t) * l, bool upper,
                                                            int64_t n, int groups, void *const *a,
                                                            int64_t lda, bool whole) {
    const REAL *const *from = (const REAL *const *)a;

    /* An upper triangle is the adjoint of a lower one. */
    for (int g = 0; g < groups; g++)
        NAME(weave_triangle)(l[g].at, upper, upper, n, from + g * LANES, lda, whole);

    int64_t j = 0;
    for (; j + WIDTH < n; j += WIDTH)
        if (!NAME(cholesky_columns)(l, groups, n, j))
            return false;
    for (int g = 0; g < groups; g++)
        if (!NAME(cholesky_last)(&l[g], j, (int)(n - j)))
            return false;

    for (int g = 0; g < groups; g++)
        NAME(unravel_triangle)
    ((REAL *const *)a + g * LANES, upper, upper, n, lda, whole, l[g].at);
    return true;
}

static int64_t NAME(woven_cholesky)(bool upper, int64_t n, int64_t count, void *const *a,
                                    int64_t lda) {
    _Alignas(64) REAL room[TRIANGLE * PARTS * LANES];
    const bool whole = NAME(is_whole)(n, lda);
    const int64_t each = (whole ? n * n : n * (n + 1) / 2) * PARTS * LANES,
                  bytes = JI_WOVEN_GROUPS * each * (int64_t)sizeof(REAL),
                  most = bytes <= GROUPS_MOST_BYTES && bytes <= (int64_t)sizeof room
                             ? JI_WOVEN_GROUPS
                             : 1;
    NAME(woven_t) l[JI_WOVEN_GROUPS];

    for (int64_t g = 0; g < most; g++)
        NAME(lay_out)(&l[g], room + g * each, upper, upper, false, n, whole);
    for (int64_t first = 0, groups; first < count; first += groups * LANES) {
        groups = count - first > LANES ? most : 1;
        if (!NAME(cholesky_groups)(l, upper, n, (int)groups, a + first, lda, whole))
            return first;
    }
    return count;
}

/* ---- Substitution ---- */

/* The reciprocals of pivots, which may take their place. True where one is no normal number. */
VECTOR_INLINE TRUTH NAME(invert)(const VECTOR *pivot, VECTOR *inverse) {
    const VECTOR least = V(splat)(SINGLE ? (REAL)FLT_MIN : (REAL)DBL_MIN),
                 most = V(splat)(SINGLE ? (REAL)FLT_MAX : (REAL)DBL_MAX), one = V(splat)(1);
#if COMPLEX
    /* Smith's algorithm, as triangle_kernel.h has it. A NaN is seen below, whichever way it
     * goes. */
    const VECTOR re = pivot[0], im = pivot[1];
    const TRUTH is_tall = V(exceeds)(V(abs)(im), V(abs)(re));
    const VECTOR high = V(choose)(is_tall, im, re), low = V(choose)(is_tall, re, im);
    const VECTOR ratio = low / high, scale = one / (high + low * ratio);
    inverse[0] = V(choose)(is_tall, ratio * scale, scale);
    inverse[1] = V(choose)(is_tall, -scale, -ratio * scale);

    /* A NaN of either part is seen, whichever max() gives. */
    const VECTOR size = V(abs)(inverse[0]), other = V(abs)(inverse[1]),
                 largest = V(max)(size, other);
    const TRUTH exceeds = V(either)(V(exceeds)(size, most), V(exceeds)(other, most));
#else
    inverse[0] = one / pivot[0];
    const VECTOR largest = V(abs)(inverse[0]);
    const TRUTH exceeds = V(exceeds)(largest, most);
#endif
    return V(either)(exceeds, V(exceeds)(least, largest));
}

/* The reciprocals of pivots, in their places. False: one of them is no normal number. */
VECTOR_INLINE bool NAME(invert_pivots)(const NAME(woven_t) * m, int64_t n) {
    const VECTOR one = V(splat)(1);
    TRUTH bad = V(exceeds)(one, one);

    for (int64_t q = 0; q < n; q++) {
        REAL *const pivot = NAME(place)(m, q, q);
        VECTOR inverse[PARTS];
        NAME(get)(inverse, pivot);
        bad = V(either)(bad, NAME(invert)(inverse, inverse));
        NAME(put)(pivot, inverse);
    }
    return !V(any)(bad);
}

/* A unit triangle's pivots are not looked at: they are 1. */
VECTOR_INLINE void NAME(put_ones)(const NAME(woven_t) * m, int64_t n, REAL sign) {
    for (int64_t q = 0; q < n; q++) {
        REAL *const pivot = NAME(place)(m, q, q);
        V(store)(pivot, V(splat)(1));
        if (COMPLEX)
            V(store)(pivot + (PARTS - 1) * LANES, V(splat)(sign * 0));
    }
}

/* Woven right-hand sides: unknown q of side s is at at + q * unknown + s * side, reals. */
typedef struct NAME(sides) {
    REAL *at;
    ptrdiff_t unknown, side;
    bool scales;
    REAL alpha[2];
} NAME(sides_t);

VECTOR_INLINE void NAME(scale)(VECTOR *x, const REAL *alpha) {
    const VECTOR re = V(splat)(alpha[0]), before = x[0];
#if COMPLEX
    const VECTOR im = V(splat)(alpha[1]);
    x[0] = re * before - im * x[1];
    x[1] = re * x[1] + im * before;
#else
    x[0] = before * re;
#endif
}

/* x times the reciprocal of a pivot. */
VECTOR_INLINE void NAME(divide)(VECTOR *x, const VECTOR *inverse) {
    const VECTOR before = x[0];
#if COMPLEX
    x[0] = V(fnma)(inverse[1], x[1], inverse[0] * before);
    x[1] = V(fma)(inverse[1], before, inverse[0] * x[1]);
#else
    x[0] = before * inverse[0];
#endif
}

/* Unknowns [q, q + width) of so many right-hand sides, the first of which is at b. */
VECTOR_INLINE void NAME(solve_tile)(const NAME(woven_t) * m, const NAME(sides_t) * b, REAL *at,
                                    int64_t q, int width, int sides) {
    VECTOR x[UNKNOWNS][SIDES_AT_ONCE][PARTS];
    const REAL *rows[UNKNOWNS];
    const ptrdiff_t unknown = b->unknown, side = b->side;

    VECTOR_UNROLL
    for (int u = 0; u < width; u++) {
        rows[u] = m->at + m->row[q + u];
        VECTOR_UNROLL
        for (int v = 0; v < sides; v++)
            NAME(get)(x[u][v], at + (q + u) * unknown + v * side);
    }
    if (b->scales) {
        VECTOR_UNROLL
        for (int u = 0; u < width; u++)
            VECTOR_UNROLL
        for (int v = 0; v < sides; v++)
            NAME(scale)(x[u][v], b->alpha);
    }

    const REAL *known = at;
    for (int64_t p = 0; p < q; p++, known += unknown) {
        const ptrdiff_t column = m->column[p];
        VECTOR factors[UNKNOWNS][PARTS];
        VECTOR_UNROLL
        for (int u = 0; u < width; u++)
            NAME(get)(factors[u], rows[u] + column);
        VECTOR_UNROLL
        for (int v = 0; v < sides; v++) {
            VECTOR y[PARTS];
            NAME(get)(y, known + v * side);
            VECTOR_UNROLL
            for (int u = 0; u < width; u++)
                NAME(take)(x[u][v], factors[u], y);
        }
    }

    VECTOR_UNROLL
    for (int u = 0; u < width; u++) {
        const ptrdiff_t column = m->column[q + u];
        VECTOR factor[PARTS];
        NAME(get)(factor, rows[u] + column);
        VECTOR_UNROLL
        for (int v = 0; v < sides; v++) {
            NAME(divide)(x[u][v], factor);
            NAME(put)(at + (q + u) * unknown + v * side, x[u][v]);
        }
        VECTOR_UNROLL
        for (int t = u + 1; t < width; t++) {
            NAME(get)(factor, rows[t] + column);
            VECTOR_UNROLL
            for (int v = 0; v < sides; v++)
                NAME(take)(x[t][v], factor, x[u][v]);
        }
    }
}

/* So many right-hand sides, a compiler's number, from `at` on. */
VECTOR_INLINE void NAME(solve_sides)(const NAME(woven_t) * m, const NAME(sides_t) * b, REAL *at,
                                     int64_t n, int sides) {
    int64_t q = 0;
    for (; q + UNKNOWNS <= n; q += UNKNOWNS)
        NAME(solve_tile)(m, b, at, q, UNKNOWNS, sides);
    switch (n - q) {
    case 1: NAME(solve_tile)(m, b, at, q, 1, sides); break;
#if !COMPLEX
    case 2: NAME(solve_tile)(m, b, at, q, 2, sides); break;
#if UNKNOWNS == 4
    case 3: NAME(solve_tile)(m, b, at, q, 3, sides); break;
#endif
#endif
    default: break;
    }
}

/* Right-hand sides [first, first + sides) of all items: woven, solved, and back. They are columns
 * of B, or rows of it. */
static void NAME(woven_sides)(const ji_woven_solve_t *call, const NAME(woven_t) * m, int64_t first,
                              int64_t sides, REAL *const *items) {
    _Alignas(64) REAL room[STRIP * PARTS * LANES];
    const int64_t n = call->order, element = PARTS * LANES, rows = call->left ? n : sides,
                  columns = call->left ? sides : n, start = call->reversed ? n - 1 : 0,
                  sign = call->reversed ? -1 : 1, unknown = (call->left ? 1 : rows) * element;
    const int64_t offset = (call->left ? first * call->ldb : first) * PARTS;
    /* Columns without gaps are one run. */
    const bool is_run = rows == call->ldb;
    const int64_t runs = is_run ? 1 : columns, reals = (is_run ? rows * columns : rows) * PARTS;

    for (int64_t j = 0; j < runs; j++)
        NAME(weave)
    (room + j * reals * LANES, (const REAL *const *)items, offset + j * call->ldb * PARTS, reals);

    const NAME(sides_t) b = {.at = room + start * unknown,
                             .unknown = sign * unknown,
                             .side = (call->left ? rows : 1) * element,
                             .scales = call->alpha[0] != 1 || call->alpha[1] != 0,
                             .alpha = {(REAL)call->alpha[0], (REAL)call->alpha[1]}};
    int64_t s = 0;
    for (; s + SIDES_AT_ONCE <= sides; s += SIDES_AT_ONCE)
        NAME(solve_sides)(m, &b, b.at + s * b.side, n, SIDES_AT_ONCE);
    for (; SIDES_AT_ONCE > 2 && s + 2 <= sides; s += 2)
        NAME(solve_sides)(m, &b, b.at + s * b.side, n, 2);
    for (; s < sides; s++)
        NAME(solve_sides)(m, &b, b.at + s * b.side, n, 1);

    for (int64_t j = 0; j < runs; j++)
        NAME(unravel)(items, offset + j * call->ldb * PARTS, reals, true, room + j * reals * LANES);
}

#include "blas/kernels/batch_sides_kernel.h"

static int64_t NAME(solve_woven)(const ji_woven_solve_t *call) {
    _Alignas(64) REAL room[TRIANGLE * PARTS * LANES];
    const int64_t n = call->order, most = STRIP / n < MOST_SIDES ? STRIP / n : (int64_t)MOST_SIDES;
    const bool whole = NAME(is_whole)(n, call->lda);
    NAME(woven_t) m;

    NAME(lay_out)(&m, room, call->upper, call->transposed, call->reversed, n, whole);
    for (int64_t item = 0; item < call->count; item += LANES) {
        NAME(weave_triangle)
        (room, call->upper, call->conjugate, n, (const REAL *const *)call->a + item, call->lda,
         whole);
        if (call->unit)
            NAME(put_ones)(&m, n, call->conjugate ? -1 : 1);
        else if (!NAME(invert_pivots)(&m, n))
            return item;

        for (int64_t first = 0; first < call->sides; first += most)
            NAME(woven_sides)
        (call, &m, first, call->sides - first < most ? call->sides - first : most,
         (REAL *const *)call->b + item);
    }
    return call->count;
}

static int64_t NAME(woven_solve)(const ji_woven_solve_t *call) {
    return NAME(fills_strips)(call) ? NAME(solve_alone)(call) : NAME(solve_woven)(call);
}

#undef ORDER
#undef TRIANGLE
#undef WHOLE
#undef STRIP
#undef MOST_SIDES
#undef GROUPS_MOST_BYTES
#undef WIDTH
#undef ROWS_AT_ONCE
#undef UNKNOWNS
#undef SIDES_AT_ONCE
