/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_SELFCHECK_H
#define JALLOC_BLAS_GUEST_SELFCHECK_H

/* Whether the kernels of guest.h are right on this processor. */

#include <stddef.h>

#include "jalloc/jblas.h"

/* Compares what the table holds now, and mends it. For one thread, while no primitive runs. */
void ji_selfcheck(void);
/* The same, for the first of any number of threads that call it; the others wait. */
void ji_selfcheck_once(void);
/* What the last check found; NULL beyond the last kernel. */
const jblas_cblas_kernel_t *ji_selfcheck_kernel(size_t index);

#endif
