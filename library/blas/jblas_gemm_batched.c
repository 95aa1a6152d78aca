/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on arrays of matrices. */

#include "blas/gemm.h"

JI_CALL gemm_batched_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_check(handle, args));
    JI_CHECK_SIZE("batch_count", batch_count);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0 || args->batch_count == 0)
        return JSTATUS_SUCCESS;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_take(handle, args, args->head.type));
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
