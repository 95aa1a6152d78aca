/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SEALED_HELPER_H
#define JALLOC_CLIENTS_GTEST_SEALED_HELPER_H

/* A process that may not ask the system for memory or threads any more: a filter stops it at the
 * first call that is not allowed, and its handler says who made it. The process is a child of its
 * own, jtest_run_sealed(), of this program. */

#include <stddef.h>

#include "jtest_watch.h"

#include "jalloc/handle.h"

#if defined(__linux__) && defined(__x86_64__) && !JTEST_HAS_SHADOW
#define JTEST_HAS_SEAL 1
#else
#define JTEST_HAS_SEAL 0
#endif

/* In each fixed mode, with each number of threads. */
enum { JTEST_SEALED_THREADS = 2, JTEST_SEALED_HANDLES = 3 * JTEST_SEALED_THREADS };

/* ---- In the child ---- */

/* Who is at work, for what is said. */
extern const char *volatile jtest_sealed_work;

/* Seals the process, for all threads that there are; where the system has no such filters it says
 * so and ends. */
void jtest_seal(void);
/* Says it of who is at work, and ends. */
void jtest_sealed_fail(const char *what);
/* Says that all was called, and ends the program as programs do. */
void jtest_sealed_end(void);
/* Each with the workspace that all calls want of a handle with so many threads. */
void jtest_sealed_handles(jhandle_t *handles[JTEST_SEALED_HANDLES],
                          size_t (*queried_bytes)(int threads));

/* How much of its stack, its own data included, a thread has used when work(argument) ends, which
 * gives who failed, or NULL. */
size_t jtest_stack_bytes(void *(*work)(void *argument), void *argument);

/* ---- In the test ---- */

/* The exit status, and what was printed. */
int jtest_run_sealed(const char *filter, char *output, size_t output_bytes);
/* That a child calls all and is not stopped. */
void jtest_expect_sealed(const char *filter);

#endif
