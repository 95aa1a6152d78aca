/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trtri: the inverse of a triangle, in place, by halves (host/triangle_factor.c), and the plan that it shares with
 * potrf.
 *
 * Rungs: "inverse" and "inverse-64", with workspace for the triangles that the inner solves make ready (see trsm.c),
 * and "substitution", which leaves these to the CBLAS. Small matrices need no solve that pays, and have the last rung
 * alone. */

#include "blas/triangle.h"

void ji_factor_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    jdatatype_t type = args->head.type;
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);
    int64_t half = ji_factor_half(args->n);
    ji_matmat_t solve = {.head = args->head, .side = JBLAS_LEFT, .m = half, .n = args->n - half}; /* the largest one */
    if (args->n > JI_FACTOR_BASE && ji_triangle_pays(&solve)) {
        size_t bytes = ji_triangle_bytes(type, half < JI_TRIANGLE_MAX_ORDER ? half : JI_TRIANGLE_MAX_ORDER);
        jplan_add(plan, "inverse", 1, 0, 1, &bytes);
        if (half > JI_TRIANGLE_SMALL_LEAF) {
            bytes = ji_triangle_bytes(type, JI_TRIANGLE_SMALL_LEAF);
            jplan_add(plan, "inverse-64", 2, 0, 1, &bytes);
        }
    }
    jplan_add(plan, "substitution", 0, 0, 0, NULL);
}

jstatus_t ji_factor_run(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args, const jborrow_t *ws) {
    ji_matmat_t block = *args;
    block.c = ws->ptr[0];
    block.k = ji_triangle_leaf(ws->rung == 0 ? JI_TRIANGLE_MAX_ORDER : JI_TRIANGLE_SMALL_LEAF);
    return ji_run(handle, primitive, &block);
}

void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) { ji_factor_plan(plan, handle, matmat); }

jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    return ji_factor_run(handle, JI_TRTRI, matmat, ws);
}
