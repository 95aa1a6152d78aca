/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_PRIMITIVE_H
#define JALLOC_BLAS_PRIMITIVES_PRIMITIVE_H

/* What libjblas and the devices' primitives have in common: element types, scalars, argument
 * blocks, the list of primitives. Read by C and, in the GPU modules, by C++.
 *
 * A primitive is what a device can do by itself, in one call in stream order: a routine of BLAS, or
 * one step of an algorithm. The room says what each is given and what it leaves; what does it is in
 * host/ and in library/gpu/blas/.
 *
 *   element.h       element types
 *   primitive.h     scalars, the blocks of the three levels, the list of all primitives, and what a
 *                   device says of its BLAS
 *   batch.h         a block that is many: what its items are
 *   reduce.h        the block of sums in a fixed order
 *   inverses.h      of triangles' inverses
 *   split.h         of complex matrices as real ones
 *   precision.h     of products of 16-bit numbers, and of floats in parts
 *   solver.h        of the vendor's LAPACK
 *   operation.h     what an operation does
 *
 * One block for each level, not one struct for each routine: an algorithm fills in a block and runs
 * one primitive or another with it, a table of functions has one type, and the log reads any block
 * by the routine's row.
 *
 * What always holds: a block is plain data, at most JSTREAM_MAX_ARGUMENT_BYTES, so a stream copies
 * it and the caller's may go. Sizes are counted in elements. A scalar is a value, or an address
 * from which it is read when the primitive runs. With an alpha of 0 operands are not read, with a
 * beta of 0 C or y is not, and pointers to what is not read may be NULL. A primitive leaves its
 * block as it was.
 *
 * Read this file first; the others when their algorithm is read. */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blas/primitives/element.h"
#include "blas/primitives/operation.h"
#include "core/threads.h"
#include "device/table.h"
#include "jalloc/jblas.h"

/* ---- Scalars ---- */

typedef union ji_value {
    float s;
    double d;
    float c[2];
    double z[2];
    int32_t i;
} ji_value_t;

/* A scalar argument: a value that is known, or the address from which it is read when the primitive
 * runs (device pointer mode). */
typedef struct ji_scalar {
    const void *pointer; /* NULL: value holds it */
    ji_value_t value;
} ji_scalar_t;

/* The five numbers of rotm, likewise. */
typedef struct ji_parameters {
    const void *pointer;
    union {
        float s[5];
        double d[5];
    } value;
} ji_parameters_t;

/* Where a primitive finds the scalar. */
static inline const void *ji_scalar_data(const ji_scalar_t *scalar) {
    return scalar->pointer ? scalar->pointer : (const void *)&scalar->value;
}
static inline const void *ji_parameters_data(const ji_parameters_t *parameters) {
    return parameters->pointer ? parameters->pointer : (const void *)&parameters->value;
}

/* A constant of a type, for algorithms: 0, 1, -1. */
static inline ji_scalar_t ji_constant(jdatatype_t type, double real) {
    ji_scalar_t scalar;
    memset(&scalar, 0, sizeof scalar);

    if (ji_real_of(type) == JDATATYPE_F32)
        scalar.value.s = (float)real;
    else
        scalar.value.d = real;

    return scalar;
}

/* Whether the value is known and equals `real`. A scalar still on the device equals nothing. */
static inline bool ji_scalar_is(const ji_scalar_t *scalar, jdatatype_t type, double real) {
    if (scalar->pointer)
        return false;

    const ji_value_t *v = &scalar->value;
    switch (type) {
    case JDATATYPE_F32: return v->s == real;
    case JDATATYPE_F64: return v->d == real;
    case JDATATYPE_F32_C: return v->c[0] == real && v->c[1] == 0;
    case JDATATYPE_I32: return v->i == real;
    default: return v->z[0] == real && v->z[1] == 0;
    }
}

/* ---- Argument blocks, one per BLAS level ---- */

/* The operation that makes the second factor of op(A) op(B)^T, or of its Hermitian form, of B. */
static inline jblas_operation_t ji_operation_of_second(jblas_operation_t trans, bool hermitian) {
    return trans != JBLAS_NO_TRANSPOSE ? JBLAS_NO_TRANSPOSE
           : hermitian                 ? JBLAS_CONJUGATE_TRANSPOSE
                                       : JBLAS_TRANSPOSE;
}

typedef struct ji_row ji_row_t;

/* What an operand of a routine is: a matrix or a vector, an array of pointers to such, or the first
 * of such that are so far apart. */
typedef enum ji_form { JI_FORM_PLAIN, JI_FORM_POINTERS, JI_FORM_STRIDED } ji_form_t;

/* First member of every block: {.type = type, .row = &ji_row_<routine>}. */
typedef struct ji_head {
    jdatatype_t type; /* of the matrices and vectors */
    int16_t rung;     /* set by ji_run_plan: the rung taken, for the log; 0 elsewhere */
    int16_t form;     /* ji_form_t: a batch where ji_takes_batch(), else plain for primitives */
    /* What the log and the messages know of the routine; primitives do not look. */
    const ji_row_t *row;
    /* Of the host's primitives, in a created stream, too; set by ji_enter. */
    ji_threads_t threads;
} ji_head_t;

/* What makes a batch of a block, its second member: not looked at, nor set, where the form is
 * plain. Strides are in elements; results follow each other. batch.h says what an item is. */
typedef struct ji_batch {
    int64_t count;
    union {
        int64_t stride_a, stride_ap; /* one, by the name of the operand */
    };
    union {
        int64_t stride_b, stride_x, stride_bp, stride_tau;
    };
    union {
        int64_t stride_c, stride_y, stride_ipiv;
    };
    int16_t threads;   /* that items are divided among; 1: each item is done by the head's */
    uint8_t primitive; /* ji_primitive_t: what is done with each item; else the block's items say */
    uint8_t level : 4; /* 1, 2, 3: which block it is; 0: ji_rotation_t */
    uint8_t by_stride : 4; /* bits 0 to 2: a, b, c have a stride in either form */
    uint8_t result_bytes;
    uint8_t element_bytes[3]; /* of those that have the strides */
} ji_batch_t;

typedef struct ji_vector { /* level 1 */
    ji_head_t head;
    ji_batch_t batch;
    int64_t n;
    union {
        ji_scalar_t alpha; /* of the real type for csscal and zdscal */
        ji_scalar_t c;     /* rot: of the real type, as is s */
    };
    union {
        ji_scalar_t beta; /* axpby */
        ji_scalar_t s;
    };
    ji_parameters_t param; /* rotm: of the real type */
    const void *x;         /* scal, swap, rot and rotm write it as well */
    int64_t incx;
    void *y;
    int64_t incy;
    void *result; /* dot, nrm2, asum: a scalar; dsdot: a double; iamax, iamin: int64_t */
    /* Where types are arguments, head.type is the last. */
    jdatatype_t x_type, y_type, cs_type, compute_type;
} ji_vector_t;

#define JI_ROTATION_NUMBERS 5

typedef struct ji_rotation { /* rotg, rotmg: each points to one element, but for param */
    ji_head_t head;
    ji_batch_t batch; /* but for the strides, which are more here */
    union {
        struct {
            void *a, *b, *c, *s; /* c is of the real type */
        };
        struct {
            void *d1, *d2, *x1, *y1, *param; /* y1 is read alone */
        };
        void *numbers[JI_ROTATION_NUMBERS]; /* NULL: there is none */
    };
    union {
        struct {
            int64_t stride_a, stride_b, stride_c, stride_s;
        };
        struct {
            int64_t stride_d1, stride_d2, stride_x1, stride_y1, stride_param;
        };
        int64_t strides[JI_ROTATION_NUMBERS];
    };
} ji_rotation_t;

/* Of an element of number i: rotg alone is of complex types. */
static inline int64_t ji_rotation_bytes(const ji_rotation_t *args, int i) {
    const jdatatype_t type = args->head.type;
    return (int64_t)ji_sizeof(i == 2 ? ji_real_of(type) : type);
}

typedef struct ji_matvec { /* level 2 */
    ji_head_t head;
    ji_batch_t batch;
    jblas_uplo_t uplo;
    jblas_operation_t trans;
    jblas_diagonal_t diag;
    int64_t m, n; /* square routines use n */
    union {
        int64_t kl, k; /* of bands: diagonals below the main one; those of a triangle */
    };
    int64_t ku;        /* above it */
    ji_scalar_t alpha; /* her: of the real type */
    union {
        const void *a, *ap; /* ger, syr, her write it; ap: a packed triangle */
    };
    int64_t lda;
    const void *x; /* trmv, trsv write it */
    int64_t incx;
    ji_scalar_t beta;
    void *y; /* ger reads it */
    int64_t incy;
} ji_matvec_t;

typedef struct ji_matmat { /* level 3, extensions, solvers */
    ji_head_t head;
    ji_batch_t batch;
    union {
        jblas_side_t side;
        int norm; /* jlapack_norm_t */
    };
    jblas_uplo_t uplo;
    union {
        jblas_operation_t transa, trans; /* one, by the name that the routine has for it */
    };
    jblas_operation_t transb;
    jblas_diagonal_t diag;
    int64_t m, n;
    union {
        int64_t k, nrhs; /* likewise */
    };
    union {
        ji_scalar_t alpha; /* herk: of the real type */
        ji_scalar_t anorm; /* of the real type */
    };
    const void *a; /* trtri, potrf write it */
    int64_t lda;
    union {
        /* trsm, trmm, potrs, omatcopy, trttp write it; dgmm reads x; geqrf and gelqf write tau. */
        const void *b, *x, *bp, *tau;
    };
    union {
        int64_t ldb, incx;
    };
    union {
        ji_scalar_t beta;                 /* herk, her2k: of the real type */
        const struct ji_items_way *items; /* of a batch of what is no primitive (batch.h) */
    };
    union {
        void *c;
        int64_t *ipiv, *jpvt; /* getrf writes it, geqp3 reads and writes it */
    };
    int64_t ldc;
    union {
        int64_t *info; /* of factors and inverses */
        void *rcond;   /* of the real type */
    };
    /* The host's: workspace for packed panels (algorithms/product.h), aligned to 64 bytes; NULL: in
     * place. Elsewhere imatcopy's alone. */
    void *panels;
    size_t panel_bytes;
    /* Where types are arguments, head.type is the last. */
    jdatatype_t a_type, b_type, c_type, compute_type;
} ji_matmat_t;

static_assert(sizeof(ji_rotation_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_vector_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_matvec_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
static_assert(sizeof(ji_matmat_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* ---- Primitives ---- */

/* X(ENUMERATOR, function): JI_<ENUMERATOR> is on the host
 *
 *     void ji_host_<function>(void *block)
 *
 * and on a GPU
 *
 *     jstatus_t gpu_<function>(const gpu_call_t *, const void *block)
 *
 * An algorithm that needs a primitive of its own adds a line here and a file in host/ or
 * library/gpu/blas/; its block may be any struct of at most JSTREAM_MAX_ARGUMENT_BYTES. */

/* Those of which a GPU is given the block of a batch, and does all its items. */
#define JI_BATCH_PRIMITIVE_LIST(X)                                                                 \
    X(AXPY, axpy) /* level 1: ji_vector_t */                                                       \
    X(COPY, copy)                                                                                  \
    X(SWAP, swap)                                                                                  \
    X(SCAL, scal)                                                                                  \
    X(RSCAL, rscal) /* complex x, real alpha */                                                    \
    X(DOT, dot)     /* in one fixed order; on a GPU at most JI_REDUCE_BLOCK elements */            \
    X(DOTC, dotc)                                                                                  \
    X(DSDOT, dsdot)                                                                                \
    X(SDSDOT, sdsdot)                                                                              \
    X(NRM2, nrm2)                                                                                  \
    X(ASUM, asum)                                                                                  \
    X(IAMAX, iamax)                                                                                \
    X(IAMIN, iamin)                                                                                \
    X(AXPBY, axpby)                                                                                \
    X(ROT, rot)                                                                                    \
    X(ROTM, rotm)                                                                                  \
    X(ROTG, rotg) /* ji_rotation_t, both */                                                        \
    X(ROTMG, rotmg)                                                                                \
    X(GEMV, gemv) /* level 2: ji_matvec_t */                                                       \
    X(GER, ger)                                                                                    \
    X(GERC, gerc)                                                                                  \
    X(SYMV, symv) /* hemv for complex types */                                                     \
    X(SYR, syr)   /* her for complex types */                                                      \
    X(SYR2, syr2) /* her2 for complex types */                                                     \
    X(TRMV, trmv)                                                                                  \
    X(TRSV, trsv)                                                                                  \
    X(GBMV, gbmv)                                                                                  \
    X(SYMV_COMPLEX, symv_complex) /* of complex types, and symmetric, these three */               \
    X(SYR_COMPLEX, syr_complex)   /* alpha is of the elements' type */                             \
    X(SYR2_COMPLEX, syr2_complex)                                                                  \
    X(SKEWSYMV, skewsymv) /* of real types, and skew-symmetric, these two */                       \
    X(SKEWSYR2, skewsyr2)                                                                          \
    X(SBMV, sbmv) /* hbmv for complex types */                                                     \
    X(SPMV, spmv) /* hpmv for complex types */                                                     \
    X(SPR, spr)   /* hpr for complex types */                                                      \
    X(SPR2, spr2) /* hpr2 for complex types */                                                     \
    X(TBMV, tbmv)                                                                                  \
    X(TBSV, tbsv)                                                                                  \
    X(TPMV, tpmv)                                                                                  \
    X(TPSV, tpsv)                                                                                  \
    X(SYMM, symm) /* level 3: ji_matmat_t */                                                       \
    X(HEMM, hemm)                                                                                  \
    X(SYRK, syrk)                                                                                  \
    X(SYR2K, syr2k)                                                                                \
    X(HER2K, her2k)                                                                                \
    X(GEMMT, gemmt)                                                                                \
    X(HERK, herk)                                                                                  \
    X(HERKX, herkx)                                                                                \
    X(SKEWSYMM, skewsymm)                                                                          \
    X(SKEWSYR2K, skewsyr2k)                                                                        \
    X(TRMM, trmm)                                                                                  \
    X(TRSM, trsm)           /* substitution */                                                     \
    X(GEMM_HALF, gemm_half) /* A, B, C of type F16 or BF16, sums and scalars float */

/* Those whose items are enqueued one after the other. */
#define JI_ITEM_PRIMITIVE_LIST(X)                                                                  \
    X(AXPY_EX,                                                                                     \
      axpy_ex) /* level 1: x and y of x_type and y_type, computed in head.type, these seven */     \
    X(SCAL_EX, scal_ex)                                                                            \
    X(DOT_EX, dot_ex)   /* as DOT, these four */                                                   \
    X(DOTC_EX, dotc_ex) /* of complex types */                                                     \
    X(NRM2_EX, nrm2_ex)                                                                            \
    X(ASUM_EX, asum_ex)                                                                            \
    X(ROT_EX, rot_ex) /* c and s of cs_type */                                                     \
    X(GEMM, gemm)     /* level 3: ji_matmat_t; of a batch GEMM_BATCHED and GEMM_STRIDED */         \
    X(GEAM, geam)     /* C = alpha op(A) + beta op(B); C may be A or B where their op is N */      \
    X(SCALE_MATRIX, scale_matrix) /* B = alpha B, m x n; alpha 0: zeros, whatever B holds */       \
    X(SET_INFO, set_info)         /* *info = n, in stream order */                                 \
    X(TRTRI, trtri)               /* sets *info */                                                 \
    X(SPLIT, split)               /* ji_split_t, see split.h */                                    \
    X(MERGE, merge)               /* ji_merge_t */                                                 \
    X(DGMM, dgmm)                                                                                  \
    X(OMATCOPY, omatcopy)                                                                          \
    X(IMATCOPY, imatcopy) /* panels: room for A, or NULL */                                        \
    X(TRTTP, trttp)                                                                                \
    X(TPTTR, tpttr)                                                                                \
    X(GEMM_EX, gemm_ex) /* A, B, C of a_type, b_type, c_type, computed in head.type */

/* Of the host alone, ji_matmat_t: a GPU has algorithms in their place. */
#define JI_HOST_PRIMITIVE_LIST(X)                                                                  \
    X(POTRF, potrf)           /* as TRTRI */                                                       \
    X(GEMM_BY_3M, gemm_by_3m) /* as GEMM, of complex types, by three real products */

/* Of a GPU alone. */
#define JI_GPU_PRIMITIVE_LIST(X)                                                                   \
    X(GEMM_BATCHED, gemm_batched)   /* ji_matmat_t: gemm of all items, of arrays of pointers */    \
    X(GEMM_STRIDED, gemm_strided)   /* the same, of strides */                                     \
    X(REDUCE_BLOCKS, reduce_blocks) /* ji_reduce_t, see reduce.h */                                \
    X(REDUCE_COMBINE, reduce_combine)                                                              \
    X(SPLIT_SCALE, split_scale)         /* ji_split_operand_t, see precision.h */                  \
    X(SPLIT_PRECISION, split_precision) /* ji_split_operand_t */                                   \
    X(SPLIT_RESULT, split_result)       /* ji_split_result_t */                                    \
    X(GEMM_MIXED, gemm_mixed) /* ji_matmat_t: A, B of type BF16 or F16, C float; scalars known */  \
    X(GEMM_EMULATED, gemm_emulated)   /* ji_matmat_t: as GEMM, by the vendor's emulated float */   \
    X(TRIANGLE_CLEAR, triangle_clear) /* ji_matmat_t: B = 0 if alpha is 0 */                       \
    X(TRIANGLE_INVERSES, triangle_inverses) /* ji_inverses_t, see triangle.h */                    \
    X(TRIANGLE_CHECK, triangle_check)       /* ji_matmat_t, see below */                           \
    X(TRIANGLE_STORE, triangle_store)                                                              \
    X(POTRF_PANEL, potrf_panel)                                                                    \
    X(POTRF_BASE, potrf_base)                                                                      \
    X(PIVOT_INFO, pivot_info)                                                                      \
    X(SOLVER, solver)               /* ji_solver_t, see solver.h */                                \
    X(SOLVER_FINISH, solver_finish) /* ji_matmat_t, see below */

/* Numbers of rows are from 1 on, as info is. Of a Hermitian matrix the last three see one triangle,
 * as the lower one: an upper one is its adjoint.
 *
 *   JI_TRIANGLE_CHECK   *(int64_t *)c = the first zero of A's diagonal, or 0
 *   JI_TRIANGLE_STORE   *info = *(int64_t *)c; if it is 0, A's triangle = B's
 *   JI_POTRF_PANEL      C = m rows of n columns of A, whose diagonal begins k rows above the first
 *                       of them; zeros above it, and no imaginary parts on it
 *   JI_POTRF_BASE       A = its factor L, n <= factor_base; if there is a b, of B, not of A, lower.
 *                       If there is a c, n is factor_base, and C = inv(L)^H, zeros below included.
 *                       A pivot that is not positive stays; what is computed with it is to its
 *                       right and below
 *   JI_PIVOT_INFO       *info = the first of A's diagonal that is not above 0, or 0
 *   JI_SOLVER_FINISH    *info = *(int32_t *)c; if it is 0 and there is a b, A = B, m x n */

#define JI_COMMON_PRIMITIVE_LIST(X) JI_BATCH_PRIMITIVE_LIST(X) JI_ITEM_PRIMITIVE_LIST(X)
#define JI_HOST_ALL_PRIMITIVE_LIST(X) JI_COMMON_PRIMITIVE_LIST(X) JI_HOST_PRIMITIVE_LIST(X)
#define JI_GPU_ALL_PRIMITIVE_LIST(X) JI_COMMON_PRIMITIVE_LIST(X) JI_GPU_PRIMITIVE_LIST(X)
#define JI_PRIMITIVE_LIST(X) JI_HOST_ALL_PRIMITIVE_LIST(X) JI_GPU_PRIMITIVE_LIST(X)

typedef enum ji_primitive {
#define JI_PRIMITIVE_(enumerator, function) JI_##enumerator,
    JI_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_
        JI_PRIMITIVE_COUNT
} ji_primitive_t;
static_assert(JI_PRIMITIVE_COUNT <= UINT8_MAX, "a batch has its number in a byte");

/* Whether it is of JI_BATCH_PRIMITIVE_LIST, which comes first. */
static inline bool ji_takes_batch(ji_primitive_t primitive) {
    enum {
#define JI_ONE_(enumerator, function) +1
        BATCHES = 0 JI_BATCH_PRIMITIVE_LIST(JI_ONE_)
#undef JI_ONE_
    };
    return (int)primitive < BATCHES;
}

/* Reductions up to this many elements are one block, in one order. */
#define JI_REDUCE_BLOCK 4096

/* ---- What a device says of its BLAS ---- */

/* How split precision cuts a float, best first: precision.h. */
typedef enum ji_split_way { JI_SPLIT_BF16, JI_SPLIT_FP16, JI_SPLIT_WAYS } ji_split_way_t;

/* From which sizes an algorithm pays on the device, and how large its panels are. INT64_MAX: never.
 * Of a product the size is the smallest of m, n and k. */
typedef struct ji_tuning {
    int64_t processors; /* that a product has to fill; where it matters to a way */
    /* Largest size, increment or leading dimension that every primitive takes. */
    int64_t integer_max;
    int64_t gemm_least[4]; /* s d c z: below, gemm has no plan; ji_tuning_complete() */
    int64_t gemm3m_least, gemm3m_k_panel, gemm3m_n_panel;
    int64_t strassen_least[2]; /* s d: one halving from here on, two from twice that */
    int64_t split_least;       /* sgemm by split precision */
    /* A product's depth: how long a tensor core's own additions are trusted. */
    int64_t split_k_panel;
    int64_t split_slab;       /* depth that is split at once */
    ji_split_way_t split_way; /* the best that is offered; those behind it are too */
    /* Even where JI_GEMM_MIXED is a kernel of ours, or the vendor emulates: for tests. */
    bool split_by_kernels;
    /* Whether trsm, trtri and potrf are many primitives, of which leaves are inverted beforehand
     * and applied by gemm (trsm.c). Otherwise each is one primitive, and of the rest factor_base
     * and factor_multiple alone matter. */
    bool triangle_products;
    int64_t triangle_leaf;
    int64_t
        triangle_largest_leaf;   /* of the best rung: triangle_leaf times a power of 2, by shape */
    int64_t triangle_small_leaf; /* of the lower rung */
    /* The order and the right-hand sides from which inversion pays. */
    int64_t triangle_least_order, triangle_least_rhs;
    int64_t factor_base;     /* order up to which trtri and potrf are not divided */
    int64_t factor_multiple; /* one primitive: what the halves are multiples of */
    /* By products: the columns whose share the rest loses at once, a multiple of the base; and the
     * rows that the lower rung solves for at once, at least the base. */
    int64_t factor_wide, factor_strip;
    /* Solves by floats: the bytes of A from which LU in floats pays, and Cholesky, for few
     * right-hand sides; 0: always. */
    int64_t mixed_least[2];
    /* The bytes of a matrix, with its gaps, from which columns apart are faster: more than a second
     * cache holds. */
    int64_t room_least;
    /* The bytes of an operand up to which this processor's second cache holds what one thread
     * multiplies, so that it is done where it lies; host/product.h knows what any one's holds. */
    int64_t compact_bytes;
} ji_tuning_t;

/* Fills in what follows from the rest. To be called after a change. */
static inline void ji_tuning_complete(ji_tuning_t *tuning) {
    const int64_t *strassen = tuning->strassen_least;
    tuning->gemm_least[0] = tuning->split_least < strassen[0] ? tuning->split_least : strassen[0];
    tuning->gemm_least[1] = strassen[1];
    tuning->gemm_least[2] = tuning->gemm_least[3] = tuning->gemm3m_least;
}

struct ji_solver;
struct ji_solver_bytes;

/* jdevice_t's `blas`. NULL there: the device has none. */
typedef struct ji_blas_ops {
    const char *name; /* such as "cuBLAS 13.0" or "jalloc's kernels" */
    ji_tuning_t tuning;
    /* Enqueues a primitive. With host_waits, what the block's result or info points to is host
     * memory, written before the call returns: for this the call waits, and counts it there; with
     * NULL it is memory of the device and nothing waits. device error; memory error; capturing (a
     * host result under capture); not implemented. */
    jstatus_t (*run)(jdevice_t *device, jstream_t *stream, ji_primitive_t primitive,
                     const void *block, uint64_t *host_waits);
    /* Whether the vendor's LAPACK has a routine (ji_solver_routine_t), and how much a call of it
     * needs. Both load the library; the second makes its handle for the stream. not implemented,
     * and a message: there is none, it lacks the routine, or does not take the sizes; memory error;
     * capturing; device error. */
    jstatus_t (*solver_find)(jdevice_t *device, int routine);
    jstatus_t (*solver_bytes)(jdevice_t *device, jstream_t *stream, const struct ji_solver *call,
                              struct ji_solver_bytes *bytes);
    /* Whether JI_GEMM_MIXED runs on tensor cores. Loads the vendor's library; the answer never
     * changes. */
    bool (*has_mixed)(jdevice_t *device);
    /* Whether JI_GEMM_EMULATED is worth while. As above. */
    bool (*has_emulated)(jdevice_t *device);
} ji_blas_ops_t;

#endif
