/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves on the host that are a factorization and substitutions, or these alone: each one function
 * in stream order, since what the first step finds decides about the others. */

#include "blas/kernels/factor.h"
#include "lapack/lapack.h"

void ji_host_trtrs(void *matmat) {
    const ji_matmat_t *call = matmat;
    const ji_factor_kernels_t *const factor = ji_kernels->factor[call->head.type];

    *call->info = call->diag == JBLAS_NON_UNIT ? factor->find_zero(call->n, call->a, call->lda) : 0;
    if (*call->info == 0)
        ji_lapack_solve(call, call->uplo, call->trans, call->diag, call->n);
}

void ji_host_posv(void *matmat) {
    ji_matmat_t call = *(const ji_matmat_t *)matmat;
    ji_host_primitives[JI_POTRF](&call);
    if (*call.info != 0)
        return;

    for (int second = 0; second < 2; second++) {
        const bool plain = (call.uplo == JBLAS_LOWER) != second;
        ji_lapack_solve(&call, call.uplo, plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE,
                        JBLAS_NON_UNIT, call.n);
    }
}

/* ---- Panels ---- */

ji_panel_bytes_t ji_trtrs_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_lapack_solve_bytes(handle, args, args->n);
}

ji_panel_bytes_t ji_posv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panels_for_both(ji_factor_bytes(handle, args),
                              ji_lapack_solve_bytes(handle, args, args->n));
}
