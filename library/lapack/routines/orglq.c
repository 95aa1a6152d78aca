/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* orglq and unglq. How it is done is in host/qr_q.c. */

#include "lapack/lapack.h"

#define ORGLQ_CHECKS                                                                               \
    if (args->m >= 0 && args->n >= 0)                                                              \
        JI_CHECK(args->n >= args->m, JSTATUS_INVALID_SIZE, "n", args->n, "must be at least %lld",  \
                 args->m)                                                                          \
    if (args->m >= 0 && args->n >= 0)                                                              \
    JI_CHECK(args->k <= args->m, JSTATUS_INVALID_SIZE, "k", args->k, "must be at most %lld",       \
             args->m)
JI_LAPACK_ROUTINE_CHECKED(orglq, args->m == 0, ORGLQ_CHECKS)
