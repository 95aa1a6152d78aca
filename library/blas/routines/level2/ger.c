/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Updates of rank one: A = alpha x y^T + A, or with y conjugated. */

#include "blas/routine/entry.h"

JI_CALL ger_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(ger)
    JI_CHECK_WIDTH(ger, args->m > 0 && args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(ger)
    JI_CHECK_OPERANDS(ger)
    return ji_run(handle, primitive, args);
}

JI_CALL ger_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GER); }
JI_CALL geru_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GER); }
JI_CALL gerc_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GERC); }

JI_ENTRIES(ger, matvec)
JI_ENTRIES(geru, matvec)
JI_ENTRIES(gerc, matvec)
