/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the CBLAS is handed. Operands that BLAS does not read (A and B where alpha or k is 0,
 * everything where there is nothing to do) never reach it, be they NULL or memory that must not be
 * touched: BLIS 0.9 ends the process at a NULL, MKL's symm multiplies a NaN by zero. And the
 * imaginary parts of a Hermitian C's diagonal, which need not be set, are 0 when herk sees them.
 *
 * Functions of the test's own are put into the guest's table; each looks at its operands and calls
 * what was there. */

#include "jblas_routines.h"

#include "blas/guest/cblas.h"
#include "blas/routine/setup.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

typedef guest_int_t blas_int_t;

/* Calls of the CBLAS, and those among them that were handed what they must not see. */
static _Atomic(int64_t) calls, faults;
static const char *volatile faulty; /* the last of them */
static char *forbidden;             /* a page that nobody may touch, given as operand */
#define FORBIDDEN_BYTES 4096

static void look_at(const char *name, const void *operand) {
    const char *at = operand;
    if (at == NULL || (forbidden != NULL && at >= forbidden && at < forbidden + FORBIDDEN_BYTES)) {
        faulty = name;
        atomic_fetch_add(&faults, 1);
    }
}

/* What was in the table. */
static ji_guest_t given;

/* HANDED(result type, name, (parameters), (arguments), operands): a function of the CBLAS that
 * looks at its operands. */
#define HANDED(R, name, PARAMETERS, ARGUMENTS, ...)                                                \
    static R handed_##name PARAMETERS {                                                            \
        const void *operands[] = {__VA_ARGS__};                                                    \
        atomic_fetch_add(&calls, 1);                                                               \
        for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++)                          \
            look_at("cblas_" #name, operands[i]);                                                  \
        return given.name ARGUMENTS;                                                               \
    }

/* One line for each shape, used for s d c z with the type in which a scalar is passed. */
#define VECTOR const void *x, blas_int_t incx
#define OUT_VECTOR void *x, blas_int_t incx
#define MATRIX(a) const void *a, blas_int_t ld##a
#define OUT(a) void *a, blas_int_t ld##a
#define AXPY(t, S)                                                                                 \
    HANDED(void, t##axpy, (blas_int_t n, S alpha, VECTOR, void *y, blas_int_t incy),               \
           (n, alpha, x, incx, y, incy), x, y)
#define COPY(t, S)                                                                                 \
    HANDED(void, t##copy, (blas_int_t n, VECTOR, void *y, blas_int_t incy), (n, x, incx, y, incy), \
           x, y)
#define SWAP(t, S)                                                                                 \
    HANDED(void, t##swap, (blas_int_t n, void *x, blas_int_t incx, void *y, blas_int_t incy),      \
           (n, x, incx, y, incy), x, y)
#define SCAL(t, S)                                                                                 \
    HANDED(void, t##scal, (blas_int_t n, S alpha, OUT_VECTOR), (n, alpha, x, incx), x)
#define GEMV(t, S)                                                                                 \
    HANDED(void, t##gemv,                                                                          \
           (int order, int trans, blas_int_t m, blas_int_t n, S alpha, MATRIX(a), VECTOR, S beta,  \
            void *y, blas_int_t incy),                                                             \
           (order, trans, m, n, alpha, a, lda, x, incx, beta, y, incy), a, x, y)
#define GER(name, S)                                                                               \
    HANDED(void, name,                                                                             \
           (int order, blas_int_t m, blas_int_t n, S alpha, VECTOR, const void *y,                 \
            blas_int_t incy, OUT(a)),                                                              \
           (order, m, n, alpha, x, incx, y, incy, a, lda), x, y, a)
#define SYMV(name, S)                                                                              \
    HANDED(void, name,                                                                             \
           (int order, int uplo, blas_int_t n, S alpha, MATRIX(a), VECTOR, S beta, void *y,        \
            blas_int_t incy),                                                                      \
           (order, uplo, n, alpha, a, lda, x, incx, beta, y, incy), a, x, y)
#define SYR(name, S)                                                                               \
    HANDED(void, name, (int order, int uplo, blas_int_t n, S alpha, VECTOR, OUT(a)),               \
           (order, uplo, n, alpha, x, incx, a, lda), x, a)
#define SYR2(name, S)                                                                              \
    HANDED(void, name,                                                                             \
           (int order, int uplo, blas_int_t n, S alpha, VECTOR, const void *y, blas_int_t incy,    \
            OUT(a)),                                                                               \
           (order, uplo, n, alpha, x, incx, y, incy, a, lda), x, y, a)
#define TRMV_(name)                                                                                \
    HANDED(void, name,                                                                             \
           (int order, int uplo, int trans, int diag, blas_int_t n, MATRIX(a), OUT_VECTOR),        \
           (order, uplo, trans, diag, n, a, lda, x, incx), a, x)
#define TRMV(t, S) TRMV_(t##trmv)
#define TRSV(t, S) TRMV_(t##trsv)
#define GEMM(t, S)                                                                                 \
    HANDED(void, t##gemm,                                                                          \
           (int order, int transa, int transb, blas_int_t m, blas_int_t n, blas_int_t k, S alpha,  \
            MATRIX(a), MATRIX(b), S beta, OUT(c)),                                                 \
           (order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), a, b, c)
#define SYMM_(name, S)                                                                             \
    HANDED(void, name,                                                                             \
           (int order, int side, int uplo, blas_int_t m, blas_int_t n, S alpha, MATRIX(a),         \
            MATRIX(b), S beta, OUT(c)),                                                            \
           (order, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc), a, b, c)
#define SYMM(t, S) SYMM_(t##symm, S)
#define SYRK_(name, S, ...)                                                                        \
    HANDED(void, name,                                                                             \
           (int order, int uplo, int trans, blas_int_t n, blas_int_t k, S alpha, MATRIX(a),        \
            S beta, OUT(c)),                                                                       \
           (order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc), a, c, __VA_ARGS__)
#define SYRK(t, S) SYRK_(t##syrk, S, c)
#define SYR2K_(name, S, R, ...)                                                                    \
    HANDED(void, name,                                                                             \
           (int order, int uplo, int trans, blas_int_t n, blas_int_t k, S alpha, MATRIX(a),        \
            MATRIX(b), R beta, OUT(c)),                                                            \
           (order, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc), a, b, c, __VA_ARGS__)
#define SYR2K(t, S) SYR2K_(t##syr2k, S, S, c)
#define TRMM_(name, S)                                                                             \
    HANDED(void, name,                                                                             \
           (int order, int side, int uplo, int trans, int diag, blas_int_t m, blas_int_t n,        \
            S alpha, MATRIX(a), OUT(b)),                                                           \
           (order, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb), a, b)
#define TRMM(t, S) TRMM_(t##trmm, S)
#define TRSM(t, S) TRMM_(t##trsm, S)
#define EACH(SHAPE) SHAPE(s, float) SHAPE(d, double) SHAPE(c, const void *) SHAPE(z, const void *)

/* NULL, an operand that must not be, if an imaginary part of the diagonal is not 0. */
static const void *with_real_diagonal(const float *c, const double *z, blas_int_t n,
                                      blas_int_t ld) {
    for (int64_t i = 0; i < n; i++)
        if (c != NULL ? c[2 * i * (ld + 1) + 1] != 0 : z[2 * i * (ld + 1) + 1] != 0)
            return NULL;
    return c != NULL ? (const void *)c : z;
}

EACH(AXPY)
EACH(COPY)
EACH(SWAP)
EACH(SCAL)
HANDED(void, csscal, (blas_int_t n, float alpha, OUT_VECTOR), (n, alpha, x, incx), x)
HANDED(void, zdscal, (blas_int_t n, double alpha, OUT_VECTOR), (n, alpha, x, incx), x)
EACH(GEMV)
GER(sger, float)
GER(dger, double)
GER(cgeru, const void *)
GER(zgeru, const void *)
GER(cgerc, const void *)
GER(zgerc, const void *)
SYMV(ssymv, float)
SYMV(dsymv, double)
SYMV(chemv, const void *)
SYMV(zhemv, const void *)
SYR(ssyr, float)
SYR(dsyr, double)
SYR(cher, float)
SYR(zher, double)
SYR2(ssyr2, float)
SYR2(dsyr2, double)
SYR2(cher2, const void *)
SYR2(zher2, const void *)
EACH(TRMV)
EACH(TRSV)
EACH(GEMM)
EACH(SYMM)
SYMM_(chemm, const void *)
SYMM_(zhemm, const void *)
EACH(SYRK)
SYRK_(cherk, float, with_real_diagonal(c, NULL, n, ldc))
SYRK_(zherk, double, with_real_diagonal(NULL, c, n, ldc))
EACH(SYR2K)
SYR2K_(cher2k, const void *, float, with_real_diagonal(c, NULL, n, ldc))
SYR2K_(zher2k, const void *, double, with_real_diagonal(NULL, c, n, ldc))
EACH(TRMM)
EACH(TRSM)
#define ASUM(name, R) HANDED(R, name, (blas_int_t n, VECTOR), (n, x, incx), x)
ASUM(sasum, float)
ASUM(dasum, double)
ASUM(scasum, float)
ASUM(dzasum, double)
#define DOT(name, R)                                                                               \
    HANDED(R, name, (blas_int_t n, VECTOR, const void *y, blas_int_t incy), (n, x, incx, y, incy), \
           x, y)
DOT(sdot, float)
DOT(ddot, double)
#define DOT_SUB(name)                                                                              \
    HANDED(void, name, (blas_int_t n, VECTOR, const void *y, blas_int_t incy, void *sum),          \
           (n, x, incx, y, incy, sum), x, y, sum)
DOT_SUB(cdotu_sub)
DOT_SUB(zdotu_sub)
DOT_SUB(cdotc_sub)
DOT_SUB(zdotc_sub)

#define IAMAX(name) HANDED(int, name, (blas_int_t n, VECTOR), (n, x, incx), x)
IAMAX(isamax)
IAMAX(idamax)
IAMAX(icamax)
IAMAX(izamax)

static const ji_guest_t handed = {
#define MEMBER(name, R, TAKES) .name = handed_##name,
    JI_GUEST_FUNCTION_LIST(MEMBER)
#undef MEMBER
};

/* The guest computes, through the functions above; and it is as it was. */
static bool was_guest;

static bool begin_to_look(void) {
    if (ji_guest_load() != JSTATUS_SUCCESS)
        return false;
    (void)jblas_cblas_kernel_at(0); /* what is wrong was mended */
    was_guest = ji_host_primitives[JI_GEMM] == ji_guest_gemm;
    given = ji_guest, ji_guest = handed;
    ji_host_choose(true);
    return true;
}

static void stop_looking(void) {
    ji_guest = given;
    ji_host_choose(was_guest);
}

/* ---- The tests ---- */

static void forget(void) { atomic_store(&calls, 0), atomic_store(&faults, 0), faulty = NULL; }

static void nothing_bad_was_handed(blas_case_t *c) {
    if (atomic_load(&faults) != 0)
        JFAIL("%s: %s was handed an operand that must not be read", blas_describe(c), faulty);
}

static void forbid_page(void) {
    forbidden = mmap(NULL, FORBIDDEN_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    JASSERT_TRUE(forbidden != MAP_FAILED);
}
static void allow_page(void) {
    munmap(forbidden, FORBIDDEN_BYTES);
    forbidden = NULL;
}

/* Puts something in the place of operands that are only read, if at all; of a batch, of its array
 * or of what is in it. */
static void replace_inputs(blas_case_t *c, void *by, bool within) {
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind == BLAS_NONE || o->written || !o->unread)
            continue;
        if (within && c->pointer[which] == (void *)o->pointers)
            for (int item = 0; item < BLAS_MAX_BATCH; ++item)
                o->pointers[item] = by;
        else
            c->pointer[which] = by;
    }
}

/* alpha 0 or k 0, with each kind of beta, in both pointer modes: what is not read is NULL, or a
 * page that faults. */
JTEST_EACH_FUNCTION(JblasHanded, WhatBlasDoesNotReadReachesNoCblas) {
    jhandle_t *handle = NULL;
    if (!begin_to_look())
        JSKIP("there is no CBLAS");
    JASSERT_OK(jhandle_create(NULL, &handle));
    forbid_page();
    for (int i = 0; i < 48 && !jtest_has_failure(); ++i) {
        const bool no_depth = i % 2, device = i / 12 % 2;
        BLAS_CASE(c, param, .low = 1, .high = i < 24 ? 9 : 70, .alpha_zero = !no_depth,
                  .beta_zero = i % 3 == 1, .beta_one = i % 3 == 2, .no_depth = no_depth);
        /* What alpha will be in device memory nobody knows, so NULL is refused, and trsm packs A
         * before it is asked. */
        const bool null_is_taken =
            !device || (no_depth && blas_has(c, 'k') && !c->operand[0].is_band);
        if (!device || strcmp(param->routine->name, "trsm") != 0)
            replace_inputs(c, null_is_taken && i / 6 % 2 ? NULL : forbidden,
                           i % 4 < 2 || device); /* then the arrays themselves are read */
        JEXPECT_OK(
            jhandle_set_pointer_mode(handle, device ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST));
        forget();
        JEXPECT_OK(blas_call(handle, c));
        nothing_bad_was_handed(c);
        blas_right(c);
    }
    allow_page();
    JEXPECT_OK(jhandle_destroy(handle));
    stop_looking();
}

/* With nothing to do the CBLAS is not called at all. */
JTEST_EACH_FUNCTION(JblasHanded, NothingToDoCallsNoCblas) {
    jhandle_t *handle = NULL;
    if (!begin_to_look())
        JSKIP("there is no CBLAS");
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (const char *letter = "mnb"; *letter && !jtest_has_failure(); ++letter) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        if (!blas_has(c, *letter))
            continue;
        *(*letter == 'm' ? &c->m : *letter == 'n' ? &c->n : &c->batch_count) = 0;
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            if (c->operand[which].kind != BLAS_RESULT)
                c->pointer[which] = NULL;
        forget();
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_EQ(atomic_load(&calls), 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    stop_looking();
}

/* Calls with everything to do, through every algorithm: no NULL on the way, no imaginary part on
 * herk's diagonal. */
JTEST_EACH_FUNCTION(JblasHanded, WorkHandsNoNull) {
    jhandle_t *handle = NULL;
    if (!begin_to_look())
        JSKIP("there is no CBLAS");
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int i = 0; i < 6 && !jtest_has_failure(); ++i) {
        BLAS_CASE(c, param, .low = i < 4 ? 1 : 60, .high = i < 4 ? 20 : 150, .plain = true);
        forget();
        JEXPECT_OK(blas_call(handle, c));
        nothing_bad_was_handed(c);
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    stop_looking();
}

/* The functions above stand between jblas and its CBLAS. */
JTEST(JblasHanded, TheseFunctionsAreCalled) {
    const double one = 1, a[4] = {1, 2, 3, 4};
    double b[4] = {1, 1, 1, 1};
    jhandle_t *handle = NULL;
    if (!begin_to_look())
        JSKIP("there is no CBLAS");
    JASSERT_OK(jhandle_create(NULL, &handle));
    forget();
    JEXPECT_OK(jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_UPPER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, 2,
                           2, &one, a, 2, b, 2));
    JEXPECT_EQ(atomic_load(&calls), 1);
    JEXPECT_OK(jhandle_destroy(handle));
    stop_looking();
}
