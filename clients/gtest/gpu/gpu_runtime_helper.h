/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_GPU_GPU_RUNTIME_HELPER_H
#define JALLOC_CLIENTS_GTEST_GPU_GPU_RUNTIME_HELPER_H

/* What the tests of a GPU module over its runtime share: what a test needs of the device, its
 * streams and events, and something that is run with one of the runtime's calls failing. */

#include "gpu_device.h"

#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE_FAKE(fake)                                                                         \
    const fake_gpu_control_t *const fake = gpu_fake();                                             \
    if (fake == NULL)                                                                              \
    JSKIP("needs the fake runtime")

/* Whose streams and graphs the test plays with; what is counted is the fake one's. */
#define REQUIRE_PROGRAM(program)                                                                   \
    const fake_gpu_control_t *const program = gpu_program();                                       \
    if (program == NULL)                                                                           \
    JSKIP(GPU_NO_PROGRAM)

static inline bool is_hip(void) { return jdevice_kind(gpu_device()) == JDEVICE_HIP; }
static inline const char *kind_name(void) { return is_hip() ? "hip" : "cuda"; }

static inline jstream_t *make_stream(void) {
    jstream_t *stream = NULL;
    JEXPECT_OK(jstream_create(gpu_device(), &stream));
    return stream;
}

static inline jevent_t *make_event(void) {
    jevent_t *event = NULL;
    JEXPECT_OK(jevent_create(gpu_device(), &event));
    return event;
}

static inline void *native(jstream_t *stream) { return jstream_native(gpu_device(), stream); }

/* The second device of the fake machine: not the current one. */
static inline jdevice_t *second_device(const fake_gpu_control_t *fake) {
    char name[16];
    jdevice_t *device = NULL;
    fake->set_device_count(2);
    snprintf(name, sizeof name, "%s:1", kind_name());
    JEXPECT_OK(jdevice_get(name, &device));
    return device;
}

/* Something to be run with a call of the runtime failing, and what came of it. */
typedef struct disturbed {
    jstatus_t (*run)(void *argument);
    void *argument;
    jstatus_t status;
    char message[512];
    int left; /* the runtime's error, for the program to find */
} disturbed_t;

static inline void *disturbed_thread(void *argument) {
    disturbed_t *d = argument;
    d->status = d->run(d->argument);
    snprintf(d->message, sizeof d->message, "%s", jstatus_last_message());
    d->left = gpu_fake()->last_error();
    return NULL;
}

/* With the n-th call failing; whether there was one. On a thread of its own, because the call that
 * fails may be one that puts back what the thread had, its current device or its capture mode. */
static inline bool run_disturbed(disturbed_t *d, uint64_t n, fake_gpu_error_t error) {
    pthread_t thread;
    gpu_fake()->fail_after(n, error);
    JEXPECT_EQ(pthread_create(&thread, NULL, disturbed_thread, d), 0);
    pthread_join(thread, NULL);
    const bool failed = gpu_fake()->has_failed();
    gpu_fake()->fail_after(0, error);
    JEXPECT_EQ(d->left, 0);
    return failed;
}

/* ---- Work that tests enqueue, and what a graph keeps ---- */

static const jmemory_kind_t kinds[] = {JMEMORY_DEVICE, JMEMORY_PINNED, JMEMORY_MANAGED,
                                       JMEMORY_STREAM_ORDERED};

typedef struct noted {
    atomic_int *next;
    int *order;
    int number;
    char rest[JSTREAM_MAX_ARGUMENT_BYTES - 20]; /* its last one is 'e' */
} noted_t;

static inline void note(void *arguments) {
    noted_t *noted = arguments;
    const bool whole = noted->rest[sizeof noted->rest - 1] == 'e';
    noted->order[(*noted->next)++] = whole ? noted->number : -1;
    memset(arguments, 0, sizeof *noted); /* are this run's own */
}

static inline void do_nothing(void *arguments) { (void)arguments; }

static inline bool graphs_own(void) {
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    return jdevice_get_properties(gpu_device(), &p) == JSTATUS_SUCCESS && p.has_capture_ownership;
}

static inline void count_release(void *object) { ++*(atomic_int *)object; }

static inline jstatus_t keep(jstream_t *stream, atomic_int *released) {
    return gpu_device()->ops->stream_keep_in_capture(gpu_device(), stream, count_release, released);
}

#endif
