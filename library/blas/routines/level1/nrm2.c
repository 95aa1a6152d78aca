/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Euclidean norms. On a GPU long vectors are summed in blocks, see algorithms/reduce.c. */

#include "blas/routine/entry.h"

JI_CALL nrm2_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(nrm2)
    args->incx = ji_abs(args->incx); /* the same elements from the other end */

    const bool planned = ji_reduces_in_blocks(handle, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_nrm2_plan : NULL);

    JI_TAKE_SCALARS(nrm2)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(nrm2)
    }

    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_nrm2_plan, ji_nrm2_run)
                                            : ji_run(handle, JI_NRM2, args));
}

static inline bool nrm2_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                int64_t incx, void *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || result == NULL || !JI_IS_OWN(JI_NRM2, nrm2)))
        return false;

    kernels->nrm2(n, x, incx, result);
    return true;
}

JI_ENTRIES_AT_ONCE(nrm2, vector)
