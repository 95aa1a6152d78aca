/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Rotations of pairs of elements, and the modified ones, which a matrix of five numbers says. */

#include "blas/routine/entry.h"

JI_CALL rot_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(rot)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(rot)
    JI_CHECK_OPERANDS(rot)
    return ji_run(handle, JI_ROT, args);
}

JI_CALL rotm_call(jhandle_t *handle, void *block) {
    ji_vector_t *args = block;
    JI_CHECK_SIZES(rotm)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n <= 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(rotm)
    JI_CHECK_OPERANDS(rotm)
    return ji_run(handle, JI_ROTM, args);
}

static inline bool rot_at_once(jdatatype_t type, jhandle_t *handle, int64_t n, void *x,
                               int64_t incx, void *y, int64_t incy, const void *c, const void *s) {
    const ji_level1_t *kernels = ji_kernels_at_once(handle, type, n, incx | incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || c == NULL || s == NULL))
        return false;

    ji_rotate(kernels, type, n, x, incx, y, incy, c, s);
    return true;
}

JI_ENTRIES_AT_ONCE(rot, vector)
JI_ENTRIES(rotm, vector)
