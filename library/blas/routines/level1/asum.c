/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sums of absolute values. On a GPU long vectors are summed in blocks, see algorithms/reduce.c. */

#include "blas/routine/entry.h"

JI_CALL asum_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(asum)

    const bool planned = args->incx > 0 && ji_reduces_in_blocks(handle, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_asum_plan : NULL);

    JI_TAKE_SCALARS(asum)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(asum)
    }

    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_asum_plan, ji_asum_run)
                                            : ji_run(handle, JI_ASUM, args));
}

/* An increment of 0 has a result of its own. */
static inline bool asum_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                int64_t incx, void *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx);
    if (JI_UNLIKELY(kernels == NULL || incx == 0 || x == NULL || result == NULL ||
                    !JI_IS_OWN(JI_ASUM, asum)))
        return false;

    kernels->asum(n, x, incx, result);
    return true;
}

JI_ENTRIES_AT_ONCE(asum, vector)
