/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The panels of the host's products, as rungs of plans. */

#include "blas/algorithms/product.h"
#include "blas/algorithms/triangle.h"
#include "blas/host/product.h"
#include "blas/kernels/triangle.h"

ji_panel_bytes_t ji_panel_bytes(const jhandle_t *handle, ji_primitive_t primitive,
                                const ji_head_t *head, int64_t m, int64_t n, int64_t k) {
    const jdatatype_t type = head->type;
    if (!ji_product_packs(handle, primitive, type, m, n, k))
        return (ji_panel_bytes_t){0};

    if (!ji_is_half(type) && ji_product_fits_stack(type, m, n, k))
        return (ji_panel_bytes_t){0};

    const int threads = head->threads.planned;
    return ji_is_half(type) ? ji_blocked_bytes(JDATATYPE_F32, m, n, k, threads)
                            : ji_product_bytes(type, m, n, k, threads);
}

ji_panel_bytes_t ji_trmm_bytes(const jhandle_t *handle, const ji_matmat_t *args, int64_t k) {
    if (args->side == JBLAS_RIGHT &&
        ji_product_reads_few_rows(args->head.type, args->m, args->n, k, args->ldb))
        return (ji_panel_bytes_t){0};
    return ji_panel_bytes(handle, JI_TRMM, &args->head, args->m, args->n, k);
}

ji_panel_bytes_t ji_solve_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    const int64_t order = args->side == JBLAS_LEFT ? args->m : args->n;
    const size_t triangle = ji_triangle_bytes(type, 0, ji_min(order, JI_TRIANGLE_MAX_ORDER));
    if (triangle <= JI_SOLVE_STACK_BYTES || !ji_gemm_packs(handle, type, args->m, args->n, order))
        return (ji_panel_bytes_t){0};

    const ji_panel_bytes_t triangles = {
        .packed = triangle,
        .packed_small = triangle < JI_PACKED_SMALL_BYTES ? triangle : JI_PACKED_SMALL_BYTES};
    /* Products begin above JI_TRIANGLE_MAX_ORDER. Their panels are asked for below it, too: one
     * unknown more is no reason to ask for twice the bytes. None is deeper than half of the order
     * and a block, or than a panel. */
    const int64_t depth = (order + 1) / 2 + JI_TRIANGLE_BLOCK;
    return ji_panels_for_both(
        triangles, ji_panel_bytes(handle, JI_GEMM, &args->head, args->m, args->n, depth));
}

ji_panel_bytes_t ji_factor_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    /* What ji_factor_half() gives, but without its steps. */
    const int64_t half = (args->n + 1) / 2 + ji_host_tuning.factor_multiple - 1;
    const ji_matmat_t solve = {.head = args->head, .side = JBLAS_LEFT, .m = half, .n = half};

    return ji_panels_for_both(ji_solve_bytes(handle, &solve),
                              ji_panel_bytes(handle, JI_GEMM, &args->head, half, half, half));
}

size_t ji_panels_of_threads(const ji_matmat_t *args, size_t bytes) {
    return ji_is_batch(&args->head) ? (size_t)args->batch.threads * ji_panel_share(bytes) : bytes;
}

void ji_panel_add_rungs(jplan_t *plan, const ji_matmat_t *args, ji_panel_bytes_t bytes,
                        uint32_t bits_class) {
    const size_t packed = ji_panels_of_threads(args, bytes.packed),
                 packed_small = ji_panels_of_threads(args, bytes.packed_small);

    if (packed > packed_small)
        jplan_add(plan, JI_PACKED, bits_class, 0, 1, &packed);
    if (packed_small > 0)
        jplan_add(plan, packed > packed_small ? JI_PACKED_SMALL : JI_PACKED, bits_class, 0, 1,
                  &packed_small);
    jplan_add(plan, JI_IN_PLACE, bits_class, 0, bytes.in_place > 0, &bytes.in_place);
}

void ji_panel_take(ji_matmat_t *args, ji_panel_bytes_t bytes, const jborrow_t *ws) {
    if (ws->ptr[0] == NULL)
        return;

    args->panels = ws->ptr[0];
    args->panel_bytes = ji_is_way(ws, JI_PACKED)     ? bytes.packed
                        : ji_is_way(ws, JI_IN_PLACE) ? bytes.in_place
                                                     : bytes.packed_small;
}

/* ---- Ways of gemm ---- */

static ji_panel_bytes_t panels_of_gemm(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panel_bytes(handle, JI_GEMM, &args->head, args->m, args->n, args->k);
}

void ji_gemm_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                       uint32_t bits_class) {
    ji_panel_add_rungs(plan, args, panels_of_gemm(handle, args), bits_class);
}

void ji_gemm_take_panels(ji_matmat_t *args, const jhandle_t *handle, const jborrow_t *ws) {
    ji_panel_take(args, panels_of_gemm(handle, args), ws);
}

size_t ji_gemm_callee_bytes(const jhandle_t *handle, jdatatype_t type, int64_t m, int64_t n,
                            int64_t k) {
    const ji_matmat_t plain = {.head = {.type = type}};
    jplan_t plan;
    jplan_init(&plan, handle, "", "", NULL);
    ji_panel_add_rungs(&plan, &plain, ji_call_panel_bytes(handle, JI_GEMM, type, m, n, k), 0);
    return jplan_bytes(&plan, handle);
}

/* ---- Routines that are a product ---- */

static void product_plan(jplan_t *plan, const jhandle_t *handle, ji_panel_bytes_t bytes,
                         const ji_matmat_t *args, int64_t m, int64_t n, int64_t k) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk", (const int64_t[]){m, n, k});
    ji_panel_add_rungs(plan, args, bytes, 0);
}

jstatus_t ji_answer_panels(jhandle_t *handle, const ji_matmat_t *args, ji_panel_bytes_t bytes,
                           int64_t m, int64_t n, int64_t k) {
    if (bytes.packed == 0)
        return ji_answer(handle, args, NULL);

    jplan_t plan;
    product_plan(&plan, handle, bytes, args, m, n, k);
    return ji_answer_plan(handle, args, &plan);
}

jstatus_t ji_run_panels(jhandle_t *handle, ji_primitive_t primitive, ji_matmat_t *args,
                        ji_panel_bytes_t bytes, int64_t m, int64_t n, int64_t k) {
    if (bytes.packed == 0)
        return ji_run(handle, primitive, args);

    jplan_t plan;
    product_plan(&plan, handle, bytes, args, m, n, k);
    ji_price_for_watchers(handle, args, &plan);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;

    args->head.rung = (int16_t)ws.rung;
    ji_panel_take(args, bytes, &ws);
    const jstatus_t status = ji_run(handle, primitive, args);
    return jstatus_is_error(status) ? status : ws.status;
}

jstatus_t ji_answer_product(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args,
                            int64_t m, int64_t n, int64_t k) {
    return ji_answer_panels(handle, args, ji_panel_bytes(handle, primitive, &args->head, m, n, k),
                            m, n, k);
}

jstatus_t ji_run_product(jhandle_t *handle, ji_primitive_t primitive, ji_matmat_t *args, int64_t m,
                         int64_t n, int64_t k) {
    return ji_run_panels(handle, primitive, args,
                         ji_panel_bytes(handle, primitive, &args->head, m, n, k), m, n, k);
}
