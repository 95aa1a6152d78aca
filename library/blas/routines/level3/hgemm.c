/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of 16-bit numbers, summed in float: hgemm (IEEE half) and bgemm (bfloat16).
 *
 * On a GPU this is one primitive, which needs no workspace. On the host no CBLAS at hand has it, so
 * panels of A and B are widened, multiplied by sgemm and added up in a float panel of C, which is
 * rounded once at the end. How large the panels may be is what workspace decides:
 *
 *     rung "panels"    up to 512 x 512 each, in workspace: 3 MiB at most, whatever the matrices
 *     rung "blocks"    64 x 64 on the stack: sgemm at a size where it is slow
 *
 * The sums differ in where k is cut, so each rung has bits of its own. */

#include "blas/algorithms/gemm.h"
#include "blas/primitives/precision.h"
#include "blas/routine/entry.h"

#define HALF_PANEL 512

/* Panels of about the same width, so that none is a sliver. */
static int64_t half_width(int64_t size) {
    int64_t panels = (size + HALF_PANEL - 1) / HALF_PANEL;

    return panels == 0 ? 0 : (size + panels - 1) / panels;
}

static void half_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk",
               (const int64_t[]){args->m, args->n, args->k});

    /* In proportion to the sizes up to the largest panel; k = 0 wants none. */
    int64_t m = ji_min(args->m, HALF_PANEL), n = ji_min(args->n, HALF_PANEL),
            k = ji_min(args->k, HALF_PANEL);
    size_t bytes = k == 0 ? 0 : (size_t)(m * k + k * n + m * n) * sizeof(float);

    if (bytes > 0)
        jplan_add(plan, "panels", 1, 0, 1, &bytes);
    jplan_add(plan, "blocks", 0, 0, 0, NULL);
}

static jstatus_t half_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    const ji_matmat_t *args = matmat;
    ji_half_t block = {.product = *args,
                       .panels = ws->ptr[0],
                       .m_panel = half_width(args->m),
                       .n_panel = half_width(args->n),
                       .k_panel = half_width(args->k)};

    return ji_run(handle, JI_GEMM_HALF, &block);
}

JI_CALL gemm_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm)

    const bool empty = args->m == 0 || args->n == 0, planned = handle->device->kind == JDEVICE_HOST;
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned && !empty ? half_plan : NULL);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm)
    JI_CHECK_OPERANDS(gemm)

    return planned ? ji_run_plan(handle, args, half_plan, half_run)
                   : half_run(handle, args, &ji_nothing_borrowed);
}

JI_HB(JI_ENTRY, matmat, gemm)
