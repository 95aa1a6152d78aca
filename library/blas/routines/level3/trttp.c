/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A triangle is packed, or unpacked. */

#include "blas/routine/entry.h"

JI_CALL trttp_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(trttp)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(trttp)
    return ji_run(handle, JI_TRTTP, args);
}

JI_CALL tpttr_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(tpttr)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_CHECK_OPERANDS(tpttr)
    return ji_run(handle, JI_TPTTR, args);
}

JI_ENTRIES(trttp, matmat)
JI_ENTRIES(tpttr, matmat)
