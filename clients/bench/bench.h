/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_H
#define BENCH_H

/* Timing for the benchmarks: two ways of doing the same thing, measured side by side.
 *
 * A machine's speed drifts (clock frequency, neighbours), so two ways that are measured one after
 * the other differ even when they are the same. bench_compare() therefore runs them interleaved,
 * ours and the peer's in turn within one process, repeats each until a sample is long enough for
 * the clock, and compares medians, which an interrupted sample does not move.
 *
 *     bench_result_t r = bench_compare(run_ours, &call, run_peer, &call, 0.2);
 *     printf("%9.4f %9.4f %6.2f\n", r.ours * 1e3, r.peer * 1e3, r.ratio);
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_MAX_SAMPLES 401
#define BENCH_MIN_SAMPLES 3 /* of calls that take seconds */
/* A sample is at least this long: a thousand times what reading the clock costs. */
#define BENCH_SAMPLE_SECONDS 20e-6

/* Seconds of the monotonic clock. */
static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes the compiler believe that the memory is read, so that what computes it stays. */
static inline void bench_keep(const void *pointer) {
    __asm__ volatile("" : : "g"(pointer) : "memory");
}

static inline int bench_compare_doubles_(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle value; sorts the samples. */
static inline double bench_median(double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, bench_compare_doubles_);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

/* What is measured: does the work once, and does not depend on what it overwrites, unless
 * bench_renew restores that. */
typedef void (*bench_function_t)(void *context);

typedef struct bench_result {
    double ours;  /* median seconds of one call */
    double peer;  /* median seconds of one call; 0: there was no peer */
    double ratio; /* peer / ours: above 1, ours is faster; 0: there was no peer */
    size_t samples;
} bench_result_t;

/* Called before each sample of that function, and not timed; NULL: nothing is (quiet.h). */
static void (*bench_prepare)(bench_function_t function, void *context);

/* Called before each call, and not timed; NULL: nothing is, and the clock is read once a sample. */
static bench_function_t bench_renew;

static inline void bench_renew_(void *context) {
    if (bench_renew != NULL)
        bench_renew(context);
}

static inline double bench_sample_(bench_function_t function, void *context, size_t repeat) {
    if (bench_prepare != NULL)
        bench_prepare(function, context);
    const size_t at_once = bench_renew == NULL ? repeat : 1;
    double seconds = 0;
    for (size_t done = 0; done < repeat; done += at_once) {
        bench_renew_(context);
        const double start = bench_now();
        for (size_t i = 0; i < at_once; i++)
            function(context);
        seconds += bench_now() - start;
    }
    return seconds / (double)repeat;
}

/* How often a call must be repeated to fill a sample; warms up on the way, once if that is long
 * enough. */
static inline size_t bench_calibrate_(bench_function_t function, void *context) {
    size_t repeat = 1;
    while (bench_sample_(function, context, repeat) * (double)repeat < BENCH_SAMPLE_SECONDS &&
           repeat < (1u << 24))
        repeat *= 2;
    return repeat;
}

/* Runs ours and the peer's in turn for about `seconds` in all. peer may be NULL. */
static inline bench_result_t bench_compare(bench_function_t ours, void *our_context,
                                           bench_function_t peer, void *peer_context,
                                           double seconds) {
    static double our_samples[BENCH_MAX_SAMPLES], peer_samples[BENCH_MAX_SAMPLES];
    size_t our_repeat = bench_calibrate_(ours, our_context);
    size_t peer_repeat = peer ? bench_calibrate_(peer, peer_context) : 0;
    double deadline = bench_now() + seconds;
    size_t count = 0;
    while (count < BENCH_MAX_SAMPLES && (count < BENCH_MIN_SAMPLES || bench_now() < deadline)) {
        our_samples[count] = bench_sample_(ours, our_context, our_repeat);
        peer_samples[count] = peer ? bench_sample_(peer, peer_context, peer_repeat) : 0;
        count++;
    }
    bench_result_t result = {bench_median(our_samples, count), bench_median(peer_samples, count), 0,
                             count};
    result.ratio = peer ? result.peer / result.ours : 0;
    return result;
}

/* Where BENCH_JSON names a file, a comparison is a line of it, of which clients/scripts/figures.py
 * makes a figure: a point of a series, at x, beside a peer that runs certain kernels ("": none). */
static inline void bench_note(const char *series, const char *x, const char *peer,
                              const char *kernels, double ours_s, double peer_s) {
    const char *const path = getenv("BENCH_JSON");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL)
        return;
    fprintf(file,
            "{\"series\":\"%s\",\"x\":\"%s\",\"peer\":\"%s\",\"kernels\":\"%s\",\"ours_s\":%.9g,"
            "\"peer_s\":%.9g}\n",
            series, x, peer, kernels, ours_s, peer_s);
    fclose(file);
}

/* A repeatable stream of numbers in [-1, 1) (Steele, Lea and Flood 2014): columns of a matrix whose
 * order is a power of two have nothing in common, as they have with a linear congruence. */
static inline double bench_random(uint64_t *state) {
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-52 - 1.0;
}

#endif
