/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* ormqr and unmqr. How it is done is in host/qr_q.c. */

#include "lapack/lapack.h"

JI_LAPACK_PRODUCT_BY_Q(ormqr)
