/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha A B + beta C or alpha B A + beta C with A symmetric, Hermitian or
 * skew-symmetric. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL symm_any(jhandle_t *handle, ji_matmat_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(symm)
    JI_CHECK_WIDTH(symm, args->m > 0 && args->n > 0)

    const int64_t k = args->side == JBLAS_LEFT ? args->m : args->n;
    if (ji_is_query(handle))
        return ji_answer_product(handle, primitive, args, args->m, args->n, k);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(symm)
    JI_CHECK_OPERANDS(symm)
    return ji_run_product(handle, primitive, args, args->m, args->n, k);
}

JI_CALL symm_call(jhandle_t *handle, void *block) { return symm_any(handle, block, JI_SYMM); }
JI_CALL hemm_call(jhandle_t *handle, void *block) { return symm_any(handle, block, JI_HEMM); }
JI_CALL skewsymm_call(jhandle_t *handle, void *block) {
    return symm_any(handle, block, JI_SKEWSYMM);
}

JI_ENTRIES(symm, matmat)
JI_ENTRIES(hemm, matmat)
JI_ENTRIES(skewsymm, matmat)
JI_VALUED(symm, matmat)
JI_VALUED(hemm, matmat)
