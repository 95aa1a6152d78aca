/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x x^T + A on one packed triangle; for complex types x x^H with a real alpha. */

#include "blas/routine/entry.h"

/* alpha of spr is real as well: its types are. */
JI_CALL hpr_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(hpr)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(hpr)
    JI_CHECK_OPERANDS(hpr)
    return ji_run(handle, JI_SPR, args);
}

JI_CALL spr_call(jhandle_t *handle, void *block) { return hpr_call(handle, block); }

JI_ENTRIES(spr, matvec)
JI_ENTRIES(hpr, matvec)
