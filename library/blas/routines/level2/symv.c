/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha A x + beta y with A symmetric, Hermitian or skew-symmetric. */

#include "blas/routine/entry.h"

JI_CALL symv_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(symv)
    JI_CHECK_WIDTH(symv, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(symv)
    JI_CHECK_OPERANDS(symv)
    return ji_run(handle, primitive, args);
}

JI_CALL symv_call(jhandle_t *handle, void *block) { return symv_any(handle, block, JI_SYMV); }
JI_CALL hemv_call(jhandle_t *handle, void *block) { return symv_any(handle, block, JI_SYMV); }
JI_CALL symv_complex_call(jhandle_t *handle, void *block) {
    return symv_any(handle, block, JI_SYMV_COMPLEX);
}
JI_CALL skewsymv_call(jhandle_t *handle, void *block) {
    return symv_any(handle, block, JI_SKEWSYMV);
}

/* hemv's as well: of real types the two are one. */
static inline bool symv_at_once(jdatatype_t type, jhandle_t *handle, jblas_uplo_t uplo, int64_t n,
                                const void *alpha, const void *a, int64_t lda, const void *x,
                                int64_t incx, const void *beta, void *y, int64_t incy) {
    const ji_matvec_kernels_t *kernels =
        ji_matvec_at_once(handle, type, n, n, alpha, lda, incx, incy);
    if (JI_UNLIKELY(kernels == NULL || !JI_IS_UPLO(uplo) || a == NULL || x == NULL ||
                    beta == NULL || y == NULL || !JI_IS_OWN(JI_SYMV, symv)))
        return false;

    kernels->symmetric(n, JI_HERMITIAN, uplo == JBLAS_UPPER, alpha, a, lda, x, beta, y);
    return true;
}
#define hemv_at_once symv_at_once

JI_ENTRIES_AT_ONCE(symv, matvec)
JI_ENTRIES_AT_ONCE(hemv, matvec)
JI_ENTRIES(symv_complex, matvec)
JI_ENTRIES(skewsymv, matvec)
