/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha A x + beta y with A symmetric, or Hermitian for complex types. */

#include "blas/blas.h"

JI_CALL symv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_UPLO();
    JI_CHECK_SIZE("n", n);
    JI_CHECK_LD(lda, args->n, args->n);
    JI_CHECK_INCREMENT_NOT_0(incx, args->n);
    JI_CHECK_INCREMENT_NOT_0(incy, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, args->n, args->lda, ji_abs(args->incx), ji_abs(args->incy));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    JI_TAKE_ALPHA_BETA(args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("x", args->x);
    }
    JI_CHECK_POINTER("y", args->y);
    return ji_run(handle, JI_SYMV, args);
}

#define SYMV_NAMED(name, t, T, TYPE)                                                                                   \
    jstatus_t jblas_##t##name(jhandle_t *handle, jblas_fill_t uplo, int64_t n, const T *alpha, const T *a,             \
                              int64_t lda, const T *x, int64_t incx, const T *beta, T *y, int64_t incy) {              \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .uplo = uplo,                                                                              \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .beta = {.pointer = beta},                                                                 \
                            .y = y,                                                                                    \
                            .incy = incy};                                                                             \
        return ji_enter(handle, symv_call, &args);                                                                     \
    }
#define SYMV(t, T, R, TYPE) SYMV_NAMED(symv, t, T, TYPE)
#define HEMV(t, T, R, TYPE) SYMV_NAMED(hemv, t, T, TYPE)
JI_FOR_SD(SYMV)
JI_FOR_CZ(HEMV)
