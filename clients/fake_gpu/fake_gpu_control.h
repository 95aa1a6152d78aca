/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_CONTROL_H
#define JALLOC_CLIENTS_FAKE_GPU_CONTROL_H

/* What a test can ask of the fake runtime and tell it. A module over it exports one object of this
 * type by the name fake_gpu_control. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which error an injected failure is. */
typedef enum fake_gpu_error_t { FAKE_GPU_OUT_OF_MEMORY, FAKE_GPU_UNKNOWN_ERROR } fake_gpu_error_t;

typedef enum fake_gpu_capture_mode_t {
    FAKE_GPU_CAPTURE_GLOBAL,
    FAKE_GPU_CAPTURE_THREAD_LOCAL,
    FAKE_GPU_CAPTURE_RELAXED
} fake_gpu_capture_mode_t;

typedef struct fake_gpu_control_t {
    /* The n-th call of the runtime from now on fails, once; 0: none. And whether it has. */
    void (*fail_after)(uint64_t n, fake_gpu_error_t error);
    bool (*has_failed)(void);

    /* Calls since reset_counts(): of one name such as "Malloc" ("EventCreate, timed": of those); of
     * all that take memory, give it back, or make the host wait. */
    void (*reset_counts)(void);
    uint64_t (*count)(const char *call);
    uint64_t (*count_all)(void);
    uint64_t (*count_allocations)(void);
    uint64_t (*count_frees)(void);
    uint64_t (*count_waits)(void);

    /* What the machine has. Devices: 0 .. 4, seen by the next open. Memory of each. */
    void (*set_device_count)(int count);
    void (*set_total_bytes)(size_t total_bytes);

    /* What is held now: bytes of memory; streams, events, graphs, user objects. */
    size_t (*live_bytes)(void);
    uint64_t (*live_objects)(void);

    /* Graphs, for tests that play the application. Native streams as jstream_native() gives them.
     * NULL graph: failed. What a graph owned has been released when end_capture has failed or
     * destroy_graph returns, unless a launch of it has not run yet. */
    int (*begin_capture)(void *stream);
    void *(*end_capture)(void *stream);
    int (*launch_graph)(void *graph, void *stream); /* instantiated on first use */
    void (*destroy_graph)(void *graph);

    /* Faults: what a program must never cause, such as a kernel that writes past an allocation, a
     * divergent barrier, a call of the runtime in a host function. How many, and the last one in
     * words (until the thread asks again). From the first on every call fails, until they are
     * cleared. */
    uint64_t (*faults)(void);
    const char *(*last_fault)(void);
    void (*clear_faults)(void);

    /* After how many milliseconds (100 at first) work starts that nobody has waited for. */
    void (*set_laziness_ms)(uint64_t milliseconds);
    /* Begins the sequence that orders of blocks, threads and nodes are drawn from anew;
     * FAKE_GPU_SEED at first, or 1. */
    void (*set_seed)(uint64_t seed);
    /* The runtime's sticky error of the calling thread, which becomes success; 0: success. */
    int (*last_error)(void);
    /* Leaves one there, as a call of the program's that failed. */
    void (*leave_error)(void);
    /* As if no kernel had been launched yet. */
    void (*unload_kernels)(void);

    /* The program makes a device current. The device of the calling thread's context; -1: it has
     * none (HIP: always). Whether a device has a context; and as if it had none. */
    int (*set_device)(int device);
    int (*context)(void);
    bool (*has_context)(int device);
    void (*end_context)(int device);

    /* For tests that play the application: begin_capture is in global mode. Native streams. */
    int (*begin_capture_as)(void *stream, fake_gpu_capture_mode_t mode);
    void *(*create_stream)(bool blocking); /* blocking: ordered with the legacy default stream */
    int (*destroy_stream)(void *stream);
} fake_gpu_control_t;

extern __attribute__((visibility("default"))) const fake_gpu_control_t fake_gpu_control;

#ifdef __cplusplus
}
#endif
#endif
