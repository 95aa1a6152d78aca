/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_METADATA_H
#define JALLOC_METADATA_H

/** @file
 * Where jalloc takes memory for its own bookkeeping (handles, queues, tables), as opposed to the
 * memory it manages. A program may bring its own; a test may make the n-th allocation fail and see
 * that no memory is lost. Any thread may set the hooks; whether it may is decided at once with
 * regard to all others. */

#include <stddef.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The caller's functions for bookkeeping memory; all must be safe to call from several threads at
 * once. The memory must be aligned for any C object (as malloc's is). */
typedef struct jmetadata_hooks_t {
    size_t struct_size;                                  /**< sizeof(jmetadata_hooks_t) */
    void *(*allocate)(void *context, size_t size_bytes); /**< NULL when there is no memory */
    void (*deallocate)(void *context, void *pointer);    /**< not called with NULL */
    void *context;                                       /**< passed through */
} jmetadata_hooks_t;
#define JMETADATA_HOOKS_INIT                                                                       \
    { sizeof(jmetadata_hooks_t), NULL, NULL, NULL }

/** Replaces malloc and free for bookkeeping; NULL restores them.
 * Only while no bookkeeping is live, so that each block returns to where it came from.
 * @return success; invalid value (struct_size), invalid pointer (a NULL function), busy
 * (bookkeeping is live). */
JALLOC_API jstatus_t jmetadata_set_hooks(const jmetadata_hooks_t *hooks);

#ifdef __cplusplus
}
#endif
#endif
