/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_SETUP_H
#define JALLOC_BLAS_ROUTINE_SETUP_H

/* What the host's first call decides for all others: who computes, and by which instructions. */

#include <stdatomic.h>
#include <stdbool.h>

#include "core/core.h"
#include "jalloc/status.h"

/* False until the host was set up. Who reads true sees the table, the kernels, and what a check of
 * the CBLAS has mended. */
extern _Atomic(bool) ji_host_ready;

/* Sets the host up; once that was done, nothing. A failure is not kept: the next call tries again.
 * @return success; invalid configuration; not found (no CBLAS). */
JI_SHARED jstatus_t ji_host_set_up(void);

/* Before the first call: jblas's own kernels compute whatever JALLOC_HOST_BLAS says, the best where
 * those of JALLOC_HOST_ISA cannot. For a library that is a CBLAS itself. */
extern bool ji_host_own_alone;

/* ---- Its parts (primitives.c), for set-up and tests, while no primitive runs ---- */

/* Fills the table with the guest's functions wherever it has one, or with jblas's own. */
void ji_host_choose(bool guest);
/* Whether a function of the guest is in the table. */
JI_SHARED bool ji_host_has_guest(void);

#endif
