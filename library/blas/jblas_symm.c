/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha A B + beta C or alpha B A + beta C with A symmetric or Hermitian. */

#include "blas/blas.h"

JI_CALL symm_any(jhandle_t *handle, ji_matmat_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIDE();
    JI_CHECK_UPLO();
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    const int64_t order = args->side == JBLAS_LEFT ? args->m : args->n;
    JI_CHECK_LD(lda, order, order);
    JI_CHECK_LD(ldb, args->m, args->n);
    JI_CHECK_LD(ldc, args->m, args->n);
    JI_CHECK_WIDTH(args->m > 0 && args->n > 0, args->m, args->n, args->lda, args->ldb, args->ldc);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_TAKE_ALPHA_BETA(args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("b", args->b);
    }
    JI_CHECK_POINTER("c", args->c);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL symm_call(jhandle_t *handle, void *block) { return symm_any(handle, block, JI_SYMM); }
JI_CALL hemm_call(jhandle_t *handle, void *block) { return symm_any(handle, block, JI_HEMM); }

#define SYMM_NAMED(name, t, T, TYPE)                                                                                   \
    jstatus_t jblas_##t##name(jhandle_t *handle, jblas_side_t side, jblas_fill_t uplo, int64_t m, int64_t n,           \
                              const T *alpha, const T *a, int64_t lda, const T *b, int64_t ldb, const T *beta, T *c,   \
                              int64_t ldc) {                                                                           \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .side = side,                                                                              \
                            .uplo = uplo,                                                                              \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .b = b,                                                                                    \
                            .ldb = ldb,                                                                                \
                            .beta = {.pointer = beta},                                                                 \
                            .c = c,                                                                                    \
                            .ldc = ldc};                                                                               \
        return ji_enter(handle, name##_call, &args);                                                                   \
    }
#define SYMM(t, T, R, TYPE) SYMM_NAMED(symm, t, T, TYPE)
#define HEMM(t, T, R, TYPE) SYMM_NAMED(hemm, t, T, TYPE)
JI_FOR_SDCZ(SYMM)
JI_FOR_CZ(HEMM)
