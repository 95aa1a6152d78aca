/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on arrays of matrices. */

#include "blas/blas.h"

static jstatus_t gemm_batched_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const bool a_plain = args->transa == JBLAS_NO_TRANSPOSE, b_plain = args->transb == JBLAS_NO_TRANSPOSE;
    JI_CHECK_OPERATION("transa", transa);
    JI_CHECK_OPERATION("transb", transb);
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_SIZE("k", k);
    JI_CHECK_LD(lda, a_plain ? args->m : args->k, a_plain ? args->k : args->m);
    JI_CHECK_LD(ldb, b_plain ? args->k : args->n, b_plain ? args->n : args->k);
    JI_CHECK_LD(ldc, args->m, args->n);
    JI_CHECK_SIZE("batch_count", batch_count);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0 || args->batch_count == 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    JI_CHECK_POINTER("beta", args->beta.pointer);
    ji_take(handle, &args->alpha, args->head.type);
    ji_take(handle, &args->beta, args->head.type);
    if (args->k > 0 && !ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("b", args->b);
    }
    JI_CHECK_POINTER("c", args->c);
    return ji_run(handle, JI_GEMM_BATCHED, args);
}

#define GEMM_BATCHED(t, T, R, TYPE)                                                                                    \
    jstatus_t jblas_##t##gemm_batched(jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb,           \
                                      int64_t m, int64_t n, int64_t k, const T *alpha, const T *const a[],             \
                                      int64_t lda, const T *const b[], int64_t ldb, const T *beta, T *const c[],       \
                                      int64_t ldc, int64_t batch_count) {                                              \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_gemm_batched},                                                   \
                            .transa = transa,                                                                          \
                            .transb = transb,                                                                          \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .k = k,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = (const void *)a,                                                                      \
                            .lda = lda,                                                                                \
                            .b = (const void *)b,                                                                      \
                            .ldb = ldb,                                                                                \
                            .beta = {.pointer = beta},                                                                 \
                            .c = (void *)(uintptr_t)c,                                                                 \
                            .ldc = ldc,                                                                                \
                            .batch_count = batch_count};                                                               \
        return ji_enter(handle, gemm_batched_call, &args);                                                             \
    }
JI_FOR_SDCZ(GEMM_BATCHED)
