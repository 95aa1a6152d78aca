/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm and potrf of a batch of small matrices, a lane of vectors each (kernels/
 * batch_triangle_kernel.h). In a small triangle each step waits for the one before it: alone it
 * takes 2 to 25 times as long as in company.
 *
 * Items that are too few for all lanes have the last one of them in what is left: it is computed
 * more than once, and each time the same is written. */

#include "blas/host/woven.h"
#include "blas/host/product.h"

#define WOVEN_MOST_ITEMS 64 /* whose pointers are found at once: a multiple of all lanes */
/* Up to this order a single item that is left over takes as long as a group of them does. */
#define WOVEN_TINY_ORDER 4
/* A solve with more multiplications than this keeps the vectors busy by its right-hand sides: rows
 * of B, which stand beside each other, sooner than columns, and real ones sooner than complex ones.
 * Measured (AVX2) with 2 to 2048: at the limit 0.95 to 2.5 times as fast as one after the other. */
#define WOVEN_MOST_WORK_LEFT 32768
#define WOVEN_MOST_WORK_RIGHT_REAL 8192
#define WOVEN_MOST_WORK_RIGHT_COMPLEX 32768

static bool woven_solve_pays(const ji_matmat_t *item) {
    if (item->side == JBLAS_LEFT)
        return item->n <= WOVEN_MOST_WORK_LEFT / (item->m * item->m);
    return item->m <= (ji_is_complex(item->head.type) ? WOVEN_MOST_WORK_RIGHT_COMPLEX
                                                      : WOVEN_MOST_WORK_RIGHT_REAL) /
                          (item->n * item->n);
}

static int64_t woven_order(ji_primitive_t primitive, const ji_matmat_t *item) {
    return primitive == JI_TRSM && item->side == JBLAS_LEFT ? item->m : item->n;
}

bool ji_host_is_woven(ji_primitive_t primitive, const ji_matmat_t *item) {
    const int64_t order = woven_order(primitive, item);
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
static int64_t woven_solve(const ji_matmat_t *item, int64_t count, void *const *a, void *const *b) {
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
                             .ldb = item->ldb,
                             .count = count};

    ji_read_scalar(item->head.type, &item->alpha, call.alpha);
    return ji_kernels->batch[item->head.type]->solve(&call);
}

static int64_t woven_trsm(const ji_matmat_t *item, int64_t count, void *const *a, void *const *b,
                          void *const *c) {
    (void)c;
    return woven_solve(item, count, a, b);
}

static int64_t woven_potrf(const ji_matmat_t *item, int64_t count, void *const *a, void *const *b,
                           void *const *c) {
    (void)b, (void)c;
    return ji_kernels->batch[item->head.type]->cholesky(item->uplo == JBLAS_UPPER, item->n, count,
                                                        a, item->lda);
}

int64_t ji_host_do_woven(ji_primitive_t primitive, const ji_matmat_t *item, int64_t count,
                         void *const *a, void *const *b) {
    return (primitive == JI_TRSM ? woven_trsm : woven_potrf)(item, count, a, b, NULL);
}

/* ---- Items ---- */

/* What woven_some() has of a batch: where pointers of items come from. */
typedef struct woven_batch {
    ji_items_t *items;
    const ji_items_pointer_t *a, *b, *c, *info; /* NULL: items have none */
    const ji_woven_way_t *way;
    int lanes;
} woven_batch_t;

static const ji_items_pointer_t *woven_pointer(const ji_items_t *items, const void *place) {
    for (int i = 0; i < items->count; i++)
        if (items->pointers[i].place == place)
            return &items->pointers[i];
    return NULL;
}

/* Of items [first, first + count), and of the last one once more for each lane that is left. */
static void woven_pointers(const ji_items_pointer_t *of, int64_t first, int64_t count, int lanes,
                           void **pointers) {
    if (of == NULL)
        return;

    if (of->array != NULL)
        memcpy(pointers, of->array + first, (size_t)count * sizeof(void *));
    else
        for (int64_t i = 0; i < count; i++)
            pointers[i] = of->first + (first + i) * of->step_bytes;
    for (int64_t i = count; i % lanes != 0; i++)
        pointers[i] = pointers[count - 1];
}

/* Items [first, first + count), which are WOVEN_MOST_ITEMS at most. */
static void woven_some(const woven_batch_t *batch, int64_t first, int64_t count) {
    ji_matmat_t *const item = &batch->items->item.matmat;
    void *a[WOVEN_MOST_ITEMS], *b[WOVEN_MOST_ITEMS], *c[WOVEN_MOST_ITEMS];

    for (int64_t done = 0; done < count;) {
        woven_pointers(batch->a, first + done, count - done, batch->lanes, a);
        woven_pointers(batch->b, first + done, count - done, batch->lanes, b);
        woven_pointers(batch->c, first + done, count - done, batch->lanes, c);
        int64_t end = done + batch->way->many(item, count - done, a, b, c);
        for (; batch->info != NULL && done < end; done++)
            *(int64_t *)(void *)(batch->info->first + (first + done) * batch->info->step_bytes) = 0;

        /* A group that has a pivot that is none, before others that may have none such. */
        done = end, end = ji_min(end + batch->lanes * JI_WOVEN_GROUPS, count);
        for (; done < end; done++) {
            ji_items_go_to(batch->items, first + done);
            batch->way->each(item);
        }
    }
}

int64_t ji_host_weave_items(ji_items_t *items, int64_t first, int64_t end,
                            const ji_woven_way_t *way) {
    const ji_matmat_t *item = &items->item.matmat;
    const woven_batch_t batch = {
        .items = items,
        .a = woven_pointer(items, &item->a),
        .b = woven_pointer(items, &item->b),
        .c = woven_pointer(items, &item->c),
        .info = woven_pointer(items, &item->info),
        .way = way,
        .lanes = ji_host_woven_lanes(item->head.type),
    };
    const int64_t left = (end - first) % batch.lanes;
    if (2 * left < batch.lanes && way->order > WOVEN_TINY_ORDER)
        end -= left;
    for (int64_t count; first < end; first += count) {
        count = ji_min(end - first, WOVEN_MOST_ITEMS);
        woven_some(&batch, first, count);
    }
    return end;
}

int64_t ji_host_woven_items(ji_items_t *items, int64_t first, int64_t end) {
    const ji_primitive_t primitive = (ji_primitive_t)items->item.any.batch.primitive;
    const ji_matmat_t *item = &items->item.matmat;
    if (items->item.any.batch.level != 3 || !ji_host_is_woven(primitive, item))
        return first;

    const ji_woven_way_t way = {.each = ji_host_primitives[primitive],
                                .many = primitive == JI_TRSM ? woven_trsm : woven_potrf,
                                .order = woven_order(primitive, item)};
    return ji_host_weave_items(items, first, end, &way);
}
