/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* orgqr and ungqr. How it is done is in host/qr_q.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_CHECKED(orgqr, args->n == 0, JI_LAPACK_ORGQR_CHECKS)
JI_LAPACK_VALUED(orgqr, args->n != 0)
