/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves A X = B: getrf and getrs as one function of the host, since info, which the first finds,
 * decides about the second. They run one after the other, so one workspace serves both. */

#include "lapack/lapack.h"

JI_LAPACK_BATCHED_WITH_INFO(gesv, args->n == 0, NULL)
JI_LAPACK_VALUED(gesv, args->n != 0)
