/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of ormlq and unmlq; how it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(ormlq)

JI_CALL ormlq_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(ormlq)
    JI_CHECK(args->k <= JI_ROWS_SIDED(m, n), JSTATUS_INVALID_SIZE, "k", args->k,
             "must be at most %lld", JI_ROWS_SIDED(m, n))

    const bool empty = args->m == 0 || args->n == 0 || args->k == 0;
    JI_CHECK_WIDTH(ormlq, !empty)

    if (ji_is_query(handle))
        return ji_answer(handle, args, empty ? NULL : ormlq_plan);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(ormlq)
    return ji_run_plan(handle, args, ormlq_plan, ormlq_run);
}

JI_ENTRIES_PLAIN(ormlq, matmat)
