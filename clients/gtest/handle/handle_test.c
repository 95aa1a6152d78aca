/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The handle's life: how it is made, what the environment and the options say, and what is answered
 * to a pointer that is no handle. */

#include "handle_helper.h"

#include "device/device.h"
#include "jalloc/config.h"
#include "jalloc/log.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

JTEST(Handle, RefusedCallsWithAHandleAreLoggedAtLevelInfo) {
    const jlog_level_t level = jlog_level();
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (jlog_level_t now = JLOG_WARNING; now <= JLOG_INFO; ++now) {
        JEXPECT_OK(jlog_set_level(now));
        jtest_log_clear();
        JEXPECT_STATUS(jallocator_retain(NULL), JSTATUS_INVALID_POINTER); /* without a handle */
        JEXPECT_EQ(jtest_log_count(), 0);
        JEXPECT_STATUS(jhandle_set_pointer_mode(handle, (jpointer_mode_t)7), JSTATUS_INVALID_VALUE);
        JEXPECT_EQ(jtest_log_count(), now == JLOG_INFO);
    }
    JEXPECT_SUBSTR(jtest_log_text(), "jhandle_set_pointer_mode");
    JEXPECT_OK(jlog_set_level(level));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Whatever asks for one. */
JTEST(Handle, ACallWithoutAHandleSaysSo) {
    jhandle_mode_t mode;
    const jstatus_t asked[] = {jhandle_get_mode(NULL, &mode), jhandle_get_stats(NULL, NULL),
                               jhandle_get_refused_argument(NULL, NULL, NULL, NULL)};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i)
        JEXPECT_STATUS(asked[i], JSTATUS_INVALID_HANDLE);
    JEXPECT_STREQ(jstatus_last_message(), "jhandle_get_refused_argument: the handle is NULL");
    JEXPECT_STATUS(jhandle_clear_stats(NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STREQ(jstatus_last_message(), "jhandle_clear_stats: the handle is NULL");
}

JTEST(Handle, DefaultsAreTheHostAndNothingHeld) {
    jhandle_t *handle = NULL;
    jstream_t *stream = (jstream_t *)&handle;
    jpointer_mode_t pointer_mode = JPOINTER_MODE_DEVICE;
    jresult_policy_t policy = JRESULT_POLICY_SAME_BITS;
    size_t budget = 1;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_EQ(jhandle_device(handle), jdevice_host());
    JEXPECT_STREQ(jallocator_name(jhandle_allocator(handle)), "host");
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_DEFAULT);
    JEXPECT_EQ(capacity_of(handle), 0);
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JEXPECT_NULL(stream);
    JEXPECT_OK(jhandle_get_pointer_mode(handle, &pointer_mode));
    JEXPECT_EQ(pointer_mode, JPOINTER_MODE_HOST);
    JEXPECT_OK(jhandle_get_result_policy(handle, &policy));
    JEXPECT_EQ(policy, JRESULT_POLICY_FAST);
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, JALLOC_UNLIMITED);
    JEXPECT_EQ(jhandle_layers(handle), 0);
    JEXPECT_FALSE(jhandle_is_size_query(handle));
    JEXPECT_STREQ(jhandle_last_message(handle), "");
    JEXPECT_EQ(stats_of(handle).allocation_count, 0);
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Handle, OptionsAreTaken) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    jstream_t *stream = NULL, *got = NULL;
    jpointer_mode_t pointer_mode;
    jresult_policy_t policy;
    size_t budget;
    jtest_setenv("JALLOC_BUDGET", "7G");
    jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", "1G");
    jtest_setenv("JALLOC_RESULT_POLICY", "fast");
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    options.device = jdevice_host();
    options.stream = stream;
    options.allocator = jtest_failing_allocator();
    options.preallocate_bytes = 1000;
    options.budget_bytes = 5000;
    options.pointer_mode = JPOINTER_MODE_DEVICE;
    options.result_policy = JRESULT_POLICY_SAME_BITS;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(jhandle_allocator(handle), options.allocator);
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_PREALLOCATE);
    JEXPECT_EQ(capacity_of(handle), 1024);
    JEXPECT_EQ(jtest_live_bytes(), 1024);
    JEXPECT_OK(jhandle_get_stream(handle, &got));
    JEXPECT_EQ(got, stream);
    JEXPECT_OK(jhandle_get_pointer_mode(handle, &pointer_mode));
    JEXPECT_EQ(pointer_mode, JPOINTER_MODE_DEVICE);
    JEXPECT_OK(jhandle_get_result_policy(handle, &policy));
    JEXPECT_EQ(policy, JRESULT_POLICY_SAME_BITS);
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, 5000);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Handle, BadOptionsAreRefused) {
    jdevice_t other = ji_host_device;
    jhandle_t *const mark = (jhandle_t *)&other, *handle = mark;
    jstream_t *foreign;
    JASSERT_OK(jstream_create(&other, &foreign));
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    JEXPECT_STATUS(jhandle_create(&options, NULL), JSTATUS_INVALID_POINTER);
    options.struct_size = 0;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.pointer_mode = (jpointer_mode_t)2;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.result_policy = (jresult_policy_t)3;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.accuracy = (jaccuracy_t)3;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.stream = foreign;
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.device = &other;
    options.allocator = jtest_failing_allocator();
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_VALUE);
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.preallocate_bytes = SIZE_MAX;
    JEXPECT_TRUE(jstatus_is_error(jhandle_create(&options, &handle)));
    options.preallocate_bytes = SIZE_MAX / 2;
    JEXPECT_TRUE(jstatus_is_error(jhandle_create(&options, &handle)));
    JEXPECT_EQ(handle, mark);
    JEXPECT_OK(jstream_destroy(foreign));
}

JTEST(Handle, KeepsItsAllocatorFromBeingDestroyed) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_STATUS(jallocator_destroy(jtest_failing_allocator()), JSTATUS_BUSY);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- The environment ---- */

static const struct size_value {
    const char *value;
    size_t capacity;
} size_values[] = {
    {"0", 0},         {"4096", 4096},           {"1", 64},         {"1K", 1024},
    {"1.5KiB", 1536}, {"64K;cuda:0=2G", 65536}, {"host=100", 128}, {"1K;host=2K", 2048},
    {"1K;host=0", 0}, {"cuda:0=1T", 0},
};
JTEST(HandleEnvironment, DeviceMemorySizePreallocates) {
    for (size_t i = 0; i < sizeof size_values / sizeof size_values[0]; ++i) {
        JSCOPED_TRACE("JALLOC_DEVICE_MEMORY_SIZE=%s", size_values[i].value);
        jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", size_values[i].value);
        jhandle_t *handle = make_handle(0);
        JASSERT_NOT_NULL(handle);
        JEXPECT_EQ(mode_of(handle),
                   size_values[i].capacity ? JHANDLE_MODE_PREALLOCATE : JHANDLE_MODE_DEFAULT);
        JEXPECT_EQ(capacity_of(handle), size_values[i].capacity);
        JEXPECT_EQ(jtest_live_bytes(), size_values[i].capacity);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

static const struct bad_value {
    const char *name, *value;
} bad_values[] = {
    {"JALLOC_DEVICE_MEMORY_SIZE", "256 M"},
    {"JALLOC_DEVICE_MEMORY_SIZE", "256X"},
    {"JALLOC_DEVICE_MEMORY_SIZE", "-1"},
    {"JALLOC_DEVICE_MEMORY_SIZE", "1M;tpu:0=1"},
    {"JALLOC_DEVICE_MEMORY_SIZE", "1M;cuda:0=1q"},
    {"JALLOC_DEVICE_MEMORY_SIZE", "18446744073709551616"},
    {"JALLOC_BUDGET", "much"},
    {"JALLOC_BUDGET", "1e9"},
    {"JALLOC_RESULT_POLICY", "exact"},
    {"JALLOC_ACCURACY", "exact"},
    {"JALLOC_ACCURACY", "normwise "},
    {"JALLOC_THREADS", "-1"},
    {"JALLOC_THREADS", "two"},
    {"JALLOC_LAYER", "8"},
    {"JALLOC_LAYER", "trace"},
};
JTEST(HandleEnvironment, BadValuesAreQuotedAndNoHandleIsMade) {
    for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; ++i) {
        jhandle_t *const mark = (jhandle_t *)&mark, *handle = mark;
        char quoted[128];
        JSCOPED_TRACE("%s=%s", bad_values[i].name, bad_values[i].value);
        jtest_setenv(bad_values[i].name, bad_values[i].value);
        JEXPECT_STATUS(jhandle_create(NULL, &handle), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_EQ(handle, mark);
        snprintf(quoted, sizeof quoted, "%s=\"%s\"", bad_values[i].name, bad_values[i].value);
        JEXPECT_SUBSTR(jstatus_last_message(), quoted);
        jhandle_options_t options = JHANDLE_OPTIONS_INIT; /* also where an option overrides it */
        options.preallocate_bytes = 64;
        options.budget_bytes = 64;
        JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_INVALID_CONFIGURATION);
        jtest_setenv(bad_values[i].name, NULL);
    }
}

JTEST(HandleEnvironment, BudgetPolicyAndLayersAreTaken) {
    jresult_policy_t policy;
    size_t budget;
    jtest_setenv("JALLOC_BUDGET", "3K;cuda:0=9");
    jtest_setenv("JALLOC_RESULT_POLICY", "same_bits");
    jtest_setenv("JALLOC_LAYER", "5");
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, 3072);
    JEXPECT_OK(jhandle_get_result_policy(handle, &policy));
    JEXPECT_EQ(policy, JRESULT_POLICY_SAME_BITS);
    JEXPECT_EQ(jhandle_layers(handle), JLOG_LAYER_TRACE | JLOG_LAYER_PROFILE);
    JEXPECT_STATUS(touch(handle, 3073), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(touch(handle, 3072));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A budget of no whole byte is small, not without bound; as are the sizes of compositions. */
JTEST(HandleEnvironment, PartsOfAByteAreNotNothing) {
    size_t budget;
    jtest_setenv("JALLOC_BUDGET", "0.5B");
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, 1);
    JEXPECT_STATUS(touch(handle, 64), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jhandle_destroy(handle));

    jallocator_t *allocator = NULL;
    void *pointer;
    JASSERT_OK(jallocator_compose(NULL, "bfc(limit=0.5)", &allocator));
    JEXPECT_STATUS(jallocator_allocate(allocator, 64, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* What the environment asks for is refused by an option, which 0 would not do. */
JTEST(HandleEnvironment, NoneAndUnlimitedOverrideIt) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    size_t budget;
    jtest_setenv("JALLOC_BUDGET", "3K");
    jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", "64K");
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_PREALLOCATE);
    JEXPECT_OK(jhandle_destroy(handle));
    options.preallocate_bytes = JALLOC_NONE;
    options.budget_bytes = JALLOC_UNLIMITED;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_DEFAULT);
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, JALLOC_UNLIMITED);
    JEXPECT_OK(touch(handle, 100000));
    JEXPECT_OK(jhandle_destroy(handle));
    options.budget_bytes = JALLOC_NONE;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jhandle_get_budget(handle, &budget));
    JEXPECT_EQ(budget, 0);
    JEXPECT_STATUS(touch(handle, 1), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
    JEXPECT_OK(touch(handle, 1));
    JEXPECT_OK(jhandle_set_budget(handle, 0)); /* a number like any other */
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_STATUS(touch(handle, 1), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- What is no handle ---- */

static void expect_no_handle(jhandle_t *handle) {
    int threads;
    jhandle_mode_t mode;
    jpointer_mode_t pointer_mode;
    jresult_policy_t policy;
    jstream_t *stream;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    jborrow_t borrow;
    jplan_t plan;
    bool captured;
    size_t bytes = 64;
    JEXPECT_STATUS(jhandle_set_workspace_size(handle, 64), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_workspace(handle, NULL, 0), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_mode(handle, &mode), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_workspace_size(handle, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_budget(handle, JALLOC_UNLIMITED), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_budget(handle, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_seal(handle), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_unseal(handle), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_start_size_query(handle), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_stop_size_query(handle, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_FALSE(jhandle_is_size_query(handle));
    JEXPECT_STATUS(jhandle_set_optimal_size(handle, 1, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_stream(handle, NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_stream(handle, &stream), JSTATUS_INVALID_HANDLE);
    JEXPECT_NULL(jhandle_device(handle));
    JEXPECT_NULL(jhandle_allocator(handle));
    JEXPECT_NULL(jhandle_executor(handle));
    JEXPECT_STATUS(jhandle_set_threads(handle, 1), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_threads(handle, &threads), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_executor(handle, NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_pointer_mode(handle, JPOINTER_MODE_HOST), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_pointer_mode(handle, &pointer_mode), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_result_policy(handle, &policy), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_never_captured(handle, &captured), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_refused_argument(handle, NULL, NULL, NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_stats(handle, &stats), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_clear_stats(handle), JSTATUS_INVALID_HANDLE);
    JEXPECT_STREQ(jhandle_last_message(handle), "");
    JEXPECT_STATUS(jhandle_fail(handle, JSTATUS_IO_ERROR, "message %d", 5), JSTATUS_IO_ERROR);
    JEXPECT_STREQ(jstatus_last_message(), "message 5");
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_INVALID_HANDLE);
    JEXPECT_EQ(jhandle_layers(handle), 0);
    jplan_init(&plan, handle, "nobody", "n", (const int64_t[]){1});
    jplan_add(&plan, "only", 0, 0, 1, &bytes);
    JEXPECT_STATUS(jhandle_answer_plan(handle, &plan), JSTATUS_INVALID_HANDLE);
    memset(&borrow, 0xEE, sizeof borrow);
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, &plan), JSTATUS_INVALID_HANDLE);
    JEXPECT_FALSE(borrow.ok);
    memset(&borrow, 0xEE, sizeof borrow);
    JEXPECT_STATUS(jborrow_begin(&borrow, handle, "nobody", 1, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_FALSE(borrow.ok);
    JEXPECT_NULL(borrow.ptr[0]);
    JEXPECT_EQ(borrow.rung, -1);
    borrow = (jborrow_t){.ok = true, .handle_ = handle};
    JEXPECT_STATUS(jborrow_end(&borrow), JSTATUS_INVALID_HANDLE);
    JALLOC_BORROW(ws, handle, bytes, 0);
    JEXPECT_FALSE(ws.ok);
    JEXPECT_STATUS(ws.status, JSTATUS_INVALID_HANDLE);
    JEXPECT_NULL(ws.ptr[0]);
    JEXPECT_NULL(ws.ptr[1]);
}

JTEST(Handle, NullIsInvalidHandleEverywhere) {
    expect_no_handle(NULL);
    JEXPECT_OK(jhandle_destroy(NULL));
}

/* Memory that holds no handle, all zeros or rubbish: told from a handle without following a pointer
 * in it. */
JTEST(Handle, OtherMemoryIsInvalidHandleEverywhere) {
    alignas(64) static unsigned char memory[64 * 1024];
    memset(memory, 0, sizeof memory);
    expect_no_handle((jhandle_t *)memory);
    JEXPECT_STATUS(jhandle_destroy((jhandle_t *)memory), JSTATUS_INVALID_HANDLE);
}

JTEST(Handle, NullOutParametersAreInvalidPointer) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_STATUS(jhandle_get_mode(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_workspace_size(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_budget(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_stream(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_pointer_mode(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_result_policy(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_accuracy(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_never_captured(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_threads(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_stats(handle, NULL), JSTATUS_INVALID_POINTER);
    jhandle_stats_t stats = {.struct_size = 1};
    JEXPECT_STATUS(jhandle_get_stats(handle, &stats), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jborrow_begin(NULL, handle, "x", 0, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jborrow_end(NULL), JSTATUS_INVALID_POINTER);
    jborrow_t borrow;
    JEXPECT_STATUS(jborrow_begin(&borrow, handle, "x", 1, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jborrow_begin_plan(&borrow, handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jborrow_begin_plan(NULL, handle, &(jplan_t){0}), JSTATUS_INVALID_POINTER);
    JEXPECT_FALSE(borrow.ok);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Handle, AccuracyIsComponentwiseUnlessAskedForByOptionEnvironmentOrSetter) {
    jaccuracy_t accuracy = JACCURACY_NORMWISE;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_COMPONENTWISE);
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    JEXPECT_STATUS(jhandle_set_accuracy(handle, (jaccuracy_t)3), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jhandle_set_accuracy(handle, JACCURACY_DEFAULT), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jhandle_set_result_policy(handle, JRESULT_POLICY_DEFAULT),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_NORMWISE);
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_COMPONENTWISE);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_STATUS(jhandle_set_accuracy(NULL, JACCURACY_NORMWISE), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_accuracy(NULL, &accuracy), JSTATUS_INVALID_HANDLE);

    jtest_setenv("JALLOC_ACCURACY", "normwise");
    handle = make_handle(0);
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_NORMWISE);
    JEXPECT_OK(jhandle_destroy(handle));
    options.accuracy = JACCURACY_COMPONENTWISE; /* the option wins */
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_COMPONENTWISE);
    JEXPECT_OK(jhandle_destroy(handle));

    jtest_setenv("JALLOC_ACCURACY", NULL);
    options.accuracy = JACCURACY_NORMWISE;
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jhandle_get_accuracy(handle, &accuracy));
    JEXPECT_EQ(accuracy, JACCURACY_NORMWISE);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Handle, PointerModeAndResultPolicy) {
    jhandle_t *handle = make_handle(0);
    for (int value = 0; value < 2; ++value) {
        jpointer_mode_t mode;
        jresult_policy_t policy;
        JEXPECT_OK(jhandle_set_pointer_mode(handle, (jpointer_mode_t)value));
        JEXPECT_OK(jhandle_set_result_policy(handle, (jresult_policy_t)(value + 1)));
        JEXPECT_STATUS(jhandle_set_pointer_mode(handle, (jpointer_mode_t)2), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jhandle_set_result_policy(handle, (jresult_policy_t)-1),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_OK(jhandle_get_pointer_mode(handle, &mode));
        JEXPECT_OK(jhandle_get_result_policy(handle, &policy));
        JEXPECT_EQ(mode, value);
        JEXPECT_EQ(policy, value + 1);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Handle, MessagesAreKeptByTheirHandle) {
    jhandle_t *first = make_handle(0), *second = make_handle(0);
    JEXPECT_STATUS(jhandle_fail(first, JSTATUS_IO_ERROR, "of the %s", "first"), JSTATUS_IO_ERROR);
    JEXPECT_STATUS(jhandle_set_pointer_mode(second, (jpointer_mode_t)9), JSTATUS_INVALID_VALUE);
    JEXPECT_STREQ(jhandle_last_message(first), "of the first");
    JEXPECT_SUBSTR(jhandle_last_message(second), "jhandle_set_pointer_mode");
    JEXPECT_STREQ(jstatus_last_message(), jhandle_last_message(second));
    jhandle_fail(first, JSTATUS_BUSY, "then: %s", jhandle_last_message(first));
    JEXPECT_STREQ(jhandle_last_message(first), "then: of the first");
    JEXPECT_OK(jhandle_destroy(first));
    JEXPECT_OK(jhandle_destroy(second));
}

/* ---- Nothing is lost when memory fails ---- */

JTEST(Handle, EachFailedAllocationOfCreateLeavesNothing) {
    JFOR_EACH_FAILURE(i) {
        jhandle_t *handle = NULL;
        jtest_setenv("JALLOC_DEVICE_MEMORY_SIZE", "4K");
        const jstatus_t status = jhandle_create(NULL, &handle);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(handle != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

JTEST(Handle, FailedPreallocationLeavesNothing) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *const mark = (jhandle_t *)&options, *handle = mark;
    options.allocator = jtest_failing_allocator();
    options.preallocate_bytes = 4096;
    const size_t live = jtest_metadata_live_count();
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jhandle_create(&options, &handle), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(handle, mark);
    JEXPECT_EQ(jtest_metadata_live_count(), live);
    /* The allocator is not held by the one that failed. */
    JEXPECT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jhandle_destroy(handle));
}
