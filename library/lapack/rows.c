/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The rows of jlapack as data. */

#include "lapack/lapack.h"

#include "blas/routine/row_data.h"

#define BLOCK_4 ji_refine_t

JI_LAPACK_PLAIN_LIST(ROW_OF_PLAIN)
JI_LAPACK_BATCHED_LIST(ROW_OF_FORMS)
JI_LAPACK_BATCHED_LIST(EXTENTS)
