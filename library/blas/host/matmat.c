/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 on the host: the CBLAS's own, unless alpha or k is 0 (scale.h). gemm is cut into products
 * that the CBLAS's integers hold; for the others the entries have refused what they do not. */

#include "blas/algorithms/triangle.h"
#include "blas/host/cblas.h"
#include "blas/host/product.h"
#include "blas/host/scale.h"

#define UNPACK(block)                                                                              \
    const ji_matmat_t *args = block;                                                               \
    jdatatype_t type = args->head.type;                                                            \
    const host_int_t m = (host_int_t)args->m, n = (host_int_t)args->n, k = (host_int_t)args->k;    \
    const host_int_t lda = (host_int_t)args->lda, ldb = (host_int_t)args->ldb,                     \
                     ldc = (host_int_t)args->ldc;                                                  \
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);         \
    const enum CBLAS_SIDE side = (enum CBLAS_SIDE)args->side;                                      \
    const enum CBLAS_UPLO uplo = (enum CBLAS_UPLO)args->uplo;                                      \
    const enum CBLAS_TRANSPOSE trans = host_operation(type, args->transa);                         \
    const enum CBLAS_DIAG diag = (enum CBLAS_DIAG)args->diag;                                      \
    void *b = ji_unconst(args->b); /* written by trmm and trsm */                                  \
    (void)m, (void)n, (void)k, (void)lda, (void)ldb, (void)ldc, (void)alpha, (void)beta;           \
    (void)side, (void)uplo, (void)trans, (void)diag, (void)b

/* An m x n matrix times a scalar of the elements' type: what is left of a product with an alpha of
 * 0. */
static void matmat_scale(const ji_matmat_t *args, const ji_scalar_t *scalar, const void *matrix,
                         int64_t ld) {
    ji_matmat_t scale = {
        .head = args->head, .m = args->m, .n = args->n, .alpha = *scalar, .b = matrix, .ldb = ld};

    ji_host_scale_matrix(&scale);
}

/* Cuts along m, n and k. Where a leading dimension is too large, the matrix is taken column by
 * column, and then its leading dimension does not matter. */
static __attribute__((noinline)) void gemm_split(const ji_matmat_t *args) {
    jdatatype_t type = args->head.type;
    const int64_t limit = ji_blas_int_max;
    const bool plain_a = args->transa == JBLAS_NO_TRANSPOSE,
               plain_b = args->transb == JBLAS_NO_TRANSPOSE;
    const bool far_a = args->lda > limit, far_b = args->ldb > limit, far_c = args->ldc > limit;

    const int64_t step_m = far_a && !plain_a ? 1 : limit;
    const int64_t step_n = far_c || (far_b && plain_b) ? 1 : limit;
    const int64_t step_k = (far_a && plain_a) || (far_b && !plain_b) ? 1 : limit;

    for (int64_t j = 0; j < args->n; j += step_n)
        for (int64_t i = 0; i < args->m; i += step_m)
            for (int64_t p = 0; p == 0 || p < args->k; p += step_k) {
                ji_matmat_t part = *args;

                part.m = ji_min(step_m, args->m - i);
                part.n = ji_min(step_n, args->n - j);
                part.k = ji_min(step_k, args->k - p);

                part.a = plain_a ? ji_at(type, args->a, i, p, args->lda)
                                 : ji_at(type, args->a, p, i, args->lda);
                part.b = plain_b ? ji_at(type, args->b, p, j, args->ldb)
                                 : ji_at(type, args->b, j, p, args->ldb);
                part.c = ji_at(type, args->c, i, j, args->ldc);

                if (far_a)
                    part.lda = ji_max(1, plain_a ? part.m : part.k);
                if (far_b)
                    part.ldb = ji_max(1, plain_b ? part.k : part.n);
                if (far_c)
                    part.ldc = part.m;

                if (p > 0)
                    part.beta = ji_constant(type, 1);

                ji_host_product(&part);
            }
}

void ji_host_gemm_unusual(const ji_matmat_t *args) {
    if (args->k != 0 && !host_is_zero(args->head.type, &args->alpha)) {
        gemm_split(args);
        return;
    }
    matmat_scale(args, &args->beta, args->c, args->ldc);
}

void ji_host_gemm(void *block) { ji_host_gemm_inline(block); }

void ji_host_gemm_batched(void *block) {
    const ji_matmat_t *args = block;
    const bool reads = args->k != 0 && !host_is_zero(args->head.type, &args->alpha);
    const void *const *a = args->a, *const *b = args->b;
    void *const *c = args->c;
    ji_matmat_t one = *args;

    for (int64_t i = 0; i < args->batch_count; i++) {
        one.a = reads ? a[i] : NULL, one.b = reads ? b[i] : NULL, one.c = c[i];
        ji_host_gemm(&one);
    }
}

void ji_host_gemm_strided(void *block) {
    const ji_matmat_t *args = block;
    jdatatype_t type = args->head.type;
    ji_matmat_t one = *args;

    for (int64_t i = 0; i < args->batch_count; i++) {
        one.a = args->a ? ji_at(type, args->a, 0, i, args->stride_a) : NULL;
        one.b = args->b ? ji_at(type, args->b, 0, i, args->stride_b) : NULL;
        one.c = ji_at(type, args->c, 0, i, args->stride_c);
        ji_host_gemm(&one);
    }
}

void ji_host_symm(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matmat_scale(args, &args->beta, args->c, args->ldc);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##symm(CblasColMajor, side, uplo, m, n, value(alpha), args->a, lda, b, ldb,           \
                    value(beta), args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_host_hemm(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matmat_scale(args, &args->beta, args->c, args->ldc);
        return;
    }

    if (type == JDATATYPE_F32_C)
        cblas_chemm(CblasColMajor, side, uplo, m, n, alpha, args->a, lda, b, ldb, beta, args->c,
                    ldc);
    else
        cblas_zhemm(CblasColMajor, side, uplo, m, n, alpha, args->a, lda, b, ldb, beta, args->c,
                    ldc);
}

void ji_host_syrk(void *block) {
    UNPACK(block);
    if (k == 0 || host_is_zero(type, &args->alpha)) {
        ji_host_scale_triangle(&args->head, type, &args->beta, args->uplo, args->n, args->c,
                               args->ldc);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##syrk(CblasColMajor, uplo, trans, n, k, value(alpha), args->a, lda, value(beta),     \
                    args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

/* The imaginary parts of C's diagonal need not be set, says BLAS; BLIS and MKL multiply them by
 * beta, as a part of a complex number, so a NaN there would reach the real part. They are 0
 * afterwards in any case. */
static void herk_clear_diagonal(const ji_matmat_t *args) {
    const jdatatype_t real = ji_real_of(args->head.type);

    for (int64_t j = 0; j < args->n; j++)
        memset(ji_at(real, ji_at(args->head.type, args->c, j, j, args->ldc), 1, 0, 0), 0,
               ji_sizeof(real));
}

/* Of herk and her2k, whose alpha is of this type: whether a product is left to do. */
static bool herk_begin(const ji_matmat_t *args, jdatatype_t alpha_type) {
    const jdatatype_t real = ji_real_of(args->head.type);
    const bool reads = args->k != 0 && !host_is_zero(alpha_type, &args->alpha);

    if (!reads && host_is(real, &args->beta, 1)) /* as in BLAS: nothing is touched */
        return false;

    herk_clear_diagonal(args);
    if (!reads)
        ji_host_scale_triangle(&args->head, real, &args->beta, args->uplo, args->n, args->c,
                               args->ldc);

    return reads;
}

void ji_host_herk(void *block) {
    UNPACK(block);
    if (!herk_begin(args, ji_real_of(type)))
        return;
#define CALL(t, value)                                                                             \
    cblas_##t##herk(CblasColMajor, uplo, trans, n, k, value(alpha), args->a, lda, value(beta),     \
                    args->c, ldc)
    HOST_BY_COMPLEX_TYPE(type, CALL)
#undef CALL
}

void ji_host_syr2k(void *block) {
    UNPACK(block);
    if (k == 0 || host_is_zero(type, &args->alpha)) {
        ji_host_scale_triangle(&args->head, type, &args->beta, args->uplo, args->n, args->c,
                               args->ldc);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##syr2k(CblasColMajor, uplo, trans, n, k, value(alpha), args->a, lda, b, ldb,         \
                     value(beta), args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_host_her2k(void *block) {
    UNPACK(block);
    if (!herk_begin(args, type))
        return;
#define CALL(t, value)                                                                             \
    cblas_##t##her2k(CblasColMajor, uplo, trans, n, k, alpha, args->a, lda, b, ldb, value(beta),   \
                     args->c, ldc)
    HOST_BY_COMPLEX_TYPE(type, CALL)
#undef CALL
}

void ji_host_trmm(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matmat_scale(args, &args->alpha, b, args->ldb);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##trmm(CblasColMajor, side, uplo, trans, diag, m, n, value(alpha), args->a, lda, b,   \
                    ldb)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_host_trsm(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matmat_scale(args, &args->alpha, b, args->ldb);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##trsm(CblasColMajor, side, uplo, trans, diag, m, n, value(alpha), args->a, lda, b,   \
                    ldb)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_host_set_info(void *block) {
    const ji_matmat_t *args = block;
    *args->info = args->n;
}

const ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT] = {
#define JI_PRIMITIVE_(enumerator, function) [JI_##enumerator] = ji_host_##function,
    JI_HOST_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_
};

#define HOST_GEMM3M_LEAST 512 /* below, splitting and merging cost what is saved */
/* Measured on a busy machine (clients/bench/bench_strassen.c), one halving was 1.03 to 1.09 times
 * the CBLAS's dgemm of orders 2048 and 4096 with one and two threads, at 2.5 to 3 times its error,
 * and slower than its sgemm: too little for a way that is taken unasked. */
#define HOST_STRASSEN_LEAST INT64_MAX
ji_tuning_t ji_host_tuning = {
    .integer_max = INT64_MAX, /* see ji_blas_int_max, which tests lower */
    .gemm_least = {HOST_STRASSEN_LEAST, HOST_STRASSEN_LEAST, HOST_GEMM3M_LEAST, HOST_GEMM3M_LEAST},
    .gemm3m_least = HOST_GEMM3M_LEAST,
    .gemm3m_k_panel = 1024,
    .gemm3m_n_panel = 512,
    .strassen_least = {HOST_STRASSEN_LEAST, HOST_STRASSEN_LEAST},
    .split_least = INT64_MAX, /* nothing narrower is faster */
    .triangle_leaf = JI_TRIANGLE_MAX_ORDER,
    .triangle_small_leaf = JI_TRIANGLE_SMALL_LEAF,
    .factor_base = 32, /* 8 KiB of doubles, the first cache */
    .factor_multiple = JI_TRIANGLE_BLOCK,
};
