/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The rows of the routines that a LAPACK computes, as data. */

#include "lapack/guest/guest.h"

#include "blas/routine/row_data.h"

#define ENUM_VECTORS JI_ARGUMENT_LETTER
#define ENUM_PARTS JI_ARGUMENT_LETTER
#define ENUM_RANGE JI_ARGUMENT_LETTER
#define BLOCK_driver ji_driver_t

JI_LAPACK_GUEST_ROUTINE_LIST(ROW_OF_PLAIN)
