/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What operations do on a GPU, and among several processes, when something there fails. Both are
 * pretended: the GPU's memory is the host's, and the other processes agree with everything. */

#include "buffer_helper.h"
#include "host_failures.h"
#include "operation_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <math.h>

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE;
static const double zero = 0, one = 1, two = 2, three = 3;

static void expect_no_borrow(jhandle_t *handle) {
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_EQ(stats.live_borrow_count, 0);
}

/* ---- A GPU ---- */

typedef struct gpu_world {
    pretend_gpu_t *gpu;
    operation_world_t host;
    jbuffer_allocator_t *allocator; /* on the GPU */
    jhandle_t *handle;
} gpu_world_t;

static void gpu_begin(gpu_world_t *world) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    world->gpu = pretend_gpu_make();
    operation_begin(&world->host, JDATATYPE_F64);
    world->allocator = buffer_allocator_of(world->host.runtime, JBUFFER_LOCAL, JDATATYPE_F64,
                                           &world->gpu->device, NULL, false);
    options.device = &world->gpu->device;
    JEXPECT_OK(jhandle_create(&options, &world->handle));
}

static void gpu_end(gpu_world_t *world) {
    JEXPECT_EQ(world->gpu->violations, 0);
    JEXPECT_OK(jhandle_destroy(world->handle));
    JEXPECT_OK(jbuffer_allocator_release(world->allocator));
    operation_end(&world->host);
}

/* Five elements so far apart that the host reads them in several pieces, and a matrix with gaps. */
typedef struct far_apart {
    jbuffer_t *parents[2], *vector, *matrix, *host;
} far_apart_t;

static void far_apart_make(far_apart_t *far, gpu_world_t *world) {
    const jlayout_t line = operation_layout(1, 25000, 0), square = operation_layout(2, 12, 12),
                    five = operation_layout(1, 5, 0);
    JEXPECT_OK(jbuffer_construct_value(world->allocator, &line, &zero, &far->parents[0]));
    JEXPECT_OK(jbuffer_slice(far->parents[0], (const int64_t[]){1}, (const int64_t[]){5},
                             (const int64_t[]){5000}, &far->vector));
    JEXPECT_OK(jbuffer_construct_value(world->allocator, &square, &zero, &far->parents[1]));
    JEXPECT_OK(jbuffer_slice(far->parents[1], (const int64_t[]){0, 0}, (const int64_t[]){4, 6},
                             (const int64_t[]){3, 2}, &far->matrix));
    JEXPECT_OK(jbuffer_construct_value(world->host.allocator, &five, &two, &far->host));
}

static void far_apart_free(far_apart_t *far) {
    JEXPECT_OK(jbuffer_release(far->vector));
    JEXPECT_OK(jbuffer_release(far->matrix));
    JEXPECT_OK(jbuffer_release(far->parents[0]));
    JEXPECT_OK(jbuffer_release(far->parents[1]));
    JEXPECT_OK(jbuffer_release(far->host));
}

static double norm_of(jhandle_t *handle, jnorm_t norm, jbuffer_t *x) {
    double result = -1;
    JEXPECT_OK(jbuffer_norm(handle, norm, x, &result));
    return result;
}

JTEST(OperationDevice, ElementsFarApartAreFilledAndMeasured) {
    gpu_world_t world;
    far_apart_t far;
    gpu_begin(&world);
    far_apart_make(&far, &world);
    JEXPECT_OK(jbuffer_fill(world.handle, far.vector, &three));
    JEXPECT_OK(jbuffer_fill(world.handle, far.matrix, &two));
    JEXPECT_EQ(norm_of(world.handle, JNORM_ONE, far.vector), 15.0);
    JEXPECT_EQ(norm_of(world.handle, JNORM_ONE, far.parents[0]), 15.0); /* nothing beside them */
    JEXPECT_NEAR(norm_of(world.handle, JNORM_FROBENIUS, far.vector), sqrt(45.0), 1e-14);
    JEXPECT_EQ(norm_of(world.handle, JNORM_ONE, far.matrix), 8.0);
    JEXPECT_EQ(norm_of(world.handle, JNORM_INFINITY, far.matrix), 12.0);
    JEXPECT_EQ(norm_of(world.handle, JNORM_INFINITY, far.parents[1]), 12.0);
    const jlayout_t nothing = operation_layout(2, 0, 3);
    jbuffer_t *empty = NULL;
    JEXPECT_OK(jbuffer_construct_value(world.allocator, &nothing, NULL, &empty));
    JEXPECT_EQ(norm_of(world.handle, JNORM_ONE, empty), 0.0);
    JEXPECT_OK(jbuffer_release(empty));
    far_apart_free(&far);
    gpu_end(&world);
}

/* What goes through a device that has no BLAS, and what does not. */
static jstatus_t device_call(gpu_world_t *world, far_apart_t *far, int which, double *norm) {
    switch (which) {
    case 0: return jbuffer_fill(world->handle, far->vector, &three);
    case 1: return jbuffer_norm(world->handle, JNORM_ONE, far->matrix, norm);
    case 2: return jbuffer_norm(world->handle, JNORM_FROBENIUS, far->vector, norm);
    case 3: return jbuffer_norm(world->handle, JNORM_MAX, far->vector, norm);
    default: return jbuffer_copy(world->handle, far->vector, far->host);
    }
}

JTEST(OperationDevice, EachFailureOfTheDeviceIsReported) {
    gpu_world_t world;
    far_apart_t far;
    gpu_begin(&world);
    far_apart_make(&far, &world);
    JEXPECT_OK(jbuffer_fill(world.handle, far.vector, &two));
    JEXPECT_OK(jbuffer_fill(world.handle, far.matrix, &two));
    for (int which = 0; which < 5; which++) {
        uint64_t n = 0;
        do {
            double norm = -1;
            JSCOPED_TRACE("operation %d, failure %d", which, (int)n + 1);
            world.gpu->failed = false;
            world.gpu->fail_in = ++n;
            const jstatus_t status = device_call(&world, &far, which, &norm);
            world.gpu->fail_in = 0;
            JEXPECT_STATUS(status, world.gpu->failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(norm == -1, world.gpu->failed || which == 0 || which == 4);
            expect_no_borrow(world.handle);
        } while (world.gpu->failed && n < 1000);
        JEXPECT_GT(n, 2); /* something failed */
    }
    far_apart_free(&far);
    gpu_end(&world);
}

JTEST(OperationDevice, WhatNeedsABlasIsNotImplementedWithoutOne) {
    gpu_world_t world;
    far_apart_t far;
    gpu_begin(&world);
    far_apart_make(&far, &world);
    JEXPECT_STATUS(jbuffer_scale(world.handle, &two, far.vector), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(world.handle), "pretended has no BLAS");
    jlayout_t layout;
    jbuffer_t *cube = NULL, *made = NULL;
    JEXPECT_OK(jlayout_init(&layout, 3, (const int64_t[]){2, 3, 4}, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_construct_value(world.allocator, &layout, &one, &cube));
    JEXPECT_STATUS(jbuffer_add(world.handle, &one, cube, &two, cube, &made),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_NULL(made);
    JEXPECT_OK(jbuffer_release(cube));
    far_apart_free(&far);
    gpu_end(&world);
}

/* What the host reads is beside the handle's workspace, in host memory of the process's: sums for
 * 2^60 columns do not fit, whatever the memory that was wrapped. */
JTEST(OperationDevice, HostMemoryThatCannotBeHadIsAStatus) {
    gpu_world_t world;
    gpu_begin(&world);
    const jlayout_t layout = operation_layout(2, 1, ((int64_t)1 << 60) - 1),
                    small = operation_layout(2, 3, 3);
    jbuffer_t *x = NULL, *y = NULL;
    double norm = -1;
    double nothing = 0; /* is never looked at */
    JASSERT_OK(jbuffer_wrap(world.allocator, &layout, &nothing, &x));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &small, &one, &y));
    bool failed = true;
    for (uint64_t n = 1; failed && n < 100; n++) {
        /* Not JFOR_EACH_FAILURE: the process's allocator stays. */
        norm = -1;
        jtest_fail_metadata_after(n);
        const jstatus_t status = jbuffer_norm(world.handle, JNORM_ONE, y, &norm);
        failed = jtest_metadata_failed();
        jtest_fail_metadata_after(0);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS || (status == JSTATUS_MEMORY_ERROR && failed));
        JEXPECT_EQ(norm, status == JSTATUS_SUCCESS ? 3.0 : -1.0);
    }
    norm = -1;
    JEXPECT_STATUS(jbuffer_norm(world.handle, JNORM_ONE, x, &norm), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(norm, -1.0);
    JEXPECT_OK(jbuffer_release(x));
    JEXPECT_OK(jbuffer_release(y));
    gpu_end(&world);
}

/* ---- Several processes ---- */

typedef struct team_world {
    pretend_runtime_t pretend;
    jbuffer_allocator_t *local, *replicated, *shared;
    jhandle_t *handle;
} team_world_t;

static void team_begin(team_world_t *world) {
    JEXPECT_OK(pretend_runtime_make(&world->pretend, 2, false));
    jruntime_t *runtime = world->pretend.runtime;
    world->local = buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    world->replicated =
        buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, false);
    world->shared =
        buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, true);
    JEXPECT_OK(jhandle_create(NULL, &world->handle));
}

static void team_end(team_world_t *world) {
    JEXPECT_OK(jhandle_destroy(world->handle));
    JEXPECT_OK(jbuffer_allocator_release(world->local));
    JEXPECT_OK(jbuffer_allocator_release(world->replicated));
    JEXPECT_OK(jbuffer_allocator_release(world->shared));
    JEXPECT_OK(jruntime_release(world->pretend.runtime));
}

static double element(jbuffer_t *buffer, int64_t i, int64_t j) {
    double value = -1;
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i, j}, &value));
    return value;
}

JTEST(OperationProcesses, WithoutScalapackNothingDistributedIsComputed) {
    pretend_runtime_t pretend;
    pretend_gpu_t *gpu = pretend_gpu_make();
    jhandle_t *handle = NULL;
    jbuffer_t *x = NULL, *far = NULL, *here = NULL, *up = NULL, *down = NULL;
    const jlayout_t layout = operation_layout(2, 6, 6);
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    JASSERT_OK(jhandle_create(NULL, &handle));
    jbuffer_allocator_t *host =
        buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *device = buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED,
                                                      JDATATYPE_F64, &gpu->device, NULL, false);
    JASSERT_OK(jbuffer_construct_value(host, &layout, &one, &x));
    JASSERT_OK(jbuffer_construct_value(device, &layout, &one, &far));
    JEXPECT_STATUS(jbuffer_scale(handle, &two, x), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "this runtime computes on nothing distributed");
    JEXPECT_STATUS(jbuffer_scale(handle, &two, far), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle),
                   "an operand on pretended: copy it to the host first");
    /* Nor does this one copy, from one kind to another or on to itself. */
    jbuffer_allocator_t *local =
        buffer_allocator_of(pretend.runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    JASSERT_OK(jbuffer_construct_value(local, &layout, &one, &here));
    JEXPECT_STATUS(jbuffer_copy(handle, here, x), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "a pretended process sends nothing");
    JASSERT_OK(jbuffer_slice(x, (const int64_t[]){0, 0}, (const int64_t[]){5, 6}, NULL, &up));
    JASSERT_OK(jbuffer_slice(x, (const int64_t[]){1, 0}, (const int64_t[]){5, 6}, NULL, &down));
    JEXPECT_STATUS(jbuffer_copy(handle, down, up), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(jbuffer_release(up));
    JEXPECT_OK(jbuffer_release(down));
    JEXPECT_OK(jbuffer_release(here));
    JEXPECT_OK(jbuffer_allocator_release(local));
    JEXPECT_OK(jbuffer_release(x));
    JEXPECT_OK(jbuffer_release(far));
    JEXPECT_OK(jbuffer_allocator_release(host));
    JEXPECT_OK(jbuffer_allocator_release(device));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Operands of two kinds, in this order, and a result that is one of them or is made. */
typedef struct sum {
    /* Overlapping parts of what is shared. */
    jbuffer_t *local, *everyones, *shared, *definite, *up, *down;
    jbuffer_t *made;
    int64_t info;
} sum_t;

static void sum_make(sum_t *sum, team_world_t *world) {
    const jlayout_t layout = operation_layout(2, 5, 5);
    jbuffer_t *identity = NULL;
    *sum = (sum_t){.info = -1};
    JEXPECT_OK(jbuffer_construct_value(world->local, &layout, &one, &sum->local));
    JEXPECT_OK(jbuffer_construct_value(world->replicated, &layout, &two, &sum->everyones));
    JEXPECT_OK(jbuffer_construct_value(world->shared, &layout, &three, &sum->shared));
    JEXPECT_OK(jbuffer_slice(sum->shared, (const int64_t[]){0, 0}, (const int64_t[]){4, 5}, NULL,
                             &sum->up));
    JEXPECT_OK(jbuffer_slice(sum->shared, (const int64_t[]){1, 0}, (const int64_t[]){4, 5}, NULL,
                             &sum->down));
    JEXPECT_OK(jbuffer_construct_identity(world->shared, &layout, &identity));
    JEXPECT_OK(jbuffer_with_structure(identity, JSTRUCTURE_SYMMETRIC_LOWER, &sum->definite));
    JEXPECT_OK(jbuffer_release(identity));
}

static void sum_free(sum_t *sum) {
    JEXPECT_OK(jbuffer_release(sum->local));
    JEXPECT_OK(jbuffer_release(sum->everyones));
    JEXPECT_OK(jbuffer_release(sum->up));
    JEXPECT_OK(jbuffer_release(sum->down));
    JEXPECT_OK(jbuffer_release(sum->shared));
    JEXPECT_OK(jbuffer_release(sum->definite));
}

#define SUMS 8
static jstatus_t sum_call(jhandle_t *handle, sum_t *sum, int which) {
    switch (which) {
    case 0: return jbuffer_add(handle, &one, sum->local, &one, sum->everyones, &sum->everyones);
    case 1: return jbuffer_add(handle, &one, sum->everyones, &one, sum->everyones, &sum->local);
    case 2: return jbuffer_add(handle, &one, sum->local, &one, sum->everyones, &sum->made);
    case 3: return jbuffer_add(handle, &one, sum->shared, &one, sum->shared, &sum->made);
    case 4:
        return jbuffer_product(handle, N, N, &one, sum->shared, sum->local, &zero, &sum->shared);
    case 5: return jbuffer_cholesky(handle, sum->definite, &sum->info);
    case 6: return jbuffer_copy(handle, sum->everyones, sum->local);
    default: return jbuffer_copy(handle, sum->down, sum->up);
    }
}

/* Element (1, 1) of the result, for operands that are as they were made. */
static double sum_result(const sum_t *sum, int which) {
    jbuffer_t *const results[SUMS] = {sum->everyones, sum->local,    sum->made,      sum->made,
                                      sum->shared,    sum->definite, sum->everyones, sum->down};
    return element(results[which], 1, 1);
}
static const double sum_results[SUMS] = {3, 4, 3, 6, 15, 1, 1, 3};

/* After one operation that something failed in, or nothing: its status, and no result that was not
 * there. */
static void sum_expect(team_world_t *world, sum_t *sum, jstatus_t status, bool failed) {
    JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
    JEXPECT_TRUE(!failed || (sum->made == NULL && sum->info == -1));
    expect_no_borrow(world->handle);
}

JTEST(OperationProcesses, KindsMayBeMixed) {
    for (int which = 0; which < SUMS; which++) {
        team_world_t world;
        sum_t sum;
        team_begin(&world);
        sum_make(&sum, &world);
        JSCOPED_TRACE("operation %d", which);
        JEXPECT_OK(sum_call(world.handle, &sum, which));
        JEXPECT_EQ(sum_result(&sum, which), sum_results[which]);
        JEXPECT_EQ(sum.info, which == 5 ? 0 : -1);
        JEXPECT_OK(jbuffer_release(sum.made));
        sum_free(&sum);
        team_end(&world);
    }
}

/* A of rank 0 among what all have is copied once: what comes of it there is the factor. */
JTEST(OperationProcesses, ASolveCopiesALocalMatrixOnce) {
    team_world_t world;
    team_begin(&world);
    const jlayout_t layout = operation_layout(2, 40, 40), right = operation_layout(2, 40, 1);
    jbuffer_t *a[2] = {NULL, NULL}, *b = NULL;
    size_t bytes[2] = {0, 0};
    int64_t info = -1;
    JEXPECT_OK(jbuffer_construct_identity(world.local, &layout, &a[0]));
    JEXPECT_OK(jbuffer_construct_identity(world.replicated, &layout, &a[1]));
    JEXPECT_OK(jbuffer_construct_value(world.replicated, &right, &two, &b));
    for (int i = 0; i < 2; i++) {
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_STATUS(jbuffer_solve(world.handle, a[i], b, &info), JSTATUS_SIZE_INCREASED);
        JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes[i]));
    }
    JEXPECT_EQ(bytes[0], bytes[1]);
    JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes[0]), bytes[0]));
    JEXPECT_OK(jbuffer_solve(world.handle, a[0], b, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_EQ(element(b, 39, 0), 2.0);
    JEXPECT_EQ(element(a[0], 39, 39), 1.0);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
    JEXPECT_OK(jbuffer_release(a[0]));
    JEXPECT_OK(jbuffer_release(a[1]));
    JEXPECT_OK(jbuffer_release(b));
    team_end(&world);
}

/* Each agreement and broadcast in turn fails, as if another process had: its status, and no result
 * that was not there. */
JTEST(OperationProcesses, EachFailureOfTheOthersIsReported) {
    for (int which = 0; which < SUMS; which++) {
        bool failed = true;
        uint64_t n = 1;
        for (; failed && n < 100; n++) {
            team_world_t world;
            sum_t sum;
            team_begin(&world);
            sum_make(&sum, &world);
            JSCOPED_TRACE("operation %d, failure %d", which, (int)n);
            world.pretend.fail_in = n;
            const jstatus_t status = sum_call(world.handle, &sum, which);
            failed = world.pretend.fail_in == 0;
            world.pretend.fail_in = 0;
            sum_expect(&world, &sum, status, failed);
            if (failed) /* and all is well the next time */
                JEXPECT_OK(sum_call(world.handle, &sum, which));
            JEXPECT_OK(jbuffer_release(sum.made));
            sum_free(&sum);
            team_end(&world);
        }
        JEXPECT_GT(n, 2); /* something failed */
    }
}

/* The same for what fails here, behind the agreement: launches, copies, waits. */
JTEST(OperationProcesses, EachFailureOfTheDeviceIsReported) {
    for (int which = 0; which < SUMS; which++) {
        bool failed = true;
        uint64_t n = 1;
        for (; failed && n < 100; n++) {
            team_world_t world;
            sum_t sum;
            jstream_t *stream = NULL;
            team_begin(&world);
            sum_make(&sum, &world);
            JASSERT_OK(jstream_create(jdevice_host(), &stream));
            JEXPECT_OK(jhandle_set_stream(world.handle, stream));
            JSCOPED_TRACE("operation %d, failure %d", which, (int)n);
            host_fail_after(n);
            const jstatus_t status = sum_call(world.handle, &sum, which);
            failed = host_fail_no_more();
            sum_expect(&world, &sum, status, failed);
            JEXPECT_OK(jhandle_set_stream(world.handle, NULL));
            JEXPECT_OK(jstream_destroy(stream));
            JEXPECT_OK(jbuffer_release(sum.made));
            sum_free(&sum);
            team_end(&world);
        }
        JEXPECT_GT(n, 2);
    }
}

/* Each allocation of bookkeeping. */
JTEST(OperationProcesses, EachFailedBookkeepingIsSurvived) {
    team_world_t world;
    sum_t sum;
    team_begin(&world);
    sum_make(&sum, &world);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 1 << 16));
    const int made_by[] = {0, 1, 2, 7}; /* the others need none of their own */
    for (int i = 0; i < 4; i++)
        JFOR_EACH_FAILURE(n) {
            JSCOPED_TRACE("operation %d", made_by[i]);
            const jstatus_t status = sum_call(world.handle, &sum, made_by[i]);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_TRUE(sum.made == NULL || status == JSTATUS_SUCCESS);
            expect_no_borrow(world.handle);
            JEXPECT_OK(jbuffer_release(sum.made));
            sum.made = NULL;
        }
    sum_free(&sum);
    team_end(&world);
}
