/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "upstream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The limit, twice for the rounding, and for all that waits in lists. */
#define MOST_MAPPED_BYTES ((size_t)512 << 30)

static unsigned class_of(size_t bytes) {
    unsigned bits = bytes > 1 ? 64 - (unsigned)__builtin_clzll(bytes - 1) : 0;
    return bits > UPSTREAM_FIRST_CLASS ? bits - UPSTREAM_FIRST_CLASS : 0;
}

static void *take(upstream_t *upstream, unsigned class, size_t class_bytes) {
    if (upstream->classes[class].count > 0)
        return upstream->classes[class].block[--upstream->classes[class].count];
    size_t used = upstream->used_bytes;
    used += -((uintptr_t)upstream->mapping + used) & (class_bytes - 1);
    if (used + class_bytes > upstream->mapped_bytes)
        return NULL;
    upstream->used_bytes = used + class_bytes;
    return upstream->mapping + used;
}

static void *upstream_allocate(void *context, size_t bytes, size_t alignment) {
    upstream_t *upstream = context;
    unsigned class = class_of(bytes);
    size_t class_bytes = (size_t)1 << (class + UPSTREAM_FIRST_CLASS);
    if (class >= UPSTREAM_CLASSES || alignment > class_bytes)
        return NULL;
    void *pointer = NULL;
    pthread_mutex_lock(&upstream->lock);
    if (bytes <= UPSTREAM_LIMIT - upstream->held_bytes &&
        (pointer = take(upstream, class, class_bytes)) != NULL) {
        upstream->held_bytes += bytes;
        if (upstream->held_bytes > upstream->peak_bytes)
            upstream->peak_bytes = upstream->held_bytes;
    }
    pthread_mutex_unlock(&upstream->lock);
    return pointer;
}

static void upstream_deallocate(void *context, void *pointer, size_t bytes, size_t alignment) {
    (void)alignment;
    upstream_t *upstream = context;
    unsigned class = class_of(bytes);
    pthread_mutex_lock(&upstream->lock);
    upstream->held_bytes -= bytes;
    if (upstream->classes[class].count == upstream->classes[class].capacity) {
        size_t capacity = 2 * upstream->classes[class].capacity + 64;
        void **block = realloc(upstream->classes[class].block, capacity * sizeof *block);
        if (!block)
            abort(); /* a benchmark without memory for its lists measures nothing */
        upstream->classes[class].block = block;
        upstream->classes[class].capacity = capacity;
    }
    upstream->classes[class].block[upstream->classes[class].count++] = pointer;
    pthread_mutex_unlock(&upstream->lock);
}

void upstream_count_pages(upstream_t *upstream, size_t bytes, bool held, bool used) {
    pthread_mutex_lock(&upstream->lock);
    upstream->held_bytes = held ? upstream->held_bytes + bytes : upstream->held_bytes - bytes;
    if (used && upstream->held_bytes > upstream->peak_bytes)
        upstream->peak_bytes = upstream->held_bytes;
    pthread_mutex_unlock(&upstream->lock);
}

bool upstream_init(upstream_t *upstream) {
    memset(upstream, 0, sizeof *upstream);
    upstream->face = (bench_upstream_t){upstream_allocate, upstream_deallocate, upstream};
    for (size_t bytes = MOST_MAPPED_BYTES; bytes >= UPSTREAM_LIMIT; bytes /= 2) {
        void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapping == MAP_FAILED)
            continue;
        upstream->mapping = mapping;
        upstream->mapped_bytes = bytes;
        pthread_mutex_init(&upstream->lock, NULL);
        return true;
    }
    return false;
}

void upstream_fini(upstream_t *upstream) {
    for (int class = 0; class < UPSTREAM_CLASSES; class ++)
        free(upstream->classes[class].block);
    pthread_mutex_destroy(&upstream->lock);
    munmap(upstream->mapping, upstream->mapped_bytes);
}
