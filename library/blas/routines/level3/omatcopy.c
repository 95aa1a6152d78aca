/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* B = alpha op(A). */

#include "blas/routine/entry.h"

JI_CALL omatcopy_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(omatcopy)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(omatcopy)
    JI_CHECK_OPERANDS(omatcopy)
    return ji_run(handle, JI_OMATCOPY, args);
}

JI_ENTRIES(omatcopy, matmat)
