/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's table of primitives. */

#include "blas/guest/cblas.h"

/* What the CBLAS does so far: a line goes when host/ has the function. */
#define ji_host_trsm ji_guest_trsm

const ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT] = {
#define JI_PRIMITIVE_(enumerator, function) [JI_##enumerator] = ji_host_##function,
    JI_HOST_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_
};
