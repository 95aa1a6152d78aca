/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* dot, nrm2, asum and, on a GPU, iamax in a fixed order.
 *
 * A CBLAS splits a long sum among its threads, so the bits of the result change with their number.
 * Here a vector is cut into blocks of JI_REDUCE_BLOCK elements, whatever the number of threads; the
 * sums of the blocks are added pairwise, as a balanced tree, which also keeps the rounding error at
 * O(log n). What is drawn is the host's tree; a GPU's joins neighbours first
 * (library/gpu/blas/reduce.cu). Either depends on the number of blocks alone.
 *
 *     block 0   block 1   block 2   block 3   block 4
 *        +---------+         |         +---------+
 *             |              +--------------+
 *             +------------------+
 *
 * Rungs: "partial-sums" keeps the sums of all blocks in workspace, so that threads can compute them
 * in any order, then adds them; "serial" walks the same tree and computes each sum when it comes to
 * it. The bits are the same. Where no threads will come, "serial" is the only rung. On a GPU they
 * always do; "serial" is one thread block there. */

#include "blas/primitives/reduce.h"
#include "blas/algorithms/algorithm.h"

static int64_t reduce_blocks(int64_t n) { return n / JI_REDUCE_BLOCK + (n % JI_REDUCE_BLOCK != 0); }

bool ji_reduce_pays(const jhandle_t *handle, ji_reduction_t reduction, const ji_vector_t *vector) {
    return handle->device->kind != JDEVICE_HOST || ji_host_reduce_pays(reduction, vector);
}

static void reduce_plan(jplan_t *plan, const jhandle_t *handle, const ji_vector_t *args,
                        ji_reduction_t reduction) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);

    if (ji_reduce_pays(handle, reduction, args)) {
        int64_t size = (int64_t)ji_reduce_partial_bytes(reduction, args->head.type);
        size_t bytes = jalloc_mul(reduce_blocks(args->n), size);
        jplan_add(plan, "partial-sums", 0, 0, 1, &bytes);
    }

    jplan_add(plan, "serial", 0, 0, 0, NULL);
}

static jstatus_t reduce_run(jhandle_t *handle, const ji_vector_t *args, const jborrow_t *ws,
                            ji_reduction_t reduction) {
    ji_reduce_t block = {.vector = *args,
                         .reduction = reduction,
                         .blocks = reduce_blocks(args->n),
                         .partials = ws->ptr[0]};

    if (block.partials != NULL) {
        JTRY_RETURN(ji_run(handle, JI_REDUCE_BLOCKS, &block));
    }

    return ji_run(handle, JI_REDUCE_COMBINE, &block);
}

#define REDUCE_DEFINE(name, reduction)                                                             \
    void ji_##name##_plan(jplan_t *plan, const jhandle_t *handle, const void *vector) {            \
        reduce_plan(plan, handle, vector, reduction);                                              \
    }                                                                                              \
    jstatus_t ji_##name##_run(jhandle_t *handle, const void *vector, const jborrow_t *ws) {        \
        return reduce_run(handle, vector, ws, reduction);                                          \
    }
REDUCE_DEFINE(dot, JI_REDUCE_DOT)
REDUCE_DEFINE(dotc, JI_REDUCE_DOTC)
REDUCE_DEFINE(nrm2, JI_REDUCE_NRM2)
REDUCE_DEFINE(asum, JI_REDUCE_ASUM)
REDUCE_DEFINE(iamax, JI_REDUCE_IAMAX)
