/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small products of one shape on many matrices.
 *
 * All that is to be decided (whether there is anything to multiply, the kernel, its tiles, alpha
 * and beta) is decided once. A kernel in place gets all items, and does one tile of a chunk of them
 * after the other (kernels/batch_kernel.h): where an item is one tile it costs little more than its
 * multiplications. A chunk is more than the first cache holds: a call of a tile costs 50 cycles,
 * and the second cache gives operands again as fast as they are multiplied. Where A is transposed,
 * that of each item of the chunk is packed before.
 *
 * This is what a thread does with its items (batch.c), if they are small. Every element is the sum
 * that it is in gemm, with its bits. */

#include "blas/host/product.h"
#include "blas/host/scale.h"

#define BATCH_CHUNK_BYTES 65536 /* a part of a second cache */
#define BATCH_MOST_STRIPS 128   /* of a chunk */

typedef struct gemm_batch {
    ji_product_direct_t all; /* from item 0 on */
    int64_t apart;           /* of items that are done one after the other */
} gemm_batch_t;

static inline void batch_go_to(const gemm_batch_t *batch, int64_t item, int64_t apart,
                               ji_product_direct_t *direct) {
    const ji_product_direct_t *all = &batch->all;
    direct->a = (ji_batch_operand_t){all->a.at + item * all->a.stride, apart * all->a.stride};
    direct->b = (ji_batch_operand_t){all->b.at + item * all->b.stride, apart * all->b.stride};
    direct->c = (ji_batch_operand_t){all->c.at + item * all->c.stride, apart * all->c.stride};
}

static void batch_plain(const gemm_batch_t *batch, jdatatype_t type, int64_t first, int64_t end) {
    const ji_batch_kernels_t *kernels = ji_kernels->batch[type];
    ji_product_direct_t direct = batch->all;

    for (int64_t count; first < end; first += count) {
        count = batch->apart > 1 ? ji_min(direct.chunk, end - first) : end - first;
        for (int64_t i = 0; i < ji_min(batch->apart, count); i++) {
            batch_go_to(batch, first + i, batch->apart, &direct);
            direct.count = (count - i + batch->apart - 1) / batch->apart;
            kernels->product(&direct);
        }
    }
}

/* A is transposed, and one strip: packed. Not inlined, lest others make room for the strips. */
static __attribute__((noinline)) void
batch_transposed(const gemm_batch_t *batch, const ji_matmat_t *item, int64_t first, int64_t end) {
    const jdatatype_t type = item->head.type;
    const ji_product_kernels_t *kernels = ji_kernels->product[type];
    const int64_t strip = kernels->rows * item->k * (int64_t)ji_sizeof(type);
    _Alignas(64) char strips[JI_PRODUCT_STRIP_BYTES];
    void *pointers[BATCH_MOST_STRIPS];
    const int64_t room = ji_min(BATCH_MOST_STRIPS, (int64_t)sizeof strips / strip),
                  chunk = ji_min(batch->all.chunk, room);

    ji_product_direct_t direct = batch->all;
    direct.a_step = kernels->rows;
    for (; first < end; first += direct.count) {
        direct.count = ji_min(chunk, end - first);
        batch_go_to(batch, first, 1, &direct);
        for (int64_t i = 0; i < direct.count; i++) {
            const char *const at = direct.a.at + i * direct.a.stride;
            pointers[i] = strips + i * strip;
            kernels->pack_a(pointers[i], direct.by_pointers ? *(const void *const *)at : at,
                            item->lda, 1, (int)item->m, item->k,
                            item->transa == JBLAS_CONJUGATE_TRANSPOSE, false);
        }
        direct.a = direct.by_pointers
                       ? (ji_batch_operand_t){(char *)pointers, (int64_t)sizeof *pointers}
                       : (ji_batch_operand_t){strips, strip};
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

bool ji_host_gemm_small_items(const ji_matmat_t *block, int64_t first, int64_t end) {
    if (!batch_is_small(block))
        return false;

    const jdatatype_t type = block->head.type;
    const bool by_pointers = block->head.form == JI_FORM_POINTERS;
    const int64_t size = (int64_t)ji_sizeof(type), each = (int64_t)sizeof(void *);
    const int64_t bytes = (block->m * block->k + block->k * block->n + block->m * block->n) * size;
    gemm_batch_t batch;
    ji_product_direct_t *const all = &batch.all;
    ji_gemm_direct(block, all);
    all->chunk = 1 + BATCH_CHUNK_BYTES / bytes;
    all->is_far = (end - first) * bytes > ji_near_bytes();
    all->by_pointers = by_pointers;
    all->a.stride = by_pointers ? each : block->batch.stride_a * size;
    all->b.stride = by_pointers ? each : block->batch.stride_b * size;
    all->c.stride = by_pointers ? each : block->batch.stride_c * size;

    /* Of those that follow each other in memory, one would wait for what was written before it. As
     * many as a vector has elements are not within one. */
    const ji_batch_kernels_t *kernels = ji_kernels->batch[type];
    const bool reads = all->scalars.beta[0] != 0 || all->scalars.beta[1] != 0;
    const int64_t reals = block->m * (ji_is_complex(type) ? 2 : 1);
    batch.apart = kernels->masks && reads && reals < kernels->lanes ? kernels->lanes : 1;

    if (block->transa == JBLAS_NO_TRANSPOSE)
        batch_plain(&batch, type, first, end);
    else
        batch_transposed(&batch, block, first, end);
    return true;
}
