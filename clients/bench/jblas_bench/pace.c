/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where other virtual machines compute on the same cores, these are up to half as fast again from
 * one tenth of a second to the next: the same call, measured twice with minutes between, agrees
 * within 15 % in less than half of all cases, whatever median is taken at once. So before and after
 * each sample a small product is timed that lies in the first cache. What the sample took over what
 * the product took depends less on the neighbours (on a Zen 3, one thread: 73 % within 15 %
 * instead of 42), and times the least that the product ever took it is the sample's time on a
 * machine of one's own. Not quite: beside a busy neighbour calls take 1.5 times as long and the
 * product 1.35 times. So a call is timed several times, seconds apart, and its quickest timing is
 * what counts: on an Emerald Rapids, one thread, the quickest of two and of three others agree
 * within 15 % in 84 %, their medians in 80, single ones in 71. */

#include "pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

enum { N = 64, TIMES = 6 };

static double matrices[3][N * N]; /* zeroes are as fast as other numbers */

bool pace_init(pace_t *pace) {
    *pace = (pace_t){.fastest = 1};
    return !jstatus_is_error(jhandle_create(NULL, &pace->handle)) &&
           !jstatus_is_error(jhandle_set_threads(pace->handle, 1));
}

void pace_fini(pace_t *pace) { (void)jhandle_destroy(pace->handle); }

static void time_products(const pace_t *pace, double seconds[TIMES]) {
    const double one = 1, zero = 0;
    for (int i = 0; i < TIMES; i++) {
        const double start = bench_now();
        (void)jblas_dgemm(pace->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one,
                          matrices[0], N, matrices[1], N, &zero, matrices[2], N);
        seconds[i] = bench_now() - start;
    }
}

timing_t pace_sample(pace_t *pace, jhandle_t *handle, problem_t *problem, jstatus_t *status) {
    double products[2 * TIMES];
    time_products(pace, products);
    const double seconds = measure_sample(handle, problem, status);
    time_products(pace, products + TIMES);
    const timing_t timing = {seconds, bench_median(products, 2 * TIMES)};
    pace->fastest = timing.product < pace->fastest ? timing.product : pace->fastest;
    return timing;
}

double pace_ratio(const timing_t *timings, size_t count) {
    const timing_t *quickest = timings;
    for (size_t i = 1; i < count; i++)
        quickest = timings[i].seconds < quickest->seconds ? &timings[i] : quickest;
    return quickest->seconds / quickest->product;
}

double pace_of_profile(const char *path) {
    FILE *file = fopen(path, "re");
    char line[256];
    double seconds = 0;
    while (file != NULL && seconds == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "pace\t", 5) == 0)
            seconds = strtod(line + 5, NULL);
    if (file != NULL)
        (void)fclose(file);
    return seconds;
}
