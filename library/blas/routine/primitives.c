/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's table of primitives. */

#include "blas/guest/cblas.h"

/* What the CBLAS does so far: a line goes when host/ has the function. */
#define ji_host_gemm ji_guest_gemm
#define ji_host_symm ji_guest_symm
#define ji_host_hemm ji_guest_hemm
#define ji_host_syrk ji_guest_syrk
#define ji_host_syr2k ji_guest_syr2k
#define ji_host_her2k ji_guest_her2k
#define ji_host_herk ji_guest_herk
#define ji_host_trmm ji_guest_trmm
#define ji_host_trsm ji_guest_trsm

const ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT] = {
#define JI_PRIMITIVE_(enumerator, function) [JI_##enumerator] = ji_host_##function,
    JI_HOST_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_
};
