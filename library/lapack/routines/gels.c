/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of gels; how it is done is in host/gels.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(gels)

JI_CALL gels_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(gels)

    const bool empty = ji_max(args->m, args->n) == 0 || args->nrhs == 0;
    JI_CHECK_WIDTH(gels, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : gels_plan);

    JI_TAKE_SCALARS(gels)
    if (empty) {
        args->n = 0; /* which is what info becomes */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));
    }

    JI_CHECK_OPERANDS(gels)
    return ji_return_result(handle, ji_run_plan(handle, args, gels_plan, gels_run));
}

JI_ENTRIES_PLAIN(gels, matmat)
