/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = op(A) x with A triangular, and its inverse: the solution of op(A) x = b by substitution. */

#include "blas/routine/entry.h"

JI_CALL trmv_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(trmv)
    JI_CHECK_WIDTH(trmv, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(trmv)
    return ji_run(handle, primitive, args);
}

JI_CALL trmv_call(jhandle_t *handle, void *block) { return trmv_any(handle, block, JI_TRMV); }
JI_CALL trsv_call(jhandle_t *handle, void *block) { return trmv_any(handle, block, JI_TRSV); }

JI_ENTRIES(trmv, matvec)
JI_ENTRIES(trsv, matvec)
