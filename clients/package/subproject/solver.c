/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A library of somebody else's, whose interface has a handle. */

#include <jalloc/jalloc.h>

jstatus_t solver_norm(jhandle_t *handle, int64_t n, const double *x, double *norm);

jstatus_t solver_norm(jhandle_t *handle, int64_t n, const double *x, double *norm) {
    return jblas_dnrm2(handle, n, x, 1, norm);
}
