/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The checks of trmm, trsm and trsm_ex, which are the same; how trsm is done is in
 * algorithms/trsm.c. */

#include "blas/algorithms/product.h"
#include "blas/algorithms/triangle.h"
#include "blas/routine/entry.h"

/* plan NULL: the primitive trmm. */
JI_CALL trsm_any(jhandle_t *handle, ji_matmat_t *args, ji_plan_function_t plan) {
    JI_CHECK_SIZES(trsm)

    const bool empty = args->m == 0 || args->n == 0;
    JI_CHECK_WIDTH(trsm, !empty)

    const int64_t k = args->side == JBLAS_LEFT ? args->m : args->n;
    if (ji_is_query(handle))
        return plan == NULL ? ji_answer_panels(handle, args, ji_trmm_bytes(handle, args, k),
                                               args->m, args->n, k)
                            : ji_answer(handle, args, empty ? NULL : plan);
    if (empty)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(trsm)
    JI_CHECK_OPERANDS(trsm)

    if (plan == NULL)
        return ji_run_panels(handle, JI_TRMM, args, ji_trmm_bytes(handle, args, k), args->m,
                             args->n, k);

    /* Substitution is the only way: a plan of one rung is not needed. */
    if (!ji_triangle_pays(handle, args))
        return ji_trsm_run(handle, args, &ji_nothing_borrowed);
    return ji_run_plan(handle, args, plan, ji_trsm_run);
}

JI_CALL trmm_call(jhandle_t *handle, void *block) { return trsm_any(handle, block, NULL); }
JI_CALL trsm_call(jhandle_t *handle, void *block) { return trsm_any(handle, block, ji_trsm_plan); }

/* Of one type, which is an argument. Unknowns of a narrower type would be rounded before all that
 * depends on them is known, or be kept where there may be no workspace. */
JI_CALL trsm_ex_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_TYPES(JI_TYPES_ONE)
    return trsm_any(handle, args, ji_trsm_plan);
}

JI_ENTRIES(trmm, matmat)
JI_ENTRIES(trsm, matmat)
JI_ENTRIES_OF_TYPES(trsm_ex, matmat)
JI_VALUED(trsm, matmat)
JI_VALUED_BYTES(trsm, matmat, args->m != 0 && args->n != 0)
