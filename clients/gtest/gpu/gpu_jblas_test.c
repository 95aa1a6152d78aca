/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas on a GPU: the same cases, the same reference and the same judgement as on the host,
 * canaries included, over device memory. What is promised of queries and of workspace holds here as
 * there. */

#include "gpu_device.h"
#include "gpu_profiler.h"

#include <stdlib.h>
#include <string.h>

JTEST_EACH_FUNCTION(GpuJblas, RandomArguments) {
    jhandle_t *handle = gpu_make_handle();
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    bool right = true;
    for (int64_t i = jtest_iterations(24); i > 0 && right; --i) {
        BLAS_CASE(c, param, .guard_before = i % 4 == 0);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, i % 3 == 0 ? JPOINTER_MODE_DEVICE
                                                               : JPOINTER_MODE_HOST));
        JEXPECT_OK(jhandle_set_stream(handle, i % 2 ? stream : NULL));
        right = blas_call_is_right(handle, c, gpu_blas_call);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST_EACH_FUNCTION(GpuJblas, LargeSizes) {
    static const int64_t low[] = {0, 4000, 130, 90}, high[] = {0, 20000, 300, 150}; /* by level */
    const int level = param->routine->level;
    jhandle_t *handle = gpu_make_handle();
    bool right = true;
    for (int64_t i = jtest_iterations(1); i > 0 && right; --i) {
        BLAS_CASE(c, param, .low = low[level], .high = high[level], .plain = true);
        right = blas_call_is_right(handle, c, gpu_blas_call);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(GpuJblas, ZeroScalarsReadNothing) {
    jhandle_t *handle = gpu_make_handle();
    blas_zero_scalars_read_nothing(handle, param, gpu_blas_call);
    JEXPECT_OK(jhandle_destroy(handle));
}

#define GUARD_BYTES 4096
#define GUARD_VALUE 0xA5

/* A user-owned workspace of exactly so many bytes between two guards, which are looked at after
 * each call. */
static unsigned char *guarded_take(size_t bytes) {
    unsigned char *memory = gpu_take(bytes + 2 * GUARD_BYTES);
    const unsigned char value = GUARD_VALUE;
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, memory, &value, 1, bytes + 2 * GUARD_BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    return memory;
}

static void guarded_give(unsigned char *memory, size_t bytes) {
    unsigned char guard[GUARD_BYTES];
    for (int side = 0; side < 2; ++side) {
        gpu_download(guard, memory + (side ? GUARD_BYTES + bytes : 0), sizeof guard);
        for (int i = 0; i < GUARD_BYTES; ++i)
            JASSERT_EQ(guard[i], GUARD_VALUE);
    }
    gpu_give(memory, bytes + 2 * GUARD_BYTES);
}

static blas_wish_t interesting(const blas_function_t *function, int64_t round) {
    static const int64_t low[] = {0, 4100, 20, 40}, high[] = {0, 9000, 120, 100};
    blas_wish_t wish = {0};
    if (round % 2 == 0)
        wish = (blas_wish_t){.low = low[function->routine->level],
                             .high = high[function->routine->level],
                             .plain = true};
    return wish;
}

/* Exactly the queried bytes: rung 0, the right answer, nothing outside of them touched. With less
 * the next rung, or nothing has happened. */
JTEST_EACH_FUNCTION(GpuJblas, QueriedBytesSuffice) {
    const size_t granule = jdevice_granule_bytes(gpu_device());
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(4); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 4 < 2 ? JPOINTER_MODE_DEVICE
                                                                  : JPOINTER_MODE_HOST));
        const size_t bytes = blas_query(handle, c);
        blas_unchanged(c);
        const size_t given[] = {bytes, bytes - granule, bytes / 2 / granule * granule, 0};
        for (int i = 0; i < (bytes > 0 ? 4 : 1) && !jtest_has_failure(); ++i) {
            if (i > 0 && given[i] >= given[i - 1])
                continue;
            JSCOPED_TRACE("%s, %zu of %zu bytes", blas_describe(c), given[i], bytes);
            unsigned char *memory = guarded_take(given[i]);
            if (given[i] > 0)
                JEXPECT_OK(jhandle_set_workspace(handle, memory + GUARD_BYTES, given[i]));
            /* Else default mode grows. */
            JEXPECT_OK(jhandle_set_budget(handle, given[i] > 0 ? JALLOC_UNLIMITED : 1));
            JEXPECT_OK(jhandle_clear_stats(handle));
            blas_restore(c);
            const jstatus_t status = gpu_blas_call(handle, c);
            jhandle_stats_t stats = {.struct_size = sizeof stats};
            JEXPECT_OK(jhandle_get_stats(handle, &stats));
            JEXPECT_EQ(stats.live_borrow_count, 0);
            JEXPECT_EQ(stats.allocation_count, 0);
            JEXPECT_LE(stats.high_watermark_bytes, given[i]);
            if (i == 0)
                JEXPECT_OK(status);
            if (status == JSTATUS_SUCCESS || status == JSTATUS_PERF_DEGRADED) {
                JEXPECT_EQ(stats.degraded_count, i > 0);
                blas_right(c);
            } else {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                blas_unchanged(c);
            }
            JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
            guarded_give(memory, given[i]);
        }
        JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

#define SUMMED_AT_ONCE 4096 /* elements */

/* Whether the call may wait for arrays of pointers: where items are enqueued one after the other.
 * Of types that are arguments it depends on these. */
static bool fetches_pointers(const blas_case_t *c) {
    static const char *const by_items[] = {"trtri", "potrf",    "potrs",    "geam",  "gemm3m",
                                           "dgmm",  "omatcopy", "imatcopy", "trttp", "tpttr"};
    static const char *const sums[] = {"dot",  "dotu", "dotc",  "dsdot", "sdsdot",
                                       "nrm2", "asum", "iamax", "iamin"};
    const char *name = c->function->routine->name, *suffix = strstr(name, "_batched");
    if (suffix == NULL || strstr(name, "_strided_batched") != NULL)
        return false;
    if (blas_has(c, 'E'))
        return true;
    const size_t length = (size_t)(suffix - name);
    for (size_t i = 0; i < sizeof by_items / sizeof by_items[0]; ++i)
        if (strlen(by_items[i]) == length && strncmp(name, by_items[i], length) == 0)
            return true;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; ++i)
        if (strlen(sums[i]) == length && strncmp(name, sums[i], length) == 0)
            return c->n > SUMMED_AT_ONCE;
    return false;
}

/* In the fixed modes nothing inside a call allocates, frees or waits, and device pointers are
 * followed in stream order. */
JTEST_EACH_FUNCTION(GpuJblas, DevicePointersAreUsedInStreamOrderWithoutWaiting) {
    const fake_gpu_control_t *fake = gpu_fake();
    jhandle_t *handle = gpu_make_handle();
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    bool counted = true;
    for (int64_t round = jtest_iterations(2); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        if (fetches_pointers(c)) {
            blas_case_free(c);
            continue;
        }
        const size_t bytes = blas_query(handle, c);
        gpu_case_t g;
        JEXPECT_OK(jhandle_set_workspace_size(handle, bytes > 0 ? bytes : 256));
        /* The first call loads kernels and the vendor's library. */
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_restore(c);
        gpu_case_begin(&g, handle, c);
        if (fake != NULL)
            fake->reset_counts();
        const bool profiled = fake == NULL && gpu_profiler_start();
        counted = counted && (fake != NULL || profiled);
        JEXPECT_OK(jhandle_clear_stats(handle));
        JEXPECT_OK(blas_call(handle, c));
        if (profiled) {
            gpu_profile_t profile;
            gpu_profiler_stop(&profile);
            JSCOPED_TRACE("%s: first %s", blas_describe(c), profile.first);
            JEXPECT_EQ(profile.allocations, 0);
            JEXPECT_EQ(profile.frees, 0);
            JEXPECT_EQ(profile.waits, 0);
        }
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JEXPECT_EQ(stats.synchronization_count, 0);
        JEXPECT_EQ(stats.allocation_count, 0);
        JEXPECT_EQ(stats.deallocation_count, 0);
        if (fake != NULL) {
            JEXPECT_EQ(fake->count_allocations(), 0);
            JEXPECT_EQ(fake->count_frees(), 0);
            JEXPECT_EQ(fake->count_waits(), 0);
        }
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        gpu_case_end(&g, true);
        blas_right(c);
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    if (!counted)
        JSKIP(gpu_profiler_reason()); /* the rest was looked at */
}

/* In host pointer mode the handle counts every wait that the runtime saw: none but for results. */
JTEST_EACH_FUNCTION(GpuJblas, EachWaitForAHostResultIsCounted) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("a real runtime tells no count");
    jhandle_t *handle = gpu_make_handle();
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    for (int64_t round = jtest_iterations(2); round > 0 && !jtest_has_failure(); --round) {
        const blas_wish_t wish = interesting(param, round);
        blas_case_t *c = blas_case_create(param, &wish);
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, blas_query(handle, c)));
        /* The first call loads kernels and the vendor's library. */
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_restore(c);
        gpu_case_t g;
        gpu_case_begin(&g, handle, c);
        fake->reset_counts();
        JEXPECT_OK(jhandle_clear_stats(handle));
        JEXPECT_OK(blas_call(handle, c));
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JSCOPED_TRACE("%s", blas_describe(c));
        /* The copy to memory that is not pinned waits for the stream, and then there is nothing
         * more to wait for. */
        if (!fetches_pointers(c))
            JEXPECT_EQ(2 * stats.synchronization_count, fake->count_waits());
        else /* one more for each array */
            JEXPECT_TRUE((stats.synchronization_count > 0) == (fake->count_waits() > 0));
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        gpu_case_end(&g, true);
        blas_right(c);
        blas_case_free(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* The profiler would see what it is asked to count. */
JTEST(GpuProfiler, SeesAnAllocationAFreeAndAWait) {
    if (!gpu_profiler_start())
        JSKIP(gpu_profiler_reason());
    gpu_profile_t profile;
    void *pointer = gpu_take((size_t)64 << 20);
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    gpu_give(pointer, (size_t)64 << 20);
    gpu_profiler_stop(&profile);
    JEXPECT_GT(profile.allocations, 0);
    JEXPECT_GT(profile.frees, 0);
    JEXPECT_GT(profile.waits, 0);
}

/* Where the workspace comes from changes nothing of the answer. */
JTEST_EACH_FUNCTION(GpuJblas, ModesGiveTheSameBits) {
    const blas_wish_t wish = interesting(param, 0);
    blas_case_t *c = blas_case_create(param, &wish);
    jhandle_t *handle = gpu_make_handle();
    const size_t bytes = blas_query(handle, c), granule = jdevice_granule_bytes(gpu_device());
    const size_t needed = bytes > 0 ? bytes : granule;
    JEXPECT_OK(gpu_blas_call(handle, c)); /* default */
    unsigned char *answer = blas_snapshot(c);
    JSCOPED_TRACE("%s", blas_describe(c));

    blas_restore(c);
    JEXPECT_OK(jhandle_set_workspace_size(handle, needed)); /* manual */
    JEXPECT_OK(gpu_blas_call(handle, c));
    JEXPECT_TRUE(blas_same_as(c, answer));

    blas_restore(c);
    void *own = gpu_take(needed);
    JEXPECT_OK(jhandle_set_workspace(handle, own, needed)); /* user-owned */
    JEXPECT_OK(gpu_blas_call(handle, c));
    JEXPECT_TRUE(blas_same_as(c, answer));
    JEXPECT_OK(jhandle_destroy(handle));
    gpu_give(own, needed);

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = gpu_device();
    options.preallocate_bytes = needed;
    JASSERT_OK(jhandle_create(&options, &handle));
    blas_restore(c);
    JEXPECT_OK(gpu_blas_call(handle, c));
    JEXPECT_TRUE(blas_same_as(c, answer));
    JEXPECT_OK(jhandle_destroy(handle));
    free(answer);
    blas_case_free(c);
}

/* With the policy, how much workspace there is changes nothing of the answer. */
JTEST_EACH_FUNCTION(GpuJblas, SameBitsForAnyWorkspace) {
    const blas_wish_t wish = interesting(param, 0);
    blas_case_t *c = blas_case_create(param, &wish);
    jhandle_t *handle = gpu_make_handle();
    blas_same_bits_for_any_workspace(handle, c, gpu_blas_call);
    JEXPECT_OK(jhandle_destroy(handle));
    blas_case_free(c);
}

/* Each call of the runtime fails in turn, inside a call of jblas: a status, nothing lost, and the
 * next call is right. */
JTEST_EACH_FUNCTION(GpuJblas, EachFailingRuntimeCallIsSurvived) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("a real runtime does not fail on demand");
    const blas_wish_t wish = interesting(param, 0);
    blas_case_t *c = blas_case_create(param, &wish);
    bool failed = true;
    for (uint64_t n = 1; failed && n < 200 && !jtest_has_failure(); ++n) {
        JSCOPED_TRACE("%s, failure %d", blas_describe(c), (int)n);
        jhandle_t *handle = gpu_make_handle();
        gpu_case_t g;
        blas_restore(c);
        gpu_case_begin(&g, handle, c);
        fake->fail_after(n, n % 2 ? FAKE_GPU_UNKNOWN_ERROR : FAKE_GPU_OUT_OF_MEMORY);
        const jstatus_t status = blas_call(handle, c);
        failed = fake->has_failed();
        fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        if (!failed)
            JEXPECT_OK(status);
        if (status == JSTATUS_SUCCESS || status == JSTATUS_PERF_DEGRADED) {
            JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
            gpu_case_end(&g, true);
            blas_right(c);
        } else {
            JEXPECT_TRUE(status == JSTATUS_DEVICE_ERROR || status == JSTATUS_MEMORY_ERROR);
            JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
            gpu_case_end(&g, false);
        }
        blas_restore(c);
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_right(c);
        JEXPECT_OK(jhandle_destroy(handle));
    }
    blas_case_free(c);
}

/* Each routine that takes it, several times: RandomArguments may not have drawn it. */
JTEST_EACH_FUNCTION(GpuJblas, ConjugationWithoutTransposition) {
    if (param->routine->operations != BLAS_ANY_OPERATION)
        return;
    jhandle_t *handle = gpu_make_handle();
    const int64_t high = param->routine->level == 2 ? 300 : 70;
    bool right = true;
    for (int64_t round = jtest_iterations(12); round > 0 && right;) {
        BLAS_CASE(c, param, .low = 1, .high = high, .plain = true);
        if (!gpu_conjugates_alone(c))
            continue;
        right = blas_call_is_right(handle, c, gpu_blas_call);
        --round;
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
