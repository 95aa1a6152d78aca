/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One triangle of C = alpha op(A) op(B) + beta C. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL gemmt_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemmt)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_GEMMT, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemmt)
    JI_CHECK_OPERANDS(gemmt)
    return ji_run_product(handle, JI_GEMMT, args, args->n, args->n, args->k);
}

JI_ENTRIES(gemmt, matmat)
