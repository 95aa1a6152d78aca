/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/symmetric_solve.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE(sytrs, args->n == 0 || args->nrhs == 0)
