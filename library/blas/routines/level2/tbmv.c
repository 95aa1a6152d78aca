/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* x = op(A) x with a triangular band, and the solution of op(A) x = b by substitution. */

#include "blas/routine/entry.h"

JI_CALL tbmv_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(tbmv)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(tbmv)
    return ji_run(handle, primitive, args);
}

JI_CALL tbmv_call(jhandle_t *handle, void *block) { return tbmv_any(handle, block, JI_TBMV); }
JI_CALL tbsv_call(jhandle_t *handle, void *block) { return tbmv_any(handle, block, JI_TBSV); }

JI_ENTRIES(tbmv, matvec)
JI_ENTRIES(tbsv, matvec)
