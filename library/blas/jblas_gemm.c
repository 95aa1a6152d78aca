/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C. Real types go to the primitive without a plan, so a small product costs little more
 * than the CBLAS; complex ones may take three real products, see gemm3m.c. */

#include "blas/gemm.h"

static jstatus_t gemm_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_check(handle, args));
    const bool planned = ji_is_complex(args->head.type) && ji_gemm3m_pays(handle, args->m, args->n, args->k);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_gemm3m_plan : NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_take(handle, args));
    if (planned)
        return ji_run_plan(handle, args, ji_gemm3m_plan, ji_gemm3m_run);
    return ji_run(handle, JI_GEMM, args);
}

/* Every member is named, so that the compiler stores each once instead of clearing the block first: 10 ns of a small
 * product. */
#define GEMM(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##gemm(jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m,        \
                              int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda, const T *b, int64_t ldb,  \
                              const T *beta, T *c, int64_t ldc) {                                                      \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_gemm},                                                           \
                            .side = (jblas_side_t)0,                                                                   \
                            .uplo = (jblas_fill_t)0,                                                                   \
                            .transa = transa,                                                                          \
                            .transb = transb,                                                                          \
                            .diag = (jblas_diagonal_t)0,                                                               \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .k = k,                                                                                    \
                            .alpha = {alpha, {.z = {0, 0}}},                                                           \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .b = b,                                                                                    \
                            .ldb = ldb,                                                                                \
                            .beta = {beta, {.z = {0, 0}}},                                                             \
                            .c = c,                                                                                    \
                            .ldc = ldc,                                                                                \
                            .info = NULL,                                                                              \
                            .stride_a = 0,                                                                             \
                            .stride_b = 0,                                                                             \
                            .stride_c = 0,                                                                             \
                            .batch_count = 0};                                                                         \
        return ji_enter(handle, gemm_call, &args);                                                                     \
    }
JI_FOR_SDCZ(GEMM)
