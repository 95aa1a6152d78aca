/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha A x + beta y with a band A that is symmetric, or Hermitian for complex types. */

#include "blas/routine/entry.h"

JI_CALL sbmv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(sbmv)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(sbmv)
    JI_CHECK_OPERANDS(sbmv)
    return ji_run(handle, JI_SBMV, args);
}

JI_CALL hbmv_call(jhandle_t *handle, void *block) { return sbmv_call(handle, block); }

JI_ENTRIES(sbmv, matvec)
JI_ENTRIES(hbmv, matvec)
