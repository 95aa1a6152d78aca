/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gtsv, by a LAPACK. */

#include "lapack/guest/guest.h"

/* One equation has nothing beside its diagonal, where NULL will do, then. */
JI_GUEST_SOLVER_CHECKED(gtsv, args->n == 0 || args->nrhs == 0,
                        if (args->n == 1) args->dl = args->du = args->d;)
