/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of getrf; how it is done is in host/lu.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(getrf)

JI_CALL getrf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(getrf)

    const bool empty = args->m == 0 || args->n == 0;
    JI_CHECK_WIDTH(getrf, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : getrf_plan);

    JI_TAKE_SCALARS(getrf)
    if (empty) {
        args->n = 0; /* which is what info becomes */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));
    }

    JI_CHECK_OPERANDS(getrf)
    return ji_return_result(handle, ji_run_plan(handle, args, getrf_plan, getrf_run));
}

JI_ENTRIES_PLAIN(getrf, matmat)
