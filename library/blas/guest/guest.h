/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_GUEST_H
#define JALLOC_BLAS_GUEST_GUEST_H

/* The CBLAS as a guest: the kernels that some version of some CBLAS has wrong are called through a
 * table of pointers. The self-check of the first call (selfcheck.c) replaces one that fails it by a
 * loop of our own, so a primitive need not know. */

#include <cblas.h>

#include "blas/blas.h"

/* What iamax returns: CBLAS_INDEX of Netlib's cblas.h, which not every cblas.h has. */
typedef __typeof__(cblas_isamax(0, NULL, 0)) ji_index_t;

/* X(function, shape, X, R, type): cblas_<function>, its arguments, the types of x and of what it
 * returns as Netlib's cblas.h declares them, and the elements' type. Those come first that stand in
 * for others. */
#define JI_GUEST_LIST(X)                                                                           \
    X(sasum, ASUM, float, float, JDATATYPE_F32)                                                    \
    X(dasum, ASUM, double, double, JDATATYPE_F64)                                                  \
    X(scasum, ASUM, void, float, JDATATYPE_F32_C)                                                  \
    X(dzasum, ASUM, void, double, JDATATYPE_F64_C)                                                 \
    X(sdot, DOT, float, float, JDATATYPE_F32)                                                      \
    X(ddot, DOT, double, double, JDATATYPE_F64)                                                    \
    X(cdotu_sub, DOTU, void, void, JDATATYPE_F32_C)                                                \
    X(zdotu_sub, DOTU, void, void, JDATATYPE_F64_C)                                                \
    X(cdotc_sub, DOTC, void, void, JDATATYPE_F32_C)                                                \
    X(zdotc_sub, DOTC, void, void, JDATATYPE_F64_C)                                                \
    X(isamax, IAMAX, float, ji_index_t, JDATATYPE_F32)                                             \
    X(idamax, IAMAX, double, ji_index_t, JDATATYPE_F64)                                            \
    X(icamax, IAMAX, void, ji_index_t, JDATATYPE_F32_C)                                            \
    X(izamax, IAMAX, void, ji_index_t, JDATATYPE_F64_C)

typedef struct ji_guest {
#define JI_GUEST_MEMBER_(function, shape, X, R, type) __typeof__(&cblas_##function) function;
    JI_GUEST_LIST(JI_GUEST_MEMBER_)
#undef JI_GUEST_MEMBER_
} ji_guest_t;

/* Written by the self-check alone, before any primitive runs. */
extern ji_guest_t ji_guest;
extern const ji_guest_t ji_guest_given; /* as the loader gave it; tests go back to it */

#endif
