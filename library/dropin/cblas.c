/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* CBLAS's names, from the rows. Integers and real scalars come by value, complex ones by address;
 * first comes the order, except at level 1. Enumerators are looked at here, as the reference does
 * before it calls Fortran's routine; the rest is found by jblas, and numbered as that routine
 * would. */

#include "dropin/entry.h"
#include "dropin/row_major.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

/* ---- Parameters ---- */

#define ARRAY_s float
#define ARRAY_d double
#define ARRAY_c void
#define ARRAY_z void

#define SCALAR_ELEMENT_s float
#define SCALAR_ELEMENT_d double
#define SCALAR_ELEMENT_c const void *
#define SCALAR_ELEMENT_z const void *
#define SCALAR_SUM_s float
#define SCALAR_SUM_d double
#define SCALAR_SUM_c const void *
#define SCALAR_SUM_z const void *
#define SCALAR_REAL_s float
#define SCALAR_REAL_d double
#define SCALAR_REAL_c float
#define SCALAR_REAL_z double
#define SCALAR_PARAMETERS_s const float *
#define SCALAR_PARAMETERS_d const double *

#define ADDRESS_ELEMENT_s(name) &(name)
#define ADDRESS_ELEMENT_d(name) &(name)
#define ADDRESS_ELEMENT_c(name) (name)
#define ADDRESS_ELEMENT_z(name) (name)
#define ADDRESS_SUM_s(name) &(name)
#define ADDRESS_SUM_d(name) &(name)
#define ADDRESS_SUM_c(name) (name)
#define ADDRESS_SUM_z(name) (name)
#define ADDRESS_REAL_s(name) &(name)
#define ADDRESS_REAL_d(name) &(name)
#define ADDRESS_REAL_c(name) &(name)
#define ADDRESS_REAL_z(name) &(name)
#define ADDRESS_PARAMETERS_s(name) (name)
#define ADDRESS_PARAMETERS_d(name) (name)

#define PARAMETER(t, kind, ...) PARAMETER_##kind(t, __VA_ARGS__)
#define PARAMETER_ENUM(t, name, which) , int name
#define PARAMETER_LENGTH(t, name) , blas_int_t name
#define PARAMETER_SIZE(t, name) , blas_int_t name
#define PARAMETER_SCALAR(t, name, of) , SCALAR_##of##_##t name
#define PARAMETER_RESULT(t, name, of)
#define PARAMETER_VECTOR(t, name, inc, access, count, read)                                        \
    , JI_##access(ARRAY_##t) * name, blas_int_t inc
#define PARAMETER_MATRIX(t, name, ld, access, structure, shape, read)                              \
    , JI_##access(ARRAY_##t) * name, blas_int_t ld
#define PARAMETER_PACKED(t, name, access, ...) , JI_##access(ARRAY_##t) * name

#define STORE(t, kind, ...) STORE_##kind(t, __VA_ARGS__)
#define STORE_ENUM(t, name, which) args.name = (ENUM_##which)name;
#define STORE_LENGTH(t, name) args.name = name;
#define STORE_SIZE(t, name) args.name = name;
#define STORE_SCALAR(t, name, of) args.name.pointer = ADDRESS_##of##_##t(name);
#define STORE_RESULT(t, name, of)
#define STORE_VECTOR(t, name, inc, ...) args.name = ji_dropin_unconst(name), args.inc = inc;
#define STORE_MATRIX(t, name, ld, ...) args.name = ji_dropin_unconst(name), args.ld = ld;
#define STORE_PACKED(t, name, ...) args.name = ji_dropin_unconst(name);

#define ENUM_SIDE jblas_side_t
#define ENUM_UPLO jblas_uplo_t
#define ENUM_DIAGONAL jblas_diagonal_t
#define ENUM_OPERATION jblas_operation_t
#define ENUM_ANY_OPERATION jblas_operation_t
#define ENUM_SYMMETRIC_OPERATION jblas_operation_t
#define ENUM_HERMITIAN_OPERATION jblas_operation_t

/* ---- Settings: the enumerators, which come first ---- */

#define CHECK(name, kind, ...) CHECK_##kind(name, __VA_ARGS__)
#define CHECK_ENUM(function, name, which)                                                          \
    ++number;                                                                                      \
    if (JI_UNLIKELY(!IS_##which(name))) {                                                          \
        ji_dropin_refuse_setting(function, layout == ROW_MAJOR, number, SETTING_##which(name),     \
                                 name);                                                            \
        return;                                                                                    \
    }
#define CHECK_LENGTH(...)
#define CHECK_SIZE(...)
#define CHECK_SCALAR(...)
#define CHECK_VECTOR(...)
#define CHECK_MATRIX(...)
#define CHECK_PACKED(...)

#define IS_SIDE(value) ((value) == JBLAS_LEFT || (value) == JBLAS_RIGHT)
#define IS_UPLO(value) ((value) == JBLAS_UPPER || (value) == JBLAS_LOWER)
#define IS_DIAGONAL(value) ((value) == JBLAS_NON_UNIT || (value) == JBLAS_UNIT)
#define IS_OPERATION(value) ((value) >= JBLAS_NO_TRANSPOSE && (value) <= JBLAS_CONJUGATE_TRANSPOSE)
#define IS_ANY_OPERATION(value) IS_OPERATION(value) /* as in the reference */
#define IS_SYMMETRIC_OPERATION(value) IS_OPERATION(value)
#define IS_HERMITIAN_OPERATION(value) IS_OPERATION(value)

/* What the reference calls them. */
#define SETTING_SIDE(name) "Side"
#define SETTING_UPLO(name) "Uplo"
#define SETTING_DIAGONAL(name) "Diag"
#define SETTING_OPERATION(name) SETTING_##name
#define SETTING_ANY_OPERATION(name) SETTING_##name
#define SETTING_trans "TransA"
#define SETTING_transa "TransA"
#define SETTING_transb "TransB"
#define SETTING_SYMMETRIC_OPERATION(name) "Trans"
#define SETTING_HERMITIAN_OPERATION(name) "Trans"
enum { NUMBER_OF_TRANS_OF_UPDATE = 3 }; /* syrk and its like */

/* ---- How a routine is turned: row_major.h ---- */

#define TURN_gemv turn_general
#define TURN_ger turn_outer
#define TURN_geru turn_outer
#define TURN_gerc turn_outer_conjugated
#define TURN_symv turn_symmetric
#define TURN_hemv turn_hermitian
#define TURN_syr turn_symmetric
#define TURN_her turn_hermitian_rank1
#define TURN_syr2 turn_symmetric
#define TURN_her2 turn_hermitian_rank2
#define TURN_trmv turn_triangular
#define TURN_trsv turn_triangular
#define TURN_gbmv turn_general_band
#define TURN_sbmv turn_symmetric
#define TURN_hbmv turn_hermitian
#define TURN_spmv turn_symmetric
#define TURN_hpmv turn_hermitian
#define TURN_spr turn_symmetric
#define TURN_hpr turn_hermitian_rank1
#define TURN_spr2 turn_symmetric
#define TURN_hpr2 turn_hermitian_rank2
#define TURN_tbmv turn_triangular
#define TURN_tbsv turn_triangular
#define TURN_tpmv turn_triangular
#define TURN_tpsv turn_triangular
#define TURN_gemm turn_product
#define TURN_symm turn_sided
#define TURN_hemm turn_sided
#define TURN_syrk turn_symmetric_update
#define TURN_herk turn_hermitian_update
#define TURN_syr2k turn_symmetric_update
#define TURN_her2k turn_hermitian_update_of_two
#define TURN_trmm turn_sided
#define TURN_trsm turn_sided

/* ---- Functions of matrices ---- */

/* How a routine's matrix is stored, by its row: the sum is one of ji_storage_t. */
#define STORAGE(sum) (ji_storage_t)(0 sum)
#define STORED(t, kind, ...) STORED_##kind(__VA_ARGS__)
#define STORED_ENUM(...)
#define STORED_SIZE(...)
#define STORED_SCALAR(...)
#define STORED_VECTOR(...)
#define STORED_PACKED(...) +JI_STORED_PACKED
#define STORED_MATRIX(name, ld, access, structure, shape, read) +STORED_##shape
#define STORED_PLAIN(...) JI_STORED_FULL
#define STORED_BAND(...) JI_STORED_BAND
#define STORED_TRIANGLE_BAND(...) JI_STORED_BAND

/* What is done of turned.conjugates, around the call. */
#define CONJUGATED_2(routine, t, called, function)                                                 \
    if (ji_is_complex(JI_TYPE_##t) && turned.conjugates != 0) {                                    \
        ji_conjugated_t conjugated;                                                                \
        bool is_done;                                                                              \
        ji_dropin_conjugate(JI_TYPE_##t, &args, &turned, &conjugated);                             \
        {                                                                                          \
            JI_DROPIN_RUN(routine, t, called, function, true, true)                                \
            is_done = !jstatus_is_error(status);                                                   \
        }                                                                                          \
        ji_dropin_conjugate_back(JI_TYPE_##t, &args, &turned, &conjugated,                         \
                                 STORAGE(JI_ARGUMENTS_##routine(STORED, )), is_done);              \
        return;                                                                                    \
    }
#define CONJUGATED_3(routine, t, called, function)

/* `called` is jblas's function where something is conjugated. */
#define MATRIX_FUNCTION(level, routine, t, called, function)                                       \
    JI_EXPORTED void JI_CBLAS(function)(int layout JI_ARGUMENTS_##routine(PARAMETER, t));          \
    JI_EXPORTED void JI_CBLAS(function)(int layout JI_ARGUMENTS_##routine(PARAMETER, t)) {         \
        int number = 1;                                                                            \
        if (JI_UNLIKELY(layout != ROW_MAJOR && layout != COLUMN_MAJOR)) {                          \
            ji_dropin_refuse_setting("cblas_" #function, false, number, "layout", layout);         \
            return;                                                                                \
        }                                                                                          \
        JI_ARGUMENTS_##routine(CHECK, "cblas_" #function)(void) number;                            \
                                                                                                   \
        JI_DROPIN_BLOCK_##level args;                                                              \
        ji_turned_t turned;                                                                        \
        turned.conjugates = 0;                                                                     \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        if (layout == ROW_MAJOR && !TURN_##routine(JI_TYPE_##t, &args, &turned)) {                 \
            ji_dropin_refuse_setting("cblas_" #function, true, NUMBER_OF_TRANS_OF_UPDATE, "Trans", \
                                     turned.refused);                                              \
            return;                                                                                \
        }                                                                                          \
        CONJUGATED_##level(routine, t, called, function)                                           \
            JI_DROPIN_RUN(routine, t, function, function, true, layout == ROW_MAJOR)               \
    }

#define MATRIX_ENTRY(level, routine, t, function)                                                  \
    JI_DROPIN_ONLY(MATRIX_FUNCTION, t, level, routine, t, function, function)
#define GERC_ENTRY(level, routine, t, function)                                                    \
    MATRIX_FUNCTION(level, routine, t, t##geru, function)

/* ---- Functions of vectors ---- */

#define VECTOR_ENTRY(level, routine, t, function)                                                  \
    JI_EXPORTED void JI_CBLAS(function)(JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)));  \
    JI_EXPORTED void JI_CBLAS(function)(JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))) { \
        ji_vector_t args;                                                                          \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, true, false)                                 \
    }

/* Those that return what they compute, and those of a complex result, which is an argument more. */
#define VALUE_FUNCTION(routine, t, function, TYPE)                                                 \
    JI_EXPORTED TYPE JI_CBLAS(function)(JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)));  \
    JI_EXPORTED TYPE JI_CBLAS(function)(JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))) { \
        TYPE result = 0;                                                                           \
        ji_vector_t args;                                                                          \
        args.result = &result;                                                                     \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, true, false)                                 \
        return result;                                                                             \
    }
#define RESULT_FUNCTION(routine, t, function)                                                      \
    JI_EXPORTED void JI_CBLAS(function##_sub)(                                                     \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)), void *result);                    \
    JI_EXPORTED void JI_CBLAS(function##_sub)(                                                     \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)), void *result) {                   \
        ji_vector_t args;                                                                          \
        memset(result, 0, sizeof(JI_ELEMENT_##t));                                                 \
        args.result = result;                                                                      \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, true, false)                                 \
    }
/* Counted from 0, which is what an empty vector gives, too. */
#define INDEX_FUNCTION(routine, t, function)                                                       \
    JI_EXPORTED size_t JI_CBLAS(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t)));                                  \
    JI_EXPORTED size_t JI_CBLAS(function)(                                                         \
        JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))) {                                 \
        int64_t result = 0;                                                                        \
        ji_vector_t args;                                                                          \
        args.result = &result;                                                                     \
        JI_ARGUMENTS_##routine(STORE, t);                                                          \
        JI_DROPIN_RUN(routine, t, function, function, true, false)                                 \
        return result > 0 ? (size_t)result - 1 : 0;                                                \
    }

#define VALUE_ENTRY(of, routine, t, function) VALUE_OF_##of##_##t(routine, t, function)
#define VALUE_OF_REAL_s(routine, t, function) VALUE_FUNCTION(routine, t, function, float)
#define VALUE_OF_REAL_d(routine, t, function) VALUE_FUNCTION(routine, t, function, double)
#define VALUE_OF_REAL_c(routine, t, function) VALUE_FUNCTION(routine, t, function, float)
#define VALUE_OF_REAL_z(routine, t, function) VALUE_FUNCTION(routine, t, function, double)
#define VALUE_OF_ELEMENT_s(routine, t, function) VALUE_FUNCTION(routine, t, function, float)
#define VALUE_OF_ELEMENT_d(routine, t, function) VALUE_FUNCTION(routine, t, function, double)
#define VALUE_OF_ELEMENT_c(routine, t, function) RESULT_FUNCTION(routine, t, function)
#define VALUE_OF_ELEMENT_z(routine, t, function) RESULT_FUNCTION(routine, t, function)
#define VALUE_OF_WIDE_s(routine, t, function) VALUE_FUNCTION(routine, t, function, double)
#define VALUE_OF_INDEX_s(routine, t, function) INDEX_FUNCTION(routine, t, function)
#define VALUE_OF_INDEX_d(routine, t, function) INDEX_FUNCTION(routine, t, function)
#define VALUE_OF_INDEX_c(routine, t, function) INDEX_FUNCTION(routine, t, function)
#define VALUE_OF_INDEX_z(routine, t, function) INDEX_FUNCTION(routine, t, function)

/* ---- All ---- */

#define VALUE(routine, of) JI_FUNCTIONS_##routine(VALUE_ENTRY, of)
#define VOID(routine, level) VOID_##level(routine)
#define VOID_1(routine) JI_FUNCTIONS_##routine(VECTOR_ENTRY, 1)
#define VOID_2(routine) JI_FUNCTIONS_##routine(MATRIX_ENTRY, 2)
#define VOID_3(routine) JI_FUNCTIONS_##routine(MATRIX_ENTRY, 3)
#define GERC(routine, level) JI_FUNCTIONS_##routine(GERC_ENTRY, level)
JI_DROPIN_LIST(VOID, VALUE, GERC)

/* Rotations. */
#define ROTG(function, E, R)                                                                       \
    JI_EXPORTED void JI_CBLAS(function)(E * a, E * b, R * c, E * s);                               \
    JI_EXPORTED void JI_CBLAS(function)(E * a, E * b, R * c, E * s) {                              \
        JI_DROPIN_CARRY_OUT(function, true, false, jblas_##function(handle, a, b, c, s))           \
    }
ROTG(srotg, float, float)
ROTG(drotg, double, double)
ROTG(crotg, void, float)
ROTG(zrotg, void, double)

#define ROTMG(function, E)                                                                         \
    JI_EXPORTED void JI_CBLAS(function)(E * d1, E * d2, E * x1, E y1, E * param);                  \
    JI_EXPORTED void JI_CBLAS(function)(E * d1, E * d2, E * x1, E y1, E * param) {                 \
        JI_DROPIN_CARRY_OUT(function, true, false,                                                 \
                            jblas_##function(handle, d1, d2, x1, &y1, param))                      \
    }
ROTMG(srotmg, float)
ROTMG(drotmg, double)

JI_EXPORTED float JI_CBLAS(scabs1)(const void *z);
JI_EXPORTED float JI_CBLAS(scabs1)(const void *z) {
    const float *parts = z;
    return __builtin_fabsf(parts[0]) + __builtin_fabsf(parts[1]);
}

JI_EXPORTED double JI_CBLAS(dcabs1)(const void *z);
JI_EXPORTED double JI_CBLAS(dcabs1)(const void *z) {
    const double *parts = z;
    return __builtin_fabs(parts[0]) + __builtin_fabs(parts[1]);
}
