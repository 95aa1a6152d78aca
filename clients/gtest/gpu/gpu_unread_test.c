/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Who reads what it must not. Everywhere else all places that a routine must leave alone hold NaN
 * at once (jblas_case.c), so a failure says little of a library whose sources nobody has. Here one
 * kind of place holds NaN and the others zeros, and the failure names the routine and the place:
 * that routine cannot be the vendor's. */

#include "gpu_device.h"

#include <string.h>

typedef enum place {
    PLACE_TRIANGLE,
    PLACE_UNIT_DIAGONAL,
    PLACE_IMAGINARY,
    PLACE_PADDING,
    PLACE_COUNT,
    PLACE_NONE
} place_t;
static const char *const places[PLACE_COUNT] = {
    "the triangle that is not referenced", "a unit diagonal",
    "imaginary parts of a Hermitian diagonal", "padding between columns"};

/* A band's array has corners, which are no elements, and is padded below. */
static place_t place_of(const blas_operand_t *o, int64_t i, int64_t j) {
    if (i < 0 || i >= o->rows || (o->is_band && !blas_is_placed(o, i, j)))
        return PLACE_PADDING;
    if (!blas_is_part(o, i, j))
        return i == j ? PLACE_UNIT_DIAGONAL : PLACE_TRIANGLE;
    return o->hermitian && i == j ? PLACE_IMAGINARY : PLACE_NONE;
}

/* NaN in the places of one kind, zeros in the others. Whether there are any of this kind. */
static bool put(blas_case_t *c, place_t nan) {
    bool any = false;
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind != BLAS_MATRIX || o->count > 1)
            continue;
        const size_t size = wide_sizeof(o->element);
        for (int64_t j = 0; j < o->columns; ++j)
            for (int64_t row = 0; row < o->ld; ++row) {
                const int64_t i = o->is_band ? row - o->above + j : row;
                const place_t place = place_of(o, i, j);
                const size_t offset = (size_t)blas_index(o, 0, i, j) * size;
                if (place == PLACE_NONE || offset + size > o->bytes)
                    continue;
                const size_t real_part = place == PLACE_IMAGINARY ? size / 2 : 0;
                memset(o->before + (o->data - o->region) + offset + real_part,
                       place == nan ? 0xff : 0, size - real_part);
                any |= place == nan;
            }
    }
    blas_restore(c);
    return any;
}

JTEST_EACH_FUNCTION(GpuUnread, NoRoutineReadsWhatItMustNot) {
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(3); round > 0 && !jtest_has_failure(); --round)
        for (place_t place = 0; place < PLACE_COUNT; ++place) {
            BLAS_CASE(c, param, .low = 20, .high = 40, .plain = true);
            if (!put(c, place))
                continue;
            JEXPECT_OK(gpu_blas_call(handle, c));
            JEXPECT_OK(jdevice_get_properties(gpu_device(), &properties));
            if (!blas_right(c))
                JFAIL("%s by %s reads %s", param->name, properties.blas, places[place]);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}
