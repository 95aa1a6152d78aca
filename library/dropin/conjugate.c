/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Conjugated vectors of row-major calls. What is wrong with a vector, its length or its increment,
 * is left as it is for the call to find. */

#include <stdlib.h>

#include "dropin/row_major.h"
#include "jalloc/borrow.h"

/* A vector, element by element as a call counts them. */
typedef struct vector {
    const char *first;
    int64_t step_bytes;
} vector_t;

static vector_t vector_of(jdatatype_t type, const void *x, int64_t count, int64_t increment) {
    const int64_t step_bytes = increment * (int64_t)ji_sizeof(type);
    const char *first = x;
    return (vector_t){increment < 0 ? first - (count - 1) * step_bytes : first, step_bytes};
}

/* y may be x. */
static void conjugate(jdatatype_t type, int64_t count, vector_t x, vector_t y) {
    for (int64_t i = 0; i < count; i++) {
        const void *from = x.first + i * x.step_bytes;
        void *to = (char *)(uintptr_t)y.first + i * y.step_bytes;
        ji_value_t value;
        if (type == JDATATYPE_F32_C) {
            memcpy(value.c, from, sizeof value.c);
            value.c[1] = -value.c[1];
            memcpy(to, value.c, sizeof value.c);
        } else {
            memcpy(value.z, from, sizeof value.z);
            value.z[1] = -value.z[1];
            memcpy(to, value.z, sizeof value.z);
        }
    }
}

static bool is_there(const void *x, int64_t count, int64_t increment) {
    return x != NULL && count > 0 && increment != 0;
}

static void conjugate_in_place(jdatatype_t type, const void *x, int64_t count, int64_t increment) {
    if (!is_there(x, count, increment))
        return;
    const vector_t vector = vector_of(type, x, count, increment);
    conjugate(type, count, vector, vector);
}

/* Gives the copy, which has an increment of 1. */
static const void *conjugate_copy(jdatatype_t type, const void *x, int64_t count,
                                  int64_t *increment, void *copy) {
    conjugate(type, count, vector_of(type, x, count, *increment), vector_of(type, copy, count, 1));
    *increment = 1;
    return copy;
}

/* Memory for both copies, of which either may have no bytes. False: there is none. */
static bool take_room(ji_conjugated_t *conjugated, size_t x_bytes, size_t y_bytes, void *room[2]) {
    room[0] = conjugated->stack[0], room[1] = conjugated->stack[1];
    if (x_bytes <= JI_TURN_STACK_BYTES && y_bytes <= JI_TURN_STACK_BYTES)
        return true;

    jhandle_t *handle = ji_dropin_handle();
    const size_t bytes[] = {x_bytes, y_bytes};
    if (handle != NULL &&
        jborrow_begin(&conjugated->borrow, handle, "conjugate", 2, bytes) == JSTATUS_SUCCESS) {
        room[0] = conjugated->borrow.ptr[0], room[1] = conjugated->borrow.ptr[1];
        return true;
    }

    conjugated->allocated = malloc(x_bytes + y_bytes);
    if (conjugated->allocated == NULL)
        return false;
    room[0] = conjugated->allocated, room[1] = (char *)conjugated->allocated + x_bytes;
    return true;
}

void ji_dropin_conjugate(jdatatype_t type, ji_matvec_t *args, const ji_turned_t *turned,
                         ji_conjugated_t *conjugated) {
    conjugated->borrow.handle_ = NULL;
    conjugated->borrow.ok = false;
    conjugated->allocated = NULL;
    conjugated->alpha = NULL;
    const bool copies_x = (turned->conjugates & JI_TURN_COPY_X) != 0 &&
                          is_there(args->x, turned->count_x, args->incx);
    const bool copies_y = (turned->conjugates & JI_TURN_COPY_Y) != 0 &&
                          is_there(args->y, turned->count_y, args->incy);
    void *room[2];
    const bool has_room =
        take_room(conjugated, copies_x ? (size_t)turned->count_x * ji_sizeof(type) : 0,
                  copies_y ? (size_t)turned->count_y * ji_sizeof(type) : 0, room);

    if (!has_room) {
        static const ji_value_t zero;
        conjugated->alpha = args->alpha.pointer;
        args->alpha.pointer = &zero;
    }
    if (copies_x && has_room)
        args->x = conjugate_copy(type, args->x, turned->count_x, &args->incx, room[0]);
    if (copies_y && has_room)
        args->y =
            (void *)(uintptr_t)conjugate_copy(type, args->y, turned->count_y, &args->incy, room[1]);

    if ((turned->conjugates & JI_TURN_Y) != 0)
        conjugate_in_place(type, args->y, turned->count_y, args->incy);
}

void ji_dropin_conjugate_back(jdatatype_t type, const ji_matvec_t *args, const ji_turned_t *turned,
                              ji_conjugated_t *conjugated, ji_storage_t storage, bool is_done) {
    if (conjugated->alpha != NULL && is_done)
        ji_dropin_elementwise(type, args, turned, conjugated->alpha, storage);
    if ((turned->conjugates & JI_TURN_Y) != 0)
        conjugate_in_place(type, args->y, turned->count_y, args->incy);

    if (conjugated->borrow.ok)
        (void)jborrow_end(&conjugated->borrow);
    free(conjugated->allocated);
}
