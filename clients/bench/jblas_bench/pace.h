/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_PACE_H
#define JBLAS_BENCH_PACE_H

/* Seconds of a machine that is shared, for what is compared over minutes: jalloc-tune and
 * bench_plan. */

#include "measure.h"

typedef struct pace {
    jhandle_t *handle; /* of the small products; not the measured calls' */
    double fastest;    /* seconds of one of them, the least so far */
} pace_t;

/* False: no memory. */
bool pace_init(pace_t *pace);
void pace_fini(pace_t *pace);

/* What a call took, and what a small product took just then. */
typedef struct timing {
    double seconds, product;
} timing_t;

/* measure_sample() between small products. */
timing_t pace_sample(pace_t *pace, jhandle_t *handle, problem_t *problem, jstatus_t *status);

/* Of timings of one call, none of which is of 0 seconds, what it took over what the product took:
 * of the quickest, the one that was disturbed least. */
double pace_ratio(const timing_t *timings, size_t count);

/* Seconds of the small product by which a profile was measured; 0: it is none. What is compared
 * with it or added to it is to be of the same: even the fastest differs by a tenth from one hour of
 * a shared machine to the next. */
double pace_of_profile(const char *path);

#endif
