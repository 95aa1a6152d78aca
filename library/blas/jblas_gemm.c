/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C. With the accuracy componentwise, and below a size of the device's, there is no plan, so
 * a product costs little more than the vendor's. Otherwise the ways that turn workspace and digits into speed, best
 * first, those that the type and the device have:
 *
 *     complex   "3m"                        three real products, gemm3m.c
 *     float     "split-bf16", "split-tf32"  tensor cores, gemm_split.c
 *     real      "strassen-2", "strassen-1"  halvings, strassen.c
 *     all       "plain"                     the device's own, and the one whose bits the policy "same bits" has */

#include "blas/entry.h"
#include "blas/gemm.h"
#include "blas/host/product.h"

void ji_gemm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk", (const int64_t[]){args->m, args->n, args->k});
    if (ji_gemm3m_pays(handle, args))
        ji_gemm3m_add_rung(plan, handle, args);
    if (ji_gemm_split_pays(handle, args))
        ji_gemm_split_add_rung(plan, handle, args);
    ji_strassen_add_rungs(plan, args, ji_strassen_levels(handle, args));
    jplan_add(plan, "plain", JI_GEMM_BITS_PLAIN, 0, 0, NULL);
}

jstatus_t ji_gemm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)matmat;
    if (ws->ptr[0] == NULL || ji_scalar_is(&args.alpha, args.head.type, 0))
        return ji_run(handle, JI_GEMM, &args);
    /* Which rung it is follows from the order above. Complex types have this one. */
    int rung = ws->rung;
    if (ji_gemm3m_pays(handle, &args))
        return ji_gemm3m_run(handle, &args, ws);
    if (ji_gemm_split_pays(handle, &args) && rung-- == 0)
        return ji_gemm_split_run(handle, &args, ws);
    return ji_strassen_run(handle, &args, ji_strassen_levels(handle, &args) - rung, ws->ptr[0]);
}

JI_CALL gemm_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm)
    const bool planned = ji_gemm_is_planned(handle, args);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_gemm_plan : NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm)
    JI_CHECK_OPERANDS(gemm)
    if (JI_UNLIKELY(planned))
        return ji_run_plan(handle, args, ji_gemm_plan, ji_gemm_run);
    if (JI_UNLIKELY(!handle->runs_inline))
        return ji_run(handle, JI_GEMM, args);
    ji_host_gemm_inline(args);
    return JSTATUS_SUCCESS;
}

JI_SDCZ(JI_ENTRY, matmat, gemm)
