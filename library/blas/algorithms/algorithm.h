/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_ALGORITHM_H
#define JALLOC_BLAS_ALGORITHMS_ALGORITHM_H

/* The algorithms: what turns workspace into speed.
 *
 *   algorithm.h                             the plan and the run of each, as routines call them
 *   reduce.c                                sums in a fixed order, of a GPU
 *   gemm.h  gemm3m.c strassen.c             products: three real ones for a complex one, halvings,
 *           gemm_split.c                    split precision (gemm's plan chooses among them:
 *                                           routines/level3/gemm.c)
 *   triangle.h  trsm.c inverses.c           solves by triangles that are made ready in workspace,
 *                                           and those triangles
 *   trtri.c potrf.c                         the inverse and the Cholesky factor, by such solves
 *
 * Each algorithm is two functions. `plan` writes down its rungs, best first, each with the bytes it
 * needs. `run` gets what was borrowed and does what the rung says; it knows the rung by its name
 * (ji_is_way()), not by its number, which depends on what else is in the plan.
 *
 * They are written over primitives (primitives/primitive.h), so once for all devices. Where devices
 * differ, their tuning says so (ji_tuning_t): from which size a way pays, how large its panels are,
 * whether a GPU's many small launches are to be avoided. All primitives are enqueued at once: no
 * algorithm waits, or looks at what a primitive found.
 *
 * What always holds: a plan depends on the shape, the handle's modes and the device alone, not on
 * what the operands hold; its last rung needs nothing; rungs of one bits_class give the same bits.
 * What an algorithm costs in accuracy is in its file's essay, and one whose error is bounded in the
 * norm alone is for handles that ask for no more (JACCURACY_NORMWISE).
 *
 * Read reduce.c first, which is short, then gemm3m.c, then triangle.h and trsm.c. */

#include "blas/blas.h"

/* Sizes are > 0, pointers are there, alpha is taken (ji_scalar_t) or on the device. Each `plan`
 * uses ji_routine_name(&block->head) as its routine. */
JI_SHARED void ji_trsm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
JI_SHARED jstatus_t ji_trsm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);

/* trtri, potrf, which are routines of libjlapack: *info is the caller's host variable in host
 * pointer mode on a NULL stream; otherwise it is written in stream order (the entry synchronizes
 * afterwards in host mode). */
JI_SHARED void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
JI_SHARED jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
JI_SHARED void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
JI_SHARED jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);

/* gemm. Asked only where ji_gemm_is_planned(); below, gemm is the primitive and plans nothing. */
void ji_gemm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_gemm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);

/* Sums in a fixed order, and the largest element by the same machinery. Asked only where the
 * primitives are of one block: of a GPU, for longer vectors. */
static inline bool ji_reduces_in_blocks(const jhandle_t *handle, int64_t n) {
    return n > JI_REDUCE_BLOCK && handle->device->kind != JDEVICE_HOST;
}
void ji_dot_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dot_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_dotc_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dotc_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_nrm2_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_nrm2_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_asum_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_asum_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_iamax_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_iamax_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_dsdot_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dsdot_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_sdsdot_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_sdsdot_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_iamin_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_iamin_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
/* Of vectors of several types; the plans are those above. */
jstatus_t ji_dot_ex_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
jstatus_t ji_dotc_ex_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
jstatus_t ji_nrm2_ex_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
jstatus_t ji_asum_ex_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);

#endif
