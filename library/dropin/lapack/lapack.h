/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_LAPACK_LAPACK_H
#define JALLOC_DROPIN_LAPACK_LAPACK_H

/* LAPACK's names over jlapack, for the routines that it has: what is not here is the program's own
 * LAPACK's, which calls what is here, too.
 *
 *     dgetrf_(&m, &n, ...)     LAPACKE_dgetrf(LAPACK_ROW_MAJOR, m, n, ...)
 *            |                              |
 *            |  fortran.c                   |  lapacke.c: row-major by way of transposed copies
 *            v                              v
 *     a routine's arguments by name, as its row lists them
 *            |
 *            v
 *     jlapack_dgetrf(this thread's handle, ...)                 call.c; pivots: indices.c
 *
 * To offer a routine more is a line of the list. Its row must number arguments as LAPACK does,
 * whose work, lwork and info come last. Of results an INDEX is info, or iter before it.
 *
 * Workspace is the handle's: of work the first element alone is written, with what a query of lwork
 * is answered. */

#include <math.h>

#include "blas/blas.h"
#include "dropin/characters.h"
#include "dropin/entry.h"
#include "jalloc/borrow.h"
#include "lapack/rows.h"

/* X(routine, prefix, lwork): the library that has it, and LEAST(lwork) by the arguments; or LEASTS,
 * of real types and of complex ones, which have an rwork behind it; FROM_ONE(lwork), of which 1 is
 * the least, but a query is answered with so many, as callers of LAPACK take for granted; or
 * NO_LWORK of a routine that has none in LAPACK, TWO_WORKS of one that has work all the same, and
 * iwork or else rwork, and MIXED_WORKS of one that has work, swork, of complex elements rwork, and
 * behind them iter. */
#define JI_DROPIN_LAPACK_LIST(X)                                                                   \
    X(getrf, jlapack_, NO_LWORK)                                                                   \
    X(getrs, jlapack_, NO_LWORK)                                                                   \
    X(gesv, jlapack_, NO_LWORK)                                                                    \
    X(getri, jlapack_, LEAST(args->n))                                                             \
    X(trtrs, jlapack_, NO_LWORK)                                                                   \
    X(posv, jlapack_, NO_LWORK)                                                                    \
    X(lauum, jlapack_, NO_LWORK)                                                                   \
    X(potri, jlapack_, NO_LWORK)                                                                   \
    X(sytrf, jlapack_, FROM_ONE(args->n))                                                          \
    X(hetrf, jlapack_, FROM_ONE(args->n))                                                          \
    X(sytrs, jlapack_, NO_LWORK)                                                                   \
    X(hetrs, jlapack_, NO_LWORK)                                                                   \
    X(sysv, jlapack_, FROM_ONE(args->n))                                                           \
    X(hesv, jlapack_, FROM_ONE(args->n))                                                           \
    X(geqrf, jlapack_, LEAST(args->m > 0 ? args->n : 1))                                           \
    X(orgqr, jlapack_, LEAST(args->n))                                                             \
    X(ormqr, jlapack_, LEAST(args->side == JBLAS_LEFT ? args->n : args->m))                        \
    X(gelqf, jlapack_, LEAST(args->n > 0 ? args->m : 1))                                           \
    X(orglq, jlapack_, LEAST(args->m))                                                             \
    X(ormlq, jlapack_, LEAST(args->side == JBLAS_LEFT ? args->n : args->m))                        \
    X(geqp3, jlapack_, LEASTS(args->m > 0 ? 3 * args->n + 1 : 1, args->m > 0 ? args->n + 1 : 1))   \
    X(gels, jlapack_,                                                                              \
      LEAST(ji_min(args->m, args->n) + ji_max(ji_min(args->m, args->n), args->nrhs)))              \
    X(gecon, jlapack_, TWO_WORKS)                                                                  \
    X(pocon, jlapack_, TWO_WORKS)                                                                  \
    X(trcon, jlapack_, TWO_WORKS)                                                                  \
    X(gerfs, jlapack_, TWO_WORKS)                                                                  \
    X(porfs, jlapack_, TWO_WORKS)                                                                  \
    X(dsgesv, jlapack_, MIXED_WORKS)                                                               \
    X(dsposv, jlapack_, MIXED_WORKS)                                                               \
    X(potrf, jlapack_, NO_LWORK)                                                                   \
    X(potrs, jlapack_, NO_LWORK)                                                                   \
    X(trtri, jlapack_, NO_LWORK)

/* 0 where there is no lwork, else its least of type t, of which 1 is the least. */
#define JI_LWORK(lwork, t)                                                                         \
    (ji_is_complex(JI_TYPE_##t) ? JI_LWORK_COMPLEX_##lwork : JI_LWORK_REAL_##lwork)
#define JI_LWORK_REAL_NO_LWORK 0
#define JI_LWORK_REAL_TWO_WORKS 0
#define JI_LWORK_REAL_MIXED_WORKS 0
#define JI_LWORK_REAL_LEAST(least) ((least) > 1 ? (least) : 1)
#define JI_LWORK_REAL_LEASTS(real, complex) JI_LWORK_REAL_LEAST(real)
#define JI_LWORK_COMPLEX_NO_LWORK 0
#define JI_LWORK_COMPLEX_TWO_WORKS 0
#define JI_LWORK_COMPLEX_MIXED_WORKS 0
#define JI_LWORK_COMPLEX_LEAST(least) JI_LWORK_REAL_LEAST(least)
#define JI_LWORK_COMPLEX_LEASTS(real, complex) JI_LWORK_REAL_LEAST(complex)
#define JI_LWORK_REAL_FROM_ONE(wanted) 1
#define JI_LWORK_COMPLEX_FROM_ONE(wanted) 1
/* What a query is answered with. */
#define JI_LWORK_SAID(lwork, t)                                                                    \
    (ji_is_complex(JI_TYPE_##t) ? JI_LWORK_COMPLEX_SAID_##lwork : JI_LWORK_REAL_SAID_##lwork)
#define JI_LWORK_REAL_SAID_LEAST(least) JI_LWORK_REAL_LEAST(least)
#define JI_LWORK_REAL_SAID_LEASTS(real, complex) JI_LWORK_REAL_LEASTS(real, complex)
#define JI_LWORK_REAL_SAID_FROM_ONE(wanted) JI_LWORK_REAL_LEAST(wanted)
#define JI_LWORK_COMPLEX_SAID_LEAST(least) JI_LWORK_COMPLEX_LEAST(least)
#define JI_LWORK_COMPLEX_SAID_LEASTS(real, complex) JI_LWORK_COMPLEX_LEASTS(real, complex)
#define JI_LWORK_COMPLEX_SAID_FROM_ONE(wanted) JI_LWORK_REAL_LEAST(wanted)
/* The text where there is one, and nothing where there is none. */
#define JI_IF_LWORK(lwork, ...) JI_IF_##lwork(__VA_ARGS__)
#define JI_IF_NO_LWORK(...)
#define JI_IF_TWO_WORKS(...)
#define JI_IF_MIXED_WORKS(...)
#define JI_IF_LEAST(...) JI_IF_LEAST_
#define JI_IF_LEASTS(...) JI_IF_LEAST_
#define JI_IF_FROM_ONE(...) JI_IF_LEAST_
#define JI_IF_LEAST_(...) __VA_ARGS__
/* The same where there is an rwork. */
#define JI_IF_RWORK(lwork, t, ...) JI_IF_RWORK_##lwork(t, __VA_ARGS__)
#define JI_IF_RWORK_NO_LWORK(t, ...)
#define JI_IF_RWORK_TWO_WORKS(t, ...)
#define JI_IF_RWORK_MIXED_WORKS(t, ...)
#define JI_IF_RWORK_LEAST(...) JI_IF_RWORK_NO_LWORK
#define JI_IF_RWORK_LEASTS(...) JI_IF_RWORK_
#define JI_IF_RWORK_FROM_ONE(...) JI_IF_RWORK_NO_LWORK
#define JI_IF_RWORK_(t, ...) JI_IF_RWORK_##t(__VA_ARGS__)
#define JI_IF_RWORK_s(...)
#define JI_IF_RWORK_d(...)
#define JI_IF_RWORK_c(...) __VA_ARGS__
#define JI_IF_RWORK_z(...) __VA_ARGS__
/* And where there are two. */
#define JI_IF_TWO(lwork, ...) JI_IF_TWO_##lwork(__VA_ARGS__)
#define JI_IF_TWO_NO_LWORK(...)
#define JI_IF_TWO_TWO_WORKS(...) __VA_ARGS__
#define JI_IF_TWO_MIXED_WORKS(...)
#define JI_IF_TWO_LEAST(...) JI_IF_TWO_NO_LWORK
#define JI_IF_TWO_LEASTS(...) JI_IF_TWO_NO_LWORK
#define JI_IF_TWO_FROM_ONE(...) JI_IF_TWO_NO_LWORK
/* And where there is an iter. */
#define JI_IF_ITER(lwork, ...) JI_IF_ITER_##lwork(__VA_ARGS__)
#define JI_IF_ITER_NO_LWORK(...)
#define JI_IF_ITER_TWO_WORKS(...)
#define JI_IF_ITER_MIXED_WORKS(...) __VA_ARGS__
#define JI_IF_ITER_LEAST(...) JI_IF_ITER_NO_LWORK
#define JI_IF_ITER_LEASTS(...) JI_IF_ITER_NO_LWORK
#define JI_IF_ITER_FROM_ONE(...) JI_IF_ITER_NO_LWORK
/* They are there to be counted among the parameters. */
#define JI_RWORK(lwork, t)                                                                         \
    JI_IF_RWORK(lwork, t, , __attribute__((unused)) JI_REAL_##t *rwork)                            \
    JI_IF_TWO(lwork, , __attribute__((unused)) JI_ELEMENT_##t *work,                               \
              __attribute__((unused)) JI_SECOND_WORK_##t *second)                                  \
    JI_IF_ITER(lwork, , __attribute__((unused)) JI_ELEMENT_##t *work,                              \
               __attribute__((unused)) JI_MIXED_WORKS_##t)
#define JI_SECOND_WORK_s blas_int_t
#define JI_SECOND_WORK_d blas_int_t
#define JI_SECOND_WORK_c float
#define JI_SECOND_WORK_z double
#define JI_MIXED_WORKS_d float *swork
#define JI_MIXED_WORKS_z JI_ELEMENT_c *swork, __attribute__((unused)) double *rwork

#define JI_ONLY(argument) argument

/* work[0] = least, or what is a little more where the element cannot be that. */
static inline void ji_lapack_say_lwork(jdatatype_t type, void *work, int64_t least) {
    if (type == JDATATYPE_F32 || type == JDATATYPE_F32_C) {
        float *said = work;
        said[0] = (float)least;
        if ((int64_t)said[0] < least)
            said[0] = nextafterf(said[0], INFINITY);
        if (type == JDATATYPE_F32_C)
            said[1] = 0;
    } else {
        double *said = work;
        said[0] = (double)least;
        if (type == JDATATYPE_F64_C)
            said[1] = 0;
    }
}

/* Enumerators from letters. LAPACK's real routines that multiply by Q take no letter C. */
#define JI_LAPACK_TAKE(which, t, letter) JI_LAPACK_TAKE_##which(t, letter)
#define JI_LAPACK_TAKE_SIDE(t, letter) TAKE_SIDE(letter)
#define JI_LAPACK_TAKE_UPLO(t, letter) TAKE_UPLO(letter)
#define JI_LAPACK_TAKE_DIAGONAL(t, letter) TAKE_DIAGONAL(letter)
#define JI_LAPACK_TAKE_NORM(t, letter)                                                             \
    (*(letter) == '1'                                                                              \
         ? JLAPACK_ONE_NORM                                                                        \
         : (jlapack_norm_t)ji_one_of(letter, 'O', JLAPACK_ONE_NORM, 'I', JLAPACK_INFINITY_NORM))
#define JI_LAPACK_TAKE_OPERATION(t, letter) TAKE_OPERATION(letter)
#define JI_LAPACK_TAKE_HERMITIAN_OPERATION(t, letter)                                              \
    (!ji_is_complex(JI_TYPE_##t) && ji_upper_case(*(letter)) == 'C' ? (jblas_operation_t)0         \
                                                                    : TAKE_OPERATION(letter))

/* What info is where memory is short, as LAPACKE has it: for pivots, or for transposed matrices. */
enum { JI_NO_WORK = -1010, JI_NO_TRANSPOSE = -1011 };

/* ---- A function's arguments ---- */

#define JI_MEMBER(t, kind, ...) JI_MEMBER_##kind(t, __VA_ARGS__)
#define JI_MEMBER_ENUM(t, name, which) JI_ENUM_OF_##which name;
#define JI_MEMBER_SIZE(t, name) int64_t name;
#define JI_MEMBER_SCALAR(t, name, of) JI_REAL_##t name;
#define JI_MEMBER_RESULT(t, name, of) JI_MEMBER_RESULT_##of(t, name)
#define JI_MEMBER_RESULT_INDEX(t, name) JI_MEMBER_INDEX_##name
#define JI_MEMBER_INDEX_info
#define JI_MEMBER_INDEX_iter blas_int_t *iter;
#define JI_MEMBER_RESULT_REAL(t, name) JI_REAL_##t *name;
#define JI_MEMBER_NUMBER(t, name, of, access, read) JI_##access(JI_REAL_##t) * name;
#define JI_MEMBER_MATRIX(t, name, ld, access, ...)                                                 \
    JI_##access(JI_ELEMENT_##t) * name;                                                            \
    int64_t ld;
#define JI_MEMBER_INDICES(t, name, access, count) JI_##access(blas_int_t) * name;
#define JI_MEMBER_FACTORS(t, name, access, count) JI_##access(JI_ELEMENT_##t) * name;

#define JI_ENUM_OF_SIDE jblas_side_t
#define JI_ENUM_OF_UPLO jblas_uplo_t
#define JI_ENUM_OF_DIAGONAL jblas_diagonal_t
#define JI_ENUM_OF_NORM jlapack_norm_t
#define JI_ENUM_OF_OPERATION jblas_operation_t
#define JI_ENUM_OF_HERMITIAN_OPERATION jblas_operation_t

/* For each function ji_lapack_check_..., whether the call would be carried out, without a look at
 * operands; gives info, after the program was told where it would not. ji_lapack_run_... carries it
 * out, and gives info; `checked`: the other was called, or a borrow is live. */
#define JI_LAPACK_DECLARE(routine, prefix, lwork) JI_FUNCTIONS_##routine(JI_LAPACK_DECLARE_, )
#define JI_LAPACK_DECLARE_(nothing, routine, t, function)                                          \
    typedef struct ji_lapack_##function {                                                          \
        JI_ARGUMENTS_##routine(JI_MEMBER, t)                                                       \
    } ji_lapack_##function##_t;                                                                    \
    blas_int_t ji_lapack_check_##function(const ji_lapack_##function##_t *args, int64_t lwork);    \
    blas_int_t ji_lapack_run_##function(const ji_lapack_##function##_t *args, bool checked);
JI_DROPIN_LAPACK_LIST(JI_LAPACK_DECLARE)

/* ---- Pivots as jlapack has them: indices.c ---- */

enum { JI_INDICES_ON_STACK = 512 };

typedef struct ji_room {
    jborrow_t borrow;
    void *allocated;
} ji_room_t;

typedef struct ji_indices {
    int64_t *wide; /* the program's own where its integers have 64 bits */
    int64_t count;
    ji_room_t room;
    int64_t stack[sizeof(blas_int_t) == sizeof(int64_t) ? 1 : JI_INDICES_ON_STACK];
} ji_indices_t;

/* Workspace for that many bytes of `for_what`, or else memory of the C library; NULL: there is
 * none. */
void *ji_room_take(ji_room_t *room, const char *for_what, size_t bytes);
void ji_room_give_back(ji_room_t *room);

/* Room for `count` of them, which hold what is `given` where that is to be read; false: there is
 * none. NULL stays NULL. */
bool ji_indices_begin(ji_indices_t *indices, const blas_int_t *given, int64_t count, bool is_read);
/* `written`: where they belong, or NULL. */
void ji_indices_end(ji_indices_t *indices, blas_int_t *written);

#endif
