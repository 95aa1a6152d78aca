/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha op(A) op(B) + beta C. With the accuracy componentwise, and below a size of the
 * device's, there is no plan, so a product costs little more than the vendor's. Otherwise the ways
 * that turn workspace and digits into speed, best first, those that the type and the device have:
 *
 *     complex   "3m"                        three real products, algorithms/gemm3m.c; jblas's own
 *                                           on the host, host/gemm_3m.c
 *     float     "emulated-bf16x9"           the vendor's own emulation, which needs nothing; then
 *                                           none of the next two
 *     float     "split-bf16", "split-fp16"  tensor cores, algorithms/gemm_split.c
 *     real      "strassen-2", "strassen-1"  halvings, algorithms/strassen.c
 *     all       "plain"                     the device's own, and the one whose bits the policy
 *                                           "same bits" has */

#include "blas/algorithms/gemm.h"
#include "blas/host/product.h"
#include "blas/primitives/precision.h"
#include "blas/routine/entry.h"

#define GEMM_EMULATED "emulated-bf16x9"

/* With scalars on the host alone: the vendor does not promise what an alpha of 0 does, and one on
 * the device may be 0. */
static bool gemm_emulated_pays(const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_blas_ops_t *blas = handle->device->blas;
    const ji_tuning_t *tuning = ji_tuning(handle);

    return args->head.type == JDATATYPE_F32 && ji_gemm_smallest(args) >= tuning->split_least &&
           ji_host_pointers(handle) && !tuning->split_by_kernels && blas != NULL &&
           blas->has_emulated(handle->device);
}

/* The rungs that are bounded in the norm alone. */
static void gemm_add_ways(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    if (gemm_emulated_pays(handle, args)) {
        jplan_add(plan, GEMM_EMULATED, JI_GEMM_BITS_EMULATED, 0, 0, NULL);
        return;
    }

    if (ji_gemm3m_pays(handle, args))
        ji_gemm3m_add_rung(plan, handle, args);
    if (ji_gemm_split_pays(handle, args))
        ji_gemm_split_add_rungs(plan, handle, args);
    ji_strassen_add_rungs(plan, args, ji_strassen_levels(handle, args));
}

void ji_gemm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk",
               (const int64_t[]){args->m, args->n, args->k});

    if (ji_gemm_has_ways(handle, args))
        gemm_add_ways(plan, handle, args);

    if (ji_gemm_packs(handle, args->head.type, args->m, args->n, args->k))
        ji_gemm_add_rungs(plan, handle, args, JI_GEMM_BITS_PLAIN);
    else
        jplan_add(plan, "plain", JI_GEMM_BITS_PLAIN, 0, 0, NULL);
}

jstatus_t ji_gemm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)matmat;
    if (ji_scalar_is(&args.alpha, args.head.type, 0))
        return ji_run(handle, JI_GEMM, &args);

    if (ji_is_way(ws, GEMM_EMULATED))
        return ji_run(handle, JI_GEMM_EMULATED, &args);
    if (ji_is_way(ws, JI_GEMM_3M))
        return ji_gemm3m_run(handle, &args, ws);

    for (ji_split_way_t way = (ji_split_way_t)0; way < JI_SPLIT_WAYS; ++way)
        if (ji_is_way(ws, ji_split_form(way)->name))
            return ji_gemm_split_run(handle, &args, way, ws);

    for (int levels = 1; levels <= 2; ++levels)
        if (ji_is_way(ws, ji_strassen_name(levels)))
            return ji_strassen_run(handle, &args, levels, ws->ptr[0]);

    ji_gemm_take_panels(&args, handle, ws);
    return ji_run(handle, JI_GEMM, &args);
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

    return JI_UNLIKELY(planned) ? ji_run_plan(handle, args, ji_gemm_plan, ji_gemm_run)
                                : ji_run(handle, JI_GEMM, args);
}

/* The smallest products with A not transposed, as ji_host_gemm() does them. What stands around one
 * of 8 x 8 would take longer than itself. */
static inline __attribute__((always_inline)) bool
gemm_at_once(jdatatype_t type, jhandle_t *handle, jblas_operation_t transa,
             jblas_operation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
             const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
             int64_t ldc) {
    const bool is_small = (uint64_t)m - 1 < JI_GEMM_AT_ONCE && (uint64_t)n - 1 < JI_GEMM_AT_ONCE &&
                          (uint64_t)k - 1 < JI_GEMM_AT_ONCE && m <= lda && m <= ldc &&
                          (ji_is_transposed(transb) ? n : k) <= ldb &&
                          (lda | ldb | ldc) < JI_SMALL_SIZE;
    if (JI_UNLIKELY(!ji_is_now(handle) || handle->accuracy == JACCURACY_NORMWISE || !is_small ||
                    transa != JBLAS_NO_TRANSPOSE || !JI_IS_ANY_OPERATION(transb) || a == NULL ||
                    b == NULL || c == NULL || alpha == NULL || beta == NULL ||
                    !JI_IS_OWN(JI_GEMM, gemm)))
        return false;

    const ji_matmat_t args = {.head = {.type = type},
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = {.pointer = alpha},
                              .a = a,
                              .lda = lda,
                              .b = b,
                              .ldb = ldb,
                              .beta = {.pointer = beta},
                              .c = c,
                              .ldc = ldc};
    if (host_is_zero(type, &args.alpha))
        return false;

    ji_product_direct_t direct;
    ji_gemm_direct(&args, &direct);
    ji_kernels->batch[type]->product(&direct);
    return true;
}

JI_SDCZ(JI_ENTRY_AT_ONCE, matmat, gemm)
JI_SDCZ(JI_ENTRY_BATCHED, matmat, gemm)
JI_VALUED(gemm, matmat)
JI_VALUED_BYTES(gemm, matmat, ji_gemm_is_planned(handle, args))
