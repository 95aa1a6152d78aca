/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 on the host: the CBLAS's own, unless alpha or k is 0 (scale.h). gemm is cut into products
 * that the CBLAS's integers hold; for the others the entries have refused what they do not. */

#include "blas/algorithms/triangle.h"
#include "blas/guest/cblas.h"
#include "blas/host/scale.h"

#define UNPACK(block)                                                                              \
    const ji_matmat_t *args = block;                                                               \
    jdatatype_t type = args->head.type;                                                            \
    const guest_int_t m = (guest_int_t)args->m, n = (guest_int_t)args->n,                          \
                      k = (guest_int_t)args->k;                                                    \
    const guest_int_t lda = (guest_int_t)args->lda, ldb = (guest_int_t)args->ldb,                  \
                      ldc = (guest_int_t)args->ldc;                                                \
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);         \
    const int side = (int)args->side;                                                              \
    const int uplo = (int)args->uplo;                                                              \
    const int trans = guest_operation(type, args->transa);                                         \
    const int diag = (int)args->diag;                                                              \
    void *b = ji_unconst(args->b); /* written by trmm and trsm */                                  \
    (void)m, (void)n, (void)k, (void)lda, (void)ldb, (void)ldc, (void)alpha, (void)beta;           \
    (void)side, (void)uplo, (void)trans, (void)diag, (void)b

/* One product that the CBLAS's integers hold. */
static void gemm_product(const ji_matmat_t *args) {
    jdatatype_t type = args->head.type;
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);
#define CALL(t, value)                                                                             \
    ji_guest.t##gemm(GUEST_COLUMN_MAJOR, guest_operation(type, args->transa),                      \
                     guest_operation(type, args->transb), (guest_int_t)args->m,                    \
                     (guest_int_t)args->n, (guest_int_t)args->k, value(alpha), args->a,            \
                     (guest_int_t)args->lda, args->b, (guest_int_t)args->ldb, value(beta),         \
                     args->c, (guest_int_t)args->ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

/* Cuts along m, n and k. Where a leading dimension is too large, the matrix is taken column by
 * column, and then its leading dimension does not matter. */
static void gemm_split(const ji_matmat_t *args) {
    jdatatype_t type = args->head.type;
    const int64_t limit = ji_blas_int_max;
    const bool plain_a = !ji_is_transposed(args->transa), plain_b = !ji_is_transposed(args->transb);
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

                gemm_product(&part);
            }
}

void ji_guest_gemm(void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t type = args->head.type;
    if (!guest_has(type, args->transa) || !guest_has(type, args->transb)) {
        ji_host_gemm(block);
        return;
    }
    /* OpenBLAS's kernels for small products on AVX-512 (0.3.21) multiply by a zero alpha all the
     * same, so a NaN in A would reach C, and a NULL would be read. */
    if (ji_host_gemm_is_scaling(args))
        return;

    /* Sizes are not negative, so their bitwise or is above 2^k - 1 exactly if one of them is. */
    if ((args->m | args->n | args->k | args->lda | args->ldb | args->ldc) <= ji_blas_int_max)
        gemm_product(args);
    else
        gemm_split(args);
}

void ji_guest_symm(void *block) {
    UNPACK(block);
    if (ji_host_symm_is_scaling(args))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##symm(GUEST_COLUMN_MAJOR, side, uplo, m, n, value(alpha), args->a, lda, b, ldb,     \
                     value(beta), args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_hemm(void *block) {
    UNPACK(block);
    if (ji_host_symm_is_scaling(args))
        return;

    if (type == JDATATYPE_F32_C)
        ji_guest.chemm(GUEST_COLUMN_MAJOR, side, uplo, m, n, alpha, args->a, lda, b, ldb, beta,
                       args->c, ldc);
    else
        ji_guest.zhemm(GUEST_COLUMN_MAJOR, side, uplo, m, n, alpha, args->a, lda, b, ldb, beta,
                       args->c, ldc);
}

void ji_guest_syrk(void *block) {
    UNPACK(block);
    if (ji_host_syrk_is_scaling(args))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##syrk(GUEST_COLUMN_MAJOR, uplo, trans, n, k, value(alpha), args->a, lda,            \
                     value(beta), args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_herk(void *block) {
    UNPACK(block);
    if (ji_host_herk_is_scaling(args, ji_real_of(type)))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##herk(GUEST_COLUMN_MAJOR, uplo, trans, n, k, value(alpha), args->a, lda,            \
                     value(beta), args->c, ldc)
    HOST_BY_COMPLEX_TYPE(type, CALL)
#undef CALL
}

void ji_guest_syr2k(void *block) {
    UNPACK(block);
    if (ji_host_syrk_is_scaling(args))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##syr2k(GUEST_COLUMN_MAJOR, uplo, trans, n, k, value(alpha), args->a, lda, b, ldb,   \
                      value(beta), args->c, ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_her2k(void *block) {
    UNPACK(block);
    if (ji_host_herk_is_scaling(args, type))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##her2k(GUEST_COLUMN_MAJOR, uplo, trans, n, k, alpha, args->a, lda, b, ldb,          \
                      value(beta), args->c, ldc)
    HOST_BY_COMPLEX_TYPE(type, CALL)
#undef CALL
}

void ji_guest_trmm(void *block) {
    UNPACK(block);
    if (!guest_has(type, args->transa)) {
        ji_host_trmm(block);
        return;
    }
    if (ji_host_trmm_is_scaling(args))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##trmm(GUEST_COLUMN_MAJOR, side, uplo, trans, diag, m, n, value(alpha), args->a,     \
                     lda, b, ldb)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_trsm(void *block) {
    UNPACK(block);
    if (!guest_has(type, args->transa)) {
        ji_host_trsm(block);
        return;
    }
    if (ji_host_trmm_is_scaling(args))
        return;
#define CALL(t, value)                                                                             \
    ji_guest.t##trsm(GUEST_COLUMN_MAJOR, side, uplo, trans, diag, m, n, value(alpha), args->a,     \
                     lda, b, ldb)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}
