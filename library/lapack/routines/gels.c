/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/gels.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH_INFO(gels, ji_max(args->m, args->n) == 0 || args->nrhs == 0)
JI_LAPACK_VALUED(gels, ji_max(args->m, args->n) != 0 && args->nrhs != 0)
