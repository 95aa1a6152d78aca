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

/* ---- Products that read nothing ---- */

static void scale_whole(const ji_matmat_t *args, const ji_scalar_t *scalar, const void *matrix,
                        int64_t ld) {
    ji_matmat_t scale = {
        .head = args->head, .m = args->m, .n = args->n, .alpha = *scalar, .b = matrix, .ldb = ld};

    ji_host_scale_matrix(&scale);
}

void ji_host_scale_result(const ji_matmat_t *args) {
    scale_whole(args, &args->beta, args->c, args->ldc);
}

bool ji_host_symm_is_scaling(const ji_matmat_t *args) {
    if (!host_is_zero(args->head.type, &args->alpha))
        return false;

    ji_host_scale_result(args);
    return true;
}

bool ji_host_syrk_is_scaling(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    if (args->k != 0 && !host_is_zero(type, &args->alpha))
        return false;

    ji_host_scale_triangle(&args->head, type, &args->beta, args->uplo, args->n, args->c, args->ldc);
    return true;
}

bool ji_host_trmm_is_scaling(const ji_matmat_t *args) {
    if (!host_is_zero(args->head.type, &args->alpha))
        return false;

    scale_whole(args, &args->alpha, args->b, args->ldb);
    return true;
}

/* BLIS and MKL multiply the imaginary parts of the diagonal by beta, as a part of a complex number,
 * so a NaN there would reach the real part. */
void ji_host_clear_diagonal(const ji_matmat_t *args) {
    const jdatatype_t real = ji_real_of(args->head.type);

    for (int64_t j = 0; j < args->n; j++)
        memset(ji_at(real, ji_at(args->head.type, args->c, j, j, args->ldc), 1, 0, 0), 0,
               ji_sizeof(real));
}

bool ji_host_herk_is_scaling(const ji_matmat_t *args, jdatatype_t alpha_type) {
    const jdatatype_t real = ji_real_of(args->head.type);
    const bool reads = args->k != 0 && !host_is_zero(alpha_type, &args->alpha);

    if (!reads && host_is(real, &args->beta, 1)) /* as in BLAS: nothing is touched */
        return true;

    ji_host_clear_diagonal(args);
    if (reads)
        return false;
    ji_host_scale_triangle(&args->head, real, &args->beta, args->uplo, args->n, args->c, args->ldc);
    ji_host_clear_diagonal(args); /* 0 times a beta that is not finite is NaN */
    return true;
}
