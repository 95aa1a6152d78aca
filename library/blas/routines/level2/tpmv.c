/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = op(A) x with a packed triangle, and the solution of op(A) x = b by substitution. */

#include "blas/routine/entry.h"

JI_CALL tpmv_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(tpmv)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(tpmv)
    return ji_run(handle, primitive, args);
}

JI_CALL tpmv_call(jhandle_t *handle, void *block) { return tpmv_any(handle, block, JI_TPMV); }
JI_CALL tpsv_call(jhandle_t *handle, void *block) { return tpmv_any(handle, block, JI_TPSV); }

JI_ENTRIES(tpmv, matvec)
JI_ENTRIES(tpsv, matvec)
