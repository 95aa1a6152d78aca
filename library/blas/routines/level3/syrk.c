/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha A A^T + beta C on one triangle, and its Hermitian form, whose scalars are real. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL syrk_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(syrk)
    JI_CHECK_WIDTH(syrk, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_SYRK, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(syrk)
    JI_CHECK_OPERANDS(syrk)
    return ji_run_product(handle, JI_SYRK, args, args->n, args->n, args->k);
}

JI_CALL herk_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(herk)
    JI_CHECK_WIDTH(herk, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_HERK, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(herk)
    JI_CHECK_OPERANDS(herk)
    return ji_run_product(handle, JI_HERK, args, args->n, args->n, args->k);
}

JI_ENTRIES(syrk, matmat)
JI_ENTRIES(herk, matmat)
