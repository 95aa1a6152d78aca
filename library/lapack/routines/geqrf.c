/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of geqrf; how it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_CALL geqrf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(geqrf)

    const bool empty = args->m == 0 || args->n == 0;
    JI_CHECK_WIDTH(geqrf, !empty)

    const ji_panel_bytes_t bytes = ji_geqrf_bytes(handle, args);
    if (ji_is_query(handle))
        return ji_lapack_answer(handle, args, bytes);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(geqrf)
    return ji_lapack_run(handle, ji_host_geqrf, args, bytes);
}

JI_ENTRIES_PLAIN(geqrf, matmat)
