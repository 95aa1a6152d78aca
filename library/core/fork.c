/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Counts forks. A child has its parent's memory but none of its threads, so what a thread or a device stood behind is
 * dead there, and a lock may be held for ever. An object that remembers the count at its creation can tell, by one
 * comparison and without touching a lock, that it has come through a fork. The count changes in a child before any
 * other thread can exist, so it needs no atomics. */

#include <pthread.h>

#include "core/core.h"

unsigned ji_fork_generation;

static void fork_in_child(void) { ji_fork_generation++; }

static void fork_register(void) {
    /* Fails only for want of memory in the C library; then a child is not recognised, nothing else is lost. */
    (void)pthread_atfork(NULL, NULL, fork_in_child);
}

void ji_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fork_register);
}
