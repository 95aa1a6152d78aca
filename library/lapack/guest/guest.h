/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_GUEST_GUEST_H
#define JALLOC_LAPACK_GUEST_GUEST_H

/* What a LAPACK computes, on the handle's workspace. Nothing is linked with one: it is loaded as
 * jblas loads a CBLAS (blas/guest/library.h), and called by its Fortran names.
 *
 *   rows_guest.h    the arguments, in LAPACK's order
 *   guest.h         the block, the work arrays, and of what a routine's file is made
 *   load.c          the LAPACK: its functions, how wide its integers are
 *   call.c          a row and a block become a call: letters, integers of its width, pointers, work
 *                   arrays and the hidden lengths of letters
 *   routine.c       size queries, rungs, the call in stream order, and what it answered
 *   routines/       a file for each: how much work it needs at least, and what its row cannot say
 *
 * What always holds: no wrong argument reaches the LAPACK, whose xerbla may end the program, nor a
 * number that is not finite where it would look for something until it has it; no size that its
 * integers do not hold does. Its answers come in stream order. */

#include "lapack/lapack.h"
#include "lapack/rows_guest.h"

/* ---- The block ---- */

/* Members are named as in the rows; what no routine has at the same time lies in one place, since a
 * stream copies 256 bytes at most. */
typedef struct ji_driver {
    ji_head_t head;
    int which; /* JI_GUEST_<routine> */
    union {
        jlapack_job_t jobz, jobu, jobvl, jobvs;
    };
    union {
        jlapack_job_t jobvt, jobvr;
        jlapack_range_t range;
    };
    jblas_uplo_t uplo;
    union {
        int64_t m, itype, kd, il;
    };
    int64_t n;
    union {
        int64_t nrhs, iu;
    };
    union {
        const void *a, *ab, *dl;
    };
    union {
        int64_t lda, ldab;
    };
    union {
        void *w, *s, *wr, *alphar, *alpha, *d;
    };
    union {
        void *u, *z, *vl, *vs, *du;
    };
    union {
        int64_t ldu, ldz, ldvl, ldvs;
    };
    union {
        struct {
            const void *b;
            int64_t ldb;
            union {
                struct {
                    union {
                        void *vt, *vr;
                    };
                    union {
                        int64_t ldvt, ldvr;
                    };
                    union {
                        void *wi, *alphai;
                    };
                };
                ji_scalar_t rcond;
            };
            void *beta;
        };
        struct {
            ji_scalar_t above, up_to;
        };
    };
    ji_scalar_t abstol;
    union {
        int64_t *count, *rank;
    };
    int64_t *isuppz, *info;
    void *work; /* then rwork, then iwork, each aligned */
    union {
        struct {
            int64_t lwork, lrwork, liwork; /* elements; before a rung is taken, of the best */
        };
        size_t work_bytes; /* of a GPU vendor's LAPACK (vendor/) */
    };
} ji_driver_t;
static_assert(sizeof(ji_driver_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

static inline void ji_clear_driver(ji_driver_t *args) { memset(args, 0, sizeof *args); }

#define JI_LAPACK_GUEST_(routine, block) extern const ji_row_t ji_row_##routine;
JI_LAPACK_GUEST_ROUTINE_LIST(JI_LAPACK_GUEST_)
#undef JI_LAPACK_GUEST_
#define JI_LAPACK_GUEST_(routine, block) JI_GUEST_##routine,
enum { JI_LAPACK_GUEST_ROUTINE_LIST(JI_LAPACK_GUEST_) JI_GUEST_COUNT };
#undef JI_LAPACK_GUEST_

/* ---- The LAPACK ---- */

/* Loads it, once; safe from any thread. @return success; not found; invalid configuration. */
jstatus_t ji_lapack_guest_load(void);
/* Of what was loaded: what it says of itself, or its file; the largest integer it takes. */
const char *ji_lapack_guest_name(void);
extern int64_t ji_lapack_int_max; /* tests lower it */
int ji_lapack_guest_int_bits(void);
/* NULL: it has no such function. */
void *ji_lapack_guest_function(int routine, jdatatype_t type);

/* Elements of work, of their real parts' type, and integers. */
typedef struct ji_work {
    int64_t work, rwork, iwork;
} ji_work_t;

/* Calls it with the block's work arrays; gives its info. */
int64_t ji_lapack_guest_call(const ji_driver_t *call);
/* The same with lwork -1: how much it would like to have, at least `least`. */
ji_work_t ji_lapack_guest_ask(const ji_driver_t *call, ji_work_t least);

/* ---- A routine's file ---- */

/* What LAPACK documents of syevd, heevd, sygvd and hegvd. */
static inline ji_work_t ji_divided_least(const ji_driver_t *args) {
    const int64_t n = args->n;
    const bool vectors = args->jobz == JLAPACK_VECTORS, complex = ji_is_complex(args->head.type);
    if (n <= 1)
        return (ji_work_t){1, complex, 1};

    const int64_t reals = vectors ? 1 + (complex ? 5 : 6) * n + 2 * n * n : complex ? n : 2 * n + 1;
    const int64_t ints = vectors ? 3 + 5 * n : 1;
    return complex ? (ji_work_t){vectors ? 2 * n + n * n : n + 1, reals, ints}
                   : (ji_work_t){reals, 0, ints};
}

void ji_lapack_guest_plan(jplan_t *plan, const jhandle_t *handle, const ji_driver_t *args,
                          ji_work_t least);
jstatus_t ji_lapack_guest_run(jhandle_t *handle, ji_host_function_t function,
                              const ji_driver_t *args, ji_work_t least, const jborrow_t *ws);
/* The function of the host; `wrong`: an argument's number that the LAPACK must not see, or 0. */
void ji_lapack_guest_do(ji_driver_t *call, bool empty, int wrong);
/* Before the checks: that there is one. After the call: what a negative info was. */
jstatus_t ji_lapack_guest_enter(jhandle_t *handle, ji_driver_t *args);
jstatus_t ji_lapack_guest_leave(jhandle_t *handle, const ji_driver_t *args, jstatus_t status);
/* Whether so many rows of so many columns are finite, or the triangle of them. */
bool ji_all_finite(jdatatype_t type, const void *a, int64_t rows, int64_t columns, int64_t ld);
bool ji_triangle_is_finite(jdatatype_t type, jblas_uplo_t uplo, const void *a, int64_t n,
                           int64_t ld);

/* The number of an argument in its row. */
#define JI_GUEST_NUMBER_OF(routine, name)                                                          \
    ji_lapack_guest_number(&ji_row_##routine, offsetof(ji_driver_t, name))
int ji_lapack_guest_number(const ji_row_t *row, size_t offset);

/* The first operand that is not finite; 0: all are. */
#define JI_FINITE(routine, kind, ...) JI_FINITE_##kind(routine, __VA_ARGS__)
#define JI_FINITE_ENUM(routine, ...)
#define JI_FINITE_SIZE(routine, ...)
#define JI_FINITE_SCALAR(routine, ...)
#define JI_FINITE_RESULT(routine, ...)
#define JI_FINITE_REALS(routine, ...)
#define JI_FINITE_FACTORS(routine, ...)
#define JI_FINITE_INDICES(routine, ...)
#define JI_FINITE_MATRIX(routine, name, ld, access, structure, shape, read)                        \
    JI_FINITE_##access(routine, name, ld, structure, shape)
#define JI_FINITE_OUTPUT(routine, name, ld, structure, shape)
#define JI_FINITE_WRITTEN(routine, name, ld, structure, shape)                                     \
    if (!JI_FINITE_##structure(name, ld, shape))                                                   \
        return JI_GUEST_NUMBER_OF(routine, name);
#define JI_FINITE_GENERAL(name, ld, shape)                                                         \
    ji_all_finite(args->head.type, args->name, JI_GIVEN_ROWS_##shape, JI_COLUMNS_##shape, args->ld)
#define JI_FINITE_HERMITIAN(name, ld, shape)                                                       \
    ji_triangle_is_finite(args->head.type, args->uplo, args->name, args->n, args->ld)
#define JI_FINITE_DEFINITE(name, ld, shape) JI_FINITE_HERMITIAN(name, ld, shape)
#define JI_GIVEN_ROWS_PLAIN(rows, columns) args->rows
#define JI_GIVEN_ROWS_LARGER(m, n, nrhs) args->m /* of B; X has the others */

/* Enumerators. */
#define JI_IS_VECTORS(value) ((value) == JLAPACK_NONE || (value) == JLAPACK_VECTORS)
#define JI_IS_PARTS(value)                                                                         \
    ((value) == JLAPACK_NONE || (value) == JLAPACK_SOME || (value) == JLAPACK_ALL ||               \
     (value) == JLAPACK_OVERWRITE)
#define JI_IS_RANGE(value)                                                                         \
    ((value) == JLAPACK_RANGE_ALL || (value) == JLAPACK_RANGE_VALUES ||                            \
     (value) == JLAPACK_RANGE_INDICES)
#define JI_RULE_VECTORS(value) "must be JLAPACK_NONE ('N', 78) or JLAPACK_VECTORS ('V', 86)"
#define JI_RULE_PARTS(value)                                                                       \
    "must be JLAPACK_NONE ('N', 78), JLAPACK_SOME ('S', 83), JLAPACK_ALL ('A', 65) or "            \
    "JLAPACK_OVERWRITE ('O', 79)"
#define JI_RULE_RANGE(value)                                                                       \
    "must be JLAPACK_RANGE_ALL ('A', 65), JLAPACK_RANGE_VALUES ('V', 86) or "                      \
    "JLAPACK_RANGE_INDICES ('I', 73)"

/* What is written for a job alone. */
#define JI_IS_NEEDED_OUTPUT(read) JI_IS_WANTED_##read
#define JI_IS_WANTED_JOBZ (args->jobz == JLAPACK_VECTORS)
#define JI_IS_WANTED_JOBVS (args->jobvs == JLAPACK_VECTORS)
#define JI_IS_WANTED_JOBVL (args->jobvl == JLAPACK_VECTORS)
#define JI_IS_WANTED_JOBVR (args->jobvr == JLAPACK_VECTORS)
#define JI_IS_WANTED_U(routine) (JI_COLUMNS_U(routine) > 0)
#define JI_IS_WANTED_VT(routine) (JI_ROWS_VT(routine) > 0)

/* What its row cannot say of gesvd. */
#define JI_LAPACK_GESVD_CHECKS                                                                     \
    JI_CHECK(args->jobu != JLAPACK_OVERWRITE || args->jobvt != JLAPACK_OVERWRITE,                  \
             JSTATUS_INVALID_VALUE, "jobvt", args->jobvt,                                          \
             "cannot be JLAPACK_OVERWRITE where jobu is", 0)

/* Refuses what the LAPACK's integers do not hold: a size, or the work that it needs at least. */
#define JI_CHECK_GUEST_WIDTH(routine, least)                                                       \
    if (JI_UNLIKELY(JI_ALL_SIZES(routine) > (uint64_t)ji_lapack_int_max)) {                        \
        int64_t largest = 0;                                                                       \
        JI_ARGUMENTS_##routine(JI_EACH_SIZE, JI_ENLARGE);                                          \
        JI_CHECK(largest <= ji_lapack_int_max, JSTATUS_INVALID_SIZE, "the largest size", largest,  \
                 JI_GUEST_TAKES, ji_lapack_int_max)                                                \
    }                                                                                              \
    JI_CHECK(ji_max(ji_max(least.work, least.rwork), least.iwork) <= ji_lapack_int_max,            \
             JSTATUS_INVALID_SIZE, "the least workspace",                                          \
             ji_max(ji_max(least.work, least.rwork), least.iwork), JI_GUEST_TAKES,                 \
             ji_lapack_int_max)
#define JI_GUEST_TAKES "the LAPACK in use takes at most %lld"

/* All of a routine beside <routine>_least(args), the work that LAPACK documents to be enough:
 * `empty`, whether there is nothing to do; statements before the LAPACK runs, which may return the
 * number of an argument; what there is to check besides the row. */
#define JI_GUEST_ROUTINE_WITH(routine, empty, looks, ...)                                          \
    static int routine##_wrong(const ji_driver_t *args) {                                          \
        (void)args;                                                                                \
        looks return 0;                                                                            \
    }                                                                                              \
    static void routine##_do(void *block) {                                                        \
        ji_driver_t *args = block;                                                                 \
        const bool nothing = (empty);                                                              \
        ji_lapack_guest_do(args, nothing, nothing ? 0 : routine##_wrong(args));                    \
    }                                                                                              \
    static void routine##_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {        \
        ji_lapack_guest_plan(plan, handle, block, routine##_least(block));                         \
    }                                                                                              \
    static jstatus_t routine##_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {    \
        return ji_lapack_guest_run(handle, routine##_do, block, routine##_least(block), ws);       \
    }                                                                                              \
    /* Everything before operands are looked at: what is best of the work. */                      \
    static jstatus_t routine##_measure(jhandle_t *handle, ji_driver_t *args, bool *works) {        \
        args->which = JI_GUEST_##routine;                                                          \
        JTRY_RETURN(ji_lapack_guest_enter(handle, args));                                          \
        JI_CHECK_SIZES(routine)                                                                    \
        __VA_ARGS__                                                                                \
        const ji_work_t least = routine##_least(args);                                             \
        JI_CHECK_GUEST_WIDTH(routine, least)                                                       \
        *works = !(empty) && least.work > 0;                                                       \
        if (*works) {                                                                              \
            const ji_work_t best = ji_lapack_guest_ask(args, least);                               \
            args->lwork = best.work, args->lrwork = best.rwork, args->liwork = best.iwork;         \
        }                                                                                          \
        return JSTATUS_SUCCESS;                                                                    \
    }                                                                                              \
    static jstatus_t routine##_call(jhandle_t *handle, void *block) {                              \
        ji_driver_t *args = block;                                                                 \
        bool works = false;                                                                        \
        JI_LAPACK_ON_HOST()                                                                        \
        JTRY_RETURN(routine##_measure(handle, args, &works));                                      \
        if (ji_is_query(handle))                                                                   \
            return ji_answer(handle, args, works ? routine##_plan : NULL);                         \
        JI_TAKE_SCALARS(routine)                                                                   \
        if (!(empty)) {                                                                            \
            JI_CHECK_OPERANDS(routine)                                                             \
        }                                                                                          \
        const jstatus_t status = works ? ji_run_plan(handle, args, routine##_plan, routine##_run)  \
                                       : routine##_run(handle, args, &ji_no_work);                 \
        return ji_lapack_guest_leave(handle, args, status);                                        \
    }                                                                                              \
    JI_ENTRIES_PLAIN(routine, driver)
static const jborrow_t ji_no_work = {.ok = true};

/* As lapack.h has of others, for libjbuffer. */
JI_SHARED jstatus_t ji_call_syevd(jhandle_t *handle, ji_driver_t *args);
JI_SHARED jstatus_t ji_call_syevd_plan(jhandle_t *handle, ji_driver_t *args, jplan_t *plan);
JI_SHARED jstatus_t ji_call_gesdd(jhandle_t *handle, ji_driver_t *args);
JI_SHARED jstatus_t ji_call_gesdd_plan(jhandle_t *handle, ji_driver_t *args, jplan_t *plan);
#define JI_GUEST_VALUED(routine)                                                                   \
    JI_VALUED(routine, driver)                                                                     \
    jstatus_t ji_call_##routine##_plan(jhandle_t *handle, ji_driver_t *args, jplan_t *plan) {      \
        bool works = false;                                                                        \
        args->head.row = &ji_row_##routine;                                                        \
        *plan = (jplan_t)JPLAN_INIT;                                                               \
        JTRY_RETURN(routine##_measure(handle, args, &works));                                      \
        if (works)                                                                                 \
            routine##_plan(plan, handle, args);                                                    \
        return JSTATUS_SUCCESS;                                                                    \
    }

/* One that looks for something until it has it: its matrices have to be finite. */
#define JI_GUEST_ROUTINE_CHECKED(routine, empty, ...)                                              \
    JI_GUEST_ROUTINE_WITH(routine, empty, JI_ARGUMENTS_##routine(JI_FINITE, routine), __VA_ARGS__)
#define JI_GUEST_ROUTINE(routine, empty) JI_GUEST_ROUTINE_CHECKED(routine, empty, )
/* One that needs no work and ends with whatever it is given. */
#define JI_GUEST_SOLVER(routine, empty) JI_GUEST_SOLVER_CHECKED(routine, empty, )
#define JI_GUEST_SOLVER_CHECKED(routine, empty, ...)                                               \
    static ji_work_t routine##_least(const ji_driver_t *args) {                                    \
        (void)args;                                                                                \
        return (ji_work_t){0, 0, 0};                                                               \
    }                                                                                              \
    JI_GUEST_ROUTINE_WITH(routine, empty, , __VA_ARGS__)

#endif
