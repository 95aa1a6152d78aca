/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of trmm and trsm, which are the same; how trsm is done stands in trsm.c. */

#include "blas/triangle.h"

/* plan NULL: the primitive trmm. */
JI_CALL trsm_any(jhandle_t *handle, ji_matmat_t *args, ji_plan_function_t plan) {
    JI_CHECK_SIDE();
    JI_CHECK_UPLO();
    JI_CHECK_OPERATION("trans", transa);
    JI_CHECK_DIAG();
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    const int64_t order = args->side == JBLAS_LEFT ? args->m : args->n;
    JI_CHECK_LD(lda, order, order);
    JI_CHECK_LD(ldb, args->m, args->n);
    JI_CHECK_WIDTH(args->m > 0 && args->n > 0, 0, args->m, args->n, args->lda, args->ldb);
    const bool empty = args->m == 0 || args->n == 0;
    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : plan);
    if (empty)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    ji_take(handle, &args->alpha, args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0))
        JI_CHECK_POINTER("a", args->a);
    JI_CHECK_POINTER("b", args->b);
    if (plan == NULL)
        return ji_run(handle, JI_TRMM, args);
    if (!ji_triangle_pays(handle, args)) /* substitution is the only way: no need to write that down */
        return ji_trsm_run(handle, args, &ji_nothing_borrowed);
    return ji_run_plan(handle, args, plan, ji_trsm_run);
}

JI_CALL trmm_call(jhandle_t *handle, void *block) { return trsm_any(handle, block, NULL); }
JI_CALL trsm_call(jhandle_t *handle, void *block) { return trsm_any(handle, block, ji_trsm_plan); }

#define TRSM_NAMED(name, t, T, TYPE)                                                                                   \
    jstatus_t jblas_##t##name(jhandle_t *handle, jblas_side_t side, jblas_fill_t uplo, jblas_operation_t trans,        \
                              jblas_diagonal_t diag, int64_t m, int64_t n, const T *alpha, const T *a, int64_t lda,    \
                              T *b, int64_t ldb) {                                                                     \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .side = side,                                                                              \
                            .uplo = uplo,                                                                              \
                            .transa = trans,                                                                           \
                            .diag = diag,                                                                              \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .b = b,                                                                                    \
                            .ldb = ldb};                                                                               \
        return ji_enter(handle, name##_call, &args);                                                                   \
    }
#define TRMM(t, T, R, TYPE) TRSM_NAMED(trmm, t, T, TYPE)
#define TRSM(t, T, R, TYPE) TRSM_NAMED(trsm, t, T, TYPE)
JI_FOR_SDCZ(TRMM)
JI_FOR_SDCZ(TRSM)
