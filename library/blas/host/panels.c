/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The panels of the host's products, as rungs of plans. */

#include "blas/algorithms/product.h"
#include "blas/host/product.h"

ji_panel_bytes_t ji_panel_bytes(const jhandle_t *handle, jdatatype_t type, int64_t m, int64_t n,
                                int64_t k) {
    if (!ji_product_packs(handle, type, m, n, k))
        return (ji_panel_bytes_t){0, 0};

    const int threads = (int)ji_max(1, handle->threads.count);
    const ji_product_bytes_t bytes = ji_is_half(type) ? ji_half_bytes(m, n, k, threads)
                                                      : ji_product_bytes(type, m, n, k, threads);
    return (ji_panel_bytes_t){bytes.packed, bytes.packed_small};
}

void ji_product_add_rungs(jplan_t *plan, const jhandle_t *handle, jdatatype_t type, int64_t m,
                          int64_t n, int64_t k, uint32_t bits_class) {
    const ji_panel_bytes_t bytes = ji_panel_bytes(handle, type, m, n, k);

    if (bytes.packed > bytes.packed_small)
        jplan_add(plan, JI_PACKED, bits_class, 0, 1, &bytes.packed);
    if (bytes.packed_small > 0)
        jplan_add(plan, bytes.packed > bytes.packed_small ? JI_PACKED_SMALL : JI_PACKED, bits_class,
                  0, 1, &bytes.packed_small);
    jplan_add(plan, JI_IN_PLACE, bits_class, 0, 0, NULL);
}

void ji_take_panels(ji_matmat_t *args, const jhandle_t *handle, int64_t m, int64_t n, int64_t k,
                    const jborrow_t *ws) {
    if (ws->ptr[0] == NULL)
        return;

    const ji_panel_bytes_t bytes = ji_panel_bytes(handle, args->head.type, m, n, k);
    args->panels = ws->ptr[0];
    args->panel_bytes = ji_is_way(ws, JI_PACKED) ? bytes.packed : bytes.packed_small;
}

static void product_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args, int64_t m,
                         int64_t n, int64_t k) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "mnk", (const int64_t[]){m, n, k});
    ji_product_add_rungs(plan, handle, args->head.type, m, n, k, 0);
}

size_t ji_product_callee_bytes(const jhandle_t *handle, jdatatype_t type, int64_t m, int64_t n,
                               int64_t k) {
    jplan_t plan;
    jplan_init(&plan, handle, "", "", NULL);
    ji_product_add_rungs(&plan, handle, type, m, n, k, 0);
    return jplan_bytes(&plan, handle);
}

jstatus_t ji_answer_product(jhandle_t *handle, const ji_matmat_t *args, int64_t m, int64_t n,
                            int64_t k) {
    if (!ji_product_packs(handle, args->head.type, m, n, k))
        return ji_answer(handle, args, NULL);

    jplan_t plan;
    product_plan(&plan, handle, args, m, n, k);
    return jhandle_answer_plan(handle, &plan);
}

jstatus_t ji_run_product(jhandle_t *handle, ji_primitive_t primitive, ji_matmat_t *args, int64_t m,
                         int64_t n, int64_t k) {
    if (!ji_product_packs(handle, args->head.type, m, n, k))
        return ji_run(handle, primitive, args);

    jplan_t plan;
    product_plan(&plan, handle, args, m, n, k);
    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;

    args->head.rung = ws.rung;
    ji_take_panels(args, handle, m, n, k, &ws);
    const jstatus_t status = ji_run(handle, primitive, args);
    return jstatus_is_error(status) ? status : ws.status;
}
