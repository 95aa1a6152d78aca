/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Columns of bands and of packed triangles, which begin where they like: a part of the text
 * matvec_kernel.h. One column at a time; vectors of any increment, which changes no bits.
 *
 * A few elements are done one by one. Vectors would do no better: the next column reads part of
 * what this one wrote, and the processor waits for such a store. */

#define FEW_ELEMENTS 8

/* y += s x. */
VECTOR_INLINE void NAME(column_add)(int64_t n, const REAL *scalar, const REAL *x, int64_t incx,
                                    REAL *y, int64_t incy) {
    const REAL s[2] = {scalar[0], scalar[COMPLEX]};
    const int64_t reals = n * PARTS;

    if (n <= FEW_ELEMENTS || incx != 1 || incy != 1) {
        for (int64_t i = 0; i < n; i++, x += incx * PARTS, y += incy * PARTS)
            NAME(add_any)(1, s, x, y, 1);
        return;
    }

    int64_t i = 0;
    for (; i + LANES <= reals; i += LANES)
        V(store)(y + i, NAME(plus)(V(load)(y + i), s, V(load)(x + i)));
    if (i < reals) {
        const PART part = V(first)((int)(reals - i));
        const VECTOR own = V(load_piece)(y + i, part);
        V(store_piece)(y + i, NAME(plus)(own, s, V(load_piece)(x + i, part)), part);
    }
}

/* a^T x, or a^H x, of more than a few: in turn for four times 64 bytes of lanes, which are added up
 * as the lanes are; the last ones are the fourth's. */
VECTOR_INLINE void NAME(long_dot)(int64_t n, bool conjugate, const REAL *a, const REAL *x,
                                  REAL *result) {
    const int64_t reals = n * PARTS;
    NAME(dot_t) dots[FOUR];
    NAME(clear_dots)(FOUR, dots);

    int64_t i = 0;
    for (; i + FOUR * GROUP_LANES <= reals; i += FOUR * GROUP_LANES) {
        VECTOR_UNROLL
        for (int k = 0; k < FOUR; k++)
            NAME(add_group)
        (1, &dots[k], a + i + k * GROUP_LANES, 0, x + i + k * GROUP_LANES, GROUP_LANES, true);
    }
    VECTOR_UNROLL
    for (int k = 0; k < FOUR - 1; k++)
        if (i + GROUP_LANES <= reals) {
            NAME(add_group)(1, &dots[k], a + i, 0, x + i, GROUP_LANES, true);
            i += GROUP_LANES;
        }
    if (i < reals)
        NAME(add_group)(1, &dots[FOUR - 1], a + i, 0, x + i, reals - i, false);

    VECTOR_UNROLL
    for (int half = FOUR / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            for (int g = 0; g < GROUP; g++) {
                dots[k].sum[g] = dots[k].sum[g] + dots[k + half].sum[g];
#if COMPLEX
                dots[k].turned[g] = dots[k].turned[g] + dots[k + half].turned[g];
#endif
            }
    NAME(end_dot)(&dots[0], conjugate, result);
}

/* a^T x, or a^H x: a few products one after the other; others by panels, whose sums are added. */
VECTOR_INLINE void NAME(column_dot)(int64_t n, bool conjugate, const REAL *a, const REAL *x,
                                    int64_t incx, REAL *result) {
    enum { PANEL = 4096 / (int)sizeof(REAL) / PARTS };
    REAL sum[2] = {0, 0};

    if (n <= FEW_ELEMENTS) {
        for (int64_t i = 0; i < n; i++, a += PARTS, x += incx * PARTS)
            NAME(add_product)(sum, a, conjugate, x);
    } else {
        for (int64_t i = 0; i < n; i += PANEL) {
            const int64_t count = n - i < PANEL ? n - i : PANEL;
            _Alignas(64) REAL copy[PANEL * PARTS], more[2];
            const REAL *own = x + i * incx * PARTS;
            if (incx != 1) {
                NAME(gather)(count, own, incx, copy);
                own = copy;
            }
            NAME(long_dot)(count, conjugate, a + i * PARTS, own, more);
            for (int part = 0; part < PARTS; part++)
                sum[part] += more[part];
        }
    }
    for (int part = 0; part < PARTS; part++)
        result[part] = sum[part];
}

static void NAME(symmetric_skew)(int64_t n, const ji_matvec_column_t *column, const void *scalars,
                                 const void *vector, int64_t incx, void *to, int64_t incy,
                                 void *results) {
    const REAL *s = scalars, *x = vector;
    REAL *y = to, *sums = results;

    for (; n > 0; n--, column++, s += PARTS, sums += PARTS) {
        const REAL *diagonal = column->diagonal; /* of which the real part counts */
        REAL *own = y + column->own * incy * PARTS;
        NAME(column_add)
        (column->rows, s, column->first, 1, y + column->row * incy * PARTS, incy);
        for (int part = 0; part < PARTS; part++)
            own[part] = V(fma_one)(diagonal[0], s[part], own[part]);
        NAME(column_dot)
        (column->rows, true, column->first, x + column->row * incx * PARTS, incx, sums);
    }
}

/* What x_j gives to the others, times a sign, or has from them. */
VECTOR_INLINE void NAME(beside_skew)(const ji_matvec_column_t *column,
                                     const ji_matvec_triangle_t *triangle, REAL sign, REAL *x,
                                     int64_t incx, REAL *own) {
    REAL *others = x + column->row * incx * PARTS, scalar[2] = {0, 0};
    if (!triangle->transposed) {
        for (int part = 0; part < PARTS; part++)
            scalar[part] = sign * own[part];
        NAME(column_add)(column->rows, scalar, column->first, 1, others, incx);
        return;
    }

    NAME(column_dot)(column->rows, triangle->conjugated, column->first, others, incx, scalar);
    for (int part = 0; part < PARTS; part++)
        own[part] += sign * scalar[part];
}

static void NAME(multiply_skew)(int64_t n, const ji_matvec_column_t *column,
                                const ji_matvec_triangle_t *triangle, void *vector, int64_t incx) {
    REAL *x = vector;
    for (; n > 0; n--, column++) {
        REAL *own = x + column->own * incx * PARTS, product[2] = {0, 0};
        if (!triangle->transposed)
            NAME(beside_skew)(column, triangle, 1, x, incx, own);
        if (!triangle->unit) {
            NAME(add_product)(product, column->diagonal, triangle->conjugated, own);
            for (int part = 0; part < PARTS; part++)
                own[part] = product[part];
        }
        if (triangle->transposed)
            NAME(beside_skew)(column, triangle, 1, x, incx, own);
    }
}

static void NAME(solve_skew)(int64_t n, const ji_matvec_column_t *column,
                             const ji_matvec_triangle_t *triangle, void *vector, int64_t incx) {
    REAL *x = vector;
    for (; n > 0; n--, column++) {
        REAL *own = x + column->own * incx * PARTS;
        if (triangle->transposed)
            NAME(beside_skew)(column, triangle, -1, x, incx, own);
        if (!triangle->unit)
            NAME(divide)(own, column->diagonal, triangle->conjugated);
        if (!triangle->transposed)
            NAME(beside_skew)(column, triangle, -1, x, incx, own);
    }
}

#undef FEW_ELEMENTS
