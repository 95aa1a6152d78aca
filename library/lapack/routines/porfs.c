/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/refine.c. Errors are results, one of each right-hand side. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH(porfs, refine, JI_LAPACK_TAKE_ERRORS, args->n == 0 || args->nrhs == 0,
                       ji_enqueue_host(handle, ji_host_porfs, args, sizeof *args))
