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
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);
    int64_t half = ji_factor_half(args->n);
    ji_matmat_t solve = {.head = args->head, .side = JBLAS_LEFT, .m = half, .n = args->n - half}; /* the largest one */
    ji_triangle_add_rungs(plan, args->head.type, half, args->n > JI_FACTOR_BASE && ji_triangle_pays(&solve));
}

jstatus_t ji_factor_run(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args, const jborrow_t *ws) {
    ji_matmat_t block = *args;
    block.c = ws->ptr[0];
    block.k = ji_triangle_rung_leaf(ws);
    return ji_run(handle, primitive, &block);
}

void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) { ji_factor_plan(plan, handle, matmat); }

jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    return ji_factor_run(handle, JI_TRTRI, matmat, ws);
}
