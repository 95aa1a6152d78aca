/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Fortran's names, from the rows: dropin/fortran.c. Behind a row's arguments come work, lwork and
 * rwork, where LAPACK has them, iter, and info. */

#include "dropin/lapack/lapack.h"

#define PARAMETER(t, kind, ...) PARAMETER_##kind(t, __VA_ARGS__)
#define PARAMETER_ENUM(t, name, which) , const char *name
#define PARAMETER_SIZE(t, name) , const blas_int_t *name
#define PARAMETER_SCALAR(t, name, of) , const JI_REAL_##t *name
#define PARAMETER_RESULT(t, name, of) PARAMETER_RESULT_##of(t, name)
#define PARAMETER_RESULT_INDEX(t, name)
#define PARAMETER_RESULT_REAL(t, name) , JI_REAL_##t *name
#define PARAMETER_NUMBER(t, name, of, access, read) , JI_##access(JI_REAL_##t) * name
#define PARAMETER_MATRIX(t, name, ld, access, ...)                                                 \
    , JI_##access(JI_ELEMENT_##t) * name, const blas_int_t *ld
#define PARAMETER_INDICES(t, name, access, count) , JI_##access(blas_int_t) * name
#define PARAMETER_FACTORS(t, name, access, count) , JI_##access(JI_ELEMENT_##t) * name
#define PARAMETERS(least, routine, t)                                                              \
    JI_DROPIN_LIST_OF(JI_ARGUMENTS_##routine(PARAMETER, t))                                        \
    JI_IF_LWORK(least, , JI_ELEMENT_##t *work, const blas_int_t *lwork)                            \
    JI_RWORK(least, t) JI_IF_ITER(least, , blas_int_t *iter), blas_int_t *info

#define STORE(t, kind, ...) STORE_##kind(t, __VA_ARGS__)
#define STORE_ENUM(t, name, which) .name = JI_LAPACK_TAKE(which, t, name),
#define STORE_SIZE(t, name) .name = *name,
#define STORE_SCALAR(t, name, of) .name = *name,
#define STORE_RESULT(t, name, of) STORE_RESULT_##of(name)
#define STORE_RESULT_INDEX(name) STORE_INDEX_##name
#define STORE_INDEX_info
#define STORE_INDEX_iter .iter = iter,
#define STORE_RESULT_REAL(name) .name = name,
#define STORE_NUMBER(t, name, ...) .name = name,
#define STORE_MATRIX(t, name, ld, ...) .name = name, .ld = *ld,
#define STORE_INDICES(t, name, ...) .name = name,
#define STORE_FACTORS(t, name, ...) .name = name,

/* What lwork is asked for, or too small: then the call is one of its query alone. */
#define LOOK_AT_LWORK(least, t, function)                                                          \
    if (JI_UNLIKELY(*lwork < JI_LWORK(least, t))) {                                                \
        *info = ji_lapack_check_##function(args, *lwork);                                          \
        if (*info == 0)                                                                            \
            ji_lapack_say_lwork(JI_TYPE_##t, work, JI_LWORK_SAID(least, t));                       \
        return;                                                                                    \
    }
#define SAY_LWORK(least, t)                                                                        \
    if (*info >= 0)                                                                                \
        ji_lapack_say_lwork(JI_TYPE_##t, work, JI_LWORK_SAID(least, t));

#define FUNCTIONS(routine, prefix, lwork) JI_FUNCTIONS_##routine(FUNCTION, (lwork))
#define FUNCTION(lwork, routine, t, function) FUNCTION_OF(JI_ONLY lwork, routine, t, function)
#define FUNCTION_OF(lwork, routine, t, function) FUNCTION_(lwork, routine, t, function)
#define FUNCTION_(least, routine, t, function)                                                     \
    JI_EXPORTED void JI_FORTRAN(function)(PARAMETERS(least, routine, t));                          \
    JI_EXPORTED void JI_FORTRAN(function)(PARAMETERS(least, routine, t)) {                         \
        JI_DROPIN_COUNT(#function "_", true)                                                       \
        const ji_lapack_##function##_t block = {JI_ARGUMENTS_##routine(STORE, t)};                 \
        const ji_lapack_##function##_t *args = &block;                                             \
        JI_IF_LWORK(least, LOOK_AT_LWORK(least, t, function))                                      \
        *info = ji_lapack_run_##function(args, false);                                             \
        JI_IF_LWORK(least, SAY_LWORK(least, t))                                                    \
    }
JI_DROPIN_LAPACK_LIST(FUNCTIONS)
