/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* dot, dsdot, nrm2, asum, iamax and iamin in a fixed order, on devices whose primitives are of one
 * block.
 *
 * A vector is cut into blocks of JI_REDUCE_BLOCK elements, whatever will compute them; what the
 * blocks gave is joined by a tree that depends on their number alone (library/gpu/blas/reduce.cu).
 *
 * Rungs: "partial-sums" keeps the sums of all blocks in workspace, so that thread blocks can
 * compute them in any order, then adds them; "serial" walks the same tree and computes each sum
 * when it comes to it, in one thread block. The bits are the same.
 *
 * The host needs none of this: its primitives take any length, have a tree of their own and no
 * workspace (host/vector.c). */

#include "blas/primitives/reduce.h"
#include "blas/algorithms/algorithm.h"

static int64_t reduce_blocks(int64_t n) { return n / JI_REDUCE_BLOCK + (n % JI_REDUCE_BLOCK != 0); }

static void reduce_plan(jplan_t *plan, const jhandle_t *handle, const ji_vector_t *args,
                        ji_reduction_t reduction) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);

    const int64_t size = (int64_t)ji_reduce_partial_bytes(reduction, args->head.type);
    const size_t bytes = jalloc_mul(reduce_blocks(args->n), size);
    jplan_add(plan, "partial-sums", 0, 0, 1, &bytes);
    jplan_add(plan, "serial", 0, 0, 0, NULL);
}

static jstatus_t reduce_run(jhandle_t *handle, const ji_vector_t *args, const jborrow_t *ws,
                            ji_reduction_t reduction, bool typed) {
    ji_reduce_t block = {.vector = *args,
                         .reduction = reduction,
                         .typed = typed,
                         .blocks = reduce_blocks(args->n),
                         .partials = ws->ptr[0]};

    if (block.partials != NULL) {
        JTRY_RETURN(ji_run(handle, JI_REDUCE_BLOCKS, &block));
    }

    return ji_run(handle, JI_REDUCE_COMBINE, &block);
}

#define REDUCE_DEFINE_RUN(name, reduction, typed)                                                  \
    jstatus_t ji_##name##_run(jhandle_t *handle, const void *vector, const jborrow_t *ws) {        \
        return reduce_run(handle, vector, ws, reduction, typed);                                   \
    }
#define REDUCE_DEFINE(name, reduction)                                                             \
    void ji_##name##_plan(jplan_t *plan, const jhandle_t *handle, const void *vector) {            \
        reduce_plan(plan, handle, vector, reduction);                                              \
    }                                                                                              \
    REDUCE_DEFINE_RUN(name, reduction, false)
REDUCE_DEFINE(dot, JI_REDUCE_DOT)
REDUCE_DEFINE(dotc, JI_REDUCE_DOTC)
REDUCE_DEFINE(dsdot, JI_REDUCE_DSDOT)
REDUCE_DEFINE(sdsdot, JI_REDUCE_SDSDOT)
REDUCE_DEFINE(nrm2, JI_REDUCE_NRM2)
REDUCE_DEFINE(asum, JI_REDUCE_ASUM)
REDUCE_DEFINE(iamax, JI_REDUCE_IAMAX)
REDUCE_DEFINE(iamin, JI_REDUCE_IAMIN)

REDUCE_DEFINE_RUN(dot_ex, JI_REDUCE_DOT, true)
REDUCE_DEFINE_RUN(dotc_ex, JI_REDUCE_DOTC, true)
REDUCE_DEFINE_RUN(nrm2_ex, JI_REDUCE_NRM2, true)
REDUCE_DEFINE_RUN(asum_ex, JI_REDUCE_ASUM, true)
