/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* potrf: the Cholesky factor of a symmetric or Hermitian matrix, in place, by halves (host/triangle_factor.c). The plan
 * is trtri's: workspace for the triangles of the inner solves, or none. */

#include "blas/triangle.h"

void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) { ji_factor_plan(plan, handle, matmat); }

jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    return ji_factor_run(handle, JI_POTRF, matmat, ws);
}
