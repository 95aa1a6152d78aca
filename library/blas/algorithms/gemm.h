/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_GEMM_H
#define JALLOC_BLAS_ALGORITHMS_GEMM_H

/* What gemm, its batched forms and its ways on workspace have in common. */

#include "blas/algorithms/algorithm.h"
#include "blas/algorithms/product.h"

/* What decides whether an algorithm pays. */
static inline int64_t ji_gemm_smallest(const ji_matmat_t *args) {
    return ji_min(ji_min(args->m, args->n), args->k);
}

/* Whether gemm has other ways than the plain one. They are bounded in the norm alone, so they are
 * for those who asked for no more. A batch has the plain one. */
static inline bool ji_gemm_has_ways(const jhandle_t *handle, const ji_matmat_t *args) {
    return handle->accuracy == JACCURACY_NORMWISE && !ji_is_batch(&args->head) &&
           ji_gemm_smallest(args) >= ji_tuning(handle)->gemm_least[args->head.type];
}

/* Whether gemm has a plan: what a small product is asked. */
static inline bool ji_gemm_is_planned(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_gemm_packs(handle, args->head.type, args->m, args->n, args->k) ||
           ji_gemm_has_ways(handle, args);
}

/* bits_class of the rungs. */
enum {
    JI_GEMM_BITS_PLAIN,
    JI_GEMM_BITS_3M,
    JI_GEMM_BITS_STRASSEN_1,
    JI_GEMM_BITS_STRASSEN_2,
    JI_GEMM_BITS_EMULATED,
    JI_GEMM_BITS_SPLIT /* and on, by ji_split_way_t */
};

/* The ways. Each adds its rungs to a plan; `run` gets sizes > 0, pointers, and an alpha that is not
 * known to be 0. */
#define JI_GEMM_3M "3m" /* its rung */
bool ji_gemm3m_pays(const jhandle_t *handle, const ji_matmat_t *args);
void ji_gemm3m_add_rung(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_gemm3m_run(jhandle_t *handle, const ji_matmat_t *args, const jborrow_t *ws);
bool ji_gemm_split_pays(const jhandle_t *handle, const ji_matmat_t *args);
void ji_gemm_split_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_gemm_split_run(jhandle_t *handle, const ji_matmat_t *args, ji_split_way_t way,
                            const jborrow_t *ws);
/* How many halvings pay: 0, 1, 2. */
int ji_strassen_levels(const jhandle_t *handle, const ji_matmat_t *args);
/* Of the rung of 1 or 2 halvings. */
const char *ji_strassen_name(int levels);
void ji_strassen_add_rungs(jplan_t *plan, const ji_matmat_t *args, int levels);
jstatus_t ji_strassen_run(jhandle_t *handle, const ji_matmat_t *args, int levels, void *workspace);

#endif
