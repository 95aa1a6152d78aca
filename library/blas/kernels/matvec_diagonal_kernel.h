/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Blocks on the diagonal of a symmetric or triangular matrix, of one element type and instruction
 * set: a part of matvec_kernel.h, which includes it and says what the names mean. No include
 * guard. */

/* The vectors of a symmetric block are laid in blocks, whole groups of them: so each four finds its
 * rows where the one before left them, and not across two stores. */

/* A symmetric block is gone through by fours of columns. Of the group of rows that holds a four's
 * triangle every column has other elements: column k those from real `at` + k PARTS of it on, if
 * the lower triangle is stored, or up to there. `reals` of the group are rows of the block. */

/* Complex elements have two kinds of symmetry, and real ones too: Hermitian and symmetric, and
 * symmetric and skew-symmetric. `second` is the other one than the first. */

/* y += A s. Of a Hermitian diagonal the imaginary part is not read, of a skew one nothing. */
VECTOR_INLINE void NAME(diagonal_columns)(int at, bool upper, bool second, const REAL *a,
                                          int64_t step, const REAL *s, REAL *y, int reals) {
    const int own = COMPLEX == second ? PARTS : second ? 0 : 1; /* reals that are read of it */
    VECTOR_UNROLL
    for (int g = 0; g < GROUP; g++) {
        VECTOR sum = V(splat)(0), turned = sum;
        VECTOR_UNROLL
        for (int k = 0; k < FOUR; k++) {
            const int diagonal = at + k * PARTS - g * LANES,
                      from = upper     ? 0
                             : own > 0 ? diagonal
                                       : diagonal + PARTS,
                      end = upper ? diagonal + own : reals - g * LANES;
            if (upper ? end <= 0 : from >= LANES)
                continue;

            const VECTOR column = V(load_between)(a + k * step + g * LANES, from, end);
#if COMPLEX
            const KEEP real = V(keep_between)(diagonal, diagonal + own),
                       rest = V(keep_between)(upper ? 0 : diagonal + 2, upper ? diagonal : LANES);
            const VECTOR re = V(splat)(s[2 * k]), im = V(splat)(s[2 * k + 1]);
            turned = V(fma_where)(real, column, im, V(fma_where)(rest, column, im, turned));
            sum = V(fma_where)(real, column, re, V(fma_where)(rest, column, re, sum));
#else
            const KEEP keep = V(keep_between)(from, upper ? end : LANES);
            sum = V(fma_where)(keep, column, V(splat)(s[k]), sum);
#endif
        }

        V(store)(y + g * LANES, NAME(add_sums)(V(load)(y + g * LANES), sum, turned));
    }
}

/* dots += A^H x of `count` columns from k on, without the diagonal. */
VECTOR_INLINE void NAME(diagonal_dots)(int at, bool upper, int first, int count, NAME(dot_t) * dots,
                                       const REAL *a, int64_t step, const REAL *x, int reals) {
    VECTOR_UNROLL
    for (int g = 0; g < GROUP; g++) {
        const VECTOR own = V(load)(x + g * LANES);
        VECTOR_UNROLL
        for (int k = 0; k < count; k++) {
            const int diagonal = at + (first + k) * PARTS - g * LANES;
            const int from = upper ? 0 : diagonal + PARTS,
                      end = upper ? diagonal : reals - g * LANES;
            if (upper ? end <= 0 : from >= LANES)
                continue;

            const KEEP keep = V(keep_between)(from, upper ? end : LANES);
            const VECTOR column = V(load_between)(a + (first + k) * step + g * LANES, from, end);
            dots[k].sum[g] = V(fma_where)(keep, column, own, dots[k].sum[g]);
#if COMPLEX
            dots[k].turned[g] = V(fma_where)(keep, column, V(turn)(own), dots[k].turned[g]);
#endif
        }
    }
}

/* The four at column a, whose triangle is in the group of rows from real `group` on, `at` in it:
 * y += A s, and what the mirror image of its other elements gives to `sums`. */
VECTOR_INLINE void NAME(symmetric_four)(int at, bool upper, bool second, int64_t reals,
                                        int64_t group, const REAL *a, int64_t step, const REAL *s,
                                        const REAL *x, REAL *y, REAL *sums) {
    const int own = reals - group < GROUP_LANES ? (int)(reals - group) : GROUP_LANES;
    const int64_t first = upper ? 0 : group + own, end = upper ? group : reals;
    const int64_t whole = first + (end - first) / GROUP_LANES * GROUP_LANES;
    const REAL *diagonal = a + group;

#if DOTS >= FOUR
    NAME(dot_t) dots[FOUR];
    NAME(clear_dots)(FOUR, dots);
    if (!upper)
        NAME(diagonal_dots)(at, upper, 0, FOUR, dots, diagonal, step, x + group, own);
    NAME(add_both)(dots, first, whole, end, a, step, s, y, x, y + whole, x + whole);
    if (upper)
        NAME(diagonal_dots)(at, upper, 0, FOUR, dots, diagonal, step, x + group, own);
    NAME(end_dots)(FOUR, dots, !second, sums);
#else
    NAME(columns)((end - first) / PARTS, FOUR, a + first, step / PARTS, s, y + first);
    VECTOR_UNROLL
    for (int k = 0; k < FOUR; k += DOTS) {
        NAME(dot_t) dots[DOTS];
        NAME(clear_dots)(DOTS, dots);
        if (!upper)
            NAME(diagonal_dots)(at, upper, k, DOTS, dots, diagonal, step, x + group, own);
        for (int64_t i = first; i < whole; i += GROUP_LANES)
            NAME(add_group)(DOTS, dots, a + k * step + i, step, x + i, GROUP_LANES, true);
        if (whole < end)
            NAME(add_group)(DOTS, dots, a + k * step + whole, step, x + whole, end - whole, false);
        if (upper)
            NAME(diagonal_dots)(at, upper, k, DOTS, dots, diagonal, step, x + group, own);
        NAME(end_dots)(DOTS, dots, !second, sums + k * PARTS);
    }
#endif
    NAME(diagonal_columns)(at, upper, second, diagonal, step, s, y + group, own);
}

/* Numbers that the compiler knows, for it unrolls. */
VECTOR_INLINE void NAME(symmetric_fours)(bool upper, bool second, int64_t n, const REAL *matrix,
                                         int64_t step, const REAL *s, const REAL *x, REAL *y,
                                         REAL *sums) {
    for (int64_t j = 0; j < n; j += FOUR) {
        const int64_t own = j * PARTS, group = own / GROUP_LANES * GROUP_LANES, reals = n * PARTS;
        const REAL *a = matrix + j * step;
        int64_t apart = step;
        NAME(block_t) copies[FOUR]; /* of the last columns, if they are no four */
        if (upper && n - j < FOUR) {
            for (int64_t k = 0; k < FOUR; k++) {
                memset(copies[k].at, 0, (size_t)(group + GROUP_LANES) * sizeof(REAL));
                NAME(lay)(NULL, k < n - j ? own + (k + 1) * PARTS : 0, a + k * step, copies[k].at);
            }
            a = copies[0].at, apart = JI_MATVEC_BLOCK * PARTS;
        }

#define FOUR_AT(at)                                                                                \
    NAME(symmetric_four)(at, upper, second, reals, group, a, apart, s + own, x, y, sums + own)
#define CASE(index)                                                                                \
    case index:                                                                                    \
        if ((index)*FOUR * PARTS < GROUP_LANES)                                                    \
            FOUR_AT((index)*FOUR *PARTS);                                                          \
        break;
        switch ((own - group) / (FOUR * PARTS)) {
            CASE(0)
            CASE(1)
            CASE(2)
            CASE(3)
        default: break;
        }
#undef CASE
#undef FOUR_AT
    }
}

static void NAME(symmetric)(int64_t n, ji_symmetry_t symmetry, bool upper, const void *alpha,
                            const void *matrix, int64_t lda, const void *vector, const void *beta,
                            void *to) {
    const int64_t step = lda * PARTS, reals = n * PARTS,
                  last = (reals - 1) / GROUP_LANES * GROUP_LANES;
    NAME(block_t) x, y, s, sums;
    NAME(lay)(NULL, reals, vector, x.at);
    NAME(lay)(beta, reals, to, y.at);
    for (int64_t i = 0; i < last + GROUP_LANES; i += LANES)
        V(store)(s.at + i, NAME(times)(alpha, V(load)(x.at + i)));
    memset(sums.at + last, 0, GROUP_LANES * sizeof(REAL));

    const bool is_skew = symmetry == JI_SKEW_SYMMETRIC,
               second = COMPLEX ? symmetry == JI_SYMMETRIC : is_skew;
    if (upper && second)
        NAME(symmetric_fours)(true, true, n, matrix, step, s.at, x.at, y.at, sums.at);
    else if (upper)
        NAME(symmetric_fours)(true, false, n, matrix, step, s.at, x.at, y.at, sums.at);
    else if (second)
        NAME(symmetric_fours)(false, true, n, matrix, step, s.at, x.at, y.at, sums.at);
    else
        NAME(symmetric_fours)(false, false, n, matrix, step, s.at, x.at, y.at, sums.at);

    const REAL *own = alpha, negated[2] = {-own[0], -own[COMPLEX]},
               *mirrored = is_skew ? negated : own;
    for (int64_t i = 0; i < reals; i += LANES)
        V(store)(y.at + i, NAME(plus)(V(load)(y.at + i), mirrored, V(load)(sums.at + i)));
    NAME(take)(reals, y.at, to);
}

/* In the other diagonal blocks of four columns there are a triangle of single elements, and beside
 * it, towards the block's first row or its last, a rectangle of columns and dots. */

/* a += x s of single elements. */
VECTOR_INLINE void NAME(update_one)(REAL *a, const REAL *x, const REAL *s) {
    for (int part = 0; part < PARTS; part++)
        a[part] = V(fma_one)(x[part], s[0], a[part]);
    if (COMPLEX) {
        a[0] = V(fma_one)(-x[COMPLEX], s[COMPLEX], a[0]);
        a[COMPLEX] = V(fma_one)(x[0], s[COMPLEX], a[COMPLEX]);
    }
}

/* The triangle of `count` columns. */
VECTOR_INLINE void NAME(update_some)(int count, ji_symmetry_t symmetry, bool upper, const REAL *x,
                                     const REAL *s, const REAL *y, const REAL *r, REAL *a,
                                     int64_t step) {
    VECTOR_UNROLL
    for (int j = 0; j < count; j++) {
        VECTOR_UNROLL
        for (int i = 0; i < count; i++) {
            REAL *own = a + i * PARTS + j * step;
            if ((upper ? i > j : i < j) || (i == j && symmetry == JI_SKEW_SYMMETRIC))
                continue;
            NAME(update_one)(own, x + i * PARTS, s + j * PARTS);
            if (y != NULL)
                NAME(update_one)(own, y + i * PARTS, r + j * PARTS);
            if (COMPLEX && i == j && symmetry == JI_HERMITIAN)
                own[COMPLEX] = 0;
        }
    }
}

static void NAME(update_four)(int count, ji_symmetry_t symmetry, bool upper, const REAL *x,
                              const REAL *s, const REAL *y, const REAL *r, REAL *a, int64_t step) {
    switch (count) {
    case 1: NAME(update_some)(1, symmetry, upper, x, s, y, r, a, step); break;
    case 2: NAME(update_some)(2, symmetry, upper, x, s, y, r, a, step); break;
    case 3: NAME(update_some)(3, symmetry, upper, x, s, y, r, a, step); break;
    default:
        if (upper)
            NAME(update_some)(FOUR, symmetry, true, x, s, y, r, a, step);
        else
            NAME(update_some)(FOUR, symmetry, false, x, s, y, r, a, step);
    }
}

static void NAME(update_triangle)(int64_t n, ji_symmetry_t symmetry, bool upper,
                                  const void *vector_x, const void *scalars_x, const void *vector_y,
                                  const void *scalars_y, void *matrix, int64_t lda) {
    const REAL *x = vector_x, *s = scalars_x, *y = vector_y, *r = scalars_y;
    REAL *a = matrix;
    const int64_t step = lda * PARTS;

    for (int64_t j = 0; j < n; j += FOUR) {
        const int64_t count = n - j < FOUR ? n - j : FOUR;
        const int64_t first = upper ? 0 : j + count, rows = upper ? j : n - first;
        const int64_t own = j * PARTS, other = first * PARTS;
        REAL *beside = a + other + j * step;

        if (y == NULL) {
            NAME(update_four)
            ((int)count, symmetry, upper, x + own, s + own, NULL, NULL, a + own + j * step, step);
            NAME(update)(rows, count, x + other, s + own, beside, lda);
        } else {
            NAME(update_four)
            ((int)count, symmetry, upper, x + own, s + own, y + own, r + own, a + own + j * step,
             step);
            NAME(update2)(rows, count, x + other, s + own, y + other, r + own, beside, lda);
        }
    }
}

/* Where the fours of a block of n begin, one after the other, from its beginning or its end. */
VECTOR_INLINE int64_t NAME(four_at)(int64_t n, int64_t index, bool forward) {
    return (forward ? index : (n - 1) / FOUR - index) * FOUR;
}

/* x = op(A) x. A sum begins with the element that stands on a unit diagonal. */
VECTOR_INLINE void NAME(multiply_some)(int count, bool upper, const ji_matvec_triangle_t *triangle,
                                       const REAL *a, int64_t step, REAL *x) {
    const int64_t to_row = triangle->transposed ? step : PARTS,
                  to_column = triangle->transposed ? PARTS : step;

    VECTOR_UNROLL
    for (int k = 0; k < count; k++) {
        const int i = upper ? k : count - 1 - k;
        REAL *own = x + i * PARTS, sum[PARTS] = {0};
        if (triangle->unit)
            for (int part = 0; part < PARTS; part++)
                sum[part] = own[part];
        VECTOR_UNROLL
        for (int j = 0; j < count; j++)
            if ((upper ? j > i : j < i) || (j == i && !triangle->unit))
                NAME(add_product)
        (sum, a + i * to_row + j * to_column, triangle->conjugated, x + j * PARTS);
        for (int part = 0; part < PARTS; part++)
            own[part] = sum[part];
    }
}

static void NAME(multiply_four)(int count, const ji_matvec_triangle_t *triangle, const REAL *a,
                                int64_t step, REAL *x) {
    const bool upper = triangle->upper != triangle->transposed; /* op(A) is */
    switch (count) {
    case 1: NAME(multiply_some)(1, upper, triangle, a, step, x); break;
    case 2: NAME(multiply_some)(2, upper, triangle, a, step, x); break;
    case 3: NAME(multiply_some)(3, upper, triangle, a, step, x); break;
    default:
        if (upper)
            NAME(multiply_some)(FOUR, true, triangle, a, step, x);
        else
            NAME(multiply_some)(FOUR, false, triangle, a, step, x);
    }
}

static void NAME(multiply)(int64_t n, const ji_matvec_triangle_t *triangle, const void *matrix,
                           int64_t lda, void *vector) {
    static const REAL one[2] = {1, 0};
    const REAL *a = matrix;
    REAL *x = vector, sums[FOUR * PARTS];
    const int64_t step = lda * PARTS, fours = (n + FOUR - 1) / FOUR;

    for (int64_t k = 0; k < fours; k++) {
        const int64_t j = NAME(four_at)(n, k, triangle->upper != triangle->transposed);
        const int64_t count = n - j < FOUR ? n - j : FOUR;
        const int64_t first = triangle->upper ? 0 : j + count,
                      rows = triangle->upper ? j : n - first;
        const REAL *beside = a + first * PARTS + j * step;

        if (!triangle->transposed)
            NAME(columns)(rows, count, beside, lda, x + j * PARTS, x + first * PARTS);
        NAME(multiply_four)((int)count, triangle, a + j * PARTS + j * step, step, x + j * PARTS);
        if (triangle->transposed && rows > 0) {
            NAME(dots)(rows, count, triangle->conjugated, beside, lda, x + first * PARTS, sums);
            NAME(add)(count, one, sums, x + j * PARTS, 1);
        }
    }
}

/* x = op(A)^-1 x. What was found last is used last: its division takes long. */
VECTOR_INLINE void NAME(solve_some)(int count, bool upper, const ji_matvec_triangle_t *triangle,
                                    const REAL *a, int64_t step, REAL *x) {
    const int64_t to_row = triangle->transposed ? step : PARTS,
                  to_column = triangle->transposed ? PARTS : step;

    VECTOR_UNROLL
    for (int k = 0; k < count; k++) {
        const int i = upper ? count - 1 - k : k;
        REAL *own = x + i * PARTS;
        VECTOR_UNROLL
        for (int l = 0; l < k; l++) {
            const int j = upper ? count - 1 - l : l;
            REAL found[PARTS];
            for (int part = 0; part < PARTS; part++)
                found[part] = -x[j * PARTS + part];
            NAME(add_product)(own, a + i * to_row + j * to_column, triangle->conjugated, found);
        }
        if (!triangle->unit)
            NAME(divide)(own, a + i * to_row + i * to_column, triangle->conjugated);
    }
}

static void NAME(solve_four)(int count, const ji_matvec_triangle_t *triangle, const REAL *a,
                             int64_t step, REAL *x) {
    const bool upper = triangle->upper != triangle->transposed; /* op(A) is */
    switch (count) {
    case 1: NAME(solve_some)(1, upper, triangle, a, step, x); break;
    case 2: NAME(solve_some)(2, upper, triangle, a, step, x); break;
    case 3: NAME(solve_some)(3, upper, triangle, a, step, x); break;
    default:
        if (upper)
            NAME(solve_some)(FOUR, true, triangle, a, step, x);
        else
            NAME(solve_some)(FOUR, false, triangle, a, step, x);
    }
}

static void NAME(solve)(int64_t n, const ji_matvec_triangle_t *triangle, const void *matrix,
                        int64_t lda, void *vector) {
    static const REAL minus_one[2] = {-1, 0};
    const REAL *a = matrix;
    REAL *x = vector, sums[FOUR * PARTS];
    const int64_t step = lda * PARTS, fours = (n + FOUR - 1) / FOUR;

    for (int64_t k = 0; k < fours; k++) {
        const int64_t j = NAME(four_at)(n, k, triangle->upper == triangle->transposed);
        const int64_t count = n - j < FOUR ? n - j : FOUR;
        const int64_t first = triangle->upper ? 0 : j + count,
                      rows = triangle->upper ? j : n - first;
        const REAL *beside = a + first * PARTS + j * step;

        if (triangle->transposed && rows > 0) {
            NAME(dots)(rows, count, triangle->conjugated, beside, lda, x + first * PARTS, sums);
            NAME(add)(count, minus_one, sums, x + j * PARTS, 1);
        }
        NAME(solve_four)((int)count, triangle, a + j * PARTS + j * step, step, x + j * PARTS);
        if (!triangle->transposed) {
            for (int64_t part = 0; part < count * PARTS; part++)
                sums[part] = -x[j * PARTS + part];
            NAME(columns)(rows, count, beside, lda, sums, x + first * PARTS);
        }
    }
}
