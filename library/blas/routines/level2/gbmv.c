/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha op(A) x + beta y with a band A. */

#include "blas/routine/entry.h"

JI_CALL gbmv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(gbmv)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gbmv)
    JI_CHECK_OPERANDS(gbmv)
    return ji_run(handle, JI_GBMV, args);
}

JI_ENTRIES(gbmv, matvec)
