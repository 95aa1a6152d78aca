/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GEMM_H
#define JALLOC_BLAS_GEMM_H

/* What gemm, its batched forms and its ways on workspace have in common. */

#include "blas/blas.h"

static inline int64_t gemm_min(int64_t a, int64_t b) { return a < b ? a : b; }
/* What decides whether an algorithm pays. */
static inline int64_t ji_gemm_smallest(const ji_matmat_t *args) {
    return gemm_min(gemm_min(args->m, args->n), args->k);
}
/* Whether gemm has a plan: the one question that a small product is asked. All ways but the plain one are bounded in the
 * norm alone, so they are for those who asked for no more. */
static inline bool ji_gemm_is_planned(const jhandle_t *handle, const ji_matmat_t *args) {
    return handle->accuracy == JACCURACY_NORMWISE &&
           ji_gemm_smallest(args) >= ji_tuning(handle)->gemm_least[args->head.type];
}

/* bits_class of the rungs. */
enum { JI_GEMM_BITS_PLAIN, JI_GEMM_BITS_3M, JI_GEMM_BITS_SPLIT, JI_GEMM_BITS_STRASSEN_1, JI_GEMM_BITS_STRASSEN_2 };

/* The ways. Each adds its rungs to a plan; `run` gets sizes > 0, pointers, and an alpha that is not known to be 0. */
bool ji_gemm3m_pays(const jhandle_t *handle, const ji_matmat_t *args);
void ji_gemm3m_add_rung(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_gemm3m_run(jhandle_t *handle, const ji_matmat_t *args, const jborrow_t *ws);
bool ji_gemm_split_pays(const jhandle_t *handle, const ji_matmat_t *args);
void ji_gemm_split_add_rung(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args);
jstatus_t ji_gemm_split_run(jhandle_t *handle, const ji_matmat_t *args, const jborrow_t *ws);
int ji_strassen_levels(const jhandle_t *handle, const ji_matmat_t *args); /* how many halvings pay: 0, 1, 2 */
void ji_strassen_add_rungs(jplan_t *plan, const ji_matmat_t *args, int levels);
jstatus_t ji_strassen_run(jhandle_t *handle, const ji_matmat_t *args, int levels, void *workspace);

/* Whether nothing is wrong, in few steps: small sizes, which need no look at each. False says nothing. */
static inline bool ji_gemm_is_right(const ji_matmat_t *args) {
    const int64_t a_rows = args->transa == JBLAS_NO_TRANSPOSE ? args->m : args->k;
    const int64_t b_rows = args->transb == JBLAS_NO_TRANSPOSE ? args->k : args->n;
    const uint64_t all = (uint64_t)(args->m | args->n | args->k | args->lda | args->ldb | args->ldc);
    return (unsigned)args->transa - 111u <= 2 && (unsigned)args->transb - 111u <= 2 && all < JI_SMALL_SIZE &&
           args->lda >= a_rows && args->ldb >= b_rows && args->ldc >= args->m && args->lda != 0 && args->ldb != 0 &&
           args->ldc != 0;
}

/* Enums, sizes and leading dimensions. */
JI_CALL ji_gemm_check(jhandle_t *handle, const ji_matmat_t *args) {
    if (JI_LIKELY(ji_gemm_is_right(args)))
        return JSTATUS_SUCCESS;
    const bool a_plain = args->transa == JBLAS_NO_TRANSPOSE, b_plain = args->transb == JBLAS_NO_TRANSPOSE;
    JI_CHECK_OPERATION("transa", transa);
    JI_CHECK_OPERATION("transb", transb);
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_SIZE("k", k);
    JI_CHECK_LD(lda, a_plain ? args->m : args->k, a_plain ? args->k : args->m);
    JI_CHECK_LD(ldb, b_plain ? args->k : args->n, b_plain ? args->n : args->k);
    JI_CHECK_LD(ldc, args->m, args->n);
    return JSTATUS_SUCCESS;
}

/* Pointers; takes the scalars, which are of this type. */
JI_CALL ji_gemm_take(jhandle_t *handle, ji_matmat_t *args, jdatatype_t scalar_type) {
    JI_TAKE_ALPHA_BETA(scalar_type);
    if (args->k > 0 && !ji_scalar_is(&args->alpha, scalar_type, 0)) {
        JI_CHECK_POINTER("a", args->a);
        JI_CHECK_POINTER("b", args->b);
    }
    JI_CHECK_POINTER("c", args->c);
    return JSTATUS_SUCCESS;
}

#endif
