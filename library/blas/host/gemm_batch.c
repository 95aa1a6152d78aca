/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small products of one shape on many matrices.
 *
 * All that is to be decided (whether there is anything to multiply, the kernel, its tiles, alpha
 * and beta) is decided once. A kernel in place gets a chunk of items, as many as the first cache
 * holds, and does one tile of all of them after the other (kernels/product_kernel.h): where an item
 * is one tile it costs little more than its multiplications. Where A is transposed, that of each
 * item of the chunk is packed before.
 *
 * This is what a thread does with its items (batch.c), if they are small. Every element is the sum
 * that it is in gemm, with its bits. */

#include "blas/host/product.h"
#include "blas/host/scale.h"

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
    int64_t chunk;
} gemm_batch_t;

static inline void *batch_at(const batch_operand_t *operand, int64_t index) {
    return ji_unconst(operand->pointers != NULL ? operand->pointers[index]
                                                : operand->base + index * operand->stride);
}

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

/* Whether a kernel takes items whole: of a transposed A one strip. A CBLAS that is the guest has no
 * such kernels. */
static bool batch_is_small(const ji_matmat_t *item) {
    const bool strip = item->m <= ji_kernels->product[item->head.type]->rows;
    return ji_product_is_own(JI_GEMM) && item->k != 0 &&
           !host_is_zero(item->head.type, &item->alpha) && ji_gemm_is_small(item) &&
           (item->transa == JBLAS_NO_TRANSPOSE || (strip && ji_is_transposed(item->transa)));
}

static batch_operand_t batch_operand(const ji_matmat_t *block, const void *operand,
                                     int64_t stride) {
    return block->head.form == JI_FORM_POINTERS
               ? (batch_operand_t){.pointers = operand}
               : (batch_operand_t){.base = operand,
                                   .stride = stride * (int64_t)ji_sizeof(block->head.type)};
}

bool ji_host_gemm_small_items(const ji_matmat_t *block, int64_t first, int64_t end) {
    if (!batch_is_small(block))
        return false;

    const int64_t bytes = (block->m * block->k + block->k * block->n + block->m * block->n) *
                          (int64_t)ji_sizeof(block->head.type);
    const gemm_batch_t batch = {.item = *block,
                                .a = batch_operand(block, block->a, block->batch.stride_a),
                                .b = batch_operand(block, block->b, block->batch.stride_b),
                                .c = batch_operand(block, block->c, block->batch.stride_c),
                                .chunk = ji_min(BATCH_MOST_ITEMS, 1 + BATCH_CHUNK_BYTES / bytes)};
    if (block->transa == JBLAS_NO_TRANSPOSE)
        batch_plain(&batch, first, end);
    else
        batch_transposed(&batch, first, end);
    return true;
}
