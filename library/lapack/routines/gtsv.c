/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gtsv, by a LAPACK. */

#include "lapack/guest/guest.h"

JI_GUEST_SOLVER(gtsv, args->n == 0 || args->nrhs == 0)
