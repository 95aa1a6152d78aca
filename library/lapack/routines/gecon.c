/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/condition.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH_RESULT(gecon, args->n == 0)
