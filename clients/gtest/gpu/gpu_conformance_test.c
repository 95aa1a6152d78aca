/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The suite of allocators (conformance_test.c) over a GPU's memory, which faults when the host
 * touches it; and each call of the runtime failing under every kind. */

#include "conformance.h"
#include "gpu_device.h"

#include "jalloc/allocator.h"

#include <string.h>

jdevice_t *conformance_device(void) { return gpu_device(); }

static const char *compositions[] = {
    "device",
    "device(kind=pinned)",
    "device(kind=managed)",
    "device(kind=ordered)",
    "stack",
    "slots(slot=131328)",
    "pool",
    "bfc",
    "lru",
    "small",
    "general",
    "track",
    "exact",
    "guard",
    "fill",
    "limit(limit=1G)",
    "align(alignment=128)",
    "statistics",
    "device(kind=ordered)+bfc",
    "device(kind=ordered)+pool",
    "bfc+guard+lru",
};

typedef struct attempt {
    const char *composition;
    fake_gpu_error_t error;
} attempt_t;

/* Two streams take, use and give back; what the allocator answers when the runtime fails is a
 * status, and it goes on.
 * */
static void use(jallocator_t *allocator, jstream_t *const streams[2]) {
    enum { BLOCKS = 8 };
    void *pointers[BLOCKS] = {NULL};
    size_t sizes[BLOCKS];
    for (int i = 0; i < BLOCKS; ++i) {
        sizes[i] = 1000 + 9000 * (size_t)i;
        const jstatus_t status =
            jallocator_allocate(allocator, sizes[i], 0, streams[i % 2], &pointers[i]);
        JEXPECT_EQ(status == JSTATUS_SUCCESS, pointers[i] != NULL);
        if (i >= 3 && pointers[i - 3] != NULL &&
            jallocator_deallocate(allocator, pointers[i - 3], sizes[i - 3], streams[(i - 3) % 2]) ==
                JSTATUS_SUCCESS)
            pointers[i - 3] = NULL;
    }
    (void)jallocator_trim(allocator, 1 << 14);
    (void)jallocator_check(allocator);
    for (int i = 0; i < BLOCKS; ++i)
        /* A free that failed can be made again. */
        for (int tries = 0; tries < 2 && pointers[i] != NULL; ++tries)
            if (jallocator_deallocate(allocator, pointers[i], sizes[i], streams[i % 2]) ==
                JSTATUS_SUCCESS)
                pointers[i] = NULL;
}

typedef const char *composition_t;
JTEST_P(GpuConformance, EachFailedCallOfTheRuntimeLosesNothing, composition_t, compositions) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("needs the fake runtime");
    for (int error = FAKE_GPU_OUT_OF_MEMORY; error <= FAKE_GPU_UNKNOWN_ERROR; ++error) {
        bool failed = true;
        for (uint64_t n = 1; failed && !jtest_has_failure(); ++n) {
            JSCOPED_TRACE("%s, call %d fails with %d", *param, (int)n, error);
            jstream_t *streams[2];
            jallocator_t *allocator = NULL;
            for (int i = 0; i < 2; ++i)
                JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
            const size_t before = fake->live_bytes();
            JASSERT_OK(jallocator_compose(gpu_device(), *param, &allocator));
            fake->fail_after(n, (fake_gpu_error_t)error);
            use(allocator, streams);
            failed = fake->has_failed();
            fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
            jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
            JEXPECT_OK(jallocator_get_stats(allocator, &stats));
            JEXPECT_EQ(stats.live_count, 0);
            JEXPECT_OK(jallocator_check(allocator));
            JEXPECT_OK(jallocator_trim(allocator, 0));
            JEXPECT_OK(jallocator_destroy(allocator));
            /* A device that refuses to take back what is not aligned as asked for has lost it. */
            if (strcmp(*param, "small") != 0 && strcmp(*param, "general") != 0)
                JEXPECT_EQ(fake->live_bytes(), before);
            for (int i = 0; i < 2; ++i)
                JEXPECT_OK(jstream_destroy(streams[i]));
            JEXPECT_EQ(fake->faults(), 0);
        }
    }
}
