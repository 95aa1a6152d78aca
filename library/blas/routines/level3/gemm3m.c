/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C of complex types by three real products, whatever the size and the
 * accuracy that the handle is set to: what gemm has as a way for large ones. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL gemm3m_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm3m)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_GEMM_BY_3M, args, args->m, args->n, args->k);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm3m)
    JI_CHECK_OPERANDS(gemm3m)
    return ji_run_product(handle, JI_GEMM_BY_3M, args, args->m, args->n, args->k);
}

JI_ENTRIES(gemm3m, matmat)
