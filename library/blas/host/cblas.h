/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_CBLAS_H
#define JALLOC_BLAS_HOST_CBLAS_H

/* Calls of the CBLAS by a type that is a value.
 *
 *     #define CALL(t, value) cblas_##t##axpy(n, value(alpha), x, incx, y, incy)
 *     HOST_BY_TYPE(type, CALL)
 *     #undef CALL
 *
 * t is the letter, and value(p) passes the scalar that p points to as this type's CBLAS wants it:
 * real ones by value, complex ones by address. */

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
#define HOST_BY_REAL_TYPE(type, CALL)                                                              \
    if ((type) == JDATATYPE_F32) {                                                                 \
        CALL(s, HOST_VALUE_S);                                                                     \
    } else {                                                                                       \
        CALL(d, HOST_VALUE_D);                                                                     \
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
static inline int64_t host_min(int64_t a, int64_t b) { return a < b ? a : b; }

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

/* The place of elements [first, first + count) of a vector of n: the lowest address, where BLAS
 * wants the pointer. */
static inline void *host_part(jdatatype_t type, const void *x, int64_t increment, int64_t n,
                              int64_t first, int64_t count) {
    int64_t element = increment > 0 ? first * increment : (n - first - count) * -increment;
    return ji_at(type, x, element, 0, 0);
}

#endif
