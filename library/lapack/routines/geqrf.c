/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_LAPACK_BATCHED(geqrf, args->m == 0 || args->n == 0)
JI_LAPACK_VALUED(geqrf, args->m != 0 && args->n != 0)
