/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_CBLAS_H
#define JALLOC_BLAS_GUEST_CBLAS_H

/* The guest: the host's primitives by a CBLAS, ji_guest_<function>(block) for each name of
 * JI_GUEST_PRIMITIVE_LIST, which JALLOC_HOST_BLAS=cblas puts into the host's table
 * (routine/setup.c).
 *
 *   library.h library.c                how a library is loaded privately
 *   guest.h load.c                     the functions of the CBLAS, and which one it is
 *   cblas.h                            how they are called
 *   vector.c matvec.c matmat.c         levels 1, 2 and 3
 *   selfcheck.h selfcheck.c            those of its kernels that are checked, and what replaces one
 *                                      that is wrong
 *
 * The CBLAS does the work and is not believed in everything. Which of them is loaded is known at
 * run time alone, so what one version of one of them has wrong is avoided or checked here, with the
 * version's name in a comment, and what they lack is a loop of host/.
 *
 * What always holds: nothing is allocated here; where BLAS says that an operand is not read, no
 * CBLAS sees it (host/scale.h); no integer reaches the CBLAS that its type does not hold: level 1
 * and gemm are cut into parts, for the others the entries have refused the call. */

#include "blas/guest/guest.h"
#include "blas/host/host.h"

/* ---- The guest's primitives ---- */

/* X(ENUMERATOR, function), as primitives/primitive.h has them. */
#define JI_GUEST_PRIMITIVE_LIST(X)                                                                 \
    X(AXPY, axpy)                                                                                  \
    X(COPY, copy)                                                                                  \
    X(SWAP, swap)                                                                                  \
    X(SCAL, scal)                                                                                  \
    X(RSCAL, rscal)                                                                                \
    X(DOT, dot)                                                                                    \
    X(DOTC, dotc)                                                                                  \
    X(ASUM, asum)                                                                                  \
    X(IAMAX, iamax)                                                                                \
    X(GEMV, gemv)                                                                                  \
    X(GER, ger)                                                                                    \
    X(GERC, gerc)                                                                                  \
    X(SYR, syr)                                                                                    \
    X(SYR2, syr2)                                                                                  \
    X(TRMV, trmv)                                                                                  \
    X(TRSV, trsv)                                                                                  \
    X(GEMM, gemm)                                                                                  \
    X(SYMM, symm)                                                                                  \
    X(HEMM, hemm)                                                                                  \
    X(SYRK, syrk)                                                                                  \
    X(SYR2K, syr2k)                                                                                \
    X(HER2K, her2k)                                                                                \
    X(HERK, herk)                                                                                  \
    X(TRMM, trmm)                                                                                  \
    X(TRSM, trsm)
#define JI_GUEST_PRIMITIVE_(enumerator, function) void ji_guest_##function(void *block);
JI_GUEST_PRIMITIVE_LIST(JI_GUEST_PRIMITIVE_)
#undef JI_GUEST_PRIMITIVE_

/* Real numbers are their own conjugates, but not every CBLAS knows. */
static inline int guest_operation(jdatatype_t type, jblas_operation_t operation) {
    if (ji_is_complex(type))
        return operation;
    return ji_is_transposed(operation) ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE;
}

/* Whether that is an operation of the CBLAS: conj(A) is of few of them. */
static inline bool guest_has(jdatatype_t type, jblas_operation_t operation) {
    return operation != JBLAS_CONJUGATE || !ji_is_complex(type);
}

#endif
