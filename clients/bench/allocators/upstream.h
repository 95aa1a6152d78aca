/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef UPSTREAM_H
#define UPSTREAM_H

/* Where every allocator under test takes its memory from: addresses of one large mapping that
 * nobody ever touches, so they cost nothing but the counting, and that the same few lines do for
 * everybody.
 *
 *     mapping  | 4 KiB | 4 KiB | - | 8 KiB | 1 MiB ... |            not used yet             |
 *                                                       ^ used
 *
 * A request takes the next power of two of addresses, at a multiple of it. What is given back waits
 * in a list of its power of two, so the same addresses come again, in constant time. Counted is
 * what was asked for; without pages of which a contender says that the system may have them back,
 * as long as it does not use them (no peer that takes its memory from elsewhere says so). */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "../peer.h"

/* What it gives at most: what a large GPU of a few years ago has. */
#define UPSTREAM_LIMIT ((size_t)16 << 30)

enum { UPSTREAM_FIRST_CLASS = 12, UPSTREAM_CLASSES = 40 }; /* powers of two */

typedef struct upstream {
    pthread_mutex_t lock;
    char *mapping;
    size_t mapped_bytes, used_bytes; /* addresses */
    size_t held_bytes, peak_bytes;   /* as asked for, given and not given back; their largest sum */
    struct {
        void **block; /* given back */
        size_t count, capacity;
    } classes[UPSTREAM_CLASSES];
    bench_upstream_t face; /* itself, as a peer sees it */
} upstream_t;

bool upstream_init(upstream_t *upstream); /* false: no addresses to be had */
void upstream_fini(upstream_t *upstream);

enum { UPSTREAM_PAGE_BYTES = 4096 };
/* Pages that are held, or not any more. They are part of the peak if they will be used. */
void upstream_count_pages(upstream_t *upstream, size_t bytes, bool held, bool used);

#endif
