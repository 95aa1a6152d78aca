/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Rotations that take the second of two numbers to zero, and the modified ones. */

#include "blas/routine/entry.h"

/* Numbers of the host's are its to compute with: nothing of a device's is in them. */
static void rotation_on_host(ji_primitive_t primitive, ji_rotation_t *args) {
    if (!ji_is_batch(&args->head)) {
        ji_host_primitives[primitive](args);
        return;
    }

    args->batch.primitive = (uint8_t)primitive;
    ji_host_batch(args);
}

static jstatus_t rotation_run(jhandle_t *handle, ji_primitive_t primitive, ji_rotation_t *args) {
    if (handle->device->kind != JDEVICE_HOST && ji_host_pointers(handle)) {
        rotation_on_host(primitive, args);
        return JSTATUS_SUCCESS;
    }
    return ji_return_result(handle, ji_run(handle, primitive, args));
}

JI_CALL rotg_call(jhandle_t *handle, void *block) {
    ji_rotation_t *args = block;
    JI_CHECK_SIZES(rotg)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_CHECK_OPERANDS(rotg)
    return rotation_run(handle, JI_ROTG, args);
}

JI_CALL rotmg_call(jhandle_t *handle, void *block) {
    ji_rotation_t *args = block;
    JI_CHECK_SIZES(rotmg)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);

    JI_CHECK_OPERANDS(rotmg)
    return rotation_run(handle, JI_ROTMG, args);
}

JI_ENTRIES(rotg, rotation)
JI_ENTRIES(rotmg, rotation)
