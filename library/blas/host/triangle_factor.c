/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trtri and potrf on the host, each one primitive.
 *
 * Both are recursive: split in halves, do one half, solve with it, update the other. What a step finds (a zero, a pivot
 * that is not positive) decides whether there is a next one, so a host that enqueued the steps would have to wait for
 * each. As one primitive the whole routine runs in stream order, nobody waits, and info is written where the caller
 * wants it.
 *
 *   trtri   A = [L11 0; L21 L22]: L21 := -inv(L22) L21 inv(L11), two solves, while L11 and L22 are still themselves;
 *           then each is inverted on its own.
 *   potrf   A11 = L11 L11^H; A21 := A21 inv(L11)^H, a solve; A22 -= A21 A21^H; then A22 the same way.
 *
 * The solves are triangle.h's where there is workspace and they pay, the CBLAS's otherwise. */

#include "blas/triangle.h"

#include <math.h>

#define FACTOR_ABS(x) ((x) < 0 ? -(x) : (x))
#define FACTOR_SQRT(x) _Generic((x), float : sqrtf, double : sqrt)(x)

#define BASE_REAL float
#define BASE_COMPLEX 0
#define BASE_NAME(name) s_##name
#include "blas/host/triangle_base.h"
#define BASE_REAL double
#define BASE_COMPLEX 0
#define BASE_NAME(name) d_##name
#include "blas/host/triangle_base.h"
#define BASE_REAL float
#define BASE_COMPLEX 1
#define BASE_NAME(name) c_##name
#include "blas/host/triangle_base.h"
#define BASE_REAL double
#define BASE_COMPLEX 1
#define BASE_NAME(name) z_##name
#include "blas/host/triangle_base.h"

static const struct {
    int64_t (*find_zero)(int64_t n, const void *a, int64_t lda);
    void (*invert)(bool upper, bool unit, int64_t n, void *a, int64_t lda);
    int64_t (*cholesky)(bool upper, int64_t n, void *a, int64_t lda);
} factor_base[4] = {{s_find_zero, s_invert, s_cholesky},
                    {d_find_zero, d_invert, d_cholesky},
                    {c_find_zero, c_invert, c_cholesky},
                    {z_find_zero, z_invert, z_cholesky}};

static void factor_solve(const ji_matmat_t *call, jblas_side_t side, jblas_operation_t trans, double alpha,
                         const void *triangle, void *b, int64_t m, int64_t n) {
    ji_matmat_t solve = *call;
    solve.side = side, solve.transa = trans;
    solve.m = m, solve.n = n;
    solve.alpha = ji_constant(call->head.type, alpha);
    solve.a = triangle;
    solve.b = b, solve.ldb = call->lda;
    if (call->c != NULL && ji_triangle_pays(&solve))
        ji_triangle_solve(NULL, &solve, call->k, call->c); /* inline: it cannot fail */
    else
        ji_host_primitives[JI_TRSM](&solve);
}

static void factor_invert(const ji_matmat_t *call, void *a, int64_t n) {
    jdatatype_t type = call->head.type;
    bool upper = call->uplo == JBLAS_UPPER;
    if (n <= JI_FACTOR_BASE) {
        factor_base[type].invert(upper, call->diag == JBLAS_UNIT, n, a, call->lda);
        return;
    }
    int64_t half = ji_factor_half(n), rest = n - half;
    void *second = ji_at(type, a, half, half, call->lda);
    if (upper) {
        void *corner = ji_at(type, a, 0, half, call->lda);
        factor_solve(call, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, -1, a, corner, half, rest);
        factor_solve(call, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, second, corner, half, rest);
    } else {
        void *corner = ji_at(type, a, half, 0, call->lda);
        factor_solve(call, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, -1, second, corner, rest, half);
        factor_solve(call, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, a, corner, rest, half);
    }
    factor_invert(call, a, half);
    factor_invert(call, second, rest);
}

void ji_host_trtri(void *block) {
    const ji_matmat_t *call = block;
    int64_t info = 0;
    if (call->diag == JBLAS_NON_UNIT)
        info = factor_base[call->head.type].find_zero(call->n, call->a, call->lda);
    *call->info = info;
    if (info == 0)
        factor_invert(call, (void *)(uintptr_t)call->a, call->n);
}

static int64_t factor_cholesky(const ji_matmat_t *call, void *a, int64_t n) {
    jdatatype_t type = call->head.type;
    bool upper = call->uplo == JBLAS_UPPER;
    if (n <= JI_FACTOR_BASE)
        return factor_base[type].cholesky(upper, n, a, call->lda);
    int64_t half = ji_factor_half(n), rest = n - half;
    int64_t info = factor_cholesky(call, a, half);
    if (info != 0)
        return info;
    void *corner = upper ? ji_at(type, a, 0, half, call->lda) : ji_at(type, a, half, 0, call->lda);
    void *second = ji_at(type, a, half, half, call->lda);
    if (upper)
        factor_solve(call, JBLAS_LEFT, JBLAS_CONJUGATE_TRANSPOSE, 1, a, corner, half, rest);
    else
        factor_solve(call, JBLAS_RIGHT, JBLAS_CONJUGATE_TRANSPOSE, 1, a, corner, rest, half);
    jdatatype_t real = ji_real_of(type);
    ji_matmat_t update = {.head = call->head,
                          .uplo = call->uplo,
                          .transa = !upper                ? JBLAS_NO_TRANSPOSE
                                    : ji_is_complex(type) ? JBLAS_CONJUGATE_TRANSPOSE
                                                          : JBLAS_TRANSPOSE,
                          .n = rest,
                          .k = half,
                          .alpha = ji_constant(real, -1),
                          .a = corner,
                          .lda = call->lda,
                          .beta = ji_constant(real, 1),
                          .c = second,
                          .ldc = call->lda};
    ji_host_primitives[ji_is_complex(type) ? JI_HERK : JI_SYRK](&update);
    info = factor_cholesky(call, second, rest);
    return info == 0 ? 0 : info + half;
}

void ji_host_potrf(void *block) {
    ji_matmat_t *call = block;
    call->diag = JBLAS_NON_UNIT; /* of the solves */
    *call->info = factor_cholesky(call, (void *)(uintptr_t)call->a, call->n);
}
