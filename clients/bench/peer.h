/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

/* An allocator of another library, as the benchmark of allocators sees it.
 *
 * The peers worth comparing with (RMM, Umpire, UMF) are large, and in no distribution's packages.
 * So that jalloc's build needs none of them, each is a plug-in: a shared library, built by
 * peers/CMakeLists.txt against an installed peer, that the benchmark loads at run time and that
 * exports one function, bench_peer_get(). All then run in one process, in turn, under the same
 * requests.
 *
 * Whatever the peer, its memory comes from the benchmark through a bench_upstream_t. So "reserved"
 * is counted by the same few lines for everybody, and nobody is charged for another's slow source
 * of memory:
 *
 *     benchmark -- allocate(bytes) --> peer's pool -- allocate(bytes, alignment) --> upstream
 *
 * The upstream counts, and takes from the memory.
 *
 * A peer has its own defaults, locks included. Where a setting that its manual offers makes it
 * faster or smaller, that is another peer of the same plug-in: the best of them is who counts.
 *
 *     void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
 *     bench_peer_get_t get = (bench_peer_get_t)dlsym(library, BENCH_PEER_GET);
 *     for (size_t i = 0; (peer = get(i)) != NULL; i++)
 *         ...
 *
 * C++ may not throw through this interface: a peer that throws is caught in its plug-in. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a peer takes its memory from. It outlives every peer that was created on it. */
typedef struct bench_upstream {
    /* NULL: there is no more */
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    /* As they were asked for. */
    void (*deallocate)(void *context, void *pointer, size_t bytes, size_t alignment);
    void *context;
} bench_upstream_t;

/* One allocator of a library. `state` is what create returned. */
typedef struct bench_peer {
    const char *name; /* library-pool, lower case: "rmm-pool" */
    int thread_safe;  /* 0: with its defaults, calls on one state must not overlap */
    /* limit_bytes is what upstream will give at most, for the peers that must know: some plan by
     * it, and one takes all of it at once. NULL: it could not be made. */
    void *(*create)(const bench_upstream_t *upstream, size_t limit_bytes);
    /* bytes > 0. NULL: there is no more. */
    void *(*allocate)(void *state, size_t bytes);
    void (*deallocate)(void *state, void *pointer, size_t bytes); /* bytes as they were asked for */
    /* Gives everything back to upstream. All that was allocated has been freed before. */
    void (*destroy)(void *state);
} bench_peer_t;

/* What a plug-in exports: the index-th allocator of its library, NULL past the last. */
#define BENCH_PEER_GET "bench_peer_get"
typedef const bench_peer_t *(*bench_peer_get_t)(size_t index);
const bench_peer_t *bench_peer_get(size_t index);

/* TensorFlow's BFC algorithm in our own words (peers/tensorflow_bfc.cpp): needs no library, so it
 * is built in. */
extern const bench_peer_t bench_tensorflow_bfc;

#ifdef __cplusplus
}
#endif

#endif
