/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "../bench.h"

#define SAMPLE_SECONDS 200e-6       /* ten times bench.h's: the clock is read by several threads */
#define CREW_SAMPLE_SECONDS 2000e-6 /* a crew needs some 50 microseconds to come together */

/* ---- The crew ---- */

/* Threads that stay, as those of a program do, so that what an allocator keeps for a thread stays
 * as well. */
static struct {
    pthread_t thread[MEASURE_MAX_THREADS]; /* the first is the caller's and not entered */
    size_t count;
    pthread_barrier_t barrier;
    void (*work)(job_t *job, size_t repeat, size_t thread); /* NULL: go home */
    job_t *job;
    size_t repeat;
    double begin[MEASURE_MAX_THREADS], end[MEASURE_MAX_THREADS];
} crew;

static void crew_turn(size_t thread) {
    crew.begin[thread] = bench_now();
    crew.work(crew.job, crew.repeat, thread);
    crew.end[thread] = bench_now();
    pthread_barrier_wait(&crew.barrier);
}

static void *crew_member(void *number) {
    for (;;) {
        pthread_barrier_wait(&crew.barrier);
        if (!crew.work)
            return NULL;
        crew_turn((size_t)(uintptr_t)number);
    }
}

/* From the first's beginning to the last's end. */
static double crew_work(void (*work)(job_t *, size_t, size_t), job_t *job, size_t repeat) {
    crew.work = work;
    crew.job = job;
    crew.repeat = repeat;
    pthread_barrier_wait(&crew.barrier);
    crew_turn(0);
    double begin = crew.begin[0], end = crew.end[0];
    for (size_t t = 1; t < crew.count; t++) {
        begin = crew.begin[t] < begin ? crew.begin[t] : begin;
        end = crew.end[t] > end ? crew.end[t] : end;
    }
    return end - begin;
}

bool crew_start(size_t threads) {
    crew.count = 1;
    if (pthread_barrier_init(&crew.barrier, NULL, (unsigned)threads) != 0)
        return false;
    for (; crew.count < threads; crew.count++)
        if (pthread_create(&crew.thread[crew.count], NULL, crew_member,
                           (void *)(uintptr_t)crew.count) != 0)
            return false;
    return true;
}

void crew_stop(void) {
    crew.work = NULL;
    pthread_barrier_wait(&crew.barrier);
    for (size_t t = 1; t < crew.count; t++)
        pthread_join(crew.thread[t], NULL);
    pthread_barrier_destroy(&crew.barrier);
    crew.count = 0;
}

/* ---- Ways to play ---- */

/* Seconds that this thread has had a processor. A script alone never waits, so on a quiet machine
 * they are those of the clock; on a busy one they leave out that others had it, which hits long
 * samples, those of slow contenders, most. */
static double processor_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void play_script(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]) {
    bool good = true;
    double begin = processor_now();
    for (size_t i = 0; i < repeat; i++)
        good &= script_run(job->script[0], job->contender, job->live[0]);
    seconds[0] += processor_now() - begin;
    job->refused |= !good;
}

void play_halves(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]) {
    bool good = true;
    double before = bench_now();
    for (size_t i = 0; i < repeat; i++)
        for (int part = 0; part < MEASURE_PARTS; part++) {
            good &= script_run(job->script[part], job->contender, job->live[0]);
            double now = bench_now();
            seconds[part] += now - before;
            before = now;
        }
    job->refused |= !good;
}

static _Atomic bool crew_refused;

static void crew_play(job_t *job, size_t repeat, size_t thread) {
    bool good = true;
    for (size_t i = 0; i < repeat; i++)
        good &= script_run(job->script[0], job->contender, job->live[thread]);
    if (!good)
        atomic_store(&crew_refused, true);
}

void play_crew(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]) {
    seconds[0] += crew_work(crew_play, job, repeat);
    job->refused |= atomic_exchange(&crew_refused, false);
}

/* A ring between two threads. Each publishes every so many blocks, and waits for the other where
 * the ring is full or empty; what the ring itself costs is a fraction of a nanosecond for each
 * block. */
enum { RING = 1024, BATCH = 64 };

struct handover {
    void *ring[RING];
    _Alignas(64) _Atomic size_t given;
    _Alignas(64) _Atomic size_t taken;
};

static void wait_until(_Atomic size_t *counter, size_t least) {
    for (int spins = 0; atomic_load_explicit(counter, memory_order_acquire) < least; spins++)
        if (spins > 200)
            sched_yield();
}

static inline __attribute__((always_inline)) bool
handover_play_as(job_t *job, size_t repeat, size_t thread, contender_kind_t kind) {
    const contender_call_t call = job->contender->call;
    handover_t *h = job->handover;
    size_t bytes = job->script[0]->events[0].bytes;
    bool good = true;
    for (size_t i = 0; thread < 2 && i < repeat * HANDOVER_BLOCKS; i += BATCH) {
        if (thread == 0) {
            if (i >= RING)
                wait_until(&h->taken, i + BATCH - RING);
            for (size_t k = i; k < i + BATCH; k++)
                good &= (h->ring[k % RING] = contender_allocate(&call, bytes, kind)) != NULL;
            atomic_store_explicit(&h->given, i + BATCH, memory_order_release);
        } else {
            wait_until(&h->given, i + BATCH);
            for (size_t k = i; k < i + BATCH; k++)
                good &= !h->ring[k % RING] ||
                        contender_deallocate(&call, h->ring[k % RING], bytes, kind);
            atomic_store_explicit(&h->taken, i + BATCH, memory_order_release);
        }
    }
    return good;
}

static void handover_play(job_t *job, size_t repeat, size_t thread) {
    if (!CONTENDER_LOOP(job->contender->call.kind, handover_play_as, job, repeat, thread))
        atomic_store(&crew_refused, true);
}

void play_handover(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]) {
    atomic_store(&job->handover->given, 0);
    atomic_store(&job->handover->taken, 0);
    seconds[0] += crew_work(handover_play, job, repeat);
    job->refused |= atomic_exchange(&crew_refused, false);
}

/* ---- Jobs ---- */

static void *needed(void *memory) {
    if (!memory) {
        perror("bench_allocators");
        exit(1);
    }
    return memory;
}

void job_init(job_t *job, contender_t *contender, play_t play, const script_t *first,
              const script_t *second) {
    *job = (job_t){.contender = contender, .script = {first, second}, .play = play};
    job->samples = needed(malloc(BENCH_MAX_SAMPLES * sizeof *job->samples));
    size_t threads = play == play_crew ? crew.count : 1;
    for (size_t t = 0; t < threads; t++)
        job->live[t] = needed(calloc(first->slots, sizeof *job->live[t]));
    if (play == play_handover)
        job->handover = needed(aligned_alloc(_Alignof(handover_t), sizeof *job->handover));
}

void job_fini(job_t *job) {
    for (size_t t = 0; t < MEASURE_MAX_THREADS; t++)
        free(job->live[t]);
    free(job->samples);
    free(job->handover);
}

static void sample(job_t *job, size_t repeat, double seconds[MEASURE_PARTS]) {
    for (int part = 0; part < MEASURE_PARTS; part++)
        seconds[part] = 0;
    job->play(job, repeat, seconds);
}

/* How often a run must be repeated to fill a sample; warms up on the way. */
static void calibrate(job_t *job) {
    double least =
        job->play == play_crew || job->play == play_handover ? CREW_SAMPLE_SECONDS : SAMPLE_SECONDS;
    double seconds[MEASURE_PARTS];
    for (job->repeat = 1;; job->repeat *= 2) {
        sample(job, job->repeat, seconds);
        if (seconds[0] + seconds[1] >= least)
            return;
    }
}

void measure(job_t *jobs, size_t count, double seconds) {
    if (count == 0)
        return;
    for (size_t j = 0; j < count; j++)
        calibrate(&jobs[j]);
    double spent = 0; /* on samples: a busy machine gets no fewer, but takes longer */
    size_t round = 0;
    for (; round < BENCH_MAX_SAMPLES && (round < BENCH_MIN_SAMPLES || spent < seconds); round++)
        for (size_t turn = 0; turn < count; turn++) {
            job_t *job = &jobs[(round + turn) % count];
            double warm[MEASURE_PARTS];
            sample(job, 1, warm);
            sample(job, job->repeat, job->samples[round]);
            for (int part = 0; part < MEASURE_PARTS; part++)
                spent += warm[part] + job->samples[round][part];
        }
    for (size_t j = 0; j < count; j++)
        for (int part = 0; part < MEASURE_PARTS; part++) {
            double values[BENCH_MAX_SAMPLES];
            for (size_t r = 0; r < round; r++)
                values[r] = jobs[j].samples[r][part] / (double)jobs[j].repeat;
            jobs[j].seconds[part] = bench_median(values, round);
        }
}
