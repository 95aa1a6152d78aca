/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small triangles, of one element type and instruction set (each_type.h). No include guard.
 *
 * The triangle is copied to the stack, where it is lower and its columns begin at whole vectors, of
 * complex elements all real parts in front of all imaginary ones; and back. What of a column is
 * above the diagonal, or below the last row, is computed with and copied nowhere.
 *
 *   Cholesky   an upper triangle is the adjoint of a lower one. When four columns are done, all to
 *              their right lose their share: they do not wait for each other.
 *   inverse    an upper triangle is a lower one whose rows and columns are reversed, which keeps
 *              |X A - I| <= gamma_n |X||A| what it is (the adjoint's would be |A X - I|). From the
 *              last column back: column j of the inverse is -1/a(j,j) times the part already
 *              inverted times column j, summed from the last unknown back: the column that was done
 *              just now comes last.
 *
 * Each element is one chain of fused multiply-adds in a fixed order, whatever the vectors. */

#include <math.h>

#define PARTS (1 + COMPLEX)
#define COLUMN JI_FACTOR_ORDER /* reals in a column, of one plane */
#define PLANE (COLUMN * JI_FACTOR_ORDER)
#define GROUP 4 /* columns that all to their right lose at once */
#define INVERT_VECTORS (COLUMN / LANES < 4 ? COLUMN / LANES : 4) /* that are summed at once */
#define AT(i, j) (t + (j)*COLUMN + (i))
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))
#define SQUARE_ROOT(x) _Generic((x), float : sqrtf, double : sqrt)(x)

/* A lower triangle where it lies: element (i, j) is `i` and `j` times these strides away. */
typedef struct NAME(view) {
    REAL *a;
    int64_t row, column; /* reals */
    REAL sign;           /* of imaginary parts */
} NAME(view_t);

/* `row` is a number of the compiler's where rows lie side by side. */
VECTOR_INLINE void NAME(copy_column_in)(const REAL *from, int64_t row, REAL sign, int64_t n,
                                        REAL *column) {
    for (int64_t i = 0; i < n; i++) {
        column[i] = from[i * row];
        if (COMPLEX)
            column[(PARTS - 1) * PLANE + i] = sign * from[i * row + PARTS - 1];
    }
}

/* The rest of the vectors that the diagonal and the last row are in becomes 0; and a unit diagonal,
 * which is not read. */
VECTOR_INLINE void NAME(copy_in)(const NAME(view_t) * from, int64_t n, bool unit, REAL *t) {
    const int64_t last = (n - 1) / LANES * LANES;
    for (int64_t j = 0; j < n; j++) {
        const int64_t first = unit ? j + 1 : j;
        const REAL *const a = from->a + first * from->row + j * from->column;
        for (int part = 0; part < PARTS; part++) {
            V(store)(AT(j / LANES * LANES, j) + part * PLANE, V(splat)(0));
            V(store)(AT(last, j) + part * PLANE, V(splat)(0));
        }
        if (from->row == PARTS)
            NAME(copy_column_in)(a, PARTS, from->sign, n - first, AT(first, j));
        else
            NAME(copy_column_in)(a, from->row, from->sign, n - first, AT(first, j));
    }
}

VECTOR_INLINE void NAME(copy_column_out)(REAL *to, int64_t row, REAL sign, int64_t n,
                                         const REAL *column) {
    for (int64_t i = 0; i < n; i++) {
        to[i * row] = column[i];
        if (COMPLEX)
            to[i * row + PARTS - 1] = sign * column[(PARTS - 1) * PLANE + i];
    }
}

/* Columns [0, columns); without the diagonal (unit). */
VECTOR_INLINE void NAME(copy_out)(const NAME(view_t) * to, int64_t n, int64_t columns, bool unit,
                                  const REAL *t) {
    for (int64_t j = 0; j < columns; j++) {
        const int64_t from = unit ? j + 1 : j;
        REAL *const a = to->a + from * to->row + j * to->column;
        if (to->row == PARTS)
            NAME(copy_column_out)(a, PARTS, to->sign, n - from, AT(from, j));
        else
            NAME(copy_column_out)(a, to->row, to->sign, n - from, AT(from, j));
    }
}

/* ---- LU ---- */

#include "blas/kernels/lu_kernel.h"

/* ---- QR ---- */

#include "blas/kernels/reflect_kernel.h"

/* ---- Cholesky ---- */

/* Columns [first, end), which are done, out of column c. */
VECTOR_INLINE void NAME(take_out)(REAL *t, int64_t n, int64_t first, int64_t end, int64_t c) {
    for (int64_t i = c / LANES * LANES; i < n; i += LANES) {
        VECTOR y = V(load)(AT(i, c));
#if COMPLEX
        VECTOR y_im = V(load)(AT(i, c) + PLANE);
#endif
        for (int64_t p = first; p < end; p++) {
            const VECTOR x = V(load)(AT(i, p)), re = V(splat)(*AT(c, p));
            y = V(fnma)(re, x, y);
#if COMPLEX
            const VECTOR x_im = V(load)(AT(i, p) + PLANE), im = V(splat)(AT(c, p)[PLANE]);
            y = V(fnma)(im, x_im, y);
            y_im = V(fma)(im, x, V(fnma)(re, x_im, y_im));
#endif
        }
        V(store)(AT(i, c), y);
#if COMPLEX
        V(store)(AT(i, c) + PLANE, y_im);
#endif
    }
}

static int64_t NAME(cholesky)(bool upper, int64_t n, void *a, int64_t lda) {
    _Alignas(64) REAL t[PARTS * PLANE];
    const NAME(view_t) view = {.a = a,
                               .row = (upper ? lda : 1) * PARTS,
                               .column = (upper ? 1 : lda) * PARTS,
                               .sign = upper ? -1 : 1};
    NAME(copy_in)(&view, n, false, t);

    int64_t j = 0;
    for (; j < n; j++) {
        const int64_t first = j / GROUP * GROUP;
        NAME(take_out)(t, n, first, j, j);
        if (COMPLEX)
            AT(j, j)[(PARTS - 1) * PLANE] = 0;
        const REAL rest = *AT(j, j);
        if (!(rest > 0)) /* also NaN */
            break;

        /* The reciprocal of a root is a normal number. */
        const REAL pivot = SQUARE_ROOT(rest);
        const VECTOR factor = V(splat)(1 / pivot);
        for (int part = 0; part < PARTS; part++)
            for (int64_t i = j / LANES * LANES; i < n; i += LANES) {
                REAL *const x = AT(i, j) + part * PLANE;
                V(store)(x, V(load)(x) * factor);
            }
        *AT(j, j) = pivot;
        if (j + 1 == first + GROUP)
            for (int64_t c = j + 1; c < n; c++)
                NAME(take_out)(t, n, first, first + GROUP, c);
    }

    NAME(copy_out)(&view, n, j < n ? j + 1 : n, false, t);
    return j < n ? j + 1 : 0;
}

/* ---- The inverse ---- */

VECTOR_INLINE void NAME(reciprocal)(REAL *x) {
#if COMPLEX
    /* Smith's algorithm: nothing overflows on the way unless the result does. */
    const REAL re = x[0], im = x[PLANE];
    if (MAGNITUDE(re) >= MAGNITUDE(im)) {
        const REAL ratio = im / re, scale = 1 / (re + im * ratio);
        x[0] = scale, x[PLANE] = -ratio * scale;
    } else {
        const REAL ratio = re / im, scale = 1 / (im + re * ratio);
        x[0] = ratio * scale, x[PLANE] = -scale;
    }
#else
    *x = 1 / *x;
#endif
}

/* sum += x times y, or with `keep` the rows of x that it keeps. */
VECTOR_INLINE void NAME(invert_add)(const REAL *x, const REAL *y, const KEEP *keep, VECTOR *sum) {
    const VECTOR re = V(load)(x), y_re = V(splat)(*y);
#if COMPLEX
    const VECTOR im = V(load)(x + PLANE), y_im = V(splat)(y[PLANE]);
#endif
    if (keep != NULL) {
        sum[0] = V(fma_where)(*keep, re, y_re, sum[0]);
#if COMPLEX
        sum[0] = V(fma_where)(*keep, im, -y_im, sum[0]);
        sum[1] = V(fma_where)(*keep, im, y_re, V(fma_where)(*keep, re, y_im, sum[1]));
#endif
        return;
    }
    sum[0] = V(fma)(re, y_re, sum[0]);
#if COMPLEX
    sum[0] = V(fnma)(im, y_im, sum[0]);
    sum[1] = V(fma)(im, y_re, V(fma)(re, y_im, sum[1]));
#endif
}

/* Rows from i on, as many as `count` vectors have, of column j: the inverse's part that is done
 * times it, times the factor. The sums of one vector wait for each other, those of several do not.
 * `count` is a number of the compiler's. */
VECTOR_INLINE void NAME(invert_rows)(REAL *t, int64_t n, int64_t i, int count, int64_t j,
                                     const REAL *factor) {
    VECTOR sum[INVERT_VECTORS][PARTS];
    VECTOR_UNROLL
    for (int v = 0; v < count; v++)
        for (int part = 0; part < PARTS; part++)
            sum[v][part] = V(splat)(0);

    /* Of column p rows before p are none of the triangle's: they begin in vector v. */
    int64_t p = (i + count * LANES < n ? i + count * LANES : n) - 1;
    VECTOR_UNROLL
    for (int v = count - 1; v >= 0; v--)
        for (const int64_t own = i + v * LANES; p >= own && p > j; p--) {
            const KEEP keep = V(keep_from)((int)(p - own));
            NAME(invert_add)(AT(own, p), AT(p, j), &keep, sum[v]);
            VECTOR_UNROLL
            for (int w = v + 1; w < count; w++)
                NAME(invert_add)(AT(i + w * LANES, p), AT(p, j), NULL, sum[w]);
        }
    for (; p > j; p--) {
        VECTOR_UNROLL
        for (int v = 0; v < count; v++)
            NAME(invert_add)(AT(i + v * LANES, p), AT(p, j), NULL, sum[v]);
    }

    const VECTOR f = V(splat)(factor[0]);
#if COMPLEX
    const VECTOR f_im = V(splat)(factor[1]);
#endif
    VECTOR_UNROLL
    for (int v = 0; v < count; v++) {
        REAL *const to = AT(i + v * LANES, j);
#if COMPLEX
        V(store)(to, V(fnma)(f_im, sum[v][1], f * sum[v][0]));
        V(store)(to + PLANE, V(fma)(f_im, sum[v][0], f * sum[v][1]));
#else
        V(store)(to, f * sum[v][0]);
#endif
    }
}

static void NAME(invert)(bool upper, bool unit, int64_t n, void *a, int64_t lda) {
    _Alignas(64) REAL t[PARTS * PLANE];
    const NAME(view_t) view = {.a = (REAL *)a + (upper ? (n - 1) * (lda + 1) * PARTS : 0),
                               .row = (upper ? -1 : 1) * PARTS,
                               .column = (upper ? -lda : lda) * PARTS,
                               .sign = 1};
    NAME(copy_in)(&view, n, unit, t);

    for (int64_t j = n - 1; j >= 0; j--) {
        REAL factor[2] = {-1, 0};
        if (!unit) {
            NAME(reciprocal)(AT(j, j));
            for (int part = 0; part < PARTS; part++)
                factor[part] = -AT(j, j)[part * PLANE];
        }
        /* From the last rows up: column j is read where it is not yet overwritten. */
        for (int64_t end = (n + LANES - 1) / LANES, first = (j + 1) / LANES; end > first;) {
            const int count = end - first < INVERT_VECTORS ? (int)(end - first) : INVERT_VECTORS;
            const int64_t i = (end - count) * LANES;
            switch (count) {
            case 1: NAME(invert_rows)(t, n, i, 1, j, factor); break;
            case 2: NAME(invert_rows)(t, n, i, 2, j, factor); break;
            case 3: NAME(invert_rows)(t, n, i, INVERT_VECTORS < 3 ? 1 : 3, j, factor); break;
            default: NAME(invert_rows)(t, n, i, INVERT_VECTORS < 4 ? 1 : 4, j, factor);
            }
            end -= count;
        }
        for (int part = 0; part < PARTS; part++) /* which vectors that begin before it took */
            AT(j, j)[part * PLANE] = unit ? (REAL)(1 - part) : -factor[part];
    }

    NAME(copy_out)(&view, n, n, unit, t);
}

/* ---- Zeros ---- */

static int64_t NAME(find_zero)(int64_t n, const void *matrix, int64_t lda) {
    const REAL *a = matrix;

    for (int64_t j = 0; j < n; j++, a += (lda + 1) * PARTS)
        if (a[0] == 0 && a[PARTS - 1] == 0)
            return j + 1;

    return 0;
}

static const ji_factor_kernels_t NAME(factor) = {
    .find_zero = NAME(find_zero),
    .invert = NAME(invert),
    .cholesky = NAME(cholesky),
    .lu_column = NAME(lu_column),
    .reflect = NAME(reflect),
};

#undef AT
#undef PARTS
#undef COLUMN
#undef PLANE
#undef GROUP
#undef INVERT_VECTORS
#undef MAGNITUDE
#undef SQUARE_ROOT
