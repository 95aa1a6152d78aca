/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_HANDLE_HELPER_H
#define JALLOC_CLIENTS_GTEST_HANDLE_HELPER_H

/* What the tests of the handle share: a handle on the test's watched allocator, and short words for
 * what it says. */

#include "jtest.h"

#include "jalloc/borrow.h"
#include "jalloc/handle.h"

#include <string.h>

/* A handle on jtest_failing_allocator(); preallocated where bytes is not 0. */
static inline jhandle_t *make_handle(size_t preallocate_bytes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.allocator = jtest_failing_allocator();
    options.preallocate_bytes = preallocate_bytes;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}

static inline jhandle_stats_t stats_of(jhandle_t *handle) {
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    return stats;
}

static inline jhandle_mode_t mode_of(jhandle_t *handle) {
    jhandle_mode_t mode = (jhandle_mode_t)-1;
    JEXPECT_OK(jhandle_get_mode(handle, &mode));
    return mode;
}

static inline size_t capacity_of(jhandle_t *handle) {
    size_t bytes = SIZE_MAX;
    JEXPECT_OK(jhandle_get_workspace_size(handle, &bytes));
    return bytes;
}

/* Borrows one buffer through the function. */
static inline jstatus_t borrow_one(jborrow_t *borrow, jhandle_t *handle, size_t bytes) {
    return jborrow_begin(borrow, handle, "one", 1, &bytes);
}

/* Borrows and ends at once; the status is the borrow's. */
static inline jstatus_t touch(jhandle_t *handle, size_t bytes) {
    jborrow_t borrow;
    const jstatus_t status = borrow_one(&borrow, handle, bytes);
    if (borrow.ok) {
        memset(borrow.ptr[0] ? borrow.ptr[0] : &borrow.rung, 1, borrow.ptr[0] ? bytes : 0);
        JEXPECT_OK(jborrow_end(&borrow));
    }
    return status;
}

#endif
