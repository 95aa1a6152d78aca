/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Devices: names, arguments, raw memory, copies and fills. */

#include "jtest.h"

#include "device/device.h"
#include "device/module.h"
#include "jalloc/cuda.h"
#include "jalloc/device.h"
#include "jalloc/hip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

JTEST(Device, HostIsThere) {
    jdevice_t *device = NULL;
    JASSERT_OK(jdevice_get("host", &device));
    JEXPECT_EQ(device, jdevice_host());
    JEXPECT_STREQ(jdevice_name(device), "host");
    JEXPECT_EQ(jdevice_kind(device), JDEVICE_HOST);
    JEXPECT_EQ(jdevice_granule_bytes(device), 64);
    JEXPECT_EQ(jdevice_index(device), 0);
    int count = 0;
    JEXPECT_OK(jdevice_get_count(JDEVICE_HOST, &count));
    JEXPECT_EQ(count, 1);
}

JTEST(Device, NullHasAnAnswerEverywhere) {
    JEXPECT_STREQ(jdevice_name(NULL), "(null)");
    JEXPECT_EQ(jdevice_kind(NULL), JDEVICE_HOST);
    JEXPECT_EQ(jdevice_granule_bytes(NULL), 0);
    JEXPECT_EQ(jdevice_index(NULL), 0);
    JEXPECT_NULL(jstream_native(NULL, NULL));
    JEXPECT_NULL(jstream_device(NULL));
}

static const char *const absent[] = {"cuda:0", "cuda",    "cuda:5",        "hip:0",
                                     "hip",    "cuda:63", "cuda:999999999"};
JTEST(Device, AbsentGpuIsNoDeviceAndTheMessageSaysWhy) {
    jtest_setenv("JALLOC_MODULE_PATH", "/nonexistent/folder");
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; ++i) {
        jdevice_t *device = jdevice_host();
        JSCOPED_TRACE("%s", absent[i]);
        JEXPECT_STATUS(jdevice_get(absent[i], &device), JSTATUS_NO_DEVICE);
        JEXPECT_EQ(device, jdevice_host()); /* untouched */
        JEXPECT_SUBSTR(jstatus_last_message(), absent[i]);
    }
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "cuda:0: no module libjalloc_cuda");
    JEXPECT_SUBSTR(jstatus_last_message(), "/nonexistent/folder");
    JEXPECT_SUBSTR(jstatus_last_message(), "No such file");
    JEXPECT_SUBSTR(jstatus_last_message(), "-DJALLOC_CUDA=ON"); /* what to do */
    JEXPECT_SUBSTR(jstatus_last_message(), "set JALLOC_MODULE_PATH");
    /* Said once. */
    JEXPECT_NULL(strstr(strstr(jstatus_last_message(), "/nonexistent") + 1, "/nonexistent"));
    JEXPECT_STATUS(jdevice_get("hip:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "-DJALLOC_HIP=ON");
}

JTEST(Device, AFileThatIsNoModuleIsNoDevice) {
    char folder[] = P_tmpdir "/jalloc-module-XXXXXX", path[256], *full = NULL;
    JASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, JI_MODULE_FILE("cuda"));
    FILE *file = fopen(path, "w");
    if (file) {
        fputs("not a library\n", file);
        fclose(file);
    }
    full = realpath(folder, NULL);
    jtest_setenv("JALLOC_MODULE_PATH", full);
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), JI_MODULE_FILE("cuda") " cannot be loaded");
    /* Said once. */
    JEXPECT_NULL(strstr(strstr(jstatus_last_message(), "libjalloc_cuda") + 1, "libjalloc_cuda"));
    free(full);
    remove(path);
    remove(folder);
}

JTEST(Device, RelativeModulePathIsRefused) {
    jtest_setenv("JALLOC_MODULE_PATH", "here");
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_MODULE_PATH=\"here\"");
}

JTEST(Device, AVendorsBlasThatIsNeitherOnNorOffIsRefused) {
    jtest_setenv("JALLOC_VENDOR_BLAS", "off");
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_VENDOR_BLAS=\"off\"");
}

JTEST(Device, ModulePathLongerThanAnyPathIsRefused) {
    char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    jtest_setenv("JALLOC_MODULE_PATH", path);
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_MODULE_PATH=\"/xxx");
}

JTEST(Device, CountChecksItsArguments) {
    int count = 7;
    JEXPECT_STATUS(jdevice_get_count(JDEVICE_HOST, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_get_count((jdevice_kind_t)(JDEVICE_HOST - 1), &count),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_get_count((jdevice_kind_t)(JDEVICE_HIP + 1), &count),
                   JSTATUS_INVALID_VALUE);
    jtest_setenv("JALLOC_MODULE_PATH", "/nonexistent/folder");
    JEXPECT_STATUS(jdevice_get_count(JDEVICE_HIP, &count), JSTATUS_NO_DEVICE);
    JEXPECT_EQ(count, 7);
}

/* clang-format off */
static const char *const bad_names[] = {
    "",        " ",       "HOST",    "host ",   " host",   "host:0",
    "host:",   "hosts",   "cuda:",   "cuda:-1", "cuda:x",  "cuda:0x",
    "cuda: 0", "cuda:00", "cuda:01", "cuda0",   "cudas:0", "hip:",
    "hip:1.5", "tpu:0",   "cpu",     "rocm:0",  "cuda:9999999999",
    "cuda:99999999999999999999999999999999999",
};
/* clang-format on */
JTEST(Device, BadNamesAreInvalidValueAndQuoted) {
    for (size_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; ++i) {
        jdevice_t *device = jdevice_host();
        char quoted[128];
        JSCOPED_TRACE("\"%s\"", bad_names[i]);
        JEXPECT_STATUS(jdevice_get(bad_names[i], &device), JSTATUS_INVALID_VALUE);
        JEXPECT_EQ(device, jdevice_host());
        snprintf(quoted, sizeof quoted, "\"%s\"", bad_names[i]);
        JEXPECT_SUBSTR(jstatus_last_message(), quoted);
    }
    JEXPECT_STATUS(jdevice_get(NULL, &(jdevice_t *){NULL}), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_get("host", NULL), JSTATUS_INVALID_POINTER);
}

JTEST(Device, MemoryInfo) {
    size_t free_bytes = 0, total_bytes = 0, only = 0;
    JASSERT_OK(jdevice_get_memory_info(jdevice_host(), &free_bytes, &total_bytes));
    JEXPECT_GT(free_bytes, 0);
    JEXPECT_LE(free_bytes, total_bytes);
    JEXPECT_OK(jdevice_get_memory_info(jdevice_host(), NULL, &only));
    JEXPECT_EQ(only, total_bytes);
    JEXPECT_OK(jdevice_get_memory_info(jdevice_host(), NULL, NULL));
    JEXPECT_STATUS(jdevice_get_memory_info(NULL, &free_bytes, NULL), JSTATUS_INVALID_POINTER);
}

/* Where the kernel says less, what it says counts; where it says nothing, that is an error and
 * nothing is written. */
JTEST(Device, MemoryInfoOfASystemThatSaysLess) {
    size_t free_bytes = 0, total_bytes = 0, all_bytes = 0;
    JASSERT_OK(jdevice_get_memory_info(jdevice_host(), NULL, &all_bytes));
    static const char *const calls[] = {"open", "read"};
    for (int i = 0; i < 2; ++i) {
        jtest_fail_calls(calls[i], 1, 1, i == 0 ? ENOENT : 0);
        JEXPECT_OK(jdevice_get_memory_info(jdevice_host(), &free_bytes, &total_bytes));
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(total_bytes, all_bytes);
        JEXPECT_GT(free_bytes, 0);
        JEXPECT_LT(free_bytes, total_bytes);
    }
    free_bytes = total_bytes = 7;
    for (int i = 1; i <= 3; ++i) { /* the size of a page, all pages, free pages */
        jtest_fail_calls("sysconf", (uint64_t)i, 1, EINVAL);
        JEXPECT_STATUS(jdevice_get_memory_info(jdevice_host(), &free_bytes, &total_bytes),
                       JSTATUS_DEVICE_ERROR);
        JEXPECT_TRUE(jtest_calls_failed());
    }
    JEXPECT_EQ(free_bytes, 7);
    JEXPECT_EQ(total_bytes, 7);
    jtest_fail_calls("sysconf", 2, 1, -3); /* three pages; more than that is available */
    JEXPECT_OK(jdevice_get_memory_info(jdevice_host(), &free_bytes, &total_bytes));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(total_bytes, 3 * (size_t)sysconf(_SC_PAGESIZE));
    JEXPECT_EQ(free_bytes, total_bytes);
}

JTEST(Device, PropertiesOfASystemThatSaysLess) {
    jdevice_properties_t properties = {.struct_size = sizeof properties}, before;
    for (int i = 0; i < 2; ++i) { /* neither a number of processors nor a second cache; then both */
        jtest_fail_calls("sysconf", 4, 2, i == 0 ? EINVAL : -5);
        JEXPECT_OK(jdevice_get_properties(jdevice_host(), &properties));
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(properties.multiprocessors, i == 0 ? 1 : 5);
        JEXPECT_EQ(properties.l2_cache_bytes, i == 0 ? 0 : 5);
    }
    before = properties;
    jtest_fail_calls("uname", 1, 1, EFAULT);
    JEXPECT_STATUS(jdevice_get_properties(jdevice_host(), &properties), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("sysconf", 1, 1, EINVAL);
    JEXPECT_STATUS(jdevice_get_properties(jdevice_host(), &properties), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_STATUS(jdevice_get_properties(NULL, &properties), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_get_properties(jdevice_host(), NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_EQ(memcmp(&properties, &before, sizeof before), 0);
    properties.struct_size = 1;
    JEXPECT_STATUS(jdevice_get_properties(jdevice_host(), &properties), JSTATUS_INVALID_VALUE);
}

JTEST(Device, MemoryInStreamOrderChecksItsArguments) {
    jdevice_t *host = jdevice_host(), other = ji_host_device;
    jstream_t *foreign;
    void *pointer = &pointer;
    JASSERT_OK(jstream_create(&other, &foreign));
    JEXPECT_STATUS(jdevice_allocate_ordered(NULL, NULL, 8, &pointer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_allocate_ordered(host, NULL, 8, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_allocate_ordered(host, foreign, 8, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate_ordered(host, NULL, 0, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jdevice_allocate_ordered(host, NULL, PTRDIFF_MAX, &pointer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_STREAM_ORDERED, 8, 128, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(pointer, &pointer);
    JEXPECT_STATUS(jdevice_deallocate_ordered(NULL, NULL, host, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_deallocate_ordered(host, foreign, host, 8), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jdevice_deallocate_ordered(host, NULL, NULL, 8));
    JEXPECT_OK(jstream_destroy(foreign));

    JASSERT_OK(jdevice_allocate(host, JMEMORY_STREAM_ORDERED, 8, 64, &pointer));
    JEXPECT_EQ((uintptr_t)pointer % 64, 0);
    JEXPECT_OK(jdevice_deallocate(host, JMEMORY_STREAM_ORDERED, pointer, 8));
}

JTEST(Device, RawMemoryIsAlignedAndUsable) {
    for (int kind = JMEMORY_DEVICE; kind <= JMEMORY_MANAGED; ++kind)
        for (size_t alignment = 0; alignment <= (size_t)1 << 21;
             alignment = alignment ? alignment * 2 : 1) {
            void *pointer = NULL;
            JASSERT_OK(
                jdevice_allocate(jdevice_host(), (jmemory_kind_t)kind, 1000, alignment, &pointer));
            JEXPECT_EQ((uintptr_t)pointer % (alignment ? alignment : 64), 0);
            memset(pointer, 7, 1000);
            JEXPECT_OK(jdevice_deallocate(jdevice_host(), (jmemory_kind_t)kind, pointer, 1000));
        }
    JEXPECT_OK(jdevice_deallocate(jdevice_host(), JMEMORY_DEVICE, NULL, 5));
}

JTEST(Device, RawMemoryArgumentsAreChecked) {
    jdevice_t *host = jdevice_host();
    void *pointer = &pointer;
    JEXPECT_STATUS(jdevice_allocate(NULL, JMEMORY_DEVICE, 8, 0, &pointer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_DEVICE, 8, 0, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_allocate(host, (jmemory_kind_t)9, 8, 0, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate(host, (jmemory_kind_t)-1, 8, 0, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_DEVICE, 8, 3, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_DEVICE, 8, SIZE_MAX, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_DEVICE, 8, (size_t)1 << 31, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jdevice_allocate(host, JMEMORY_DEVICE, 0, 0, &pointer), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jdevice_deallocate(NULL, JMEMORY_DEVICE, host, 8), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_deallocate(host, (jmemory_kind_t)9, host, 8), JSTATUS_INVALID_VALUE);
    for (size_t k = 0; k < 200; ++k) {
        /* Never a small allocation: refused as a size, or there is no such memory. */
        const jstatus_t status = jdevice_allocate(host, JMEMORY_DEVICE, SIZE_MAX - k, 64, &pointer);
        if (status != JSTATUS_INVALID_SIZE && status != JSTATUS_MEMORY_ERROR)
            JFAIL("SIZE_MAX - %zu gave %s", k, jstatus_name(status));
    }
    JEXPECT_EQ(pointer, &pointer);
}

/* Every pattern size, counts around the block that the fill copies on, in both kinds of stream. */
JTEST(Device, FillRepeatsThePatternAndNothingElse) {
    static const size_t counts[] = {0, 1, 2, 3, 15, 255, 256, 257, 1023, 4097, 20000};
    jstream_t *streams[2] = {NULL, NULL};
    JASSERT_OK(jstream_create(jdevice_host(), &streams[1]));
    for (int which = 0; which < 2; ++which)
        for (size_t bytes = 1; bytes <= 16; bytes *= 2)
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
                const size_t count = counts[i], total = bytes * count;
                unsigned char pattern[16], *memory = malloc(total + 2);
                for (size_t k = 0; k < 16; ++k)
                    pattern[k] = (unsigned char)jtest_random();
                memory[0] = memory[total + 1] = 0x5A;
                JEXPECT_OK(jdevice_fill(jdevice_host(), streams[which], memory + 1, pattern, bytes,
                                        count));
                unsigned char used[16];
                memcpy(used, pattern, 16);
                memset(pattern, 0, 16); /* was read before the call returned */
                JEXPECT_OK(jstream_synchronize(jdevice_host(), streams[which]));
                bool same = memory[0] == 0x5A && memory[total + 1] == 0x5A;
                for (size_t k = 0; k < total; ++k)
                    same &= memory[k + 1] == used[k % bytes];
                if (!same)
                    JFAIL("%zu patterns of %zu bytes", count, bytes);
                free(memory);
            }
    JEXPECT_OK(jstream_destroy(streams[1]));
}

JTEST(Device, CopyMovesExactlyTheBytes) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100001};
    jstream_t *streams[2] = {NULL, NULL};
    JASSERT_OK(jstream_create(jdevice_host(), &streams[1]));
    for (int which = 0; which < 2; ++which)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            const size_t bytes = sizes[i];
            unsigned char *from = malloc(bytes + 1), *to = calloc(1, bytes + 2);
            for (size_t k = 0; k < bytes; ++k)
                from[k] = (unsigned char)(jtest_random() | 1);
            JEXPECT_OK(jdevice_copy(jdevice_host(), streams[which], to + 1, from, bytes));
            JEXPECT_OK(jstream_synchronize(jdevice_host(), streams[which]));
            JEXPECT_EQ(memcmp(to + 1, from, bytes), 0);
            JEXPECT_EQ(to[0], 0);
            JEXPECT_EQ(to[bytes + 1], 0);
            free(from);
            free(to);
        }
    JEXPECT_OK(jstream_destroy(streams[1]));
}

JTEST(Device, CopyAndFillArgumentsAreChecked) {
    jdevice_t *host = jdevice_host();
    char a[16] = "", b[16] = "";
    JEXPECT_STATUS(jdevice_copy(NULL, NULL, a, b, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_copy(host, NULL, NULL, b, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_copy(host, NULL, a, NULL, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jdevice_copy(host, NULL, NULL, NULL, 0));
    JEXPECT_STATUS(jdevice_fill(NULL, NULL, a, b, 1, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_fill(host, NULL, NULL, b, 1, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jdevice_fill(host, NULL, a, NULL, 1, 1), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jdevice_fill(host, NULL, NULL, NULL, 1, 0));
    static const size_t bad_patterns[] = {0, 3, 5, 6, 7, 12, 17, 32, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad_patterns / sizeof bad_patterns[0]; ++i)
        JEXPECT_STATUS(jdevice_fill(host, NULL, a, b, bad_patterns[i], 1), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jdevice_fill(host, NULL, a, b, 16, SIZE_MAX / 16 + 1), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jdevice_fill(host, NULL, a, b, 2, SIZE_MAX), JSTATUS_INVALID_SIZE);
}

JTEST(Device, TypedStreamsOfAnotherRuntimeAreRefused) {
    jstream_t *stream = NULL;
    JEXPECT_STATUS(jcuda_stream_wrap(jdevice_host(), NULL, &stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STREQ(jstatus_last_message(), "jcuda_stream_wrap: host has streams of another runtime");
    JEXPECT_STATUS(jhip_stream_wrap(jdevice_host(), NULL, &stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STREQ(jstatus_last_message(), "jhip_stream_wrap: host has streams of another runtime");
    JEXPECT_STATUS(jcuda_stream_wrap(NULL, NULL, &stream), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(stream);
    JEXPECT_NULL(jcuda_stream_native(jdevice_host(), NULL));
    JEXPECT_NULL(jhip_stream_native(NULL, NULL));
}

/* A device that is nothing but a name: what belongs to another device must be told apart before it
 * is used. */
JTEST(Device, StreamsAndEventsOfAnotherDeviceAreRefused) {
    jdevice_t other = ji_host_device;
    snprintf(other.name, sizeof other.name, "other");
    jstream_t *stream = NULL;
    jevent_t *event = NULL, *foreign = NULL;
    char a[16] = "", b[16] = "";
    uint64_t capture;
    double ms;
    JASSERT_OK(jstream_create(&other, &stream));
    JASSERT_OK(jevent_create(jdevice_host(), &event));
    JASSERT_OK(jevent_create(&other, &foreign));
    JEXPECT_EQ(jstream_device(stream), &other);
    JEXPECT_STATUS(jdevice_copy(jdevice_host(), stream, a, b, 1), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "other");
    JEXPECT_STATUS(jdevice_fill(jdevice_host(), stream, a, b, 1, 1), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jstream_synchronize(jdevice_host(), stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jstream_get_capture(jdevice_host(), stream, &capture), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jtest_gate_block(NULL, jdevice_host(), stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jevent_record(event, stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jevent_wait(event, stream), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jevent_get_elapsed_ms(event, foreign, &ms), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jevent_destroy(foreign));
    JEXPECT_OK(jevent_destroy(event));
    JEXPECT_OK(jstream_destroy(stream));
}
