/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gelsd, by a LAPACK. What it documents of wide matrices its bidiagonalization does not take where
 * m is small: 3 min(m, n) + max(m, n) is least there, too. Without a column in B there is nothing
 * to do, though the singular values could be had: LAPACK's dlalsd refuses that, and xerbla may end
 * the program. SMLSIZ is LAPACK's own, of ilaenv. */

#include "lapack/guest/guest.h"

#define GELSD_SMLSIZ 25

/* How often a problem is divided. */
static int64_t gelsd_levels(int64_t k) {
    int64_t levels = 1;
    for (int64_t size = k / (GELSD_SMLSIZ + 1); size > 1; size /= 2)
        levels++;
    return levels;
}

static ji_work_t gelsd_least(const ji_driver_t *args) {
    const int64_t most = ji_max(args->m, args->n), k = ji_min(args->m, args->n), nrhs = args->nrhs,
                  levels = gelsd_levels(k), square = (GELSD_SMLSIZ + 1) * (GELSD_SMLSIZ + 1),
                  tree = 2 * k * GELSD_SMLSIZ + 8 * k * levels;
    ji_work_t least = {0, 0, ji_max(1, 3 * k * levels + 11 * k)};

    if (ji_is_complex(args->head.type)) {
        least.work = 2 * k + ji_max(k * nrhs, ji_max(most, nrhs));
        least.rwork =
            10 * k + tree + 3 * GELSD_SMLSIZ * nrhs + ji_max(square, k * (1 + nrhs) + 2 * nrhs);
    } else {
        least.work = ji_max(12 * k + tree + k * nrhs + square, 3 * k + ji_max(most, nrhs));
    }
    least.work = ji_max(1, least.work);
    return least;
}
JI_GUEST_ROUTINE(gelsd, args->m == 0 || args->n == 0 || args->nrhs == 0)
