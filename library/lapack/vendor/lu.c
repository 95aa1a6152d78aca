/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU and its solves by the vendor. Nobody looks at what getrf found before getrs comes: so gesv
 * solves for a copy of B, which becomes B where there is no zero on U's diagonal, in the same
 * launch that widens info. */

#include "lapack/vendor/vendor.h"

/* Of an m x n matrix; gesv's is square. */
static ji_solver_t lu_factor(const ji_matmat_t *args, int64_t m) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_GETRF,
                         .m = m,
                         .n = args->n,
                         .a = args->a,
                         .lda = args->lda,
                         .ipiv = args->ipiv};
}

static ji_solver_t lu_solve(const ji_matmat_t *args, jblas_operation_t trans, const void *b,
                            int64_t ldb) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_GETRS,
                         .trans = trans,
                         .n = args->n,
                         .k = args->nrhs,
                         .a = args->a,
                         .lda = args->lda,
                         .ipiv = args->ipiv,
                         .b = ji_unconst(b),
                         .ldb = ldb};
}

/* ---- getrf ---- */

static jstatus_t getrf_ask(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const ji_solver_t factor = lu_factor(args, args->m);
    return ji_vendor_ask(handle, &factor, &args->panel_bytes);
}

static void getrf_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    ji_vendor_plan(plan, handle, &args->head, args->m, args->n, args->panel_bytes, 0, NULL);
}

static jstatus_t getrf_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    const ji_matmat_t *args = block;
    JTRY_RETURN(ji_vendor_step(handle, lu_factor(args, args->m), ws));
    return ji_vendor_finish(handle, &args->head, ws, args->info, 0, 0, NULL, 0, NULL, 0);
}

const ji_vendor_way_t ji_vendor_getrf = {1u << JI_SOLVER_GETRF, getrf_ask, getrf_plan, getrf_run};

/* ---- getrs ---- */

static jstatus_t getrs_ask(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const ji_solver_t solve = lu_solve(args, args->trans, args->b, args->ldb);
    return ji_vendor_ask(handle, &solve, &args->panel_bytes);
}

static void getrs_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    ji_vendor_plan(plan, handle, &args->head, args->n, args->nrhs, args->panel_bytes, 0, NULL);
}

static jstatus_t getrs_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    const ji_matmat_t *args = block;
    return ji_vendor_step(handle, lu_solve(args, args->trans, args->b, args->ldb), ws);
}

const ji_vendor_way_t ji_vendor_getrs = {1u << JI_SOLVER_GETRS, getrs_ask, getrs_plan, getrs_run};

/* ---- gesv ---- */

static jstatus_t gesv_ask(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const ji_solver_t factor = lu_factor(args, args->n),
                      solve = lu_solve(args, JBLAS_NO_TRANSPOSE, NULL, args->n);
    JTRY_RETURN(ji_vendor_ask(handle, &factor, &args->panel_bytes));
    return args->nrhs > 0 ? ji_vendor_ask(handle, &solve, &args->panel_bytes) : JSTATUS_SUCCESS;
}

static void gesv_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    const size_t copy = jalloc_matrix_bytes(args->head.type, args->n, args->nrhs);
    ji_vendor_plan(plan, handle, &args->head, args->n, args->nrhs, args->panel_bytes, 1, &copy);
}

static jstatus_t gesv_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    const ji_matmat_t *args = block;
    const ji_head_t *head = &args->head;
    const int64_t n = args->n;
    void *const x = ws->ptr[JI_VENDOR_OWN];
    JTRY_RETURN(ji_vendor_step(handle, lu_factor(args, n), ws));
    if (args->nrhs == 0)
        return ji_vendor_finish(handle, head, ws, args->info, 0, 0, NULL, 0, NULL, 0);

    ji_solver_t solve = lu_solve(args, JBLAS_NO_TRANSPOSE, x, n);
    solve.info = (int32_t *)ws->ptr[JI_VENDOR_INFO] + 1; /* the factorization's stays */
    JTRY_RETURN(ji_vendor_copy(handle, head, false, n, args->nrhs, args->b, args->ldb, x, n));
    JTRY_RETURN(ji_vendor_step(handle, solve, ws));
    return ji_vendor_finish(handle, head, ws, args->info, n, args->nrhs, x, n, ji_unconst(args->b),
                            args->ldb);
}

const ji_vendor_way_t ji_vendor_gesv = {1u << JI_SOLVER_GETRF | 1u << JI_SOLVER_GETRS, gesv_ask,
                                        gesv_plan, gesv_run};
