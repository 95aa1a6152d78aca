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
 * Each element is the chain of operations that factor_kernel.h and triangle_kernel.h make of it,
 * with the same bits. Where one of the items has a pivot with which these go another way, the
 * kernel says so before it has written anything, and the caller does these items one by one. */

#include <float.h>

#define ORDER JI_WOVEN_ORDER
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))
#define SIDES 8                                        /* right-hand sides that are woven at once */
#define TOGETHER 4                                     /* sums that do not wait for each other */
#define BLOCK_REALS (NARROW_BYTES / (int)sizeof(REAL)) /* that are transposed at once */

/* A woven matrix: element (i, j) is at at + i * row + j * column, reals. */
typedef struct NAME(woven) {
    REAL *at;
    int64_t row, column;
} NAME(woven_t);

VECTOR_INLINE REAL *NAME(place)(const NAME(woven_t) * matrix, int64_t i, int64_t j) {
    return matrix->at + i * matrix->row + j * matrix->column;
}

/* ---- To and fro ---- */

/* Up to so many reals of an item, side by side: where the next block of them begins. The last one
 * overlaps the one before, whose places it gives the same values. */
VECTOR_INLINE int64_t NAME(next_block)(int64_t p, int64_t count) {
    return p + BLOCK_REALS >= count || p + 2 * BLOCK_REALS <= count ? p + BLOCK_REALS
                                                                    : count - BLOCK_REALS;
}

/* Reals [offset, offset + count) of each item. */
VECTOR_INLINE void NAME(weave)(REAL *to, const REAL *const *items, int64_t offset, int64_t count) {
    if (count < BLOCK_REALS) {
        for (int64_t p = 0; p < count; p++)
            for (int lane = 0; lane < LANES; lane++)
                to[p * LANES + lane] = items[lane][offset + p];
        return;
    }

    for (int64_t p = 0; p < count; p = NAME(next_block)(p, count))
        for (int lane = 0; lane < LANES; lane += BLOCK_REALS) {
            const REAL *line[BLOCK_REALS];
            NARROW row[BLOCK_REALS];
            for (int i = 0; i < BLOCK_REALS; i++)
                line[i] = items[lane + i] + offset + p;
            V(transpose)(row, line);
            for (int i = 0; i < BLOCK_REALS; i++)
                V(narrow_store)(to + (p + i) * LANES + lane, row[i]);
        }
}

/* The reverse. */
VECTOR_INLINE void NAME(unravel)(REAL *const *items, int64_t offset, int64_t count,
                                 const REAL *from) {
    if (count < BLOCK_REALS) {
        for (int64_t p = 0; p < count; p++)
            for (int lane = 0; lane < LANES; lane++)
                items[lane][offset + p] = from[p * LANES + lane];
        return;
    }

    for (int64_t p = 0; p < count; p = NAME(next_block)(p, count))
        for (int lane = 0; lane < LANES; lane += BLOCK_REALS) {
            const REAL *line[BLOCK_REALS];
            NARROW row[BLOCK_REALS];
            for (int i = 0; i < BLOCK_REALS; i++)
                line[i] = from + (p + i) * LANES + lane;
            V(transpose)(row, line);
            for (int i = 0; i < BLOCK_REALS; i++)
                V(narrow_store)(items[lane + i] + offset + p, row[i]);
        }
}

/* The rows of column j that a triangle of order n has; without the diagonal (unit). */
VECTOR_INLINE void NAME(rows_of)(bool upper, bool unit, int64_t n, int64_t j, int64_t *first,
                                 int64_t *count) {
    *first = upper ? 0 : j + unit;
    *count = (upper ? j + 1 : n - j) - unit;
}

/* A triangle by its columns, n rows each; `sign` is that of imaginary parts. */
VECTOR_INLINE void NAME(weave_triangle)(REAL *to, bool upper, bool unit, int64_t n,
                                        const void *const *items, int64_t lda, REAL sign) {
    for (int64_t j = 0, first, count; j < n; j++) {
        NAME(rows_of)(upper, unit, n, j, &first, &count);
        REAL *const column = to + (j * n + first) * PARTS * LANES;
        NAME(weave)
        (column, (const REAL *const *)items, (j * lda + first) * PARTS, count * PARTS);
        if (COMPLEX && sign < 0)
            for (int64_t i = 0; i < count; i++)
                V(store)(column + (2 * i + 1) * LANES, -V(load)(column + (2 * i + 1) * LANES));
    }
}

/* ---- Operations on an element ---- */

/* sums[v] -= factor times x[v] for each of them: complex with both parts. */
VECTOR_INLINE void NAME(take)(VECTOR sums[][PARTS], int count, const REAL *factor, const REAL *x,
                              int64_t step) {
    const VECTOR re = V(load)(factor);
#if COMPLEX
    const VECTOR im = V(load)(factor + LANES);
#endif
    VECTOR_UNROLL
    for (int v = 0; v < count; v++, x += step) {
        const VECTOR x_re = V(load)(x);
        sums[v][0] = V(fnma)(re, x_re, sums[v][0]);
#if COMPLEX
        const VECTOR x_im = V(load)(x + LANES);
        sums[v][0] = V(fma)(im, x_im, sums[v][0]);
        sums[v][1] = V(fnma)(im, x_re, V(fnma)(re, x_im, sums[v][1]));
#endif
    }
}

VECTOR_INLINE void NAME(load_sums)(VECTOR sums[][PARTS], int count, const REAL *x, int64_t step) {
    VECTOR_UNROLL
    for (int v = 0; v < count; v++)
        VECTOR_UNROLL
    for (int part = 0; part < PARTS; part++)
        sums[v][part] = V(load)(x + v * step + part * LANES);
}

VECTOR_INLINE void NAME(keep_sums)(VECTOR sums[][PARTS], int count, REAL *x, int64_t step) {
    VECTOR_UNROLL
    for (int v = 0; v < count; v++)
        VECTOR_UNROLL
    for (int part = 0; part < PARTS; part++)
        V(store)(x + v * step + part * LANES, sums[v][part]);
}

/* ---- Cholesky ---- */

/* Rows [i, i + count) of column j lose what the columns before it make of them: L(i,p) times the
 * conjugate of L(j,p). */
VECTOR_INLINE void NAME(cholesky_rows)(const NAME(woven_t) * l, int64_t i, int64_t j, int count) {
    VECTOR sums[TOGETHER][PARTS];
    NAME(load_sums)(sums, count, NAME(place)(l, i, j), l->row);

    for (int64_t p = 0; p < j; p++) {
        const REAL *const x = NAME(place)(l, i, p), *const y = NAME(place)(l, j, p);
        const VECTOR re = V(load)(y);
        VECTOR_UNROLL
        for (int v = 0; v < count; v++) {
            const VECTOR x_re = V(load)(x + v * l->row);
            sums[v][0] = V(fnma)(re, x_re, sums[v][0]);
#if COMPLEX
            const VECTOR im = V(load)(y + LANES), x_im = V(load)(x + v * l->row + LANES);
            sums[v][0] = V(fnma)(im, x_im, sums[v][0]);
            sums[v][1] = V(fma)(im, x_re, V(fnma)(re, x_im, sums[v][1]));
#endif
        }
    }
    NAME(keep_sums)(sums, count, NAME(place)(l, i, j), l->row);
}

/* False: a pivot is not positive. */
VECTOR_INLINE bool NAME(cholesky_column)(const NAME(woven_t) * l, int64_t n, int64_t j) {
    const VECTOR zero = V(splat)(0);
    int64_t i = j;
    for (; i + TOGETHER <= n; i += TOGETHER)
        NAME(cholesky_rows)(l, i, j, TOGETHER);
    for (; i < n; i++)
        NAME(cholesky_rows)(l, i, j, 1);

    REAL *const pivot = NAME(place)(l, j, j);
    const VECTOR rest = V(load)(pivot);
    if (V(any)(V(either)(V(exceeds)(zero, rest), V(equals)(rest, zero))))
        return false;

    const VECTOR root = V(root)(rest), factor = V(splat)(1) / root;
    for (i = j + 1; i < n; i++)
        for (int part = 0; part < PARTS; part++) {
            REAL *const x = NAME(place)(l, i, j) + part * LANES;
            V(store)(x, V(load)(x) * factor);
        }
    V(store)(pivot, root);
    if (COMPLEX)
        V(store)(pivot + (PARTS - 1) * LANES, zero);
    return true;
}

static bool NAME(woven_cholesky)(bool upper, int64_t n, void *const *items, int64_t lda) {
    _Alignas(64) REAL room[ORDER * ORDER * PARTS * LANES];
    const int64_t element = PARTS * LANES;
    const NAME(woven_t) l = {room, (upper ? n : 1) * element, (upper ? 1 : n) * element};
    const REAL sign = upper ? -1 : 1; /* an upper triangle is the adjoint of a lower one */

    NAME(weave_triangle)(room, upper, false, n, (const void *const *)items, lda, sign);
    for (int64_t j = 0; j < n; j++)
        if (!NAME(cholesky_column)(&l, n, j))
            return false;

    for (int64_t j = 0, first, count; j < n; j++) {
        NAME(rows_of)(upper, false, n, j, &first, &count);
        REAL *const column = room + (j * n + first) * element;
        if (COMPLEX && sign < 0)
            for (int64_t i = 0; i < count; i++)
                V(store)(column + (2 * i + 1) * LANES, -V(load)(column + (2 * i + 1) * LANES));
        NAME(unravel)
        ((REAL *const *)items, (j * lda + first) * PARTS, count * PARTS, column);
    }
    return true;
}

/* ---- Substitution ---- */

/* The reciprocals of pivots, in their places. False: one of them is no normal number. */
VECTOR_INLINE bool NAME(invert_pivots)(const NAME(woven_t) * m, int64_t n) {
    const REAL least = _Generic((REAL)0, float
                                : FLT_MIN, double
                                : DBL_MIN),
               most = _Generic((REAL)0, float
                               : FLT_MAX, double
                               : DBL_MAX);

    for (int64_t q = 0; q < n; q++) {
        REAL *const pivot = NAME(place)(m, q, q);
#if COMPLEX
        /* Smith's algorithm, as triangle_kernel.h has it. */
        for (int lane = 0; lane < LANES; lane++) {
            const REAL re = pivot[lane], im = pivot[LANES + lane];
            const bool wide = MAGNITUDE(re) >= MAGNITUDE(im);
            const REAL high = wide ? re : im, low = wide ? im : re;
            const REAL ratio = low / high, scale = 1 / (high + low * ratio);
            pivot[lane] = wide ? scale : ratio * scale;
            pivot[LANES + lane] = wide ? -ratio * scale : -scale;
        }
        const VECTOR re = V(abs)(V(load)(pivot)), im = V(abs)(V(load)(pivot + LANES));
        const VECTOR largest = V(max)(re, im);
        /* A NaN of either part is seen, whichever max() gives. */
        if (V(any)(V(exceeds)(re, V(splat)(most))) || V(any)(V(exceeds)(im, V(splat)(most))))
            return false;
#else
        const VECTOR inverse = V(splat)(1) / V(load)(pivot), largest = V(abs)(inverse);
        V(store)(pivot, inverse);
#endif
        if (V(any)(V(either)(V(exceeds)(V(splat)(least), largest),
                             V(exceeds)(largest, V(splat)(most)))))
            return false;
    }
    return true;
}

/* A unit triangle's pivots are not read: they are 1. */
VECTOR_INLINE void NAME(put_ones)(const NAME(woven_t) * m, int64_t n, REAL sign) {
    for (int64_t q = 0; q < n; q++) {
        REAL *const pivot = NAME(place)(m, q, q);
        V(store)(pivot, V(splat)(1));
        if (COMPLEX)
            V(store)(pivot + (PARTS - 1) * LANES, V(splat)(sign * 0));
    }
}

/* Right-hand sides [s, s + count), unknown after unknown. */
VECTOR_INLINE void NAME(substitute)(const NAME(woven_t) * m, const NAME(woven_t) * b, int64_t n,
                                    int64_t s, int count, bool scales, const REAL *alpha) {
    const VECTOR alpha_re = V(splat)(alpha[0]);
#if COMPLEX
    const VECTOR alpha_im = V(splat)(alpha[1]);
#endif
    for (int64_t q = 0; q < n; q++) {
        VECTOR sums[TOGETHER][PARTS];
        NAME(load_sums)(sums, count, NAME(place)(b, q, s), b->column);
        if (scales) {
            VECTOR_UNROLL
            for (int v = 0; v < count; v++) {
#if COMPLEX
                const VECTOR x = sums[v][0], y = sums[v][1];
                sums[v][0] = alpha_re * x - alpha_im * y;
                sums[v][1] = alpha_re * y + alpha_im * x;
#else
                sums[v][0] = sums[v][0] * alpha_re;
#endif
            }
        }

        for (int64_t p = 0; p < q; p++)
            NAME(take)(sums, count, NAME(place)(m, q, p), NAME(place)(b, p, s), b->column);

        const REAL *const inverse = NAME(place)(m, q, q);
        const VECTOR re = V(load)(inverse);
#if COMPLEX
        const VECTOR im = V(load)(inverse + LANES);
#endif
        VECTOR_UNROLL
        for (int v = 0; v < count; v++) {
#if COMPLEX
            const VECTOR x = sums[v][0], y = sums[v][1];
            sums[v][0] = V(fnma)(im, y, re * x);
            sums[v][1] = V(fma)(im, x, re * y);
#else
            sums[v][0] = sums[v][0] * re;
#endif
        }
        NAME(keep_sums)(sums, count, NAME(place)(b, q, s), b->column);
    }
}

/* Right-hand sides [first, first + sides) of all items: woven, solved, and back. They are columns
 * of B, or rows of it. */
VECTOR_INLINE void NAME(woven_sides)(const ji_woven_solve_t *call, const NAME(woven_t) * m,
                                     int64_t first, int64_t sides) {
    _Alignas(64) REAL room[ORDER * SIDES * PARTS * LANES];
    const int64_t n = call->order, element = PARTS * LANES, rows = call->left ? n : sides,
                  columns = call->left ? sides : n, start = call->reversed ? n - 1 : 0,
                  sign = call->reversed ? -1 : 1;
    const REAL alpha[2] = {(REAL)call->alpha[0], (REAL)call->alpha[1]};
    const bool scales = alpha[0] != 1 || alpha[1] != 0;
    const int64_t unknown = (call->left ? 1 : rows) * element,
                  side = (call->left ? rows : 1) * element,
                  offset = (call->left ? first * call->ldb : first) * PARTS;

    for (int64_t j = 0; j < columns; j++)
        NAME(weave)
    (room + j * rows * element, (const REAL *const *)(void *const *)call->b,
     offset + j * call->ldb * PARTS, rows * PARTS);

    const NAME(woven_t) b = {room + start * unknown, sign * unknown, side};
    int64_t s = 0;
    for (; s + TOGETHER <= sides; s += TOGETHER)
        NAME(substitute)(m, &b, n, s, TOGETHER, scales, alpha);
    for (; s < sides; s++)
        NAME(substitute)(m, &b, n, s, 1, scales, alpha);

    for (int64_t j = 0; j < columns; j++)
        NAME(unravel)
    ((REAL *const *)(void *const *)call->b, offset + j * call->ldb * PARTS, rows * PARTS,
     room + j * rows * element);
}

static bool NAME(woven_solve)(const ji_woven_solve_t *call) {
    _Alignas(64) REAL room[ORDER * ORDER * PARTS * LANES];
    const int64_t n = call->order, element = PARTS * LANES, start = call->reversed ? n - 1 : 0,
                  sign = call->reversed ? -1 : 1;
    const REAL of_imaginary = call->conjugate ? -1 : 1;
    const NAME(woven_t)
        m = {room + start * (n + 1) * element, sign * (call->transposed ? n : 1) * element,
             sign * (call->transposed ? 1 : n) * element};

    NAME(weave_triangle)(room, call->upper, call->unit, n, call->a, call->lda, of_imaginary);
    if (call->unit)
        NAME(put_ones)(&m, n, of_imaginary);
    else if (!NAME(invert_pivots)(&m, n))
        return false;

    for (int64_t first = 0; first < call->sides; first += SIDES)
        NAME(woven_sides)
    (call, &m, first, call->sides - first < SIDES ? call->sides - first : SIDES);
    return true;
}

#undef ORDER
#undef MAGNITUDE
#undef SIDES
#undef TOGETHER
#undef BLOCK_REALS
