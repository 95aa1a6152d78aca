/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The index of the smallest element. On a GPU long vectors are searched in blocks, see
 * algorithms/reduce.c. */

#include "blas/routine/entry.h"

JI_CALL iamin_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(iamin)

    const bool planned = args->incx > 0 && ji_reduces_in_blocks(handle, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_iamin_plan : NULL);

    JI_TAKE_SCALARS(iamin)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(iamin)
    }

    return ji_return_result(handle, planned ? ji_run_plan(handle, args, ji_iamin_plan, ji_iamin_run)
                                            : ji_run(handle, JI_IAMIN, args));
}

static inline bool iamin_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                 int64_t incx, int64_t *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx);
    if (JI_UNLIKELY(kernels == NULL || incx == 0 || x == NULL || result == NULL))
        return false;

    ji_found_t found = JI_NOTHING_SMALL;
    kernels->iamin(n, x, incx, 0, &found);
    *result = found.place + 1;
    return true;
}

JI_ENTRIES_AT_ONCE(iamin, vector)
