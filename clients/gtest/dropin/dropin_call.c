/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "dropin_call.h"

#include <complex.h>
#include <string.h>

#define WORDS                                                                                      \
    intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,      \
        intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, double,    \
        double, double, double
#define CALL(TYPE)                                                                                 \
    ((TYPE(*)(WORDS))(intptr_t)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],     \
                                         w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16],    \
                                         d[0], d[1], d[2], d[3])
#define GIVE(TYPE)                                                                                 \
    do {                                                                                           \
        const TYPE value = CALL(TYPE);                                                             \
        memcpy(result, &value, sizeof value);                                                      \
    } while (0)

void dropin_call(void *function, const dropin_arguments_t *arguments, dropin_result_t kind,
                 void *result) {
    const intptr_t *w = arguments->word;
    const double *d = arguments->real;
    switch (kind) {
    case DROPIN_FLOAT: GIVE(float); break;
    case DROPIN_DOUBLE: GIVE(double); break;
    case DROPIN_FLOAT_COMPLEX: GIVE(float _Complex); break;
    case DROPIN_DOUBLE_COMPLEX: GIVE(double _Complex); break;
    case DROPIN_INT: GIVE(int); break;
    case DROPIN_SIZE: GIVE(size_t); break;
    default: CALL(void); break;
    }
}
