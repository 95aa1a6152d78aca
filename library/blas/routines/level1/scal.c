/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = alpha x, with alpha of the type of x, or real for a complex x. */

#include "blas/routine/entry.h"

JI_CALL scal_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(scal)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(scal)
    JI_CHECK_OPERANDS(scal)
    return ji_run(handle, JI_SCAL, args);
}

JI_CALL csscal_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(csscal)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(csscal)
    JI_CHECK_OPERANDS(csscal)
    return ji_run(handle, JI_RSCAL, args);
}

JI_CALL zdscal_call(jhandle_t *handle, void *block) { return csscal_call(handle, block); }

static inline bool scal_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *alpha,
                                void *x, int64_t incx) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx);
    if (JI_UNLIKELY(kernels == NULL || incx == 0 || alpha == NULL || x == NULL ||
                    !JI_IS_OWN(JI_SCAL, scal)))
        return false;

    kernels->scal(n, alpha, x, incx);
    return true;
}

JI_ENTRIES_AT_ONCE(scal, vector)
JI_ENTRIES(csscal, vector)
JI_ENTRIES(zdscal, vector)
JI_VALUED(scal, vector)
