/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* potrf: the Cholesky factor of a symmetric or Hermitian matrix, in place, by halves:
 *
 *     A11 = L11 L11^H;  A21 := A21 inv(L11)^H, a solve;  A22 -= A21 A21^H;  then A22 the same way
 *
 * down to JI_POTRF_BASE, which stops at a pivot that is not positive and leaves it on the diagonal, everything before
 * it done and positive. On the host the whole walk is one primitive (host/triangle_factor.c): each base says by info
 * whether there is a next step, and no caller waits for it.
 *
 * A GPU is given all steps at once. Those behind a pivot that failed compute with what is there; but they write to the
 * right of it and below alone, so it and the factor before it stay, and in the end info is found by looking for it:
 * JI_PIVOT_INFO.
 *
 * Rungs: those of the largest solve (trsm.c). Small matrices need no solve that pays, and have the last rung alone. */

#include "blas/triangle.h"

/* What one walk knows. */
typedef struct potrf_walk {
    jhandle_t *handle;
    const ji_matmat_t *call;
    const ji_triangle_space_t *space;
    const ji_tuning_t *tuning;
} potrf_walk_t;

static bool potrf_failed(const potrf_walk_t *walk) { return walk->handle == NULL && *walk->call->info != 0; }

static jstatus_t potrf_base(const potrf_walk_t *walk, void *a, int64_t first, int64_t n) {
    ji_matmat_t block = *walk->call;
    block.a = a;
    block.n = n;
    block.k = first;
    return ji_triangle_run(walk->handle, JI_POTRF_BASE, &block, sizeof block);
}

/* `second` -= corner^H corner (upper) or corner corner^H: n x n, by n x k. */
static jstatus_t potrf_update(const potrf_walk_t *walk, void *corner, void *second, int64_t n, int64_t k) {
    const ji_matmat_t *call = walk->call;
    jdatatype_t type = call->head.type, real = ji_real_of(type);
    ji_matmat_t update = {.head = call->head,
                          .uplo = call->uplo,
                          .transa = call->uplo == JBLAS_LOWER ? JBLAS_NO_TRANSPOSE
                                    : ji_is_complex(type)     ? JBLAS_CONJUGATE_TRANSPOSE
                                                              : JBLAS_TRANSPOSE,
                          .n = n,
                          .k = k,
                          .alpha = ji_constant(real, -1),
                          .a = corner,
                          .lda = call->lda,
                          .beta = ji_constant(real, 1),
                          .c = second,
                          .ldc = call->lda};
    return ji_triangle_run(walk->handle, ji_is_complex(type) ? JI_HERK : JI_SYRK, &update, sizeof update);
}

/* Factors the n x n matrix at a, whose first column is column `first` of the whole. */
static jstatus_t potrf_halves(const potrf_walk_t *walk, void *a, int64_t first, int64_t n) {
    if (n <= walk->tuning->factor_base)
        return potrf_base(walk, a, first, n);
    const ji_matmat_t *call = walk->call;
    jdatatype_t type = call->head.type;
    bool upper = call->uplo == JBLAS_UPPER;
    int64_t half = ji_factor_half(walk->tuning, n), rest = n - half;
    void *corner = upper ? ji_at(type, a, 0, half, call->lda) : ji_at(type, a, half, 0, call->lda);
    void *second = ji_at(type, a, half, half, call->lda);
    JTRY_RETURN(potrf_halves(walk, a, first, half));
    if (potrf_failed(walk))
        return JSTATUS_SUCCESS;
    JTRY_RETURN(ji_factor_solve(walk->handle, call, walk->space, upper ? JBLAS_LEFT : JBLAS_RIGHT,
                                JBLAS_CONJUGATE_TRANSPOSE, 1, a, corner, upper ? half : rest, upper ? rest : half));
    JTRY_RETURN(potrf_update(walk, corner, second, rest, half));
    return potrf_halves(walk, second, first + half, rest);
}

jstatus_t ji_potrf_walk(jhandle_t *handle, const ji_matmat_t *args, const ji_triangle_space_t *space) {
    ji_matmat_t call = *args;
    call.diag = JBLAS_NON_UNIT; /* of the solves */
    potrf_walk_t walk = {handle, &call, space, ji_triangle_tuning(handle)};
    return potrf_halves(&walk, ji_unconst(call.a), 0, call.n);
}

void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) { ji_factor_plan(plan, handle, matmat); }

jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t block = *(const ji_matmat_t *)matmat;
    ji_triangle_space_t space = ji_triangle_space(handle, ws);
    if (!ji_tuning(handle)->triangle_products) {
        block.c = space.triangles;
        block.k = space.leaf;
        return ji_run(handle, JI_POTRF, &block);
    }
    JTRY_RETURN(ji_factor_begin(handle, &block));
    JTRY_RETURN(ji_potrf_walk(handle, &block, &space));
    return ji_run(handle, JI_PIVOT_INFO, &block);
}
