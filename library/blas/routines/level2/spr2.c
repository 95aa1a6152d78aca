/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x y^T + alpha y x^T + A on one packed triangle; for complex types
 * alpha x y^H + conj(alpha) y x^H. */

#include "blas/routine/entry.h"

JI_CALL spr2_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(spr2)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(spr2)
    JI_CHECK_OPERANDS(spr2)
    return ji_run(handle, JI_SPR2, args);
}

JI_CALL hpr2_call(jhandle_t *handle, void *block) { return spr2_call(handle, block); }

JI_ENTRIES(spr2, matvec)
JI_ENTRIES(hpr2, matvec)
