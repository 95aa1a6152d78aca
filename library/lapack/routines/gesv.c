/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves A X = B: getrf and getrs as one function of the host, since info, which the first finds,
 * decides about the second. They run one after the other, so one workspace serves both. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(gesv)

JI_CALL gesv_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(gesv)
    JI_CHECK_WIDTH(gesv, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : gesv_plan);

    JI_TAKE_SCALARS(gesv)
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));

    JI_CHECK_OPERANDS(gesv)
    return ji_return_result(handle, ji_run_plan(handle, args, gesv_plan, gesv_run));
}

JI_ENTRIES_PLAIN(gesv, matmat)
