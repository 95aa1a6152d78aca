/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What all processes should have passed alike to a collective function, as one number, which goes
 * along with the message that they exchange anyway to agree. Different numbers are different
 * arguments, which would sooner or later be messages of different sizes, or a wait for one that
 * nobody sends. FNV-1a of 64 bits (Fowler, Noll, Vo), member by member, so that padding and what a
 * process may have as it likes (pointers, devices, strides of its own memory) do not count. */

#include "buffer/buffer.h"

#define ARGUMENTS_BASIS UINT64_C(0xcbf29ce484222325)
#define ARGUMENTS_PRIME UINT64_C(0x100000001b3)

uint64_t ji_arguments_add(uint64_t hash, const void *bytes, size_t size_bytes) {
    const unsigned char *byte = bytes;
    if (hash == 0)
        hash = ARGUMENTS_BASIS;
    for (size_t i = 0; i < size_bytes; ++i)
        hash = (hash ^ byte[i]) * ARGUMENTS_PRIME;
    return hash;
}

static uint64_t arguments_add_number(uint64_t hash, int64_t number) {
    return ji_arguments_add(hash, &number, sizeof number);
}

uint64_t ji_arguments_add_layout(uint64_t hash, const jlayout_t *layout, bool with_strides) {
    hash = arguments_add_number(hash, layout->rank);
    hash = arguments_add_number(hash, (int64_t)layout->structure);
    for (int d = 0; d < layout->rank; ++d) {
        hash = arguments_add_number(hash, layout->extents[d]);
        hash = arguments_add_number(hash, layout->blocks[d]);
        if (with_strides)
            hash = arguments_add_number(hash, layout->strides[d]);
    }
    return hash;
}

uint64_t ji_arguments_add_allocator(uint64_t hash, const jbuffer_allocator_options_t *options) {
    hash = arguments_add_number(hash, (int64_t)options->kind);
    hash = arguments_add_number(hash, (int64_t)options->type);
    hash = arguments_add_number(hash, options->shared_on_node);
    for (int d = 0; d < 2; ++d) {
        hash = arguments_add_number(hash, options->grid[d]);
        hash = arguments_add_number(hash, options->blocks[d]);
    }
    return hash;
}

uint64_t ji_arguments_add_buffer(uint64_t hash, const jbuffer_t *buffer) {
    if (buffer == NULL)
        return arguments_add_number(hash, -1);

    const jbuffer_kind_t kind = ji_buffer_kind(buffer);
    const jdistribution_t *whole = &buffer->storage->distribution;

    hash = arguments_add_number(hash, (int64_t)kind);
    /* All take memory, or none. */
    hash = arguments_add_number(hash, ji_buffer_is_placeholder(buffer));
    hash = arguments_add_number(hash, (int64_t)ji_buffer_type(buffer));

    jlayout_t layout = buffer->layout;
    for (int d = 0; d < layout.rank && kind == JBUFFER_LOCAL; ++d)
        layout.blocks[d] = 0;
    hash = ji_arguments_add_layout(hash, &layout, kind == JBUFFER_REPLICATED);

    for (int d = 0; d < 2 && kind == JBUFFER_DISTRIBUTED; ++d) {
        hash = arguments_add_number(hash, buffer->starts[d]);
        hash = arguments_add_number(hash, whole->extents[d]);
        hash = arguments_add_number(hash, whole->blocks[d]);
        hash = arguments_add_number(hash, whole->grid[d]);
    }
    return hash;
}
