/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) + beta op(B). */

#include "blas/routine/entry.h"

JI_CALL geam_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(geam)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(geam)
    JI_CHECK_OPERANDS(geam)
    return ji_run(handle, JI_GEAM, args);
}

JI_ENTRIES(geam, matmat)
JI_VALUED(geam, matmat)
