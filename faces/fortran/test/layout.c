/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The part of layout_test that is not made of the headers. */

#include "layout.h"

#include <stdio.h>
#include <string.h>

int layout_struct(int index, const void *value, size_t bytes, const size_t *offsets) {
    const struct jt_struct *c = &jt_structs[index];
    int failures = 0;
    if (bytes != c->bytes)
        failures += printf("%s: %zu bytes, in C %zu\n", c->name, bytes, c->bytes) > 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct jt_member *member = &c->members[i];
        if (offsets[i] != member->offset)
            failures += printf("%s.%s: at %zu, in C at %zu\n", c->name, member->name, offsets[i],
                               member->offset) > 0;
        else if (c->initial != NULL &&
                 memcmp((const char *)value + member->offset,
                        (const char *)c->initial + member->offset, member->bytes) != 0)
            failures += printf("%s.%s: begins otherwise than in C\n", c->name, member->name) > 0;
    }
    return failures;
}

int layout_constant(int index, long long value) {
    const struct jt_constant *c = &jt_constants[index];
    return value != c->value && printf("%s: %lld, in C %lld\n", c->name, value, c->value) > 0;
}

int layout_symbol(int index, jt_function function) {
    const struct jt_symbol *c = &jt_symbols[index];
    return function != c->function && printf("%s: another function than C's\n", c->name) > 0;
}
