/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_BFC_HELPER_H
#define JALLOC_CLIENTS_GTEST_BFC_HELPER_H

/* What the tests of best fit with coalescing share. The policy never touches the memory that it
 * hands out, so most tests give it addresses with nothing behind them: a scripted allocator below
 * that grants and refuses as the test says. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/bfc/bfc.h"

#include <stdatomic.h>

#define G BFC_GRANULE_BYTES
#define MIB ((size_t)1 << 20)

/* The check finds the other value there, and nothing when the right one is back. */
#define SPOILED(what, value)                                                                       \
    do {                                                                                           \
        __typeof__(what) kept_ = what;                                                             \
        what = value;                                                                              \
        JEXPECT_STATUS(jallocator_check(allocator), JSTATUS_CORRUPTED);                            \
        JEXPECT_SUBSTR(jstatus_last_message(), "bfc");                                             \
        what = kept_;                                                                              \
        JEXPECT_OK(jallocator_check(allocator));                                                   \
    } while (0)

typedef struct script {
    size_t largest_bytes; /* more is refused */
    size_t left_bytes;    /* more than is left is refused */
    size_t asked[64];     /* sizes that were asked for, the first 64 */
    size_t asked_count, granted_bytes, given_back_count;
    bool takes_nothing_back;
    uintptr_t next;
    const atomic_bool *done; /* must be true when anything is given back; NULL: does not matter */
} script_t;

static inline jstatus_t script_allocate(void *context, size_t size_bytes, size_t alignment,
                                        jstream_t *stream, void **pointer) {
    script_t *script = context;
    (void)stream;
    if (script->asked_count < 64)
        script->asked[script->asked_count] = size_bytes;
    ++script->asked_count;
    if (size_bytes > script->largest_bytes || size_bytes > script->left_bytes)
        return JSTATUS_MEMORY_ERROR;
    script->left_bytes -= size_bytes;
    script->granted_bytes += size_bytes;
    script->next = (script->next + alignment - 1) & ~(alignment - 1);
    *pointer = (void *)script->next;
    script->next += size_bytes + G; /* never adjacent */
    return JSTATUS_SUCCESS;
}
static inline jstatus_t script_deallocate(void *context, void *pointer, size_t size_bytes,
                                          jstream_t *stream) {
    script_t *script = context;
    (void)pointer, (void)stream;
    if (script->takes_nothing_back)
        return JSTATUS_DEVICE_ERROR;
    script->left_bytes += size_bytes;
    script->granted_bytes -= size_bytes;
    ++script->given_back_count;
    if (script->done != NULL)
        JEXPECT_TRUE(atomic_load(script->done));
    return JSTATUS_SUCCESS;
}

/* Limits are the test's own when it is made; the object below is destroyed with the policy. */
static inline void make(script_t *script, const jbfc_options_t *options, jallocator_t **allocator) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = script_allocate, .deallocate = script_deallocate};
    const jallocator_options_t below_options = {sizeof below_options, "script", NULL, NULL,
                                                JALLOCATOR_THREADS_NONE};
    jallocator_t *below;
    *allocator = NULL;
    script->largest_bytes = script->largest_bytes != 0 ? script->largest_bytes : SIZE_MAX;
    script->left_bytes = script->left_bytes != 0 ? script->left_bytes : SIZE_MAX / 2;
    script->next = (uintptr_t)1 << 40;
    JASSERT_OK(jallocator_create(&ops, script, &below_options, &below));
    JASSERT_OK(jallocator_create_bfc(below, options, allocator));
    JASSERT_OK(jallocator_own_below(*allocator));
}

static inline void *take_on(jallocator_t *allocator, size_t size_bytes, jstream_t *stream) {
    void *pointer;
    JEXPECT_OK(jallocator_allocate(allocator, size_bytes, 0, stream, &pointer));
    return pointer;
}

/* Everything given back, the policy and what is below it destroyed. */
static inline void end(jallocator_t *allocator) {
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_EQ(stats_of(allocator).live_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Blocks as a visitor sees them, by address. */
typedef struct view {
    jallocation_t blocks[256];
    size_t count, free_count;
} view_t;
static inline bool view_add(void *context, const jallocation_t *block) {
    view_t *view = context;
    size_t place = view->count++;
    if (view->count > 256)
        return false;
    for (; place > 0 && view->blocks[place - 1].pointer > block->pointer; --place)
        view->blocks[place] = view->blocks[place - 1];
    view->blocks[place] = *block;
    view->free_count += !block->live;
    return true;
}
static inline view_t view_of(jallocator_t *allocator) {
    view_t view = {.count = 0};
    JEXPECT_OK(jallocator_visit(allocator, view_add, &view));
    return view;
}

#endif
