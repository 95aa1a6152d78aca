/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The reflectors of long columns, all at once: A is read twice and written once, however many
 * columns there are.
 *
 * G = A^H A = R^H R, and Q = A inv(R) has orthonormal columns. Those of the Householder Q are the
 * same but for signs S, and I - V T V1^H, of which its square Q1 alone says all (Ballard, Demmel,
 * Grigori, Jacquelin, Knight and Nguyen 2014):
 *
 *     Q1 - S = V1 U       by elimination, with signs that make each pivot larger than 1
 *     V2 = A2 inv(U R)    R becomes S R; tau from the diagonal of U
 *
 * What rounding does to G comes back in V enlarged by inv(R), so columns are taken as long as the
 * inverse is small, where each column of A has the norm 1; for what comes behind them, products are
 * found anew once these are applied. Each tau is such that its reflector, with the v that was
 * stored, is unitary, whatever was lost: then no orthogonality depends on G. */

#include <math.h>

#include "lapack/host/gram.h"
#include "lapack/host/reflector.h"

#define GRAM_LEAST 4            /* columns that are worth it */
#define GRAM_PIECE_BYTES 131072 /* of A, that lie in the second cache together */
#define GRAM_ROWS 256           /* that are summed before the rest */
/* The sum of the sizes in a column of the inverse: by what an error may be enlarged. */
#define GRAM_INVERSE_MOST 8.0
/* Of a column of Q, what may lie in its first element, squared: a reflector has something to do. */
#define GRAM_HEAD_MOST 0.5

#define GRAM_SQUARE_BYTES (JI_GRAM_MOST * JI_GRAM_MOST * sizeof(jcomplex_f64_t))

typedef struct gram {
    ji_matmat_t call; /* of upper triangles */
    jdatatype_t type;
    void *a;
    int64_t lda, rows, count;
    double norm[JI_GRAM_MOST]; /* of the columns */
    double sign[JI_GRAM_MOST];
    ji_number_t tau[JI_GRAM_MOST];
    /* Squares of that order: R and its inverse, of columns of norm 1; Q1, then V1 and U. */
    _Alignas(64) char r[GRAM_SQUARE_BYTES], inverse[GRAM_SQUARE_BYTES], square[GRAM_SQUARE_BYTES];
    /* Of products, side by side, and what was lost of them. */
    double sums[2 * JI_GRAM_MOST * JI_GRAM_MOST], lost[2 * JI_GRAM_MOST * JI_GRAM_MOST];
} gram_t;

static void *gram_at(const gram_t *g, const void *square, int64_t i, int64_t j) {
    return ji_at(g->type, square, i, j, JI_GRAM_MOST);
}
static void *gram_row(const gram_t *g, int64_t i) { return ji_at(g->type, g->a, i, 0, 0); }
static int64_t gram_piece(const gram_t *g) {
    return ji_max(64, GRAM_PIECE_BYTES / (int64_t)ji_sizeof(g->type) / g->count / 64 * 64);
}
static double gram_size(ji_number_t x) { return hypot(x.re, x.im); }

/* ---- Sums of products ---- */

/* x += y, and what rounding took from it to `lost` (Knuth's sum of two). */
#define GRAM_SUM(name, real)                                                                       \
    static void name(int64_t n, const real *y, double *x, double *lost) {                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double old = x[i], more = (double)y[i], sum = old + more, taken = sum - old;     \
            lost[i] += (old - (sum - taken)) + (more - taken);                                     \
            x[i] = sum;                                                                            \
        }                                                                                          \
    }
GRAM_SUM(gram_sum_4, float)
GRAM_SUM(gram_sum_8, double)

static void gram_clear(gram_t *g) {
    memset(g->sums, 0, sizeof g->sums);
    memset(g->lost, 0, sizeof g->lost);
}

/* Products of rows of columns [first, first + m) with those from `first` on. */
static void gram_multiply(const gram_t *g, int64_t rows, const void *from, int64_t first, int64_t m,
                          void *products) {
    const void *const own = ji_at(g->type, from, 0, first, g->lda);
    ji_factor_multiply(&g->call, JBLAS_CONJUGATE_TRANSPOSE, JBLAS_NO_TRANSPOSE, m, g->count - first,
                       rows, 1, own, g->lda, own, g->lda, 0,
                       ji_at(g->type, products, first, first, g->count), g->count);
}

/* The upper triangle, and more, of the columns' products with each other, of a few rows at a time:
 * long sums would lose what the norms of one column after the other do not. */
static void gram_add(gram_t *g, int64_t rows, const void *from) {
    _Alignas(64) char products[GRAM_SQUARE_BYTES];
    const int64_t count = g->count, reals = count * (ji_is_complex(g->type) ? 2 : 1),
                  half = (count / 2 + 7) / 8 * 8;
    memset(products, 0, (size_t)(count * count) * ji_sizeof(g->type));
    for (int64_t i = 0; i < rows; i += GRAM_ROWS) {
        const void *const some = ji_at(g->type, from, i, 0, 0);
        const int64_t few = ji_min(GRAM_ROWS, rows - i);
        gram_multiply(g, few, some, 0, ji_min(half, count), products);
        if (half < count)
            gram_multiply(g, few, some, half, count - half, products);
        if (ji_real_of(g->type) == JDATATYPE_F32)
            gram_sum_4(reals * count, (const float *)(const void *)products, g->sums, g->lost);
        else
            gram_sum_8(reals * count, (const double *)(const void *)products, g->sums, g->lost);
    }
}

static void gram_take_sums(const gram_t *g, void *square, int64_t ld) {
    const int64_t parts = ji_is_complex(g->type) ? 2 : 1;
    for (int64_t j = 0; j < g->count; j++)
        for (int64_t i = 0; i < g->count; i++) {
            const int64_t at = (i + j * g->count) * parts, im = at + parts - 1;
            ji_number_store(g->type, ji_at(g->type, square, i, j, ld), g->sums[at] + g->lost[at],
                            g->sums[im] + g->lost[im]);
        }
}

/* ---- R and its inverse ---- */

/* G, and the norms that are neither so small nor so large that products are lost. */
static void gram_find(gram_t *g) {
    const bool is_float = ji_real_of(g->type) == JDATATYPE_F32;
    const double least = is_float ? 0x1p-80 : 0x1p-900, most = is_float ? 0x1p+100 : 0x1p+1000;
    gram_clear(g);
    gram_add(g, g->rows, g->a);
    gram_take_sums(g, g->r, JI_GRAM_MOST);

    for (int64_t j = 0; j < g->count; j++) {
        const double square = ji_real_at(g->type, gram_at(g, g->r, j, j), 0);
        if (!(square >= least && square <= most)) {
            g->count = j;
            return;
        }
        g->norm[j] = sqrt(square);
    }
}

/* G = R^H R of columns of norm 1, and R's inverse; as many as it is small for. */
static void gram_factor(gram_t *g) {
    for (int64_t j = 0; j < g->count; j++)
        for (int64_t i = 0; i < g->count; i++) {
            void *const own = gram_at(g, g->r, i, j);
            const ji_number_t x = ji_number_load(g->type, own);
            const double by = i <= j ? 1 / g->norm[i] / g->norm[j] : 0;
            ji_number_store(g->type, own, x.re * by, x.im * by);
        }

    int64_t info = 0;
    ji_matmat_t factor = g->call;
    factor.n = g->count, factor.a = g->r, factor.lda = JI_GRAM_MOST, factor.info = &info;
    ji_host_primitives[JI_POTRF](&factor);
    if (info != 0) {
        g->count = 0;
        return;
    }
    memcpy(g->inverse, g->r, sizeof g->r);
    factor.a = g->inverse;
    ji_host_primitives[JI_TRTRI](&factor);

    for (int64_t j = 0; j < g->count; j++) {
        double sum = 0;
        for (int64_t i = 0; i <= j; i++)
            sum += gram_size(ji_number_load(g->type, gram_at(g, g->inverse, i, j)));
        if (info != 0 || !(sum <= GRAM_INVERSE_MOST)) {
            g->count = j;
            return;
        }
    }
}

/* ---- V1 and U ---- */

/* Q1 = A1 inv(R). */
static void gram_make_square(gram_t *g) {
    for (int64_t j = 0; j < g->count; j++) {
        void *const own = gram_at(g, g->square, 0, j);
        memcpy(own, ji_at(g->type, g->a, 0, j, g->lda), (size_t)g->count * ji_sizeof(g->type));
        ji_reflector_scale(g->type, g->count, 1 / g->norm[j], 0, own, 1);
    }
    ji_matmat_t product = g->call;
    product.lda = JI_GRAM_MOST;
    ji_factor_triangle(JI_TRMM, &product, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, g->inverse, g->square,
                       JI_GRAM_MOST, g->count, g->count);
}

/* Q1 - S = V1 U in its place, and taus of an exact G. */
static void gram_eliminate(gram_t *g) {
    const ji_matvec_kernels_t *const kernels = ji_kernels->matvec[g->type];
    const ji_scalar_t minus_one = ji_constant(g->type, -1);
    _Alignas(64) char row[JI_GRAM_MOST * sizeof(jcomplex_f64_t)];

    for (int64_t i = 0; i < g->count; i++) {
        void *const own = gram_at(g, g->square, i, i);
        ji_number_t pivot = ji_number_load(g->type, own);
        if (!(pivot.re * pivot.re + pivot.im * pivot.im <= GRAM_HEAD_MOST)) {
            g->count = i;
            return;
        }
        g->sign[i] = -copysign(1, pivot.re);
        pivot.re -= g->sign[i];
        ji_number_store(g->type, own, pivot.re, pivot.im);
        g->tau[i] = (ji_number_t){-pivot.re * g->sign[i], -pivot.im * g->sign[i]};

        const int64_t rest = g->count - i - 1;
        const double square = pivot.re * pivot.re + pivot.im * pivot.im;
        void *const below = gram_at(g, g->square, i + 1, i);
        ji_reflector_scale(g->type, rest, pivot.re / square, -pivot.im / square, below, 1);
        kernels->scale(rest, &minus_one.value, gram_at(g, g->square, i, i + 1), JI_GRAM_MOST, false,
                       row);
        kernels->update(rest, rest, below, row, gram_at(g, g->square, i + 1, i + 1), JI_GRAM_MOST);
    }
}

/* ---- What is stored ---- */

/* V2 = A2 inv(U R), and products of it. */
static void gram_make_below(gram_t *g, void *products, int64_t ld) {
    const int64_t count = g->count, piece = gram_piece(g);
    ji_matmat_t triangle = g->call;
    triangle.lda = JI_GRAM_MOST;
    for (int64_t i = 0; i < count; i++)
        ji_reflector_scale(g->type, count - i, 1 / g->norm[i], 0, gram_at(g, g->inverse, i, i),
                           JI_GRAM_MOST);
    ji_factor_triangle(JI_TRSM, &triangle, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, g->square,
                       g->inverse, JI_GRAM_MOST, count, count);

    gram_clear(g);
    for (int64_t i = count; i < g->rows; i += piece) {
        const int64_t rows = ji_min(piece, g->rows - i);
        ji_factor_triangle(JI_TRMM, &triangle, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, g->inverse,
                           gram_row(g, i), g->lda, rows, count);
        gram_add(g, rows, gram_row(g, i));
    }
    gram_take_sums(g, products, ld);
}

/* V1, R, and taus of the reflectors that there are. */
static void gram_store(const gram_t *g, void *tau, const void *products, int64_t ld) {
    for (int64_t j = 0; j < g->count; j++) {
        double square = 1 + ji_real_at(g->type, ji_at(g->type, products, j, j, ld), 0);
        for (int64_t i = 0; i < g->count; i++) {
            const void *const from = gram_at(g, i > j ? g->square : g->r, i, j);
            const ji_number_t x = ji_number_load(g->type, from);
            const double by = i > j ? 1 : g->sign[i] * g->norm[j];
            square += i > j ? x.re * x.re + x.im * x.im : 0;
            ji_number_store(g->type, ji_at(g->type, g->a, i, j, g->lda), x.re * by, x.im * by);
        }
        const ji_number_t own = g->tau[j];
        const double by = 2 * own.re / ((own.re * own.re + own.im * own.im) * square);
        ji_number_store(g->type, ji_at(g->type, tau, j, 0, 0), own.re * by, own.im * by);
    }
}

int64_t ji_gram_reflect(const ji_matmat_t *call, void *a, int64_t lda, int64_t rows, int64_t count,
                        void *tau, void *products, int64_t ld_products) {
    gram_t g = {.call = {.head = call->head, .uplo = JBLAS_UPPER, .diag = JBLAS_NON_UNIT},
                .type = call->head.type,
                .a = a,
                .lda = lda,
                .rows = rows,
                .count = ji_min(count, JI_GRAM_MOST)};
    g.call.head.threads.count = 1; /* pieces are small */
    if (g.count < GRAM_LEAST)
        return 0;
    gram_find(&g);
    gram_factor(&g);
    if (g.count < GRAM_LEAST)
        return 0;
    gram_make_square(&g);
    gram_eliminate(&g);
    if (g.count < GRAM_LEAST)
        return 0;
    gram_make_below(&g, products, ld_products);
    gram_store(&g, tau, products, ld_products);
    return g.count;
}
