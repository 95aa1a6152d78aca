/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of gelqf; how it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(gelqf)

JI_CALL gelqf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(gelqf)

    const bool empty = args->m == 0 || args->n == 0;
    JI_CHECK_WIDTH(gelqf, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : gelqf_plan);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(gelqf)
    return ji_run_plan(handle, args, gelqf_plan, gelqf_run);
}

JI_ENTRIES_PLAIN(gelqf, matmat)
