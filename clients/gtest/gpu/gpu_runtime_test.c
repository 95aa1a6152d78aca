/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a GPU module makes of the runtime: opening, memory, copies, fills, forks. Most of it holds
 * on a real GPU as well; what needs the fake runtime's control skips there. Streams, captures, and
 * each of the runtime's calls failing have files of their own. */

#include "gpu_runtime_helper.h"

#include "core/core.h"
#include "device/module.h"

#include <dlfcn.h>
#include <stdlib.h>

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
static const ji_module_services_t services = {ji_fail, ji_metadata_zalloc, ji_metadata_free,
                                              &ji_fork_generation, true};

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
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, 0, NULL, reason, sizeof reason),
                   JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(reason, "ErrorNoDevice");
    JEXPECT_SUBSTR(reason, "no GPU device is detected"); /* the runtime's words */
    JEXPECT_EQ(fake->last_error(), 0);
    fake->set_device_count(1);
    JEXPECT_OK(open(JI_MODULE_ABI, &services, 0, NULL, reason, sizeof reason));
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, 1, &device, reason, sizeof reason),
                   JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(reason, "no such number, there is 1");
    JEXPECT_STATUS(open(JI_MODULE_ABI, &services, -1, &device, reason, sizeof reason),
                   JSTATUS_NO_DEVICE);
    JEXPECT_NULL(device);
    JEXPECT_STATUS(open(JI_MODULE_ABI + 1, NULL, 0, &device, reason, sizeof reason),
                   JSTATUS_NO_DEVICE);
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

JTEST(GpuRuntime, MemoryOfEachKindIsAlignedAndUsable) {
    const fake_gpu_control_t *fake = gpu_fake();
    const size_t live = fake != NULL ? fake->live_bytes() : 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (int shift = 0; shift <= (kinds[k] == JMEMORY_STREAM_ORDERED ? 8 : 21);
             shift += shift < 8 ? 4 : 1) {
            const size_t bytes = (size_t)jtest_random_between(1, 100000),
                         alignment = (size_t)1 << shift;
            JSCOPED_TRACE("kind %d, %zu bytes aligned to %zu", (int)kinds[k], bytes, alignment);
            unsigned char *pointer = NULL, *copy = malloc(bytes);
            const unsigned char value = (unsigned char)jtest_random_between(1, 254);
            JASSERT_OK(
                jdevice_allocate(gpu_device(), kinds[k], bytes, alignment, (void **)&pointer));
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
            if (jdevice_allocate(gpu_device(), JMEMORY_DEVICE, 1000, (size_t)1 << (9 + i % 4),
                                 &pointers[i]) != JSTATUS_SUCCESS ||
                (uintptr_t)pointers[i] % ((size_t)1 << (9 + i % 4)) != 0)
                ++*bad;
        for (int i = 0; i < 16; ++i)
            *bad += jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointers[(i * 5) % 16],
                                       1000) != JSTATUS_SUCCESS;
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

/* The message has both numbers, nothing is held, the program finds no error of ours, and less can
 * be had. */
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
    JEXPECT_STATUS(jdevice_allocate(gpu_device(), JMEMORY_MANAGED, 4097, 0, &managed),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(),
                   "4097 bytes of managed memory, and only 4096 of 8388608 bytes are free");
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
                    round == 0 ? 1
                               : (size_t)jtest_random_between(
                                     1, round == 1 ? (int64_t)(64 / pattern_bytes) : (int64_t)most);
                JSCOPED_TRACE("pattern of %zu bytes, %zu times, at %zu", pattern_bytes, count,
                              offset);
                for (int i = 0; i < 16; ++i)
                    pattern[i] = (unsigned char)jtest_random();
                memset(wanted, RIM, sizeof wanted);
                for (size_t i = 0; i < pattern_bytes * count; ++i)
                    wanted[offset + i] = pattern[i % pattern_bytes];
                JASSERT_OK(jdevice_fill(gpu_device(), NULL, device, &rim, 1, FILL_BYTES));
                JASSERT_OK(jdevice_fill(gpu_device(), NULL, device + offset, pattern, pattern_bytes,
                                        count));
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
        JASSERT_OK(
            jdevice_fill(gpu_device(), NULL, device + offset, &pattern, sizeof pattern, bytes / 8));
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

/* The registry's lock is held by another thread most of the time, and never by the child's only
 * one. */
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
