/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_HANDLE_CAPTURE_HELPER_H
#define JALLOC_CLIENTS_GTEST_HANDLE_CAPTURE_HELPER_H

/* What the tests of a handle on a captured stream share: a pretended GPU with two streams, and an
 * end that looks whether anything is left, or was done that a runtime would not forgive. */

#include "handle_helper.h"
#include "pretend_gpu.h"

#include "handle/handle.h"
#include "jalloc/adaptor.h"

typedef struct fixture {
    pretend_gpu_t *gpu;
    jdevice_t *device;
    jstream_t *stream, *other;
    jhandle_t *handle;
} fixture_t;

static inline jhandle_t *make_on(const fixture_t *f, jallocator_t *allocator,
                                 size_t preallocate_bytes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = f->device;
    options.stream = f->stream;
    options.allocator = allocator;
    options.preallocate_bytes = preallocate_bytes;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}

static inline fixture_t begin(void) {
    fixture_t f = {.gpu = pretend_gpu_make()};
    f.device = &f.gpu->device;
    JEXPECT_OK(jstream_create(f.device, &f.stream));
    JEXPECT_OK(jstream_create(f.device, &f.other));
    return f;
}
static inline fixture_t begin_with_handle(void) {
    fixture_t f = begin();
    f.handle = make_on(&f, NULL, 0);
    return f;
}

/* The captures are ended and the graphs destroyed; then nothing is left, and nothing was done that
 * must not be. */
static inline void end(fixture_t *f) {
    pretend_gpu_capture(f->stream, 0);
    pretend_gpu_capture(f->other, 0);
    for (uint64_t capture = 1; capture < 20; ++capture)
        pretend_gpu_destroy_graph(capture);
    if (f->handle != NULL)
        JEXPECT_OK(jhandle_destroy(f->handle));
    f->handle = NULL;
    JEXPECT_OK(jhandle_create(NULL, &f->handle)); /* any handle looks after what is left */
    JEXPECT_OK(jhandle_destroy(f->handle));
    JEXPECT_EQ(pretend_gpu_owned(), 0);
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    JEXPECT_OK(jstream_destroy(f->stream));
    JEXPECT_OK(jstream_destroy(f->other));
    if (f->gpu->violations != 0)
        JFAIL("%u violations, the last: %s", f->gpu->violations, f->gpu->violation);
}

/* Where a borrow of so many bytes lies, which ends at once. NULL: there is none. */
static inline char *place(jhandle_t *handle, size_t bytes) {
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, handle, bytes));
    char *pointer = borrow.ptr[0];
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_TRUE(pointer == NULL ||
                 (pretend_gpu_is_live(pointer) && pretend_gpu_is_live(pointer + bytes - 1)));
    return pointer;
}

#endif
