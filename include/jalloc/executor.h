/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_EXECUTOR_H
#define JALLOC_EXECUTOR_H

/** @file
 * Threads of the caller's own for the work of a handle.
 *
 * By default a call shares its work with a team of threads that the library has made beforehand
 * (handle.h). A program that has threads already, as a pool or by OpenMP, lends those instead:
 * jhandle_set_executor(). The library then makes none for that handle. */

#include <stddef.h>

#include "jalloc/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who runs the parts of a call. Both functions are called from the thread that runs the work: the
 * one that called a routine, or that of a created stream; from several at once where several
 * handles have the same executor. They must not call functions of a handle, must return, and
 * not by an exception or longjmp. */
typedef struct jexecutor_t {
    size_t struct_size; /**< sizeof(jexecutor_t) */
    void *context;      /**< given to both functions */
    /** How many threads could take part now, the calling one included. Below 2: the call does all
     * by itself. A call asks at most once for each of its products or sums, and not at all where
     * that is too small to be shared. */
    int (*available)(void *context);
    /** Calls part(argument, index) for each index from 0 to count - 1, each once, and returns when
     * all have returned. `count` is at least 2 and at most what `available` has said to this call.
     * In any order, by any threads: parts do not wait for each other, so one after another is
     * right, too. A call may run parts several times. */
    void (*run)(void *context, int count, void (*part)(void *argument, int index), void *argument);
} jexecutor_t;

#define JEXECUTOR_INIT                                                                             \
    { sizeof(jexecutor_t), NULL, NULL, NULL }

#ifdef __cplusplus
}
#endif
#endif
