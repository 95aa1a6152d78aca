/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves A X = B with the Cholesky factor in A: two triangular solves. Both have the shape of one
 * plan, which is asked for once; they run one after the other, so the workspace of one serves
 * both. */

#include "blas/algorithms/algorithm.h"
#include "lapack/lapack.h"

/* The first solve (backward: the second one), as a trsm: n x nrhs on the left. */
static ji_matmat_t potrs_solve(const ji_matmat_t *args, bool second) {
    ji_matmat_t solve = *args;
    const bool plain = (args->uplo == JBLAS_LOWER) != second;

    solve.side = JBLAS_LEFT;
    solve.transa = plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE;
    solve.diag = JBLAS_NON_UNIT;
    solve.m = args->n;
    solve.n = args->nrhs;
    solve.alpha = ji_constant(args->head.type, 1);

    return solve;
}

static void potrs_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    ji_matmat_t solve = potrs_solve(block, false);
    ji_trsm_plan(plan, handle, &solve);
}

static jstatus_t potrs_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    ji_matmat_t first = potrs_solve(block, false), second = potrs_solve(block, true);
    jstatus_t status = ji_trsm_run(handle, &first, ws);
    return jstatus_is_error(status) ? status : ji_trsm_run(handle, &second, ws);
}

JI_CALL potrs_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(potrs)

    const bool empty = args->n == 0 || args->nrhs == 0;
    JI_CHECK_WIDTH(potrs, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : potrs_plan);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(potrs)
    return ji_run_plan(handle, args, potrs_plan, potrs_run);
}

JI_ENTRIES(potrs, matmat)
