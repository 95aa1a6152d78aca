/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trtri and potrf on the host, each one primitive.
 *
 * Both are recursive: split in halves, do one half, solve with it, update the other. What a step
 * finds (a zero, a pivot that is not positive) decides whether there is a next one, so a host that
 * enqueued the steps would have to wait for each. As one primitive the whole routine runs in stream
 * order, nobody waits, and info is written where the caller wants it.
 *
 *   trtri   A = [L11 0; L21 L22]: X22 = inv(L22); L21 := -X22 L21, a product; L21 := L21 inv(L11),
 *           a solve, while L11 is still itself; then that is inverted. An upper triangle begins
 *           with its first half. Multiplying on one side and solving on the other keeps |X A - I|
 *           <= gamma_n |X||A|, as LAPACK has it; two solves, or two products, bound no residual so
 *           (Du Croz and Higham 1992).
 *   potrf   A11 = L11 L11^H; A21 := A21 inv(L11)^H, a solve; A22 -= A21 A21^H; then A22 the same
 *           way; down to a base that stops at a pivot that is not positive and leaves it on the
 *           diagonal, everything before it done.
 *
 * The panels that came with the block serve each product and each solve in turn. Where the matrix
 * is halved is decided by its order alone, so every rung has the same bits. */

#include "blas/algorithms/factor.h"
#include "blas/algorithms/triangle.h"
#include "blas/kernels/factor.h"

static void factor_invert(const ji_matmat_t *call, void *a, int64_t n) {
    jdatatype_t type = call->head.type;
    bool upper = call->uplo == JBLAS_UPPER;

    if (n <= ji_host_tuning.factor_base) {
        ji_kernels->factor[type]->invert(upper, call->diag == JBLAS_UNIT, n, a, call->lda);
        return;
    }

    int64_t half = ji_factor_half(&ji_host_tuning, n), rest = n - half;
    void *second = ji_at(type, a, half, half, call->lda);
    void *corner = upper ? ji_at(type, a, 0, half, call->lda) : ji_at(type, a, half, 0, call->lda);
    void *left = upper ? a : second, *right = upper ? second : a; /* of the corner */
    const int64_t m = upper ? half : rest, n_corner = n - m;

    factor_invert(call, left, m);
    ji_factor_triangle(JI_TRMM, call, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, -1, left, corner, call->lda,
                       m, n_corner);
    ji_factor_triangle(JI_TRSM, call, JBLAS_RIGHT, JBLAS_NO_TRANSPOSE, 1, right, corner, call->lda,
                       m, n_corner);
    factor_invert(call, right, n_corner);
}

void ji_host_trtri(void *block) {
    const ji_matmat_t call = ji_factor_call(block);
    int64_t info = 0;

    if (call.diag == JBLAS_NON_UNIT)
        info = ji_kernels->factor[call.head.type]->find_zero(call.n, call.a, call.lda);

    *call.info = info;
    if (info == 0)
        factor_invert(&call, ji_unconst(call.a), call.n);
}

/* Factors the n x n matrix at a, whose first column is column `first` of the whole. */
static void factor_cholesky(const ji_matmat_t *call, void *a, int64_t first, int64_t n) {
    jdatatype_t type = call->head.type;
    bool upper = call->uplo == JBLAS_UPPER;

    if (n <= ji_host_tuning.factor_base) {
        int64_t info = ji_kernels->factor[type]->cholesky(upper, n, a, call->lda);
        if (info != 0)
            *call->info = first + info;
        return;
    }

    int64_t half = ji_factor_half(&ji_host_tuning, n), rest = n - half;
    void *corner = upper ? ji_at(type, a, 0, half, call->lda) : ji_at(type, a, half, 0, call->lda);
    void *second = ji_at(type, a, half, half, call->lda);

    factor_cholesky(call, a, first, half);
    if (*call->info != 0)
        return;

    ji_factor_triangle(JI_TRSM, call, upper ? JBLAS_LEFT : JBLAS_RIGHT, JBLAS_CONJUGATE_TRANSPOSE,
                       1, a, corner, call->lda, upper ? half : rest, upper ? rest : half);
    ji_factor_update(call, upper, rest, half, -1, corner, call->lda, 1, second, call->lda);
    factor_cholesky(call, second, first + half, rest);
}

void ji_host_potrf(void *block) {
    ji_matmat_t call = ji_factor_call(block);
    call.diag = JBLAS_NON_UNIT; /* of the solves */
    *call.info = 0;

    factor_cholesky(&call, ji_unconst(call.a), 0, call.n);
}
