/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR, and least squares by it. Of gels F is A where that has as many rows as columns or more, and
 * a copy of A^H elsewhere, which becomes A's factorization when it is turned back: LQ of A is QR of
 * A^H. As on the host (host/gels.c) op(A) is then F, or F^H:
 *
 *     F X = B      least squares      B := Q^H B,  X = inv(R) B1
 *     F^H X = B    the least X        Y = inv(R^H) B1,  X = Q (Y; 0)
 *
 * All steps are given at once, and info is found by looking for it in the end: what a zero on R's
 * diagonal made of B is no solution, and nobody is told that it were. Nothing is scaled. */

#include "lapack/vendor/vendor.h"

static ji_solver_t qr_factor(const ji_head_t *head, int64_t m, int64_t n, const void *a,
                             int64_t lda, const void *tau) {
    return (ji_solver_t){
        .head = *head, .routine = JI_SOLVER_GEQRF, .m = m, .n = n, .a = a, .lda = lda, .tau = tau};
}

/* ---- One step each ---- */

static ji_solver_t geqrf_of(const ji_matmat_t *args) {
    return qr_factor(&args->head, args->m, args->n, args->a, args->lda, args->tau);
}

static ji_solver_t orgqr_of(const ji_matmat_t *args) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_ORGQR,
                         .m = args->m,
                         .n = args->n,
                         .k = args->k,
                         .a = args->a,
                         .lda = args->lda,
                         .tau = args->tau};
}

static ji_solver_t ormqr_of(const ji_matmat_t *args) {
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_ORMQR,
                         .side = args->side,
                         .trans = args->trans,
                         .m = args->m,
                         .n = args->n,
                         .k = args->k,
                         .a = args->a,
                         .lda = args->lda,
                         .tau = args->tau,
                         .b = args->c,
                         .ldb = args->ldc};
}

static void qr_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    ji_vendor_plan(plan, handle, &args->head, args->m, args->n, args->panel_bytes, 0, NULL);
}

#define QR_WAY(name, ROUTINE)                                                                      \
    static jstatus_t name##_ask(jhandle_t *handle, void *block) {                                  \
        ji_matmat_t *args = block;                                                                 \
        const ji_solver_t step = name##_of(args);                                                  \
        return ji_vendor_ask(handle, &step, &args->panel_bytes);                                   \
    }                                                                                              \
    static jstatus_t name##_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {       \
        return ji_vendor_step(handle, name##_of(block), ws);                                       \
    }                                                                                              \
    const ji_vendor_way_t ji_vendor_##name = {1u << JI_SOLVER_##ROUTINE, name##_ask, qr_plan,      \
                                              name##_run};
QR_WAY(geqrf, GEQRF)
QR_WAY(orgqr, ORGQR)
QR_WAY(ormqr, ORMQR)

/* ---- gels ---- */

enum { GELS_TAU = JI_VENDOR_OWN, GELS_F };

/* One call: what all its steps know. */
typedef struct gels_walk {
    jhandle_t *handle;
    const ji_matmat_t *args;
    const jborrow_t *ws;
    bool wide, squares;
    int64_t least, most;
    const void *f; /* most x least */
    int64_t ldf;
    const void *tau;
} gels_walk_t;

/* Without workspace: the sizes alone. */
static gels_walk_t gels_begin(jhandle_t *handle, const ji_matmat_t *args, const jborrow_t *ws) {
    const bool wide = args->m < args->n;
    const int64_t most = ji_max(args->m, args->n);
    return (gels_walk_t){.handle = handle,
                         .args = args,
                         .ws = ws,
                         .wide = wide,
                         .squares = (args->trans == JBLAS_NO_TRANSPOSE) != wide,
                         .least = ji_min(args->m, args->n),
                         .most = most,
                         .f = wide ? ws->ptr[GELS_F] : args->a,
                         .ldf = wide ? most : args->lda,
                         .tau = ws->ptr[GELS_TAU]};
}

/* B = Q^H B, or Q B. */
static ji_solver_t gels_product(const gels_walk_t *walk, bool adjoint) {
    const ji_matmat_t *args = walk->args;
    return (ji_solver_t){.head = args->head,
                         .routine = JI_SOLVER_ORMQR,
                         .side = JBLAS_LEFT,
                         .trans = adjoint ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                         .m = walk->most,
                         .n = args->nrhs,
                         .k = walk->least,
                         .a = walk->f,
                         .lda = walk->ldf,
                         .tau = walk->tau,
                         .b = ji_unconst(args->b),
                         .ldb = args->ldb};
}

static ji_solver_t gels_factor(const gels_walk_t *walk) {
    return qr_factor(&walk->args->head, walk->most, walk->least, walk->f, walk->ldf, walk->tau);
}

/* Rows of B from `first` on become 0. */
static jstatus_t gels_clear(const gels_walk_t *walk, int64_t first) {
    const ji_matmat_t *args = walk->args;
    const jdatatype_t type = args->head.type;
    ji_matmat_t clear = {.head = args->head,
                         .m = walk->most - first,
                         .n = args->nrhs,
                         .alpha = ji_constant(type, 0),
                         .b = ji_at(type, args->b, first, 0, args->ldb),
                         .ldb = args->ldb};
    return ji_run(walk->handle, JI_SCALE_MATRIX, &clear);
}

/* B1 = inv(R) B1, or inv(R^H) B1. */
static jstatus_t gels_solve(const gels_walk_t *walk) {
    const ji_matmat_t *args = walk->args;
    ji_matmat_t solve = {.head = args->head,
                         .side = JBLAS_LEFT,
                         .uplo = JBLAS_UPPER,
                         .transa = walk->squares ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE,
                         .diag = JBLAS_NON_UNIT,
                         .m = walk->least,
                         .n = args->nrhs,
                         .alpha = ji_constant(args->head.type, 1),
                         .a = walk->f,
                         .lda = walk->ldf,
                         .b = args->b,
                         .ldb = args->ldb};
    return ji_run(walk->handle, JI_TRSM, &solve);
}

/* *info = the first zero of R's diagonal. */
static jstatus_t gels_finish(const gels_walk_t *walk) {
    ji_matmat_t look = {.head = walk->args->head,
                        .diag = JBLAS_NON_UNIT,
                        .n = walk->least,
                        .a = walk->f,
                        .lda = walk->ldf,
                        .c = walk->ws->ptr[JI_VENDOR_INFO],
                        .info = walk->args->info};
    JTRY_RETURN(ji_run(walk->handle, JI_TRIANGLE_CHECK, &look));
    look.n = 0; /* no triangle is stored */
    return ji_run(walk->handle, JI_TRIANGLE_STORE, &look);
}

static jstatus_t gels_ask(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    const gels_walk_t walk = gels_begin(handle, args, &ji_no_work);
    const ji_solver_t factor = gels_factor(&walk), product = gels_product(&walk, walk.squares);
    if (walk.least == 0)
        return JSTATUS_SUCCESS;
    JTRY_RETURN(ji_vendor_ask(handle, &factor, &args->panel_bytes));
    return ji_vendor_ask(handle, &product, &args->panel_bytes);
}

static void gels_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t type = args->head.type;
    const size_t own[] = {
        jalloc_matrix_bytes(type, ji_min(args->m, args->n), 1),
        args->m < args->n ? jalloc_matrix_bytes(type, args->n, args->m) : 0,
    };
    ji_vendor_plan(plan, handle, &args->head, args->m, args->n, args->panel_bytes, 2, own);
}

static jstatus_t gels_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    const ji_matmat_t *args = block;
    const ji_head_t *head = &args->head;
    const gels_walk_t walk = gels_begin(handle, args, ws);
    if (walk.least == 0) {
        JTRY_RETURN(gels_clear(&walk, 0));
        return ji_vendor_nothing(handle, head, args->info);
    }

    if (walk.wide)
        JTRY_RETURN(ji_vendor_copy(handle, head, true, args->m, args->n, args->a, args->lda,
                                   ji_unconst(walk.f), walk.ldf));
    JTRY_RETURN(ji_vendor_step(handle, gels_factor(&walk), ws));
    if (walk.squares)
        JTRY_RETURN(ji_vendor_step(handle, gels_product(&walk, true), ws));
    JTRY_RETURN(gels_solve(&walk));
    if (!walk.squares) {
        JTRY_RETURN(gels_clear(&walk, walk.least));
        JTRY_RETURN(ji_vendor_step(handle, gels_product(&walk, false), ws));
    }
    if (walk.wide)
        JTRY_RETURN(ji_vendor_copy(handle, head, true, args->n, args->m, walk.f, walk.ldf,
                                   ji_unconst(args->a), args->lda));
    return gels_finish(&walk);
}

const ji_vendor_way_t ji_vendor_gels = {1u << JI_SOLVER_GEQRF | 1u << JI_SOLVER_ORMQR, gels_ask,
                                        gels_plan, gels_run};
