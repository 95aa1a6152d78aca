/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_RANDOM_COMPOSITION_H
#define JALLOC_CLIENTS_GTEST_RANDOM_COMPOSITION_H

/* Random compositions of all kinds there are, with random values of all keys they have. Both come
 * from the library's own table: who adds a kind or a key has it in here. */

#include <stdbool.h>
#include <stddef.h>

typedef struct random_composition {
    char text[1024];
    bool has_provider;   /* else something has to be put below it */
    bool may_refuse;     /* memory, which a limit or a fixed size keeps */
    bool refuses_shapes; /* sizes and alignments that do not fit a slot */
    bool orders_streams; /* what is freed on a stream may be in use there still */
} random_composition_t;

/* One of a few stages, the lowest a provider or none. A few are refused, since options do not go
 * together: invalid value. */
void random_composition(random_composition_t *composition, bool with_provider);

#endif
