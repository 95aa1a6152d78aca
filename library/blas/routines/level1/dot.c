/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Inner products. On a GPU long vectors are summed in blocks, see algorithms/reduce.c. */

#include "blas/routine/entry.h"

/* All products have this shape; the primitive and the plan differ. */
JI_CALL dot_any(jhandle_t *handle, ji_vector_t *args, ji_primitive_t primitive,
                ji_plan_function_t plan, ji_run_function_t run) {
    JI_CHECK_SIZES(dot)

    const bool planned = ji_reduces_in_blocks(handle, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? plan : NULL);

    JI_TAKE_SCALARS(dot)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(dot)
    }

    return ji_return_result(handle, planned ? ji_run_plan(handle, args, plan, run)
                                            : ji_run(handle, primitive, args));
}

JI_CALL dot_call(jhandle_t *handle, void *block) {
    return dot_any(handle, block, JI_DOT, ji_dot_plan, ji_dot_run);
}

JI_CALL dotu_call(jhandle_t *handle, void *block) { return dot_call(handle, block); }
JI_CALL dotc_call(jhandle_t *handle, void *block) {
    return dot_any(handle, block, JI_DOTC, ji_dotc_plan, ji_dotc_run);
}

/* Products and sums in double. */
JI_CALL dsdot_call(jhandle_t *handle, void *block) {
    return dot_any(handle, block, JI_DSDOT, ji_dsdot_plan, ji_dsdot_run);
}

JI_CALL sdsdot_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(sdsdot)

    const bool planned = ji_reduces_in_blocks(handle, args->n);
    if (ji_is_query(handle))
        return ji_answer(handle, args, planned ? ji_sdsdot_plan : NULL);

    JI_TAKE_SCALARS(sdsdot)
    if (args->n > 0) {
        JI_CHECK_OPERANDS(sdsdot)
    }

    return ji_return_result(handle, planned
                                        ? ji_run_plan(handle, args, ji_sdsdot_plan, ji_sdsdot_run)
                                        : ji_run(handle, JI_SDSDOT, args));
}

static inline bool dsdot_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                 int64_t incx, const void *y, int64_t incy, void *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || result == NULL))
        return false;

    kernels->dsdot(n, x, incx, y, incy, result);
    return true;
}

static inline bool dot_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                               int64_t incx, const void *y, int64_t incy, void *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || result == NULL ||
                    !JI_IS_OWN(JI_DOT, dot)))
        return false;

    kernels->dot(n, x, incx, y, incy, result);
    return true;
}
#define dotu_at_once dot_at_once

static inline bool dotc_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, const void *x,
                                int64_t incx, const void *y, int64_t incy, void *result) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || result == NULL ||
                    !JI_IS_OWN(JI_DOTC, dotc)))
        return false;

    kernels->dotc(n, x, incx, y, incy, result);
    return true;
}

JI_ENTRIES_AT_ONCE(dot, vector)
JI_ENTRIES_AT_ONCE(dotu, vector)
JI_ENTRIES_AT_ONCE(dotc, vector)
JI_ENTRIES_AT_ONCE(dsdot, vector)
JI_ENTRIES(sdsdot, vector)
