/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JLAPACK_GUEST_HELPER_H
#define JALLOC_CLIENTS_GTEST_JLAPACK_GUEST_HELPER_H

/* Calls of what a LAPACK computes, by routines and types that are values: a problem is all that one
 * call takes and gives, on fresh operands of any shape. */

#include "jlapack_helper.h"

#include "blas/guest/cblas.h"
#include "lapack/guest/guest.h"

typedef enum routine {
    SYEV,
    SYEVD,
    SYEVR,
    SYGVD,
    GESVD,
    GESDD,
    GEEV,
    GEES,
    GGEV,
    GELSD,
    GTSV,
    PBTRF,
    PBTRS,
    ROUTINE_COUNT
} routine_t;
static const char *const routine_names[] = {"syev",  "syevd", "syevr", "sygvd", "gesvd",
                                            "gesdd", "geev",  "gees",  "ggev",  "gelsd",
                                            "gtsv",  "pbtrf", "pbtrs"};

typedef struct problem {
    routine_t routine;
    int type;
    jlapack_job_t job, job2;
    jlapack_range_t range;
    jblas_uplo_t uplo;
    int64_t m, n, nrhs, kd, itype, il, iu;
    double above, up_to, abstol, rcond;
    float above_s, up_to_s, abstol_s, rcond_s; /* the same, for float types */
    matrix_t a, b, w, wi, beta, u, vt;
    int64_t *isuppz, count, info;
} problem_t;

static inline bool finds_values(routine_t routine) { return routine < GTSV; }
static inline bool is_symmetric(routine_t routine) { return routine <= SYGVD; }

/* What is given where it is read; NaN in the triangle that is not. */
static inline void problem_shape(problem_t *p) {
    if (!is_symmetric(p->routine))
        return;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->n; i++) {
            if (!is_stored(p->uplo, i, j)) {
                wide_put(p->a.data, p->type, i + j * p->a.ld, NAN);
                if (p->routine == SYGVD)
                    wide_put(p->b.data, p->type, i + j * p->b.ld, NAN);
            } else if (i == j) {
                wide_put(p->a.data, p->type, i + j * p->a.ld, __real__ now_at(&p->a, i, j));
            }
        }
    if (p->routine == SYGVD)
        make_definite(&p->b);
}

/* As make_matrix(), with room behind it that is not written: kernels of OpenBLAS 0.3.21 (cgemv)
 * read a column beyond those that they are given, which may be memory that is not there. */
#define ROOM_BYTES 4096
#define ROOM_BYTE 0x5a
static inline void make_room(matrix_t *a) {
    char *data = jtest_guard_pages(a->bytes + ROOM_BYTES);
    memcpy(data, a->data, a->bytes), memset(data + a->bytes, ROOM_BYTE, ROOM_BYTES);
    a->data = data;
}
static inline void expect_room(const matrix_t *a) {
    const char *room = (const char *)a->data + a->bytes;
    for (int i = 0; i < ROOM_BYTES; i++)
        JASSERT_EQ(room[i], ROOM_BYTE);
}

/* OpenBLAS 0.3.21's ssymv of a lower triangle (SSE kernels) multiplies what is left in OpenBLAS's
 * own buffer by zero, and so gives NaN, and ssyev no values, after a call of anybody's with NaN.
 * This one, of zeros and an order at which it is right, leaves zeros there. */
static inline void clean_guest(void) {
    enum { ORDER = 128, COLUMN_MAJOR = 102 };
    static float a[ORDER * ORDER], x[ORDER], y[ORDER];
    if (jblas_cblas_kernel_at(0) != NULL)
        ji_guest.ssymv(COLUMN_MAJOR, JBLAS_LOWER, ORDER, 1, a, ORDER, x, 1, 0, y, 1);
}

static inline int64_t columns_of(jlapack_job_t job, int64_t all, int64_t least) {
    return job == JLAPACK_ALL ? all : job == JLAPACK_SOME ? least : 0;
}

static inline problem_t problem_make(routine_t routine, int type, int64_t m, int64_t n,
                                     int64_t nrhs, jlapack_job_t job, jlapack_job_t job2) {
    problem_t p = {.routine = routine, .type = type, .m = m, .n = n, .nrhs = nrhs};
    const int64_t least = smaller(m, n), most = larger(m, n);
    const int real = wide_real_of(type);
    clean_guest();
    p.job = job, p.job2 = job2;
    p.uplo = draw_uplo();
    p.range = JLAPACK_RANGE_ALL;
    p.itype = jtest_random_between(1, 3);
    p.kd = jtest_random_between(0, 6);
    p.rcond = p.rcond_s = -1;
    p.info = -99, p.count = -99;

    const bool svd = routine == GESVD || routine == GESDD, rectangular = svd || routine == GELSD;
    const bool complex_values = wide_is_complex(type) && routine >= GEEV && routine <= GGEV;
    jlapack_job_t of_u = job, of_vt = routine == GESVD ? job2 : job;
    if (routine == GESDD && job == JLAPACK_OVERWRITE) {
        of_u = m >= n ? JLAPACK_NONE : JLAPACK_ALL;
        of_vt = m >= n ? JLAPACK_ALL : JLAPACK_NONE;
    }

    p.a = routine == GTSV                        ? make_matrix(type, n, 1)
          : routine == PBTRF || routine == PBTRS ? make_matrix(type, p.kd + 1, n)
                                                 : make_matrix(type, rectangular ? m : n, n);
    p.b = routine == SYGVD || routine == GGEV
              ? make_matrix(type, n, n)
              : make_matrix(type, routine == GELSD ? most : n, nrhs);
    p.w = make_matrix(complex_values || routine == GTSV ? type : real, rectangular ? least : n, 1);
    p.wi = make_matrix(routine == GTSV ? type : real, n, 1);
    p.beta = make_matrix(complex_values ? type : real, n, 1);
    p.u = svd ? make_matrix(type, m, columns_of(of_u, m, least))
              : make_matrix(type, n, job == JLAPACK_VECTORS ? n : 0);
    p.vt = svd ? make_matrix(type, columns_of(of_vt, n, least),
                             of_vt == JLAPACK_ALL || of_vt == JLAPACK_SOME ? n : 0)
               : make_matrix(type, n, job2 == JLAPACK_VECTORS ? n : 0);
    matrix_t *const all[] = {&p.a, &p.b, &p.w, &p.wi, &p.beta, &p.u, &p.vt};
    for (int i = 0; i < 7; i++)
        make_room(all[i]);
    p.isuppz = malloc((size_t)(2 * n + 1) * sizeof *p.isuppz);
    problem_shape(&p);
    if (routine == PBTRF || routine == PBTRS)
        for (int64_t j = 0; j < n; j++)
            wide_put(p.a.data, type, (p.uplo == JBLAS_UPPER ? p.kd : 0) + j * p.a.ld,
                     2 * (long double)p.kd + 3);
    keep(&p.a);
    return p;
}

static inline void problem_free(problem_t *p) {
    matrix_t *const all[] = {&p->a, &p->b, &p->w, &p->wi, &p->beta, &p->u, &p->vt};
    for (int i = 0; i < 7; i++)
        expect_room(all[i]), free_matrix(all[i]);
    free(p->isuppz);
}
#define PROBLEM(name, ...)                                                                         \
    __attribute__((cleanup(problem_free))) problem_t name = problem_make(__VA_ARGS__)

static const jlapack_job_t vector_jobs[] = {JLAPACK_VECTORS, JLAPACK_NONE};
static const jlapack_job_t part_jobs[] = {JLAPACK_SOME, JLAPACK_ALL, JLAPACK_OVERWRITE,
                                          JLAPACK_NONE};

/* The jobs of a round: all of them come, in pairs. */
static inline problem_t problem_draw(routine_t routine, int type, int64_t round, int64_t most) {
    const bool svd = routine == GESVD || routine == GESDD;
    jlapack_job_t job = svd ? part_jobs[round % 4] : vector_jobs[round % 2],
                  job2 = svd ? part_jobs[round / 4 % 4] : vector_jobs[round / 2 % 2];
    if (routine == GESVD && job == JLAPACK_OVERWRITE && job2 == JLAPACK_OVERWRITE)
        job2 = JLAPACK_ALL;
    return problem_make(routine, type, draw_size(round / 2, most), draw_size(round / 2, most),
                        jtest_random_between(0, 4), job, job2);
}

/* ---- The call ---- */

#define REAL_SCALAR(name)                                                                          \
    (query                                    ? NULL                                               \
     : wide_real_of(p->type) == JDATATYPE_F32 ? (const void *)&p->name##_s                         \
                                              : (const void *)&p->name)
#define D(x) (query ? NULL : p->x.data)
#define V(x) (query || p->x.columns == 0 ? NULL : p->x.data), p->x.ld
#define INFO (query ? NULL : &p->info)
/* Where real types have one argument more. */
#define BY_KIND(routine, of_real, of_complex)                                                      \
    (p->type == JDATATYPE_F32     ? jlapack_s##routine of_real                                     \
     : p->type == JDATATYPE_F64   ? jlapack_d##routine of_real                                     \
     : p->type == JDATATYPE_F32_C ? jlapack_c##routine of_complex                                  \
                                  : jlapack_z##routine of_complex)

static inline jstatus_t problem_call_or_query(jhandle_t *h, problem_t *p, bool query) {
    const int64_t n = p->n;
    switch (p->routine) {
    case SYEV:
        return JLAPACK_CALL_Q(p->type, syev, heev, h, p->job, p->uplo, n, D(a), p->a.ld, D(w),
                              INFO);
    case SYEVD:
        return JLAPACK_CALL_Q(p->type, syevd, heevd, h, p->job, p->uplo, n, D(a), p->a.ld, D(w),
                              INFO);
    case SYEVR:
        return JLAPACK_CALL_Q(p->type, syevr, heevr, h, p->job, p->range, p->uplo, n, D(a), p->a.ld,
                              REAL_SCALAR(above), REAL_SCALAR(up_to), p->il, p->iu,
                              REAL_SCALAR(abstol), query ? NULL : &p->count, D(w), V(u),
                              query ? NULL : p->isuppz, INFO);
    case SYGVD:
        return JLAPACK_CALL_Q(p->type, sygvd, hegvd, h, p->itype, p->job, p->uplo, n, D(a), p->a.ld,
                              D(b), p->b.ld, D(w), INFO);
    case GESVD:
        return JLAPACK_CALL(p->type, gesvd, h, p->job, p->job2, p->m, n, D(a), p->a.ld, D(w), V(u),
                            V(vt), INFO);
    case GESDD:
        return JLAPACK_CALL(p->type, gesdd, h, p->job, p->m, n, D(a), p->a.ld, D(w), V(u), V(vt),
                            INFO);
    case GEEV:
        return BY_KIND(geev, (h, p->job, p->job2, n, D(a), p->a.ld, D(w), D(wi), V(u), V(vt), INFO),
                       (h, p->job, p->job2, n, D(a), p->a.ld, D(w), V(u), V(vt), INFO));
    case GEES:
        return BY_KIND(gees, (h, p->job, n, D(a), p->a.ld, D(w), D(wi), V(u), INFO),
                       (h, p->job, n, D(a), p->a.ld, D(w), V(u), INFO));
    case GGEV:
        return BY_KIND(ggev,
                       (h, p->job, p->job2, n, D(a), p->a.ld, D(b), p->b.ld, D(w), D(wi), D(beta),
                        V(u), V(vt), INFO),
                       (h, p->job, p->job2, n, D(a), p->a.ld, D(b), p->b.ld, D(w), D(beta), V(u),
                        V(vt), INFO));
    case GELSD:
        return JLAPACK_CALL(p->type, gelsd, h, p->m, n, p->nrhs, D(a), p->a.ld, D(b), p->b.ld, D(w),
                            REAL_SCALAR(rcond), query ? NULL : &p->count, INFO);
    case GTSV:
        return JLAPACK_CALL(p->type, gtsv, h, n, p->nrhs, D(a), D(w), D(wi), D(b), p->b.ld, INFO);
    case PBTRF: return JLAPACK_CALL(p->type, pbtrf, h, p->uplo, n, p->kd, D(a), p->a.ld, INFO);
    default:
        return JLAPACK_CALL(p->type, pbtrs, h, p->uplo, n, p->kd, p->nrhs, D(a), p->a.ld, D(b),
                            p->b.ld);
    }
}
#undef D
#undef V
#undef INFO
#undef REAL_SCALAR

static inline jstatus_t problem_call(jhandle_t *handle, problem_t *p) {
    return problem_call_or_query(handle, p, false);
}
static inline jstatus_t problem_query(jhandle_t *handle, problem_t *p, size_t *bytes) {
    JEXPECT_OK(jhandle_start_size_query(handle));
    const jstatus_t status = problem_call_or_query(handle, p, true);
    JEXPECT_OK(jhandle_stop_size_query(handle, bytes));
    return status;
}

static inline void expect_untouched(problem_t *p) {
    matrix_t *const all[] = {&p->a, &p->b, &p->w, &p->wi, &p->beta, &p->u, &p->vt};
    for (int i = 0; i < 7; i++)
        JEXPECT_EQ(memcmp(all[i]->data, all[i]->before, all[i]->bytes), 0);
}

/* ---- Routines and types as a test's parameters ---- */

typedef struct routine_of_type {
    routine_t routine;
    int type;
} routine_of_type_t;
#define EACH(routine)                                                                              \
    {routine, 0}, {routine, 1}, {routine, 2}, { routine, 3 }
static const routine_of_type_t all_routines[] = {
    EACH(SYEV), EACH(SYEVD), EACH(SYEVR), EACH(SYGVD), EACH(GESVD), EACH(GESDD), EACH(GEEV),
    EACH(GEES), EACH(GGEV),  EACH(GELSD), EACH(GTSV),  EACH(PBTRF), EACH(PBTRS)};
#undef EACH
static inline void routine_name_of(const void *parameter, char *name) {
    const routine_of_type_t *of = parameter;
    name[0] = "sdcz"[of->type];
    strcpy(name + 1, routine_names[of->routine]);
}
#define JLAPACK_EACH_ROUTINE(suite, name)                                                          \
    JTEST_P_NAMED(suite, name, routine_of_type_t, all_routines, routine_name_of)

#endif
