/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_FACTOR_H
#define JALLOC_BLAS_ALGORITHMS_FACTOR_H

/* What factorizations and inverses on the host are made of: one function in stream order each,
 * whose steps are the host's primitives on parts of the matrix, with the panels that came with the
 * call. */

#include "blas/algorithms/product.h"

/* From which work on threads share the steps, n^3 real multiplications in bytes: blocks of smaller
 * matrices would go to and fro between their caches (two had 0.76 to 1.0 of one's speed). */
#define JI_FACTOR_SHARED_WORK 4.5e8

/* The call of the steps, as the block has it, with the threads that share them. */
static inline ji_matmat_t ji_factor_call(const void *block) {
    ji_matmat_t call = *(const ji_matmat_t *)block;
    const jdatatype_t type = call.head.type;
    const double work = ji_product_work(type, call.n, call.n, call.n);
    if (work * (double)ji_sizeof(ji_real_of(type)) < JI_FACTOR_SHARED_WORK)
        call.head.threads.count = 1;
    return call;
}

/* The call for one of so many threads: nobody shares its steps, and it has its part of the
 * workspace. */
static inline ji_matmat_t ji_factor_share(const ji_matmat_t *call, int index, int threads) {
    ji_matmat_t share = *call;
    share.panel_bytes = call->panel_bytes / (size_t)threads / 64 * 64; /* whole cache lines */
    share.panels =
        share.panel_bytes > 0 ? (char *)call->panels + (size_t)index * share.panel_bytes : NULL;
    share.head.threads.count = threads > 1 ? 0 : 1; /* a lease has counted them */
    share.head.threads.planned = 1;
    return share;
}

/* C = alpha op(A) op(B) + beta C, m x n of depth k. */
static inline void ji_factor_multiply(const ji_matmat_t *call, jblas_operation_t transa,
                                      jblas_operation_t transb, int64_t m, int64_t n, int64_t k,
                                      double alpha, const void *a, int64_t lda, const void *b,
                                      int64_t ldb, double beta, void *c, int64_t ldc) {
    const jdatatype_t type = call->head.type;
    ji_matmat_t product = {.head = call->head,
                           .transa = transa,
                           .transb = transb,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = ji_constant(type, alpha),
                           .a = a,
                           .lda = lda,
                           .b = b,
                           .ldb = ldb,
                           .beta = ji_constant(type, beta),
                           .c = c,
                           .ldc = ldc,
                           .panels = call->panels,
                           .panel_bytes = call->panel_bytes};

    ji_host_primitives[JI_GEMM](&product);
}
static inline void ji_factor_product(const ji_matmat_t *call, int64_t m, int64_t n, int64_t k,
                                     double alpha, const void *a, int64_t lda, const void *b,
                                     int64_t ldb, double beta, void *c, int64_t ldc) {
    ji_factor_multiply(call, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, m, n, k, alpha, a, lda, b, ldb,
                       beta, c, ldc);
}

/* The call's triangle of C = alpha A A^H + beta C, or with `adjoint` A^H A; n x n of depth k. */
static inline void ji_factor_update(const ji_matmat_t *call, bool adjoint, int64_t n, int64_t k,
                                    double alpha, const void *a, int64_t lda, double beta, void *c,
                                    int64_t ldc) {
    const jdatatype_t type = call->head.type, real = ji_real_of(type);
    ji_matmat_t update = {.head = call->head,
                          .uplo = call->uplo,
                          .transa = !adjoint              ? JBLAS_NO_TRANSPOSE
                                    : ji_is_complex(type) ? JBLAS_CONJUGATE_TRANSPOSE
                                                          : JBLAS_TRANSPOSE,
                          .n = n,
                          .k = k,
                          .alpha = ji_constant(real, alpha),
                          .a = a,
                          .lda = lda,
                          .beta = ji_constant(real, beta),
                          .c = c,
                          .ldc = ldc,
                          .panels = call->panels,
                          .panel_bytes = call->panel_bytes};

    ji_host_primitives[ji_is_complex(type) ? JI_HERK : JI_SYRK](&update);
}

/* B := alpha op(T) B (JI_TRMM) or alpha inv(op(T)) B (JI_TRSM), or from the right, m x n, with a
 * triangle T that lies as the call's A does: its uplo, diag, lda. */
static inline void ji_factor_triangle(ji_primitive_t primitive, const ji_matmat_t *call,
                                      jblas_side_t side, jblas_operation_t op, double alpha,
                                      const void *triangle, void *b, int64_t ldb, int64_t m,
                                      int64_t n) {
    ji_matmat_t step = *call;
    step.side = side, step.transa = op;
    step.m = m, step.n = n;
    step.alpha = ji_constant(call->head.type, alpha);
    step.a = triangle;
    step.b = b, step.ldb = ldb;

    ji_host_primitives[primitive](&step);
}

#endif
