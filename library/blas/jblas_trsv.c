/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves op(A) x = b with A triangular, by substitution. */

#include "blas/blas.h"

static jstatus_t trsv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_UPLO();
    JI_CHECK_OPERATION("trans", trans);
    JI_CHECK_DIAG();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_INCREMENT(incx, args->n);
    JI_CHECK_WIDTH(ji_max5(0, 0, args->n, args->lda, ji_abs(args->incx)));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("a", args->a);
    JI_CHECK_POINTER("x", args->x);
    return ji_run(handle, JI_TRSV, args);
}

#define TRSV(t, T, R, TYPE)                                                                                            \
    jstatus_t jblas_##t##trsv(jhandle_t *handle, jblas_fill_t uplo, jblas_operation_t trans, jblas_diagonal_t diag,    \
                              int64_t n, const T *a, int64_t lda, T *x, int64_t incx) {                                \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_trsv},                                                           \
                            .uplo = uplo,                                                                              \
                            .trans = trans,                                                                            \
                            .diag = diag,                                                                              \
                            .n = n,                                                                                    \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .x = x,                                                                                    \
                            .incx = incx};                                                                             \
        return ji_enter(handle, trsv_call, &args);                                                                     \
    }
JI_FOR_SDCZ(TRSV)
