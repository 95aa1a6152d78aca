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

JI_ENTRIES(scal, vector)
JI_ENTRIES(csscal, vector)
JI_ENTRIES(zdscal, vector)
JI_VALUED(scal, vector)
