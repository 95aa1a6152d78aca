/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef MEASURE_H
#define MEASURE_H

/* Interleaved medians of many: as bench_compare() does it for two. In each round every contender
 * has one sample, another one first each time; each runs once untimed before, so that it does not
 * pay for what the one before it has left in the caches. What is compared are medians. */

#include <stdbool.h>
#include <stddef.h>

#include "contender.h"
#include "script.h"

enum { MEASURE_PARTS = 2, MEASURE_MAX_THREADS = 16 };

typedef struct handover handover_t;
typedef struct job job_t;

/* Does the job's work `repeat` times and adds the seconds that each part took. */
typedef void (*play_t)(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]);

/* One contender at one workload. */
struct job {
    contender_t *contender;
    const script_t *script[MEASURE_PARTS]; /* the second: for play_halves alone */
    play_t play;
    void **live[MEASURE_MAX_THREADS]; /* of each thread, by slot */
    handover_t *handover;
    bool refused;                  /* something was, once */
    double seconds[MEASURE_PARTS]; /* result: median of one run */
    size_t repeat;                 /* so that a sample is long enough */
    double (*samples)[MEASURE_PARTS];
};

void play_script(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]);
/* The first script, then the second, a part each. */
void play_halves(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]);
/* Every thread of the crew plays the script on its own blocks; seconds from the first's beginning
 * to the last's end. */
void play_crew(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]);
/* One thread allocates HANDOVER_BLOCKS of the size that the script begins with, another frees
 * them. */
void play_handover(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]);
enum { HANDOVER_BLOCKS = 4096 };

/* Starts as many threads as the jobs to come have, the caller being one of them; at most
 * MEASURE_MAX_THREADS. */
bool crew_start(size_t threads);
void crew_stop(void);

/* Makes ready what play needs. */
void job_init(job_t *job, contender_t *contender, play_t play, const script_t *first,
              const script_t *second);
void job_fini(job_t *job);

/* Runs the jobs in turn for about `seconds` in all. */
void measure(job_t *jobs, size_t count, double seconds);

#endif
