/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* orgqr and ungqr. How it is done is in host/qr.c. */

#include "lapack/lapack.h"

#define ORGQR_CHECKS                                                                               \
    JI_CHECK(args->n <= args->m, JSTATUS_INVALID_SIZE, "n", args->n, "must be at most %lld",       \
             args->m)                                                                              \
    JI_CHECK(args->k <= args->n, JSTATUS_INVALID_SIZE, "k", args->k, "must be at most %lld",       \
             args->n)
JI_LAPACK_ROUTINE_CHECKED(orgqr, args->n == 0, ORGQR_CHECKS)
JI_LAPACK_VALUED(orgqr, args->n != 0)
