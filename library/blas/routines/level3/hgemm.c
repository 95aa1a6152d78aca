/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of 16-bit numbers, summed in float: hgemm (IEEE half) and bgemm (bfloat16). One primitive:
 * on a GPU it needs no workspace, on the host the panels of a product and a block of C's sums. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL gemm_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_GEMM_HALF, args, args->m, args->n, args->k);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm)
    JI_CHECK_OPERANDS(gemm)
    return ji_run_product(handle, JI_GEMM_HALF, args, args->m, args->n, args->k);
}

JI_HB(JI_ENTRY, matmat, gemm)
JI_HB(JI_ENTRY_BATCHED, matmat, gemm)
