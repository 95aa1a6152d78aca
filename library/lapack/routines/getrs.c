/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of getrs; how it is done is in host/lu.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(getrs)

JI_CALL getrs_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(getrs)

    const bool empty = args->n == 0 || args->nrhs == 0;
    JI_CHECK_WIDTH(getrs, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : getrs_plan);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(getrs)
    return ji_run_plan(handle, args, getrs_plan, getrs_run);
}

JI_ENTRIES_PLAIN(getrs, matmat)
