/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small triangles, of one element type and instruction set (each_type.h). No include guard.
 *
 * The triangle is copied to the stack, where it is lower and its columns begin at whole vectors, of
 * complex elements all real parts in front of all imaginary ones; and back. What of a column is
 * above the diagonal, or below the last row, is computed with and copied nowhere.
 *
 *   Cholesky   an upper triangle is the adjoint of a lower one. Four columns at once lose what all
 *              to their left take, in registers, and are then solved for by their diagonal block.
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
#define GROUP 4 /* columns that lose at once what those to their left take */
/* Vectors of their rows, as many as there are registers for, GROUP rows at least. */
#define GROUP_VECTORS (COMPLEX && VECTOR_REGISTERS < 32 && LANES >= GROUP ? 1 : 2)
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

/* y -= x times the conjugate of f, of one element f and one vector. */
VECTOR_INLINE void NAME(take_out)(const REAL *f, ptrdiff_t apart, const VECTOR *x, VECTOR *y) {
    const VECTOR re = V(splat)(f[0]);
    y[0] = V(fnma)(re, x[0], y[0]);
#if COMPLEX
    const VECTOR im = V(splat)(f[apart]);
    y[0] = V(fnma)(im, x[1], y[0]);
    y[1] = V(fma)(im, x[0], V(fnma)(re, x[1], y[1]));
#else
    (void)apart;
#endif
}

/* The same of one element x. */
VECTOR_INLINE void NAME(take_out_one)(const REAL *f, const REAL *x, REAL *y) {
    y[0] = V(fma_one)(-f[0], x[0], y[0]);
#if COMPLEX
    y[0] = V(fma_one)(-f[1], x[1], y[0]);
    y[1] = V(fma_one)(f[1], x[0], V(fma_one)(-f[0], x[1], y[1]));
#endif
}

/* A group of columns, which begin with column c: so many vectors of them, and its diagonal block's
 * factor, which is strictly lower, diagonal, and what its columns are multiplied by. */
typedef VECTOR NAME(group_rows)[GROUP_VECTORS][GROUP][PARTS];
typedef struct NAME(group) {
    REAL l[GROUP][GROUP][PARTS], pivot[GROUP], factor[GROUP];
} NAME(group_t);

/* Gives how many of `columns` columns are done: the pivot of the next one is not positive. */
VECTOR_INLINE int NAME(group_factor)(const REAL *t, int64_t c, int columns, NAME(group_t) * group) {
    VECTOR_UNROLL
    for (int k = 0; k < GROUP; k++) {
        group->factor[k] = 1;
        for (int r = k; r < GROUP; r++)
            for (int part = 0; part < PARTS; part++)
                group->l[r][k][part] = AT(c + r, c + k)[part * PLANE];
    }

    VECTOR_UNROLL
    for (int k = 0; k < GROUP; k++) {
        const REAL rest = group->pivot[k] = group->l[k][k][0];
        if (k == columns || !(rest > 0)) /* also NaN */
            return k;
        /* The reciprocal of a root is a normal number. */
        group->pivot[k] = SQUARE_ROOT(rest);
        group->factor[k] = 1 / group->pivot[k];
        VECTOR_UNROLL
        for (int r = k + 1; r < GROUP; r++) {
            for (int part = 0; part < PARTS; part++)
                group->l[r][k][part] *= group->factor[k];
            VECTOR_UNROLL
            for (int q = k + 1; q <= r; q++)
                NAME(take_out_one)(group->l[q][k], group->l[r][k], group->l[r][q]);
        }
    }
    return GROUP;
}

/* Rows from i on by the group's own columns. */
VECTOR_INLINE void NAME(group_solve)(const NAME(group_t) * group, int count, NAME(group_rows) y) {
    VECTOR_UNROLL
    for (int k = 0; k < GROUP; k++)
        VECTOR_UNROLL
    for (int v = 0; v < count; v++) {
        VECTOR_UNROLL
        for (int p = 0; p < k; p++)
            NAME(take_out)(group->l[k][p], 1, y[v][p], y[v][k]);
        for (int part = 0; part < PARTS; part++)
            y[v][k][part] *= V(splat)(group->factor[k]);
    }
}

/* Rows from i on lose what columns [first, c) take, and are solved for where there is a group.
 * `count`, of vectors, is a number of the compiler's. */
VECTOR_INLINE void NAME(group_take)(REAL *t, int64_t first, int64_t c, int64_t i, int count,
                                    const NAME(group_t) * group) {
    NAME(group_rows) y;
    VECTOR_UNROLL
    for (int v = 0; v < count; v++)
        VECTOR_UNROLL
    for (int k = 0; k < GROUP; k++)
        for (int part = 0; part < PARTS; part++)
            y[v][k][part] = V(load)(AT(i + v * LANES, c + k) + part * PLANE);

    for (int64_t p = first; p < c; p++) {
        VECTOR x[GROUP_VECTORS][PARTS];
        VECTOR_UNROLL
        for (int v = 0; v < count; v++)
            for (int part = 0; part < PARTS; part++)
                x[v][part] = V(load)(AT(i + v * LANES, p) + part * PLANE);
        VECTOR_UNROLL
        for (int k = 0; k < GROUP; k++)
            VECTOR_UNROLL
        for (int v = 0; v < count; v++)
            NAME(take_out)(AT(c + k, p), PLANE, x[v], y[v][k]);
    }

    if (group != NULL)
        NAME(group_solve)(group, count, y);
    VECTOR_UNROLL
    for (int v = 0; v < count; v++)
        VECTOR_UNROLL
    for (int k = 0; k < GROUP; k++)
        for (int part = 0; part < PARTS; part++)
            V(store)(AT(i + v * LANES, c + k) + part * PLANE, y[v][k][part]);
}

/* The same of vectors up to the last one, `end`; gives where the next rows are. */
VECTOR_INLINE int64_t NAME(group_step)(REAL *t, int64_t first, int64_t c, int64_t i, int64_t end,
                                       const NAME(group_t) * group) {
    if (end - i >= GROUP_VECTORS * LANES) {
        NAME(group_take)(t, first, c, i, GROUP_VECTORS, group);
        return i + GROUP_VECTORS * LANES;
    }
    NAME(group_take)(t, first, c, i, 1, group);
    return i + LANES;
}

static int64_t NAME(cholesky)(bool upper, int64_t n, void *a, int64_t lda) {
    _Alignas(64) REAL t[PARTS * PLANE];
    const NAME(view_t) view = {.a = a,
                               .row = (upper ? lda : 1) * PARTS,
                               .column = (upper ? 1 : lda) * PARTS,
                               .sign = upper ? -1 : 1};
    NAME(copy_in)(&view, n, false, t);

    /* The last group is a whole one, and so are the vectors of its diagonal block. */
    const int64_t whole = (n + GROUP - 1) / GROUP * GROUP,
                  end = (whole + LANES - 1) / LANES * LANES;
    for (int64_t j = LANES < GROUP ? 0 : n; j < whole; j++)
        for (int64_t i = j < n ? (n + LANES - 1) / LANES * LANES : 0; i < end; i += LANES)
            for (int part = 0; part < PARTS; part++)
                V(store)(AT(i, j) + part * PLANE, V(splat)(0));

    int64_t done = 0;
    for (int64_t c = 0; c < n && done == c; c += GROUP) {
        /* While roots and quotients wait for each other, the sums of rows below do not. */
        NAME(group_t) group;
        const int64_t top = c / LANES * LANES;
        const int columns = n - c < GROUP ? (int)(n - c) : GROUP;
        if (c > 0)
            NAME(group_step)(t, 0, c, top, end, NULL);
        const int factored = NAME(group_factor)(t, c, columns, &group);
        for (int64_t i = NAME(group_step)(t, c, c, top, end, &group); i < end;)
            i = NAME(group_step)(t, 0, c, i, end, &group);

        for (int k = 0; k < columns && k <= factored; k++) {
            if (COMPLEX)
                AT(c + k, c + k)[(PARTS - 1) * PLANE] = 0;
            *AT(c + k, c + k) = group.pivot[k];
        }
        done += factored;
    }

    NAME(copy_out)(&view, n, done < n ? done + 1 : n, false, t);
    return done < n ? done + 1 : 0;
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
#undef GROUP_VECTORS
#undef INVERT_VECTORS
#undef MAGNITUDE
#undef SQUARE_ROOT
