/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* syevd and heevd, by a LAPACK. */

#include "lapack/guest/guest.h"

static ji_work_t syevd_least(const ji_driver_t *args) { return ji_divided_least(args); }
JI_GUEST_ROUTINE(syevd, args->n == 0)
JI_GUEST_VALUED(syevd)
