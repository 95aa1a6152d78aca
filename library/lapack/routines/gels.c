/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/gels.c. */

#include "lapack/lapack.h"

JI_LAPACK_ROUTINE_WITH_INFO(gels, JI_LAPACK_GELS_IS_EMPTY)
JI_LAPACK_VALUED(gels, !JI_LAPACK_GELS_IS_EMPTY)
