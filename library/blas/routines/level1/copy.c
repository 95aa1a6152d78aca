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

JI_ENTRIES(copy, vector)
JI_ENTRIES(swap, vector)
JI_VALUED(copy, vector)
