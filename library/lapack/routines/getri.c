/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/inverse.c. */

#include "lapack/lapack.h"

JI_LAPACK_BATCHED_WITH_INFO(getri, args->n == 0, NULL)
