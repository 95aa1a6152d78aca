/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What only one provider promises: where pages come from and lie, what is said when the system does
 * not give them, and when malloc warns. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/log.h"
#include "memory/providers/provider.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* ---- null ---- */

JTEST(ProviderNull, AlwaysAnswersMemoryError) {
    jallocator_t *allocator, *pool;
    void *pointer = &pointer;
    JASSERT_OK(jallocator_create_null(NULL, &allocator));
    JEXPECT_STREQ(jallocator_name(allocator), "null");
    JEXPECT_EQ(jallocator_device(allocator), jdevice_host());
    JEXPECT_STATUS(jallocator_allocate(allocator, 1, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "never has memory");
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_allocate(allocator, 0, 0, NULL, &pointer)); /* nothing can be had */
    JEXPECT_STATUS(jallocator_deallocate(allocator, &pool, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(allocator).failure_count, 1);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JASSERT_OK(jallocator_compose(NULL, "null+pool", &pool));
    JEXPECT_STATUS(jallocator_allocate(pool, 1, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_destroy(pool));
    JEXPECT_STATUS(jallocator_create_null(NULL, NULL), JSTATUS_INVALID_POINTER);
}

/* ---- huge ---- */

/* 4 MiB is a size of huge pages on no system, so the reserve never has any. */
#define UNKNOWN_PAGE (4 * MIB)

static jstatus_t create_huge(size_t page_bytes, bool require, jallocator_t **allocator) {
    jhuge_options_t options = JHUGE_OPTIONS_INIT;
    options.page_bytes = page_bytes;
    options.require = require;
    return jallocator_create_huge(&options, allocator);
}

JTEST(ProviderHuge, FallsBackAndSaysSoOnce) {
    jallocator_t *allocator;
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    JASSERT_OK(create_huge(UNKNOWN_PAGE, false, &allocator));
    JEXPECT_EQ(jtest_log_count(), 0);
    char *a = take(allocator, 100), *b = take(allocator, UNKNOWN_PAGE + 1);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), "\"huge\"");
    JEXPECT_SUBSTR(jtest_log_text(), "falls back");
    JEXPECT_EQ((uintptr_t)a % UNKNOWN_PAGE, 0);
    JEXPECT_EQ((uintptr_t)b % UNKNOWN_PAGE, 0);
    JEXPECT_EQ(jallocator_usable_size(allocator, a, 100), UNKNOWN_PAGE);
    a[0] = a[UNKNOWN_PAGE - 1] = b[UNKNOWN_PAGE] = 1;
    JEXPECT_EQ(stats_of(allocator).in_use_bytes, UNKNOWN_PAGE + 101);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 3 * UNKNOWN_PAGE);
    give(allocator, b, UNKNOWN_PAGE + 1);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, UNKNOWN_PAGE);
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, 3 * UNKNOWN_PAGE);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, UNKNOWN_PAGE);
    give(allocator, a, 100);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
}

JTEST(ProviderHuge, FailsInsteadWhereThatIsRequired) {
    jallocator_t *allocator;
    void *pointer = NULL;
    JASSERT_OK(create_huge(UNKNOWN_PAGE, true, &allocator));
    JEXPECT_STATUS(jallocator_allocate(allocator, 100, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_STATUS(create_huge(3 * MIB, false, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(create_huge(512, false, &allocator), JSTATUS_INVALID_VALUE);
}

/* With pages from the reserve or without: whole pages of the system's default size, zeroed, any
 * alignment. */
JTEST(ProviderHuge, PagesLargerThanAnyAreRefusedWhereTheyAreRequired) {
    static const int powers[] = {31, 32, 34, 40, 62, 63};
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; ++i) {
        JSCOPED_TRACE("2^%d", powers[i]);
        jhuge_options_t options = JHUGE_OPTIONS_INIT;
        jallocator_t *huge = NULL;
        void *pointer = &options;
        options.page_bytes = (size_t)1 << powers[i];
        options.require = true;
        JASSERT_OK(jallocator_create_huge(&options, &huge));
        const jstatus_t status = jallocator_allocate(huge, 100, 0, NULL, &pointer);
        JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR || status == JSTATUS_INVALID_SIZE);
        JEXPECT_NULL(pointer);
        JEXPECT_OK(jallocator_destroy(huge));
    }
}

JTEST(ProviderHuge, GivesWholePagesOfTheDefaultSize) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "huge", &allocator));
    void *pointer, *aligned;
    JASSERT_OK(jallocator_allocate(allocator, 1, 0, NULL, &pointer));
    const size_t page = jallocator_usable_size(allocator, pointer, 1);
    JEXPECT_GE(page, 64 * 1024);
    JEXPECT_EQ((uintptr_t)pointer % page, 0);
    for (size_t i = 0; i < page; i += 4096)
        JEXPECT_EQ(((unsigned char *)pointer)[i], 0);
    JEXPECT_OK(jallocator_allocate(allocator, 1, 16 * MIB, NULL, &aligned));
    JEXPECT_EQ((uintptr_t)aligned % (16 * MIB), 0);
    JEXPECT_OK(jallocator_deallocate(allocator, aligned, 1, NULL));
    JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX - 4096, 0, NULL, &aligned),
                   JSTATUS_INVALID_SIZE);
    give(allocator, pointer, 1);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* Without /proc a huge page is what it usually is; without transparent ones the pages are ordinary,
 * and that is said. */
JTEST(ProviderHuge, GoesWithoutWhatTheSystemDoesNotSay) {
    jallocator_t *allocator;
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    jtest_fail_calls("fopen", 1, 1, ENOENT);
    JASSERT_OK(jallocator_compose(NULL, "huge", &allocator));
    JEXPECT_TRUE(jtest_calls_failed());
    void *pointer = take(allocator, 1);
    JEXPECT_EQ(jallocator_usable_size(allocator, pointer, 1), 2 * MIB);
    give(allocator, pointer, 1);
    JEXPECT_OK(jallocator_destroy(allocator));
    jtest_log_clear();
    JASSERT_OK(create_huge(UNKNOWN_PAGE, false, &allocator));
    jtest_fail_calls("madvise", 1, 1, EINVAL);
    pointer = take(allocator, 1);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jtest_log_text(), "ordinary pages, for there are no transparent huge pages");
    give(allocator, pointer, 1);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
}

/* ---- numa ---- */

static jstatus_t create_numa(int node, jnuma_policy_t policy, jallocator_t **allocator) {
    jnuma_options_t options = JNUMA_OPTIONS_INIT;
    options.node = node;
    options.policy = policy;
    return jallocator_create_numa(&options, allocator);
}

/* The kernel's policy of an address: MPOL_..., with the first node of its mask in *node; -1 where
 * it does not say. */
static int policy_of(const void *pointer, int *node) {
    unsigned long mask[16] = {0};
    int mode = -1;
    if (syscall(SYS_get_mempolicy, &mode, mask, 1025UL, pointer, MPOL_F_ADDR) != 0)
        return -1;
    *node = mask[0] != 0 ? __builtin_ctzl(mask[0]) : -1;
    return mode;
}

/* The first node there is; -1 where the system has no directory of them. */
static int first_node(void) {
    char path[64];
    for (int node = 0; node < 64; ++node) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

JTEST(ProviderNuma, PlacesPagesAsThePolicySays) {
    static const struct {
        jnuma_policy_t policy;
        int mode;
    } cases[] = {{JNUMA_BIND, MPOL_BIND},
                 {JNUMA_PREFER, MPOL_PREFERRED},
                 {JNUMA_INTERLEAVE, MPOL_INTERLEAVE}};
    const int node = first_node();
    bool placed = node >= 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        jallocator_t *allocator;
        int on = -1;
        JEXPECT_OK(jlog_set_level(JLOG_INFO));
        JASSERT_OK(create_numa(node >= 0 ? node : 0, cases[i].policy, &allocator));
        char *pointer = take(allocator, 100000);
        memset(pointer, 1, 100000);
        placed = placed && jtest_log_count() == 0; /* else the kernel refuses, which it says */
        const int mode = policy_of(pointer, &on);
        if (placed && mode != -1) {
            JEXPECT_EQ(mode, cases[i].mode);
            if (cases[i].policy != JNUMA_INTERLEAVE)
                JEXPECT_EQ(on, node);
        }
        JEXPECT_EQ(stats_of(allocator).reserved_bytes,
                   jallocator_usable_size(allocator, pointer, 100000));
        give(allocator, pointer, 100000);
        JEXPECT_OK(jallocator_destroy(allocator));
    }
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
}

JTEST(ProviderNuma, RefusesNodesAndPoliciesThatThereAreNot) {
    jallocator_t *allocator = NULL;
    JEXPECT_STATUS(create_numa(1000, JNUMA_BIND, &allocator), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "1000");
    JEXPECT_STATUS(create_numa(1 << 30, JNUMA_PREFER, &allocator), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(create_numa(-2, JNUMA_PREFER, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(create_numa(0, (jnuma_policy_t)3, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_compose(NULL, "numa(node=999,policy=bind)", &allocator),
                   JSTATUS_NOT_FOUND);
    JEXPECT_NULL(allocator);
    JEXPECT_OK(jallocator_create_numa(NULL, &allocator)); /* the calling thread's */
    JEXPECT_STREQ(jallocator_name(allocator), "numa");
    give(allocator, take(allocator, 1), 1);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* One that places nothing gives ordinary pages, and says so once. */
static void expect_unplaced(jallocator_t *allocator) {
    for (int i = 0; i < 3; ++i) {
        char *pointer = take(allocator, 10000);
        memset(pointer, 1, 10000);
        give(allocator, pointer, 10000);
    }
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), "\"numa\"");
    JEXPECT_SUBSTR(jtest_log_text(), "not placed");
    JEXPECT_OK(jallocator_destroy(allocator));
    jtest_log_clear();
}

JTEST(ProviderNuma, WithoutADirectoryOfNodesThereIsNodeZero) {
    const char *directory = ji_numa_directory;
    jallocator_t *allocator;
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    ji_numa_directory = "/nowhere/at/all";
    JEXPECT_STATUS(create_numa(1, JNUMA_BIND, &allocator), JSTATUS_NOT_FOUND);
    JEXPECT_OK(create_numa(0, JNUMA_BIND, &allocator));
    expect_unplaced(allocator);
    JEXPECT_OK(create_numa(-1, JNUMA_PREFER, &allocator));
    expect_unplaced(allocator);
    JEXPECT_OK(create_numa(-1, JNUMA_INTERLEAVE, &allocator));
    expect_unplaced(allocator);
    ji_numa_directory = directory;
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
}

JTEST(ProviderNuma, AKernelThatRefusesIsSaidOnceAndOtherErrorsAreErrors) {
    static const int refusals[] = {ENOSYS, EPERM};
    jallocator_t *allocator;
    if (first_node() < 0)
        JSKIP("no NUMA nodes: the kernel is never asked");
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    for (size_t i = 0; i < 2; ++i) {
        JEXPECT_OK(jallocator_create_numa(NULL, &allocator));
        ji_numa_refusal = refusals[i];
        expect_unplaced(allocator);
        ji_numa_refusal = 0;
    }
    void *pointer = NULL;
    JEXPECT_OK(jallocator_create_numa(NULL, &allocator));
    ji_numa_refusal = EIO;
    JEXPECT_STATUS(jallocator_allocate(allocator, 100, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "mbind");
    ji_numa_refusal = 0;
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
}

JTEST(ProviderNuma, ReadsListsOfNodes) {
    ji_numa_nodes_t nodes;
    JEXPECT_TRUE(ji_numa_parse_nodes("0\n", &nodes));
    JEXPECT_EQ(nodes.words[0], 1);
    JEXPECT_TRUE(ji_numa_parse_nodes("1-3,8,63-64\n", &nodes));
    JEXPECT_EQ(nodes.words[0], 14 | 1 << 8 | UINT64_C(1) << 63);
    JEXPECT_EQ(nodes.words[1], 1);
    JEXPECT_TRUE(ji_numa_parse_nodes("1020-2000", &nodes));
    JEXPECT_EQ(nodes.words[15], UINT64_C(15) << 60);
    JEXPECT_FALSE(ji_numa_parse_nodes("\n", &nodes));
    JEXPECT_FALSE(ji_numa_parse_nodes("", &nodes));
    JEXPECT_FALSE(ji_numa_parse_nodes("5000", &nodes));
    JEXPECT_FALSE(ji_numa_parse_nodes("none", &nodes));
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    JASSERT_TRUE(file != NULL);
    fputs(text, file);
    fclose(file);
}

/* A machine of our own: nodes 0, 2 and 3, of which 2 and 3 have memory. What the kernel says to
 * that is its affair. */
JTEST(ProviderNuma, ReadsTheSystemsNodes) {
    char root[] = P_tmpdir "/jalloc-numa-XXXXXX", path[128];
    const char *directory = ji_numa_directory;
    jallocator_t *allocator;
    JASSERT_NOT_NULL(mkdtemp(root));
    static const char *const files[] = {"node0", "node2", "node3", "has_memory", "online"};
    for (size_t i = 0; i < 5; ++i) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        write_file(path, "");
    }
    ji_numa_directory = root;
    ji_numa_refusal = ENOSYS; /* the real machine has other nodes */
    JEXPECT_OK(create_numa(2, JNUMA_BIND, &allocator));
    give(allocator, take(allocator, 1), 1);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_STATUS(create_numa(1, JNUMA_BIND, &allocator), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(create_numa(4, JNUMA_PREFER, &allocator), JSTATUS_NOT_FOUND);
    static const char *const lists[] = {"2-3\n", "",
                                        /* Of nodes with memory; nothing and no node: those
                                         * online. */
                                        "\n"};
    snprintf(path, sizeof path, "%s/online", root);
    write_file(path, "0,2-3\n");
    for (size_t i = 0; i < 3; ++i) {
        snprintf(path, sizeof path, "%s/has_memory", root);
        write_file(path, lists[i]);
        JEXPECT_OK(create_numa(4, JNUMA_INTERLEAVE, &allocator)); /* needs no node */
        JEXPECT_OK(jallocator_destroy(allocator));
    }
    ji_numa_refusal = 0;
    ji_numa_directory = directory;
    for (size_t i = 0; i < 5; ++i) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        unlink(path);
    }
    rmdir(root);
}

/* ---- malloc ---- */

/* A machine with a million bytes. */
static jallocator_t *create_poor(void) {
    jallocator_t *allocator = NULL;
    atomic_store(&ji_malloc_available_bytes, 1000000);
    JEXPECT_OK(jallocator_create_malloc(&allocator));
    return allocator;
}
static void end_poor(jallocator_t *allocator) {
    JEXPECT_OK(jallocator_destroy(allocator));
    atomic_store(&ji_malloc_available_bytes, 0);
}

JTEST(ProviderMalloc, WarnsOnceOfALargeAllocation) {
    jallocator_t *allocator = create_poor();
    give(allocator, take(allocator, 100000), 100000); /* exactly 10% */
    JEXPECT_EQ(jtest_log_count(), 0);
    give(allocator, take(allocator, 100001), 100001);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), "100001");
    JEXPECT_SUBSTR(jtest_log_text(), "10%");
    JEXPECT_SUBSTR(jtest_log_text(), "\"jpu\"");
    give(allocator, take(allocator, 400000), 400000);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    give(allocator, take(allocator, 400000), 400000);
    JEXPECT_EQ(jtest_log_count(), 2);
    end_poor(allocator);
}

JTEST(ProviderMalloc, WarnsOnceOfALargeTotal) {
    jallocator_t *allocator = create_poor();
    void *pointers[6];
    for (size_t i = 0; i < 5; ++i)
        pointers[i] = take(allocator, 100000); /* exactly 50% */
    JEXPECT_EQ(jtest_log_count(), 0);
    pointers[5] = take(allocator, 1);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), "500001");
    JEXPECT_SUBSTR(jtest_log_text(), "50%");
    give(allocator, pointers[5], 1);
    pointers[5] = take(allocator, 1);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    give(allocator, pointers[5], 1);
    pointers[5] = take(allocator, 1);
    JEXPECT_EQ(jtest_log_count(), 2);
    for (size_t i = 0; i < 6; ++i)
        give(allocator, pointers[i], i < 5 ? 100000 : 1);
    end_poor(allocator);
}

/* The thresholds are those of the last look; what is above is looked at again. */
JTEST(ProviderMalloc, MemoryThatHasBecomeFreeCounts) {
    jallocator_t *allocator = create_poor();
    atomic_store(&ji_malloc_available_bytes, 10000000);
    void *pointer = take(allocator, 900000);
    JEXPECT_EQ(jtest_log_count(), 0);
    give(allocator, pointer, 900000);
    give(allocator, take(allocator, 1000001), 1000001);
    JEXPECT_EQ(jtest_log_count(), 1);
    end_poor(allocator);
}

/* Where the system does not say what it has, there is nothing that an allocation could be too much
 * of. */
JTEST(ProviderMalloc, SaysNothingWhereTheSystemDoesNot) {
    jallocator_t *allocator;
    jtest_fail_calls("sysconf", 1, UINT64_MAX, EINVAL);
    JASSERT_OK(jallocator_create_malloc(&allocator));
    give(allocator, take(allocator, 1 << 20), 1 << 20);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A block stands in a larger one of malloc's: it has all that was asked for, and goes back
 * whole. */
JTEST(ProviderMalloc, BlocksAreWholeAtEveryAlignment) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_create_malloc(&allocator));
    for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 2)
        for (size_t size = 1; size < 300000; size = size * 7 + 3) {
            unsigned char *pointers[3];
            for (int i = 0; i < 3; ++i) {
                void *pointer;
                JASSERT_OK(jallocator_allocate(allocator, size, alignment, NULL, &pointer));
                JEXPECT_EQ((uintptr_t)pointer % alignment, 0);
                pointers[i] = pointer;
                memset(pointer, i, jallocator_usable_size(allocator, pointer, size));
            }
            for (int i = 0; i < 3; ++i) {
                JEXPECT_EQ(pointers[i][0], i);
                JEXPECT_EQ(pointers[i][size - 1], i);
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], size, NULL));
            }
        }
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderMalloc, SaysNothingOfUsualSizes) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_create_malloc(&allocator));
    give(allocator, take(allocator, 1 << 20), 1 << 20);
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(ProviderKinds, BookkeepingMayFailAtAnyTime) {
    static const char *const kinds[] = {"malloc", "mmap", "numa", "huge", "null"};
    JFOR_EACH_FAILURE(i) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
            jallocator_t *allocator = NULL;
            void *pointer = NULL;
            jstatus_t status = jallocator_compose(NULL, kinds[k], &allocator);
            if (status != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                continue;
            }
            if (jallocator_allocate(allocator, 100, 0, NULL, &pointer) == JSTATUS_SUCCESS)
                give(allocator, pointer, 100);
            JEXPECT_EQ(stats_of(allocator).reserved_bytes, 0);
            JEXPECT_OK(jallocator_destroy(allocator));
        }
    }
}

JTEST(ProviderNuma, WhereTheSystemDoesNotSayItIsNodeZero) {
    jallocator_t *allocator;
    jnuma_options_t options = JNUMA_OPTIONS_INIT;
    if (first_node() != 0)
        JSKIP("there is no node 0");
    jtest_fail_calls("syscall", 1, 1, ENOSYS); /* which node this is */
    JASSERT_OK(jallocator_create_numa(NULL, &allocator));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_OK(jallocator_destroy(allocator));
    options.policy = JNUMA_INTERLEAVE;
    jtest_fail_calls("fopen", 1, 2, ENOENT);
    JASSERT_OK(jallocator_create_numa(&options, &allocator));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_OK(jallocator_destroy(allocator));
    void *pointer = NULL;
    JASSERT_OK(jallocator_create_numa(NULL, &allocator));
    jtest_fail_calls("syscall", 1, 1, EIO); /* mbind */
    JEXPECT_STATUS(jallocator_allocate(allocator, 100, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "mbind");
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_destroy(allocator));
}
