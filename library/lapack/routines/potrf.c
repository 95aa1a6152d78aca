/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of potrf; how it is done is in blas/algorithms/potrf.c. */

#include "blas/algorithms/algorithm.h"
#include "lapack/lapack.h"

JI_LAPACK_CALL_BY(potrf, matmat, JI_LAPACK_EVERYWHERE, ji_potrf_plan, ji_potrf_run, JI_TAKE_SCALARS,
                  args->n == 0, ji_run(handle, JI_SET_INFO, args)) /* info is 0 then, too */

JI_ENTRIES(potrf, matmat)
JI_VALUED(potrf, matmat)
JI_VALUED_BYTES(potrf, matmat, args->n != 0)
