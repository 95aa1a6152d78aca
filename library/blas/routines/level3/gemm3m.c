/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C of complex types by three real products, whatever the size and the
 * accuracy that the handle is set to: what gemm has as a way for large ones. On the host it is one
 * primitive; on a GPU that way's algorithm, and where it has no workspace, gemm. */

#include "blas/algorithms/gemm.h"
#include "blas/routine/entry.h"

static bool gemm3m_is_planned(const ji_matmat_t *args) {
    return args->m > 0 && args->n > 0 && args->k > 0;
}

static void gemm3m_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk",
               (const int64_t[]){args->m, args->n, args->k});
    ji_gemm3m_add_rung(plan, handle, args);
    jplan_add(plan, "plain", JI_GEMM_BITS_PLAIN, 0, 0, NULL);
}

static jstatus_t gemm3m_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)block;
    return ji_is_way(ws, JI_GEMM_3M) ? ji_gemm3m_run(handle, &args, ws)
                                     : ji_run(handle, JI_GEMM, &args);
}

JI_CALL gemm3m_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm3m)

    const bool is_host = handle->device->kind == JDEVICE_HOST;
    if (ji_is_query(handle))
        return is_host ? ji_answer_product(handle, JI_GEMM_BY_3M, args, args->m, args->n, args->k)
                       : ji_answer(handle, args, gemm3m_is_planned(args) ? gemm3m_plan : NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm3m)
    JI_CHECK_OPERANDS(gemm3m)
    if (is_host)
        return ji_run_product(handle, JI_GEMM_BY_3M, args, args->m, args->n, args->k);

    const bool reads = !ji_scalar_is(&args->alpha, args->head.type, 0);
    return gemm3m_is_planned(args) && reads ? ji_run_plan(handle, args, gemm3m_plan, gemm3m_run)
                                            : ji_run(handle, JI_GEMM, args);
}

JI_ENTRIES(gemm3m, matmat)
