/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Many threads at once, each with a handle, a workspace and matrices of its own, all multiplying
 * small matrices; beside the same threads calling somebody else's library. What counts is how many
 * products they finish together.
 *
 * The threads stay from the first slice to the last. A slice begins at a barrier, ends when a flag
 * is raised, and its time is what passes until the last thread has finished the product that it
 * was in. */

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench.h"
#include "bench_product.h"

#define SLICE_SECONDS 0.05

enum { ROUNDS = 9, QUICK_ROUNDS = 3, BATCH = 4 };

/* From when a thread was at work to when. */
typedef struct span {
    double begin, end;
} span_t;

typedef struct crew {
    pthread_barrier_t start, end;
    atomic_bool stops; /* the slice */
    bool leaves;       /* the crew; read after the start */
    const problem_t *like;
    void *function; /* of the peer whose turn it is; NULL: ours */
    atomic_size_t products, failures;
    span_t *spans; /* of each thread in the slice */
    atomic_size_t joined;
} crew_t;

static void work(crew_t *crew, jhandle_t *handle, const problem_t *p, span_t *span) {
    size_t products = 0;
    span->begin = bench_now();
    while (!atomic_load_explicit(&crew->stops, memory_order_relaxed)) {
        if (crew->function != NULL)
            p->routine->theirs(crew->function, p, BATCH);
        else if (jstatus_is_error(p->routine->ours(handle, p, BATCH)))
            atomic_fetch_add(&crew->failures, 1);
        products += BATCH;
    }
    span->end = bench_now();
    atomic_fetch_add(&crew->products, products);
}

/* A handle whose workspace is what the product asks for. */
static jhandle_t *handle_for(const problem_t *p) {
    jhandle_t *handle = NULL;
    size_t bytes = 0;
    if (jstatus_is_error(our_handle(&handle)))
        return NULL;
    if (!jstatus_is_error(jhandle_start_size_query(handle)) &&
        !jstatus_is_error(p->routine->ours(handle, p, 1)) &&
        !jstatus_is_error(jhandle_stop_size_query(handle, &bytes)) &&
        !jstatus_is_error(jhandle_set_fixed_workspace_size(handle, bytes)))
        return handle;
    (void)jhandle_destroy(handle);
    return NULL;
}

static void *worker(void *argument) {
    crew_t *crew = argument;
    problem_t own = *crew->like;
    span_t *span = &crew->spans[atomic_fetch_add(&crew->joined, 1)];
    bool made = problem_make(&own);
    jhandle_t *handle = made ? handle_for(&own) : NULL;
    if (handle == NULL)
        atomic_fetch_add(&crew->failures, 1);

    for (;;) {
        pthread_barrier_wait(&crew->start);
        if (crew->leaves)
            break;
        if (handle != NULL)
            work(crew, handle, &own, span);
        pthread_barrier_wait(&crew->end);
    }
    if (handle != NULL && jstatus_is_error(jhandle_destroy(handle)))
        atomic_fetch_add(&crew->failures, 1);
    if (made)
        problem_free(&own);
    return NULL;
}

/* Seconds of a product, all threads' counted, from when the first began to when the last ended. */
static double slice(crew_t *crew, void *function) {
    crew->function = function;
    atomic_store(&crew->products, 0);
    atomic_store(&crew->stops, false);
    pthread_barrier_wait(&crew->start);
    usleep((useconds_t)(1e6 * (options.quick ? SLICE_SECONDS / 10 : SLICE_SECONDS)));
    atomic_store(&crew->stops, true);
    pthread_barrier_wait(&crew->end);
    span_t whole = crew->spans[0];
    for (int i = 1; i < options.handles; i++) {
        whole.begin = fmin(whole.begin, crew->spans[i].begin);
        whole.end = fmax(whole.end, crew->spans[i].end);
    }
    size_t products = atomic_load(&crew->products);
    return (whole.end - whole.begin) / (double)(products > 0 ? products : 1);
}

static void rounds_of(crew_t *crew, figures_t *figures) {
    static double ours[ROUNDS], ratios[MAX_PEERS][ROUNDS];
    const char *symbol = crew->like->routine->symbol[type_index(crew->like->type)];
    const size_t rounds = options.quick ? QUICK_ROUNDS : ROUNDS;
    for (size_t r = 0; r < rounds; r++) {
        ours[r] = slice(crew, NULL);
        for (size_t i = 0; i < peer_count; i++) {
            void *function = peer_function(&peers[i], symbol);
            ratios[i][r] = function != NULL ? slice(crew, function) / ours[r] : 0;
        }
    }
    figures->ours = bench_median(ours, rounds);
    figures->flops = problem_flops(crew->like);
    figures->contenders = peer_count;
    for (size_t i = 0; i < peer_count; i++) {
        figures->ratio[i] = bench_median(ratios[i], rounds);
        figures->is_openblas[i] = peers[i].is_openblas;
    }
}

static bool all_at_once(const problem_t *like, const char *group) {
    crew_t crew = {.like = like};
    const size_t count = (size_t)options.handles;
    pthread_t *threads = calloc(count, sizeof *threads);
    crew.spans = calloc(count, sizeof *crew.spans);
    if (threads == NULL || crew.spans == NULL ||
        pthread_barrier_init(&crew.start, NULL, (unsigned)count + 1) != 0 ||
        pthread_barrier_init(&crew.end, NULL, (unsigned)count + 1) != 0) {
        free(threads), free(crew.spans);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, worker, &crew) != 0) {
            fprintf(stderr, "bench_product: %zu threads cannot be had\n", count);
            exit(1); /* those that are there wait for the rest */
        }

    figures_t figures = {.rung = 0};
    char what[96], text[64];
    rounds_of(&crew, &figures);
    problem_describe(like, text, sizeof text);
    snprintf(what, sizeof what, "%s, %zu handles", text, count);
    report_add(group, what, &figures);

    crew.leaves = true;
    pthread_barrier_wait(&crew.start);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crew.start), pthread_barrier_destroy(&crew.end);
    free(threads), free(crew.spans);
    if (atomic_load(&crew.failures) > 0)
        fprintf(stderr, "bench_product: %s: %zu calls failed\n", what, atomic_load(&crew.failures));
    return atomic_load(&crew.failures) == 0;
}

bool run_handles(int threads) {
    static const int64_t orders[] = {32, 64, 96, 128};
    bool good = true;
    set_threads(threads);
    for (const char *type = options.types; *type != '\0'; type++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            problem_t p = {.routine = &routine_gemm,
                           .type = *type,
                           .transa = JBLAS_NO_TRANSPOSE,
                           .transb = JBLAS_NO_TRANSPOSE,
                           .m = orders[i],
                           .n = orders[i],
                           .k = orders[i]};
            good &= all_at_once(&p, orders[i] == 64 ? "handles" : "handles, other");
        }
    return good;
}
