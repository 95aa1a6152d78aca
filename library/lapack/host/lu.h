/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_LU_H
#define JALLOC_LAPACK_HOST_LU_H

#include <stdint.h>

/* Columns that LU cuts into panels, at most; more are halved first. Tests change it. */
extern int64_t ji_lu_panels;

#endif
