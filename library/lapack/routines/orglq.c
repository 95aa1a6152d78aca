/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of orglq and unglq; how it is done is in host/qr.c. */

#include "lapack/lapack.h"

JI_LAPACK_WAYS(orglq)

JI_CALL orglq_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_HOST_ALONE()
    JI_CHECK_SIZES(orglq)
    JI_CHECK(args->n >= args->m, JSTATUS_INVALID_SIZE, "n", args->n, "must be at least %lld",
             args->m)
    JI_CHECK(args->k <= args->m, JSTATUS_INVALID_SIZE, "k", args->k, "must be at most %lld",
             args->m)
    JI_CHECK_WIDTH(orglq, args->m > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->m == 0 ? NULL : orglq_plan);
    if (args->m == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(orglq)
    return ji_run_plan(handle, args, orglq_plan, orglq_run);
}

JI_ENTRIES_PLAIN(orglq, matmat)
