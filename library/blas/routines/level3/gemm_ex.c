/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C, where A, B and C have types of their own, and it is computed in
 * another. If all are one, it is gemm, with its plan and its bits; otherwise one primitive, on the
 * host on the panels of a product, and where C is narrower on a block of its sums, too. */

#include "blas/algorithms/gemm.h"
#include "blas/host/product.h"
#include "blas/routine/entry.h"

static bool gemm_ex_is_gemm(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    return args->a_type == type && args->b_type == type && args->c_type == type;
}

static ji_panel_bytes_t gemm_ex_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    if (!ji_product_packs(handle, JI_GEMM_EX, args->head.type, args->m, args->n, args->k))
        return (ji_panel_bytes_t){0};
    return ji_mixed_bytes(args, args->head.threads.planned);
}

static jstatus_t gemm_ex_answer(jhandle_t *handle, const ji_matmat_t *args) {
    if (gemm_ex_is_gemm(args))
        return ji_answer(handle, args, ji_gemm_is_planned(handle, args) ? ji_gemm_plan : NULL);
    return ji_answer_panels(handle, args, gemm_ex_bytes(handle, args), args->m, args->n, args->k);
}

static jstatus_t gemm_ex_run(jhandle_t *handle, ji_matmat_t *args) {
    if (!gemm_ex_is_gemm(args))
        return ji_run_panels(handle, JI_GEMM_EX, args, gemm_ex_bytes(handle, args), args->m,
                             args->n, args->k);
    return ji_gemm_is_planned(handle, args) ? ji_run_plan(handle, args, ji_gemm_plan, ji_gemm_run)
                                            : ji_run(handle, JI_GEMM, args);
}

JI_CALL gemm_ex_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_TYPES(JI_TYPES_INTEGER)
    JI_CHECK_SIZES(gemm_ex)

    if (ji_is_query(handle))
        return gemm_ex_answer(handle, args);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm_ex)
    JI_CHECK_OPERANDS(gemm_ex)
    return gemm_ex_run(handle, args);
}

JI_ENTRIES_OF_TYPES(gemm_ex, matmat)
