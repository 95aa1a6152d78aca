/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha op(A), in place. What becomes of a matrix that is transposed lies elsewhere, but for a
 * square whose leading dimension stays; so there is a rung that holds it meanwhile, and one that
 * does without. On a GPU it is the same with columns that come to lie closer, or farther apart,
 * which the host moves one after the other. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

static bool imatcopy_is_planned(const jhandle_t *handle, const ji_matmat_t *args) {
    const bool is_host = handle->device->kind == JDEVICE_HOST, same_ld = args->lda == args->ldb;
    const bool by_itself =
        ji_is_transposed(args->trans) ? args->m == args->n && same_ld : is_host || same_ld;
    return !by_itself && args->m > 1 && args->n > 1;
}

static size_t imatcopy_bytes(const ji_matmat_t *args) {
    return (size_t)args->m * (size_t)args->n * ji_sizeof(args->head.type);
}

static void imatcopy_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    const ji_matmat_t *args = block;
    const size_t bytes = ji_panels_of_threads(args, imatcopy_bytes(args));

    jplan_init(plan, handle, ji_routine_name(&args->head), "mn",
               (const int64_t[]){args->m, args->n});
    if (imatcopy_is_planned(handle, args))
        jplan_add(plan, "copy", 0, 0, 1, &bytes);
    jplan_add(plan, "in place", 0, 0, 0, NULL);
}

static jstatus_t imatcopy_run(jhandle_t *handle, const void *block, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)block;
    args.panels = ws->ptr[0];
    args.panel_bytes = imatcopy_bytes(&args);
    return ji_run(handle, JI_IMATCOPY, &args);
}

JI_CALL imatcopy_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(imatcopy)

    if (ji_is_query(handle))
        return ji_answer(handle, args, args->m == 0 || args->n == 0 ? NULL : imatcopy_plan);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(imatcopy)
    JI_CHECK_OPERANDS(imatcopy)
    return ji_run_plan(handle, args, imatcopy_plan, imatcopy_run);
}

JI_ENTRIES(imatcopy, matmat)
