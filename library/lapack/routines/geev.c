/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* geev, by a LAPACK: real types have their values in two arrays. */

#include "lapack/guest/guest.h"

static ji_work_t geev_least(const ji_driver_t *args) {
    const bool vectors = args->jobvl == JLAPACK_VECTORS || args->jobvr == JLAPACK_VECTORS;
    return (ji_work_t){ji_max(1, (vectors ? 4 : 3) * args->n), 0, 0};
}
JI_GUEST_ROUTINE(geev, args->n == 0)

static ji_work_t geev_complex_least(const ji_driver_t *args) {
    return (ji_work_t){ji_max(1, 2 * args->n), ji_max(1, 2 * args->n), 0};
}
JI_GUEST_ROUTINE(geev_complex, args->n == 0)
