/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha x + y. */

#include "blas/host/host.h"
#include "blas/routine/entry.h"

JI_CALL axpy_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(axpy)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(axpy)
    JI_CHECK_OPERANDS(axpy)
    return ji_run(handle, JI_AXPY, args);
}

static inline bool axpy_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *alpha,
                                const void *x, int64_t incx, void *y, int64_t incy) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || alpha == NULL || x == NULL || y == NULL ||
                    !JI_IS_OWN(JI_AXPY, axpy)))
        return false;

    const ji_scalar_t scalar = {.pointer = alpha};
    if (JI_UNLIKELY(host_is_zero(type, &scalar)))
        return false;

    kernels->axpy(n, alpha, x, incx, y, incy);
    return true;
}

JI_ENTRIES_AT_ONCE(axpy, vector)
