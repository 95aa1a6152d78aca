/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha x + y. */

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

JI_ENTRIES(axpy, vector)
