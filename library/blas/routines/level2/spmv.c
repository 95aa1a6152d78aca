/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha A x + beta y with A symmetric, or Hermitian for complex types, one packed triangle. */

#include "blas/routine/entry.h"

JI_CALL spmv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(spmv)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(spmv)
    JI_CHECK_OPERANDS(spmv)
    return ji_run(handle, JI_SPMV, args);
}

JI_CALL hpmv_call(jhandle_t *handle, void *block) { return spmv_call(handle, block); }

JI_ENTRIES(spmv, matvec)
JI_ENTRIES(hpmv, matvec)
