/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The rows of jlapack as data. */

#include "lapack/lapack.h"

#include "blas/routine/row_data.h"

JI_LAPACK_ROUTINE_LIST(ROW_OF_PLAIN)
