/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_PRODUCT_H
#define JALLOC_BLAS_HOST_PRODUCT_H

/* The product of the host: C = alpha A B + beta C, where A, B and C are not only whole matrices.
 *
 *     operands (what is packed)   general, transposed, conjugated; symmetric, Hermitian and skew
 *                                 from one triangle; triangular, unit or not; of 16 bits; parts of
 *                                 complex elements
 *     what of C is written        all, or one triangle; of a real product, a complex matrix
 *
 * A routine of level 3 is a choice of these (matmat.c, gemm_3m.c). */

#include "blas/algorithms/product.h"
#include "blas/host/host.h"
#include "blas/kernels/batch.h"
#include "blas/kernels/matvec.h"
#include "blas/kernels/product.h"

typedef enum ji_operand_kind {
    JI_OPERAND_GENERAL,
    JI_OPERAND_SYMMETRIC, /* one triangle is read; by the operand's `symmetry` */
    JI_OPERAND_TRIANGULAR
} ji_operand_kind_t;

/* A matrix of lines along C (rows of A, columns of B) and steps along the depth. */
typedef struct ji_operand {
    ji_operand_kind_t kind;
    jdatatype_t type; /* of its elements; of a real product's complex ones `part` counts, others
                         become the product's type (convert.h) */
    const void *data;
    int64_t line, step; /* elements from one to the next; one of them is 1 */
    bool conjugate;
    bool lower; /* the triangle that is read has line >= step */
    bool unit;
    ji_symmetry_t symmetry;
    ji_part_t part; /* of complex elements in a real product */
} ji_operand_t;

typedef enum ji_written { JI_WRITTEN_ALL, JI_WRITTEN_LOWER, JI_WRITTEN_UPPER } ji_written_t;

typedef struct ji_product {
    jdatatype_t type; /* s d c z */
    int64_t m, n, k;  /* > 0 */
    ji_operand_t a, b;
    ji_product_scalars_t scalars;
    ji_written_t written;
    void *c; /* may be the data of a triangular product's other operand */
    int64_t ldc;
    bool complex_c; /* C and the scalars are complex, the product is real; JI_WRITTEN_ALL */
    ji_threads_t threads;
    void *panels; /* workspace, aligned to 64 bytes; NULL: in place */
    size_t panel_bytes;
} ji_product_t;

/* Whether all of A is one strip on the stack, and the work is one thread's: what panels hold would
 * be the same, farther away (measured: up to a fifth more time). */
bool ji_product_fits_stack(jdatatype_t type, int64_t m, int64_t n, int64_t k);

/* What such a product is packed into. Neither falls when a size or the number of threads grows. */
ji_panel_bytes_t ji_product_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t k, int threads);

void ji_product(const ji_product_t *call);

/* gemm's: C = alpha op(A) op(B) + beta C. */
ji_product_t ji_gemm_product(const ji_matmat_t *args);

/* The same with the sums of a block of C: mixed.c. */
ji_panel_bytes_t ji_blocked_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t k, int threads);
/* What JI_GEMM_EX of such a block wants. */
ji_panel_bytes_t ji_mixed_bytes(const ji_matmat_t *args, int threads);

/* The bytes that the second cache of this processor holds for one thread, and that of any does. */
#define JI_NEAR_LEAST_BYTES 524288
static inline int64_t ji_near_bytes(void) {
    return ji_max(JI_NEAR_LEAST_BYTES, ji_host_tuning.compact_bytes);
}

/* Of a packed triangle, where there is no workspace. Eight rows behind 248 unknowns are 32 KiB of
 * the widest type (trsm.c). */
#define JI_SOLVE_STACK_BYTES ((size_t)40960)
/* trmm as substitution goes through B, with the bits of the product, unless its triangle is large
 * (trsm.c). False: nothing is done. */
bool ji_host_trmm_by_strips(const ji_matmat_t *call);

/* A scalar, wherever it is, as reals. */
static inline void ji_read_scalar(jdatatype_t type, const ji_scalar_t *scalar, double value[2]) {
    const float *s = ji_scalar_data(scalar);
    const double *d = ji_scalar_data(scalar);
    const bool single = ji_real_of(type) == JDATATYPE_F32;

    value[0] = single ? (double)s[0] : d[0];
    value[1] = !ji_is_complex(type) ? 0 : single ? (double)s[1] : d[1];
}

/* gemm of one panel of the depth, in place, where A is not transposed. Inline: of the smallest
 * products a call costs as much as a step. Member by member: compilers copy a whole by vectors,
 * which wait for what was just stored by words. */
static inline void ji_gemm_direct(const ji_matmat_t *args, ji_product_direct_t *direct) {
    const bool plain = !ji_is_transposed(args->transb);
    direct->m = args->m, direct->n = args->n, direct->depth = args->k;
    direct->a_step = args->lda;
    direct->b_row_step = plain ? 1 : args->ldb;
    direct->b_column_step = plain ? args->ldb : 1;
    direct->ldc = args->ldc;
    direct->count = direct->chunk = 1;
    direct->a.at = ji_unconst(args->a), direct->a.stride = 0;
    direct->b.at = ji_unconst(args->b), direct->b.stride = 0;
    direct->c.at = args->c, direct->c.stride = 0;
    direct->by_pointers = direct->is_far = false;
    direct->conjugate_b = ji_is_conjugated(args->transb);
    ji_read_scalar(args->head.type, &args->alpha, direct->scalars.alpha);
    ji_read_scalar(args->head.type, &args->beta, direct->scalars.beta);
}

/* Rows, columns and a depth up to this are such a product, whatever else. */
enum { JI_GEMM_AT_ONCE = 31 };

/* Whether A, whose columns begin so many elements apart, is better copied than read as it lies: C
 * has so many columns that a strip of rows is read again and again, and A's are pages apart; or are
 * so many in so few places that a first cache of 32 KiB does not keep the strip (Zen 3, as it lies
 * over copied, columns 1 KiB apart: dgemm of 96 to 128 1.02 to 1.08, NT 1.05 to 1.2; of 64 and 80
 * 0.9 to 1; sgemm of 100 and 128 0.93 to 0.98, NT 1.05 to 1.13). */
enum {
    JI_PRODUCT_COPIED_LEAST = 48,
    JI_PRODUCT_COPIED_STEPS = 16,
    JI_PRODUCT_COLLIDING_BYTES = 1024,
    JI_PRODUCT_COLLIDING_LEAST = 96
};
static inline bool ji_product_copies(jdatatype_t type, int64_t m, int64_t n, int64_t k,
                                     int64_t step) {
    const int64_t element = (int64_t)ji_sizeof(type);
    if (ji_is_complex(type) || ji_min(m, n) < JI_PRODUCT_COPIED_LEAST ||
        k < JI_PRODUCT_COPIED_STEPS)
        return false;
    return step >= JI_PAGE_BYTES / element ||
           (type == JDATATYPE_F64 && step % (JI_PRODUCT_COLLIDING_BYTES / element) == 0 &&
            ji_kernels->vector_bytes == 32 && ji_min(n, k) >= JI_PRODUCT_COLLIDING_LEAST);
}

/* Whether a triangle from the right multiplies rows of so many reals that are read as they lie; and
 * whether they are so few that no workspace is better. Emerald Rapids, packed over in place: dtrmm
 * of 72 to 96 1.05 to 1.2, strmm of 80 and 96 1.2; of 128 0.95 to 1. */
enum { JI_READ_ROWS_ELEMENTS = 9216 };
static inline bool ji_product_reads_rows(jdatatype_t type, int64_t m, int64_t n, int64_t k,
                                         int64_t step) {
    return !ji_is_complex(type) && !ji_is_half(type) && k <= JI_PRODUCT_DEPTH &&
           !ji_product_copies(type, m, n, k, step);
}
static inline bool ji_product_reads_few_rows(jdatatype_t type, int64_t m, int64_t n, int64_t k,
                                             int64_t step) {
    return m <= JI_READ_ROWS_ELEMENTS && ji_product_reads_rows(type, m, n, k, step) &&
           m * k <= JI_READ_ROWS_ELEMENTS;
}

/* Whether gemm is one: one panel, no work for two threads, as rows and columns below 32 never are,
 * and not packed, which an algorithm's small steps are not though it has panels. */
static inline bool ji_gemm_is_small(const ji_matmat_t *args) {
    if ((args->m | args->n | args->k) <= JI_GEMM_AT_ONCE)
        return true;
    const double work = ji_product_work(args->head.type, args->m, args->n, args->k);
    return args->k <= JI_PRODUCT_DEPTH / 2 &&
           (args->panels == NULL || work < JI_PACKED_LEAST_GEMM ||
            ji_min(args->m, args->n) < JI_PACKED_LEAST_SIZE) &&
           (args->head.threads.count < 2 || work < 2 * JI_PRODUCT_LEAST_WORK) &&
           !ji_product_copies(args->head.type, args->m, args->n, args->k, args->lda);
}

/* op(X) as an operand whose lines are its rows (A), or its columns (B). */
ji_operand_t ji_operand_a(jdatatype_t type, const void *a, int64_t lda, jblas_operation_t op);
ji_operand_t ji_operand_b(jdatatype_t type, const void *b, int64_t ldb, jblas_operation_t op);

/* Items [first, end) of a batch of JI_GEMM, where they are small (gemm_batch.c); false: they are
 * not, and nothing is done. */
bool ji_host_gemm_small_items(const ji_matmat_t *block, int64_t first, int64_t end);

#endif
