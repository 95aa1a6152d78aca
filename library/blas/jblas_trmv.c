/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = op(A) x with A triangular, and its inverse: the solution of op(A) x = b by substitution. */

#include "blas/blas.h"

JI_CALL trmv_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_UPLO();
    JI_CHECK_OPERATION("trans", trans);
    JI_CHECK_DIAG();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_INCREMENT_NOT_0(incx, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, 0, args->n, args->lda, ji_abs(args->incx));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("a", args->a);
    JI_CHECK_POINTER("x", args->x);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL trmv_call(jhandle_t *handle, void *block) { return trmv_any(handle, block, JI_TRMV); }
JI_CALL trsv_call(jhandle_t *handle, void *block) { return trmv_any(handle, block, JI_TRSV); }

#define TRMV_NAMED(name, t, T, TYPE)                                                                                   \
    jstatus_t jblas_##t##name(jhandle_t *handle, jblas_fill_t uplo, jblas_operation_t trans, jblas_diagonal_t diag,    \
                              int64_t n, const T *a, int64_t lda, T *x, int64_t incx) {                                \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .uplo = uplo,                                                                              \
                            .trans = trans,                                                                            \
                            .diag = diag,                                                                              \
                            .n = n,                                                                                    \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .x = x,                                                                                    \
                            .incx = incx};                                                                             \
        return ji_enter(handle, name##_call, &args);                                                                   \
    }
#define TRMV(t, T, R, TYPE) TRMV_NAMED(trmv, t, T, TYPE)
#define TRSV(t, T, R, TYPE) TRMV_NAMED(trsv, t, T, TYPE)
JI_FOR_SDCZ(TRMV)
JI_FOR_SDCZ(TRSV)
