/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of trtri; how it is done is in blas/algorithms/trtri.c. */

#include "blas/algorithms/algorithm.h"
#include "lapack/lapack.h"

JI_LAPACK_CALL_BY(trtri, matmat, JI_LAPACK_EVERYWHERE, ji_trtri_plan, ji_trtri_run, JI_TAKE_SCALARS,
                  args->n == 0, ji_run(handle, JI_SET_INFO, args)) /* info is 0 then, too */

JI_ENTRIES(trtri, matmat)
