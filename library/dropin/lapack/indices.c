/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Pivots have 64 bits in jlapack. Where the program's have 32 they are in a place of their own for
 * the time of a call: on the stack, in workspace, or in memory of the C library. */

#include <stdlib.h>

#include "dropin/lapack/lapack.h"

void *ji_room_take(ji_room_t *room, const char *for_what, size_t bytes) {
    room->borrow.handle_ = NULL;
    room->borrow.ok = false;
    room->allocated = NULL;

    jhandle_t *handle = ji_dropin_handle();
    if (handle != NULL &&
        jborrow_begin(&room->borrow, handle, for_what, 1, &bytes) == JSTATUS_SUCCESS)
        return room->borrow.ptr[0];
    return room->allocated = malloc(bytes);
}

void ji_room_give_back(ji_room_t *room) {
    if (room->borrow.ok)
        (void)jborrow_end(&room->borrow);
    free(room->allocated);
}

bool ji_indices_begin(ji_indices_t *indices, const blas_int_t *given, int64_t count, bool is_read) {
    indices->room.borrow.ok = false;
    indices->room.allocated = NULL;
    indices->count = count;
    if (given == NULL || sizeof *given == sizeof *indices->wide) {
        indices->wide = (int64_t *)ji_dropin_unconst(given);
        return true;
    }

    indices->wide = indices->stack;
    if (count > JI_INDICES_ON_STACK) {
        indices->wide =
            ji_room_take(&indices->room, "pivots", (size_t)count * sizeof *indices->wide);
        if (indices->wide == NULL)
            return false;
    }
    for (int64_t i = 0; is_read && i < count; i++)
        indices->wide[i] = given[i];
    return true;
}

void ji_indices_end(ji_indices_t *indices, blas_int_t *written) {
    if (written != NULL && sizeof *written != sizeof *indices->wide)
        for (int64_t i = 0; i < indices->count; i++)
            written[i] = (blas_int_t)indices->wide[i];
    ji_room_give_back(&indices->room);
}
