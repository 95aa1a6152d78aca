/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Fortran's names, from the rows. Everything comes by reference, a character as its address. The
 * lengths of characters, which gfortran appends, are not looked at: callers in C leave them out.
 * Complex functions return as gfortran's do, which is as C's.
 *
 * <name>sub_ are what the reference's CBLAS calls for the functions: their result is one argument
 * more. */

#include <complex.h>

#include "dropin/characters.h"
#include "dropin/entry.h"

/* ---- Types of results ---- */

#define ELEMENT_s float
#define ELEMENT_d double
#define ELEMENT_c float _Complex
#define ELEMENT_z double _Complex
#define REAL_s float
#define REAL_d double
#define REAL_c float
#define REAL_z double
#define WIDE_s double
#define INDEX_s blas_int_t
#define INDEX_d blas_int_t
#define INDEX_c blas_int_t
#define INDEX_z blas_int_t

/* As jblas gives it. */
#define GIVEN_ELEMENT_s float
#define GIVEN_ELEMENT_d double
#define GIVEN_ELEMENT_c float _Complex
#define GIVEN_ELEMENT_z double _Complex
#define GIVEN_REAL_s float
#define GIVEN_REAL_d double
#define GIVEN_REAL_c float
#define GIVEN_REAL_z double
#define GIVEN_WIDE_s double
#define GIVEN_INDEX_s int64_t
#define GIVEN_INDEX_d int64_t
#define GIVEN_INDEX_c int64_t
#define GIVEN_INDEX_z int64_t

/* ---- Parameters, and how the block has them ---- */

#define PARAMETER(t, kind, ...) PARAMETER_##kind(t, __VA_ARGS__)
#define PARAMETER_ENUM(t, name, which) , const char *name
#define PARAMETER_LENGTH(t, name) , const blas_int_t *name
#define PARAMETER_SIZE(t, name) , const blas_int_t *name
#define PARAMETER_SCALAR(t, name, of) , const JI_##of##_##t *name
#define PARAMETER_RESULT(t, name, of)
#define PARAMETER_VECTOR(t, name, inc, access, count, read)                                        \
    , JI_##access(JI_ELEMENT_##t) * name, const blas_int_t *inc
#define PARAMETER_MATRIX(t, name, ld, access, structure, shape, read)                              \
    , JI_##access(JI_ELEMENT_##t) * name, const blas_int_t *ld
#define PARAMETER_PACKED(t, name, access, ...) , JI_##access(JI_ELEMENT_##t) * name

#define STORE(t, kind, ...) STORE_##kind(__VA_ARGS__)
#define STORE_ENUM(name, which) args.name = TAKE_##which(name);
#define STORE_LENGTH(name) args.name = *name;
#define STORE_SIZE(name) args.name = *name;
#define STORE_SCALAR(name, of) args.name.pointer = name;
#define STORE_RESULT(name, of)
#define STORE_VECTOR(name, inc, ...) args.name = ji_dropin_unconst(name), args.inc = *inc;
#define STORE_MATRIX(name, ld, ...) args.name = ji_dropin_unconst(name), args.ld = *ld;
#define STORE_PACKED(name, ...) args.name = ji_dropin_unconst(name);

#define GIVE(t, kind, ...) GIVE_##kind(__VA_ARGS__)
#define GIVE_LENGTH(name) , name
#define GIVE_SCALAR(name, of) , name
#define GIVE_RESULT(name, of)
#define GIVE_VECTOR(name, inc, ...) , name, inc

/* ---- The functions ---- */

#define VOID(routine, level) JI_FUNCTIONS_##routine(VOID_ENTRY, level)
#define VOID_ENTRY(level, routine, t, function)                                                    \
    JI_DROPIN_ONLY(VOID_FUNCTION, t, level, routine, t, function)
#define VOID_FUNCTION(level, routine, t, function)                                                 \
    JI_EXPORTED void JI_FORTRAN(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)));                                  \
    JI_EXPORTED void JI_FORTRAN(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))) {                                 \
        JI_DROPIN_BLOCK_##level args;                                                              \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, false, false)                                \
    }

#define VALUE(routine, of) JI_FUNCTIONS_##routine(VALUE_ENTRY, of)
#define VALUE_ENTRY(of, routine, t, function)                                                      \
    VALUE_FUNCTION(routine, t, function, of##_##t, GIVEN_##of##_##t)
#define VALUE_FUNCTION(routine, t, function, TYPE, GIVEN)                                          \
    JI_EXPORTED TYPE JI_FORTRAN(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)));                                  \
    JI_EXPORTED TYPE JI_FORTRAN(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))) {                                 \
        GIVEN result = 0;                                                                          \
        ji_vector_t args;                                                                          \
        args.result = &result;                                                                     \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, false, false)                                \
        return (TYPE)result;                                                                       \
    }                                                                                              \
    JI_EXPORTED void JI_FORTRAN(function##sub)(                                                    \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)), TYPE * result);                   \
    JI_EXPORTED void JI_FORTRAN(function##sub)(                                                    \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)), TYPE * result) {                  \
        *result = JI_FORTRAN(function)(JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(GIVE, t)));        \
    }

JI_DROPIN_LIST(VOID, VALUE, VOID)

/* ---- Rotations are made of numbers, which come by reference anyhow ---- */

#define ROTG(function, E, R)                                                                       \
    JI_EXPORTED void JI_FORTRAN(function)(E * a, E * b, R * c, E * s);                             \
    JI_EXPORTED void JI_FORTRAN(function)(E * a, E * b, R * c, E * s) {                            \
        JI_DROPIN_CARRY_OUT(function, false, false, jblas_##function(handle, a, b, c, s))          \
    }
ROTG(srotg, float, float)
ROTG(drotg, double, double)
ROTG(crotg, jcomplex_f32_t, float)
ROTG(zrotg, jcomplex_f64_t, double)

#define ROTMG(function, E)                                                                         \
    JI_EXPORTED void JI_FORTRAN(function)(E * d1, E * d2, E * x1, const E *y1, E *param);          \
    JI_EXPORTED void JI_FORTRAN(function)(E * d1, E * d2, E * x1, const E *y1, E *param) {         \
        JI_DROPIN_CARRY_OUT(function, false, false,                                                \
                            jblas_##function(handle, d1, d2, x1, y1, param))                       \
    }
ROTMG(srotmg, float)
ROTMG(drotmg, double)

/* ---- What is no routine of jblas ---- */

JI_EXPORTED float JI_FORTRAN(scabs1)(const float z[2]);
JI_EXPORTED float JI_FORTRAN(scabs1)(const float z[2]) {
    return __builtin_fabsf(z[0]) + __builtin_fabsf(z[1]);
}

JI_EXPORTED double JI_FORTRAN(dcabs1)(const double z[2]);
JI_EXPORTED double JI_FORTRAN(dcabs1)(const double z[2]) {
    return __builtin_fabs(z[0]) + __builtin_fabs(z[1]);
}

JI_EXPORTED void JI_FORTRAN(scabs1sub)(const float z[2], float *result);
JI_EXPORTED void JI_FORTRAN(scabs1sub)(const float z[2], float *result) {
    *result = JI_FORTRAN(scabs1)(z);
}

JI_EXPORTED void JI_FORTRAN(dcabs1sub)(const double z[2], double *result);
JI_EXPORTED void JI_FORTRAN(dcabs1sub)(const double z[2], double *result) {
    *result = JI_FORTRAN(dcabs1)(z);
}

/* Whether two letters are the same but for their case; a Fortran LOGICAL. */
JI_EXPORTED blas_int_t JI_FORTRAN(lsame)(const char *a, const char *b);
JI_EXPORTED blas_int_t JI_FORTRAN(lsame)(const char *a, const char *b) {
    return ji_upper_case(*a) == ji_upper_case(*b);
}
