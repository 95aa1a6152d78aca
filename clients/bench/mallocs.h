/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_MALLOCS_H
#define BENCH_MALLOCS_H

/* The C library's malloc and those that are installed beside it, in one process.
 *
 * They are loaded at run time under their own names, so the program's own malloc stays what it was;
 * one that is not installed is absent. Their thread-local data needs more room than the loader
 * keeps in reserve unless it is told before the program starts: that is why a program that uses
 * them starts itself again once, first thing in main(). */

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bench_malloc {
    /* library NULL: the C library; newer NULL: none. */
    const char *name, *library, *newer, *allocate_name, *free_name;
    void *(*allocate)(size_t); /* NULL: not loaded */
    void (*deallocate)(void *);
} bench_malloc_t;

#define BENCH_MALLOC                                                                               \
    { "malloc", NULL, NULL, NULL, NULL, malloc, free }
#define BENCH_MIMALLOC                                                                             \
    { "mimalloc", "libmimalloc.so.2", "libmimalloc.so.3", "mi_malloc", "mi_free", NULL, NULL }
/* Each by itself, where the two are compared with. */
#define BENCH_MIMALLOC2                                                                            \
    { "mimalloc", "libmimalloc.so.2", NULL, "mi_malloc", "mi_free", NULL, NULL }
#define BENCH_MIMALLOC3                                                                            \
    { "mimalloc 3", "libmimalloc.so.3", NULL, "mi_malloc", "mi_free", NULL, NULL }
#define BENCH_JEMALLOC                                                                             \
    { "jemalloc", "libjemalloc.so.2", NULL, "malloc", "free", NULL, NULL }
#define BENCH_TCMALLOC                                                                             \
    { "tcmalloc", "libtcmalloc_minimal.so.4", NULL, "tc_malloc", "tc_free", NULL, NULL }

/* False where it is absent: dlerror() says why. ISO C has no conversion from an object pointer to a
 * function pointer; POSIX has. */
static inline bool bench_malloc_load(bench_malloc_t *m) {
    if (m->allocate)
        return true;
    void *library = dlopen(m->library, RTLD_NOW | RTLD_LOCAL);
    if (!library && m->newer)
        library = dlopen(m->newer, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    void *allocate = dlsym(library, m->allocate_name), *deallocate = dlsym(library, m->free_name);
    if (!allocate || !deallocate)
        return false;
    memcpy(&m->allocate, &allocate, sizeof allocate);
    memcpy(&m->deallocate, &deallocate, sizeof deallocate);
    return true;
}

/* Starts the program again with room for thread-local data, unless that was done. */
static inline void bench_restart_with_room(char **argv) {
    if (getenv("GLIBC_TUNABLES") != NULL)
        return;
    setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384", 1);
    execv("/proc/self/exe", argv); /* where this fails some may be absent, no more */
}

#endif
