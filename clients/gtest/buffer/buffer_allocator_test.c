/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffer allocators: what options can be had and what they become, rebinding, references,
 * distributions. */

#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <pthread.h>
#include <string.h>

#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64,  JDATATYPE_F32_C, JDATATYPE_F64_C,
                                    JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_I8,    JDATATYPE_I32};

static jbuffer_allocator_options_t options_of(jbuffer_kind_t kind, jdatatype_t type) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = kind;
    options.type = type;
    return options;
}

static jbuffer_allocator_options_t get_options(jbuffer_allocator_t *allocator) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &options));
    return options;
}

/* ---- Making ---- */

JTEST(BufferAllocator, KindsHaveNames) {
    JEXPECT_STREQ(jbuffer_kind_name(JBUFFER_LOCAL), "local");
    JEXPECT_STREQ(jbuffer_kind_name(JBUFFER_REPLICATED), "replicated");
    JEXPECT_STREQ(jbuffer_kind_name(JBUFFER_DISTRIBUTED), "distributed");
    JEXPECT_STREQ(jbuffer_kind_name(JBUFFER_BEST), "best");
    JEXPECT_STREQ(jbuffer_kind_name((jbuffer_kind_t)4), "unknown");
    JEXPECT_STREQ(jbuffer_kind_name((jbuffer_kind_t)-1), "unknown");
}

JTEST(BufferAllocator, EveryKindAndTypeOfAProcessByItself) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind)
        for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
            JSCOPED_TRACE("%s of %s", jbuffer_kind_name((jbuffer_kind_t)kind),
                          jdatatype_name(types[i]));
            const jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, types[i]);
            jbuffer_allocator_t *allocator = NULL;
            if (kind == JBUFFER_DISTRIBUTED) {
                JEXPECT_STATUS(jbuffer_allocator_create(runtime, &options, &allocator),
                               JSTATUS_NOT_IMPLEMENTED);
                JEXPECT_NULL(allocator);
                continue;
            }
            JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
            const jbuffer_allocator_options_t got = get_options(allocator);
            JEXPECT_EQ(got.struct_size, sizeof got);
            JEXPECT_EQ(got.kind, kind);
            JEXPECT_EQ(got.type, types[i]);
            JEXPECT_EQ(got.device, kind == JBUFFER_BEST ? NULL : jdevice_host());
            JEXPECT_NULL(got.allocator);
            JEXPECT_EQ(jbuffer_allocator_runtime(allocator), runtime);
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferAllocator, TheRuntimeLivesAsLongAsItsAllocators) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F32);
    jbuffer_allocator_t *one, *other;
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &one));
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &other));
    JEXPECT_OK(jruntime_release(pretend.runtime));
    JEXPECT_OK(jbuffer_allocator_release(one));
    JEXPECT_EQ(pretend.ended, 0);
    JEXPECT_OK(jbuffer_allocator_release(other));
    JEXPECT_EQ(pretend.ended, 1);
}

JTEST(BufferAllocator, TheCallersAllocatorIsKeptUntilTheEnd) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jallocator_t *bytes;
    JASSERT_OK(jallocator_compose(NULL, "malloc", &bytes));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind) {
        if (kind == JBUFFER_DISTRIBUTED)
            continue;
        jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F32);
        options.allocator = bytes;
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
        JEXPECT_EQ(get_options(allocator).allocator, bytes);
        JEXPECT_STATUS(jallocator_destroy(bytes), JSTATUS_BUSY);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JEXPECT_STATUS(jallocator_release(bytes), JSTATUS_NOT_FOUND); /* no retain is left */
    }
    JEXPECT_OK(jallocator_destroy(bytes));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferAllocator, TheProcessesAllocatorStaysWhileItIsUsed) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F32);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    JEXPECT_STATUS(ji_process_reset(), JSTATUS_BUSY);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(ji_process_reset());
    JEXPECT_OK(jruntime_release(runtime));
}

typedef void (*spoil_t)(jbuffer_allocator_options_t *options);
static void spoil_size(jbuffer_allocator_options_t *o) { o->struct_size = sizeof o->struct_size; }
static void spoil_no_size(jbuffer_allocator_options_t *o) { o->struct_size = 0; }
static void spoil_kind(jbuffer_allocator_options_t *o) { o->kind = (jbuffer_kind_t)4; }
static void spoil_negative_kind(jbuffer_allocator_options_t *o) { o->kind = (jbuffer_kind_t)-1; }
static void spoil_type(jbuffer_allocator_options_t *o) { o->type = (jdatatype_t)8; }
static void spoil_negative_type(jbuffer_allocator_options_t *o) { o->type = (jdatatype_t)-1; }
static void spoil_large_grid(jbuffer_allocator_options_t *o) { o->grid[0] = 2, o->grid[1] = 4; }
static void spoil_huge_grid(jbuffer_allocator_options_t *o) { o->grid[0] = o->grid[1] = 1 << 30; }
static void spoil_half_grid(jbuffer_allocator_options_t *o) { o->grid[1] = 2; }
static void spoil_other_half_grid(jbuffer_allocator_options_t *o) { o->grid[0] = 2; }
static void spoil_negative_grid(jbuffer_allocator_options_t *o) { o->grid[0] = o->grid[1] = -1; }
static void spoil_blocks(jbuffer_allocator_options_t *o) { o->blocks[1] = -1; }
static void spoil_other_blocks(jbuffer_allocator_options_t *o) { o->blocks[0] = INT64_MIN; }

static const struct {
    const char *what;
    spoil_t spoil;
    jstatus_t status;
} spoiled[] = {
    {"struct_size", spoil_size, JSTATUS_INVALID_VALUE},
    {"no struct_size", spoil_no_size, JSTATUS_INVALID_VALUE},
    {"kind", spoil_kind, JSTATUS_INVALID_VALUE},
    {"negative kind", spoil_negative_kind, JSTATUS_INVALID_VALUE},
    {"type", spoil_type, JSTATUS_INVALID_VALUE},
    {"negative type", spoil_negative_type, JSTATUS_INVALID_VALUE},
    {"grid of 8 over 7", spoil_large_grid, JSTATUS_INVALID_VALUE},
    {"grid that overflows", spoil_huge_grid, JSTATUS_INVALID_VALUE},
    {"grid with a zero", spoil_half_grid, JSTATUS_INVALID_VALUE},
    {"grid with a zero behind", spoil_other_half_grid, JSTATUS_INVALID_VALUE},
    {"negative grid", spoil_negative_grid, JSTATUS_INVALID_VALUE},
    {"blocks", spoil_blocks, JSTATUS_INVALID_SIZE},
    {"blocks far below", spoil_other_blocks, JSTATUS_INVALID_SIZE},
};

JTEST(BufferAllocator, OptionsThatCannotBeAreAStatus) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 7, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind)
        for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; ++i) {
            JSCOPED_TRACE("%s: %s", jbuffer_kind_name((jbuffer_kind_t)kind), spoiled[i].what);
            jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F32);
            jbuffer_allocator_t *allocator = NULL;
            spoiled[i].spoil(&options);
            JEXPECT_STATUS(jbuffer_allocator_create(pretend.runtime, &options, &allocator),
                           spoiled[i].status);
            JEXPECT_NULL(allocator);
        }
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F32);
    jbuffer_allocator_t *allocator = NULL;
    JEXPECT_STATUS(jbuffer_allocator_create(pretend.runtime, NULL, &allocator),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_create(pretend.runtime, &options, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_create(NULL, &options, &allocator), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jruntime_release(pretend.runtime));
    JEXPECT_STATUS(jbuffer_allocator_create(pretend.runtime, &options, &allocator),
                   JSTATUS_NOT_FOUND);
    JEXPECT_NULL(allocator);
}

/* One that a process makes for itself asks nobody. */
JTEST(BufferAllocator, OneMadeAloneFailsAlone) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 7, true));
    jbuffer_allocator_options_t options = options_of(JBUFFER_REPLICATED, JDATATYPE_F32);
    jbuffer_allocator_t *allocator = NULL;
    options.blocks[0] = -1;
    JEXPECT_STATUS(ji_buffer_allocator_make_alone(pretend.runtime, &options, &allocator),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(allocator);
    options.blocks[0] = 1;
    JASSERT_OK(ji_buffer_allocator_make_alone(pretend.runtime, &options, &allocator));
    JEXPECT_EQ(pretend.agreements[JI_SCOPE_ALL], 0);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, BytesMustBeOfItsDevice) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    jallocator_t *bytes;
    JASSERT_OK(jallocator_create_device(&gpu->device, JMEMORY_DEVICE, &bytes));
    jbuffer_allocator_t *allocator = NULL;
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_REPLICATED; ++kind) {
        jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F32);
        options.allocator = bytes;
        JEXPECT_STATUS(jbuffer_allocator_create(runtime, &options, &allocator),
                       JSTATUS_INVALID_VALUE);
        options.device = jdevice_host();
        JEXPECT_STATUS(jbuffer_allocator_create(runtime, &options, &allocator),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "host");
        JEXPECT_NULL(allocator);
        options.device = &gpu->device;
        JEXPECT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
        JEXPECT_EQ(get_options(allocator).device, &gpu->device);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        allocator = NULL;
    }
    /* One copy per machine is the host's alone. */
    jbuffer_allocator_options_t options = options_of(JBUFFER_REPLICATED, JDATATYPE_F32);
    options.device = &gpu->device;
    options.shared_on_node = true;
    JEXPECT_STATUS(jbuffer_allocator_create(runtime, &options, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(allocator);
    JEXPECT_OK(jallocator_destroy(bytes));
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferAllocator, WithoutACallersAllocatorItUsesTheDevices) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F32);
    options.device = &gpu->device;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.device = &gpu->device;
    jallocator_t *bytes;
    JASSERT_OK(jprocess_get_allocator(&request, &bytes));
    JEXPECT_EQ(allocator->bytes, bytes);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- Grids ---- */

JTEST(BufferAllocator, TheGridIsAsSquareAsCanBeOverAllProcesses) {
    for (int processes = 1; processes <= 130; ++processes) {
        JSCOPED_TRACE("%d processes", processes);
        pretend_runtime_t pretend;
        JASSERT_OK(pretend_runtime_make(&pretend, processes, true));
        const jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
        const jbuffer_allocator_options_t got = get_options(allocator);
        JEXPECT_EQ(got.grid[0] * got.grid[1], processes);
        JEXPECT_LE(got.grid[0], got.grid[1]);
        for (int rows = got.grid[0] + 1; rows * rows <= processes; ++rows)
            JEXPECT_NE(processes % rows, 0);
        JEXPECT_EQ(allocator->grid->shape[0], got.grid[0]);
        JEXPECT_EQ(allocator->grid->shape[1], got.grid[1]);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JEXPECT_OK(jruntime_release(pretend.runtime));
    }
}

JTEST(BufferAllocator, ASmallerGridIsAsAskedFor) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 7, true));
    jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
    options.grid[0] = 3;
    options.grid[1] = 2;
    options.blocks[0] = 5;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
    const jbuffer_allocator_options_t got = get_options(allocator);
    JEXPECT_EQ(got.grid[0], 3);
    JEXPECT_EQ(got.grid[1], 2);
    JEXPECT_EQ(got.blocks[0], 5);
    JEXPECT_EQ(got.blocks[1], 0);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* ---- Rebinding ---- */

JTEST(BufferAllocator, RebindingToTheSameGivesItself) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind) {
        const jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F64);
        jbuffer_allocator_t *allocator, *same = NULL;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
        const unsigned agreements = pretend.agreements[JI_SCOPE_ALL];
        JASSERT_OK(jbuffer_allocator_rebind(allocator, (jbuffer_kind_t)kind, JDATATYPE_F64, &same));
        JEXPECT_EQ(same, allocator);
        JEXPECT_EQ(pretend.agreements[JI_SCOPE_ALL], agreements);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JEXPECT_OK(jbuffer_allocator_release(same)); /* it had a reference of its own */
        JEXPECT_STATUS(jbuffer_allocator_release(same), JSTATUS_NOT_FOUND);
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, RebindingKeepsRuntimeDeviceBytesAndGrid) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    for (int from = JBUFFER_LOCAL; from <= JBUFFER_BEST; ++from)
        for (int to = JBUFFER_LOCAL; to <= JBUFFER_BEST; ++to) {
            JSCOPED_TRACE("from %s to %s", jbuffer_kind_name((jbuffer_kind_t)from),
                          jbuffer_kind_name((jbuffer_kind_t)to));
            jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)from, JDATATYPE_F64);
            options.allocator = jtest_failing_allocator();
            options.grid[0] = 2;
            options.grid[1] = 2;
            options.blocks[0] = 3;
            options.blocks[1] = 4;
            jbuffer_allocator_t *allocator, *rebound;
            JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
            JASSERT_OK(
                jbuffer_allocator_rebind(allocator, (jbuffer_kind_t)to, JDATATYPE_F32_C, &rebound));
            JEXPECT_NE(rebound, allocator);
            const jbuffer_allocator_options_t got = get_options(rebound);
            JEXPECT_EQ(got.kind, to);
            JEXPECT_EQ(got.type, JDATATYPE_F32_C);
            JEXPECT_EQ(got.allocator, options.allocator);
            JEXPECT_EQ(rebound->bytes, options.allocator);
            JEXPECT_EQ(got.device,
                       from == JBUFFER_BEST && to == JBUFFER_BEST ? NULL : jdevice_host());
            JEXPECT_EQ(memcmp(got.grid, options.grid, sizeof got.grid), 0);
            JEXPECT_EQ(memcmp(got.blocks, options.blocks, sizeof got.blocks), 0);
            JEXPECT_EQ(jbuffer_allocator_runtime(rebound), pretend.runtime);
            if (from == JBUFFER_DISTRIBUTED && to == JBUFFER_DISTRIBUTED)
                JEXPECT_EQ(rebound->grid, allocator->grid);
            JEXPECT_OK(jbuffer_allocator_release(allocator));
            JEXPECT_OK(jbuffer_allocator_release(rebound));
        }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, RebindingSaysWhatTheBackendHasNot) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator, *rebound = NULL;
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F64);
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    JEXPECT_STATUS(
        jbuffer_allocator_rebind(allocator, JBUFFER_DISTRIBUTED, JDATATYPE_F64, &rebound),
        JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "none");
    JEXPECT_STATUS(jbuffer_allocator_rebind(allocator, (jbuffer_kind_t)4, JDATATYPE_F64, &rebound),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, (jdatatype_t)8, &rebound),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F64, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_rebind(NULL, JBUFFER_LOCAL, JDATATYPE_F64, &rebound),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_STATUS(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F64, &rebound),
                   JSTATUS_NOT_FOUND);
    JEXPECT_NULL(rebound);
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- References ---- */

static void expect_no_allocator(jbuffer_allocator_t *allocator, jstatus_t status) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jlayout_t layout;
    size_t bytes = 7;
    jbuffer_allocator_t *chosen = NULL;
    JASSERT_OK(jlayout_init(&layout, 0, NULL, JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jbuffer_allocator_get_options(allocator, &options), status);
    JEXPECT_STATUS(jbuffer_allocator_retain(allocator), status);
    JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes), status);
    JEXPECT_STATUS(jbuffer_allocator_choose(allocator, &layout, 0, NULL, &chosen), status);
    JEXPECT_NULL(jbuffer_allocator_runtime(allocator));
    JEXPECT_EQ(bytes, 7);
    JEXPECT_NULL(chosen);
    if (allocator != NULL)
        JEXPECT_STATUS(jbuffer_allocator_release(allocator), status);
}

JTEST(BufferAllocator, WhatIsNoneIsAStatus) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F64);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    char foreign[sizeof(jbuffer_allocator_t)] = {0};
    expect_no_allocator(NULL, JSTATUS_INVALID_POINTER);
    expect_no_allocator((jbuffer_allocator_t *)(void *)foreign, JSTATUS_NOT_FOUND);
    expect_no_allocator((jbuffer_allocator_t *)runtime, JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "buffer allocator");
    JEXPECT_OK(jbuffer_allocator_release(NULL));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    expect_no_allocator(allocator, JSTATUS_NOT_FOUND);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferAllocator, ArgumentsOfQuestionsAreChecked) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F64);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    jlayout_t layout;
    size_t bytes = 7;
    JASSERT_OK(jlayout_init(&layout, 0, NULL, JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jbuffer_allocator_get_options(allocator, NULL), JSTATUS_INVALID_POINTER);
    options.struct_size = 8;
    options.kind = JBUFFER_BEST;
    JEXPECT_STATUS(jbuffer_allocator_get_options(allocator, &options), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(options.kind, JBUFFER_BEST);
    JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, NULL, &bytes),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, &layout, NULL),
                   JSTATUS_INVALID_POINTER);
    layout.rank = 9;
    JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(bytes, 7);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

static void *count_references(void *argument) {
    jbuffer_allocator_t *allocator = argument;
    for (int64_t i = 0; i < jtest_iterations(500); ++i) {
        jbuffer_allocator_t *same = NULL, *other = NULL;
        JEXPECT_OK(jbuffer_allocator_retain(allocator));
        JEXPECT_OK(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F64, &same));
        JEXPECT_OK(jbuffer_allocator_rebind(allocator, JBUFFER_REPLICATED, JDATATYPE_I8, &other));
        JEXPECT_OK(jbuffer_allocator_release(same));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JEXPECT_OK(jbuffer_allocator_release(other));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    return NULL;
}

JTEST(BufferAllocator, ThreadsCountReferencesAndRebind) {
    enum { THREADS = 4 };
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    const jbuffer_allocator_options_t options = options_of(JBUFFER_LOCAL, JDATATYPE_F64);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));
    JEXPECT_OK(jruntime_release(runtime));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        JASSERT_OK(jbuffer_allocator_retain(allocator));
        JASSERT_EQ(pthread_create(&threads[i], NULL, count_references, allocator), 0);
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    for (int i = 0; i < THREADS; ++i)
        JEXPECT_EQ(pthread_join(threads[i], NULL), 0);
    JEXPECT_STATUS(jbuffer_allocator_retain(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jruntime_retain(runtime), JSTATUS_NOT_FOUND);
}

/* ---- Collective creation ---- */

/* What is collective, and where another process's failure is everyone's. */
JTEST(BufferAllocator, AFailureElsewhereIsAFailureHere) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind) {
        JSCOPED_TRACE("%s", jbuffer_kind_name((jbuffer_kind_t)kind));
        const jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F64);
        const unsigned steps = kind == JBUFFER_DISTRIBUTED ? 3 : kind == JBUFFER_REPLICATED ? 1 : 0;
        for (unsigned n = 1; n <= steps + 1; ++n) {
            jbuffer_allocator_t *allocator = NULL;
            pretend.fail_in = n;
            const jstatus_t status =
                jbuffer_allocator_create(pretend.runtime, &options, &allocator);
            if (n <= steps) {
                JEXPECT_STATUS(status, JSTATUS_DEVICE_ERROR);
                JEXPECT_NULL(allocator);
            } else {
                JEXPECT_OK(status);
                JEXPECT_EQ(pretend.fail_in, 1);
                pretend.fail_in = 0;
                JEXPECT_OK(jbuffer_allocator_release(allocator));
            }
        }
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* One that fails by itself still meets the others. */
JTEST(BufferAllocator, WhoFailsHasAgreedBeforehand) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
    options.blocks[0] = -1;
    jbuffer_allocator_t *allocator = NULL;
    JEXPECT_STATUS(jbuffer_allocator_create(pretend.runtime, &options, &allocator),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(pretend.agreements[JI_SCOPE_ALL], 1);
    JEXPECT_EQ(pretend.opens, 0);
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, NothingIsLostWhenBookkeepingFails) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_BEST; ++kind) {
        const jbuffer_allocator_options_t options = options_of((jbuffer_kind_t)kind, JDATATYPE_F64);
        JFOR_EACH_FAILURE(i) {
            jbuffer_allocator_t *allocator = NULL, *rebound = NULL;
            jstatus_t status = jbuffer_allocator_create(pretend.runtime, &options, &allocator);
            if (status == JSTATUS_SUCCESS)
                status =
                    jbuffer_allocator_rebind(allocator, JBUFFER_REPLICATED, JDATATYPE_I8, &rebound);
            if (status != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_TRUE(jtest_metadata_failed());
                JEXPECT_NULL(rebound);
            }
            JEXPECT_OK(jbuffer_allocator_release(rebound));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* ---- Distributions ---- */

static void random_matrix(jlayout_t *layout) {
    const int rank = (int)jtest_random_between(0, 2);
    const int64_t extents[2] = {jtest_random_between(0, 90), jtest_random_between(0, 90)};
    JASSERT_OK(jlayout_init(layout, rank, extents,
                            jtest_random_bool() ? JORDER_COLUMN_MAJOR : JORDER_ROW_MAJOR));
}

/* The parts of all processes are the whole, each element once: bytes are those of the elements that
 * a process owns. */
JTEST(BufferAllocator, LocalBytesAreThoseOfTheElementsThatAProcessOwns) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 12, true));
    for (int64_t round = 0; round < jtest_iterations(60); ++round) {
        jlayout_t layout;
        random_matrix(&layout);
        const jdatatype_t type = types[jtest_random_between(0, 7)];
        jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, type);
        options.grid[0] = (int)jtest_random_between(1, 4);
        options.grid[1] = (int)jtest_random_between(1, 3);
        for (int d = 0; d < 2; ++d)
            options.blocks[d] = jtest_random_bool() ? jtest_random_between(1, 20) : 0;
        if (jtest_random_bool() && layout.rank > 0) {
            const int64_t blocks[2] = {jtest_random_between(0, 40), jtest_random_between(0, 40)};
            JASSERT_OK(jlayout_set_blocks(&layout, blocks));
        }
        int64_t elements = 0;
        for (int row = 0; row < options.grid[0]; ++row)
            for (int column = 0; column < options.grid[1]; ++column) {
                memset(pretend.grids, 0, sizeof pretend.grids);
                pretend.coordinates[0] = row;
                pretend.coordinates[1] = column;
                jbuffer_allocator_t *allocator;
                JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
                const jdistribution_t d = ji_buffer_distribution(allocator, &layout);
                JEXPECT_EQ(d.extents[0], layout.rank > 0 ? layout.extents[0] : 1);
                JEXPECT_EQ(d.extents[1], layout.rank > 1 ? layout.extents[1] : 1);
                int64_t owned = 0;
                for (int64_t i = 0; i < d.extents[0]; ++i)
                    for (int64_t j = 0; j < d.extents[1]; ++j)
                        owned += jdistribution_owner(&d, 0, i) == row &&
                                 jdistribution_owner(&d, 1, j) == column;
                size_t bytes = 7;
                JEXPECT_OK(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes));
                JEXPECT_EQ(bytes, (size_t)owned * jhandle_sizeof_datatype(type));
                elements += owned;
                JEXPECT_OK(jbuffer_allocator_release(allocator));
            }
        int64_t count;
        JASSERT_OK(jlayout_get_count(&layout, &count));
        JEXPECT_EQ(elements, count);
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

static const struct {
    int64_t extents[2], layout_blocks[2], option_blocks[2], expected[2];
} blocks_cases[] = {
    /* over a grid of 2 x 3: the layout's; the allocator's; 64; a quarter of a process's share; one
     * at least */
    {{1000, 1000}, {10, 20}, {30, 40}, {10, 20}},
    {{1000, 1000}, {10, 0}, {30, 40}, {10, 1000}},
    {{1000, 1000}, {0, 0}, {30, 40}, {30, 40}},
    {{1000, 1000}, {0, 0}, {30, 0}, {30, 64}},
    {{1000, 2000}, {0, 0}, {0, 0}, {64, 64}},
    {{160, 2000}, {0, 0}, {0, 0}, {20, 64}},
    {{160, 121}, {0, 0}, {0, 0}, {20, 10}},
    {{7, 11}, {0, 0}, {0, 0}, {1, 1}},
    {{0, 11}, {0, 0}, {0, 0}, {1, 1}},
    /* A square matrix has square blocks: of 30 and 20 the smaller. */
    {{240, 240}, {0, 0}, {0, 0}, {20, 20}},
    {{240, 240}, {0, 0}, {7, 0}, {7, 20}},
    {{10, 10}, {0, 0}, {INT64_MAX, INT64_MAX}, {10, 10}}, /* no overflow in a turn over the grid */
    {{10, 10}, {0, 0}, {99, 99}, {99, 99}},
    /* More than 32 bits, but not all. */
    {{(int64_t)1 << 33, 4}, {(int64_t)1 << 32, 0}, {0, 0}, {(int64_t)1 << 32, 4}},
};

JTEST(BufferAllocator, BlocksAreTheLayoutsTheAllocatorsOrChosen) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    for (size_t i = 0; i < sizeof blocks_cases / sizeof blocks_cases[0]; ++i) {
        JSCOPED_TRACE("case %zu", i);
        jlayout_t layout;
        JASSERT_OK(jlayout_init(&layout, 2, blocks_cases[i].extents, JORDER_COLUMN_MAJOR));
        JASSERT_OK(jlayout_set_blocks(&layout, blocks_cases[i].layout_blocks));
        jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
        memcpy(options.blocks, blocks_cases[i].option_blocks, sizeof options.blocks);
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
        const jdistribution_t d = ji_buffer_distribution(allocator, &layout);
        JEXPECT_EQ(d.blocks[0], blocks_cases[i].expected[0]);
        JEXPECT_EQ(d.blocks[1], blocks_cases[i].expected[1]);
        JEXPECT_EQ(d.grid[0], 2);
        JEXPECT_EQ(d.grid[1], 3);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, OutsideOfTheGridThereIsNothing) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    pretend.coordinates[0] = pretend.coordinates[1] = -1;
    jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
    options.grid[0] = options.grid[1] = 2;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
    jlayout_t layout;
    size_t bytes = 7;
    JASSERT_OK(jlayout_init(&layout, 2, (const int64_t[]){100, 100}, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, LocalBytesOfTheOtherKindsAreTheWhole) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 6, true));
    const jbuffer_kind_t kinds[] = {JBUFFER_LOCAL, JBUFFER_REPLICATED, JBUFFER_BEST};
    for (int k = 0; k < 3; ++k) {
        const jbuffer_allocator_options_t options = options_of(kinds[k], JDATATYPE_F32_C);
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
        jlayout_t layout;
        size_t bytes = 7;
        JASSERT_OK(jlayout_init(&layout, 3, (const int64_t[]){10, 20, 30}, JORDER_ROW_MAJOR));
        JEXPECT_OK(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes));
        JEXPECT_EQ(bytes, 10 * 20 * 30 * 8);
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

JTEST(BufferAllocator, ADistributedOneHasMatrices) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 2, true));
    const jbuffer_allocator_options_t options = options_of(JBUFFER_DISTRIBUTED, JDATATYPE_F64);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
    jlayout_t layout;
    size_t bytes = 7;
    JASSERT_OK(jlayout_init(&layout, 3, (const int64_t[]){10, 20, 30}, JORDER_COLUMN_MAJOR));
    JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes),
                   JSTATUS_INVALID_VALUE);
    for (int64_t divisor = 2; divisor <= 4; divisor += 2) {
        /* Bytes beyond 64 bits, and beyond 63. */
        JASSERT_OK(jlayout_init(&layout, 2, (const int64_t[]){INT64_MAX / divisor, 1},
                                JORDER_COLUMN_MAJOR));
        JEXPECT_STATUS(jbuffer_allocator_get_local_bytes(allocator, &layout, &bytes),
                       JSTATUS_INVALID_SIZE);
    }
    JEXPECT_EQ(bytes, 7);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}
