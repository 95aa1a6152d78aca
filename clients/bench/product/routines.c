/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How each routine is called, by a handle and by its address in somebody else's library.
 *
 * The peers are found at run time and none of their headers is needed, so a signature is spelled
 * here, once for each routine: what differs between types is the scalar, which is a number for s
 * and d and a pointer for c and z. Integers are handed over 64 bits wide. On x86-64 and AArch64 of
 * Linux an argument fills a register or a slot of 64 bits, and a callee with integers of 32 bits
 * reads the lower half, so that a call serves libraries of both widths; the same holds for the
 * integers that Fortran reads by address, as both are little-endian. */

#include "bench_product.h"

enum { COLUMN_MAJOR = 102 };

typedef int64_t I;
typedef const void *P; /* is read */
typedef void *W;       /* is written */

#define REPEAT for (size_t i = 0; i < repeat; i++)
#define FLOAT(scalar) p->scalar.s[0]
#define DOUBLE(scalar) p->scalar.d[0]
#define POINTER(scalar) &p->scalar

/* A call for each type: its scalar's type and how its scalar is read. */
#define THEIRS_REAL(CALL)                                                                          \
    case 's': REPEAT CALL(float, FLOAT); break;                                                    \
    case 'd':                                                                                      \
        REPEAT CALL(double, DOUBLE);                                                               \
        break;
#define THEIRS_COMPLEX(CALL)                                                                       \
    case 'c':                                                                                      \
    case 'z':                                                                                      \
        REPEAT CALL(P, POINTER);                                                                   \
        break;
#define THEIRS(routine, CASES)                                                                     \
    static void theirs_##routine(void *function, const problem_t *p, size_t repeat) {              \
        switch (p->type) { CASES }                                                                 \
    }
#define FUNCTION(result, ...) ((result(*)(__VA_ARGS__))(uintptr_t)function)

/* Ours is checked for every call, as a caller does. */
#define OURS_CASE(letter, name, ...)                                                               \
    case letter:                                                                                   \
        REPEAT {                                                                                   \
            jstatus_t one = name(handle, __VA_ARGS__);                                             \
            if (jstatus_is_error(one))                                                             \
                status = one;                                                                      \
        }                                                                                          \
        break;
#define OURS(routine, CASES)                                                                       \
    static jstatus_t ours_##routine(jhandle_t *handle, const problem_t *p, size_t repeat) {        \
        jstatus_t status = JSTATUS_SUCCESS;                                                        \
        switch (p->type) { CASES }                                                                 \
        return status;                                                                             \
    }
#define OURS_SD(name, ...)                                                                         \
    OURS_CASE('s', jblas_s##name, __VA_ARGS__) OURS_CASE('d', jblas_d##name, __VA_ARGS__)
#define OURS_CZ(name, ...)                                                                         \
    OURS_CASE('c', jblas_c##name, __VA_ARGS__) OURS_CASE('z', jblas_z##name, __VA_ARGS__)
#define OURS_SDCZ(name, ...) OURS_SD(name, __VA_ARGS__) OURS_CZ(name, __VA_ARGS__)
#define OURS_LAPACK(name, ...)                                                                     \
    OURS_CASE('s', jlapack_s##name, __VA_ARGS__)                                                   \
    OURS_CASE('d', jlapack_d##name, __VA_ARGS__)                                                   \
    OURS_CASE('c', jlapack_c##name, __VA_ARGS__) OURS_CASE('z', jlapack_z##name, __VA_ARGS__)

#define ALPHA ((const void *)&p->alpha)
#define BETA ((const void *)&p->beta)
#define SDCZ(name)                                                                                 \
    { "cblas_s" name, "cblas_d" name, "cblas_c" name, "cblas_z" name }
#define CZ(name)                                                                                   \
    { NULL, NULL, "cblas_c" name, "cblas_z" name }
#define SDCZ_LAPACK(name)                                                                          \
    { "s" name "_", "d" name "_", "c" name "_", "z" name "_" }
#define ROUTINE(name, shape, ...)                                                                  \
    const routine_t routine_##name = {#name, shape, __VA_ARGS__, ours_##name, theirs_##name}

/* clang-format off: a call a line */

/* ---- Level 3 ---- */

#define GEMM(T, value)                                                                             \
    FUNCTION(void, I, I, I, I, I, I, T, P, I, P, I, T, W, I)                                       \
    (COLUMN_MAJOR, p->transa, p->transb, p->m, p->n, p->k, value(alpha), p->a, p->lda, p->b,       \
     p->ldb, value(beta), p->c, p->ldc)
OURS(gemm, OURS_SDCZ(gemm, p->transa, p->transb, p->m, p->n, p->k, ALPHA, p->a, p->lda, p->b,
                     p->ldb, BETA, p->c, p->ldc))
THEIRS(gemm, THEIRS_REAL(GEMM) THEIRS_COMPLEX(GEMM))
ROUTINE(gemm, SHAPE_GEMM, SDCZ("gemm"));

#define GEMMT(T, value)                                                                            \
    FUNCTION(void, I, I, I, I, I, I, T, P, I, P, I, T, W, I)                                       \
    (COLUMN_MAJOR, p->uplo, p->transa, p->transb, p->n, p->k, value(alpha), p->a, p->lda, p->b,    \
     p->ldb, value(beta), p->c, p->ldc)
OURS(gemmt, OURS_SDCZ(gemmt, p->uplo, p->transa, p->transb, p->n, p->k, ALPHA, p->a, p->lda, p->b,
                      p->ldb, BETA, p->c, p->ldc))
THEIRS(gemmt, THEIRS_REAL(GEMMT) THEIRS_COMPLEX(GEMMT))
ROUTINE(gemmt, SHAPE_GEMMT, SDCZ("gemmt"));

#define SYMM(T, value)                                                                             \
    FUNCTION(void, I, I, I, I, I, T, P, I, P, I, T, W, I)                                          \
    (COLUMN_MAJOR, p->side, p->uplo, p->m, p->n, value(alpha), p->a, p->lda, p->b, p->ldb,         \
     value(beta), p->c, p->ldc)
OURS(symm, OURS_SDCZ(symm, p->side, p->uplo, p->m, p->n, ALPHA, p->a, p->lda, p->b, p->ldb, BETA,
                     p->c, p->ldc))
OURS(hemm, OURS_CZ(hemm, p->side, p->uplo, p->m, p->n, ALPHA, p->a, p->lda, p->b, p->ldb, BETA,
                   p->c, p->ldc) default
     : break;)
THEIRS(symm, THEIRS_REAL(SYMM) THEIRS_COMPLEX(SYMM))
THEIRS(hemm, THEIRS_COMPLEX(SYMM))
ROUTINE(symm, SHAPE_SYMM, SDCZ("symm"));
ROUTINE(hemm, SHAPE_SYMM, CZ("hemm"));

#define SYRK(T, value)                                                                             \
    FUNCTION(void, I, I, I, I, I, T, P, I, T, W, I)                                                \
    (COLUMN_MAJOR, p->uplo, p->transa, p->n, p->k, value(alpha), p->a, p->lda, value(beta), p->c,  \
     p->ldc)
OURS(syrk, OURS_SDCZ(syrk, p->uplo, p->transa, p->n, p->k, ALPHA, p->a, p->lda, BETA, p->c, p->ldc))
OURS(herk,
     OURS_CZ(herk, p->uplo, p->transa, p->n, p->k, ALPHA, p->a, p->lda, BETA, p->c, p->ldc) default
     : break;)
THEIRS(syrk, THEIRS_REAL(SYRK) THEIRS_COMPLEX(SYRK))
THEIRS(herk, case 'c'
       : REPEAT SYRK(float, FLOAT);
       break; case 'z'
       : REPEAT SYRK(double, DOUBLE);
       break;)
ROUTINE(syrk, SHAPE_SYRK, SDCZ("syrk"));
ROUTINE(herk, SHAPE_SYRK, CZ("herk"));

#define SYR2K(T, value) HER2K(T, value, T, value)
#define HER2K(T, value, R, real)                                                                   \
    FUNCTION(void, I, I, I, I, I, T, P, I, P, I, R, W, I)                                          \
    (COLUMN_MAJOR, p->uplo, p->transa, p->n, p->k, value(alpha), p->a, p->lda, p->b, p->ldb,       \
     real(beta), p->c, p->ldc)
OURS(syr2k, OURS_SDCZ(syr2k, p->uplo, p->transa, p->n, p->k, ALPHA, p->a, p->lda, p->b, p->ldb,
                      BETA, p->c, p->ldc))
OURS(her2k, OURS_CZ(her2k, p->uplo, p->transa, p->n, p->k, ALPHA, p->a, p->lda, p->b, p->ldb, BETA,
                    p->c, p->ldc) default
     : break;)
THEIRS(syr2k, THEIRS_REAL(SYR2K) THEIRS_COMPLEX(SYR2K))
THEIRS(her2k, case 'c'
       : REPEAT HER2K(P, POINTER, float, FLOAT);
       break; case 'z'
       : REPEAT HER2K(P, POINTER, double, DOUBLE);
       break;)
ROUTINE(syr2k, SHAPE_SYR2K, SDCZ("syr2k"));
ROUTINE(her2k, SHAPE_SYR2K, CZ("her2k"));

#define TRMM(T, value)                                                                             \
    FUNCTION(void, I, I, I, I, I, I, I, T, P, I, W, I)                                             \
    (COLUMN_MAJOR, p->side, p->uplo, p->transa, JBLAS_NON_UNIT, p->m, p->n, value(alpha), p->a,    \
     p->lda, p->c, p->ldc)
OURS(trmm, OURS_SDCZ(trmm, p->side, p->uplo, p->transa, JBLAS_NON_UNIT, p->m, p->n, ALPHA, p->a,
                     p->lda, p->c, p->ldc))
OURS(trsm, OURS_SDCZ(trsm, p->side, p->uplo, p->transa, JBLAS_NON_UNIT, p->m, p->n, ALPHA, p->a,
                     p->lda, p->c, p->ldc))
THEIRS(trmm, THEIRS_REAL(TRMM) THEIRS_COMPLEX(TRMM))
THEIRS(trsm, THEIRS_REAL(TRMM) THEIRS_COMPLEX(TRMM))
ROUTINE(trmm, SHAPE_TRMM, SDCZ("trmm"));
ROUTINE(trsm, SHAPE_TRMM, SDCZ("trsm"));

/* ---- LAPACK: names of Fortran, everything by address ---- */

#define UPLO (p->uplo == JBLAS_LOWER ? "L" : "U")
OURS(potrf, int64_t info; OURS_LAPACK(potrf, p->uplo, p->n, p->c, p->ldc, &info))
OURS(trtri, int64_t info; OURS_LAPACK(trtri, p->uplo, JBLAS_NON_UNIT, p->n, p->c, p->ldc, &info))
static void theirs_potrf(void *function, const problem_t *p, size_t repeat) {
    int64_t info = 0;
    REPEAT FUNCTION(void, P, P, W, P, W, size_t)(UPLO, &p->n, p->c, &p->ldc, &info, 1);
}
static void theirs_trtri(void *function, const problem_t *p, size_t repeat) {
    int64_t info = 0;
    REPEAT FUNCTION(void, P, P, P, W, P, W, size_t, size_t)(UPLO, "N", &p->n, p->c, &p->ldc, &info,
                                                            1, 1);
}
ROUTINE(potrf, SHAPE_POTRF, SDCZ_LAPACK("potrf"));
ROUTINE(trtri, SHAPE_POTRF, SDCZ_LAPACK("trtri"));

/* ---- Level 2 ---- */

#define GEMV(T, value)                                                                             \
    FUNCTION(void, I, I, I, I, T, P, I, P, I, T, W, I)                                             \
    (COLUMN_MAJOR, p->transa, p->m, p->n, value(alpha), p->a, p->lda, p->b, 1, value(beta), p->c, 1)
OURS(gemv, OURS_SDCZ(gemv, p->transa, p->m, p->n, ALPHA, p->a, p->lda, p->b, 1, BETA, p->c, 1))
THEIRS(gemv, THEIRS_REAL(GEMV) THEIRS_COMPLEX(GEMV))
ROUTINE(gemv, SHAPE_GEMV, SDCZ("gemv"));

#define SYMV(T, value)                                                                             \
    FUNCTION(void, I, I, I, T, P, I, P, I, T, W, I)                                                \
    (COLUMN_MAJOR, p->uplo, p->n, value(alpha), p->a, p->lda, p->b, 1, value(beta), p->c, 1)
OURS(symv, OURS_SD(symv, p->uplo, p->n, ALPHA, p->a, p->lda, p->b, 1, BETA, p->c, 1)
               OURS_CZ(hemv, p->uplo, p->n, ALPHA, p->a, p->lda, p->b, 1, BETA, p->c, 1))
THEIRS(symv, THEIRS_REAL(SYMV) THEIRS_COMPLEX(SYMV))
ROUTINE(symv, SHAPE_SYMV, {"cblas_ssymv", "cblas_dsymv", "cblas_chemv", "cblas_zhemv"});

#define GER(T, value)                                                                              \
    FUNCTION(void, I, I, I, T, P, I, P, I, W, I)                                                   \
    (COLUMN_MAJOR, p->m, p->n, value(alpha), p->a, 1, p->b, 1, p->c, p->ldc)
OURS(ger, OURS_SD(ger, p->m, p->n, ALPHA, p->a, 1, p->b, 1, p->c, p->ldc)
              OURS_CZ(geru, p->m, p->n, ALPHA, p->a, 1, p->b, 1, p->c, p->ldc))
THEIRS(ger, THEIRS_REAL(GER) THEIRS_COMPLEX(GER))
ROUTINE(ger, SHAPE_GER, {"cblas_sger", "cblas_dger", "cblas_cgeru", "cblas_zgeru"});

/* ---- Level 1 ---- */

#define AXPY(T, value) FUNCTION(void, I, T, P, I, W, I)(p->n, value(alpha), p->a, 1, p->c, 1)
OURS(axpy, OURS_SDCZ(axpy, p->n, ALPHA, p->a, 1, p->c, 1))
THEIRS(axpy, THEIRS_REAL(AXPY) THEIRS_COMPLEX(AXPY))
ROUTINE(axpy, SHAPE_AXPY, SDCZ("axpy"));

#define DOT(T, value) *(T *)p->c = FUNCTION(T, I, P, I, P, I)(p->n, p->a, 1, p->b, 1)
#define DOT_COMPLEX(T, value) FUNCTION(void, I, P, I, P, I, W)(p->n, p->a, 1, p->b, 1, p->c)
OURS(dot, OURS_SD(dot, p->n, p->a, 1, p->b, 1, p->c) OURS_CZ(dotu, p->n, p->a, 1, p->b, 1, p->c))
THEIRS(dot, THEIRS_REAL(DOT) THEIRS_COMPLEX(DOT_COMPLEX))
ROUTINE(dot, SHAPE_DOT, {"cblas_sdot", "cblas_ddot", "cblas_cdotu_sub", "cblas_zdotu_sub"});

#define REDUCE(T) *(T *)p->c = FUNCTION(T, I, P, I)(p->n, p->a, 1)
#define THEIRS_REDUCE                                                                              \
    case 's':                                                                                      \
    case 'c': REPEAT REDUCE(float); break;                                                         \
    case 'd':                                                                                      \
    case 'z': REPEAT REDUCE(double); break;
OURS(asum, OURS_SD(asum, p->n, p->a, 1, p->c) OURS_CASE('c', jblas_scasum, p->n, p->a, 1, p->c)
               OURS_CASE('z', jblas_dzasum, p->n, p->a, 1, p->c))
OURS(nrm2, OURS_SD(nrm2, p->n, p->a, 1, p->c) OURS_CASE('c', jblas_scnrm2, p->n, p->a, 1, p->c)
               OURS_CASE('z', jblas_dznrm2, p->n, p->a, 1, p->c))
THEIRS(asum, THEIRS_REDUCE)
THEIRS(nrm2, THEIRS_REDUCE)
ROUTINE(asum, SHAPE_REDUCE, {"cblas_sasum", "cblas_dasum", "cblas_scasum", "cblas_dzasum"});
ROUTINE(nrm2, SHAPE_REDUCE, {"cblas_snrm2", "cblas_dnrm2", "cblas_scnrm2", "cblas_dznrm2"});

/* BLAS counts from 1, CBLAS from 0. The index becomes a number of the type, so that results are
 * compared as all others are; a float holds each up to 2^24. */
static void store_index(const problem_t *p, int64_t index) {
    if (type_is_single(p->type))
        *(float *)p->c = (float)index;
    else
        *(double *)p->c = (double)index;
}
OURS(index, OURS_CASE('s', jblas_isamax, p->n, p->a, 1, p->c)
                OURS_CASE('d', jblas_idamax, p->n, p->a, 1, p->c)
                    OURS_CASE('c', jblas_icamax, p->n, p->a, 1, p->c)
                        OURS_CASE('z', jblas_izamax, p->n, p->a, 1, p->c))
static jstatus_t ours_iamax(jhandle_t *handle, const problem_t *p, size_t repeat) {
    jstatus_t status = ours_index(handle, p, repeat);
    int64_t index = *(const int64_t *)p->c;
    store_index(p, index);
    return status;
}
static void theirs_iamax(void *function, const problem_t *p, size_t repeat) {
    size_t index = 0;
    REPEAT index = FUNCTION(size_t, I, P, I)(p->n, p->a, 1);
    store_index(p, (int64_t)index + 1);
}
ROUTINE(iamax, SHAPE_REDUCE, {"cblas_isamax", "cblas_idamax", "cblas_icamax", "cblas_izamax"});
/* clang-format on */
