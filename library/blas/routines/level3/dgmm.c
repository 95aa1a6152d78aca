/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = diag(x) A or A diag(x). */

#include "blas/routine/entry.h"

JI_CALL dgmm_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(dgmm)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(dgmm)
    return ji_run(handle, JI_DGMM, args);
}

JI_ENTRIES(dgmm, matmat)
