/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x y^T + alpha y x^T + A on one triangle; for complex types
 * A = alpha x y^H + conj(alpha) y x^H + A. */

#include "blas/routine/entry.h"

JI_CALL syr2_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(syr2)
    JI_CHECK_WIDTH(syr2, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(syr2)
    JI_CHECK_OPERANDS(syr2)
    return ji_run(handle, JI_SYR2, args);
}

JI_CALL her2_call(jhandle_t *handle, void *block) { return syr2_call(handle, block); }

JI_ENTRIES(syr2, matvec)
JI_ENTRIES(her2, matvec)
