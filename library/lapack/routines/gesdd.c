/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gesdd, by a LAPACK. The largest that its versions have asked for. */

#include "lapack/guest/guest.h"

static ji_work_t gesdd_least(const ji_driver_t *args) {
    const int64_t most = ji_max(args->m, args->n), k = ji_min(args->m, args->n), square = k * k;
    const bool complex = ji_is_complex(args->head.type);
    ji_work_t least = {0, complex ? 7 * k : 0, ji_max(1, 8 * k)};

    switch (args->jobz) {
    case JLAPACK_NONE: least.work = complex ? 2 * k + most : 3 * k + ji_max(most, 7 * k); break;
    case JLAPACK_OVERWRITE:
        least.work = complex ? 2 * square + 2 * k + most : 3 * k + ji_max(most, 5 * square + 4 * k);
        break;
    default: least.work = complex ? square + 3 * k + most : 4 * square + 7 * k + most; break;
    }
    if (complex && args->jobz != JLAPACK_NONE)
        least.rwork = ji_max(5 * square + 7 * k, 2 * most * k + 2 * square + k);
    least.work = ji_max(1, least.work);
    least.rwork = complex ? ji_max(1, least.rwork) : 0;
    return least;
}
JI_GUEST_ROUTINE(gesdd, args->m == 0 || args->n == 0)
JI_GUEST_VALUED(gesdd)
