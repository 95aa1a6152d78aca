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

JI_ENTRIES(gemv, matvec)
