/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Types as arguments without a routine for them: operands are converted to what is computed in,
 * into memory that is kept, integers to floats; the CBLAS's routine is called, and what it wrote is
 * converted back. It is what jblas's routines of this kind are timed beside. */

#include "problem.h"

#include <stdlib.h>

/* X(from, its type, to, its type, element): those of 16 bits and of integers in loops of their own,
 * the others by value_load() and value_store(). */
#define CONVERSIONS(X)                                                                             \
    X(F16, jfloat16_t, F32, float, jalloc_f32_from_f16)                                            \
    X(BF16, jbfloat16_t, F32, float, jalloc_f32_from_bf16)                                         \
    X(I8, int8_t, F32, float, (float))                                                             \
    X(I32, int32_t, F32, float, (float))                                                           \
    X(F32, float, F16, jfloat16_t, jalloc_f16_from_f32)                                            \
    X(F32, float, BF16, jbfloat16_t, jalloc_bf16_from_f32)                                         \
    X(F32, float, I32, int32_t, (int32_t))                                                         \
    X(F32, float, F64, double, (double))

static void convert(jdatatype_t to_type, void *to, jdatatype_t from_type, const void *from,
                    size_t n) {
#define CONVERT(from_name, F, to_name, T, element)                                                 \
    if (from_type == JDATATYPE_##from_name && to_type == JDATATYPE_##to_name) {                    \
        const F *restrict f = from;                                                                \
        T *restrict t = to;                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            t[i] = element(f[i]);                                                                  \
        return;                                                                                    \
    }
    CONVERSIONS(CONVERT)
#undef CONVERT

    for (size_t i = 0; i < n; i++)
        value_store(to_type, to, i, value_load(from_type, from, i));
}

/* Room for operand i, which grows with what is asked for. */
static void *room_for(int i, size_t bytes) {
    static void *room[OPERANDS];
    static size_t size[OPERANDS];
    if (bytes > size[i]) {
        free(room[i]);
        room[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        size[i] = room[i] == NULL ? 0 : bytes;
    }
    return room[i];
}

void direct_converted(const problem_t *p, void (*direct)(const problem_t *problem)) {
    problem_t plain = *p;
    void *const data[OPERANDS] = {p->a, p->b, p->c}, *used[OPERANDS] = {p->a, p->b, p->c};
    if (p->type == JDATATYPE_I32) {
        plain.type = JDATATYPE_F32;
        plain.alpha.s[0] = (float)p->alpha.i, plain.beta.s[0] = (float)p->beta.i;
    }

    for (int i = 0; i < OPERANDS; i++) {
        const operand_t *x = &p->operand[i];
        if (!x->present || x->type == plain.type)
            continue;
        used[i] = room_for(i, x->elements * type_bytes(plain.type));
        if (used[i] == NULL)
            return;
        convert(plain.type, used[i], x->type, data[i], x->elements);
    }

    plain.a = used[0], plain.b = used[1], plain.c = used[2];
    direct(&plain);
    for (int i = 0; i < OPERANDS; i++) {
        const operand_t *x = &p->operand[i];
        if (x->present && x->written && x->type != plain.type)
            convert(x->type, data[i], plain.type, used[i], x->elements);
    }
}
