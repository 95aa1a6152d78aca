/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* syev and heev, by a LAPACK. */

#include "lapack/guest/guest.h"

static ji_work_t syev_least(const ji_driver_t *args) {
    const int64_t n = args->n;
    return ji_is_complex(args->head.type)
               ? (ji_work_t){ji_max(1, 2 * n - 1), ji_max(1, 3 * n - 2), 0}
               : (ji_work_t){ji_max(1, 3 * n - 1), 0, 0};
}
JI_GUEST_ROUTINE(syev, args->n == 0)
