/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm's ways on workspace on a GPU, at thresholds that tests reach: each rung in exactly its bytes between guards, in
 * both pointer modes, against the table's reference; split precision beside plain float, both against long double. */

#include "gpu_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/block.h"

static ji_tuning_t saved;

/* The device's tuning is the module's own memory; its table shows it as constant. */
static ji_tuning_t *tuning(void) {
    const ji_tuning_t *shown = &gpu_device()->blas->tuning;
    return (ji_tuning_t *)(uintptr_t)shown;
}
static void lower_strassen(int64_t least) {
    saved = *tuning();
    tuning()->split_least = INT64_MAX;
    tuning()->strassen_least[0] = tuning()->strassen_least[1] = least;
    ji_tuning_complete(tuning());
}
static void lower_split(ji_split_way_t way, int64_t k_panel, int64_t panels) {
    saved = *tuning();
    tuning()->strassen_least[0] = INT64_MAX;
    tuning()->split_least = 1;
    tuning()->split_way = way;
    tuning()->split_k_panel = k_panel;
    tuning()->split_panels = panels;
    tuning()->split_by_kernels = true;
    ji_tuning_complete(tuning());
}
static void put_back(void) { *tuning() = saved; }

static jhandle_t *normwise_handle(void) {
    jhandle_t *handle = gpu_make_handle();
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    return handle;
}

#define GUARD_BYTES 4096

/* The call in a workspace of so many bytes between guards; the rung must be this one. */
static bool call_in(jhandle_t *handle, blas_case_t *c, size_t given, int rung) {
    const unsigned char value = 0xA5;
    unsigned char *memory = gpu_take(given + 2 * GUARD_BYTES), guard[GUARD_BYTES];
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, memory, &value, 1, given + 2 * GUARD_BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    JEXPECT_OK(jhandle_set_workspace(handle, memory + GUARD_BYTES, given));
    JEXPECT_OK(jhandle_clear_stats(handle));
    const jstatus_t status = gpu_blas_call(handle, c);
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_STATUS(status, rung ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
    JEXPECT_EQ(stats.rung_count[rung], 1);
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.synchronization_count, 0);
    JEXPECT_LE(stats.high_watermark_bytes, given);
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    bool good = true;
    for (int side = 0; side < 2; ++side) {
        gpu_download(guard, memory + (side ? GUARD_BYTES + given : 0), sizeof guard);
        for (int i = 0; i < GUARD_BYTES; ++i)
            good &= guard[i] == value;
    }
    gpu_give(memory, given + 2 * GUARD_BYTES);
    if (!good)
        JFAIL("%s: written outside of the workspace", blas_describe(c));
    return good;
}

/* All elements of C against long double: the largest error, and what plain sums of this depth could make. */
static void errors_of(blas_case_t *c, long double *largest, long double *square) {
    const blas_operand_t *o = &c->operand[2];
    *largest = *square = 0;
    for (int64_t j = 0; j < o->columns; ++j)
        for (int64_t i = 0; i < o->rows; ++i) {
            const wide_t got = wide_get(o->data, o->element, blas_index(o, 0, i, j)), want = *wide_at(o->want[0], i, j);
            const long double bound = *wide_bound_at(o->want[0], i, j), apart = wide_abs(got - want);
            const long double relative = bound > 0 ? apart / bound : apart;
            *largest = fmaxl(*largest, relative);
            *square += relative * relative;
        }
}

/* Shapes whose k is more than a panel and a slab, and not a multiple of either; all operations; alpha and beta of all
 * kinds on both sides of the pointer mode. blas_right() is the bound of plain float. */
JTEST(GpuGemm, SplitPrecisionIsAsRightAsFloat) {
    static const ji_split_way_t ways[] = {JI_SPLIT_BF16X6, JI_SPLIT_BF16X9, JI_SPLIT_TF32X3};
    jhandle_t *handle = normwise_handle();
    bool right = true;
    for (int64_t round = jtest_iterations(12); round > 0 && right; --round) {
        lower_split(ways[round % 3], round % 2 ? 32 : 64, 1 + round % 2);
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 1, .high = round % 4 ? 70 : 150, .plain = round % 3 == 0,
                  .beta_zero = round % 5 == 0, .guard_before = round % 4 == 0);
        JSCOPED_TRACE("way %d", (int)ways[round % 3]);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 2 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST));
        const size_t bytes = blas_query(handle, c);
        JEXPECT_GT(bytes, 0);
        right = call_in(handle, c, bytes, 0) && blas_right(c);
        if (right) {
            blas_restore(c);
            right = call_in(handle, c, bytes - 256, 1) && blas_right(c);
        }
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The part that tests can see of "at most twice the error of float": the same data by both rungs. Not of TF32, of whose
 * products a tensor core cuts the sum off from the fourth on: there it is the bound that gemm_split.c states, which one
 * product left out would break. */
JTEST(GpuGemm, SplitPrecisionErrsAtMostTwiceAsMuchAsFloat) {
    static const ji_split_way_t ways[] = {JI_SPLIT_BF16X6, JI_SPLIT_BF16X9, JI_SPLIT_TF32X3};
    jhandle_t *handle = normwise_handle();
    for (int w = 0; w < 3; ++w) {
        enum { DEPTH = 48, PANEL = 64, PRODUCTS = 3 };
        lower_split(ways[w], PANEL, 2);
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = DEPTH, .high = DEPTH, .plain = true, .beta_zero = true);
        long double split, split_square, plain, plain_square;
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_right(c);
        errors_of(c, &split, &split_square);
        blas_restore(c);
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
        JEXPECT_OK(gpu_blas_call(handle, c));
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST));
        errors_of(c, &plain, &plain_square);
        JSCOPED_TRACE("way %d", w);
        if (ways[w] == JI_SPLIT_TF32X3) {
            JEXPECT_LE((double)split, (2 * PRODUCTS * DEPTH + 1 + 16) * 0x1p-24);
        } else {
            JEXPECT_LE((double)sqrtl(split_square), 2 * (double)sqrtl(plain_square));
            JEXPECT_LE((double)split, 2 * (double)plain);
        }
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* One product of given operands by the split rung: n x n, all in device memory. */
static void split_product(jhandle_t *handle, int64_t n, const float *a, const float *b, float *c) {
    const size_t bytes = (size_t)(n * n) * sizeof(float);
    const float one = 1, zero = 0;
    float *device_a = gpu_take(bytes), *device_b = gpu_take(bytes), *device_c = gpu_take(bytes);
    gpu_upload(device_a, a, bytes);
    gpu_upload(device_b, b, bytes);
    JEXPECT_OK(jblas_sgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE, n, n, n, &one, device_a, n, device_b, n, &zero,
                           device_c, n));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    gpu_download(c, device_c, bytes);
    gpu_give(device_a, bytes);
    gpu_give(device_b, bytes);
    gpu_give(device_c, bytes);
}

/* A tiny, B huge, or both of one kind: the low parts are there, and nothing overflows on the way. */
JTEST(GpuGemm, SplitPrecisionScalesWhatIsFarFromOne) {
    enum { N = 40 };
    static const float scales[][2] = {{0x1p-120f, 0x1p120f}, {0x1p110f, 0x1p-125f}, {0x1p-70f, 0x1p-60f},
                                      {0x1p60f, 0x1p60f},    {0x1p-126f, 1},        {0x1p127f, 0x1p-20f},
                                      {0x1p-41f, 0x1p41f},   {0x1p40f, 0x1p40f}};
    static float a[N * N], b[N * N], c[N * N];
    jhandle_t *handle = normwise_handle();
    for (int w = 0; w < 2; ++w)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; ++s) {
            lower_split(w ? JI_SPLIT_TF32X3 : JI_SPLIT_BF16X6, 32, 1);
            for (int i = 0; i < N * N; ++i) {
                a[i] = (float)jtest_random_double(0.5, 0.999) * (jtest_random_bool() ? scales[s][0] : -scales[s][0]);
                b[i] = (float)jtest_random_double(0.5, 0.999) * (jtest_random_bool() ? scales[s][1] : -scales[s][1]);
            }
            split_product(handle, N, a, b, c);
            for (int j = 0; j < N; ++j)
                for (int i = 0; i < N; ++i) {
                    long double sum = 0, bound = 0;
                    for (int l = 0; l < N; ++l) {
                        const long double term = (long double)a[i + l * N] * b[j + l * N];
                        sum += term, bound += fabsl(term);
                    }
                    JSCOPED_TRACE("way %d, scales %g %g", w, (double)scales[s][0], (double)scales[s][1]);
                    JASSERT_LE((double)(fabsl(c[i + j * N] - sum) / bound), N * 0x1p-24 + (double)(0x1p-148L / bound));
                }
            put_back();
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What is not finite reaches what depends on it, as something that is not finite, and nothing else. */
JTEST(GpuGemm, SplitPrecisionKeepsNanInItsRowAndColumn) {
    enum { N = 40 };
    static float a[N * N], b[N * N], c[N * N];
    jhandle_t *handle = normwise_handle();
    for (int kind = 0; kind < 3; ++kind) {
        lower_split(kind == 2 ? JI_SPLIT_TF32X3 : JI_SPLIT_BF16X6, 32, 2);
        for (int i = 0; i < N * N; ++i)
            a[i] = (float)jtest_random_double(0.5, 1), b[i] = (float)jtest_random_double(0.5, 1);
        a[5 + 7 * N] = kind ? INFINITY : NAN;
        split_product(handle, N, a, b, c);
        for (int i = 0; i < N * N; ++i)
            JASSERT_TRUE(kind == 0 && i % N == 5 ? isnan(c[i]) != 0 : (i % N == 5) == !isfinite(c[i]));
        put_back();
    }
    /* alpha on the device that turns out to be 0: A and B count for nothing */
    lower_split(JI_SPLIT_BF16X6, 32, 2);
    BLAS_CASE(nothing, &blas_functions[BLAS_INDEX_sgemm], .low = 20, .high = 40, .alpha_zero = true);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    JEXPECT_OK(gpu_blas_call(handle, nothing));
    blas_right(nothing);
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* As on the host: blas_right() would not do, as the norms bound the error. */
JTEST(GpuGemm, StrassenByEachRung) {
    static const int functions[] = {BLAS_INDEX_sgemm, BLAS_INDEX_dgemm};
    jhandle_t *handle = normwise_handle();
    bool right = true;
    lower_strassen(8);
    for (int64_t round = jtest_iterations(4); round > 0 && right; --round)
        for (size_t f = 0; f < 2 && right; ++f) {
            BLAS_CASE(c, &blas_functions[functions[f]], .low = 16, .high = 45, .plain = round % 2 == 0,
                      .beta_zero = round % 3 == 0);
            if (c->alpha == 0)
                continue;
            JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 2 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST));
            const size_t bytes = blas_query(handle, c);
            const size_t given[] = {bytes, bytes - 256, 256};
            for (int rung = 0; rung < 3 && right; ++rung) {
                blas_restore(c);
                right = call_in(handle, c, given[rung], rung);
                c->function->routine->reference(c);
                long double largest, square;
                errors_of(c, &largest, &square);
                const int levels = 2 - rung;
                JEXPECT_LE((double)largest, (double)(4 * powl(10, levels) * (long double)(c->k + 8) *
                                                     wide_epsilon(c->operand[2].element)));
            }
        }
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Where the product of parts is not the vendor's, nothing is offered; where it is, it is what runs. */
JTEST(GpuGemm, SplitPrecisionIsOfferedOnlyBesideTensorCores) {
    jhandle_t *handle = normwise_handle();
    saved = *tuning();
    tuning()->split_least = 32;
    tuning()->strassen_least[0] = INT64_MAX;
    ji_tuning_complete(tuning());
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 32, .high = 32, .plain = true, .hollow = true);
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        c->operand[which].ld = 32;
    JEXPECT_EQ(blas_query(handle, c) > 0, gpu_device()->blas->has_mixed(gpu_device()));
    /* The flavour that plays CUDA has a vendor's BLAS, and plays an architecture with the units. */
    if (gpu_fake() != NULL || gpu_vendor_blas_is_off())
        JEXPECT_EQ(gpu_device()->blas->has_mixed(gpu_device()),
                   !gpu_vendor_blas_is_off() && strncmp(gpu_device_name(), "cuda", 4) == 0);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
    JEXPECT_EQ(blas_query(handle, c), 0);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST));
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
    JEXPECT_EQ(blas_query(handle, c), 0);
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The n-th failure of the runtime inside the split rung is a status, and the next call is as ever. */
JTEST(GpuGemm, SplitPrecisionSurvivesEachFailure) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("needs the fake runtime");
    jhandle_t *handle = normwise_handle();
    lower_split(JI_SPLIT_BF16X6, 32, 1);
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 40, .high = 40, .plain = true);
    JEXPECT_OK(jhandle_set_workspace_size(handle, blas_query(handle, c)));
    bool failed = true;
    int failures = 0;
    for (uint64_t n = 1; failed && n < 60; ++n) {
        gpu_case_t g;
        blas_restore(c);
        gpu_case_begin(&g, handle, c);
        fake->fail_after(n, FAKE_GPU_UNKNOWN_ERROR);
        const jstatus_t status = blas_call(handle, c);
        failed = fake->has_failed();
        fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        gpu_case_end(&g, true);
        failures += jstatus_is_error(status);
        if (!jstatus_is_error(status))
            blas_right(c);
    }
    JEXPECT_GT(failures, 5); /* scale, two splits and a product for each of two panels */
    JEXPECT_FALSE(failed);
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}
