/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A GPU module where bookkeeping memory is short, and where each call of the runtime fails in
 * turn. */

#include "gpu_runtime_helper.h"

/* ---- Bookkeeping fails ---- */

JTEST(GpuRuntime, WithoutBookkeepingMemoryEachOperationSaysSo) {
    REQUIRE_FAKE(fake);
    jstream_t *used = make_stream();
    const uint64_t objects = fake->live_objects();
    const size_t bytes = fake->live_bytes();
    JFOR_EACH_FAILURE(i) {
        jstream_t *stream = NULL, *wrapped = NULL;
        jevent_t *event = NULL;
        void *pointer = NULL, *graph;
        atomic_int released = 0;
        int order[8];
        atomic_int next = 0;
        noted_t noted = {.next = &next, .order = order};
        const jstatus_t status[] = {
            jstream_create(gpu_device(), &stream),
            jstream_wrap(gpu_device(), native(used), &wrapped),
            jevent_create(gpu_device(), &event),
            jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 1000, 65536, &pointer),
            jstream_launch(gpu_device(), used, note, &noted, sizeof noted),
        };
        JEXPECT_OK(jstream_synchronize(gpu_device(), used));
        JASSERT_EQ(fake->begin_capture(native(used)), 0);
        const jstatus_t captured[] = {graphs_own() ? keep(used, &released) : JSTATUS_SUCCESS,
                                      graphs_own()
                                          ? jstream_launch(gpu_device(), used, do_nothing, NULL, 0)
                                          : JSTATUS_SUCCESS};
        graph = fake->end_capture(native(used));
        JEXPECT_NOT_NULL(graph);
        fake->destroy_graph(graph);
        int failed = 0;
        for (size_t k = 0; k < sizeof status / sizeof *status; ++k)
            failed += status[k] == JSTATUS_MEMORY_ERROR ? 1
                      : status[k] != JSTATUS_SUCCESS    ? 100
                                                        : 0;
        for (size_t k = 0; k < 2; ++k)
            failed += captured[k] == JSTATUS_MEMORY_ERROR ? 1
                      : captured[k] != JSTATUS_SUCCESS    ? 100
                                                          : 0;
        JEXPECT_EQ(failed, jtest_metadata_failed());
        JEXPECT_OK(jstream_destroy(stream));
        JEXPECT_OK(jstream_destroy(wrapped));
        JEXPECT_OK(jevent_destroy(event));
        JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointer, 1000));
        JEXPECT_EQ(fake->live_objects(), objects);
        JEXPECT_EQ(fake->live_bytes(), bytes);
        JEXPECT_EQ(released, captured[0] == JSTATUS_SUCCESS && graphs_own());
    }
    JEXPECT_OK(jstream_destroy(used));
}

/* ---- Every call of the runtime fails ---- */

/* An operation on the second device: `prepare` and `finish` run undisturbed, `run` with its n-th
 * call failing. */
typedef struct sweep {
    jdevice_t *device;
    jstream_t *stream, *other;
    jevent_t *event, *earlier; /* reached */
    void *memory;              /* SWEEP_BYTES of the device */
    void *pointer;             /* what was made */
    jstream_t *made_stream;
    jevent_t *made_event;
    atomic_int released;
    jstatus_t (*run)(struct sweep *s);
    jstatus_t status; /* of `run` */
} sweep_t;
#define SWEEP_BYTES 4096

typedef struct sweep_operation {
    const char *name;
    void (*prepare)(sweep_t *s); /* may be NULL */
    jstatus_t (*run)(sweep_t *s);
    void (*finish)(sweep_t *s); /* may be NULL */
    /* An object, which the runtime may refuse to end: then that one stays its own. */
    bool ends;
} sweep_operation_t;

static jstatus_t run_info(sweep_t *s) {
    size_t bytes;
    return jdevice_get_memory_info(s->device, &bytes, NULL);
}
static jstatus_t run_properties(sweep_t *s) {
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    return jdevice_get_properties(s->device, &p);
}

#define SWEEP_MEMORY_(name, kind, alignment)                                                       \
    static jstatus_t run_take_##name(sweep_t *s) {                                                 \
        return jdevice_allocate(s->device, kind, 1000, alignment, &s->pointer);                    \
    }                                                                                              \
    static jstatus_t run_give_##name(sweep_t *s) {                                                 \
        return jdevice_deallocate(s->device, kind, s->pointer, 1000);                              \
    }                                                                                              \
    static void take_##name(sweep_t *s) { JEXPECT_OK(run_take_##name(s)); }                        \
    static void give_##name##_if_taken(sweep_t *s) {                                               \
        if (s->status == JSTATUS_SUCCESS)                                                          \
            JEXPECT_OK(run_give_##name(s));                                                        \
        JEXPECT_OK(jstream_synchronize(s->device, NULL));                                          \
    }                                                                                              \
    static void give_##name##_if_kept(sweep_t *s) {                                                \
        if (s->status != JSTATUS_SUCCESS)                                                          \
            JEXPECT_OK(run_give_##name(s));                                                        \
        JEXPECT_OK(jstream_synchronize(s->device, NULL));                                          \
    }
SWEEP_MEMORY_(device, JMEMORY_DEVICE, 0)
SWEEP_MEMORY_(pinned, JMEMORY_PINNED, 0)
SWEEP_MEMORY_(managed, JMEMORY_MANAGED, 0)
SWEEP_MEMORY_(ordered, JMEMORY_STREAM_ORDERED, 0)
SWEEP_MEMORY_(aligned, JMEMORY_DEVICE, 1 << 20)
SWEEP_MEMORY_(pinned_aligned, JMEMORY_PINNED, 1 << 20)

static jstatus_t run_copy(sweep_t *s) {
    return jdevice_copy(s->device, s->stream, s->memory, (char *)s->memory + SWEEP_BYTES / 2,
                        SWEEP_BYTES / 2);
}
static jstatus_t run_copy_default(sweep_t *s) {
    return jdevice_copy(s->device, NULL, s->memory, (char *)s->memory + SWEEP_BYTES / 2,
                        SWEEP_BYTES / 2);
}
static jstatus_t run_clear(sweep_t *s) {
    return jdevice_fill(s->device, s->stream, s->memory, "\0", 1, SWEEP_BYTES);
}
static jstatus_t run_fill(sweep_t *s) {
    const uint64_t pattern = 12345;
    return jdevice_fill(s->device, s->stream, s->memory, &pattern, 8, SWEEP_BYTES / 8);
}
static jstatus_t run_launch(sweep_t *s) {
    return jstream_launch(s->device, s->stream, do_nothing, NULL, 0);
}
static jstatus_t run_synchronize(sweep_t *s) { return jstream_synchronize(s->device, s->stream); }
static jstatus_t run_get_capture(sweep_t *s) {
    uint64_t capture;
    return jstream_get_capture(s->device, s->stream, &capture);
}
static jstatus_t run_stream_create(sweep_t *s) {
    return jstream_create(s->device, &s->made_stream);
}
static jstatus_t run_stream_wrap(sweep_t *s) {
    return jstream_wrap(s->device, jstream_native(s->device, s->other), &s->made_stream);
}
static jstatus_t run_stream_destroy(sweep_t *s) {
    return s->device->ops->stream_destroy(s->made_stream);
}
static void make_a_stream(sweep_t *s) { JEXPECT_OK(run_stream_create(s)); }
static void wrap_a_stream(sweep_t *s) { JEXPECT_OK(run_stream_wrap(s)); }
static void end_stream(sweep_t *s) {
    if (s->status == JSTATUS_SUCCESS)
        JEXPECT_OK(jstream_destroy(s->made_stream));
}
static jstatus_t run_event_create(sweep_t *s) { return jevent_create(s->device, &s->made_event); }
static jstatus_t run_event_destroy(sweep_t *s) { return jevent_destroy(s->made_event); }
static void make_an_event(sweep_t *s) { JEXPECT_OK(run_event_create(s)); }
static void end_event(sweep_t *s) {
    if (s->status == JSTATUS_SUCCESS)
        JEXPECT_OK(jevent_destroy(s->made_event));
}
static jstatus_t run_event_record(sweep_t *s) { return jevent_record(s->event, s->stream); }
static void record_again(sweep_t *s) {
    JEXPECT_OK(jevent_record(s->event, s->stream));
    JEXPECT_OK(jevent_synchronize(s->event));
}
static jstatus_t run_event_wait(sweep_t *s) { return jevent_wait(s->event, s->other); }
static jstatus_t run_event_query(sweep_t *s) {
    bool reached;
    return jevent_query(s->event, &reached);
}
static jstatus_t run_event_synchronize(sweep_t *s) { return jevent_synchronize(s->event); }
static jstatus_t run_event_elapsed(sweep_t *s) {
    double ms;
    return jevent_get_elapsed_ms(s->earlier, s->event, &ms);
}

static void begin_capture(sweep_t *s) {
    s->released = 0;
    JEXPECT_EQ(gpu_fake()->begin_capture(jstream_native(s->device, s->stream)), 0);
}
static void end_capture(sweep_t *s) {
    void *graph = gpu_fake()->end_capture(jstream_native(s->device, s->stream));
    JEXPECT_NOT_NULL(graph);
    gpu_fake()->destroy_graph(graph);
}
static jstatus_t run_launch_captured(sweep_t *s) {
    return graphs_own() ? jstream_launch(s->device, s->stream, do_nothing, NULL, 0)
                        : JSTATUS_SUCCESS;
}
static jstatus_t run_keep(sweep_t *s) {
    return s->device->ops->stream_keep_in_capture(s->device, s->stream, count_release,
                                                  &s->released);
}
static void end_kept(sweep_t *s) {
    end_capture(s);
    (void)gpu_fake()->live_objects();
    JEXPECT_EQ(s->released, s->status == JSTATUS_SUCCESS); /* on failure it stays the caller's */
}

static const sweep_operation_t sweep_operations[] = {
    {"memory info", NULL, run_info, NULL, false},
    {"properties", NULL, run_properties, NULL, false},
    {"take device", NULL, run_take_device, give_device_if_taken, false},
    {"give device", take_device, run_give_device, give_device_if_kept, false},
    {"take pinned", NULL, run_take_pinned, give_pinned_if_taken, false},
    {"give pinned", take_pinned, run_give_pinned, give_pinned_if_kept, false},
    {"take managed", NULL, run_take_managed, give_managed_if_taken, false},
    {"give managed", take_managed, run_give_managed, give_managed_if_kept, false},
    {"take ordered", NULL, run_take_ordered, give_ordered_if_taken, false},
    {"give ordered", take_ordered, run_give_ordered, give_ordered_if_kept, false},
    {"take aligned", NULL, run_take_aligned, give_aligned_if_taken, true},
    {"give aligned", take_aligned, run_give_aligned, give_aligned_if_kept, false},
    {"take pinned aligned", NULL, run_take_pinned_aligned, give_pinned_aligned_if_taken, true},
    {"give pinned aligned", take_pinned_aligned, run_give_pinned_aligned,
     give_pinned_aligned_if_kept, false},
    {"copy", NULL, run_copy, NULL, false},
    {"copy in the default stream", NULL, run_copy_default, NULL, false},
    {"clear", NULL, run_clear, NULL, false},
    {"fill", NULL, run_fill, NULL, false},
    {"launch", NULL, run_launch, NULL, false},
    {"synchronize", NULL, run_synchronize, NULL, false},
    {"get capture", NULL, run_get_capture, NULL, false},
    {"stream create", NULL, run_stream_create, end_stream, false},
    {"stream wrap", NULL, run_stream_wrap, end_stream, false},
    {"stream destroy", make_a_stream, run_stream_destroy, NULL, true},
    {"wrapped stream destroy", wrap_a_stream, run_stream_destroy, NULL, false},
    {"event create", NULL, run_event_create, end_event, false},
    {"event destroy", make_an_event, run_event_destroy, NULL, true},
    {"event record", NULL, run_event_record, record_again, false},
    {"event wait", NULL, run_event_wait, NULL, false},
    {"event query", NULL, run_event_query, NULL, false},
    {"event synchronize", NULL, run_event_synchronize, NULL, false},
    {"event elapsed", NULL, run_event_elapsed, NULL, false},
    {"launch in a capture", begin_capture, run_launch_captured, end_capture, false},
    {"keep in a capture", begin_capture, run_keep, end_kept, false},
};

static jstatus_t sweep_run(void *argument) {
    sweep_t *s = argument;
    return s->run(s);
}

/* One round; whether the failure has happened. */
static bool sweep_once(const fake_gpu_control_t *fake, const sweep_operation_t *operation,
                       sweep_t *s, uint64_t n, fake_gpu_error_t error) {
    const size_t bytes = fake->live_bytes(), metadata = jtest_metadata_live_count();
    const uint64_t objects = fake->live_objects();
    const jstatus_t wanted =
        error == FAKE_GPU_OUT_OF_MEMORY ? JSTATUS_MEMORY_ERROR : JSTATUS_DEVICE_ERROR;
    if (operation->prepare != NULL)
        operation->prepare(s);
    disturbed_t d = {.run = sweep_run, .argument = s};
    s->run = operation->run;
    const bool failed = run_disturbed(&d, n, error);
    s->status = d.status;
    if (s->status != JSTATUS_SUCCESS && failed) {
        const char *message = d.message;
        JEXPECT_STATUS(s->status, wanted);
        JEXPECT_SUBSTR(message, jdevice_name(s->device));
        JEXPECT_SUBSTR(message,
                       error == FAKE_GPU_OUT_OF_MEMORY ? "ErrorOutOfMemory" : "ErrorUnknown");
        JEXPECT_NULL(strstr(message, "gpu")); /* the vendor's names, not ours */
    } else {
        JEXPECT_OK(s->status);
    }
    if (operation->finish != NULL)
        operation->finish(s);
    JEXPECT_OK(jstream_synchronize(s->device, s->stream)); /* the device goes on */
    if (operation->ends && failed) {
        JEXPECT_LE(fake->live_objects(), objects + 1);
        JEXPECT_LE(fake->live_bytes(), bytes + 1000);
    } else {
        JEXPECT_EQ(fake->live_objects(), objects);
        JEXPECT_EQ(fake->live_bytes(), bytes);
    }
    JEXPECT_EQ(jtest_metadata_live_count(), metadata);
    JEXPECT_EQ(fake->faults(), 0);
    return failed;
}

JTEST_P(GpuRuntime, EachCallOfTheRuntimeMayFail, sweep_operation_t, sweep_operations) {
    REQUIRE_FAKE(fake);
    sweep_t s = {.device = second_device(fake)};
    if (param->run == run_keep && !graphs_own())
        JSKIP("graphs own nothing");
    JASSERT_OK(jstream_create(s.device, &s.stream));
    JASSERT_OK(jstream_create(s.device, &s.other));
    JASSERT_OK(jevent_create(s.device, &s.event));
    JASSERT_OK(jevent_create(s.device, &s.earlier));
    JASSERT_OK(jevent_record(s.earlier, s.stream));
    JASSERT_OK(jevent_record(s.event, s.stream));
    JASSERT_OK(jstream_synchronize(s.device, s.stream));
    JASSERT_OK(jdevice_allocate(s.device, JMEMORY_DEVICE, SWEEP_BYTES, 0, &s.memory));
    for (int error = FAKE_GPU_OUT_OF_MEMORY; error <= FAKE_GPU_UNKNOWN_ERROR; ++error) {
        bool failed = true;
        uint64_t n = 0;
        while (failed && n < 100 && !jtest_has_failure()) {
            JSCOPED_TRACE("%s, call %d", param->name, (int)n + 1);
            failed = sweep_once(fake, param, &s, ++n, (fake_gpu_error_t)error);
        }
        if (param->run != run_launch_captured || graphs_own())
            JEXPECT_GT(n, 3); /* what is current, another, and back: at least these */
        JEXPECT_LT(n, 100);
    }
    JEXPECT_OK(jdevice_deallocate(s.device, JMEMORY_DEVICE, s.memory, SWEEP_BYTES));
    JEXPECT_OK(jevent_destroy(s.event));
    JEXPECT_OK(jevent_destroy(s.earlier));
    JEXPECT_OK(jstream_destroy(s.stream));
    JEXPECT_OK(jstream_destroy(s.other));
}
