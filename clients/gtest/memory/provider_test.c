/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One conformance suite over every provider: what any allocator on the host must do. A provider is
 * one row of the table; what only one of them promises has a test of its own below. */

#include "allocator_helper.h"
#include "jtest.h"
#include "pretend_gpu.h"

#include "jalloc/config.h"
#include "jalloc/provider.h"

#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static jstatus_t callback_allocate(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    return posix_memalign(pointer, alignment < sizeof(void *) ? sizeof(void *) : alignment,
                          size_bytes) == 0
               ? JSTATUS_SUCCESS
               : JSTATUS_MEMORY_ERROR;
}
static jstatus_t callback_deallocate(void *context, void *pointer, size_t size_bytes,
                                     jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}
static jstatus_t create_callbacks(jallocator_t **allocator) {
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = callback_allocate,
                                  .deallocate = callback_deallocate};
    return jallocator_create(&ops, NULL, NULL, allocator);
}

#define ARRAY_BYTES (64 * MIB)
static jstatus_t create_array(jallocator_t **allocator) {
    static void *array; /* one of each test, however often the test makes a provider of it */
    static char owner[JTEST_MAX_NAME + 1];
    if (strcmp(owner, jtest_name()) != 0 || array == NULL) {
        snprintf(owner, sizeof owner, "%s", jtest_name());
        array = jtest_guard_pages(ARRAY_BYTES);
    }
    return jallocator_create_array(jdevice_host(), array, ARRAY_BYTES, allocator);
}
static jstatus_t create_device(jallocator_t **allocator) {
    return jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, allocator);
}
static jstatus_t create_pinned(jallocator_t **allocator) {
    return jallocator_create_device(jdevice_host(), JMEMORY_PINNED, allocator);
}

static const struct provider {
    const char *label, *name;
    jstatus_t (*create)(jallocator_t **allocator);
    bool exhaustible; /* may run out in the middle of a test */
} providers[] = {
    {"malloc", "jpu", jallocator_create_malloc, false},
    {"mmap", "mmap", jallocator_create_mmap, false},
    {"array", "array", create_array, true},
    {"device", "host", create_device, false},
    {"pinned", "host", create_pinned, false},
    {"callbacks", "callbacks", create_callbacks, false},
};
static void provider_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct provider *)parameter)->label);
}
#define CONFORMS(name) JTEST_P_NAMED(Provider, name, struct provider, providers, provider_label)

CONFORMS(HasItsNameAndDevice) {
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    JEXPECT_STREQ(jallocator_name(allocator), param->name);
    JEXPECT_EQ(jallocator_device(allocator), jdevice_host());
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(AlignsFrom1To2MiB) {
    static const size_t sizes[] = {1, 7, 64, 4096, 100001};
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            void *pointers[3];
            for (size_t k = 0; k < 3; ++k) { /* several, so that the second follows an odd end */
                JASSERT_OK(jallocator_allocate(allocator, sizes[i], alignment, NULL, &pointers[k]));
                JEXPECT_EQ((uintptr_t)pointers[k] % alignment, 0);
                memset(pointers[k], 1, sizes[i]);
            }
            for (size_t k = 0; k < 3; ++k)
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], sizes[i], NULL));
        }
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(AlignmentZeroIsTheGranule) {
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (size_t size = 1; size < 100; ++size) {
        void *pointer, *neighbour;
        JASSERT_OK(jallocator_allocate(allocator, size, 0, NULL, &pointer));
        JASSERT_OK(jallocator_allocate(allocator, size, 0, NULL, &neighbour));
        JEXPECT_EQ((uintptr_t)pointer % 64, 0);
        JEXPECT_EQ((uintptr_t)neighbour % 64, 0);
        JEXPECT_OK(jallocator_deallocate(allocator, neighbour, size, NULL));
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, size, NULL));
    }
    JEXPECT_OK(jallocator_destroy(allocator));
}

typedef struct held {
    unsigned char *pointer;
    size_t size;
    unsigned char mark;
} held_t;

static bool is_whole(const held_t *held) {
    for (size_t i = 0; i < held->size; ++i)
        if (held->pointer[i] != (unsigned char)(held->mark + i))
            return false;
    return true;
}
static void fill(const held_t *held) {
    for (size_t i = 0; i < held->size; ++i)
        held->pointer[i] = (unsigned char)(held->mark + i);
}

/* Random allocations and deallocations; the counters are compared with the test's own after
 * each. */
CONFORMS(KeepsContentsAndCountsExactly) {
    enum { HELD = 24 };
    held_t held[HELD] = {{NULL, 0, 0}};
    size_t in_use = 0, peak = 0, largest = 0, live = 0, count = 0, failures = 0;
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (int64_t i = jtest_iterations(1500); i > 0 && !jtest_has_failure(); --i) {
        held_t *one = &held[jtest_random_between(0, HELD - 1)];
        if (one->pointer) {
            if (!is_whole(one))
                JFAIL("%zu bytes at %p have changed", one->size, (void *)one->pointer);
            JASSERT_OK(jallocator_deallocate(allocator, one->pointer, one->size, NULL));
            --live;
            in_use -= one->size;
            one->pointer = NULL;
        } else {
            const size_t alignment = (size_t)1 << jtest_random_between(0, 13);
            void *pointer;
            one->size = (size_t)jtest_random_between(1, (int64_t)1 << jtest_random_between(0, 16));
            one->mark = (unsigned char)jtest_random();
            const jstatus_t status =
                jallocator_allocate(allocator, one->size, alignment, NULL, &pointer);
            if (status == JSTATUS_MEMORY_ERROR && param->exhaustible) {
                ++failures;
            } else {
                JASSERT_OK(status);
                one->pointer = pointer;
                fill(one);
                ++count;
                ++live;
                in_use += one->size;
                peak = in_use > peak ? in_use : peak;
                largest = one->size > largest ? one->size : largest;
            }
        }
        const jallocator_stats_t stats = stats_of(allocator);
        JEXPECT_EQ(stats.allocation_count, count);
        JEXPECT_EQ(stats.live_count, live);
        JEXPECT_EQ(stats.in_use_bytes, in_use);
        JEXPECT_EQ(stats.peak_in_use_bytes, peak);
        JEXPECT_EQ(stats.largest_request_bytes, largest);
        JEXPECT_EQ(stats.failure_count, failures);
    }
    for (size_t i = 0; i < HELD; ++i)
        if (held[i].pointer) {
            JEXPECT_TRUE(is_whole(&held[i]));
            JEXPECT_OK(jallocator_deallocate(allocator, held[i].pointer, held[i].size, NULL));
        }
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(ZeroBytesAreNullAndNotCounted) {
    jallocator_t *allocator;
    void *pointer = &allocator;
    JASSERT_OK(param->create(&allocator));
    JEXPECT_OK(jallocator_allocate(allocator, 0, 64, NULL, &pointer));
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 0, NULL));
    JEXPECT_EQ(stats_of(allocator).allocation_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Sizes that no machine has: an error, at every alignment, and never a small allocation. */
CONFORMS(ImpossibleSizesAreRefused) {
    static const size_t sizes[] = {
        SIZE_MAX,           SIZE_MAX - 63,         SIZE_MAX / 2 + 1, (size_t)PTRDIFF_MAX,
        PTRDIFF_MAX - 4096, PTRDIFF_MAX - 2 * MIB, SIZE_MAX / 4};
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 64) {
            void *pointer = &allocator;
            const jstatus_t status =
                jallocator_allocate(allocator, sizes[i], alignment, NULL, &pointer);
            if (status != JSTATUS_INVALID_SIZE && status != JSTATUS_MEMORY_ERROR)
                JFAIL("%zu bytes aligned to %zu gave %s", sizes[i], alignment,
                      jstatus_name(status));
            JEXPECT_NULL(pointer);
            JEXPECT_NE(jstatus_last_message()[0], '\0');
        }
    void *pointer;
    JEXPECT_OK(jallocator_allocate(allocator, 64, 64, NULL, &pointer)); /* it works on */
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 64, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(UsableSizeMayBeUsed) {
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        void *pointer, *neighbour;
        JASSERT_OK(jallocator_allocate(allocator, size, 16, NULL, &pointer));
        JASSERT_OK(jallocator_allocate(allocator, size, 16, NULL, &neighbour));
        const size_t usable = jallocator_usable_size(allocator, pointer, size);
        JEXPECT_GE(usable, size);
        memset(neighbour, 1, size);
        memset(pointer, 2, usable);
        JEXPECT_EQ(((unsigned char *)neighbour)[0], 1);
        JEXPECT_EQ(((unsigned char *)neighbour)[size - 1], 1);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, size, NULL));
        JEXPECT_OK(jallocator_deallocate(allocator, neighbour, size, NULL));
    }
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(OwnsWhatIsLive) {
    jallocator_t *allocator;
    void *pointer;
    JASSERT_OK(param->create(&allocator));
    JASSERT_OK(jallocator_allocate(allocator, 100, 64, NULL, &pointer));
    JEXPECT_TRUE(owns(allocator, pointer));
    JEXPECT_FALSE(owns(allocator, &allocator));
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_FALSE(owns(allocator, pointer));
    JEXPECT_OK(jallocator_destroy(allocator));
}

typedef struct worker {
    jallocator_t *allocator;
    uint64_t seed;
    bool exhaustible;
} worker_t;
static void *work(void *argument) {
    const worker_t *worker = argument;
    uint64_t state = worker->seed;
    held_t held[8] = {{NULL, 0, 0}};
    for (int i = 0; i < 600; ++i) {
        held_t *one = &held[jtest_random_next(&state) % 8];
        if (one->pointer) {
            if (!is_whole(one))
                JFAIL("%zu bytes have changed", one->size);
            JEXPECT_OK(jallocator_deallocate(worker->allocator, one->pointer, one->size, NULL));
            one->pointer = NULL;
            continue;
        }
        void *pointer;
        one->size = jtest_random_next(&state) % 3000 + 1;
        one->mark = (unsigned char)state;
        const jstatus_t status =
            jallocator_allocate(worker->allocator, one->size, 64, NULL, &pointer);
        if (status == JSTATUS_MEMORY_ERROR && worker->exhaustible)
            continue;
        JEXPECT_OK(status);
        if ((one->pointer = pointer) != NULL)
            fill(one);
    }
    for (int i = 0; i < 8; ++i)
        if (held[i].pointer) {
            if (!is_whole(&held[i]))
                JFAIL("%zu bytes have changed", held[i].size);
            JEXPECT_OK(
                jallocator_deallocate(worker->allocator, held[i].pointer, held[i].size, NULL));
        }
    return NULL;
}
CONFORMS(ServesManyThreads) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    worker_t workers[THREADS];
    jallocator_t *allocator;
    JASSERT_OK(param->create(&allocator));
    for (int i = 0; i < THREADS; ++i) {
        workers[i] = (worker_t){allocator, jtest_random(), param->exhaustible};
        JASSERT_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    const jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_GT(stats.allocation_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(EachFailedAllocationOfBookkeepingLosesNothing) {
    JFOR_EACH_FAILURE(i) {
        jallocator_t *allocator = NULL;
        const jstatus_t status = param->create(&allocator);
        JEXPECT_EQ(allocator != NULL, status == JSTATUS_SUCCESS);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        void *pointers[40];
        for (size_t k = 0; k < 40; ++k) {
            const jstatus_t answer = jallocator_allocate(allocator, 100, 64, NULL, &pointers[k]);
            JEXPECT_EQ(pointers[k] != NULL, answer == JSTATUS_SUCCESS);
            if (answer != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(answer, JSTATUS_MEMORY_ERROR);
                JEXPECT_TRUE(jtest_metadata_failed());
                /* The next one is served. */
                JEXPECT_OK(jallocator_allocate(allocator, 100, 64, NULL, &pointers[k]));
            }
        }
        for (size_t k = 0; k < 40; ++k)
            JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], 100, NULL));
        JEXPECT_EQ(stats_of(allocator).live_count, 0);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

JTEST(Providers, ArgumentsAreChecked) {
    jallocator_t *allocator = NULL;
    char array[64];
    JEXPECT_STATUS(jallocator_create_malloc(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_mmap(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_device(NULL, JMEMORY_DEVICE, &allocator),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_device(jdevice_host(), (jmemory_kind_t)9, &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_create_array(jdevice_host(), NULL, 64, &allocator),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_array(jdevice_host(), array, 64, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_create_array(jdevice_host(), array, 0, &allocator),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_create_array(jdevice_host(), array, SIZE_MAX, &allocator),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(
        jallocator_create_array(jdevice_host(), (void *)(UINTPTR_MAX - 10), 100, &allocator),
        JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(allocator);
}

/* Pages mapped by the process, from the kernel. */
static size_t mapped_pages(void) {
    char text[128];
    FILE *file = fopen("/proc/self/statm", "r");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return strtoull(text, NULL, 10);
}

JTEST(ProviderMmap, MemoryIsZeroedAndGoesBackToTheSystem) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 10000;
    jallocator_t *allocator;
    void *pointer;
    JASSERT_OK(jallocator_create_mmap(&allocator));
    mapped_pages(); /* the first call may make the C library take memory */
    const size_t before = mapped_pages();
    for (int round = 0; round < 3; ++round) {
        bool zero = true;
        JASSERT_OK(jallocator_allocate(allocator, pages * page, 4 * MIB, NULL, &pointer));
        JEXPECT_GE(mapped_pages(), before + pages);
        for (size_t i = 0; i < pages * page; ++i)
            zero &= ((unsigned char *)pointer)[i] == 0;
        JEXPECT_TRUE(zero);
        memset(pointer, 0xFF, pages * page);
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, pages * page);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, pages * page, NULL));
        JEXPECT_LE(mapped_pages(), before + pages / 2);
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    }
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderMmap, WhatAnAlignmentNeedsMoreIsGivenBackAtOnce) {
    enum { COUNT = 64, PAGES = 3 };
    /* Pages that others may take meanwhile. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), slack = 2000;
    jallocator_t *allocator;
    void *pointers[COUNT];
    JASSERT_OK(jallocator_create_mmap(&allocator));
    const size_t before = mapped_pages();
    for (size_t i = 0; i < COUNT; ++i)
        JASSERT_OK(jallocator_allocate(allocator, PAGES * page, 4 * MIB, NULL, &pointers[i]));
    JEXPECT_LE(mapped_pages(), before + COUNT * PAGES + slack); /* not COUNT * 1024 */
    for (size_t i = 0; i < COUNT; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], PAGES * page, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderMmap, PointersInsideAMappingAreNotFound) {
    jallocator_t *allocator;
    void *pointer;
    JASSERT_OK(jallocator_create_mmap(&allocator));
    JASSERT_OK(jallocator_allocate(allocator, 10000, 64, NULL, &pointer));
    JEXPECT_STATUS(jallocator_deallocate(allocator, (char *)pointer + 64, 100, NULL),
                   JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 10000, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderMmap, WhatTheSystemRefusesIsSaid) {
    jallocator_t *allocator;
    void *pointer, *none = NULL;
    JASSERT_OK(jallocator_create_mmap(&allocator));
    JASSERT_OK(jallocator_allocate(allocator, 10000, 64, NULL, &pointer));
    jtest_fail_calls("munmap", 1, 1, ENOMEM);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 10000, NULL), JSTATUS_DEVICE_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "munmap");
    JEXPECT_EQ(stats_of(allocator).live_count, 1);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 10000, NULL));
    JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX - 10, 64, NULL, &none),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(none);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Memory that cannot be read or written: an access by the provider would end the program. */
JTEST(ProviderArray, NeverTouchesTheArray) {
    void *pointers[3], *array = mmap(NULL, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    jallocator_t *allocator;
    JASSERT_NE(array, MAP_FAILED);
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, MIB, &allocator));
    for (int i = 0; i < 3; ++i)
        JEXPECT_OK(jallocator_allocate(allocator, 1000, 64, NULL, &pointers[i]));
    JEXPECT_EQ(pointers[0], array);
    JEXPECT_EQ(pointers[1], (char *)array + 1024); /* one after the other */
    JEXPECT_EQ(pointers[2], (char *)array + 2048);
    JEXPECT_OK(jallocator_deallocate(allocator, pointers[1], 1000, NULL));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_OK(jallocator_deallocate(allocator, pointers[0], 1000, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, pointers[2], 1000, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
    munmap(array, MIB);
}

JTEST(ProviderArray, LastOneFreedIsTakenBackAtOnceAllWhenTheLastIs) {
    alignas(64) static char array[1024];
    jallocator_t *allocator;
    void *a, *b, *c;
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, sizeof array, &allocator));
    JASSERT_OK(jallocator_allocate(allocator, 256, 64, NULL, &a));
    JASSERT_OK(jallocator_allocate(allocator, 768, 64, NULL, &b)); /* exactly full */
    JEXPECT_STATUS(jallocator_allocate(allocator, 1, 1, NULL, &c), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 0);
    JEXPECT_OK(jallocator_deallocate(allocator, b, 768, NULL));
    JEXPECT_OK(jallocator_allocate(allocator, 512, 64, NULL, &b)); /* in its place */
    JEXPECT_EQ(b, array + 256);
    JEXPECT_OK(jallocator_deallocate(allocator, a, 256, NULL)); /* not the last: its place waits */
    JEXPECT_STATUS(jallocator_allocate(allocator, 512, 64, NULL, &c), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_deallocate(allocator, b, 512, NULL));
    JEXPECT_OK(jallocator_allocate(allocator, 1024, 64, NULL, &c)); /* all */
    JEXPECT_EQ(c, array);
    JEXPECT_OK(jallocator_deallocate(allocator, c, 1024, NULL));
    JEXPECT_EQ(stats_of(allocator).limit_bytes, 1024);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderArray, KnowsForeignAndTwiceFreedPointersAndWrongSizes) {
    alignas(64) static char array[1024];
    jallocator_t *allocator;
    void *a, *b;
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, sizeof array, &allocator));
    JASSERT_OK(jallocator_allocate(allocator, 128, 64, NULL, &a));
    JASSERT_OK(jallocator_allocate(allocator, 128, 64, NULL, &b));
    JEXPECT_STATUS(jallocator_deallocate(allocator, array + 64, 128, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(allocator, &allocator, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(allocator, a, 64, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jallocator_deallocate(allocator, a, 128, NULL));
    JEXPECT_STATUS(jallocator_deallocate(allocator, a, 128, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, b, 128, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

typedef struct seen {
    size_t count, free_count, most; /* stops after that many */
} seen_t;
static bool see(void *context, const jallocation_t *block) {
    seen_t *seen = context;
    seen->free_count += !block->live;
    return ++seen->count < seen->most;
}
JTEST(ProviderArray, ShowsWhatIsLiveAndTheRestUntilToldToStop) {
    alignas(4096) static char array[1024]; /* no other multiple of 4096 lies in it */
    jallocator_t *allocator;
    void *blocks[4];
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, sizeof array, &allocator));
    for (int i = 0; i < 4; ++i)
        JASSERT_OK(jallocator_allocate(allocator, i < 3 ? 256 : 128, 64, NULL, &blocks[i]));
    /* Its place waits, and is not shown. */
    JEXPECT_OK(jallocator_deallocate(allocator, blocks[1], 256, NULL));
    seen_t seen = {.most = 9};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    JEXPECT_EQ(seen.count, 4);
    JEXPECT_EQ(seen.free_count, 1);
    seen = (seen_t){.most = 2};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    JEXPECT_EQ(seen.count, 2);
    JEXPECT_STATUS(jallocator_allocate(allocator, 64, 4096, NULL, &blocks[1]),
                   JSTATUS_MEMORY_ERROR);
    JASSERT_OK(jallocator_allocate(allocator, 128, 64, NULL, &blocks[1])); /* full */
    seen = (seen_t){.most = 9};
    JEXPECT_OK(jallocator_visit(allocator, see, &seen));
    JEXPECT_EQ(seen.count, 4);
    JEXPECT_EQ(seen.free_count, 0);
    JEXPECT_OK(jallocator_deallocate(allocator, blocks[1], 128, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, blocks[3], 128, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, blocks[2], 256, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, blocks[0], 256, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* An array whose beginning is aligned to nothing: pointers are aligned all the same. */
JTEST(ProviderArray, MisalignedArrayGivesAlignedPointers) {
    alignas(64) static char array[1024];
    for (size_t shift = 1; shift < 70; ++shift) {
        jallocator_t *allocator;
        void *pointer;
        JASSERT_OK(jallocator_create_array(jdevice_host(), array + shift, 512, &allocator));
        JASSERT_OK(jallocator_allocate(allocator, 400, 64, NULL, &pointer));
        JEXPECT_EQ((uintptr_t)pointer % 64, 0);
        JEXPECT_TRUE((char *)pointer >= array + shift &&
                     (char *)pointer + 400 <= array + shift + 512);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, 400, NULL));
        /* Exactly so much and no more. */
        const size_t padding = (64 - shift % 64) % 64, room = 512 - padding;
        JEXPECT_STATUS(jallocator_allocate(allocator, room + 1, 64, NULL, &pointer),
                       JSTATUS_MEMORY_ERROR);
        JEXPECT_OK(jallocator_allocate(allocator, room, 64, NULL, &pointer));
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, room, NULL));
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

/* ---- In stream order ---- */

/* A free that the device refuses leaves the block as it was, aligned beyond the device's granule or
 * not. */
JTEST(ProviderOrdered, WhatTheDeviceDoesNotTakeBackStaysLive) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jallocator_t *allocator;
    jstream_t *stream;
    JASSERT_OK(jstream_create(&gpu->device, &stream));
    JASSERT_OK(jallocator_create_device(&gpu->device, JMEMORY_STREAM_ORDERED, &allocator));
    for (size_t alignment = 64; alignment <= 4096; alignment *= 64) {
        void *pointer = NULL;
        JASSERT_OK(jallocator_allocate(allocator, 100, alignment, stream, &pointer));
        JEXPECT_EQ((uintptr_t)pointer % alignment, 0);
        pretend_gpu_capture(stream, 5);
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 100, stream), JSTATUS_CAPTURING);
        JEXPECT_EQ(stats_of(allocator).live_count, 1);
        pretend_gpu_capture(stream, 0);
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, stream));
        JEXPECT_EQ(pretend_gpu_live_bytes(), 0);
    }
    JEXPECT_EQ(gpu->violations, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jstream_destroy(stream));
}

typedef struct inherited {
    jallocator_t *allocator;
    jstream_t *stream;
    void *pointer;
} inherited_t;
static void give_back_in_a_child(void *argument) {
    const inherited_t *inherited = argument;
    JEXPECT_OK(
        jallocator_deallocate(inherited->allocator, inherited->pointer, 100, inherited->stream));
    JEXPECT_EQ(stats_of(inherited->allocator).live_count, 0);
}
JTEST(ProviderOrdered, AForkedChildGivesBackWithoutTheParentsStream) {
    inherited_t inherited;
    JASSERT_OK(jstream_create(jdevice_host(), &inherited.stream));
    JASSERT_OK(
        jallocator_create_device(jdevice_host(), JMEMORY_STREAM_ORDERED, &inherited.allocator));
    JASSERT_OK(
        jallocator_allocate(inherited.allocator, 100, 4096, inherited.stream, &inherited.pointer));
    jtest_in_child(20, give_back_in_a_child, &inherited);
    JEXPECT_OK(
        jallocator_deallocate(inherited.allocator, inherited.pointer, 100, inherited.stream));
    JEXPECT_OK(jallocator_destroy(inherited.allocator));
    JEXPECT_OK(jstream_destroy(inherited.stream));
}
