/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x x^T + A on one triangle; for complex types x x^H with a real alpha. */

#include "blas/routine/entry.h"

/* alpha of syr is real as well: its types are. */
JI_CALL her_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(her)
    JI_CHECK_WIDTH(her, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(her)
    JI_CHECK_OPERANDS(her)
    return ji_run(handle, JI_SYR, args);
}

JI_CALL syr_call(jhandle_t *handle, void *block) { return her_call(handle, block); }

JI_CALL syr_complex_call(jhandle_t *handle, void *block) {
    ji_matvec_t *args = block;
    JI_CHECK_SIZES(syr_complex)
    JI_CHECK_WIDTH(syr_complex, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(syr_complex)
    JI_CHECK_OPERANDS(syr_complex)
    return ji_run(handle, JI_SYR_COMPLEX, args);
}

JI_ENTRIES(syr, matvec)
JI_ENTRIES(her, matvec)
JI_ENTRIES(syr_complex, matvec)
