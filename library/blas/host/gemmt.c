/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemmt on the host, where a CBLAS may not have it: by halves. The rectangle between two halves is
 * a product of the CBLAS's, and only the last squares are computed whole, on the stack, for the
 * triangle that is taken of them:
 *
 *     +---+
 *     |\  |               n = 4 tiles: one product of 2 x 2 tiles, two of one tile, four squares.
 *     +---+---+           Of a triangle of order n all squares together are TILE / n of the work.
 *     | 1 |\  |
 *     +---+---+---+---+
 *     |   2   |\  |
 *     |       +---+---+
 *     |       | 1 |\  |
 *     +-------+---+---+ */

#include "blas/host/host.h"
#include "blas/host/scale.h"

#define TILE 32

/* The product's rows [i, i + m) and columns [j, j + n). */
static ji_matmat_t gemmt_part(const ji_matmat_t *args, int64_t i, int64_t m, int64_t j, int64_t n) {
    const jdatatype_t type = args->head.type;
    ji_matmat_t part = *args;
    part.m = m, part.n = n;

    part.a = args->transa == JBLAS_NO_TRANSPOSE ? ji_at(type, args->a, i, 0, args->lda)
                                                : ji_at(type, args->a, 0, i, args->lda);
    part.b = args->transb == JBLAS_NO_TRANSPOSE ? ji_at(type, args->b, 0, j, args->ldb)
                                                : ji_at(type, args->b, j, 0, args->ldb);
    part.c = ji_at(type, args->c, i, j, args->ldc);

    return part;
}

/* The square of order `n` on the diagonal. Column by column, its triangle is added to C. */
static void gemmt_square(const ji_matmat_t *args, int64_t first, int64_t n) {
    const jdatatype_t type = args->head.type;
    const bool lower = args->uplo == JBLAS_LOWER;
    _Alignas(64) unsigned char square[TILE * TILE * sizeof(ji_value_t)];

    ji_matmat_t product = gemmt_part(args, first, n, first, n);
    ji_matmat_t column = {.head = args->head,
                          .transa = JBLAS_NO_TRANSPOSE,
                          .transb = JBLAS_NO_TRANSPOSE,
                          .n = 1,
                          .alpha = ji_constant(type, 1),
                          .lda = n,
                          .beta = args->beta,
                          .ldb = args->ldc,
                          .ldc = args->ldc};

    void *const c = product.c;
    product.c = square, product.ldc = n;
    product.beta = ji_constant(type, 0);

    ji_host_run(JI_GEMM, &product);

    for (int64_t j = 0; j < n; ++j) {
        const int64_t top = lower ? j : 0;
        column.m = lower ? n - j : j + 1;
        column.a = ji_at(type, square, top, j, n);
        column.b = column.c = ji_at(type, c, top, j, args->ldc);
        ji_host_geam(&column);
    }
}

static void gemmt_halves(const ji_matmat_t *args, int64_t first, int64_t n) {
    if (n <= TILE) {
        gemmt_square(args, first, n);
        return;
    }

    const int64_t half = (n / 2 + TILE - 1) / TILE * TILE, rest = n - half, second = first + half;
    ji_matmat_t rectangle = args->uplo == JBLAS_LOWER ? gemmt_part(args, second, rest, first, half)
                                                      : gemmt_part(args, first, half, second, rest);

    gemmt_halves(args, first, half);
    ji_host_run(JI_GEMM, &rectangle);
    gemmt_halves(args, second, rest);
}

void ji_host_gemmt(void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t type = args->head.type;

    if (args->k == 0 || host_is_zero(type, &args->alpha))
        ji_host_scale_triangle(&args->head, type, &args->beta, args->uplo, args->n, args->c,
                               args->ldc);
    else
        gemmt_halves(args, 0, args->n);
}
