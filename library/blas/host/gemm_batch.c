/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on many matrices.
 *
 * All that is to be decided (whether there is anything to multiply, the kernel, its tiles, alpha
 * and beta) is decided once. A kernel in place gets a chunk of items, as many as the first cache
 * holds, and does one tile of all of them after the other (kernels/product_kernel.h): where an item
 * is one tile it costs little more than its multiplications. Where A is transposed, that of each
 * item of the chunk is packed before.
 *
 * Threads divide the items, where these are not so large and so few that each is divided. Every
 * element is the sum that it is in gemm, with its bits. */

#include "blas/host/product.h"
#include "blas/host/scale.h"

#include "core/team.h"

#define BATCH_CHUNK_BYTES 24576 /* half of a first cache */
#define BATCH_MOST_ITEMS 128    /* of a chunk */

/* Where the items of an operand are: by an array of pointers, or where that is NULL at a constant
 * stride, bytes. */
typedef struct batch_operand {
    const void *const *pointers;
    const char *base;
    int64_t stride;
} batch_operand_t;

typedef struct gemm_batch {
    ji_matmat_t item; /* what all have in common */
    batch_operand_t a, b, c;
    int64_t count, chunk;
    int threads;
    bool is_small;
} gemm_batch_t;

static inline void *batch_at(const batch_operand_t *operand, int64_t index) {
    return ji_unconst(operand->pointers != NULL ? operand->pointers[index]
                                                : operand->base + index * operand->stride);
}

/* ---- Small items ---- */

/* In which order `count` items are done: those that follow each other in memory not one after the
 * other, since what is read beside what was just written is waited for. */
static inline int64_t batch_turn(int64_t i, int64_t count) {
    const int64_t apart = count / 8;
    return i < 8 * apart ? i % 8 * apart + i / 8 : i;
}

static void batch_plain(const gemm_batch_t *batch, int64_t first, int64_t end) {
    const ji_batch_kernels_t *kernels = ji_kernels->batch[batch->item.head.type];
    ji_batch_item_t items[BATCH_MOST_ITEMS];
    ji_product_direct_t direct = ji_gemm_direct(&batch->item, items, 0);
    const bool reads = direct.scalars.beta[0] != 0 || direct.scalars.beta[1] != 0;

    for (; first < end; first += direct.count) {
        direct.count = ji_min(batch->chunk, end - first);
        for (int64_t i = 0; i < direct.count; i++) {
            const int64_t index = first + (reads ? batch_turn(i, direct.count) : i);
            items[i] = (ji_batch_item_t){batch_at(&batch->a, index), batch_at(&batch->b, index),
                                         batch_at(&batch->c, index)};
        }
        kernels->product(&direct);
    }
}

/* A is transposed, and one strip: packed. Not inlined, lest others make room for the strips. */
static __attribute__((noinline)) void batch_transposed(const gemm_batch_t *batch, int64_t first,
                                                       int64_t end) {
    const ji_matmat_t *item = &batch->item;
    const jdatatype_t type = item->head.type;
    const ji_product_kernels_t *kernels = ji_kernels->product[type];
    const int64_t strip = kernels->rows * item->k;
    _Alignas(64) char strips[JI_PRODUCT_STRIP_BYTES];
    const int64_t chunk =
        ji_min(batch->chunk, (int64_t)sizeof strips / (strip * (int64_t)ji_sizeof(type)));
    ji_batch_item_t items[BATCH_MOST_ITEMS];
    ji_product_direct_t direct = ji_gemm_direct(item, items, 0);
    direct.a_step = kernels->rows;

    for (; first < end; first += direct.count) {
        direct.count = ji_min(chunk, end - first);
        for (int64_t i = 0; i < direct.count; i++) {
            void *packed = ji_at(type, strips, 0, i, strip);
            kernels->pack_a(packed, batch_at(&batch->a, first + i), item->lda, 1, (int)item->m,
                            item->k, item->transa == JBLAS_CONJUGATE_TRANSPOSE, false);
            items[i] = (ji_batch_item_t){packed, batch_at(&batch->b, first + i),
                                         batch_at(&batch->c, first + i)};
        }
        ji_kernels->batch[type]->product(&direct);
    }
}

/* ---- Any items ---- */

/* One after the other, as gemm does it. */
static void batch_each(const gemm_batch_t *batch, int64_t first, int64_t end) {
    const ji_matmat_t *item = &batch->item;
    const bool reads = item->k != 0 && !host_is_zero(item->head.type, &item->alpha);
    ji_matmat_t one = *item;

    for (; first < end; first++) {
        one.a = reads ? batch_at(&batch->a, first) : NULL;
        one.b = reads ? batch_at(&batch->b, first) : NULL;
        one.c = batch_at(&batch->c, first);
        ji_host_run(JI_GEMM, &one);
    }
}

static void batch_part(void *argument, int index) {
    const gemm_batch_t *batch = argument;
    const int64_t share = (batch->count + batch->threads - 1) / batch->threads,
                  first = ji_min(batch->count, index * share),
                  end = ji_min(batch->count, first + share);

    if (!batch->is_small)
        batch_each(batch, first, end);
    else if (batch->item.transa == JBLAS_NO_TRANSPOSE)
        batch_plain(batch, first, end);
    else
        batch_transposed(batch, first, end);
}

/* Whether a kernel takes items whole: of a transposed A one strip. A CBLAS that is the guest has no
 * such kernels. */
static bool batch_is_small(const ji_matmat_t *item) {
    const bool strip = item->m <= ji_kernels->product[item->head.type]->rows;
    return ji_product_is_own(JI_GEMM) && item->k != 0 &&
           !host_is_zero(item->head.type, &item->alpha) && ji_gemm_is_small(item) &&
           (item->transa == JBLAS_NO_TRANSPOSE || (strip && ji_is_transposed(item->transa)));
}

/* How many threads divide the items: none of them is left with nothing to do while another has an
 * item that is worth two. */
static int batch_threads(const gemm_batch_t *batch) {
    const ji_matmat_t *item = &batch->item;
    const double work = ji_product_work(item->head.type, item->m, item->n, item->k);
    const int wanted = ji_product_threads(work * (double)batch->count);
    const bool divides =
        work < 2 * JI_PRODUCT_LEAST_WORK || batch->count >= 4 * (int64_t)item->head.threads.count;

    return divides ? (int)ji_min(wanted, batch->count) : 1;
}

static void batch_run(gemm_batch_t *batch) {
    ji_matmat_t *item = &batch->item;
    const int64_t bytes = (item->m * item->k + item->k * item->n + item->m * item->n) *
                          (int64_t)ji_sizeof(item->head.type);
    const ji_threads_t threads = item->head.threads;
    const int wanted = batch_threads(batch);

    if (wanted > 1)
        item->head.threads.count = 1; /* of each */
    batch->is_small = batch_is_small(item);
    batch->chunk = ji_min(BATCH_MOST_ITEMS, 1 + BATCH_CHUNK_BYTES / bytes);

    ji_team_lease_t lease;
    ji_team_begin(&lease, &threads, wanted);
    batch->threads = lease.count;
    ji_team_do(&lease, batch_part, batch);
    ji_team_end(&lease);
}

void ji_host_gemm_batched(void *block) {
    const ji_matmat_t *args = block;
    gemm_batch_t batch = {.item = *args,
                          .a.pointers = args->a,
                          .b.pointers = args->b,
                          .c.pointers = args->c,
                          .count = args->batch_count};
    batch_run(&batch);
}

void ji_host_gemm_strided(void *block) {
    const ji_matmat_t *args = block;
    const int64_t element = (int64_t)ji_sizeof(args->head.type);
    gemm_batch_t batch = {.item = *args,
                          .a = {NULL, args->a, args->stride_a * element},
                          .b = {NULL, args->b, args->stride_b * element},
                          .c = {NULL, args->c, args->stride_c * element},
                          .count = args->batch_count};
    batch_run(&batch);
}
