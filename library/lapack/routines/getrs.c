/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/lu.c. */

#include "lapack/lapack.h"

JI_LAPACK_BATCHED(getrs, args->n == 0 || args->nrhs == 0)
JI_LAPACK_VALUED(getrs, args->n != 0 && args->nrhs != 0)
