/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One problem, everybody in turn.
 *
 *     round 1:  ours | peer A | peer B      ratios  A / ours, B / ours
 *     round 2:  peer A | peer B | ours              ...
 *     ...                                   their medians
 *
 * A slice is some milliseconds of calls. Who begins changes from round to round. With several
 * threads each begins as quiet.h says.
 *
 * A slice in which the system gave a processor to another program is measured again, some times;
 * the shortest counts. Where most were disturbed even so the line is marked.
 *
 * Ours has its workspace before it is timed, as a caller has who asks for the size: nothing is
 * allocated meanwhile. A lower rung is measured by a second handle that has less. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../quiet.h"
#include "bench_product.h"

#define SLICE_SECONDS 2e-3
#define UNDISTURBED_SECONDS 10e-3 /* no busy machine leaves a longer slice alone */
/* That is waited for others to sleep, at most. */
#define QUIET_SECONDS 0.25
#define QUIET_QUICK_SECONDS 1e-3

enum {
    MIN_ROUNDS = 7,
    MIN_QUICK_ROUNDS = 3,
    MAX_ROUNDS = 101,
    MAX_TRIES = 4,
    MAX_REPEAT = 1 << 22
};

int threads_in_use = 1;

/* ---- Threads ---- */

void set_threads(int threads) {
    threads_in_use = threads;
    for (size_t i = 0; i < peer_count; i++)
        peer_set_threads(&peers[i], threads);
    /* Where jblas is over a CBLAS that it is linked to, it computes on that one's threads. */
    void *function = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (function != NULL)
        ((void (*)(int))(uintptr_t)function)(threads);
}

jstatus_t our_handle(jhandle_t **handle) {
    jhandle_options_t handle_options = JHANDLE_OPTIONS_INIT;
    handle_options.threads = threads_in_use;
    return jhandle_create(&handle_options, handle);
}

static void wait_for_quiet(void) {
    if (threads_in_use > 1)
        bench_wait_for_quiet(options.quick ? QUIET_QUICK_SECONDS : QUIET_SECONDS);
}

/* ---- Contenders ---- */

typedef struct contender {
    jhandle_t *handle; /* ours; NULL: a peer's */
    void *function;
    bool is_openblas, present;
    size_t repeat; /* calls of a slice */
    size_t slices, disturbed;
    double shortest; /* of all calls' */
    double samples[MAX_ROUNDS];
    jstatus_t status;
} contender_t;

static void run(contender_t *c, const problem_t *p, size_t repeat) {
    if (c->handle == NULL)
        p->routine->theirs(c->function, p, repeat);
    else {
        jstatus_t status = p->routine->ours(c->handle, p, repeat);
        if (jstatus_is_error(status))
            c->status = status;
    }
}

/* How often the threads that count were taken off a processor that they could have used on. */
static long interruptions(void) {
    struct rusage usage;
    return getrusage(threads_in_use == 1 ? RUSAGE_THREAD : RUSAGE_SELF, &usage) == 0
               ? usage.ru_nivcsw
               : 0;
}

static double slice_once(contender_t *c, const problem_t *p, bool *disturbed) {
    wait_for_quiet();
    if (c->repeat > 1)
        run(c, p, 1);
    long before = interruptions();
    double start = bench_now();
    run(c, p, c->repeat);
    double seconds = (bench_now() - start) / (double)c->repeat;
    *disturbed = interruptions() != before;
    return seconds;
}

static double slice(contender_t *c, const problem_t *p) {
    bool disturbed = true;
    double least = HUGE_VAL;
    for (int i = 0; disturbed && i < MAX_TRIES; i++) {
        least = fmin(least, slice_once(c, p, &disturbed));
        c->shortest = fmin(c->shortest, least);
        if (c->shortest * (double)c->repeat > UNDISTURBED_SECONDS)
            break;
    }
    c->slices++;
    c->disturbed += disturbed;
    return least;
}

/* How many calls fill a slice; warms up on the way. The shorter of two counts, as a first call has
 * to fetch its code, and the number is tried before it is believed. */
static void calibrate(contender_t *c, const problem_t *p) {
    const double seconds = options.quick ? SLICE_SECONDS / 20 : SLICE_SECONDS;
    for (c->repeat = 1; c->repeat < MAX_REPEAT;) {
        c->shortest = HUGE_VAL; /* of more calls in a row it is another */
        double taken = slice(c, p) * (double)c->repeat;
        if (taken < 2 * UNDISTURBED_SECONDS)
            taken = fmin(taken, slice(c, p) * (double)c->repeat);
        if (taken >= seconds / 2)
            return;
        double factor = seconds / fmax(taken, seconds / 64);
        c->repeat = (size_t)((double)c->repeat * fmax(factor, 2));
    }
}

/* ---- Workspace ---- */

static bool good(jstatus_t status, const char *doing) {
    if (!jstatus_is_error(status))
        return true;
    fprintf(stderr, "bench_product: %s: %s: %s\n", doing, jstatus_text(status),
            jstatus_last_message());
    return false;
}

static bool workspace_wanted(jhandle_t *handle, const problem_t *p, size_t *bytes) {
    return good(jhandle_start_size_query(handle), "size query") &&
           good(p->routine->ours(handle, p, 1), "size query") &&
           good(jhandle_stop_size_query(handle, bytes), "size query");
}

/* The rung that a call takes with so many bytes; -1: it fails. */
static int rung_with(jhandle_t *handle, problem_t *p, size_t bytes) {
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    problem_restore(p);
    if (!good(jhandle_set_fixed_workspace_size(handle, bytes), "workspace") ||
        !good(jhandle_clear_stats(handle), "statistics") ||
        !good(p->routine->ours(handle, p, 1), p->routine->name) ||
        !good(jhandle_get_stats(handle, &stats), "statistics"))
        return -1;
    for (int rung = 0; rung < JHANDLE_MAX_RUNGS; rung++)
        if (stats.rung_count[rung] > 0)
            return rung;
    return 0; /* a routine without a plan */
}

/* Gives the handle what makes it take options.rung, found by halving. False: nothing does. */
static bool lower_to_rung(jhandle_t *handle, problem_t *p, size_t most) {
    size_t too_little = 0, enough = most; /* for that rung, or one above it */
    if (rung_with(handle, p, 0) == options.rung)
        return true;
    while (enough - too_little > 64) {
        size_t middle = too_little + (enough - too_little) / 2;
        if (rung_with(handle, p, middle) <= options.rung)
            enough = middle;
        else
            too_little = middle;
    }
    return rung_with(handle, p, enough) == options.rung;
}

/* ours and, where a lower rung is wanted, the same with all it asks for. The number of contenders;
 * 0: it failed; 1 with no function for the rung: `absent`. */
static size_t our_contenders(contender_t *contenders, problem_t *p, int *rung, bool *absent) {
    size_t bytes = 0;
    contender_t *ours = &contenders[0], *best = &contenders[1];
    if (!good(our_handle(&ours->handle), "handle") || !workspace_wanted(ours->handle, p, &bytes))
        return 0;
    ours->present = true;
    bool limits = options.rung >= 0 || options.workspace_bytes != SIZE_MAX;
    if (options.rung >= 0)
        *absent = !lower_to_rung(ours->handle, p, bytes);
    size_t given = bytes < options.workspace_bytes ? bytes : options.workspace_bytes;
    *rung = options.rung >= 0 ? options.rung : rung_with(ours->handle, p, given);
    if (!limits)
        return *rung >= 0;

    if (!good(our_handle(&best->handle), "handle") || rung_with(best->handle, p, bytes) < 0)
        return 0;
    best->present = true;
    return *rung >= 0 ? 2 : 0;
}

static size_t peers_as_contenders(contender_t *contenders, size_t count, const problem_t *p) {
    const char *symbol = p->routine->symbol[type_index(p->type)];
    for (size_t i = 0; i < peer_count; i++) {
        contender_t *c = &contenders[count++];
        c->function = peer_function(&peers[i], symbol);
        c->present = c->function != NULL;
        c->is_openblas = peers[i].is_openblas;
    }
    return count;
}

/* ---- The contest ---- */

/* Everybody once, on the same operands. */
static bool all_agree(contender_t *contenders, size_t count, problem_t *p, const char *what) {
    void *ours = malloc(problem_result_bytes(p));
    if (ours == NULL)
        return false;
    bool agree = true;
    for (size_t i = 0; i < count; i++) {
        if (!contenders[i].present)
            continue;
        problem_restore(p);
        run(&contenders[i], p, 1);
        if (i == 0)
            memcpy(ours, p->c, problem_result_bytes(p));
        else if (!problem_agrees(p, ours)) {
            fprintf(stderr, "bench_product: %s: ours and contender %zu have other results\n", what,
                    i);
            agree = false;
        }
    }
    free(ours);
    problem_restore(p);
    return agree;
}

static size_t measure(contender_t *contenders, size_t count, problem_t *p) {
    for (size_t i = 0; i < count; i++)
        if (contenders[i].present)
            calibrate(&contenders[i], p);
    size_t rounds = 0, least = options.quick ? MIN_QUICK_ROUNDS : MIN_ROUNDS;
    double deadline = bench_now() + options.seconds;
    for (; rounds < MAX_ROUNDS && (rounds < least || bench_now() < deadline); rounds++)
        for (size_t i = 0; i < count; i++) {
            contender_t *c = &contenders[(rounds + i) % count];
            if (c->present)
                c->samples[rounds] = slice(c, p);
        }
    return rounds;
}

static void compare(contender_t *contenders, size_t count, size_t rounds, figures_t *figures) {
    double ratios[MAX_ROUNDS];
    size_t slices = 0, disturbed = 0;
    for (size_t i = 0; i < count; i++)
        slices += contenders[i].slices, disturbed += contenders[i].disturbed;
    figures->disturbed = 2 * disturbed > slices;
    figures->contenders = count - 1;
    for (size_t i = 1; i < count; i++) {
        for (size_t r = 0; r < rounds && contenders[i].present; r++)
            ratios[r] = contenders[i].samples[r] / contenders[0].samples[r];
        figures->ratio[i - 1] = contenders[i].present ? bench_median(ratios, rounds) : 0;
        figures->is_openblas[i - 1] = contenders[i].is_openblas;
    }
    figures->ours = bench_median(contenders[0].samples, rounds);
}

bool contest(problem_t *p, const char *group) {
    static contender_t contenders[MAX_CONTENDERS + 1];
    char what[96];
    figures_t figures = {.rung = 0};
    bool absent = false, success = false;
    memset(contenders, 0, sizeof contenders);
    problem_describe(p, what, sizeof what);
    if (!problem_make(p)) {
        fprintf(stderr, "bench_product: no memory for %s\n", what);
        return false;
    }

    size_t count = our_contenders(contenders, p, &figures.rung, &absent);
    if (count > 0 && absent)
        success = true; /* the routine has no such rung */
    else if (count > 0) {
        if (count == 1)
            count = peers_as_contenders(contenders, count, p);
        figures.differs = !all_agree(contenders, count, p, what);
        compare(contenders, count, measure(contenders, count, p), &figures);
        figures.flops = problem_flops(p);
        report_add(group, what, &figures);
        success = !figures.differs && good(contenders[0].status, what);
    }
    for (size_t i = 0; i < 2; i++)
        if (contenders[i].handle != NULL)
            success &= good(jhandle_destroy(contenders[i].handle), "handle");
    problem_free(p);
    return success;
}
