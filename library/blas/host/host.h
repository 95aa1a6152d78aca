/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_HOST_H
#define JALLOC_BLAS_HOST_HOST_H

/* The host's primitives: ji_host_<function>(block) for each of primitive.h's lists, in the table
 * ji_host_primitives (routine/primitives.c), which is filled once, by the first call: with jblas's
 * own functions, or where the CBLAS is asked for with the guest's (blas/guest/).
 *
 *   host.h host.c                      the tuning; what is common
 *   batch.c                            batches of any primitive, by threads
 *   vector.c                           level 1 by kernels/level1.h, sums in a fixed order; by
 *                                      threads where they pay
 *   rotation.c                         rotg and rotmg
 *   vector_ex.c                        the same with operands of several types
 *   matvec.h matvec.c matvec_square.c  level 2 by kernels/matvec.h
 *   matvec_columns.c                   of bands and packed triangles
 *   scale.h matrix.c matrix_kernel.h   scaling and adding of matrices
 *   move.c                             copying, transposing, diagonals, by kernels/move.h
 *   convert.h convert.c                between element types
 *   mixed.c split_kernels.c            products of several types; real parts of complex matrices
 *   product.h product.c panels.c       level 3 by kernels/product.h, and the workspace for it
 *   matmat.c gemm_3m.c                 its routines; complex gemm by three real products
 *   gemm_batch.c                       small products of a batch
 *   woven.h woven.c                    trsm and potrf of small items of a batch
 *   trsm.c                             solves with triangles, by products and kernels/triangle.h
 *   triangle_factor.c                  trtri and potrf, by kernels/factor.h
 *
 * The headers named kernel or base are texts that are included once for each element type, without
 * an include guard. What needs no speed is chosen by HOST_BY_TYPE:
 *
 *     #define CALL(t, value) scale_##t(args, value(alpha))
 *     HOST_BY_TYPE(type, CALL)
 *     #undef CALL
 *
 * t is the letter, and value(p) passes the scalar that p points to as BLAS does in C: real ones by
 * value, complex ones by address.
 *
 * What always holds: nothing is allocated; what BLAS says is not read is not read. */

#include "blas/blas.h"

#define HOST_VALUE_S(pointer) (*(const float *)(pointer))
#define HOST_VALUE_D(pointer) (*(const double *)(pointer))
#define HOST_VALUE_CZ(pointer) (pointer)

#define HOST_BY_TYPE(type, CALL)                                                                   \
    switch (type) {                                                                                \
    case JDATATYPE_F32: CALL(s, HOST_VALUE_S); break;                                              \
    case JDATATYPE_F64: CALL(d, HOST_VALUE_D); break;                                              \
    case JDATATYPE_F32_C: CALL(c, HOST_VALUE_CZ); break;                                           \
    default: CALL(z, HOST_VALUE_CZ); break;                                                        \
    }
/* The real scalar of a Hermitian routine is passed by value for both complex types. */
#define HOST_BY_COMPLEX_TYPE(type, CALL)                                                           \
    if ((type) == JDATATYPE_F32_C) {                                                               \
        CALL(c, HOST_VALUE_S);                                                                     \
    } else {                                                                                       \
        CALL(z, HOST_VALUE_D);                                                                     \
    }

/* Whether a scalar, wherever it is, is this real number (zero: of either sign) now that the
 * primitive runs. */
static inline bool host_is(jdatatype_t type, const ji_scalar_t *scalar, float real) {
    const float *s = ji_scalar_data(scalar);
    const double *d = ji_scalar_data(scalar);

    switch (type) {
    case JDATATYPE_F32: return s[0] == real;
    case JDATATYPE_F64: return d[0] == real;
    case JDATATYPE_F32_C: return s[0] == real && s[1] == 0;
    default: return d[0] == real && d[1] == 0;
    }
}

static inline bool host_is_zero(jdatatype_t type, const ji_scalar_t *scalar) {
    return host_is(type, scalar, 0);
}

/* *sum += *more, of one element of the type. */
static inline void host_add(jdatatype_t type, ji_value_t *sum, const ji_value_t *more) {
    switch (type) {
    case JDATATYPE_F32: sum->s += more->s; break;
    case JDATATYPE_F64: sum->d += more->d; break;
    case JDATATYPE_F32_C: sum->c[0] += more->c[0], sum->c[1] += more->c[1]; break;
    default: sum->z[0] += more->z[0], sum->z[1] += more->z[1];
    }
}

/* The lowest address of elements [first, first + count) of a vector of n, where BLAS wants the
 * pointer. */
static inline void *host_part(jdatatype_t type, const void *x, int64_t increment, int64_t n,
                              int64_t first, int64_t count) {
    int64_t element = increment > 0 ? first * increment : (n - first - count) * -increment;

    return ji_at(type, x, element, 0, 0);
}

/* A batch: the primitive that the block names, for each item. */
JI_SHARED void ji_host_batch(void *block);

/* A primitive, now, in the calling thread: for primitives that need another inside. */
static inline void ji_host_run(ji_primitive_t primitive, void *block) {
    ji_host_primitives[primitive](block);
}

#endif
