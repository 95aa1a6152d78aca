/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_PRODUCT_H
#define JALLOC_BLAS_GUEST_PRODUCT_H

/* The host's product, inline: gemm's typed names know the type and have the arguments in registers,
 * so for a small one that runs in the calling thread there is nothing between their checks and the
 * CBLAS. */

#include "blas/guest/cblas.h"

/* One product that the CBLAS's integers hold. */
static inline __attribute__((always_inline)) void ji_guest_product(const ji_matmat_t *args) {
    jdatatype_t type = args->head.type;
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);
#define CALL(t, value)                                                                             \
    ji_guest.t##gemm(GUEST_COLUMN_MAJOR, guest_operation(type, args->transa),                      \
                     guest_operation(type, args->transb), (guest_int_t)args->m,                    \
                     (guest_int_t)args->n, (guest_int_t)args->k, value(alpha), args->a,            \
                     (guest_int_t)args->lda, args->b, (guest_int_t)args->ldb, value(beta),         \
                     args->c, (guest_int_t)args->ldc)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

/* What is no product of the CBLAS's: k or alpha is 0, or its integers do not hold the sizes. */
void ji_guest_gemm_unusual(const ji_matmat_t *args) __attribute__((cold));

static inline __attribute__((always_inline)) void ji_guest_gemm_inline(const ji_matmat_t *args) {
    /* OpenBLAS's kernels for small products on AVX-512 (0.3.21) multiply by a zero alpha all the
     * same, so a NaN in A would reach C, and a NULL would be read. Sizes are not negative, so their
     * bitwise or is above 2^k - 1 exactly if one of them is. */
    if (JI_LIKELY(args->k != 0 && !host_is_zero(args->head.type, &args->alpha) &&
                  (args->m | args->n | args->k | args->lda | args->ldb | args->ldc) <=
                      ji_blas_int_max))
        ji_guest_product(args);
    else
        ji_guest_gemm_unusual(args);
}

#endif
