/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How it is done is in host/geqp3.c. A matrix without rows still has columns, and an order of
 * them. */

#include "lapack/lapack.h"

#define GEQP3_MOST (INT64_MAX / 1024) /* columns, of which each has room of its own */

JI_LAPACK_WAYS(geqp3, matmat, NULL)

JI_CALL geqp3_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_LAPACK_ON_HOST()
    JI_CHECK_SIZES(geqp3)
    JI_CHECK(args->n <= GEQP3_MOST, JSTATUS_INVALID_SIZE, "n", args->n, "must be at most %lld",
             GEQP3_MOST)
    JI_CHECK_WIDTH(geqp3, args->m > 0 && args->n > 0)
    if (ji_is_query(handle))
        return ji_answer(handle, args, args->m == 0 || args->n == 0 ? NULL : geqp3_plan);
    if (args->n == 0)
        return JSTATUS_SUCCESS;
    if (args->m == 0) {
        JI_CHECK_POINTER(jpvt)
        return ji_enqueue_host(handle, ji_host_geqp3_order, args, sizeof *args);
    }
    JI_CHECK_OPERANDS(geqp3)
    return ji_run_plan(handle, args, geqp3_plan, geqp3_run);
}
JI_ENTRIES_PLAIN(geqp3, matmat)
