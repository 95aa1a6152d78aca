/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* y = alpha A x + beta y with A symmetric, or Hermitian for complex types. */

#include "blas/routine/entry.h"

JI_CALL symv_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(symv)
    JI_CHECK_WIDTH(symv, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(symv)
    JI_CHECK_OPERANDS(symv)
    return ji_run(handle, JI_SYMV, args);
}

JI_CALL hemv_call(jhandle_t *handle, void *block) { return symv_call(handle, block); }

JI_ENTRIES(symv, matvec)
JI_ENTRIES(hemv, matvec)
