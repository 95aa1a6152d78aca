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

/* measure_sample(), but what it took over what a small product takes just then; *seconds is what it
 * took. */
double pace_sample(pace_t *pace, jhandle_t *handle, problem_t *problem, jstatus_t *status,
                   double *seconds);

/* Seconds of the small product by which a profile was measured; 0: it is none. What is compared
 * with it or added to it is to be of the same: even the fastest differs by a tenth from one hour of
 * a shared machine to the next. */
double pace_of_profile(const char *path);

#endif
