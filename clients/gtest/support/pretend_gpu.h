/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_PRETEND_GPU_H
#define JALLOC_CLIENTS_GTEST_PRETEND_GPU_H

/* A pretended GPU: the host device with some operations exchanged. Its streams can be captured, as
 * a script says, and it watches what no GPU's runtime would forgive. No graph is ever launched;
 * what graphs own is released when the script destroys them. One per test. */

#include "jtest.h"

#include "device/device.h"

typedef struct pretend_gpu {
    jdevice_t device;
    bool has_stream_ordered, has_capture, has_capture_ownership; /* before the first handle */
    /* Calls since the last time that somebody wrote 0 here. */
    unsigned asked;                                      /* for captures */
    unsigned allocations, deallocations;                 /* in no stream's order */
    unsigned ordered_allocations, ordered_deallocations; /* in a stream's */
    unsigned waits;                                      /* of the host for a stream */
    /* What must never happen; the words say the last. */
    unsigned violations;
    const char *violation;
    /* The n-th call that can fail does; 0: none. */
    uint64_t fail_in;
    jstatus_t fail_with;
    bool failed;
    /* The first one behind a failure of bookkeeping memory does, and clears this. */
    bool fail_behind_metadata;
} pretend_gpu_t;

/* A new one, with all of it. */
pretend_gpu_t *pretend_gpu_make(void);

/* The capture that the stream is in from now on; 0: none. UINT64_MAX: one that has failed. */
void pretend_gpu_capture(jstream_t *stream, uint64_t capture);
/* The graph of that capture is destroyed: what it owns is released, in another thread. */
void pretend_gpu_destroy_graph(uint64_t capture);
/* Bytes taken and not given back. */
size_t pretend_gpu_live_bytes(void);
/* Whether the byte is in memory that is taken. */
bool pretend_gpu_is_live(const void *pointer);
/* Objects that graphs own. */
unsigned pretend_gpu_owned(void);

#endif
