/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a GPU module makes of the runtime: memory, streams, events, copies, fills, captures, forks, and each of the
 * runtime's calls failing. Most of it holds on a real GPU as well; what needs the fake runtime's control skips there. */

#include "gpu_device.h"

#include "core/core.h"
#include "device/device.h"
#include "device/module.h"
#include "jalloc/borrow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE_FAKE(fake)                                                                                             \
    const fake_gpu_control_t *const fake = gpu_fake();                                                                 \
    if (fake == NULL)                                                                                                  \
    JSKIP("needs the fake runtime")

/* Whose streams and graphs the test plays with; what is counted is the fake one's. */
#define REQUIRE_PROGRAM(program)                                                                                       \
    const fake_gpu_control_t *const program = gpu_program();                                                           \
    if (program == NULL)                                                                                               \
    JSKIP(GPU_NO_PROGRAM)

static bool is_hip(void) { return jdevice_kind(gpu_device()) == JDEVICE_HIP; }
static const char *kind_name(void) { return is_hip() ? "hip" : "cuda"; }

static jstream_t *make_stream(void) {
    jstream_t *stream = NULL;
    JEXPECT_OK(jstream_create(gpu_device(), &stream));
    return stream;
}

static jevent_t *make_event(void) {
    jevent_t *event = NULL;
    JEXPECT_OK(jevent_create(gpu_device(), &event));
    return event;
}

static void *native(jstream_t *stream) { return jstream_native(gpu_device(), stream); }

/* The second device of the fake machine: not the current one. */
static jdevice_t *second_device(const fake_gpu_control_t *fake) {
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

static void *disturbed_thread(void *argument) {
    disturbed_t *d = argument;
    d->status = d->run(d->argument);
    snprintf(d->message, sizeof d->message, "%s", jstatus_last_message());
    d->left = gpu_fake()->last_error();
    return NULL;
}

/* With the n-th call failing; whether there was one. On a thread of its own, because the call that fails may be one that
 * puts back what the thread had, its current device or its capture mode. */
static bool run_disturbed(disturbed_t *d, uint64_t n, fake_gpu_error_t error) {
    pthread_t thread;
    gpu_fake()->fail_after(n, error);
    JEXPECT_EQ(pthread_create(&thread, NULL, disturbed_thread, d), 0);
    pthread_join(thread, NULL);
    const bool failed = gpu_fake()->has_failed();
    gpu_fake()->fail_after(0, error);
    JEXPECT_EQ(d->left, 0);
    return failed;
}

/* ---- Opening ---- */

JTEST(GpuRuntime, PropertiesSayWhatTheDeviceIs) {
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    size_t free_bytes = 0, total_bytes = 0;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &p));
    JEXPECT_EQ(p.struct_size, sizeof p);
    JEXPECT_TRUE(p.description[0] != '\0');
    JEXPECT_SUBSTR(p.architecture, is_hip() ? "gfx" : "sm_");
    JEXPECT_NULL(strchr(p.architecture, ':')); /* without features */
    JEXPECT_SUBSTR(p.runtime, is_hip() ? "HIP " : "CUDA ");
    JEXPECT_SUBSTR(p.runtime, ", driver ");
    JEXPECT_NULL(strstr(p.runtime, "driver 0"));
    JEXPECT_EQ(p.granule_bytes, 256);
    JEXPECT_EQ(jdevice_granule_bytes(gpu_device()), 256);
    JEXPECT_GT(p.multiprocessors, 0);
    JEXPECT_TRUE(p.wave_size == 32 || p.wave_size == 64);
    JEXPECT_GT(p.l2_cache_bytes, 0);
    JEXPECT_TRUE(p.has_capture);
    JASSERT_OK(jdevice_get_memory_info(gpu_device(), &free_bytes, &total_bytes));
    JEXPECT_GT(free_bytes, 0);
    JEXPECT_LE(free_bytes, total_bytes);
    JEXPECT_GE(p.total_bytes, total_bytes);
    JEXPECT_STREQ(jdevice_name(gpu_device()), gpu_device_name());
}

JTEST(GpuRuntime, DevicesAreCountedAndNumbersBeyondSayHowManyThereAre) {
    REQUIRE_FAKE(fake);
    int count = 0;
    char name[16];
    jdevice_t *second = second_device(fake), *none = NULL;
    JEXPECT_OK(jdevice_get_count(jdevice_kind(gpu_device()), &count));
    JEXPECT_EQ(count, 2);
    JEXPECT_EQ(jdevice_index(second), 1);
    JEXPECT_NE(second, gpu_device());
    snprintf(name, sizeof name, "%s:2", kind_name());
    JEXPECT_STATUS(jdevice_get(name, &none), JSTATUS_NO_DEVICE);
    JEXPECT_NULL(none);
    JEXPECT_SUBSTR(jstatus_last_message(), "no such number, there are 2");
}

/* The module's own entry, asked by the test for a device that the library did not ask for. */
#define OPENED_INDEX 3
static const ji_module_services_t services = {ji_fail, ji_metadata_zalloc, ji_metadata_free, &ji_fork_generation, true};

static ji_module_open_t module_open(void) {
    ji_module_open_t open = NULL;
    Dl_info file = {0};
    JEXPECT_NE(dladdr(gpu_fake(), &file), 0);
    void *library = dlopen(file.dli_fname, RTLD_NOW | RTLD_LOCAL),
         *symbol = library ? dlsym(library, JI_MODULE_OPEN) : NULL;
    JEXPECT_NOT_NULL(symbol);
    memcpy(&open, &symbol, sizeof open);
    return open;
}

JTEST(GpuRuntime, OpeningSaysWhyThereIsNoDevice) {
    REQUIRE_FAKE(fake);
    ji_module_open_t open = module_open();
    jdevice_t *device = NULL;
    char reason[256];
    fake->set_device_count(0);
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, 0, NULL, reason, sizeof reason), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(reason, "ErrorNoDevice");
    JEXPECT_SUBSTR(reason, "no GPU device is detected"); /* the runtime's words */
    JEXPECT_EQ(fake->last_error(), 0);
    fake->set_device_count(1);
    JEXPECT_OK(open(JI_MODULE_ABI, &services, 0, NULL, reason, sizeof reason));
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, 1, &device, reason, sizeof reason), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(reason, "no such number, there is 1");
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, -1, &device, reason, sizeof reason), JSTATUS_NO_DEVICE);
    JEXPECT_NULL(device);
    JEXPECT_STATUS(open(JI_MODULE_ABI + 1, NULL, 0, &device, reason, sizeof reason), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(reason, "another version of libjalloc");
    char cut[8];
    JEXPECT_STATUS(open(JI_MODULE_ABI + 1, NULL, 0, &device, cut, sizeof cut), JSTATUS_NO_DEVICE);
    JEXPECT_EQ(strlen(cut), sizeof cut - 1);
}

typedef struct opening {
    ji_module_open_t open;
    jdevice_t *device;
    char reason[256];
} opening_t;

static jstatus_t run_open(void *argument) {
    opening_t *o = argument;
    return o->open(JI_MODULE_ABI, &services, OPENED_INDEX, &o->device, o->reason, sizeof o->reason);
}

JTEST(GpuRuntime, OpeningWithEachCallFailingIsNoDeviceOrWorksWithoutIt) {
    REQUIRE_FAKE(fake);
    fake->set_device_count(OPENED_INDEX + 1);
    bool failed = true;
    int refused = 0;
    for (uint64_t n = 1; failed && n < 100; ++n) {
        JSCOPED_TRACE("call %d", (int)n);
        opening_t o = {module_open(), NULL, ""};
        disturbed_t d = {.run = run_open, .argument = &o};
        failed = run_disturbed(&d, n, FAKE_GPU_UNKNOWN_ERROR);
        if (d.status == JSTATUS_SUCCESS) {
            JASSERT_NOT_NULL(o.device);
            JEXPECT_EQ(jdevice_index(o.device), OPENED_INDEX);
        } else {
            ++refused;
            JEXPECT_STATUS(d.status, JSTATUS_NO_DEVICE);
            JEXPECT_NULL(o.device);
            JEXPECT_TRUE(o.reason[0] != '\0');
        }
    }
    JEXPECT_FALSE(failed);
    JEXPECT_GE(refused, 3); /* how many, what it is, whether it runs kernels */
    fake->set_device_count(1);
}

/* ---- Memory ---- */

static const jmemory_kind_t kinds[] = {JMEMORY_DEVICE, JMEMORY_PINNED, JMEMORY_MANAGED, JMEMORY_STREAM_ORDERED};

JTEST(GpuRuntime, MemoryOfEachKindIsAlignedAndUsable) {
    const fake_gpu_control_t *fake = gpu_fake();
    const size_t live = fake != NULL ? fake->live_bytes() : 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (int shift = 0; shift <= (kinds[k] == JMEMORY_STREAM_ORDERED ? 8 : 21); shift += shift < 8 ? 4 : 1) {
            const size_t bytes = (size_t)jtest_random_between(1, 100000), alignment = (size_t)1 << shift;
            JSCOPED_TRACE("kind %d, %zu bytes aligned to %zu", (int)kinds[k], bytes, alignment);
            unsigned char *pointer = NULL, *copy = malloc(bytes);
            const unsigned char value = (unsigned char)jtest_random_between(1, 254);
            JASSERT_OK(jdevice_allocate(gpu_device(), kinds[k], bytes, alignment, (void **)&pointer));
            JEXPECT_EQ((uintptr_t)pointer % alignment, 0);
            JEXPECT_OK(jdevice_fill(gpu_device(), NULL, pointer, &value, 1, bytes));
            if (kinds[k] == JMEMORY_PINNED || kinds[k] == JMEMORY_MANAGED) { /* the host's too */
                JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
                JEXPECT_EQ(pointer[bytes - 1], value);
            }
            gpu_download(copy, pointer, bytes);
            JEXPECT_EQ(copy[0], value);
            JEXPECT_EQ(copy[bytes - 1], value);
            free(copy);
            JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[k], pointer, bytes));
            JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        }
    if (fake != NULL)
        JEXPECT_EQ(fake->live_bytes(), live);
}

static void *align_in_thread(void *argument) {
    atomic_int *bad = argument;
    void *pointers[16];
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 16; ++i)
            if (jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 1000, (size_t)1 << (9 + i % 4), &pointers[i]) !=
                    JSTATUS_SUCCESS ||
                (uintptr_t)pointers[i] % ((size_t)1 << (9 + i % 4)) != 0)
                ++*bad;
        for (int i = 0; i < 16; ++i)
            *bad += jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointers[(i * 5) % 16], 1000) != JSTATUS_SUCCESS;
    }
    return NULL;
}

JTEST(GpuRuntime, LargeAlignmentsAreKeptApartByThreads) {
    const fake_gpu_control_t *fake = gpu_fake();
    const size_t live = fake != NULL ? fake->live_bytes() : 0;
    pthread_t threads[4];
    atomic_int bad = 0;
    (void)gpu_device();
    for (int i = 0; i < 4; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, align_in_thread, &bad), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(bad, 0);
    if (fake != NULL)
        JEXPECT_EQ(fake->live_bytes(), live);
}

/* The message has both numbers, nothing is held, the program finds no error of ours, and less can be had. */
JTEST(GpuRuntime, OutOfMemoryNamesTheBytesAndLeavesNothingBehind) {
    REQUIRE_FAKE(fake);
    const size_t live = fake->live_bytes();
    size_t free_bytes = 0;
    char text[64];
    fake->set_total_bytes((size_t)8 << 20);
    JASSERT_OK(jdevice_get_memory_info(gpu_device(), &free_bytes, NULL));
    for (size_t more = 1; more < (size_t)1 << 40; more = more * 16 + 255)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
            if (kinds[k] == JMEMORY_PINNED)
                continue;
            JSCOPED_TRACE("kind %d, %zu bytes more than there are", (int)kinds[k], more);
            void *pointer = &free_bytes;
            JEXPECT_STATUS(jdevice_allocate(gpu_device(), kinds[k], free_bytes + more, 0, &pointer),
                           JSTATUS_MEMORY_ERROR);
            JEXPECT_EQ(pointer, (void *)&free_bytes);
            snprintf(text, sizeof text, "%zu bytes", free_bytes + more);
            JEXPECT_SUBSTR(jstatus_last_message(), text);
            snprintf(text, sizeof text, "%zu of %zu bytes are free", free_bytes, (size_t)8 << 20);
            JEXPECT_SUBSTR(jstatus_last_message(), text);
            JEXPECT_EQ(fake->last_error(), 0);
            JEXPECT_EQ(fake->live_bytes(), live);
            JASSERT_OK(jdevice_allocate(gpu_device(), kinds[k], free_bytes / 2, 0, &pointer));
            JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[k], pointer, free_bytes / 2));
            JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        }
    fake->set_total_bytes((size_t)1 << 30);
}

static jstatus_t run_take_pinned_bytes(void *pointer) {
    return jdevice_allocate(gpu_device(), JMEMORY_PINNED, 12345, 0, pointer);
}

JTEST(GpuRuntime, PinnedMemoryThatIsNotThereNamesTheBytes) {
    REQUIRE_FAKE(fake);
    const size_t live = fake->live_bytes();
    int said = 0;
    bool failed = true;
    for (uint64_t n = 1; failed && n < 20; ++n) {
        void *pointer = NULL;
        disturbed_t d = {.run = run_take_pinned_bytes, .argument = &pointer};
        failed = run_disturbed(&d, n, FAKE_GPU_OUT_OF_MEMORY);
        if (d.status != JSTATUS_SUCCESS)
            said += strstr(d.message, "no pinned memory for 12345 bytes: out of memory") != NULL;
        JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_PINNED, pointer, 12345));
        JEXPECT_EQ(fake->live_bytes(), live);
    }
    JEXPECT_EQ(said, 1);
}

/* A GPU that has to page can hang, so the runtime is not even asked. */
JTEST(GpuRuntime, ManagedMemoryIsBoundedByWhatIsFreeNow) {
    REQUIRE_FAKE(fake);
    size_t free_bytes = 0;
    void *most = NULL, *managed = NULL;
    fake->set_total_bytes((size_t)8 << 20);
    JASSERT_OK(jdevice_get_memory_info(gpu_device(), &free_bytes, NULL));
    JASSERT_OK(jdevice_allocate(gpu_device(), JMEMORY_DEVICE, free_bytes - 4096, 0, &most));
    fake->reset_counts();
    JEXPECT_STATUS(jdevice_allocate(gpu_device(), JMEMORY_MANAGED, 4097, 0, &managed), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "4097 bytes of managed memory, and only 4096 of 8388608 bytes are free");
    JEXPECT_EQ(fake->count("MallocManaged"), 0);
    JEXPECT_OK(jdevice_allocate(gpu_device(), JMEMORY_MANAGED, 4096, 0, &managed));
    JEXPECT_EQ(fake->count("MallocManaged"), 1);
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_MANAGED, managed, 4096));
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, most, free_bytes - 4096));
    fake->set_total_bytes((size_t)1 << 30);
}

JTEST(GpuRuntime, MemoryInStreamOrderGoesFromStreamToStream) {
    const fake_gpu_control_t *fake = gpu_fake();
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &p));
    if (!p.has_stream_ordered)
        JSKIP("the device has no memory in stream order");
    const size_t live = fake != NULL ? fake->live_bytes() : 0;
    jstream_t *first = make_stream(), *second = make_stream();
    jevent_t *event = make_event();
    const uint32_t pattern = 0x12345678;
    enum { BYTES = 64 * sizeof pattern };
    uint32_t *pointer = NULL, *got = NULL; /* a copy to ordinary memory waits */
    JASSERT_OK(jdevice_allocate(gpu_device(), JMEMORY_PINNED, BYTES, 0, (void **)&got));
    if (fake != NULL)
        fake->reset_counts();
    JASSERT_OK(jdevice_allocate_ordered(gpu_device(), first, BYTES, (void **)&pointer));
    JEXPECT_EQ((uintptr_t)pointer % 256, 0);
    JEXPECT_OK(jdevice_fill(gpu_device(), first, pointer, &pattern, sizeof pattern, 64));
    JEXPECT_OK(jevent_record(event, first));
    JEXPECT_OK(jevent_wait(event, second));
    JEXPECT_OK(jdevice_copy(gpu_device(), second, got, pointer, BYTES));
    JEXPECT_OK(jdevice_deallocate_ordered(gpu_device(), second, pointer, BYTES));
    if (fake != NULL)
        JEXPECT_EQ(fake->count_waits(), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), second));
    JEXPECT_EQ(got[0], pattern);
    JEXPECT_EQ(got[63], pattern);
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_PINNED, got, BYTES));
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    if (fake != NULL)
        JEXPECT_EQ(fake->live_bytes(), live);
}

/* ---- Copies and fills ---- */

#define FILL_BYTES 2048
#define RIM 0x5A

/* Every alignment of the destination, every pattern; nothing before, nothing behind. */
JTEST(GpuRuntime, FillsHitEveryAlignmentPatternAndCountAndNothingElse) {
    unsigned char *device = gpu_take(FILL_BYTES), got[FILL_BYTES], wanted[FILL_BYTES], pattern[16];
    const unsigned char rim = RIM;
    for (size_t pattern_bytes = 1; pattern_bytes <= 16; pattern_bytes *= 2)
        for (size_t offset = 0; offset < 33; ++offset)
            for (int round = 0; round < 4; ++round) {
                const size_t most = (FILL_BYTES - offset) / pattern_bytes;
                const size_t count =
                    round == 0
                        ? 1
                        : (size_t)jtest_random_between(1, round == 1 ? (int64_t)(64 / pattern_bytes) : (int64_t)most);
                JSCOPED_TRACE("pattern of %zu bytes, %zu times, at %zu", pattern_bytes, count, offset);
                for (int i = 0; i < 16; ++i)
                    pattern[i] = (unsigned char)jtest_random();
                memset(wanted, RIM, sizeof wanted);
                for (size_t i = 0; i < pattern_bytes * count; ++i)
                    wanted[offset + i] = pattern[i % pattern_bytes];
                JASSERT_OK(jdevice_fill(gpu_device(), NULL, device, &rim, 1, FILL_BYTES));
                JASSERT_OK(jdevice_fill(gpu_device(), NULL, device + offset, pattern, pattern_bytes, count));
                memset(pattern, 0, sizeof pattern); /* was read */
                gpu_download(got, device, sizeof got);
                JASSERT_EQ(memcmp(got, wanted, sizeof got), 0);
            }
    gpu_give(device, FILL_BYTES);
}

/* More chunks than a grid has threads. */
JTEST(GpuRuntime, LongFillsAreWhole) {
    const size_t bytes = ((size_t)1 << 20) + 16 * 5 + 8;
    unsigned char *device = gpu_take(bytes + 32);
    uint64_t *got = malloc(bytes);
    for (size_t offset = 0; offset < 32; offset += 9) {
        const uint64_t pattern = jtest_random();
        JASSERT_OK(jdevice_fill(gpu_device(), NULL, device + offset, &pattern, sizeof pattern, bytes / 8));
        gpu_download(got, device + offset, bytes);
        size_t wrong = 0;
        for (size_t i = 0; i < bytes / 8; ++i)
            wrong += got[i] != pattern;
        JEXPECT_EQ(wrong, 0);
    }
    free(got);
    gpu_give(device, bytes + 32);
}

JTEST(GpuRuntime, CopiesGoBetweenAllKindsOfMemory) {
    enum { BYTES = 3001 };
    unsigned char source[BYTES], got[BYTES];
    for (size_t i = 0; i < sizeof source; ++i)
        source[i] = (unsigned char)jtest_random();
    for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to) {
            void *a = NULL, *b = NULL;
            JASSERT_OK(jdevice_allocate(gpu_device(), kinds[from], BYTES, 0, &a));
            JASSERT_OK(jdevice_allocate(gpu_device(), kinds[to], BYTES, 0, &b));
            JEXPECT_OK(jdevice_copy(gpu_device(), NULL, a, source, BYTES));
            JEXPECT_OK(jdevice_copy(gpu_device(), NULL, b, a, BYTES));
            memset(got, 0, sizeof got);
            gpu_download(got, b, BYTES);
            JEXPECT_EQ(memcmp(source, got, BYTES), 0);
            JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[from], a, BYTES));
            JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[to], b, BYTES));
        }
}

/* ---- The runtime's last error ---- */

/* What the program has not looked at yet is neither taken for a failure of ours nor lost. */
JTEST(GpuRuntime, AnErrorThatTheProgramLeftFailsNothingAndStays) {
    REQUIRE_FAKE(fake);
    enum { ORDER = 10, COUNT = ORDER * ORDER };
    const double one = 1, two = 2;
    double *x = gpu_take((COUNT + ORDER) * sizeof *x), *y = x + COUNT, sum = 0;
    void *pointer = NULL;
    jstream_t *stream = make_stream();
    jevent_t *event = make_event();
    jhandle_t *handle = gpu_make_handle();
    JEXPECT_EQ(fake->last_error(), 0);
    fake->leave_error();
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, x, &one, sizeof one, COUNT + ORDER));
    JEXPECT_OK(jblas_dscal(handle, COUNT, &two, x, 1));
    JEXPECT_OK(jblas_dger(handle, ORDER, ORDER, &one, y, 1, y, 1, x, ORDER)); /* the vendor's */
    JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum));
    JEXPECT_OK(jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 4096, 65536, &pointer));
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointer, 4096));
    JEXPECT_OK(jevent_record(event, stream));
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_NE(fake->last_error(), 0);
    JEXPECT_EQ(sum, COUNT * 3);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
    gpu_give(x, (COUNT + ORDER) * sizeof *x);
}

/* ---- Streams and events ---- */

JTEST(GpuRuntime, WorkOfAStreamIsOrderedByEventsAlone) {
    enum { COUNT = 5000 };
    jstream_t *first = make_stream(), *second = make_stream();
    jevent_t *event = make_event();
    uint32_t *a = gpu_take(COUNT * 4), *b = gpu_take(COUNT * 4), got[COUNT];
    for (uint32_t round = 1; round <= 5; ++round) {
        const uint32_t pattern = round * 0x01020304;
        JEXPECT_OK(jdevice_fill(gpu_device(), first, a, &pattern, 4, COUNT));
        JEXPECT_OK(jevent_record(event, first));
        JEXPECT_OK(jevent_wait(event, second));
        JEXPECT_OK(jdevice_copy(gpu_device(), second, b, a, COUNT * 4));
        JEXPECT_OK(jdevice_copy(gpu_device(), second, got, b, COUNT * 4));
        JEXPECT_OK(jstream_synchronize(gpu_device(), second));
        JEXPECT_EQ(got[0], pattern);
        JEXPECT_EQ(got[COUNT - 1], pattern);
        JEXPECT_OK(jevent_record(event, second)); /* before it is filled again */
        JEXPECT_OK(jevent_wait(event, first));
    }
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    gpu_give(a, COUNT * 4);
    gpu_give(b, COUNT * 4);
}

JTEST(GpuRuntime, AnEventTellsNeverRecordedNotReachedAndReachedApart) {
    jstream_t *stream = make_stream();
    jevent_t *start = make_event(), *stop = make_event();
    jtest_gate_t gate = JTEST_GATE_INIT;
    bool reached = false;
    double ms = -1;
    JEXPECT_OK(jevent_query(start, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_synchronize(start));
    JEXPECT_OK(jevent_wait(start, stream));
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jevent_record(start, stream));
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_INVALID_VALUE);

    JEXPECT_OK(jtest_gate_block(&gate, gpu_device(), stream));
    JEXPECT_OK(jevent_record(stop, stream));
    JEXPECT_OK(jevent_query(stop, &reached));
    JEXPECT_FALSE(reached);
    JEXPECT_STATUS(jevent_get_elapsed_ms(start, stop, &ms), JSTATUS_BUSY);
    JEXPECT_EQ(ms, -1);
    if (gpu_fake() != NULL)
        JEXPECT_EQ(gpu_fake()->last_error(), 0); /* not ready is an answer */
    jtest_gate_open(&gate);
    JEXPECT_OK(jevent_synchronize(stop));
    JEXPECT_OK(jevent_query(stop, &reached));
    JEXPECT_TRUE(reached);
    JEXPECT_OK(jevent_get_elapsed_ms(start, stop, &ms));
    JEXPECT_GE(ms, 0);
    JEXPECT_OK(jevent_destroy(start));
    JEXPECT_OK(jevent_destroy(stop));
    JEXPECT_OK(jstream_destroy(stream));
}

/* Taking the time costs, and of the library's own events nobody asks for it. */
JTEST(GpuRuntime, OnlyEventsOfTheProgramTakeTheTime) {
    REQUIRE_FAKE(fake);
    jstream_t *first = make_stream(), *second = make_stream();
    jhandle_t *handle = gpu_make_handle();
    jallocator_t *pool = NULL;
    void *pointer = NULL;
    JASSERT_OK(jallocator_compose(gpu_device(), "device+fill", &pool));
    fake->reset_counts();
    JEXPECT_OK(jhandle_set_stream(handle, first));
    {
        JALLOC_BORROW(ws, handle, 4096);
        JEXPECT_TRUE(ws.ok);
    }
    JEXPECT_OK(jhandle_set_stream(handle, second)); /* behind the workspace's last use */
    JEXPECT_EQ(fake->count("EventCreate"), 1);
    JEXPECT_OK(jallocator_allocate(pool, 4096, 0, first, &pointer)); /* filled, in the stream */
    JEXPECT_OK(jallocator_deallocate(pool, pointer, 4096, second));
    JEXPECT_GT(fake->count("EventCreate"), 1);
    JEXPECT_EQ(fake->count("EventCreate, timed"), 0);
    jevent_t *event = make_event();
    JEXPECT_EQ(fake->count("EventCreate, timed"), 1);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(GpuRuntime, AWrappedStreamIsTheProgramsAndStays) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    void *own = program->create_stream(true);
    const uint64_t objects = fake != NULL ? fake->live_objects() : 0;
    jstream_t *wrapped = NULL;
    uint16_t pattern = 0x1234, *memory = gpu_take(2000), got = 0;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &wrapped));
    JEXPECT_EQ(native(wrapped), own);
    JEXPECT_EQ(jstream_device(wrapped), gpu_device());
    JEXPECT_OK(jdevice_fill(gpu_device(), wrapped, memory, &pattern, 2, 1000));
    JEXPECT_OK(jdevice_copy(gpu_device(), wrapped, &got, memory + 999, 2));
    JEXPECT_OK(jstream_destroy(wrapped)); /* waits */
    JEXPECT_EQ(got, pattern);
    if (fake != NULL)
        JEXPECT_EQ(fake->live_objects(), objects);
    JASSERT_OK(jstream_wrap(gpu_device(), own, &wrapped)); /* again */
    JEXPECT_OK(jstream_synchronize(gpu_device(), wrapped));
    JEXPECT_OK(jstream_destroy(wrapped));
    JEXPECT_EQ(program->destroy_stream(own), 0);
    JASSERT_OK(jstream_wrap(gpu_device(), NULL, &wrapped)); /* the default stream */
    JEXPECT_NULL(native(wrapped));
    JEXPECT_NULL(native(NULL));
    JEXPECT_OK(jstream_destroy(wrapped));
    gpu_give(memory, 2000);
}

/* Whose work is on another device than the current one: that one is current again afterwards. */
JTEST(GpuRuntime, TheProgramsCurrentDeviceStaysCurrent) {
    REQUIRE_FAKE(fake);
    jdevice_t *second = second_device(fake);
    void *pointer = NULL;
    const uint32_t pattern = 77;
    uint32_t got = 0;
    const char *const set = is_hip() ? "SetDevice" : "CtxSetCurrent";
    JEXPECT_EQ(fake->set_device(0), 0);
    fake->reset_counts();
    JASSERT_OK(jdevice_allocate(second, JMEMORY_DEVICE, 4096, 0, &pointer));
    JEXPECT_EQ(fake->count(set), 2); /* there and back */
    JEXPECT_OK(jdevice_fill(second, NULL, pointer, &pattern, 4, 1024));
    JEXPECT_OK(jdevice_copy(second, NULL, &got, pointer, 4));
    JEXPECT_OK(jstream_synchronize(second, NULL));
    JEXPECT_EQ(got, pattern);
    JEXPECT_OK(jdevice_deallocate(second, JMEMORY_DEVICE, pointer, 4096));
    fake->reset_counts();
    JASSERT_OK(jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 4096, 0, &pointer));
    JEXPECT_EQ(fake->count(set), 0);
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointer, 4096));
}

static void *use_without_a_context(void *argument) {
    const fake_gpu_control_t *fake = gpu_fake();
    jdevice_t *second = argument;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    const double one = 1;
    double sum = 0, *x = NULL;
    options.device = second;
    JEXPECT_EQ(fake->context(), -1);
    JEXPECT_OK(jdevice_allocate(second, JMEMORY_DEVICE, 80, 0, (void **)&x));
    JEXPECT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jdevice_fill(second, NULL, x, &one, sizeof one, 10));
    JEXPECT_OK(jblas_dasum(handle, 10, x, 1, &sum));
    JEXPECT_EQ(sum, 10);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jdevice_deallocate(second, JMEMORY_DEVICE, x, 80));
    JEXPECT_EQ(fake->context(), -1);
    JEXPECT_FALSE(fake->has_context(0));
    JEXPECT_EQ(fake->count("SetDevice") != 0, is_hip());
    return NULL;
}

/* A thread that has no context has none afterwards, and device 0 none because of it. */
JTEST(GpuRuntime, WorkOnAnotherDeviceMakesNoContextOnTheFirst) {
    REQUIRE_FAKE(fake);
    pthread_t thread;
    jdevice_t *second = second_device(fake);
    fake->end_context(0);
    fake->reset_counts();
    JASSERT_EQ(pthread_create(&thread, NULL, use_without_a_context, second), 0);
    pthread_join(thread, NULL);
}

/* ---- Host functions ---- */

typedef struct noted {
    atomic_int *next;
    int *order;
    int number;
    char rest[JSTREAM_MAX_ARGUMENT_BYTES - 20]; /* its last one is 'e' */
} noted_t;

static void note(void *arguments) {
    noted_t *noted = arguments;
    const bool whole = noted->rest[sizeof noted->rest - 1] == 'e';
    noted->order[(*noted->next)++] = whole ? noted->number : -1;
    memset(arguments, 0, sizeof *noted); /* are this run's own */
}

JTEST(GpuRuntime, HostFunctionsRunInOrderWithArgumentsOfTheirOwn) {
    jstream_t *stream = make_stream(), *streams[] = {stream, NULL};
    for (int s = 0; s < 2; ++s) {
        const size_t live = jtest_metadata_live_count();
        int order[20];
        atomic_int next = 0;
        noted_t noted = {.next = &next, .order = order};
        noted.rest[sizeof noted.rest - 1] = 'e';
        JEXPECT_EQ(sizeof noted, JSTREAM_MAX_ARGUMENT_BYTES);
        for (int i = 0; i < 20; ++i) {
            noted.number = i;
            JEXPECT_OK(jstream_launch(gpu_device(), streams[s], note, &noted, sizeof noted));
        }
        memset(&noted, 0xEE, sizeof noted); /* were copied */
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[s]));
        JEXPECT_EQ(next, 20);
        for (int i = 0; i < 20; ++i)
            JEXPECT_EQ(order[i], i);
        JEXPECT_EQ(jtest_metadata_live_count(), live);
    }
    JEXPECT_OK(jstream_destroy(stream));
}

typedef struct forbidden {
    jstream_t *stream;
    jevent_t *event;
    void *memory;
    atomic_int *refused, *asked;
} forbidden_t;

static void call_what_is_forbidden(void *arguments) {
    const forbidden_t *f = arguments;
    const uint32_t pattern = 1;
    void *pointer = NULL;
    jstream_t *stream = NULL;
    jevent_t *event = NULL;
    bool reached;
    uint64_t capture;
    size_t bytes;
    const jstatus_t got[] = {
        jstream_synchronize(gpu_device(), f->stream),
        jstream_synchronize(gpu_device(), NULL),
        jstream_destroy(f->stream),
        jstream_get_capture(gpu_device(), f->stream, &capture),
        jstream_create(gpu_device(), &stream),
        jevent_create(gpu_device(), &event),
        jevent_record(f->event, f->stream),
        jevent_wait(f->event, f->stream),
        jevent_query(f->event, &reached),
        jevent_synchronize(f->event),
        jevent_destroy(f->event),
        jdevice_fill(gpu_device(), f->stream, f->memory, &pattern, 4, 16),
        jdevice_copy(gpu_device(), f->stream, f->memory, f->memory, 1),
        jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 1, 0, &pointer),
        jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, f->memory, 64),
        jdevice_get_memory_info(gpu_device(), &bytes, NULL),
    };
    *f->asked = (int)(sizeof got / sizeof *got);
    for (size_t i = 0; i < sizeof got / sizeof *got; ++i)
        *f->refused += got[i] == JSTATUS_BUSY;
}

JTEST(GpuRuntime, InAHostFunctionEveryCallIsRefusedAndNoneReachesTheRuntime) {
    const fake_gpu_control_t *fake = gpu_fake();
    atomic_int refused = 0, asked = 0;
    forbidden_t f = {make_stream(), make_event(), gpu_take(64), &refused, &asked};
    JEXPECT_OK(jstream_launch(gpu_device(), f.stream, call_what_is_forbidden, &f, sizeof f));
    JEXPECT_OK(jstream_synchronize(gpu_device(), f.stream));
    JEXPECT_GT(asked, 0);
    JEXPECT_EQ(refused, asked);
    if (fake != NULL)
        JEXPECT_EQ(fake->faults(), 0);
    JEXPECT_OK(jevent_destroy(f.event)); /* everything is still there */
    JEXPECT_OK(jstream_destroy(f.stream));
    gpu_give(f.memory, 64);
}

/* ---- Captures ---- */

/* The capture was not spoilt: it gives a graph, which runs. */
static void end_capture_well(const fake_gpu_control_t *program, jstream_t *stream) {
    const fake_gpu_control_t *fake = gpu_fake();
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    program->destroy_graph(graph);
    if (fake != NULL) {
        JEXPECT_EQ(fake->last_error(), 0);
        JEXPECT_EQ(fake->faults(), 0);
    }
}

JTEST(GpuRuntime, EachCaptureHasItsNumber) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *other = make_stream();
    uint64_t seen[3] = {0, 0, 0};
    uint64_t none = 1;
    JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &none));
    JEXPECT_EQ(none, 0);
    for (int i = 0; i < 3; ++i) {
        JASSERT_EQ(program->begin_capture(native(stream)), 0);
        JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &seen[i]));
        JEXPECT_NE(seen[i], 0);
        uint64_t others = 1;
        JEXPECT_OK(jstream_get_capture(gpu_device(), other, &others));
        JEXPECT_EQ(others, 0);
        JEXPECT_OK(jstream_get_capture(gpu_device(), NULL, &others));
        JEXPECT_EQ(others, 0);
        end_capture_well(program, stream);
    }
    JEXPECT_TRUE(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

JTEST(GpuRuntime, WhatACaptureDoesNotAllowIsRefusedAndTheCaptureGoesOn) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *other = make_stream();
    jevent_t *captured = make_event(), *outside = make_event();
    void *pointer = NULL, *memory = gpu_take(4096);
    bool reached;
    double ms;
    const uint32_t pattern = 5;
    JEXPECT_OK(jevent_record(outside, other));
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, memory, &pattern, 4, 1024));
    JEXPECT_OK(jevent_record(captured, stream));

    JEXPECT_STATUS(jstream_synchronize(gpu_device(), stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_destroy(stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_query(captured, &reached), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_synchronize(captured), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_get_elapsed_ms(outside, captured, &ms), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_wait(outside, stream), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_wait(captured, NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_allocate_ordered(gpu_device(), stream, 4096, &pointer), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_deallocate_ordered(gpu_device(), stream, memory, 4096), JSTATUS_CAPTURING);
    JEXPECT_SUBSTR(jstatus_last_message(), "while the stream is being captured");
    JEXPECT_NULL(pointer);

    end_capture_well(program, stream);
    JEXPECT_STATUS(jevent_synchronize(captured), JSTATUS_CAPTURING); /* until it is recorded again */
    JEXPECT_OK(jevent_record(captured, stream));
    JEXPECT_OK(jevent_synchronize(captured));
    JEXPECT_OK(jevent_destroy(captured));
    JEXPECT_OK(jevent_destroy(outside));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
    gpu_give(memory, 4096);
}

/* A capture in global mode forbids them to every thread of the process that does not ask for more freedom. */
JTEST(GpuRuntime, UnsafeCallsOfAnyThreadLeaveACaptureAlone) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    jstream_t *stream = make_stream(), *other = make_stream();
    jevent_t *event = make_event(), *start = make_event();
    JEXPECT_OK(jevent_record(start, other));
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    size_t bytes = 0;
    bool reached;
    double ms;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        void *pointer = NULL;
        JSCOPED_TRACE("kind %d", (int)kinds[k]);
        JEXPECT_OK(
            jdevice_allocate(gpu_device(), kinds[k], 4096, kinds[k] == JMEMORY_STREAM_ORDERED ? 0 : 65536, &pointer));
        JEXPECT_OK(jdevice_deallocate(gpu_device(), kinds[k], pointer, 4096));
    }
    jstream_t *made = make_stream();
    JEXPECT_OK(jdevice_get_memory_info(gpu_device(), &bytes, NULL));
    JEXPECT_OK(jevent_record(event, other));
    JEXPECT_OK(jevent_query(event, &reached));
    JEXPECT_OK(jevent_synchronize(event));
    JEXPECT_OK(jevent_get_elapsed_ms(start, event, &ms));
    JEXPECT_OK(jstream_synchronize(gpu_device(), other));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    JEXPECT_OK(jstream_destroy(made));
    if (fake != NULL)
        JEXPECT_OK(jdevice_get_memory_info(second_device(fake), &bytes, NULL));
    end_capture_well(program, stream);
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jevent_destroy(start));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

static void do_nothing(void *arguments) { (void)arguments; }

JTEST(GpuRuntime, TheDefaultStreamIsNotUsedBesideACaptureThatItWouldSpoil) {
    REQUIRE_PROGRAM(program);
    void *own = program->create_stream(true), *memory = gpu_take(4096);
    jstream_t *stream = NULL;
    jevent_t *event = make_event();
    uint64_t capture;
    const uint32_t pattern = 5;
    const unsigned char zero = 0;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
    JASSERT_EQ(program->begin_capture(own), 0);
    JEXPECT_STATUS(jdevice_fill(gpu_device(), NULL, memory, &pattern, 4, 1024), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_fill(gpu_device(), NULL, memory, &zero, 1, 4096), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jdevice_copy(gpu_device(), NULL, &capture, memory, 8), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_launch(gpu_device(), NULL, do_nothing, NULL, 0), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_synchronize(gpu_device(), NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jevent_record(event, NULL), JSTATUS_CAPTURING);
    JEXPECT_STATUS(jstream_get_capture(gpu_device(), NULL, &capture), JSTATUS_CAPTURING);
    end_capture_well(program, stream);
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, memory, &pattern, 4, 1024));
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(program->destroy_stream(own), 0);
    gpu_give(memory, 4096);
}

JTEST(GpuRuntime, AWrappedStreamMayBeLetGoOfWhileItIsCaptured) {
    REQUIRE_PROGRAM(program);
    void *own = program->create_stream(false);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
    JASSERT_EQ(program->begin_capture(own), 0);
    JEXPECT_OK(jstream_destroy(stream));
    void *graph = program->end_capture(own);
    JASSERT_NOT_NULL(graph);
    program->destroy_graph(graph);
    JEXPECT_EQ(program->destroy_stream(own), 0);
}

JTEST(GpuRuntime, AnEventTakesAnotherStreamIntoTheCaptureAndBack) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream(), *branch = make_stream();
    jevent_t *fork_event = make_event(), *join_event = make_event();
    uint64_t mine = 0, branchs = 0;
    uint32_t *memory = gpu_take(4096), got[2] = {0, 0};
    const uint32_t first = 11, second = 22;
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(jevent_record(fork_event, stream));
    JEXPECT_OK(jevent_wait(fork_event, branch));
    JEXPECT_OK(jstream_get_capture(gpu_device(), stream, &mine));
    JEXPECT_OK(jstream_get_capture(gpu_device(), branch, &branchs));
    JEXPECT_EQ(mine, branchs);
    JEXPECT_OK(jdevice_fill(gpu_device(), stream, memory, &first, 4, 512));
    JEXPECT_OK(jdevice_fill(gpu_device(), branch, memory + 512, &second, 4, 512));
    JEXPECT_OK(jevent_record(join_event, branch));
    JEXPECT_OK(jevent_wait(join_event, stream));
    end_capture_well(program, stream);
    gpu_download(&got[0], memory + 511, 4);
    gpu_download(&got[1], memory + 512, 4);
    JEXPECT_EQ(got[0], first);
    JEXPECT_EQ(got[1], second);
    JEXPECT_OK(jevent_destroy(fork_event));
    JEXPECT_OK(jevent_destroy(join_event));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(branch));
    gpu_give(memory, 4096);
}

static void count_release(void *object) { ++*(atomic_int *)object; }

static bool graphs_own(void) {
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    return jdevice_get_properties(gpu_device(), &p) == JSTATUS_SUCCESS && p.has_capture_ownership;
}

static jstatus_t keep(jstream_t *stream, atomic_int *released) {
    return gpu_device()->ops->stream_keep_in_capture(gpu_device(), stream, count_release, released);
}

JTEST(GpuRuntime, AGraphKeepsWhatItWasGivenUntilItIsDestroyed) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    const uint64_t objects = fake != NULL ? fake->live_objects() : 0;
    jstream_t *stream = make_stream();
    atomic_int released = 0;
    JEXPECT_STATUS(keep(stream, &released), JSTATUS_INVALID_VALUE); /* in no capture */
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    if (!graphs_own()) {
        JEXPECT_STATUS(keep(stream, &released), JSTATUS_NOT_IMPLEMENTED);
        end_capture_well(program, stream);
        JEXPECT_EQ(released, 0);
        JEXPECT_OK(jstream_destroy(stream));
        return;
    }
    JEXPECT_OK(keep(stream, &released));
    JEXPECT_OK(keep(stream, &released));
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    for (int i = 0; i < 3; ++i)
        JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_EQ(released, 0);
    program->destroy_graph(graph);
    if (fake != NULL)
        JEXPECT_EQ(fake->live_objects(), objects); /* waits for destructors */
    JEXPECT_EQ(released, 2);
}

JTEST(GpuRuntime, AHostFunctionOfAGraphRunsEachTimeWithTheSameArguments) {
    REQUIRE_PROGRAM(program);
    jstream_t *stream = make_stream();
    const size_t live = jtest_metadata_live_count();
    int order[8];
    atomic_int next = 0;
    noted_t noted = {.next = &next, .order = order, .number = 42};
    noted.rest[sizeof noted.rest - 1] = 'e';
    JASSERT_EQ(program->begin_capture(native(stream)), 0);
    const jstatus_t status = jstream_launch(gpu_device(), stream, note, &noted, sizeof noted);
    JEXPECT_STATUS(status, graphs_own() ? JSTATUS_SUCCESS : JSTATUS_NOT_IMPLEMENTED);
    memset(&noted, 0, sizeof noted);
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    JEXPECT_EQ(next, 0);
    for (int i = 0; i < 3; ++i)
        JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    program->destroy_graph(graph);
    JEXPECT_EQ(next, graphs_own() ? 3 : 0);
    for (int i = 0; i < next; ++i)
        JEXPECT_EQ(order[i], 42);
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    JEXPECT_OK(jstream_destroy(stream));
}

/* A kernel's first launch may load it, which captures forbid to those who do not ask for more freedom. */
JTEST(GpuRuntime, KernelsAreLoadedInACaptureAndBesideIt) {
    REQUIRE_PROGRAM(program);
    const fake_gpu_control_t *const fake = gpu_fake();
    enum { COUNT = 64 };
    jstream_t *stream = make_stream(), *other = make_stream();
    const double one = 1, two = 2;
    double *x = gpu_take(2 * COUNT * sizeof *x), sum = 0;
    jhandle_t *handle = gpu_make_handle();
    for (int inside = 0; inside < 2; ++inside) {
        JSCOPED_TRACE(inside ? "in the capture" : "beside it");
        JEXPECT_OK(jhandle_set_stream(handle, inside ? stream : other));
        if (fake != NULL)
            fake->unload_kernels();
        JASSERT_EQ(program->begin_capture(native(stream)), 0);
        JEXPECT_OK(jdevice_fill(gpu_device(), inside ? stream : other, x, &one, sizeof one, COUNT));
        JEXPECT_OK(jblas_dscal(handle, COUNT, &two, x, 1));
        end_capture_well(program, stream);
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum));
        JEXPECT_EQ(sum, 2 * COUNT);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
    gpu_give(x, 2 * COUNT * sizeof *x);
}

/* One question of the runtime's a call at most, and none where nothing depends on the answer. */
JTEST(GpuRuntime, ACallAsksAboutCapturesOnce) {
    REQUIRE_FAKE(fake);
    enum { COUNT = 64 };
    const double one = 1, two = 2;
    double *x = gpu_take(COUNT * sizeof *x), sum = 0;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = gpu_device();
    options.never_captured = true; /* else handles ask as well */
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, x, &one, sizeof one, COUNT));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    for (int created = 0; created < 2; ++created) {
        jhandle_t *handle = NULL;
        options.stream = created ? make_stream() : NULL;
        JASSERT_OK(jhandle_create(&options, &handle));
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum)); /* has its workspace now */
        fake->reset_counts();
        JEXPECT_OK(jblas_dscal(handle, COUNT, &two, x, 1));
        JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), !created);
        fake->reset_counts();
        JEXPECT_OK(jblas_dasum(handle, COUNT, x, 1, &sum));
        JEXPECT_EQ(sum, (created ? 4 : 2) * COUNT);
        JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), 1); /* before the result comes to the host */
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(options.stream));
    }
    gpu_give(x, COUNT * sizeof *x);
}

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
                                      graphs_own() ? jstream_launch(gpu_device(), used, do_nothing, NULL, 0)
                                                   : JSTATUS_SUCCESS};
        graph = fake->end_capture(native(used));
        JEXPECT_NOT_NULL(graph);
        fake->destroy_graph(graph);
        int failed = 0;
        for (size_t k = 0; k < sizeof status / sizeof *status; ++k)
            failed += status[k] == JSTATUS_MEMORY_ERROR ? 1 : status[k] != JSTATUS_SUCCESS ? 100 : 0;
        for (size_t k = 0; k < 2; ++k)
            failed += captured[k] == JSTATUS_MEMORY_ERROR ? 1 : captured[k] != JSTATUS_SUCCESS ? 100 : 0;
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

/* An operation on the second device: `prepare` and `finish` run undisturbed, `run` with its n-th call failing. */
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
    bool ends;                  /* an object, which the runtime may refuse to end: then that one stays its own */
} sweep_operation_t;

static jstatus_t run_info(sweep_t *s) {
    size_t bytes;
    return jdevice_get_memory_info(s->device, &bytes, NULL);
}
static jstatus_t run_properties(sweep_t *s) {
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    return jdevice_get_properties(s->device, &p);
}

#define SWEEP_MEMORY_(name, kind, alignment)                                                                           \
    static jstatus_t run_take_##name(sweep_t *s) {                                                                     \
        return jdevice_allocate(s->device, kind, 1000, alignment, &s->pointer);                                        \
    }                                                                                                                  \
    static jstatus_t run_give_##name(sweep_t *s) { return jdevice_deallocate(s->device, kind, s->pointer, 1000); }     \
    static void take_##name(sweep_t *s) { JEXPECT_OK(run_take_##name(s)); }                                            \
    static void give_##name##_if_taken(sweep_t *s) {                                                                   \
        if (s->status == JSTATUS_SUCCESS)                                                                              \
            JEXPECT_OK(run_give_##name(s));                                                                            \
        JEXPECT_OK(jstream_synchronize(s->device, NULL));                                                              \
    }                                                                                                                  \
    static void give_##name##_if_kept(sweep_t *s) {                                                                    \
        if (s->status != JSTATUS_SUCCESS)                                                                              \
            JEXPECT_OK(run_give_##name(s));                                                                            \
        JEXPECT_OK(jstream_synchronize(s->device, NULL));                                                              \
    }
SWEEP_MEMORY_(device, JMEMORY_DEVICE, 0)
SWEEP_MEMORY_(pinned, JMEMORY_PINNED, 0)
SWEEP_MEMORY_(managed, JMEMORY_MANAGED, 0)
SWEEP_MEMORY_(ordered, JMEMORY_STREAM_ORDERED, 0)
SWEEP_MEMORY_(aligned, JMEMORY_DEVICE, 1 << 20)
SWEEP_MEMORY_(pinned_aligned, JMEMORY_PINNED, 1 << 20)

static jstatus_t run_copy(sweep_t *s) {
    return jdevice_copy(s->device, s->stream, s->memory, (char *)s->memory + SWEEP_BYTES / 2, SWEEP_BYTES / 2);
}
static jstatus_t run_copy_default(sweep_t *s) {
    return jdevice_copy(s->device, NULL, s->memory, (char *)s->memory + SWEEP_BYTES / 2, SWEEP_BYTES / 2);
}
static jstatus_t run_clear(sweep_t *s) { return jdevice_fill(s->device, s->stream, s->memory, "\0", 1, SWEEP_BYTES); }
static jstatus_t run_fill(sweep_t *s) {
    const uint64_t pattern = 12345;
    return jdevice_fill(s->device, s->stream, s->memory, &pattern, 8, SWEEP_BYTES / 8);
}
static jstatus_t run_launch(sweep_t *s) { return jstream_launch(s->device, s->stream, do_nothing, NULL, 0); }
static jstatus_t run_synchronize(sweep_t *s) { return jstream_synchronize(s->device, s->stream); }
static jstatus_t run_get_capture(sweep_t *s) {
    uint64_t capture;
    return jstream_get_capture(s->device, s->stream, &capture);
}
static jstatus_t run_stream_create(sweep_t *s) { return jstream_create(s->device, &s->made_stream); }
static jstatus_t run_stream_wrap(sweep_t *s) {
    return jstream_wrap(s->device, jstream_native(s->device, s->other), &s->made_stream);
}
static jstatus_t run_stream_destroy(sweep_t *s) { return s->device->ops->stream_destroy(s->made_stream); }
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
    return graphs_own() ? jstream_launch(s->device, s->stream, do_nothing, NULL, 0) : JSTATUS_SUCCESS;
}
static jstatus_t run_keep(sweep_t *s) {
    return s->device->ops->stream_keep_in_capture(s->device, s->stream, count_release, &s->released);
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
    {"give pinned aligned", take_pinned_aligned, run_give_pinned_aligned, give_pinned_aligned_if_kept, false},
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
static bool sweep_once(const fake_gpu_control_t *fake, const sweep_operation_t *operation, sweep_t *s, uint64_t n,
                       fake_gpu_error_t error) {
    const size_t bytes = fake->live_bytes(), metadata = jtest_metadata_live_count();
    const uint64_t objects = fake->live_objects();
    const jstatus_t wanted = error == FAKE_GPU_OUT_OF_MEMORY ? JSTATUS_MEMORY_ERROR : JSTATUS_DEVICE_ERROR;
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
        JEXPECT_SUBSTR(message, error == FAKE_GPU_OUT_OF_MEMORY ? "ErrorOutOfMemory" : "ErrorUnknown");
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

/* ---- Forks ---- */

typedef struct forked {
    jstream_t *stream;
    jevent_t *event;
    void *memory;
} forked_t;

static void use_after_fork(void *argument) {
    forked_t *f = argument;
    const fake_gpu_control_t *fake = gpu_fake();
    const uint32_t pattern = 1;
    jdevice_properties_t p = JDEVICE_PROPERTIES_INIT;
    jdevice_t *device = NULL;
    jstream_t *stream = NULL;
    jevent_t *event = NULL;
    void *pointer = NULL;
    uint64_t capture;
    size_t bytes;
    char name[16];
    const uint64_t calls = fake != NULL ? fake->count_all() : 0;
    const size_t live = jtest_metadata_live_count();

    JEXPECT_OK(jdevice_get(gpu_device_name(), &device)); /* the object is there */
    JEXPECT_STATUS(jdevice_get_properties(device, &p), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_get_memory_info(device, &bytes, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_allocate(device, JMEMORY_DEVICE, 100, 0, &pointer), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_deallocate(device, JMEMORY_DEVICE, f->memory, 100), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_allocate_ordered(device, NULL, 100, &pointer), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_deallocate_ordered(device, NULL, f->memory, 100), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_copy(device, NULL, f->memory, f->memory, 1), JSTATUS_FORKED);
    JEXPECT_STATUS(jdevice_fill(device, NULL, f->memory, &pattern, 4, 1), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_launch(device, NULL, do_nothing, NULL, 0), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_create(device, &stream), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_wrap(device, NULL, &stream), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_synchronize(device, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_get_capture(device, NULL, &capture), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_create(device, &event), JSTATUS_FORKED);
    JEXPECT_STATUS(device->ops->event_record(f->event, NULL), JSTATUS_FORKED);
    JEXPECT_SUBSTR(jstatus_last_message(), "before a fork");
    JEXPECT_STATUS(jevent_record(f->event, NULL), JSTATUS_FORKED);
    JEXPECT_STATUS(jstream_destroy(f->stream), JSTATUS_FORKED);
    JEXPECT_STATUS(jevent_destroy(f->event), JSTATUS_FORKED);
    JEXPECT_EQ(jtest_metadata_live_count(), live - 2); /* what was ours is given back */
    snprintf(name, sizeof name, "%s:7", kind_name());  /* never asked for in the parent */
    JEXPECT_STATUS(jdevice_get(name, &device), JSTATUS_FORKED);
    JEXPECT_SUBSTR(jstatus_last_message(), "before a fork");
    if (fake != NULL)
        JEXPECT_EQ(fake->count_all(), calls); /* the runtime was left alone */
}

JTEST(GpuRuntime, AfterAForkEverythingSaysSoAndTheRuntimeIsLeftAlone) {
    forked_t f = {make_stream(), make_event(), gpu_take(100)};
    JEXPECT_OK(jstream_synchronize(gpu_device(), f.stream));
    jtest_in_child(20, use_after_fork, &f);
    JEXPECT_OK(jstream_destroy(f.stream)); /* the parent goes on */
    JEXPECT_OK(jevent_destroy(f.event));
    gpu_give(f.memory, 100);
}

static void *ask_and_ask(void *argument) {
    atomic_bool *stop = argument;
    jdevice_t *device;
    char name[16];
    snprintf(name, sizeof name, "%s:9", kind_name());
    while (!*stop)
        (void)jdevice_get(name, &device);
    return NULL;
}

static void ask_once(void *argument) {
    jdevice_t *device = NULL;
    (void)argument;
    JEXPECT_OK(jdevice_get(gpu_device_name(), &device));
}

/* The registry's lock is held by another thread most of the time, and never by the child's only one. */
JTEST(GpuRuntime, AForkWhileAnotherThreadAsksForDevicesLeavesTheChildFree) {
    atomic_bool stop = false;
    pthread_t thread;
    (void)gpu_device();
    JASSERT_EQ(pthread_create(&thread, NULL, ask_and_ask, &stop), 0);
    for (int i = 0; i < 50; ++i)
        jtest_in_child(10, ask_once, NULL);
    stop = true;
    pthread_join(thread, NULL);
}
