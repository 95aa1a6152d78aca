/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices that are scaled and added: what no CBLAS has. The loops are those of matrix_kernel.h,
 * once for each type. Transposed operands are read in tiles, so that both sides of a transposition
 * stay in cache. */

#include "blas/host/host.h"
#include "blas/host/scale.h"

#define MATRIX_TILE 32

#define REAL float
#define COMPLEX 0
#define NAME(function) function##_s
#include "blas/host/matrix_kernel.h"
#define REAL double
#define COMPLEX 0
#define NAME(function) function##_d
#include "blas/host/matrix_kernel.h"
#define REAL float
#define COMPLEX 1
#define NAME(function) function##_c
#include "blas/host/matrix_kernel.h"
#define REAL double
#define COMPLEX 1
#define NAME(function) function##_z
#include "blas/host/matrix_kernel.h"

void ji_host_geam(void *block) {
    const ji_matmat_t *args = block;
#define CALL(t, value) geam_##t(args)
    HOST_BY_TYPE(args->head.type, CALL)
#undef CALL
}

void ji_host_scale_vector(const ji_head_t *head, jdatatype_t scalar_type, const ji_scalar_t *scalar,
                          int64_t n, void *x, int64_t increment) {
    const int64_t step = ji_abs(increment); /* x is the lowest address, as in BLAS */
    ji_vector_t vector = {.head = *head, .n = n, .alpha = *scalar, .x = x, .incx = step};

    if (host_is(scalar_type, scalar, 1))
        return;

    if (!host_is_zero(scalar_type, scalar))
        ji_host_run(scalar_type == head->type ? JI_SCAL : JI_RSCAL, &vector);
    else if (step == 1)
        memset(x, 0, (size_t)n * ji_sizeof(head->type));
    else
        for (int64_t i = 0; i < n; i++)
            memset(ji_at(head->type, x, 0, i, step), 0, ji_sizeof(head->type));
}

void ji_host_scale_triangle(const ji_head_t *head, jdatatype_t scalar_type,
                            const ji_scalar_t *scalar, jblas_uplo_t uplo, int64_t n, void *a,
                            int64_t lda) {
    for (int64_t j = 0; j < n; j++) {
        const int64_t first = uplo == JBLAS_LOWER ? j : 0,
                      count = uplo == JBLAS_LOWER ? n - j : j + 1;
        ji_host_scale_vector(head, scalar_type, scalar, count, ji_at(head->type, a, first, j, lda),
                             1);
    }
}

void ji_host_scale_matrix(void *block) {
    const ji_matmat_t *args = block;
    for (int64_t j = 0; j < args->n; j++)
        ji_host_scale_vector(&args->head, args->head.type, &args->alpha, args->m,
                             ji_at(args->head.type, args->b, 0, j, args->ldb), 1);
}
