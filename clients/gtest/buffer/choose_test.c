/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a best allocator puts buffers: every line of the table, its edges, the environment over it,
 * what the log says of it, and that several processes come to one answer. */

#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include "buffer/choose.h"

#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* ---- The decision ---- */

/* Devices that are only names here. */
static jdevice_t *gpus(int index) {
    static jdevice_t devices[2];
    devices[index].kind = JDEVICE_CUDA;
    snprintf(devices[index].name, sizeof devices[index].name, "cuda:%d", index);
    return &devices[index];
}

enum { HOST = -1, NONE = -2, NAMED = -3 }; /* beside numbers of GPUs */
static jdevice_t *device_of(int number) {
    return number >= 0 ? gpus(number) : number == HOST ? jdevice_host() : NULL;
}

typedef struct decision_case {
    const char *name;
    int processes, here;
    size_t node_bytes, gpu_bytes[2]; /* available; a GPU of 0 bytes is there, too */
    bool can_distribute;
    int wished, rank;
    size_t size_bytes;
    int operands_kind, operands_device; /* NONE: no operands */
    int named_kind;                     /* -1: none */
    const char *named_device;
    jbuffer_kind_t kind;
    int device;
} decision_case_t;

/* clang-format off */
static const decision_case_t decision_cases[] = {
    /* one process */
    {"Small", 1, 1, GIB, {GIB, 0}, false, NONE, 2, 8 * MIB - 1,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    {"GpuFromEightMebibytes", 1, 1, GIB, {GIB, 0}, false, NONE, 2, 8 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"GpuOfAnyRank", 1, 1, GIB, {GIB, 0}, true, NONE, 5, 8 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"GpuWithRoomForJustThree", 1, 1, GIB, {30 * MIB, 0}, false, NONE, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"GpuWithoutRoomForThree", 1, 1, GIB, {30 * MIB - 1, 0}, false, NONE, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    {"TheGpuWithMoreRoom", 1, 1, GIB, {GIB, GIB + 1}, false, NONE, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 1},
    {"TheFirstOfEqualGpus", 1, 1, GIB, {GIB, GIB}, false, NONE, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"TheGpuWishedFor", 1, 1, GIB, {GIB, 2 * GIB}, false, 0, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"TheGpuWishedForTakesSmallOnes", 1, 1, GIB, {GIB, 0}, false, 0, 2, 1,
     NONE, NONE, -1, "", JBUFFER_LOCAL, 0},
    {"TheGpuWishedForIsFull", 1, 1, GIB, {29, GIB}, false, 0, 2, 10,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    {"TheHostWishedFor", 1, 1, GIB, {GIB, GIB}, false, HOST, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    {"NearTheEndOfSizes", 1, 1, GIB, {GIB, GIB}, false, 0, 2, SIZE_MAX,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    {"OneOfMpiDistributesNothing", 1, 1, GIB, {0, 0}, true, NONE, 2, GIB,
     NONE, NONE, -1, "", JBUFFER_LOCAL, HOST},
    /* several */
    {"SmallMatrix", 4, 1, GIB, {0, 0}, true, NONE, 2, 64 * MIB - 1,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    {"MatrixOfSixtyFourMebibytes", 4, 1, GIB, {0, 0}, true, NONE, 2, 64 * MIB,
     NONE, NONE, -1, "", JBUFFER_DISTRIBUTED, HOST},
    {"AQuarterOfAProcessesMemory", 4, 2, 80 * MIB, {0, 0}, true, NONE, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    {"MoreThanThat", 4, 2, 80 * MIB, {0, 0}, true, NONE, 2, 10 * MIB + 1,
     NONE, NONE, -1, "", JBUFFER_DISTRIBUTED, HOST},
    {"NoMatrix", 4, 1, GIB, {0, 0}, true, NONE, 3, GIB,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    {"AVector", 4, 1, GIB, {0, 0}, true, NONE, 1, GIB,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    {"NoGrids", 4, 1, GIB, {0, 0}, false, NONE, 2, GIB,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    {"SeveralLeaveGpusAlone", 4, 1, GIB, {8 * GIB, 0}, true, 0, 2, 10 * MIB,
     NONE, NONE, -1, "", JBUFFER_REPLICATED, HOST},
    /* operands go before sizes */
    {"AsItsOperands", 1, 1, GIB, {GIB, GIB}, false, 0, 2, 10 * MIB,
     JBUFFER_REPLICATED, 1, -1, "", JBUFFER_REPLICATED, 1},
    {"AsItsOperandsOfSeveral", 4, 1, GIB, {0, 0}, true, NONE, 2, GIB,
     JBUFFER_LOCAL, HOST, -1, "", JBUFFER_LOCAL, HOST},
    {"AsDistributedOperands", 4, 1, GIB, {0, 0}, true, NONE, 2, 1,
     JBUFFER_DISTRIBUTED, HOST, -1, "", JBUFFER_DISTRIBUTED, HOST},
    /* JALLOC_BUFFER goes before everything */
    {"NamedKindAndDevice", 4, 1, GIB, {0, 0}, true, NONE, 2, 1,
     JBUFFER_LOCAL, HOST, JBUFFER_DISTRIBUTED, "cuda:1", JBUFFER_DISTRIBUTED, NAMED},
    {"NamedKind", 4, 1, GIB, {0, 0}, true, NONE, 3, 1,
     NONE, NONE, JBUFFER_DISTRIBUTED, "", JBUFFER_DISTRIBUTED, HOST},
    {"NamedLocalOfSeveral", 4, 1, GIB, {GIB, 0}, true, NONE, 2, GIB,
     NONE, NONE, JBUFFER_LOCAL, "", JBUFFER_LOCAL, HOST},
    {"NamedLocalOnTheGpuWithRoom", 1, 1, GIB, {GIB, 0}, true, NONE, 2, 10 * MIB,
     NONE, NONE, JBUFFER_LOCAL, "", JBUFFER_LOCAL, 0},
    {"NamedReplicatedLeavesGpusAlone", 1, 1, GIB, {GIB, 0}, true, NONE, 2, 10 * MIB,
     NONE, NONE, JBUFFER_REPLICATED, "", JBUFFER_REPLICATED, HOST},
    {"NamedKindOnTheOperandsDevice", 1, 1, GIB, {GIB, 0}, true, NONE, 2, 1,
     JBUFFER_LOCAL, 0, JBUFFER_REPLICATED, "", JBUFFER_REPLICATED, 0},
    {"NamedDevice", 4, 1, GIB, {0, 0}, true, NONE, 2, GIB,
     NONE, NONE, -1, "hip:1", JBUFFER_DISTRIBUTED, NAMED},
    {"NamedDeviceOfOne", 1, 1, GIB, {GIB, 0}, true, NONE, 2, GIB / 8,
     NONE, NONE, -1, "host", JBUFFER_LOCAL, NAMED},
    {"NamedDeviceOfOperands", 1, 1, GIB, {GIB, 0}, true, NONE, 2, 1,
     JBUFFER_REPLICATED, 0, -1, "host", JBUFFER_REPLICATED, NAMED},
};
/* clang-format on */

static void decision_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const decision_case_t *)parameter)->name);
}

JTEST_P_NAMED(Choose, TheTable, decision_case_t, decision_cases, decision_name) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    info.processes = param->processes;
    info.node_processes = param->here;
    info.node_available_bytes = param->node_bytes;
    info.devices = 3;
    jruntime_device_t devices[3];
    for (int i = 0; i < 3; ++i) {
        devices[i] = (jruntime_device_t)JRUNTIME_DEVICE_INIT;
        devices[i].device = device_of(i - 1);
        devices[i].available_bytes = i == 0 ? param->node_bytes : param->gpu_bytes[i - 1];
    }
    jbuffer_allocator_options_t operands = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    operands.kind = (jbuffer_kind_t)param->operands_kind;
    operands.device = device_of(param->operands_device);
    ji_choice_question_t question = {.named = {.kind = param->named_kind},
                                     .operands = param->operands_kind == NONE ? NULL : &operands,
                                     .wished = device_of(param->wished),
                                     .rank = param->rank,
                                     .size_bytes = param->size_bytes,
                                     .can_distribute = param->can_distribute,
                                     .info = &info,
                                     .devices = devices};
    snprintf(question.named.device, sizeof question.named.device, "%s", param->named_device);
    const ji_choice_t choice = ji_choice_decide(&question);
    JEXPECT_EQ(choice.kind, param->kind);
    JEXPECT_EQ(choice.device, device_of(param->device));
    JEXPECT_GT(strlen(choice.why), 5);
}

/* ---- Choosing ---- */

static jbuffer_allocator_t *make_allocator(jruntime_t *runtime, jbuffer_kind_t kind,
                                           jdevice_t *device) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = kind;
    options.device = device;
    jbuffer_allocator_t *allocator = NULL;
    JEXPECT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    return allocator;
}

/* A matrix of doubles. */
static jlayout_t matrix(int64_t rows, int64_t columns) {
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 2, (const int64_t[]){rows, columns}, JORDER_COLUMN_MAJOR));
    return layout;
}

static void expect_choice(jbuffer_allocator_t *best, const jlayout_t *layout, size_t count,
                          jbuffer_t *const *operands, jbuffer_kind_t kind, jdevice_t *device) {
    jbuffer_allocator_t *chosen = NULL;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JASSERT_OK(jbuffer_allocator_choose(best, layout, count, operands, &chosen));
    JEXPECT_OK(jbuffer_allocator_get_options(chosen, &options));
    JEXPECT_EQ(options.kind, kind);
    JEXPECT_EQ(options.device, device);
    JEXPECT_EQ(options.type, best->options.type);
    JEXPECT_OK(jbuffer_allocator_release(chosen));
}

JTEST(Choose, AnOrdinaryAllocatorChoosesItself) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jtest_setenv("JALLOC_BUFFER", "no such thing");
    const jlayout_t layout = matrix(10, 10);
    for (int kind = JBUFFER_LOCAL; kind < JBUFFER_BEST; ++kind) {
        jbuffer_allocator_t *allocator =
                                make_allocator(pretend.runtime, (jbuffer_kind_t)kind, NULL),
                            *chosen = NULL;
        JASSERT_OK(jbuffer_allocator_choose(allocator, &layout, 0, NULL, &chosen));
        JEXPECT_EQ(chosen, allocator);
        JEXPECT_OK(jbuffer_allocator_release(chosen));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Choose, OneProcessWithAGpu) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    const jruntime_device_t device = {sizeof device, &gpu->device, GIB, 30 * MIB};
    pretend_runtime_set_memory(runtime, GIB, 1, &device);
    jbuffer_allocator_t *best = make_allocator(runtime, JBUFFER_BEST, NULL);
    const jlayout_t small = matrix(10, 10), middle = matrix(1 << 10, 1 << 10),
                    large = matrix(1 << 11, 1 << 10);
    expect_choice(best, &small, 0, NULL, JBUFFER_LOCAL, jdevice_host());
    expect_choice(best, &middle, 0, NULL, JBUFFER_LOCAL, &gpu->device);
    expect_choice(best, &large, 0, NULL, JBUFFER_LOCAL, jdevice_host());
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Choose, TheAllocatorsWishesAreKept) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    pretend_runtime_set_memory(pretend.runtime, GIB, 0, NULL);
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT,
                                got = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_BEST;
    options.type = JDATATYPE_F32_C;
    options.allocator = jtest_failing_allocator();
    options.grid[0] = 1;
    options.grid[1] = 5;
    options.blocks[0] = 3;
    options.shared_on_node = true;
    jbuffer_allocator_t *best, *chosen;
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &best));
    const jlayout_t layout = matrix(1 << 12, 1 << 12), small = matrix(4, 4);
    JASSERT_OK(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen));
    JEXPECT_OK(jbuffer_allocator_get_options(chosen, &got));
    JEXPECT_EQ(got.kind, JBUFFER_DISTRIBUTED);
    JEXPECT_EQ(got.type, JDATATYPE_F32_C);
    JEXPECT_EQ(got.allocator, options.allocator);
    JEXPECT_EQ(memcmp(got.grid, options.grid, sizeof got.grid), 0);
    JEXPECT_EQ(memcmp(got.blocks, options.blocks, sizeof got.blocks), 0);
    JEXPECT_OK(jbuffer_allocator_release(chosen));
    JASSERT_OK(jbuffer_allocator_choose(best, &small, 0, NULL, &chosen));
    JEXPECT_OK(jbuffer_allocator_get_options(chosen, &got));
    JEXPECT_EQ(got.kind, JBUFFER_REPLICATED);
    JEXPECT_TRUE(got.shared_on_node);
    JEXPECT_OK(jbuffer_allocator_release(chosen));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Bytes of another device than the chosen one are not asked for. */
JTEST(Choose, BytesOfAnotherDeviceAreNotUsed) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    const jruntime_device_t device = {sizeof device, &gpu->device, GIB, GIB};
    pretend_runtime_set_memory(runtime, GIB, 1, &device);
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT,
                                got = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_BEST;
    options.allocator = jtest_failing_allocator();
    jbuffer_allocator_t *best, *chosen;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &best));
    const jlayout_t layout = matrix(1 << 10, 1 << 10);
    JASSERT_OK(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen));
    JEXPECT_OK(jbuffer_allocator_get_options(chosen, &got));
    JEXPECT_EQ(got.device, &gpu->device);
    JEXPECT_NULL(got.allocator);
    JEXPECT_OK(jbuffer_allocator_release(chosen));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Choose, OperandsDecideAndTheTypeIsTheAllocators) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL), *other,
                        *chosen = NULL;
    jbuffer_allocator_t *distributed = make_allocator(pretend.runtime, JBUFFER_DISTRIBUTED, NULL);
    jbuffer_allocator_t *local = make_allocator(pretend.runtime, JBUFFER_LOCAL, NULL);
    const jlayout_t layout = matrix(4, 4);
    jbuffer_t *operands[3] = {NULL};
    /* None of them counts. */
    expect_choice(best, &layout, 3, operands, JBUFFER_REPLICATED, jdevice_host());
    JASSERT_OK(jbuffer_allocate(local, &layout, &operands[0]));
    expect_choice(best, &layout, 3, operands, JBUFFER_LOCAL, jdevice_host());
    JASSERT_OK(jbuffer_allocate(distributed, &layout, &operands[2]));
    JASSERT_OK(jbuffer_allocator_choose(best, &layout, 3, operands, &chosen));
    JEXPECT_EQ(chosen, distributed); /* equal already */
    JEXPECT_OK(jbuffer_allocator_release(chosen));
    JASSERT_OK(jbuffer_allocator_rebind(best, JBUFFER_BEST, JDATATYPE_I32, &other));
    expect_choice(other, &layout, 3, operands, JBUFFER_DISTRIBUTED, jdevice_host());

    /* What cannot be propagated cannot be chosen. */
    chosen = NULL;
    jbuffer_t *freed = operands[0];
    JEXPECT_OK(jbuffer_release(operands[0]));
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 1, &freed, &chosen), JSTATUS_NOT_FOUND);
    JEXPECT_NULL(chosen);
    JEXPECT_OK(jbuffer_release(operands[2]));
    JEXPECT_OK(jbuffer_allocator_release(other));
    JEXPECT_OK(jbuffer_allocator_release(local));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* ---- The environment ---- */

JTEST(Choose, TheEnvironmentNamesKindAndDevice) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    const jlayout_t layout = matrix(4, 4);
    jtest_setenv("JALLOC_BUFFER", "local");
    expect_choice(best, &layout, 0, NULL, JBUFFER_LOCAL, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "distributed@host");
    expect_choice(best, &layout, 0, NULL, JBUFFER_DISTRIBUTED, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "replicated");
    expect_choice(best, &layout, 0, NULL, JBUFFER_REPLICATED, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "@host");
    expect_choice(best, &layout, 0, NULL, JBUFFER_REPLICATED, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "");
    expect_choice(best, &layout, 0, NULL, JBUFFER_REPLICATED, jdevice_host());

    /* Over operands, too, which then need not even agree. */
    jbuffer_allocator_t *local = make_allocator(pretend.runtime, JBUFFER_LOCAL, NULL), *integers;
    JASSERT_OK(jbuffer_allocator_rebind(local, JBUFFER_LOCAL, JDATATYPE_I8, &integers));
    jbuffer_t *operands[2];
    JASSERT_OK(jbuffer_allocate(local, &layout, &operands[0]));
    JASSERT_OK(jbuffer_allocate(integers, &layout, &operands[1]));
    jtest_setenv("JALLOC_BUFFER", "distributed@host");
    expect_choice(best, &layout, 2, operands, JBUFFER_DISTRIBUTED, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "distributed");
    expect_choice(best, &layout, 1, operands, JBUFFER_DISTRIBUTED, jdevice_host());
    jbuffer_allocator_t *chosen = NULL;
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 2, operands, &chosen),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(operands[0]));
    JEXPECT_OK(jbuffer_release(operands[1]));
    JEXPECT_OK(jbuffer_allocator_release(integers));
    JEXPECT_OK(jbuffer_allocator_release(local));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Choose, AnEnvironmentThatIsNotUnderstoodIsQuoted) {
    static const char *const texts[] = {
        "Local",        "best",
        "local ",       " local",
        "local@",       "@",
        "local@gpu",    "local@cuda:",
        "local@host:0", "local@@host",
        "host",         "cuda:0",
        "local,host",   "distributed@hip:01",
        "loca",         "local@host ",
        "distributedx", "a-kind-of-buffer-that-nobody-has-ever-seen"};
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_allocator(runtime, JBUFFER_BEST, NULL), *chosen = NULL;
    const jlayout_t layout = matrix(4, 4);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        JSCOPED_TRACE("\"%s\"", texts[i]);
        jtest_setenv("JALLOC_BUFFER", texts[i]);
        JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen),
                       JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_SUBSTR(jstatus_last_message(), texts[i]);
        JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_BUFFER");
        JEXPECT_SUBSTR(jstatus_last_message(), "distributed@host");
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JEXPECT_OK(jconfig_get(JCONFIG_JALLOC_BUFFER, &entry));
        JEXPECT_FALSE(entry.valid);
        JEXPECT_NULL(chosen);
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

/* By an allocator that chooses itself, too: it is a layout that a buffer is to be made of. */
JTEST(Choose, WhatIsNoLayoutIsRefusedByEveryKind) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jlayout_t wrong[4];
    for (size_t i = 0; i < 4; ++i)
        wrong[i] = matrix(4, 4);
    wrong[0].rank = -1;
    wrong[1].extents[0] = INT64_MIN;
    wrong[2].strides[1] = INT64_MAX;
    wrong[3].structure = (jstructure_t)99;
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind) {
        if (kind == JBUFFER_DISTRIBUTED)
            continue;
        jbuffer_allocator_t *allocator = make_allocator(runtime, (jbuffer_kind_t)kind, NULL),
                            *chosen = NULL;
        for (size_t i = 0; i < 4; ++i) {
            JSCOPED_TRACE("kind %d, layout %zu", kind, i);
            const jstatus_t expected = jlayout_check(&wrong[i]);
            JEXPECT_STATUS(jbuffer_allocator_choose(allocator, &wrong[i], 0, NULL, &chosen),
                           expected);
            JEXPECT_NULL(chosen);
        }
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Choose, AnEnvironmentThatCannotBeHadIsRefused) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_allocator(runtime, JBUFFER_BEST, NULL), *chosen = NULL;
    const jlayout_t layout = matrix(4, 4);
    jtest_setenv("JALLOC_BUFFER", "distributed");
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_BUFFER");
    jtest_setenv("JALLOC_BUFFER", "local@cuda:77");
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "cuda:77");
    JEXPECT_NULL(chosen);
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- Misuse, the log, failures ---- */

JTEST(Choose, ArgumentsAreChecked) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best = make_allocator(runtime, JBUFFER_BEST, NULL), *chosen = NULL;
    jlayout_t layout = matrix(4, 4);
    JEXPECT_STATUS(jbuffer_allocator_choose(best, NULL, 0, NULL, &chosen), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 0, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 1, NULL, &chosen),
                   JSTATUS_INVALID_POINTER);
    layout.strides[0] = 0;
    JEXPECT_STATUS(jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(chosen);
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Choose, TheLogSaysWhatAndWhy) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    pretend_runtime_set_memory(pretend.runtime, 123 * MIB, 0, NULL);
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    const jlayout_t layout = matrix(1 << 12, 1 << 12);
    const jlog_level_t level = jlog_level();
    JEXPECT_OK(jlog_set_level(JLOG_WARNING));
    jtest_log_clear();
    expect_choice(best, &layout, 0, NULL, JBUFFER_DISTRIBUTED, jdevice_host());
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    expect_choice(best, &layout, 0, NULL, JBUFFER_DISTRIBUTED, jdevice_host());
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), "f64[4096,4096]");
    JEXPECT_SUBSTR(jtest_log_text(),
                   "134217728 bytes: distributed on host: a matrix of 64 MiB or more");
    JEXPECT_SUBSTR(jtest_log_text(),
                   "(4 process(es), 4 on this machine; 128974848 bytes available on host)");
    jtest_log_clear();
    jtest_setenv("JALLOC_BUFFER", "replicated");
    expect_choice(best, &layout, 0, NULL, JBUFFER_REPLICATED, jdevice_host());
    JEXPECT_SUBSTR(jtest_log_text(), "replicated on host: JALLOC_BUFFER names it");
    JEXPECT_OK(jlog_set_level(level));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Rank 0 has another environment, or has decided otherwise: its word counts. The kind is the first
 * member of both. */
static int broadcast_to_change; /* counted down; 0: that one */
static void distributed_instead(void *bytes, size_t size_bytes) {
    (void)size_bytes;
    const jbuffer_kind_t kind = JBUFFER_DISTRIBUTED;
    if (broadcast_to_change-- == 0)
        memcpy(bytes, &kind, sizeof kind);
}

JTEST(Choose, SeveralProcessesGoByTheFirst) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    const jlayout_t layout = matrix(4, 4);
    expect_choice(best, &layout, 0, NULL, JBUFFER_REPLICATED, jdevice_host());
    jtest_setenv("JALLOC_BUFFER", "local");
    pretend.change = distributed_instead;
    for (int which = 0; which < 2; ++which) {
        broadcast_to_change = which;
        expect_choice(best, &layout, 0, NULL, JBUFFER_DISTRIBUTED, jdevice_host());
        JEXPECT_LT(broadcast_to_change, 0);
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* The same of the device: where rank 0 has the operands is where the result will be. */
static void on_the_host_instead(void *bytes, size_t size_bytes) {
    if (broadcast_to_change-- == 0)
        snprintf((char *)bytes + sizeof(jbuffer_kind_t), size_bytes - sizeof(jbuffer_kind_t),
                 "host");
}

JTEST(Choose, TheFirstSaysOnWhichDevice) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    jbuffer_allocator_t *there = make_allocator(pretend.runtime, JBUFFER_REPLICATED, &gpu->device);
    const jlayout_t layout = matrix(4, 4);
    jbuffer_t *operand;
    JASSERT_OK(jbuffer_allocate(there, &layout, &operand));
    expect_choice(best, &layout, 1, &operand, JBUFFER_REPLICATED, &gpu->device);
    pretend.change = on_the_host_instead;
    broadcast_to_change = 1;
    expect_choice(best, &layout, 1, &operand, JBUFFER_REPLICATED, jdevice_host());
    JEXPECT_LT(broadcast_to_change, 0);
    JEXPECT_OK(jbuffer_release(operand));
    JEXPECT_OK(jbuffer_allocator_release(there));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Whatever step fails elsewhere, the call fails here and nothing is left; the steps are the same
 * with and without. */
JTEST(Choose, AFailureElsewhereIsAFailureHere) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    jbuffer_allocator_t *distributed = make_allocator(pretend.runtime, JBUFFER_DISTRIBUTED, NULL);
    const jlayout_t small = matrix(4, 4), large = matrix(1 << 12, 1 << 12);
    jbuffer_t *operand;
    JASSERT_OK(jbuffer_allocate(distributed, &small, &operand));
    /* Two broadcasts with an agreement before and behind each, one over the device, the making, and
     * the result; operands are agreed upon, too. */
    const uint64_t steps[] = {6 + 1 + 1 + 1, 6 + 1 + 3 + 1, 6 + 1 + 0 + 1 + 1, 6 + 1 + 0 + 1};
    for (int way = 0; way < 4; ++way) {
        jtest_setenv("JALLOC_BUFFER", way == 3 ? "local" : NULL);
        for (uint64_t n = 1;; ++n) {
            JSCOPED_TRACE("way %d, step %d", way, (int)n);
            jbuffer_allocator_t *chosen = NULL;
            pretend.fail_in = n;
            const jstatus_t status = jbuffer_allocator_choose(best, way == 1 ? &large : &small,
                                                              way == 2 ? 1 : 0, &operand, &chosen);
            if (pretend.fail_in == 0) {
                JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
                JEXPECT_NULL(chosen);
                continue;
            }
            pretend.fail_in = 0;
            JEXPECT_OK(status);
            JEXPECT_OK(jbuffer_allocator_release(chosen));
            JEXPECT_EQ(n, steps[way] + 1);
            break;
        }
    }
    JEXPECT_OK(jbuffer_release(operand));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(Choose, NothingIsLostWhenBookkeepingFails) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *best = make_allocator(pretend.runtime, JBUFFER_BEST, NULL);
    const jlayout_t small = matrix(4, 4), large = matrix(1 << 12, 1 << 12);
    for (int way = 0; way < 2; ++way)
        JFOR_EACH_FAILURE(i) {
            jbuffer_allocator_t *chosen = NULL;
            const jstatus_t status =
                jbuffer_allocator_choose(best, way == 0 ? &small : &large, 0, NULL, &chosen);
            if (status != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_NULL(chosen);
            }
            JEXPECT_OK(jbuffer_allocator_release(chosen));
        }
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}
