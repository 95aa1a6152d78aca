/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of 16-bit numbers, summed in float: hgemm (IEEE half) and bgemm (bfloat16).
 *
 * On a GPU this is one primitive, which needs no workspace. On the host no CBLAS at hand has it, so panels of A and B
 * are widened, multiplied by sgemm and added up in a float panel of C, which is rounded once at the end. How large the
 * panels may be is what workspace decides:
 *
 *     rung "panels"    up to 512 x 512 each, in workspace: 3 MiB at most, whatever the matrices
 *     rung "blocks"    64 x 64 on the stack: sgemm at a size where it is slow
 *
 * The sums differ in where k is cut, so each rung has bits of its own. */

#include "blas/gemm.h"
#include "blas/precision.h"

#define HALF_PANEL 512

/* Panels of about the same width, so that none is a sliver. */
static int64_t half_width(int64_t size) {
    int64_t panels = (size + HALF_PANEL - 1) / HALF_PANEL;
    return panels == 0 ? 0 : (size + panels - 1) / panels;
}

static void half_plan(jplan_t *plan, const jhandle_t *handle, const void *half) {
    const ji_matmat_t *args = &((const ji_half_t *)half)->product;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk", (const int64_t[]){args->m, args->n, args->k});
    /* In proportion to the sizes up to the largest panel; k = 0 wants none. */
    int64_t m = gemm_min(args->m, HALF_PANEL), n = gemm_min(args->n, HALF_PANEL), k = gemm_min(args->k, HALF_PANEL);
    size_t bytes = k == 0 ? 0 : (size_t)(m * k + k * n + m * n) * sizeof(float);
    if (bytes > 0)
        jplan_add(plan, "panels", 1, 0, 1, &bytes);
    jplan_add(plan, "blocks", 0, 0, 0, NULL);
}

static jstatus_t half_run(jhandle_t *handle, const void *half, const jborrow_t *ws) {
    ji_half_t block = *(const ji_half_t *)half;
    block.panels = ws->ptr[0];
    block.m_panel = half_width(block.product.m);
    block.n_panel = half_width(block.product.n);
    block.k_panel = half_width(block.product.k);
    return ji_run(handle, JI_GEMM_HALF, &block);
}

JI_CALL half_call(jhandle_t *handle, void *block) {
    ji_half_t *half = block;
    ji_matmat_t *args = &half->product;
    const bool planned = handle->device->kind == JDEVICE_HOST;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_check(handle, args));
    if (ji_is_query(handle))
        return ji_answer(handle, half, planned && args->m > 0 && args->n > 0 ? half_plan : NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_RETURN_UNLESS_SUCCESS(ji_gemm_take(handle, args, JDATATYPE_F32));
    return planned ? ji_run_plan(handle, half, half_plan, half_run) : ji_run(handle, JI_GEMM_HALF, half);
}

#define GEMM_HALF(t, T, TYPE)                                                                                          \
    jstatus_t jblas_##t##gemm(jhandle_t *handle, jblas_operation_t transa, jblas_operation_t transb, int64_t m,        \
                              int64_t n, int64_t k, const float *alpha, const T *a, int64_t lda, const T *b,           \
                              int64_t ldb, const float *beta, T *c, int64_t ldc) {                                     \
        ji_half_t args = {.product = {.head = {TYPE, 0, &ji_row_gemm_half},                                            \
                                      .transa = transa,                                                                \
                                      .transb = transb,                                                                \
                                      .m = m,                                                                          \
                                      .n = n,                                                                          \
                                      .k = k,                                                                          \
                                      .alpha = {.pointer = alpha},                                                     \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .b = b,                                                                          \
                                      .ldb = ldb,                                                                      \
                                      .beta = {.pointer = beta},                                                       \
                                      .c = c,                                                                          \
                                      .ldc = ldc}};                                                                    \
        return ji_enter(handle, half_call, &args);                                                                     \
    }
GEMM_HALF(h, jfloat16_t, JDATATYPE_F16)
GEMM_HALF(b, jbfloat16_t, JDATATYPE_BF16)
