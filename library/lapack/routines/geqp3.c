/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/geqp3.c. */

#include "lapack/lapack.h"

#define GEQP3_MOST (INT64_MAX / 1024) /* columns, of which each has room of its own */
JI_LAPACK_ROUTINE_CHECKED(geqp3, args->m == 0 || args->n == 0,
                          JI_CHECK(args->n <= GEQP3_MOST, JSTATUS_INVALID_SIZE, "n", args->n,
                                   "must be at most %lld", GEQP3_MOST))
