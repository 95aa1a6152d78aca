/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm and potrf of a batch of small matrices, a lane of vectors each (kernels/
 * batch_triangle_kernel.h). In a small triangle each step waits for the one before it: alone it
 * takes 4 to 10 times as long as in company. */

#include "blas/host/woven.h"
#include "blas/host/product.h"

bool ji_host_is_woven(ji_primitive_t primitive, const ji_matmat_t *item) {
    const int64_t order = primitive == JI_TRSM && item->side == JBLAS_LEFT ? item->m : item->n;
    if (order > JI_WOVEN_ORDER)
        return false;

    switch (primitive) {
    case JI_POTRF:
        return ji_host_primitives[JI_POTRF] == ji_host_potrf && order <= ji_host_tuning.factor_base;
    case JI_TRSM: /* an alpha of 0 reads nothing */
        return ji_host_primitives[JI_TRSM] == ji_host_trsm &&
               !host_is_zero(item->head.type, &item->alpha);
    default: return false;
    }
}

/* As host/trsm.c sees it: M is A or its transpose, and found from its last unknown on where it is
 * upper. */
static bool woven_solve(const ji_matmat_t *item, void *const *a, void *const *b) {
    const bool left = item->side == JBLAS_LEFT, upper = item->uplo == JBLAS_UPPER,
               transposed = ji_is_transposed(item->transa) == left;
    ji_woven_solve_t call = {.upper = upper,
                             .unit = item->diag == JBLAS_UNIT,
                             .conjugate = ji_is_conjugated(item->transa),
                             .left = left,
                             .transposed = transposed,
                             .reversed = upper != transposed,
                             .order = left ? item->m : item->n,
                             .sides = left ? item->n : item->m,
                             .a = (const void *const *)a,
                             .lda = item->lda,
                             .b = b,
                             .ldb = item->ldb};

    ji_read_scalar(item->head.type, &item->alpha, call.alpha);
    return ji_kernels->batch[item->head.type]->solve(&call);
}

bool ji_host_do_woven(ji_primitive_t primitive, const ji_matmat_t *item, void *const *a,
                      void *const *b) {
    if (primitive == JI_TRSM)
        return woven_solve(item, a, b);

    return ji_kernels->batch[item->head.type]->cholesky(item->uplo == JBLAS_UPPER, item->n, a,
                                                        item->lda);
}
