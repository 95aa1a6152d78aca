/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha op(A) x + beta y. */

#include "blas/routine/entry.h"

JI_CALL gemv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(gemv)
    JI_CHECK_WIDTH(gemv, args->m > 0 && args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemv)
    JI_CHECK_OPERANDS(gemv)
    return ji_run(handle, JI_GEMV, args);
}

static inline bool gemv_at_once(jdatatype_t type, jhandle_t *handle, jblas_operation_t trans,
                                int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
                                const void *x, int64_t incx, const void *beta, void *y,
                                int64_t incy) {
    const ji_matvec_kernels_t *kernels =
        ji_matvec_at_once(handle, type, m, n, alpha, lda, incx, incy);
    if (JI_UNLIKELY(kernels == NULL || !JI_IS_OPERATION(trans) || a == NULL || x == NULL ||
                    beta == NULL || y == NULL || !JI_IS_OWN(JI_GEMV, gemv)))
        return false;

    kernels->small(m, n, trans, alpha, a, lda, x, beta, y);
    return true;
}

JI_ENTRIES_AT_ONCE(gemv, matvec)
