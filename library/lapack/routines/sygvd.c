/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* sygvd and hegvd, by a LAPACK. */

#include "lapack/guest/guest.h"

static ji_work_t sygvd_least(const ji_driver_t *args) { return ji_divided_least(args); }
#define SYGVD_CHECKS                                                                               \
    JI_CHECK(args->itype >= 1 && args->itype <= 3, JSTATUS_INVALID_VALUE, "itype", args->itype,    \
             "must be 1, 2 or 3", 0)
JI_GUEST_ROUTINE_CHECKED(sygvd, args->n == 0, SYGVD_CHECKS)
