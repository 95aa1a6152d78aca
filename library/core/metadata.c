/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory for bookkeeping.
 *
 * Every block of jalloc's own comes from here: from malloc, or from the functions that the program
 * has set. Blocks carry no header. So they can only be given back to the functions they came from,
 * and hooks may be changed only while no block is live. One word holds both facts: the number of
 * live blocks, or METADATA_CHANGING while the hooks are being written. An allocation counts itself
 * before it looks at the hooks, a change happens only at count zero; so nobody ever reads hooks
 * that are being written, and no lock is needed. */

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"

#define METADATA_CHANGING SIZE_MAX

static void *metadata_malloc(void *context, size_t size_bytes) {
    (void)context;
    return malloc(size_bytes);
}

static void metadata_free(void *context, void *pointer) {
    (void)context;
    free(pointer);
}

static const jmetadata_hooks_t metadata_default_hooks = {sizeof(jmetadata_hooks_t), metadata_malloc,
                                                         metadata_free, NULL};
static jmetadata_hooks_t metadata_hooks = {sizeof(jmetadata_hooks_t), metadata_malloc,
                                           metadata_free, NULL};
static atomic_size_t metadata_live; /* blocks, or METADATA_CHANGING */

static size_t metadata_blocks(size_t live) { return live != METADATA_CHANGING ? live : 0; }

jstatus_t jmetadata_set_hooks(const jmetadata_hooks_t *hooks) {
    jmetadata_hooks_t taken = metadata_default_hooks;
    JTRY_RETURN(JI_TAKE_OPTIONS(jmetadata_hooks_t, &taken, hooks, deallocate));
    JREQUIRE(taken.allocate != NULL && taken.deallocate != NULL, JSTATUS_INVALID_POINTER);

    size_t live = 0;
    if (!atomic_compare_exchange_strong_explicit(&metadata_live, &live, METADATA_CHANGING,
                                                 memory_order_acquire, memory_order_relaxed))
        return ji_fail(JSTATUS_BUSY, "jmetadata_set_hooks: %zu blocks of bookkeeping are live",
                       metadata_blocks(live));

    metadata_hooks = taken;
    atomic_store_explicit(&metadata_live, 0, memory_order_release);
    return JSTATUS_SUCCESS;
}

size_t ji_metadata_live_count(void) {
    return metadata_blocks(atomic_load_explicit(&metadata_live, memory_order_relaxed));
}

void *ji_metadata_alloc(size_t size_bytes) {
    size_t live = atomic_load_explicit(&metadata_live, memory_order_relaxed);
    do {
        while (live == METADATA_CHANGING) { /* four words are being stored: it will not take long */
            sched_yield();
            live = atomic_load_explicit(&metadata_live, memory_order_relaxed);
        }
    } while (!atomic_compare_exchange_weak_explicit(&metadata_live, &live, live + 1,
                                                    memory_order_acquire, memory_order_relaxed));

    void *pointer =
        metadata_hooks.allocate(metadata_hooks.context, size_bytes != 0 ? size_bytes : 1);
    if (pointer == NULL)
        atomic_fetch_sub_explicit(&metadata_live, 1, memory_order_release);
    return pointer;
}

void *ji_metadata_zalloc(size_t size_bytes) {
    void *pointer = ji_metadata_alloc(size_bytes);
    if (pointer != NULL)
        memset(pointer, 0, size_bytes);
    return pointer;
}

void ji_metadata_free(void *pointer) {
    if (pointer == NULL)
        return;

    metadata_hooks.deallocate(metadata_hooks.context, pointer);
    atomic_fetch_sub_explicit(&metadata_live, 1, memory_order_release);
}
