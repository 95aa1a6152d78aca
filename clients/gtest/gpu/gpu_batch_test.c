/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Batches on a GPU: one launch for all items, whose blocks go from item to item. What each item is
 * is tested by the table (gpu_jblas_test.c), a few items at a time; here are as many that grids and
 * the room for results do not hold them. */

#include "gpu_device.h"

#include <string.h>

#define ITEMS 150
#define LENGTH 33

typedef struct numbers {
    double x[ITEMS][LENGTH], y[ITEMS][LENGTH];
    const double *pointers_x[ITEMS];
    double *pointers_y[ITEMS];
    double dots[ITEMS];
    int64_t largest[ITEMS];
} numbers_t;

/* On the device, the arrays of pointers last item first. */
static numbers_t *take_numbers(numbers_t *host) {
    numbers_t *device = gpu_take(sizeof *device);
    memset(host, 0, sizeof *host);
    for (int item = 0; item < ITEMS; ++item) {
        for (int i = 0; i < LENGTH; ++i) {
            host->x[item][i] = (double)jtest_random_between(-9, 9);
            host->y[item][i] = (double)jtest_random_between(-9, 9);
        }
        host->pointers_x[item] = device->x[ITEMS - 1 - item];
        host->pointers_y[item] = device->y[ITEMS - 1 - item];
    }
    gpu_upload(device, host, sizeof *host);
    return device;
}

static void results_are_right(const numbers_t *host, const double *dots, const int64_t *largest,
                              bool from_the_end) {
    for (int item = 0; item < ITEMS && !jtest_has_failure(); ++item) {
        const int which = from_the_end ? ITEMS - 1 - item : item;
        const double *x = host->x[which], *y = host->y[which];
        double dot = 0;
        int64_t place = 0;
        for (int i = 0; i < LENGTH; ++i) {
            dot += x[i] * y[i]; /* of small integers: exact */
            if ((x[i] < 0 ? -x[i] : x[i]) > (x[place] < 0 ? -x[place] : x[place]))
                place = i;
        }
        JSCOPED_TRACE("item %d", item);
        JEXPECT_EQ(dots[item], dot);
        JEXPECT_EQ(largest[item], place + 1);
    }
}

/* Results of more items than a slot of the device holds, in either pointer mode. */
JTEST(GpuBatch, ManyResultsComeInParts) {
    static numbers_t host, got;
    numbers_t *device = take_numbers(&host);
    jhandle_t *handle = gpu_make_handle();
    for (int mode = 0; mode < 2; ++mode) {
        numbers_t *results = mode == 0 ? &got : device;
        JEXPECT_OK(jhandle_set_pointer_mode(handle,
                                            mode == 0 ? JPOINTER_MODE_HOST : JPOINTER_MODE_DEVICE));
        JEXPECT_OK(jblas_ddot_strided_batched(handle, LENGTH, device->x[0], 1, LENGTH, device->y[0],
                                              1, LENGTH, results->dots, ITEMS));
        JEXPECT_OK(jblas_idamax_strided_batched(handle, LENGTH, device->x[0], 1, LENGTH,
                                                results->largest, ITEMS));
        if (mode == 1)
            gpu_download(&got, device, sizeof got);
        results_are_right(&host, got.dots, got.largest, false);
        JEXPECT_OK(jblas_ddot_batched(handle, LENGTH, device->pointers_x, 1,
                                      (const double *const *)device->pointers_y, 1, results->dots,
                                      ITEMS));
        JEXPECT_OK(
            jblas_idamax_batched(handle, LENGTH, device->pointers_x, 1, results->largest, ITEMS));
        if (mode == 1)
            gpu_download(&got, device, sizeof got);
        results_are_right(&host, got.dots, got.largest, true);
    }
    gpu_give(device, sizeof *device);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* However many items there are. */
JTEST(GpuBatch, AllItemsAreOneLaunch) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("a real runtime tells no count");
    static numbers_t host, got;
    const double two = 2, zero = 0;
    numbers_t *device = take_numbers(&host);
    jhandle_t *handle = gpu_make_handle();
    JEXPECT_OK(jblas_daxpy(handle, LENGTH, &zero, device->x[0], 1, device->y[0], 1)); /* loads */
    fake->reset_counts();
    JEXPECT_OK(jblas_daxpy_strided_batched(handle, LENGTH, &two, device->x[0], 1, LENGTH,
                                           device->y[0], 1, LENGTH, ITEMS));
    JEXPECT_EQ(fake->count("LaunchKernel"), 1);
    JEXPECT_OK(jblas_daxpy_batched(handle, LENGTH, &two, device->pointers_x, 1, device->pointers_y,
                                   1, ITEMS));
    JEXPECT_EQ(fake->count("LaunchKernel"), 2);
    /* y = 2 A x + y, where A is the first 4 x 4 of each x, and x what follows. */
    JEXPECT_OK(jblas_dgemv_strided_batched(handle, JBLAS_NO_TRANSPOSE, 4, 4, &two, device->x[0], 4,
                                           LENGTH, device->x[0] + 16, 1, LENGTH, &two, device->y[0],
                                           1, LENGTH, ITEMS));
    JEXPECT_EQ(fake->count("LaunchKernel"), 3);
    JEXPECT_EQ(fake->count_waits(), 0);
    gpu_download(&got, device, sizeof got);
    for (int item = 0; item < ITEMS && !jtest_has_failure(); ++item)
        for (int i = 0; i < LENGTH && !jtest_has_failure(); ++i) {
            double want = host.y[item][i] + 4 * host.x[item][i];
            if (i < 4) {
                want *= 2;
                for (int j = 0; j < 4; ++j)
                    want += 2 * host.x[item][i + 4 * j] * host.x[item][16 + j];
            }
            JSCOPED_TRACE("item %d, element %d", item, i);
            JEXPECT_EQ(got.y[item][i], want);
        }
    gpu_give(device, sizeof *device);
    JEXPECT_OK(jhandle_destroy(handle));
}
