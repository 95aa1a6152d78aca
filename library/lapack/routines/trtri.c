/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of trtri; how it is done is in blas/algorithms/trtri.c. */

#include "blas/algorithms/algorithm.h"
#include "lapack/lapack.h"

JI_CALL trtri_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(trtri)
    JI_CHECK_WIDTH(trtri, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : ji_trtri_plan);

    JI_TAKE_SCALARS(trtri)
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));

    JI_CHECK_OPERANDS(trtri)
    return ji_return_result(handle, ji_run_plan(handle, args, ji_trtri_plan, ji_trtri_run));
}

JI_ENTRIES(trtri, matmat)
