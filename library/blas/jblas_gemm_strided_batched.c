/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on matrices that follow each other at a constant stride. */

#include "blas/gemm.h"

static jstatus_t gemm_strided_batched_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_check(handle, args));
    JI_CHECK_SIZE("batch_count", batch_count);
    JI_CHECK_STRIDE(stride_a);
    JI_CHECK_STRIDE(stride_b);
    JI_CHECK_STRIDE(stride_c);
    JI_CHECK_(args->batch_count <= 1 || ji_abs(args->stride_c) >= args->ldc * args->n, JSTATUS_INVALID_SIZE, "stride_c",
              args->stride_c, "must be at least %lld, or the matrices C overlap", args->ldc * args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0 || args->batch_count == 0)
        return JSTATUS_SUCCESS;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_take(handle, args, args->head.type));
    return ji_run(handle, JI_GEMM_STRIDED, args);
}

#define GEMM_STRIDED_BATCHED(t, T, R, TYPE)                                                                            \
    jstatus_t jblas_##t##gemm_strided_batched(                                                                         \
        jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m, int64_t n, int64_t k,        \
        const T *alpha, const T *a, int64_t lda, int64_t stride_a, const T *b, int64_t ldb, int64_t stride_b,          \
        const T *beta, T *c, int64_t ldc, int64_t stride_c, int64_t batch_count) {                                     \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_gemm_strided_batched},                                           \
                            .transa = transa,                                                                          \
                            .transb = transb,                                                                          \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .k = k,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .b = b,                                                                                    \
                            .ldb = ldb,                                                                                \
                            .beta = {.pointer = beta},                                                                 \
                            .c = c,                                                                                    \
                            .ldc = ldc,                                                                                \
                            .stride_a = stride_a,                                                                      \
                            .stride_b = stride_b,                                                                      \
                            .stride_c = stride_c,                                                                      \
                            .batch_count = batch_count};                                                               \
        return ji_enter(handle, gemm_strided_batched_call, &args);                                                     \
    }
JI_FOR_SDCZ(GEMM_STRIDED_BATCHED)
