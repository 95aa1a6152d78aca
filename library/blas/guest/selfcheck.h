/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_SELFCHECK_H
#define JALLOC_BLAS_GUEST_SELFCHECK_H

/* Whether the kernels of the CBLAS are right on this processor. */

#include <stddef.h>

#include "jalloc/jblas.h"

/* X(function, shape, R, type): the functions that are checked, the type of what each returns, and
 * that of the elements. Those come first that stand in for others. */
#define JI_GUEST_CHECKED_LIST(X)                                                                   \
    X(sasum, ASUM, float, JDATATYPE_F32)                                                           \
    X(dasum, ASUM, double, JDATATYPE_F64)                                                          \
    X(scasum, ASUM, float, JDATATYPE_F32_C)                                                        \
    X(dzasum, ASUM, double, JDATATYPE_F64_C)                                                       \
    X(sdot, DOT, float, JDATATYPE_F32)                                                             \
    X(ddot, DOT, double, JDATATYPE_F64)                                                            \
    X(cdotu_sub, DOTU, void, JDATATYPE_F32_C)                                                      \
    X(zdotu_sub, DOTU, void, JDATATYPE_F64_C)                                                      \
    X(cdotc_sub, DOTC, void, JDATATYPE_F32_C)                                                      \
    X(zdotc_sub, DOTC, void, JDATATYPE_F64_C)                                                      \
    X(isamax, IAMAX, int, JDATATYPE_F32)                                                           \
    X(idamax, IAMAX, int, JDATATYPE_F64)                                                           \
    X(icamax, IAMAX, int, JDATATYPE_F32_C)                                                         \
    X(izamax, IAMAX, int, JDATATYPE_F64_C)

/* Compares what the table holds now, and mends it. For one thread, while no primitive runs. */
void ji_selfcheck(void);
/* What the last check found; NULL beyond the last kernel. */
const jblas_cblas_kernel_t *ji_selfcheck_kernel(size_t index);

#endif
