/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = x, and the exchange of x and y. */

#include "blas/routine/entry.h"

JI_CALL copy_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(copy)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(copy)
    return ji_run(handle, primitive, args);
}

JI_CALL copy_call(jhandle_t *handle, void *block) { return copy_any(handle, block, JI_COPY); }
JI_CALL swap_call(jhandle_t *handle, void *block) { return copy_any(handle, block, JI_SWAP); }

static inline bool copy_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                int64_t incx, void *y, int64_t incy) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || !JI_IS_OWN(JI_COPY, copy)))
        return false;

    kernels->copy(n, x, incx, y, incy);
    return true;
}

static inline bool swap_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, void *x,
                                int64_t incx, void *y, int64_t incy) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || !JI_IS_OWN(JI_SWAP, swap)))
        return false;

    kernels->swap(n, x, incx, y, incy);
    return true;
}

JI_ENTRIES_AT_ONCE(copy, vector)
JI_ENTRIES_AT_ONCE(swap, vector)
JI_VALUED(copy, vector)
