/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What level 2 of the host computes, bit for bit, as scalar loops.
 * Included once for each element type, without an include guard.
 *
 *   REAL, PARTS   float or double; 1, or 2 for complex numbers
 *   FMA(a, b, c)  a b + c, rounded once if `fused`, else twice
 *   NAME(f)       gives the functions their own names
 *
 * Vectors are contiguous here, matrices have the leading dimension of the block, and `panel` is the
 * library's for the type. */

/* ---- Scalars ---- */

/* z = alpha x. An imaginary part of 0 is left out of alpha. */
static void NAME(scaled)(const REAL *alpha, const REAL *x, bool conjugate, REAL *z) {
    const REAL re = x[0], im = conjugate ? -x[PARTS - 1] : x[PARTS - 1];
    z[0] = alpha[0] * re;
    if (PARTS == 1)
        return;
    z[PARTS - 1] = alpha[0] * im;
    if (alpha[PARTS - 1] != 0) {
        z[0] = FMA(-alpha[PARTS - 1], im, z[0]);
        z[PARTS - 1] = FMA(alpha[PARTS - 1], re, z[PARTS - 1]);
    }
}

/* y += alpha x, likewise. */
static void NAME(add_scaled)(const REAL *alpha, const REAL *x, REAL *y) {
    for (int part = 0; part < PARTS; part++)
        y[part] = FMA(alpha[0], x[part], y[part]);
    if (PARTS == 2 && alpha[PARTS - 1] != 0) {
        y[0] = FMA(-alpha[PARTS - 1], x[PARTS - 1], y[0]);
        y[PARTS - 1] = FMA(alpha[PARTS - 1], x[0], y[PARTS - 1]);
    }
}

/* y = beta y. */
static void NAME(scaled_by_beta)(const REAL *beta, REAL *y) {
    const REAL before[2] = {y[0], y[PARTS - 1]};
    if (beta[0] == 0 && beta[PARTS - 1] == 0)
        memset(y, 0, PARTS * sizeof *y);
    else if (beta[0] != 1 || (PARTS == 2 && beta[PARTS - 1] != 0))
        NAME(scaled)(beta, before, false, y);
}

/* sum += a x. */
static void NAME(add_product)(REAL *sum, const REAL *a, const REAL *x) {
    sum[0] = FMA(a[0], x[0], sum[0]);
    if (PARTS == 2) {
        sum[0] = FMA(-a[PARTS - 1], x[PARTS - 1], sum[0]);
        sum[PARTS - 1] = FMA(a[0], x[PARTS - 1], sum[PARTS - 1]);
        sum[PARTS - 1] = FMA(a[PARTS - 1], x[0], sum[PARTS - 1]);
    }
}

/* ---- The two sums of level 2 ---- */

/* y += a(0) s(0) + ... of at most four columns; a(j) is at a + j step. A real number on a Hermitian
 * diagonal, that of column `diagonal`, has no imaginary part to multiply with. */
static void NAME(add_four)(REAL *y, int64_t count, const REAL *a, int64_t step, const REAL *s,
                           int64_t diagonal) {
    REAL by_real[2] = {0, 0}, by_imaginary[2] = {0, 0};
    for (int64_t j = 0; j < count; j++)
        for (int part = 0; part < (j == diagonal ? 1 : PARTS); part++) {
            by_real[part] = FMA(a[j * step + part], s[j * PARTS], by_real[part]);
            by_imaginary[part] =
                FMA(a[j * step + part], s[j * PARTS + PARTS - 1], by_imaginary[part]);
        }
    for (int part = 0; part < PARTS; part++)
        y[part] += by_real[part];
    if (PARTS == 2) {
        y[0] -= by_imaginary[1];
        y[PARTS - 1] += by_imaginary[0];
    }
}

/* sum = a(0) x(0) + ... + a(m - 1) x(m - 1), in as many lanes as 64 bytes hold elements. The last
 * round is filled up with zeros. */
static void NAME(dot)(int64_t m, bool conjugate, const REAL *a, const REAL *x, REAL *sum) {
    enum { LANES = 64 / sizeof(REAL) / PARTS };
    REAL lane[LANES][2][2] = {{{0, 0}, {0, 0}}}; /* by the parts of a and of x */
    for (int64_t i = 0; i < (m + LANES - 1) / LANES * LANES; i++)
        for (int p = 0; p < PARTS; p++)
            for (int q = 0; q < PARTS; q++) {
                REAL *own = &lane[i % LANES][p][q];
                *own = FMA(i < m ? a[i * PARTS + p] : 0, i < m ? x[i * PARTS + q] : 0, *own);
            }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            for (int p = 0; p < PARTS; p++)
                for (int q = 0; q < PARTS; q++)
                    lane[i][p][q] += lane[i + half][p][q];
    sum[0] = lane[0][0][0];
    if (PARTS == 2) {
        sum[0] = conjugate ? lane[0][0][0] + lane[0][1][1] : lane[0][0][0] - lane[0][1][1];
        sum[PARTS - 1] = conjugate ? lane[0][0][1] - lane[0][1][0] : lane[0][0][1] + lane[0][1][0];
    }
}

/* ---- Rectangles: rows [row, row_end), columns [column, column_end) ---- */

#define A(i, j) (a + ((i) + (j)*lda) * PARTS)

/* y[rows] += alpha A x[columns]: alpha x first, columns in fours. */
static void NAME(add_columns)(int64_t row, int64_t row_end, int64_t column, int64_t column_end,
                              const REAL *alpha, const REAL *a, int64_t lda, const REAL *x,
                              REAL *y) {
    for (int64_t j = column; j < column_end; j += 4) {
        const int64_t count = column_end - j < 4 ? column_end - j : 4;
        REAL s[8];
        for (int64_t k = 0; k < count; k++)
            NAME(scaled)(alpha, x + (j + k) * PARTS, false, s + k * PARTS);
        for (int64_t i = row; i < row_end; i++)
            NAME(add_four)(y + i * PARTS, count, A(i, j), lda * PARTS, s, -1);
    }
}

/* y[columns] += alpha A^T x[rows], or A^H: a dot for each panel of rows. */
static void NAME(add_dots)(int64_t row, int64_t row_end, int64_t column, int64_t column_end,
                           bool conjugate, const REAL *alpha, const REAL *a, int64_t lda,
                           const REAL *x, REAL *y, int64_t panel) {
    for (int64_t j = column; j < column_end; j++)
        for (int64_t i = row, end; i < row_end; i = end) {
            REAL sum[2];
            end = (i / panel + 1) * panel < row_end ? (i / panel + 1) * panel : row_end;
            NAME(dot)(end - i, conjugate, A(i, j), x + i * PARTS, sum);
            NAME(add_scaled)(alpha, sum, y + j * PARTS);
        }
}

/* ---- Routines ---- */

static void NAME(gemv)(const ji_matvec_t *v, const REAL *x, REAL *y, int64_t panel) {
    const REAL *alpha = ji_scalar_data(&v->alpha), *beta = ji_scalar_data(&v->beta), *a = v->a;
    const bool flat = v->trans == JBLAS_NO_TRANSPOSE;

    for (int64_t i = 0; i < (flat ? v->m : v->n); i++)
        NAME(scaled_by_beta)(beta, y + i * PARTS);
    if (alpha[0] == 0 && alpha[PARTS - 1] == 0)
        return;
    if (flat)
        NAME(add_columns)(0, v->m, 0, v->n, alpha, a, v->lda, x, y);
    else
        NAME(add_dots)
    (0, v->m, 0, v->n, v->trans == JBLAS_CONJUGATE_TRANSPOSE, alpha, a, v->lda, x, y, panel);
}

/* The block [block, end) on the diagonal: its columns in fours, then a dot of each column for the
 * mirror image, without the diagonal. Lanes are counted from the block's first row. */
static void NAME(symmetric_block)(int64_t block, int64_t end, ji_symmetry_t symmetry, bool upper,
                                  const REAL *alpha, const REAL *mirrored, const REAL *a,
                                  int64_t lda, const REAL *x, REAL *y) {
    const bool skew = symmetry == JI_SKEW_SYMMETRIC, hermitian = symmetry == JI_HERMITIAN;
    for (int64_t j = block; j < end; j += 4)
        for (int64_t i = block; i < end; i++) {
            const int64_t four = end - j < 4 ? end : j + 4;
            const int64_t first = upper && i + skew > j ? i + skew : j,
                          last = !upper && i + 1 - skew < four ? i + 1 - skew : four;
            REAL s[8];
            for (int64_t k = first; k < last; k++)
                NAME(scaled)(alpha, x + k * PARTS, false, s + (k - first) * PARTS);
            if (first < last)
                NAME(add_four)
            (y + i * PARTS, last - first, A(i, first), lda * PARTS, s, hermitian ? i - first : -1);
        }

    for (int64_t j = block; j < end; j++) {
        REAL column[64 * PARTS] = {0}, sum[2];
        const int64_t first = upper ? block : j + 1, count = upper ? j - block : end - first;
        memcpy(column + (first - block) * PARTS, A(first, j), (size_t)count * PARTS * sizeof(REAL));
        NAME(dot)(end - block, hermitian, column, x + block * PARTS, sum);
        NAME(add_scaled)(mirrored, sum, y + j * PARTS);
    }
}

/* Blocks of 64 on the diagonal, and what is beside them, which an upper triangle has before. */
static void NAME(symv)(const ji_matvec_t *v, ji_symmetry_t symmetry, const REAL *x, REAL *y,
                       int64_t panel) {
    const REAL *alpha = ji_scalar_data(&v->alpha), *beta = ji_scalar_data(&v->beta), *a = v->a;
    const bool upper = v->uplo == JBLAS_UPPER, hermitian = symmetry == JI_HERMITIAN;
    const int64_t n = v->n, lda = v->lda;
    const REAL negated[2] = {-alpha[0], -alpha[PARTS - 1]},
               *mirrored = symmetry == JI_SKEW_SYMMETRIC ? negated : alpha;

    for (int64_t i = 0; i < n; i++)
        NAME(scaled_by_beta)(beta, y + i * PARTS);
    if (alpha[0] == 0 && alpha[PARTS - 1] == 0)
        return;
    for (int64_t block = 0; block < n; block += 64) {
        const int64_t end = n - block < 64 ? n : block + 64, row = upper ? 0 : end,
                      row_end = upper ? block : n;
        if (!upper)
            NAME(symmetric_block)
        (block, end, symmetry, upper, alpha, mirrored, a, lda, x, y);
        NAME(add_columns)(row, row_end, block, end, alpha, a, lda, x, y);
        NAME(add_dots)(row, row_end, block, end, hermitian, mirrored, a, lda, x, y, panel);
        if (upper)
            NAME(symmetric_block)
        (block, end, symmetry, upper, alpha, mirrored, a, lda, x, y);
    }
}

static void NAME(divided)(REAL *x, const REAL *a) {
    if (PARTS == 1) {
        x[0] /= a[0];
        return;
    }
    const bool is_wide =
        (a[0] < 0 ? -a[0] : a[0]) >= (a[PARTS - 1] < 0 ? -a[PARTS - 1] : a[PARTS - 1]);
    const REAL large = a[is_wide ? 0 : PARTS - 1], small = a[is_wide ? PARTS - 1 : 0];
    const REAL ratio = small / large, divisor = FMA(small, ratio, large);
    const REAL re = x[0], im = x[PARTS - 1];
    x[0] = (is_wide ? FMA(im, ratio, re) : FMA(re, ratio, im)) / divisor;
    x[PARTS - 1] = (is_wide ? FMA(-re, ratio, im) : FMA(im, ratio, -re)) / divisor;
}

/* The four at j, within its block: at most three others of them, and the diagonal. */
static void NAME(triangle_four)(const ji_matvec_t *v, bool solves, int64_t j, int64_t end,
                                REAL *x) {
    const REAL sign = solves ? -1 : 1, *a = v->a;
    const bool transposed = v->trans != JBLAS_NO_TRANSPOSE, unit = v->diag == JBLAS_UNIT,
               conjugate = v->trans == JBLAS_CONJUGATE_TRANSPOSE;
    const bool rises = (v->uplo == JBLAS_UPPER) != transposed, forward = rises != solves;
    const int64_t lda = v->lda;

    for (int64_t step = 0; step < end - j; step++) {
        const int64_t i = forward ? j + step : end - 1 - step;
        REAL sum[2] = {solves || unit ? x[i * PARTS] : 0,
                       solves || unit ? x[i * PARTS + PARTS - 1] : 0};
        /* A product adds by columns, a solution in the order in which elements are found. */
        for (int64_t l = 0; l < end - j; l++) {
            const int64_t k = solves && !forward ? end - 1 - l : j + l;
            const REAL *element = transposed ? A(k, i) : A(i, k);
            const REAL own[2] = {element[0], conjugate ? -element[PARTS - 1] : element[PARTS - 1]};
            const REAL other[2] = {sign * x[k * PARTS], sign * x[k * PARTS + PARTS - 1]};
            if (k == i ? !solves && !unit : rises ? k > i : k < i)
                NAME(add_product)(sum, own, other);
            if (k == i && solves && !unit)
                NAME(divided)(sum, own);
        }
        memcpy(x + i * PARTS, sum, PARTS * sizeof *x);
    }
}

/* trmv and trsv: blocks of 64, and fours in a block, in the order in which nothing is lost that is
 * still read. Whatever is beside a block or a four is columns of it, or dots. */
static void NAME(triangle)(const ji_matvec_t *v, bool solves, REAL *x, int64_t panel) {
    const REAL sign[2] = {solves ? -1 : 1, 0}, *a = v->a;
    const bool upper = v->uplo == JBLAS_UPPER, transposed = v->trans != JBLAS_NO_TRANSPOSE,
               conjugate = v->trans == JBLAS_CONJUGATE_TRANSPOSE;
    const bool forward = (upper != transposed) != solves;
    const int64_t n = v->n, lda = v->lda;

    for (int64_t index = 0; index < (n + 63) / 64; index++) {
        const int64_t block = 64 * (forward ? index : (n - 1) / 64 - index),
                      block_end = n - block < 64 ? n : block + 64,
                      fours = (block_end - block + 3) / 4;
        const int64_t far = upper ? 0 : block_end, far_end = upper ? block : n;

        if (transposed && solves)
            NAME(add_dots)(far, far_end, block, block_end, conjugate, sign, a, lda, x, x, panel);
        if (!transposed && !solves)
            NAME(add_columns)(far, far_end, block, block_end, sign, a, lda, x, x);

        for (int64_t four = 0; four < fours; four++) {
            const int64_t j = block + 4 * (forward ? four : fours - 1 - four),
                          end = block_end - j < 4 ? block_end : j + 4;
            const int64_t near = upper ? block : end, near_end = upper ? j : block_end;

            if (transposed && solves)
                NAME(add_dots)(near, near_end, j, end, conjugate, sign, a, lda, x, x, 64);
            if (!transposed && !solves)
                NAME(add_columns)(near, near_end, j, end, sign, a, lda, x, x);
            NAME(triangle_four)(v, solves, j, end, x);
            if (transposed && !solves)
                NAME(add_dots)(near, near_end, j, end, conjugate, sign, a, lda, x, x, 64);
            if (!transposed && solves)
                NAME(add_columns)(near, near_end, j, end, sign, a, lda, x, x);
        }

        if (transposed && !solves)
            NAME(add_dots)(far, far_end, block, block_end, conjugate, sign, a, lda, x, x, panel);
        if (!transposed && solves)
            NAME(add_columns)(far, far_end, block, block_end, sign, a, lda, x, x);
    }
}

/* a += x s. */
static void NAME(add_update)(const REAL *x, const REAL *s, REAL *a) {
    for (int part = 0; part < PARTS; part++)
        a[part] = FMA(x[part], s[0], a[part]);
    if (PARTS == 2) {
        a[0] = FMA(-x[PARTS - 1], s[PARTS - 1], a[0]);
        a[PARTS - 1] = FMA(x[0], s[PARTS - 1], a[PARTS - 1]);
    }
}

/* A whole A, or a triangle of one that has a symmetry. */
#define WHOLE ((ji_symmetry_t)-1)
/* ger, gerc; of a triangle syr, her and, if there is a y, syr2, her2, skewsyr2. */
static void NAME(update)(const ji_matvec_t *v, bool conjugate, ji_symmetry_t symmetry,
                         const REAL *x, const REAL *y) {
    const REAL *given = ji_scalar_data(&v->alpha);
    const bool triangle = symmetry != WHOLE, hermitian = symmetry == JI_HERMITIAN,
               skew = symmetry == JI_SKEW_SYMMETRIC;
    const bool is_real = hermitian && y == NULL; /* her's alpha */
    const REAL imaginary = is_real ? 0 : given[PARTS - 1],
               alpha[2] = {skew ? -given[0] : given[0], imaginary},
               other[2] = {given[0], hermitian ? -imaginary : imaginary};
    REAL *a = ji_unconst(v->a);
    const int64_t lda = v->lda, rows = triangle ? v->n : v->m;

    if (alpha[0] == 0 && (PARTS == 1 || alpha[1] == 0))
        return;
    for (int64_t j = 0; j < v->n; j++)
        for (int64_t i = 0; i < rows; i++) {
            REAL s[2];
            if (triangle && (v->uplo == JBLAS_UPPER ? i + skew > j : i < j + skew))
                continue;
            NAME(scaled)(alpha, (y ? y : x) + j * PARTS, conjugate, s);
            NAME(add_update)(x + i * PARTS, s, A(i, j));
            if (triangle && y) {
                NAME(scaled)(other, x + j * PARTS, conjugate, s);
                NAME(add_update)(y + i * PARTS, s, A(i, j));
            }
            if (hermitian && i == j && PARTS == 2)
                A(i, j)[PARTS - 1] = 0;
        }
}

/* conj(A), to be freed. */
static REAL *NAME(conjugated)(const ji_matvec_t *v) {
    const int64_t elements = v->lda * v->n;
    REAL *copy = calloc((size_t)elements + 1, PARTS * sizeof *copy);
    if (copy == NULL)
        abort();
    memcpy(copy, v->a, (size_t)elements * PARTS * sizeof *copy);
    for (int64_t i = 0; PARTS == 2 && i < elements; i++)
        copy[i * PARTS + PARTS - 1] = -copy[i * PARTS + PARTS - 1];
    return copy;
}

/* The routine, on vectors x and y. */
static void NAME(matvec_defined)(ji_primitive_t primitive, const ji_matvec_t *v, void *x, void *y,
                                 int64_t panel) {
    if (v->trans == JBLAS_CONJUGATE) {
        ji_matvec_t plain = *v;
        REAL *a = NAME(conjugated)(v);
        plain.trans = JBLAS_NO_TRANSPOSE;
        plain.a = primitive == JI_GEMV || primitive == JI_TRMV || primitive == JI_TRSV ? a : v->a;
        NAME(matvec_defined)(primitive, &plain, x, y, panel);
        free(a);
        return;
    }

    switch ((int)primitive) {
    case JI_GEMV: NAME(gemv)(v, x, y, panel); break;
    case JI_SYMV: NAME(symv)(v, JI_HERMITIAN, x, y, panel); break;
    case JI_SYMV_COMPLEX: NAME(symv)(v, JI_SYMMETRIC, x, y, panel); break;
    case JI_SKEWSYMV: NAME(symv)(v, JI_SKEW_SYMMETRIC, x, y, panel); break;
    case JI_TRMV: NAME(triangle)(v, false, x, panel); break;
    case JI_TRSV: NAME(triangle)(v, true, x, panel); break;
    case JI_GER: NAME(update)(v, false, WHOLE, x, y); break;
    case JI_GERC: NAME(update)(v, true, WHOLE, x, y); break;
    case JI_SYR: NAME(update)(v, PARTS == 2, JI_HERMITIAN, x, NULL); break;
    case JI_SYR_COMPLEX: NAME(update)(v, false, JI_SYMMETRIC, x, NULL); break;
    case JI_SYR2_COMPLEX: NAME(update)(v, false, JI_SYMMETRIC, x, y); break;
    case JI_SKEWSYR2: NAME(update)(v, false, JI_SKEW_SYMMETRIC, x, y); break;
    default: NAME(update)(v, PARTS == 2, JI_HERMITIAN, x, y); break;
    }
}

#undef A
#undef WHOLE
#undef REAL
#undef PARTS
#undef FMA
#undef NAME
