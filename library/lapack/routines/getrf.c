/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/lu.c. */

#include "lapack/lapack.h"

JI_LAPACK_BATCHED_WITH_INFO(getrf, args->m == 0 || args->n == 0, ji_host_getrf_items)
JI_LAPACK_VALUED(getrf, args->m != 0 && args->n != 0)
