/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Scratch memory for one operation, as a borrow: the limit, the once-only rule, the end of the
 * scope, the stream. */

#include "jtest.h"

#include "jalloc/borrow.h"
#include "jalloc/handle.h"

#include <string.h>

#define LIMIT 65536

static jstatus_t operate(jhandle_t *handle, size_t bytes, unsigned char mark, bool *kept) {
    JALLOC_BORROW(scratch, handle, bytes);
    if (!scratch.ok)
        return scratch.status;
    memset(scratch.ptr[0], mark, bytes);
    *kept = ((unsigned char *)scratch.ptr[0])[bytes - 1] == mark;
    return JSTATUS_SUCCESS;
}

JTEST(Scratch, HasALimitAndEndsWithItsScope) {
    jhandle_t *handle;
    bool kept = false;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jhandle_set_workspace_size(handle, LIMIT));
    for (int i = 0; i < 100; ++i)
        JEXPECT_OK(operate(handle, LIMIT, (unsigned char)i, &kept));
    JEXPECT_TRUE(kept);
    JEXPECT_STATUS(operate(handle, LIMIT + 1, 0, &kept), JSTATUS_MEMORY_ERROR);
    /* Rounded up to the granule. */
    JEXPECT_SUBSTR(jhandle_last_message(handle), "65600 bytes of workspace");
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_EQ(stats.allocation_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(stats.synchronization_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Who borrows all there is can borrow only once in that scope; after it, again. */
JTEST(Scratch, IsOneTimeWhereItTakesAll) {
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jhandle_set_workspace_size(handle, LIMIT));
    for (int round = 0; round < 2; ++round) {
        JALLOC_BORROW(once, handle, LIMIT);
        JEXPECT_OK(once.status);
        JALLOC_BORROW(twice, handle, 1);
        JEXPECT_STATUS(twice.status, JSTATUS_MEMORY_ERROR);
        JEXPECT_NULL(twice.ptr[0]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The scope ends before the stream has used the scratch; the next operation in the stream has the
 * same bytes, and comes after. */
static void copy_in_stream(void *argument) {
    unsigned char **pair = argument;
    memcpy(pair[1], pair[0], 16);
}
JTEST(Scratch, IsUsedAgainInTheOrderOfTheStream) {
    jtest_gate_t gate = JTEST_GATE_INIT;
    jhandle_t *handle;
    jstream_t *stream;
    static unsigned char seen[2][16];
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jhandle_set_stream(handle, stream));
    JASSERT_OK(jhandle_set_workspace_size(handle, LIMIT));
    JEXPECT_OK(jtest_gate_block(&gate, jdevice_host(), stream));
    void *first = NULL;
    for (int i = 0; i < 2; ++i) {
        JALLOC_BORROW(scratch, handle, LIMIT);
        JASSERT_OK(scratch.status);
        if (i == 0)
            first = scratch.ptr[0];
        JEXPECT_EQ(scratch.ptr[0], first);
        const unsigned char mark = (unsigned char)(7 + i);
        JEXPECT_OK(jdevice_fill(jdevice_host(), stream, scratch.ptr[0], &mark, 1, 16));
        unsigned char *pair[2] = {scratch.ptr[0], seen[i]};
        JEXPECT_OK(jstream_launch(jdevice_host(), stream, copy_in_stream, pair, sizeof pair));
    }
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(seen[0][15], 7);
    JEXPECT_EQ(seen[1][15], 8);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}
