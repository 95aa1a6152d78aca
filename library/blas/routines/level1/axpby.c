/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha x + beta y. */

#include "blas/routine/entry.h"

JI_CALL axpby_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(axpby)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(axpby)
    JI_CHECK_OPERANDS(axpby)
    return ji_run(handle, JI_AXPBY, args);
}

/* Scalars that keep something from being read are for the host's function to see. */
static inline bool axpby_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *alpha,
                                 const void *x, int64_t incx, const void *beta, void *y,
                                 int64_t incy) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || alpha == NULL || x == NULL || beta == NULL || y == NULL))
        return false;

    const ji_scalar_t by_x = {.pointer = alpha}, by_y = {.pointer = beta};
    if (JI_UNLIKELY(host_is_zero(type, &by_x) || host_is_zero(type, &by_y) ||
                    host_is(type, &by_y, 1)))
        return false;

    kernels->axpby(n, alpha, x, incx, beta, y, incy);
    return true;
}

JI_ENTRIES_AT_ONCE(axpby, vector)
