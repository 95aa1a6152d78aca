/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_SOLVER_H
#define JALLOC_BLAS_PRIMITIVES_SOLVER_H

/* One call of the LAPACK that a GPU's vendor has: JI_SOLVER's block. What it computes is LAPACK's,
 * but for what is said here. All operands are memory of the device; info is an int32_t there, and
 * what the call needs of the host is host_work, which must stay as it is until the stream has
 * passed. No call is of size 0.
 *
 * How many bytes of both it needs depends on the sizes, the leading dimensions and the enumerators
 * alone; solver_bytes() (primitive.h) tells, and the call must have exactly these. */

#include "blas/primitives/primitive.h"

typedef enum ji_solver_routine {
    JI_SOLVER_GETRF, /* a: m x n, ipiv */
    JI_SOLVER_GETRS, /* trans, a: n x n, ipiv, b: n x k */
    JI_SOLVER_GEQRF, /* a: m x n, tau */
    JI_SOLVER_ORGQR, /* a: m x n, of k reflectors, tau */
    JI_SOLVER_ORMQR, /* side, trans, a, tau: k reflectors; b: m x n */
    JI_SOLVER_SYEVD, /* jobu: N or V; uplo, a: n x n, values */
    JI_SOLVER_GESVD, /* jobu, jobvt, a: m x n, m >= n, values, b: U, vt */
    JI_SOLVER_ROUTINES
} ji_solver_routine_t;

typedef struct ji_solver {
    ji_head_t head;
    ji_solver_routine_t routine;
    jblas_side_t side;
    jblas_uplo_t uplo;
    jblas_operation_t trans;
    char jobu, jobvt; /* LAPACK's letters */
    int64_t m, n, k;
    const void *a; /* getrs and ormqr read it, others write it */
    int64_t lda;
    union {
        const int64_t *ipiv;
        const void *tau;
        void *values; /* of the real type */
    };
    void *b;
    int64_t ldb;
    void *vt;
    int64_t ldvt;
    int32_t *info; /* LAPACK's: below 0, an argument's number */
    void *work;
    size_t work_bytes;
    void *host_work;
    size_t host_bytes;
} ji_solver_t;
static_assert(sizeof(ji_solver_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* What a call needs. */
typedef struct ji_solver_bytes {
    size_t device, host;
} ji_solver_bytes_t;

#endif
