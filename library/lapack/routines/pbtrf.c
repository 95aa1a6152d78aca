/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* pbtrf, by a LAPACK. */

#include "lapack/guest/guest.h"

JI_GUEST_SOLVER(pbtrf, args->n == 0)
