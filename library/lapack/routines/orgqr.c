/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of orgqr and ungqr; how it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(orgqr)

JI_CALL orgqr_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(orgqr)
    JI_CHECK(args->n <= args->m, JSTATUS_INVALID_SIZE, "n", args->n, "must be at most %lld",
             args->m)
    JI_CHECK(args->k <= args->n, JSTATUS_INVALID_SIZE, "k", args->k, "must be at most %lld",
             args->n)
    JI_CHECK_WIDTH(orgqr, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->n == 0 ? NULL : orgqr_plan);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(orgqr)
    return ji_run_plan(handle, args, orgqr_plan, orgqr_run);
}

JI_ENTRIES_PLAIN(orgqr, matmat)
