/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_GUEST_H
#define JALLOC_BLAS_GUEST_GUEST_H

/* The CBLAS as a guest: a table of its functions, filled when it is loaded (load.c), through which
 * alone it is called. Nothing is linked with it and no cblas.h is included: names, arguments and
 * numbers are those of the C interface to the BLAS (BLAS Technical Forum Standard, 2001, annex B),
 * which all have in common.
 *
 * The self-check (selfcheck.c) replaces a function that fails it by a loop of our own, so a
 * primitive need not know. */

#include <stdint.h>

#include "blas/blas.h"

/* An integer as it is passed: as wide as a register, for CBLASes of 32-bit and of 64-bit integers
 * alike. Each argument takes a register or a slot of that width on the stack, of which a function
 * that has an int for it looks at the low half (System V ABI, AMD64 3.2.3; AAPCS64 6.8.2; those
 * that want it extended by its sign, as RISC-V's, have that, too). What does not fit is kept back
 * (ji_blas_int_max). An enumeration is an int in both. */
typedef intptr_t guest_int_t;

enum { GUEST_COLUMN_MAJOR = 102 }; /* the order; the other enumerations are jblas's own */

/* ---- The functions: what they take ---- */

/* S is the type in which a scalar is passed: real ones by value, complex ones by address. */
#define JI_GUEST_IN_ const void *, guest_int_t /* a vector or a matrix, and its step */
#define JI_GUEST_OUT_ void *, guest_int_t
#define JI_GUEST_COPY(S) (guest_int_t, JI_GUEST_IN_, JI_GUEST_OUT_)
#define JI_GUEST_SWAP(S) (guest_int_t, JI_GUEST_OUT_, JI_GUEST_OUT_)
#define JI_GUEST_AXPY(S) (guest_int_t, S, JI_GUEST_IN_, JI_GUEST_OUT_)
#define JI_GUEST_SCAL(S) (guest_int_t, S, JI_GUEST_OUT_)
#define JI_GUEST_ONE (guest_int_t, JI_GUEST_IN_) /* asum, iamax */
#define JI_GUEST_DOT (guest_int_t, JI_GUEST_IN_, JI_GUEST_IN_)
#define JI_GUEST_DOT_SUB (guest_int_t, JI_GUEST_IN_, JI_GUEST_IN_, void *)

/* The ints are the order, and what follows of side, uplo, trans and diag. */
#define JI_GUEST_GEMV(S)                                                                           \
    (int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, S, JI_GUEST_OUT_)
#define JI_GUEST_GER(S)                                                                            \
    (int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, JI_GUEST_OUT_)
#define JI_GUEST_SYMV(S) (int, int, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, S, JI_GUEST_OUT_)
#define JI_GUEST_SYR(S) (int, int, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_OUT_)
#define JI_GUEST_SYR2(S) (int, int, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, JI_GUEST_OUT_)
#define JI_GUEST_TRMV(S) (int, int, int, int, guest_int_t, JI_GUEST_IN_, JI_GUEST_OUT_)

#define JI_GUEST_GEMM(S)                                                                           \
    (int, int, int, guest_int_t, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, S,       \
     JI_GUEST_OUT_)
#define JI_GUEST_SYMM(S)                                                                           \
    (int, int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, S, JI_GUEST_OUT_)
#define JI_GUEST_SYRK(S)                                                                           \
    (int, int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, S, JI_GUEST_OUT_)
#define JI_GUEST_SYR2K(S) JI_GUEST_HER2K(S, S)
#define JI_GUEST_HER2K(S, R)                                                                       \
    (int, int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_IN_, R, JI_GUEST_OUT_)
#define JI_GUEST_TRMM(S)                                                                           \
    (int, int, int, int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, JI_GUEST_OUT_)

/* ---- The functions: which there are ---- */

#define JI_GUEST_REAL_(X, name, TAKES)                                                             \
    X(s##name, void, TAKES(float)) X(d##name, void, TAKES(double))
#define JI_GUEST_COMPLEX_(X, name, TAKES)                                                          \
    X(c##name, void, TAKES(const void *)) X(z##name, void, TAKES(const void *))
#define JI_GUEST_HERMITIAN_(X, name, TAKES) /* whose scalars are real */                           \
    X(c##name, void, TAKES(float)) X(z##name, void, TAKES(double))
#define JI_GUEST_EACH_(X, name, TAKES)                                                             \
    JI_GUEST_REAL_(X, name, TAKES) JI_GUEST_COMPLEX_(X, name, TAKES)

/* X(name, type of the result, (types of the arguments)): cblas_<name>. What iamax returns is a
 * size_t in some and an int in others: no more than the low half is looked at, of calls for few
 * elements. */
#define JI_GUEST_FUNCTION_LIST(X)                                                                  \
    JI_GUEST_EACH_(X, copy, JI_GUEST_COPY)                                                         \
    JI_GUEST_EACH_(X, swap, JI_GUEST_SWAP)                                                         \
    JI_GUEST_EACH_(X, axpy, JI_GUEST_AXPY)                                                         \
    JI_GUEST_EACH_(X, scal, JI_GUEST_SCAL)                                                         \
    X(csscal, void, JI_GUEST_SCAL(float))                                                          \
    X(zdscal, void, JI_GUEST_SCAL(double))                                                         \
    X(sasum, float, JI_GUEST_ONE)                                                                  \
    X(dasum, double, JI_GUEST_ONE)                                                                 \
    X(scasum, float, JI_GUEST_ONE)                                                                 \
    X(dzasum, double, JI_GUEST_ONE)                                                                \
    X(isamax, int, JI_GUEST_ONE)                                                                   \
    X(idamax, int, JI_GUEST_ONE)                                                                   \
    X(icamax, int, JI_GUEST_ONE)                                                                   \
    X(izamax, int, JI_GUEST_ONE)                                                                   \
    X(sdot, float, JI_GUEST_DOT)                                                                   \
    X(ddot, double, JI_GUEST_DOT)                                                                  \
    X(cdotu_sub, void, JI_GUEST_DOT_SUB)                                                           \
    X(zdotu_sub, void, JI_GUEST_DOT_SUB)                                                           \
    X(cdotc_sub, void, JI_GUEST_DOT_SUB)                                                           \
    X(zdotc_sub, void, JI_GUEST_DOT_SUB)                                                           \
    JI_GUEST_EACH_(X, gemv, JI_GUEST_GEMV)                                                         \
    JI_GUEST_REAL_(X, ger, JI_GUEST_GER)                                                           \
    JI_GUEST_COMPLEX_(X, geru, JI_GUEST_GER)                                                       \
    JI_GUEST_COMPLEX_(X, gerc, JI_GUEST_GER)                                                       \
    JI_GUEST_REAL_(X, symv, JI_GUEST_SYMV)                                                         \
    JI_GUEST_COMPLEX_(X, hemv, JI_GUEST_SYMV)                                                      \
    JI_GUEST_REAL_(X, syr, JI_GUEST_SYR)                                                           \
    JI_GUEST_HERMITIAN_(X, her, JI_GUEST_SYR)                                                      \
    JI_GUEST_REAL_(X, syr2, JI_GUEST_SYR2)                                                         \
    JI_GUEST_COMPLEX_(X, her2, JI_GUEST_SYR2)                                                      \
    JI_GUEST_EACH_(X, trmv, JI_GUEST_TRMV)                                                         \
    JI_GUEST_EACH_(X, trsv, JI_GUEST_TRMV)                                                         \
    JI_GUEST_EACH_(X, gemm, JI_GUEST_GEMM)                                                         \
    JI_GUEST_EACH_(X, symm, JI_GUEST_SYMM)                                                         \
    JI_GUEST_COMPLEX_(X, hemm, JI_GUEST_SYMM)                                                      \
    JI_GUEST_EACH_(X, syrk, JI_GUEST_SYRK)                                                         \
    JI_GUEST_HERMITIAN_(X, herk, JI_GUEST_SYRK)                                                    \
    JI_GUEST_EACH_(X, syr2k, JI_GUEST_SYR2K)                                                       \
    X(cher2k, void, JI_GUEST_HER2K(const void *, float))                                           \
    X(zher2k, void, JI_GUEST_HER2K(const void *, double))                                          \
    JI_GUEST_EACH_(X, trmm, JI_GUEST_TRMM)                                                         \
    JI_GUEST_EACH_(X, trsm, JI_GUEST_TRMM)

typedef struct ji_guest {
#define JI_GUEST_MEMBER_(name, R, TAKES) R(*name) TAKES;
    JI_GUEST_FUNCTION_LIST(JI_GUEST_MEMBER_)
#undef JI_GUEST_MEMBER_
} ji_guest_t;

/* Written by set-up alone, before any primitive runs. */
extern ji_guest_t ji_guest;
extern ji_guest_t ji_guest_given; /* as it was loaded; tests go back to it */

/* ---- Loading ---- */

/* Finds the CBLAS that JALLOC_CBLAS names, or the first of the usual ones, and fills the table; if
 * that was done already, nothing. For one thread at a time.
 * @return success; not found (the message says what was tried); invalid configuration. */
jstatus_t ji_guest_load(void);

/* Of the CBLAS that was loaded: what it says of itself, or its file; the bits of its integers. */
const char *ji_guest_name(void);
int ji_guest_int_bits(void);

/* A symbol of the library, spelt as the CBLAS spells its own ("openblas_get_config" may be
 * "openblas_get_config64_"); NULL: it has none. */
void *ji_guest_symbol(const char *name);

#endif
