/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_CBLAS_H
#define JALLOC_BLAS_HOST_CBLAS_H

/* The host's primitives: ji_host_<function>(block) for each of primitive.h's lists, in the table
 * ji_host_primitives (matmat.c), and calls of the CBLAS by a type that is a value.
 *
 *   cblas.h product.h                  how the CBLAS is called
 *   vector.c matvec.c matmat.c         levels 1, 2 and 3 by the CBLAS; the host's tuning
 *   guest.h selfcheck.h selfcheck.c    those of its kernels that are checked by the first call, and
 *                                      what replaces one that is wrong
 *   plain.h plain.c plain_kernel.h     level 1 by loops, where the CBLAS is not asked
 *   scale.h matrix.c matrix_kernel.h   scaling and adding of matrices, which no CBLAS has
 *   gemmt.c half.c split_kernels.c     a triangle of a product; 16-bit products; real parts of
 *                                      complex matrices
 *   reduce_kernels.c                   sums in a fixed order, by threads where they pay
 *   triangle_kernels.c                 packed triangles by vectors: triangle_types.h and
 *                                      triangle_kernel.h, compiled for each instruction set
 *   triangle_factor.c triangle_base.h  trtri and potrf
 *
 * The CBLAS does the work and is not believed in everything. Which of them is loaded is known at
 * run time alone, so what one version of one of them has wrong is avoided or checked here, with the
 * version's name in a comment, and what they lack is a loop.
 *
 * The headers named kernel or base are texts that are included once for each element type, without
 * an include guard. What needs no speed is written so or calls the CBLAS by HOST_BY_TYPE:
 *
 *     #define CALL(t, value) cblas_##t##axpy(n, value(alpha), x, incx, y, incy)
 *     HOST_BY_TYPE(type, CALL)
 *     #undef CALL
 *
 * t is the letter, and value(p) passes the scalar that p points to as this type's CBLAS wants it:
 * real ones by value, complex ones by address.
 *
 * What always holds: nothing is allocated; where BLAS says that an operand is not read, no CBLAS
 * sees it (scale.h); no integer reaches the CBLAS that its type does not hold: level 1 and gemm are
 * cut into parts, for the others the entries have refused the call.
 *
 * Read matvec.c first, then vector.c, and triangle_kernels.c, which is about speed, last. */

#include <assert.h>
#include <cblas.h>

#include "blas/blas.h"

#ifdef MKL_INT
typedef MKL_INT host_int_t; /* with 64 bits a long long, which is no int64_t */
#elif JALLOC_BLAS_INT == 64
typedef int64_t host_int_t;
#else
typedef int host_int_t;
#endif
static_assert(__builtin_types_compatible_p(__typeof__(cblas_dasum),
                                           double(host_int_t, const double *, host_int_t)) &&
                  sizeof(host_int_t) == JALLOC_BLAS_INT / 8,
              "integers of cblas.h have another size than JALLOC_BLAS_INT says of the CBLAS: the "
              "header is of another library");

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

/* A transpose of real numbers is their conjugate transpose, but not every CBLAS knows. */
static inline enum CBLAS_TRANSPOSE host_operation(jdatatype_t type, jblas_operation_t operation) {
    return operation == JBLAS_CONJUGATE_TRANSPOSE && !ji_is_complex(type)
               ? CblasTrans
               : (enum CBLAS_TRANSPOSE)operation;
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

#endif
