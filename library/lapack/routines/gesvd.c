/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gesvd, by a LAPACK. */

#include "lapack/guest/guest.h"

static ji_work_t gesvd_least(const ji_driver_t *args) {
    const int64_t most = ji_max(args->m, args->n), least = ji_min(args->m, args->n);
    return ji_is_complex(args->head.type)
               ? (ji_work_t){ji_max(1, 2 * least + most), ji_max(1, 5 * least), 0}
               : (ji_work_t){ji_max(1, ji_max(3 * least + most, 5 * least)), 0, 0};
}
JI_GUEST_ROUTINE_CHECKED(gesvd, args->m == 0 || args->n == 0, JI_LAPACK_GESVD_CHECKS)
