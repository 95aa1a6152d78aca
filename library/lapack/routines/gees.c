/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gees, by a LAPACK: real types have their values in two arrays. */

#include "lapack/guest/guest.h"

static ji_work_t gees_least(const ji_driver_t *args) {
    return (ji_work_t){ji_max(1, 3 * args->n), 0, 0};
}
JI_GUEST_ROUTINE(gees, args->n == 0)

static ji_work_t gees_complex_least(const ji_driver_t *args) {
    return (ji_work_t){ji_max(1, 2 * args->n), ji_max(1, args->n), 0};
}
JI_GUEST_ROUTINE(gees_complex, args->n == 0)
