/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of potrf; how it is done is in blas/algorithms/potrf.c. */

#include "blas/algorithms/algorithm.h"
#include "lapack/lapack.h"

JI_CALL potrf_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(potrf)
    JI_CHECK_WIDTH(potrf, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : ji_potrf_plan);

    JI_TAKE_SCALARS(potrf)
    if (args->n == 0) /* info is 0 then, too */
        return ji_return_result(handle, ji_run(handle, JI_SET_INFO, args));

    JI_CHECK_OPERANDS(potrf)
    return ji_return_result(handle, ji_run_plan(handle, args, ji_potrf_plan, ji_potrf_run));
}

JI_ENTRIES(potrf, matmat)
JI_VALUED(potrf, matmat)
JI_VALUED_BYTES(potrf, matmat, args->n != 0)
