/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_LAPACK_H
#define JALLOC_LAPACK_LAPACK_H

/* How jlapack is built: as jblas is (blas/blas.h), of which it uses the rows, the entries, the
 * plans and the host's primitives.
 *
 *   rows.h rows.c   what there is to say of each routine's arguments
 *   lapack.h        what its files have in common
 *   number.h        elements as complex numbers of doubles
 *   host/           what a routine does on the host: one function of the block, which runs in
 *                   stream order, so that what a step finds decides whether there is a next one and
 *                   no caller waits for it; estimate.h, refine.h: what several of them use
 *   guest/          routines that a LAPACK computes, which is loaded for them; rows_guest.h
 *   vendor/         routines that a GPU vendor's LAPACK computes
 *   routines/       a file for each routine: checks, plan, call
 *
 * A function of host/ gets a checked block with the panels that the plan's rung has lent, uses
 * jblas's primitives through its table (so the CBLAS's, where that computes) and kernels, and
 * allocates nothing. Whatever the panels, the bits are the same: the order of steps follows from
 * the shape alone. */

#include "lapack/rows.h"

#include "blas/algorithms/factor.h"
#include "blas/primitives/batch.h"
#include "blas/routine/entry.h"
#include "jalloc/jlapack.h"

#define JI_LAPACK_ROW_(routine, level) extern const ji_row_t ji_row_##routine;
JI_LAPACK_PLAIN_LIST(JI_LAPACK_ROW_)
#undef JI_LAPACK_ROW_
JI_LAPACK_BATCHED_LIST(JI_ROW_)

/* A routine that the host has: elsewhere its vendor's LAPACK may have it (vendor/), or it is
 * refused by name. Before anything else. */
#define JI_LAPACK_ON_HOST()                                                                        \
    if (JI_UNLIKELY(handle->device->kind != JDEVICE_HOST))                                         \
        return ji_lapack_elsewhere(handle, args);
jstatus_t ji_lapack_elsewhere(jhandle_t *handle, void *block) __attribute__((cold));

/* A routine's plan and run, for ji_answer() and ji_run_plan(), with a block of either kind:
 * JI_LAPACK_WAYS(getrf, matmat, many) defines getrf_plan() and getrf_run() by ji_getrf_bytes() and
 * ji_host_getrf(), or of a batch `many`. */
#define JI_LAPACK_WAYS(routine, block, many_)                                                      \
    static const ji_items_way_t routine##_way = {.each = ji_host_##routine, .many = many_};        \
    static void routine##_plan(jplan_t *plan, const jhandle_t *handle, const void *args) {         \
        ji_##block##_plan(plan, handle, args, ji_##routine##_bytes(handle, args));                 \
    }                                                                                              \
    static jstatus_t routine##_run(jhandle_t *handle, const void *args, const jborrow_t *ws) {     \
        return ji_##block##_run(handle, &routine##_way, args, ji_##routine##_bytes(handle, args),  \
                                ws);                                                               \
    }
/* The call function: `empty`, whether there is nothing to do, and what there is to check besides
 * the row, JI_CHECK()s of sizes. They come before the leading dimensions, as in LAPACK, and let
 * pass what the row finds in an argument before theirs. */
#define JI_LAPACK_CALL_CHECKED(routine, empty, ...)                                                \
    JI_CALL routine##_call(jhandle_t *handle, void *block) {                                       \
        ji_matmat_t *args = block;                                                                 \
        JI_LAPACK_ON_HOST()                                                                        \
        __VA_ARGS__ JI_CHECK_SIZES(routine)                                                        \
            JI_CHECK_WIDTH(routine, !(empty)) if (ji_is_query(handle)) return ji_answer(           \
                handle, args, (empty) ? NULL : routine##_plan);                                    \
        if (empty)                                                                                 \
            return JSTATUS_SUCCESS;                                                                \
        JI_CHECK_OPERANDS(routine)                                                                 \
        return ji_run_plan(handle, args, routine##_plan, routine##_run);                           \
    }
/* The same of one that has results, which take(routine) takes, with a block of either kind;
 * `nothing` gives the status where there is nothing to do. JI_LAPACK_CALL_BY() has a plan and a run
 * by other names, too, and says where() it is offered. */
#define JI_LAPACK_CALL_WITH(routine, of, take, empty, nothing)                                     \
    JI_LAPACK_CALL_BY(routine, of, JI_LAPACK_ON_HOST, routine##_plan, routine##_run, take, empty,  \
                      nothing)
#define JI_LAPACK_EVERYWHERE()
#define JI_LAPACK_CALL_BY(routine, of, where, plan, run, take, empty, nothing)                     \
    JI_CALL routine##_call(jhandle_t *handle, void *block) {                                       \
        ji_##of##_t *args = block;                                                                 \
        where() JI_CHECK_SIZES(routine)                                                            \
            JI_CHECK_WIDTH(routine, !(empty)) if (ji_is_query(handle)) return ji_answer(           \
                handle, args, (empty) ? NULL : plan);                                              \
        take(routine);                                                                             \
        if (empty)                                                                                 \
            return ji_return_result(handle, nothing);                                              \
        JI_CHECK_OPERANDS(routine)                                                                 \
        return ji_return_result(handle, ji_run_plan(handle, args, plan, run));                     \
    }
/* info becomes 0 then. */
#define JI_LAPACK_CALL_WITH_INFO(routine, empty)                                                   \
    JI_LAPACK_CALL_WITH(routine, matmat, JI_TAKE_SCALARS, empty,                                   \
                        (args->n = 0, ji_run(handle, JI_SET_INFO, args)))
/* All of it, without batched forms. */
#define JI_LAPACK_ROUTINE_CHECKED(routine, empty, ...)                                             \
    JI_LAPACK_WAYS(routine, matmat, NULL)                                                          \
    JI_LAPACK_CALL_CHECKED(routine, empty, __VA_ARGS__)                                            \
    JI_ENTRIES_PLAIN(routine, matmat)
#define JI_LAPACK_ROUTINE(routine, empty) JI_LAPACK_ROUTINE_CHECKED(routine, empty, )
#define JI_LAPACK_ROUTINE_WITH(routine, of, take, empty, nothing)                                  \
    JI_LAPACK_WAYS(routine, of, NULL)                                                              \
    JI_LAPACK_CALL_WITH(routine, of, take, empty, nothing)                                         \
    JI_ENTRIES_PLAIN(routine, of)
#define JI_LAPACK_ROUTINE_WITH_INFO(routine, empty)                                                \
    JI_LAPACK_WAYS(routine, matmat, NULL)                                                          \
    JI_LAPACK_CALL_WITH_INFO(routine, empty)                                                       \
    JI_ENTRIES_PLAIN(routine, matmat)
/* Of refinement: errors, one of each right-hand side. */
#define JI_LAPACK_TAKE_ERRORS(routine)                                                             \
    if (args->nrhs > 0) {                                                                          \
        JI_CHECK_POINTER(ferr)                                                                     \
        JI_CHECK_POINTER(berr)                                                                     \
    }
/* Results that the host's function gives where there is nothing to do, too. */
#define JI_LAPACK_ROUTINE_WITH_RESULT(routine, empty)                                              \
    JI_LAPACK_ROUTINE_WITH(routine, matmat, JI_TAKE_SCALARS, empty,                                \
                           ji_enqueue_host(handle, ji_host_##routine, args, sizeof *args))
/* And with them. */
#define JI_LAPACK_BATCHED(routine, empty)                                                          \
    JI_LAPACK_WAYS(routine, matmat, NULL)                                                          \
    JI_LAPACK_CALL_CHECKED(routine, empty, )                                                       \
    JI_ENTRIES(routine, matmat)
#define JI_LAPACK_BATCHED_WITH_INFO(routine, empty, many)                                          \
    JI_LAPACK_WAYS(routine, matmat, many)                                                          \
    JI_LAPACK_CALL_WITH_INFO(routine, empty)                                                       \
    JI_ENTRIES(routine, matmat)
/* Of ormqr and ormlq, which differ in how it is done. */
#define JI_LAPACK_PRODUCT_BY_Q(routine)                                                            \
    JI_LAPACK_ROUTINE_CHECKED(routine, JI_LAPACK_PRODUCT_IS_EMPTY, JI_LAPACK_PRODUCT_CHECKS)

/* What rows cannot say, of those that are computed elsewhere as well. */
#define JI_LAPACK_PRODUCT_IS_EMPTY (args->m == 0 || args->n == 0 || args->k == 0)
#define JI_LAPACK_PRODUCT_CHECKS                                                                   \
    if (JI_IS_SIDE(args->side) && JI_IS_HERMITIAN_OPERATION(args->trans) && args->m >= 0 &&        \
        args->n >= 0)                                                                              \
    JI_CHECK(args->k <= JI_ROWS_SIDED(m, n), JSTATUS_INVALID_SIZE, "k", args->k,                   \
             "must be at most %lld", JI_ROWS_SIDED(m, n))
#define JI_LAPACK_ORGQR_CHECKS                                                                     \
    if (args->m >= 0)                                                                              \
        JI_CHECK(args->n <= args->m, JSTATUS_INVALID_SIZE, "n", args->n, "must be at most %lld",   \
                 args->m)                                                                          \
    if (args->m >= 0 && args->n >= 0)                                                              \
    JI_CHECK(args->k <= args->n, JSTATUS_INVALID_SIZE, "k", args->k, "must be at most %lld",       \
             args->n)
#define JI_LAPACK_GELS_IS_EMPTY (ji_max(args->m, args->n) == 0 || args->nrhs == 0)

/* The shape of the plan is m, n, or n. */
void ji_matmat_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                    ji_panel_bytes_t bytes);
jstatus_t ji_matmat_run(jhandle_t *handle, const ji_items_way_t *way, const ji_matmat_t *args,
                        ji_panel_bytes_t bytes, const jborrow_t *ws);

/* ---- Routines that have B and X both ---- */

typedef struct ji_refine {
    ji_head_t head;
    ji_batch_t batch;  /* none */
    jblas_uplo_t uplo; /* 0: A is general */
    jblas_operation_t trans;
    bool mixed; /* by a factor of lower precision, first */
    int64_t n, nrhs;
    const void *a, *af; /* dsgesv writes a */
    int64_t lda, ldaf;
    int64_t *ipiv;
    const void *b;
    int64_t ldb;
    void *x;
    int64_t ldx;
    void *ferr, *berr; /* of the real type */
    int64_t *iter, *info;
    void *panels; /* as of ji_matmat_t */
    size_t panel_bytes;
} ji_refine_t;
static_assert(sizeof(ji_refine_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

static inline void ji_clear_refine(ji_refine_t *args) { memset(args, 0, sizeof *args); }

void ji_refine_plan(jplan_t *plan, const jhandle_t *handle, const ji_refine_t *args,
                    ji_panel_bytes_t bytes);
jstatus_t ji_refine_run(jhandle_t *handle, const ji_items_way_t *way, const ji_refine_t *args,
                        ji_panel_bytes_t bytes, const jborrow_t *ws);

/* As blas.h has of others, for libjbuffer. */
JI_SHARED jstatus_t ji_call_potrf(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED size_t ji_potrf_bytes(const jhandle_t *handle, ji_matmat_t *args);

/* And a call with its plan, which has no rungs where nothing is borrowed: the last one is what the
 * call cannot do without. */
JI_SHARED jstatus_t ji_call_getrf(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_getrf_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_getrs(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_getrs_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_gesv(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_gesv_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_geqrf(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_geqrf_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_orgqr(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_orgqr_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_gels(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_gels_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan);
#define JI_LAPACK_VALUED(routine, planned)                                                         \
    JI_VALUED(routine, matmat)                                                                     \
    jstatus_t ji_call_##routine##_plan(jhandle_t *handle, ji_matmat_t *args, jplan_t *plan) {      \
        args->head.row = &ji_row_##routine;                                                        \
        (void)ji_take_threads(handle, args);                                                       \
        ji_set_up_for(handle);                                                                     \
        *plan = (jplan_t)JPLAN_INIT;                                                               \
        if (planned)                                                                               \
            routine##_plan(plan, handle, args);                                                    \
        return JSTATUS_SUCCESS;                                                                    \
    }

/* ---- host/ ---- */

/* op(T) X = B with a triangle T of that order at a, and the call's B: nrhs, b, ldb. */
static inline void ji_lapack_solve(const ji_matmat_t *call, jblas_uplo_t uplo, jblas_operation_t op,
                                   jblas_diagonal_t diag, int64_t order) {
    ji_matmat_t triangle = *call;
    triangle.uplo = uplo, triangle.diag = diag;
    ji_factor_triangle(JI_TRSM, &triangle, JBLAS_LEFT, op, 1, call->a, ji_unconst(call->b),
                       call->ldb, order, call->nrhs);
}
static inline ji_panel_bytes_t ji_lapack_solve_bytes(const jhandle_t *handle,
                                                     const ji_matmat_t *args, int64_t order) {
    const ji_matmat_t solve = {.head = args->head, .side = JBLAS_LEFT, .m = order, .n = args->nrhs};
    return ji_solve_bytes(handle, &solve);
}

/* Columns in a room of their own, where they lie well in the caches, whatever A's leading
 * dimension: what is from one to the next, an odd number of cache lines; a copy, m x n. */
int64_t ji_room_ld(jdatatype_t type, int64_t m);
void ji_room_copy(jdatatype_t type, int64_t m, int64_t n, const void *from, int64_t ld_from,
                  void *to, int64_t ld_to);
/* Whether that is faster than an m x n matrix as it lies. */
static inline bool ji_room_pays(jdatatype_t type, int64_t m, int64_t n, int64_t lda) {
    return ji_max(m, lda) * n * (int64_t)ji_sizeof(type) >= ji_host_tuning.room_least;
}

/* The exchanges [first, end) of `count` columns from `a` on, whose first row is row 0: rows i and
 * ipiv[i] - 1, from `first` on, or from `end` back. */
void ji_exchange(jdatatype_t type, void *a, int64_t lda, int64_t count, const int64_t *ipiv,
                 int64_t first, int64_t end, bool back);
/* Whether 1 / pivot is a normal number; then it is `inverse`. */
bool ji_invert(jdatatype_t type, const void *pivot, ji_value_t *inverse);
/* x /= pivot, where no reciprocal serves: each is divided by it. */
void ji_divide_each(jdatatype_t type, int64_t n, const void *pivot, void *x, int64_t incx);

/* A = P L U in place: m, n, a, lda, ipiv, info. The panels that its products and solves want. */
void ji_host_getrf(void *matmat);
int64_t ji_host_getrf_items(ji_items_t *items, int64_t first, int64_t end); /* small ones */
ji_panel_bytes_t ji_getrf_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* op(A) X = B with that factor: trans, n, nrhs, a, lda, ipiv, b, ldb. */
void ji_host_getrs(void *matmat);
ji_panel_bytes_t ji_getrs_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* Both; no solve where U has a zero on its diagonal. */
void ji_host_gesv(void *matmat);
ji_panel_bytes_t ji_gesv_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* Its inverse, in place: n, a, lda, ipiv, info. */
void ji_host_getri(void *matmat);
ji_panel_bytes_t ji_getri_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* op(A) X = B with a triangle: uplo, trans, diag, n, nrhs, a, lda, b, ldb, info. */
void ji_host_trtrs(void *matmat);
ji_panel_bytes_t ji_trtrs_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* A X = B with a positive definite A: uplo, n, nrhs, a, lda, b, ldb, info. */
void ji_host_posv(void *matmat);
ji_panel_bytes_t ji_posv_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* U U^H or L^H L over the triangle: uplo, n, a, lda. */
void ji_host_lauum(void *matmat);
ji_panel_bytes_t ji_lauum_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* The inverse by Cholesky's factor, over it: uplo, n, a, lda, info. */
void ji_host_potri(void *matmat);
ji_panel_bytes_t ji_potri_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* A = L D L^T, or U D U^T, in place: uplo, n, a, lda, ipiv, info; of a Hermitian matrix L D L^H. */
void ji_host_sytrf(void *matmat);
ji_panel_bytes_t ji_sytrf_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_hetrf(void *matmat);
ji_panel_bytes_t ji_hetrf_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* A X = B with that factor: uplo, n, nrhs, a, lda, ipiv, b, ldb. */
void ji_host_sytrs(void *matmat);
ji_panel_bytes_t ji_sytrs_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_hetrs(void *matmat);
ji_panel_bytes_t ji_hetrs_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* Both; no solve where D has a zero on its diagonal. */
void ji_host_sysv(void *matmat);
ji_panel_bytes_t ji_sysv_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_hesv(void *matmat);
ji_panel_bytes_t ji_hesv_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* A = Q R in place: m, n, a, lda, tau. */
void ji_host_geqrf(void *matmat);
ji_panel_bytes_t ji_geqrf_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* The first n columns of Q, of k reflectors, over them: m, n, k, a, lda, tau. */
void ji_host_orgqr(void *matmat);
ji_panel_bytes_t ji_orgqr_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* C = op(Q) C, or C op(Q): side, trans, m, n, k, a, lda, tau, c, ldc. */
void ji_host_ormqr(void *matmat);
ji_panel_bytes_t ji_ormqr_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* The same of A = L Q, whose reflectors lie in rows. */
void ji_host_gelqf(void *matmat);
ji_panel_bytes_t ji_gelqf_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_orglq(void *matmat);
ji_panel_bytes_t ji_orglq_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_ormlq(void *matmat);
ji_panel_bytes_t ji_ormlq_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* A P = Q R in place, of the column order jpvt: m, n, a, lda, jpvt, tau. */
void ji_host_geqp3(void *matmat);
void ji_host_geqp3_order(void *matmat); /* of no rows: jpvt alone */
ji_panel_bytes_t ji_geqp3_bytes(const jhandle_t *handle, const ji_matmat_t *args);
/* The X of the least |B - op(A) X|, or the least X: trans, m, n, nrhs, a, lda, b, ldb, info. */
void ji_host_gels(void *matmat);
ji_panel_bytes_t ji_gels_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* rcond by the factor that getrf left, or potrf, or of a triangle: norm, uplo, diag, n, a, lda,
 * anorm, rcond. */
void ji_host_gecon(void *matmat);
ji_panel_bytes_t ji_gecon_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_pocon(void *matmat);
ji_panel_bytes_t ji_pocon_bytes(const jhandle_t *handle, const ji_matmat_t *args);
void ji_host_trcon(void *matmat);
ji_panel_bytes_t ji_trcon_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* X is refined, by the factor that getrf left in af, or potrf: uplo or trans, n, nrhs, a, lda, af,
 * ldaf, ipiv, b, ldb, x, ldx, ferr, berr. */
void ji_host_gerfs(void *refine);
ji_panel_bytes_t ji_gerfs_bytes(const jhandle_t *handle, const ji_refine_t *args);
void ji_host_porfs(void *refine);
ji_panel_bytes_t ji_porfs_bytes(const jhandle_t *handle, const ji_refine_t *args);

/* A X = B by a factorization in the next lower precision and refinement, or else in full: uplo, n,
 * nrhs, a, lda, ipiv, b, ldb, x, ldx, iter, info. The rung JI_MIXED is before those of the full
 * one, whose panels `bytes` are. */
#define JI_MIXED "mixed"
typedef ji_refine_t ji_mixed_t;
static inline void ji_clear_mixed(ji_mixed_t *args) { ji_clear_refine(args); }
void ji_mixed_plan(jplan_t *plan, const jhandle_t *handle, const ji_mixed_t *args,
                   ji_panel_bytes_t full);
jstatus_t ji_mixed_run(jhandle_t *handle, const ji_items_way_t *way, const ji_mixed_t *args,
                       ji_panel_bytes_t full, const jborrow_t *ws);
void ji_host_dsgesv(void *mixed);
ji_panel_bytes_t ji_dsgesv_bytes(const jhandle_t *handle, const ji_refine_t *args);
void ji_host_dsposv(void *mixed);
ji_panel_bytes_t ji_dsposv_bytes(const jhandle_t *handle, const ji_refine_t *args);

#endif
