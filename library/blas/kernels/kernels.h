/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_KERNELS_KERNELS_H
#define JALLOC_BLAS_KERNELS_KERNELS_H

/* The host's kernels: loops over vectors, written once and compiled for each instruction set.
 *
 *   kernels.h kernels.c      the sets, and which one runs
 *   vector.h                 what a vector is, for one set; vector_root.h and vector_transpose.h
 *                            what some families need besides
 *   each_type.h              includes a text for s, d, c and z
 *   level1.h matvec.h        the families' tables of functions, one for each element type
 *   product.h batch.h ...
 *   level1_kernel.h          their texts, which files named after a set include, to be compiled for
 *   matvec_kernel.h          it (level1_avx512.c ...)
 *   product_kernel.h
 *
 * What always holds: a kernel allocates nothing, knows no handle and no thread, and gives the same
 * bits on every set that has fused multiply-adds (vector.h).
 *
 * Read vector.h first, then a family's text. */

#include "blas/primitives/element.h"
#include "blas/primitives/operation.h"
#include "core/core.h"

typedef struct ji_product_kernels ji_product_kernels_t;   /* product.h */
typedef struct ji_matvec_kernels ji_matvec_kernels_t;     /* matvec.h */
typedef struct ji_level1 ji_level1_t;                     /* level1.h */
typedef struct ji_triangle_kernels ji_triangle_kernels_t; /* triangle.h */
typedef struct ji_factor_kernels ji_factor_kernels_t;     /* factor.h */
typedef struct ji_batch_kernels ji_batch_kernels_t;       /* batch.h */
typedef struct ji_move_kernels ji_move_kernels_t;         /* move.h */

typedef struct ji_kernel_set {
    const char *name; /* "avx512", "avx2", "generic": as JALLOC_HOST_ISA says it */
    int vector_bytes;
    bool fused; /* products and sums are rounded once */
    /* The families, each an array by element type: s d c z. */
    const ji_product_kernels_t *const *product;
    const ji_matvec_kernels_t *const *matvec;
    const ji_level1_t *const *level1;
    const ji_triangle_kernels_t *const *triangle;
    const ji_factor_kernels_t *const *factor;
    const ji_batch_kernels_t *const *batch;
    const ji_move_kernels_t *const *move;
} ji_kernel_set_t;

/* The set in use. Chosen by the first call of a process; before, the best. */
JI_SHARED extern const ji_kernel_set_t *ji_kernels;

/* Set `index` of those that this library was compiled with, best first, whether or not the
 * processor has it; NULL beyond the last. */
const ji_kernel_set_t *ji_kernel_set_at(size_t index);
bool ji_kernel_set_is_here(const ji_kernel_set_t *set);
/* The best that the processor has. */
const ji_kernel_set_t *ji_kernel_set_best(void);
/* For set-up and tests, while no kernel runs. */
void ji_kernel_set_use(const ji_kernel_set_t *set);

#endif
