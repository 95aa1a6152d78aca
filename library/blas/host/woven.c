/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm and potrf of a batch of small matrices, a lane of vectors each (kernels/
 * batch_triangle_kernel.h). In a small triangle each step waits for the one before it: alone it
 * takes 4 to 10 times as long as in company. */

#include "blas/host/woven.h"
#include "blas/host/product.h"

#define WOVEN_MOST_LANES 16
/* A solve with more multiplications than this keeps the vectors busy by its right-hand sides: rows
 * of B, which stand beside each other, sooner than columns. Measured for d, with 8 to 512. */
#define WOVEN_MOST_WORK_LEFT 8192
#define WOVEN_MOST_WORK_RIGHT 4096

static bool woven_solve_pays(const ji_matmat_t *item) {
    return item->side == JBLAS_LEFT ? item->n <= WOVEN_MOST_WORK_LEFT / (item->m * item->m)
                                    : item->m <= WOVEN_MOST_WORK_RIGHT / (item->n * item->n);
}

bool ji_host_is_woven(ji_primitive_t primitive, const ji_matmat_t *item) {
    const int64_t order = primitive == JI_TRSM && item->side == JBLAS_LEFT ? item->m : item->n;
    if (order > JI_WOVEN_ORDER)
        return false;

    switch (primitive) {
    case JI_POTRF:
        return ji_host_primitives[JI_POTRF] == ji_host_potrf && order <= ji_host_tuning.factor_base;
    case JI_TRSM: /* an alpha of 0 reads nothing */
        return ji_host_primitives[JI_TRSM] == ji_host_trsm && woven_solve_pays(item) &&
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

/* So many items, of which the first is `first`; info as potrf has it. */
static void woven_group(ji_items_t *items, int64_t first, int lanes) {
    const ji_primitive_t primitive = (ji_primitive_t)items->item.any.batch.primitive;
    ji_matmat_t *item = &items->item.matmat;
    void *a[WOVEN_MOST_LANES] = {NULL}, *b[WOVEN_MOST_LANES] = {NULL};
    int64_t *info[WOVEN_MOST_LANES] = {NULL};

    for (int lane = 0; lane < lanes; lane++) {
        ji_items_go_to(items, first + lane);
        a[lane] = ji_unconst(item->a), b[lane] = ji_unconst(item->b), info[lane] = item->info;
    }

    const bool is_done = ji_host_do_woven(primitive, item, a, b);
    for (int lane = 0; lane < lanes; lane++) {
        if (!is_done) {
            ji_items_go_to(items, first + lane);
            ji_host_primitives[primitive](item);
        } else if (primitive == JI_POTRF) {
            *info[lane] = 0;
        }
    }
}

int64_t ji_host_woven_items(ji_items_t *items, int64_t first, int64_t end) {
    const ji_any_block_t *block = &items->item;
    if (block->any.batch.level != 3 ||
        !ji_host_is_woven((ji_primitive_t)block->any.batch.primitive, &block->matmat))
        return first;

    const int lanes = ji_host_woven_lanes(block->any.head.type);
    for (; first + lanes <= end; first += lanes)
        woven_group(items, first, lanes);
    return first;
}
