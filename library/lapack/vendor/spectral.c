/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Eigenvalues and singular values by the vendor. Its gesvd has m >= n alone: of a wide A that of
 * A^H is computed, in workspace, A^H = V diag(s) U^H, and what is wanted is turned back:
 *
 *     jobu, jobvt of A    are jobvt, jobu of A^H
 *     U                   the adjoint of its V^H, m x m
 *     V^H                 the adjoint of its U
 *     over A              what is over A^H, turned back, too
 */

#include "lapack/vendor/vendor.h"

static jstatus_t spectral_finish(jhandle_t *handle, const ji_driver_t *args, const jborrow_t *ws) {
    return ji_vendor_finish(handle, &args->head, ws, args->info, 0, 0, NULL, 0, NULL, 0);
}

/* ---- syevd ---- */

static ji_solver_t syevd_of(const ji_driver_t *args) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_SYEVD,
                         .jobu = (char)args->jobz,
                         .uplo = args->uplo,
                         .n = args->n,
                         .a = args->a,
                         .lda = args->lda,
                         .values = args->w};
}

static jstatus_t syevd_ask(jhandle_t *handle, void *block) {
    ji_driver_t *args = block;
    const ji_solver_t step = syevd_of(args);
    return ji_vendor_ask(handle, &step, &args->work_bytes);
}

static void syevd_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_driver_t *args = block;
    ji_vendor_plan(plan, handle, &args->head, args->n, args->n, args->work_bytes, 0, NULL);
}

static jstatus_t syevd_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    JTRY_RETURN(ji_vendor_step(handle, syevd_of(block), ws));
    return spectral_finish(handle, block, ws);
}

const ji_vendor_way_t ji_vendor_syevd = {1u << JI_SOLVER_SYEVD, syevd_ask, syevd_plan, syevd_run};

/* ---- gesvd ---- */

enum { GESVD_F = JI_VENDOR_OWN, GESVD_LEFT, GESVD_RIGHT };

/* Leading dimensions of what is not made are as if it were, whoever looks at them. */
static int64_t gesvd_ld(bool made, int64_t ld, int64_t rows) { return made ? ld : rows; }

static ji_solver_t gesvd_tall(const ji_driver_t *args) {
    const bool u = JI_IS_WANTED_U(gesvd), vt = JI_IS_WANTED_VT(gesvd);
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_GESVD,
                         .jobu = (char)args->jobu,
                         .jobvt = (char)args->jobvt,
                         .m = args->m,
                         .n = args->n,
                         .a = args->a,
                         .lda = args->lda,
                         .values = args->s,
                         .b = args->u,
                         .ldb = gesvd_ld(u, args->ldu, args->m),
                         .vt = args->vt,
                         .ldvt = gesvd_ld(vt, args->ldvt, args->n)};
}

/* Of A^H: its U is n x n or n x m, its V^H m x m. */
static ji_solver_t gesvd_wide(const ji_driver_t *args, const jborrow_t *ws) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_GESVD,
                         .jobu = (char)args->jobvt,
                         .jobvt = (char)args->jobu,
                         .m = args->n,
                         .n = args->m,
                         .a = ws->ptr[GESVD_F],
                         .lda = args->n,
                         .values = args->s,
                         .b = ws->ptr[GESVD_LEFT],
                         .ldb = args->n,
                         .vt = ws->ptr[GESVD_RIGHT],
                         .ldvt = args->m};
}

static jstatus_t gesvd_ask(jhandle_t *handle, void *block) {
    ji_driver_t *args = block;
    const ji_solver_t step = args->m >= args->n ? gesvd_tall(args) : gesvd_wide(args, &ji_no_work);
    return ji_vendor_ask(handle, &step, &args->work_bytes);
}

static void gesvd_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_driver_t *args = block;
    const jdatatype_t type = args->head.type;
    const bool wide = args->m < args->n;
    const size_t own[] = {
        wide ? jalloc_matrix_bytes(type, args->n, args->m) : 0,
        wide ? jalloc_matrix_bytes(type, args->n, JI_ROWS_VT(gesvd)) : 0,
        wide ? jalloc_matrix_bytes(type, args->m, JI_COLUMNS_U(gesvd)) : 0,
    };
    ji_vendor_plan(plan, handle, &args->head, args->m, args->n, args->work_bytes, 3, own);
}

/* What the SVD of A^H left, turned back. */
static jstatus_t gesvd_turn(jhandle_t *handle, const ji_driver_t *args, const jborrow_t *ws) {
    const ji_head_t *head = &args->head;
    const int64_t m = args->m, n = args->n;
    if (JI_IS_WANTED_VT(gesvd))
        JTRY_RETURN(ji_vendor_copy(handle, head, true, n, JI_ROWS_VT(gesvd), ws->ptr[GESVD_LEFT], n,
                                   args->vt, args->ldvt));
    if (JI_IS_WANTED_U(gesvd))
        JTRY_RETURN(
            ji_vendor_copy(handle, head, true, m, m, ws->ptr[GESVD_RIGHT], m, args->u, args->ldu));
    if (args->jobu != JLAPACK_OVERWRITE && args->jobvt != JLAPACK_OVERWRITE)
        return JSTATUS_SUCCESS;
    return ji_vendor_copy(handle, head, true, n, m, ws->ptr[GESVD_F], n, ji_unconst(args->a),
                          args->lda);
}

static jstatus_t gesvd_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    const ji_driver_t *args = block;
    if (args->m >= args->n) {
        JTRY_RETURN(ji_vendor_step(handle, gesvd_tall(args), ws));
        return spectral_finish(handle, args, ws);
    }

    JTRY_RETURN(ji_vendor_copy(handle, &args->head, true, args->m, args->n, args->a, args->lda,
                               ws->ptr[GESVD_F], args->n));
    JTRY_RETURN(ji_vendor_step(handle, gesvd_wide(args, ws), ws));
    JTRY_RETURN(gesvd_turn(handle, args, ws));
    return spectral_finish(handle, args, ws);
}

const ji_vendor_way_t ji_vendor_gesvd = {1u << JI_SOLVER_GESVD, gesvd_ask, gesvd_plan, gesvd_run};
