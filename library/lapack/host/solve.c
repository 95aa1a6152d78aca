/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves on the host that are a factorization and substitutions, or these alone: each one function
 * in stream order, since what the first step finds decides about the others. */

#include "blas/kernels/factor.h"
#include "lapack/lapack.h"

/* op(A) X = B with the call's triangle. */
static void solve_triangle(const ji_matmat_t *call, jblas_operation_t op) {
    ji_matmat_t solve = *call;
    solve.side = JBLAS_LEFT, solve.transa = op;
    solve.m = call->n, solve.n = call->nrhs;
    solve.alpha = ji_constant(call->head.type, 1);

    ji_host_primitives[JI_TRSM](&solve);
}

void ji_host_trtrs(void *matmat) {
    const ji_matmat_t *call = matmat;
    const ji_factor_kernels_t *const factor = ji_kernels->factor[call->head.type];

    *call->info = call->diag == JBLAS_NON_UNIT ? factor->find_zero(call->n, call->a, call->lda) : 0;
    if (*call->info == 0)
        solve_triangle(call, call->trans);
}

void ji_host_posv(void *matmat) {
    ji_matmat_t call = *(const ji_matmat_t *)matmat;
    ji_host_primitives[JI_POTRF](&call);
    if (*call.info != 0)
        return;

    const bool lower = call.uplo == JBLAS_LOWER;
    call.diag = JBLAS_NON_UNIT;
    solve_triangle(&call, lower ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE);
    solve_triangle(&call, lower ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE);
}

/* ---- Panels ---- */

ji_panel_bytes_t ji_trtrs_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_getrs_bytes(handle, args);
}

ji_panel_bytes_t ji_posv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panels_for_both(ji_factor_bytes(handle, args), ji_getrs_bytes(handle, args));
}
