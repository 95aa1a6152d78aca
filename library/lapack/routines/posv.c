/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/solve.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH_INFO(posv, args->n == 0)
