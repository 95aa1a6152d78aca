/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The process's allocators where there is a GPU: its own memory, managed memory, and host memory
 * that it can read. */

#include "gpu_device.h"

#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"

#include <string.h>

typedef struct wish {
    bool of_gpu, managed, gpu_compatible; /* of_gpu: device is the GPU, else the host */
    jmemory_kind_t kind;
    bool host_reads;
} wish_t;
static const wish_t wishes[] = {
    {true, false, false, JMEMORY_DEVICE, false},
    {true, true, false, JMEMORY_MANAGED, true},
    {false, false, true, JMEMORY_PINNED, true},
    {false, false, false, JMEMORY_DEVICE, true},
};

JTEST_P(GpuProcess, AllocatorsAreOfTheMemoryAskedFor, wish_t, wishes) {
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &properties));
    if (param->managed && !properties.has_managed_memory)
        JSKIP("the device has no managed memory");
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.device = param->of_gpu ? gpu_device() : NULL;
    request.managed = param->managed;
    request.gpu_compatible = param->gpu_compatible;
    jallocator_t *allocator = NULL, *again = NULL;
    JASSERT_OK(jprocess_get_allocator(&request, &allocator));
    JEXPECT_OK(jprocess_get_allocator(&request, &again));
    JEXPECT_EQ(again, allocator);
    JEXPECT_EQ(jdevice_kind(jallocator_device(allocator)) != JDEVICE_HOST,
               param->of_gpu || param->gpu_compatible);
    if (param->of_gpu)
        JEXPECT_EQ(jallocator_device(allocator), gpu_device());
    for (size_t bytes = 100; bytes < 1000000; bytes *= 9) {
        unsigned char *pointer = NULL;
        jallocation_t block = JALLOCATION_INIT;
        const unsigned char value = 77;
        jdevice_t *device = jallocator_device(allocator);
        JASSERT_OK(jallocator_allocate(allocator, bytes, 0, NULL, (void **)&pointer));
        JEXPECT_OK(jallocation_find(pointer + bytes / 2, &block));
        JEXPECT_EQ(jallocator_device(block.allocator), device);
        JEXPECT_EQ(jallocator_memory_kind(block.allocator), param->kind);
        JEXPECT_EQ(block.size_bytes, bytes);
        JEXPECT_OK(jdevice_fill(device, NULL, pointer, &value, 1, bytes));
        JEXPECT_OK(jstream_synchronize(device, NULL));
        if (param->host_reads)
            for (size_t i = 0; i < bytes; ++i)
                JASSERT_EQ(pointer[i], 77);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, bytes, NULL));
    }
    JEXPECT_OK(ji_process_reset());
}

JTEST(GpuProcess, MemoryOfAGpuHasNoNumaNode) {
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    jallocator_t *allocator = NULL;
    request.device = gpu_device();
    request.numa_node = 0;
    JEXPECT_STATUS(jprocess_get_allocator(&request, &allocator), JSTATUS_INVALID_VALUE);
}

/* A bound: a device that has to page can hang. */
JTEST(GpuProcess, ManagedMemoryIsBoundedByWhatIsFree) {
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    jallocator_t *allocator = NULL;
    void *pointer;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &properties));
    if (!properties.has_managed_memory)
        JSKIP("the device has no managed memory");
    JASSERT_OK(jallocator_create_device(gpu_device(), JMEMORY_MANAGED, &allocator));
    JEXPECT_STATUS(jallocator_allocate(allocator, properties.total_bytes + 1, 0, NULL, &pointer),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_destroy(allocator));
}
