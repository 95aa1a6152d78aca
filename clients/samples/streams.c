/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Streams: one handle, two streams, and a workspace that both may use because the handle keeps them
 * in order.
 *
 * A smoothing kernel uses a borrowed buffer. It is enqueued in one stream, the handle is moved to
 * another stream, and it is enqueued there too, with the same workspace. The host never waits in
 * between: jhandle_set_stream() makes the second stream wait, by an event, for the workspace's last
 * use in the first. To prove it rather than hope for it, the first stream stands behind a gate that
 * the host opens only after everything was enqueued. */

#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "sample.h"

enum { COUNT = 4096, ROUNDS = 200 };

typedef struct smooth_arguments {
    double *values;  /* COUNT of them, smoothed in place */
    double *scratch; /* as many, borrowed */
} smooth_arguments_t;

/* ROUNDS times: each value becomes the mean of itself and its neighbours on a ring. */
static void smooth_kernel(void *arguments) {
    smooth_arguments_t *s = arguments;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            s->scratch[i] =
                (s->values[(i + COUNT - 1) % COUNT] + s->values[i] + s->values[(i + 1) % COUNT]) /
                3;
        for (int i = 0; i < COUNT; i++)
            s->values[i] = s->scratch[i];
    }
}

/* Enqueues the kernel in the handle's stream. The borrow ends when the function returns, long
 * before the kernel runs: the memory stays the kernel's in stream order. */
static jstatus_t smooth(jhandle_t *handle, double *values) {
    JALLOC_BORROW(ws, handle, COUNT * sizeof(double));
    if (!ws.ok)
        return ws.status;
    jstream_t *stream;
    jhandle_get_stream(handle, &stream);
    smooth_arguments_t arguments = {values, ws.ptr[0]};
    return jstream_launch(jhandle_device(handle), stream, smooth_kernel, &arguments,
                          sizeof arguments);
}

static atomic_bool gate_open;

static void wait_at_gate(void *unused) {
    (void)unused;
    while (!atomic_load(&gate_open))
        sched_yield();
}

int main(void) {
    static double left[COUNT], right[COUNT], expected[COUNT], scratch[COUNT];
    for (int i = 0; i < COUNT; i++)
        left[i] = right[i] = expected[i] = i < COUNT / 2;
    smooth_kernel(&(smooth_arguments_t){expected, scratch});

    jdevice_t *host = jdevice_host();
    jstream_t *first, *second;
    jevent_t *started, *done;
    TRY(jstream_create(host, &first));
    TRY(jstream_create(host, &second));
    TRY(jevent_create(host, &started));
    TRY(jevent_create(host, &done));

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.stream = first;
    options.preallocate_bytes = COUNT * sizeof(double); /* a fixed mode: no call ever waits */
    jhandle_t *handle;
    TRY(jhandle_create(&options, &handle));

    TRY(jstream_launch(host, first, wait_at_gate, NULL, 0));
    TRY(jevent_record(started, first));
    TRY(smooth(handle, left));
    /* `second` waits for the workspace, the host does not */
    TRY(jhandle_set_stream(handle, second));
    TRY(smooth(handle, right));
    TRY(jevent_record(done, second));

    bool reached;
    TRY(jevent_query(done, &reached));
    printf("everything is enqueued; done already: %s\n", reached ? "yes" : "no");
    CLAIM(!reached); /* the gate is shut, so nothing can have run in either stream */
    atomic_store(&gate_open, true);

    double milliseconds;
    TRY(jevent_synchronize(done));
    TRY(jevent_get_elapsed_ms(started, done, &milliseconds));
    double difference = 0;
    for (int i = 0; i < COUNT; i++)
        difference =
            fmax(difference, fmax(fabs(left[i] - expected[i]), fabs(right[i] - expected[i])));
    printf("both smoothed in %.3f ms through one workspace; largest difference from one after the "
           "other: %g\n",
           milliseconds, difference);
    CLAIM(difference == 0);

    TRY(jhandle_destroy(handle));
    TRY(jevent_destroy(started));
    TRY(jevent_destroy(done));
    TRY(jstream_destroy(second));
    TRY(jstream_destroy(first));
    return 0;
}
