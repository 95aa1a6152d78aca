/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of getrf; how it is done is in host/lu.c. */

#include "lapack/lapack.h"

JI_CALL getrf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(getrf)

    const bool empty = args->m == 0 || args->n == 0;
    JI_CHECK_WIDTH(getrf, !empty)

    const ji_panel_bytes_t bytes = ji_getrf_bytes(handle, &args->head, args->m, args->n);
    if (ji_is_query(handle))
        return ji_lapack_answer(handle, args, bytes);

    JI_TAKE_SCALARS(getrf)
    if (empty) {
        args->n = 0; /* which is what info becomes */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));
    }

    JI_CHECK_OPERANDS(getrf)
    return ji_return_result(handle, ji_lapack_run(handle, ji_host_getrf, args, bytes));
}

JI_ENTRIES_PLAIN(getrf, matmat)
