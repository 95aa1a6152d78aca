/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The calls of jlapack, from the rows. What is wrong with an argument the library finds, by the
 * number that LAPACK has for it, and xerbla_ is told as of BLAS's calls.
 *
 * A size query finds the same and looks at no operand: so a query of lwork is answered, an lwork
 * that is too small comes behind all other arguments, and pivots are read only where they are as
 * many as the arguments say. A routine that has no rung without workspace has memory of the C
 * library where the handle's is too little. A call that was not carried out, for there is none
 * either, never gives an info that says it was. */

#include <stdlib.h>

#include "dropin/lapack/lapack.h"

/* ---- The call ---- */

#define PASS(t, kind, ...) PASS_##kind(__VA_ARGS__)
#define PASS_ENUM(name, which) , args->name
#define PASS_SIZE(name) , args->name
#define PASS_MATRIX(name, ld, ...) , args->name, args->ld
#define PASS_INDICES(name, ...) , indices.wide
#define PASS_FACTORS(name, ...) , args->name
#define PASS_SCALAR(name, of) , &args->name
#define PASS_RESULT(name, of) PASS_RESULT_##of(name)
#define PASS_RESULT_INDEX(name) , &found.name
#define PASS_RESULT_REAL(name) , args->name
#define PASS_NUMBER(name, ...) , args->name

/* The same for a query, which has no indices. */
#define ASK(t, kind, ...) ASK_##kind(__VA_ARGS__)
#define ASK_ENUM(name, which) , args->name
#define ASK_SIZE(name) , args->name
#define ASK_MATRIX(name, ld, ...) , args->name, args->ld
#define ASK_INDICES(...) , NULL
#define ASK_FACTORS(name, ...) , args->name
#define ASK_SCALAR(name, of) PASS_SCALAR(name, of)
#define ASK_RESULT(name, of) PASS_RESULT(name, of)
#define ASK_NUMBER(name, ...) , args->name

/* ---- What of it concerns indices ---- */

#define BEGIN(function, kind, ...) BEGIN_##kind(function, __VA_ARGS__)
#define BEGIN_ENUM(...)
#define BEGIN_SIZE(...)
#define BEGIN_MATRIX(...)
#define BEGIN_FACTORS(...)
#define BEGIN_SCALAR(function, name, of)                                                           \
    if (JI_UNLIKELY(args->name < 0))                                                               \
        return ji_lapack_check_##function(args, INT64_MAX);
#define BEGIN_RESULT(function, name, of) BEGIN_RESULT_##of(name)
#define BEGIN_RESULT_REAL(name)
#define BEGIN_RESULT_INDEX(name) BEGIN_INDEX_##name
#define BEGIN_INDEX_info
#define BEGIN_INDEX_iter *args->iter = 0;
#define BEGIN_NUMBER(...)
#define BEGIN_INDICES(function, name, access, count)                                               \
    if (IS_##access && !checked && sizeof(blas_int_t) < sizeof(int64_t) &&                         \
        (info = ji_lapack_check_##function(args, INT64_MAX)) != 0)                                 \
        return info;                                                                               \
    ji_indices_t indices;                                                                          \
    if (JI_UNLIKELY(!ji_indices_begin(&indices, args->name, JI_COUNT_##count, IS_##access))) {     \
        info = checked ? 0 : ji_lapack_check_##function(args, INT64_MAX);                          \
        return info != 0 ? info : JI_NO_WORK;                                                      \
    }
#define IS_READ 1
#define IS_UPDATED 1
#define IS_WRITTEN 0

#define END(t, kind, ...) END_##kind(__VA_ARGS__)
#define END_ENUM(...)
#define END_SIZE(...)
#define END_MATRIX(...)
#define END_FACTORS(...)
#define END_SCALAR(...)
#define END_RESULT(name, of) END_RESULT_##of(name)
#define END_RESULT_REAL(name)
#define END_RESULT_INDEX(name) END_INDEX_##name
#define END_INDEX_info
#define END_INDEX_iter                                                                             \
    if (!jstatus_is_error(status))                                                                 \
        *args->iter = (blas_int_t)found.iter;
#define END_NUMBER(...)
#define END_INDICES(name, access, count) ji_indices_end(&indices, TO_##access(args->name));
#define TO_READ(name) NULL
#define TO_WRITTEN(name) (jstatus_is_error(status) ? NULL : (name))
#define TO_UPDATED(name) TO_WRITTEN(name)

/* A norm is not negative, for LAPACK; for jlapack it is whatever it is. */
#define NEGATIVE(t, kind, ...) NEGATIVE_##kind(__VA_ARGS__)
#define NEGATIVE_ENUM(...)
#define NEGATIVE_SIZE(...)
#define NEGATIVE_MATRIX(...)
#define NEGATIVE_INDICES(...)
#define NEGATIVE_FACTORS(...)
#define NEGATIVE_RESULT(...)
#define NEGATIVE_NUMBER(...)
#define NEGATIVE_SCALAR(name, of) || args->name < 0

/* How many arguments there are before work; a norm is the last of them. */
#define NUMBER(t, kind, ...) NUMBER_##kind
#define NUMBER_ENUM +1
#define NUMBER_SIZE +1
#define NUMBER_MATRIX +2
#define NUMBER_INDICES +1
#define NUMBER_FACTORS +1
#define NUMBER_SCALAR +1
#define NUMBER_RESULT
#define NUMBER_NUMBER +1

/* ---- The functions ---- */

typedef struct indices_found {
    int64_t iter, info;
} indices_found_t;

/* A handle whose workspace is memory of the C library, so many bytes. False: there is none. */
static bool spare_begin(jhandle_t *spare, void **memory, size_t bytes) {
    *memory = aligned_alloc(JI_ALIGNMENT, ji_align_bytes(bytes));
    return *memory != NULL && jhandle_set_workspace(spare, *memory, bytes) == JSTATUS_SUCCESS;
}

#define FUNCTIONS(routine, prefix, lwork) JI_FUNCTIONS_##routine(FUNCTION, (prefix, lwork))
#define FUNCTION(context, routine, t, function)                                                    \
    FUNCTION_OF(JI_FIRST context, JI_SECOND context, routine, t, function)
#define FUNCTION_OF(prefix, lwork, routine, t, function)                                           \
    FUNCTION_(prefix, lwork, routine, t, function)

#define FUNCTION_(prefix, least, routine, t, function)                                             \
    static jstatus_t ask_##function(jhandle_t *handle, const ji_lapack_##function##_t *args,       \
                                    size_t *bytes) {                                               \
        indices_found_t found;                                                                     \
        JTRY_RETURN(jhandle_start_size_query(handle));                                             \
        const jstatus_t status = prefix##function(handle JI_ARGUMENTS_##routine(ASK, t));          \
        (void)found;                                                                               \
        (void)jhandle_stop_size_query(handle, bytes);                                              \
        return jstatus_is_error(status) ? status : JSTATUS_SUCCESS;                                \
    }                                                                                              \
                                                                                                   \
    blas_int_t ji_lapack_check_##function(const ji_lapack_##function##_t *args, int64_t lwork) {   \
        size_t bytes;                                                                              \
        JI_DROPIN_ATTEMPT(0, function, false, false, ask_##function(handle, args, &bytes))         \
        const bool negative = false JI_ARGUMENTS_##routine(NEGATIVE, t);                           \
        if (refused == 0 && (negative || (lwork != -1 && lwork < JI_LWORK(least, t)))) {           \
            refused = (negative ? 0 : 2)JI_ARGUMENTS_##routine(NUMBER, t);                         \
            ji_dropin_refuse(&(ji_dropin_call_t){.name = #function}, refused);                     \
        }                                                                                          \
        return -(blas_int_t)refused;                                                               \
    }                                                                                              \
                                                                                                   \
    blas_int_t ji_lapack_run_##function(const ji_lapack_##function##_t *args, bool checked) {      \
        blas_int_t info = 0;                                                                       \
        indices_found_t found = {0};                                                               \
        (void)info, (void)checked;                                                                 \
        JI_ARGUMENTS_##routine(BEGIN, function);                                                   \
        JI_DROPIN_ATTEMPT(0, function, false, false,                                               \
                          prefix##function(handle JI_ARGUMENTS_##routine(PASS, t)));               \
        if (JI_UNLIKELY(status == JSTATUS_MEMORY_ERROR)) {                                         \
            jhandle_t spare;                                                                       \
            void *memory = NULL;                                                                   \
            size_t bytes = 0;                                                                      \
            ji_handle_make_bare(handle = &spare);                                                  \
            if (ask_##function(handle, args, &bytes) == JSTATUS_SUCCESS &&                         \
                spare_begin(handle, &memory, bytes))                                               \
                status = prefix##function(handle JI_ARGUMENTS_##routine(PASS, t));                 \
            free(memory);                                                                          \
        }                                                                                          \
        JI_ARGUMENTS_##routine(END, t);                                                            \
        if (JI_UNLIKELY(refused != 0))                                                             \
            return -(blas_int_t)refused;                                                           \
        return jstatus_is_error(status) ? JI_NO_WORK : (blas_int_t)found.info;                     \
    }

JI_DROPIN_LAPACK_LIST(FUNCTIONS)
