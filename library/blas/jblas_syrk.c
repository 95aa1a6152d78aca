/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha A A^T + beta C on one triangle, and its Hermitian form, whose scalars are real. */

#include "blas/blas.h"

JI_CALL syrk_any(jhandle_t *handle, ji_matmat_t *args, ji_primitive_t primitive, jdatatype_t scalar_type,
                 jblas_operation_t refused) {
    JI_CHECK_UPLO();
    JI_CHECK_OPERATION("trans", transa);
    JI_CHECK_(args->transa != refused, JSTATUS_INVALID_VALUE, "trans", (int64_t)args->transa,
              "is not for this routine and type", 0);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_SIZE("k", k);
    const bool plain = args->transa == JBLAS_NO_TRANSPOSE;
    JI_CHECK_LD(lda, plain ? args->n : args->k, plain ? args->k : args->n);
    JI_CHECK_LD(ldc, args->n, args->n);
    JI_CHECK_WIDTH(args->n > 0, 0, args->n, args->k, args->lda, args->ldc);
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    JI_TAKE_ALPHA_BETA(scalar_type);
    if (args->k > 0 && !ji_scalar_is(&args->alpha, scalar_type, 0))
        JI_CHECK_POINTER("a", args->a);
    JI_CHECK_POINTER("c", args->c);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL syrk_call(jhandle_t *handle, void *block) {
    const jdatatype_t type = ((ji_head_t *)block)->type;
    return syrk_any(handle, block, JI_SYRK, type,
                    ji_is_complex(type) ? JBLAS_CONJUGATE_TRANSPOSE : (jblas_operation_t)0);
}

JI_CALL herk_call(jhandle_t *handle, void *block) {
    return syrk_any(handle, block, JI_HERK, ji_real_of(((ji_head_t *)block)->type), JBLAS_TRANSPOSE);
}

#define SYRK_NAMED(name, t, T, SCALAR, TYPE)                                                                           \
    jstatus_t jblas_##t##name(jhandle_t *handle, jblas_fill_t uplo, jblas_operation_t trans, int64_t n, int64_t k,     \
                              const SCALAR *alpha, const T *a, int64_t lda, const SCALAR *beta, T *c, int64_t ldc) {   \
        ji_matmat_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .uplo = uplo,                                                                              \
                            .transa = trans,                                                                           \
                            .n = n,                                                                                    \
                            .k = k,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .a = a,                                                                                    \
                            .lda = lda,                                                                                \
                            .beta = {.pointer = beta},                                                                 \
                            .c = c,                                                                                    \
                            .ldc = ldc};                                                                               \
        return ji_enter(handle, name##_call, &args);                                                                   \
    }
#define SYRK(t, T, R, TYPE) SYRK_NAMED(syrk, t, T, T, TYPE)
#define HERK(t, T, R, TYPE) SYRK_NAMED(herk, t, T, R, TYPE)
JI_FOR_SDCZ(SYRK)
JI_FOR_CZ(HERK)
