/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One triangle of C = alpha op(A) op(B) + beta C: MKL's gemmt is the reference's gemmtr, and syrkx
 * is that of which op(B) is B transposed where op(A) is A, and the other way round. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

/* Behind the checks of sizes. */
JI_CALL gemmt_sized(jhandle_t *handle, ji_matmat_t *args) {
    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_GEMMT, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemmt)
    JI_CHECK_OPERANDS(gemmt)
    return ji_run_product(handle, JI_GEMMT, args, args->n, args->n, args->k);
}

JI_CALL gemmt_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemmt)
    return gemmt_sized(handle, args);
}

JI_CALL gemmtr_call(jhandle_t *handle, void *block) { return gemmt_call(handle, block); }

JI_CALL syrkx_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(syrkx)
    args->transb = ji_operation_of_second(args->trans, false);
    return gemmt_sized(handle, args);
}

/* Its beta is real, and so is the diagonal behind it. */
JI_CALL herkx_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(herkx)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_HERKX, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(herkx)
    JI_CHECK_OPERANDS(herkx)
    return ji_run_product(handle, JI_HERKX, args, args->n, args->n, args->k);
}

JI_ENTRIES(gemmt, matmat)
JI_ENTRIES(gemmtr, matmat)
JI_ENTRIES(syrkx, matmat)
JI_ENTRIES(herkx, matmat)
