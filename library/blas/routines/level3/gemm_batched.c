/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on arrays of matrices. */

#include "blas/routine/entry.h"

JI_CALL gemm_batched_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm_batched)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0 || args->batch_count == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm_batched)
    JI_CHECK_OPERANDS(gemm_batched)
    return ji_run(handle, JI_GEMM_BATCHED, args);
}

JI_ENTRIES(gemm_batched, matmat)
