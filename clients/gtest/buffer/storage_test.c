/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where the memory of buffers comes from, what it costs, and where it goes: mappings, allocators,
 * the caller's own, and segments that the processes of a machine share. */

#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jalloc/process.h"
#include "memory/compose/compose.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64,  JDATATYPE_F32_C, JDATATYPE_F64_C,
                                    JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_I8,    JDATATYPE_I32};

static jbuffer_allocator_t *make_allocator(jruntime_t *runtime, jbuffer_kind_t kind, bool shared,
                                           jallocator_t *bytes) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = kind;
    options.type = JDATATYPE_I8;
    options.allocator = bytes;
    options.shared_on_node = shared;
    jbuffer_allocator_t *allocator = NULL;
    JEXPECT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    return allocator;
}

static jlayout_t bytes_layout(size_t bytes) {
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 1, (const int64_t[]){(int64_t)bytes}, JORDER_COLUMN_MAJOR));
    return layout;
}

static char *data_of(jbuffer_t *buffer) {
    void *data = NULL;
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &data));
    return data;
}

static const char *owner_of(const void *pointer) {
    jallocation_t block = JALLOCATION_INIT;
    return jallocation_find(pointer, &block) == JSTATUS_SUCCESS ? jallocator_name(block.allocator)
                                                                : "(none)";
}

/* Pages of a region that are in memory. */
static size_t resident_pages(const void *pointer, size_t bytes) {
    static unsigned char pages[64 * 1024];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (bytes + page - 1) / page;
    JEXPECT_LE(count, sizeof pages);
    JEXPECT_EQ(mincore((void *)(uintptr_t)pointer, bytes, pages), 0);
    size_t resident = 0;
    for (size_t i = 0; i < count; ++i)
        resident += pages[i] & 1;
    return resident;
}

/* ---- Mappings ---- */

JTEST(Storage, LargeBlocksCostNothingUntilTheyAreWritten) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_LOCAL, false, NULL);
    const jlayout_t layout = bytes_layout(64 * MIB);
    const char zero = 0;
    for (int way = 0; way < 3; ++way) {
        jbuffer_t *buffer = NULL;
        JASSERT_OK(way == 0   ? jbuffer_allocate(allocator, &layout, &buffer)
                   : way == 1 ? jbuffer_construct_value(allocator, &layout, NULL, &buffer)
                              : jbuffer_construct_value(allocator, &layout, &zero, &buffer));
        char *data = data_of(buffer);
        JEXPECT_TRUE(buffer->storage->zeroed);
        JEXPECT_EQ((uintptr_t)data % 64, 0);
        JEXPECT_EQ(resident_pages(data, 64 * MIB), 0);
        const int64_t place = jtest_random_between(0, (int64_t)(64 * MIB) - 1);
        data[place] = 1;
        JEXPECT_GE(resident_pages(data, 64 * MIB), 1);
        JEXPECT_LE(resident_pages(data, 64 * MIB), 2 * MIB / 4096); /* one, or a huge one */
        data[place] = 0;
        for (size_t i = 0; i < 64 * MIB; i += 4 * KIB)
            JEXPECT_EQ(memcmp(data + i, data + (i ^ 4 * KIB), 4 * KIB), 0);
        for (size_t i = 0; i < 4 * KIB; ++i)
            JEXPECT_EQ(data[i], 0);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

static jbuffer_filled_t fill_one_block(void *context, const jbuffer_block_t *block) {
    if (block->starts[0] != *(const int64_t *)context)
        return JBUFFER_BLOCK_ZERO;
    for (int64_t i = 0; i < block->extents[0]; ++i)
        ((char *)block->data)[i] = 1;
    return JBUFFER_BLOCK_FILLED;
}

JTEST(Storage, BlocksThatAFunctionLeavesZeroCostNothing) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_REPLICATED, false, NULL);
    jlayout_t layout = bytes_layout(64 * MIB);
    JASSERT_OK(jlayout_set_blocks(&layout, (const int64_t[]){(int64_t)MIB}));
    int64_t filled = 17 * (int64_t)MIB;
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_construct_function(allocator, &layout, fill_one_block, &filled, 0, &buffer));
    const char *data = data_of(buffer);
    JEXPECT_GE(resident_pages(data, 64 * MIB), MIB / 4096);
    /* Rounded to huge pages on both ends. */
    JEXPECT_LE(resident_pages(data, 64 * MIB), 2 * 2 * MIB / 4096);
    JEXPECT_EQ(data[filled - 1], 0);
    JEXPECT_EQ(data[filled], 1);
    JEXPECT_EQ(data[filled + (int64_t)MIB - 1], 1);
    JEXPECT_EQ(data[filled + (int64_t)MIB], 0);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Storage, MappingsBeginAt32Mebibytes) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_LOCAL, false, NULL);
    for (int above = 0; above < 2; ++above) {
        const jlayout_t layout = bytes_layout(32 * MIB - 1 + (size_t)above);
        jbuffer_t *buffer;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_EQ(strcmp(owner_of(data_of(buffer)), "mmap") == 0, above == 1);
        JEXPECT_EQ(buffer->storage->zeroed, above == 1);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* Whatever JALLOC_ALLOCATOR makes the process's allocators of: zeros are the system's. */
JTEST(Storage, MappingsAreZeroWhateverTheEnvironmentFillsMemoryWith) {
    jtest_setenv("JALLOC_ALLOCATOR", "malloc+fill");
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_LOCAL, false, NULL);
    const size_t sizes[] = {1000, 32 * MIB};
    for (int i = 0; i < 2; ++i) {
        const jlayout_t layout = bytes_layout(sizes[i]);
        jbuffer_t *buffer;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_EQ(data_of(buffer)[sizes[i] / 2] == 0, i == 1);
        JEXPECT_OK(jbuffer_release(buffer));
        JASSERT_OK(jbuffer_construct_value(allocator, &layout, NULL, &buffer));
        JEXPECT_EQ(data_of(buffer)[sizes[i] / 2], 0);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Storage, TheProcessesMappingsAreTakenBack) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_LOCAL, false, NULL);
    const jlayout_t layout = bytes_layout(32 * MIB);
    jbuffer_t *one, *other;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &one));
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &other));
    jallocator_t *from = one->storage->from;
    JEXPECT_EQ(other->storage->from, from); /* one for all */
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(from, &stats));
    JEXPECT_EQ(stats.in_use_bytes, 64 * MIB);
    JEXPECT_OK(jbuffer_release(one));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_STATUS(ji_process_reset(), JSTATUS_BUSY); /* in use, and stays */
    JEXPECT_OK(jallocator_get_stats(from, &stats));
    JEXPECT_EQ(stats.in_use_bytes, 32 * MIB);
    data_of(other)[32 * MIB - 1] = 1;
    JEXPECT_OK(jbuffer_release(other));
    JEXPECT_OK(ji_process_reset());
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- Allocators ---- */

JTEST(Storage, ACallersAllocatorServesEverySize) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jallocator_t *bytes = jtest_failing_allocator();
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_REPLICATED; ++kind) {
        jbuffer_allocator_t *allocator =
            make_allocator(runtime, (jbuffer_kind_t)kind, false, bytes);
        const size_t sizes[] = {1, 63, MIB + 1, 32 * MIB};
        for (int i = 0; i < 4; ++i) {
            const jlayout_t layout = bytes_layout(sizes[i]);
            jbuffer_t *buffer;
            JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
            JEXPECT_EQ(jtest_live_bytes(), sizes[i]);
            JEXPECT_FALSE(buffer->storage->zeroed);
            memset(data_of(buffer), 0xff, sizes[i]);
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_EQ(jtest_live_bytes(), 0);
        }
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Storage, NoElementsNeedNoMemory) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_DISTRIBUTED; ++kind) {
        jbuffer_allocator_t *allocator =
            make_allocator(pretend.runtime, (jbuffer_kind_t)kind, false, jtest_failing_allocator());
        const jlayout_t layout = bytes_layout(0);
        jbuffer_t *buffer;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_EQ(jtest_allocation_count(), 0);
        JEXPECT_NULL(buffer->storage->pointer);
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Storage, ADistributedPartIsAllThatAProcessHolds) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    pretend.coordinates[1] = 2;
    jbuffer_allocator_t *allocator =
        make_allocator(pretend.runtime, JBUFFER_DISTRIBUTED, false, jtest_failing_allocator());
    jlayout_t layout;
    JASSERT_OK(jlayout_init(&layout, 2, (const int64_t[]){101, 77}, JORDER_ROW_MAJOR));
    JASSERT_OK(jlayout_set_blocks(&layout, (const int64_t[]){10, 7}));
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    /* rows 0-9, 20-29, ..., 80-89 and 100; columns 14-20, 35-41, 56-62 */
    JEXPECT_EQ(jtest_live_bytes(), 51 * 21);
    JEXPECT_EQ(buffer->storage->leading_dimension, 51);
    JEXPECT_EQ(buffer->storage->size_bytes, 51 * 21);
    JEXPECT_OK(jbuffer_release(buffer));

    pretend.coordinates[0] = pretend.coordinates[1] = -1; /* outside of the grid */
    memset(pretend.grids, 0, sizeof pretend.grids);
    jbuffer_allocator_t *outside =
        make_allocator(pretend.runtime, JBUFFER_DISTRIBUTED, false, jtest_failing_allocator());
    JASSERT_OK(jbuffer_allocate(outside, &layout, &buffer));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_EQ(buffer->storage->leading_dimension, 1);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(outside));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Storage, MemoryOfADeviceComesFromIt) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.device = &gpu->device;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    const jlayout_t layout = bytes_layout(MIB);
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JEXPECT_TRUE(pretend_gpu_is_live(buffer->storage->pointer));
    JEXPECT_FALSE(buffer->storage->zeroed);
    JEXPECT_EQ((uintptr_t)buffer->storage->pointer % jdevice_granule_bytes(&gpu->device), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
    JEXPECT_OK(ji_process_reset());
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
}

JTEST(Storage, MemoryThatCannotBeHadIsAStatusAndNothingIsLost) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    const jlayout_t layout = bytes_layout(1000);
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_DISTRIBUTED; ++kind) {
        jbuffer_allocator_t *allocator =
            make_allocator(pretend.runtime, (jbuffer_kind_t)kind, false, jtest_failing_allocator());
        const size_t live = jtest_metadata_live_count();
        jbuffer_t *buffer = NULL;
        jtest_fail_allocation_after(1);
        JEXPECT_STATUS(jbuffer_allocate(allocator, &layout, &buffer), JSTATUS_MEMORY_ERROR);
        JEXPECT_NULL(buffer);
        JEXPECT_EQ(jtest_metadata_live_count(), live);
        JEXPECT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    /* More than any machine has, from a mapping. */
    jbuffer_allocator_t *allocator = make_allocator(pretend.runtime, JBUFFER_LOCAL, false, NULL);
    const jlayout_t huge = bytes_layout((size_t)INT64_MAX);
    jbuffer_t *buffer = NULL;
    const jstatus_t status = jbuffer_allocate(allocator, &huge, &buffer);
    JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR || status == JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(buffer);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Storage, NothingIsLostWhenBookkeepingFails) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_DISTRIBUTED; ++kind)
        for (int way = 0; way < 3; ++way) { /* a caller's allocator; a mapping; shared */
            if (kind != JBUFFER_REPLICATED && way == 2)
                continue;
            jbuffer_allocator_t *allocator =
                make_allocator(pretend.runtime, (jbuffer_kind_t)kind, way == 2,
                               way == 0 ? jtest_failing_allocator() : NULL);
            const jlayout_t layout = bytes_layout(way == 1 ? 32 * MIB : MIB);
            JFOR_EACH_FAILURE(i) {
                jbuffer_t *buffer = NULL;
                const jstatus_t status = jbuffer_allocate(allocator, &layout, &buffer);
                if (status != JSTATUS_SUCCESS) {
                    JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                    JEXPECT_NULL(buffer);
                    JEXPECT_EQ(jtest_live_bytes(), 0);
                }
                JEXPECT_OK(jbuffer_release(buffer));
            }
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* What is live then is the allocator's to tell. */
JTEST(Storage, MemoryThatCannotBeGivenBackIsAStatusOfTheLastRelease) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_LOCAL, false, NULL);
    const jlayout_t layout = bytes_layout(32 * MIB);
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    char *data = data_of(buffer);
    jallocator_t *from = buffer->storage->from;
    jtest_fail_calls("munmap", 1, 1, EINVAL);
    JEXPECT_STATUS(jbuffer_release(buffer), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "munmap");
    JEXPECT_STATUS(jbuffer_release(buffer), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(from, data, 32 * MIB, NULL));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- The caller's memory ---- */

JTEST(Storage, WrappedMemoryMustBeAlignedToItsElements) {
    static _Alignas(64) char memory[256];
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *any = make_allocator(runtime, JBUFFER_LOCAL, false, NULL), *allocator;
    const size_t alignments[] = {4, 8, 4, 8, 2, 2, 1, 4};
    const jlayout_t layout = bytes_layout(3);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        JASSERT_OK(jbuffer_allocator_rebind(any, JBUFFER_LOCAL, types[i], &allocator));
        for (size_t offset = 0; offset < 64; ++offset) {
            JSCOPED_TRACE("%s at %zu", jdatatype_name(types[i]), offset);
            jbuffer_t *buffer = NULL;
            const jstatus_t status = jbuffer_wrap(allocator, &layout, memory + offset, &buffer);
            if (offset % alignments[i] != 0) {
                JEXPECT_STATUS(status, JSTATUS_INVALID_POINTER);
                JEXPECT_SUBSTR(jstatus_last_message(), jdatatype_name(types[i]));
                JEXPECT_NULL(buffer);
                JEXPECT_OK(jbuffer_release(buffer));
                continue;
            }
            JASSERT_OK(status);
            JEXPECT_EQ(data_of(buffer), memory + offset);
            JEXPECT_FALSE(buffer->storage->zeroed);
            JEXPECT_OK(jbuffer_release(buffer));
        }
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jbuffer_allocator_release(any));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Storage, WrappedMemoryStaysTheCallers) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator =
        make_allocator(runtime, JBUFFER_LOCAL, false, jtest_failing_allocator());
    char *memory = jtest_guard_pages(1000);
    memset(memory, 0x5a, 1000);
    const jlayout_t layout = bytes_layout(1000);
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_wrap(allocator, &layout, memory, &buffer));
    JEXPECT_EQ(jtest_allocation_count(), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    for (int i = 0; i < 1000; ++i)
        JEXPECT_EQ(memory[i], 0x5a);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- One copy per machine ---- */

/* Names of shared buffers that this process has made. */
static int count_names(void) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, "jalloc-buffer-%ld-", (long)getpid());
    int count = 0;
    DIR *directory = opendir("/dev/shm");
    for (const struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (directory != NULL)
        closedir(directory);
    return count;
}

JTEST(SharedStorage, OneProcessSharesWithItself) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_REPLICATED, true, NULL);
    const size_t sizes[] = {0, 1, 4096, 100 * KIB + 1, 60 * MIB};
    for (int i = 0; i < 5; ++i) {
        const jlayout_t layout = bytes_layout(sizes[i]);
        jbuffer_t *buffer;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
        JEXPECT_TRUE(ji_buffer_is_shared(buffer));
        JEXPECT_TRUE(ji_buffer_writes(buffer));
        JEXPECT_TRUE(buffer->storage->zeroed);
        JEXPECT_EQ(count_names(), 0);
        char *data = data_of(buffer);
        if (sizes[i] > 0) {
            JEXPECT_EQ(data[0], 0);
            JEXPECT_EQ(data[sizes[i] - 1], 0);
            memset(data, 1, sizes[i]);
        }
        JEXPECT_OK(jbuffer_release(buffer));
    }
    /* The caller's memory cannot be one copy for several. */
    static char memory[8];
    const jlayout_t layout = bytes_layout(8);
    jbuffer_t *buffer = NULL;
    ji_storage_t *storage = NULL;
    JEXPECT_STATUS(jbuffer_wrap(allocator, &layout, memory, &buffer), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(ji_storage_create(allocator, &layout, memory, &storage),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_NULL(buffer);
    JEXPECT_NULL(storage);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* Each step of making it, failing elsewhere. */
JTEST(SharedStorage, AFailureElsewhereIsAFailureHere) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, false));
    jbuffer_allocator_t *allocator =
        make_allocator(pretend.runtime, JBUFFER_REPLICATED, true, NULL);
    const jlayout_t layout = bytes_layout(1000);
    uint64_t n = 1;
    for (;; ++n) {
        JSCOPED_TRACE("step %d", (int)n);
        jbuffer_t *buffer = NULL;
        pretend.fail_in = n;
        const jstatus_t status = jbuffer_allocate(allocator, &layout, &buffer);
        JEXPECT_EQ(count_names(), 0);
        if (pretend.fail_in != 0) {
            pretend.fail_in = 0;
            JEXPECT_OK(status);
            JEXPECT_OK(jbuffer_release(buffer));
            break;
        }
        JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
        JEXPECT_NULL(buffer);
    }
    JEXPECT_GT(n, 4);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Likewise of one that a size query made: it stays a placeholder until all have their memory. */
JTEST(SharedStorage, APlaceholderTakesItsMemoryWithTheOthers) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, false));
    jbuffer_allocator_t *allocator =
        make_allocator(pretend.runtime, JBUFFER_REPLICATED, true, NULL);
    const jlayout_t layout = bytes_layout(1000);
    jbuffer_t *buffer;
    JASSERT_OK(ji_buffer_promise(allocator, &layout, &buffer));
    uint64_t n = 0;
    for (jstatus_t status = JSTATUS_DEVICE_ERROR; status != JSTATUS_SUCCESS && n < 10;) {
        pretend.fail_in = ++n;
        status = ji_storage_take(buffer->storage);
        JEXPECT_STATUS(status, pretend.fail_in == 0 ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(ji_buffer_is_placeholder(buffer), status != JSTATUS_SUCCESS);
        JEXPECT_EQ(buffer->storage->pointer == NULL, status != JSTATUS_SUCCESS);
        JEXPECT_EQ(count_names(), 0);
    }
    pretend.fail_in = 0;
    JEXPECT_GT(n, 4);
    JEXPECT_OK(ji_storage_return(buffer->storage));
    JEXPECT_TRUE(ji_buffer_is_placeholder(buffer));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

static void share_and_look(jruntime_t *runtime, void *argument) {
    const size_t bytes = *(const size_t *)argument;
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_REPLICATED, true, NULL);
    const jlayout_t layout = bytes_layout(bytes);
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JEXPECT_EQ(count_names(), 0);
    JEXPECT_EQ(ji_buffer_writes(buffer), runtime->info.node_rank == 0);
    char *data = data_of(buffer);
    JEXPECT_EQ(data[bytes - 1], 0);
    JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
    if (runtime->info.node_rank == 0)
        memset(data, 1 + runtime->info.node, bytes);
    JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
    for (size_t i = 0; i < bytes; i += bytes / 7 + 1) /* the machine's own copy */
        JEXPECT_EQ(data[i], 1 + runtime->info.node);
    JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
    if (runtime->info.node_rank == 1) /* each process may have its turn */
        data[0] = 100;
    JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
    JEXPECT_EQ(data[0], runtime->info.node_processes > 1 ? 100 : 1 + runtime->info.node);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

JTEST(SharedStorage, TheProcessesOfAMachineHaveOneCopy) {
    size_t bytes[] = {1, 300 * KIB, 5 * MIB};
    for (int i = 0; i < 3; ++i) {
        team_run(3, 2, share_and_look, &bytes[i]); /* two machines, of two and of one */
        team_run(4, 4, share_and_look, &bytes[i]);
    }
}

/* One process runs out of bookkeeping, at its first allocation, its second, ...: all of them hear
 * of it, nobody waits for ever, and nothing is left. */
static void share_with_failures(jruntime_t *runtime, void *argument) {
    const bool fails = runtime->info.rank == *(const int *)argument;
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_REPLICATED, true, NULL);
    const jlayout_t layout = bytes_layout(MIB);
    const size_t live = jtest_metadata_live_count();
    jstatus_t status = JSTATUS_MEMORY_ERROR;
    uint64_t n = 0;
    while (status != JSTATUS_SUCCESS && ++n < 100) {
        ji_storage_t *storage = NULL;
        if (fails)
            jtest_fail_metadata_after(n);
        status = ji_storage_create(allocator, &layout, NULL, &storage);
        jtest_fail_metadata_after(0);
        JEXPECT_EQ(count_names(), 0);
        if (status == JSTATUS_SUCCESS)
            JEXPECT_OK(ji_storage_release(storage));
        else
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(jtest_metadata_live_count(), live);
    }
    JEXPECT_OK(status);
    JEXPECT_GT(n, 2);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

JTEST(SharedStorage, AFailureOnOneProcessIsTheSameOnAll) {
    for (int rank = 0; rank < 3; ++rank)
        team_run(3, 2, share_with_failures, &rank);
}

/* The first process of the machine is killed while the others still use what it made. */
static void share_and_lose_the_first(jruntime_t *runtime, void *argument) {
    (void)argument;
    jbuffer_allocator_t *allocator = make_allocator(runtime, JBUFFER_REPLICATED, true, NULL);
    const jlayout_t layout = bytes_layout(MIB);
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    char *data = data_of(buffer);
    int64_t first = getpid();
    JEXPECT_OK(runtime->ops->broadcast(runtime, JI_SCOPE_ALL, 0, NULL, &first, sizeof first));
    if (runtime->info.rank == 0) {
        memset(data, 42, MIB);
        JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
        team_die();
    }
    JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)first);
    for (bool dead = false; !dead; jtest_sleep_ms(1)) { /* gone, or not yet waited for */
        FILE *file = fopen(path, "r");
        const bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
        if (file != NULL)
            fclose(file);
        dead = !read || strstr(line, ") Z") != NULL;
    }
    for (size_t i = 0; i < MIB; i += 4096)
        JEXPECT_EQ(data[i], 42);
    data[runtime->info.rank] = 43;
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

JTEST(SharedStorage, WhatIsSharedOutlivesItsMaker) {
    team_run(4, 4, share_and_lose_the_first, NULL);
}
