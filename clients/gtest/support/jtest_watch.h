/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JTEST_WATCH_H
#define JALLOC_CLIENTS_GTEST_JTEST_WATCH_H

/* What a process asks the system for, whoever in it asks: jtest_fail_calls() reaches the functions
 * that the library calls; this reaches what the C library does beneath them, too. Each call of
 * memory or threads is counted, and fails on demand. */

#include <stdbool.h>
#include <stdint.h>

/* A sanitizer's runtime maps memory at any time, and more than any limit allows. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define JTEST_HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define JTEST_HAS_SHADOW 1
#endif
#endif
#ifndef JTEST_HAS_SHADOW
#define JTEST_HAS_SHADOW 0
#endif

typedef enum {
    JTEST_GIVES_MEMORY,  /* mmap, mremap, brk, mprotect: those that can fail for want of it */
    JTEST_GIVES_THREADS, /* clone, clone3 */
    JTEST_TAKES_MEMORY,  /* munmap, madvise: counted, and never made to fail */
} jtest_watched_t;

/* From now on, of the calling thread and those that it makes. For good, so in a child. False where
 * the system cannot. */
bool jtest_watch_system(void);
/* Watched calls so far. */
uint64_t jtest_watched_count(void);
/* Of the calls of one kind from now on those numbered first, ... first + count - 1 fail as they do
 * where there is no more. */
void jtest_fail_watched(jtest_watched_t kind, uint64_t first, uint64_t count);
/* None fails from now on. Whether one has failed. */
bool jtest_watched_failed(void);

#endif
