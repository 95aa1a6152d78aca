/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Batches on the host: one primitive for a batch of any, of which each item is that primitive.
 *
 * Items are divided evenly among the threads that the block names, the same ones at every call, and
 * each is done by one thread; where the block names one, items are done one after the other, each
 * by the threads that its head has (routine/batch.c decides). So the bits are those of plain calls,
 * whatever the threads. Of the panels that were lent each thread has its share.
 *
 * batch_items() is what one thread does with its items: a primitive that has a quicker way for many
 * small operands than one item after the other has its place there; what is none brings its own. */

#include "blas/primitives/batch.h"
#include "blas/host/host.h"
#include "blas/host/product.h"
#include "blas/host/woven.h"
#include "core/team.h"

/* What a thread is worth, in multiplications; level 1 and 2 read that many elements, and rotg and
 * rotmg make that many rotations. */
#define BATCH_LEAST_WORK ((double)JI_PRODUCT_LEAST_WORK)
#define BATCH_LEAST_ITEM 64.0 /* multiplications of level 3 that the smallest items cost */
#define BATCH_LEAST_ELEMENTS 30000.0
#define BATCH_LEAST_ROTATIONS 300.0

typedef struct batch_run {
    const ji_any_block_t *block;
    int64_t count;
    int threads; /* that are there */
} batch_run_t;

static double batch_size(int64_t n) { return n > 1 ? (double)n : 1; }

/* How many threads an item is worth, about. Sizes that a routine does not have are 0. */
static double batch_item_threads(const ji_any_block_t *block) {
    const ji_matvec_t *matvec = &block->matvec;
    const ji_matmat_t *matmat = &block->matmat;
    const double n = batch_size(matmat->n), m = matmat->m > 0 ? batch_size(matmat->m) : n;

    switch (block->any.batch.level) {
    case 0: return 1 / BATCH_LEAST_ROTATIONS;
    case 1: return batch_size(block->vector.n) / BATCH_LEAST_ELEMENTS;
    case 2:
        return batch_size(matvec->n) * batch_size(matvec->m > 0 ? matvec->m : matvec->n) /
               BATCH_LEAST_ELEMENTS;
    default: {
        const double work = m * n *
                            (matmat->k > 0 ? batch_size(matmat->k)
                             : m > n       ? m
                                           : n) *
                            (ji_is_complex(block->any.head.type) ? 4 : 1);
        return (work > BATCH_LEAST_ITEM ? work : BATCH_LEAST_ITEM) / BATCH_LEAST_WORK;
    }
    }
}

static void batch_items(const ji_any_block_t *block, ji_items_t *items, int64_t first,
                        int64_t end) {
    const ji_primitive_t primitive = (ji_primitive_t)block->any.batch.primitive;
    const ji_items_way_t way =
        primitive == JI_PRIMITIVE_COUNT
            ? *block->matmat.items
            : (ji_items_way_t){.each = ji_host_primitives[primitive], .many = ji_host_woven_items};
    for (int64_t i = way.many != NULL ? way.many(items, first, end) : first; i < end; i++) {
        ji_items_go_to(items, i);
        way.each(&items->item);
    }
}

static void batch_part(void *argument, int index) {
    const batch_run_t *run = argument;
    const int64_t each = run->count / run->threads, more = run->count % run->threads;
    const int64_t first = index * each + ji_min(index, more);

    const int64_t end = first + each + (index < more ? 1 : 0);
    if (run->block->any.batch.primitive == JI_GEMM &&
        ji_host_gemm_small_items(&run->block->matmat, first, end))
        return;

    ji_items_t items;
    ji_items_begin(&items, run->block);
    if (run->threads > 1)
        items.item.any.head.threads.count = 0; /* the lease has counted them */
    if (items.item.any.batch.level == 3 && items.item.matmat.panels != NULL)
        items.item.matmat.panels = (char *)items.item.matmat.panels +
                                   (size_t)index * ji_panel_share(items.item.matmat.panel_bytes);
    batch_items(run->block, &items, first, end);
}

void ji_host_batch(void *block) {
    const ji_any_block_t *whole = block;
    const ji_batch_t *batch = &whole->any.batch;
    const double threads = (double)batch->count * batch_item_threads(whole);
    const ji_threads_t all = {.executor = whole->any.head.threads.executor,
                              .count = batch->threads,
                              .planned = batch->threads};

    ji_team_lease_t lease;
    ji_team_begin(&lease, &all, threads < batch->threads ? (int)threads : batch->threads);
    batch_run_t run = {.block = whole, .count = batch->count, .threads = lease.count};
    ji_team_do(&lease, batch_part, &run);
    ji_team_end(&lease);
}
