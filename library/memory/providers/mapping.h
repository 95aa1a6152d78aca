/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_PROVIDERS_MAPPING_H
#define JALLOC_MEMORY_PROVIDERS_MAPPING_H

/* What providers of private anonymous mappings have in common: mmap, numa, huge. The context of
 * such a provider begins with ji_mapper_t, its table of functions takes those below, and its own
 * allocate says what is special. */

#include "memory/providers/provider.h"

typedef struct ji_mapper {
    const jallocator_t *self; /* for messages */
    /* Sizes are rounded up to it; a power of two, at least the system's page. */
    size_t page_bytes;
    ji_held_t held;
} ji_mapper_t;

/* Maps; `flags` are added to those of a private anonymous mapping, `natural` is the alignment that
 * the kernel gives such a mapping by itself. The mapping is not counted until ji_mapper_count()
 * says so. success; memory error (errno says why). */
jstatus_t ji_mapper_map(const ji_mapper_t *mapper, size_t size_bytes, size_t alignment, int flags,
                        size_t natural, void **pointer);
/* One that was not counted. */
void ji_mapper_unmap(const ji_mapper_t *mapper, void *pointer, size_t size_bytes);
void ji_mapper_count(ji_mapper_t *mapper, size_t size_bytes);

/* The bytes of a mapping of so many; the context is a ji_mapper_t, or begins with one. */
size_t ji_mapper_usable_size(void *context, const void *pointer, size_t size_bytes);

/* The table of a provider of mappings, whose context begins with a ji_mapper_t: all but
 * `allocate`. */
extern const jallocator_ops_t ji_mapper_ops;

#endif
