/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/mixed.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH(dsposv, mixed, JI_TAKE_SCALARS, args->n == 0,
                       ji_enqueue_host(handle, ji_host_dsposv, args, sizeof *args))
