/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves A X = B: getrf and getrs as one function of the host, since info, which the first finds,
 * decides about the second. They run one after the other, so one workspace serves both. */

#include "lapack/lapack.h"

static ji_panel_bytes_t gesv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panels_for_both(ji_getrf_bytes(handle, &args->head, args->n, args->n),
                              ji_getrs_bytes(handle, &args->head, args->n, args->nrhs));
}

JI_CALL gesv_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(gesv)
    JI_CHECK_WIDTH(gesv, args->n > 0)

    const ji_panel_bytes_t bytes = gesv_bytes(handle, args);
    if (ji_is_query(handle))
        return ji_lapack_answer(handle, args, bytes);

    JI_TAKE_SCALARS(gesv)
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));

    JI_CHECK_OPERANDS(gesv)
    return ji_return_result(handle, ji_lapack_run(handle, ji_host_gesv, args, bytes));
}

JI_ENTRIES_PLAIN(gesv, matmat)
