/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 over vectors: the text of matvec.h's functions, included once for each element type by
 * each_type.h.
 *
 * A complex number is two reals. y += A s adds to y what the real parts of s give, and i times what
 * the imaginary parts give; so the columns are read as they lie, and only sums are turned. A dot
 * likewise multiplies a column with x and with i x, and what conjugation means is decided when the
 * sums are known.
 *
 * At the end of a vector the rest of a register is filled up with zeros, in the matrix and in the
 * vector both, so no number that is not there meets one that is. */

#define PARTS (1 + COMPLEX)
/* Vectors that hold 64 bytes: the lanes of a dot, whatever the set. */
#define GROUP (64 / VECTOR_BYTES)
#define GROUP_LANES ((int)(64 / sizeof(REAL)))
/* Dots at once: as many as keep their sums in eight registers, which hides the latency of an
 * addition. */
#define DOTS (8 / GROUP / PARTS)
#define FOUR 4 /* columns that are added up before they are added to y */
/* Columns, by fours, for which y is read and written once: their scalars are in registers. */
#define MOST_COLUMNS (VECTOR_REGISTERS == 32 || !COMPLEX ? 2 * FOUR : FOUR)

/* Vectors of y that are kept in registers where there are few rows. */
#define ROW_VECTORS (VECTOR_REGISTERS == 32 || !COMPLEX ? 4 : 2)
#define FEW_REALS (2 * ROW_VECTORS * LANES)

/* ---- Single elements ---- */

/* sum += a x, or conj(a) x. */
VECTOR_INLINE void NAME(add_product)(REAL *sum, const REAL *a, bool conjugate, const REAL *x) {
#if COMPLEX
    const REAL imaginary = conjugate ? -a[1] : a[1];
    sum[0] = V(fma_one)(-imaginary, x[1], V(fma_one)(a[0], x[0], sum[0]));
    sum[1] = V(fma_one)(imaginary, x[0], V(fma_one)(a[0], x[1], sum[1]));
#else
    (void)conjugate;
    sum[0] = V(fma_one)(a[0], x[0], sum[0]);
#endif
}

/* x = x / a, or x / conj(a); complex ones so that no square of a is formed (Smith 1962). */
VECTOR_INLINE void NAME(divide)(REAL *x, const REAL *a, bool conjugate) {
#if COMPLEX
    const REAL re = a[0], im = conjugate ? -a[1] : a[1];
    const bool is_wide = (re < 0 ? -re : re) >= (im < 0 ? -im : im);
    const REAL large = is_wide ? re : im, small = is_wide ? im : re, ratio = small / large;
    const REAL divisor = V(fma_one)(small, ratio, large);
    const REAL first = x[0], second = x[1];

    x[0] =
        (is_wide ? V(fma_one)(second, ratio, first) : V(fma_one)(first, ratio, second)) / divisor;
    x[1] =
        (is_wide ? V(fma_one)(-first, ratio, second) : V(fma_one)(second, ratio, -first)) / divisor;
#else
    (void)conjugate;
    x[0] /= a[0];
#endif
}

/* ---- Vectors of any increment ---- */

static void NAME(gather)(int64_t n, const void *from, int64_t incx, void *to) {
    const REAL *x = from;
    REAL *result = to;
    for (int64_t i = 0; i < n; i++)
        for (int part = 0; part < PARTS; part++)
            result[i * PARTS + part] = x[i * incx * PARTS + part];
}

static void NAME(scatter)(int64_t n, const void *from, void *to, int64_t incy) {
    const REAL *x = from;
    REAL *y = to;
    for (int64_t i = 0; i < n; i++)
        for (int part = 0; part < PARTS; part++)
            y[i * incy * PARTS + part] = x[i * PARTS + part];
}

/* An imaginary part of 0 is left out of a scalar's products: it makes no NaN of an infinity. */
VECTOR_INLINE bool NAME(is_real)(const REAL *scalar) { return !COMPLEX || scalar[COMPLEX] == 0; }

VECTOR_INLINE void NAME(scale_any)(int64_t n, const REAL *alpha, const REAL *x, int64_t incx,
                                   bool conjugate, REAL *result) {
    const bool is_real = NAME(is_real)(alpha);
    for (int64_t i = 0; i < n; i++, x += incx * PARTS, result += PARTS) {
        const REAL own[2] = {x[0], conjugate ? -x[PARTS - 1] : x[PARTS - 1]};
        for (int part = 0; part < PARTS; part++)
            result[part] = alpha[0] * own[part];
        if (!is_real) {
            result[0] = V(fma_one)(-alpha[COMPLEX], own[1], result[0]);
            result[COMPLEX] = V(fma_one)(alpha[COMPLEX], own[0], result[COMPLEX]);
        }
    }
}

/* Without an increment the compiler makes vectors of it. */
static void NAME(scale)(int64_t n, const void *alpha, const void *x, int64_t incx, bool conjugate,
                        void *to) {
    if (incx == 1)
        NAME(scale_any)(n, alpha, x, 1, conjugate, to);
    else
        NAME(scale_any)(n, alpha, x, incx, conjugate, to);
}

static void NAME(scale_own)(int64_t n, const void *scalar, void *to, int64_t incy) {
    const REAL *beta = scalar;
    REAL *y = to;
    const bool is_zero = beta[0] == 0 && (!COMPLEX || beta[COMPLEX] == 0);

    if (incy == 1 && is_zero)
        memset(y, 0, (size_t)(n * PARTS) * sizeof *y);
    else if (incy == 1)
        NAME(scale)(n, beta, y, 1, false, y);
    else if (is_zero)
        for (int64_t i = 0; i < n; i++, y += incy * PARTS)
            memset(y, 0, PARTS * sizeof *y);
    else
        for (int64_t i = 0; i < n; i++, y += incy * PARTS)
            NAME(scale)(1, beta, y, 1, false, y);
}

VECTOR_INLINE void NAME(add_any)(int64_t n, const REAL *alpha, const REAL *sum, REAL *y,
                                 int64_t incy) {
    const bool is_real = NAME(is_real)(alpha);
    for (int64_t i = 0; i < n; i++, y += incy * PARTS, sum += PARTS) {
        for (int part = 0; part < PARTS; part++)
            y[part] = V(fma_one)(alpha[0], sum[part], y[part]);
        if (!is_real) {
            y[0] = V(fma_one)(-alpha[COMPLEX], sum[COMPLEX], y[0]);
            y[COMPLEX] = V(fma_one)(alpha[COMPLEX], sum[0], y[COMPLEX]);
        }
    }
}

static void NAME(add)(int64_t n, const void *alpha, const void *sums, void *y, int64_t incy) {
    if (incy == 1)
        NAME(add_any)(n, alpha, sums, y, 1);
    else
        NAME(add_any)(n, alpha, sums, y, incy);
}

/* factor x, and y + factor x. */
VECTOR_INLINE VECTOR NAME(times)(const REAL *factor, VECTOR x) {
    VECTOR product = V(splat)(factor[0]) * x;
#if COMPLEX
    if (!NAME(is_real)(factor))
        product = V(fma)(V(splat)(factor[1]), V(turn)(x), product);
#endif
    return product;
}

VECTOR_INLINE VECTOR NAME(plus)(VECTOR y, const REAL *factor, VECTOR x) {
    y = V(fma)(V(splat)(factor[0]), x, y);
#if COMPLEX
    if (!NAME(is_real)(factor))
        y = V(fma)(V(splat)(factor[1]), V(turn)(x), y);
#endif
    return y;
}

/* beta y of the vector at y, which a beta of 0 does not read; without a beta y itself. */
VECTOR_INLINE VECTOR NAME(own)(const REAL *beta, const REAL *y, PART part, bool is_whole) {
    if (beta != NULL && beta[0] == 0 && beta[COMPLEX] == 0) /* NOLINT(misc-redundant-expression) */
        return V(splat)(0);

    const VECTOR before = is_whole ? V(load)(y) : V(load_piece)(y, part);
    return beta == NULL ? before : NAME(times)(beta, before);
}

/* ---- y += A s ---- */

/* What real parts have given, and of complex elements i times what imaginary ones have. */
VECTOR_INLINE VECTOR NAME(add_sums)(VECTOR y, VECTOR sum, VECTOR turned) {
#if COMPLEX
    return y + sum + V(turn)(turned);
#else
    (void)turned;
    return y + sum;
#endif
}

/* The same for one vector of rows and `count` columns, `step` reals apart. */
VECTOR_INLINE VECTOR NAME(add_columns)(VECTOR y, int count, const REAL *a, int64_t step,
                                       const VECTOR *s, PART part, bool is_whole) {
    VECTOR sum = V(splat)(0), turned = sum;
    VECTOR_UNROLL
    for (int k = 0; k < count; k++) {
        VECTOR column = is_whole ? V(load)(a + k * step) : V(load_part)(a + k * step, part);
#if COMPLEX
        VECTOR_HOLD(column);
        turned = V(fma)(column, s[PARTS * k + 1], turned);
#endif
        sum = V(fma)(column, s[PARTS * k], sum);
    }
    return NAME(add_sums)(y, sum, turned);
}

/* Of one four or two, or what is left of one. */
VECTOR_INLINE VECTOR NAME(add_fours)(VECTOR y, int count, const REAL *a, int64_t step,
                                     const VECTOR *s, PART part, bool is_whole) {
    y = NAME(add_columns)(y, count < FOUR ? count : FOUR, a, step, s, part, is_whole);
    if (count > FOUR)
        y = NAME(add_columns)(y, count - FOUR, a + FOUR * step, step, s + FOUR * PARTS, part,
                              is_whole);
    return y;
}

VECTOR_INLINE void NAME(some_columns)(int64_t m, int count, const REAL *a, int64_t step,
                                      const REAL *s, REAL *y) {
    const int64_t reals = m * PARTS;
    VECTOR splats[MOST_COLUMNS * PARTS];
    VECTOR_UNROLL
    for (int k = 0; k < count * PARTS; k++)
        splats[k] = V(splat)(s[k]);

    int64_t i = 0;
    for (; i + LANES <= reals; i += LANES) {
        const VECTOR sum =
            NAME(add_fours)(V(load)(y + i), count, a + i, step, splats, V(first)(0), true);
        V(store)(y + i, sum);
    }
    if (i < reals) {
        const PART part = V(first)((int)(reals - i));
        const VECTOR sum =
            NAME(add_fours)(V(load_piece)(y + i, part), count, a + i, step, splats, part, false);
        V(store_piece)(y + i, sum, part);
    }
}

/* Few rows, `vectors` of them, which stay in registers; of the last one `part` is there. */
VECTOR_INLINE void NAME(add_to_rows)(VECTOR *rows, int vectors, int count, const REAL *a,
                                     int64_t step, const REAL *s, PART part) {
    VECTOR splats[FOUR * PARTS];
    VECTOR_UNROLL
    for (int k = 0; k < count * PARTS; k++)
        splats[k] = V(splat)(s[k]);
    VECTOR_UNROLL
    for (int i = 0; i < vectors; i++)
        rows[i] =
            NAME(add_columns)(rows[i], count, a + i * LANES, step, splats, part, i + 1 < vectors);
}

/* y = beta y + A s. */
VECTOR_INLINE void NAME(few_rows)(int vectors, int64_t n, const REAL *a, int64_t step,
                                  const REAL *s, const REAL *beta, REAL *y, PART part) {
    VECTOR rows[ROW_VECTORS];
    VECTOR_UNROLL
    for (int i = 0; i < vectors; i++)
        rows[i] = NAME(own)(beta, y + i * LANES, part, i + 1 < vectors);

    for (; n >= FOUR; n -= FOUR, a += FOUR * step, s += FOUR * PARTS)
        NAME(add_to_rows)(rows, vectors, FOUR, a, step, s, part);
    switch (n) {
    case 3: NAME(add_to_rows)(rows, vectors, 3, a, step, s, part); break;
    case 2: NAME(add_to_rows)(rows, vectors, 2, a, step, s, part); break;
    case 1: NAME(add_to_rows)(rows, vectors, 1, a, step, s, part); break;
    default: break;
    }

    VECTOR_UNROLL
    for (int i = 0; i + 1 < vectors; i++)
        V(store)(y + i * LANES, rows[i]);
    V(store_piece)(y + (vectors - 1) * LANES, rows[vectors - 1], part);
}

VECTOR_INLINE void NAME(columns_of_few)(int64_t reals, int64_t n, const REAL *a, int64_t step,
                                        const REAL *s, const REAL *beta, REAL *y) {
    for (int64_t i = 0; i < reals; i += ROW_VECTORS * LANES) {
        const int64_t left = reals - i;
        const PART part = V(first)((int)(left - 1) % LANES + 1);
        switch (left > (ROW_VECTORS - 1) * LANES ? ROW_VECTORS : (left - 1) / LANES + 1) {
        case 1: NAME(few_rows)(1, n, a + i, step, s, beta, y + i, part); break;
#if ROW_VECTORS > 2
        case 2: NAME(few_rows)(2, n, a + i, step, s, beta, y + i, part); break;
        case 3: NAME(few_rows)(3, n, a + i, step, s, beta, y + i, part); break;
#endif
        default:
            NAME(few_rows)
            (ROW_VECTORS, n, a + i, step, s, beta, y + i,
             left > ROW_VECTORS * LANES ? V(first)(LANES) : part);
        }
    }
}

static void NAME(columns)(int64_t m, int64_t n, const void *matrix, int64_t lda,
                          const void *scalars, void *to) {
    const REAL *a = matrix, *s = scalars;
    REAL *y = to;
    const int64_t step = lda * PARTS, reals = m * PARTS;

    if (reals <= FEW_REALS) {
        NAME(columns_of_few)(reals, n, a, step, s, NULL, y);
        return;
    }
    for (; n >= MOST_COLUMNS;
         n -= MOST_COLUMNS, a += MOST_COLUMNS * step, s += MOST_COLUMNS * PARTS)
        NAME(some_columns)(m, MOST_COLUMNS, a, step, s, y);
    for (; n >= FOUR; n -= FOUR, a += FOUR * step, s += FOUR * PARTS)
        NAME(some_columns)(m, FOUR, a, step, s, y);
    switch (n) {
    case 3: NAME(some_columns)(m, 3, a, step, s, y); break;
    case 2: NAME(some_columns)(m, 2, a, step, s, y); break;
    case 1: NAME(some_columns)(m, 1, a, step, s, y); break;
    default: break;
    }
}

/* ---- A^T x ---- */

/* The sums of one dot. */
typedef struct NAME(dot) {
    VECTOR sum[GROUP], turned[COMPLEX ? GROUP : 1];
} NAME(dot_t);

VECTOR_INLINE void NAME(clear_dots)(int count, NAME(dot_t) * dots) {
    VECTOR_UNROLL
    for (int k = 0; k < count; k++)
        for (int g = 0; g < GROUP; g++)
            dots[k].sum[g] = dots[k].turned[COMPLEX ? g : 0] = V(splat)(0);
}

/* 64 bytes of x and of `count` columns; of the last ones `reals` are there. */
VECTOR_INLINE void NAME(add_group)(int count, NAME(dot_t) * dots, const REAL *a, int64_t step,
                                   const REAL *x, int64_t reals, bool is_whole) {
    VECTOR_UNROLL
    for (int g = 0; g < GROUP; g++) {
        const int64_t left = reals - g * LANES;
        const PART part = V(first)(left <= 0 ? 0 : left < LANES ? (int)left : LANES);
        const VECTOR own = is_whole ? V(load)(x + g * LANES) : V(load_part)(x + g * LANES, part);
        VECTOR_UNROLL
        for (int k = 0; k < count; k++) {
            const REAL *from = a + k * step + g * LANES;
            VECTOR column = is_whole ? V(load)(from) : V(load_part)(from, part);
            if (COMPLEX)
                VECTOR_HOLD(column);
            dots[k].sum[g] = V(fma)(column, own, dots[k].sum[g]);
#if COMPLEX
            dots[k].turned[g] = V(fma)(column, V(turn)(own), dots[k].turned[g]);
#endif
        }
    }
}

/* Upper halves are added to lower ones, until one vector is left. */
VECTOR_INLINE VECTOR NAME(fold)(const VECTOR *group) {
    VECTOR vectors[GROUP];
    VECTOR_UNROLL
    for (int g = 0; g < GROUP; g++)
        vectors[g] = group[g];
    VECTOR_UNROLL
    for (int half = GROUP / 2; half > 0; half /= 2)
        for (int g = 0; g < half; g++)
            vectors[g] = vectors[g] + vectors[g + half];
    return vectors[0];
}

VECTOR_INLINE void NAME(end_dot)(const NAME(dot_t) * dot, bool conjugate, REAL *result) {
#if COMPLEX
    REAL pair[2], turned[2]; /* with i x: of the real parts of a, and of the imaginary ones */
    V(fold_pairs)(NAME(fold)(dot->sum), pair);
    V(fold_pairs)(NAME(fold)(dot->turned), turned);
    result[0] = conjugate ? pair[0] + pair[1] : pair[0] - pair[1];
    result[1] = conjugate ? -turned[0] - turned[1] : turned[1] - turned[0];
#else
    (void)conjugate;
    result[0] = V(fold)(NAME(fold)(dot->sum));
#endif
}

VECTOR_INLINE void NAME(end_dots)(int count, const NAME(dot_t) * dots, bool conjugate,
                                  REAL *results) {
    int k = 0;
#if !COMPLEX
    VECTOR_UNROLL
    for (; k + FOUR <= count; k += FOUR) {
        VECTOR folded[FOUR];
        VECTOR_UNROLL
        for (int l = 0; l < FOUR; l++)
            folded[l] = NAME(fold)(dots[k + l].sum);
        V(fold_four)(folded, results + k);
    }
#endif
    VECTOR_UNROLL
    for (; k < count; k++)
        NAME(end_dot)(&dots[k], conjugate, results + k * PARTS);
}

VECTOR_INLINE void NAME(some_dots)(int64_t m, int count, bool conjugate, const REAL *a,
                                   int64_t step, const REAL *x, REAL *sums) {
    const int64_t reals = m * PARTS;
    NAME(dot_t) dots[DOTS];
    NAME(clear_dots)(count, dots);

    int64_t i = 0;
    for (; i + GROUP_LANES <= reals; i += GROUP_LANES)
        NAME(add_group)(count, dots, a + i, step, x + i, GROUP_LANES, true);
    if (i < reals)
        NAME(add_group)(count, dots, a + i, step, x + i, reals - i, false);

    NAME(end_dots)(count, dots, conjugate, sums);
}

static void NAME(dots)(int64_t m, int64_t n, bool conjugate, const void *matrix, int64_t lda,
                       const void *vector, void *results) {
    const REAL *a = matrix, *x = vector;
    REAL *sums = results;
    const int64_t step = lda * PARTS;

    for (; n >= DOTS; n -= DOTS, a += DOTS * step, sums += DOTS * PARTS)
        NAME(some_dots)(m, DOTS, conjugate, a, step, x, sums);
#if DOTS > 4
    if (n >= 4) {
        NAME(some_dots)(m, 4, conjugate, a, step, x, sums);
        n -= 4, a += 4 * step, sums += 4 * PARTS;
    }
#endif
#if DOTS > 2
    if (n >= 2) {
        NAME(some_dots)(m, 2, conjugate, a, step, x, sums);
        n -= 2, a += 2 * step, sums += 2 * PARTS;
    }
#endif
    if (n >= 1)
        NAME(some_dots)(m, 1, conjugate, a, step, x, sums);
}

/* ---- y = alpha op(A) x + beta y, of one block ---- */

/* A block's part of a vector. */
typedef struct NAME(block) {
    _Alignas(64) REAL at[JI_MATVEC_BLOCK * PARTS];
} NAME(block_t);

static void NAME(small)(int64_t m, int64_t n, jblas_operation_t trans, const void *alpha_,
                        const void *a, int64_t lda, const void *x_, const void *beta, void *y_) {
    const REAL *alpha = alpha_, *x = x_;
    const int64_t reals = n * PARTS;
    REAL *y = y_;
    NAME(block_t) block; /* alpha x, or dots */

    if (trans == JBLAS_NO_TRANSPOSE) {
        for (int64_t i = 0; i < reals; i += LANES) {
            const PART part = V(first)(reals - i < LANES ? (int)(reals - i) : LANES);
            V(store)(block.at + i, NAME(times)(alpha, V(load_piece)(x + i, part)));
        }
        NAME(columns_of_few)(m * PARTS, n, a, lda * PARTS, block.at, beta, y);
        return;
    }

    NAME(dots)(m, n, trans == JBLAS_CONJUGATE_TRANSPOSE, a, lda, x, block.at);
    for (int64_t i = 0; i < reals; i += LANES) {
        const PART part = V(first)(reals - i < LANES ? (int)(reals - i) : LANES);
        const VECTOR sums = V(load_piece)(block.at + i, part);
        V(store_piece)(y + i, NAME(plus)(NAME(own)(beta, y + i, part, false), alpha, sums), part);
    }
}

/* ---- y += A s and A^T x, of one A ---- */

/* `reals` of them, times beta if there is one, and zeros up to a whole group. */
VECTOR_INLINE void NAME(lay)(const REAL *beta, int64_t reals, const REAL *from, REAL *to) {
    int64_t i = 0;
    for (; i + LANES <= reals; i += LANES)
        V(store)(to + i, NAME(own)(beta, from + i, V(first)(0), true));
    if (i < reals) {
        V(store)(to + i, NAME(own)(beta, from + i, V(first)((int)(reals - i)), false));
        i += LANES;
    }
    for (; i % GROUP_LANES != 0; i += LANES)
        V(store)(to + i, V(splat)(0));
}

/* Takes what was laid. */
VECTOR_INLINE void NAME(take)(int64_t reals, const REAL *from, REAL *to) {
    for (int64_t i = 0; i < reals; i += LANES) {
        const PART part = V(first)(reals - i < LANES ? (int)(reals - i) : LANES);
        V(store_piece)(to + i, V(load)(from + i), part);
    }
}

/* Both, of four columns. Where there are registers enough every element is read once; elsewhere
 * what the first loop reads lies in the nearest cache for the second. */
#if DOTS >= FOUR
/* 64 bytes of rows, of which `reals` are there: in x and y all. */
VECTOR_INLINE void NAME(add_both_groups)(NAME(dot_t) * dots, const REAL *a, int64_t step,
                                         const VECTOR *splats, REAL *y, const REAL *x,
                                         int64_t reals, bool is_whole) {
    VECTOR_UNROLL
    for (int g = 0; g < GROUP; g++) {
        const int64_t left = reals - g * LANES;
        const PART part = V(first)(left <= 0 ? 0 : left < LANES ? (int)left : LANES);
        const VECTOR own = V(load)(x + g * LANES);
        VECTOR sum = V(splat)(0), turned = sum;
        VECTOR_UNROLL
        for (int k = 0; k < FOUR; k++) {
            const REAL *from = a + k * step + g * LANES;
            VECTOR column = is_whole ? V(load)(from) : V(load_part)(from, part);
            VECTOR_HOLD(column);
            sum = V(fma)(column, splats[PARTS * k], sum);
            dots[k].sum[g] = V(fma)(column, own, dots[k].sum[g]);
#if COMPLEX
            turned = V(fma)(column, splats[2 * k + 1], turned);
            dots[k].turned[g] = V(fma)(column, V(turn)(own), dots[k].turned[g]);
#endif
        }

        V(store)(y + g * LANES, NAME(add_sums)(V(load)(y + g * LANES), sum, turned));
    }
}

/* Rows [first, whole), and the rest up to `end`, of whose x and y there is a whole group. */
VECTOR_INLINE void NAME(add_both)(NAME(dot_t) * dots, int64_t first, int64_t whole, int64_t end,
                                  const REAL *a, int64_t step, const REAL *s, REAL *y,
                                  const REAL *x, REAL *rest_y, const REAL *rest_x) {
    VECTOR splats[FOUR * PARTS];
    VECTOR_UNROLL
    for (int k = 0; k < FOUR * PARTS; k++)
        splats[k] = V(splat)(s[k]);

    for (int64_t i = first; i < whole; i += GROUP_LANES)
        NAME(add_both_groups)(dots, a + i, step, splats, y + i, x + i, GROUP_LANES, true);
    if (whole < end)
        NAME(add_both_groups)(dots, a + whole, step, splats, rest_y, rest_x, end - whole, false);
}
#endif

static void NAME(both)(int64_t m, int64_t n, bool conjugate, const void *matrix, int64_t lda,
                       const void *scalars, void *to, const void *vector, void *results) {
    const REAL *a = matrix, *s = scalars, *x = vector;
    REAL *y = to, *sums = results;

#if DOTS >= FOUR
    const int64_t step = lda * PARTS, reals = m * PARTS, rest = reals % GROUP_LANES;
    _Alignas(64) REAL rest_y[GROUP_LANES] = {0}, rest_x[GROUP_LANES] = {0};
    NAME(lay)(NULL, rest, y + reals - rest, rest_y);
    NAME(lay)(NULL, rest, x + reals - rest, rest_x);

    for (; n >= FOUR; n -= FOUR, a += FOUR * step, s += FOUR * PARTS, sums += FOUR * PARTS) {
        NAME(dot_t) dots[FOUR];
        NAME(clear_dots)(FOUR, dots);
        NAME(add_both)(dots, 0, reals - rest, reals, a, step, s, y, x, rest_y, rest_x);
        NAME(end_dots)(FOUR, dots, conjugate, sums);
    }
    NAME(take)(rest, rest_y, y + reals - rest);
#endif
    if (n > 0) {
        NAME(columns)(m, n, a, lda, s, y);
        NAME(dots)(m, n, conjugate, a, lda, x, sums);
    }
}

/* ---- A += x s^T + y r^T ---- */

VECTOR_INLINE VECTOR NAME(add_scaled)(VECTOR a, VECTOR x, const VECTOR *s) {
    a = V(fma)(x, s[0], a);
#if COMPLEX
    a = V(fma)(V(turn)(x), s[1], a);
#endif
    return a;
}

/* One vector of rows, of `count` columns. All are read before one is written: columns may be so
 * short that they share a register's bytes, and the processor waits for such a store. */
VECTOR_INLINE void NAME(update_rows)(int count, int rank, const REAL *x, const VECTOR *s,
                                     const REAL *y, const VECTOR *r, REAL *a, int64_t step,
                                     PART part, bool is_whole) {
    const VECTOR own_x = is_whole ? V(load)(x) : V(load_part)(x, part);
    VECTOR own_y = own_x, columns[FOUR];
    if (rank == 2)
        own_y = is_whole ? V(load)(y) : V(load_part)(y, part);

    VECTOR_UNROLL
    for (int k = 0; k < count; k++) {
        columns[k] = is_whole ? V(load)(a + k * step) : V(load_part)(a + k * step, part);
        columns[k] = NAME(add_scaled)(columns[k], own_x, s + PARTS * k);
        if (rank == 2)
            columns[k] = NAME(add_scaled)(columns[k], own_y, r + PARTS * k);
    }
    VECTOR_UNROLL
    for (int k = 0; k < count; k++)
        if (is_whole)
            V(store)(a + k * step, columns[k]);
        else
            V(store_part)(a + k * step, columns[k], part);
}

/* `count` columns; `rank` is 1 or 2. */
VECTOR_INLINE void NAME(update_columns)(int64_t m, int count, int rank, const REAL *x,
                                        const REAL *s, const REAL *y, const REAL *r, REAL *a,
                                        int64_t step) {
    const int64_t reals = m * PARTS;
    VECTOR of_x[FOUR * PARTS], of_y[FOUR * PARTS];
    VECTOR_UNROLL
    for (int k = 0; k < count * PARTS; k++) {
        of_x[k] = V(splat)(s[k]);
        of_y[k] = V(splat)(rank == 2 ? r[k] : 0);
    }

    int64_t i = 0;
    for (; i + LANES <= reals; i += LANES)
        NAME(update_rows)
    (count, rank, x + i, of_x, y + (rank == 2 ? i : 0), of_y, a + i, step, V(first)(0), true);
    if (i < reals)
        NAME(update_rows)
    (count, rank, x + i, of_x, y + (rank == 2 ? i : 0), of_y, a + i, step,
     V(first)((int)(reals - i)), false);
}

VECTOR_INLINE void NAME(update_any)(int64_t m, int64_t n, int rank, const REAL *x, const REAL *s,
                                    const REAL *y, const REAL *r, REAL *a, int64_t step) {
    for (; n >= FOUR;
         n -= FOUR, a += FOUR * step, s += FOUR * PARTS, r += (rank == 2 ? FOUR * PARTS : 0))
        NAME(update_columns)(m, FOUR, rank, x, s, y, r, a, step);
    for (; n > 0; n--, a += step, s += PARTS, r += (rank == 2 ? PARTS : 0))
        NAME(update_columns)(m, 1, rank, x, s, y, r, a, step);
}

static void NAME(update)(int64_t m, int64_t n, const void *x, const void *s, void *a, int64_t lda) {
    NAME(update_any)(m, n, 1, x, s, x, s, a, lda * PARTS);
}

static void NAME(update2)(int64_t m, int64_t n, const void *x, const void *s, const void *y,
                          const void *r, void *a, int64_t lda) {
    NAME(update_any)(m, n, 2, x, s, y, r, a, lda * PARTS);
}

#include "blas/kernels/matvec_columns_kernel.h"
#include "blas/kernels/matvec_diagonal_kernel.h"

static const ji_matvec_kernels_t NAME(matvec) = {
    .gather = NAME(gather),
    .scatter = NAME(scatter),
    .scale = NAME(scale),
    .scale_own = NAME(scale_own),
    .add = NAME(add),
    .columns = NAME(columns),
    .dots = NAME(dots),
    .streams = DOTS,
    .small = NAME(small),
    .both = NAME(both),
    .update = NAME(update),
    .update2 = NAME(update2),
    .update_triangle = NAME(update_triangle),
    .symmetric = NAME(symmetric),
    .multiply = NAME(multiply),
    .solve = NAME(solve),
    .symmetric_skew = NAME(symmetric_skew),
    .multiply_skew = NAME(multiply_skew),
    .solve_skew = NAME(solve_skew),
};

#undef PARTS
#undef GROUP
#undef GROUP_LANES
#undef DOTS
#undef FOUR
#undef ROW_VECTORS
#undef FEW_REALS
#undef MOST_COLUMNS
