/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Rotations that take the second of two numbers to zero, and the modified ones. */

#include "blas/routine/entry.h"

JI_CALL rotg_call(jhandle_t *handle, void *block) {
    ji_rotation_t *args = block;

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_TAKE_SCALARS(rotg)
    return ji_return_result(handle, ji_run(handle, JI_ROTG, args));
}

JI_CALL rotmg_call(jhandle_t *handle, void *block) {
    ji_rotation_t *args = block;

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_TAKE_SCALARS(rotmg)
    return ji_return_result(handle, ji_run(handle, JI_ROTMG, args));
}

JI_ENTRIES(rotg, rotation)
JI_ENTRIES(rotmg, rotation)
