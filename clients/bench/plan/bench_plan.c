/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Predictions beside what is measured, and choices beside all that there are.
 *
 *     bench_plan [ROUNDS [CALLS [PROGRAMS [SEED]]]]
 *
 * First random calls of every routine with rungs, types and sizes as jalloc-tune did not see them,
 * up to 4096 and as far as one call takes no more than some tenth of a second, on each step of
 * their staircases, with one thread and with all. A round is one sample of each of them, between
 * small products (pace.h); there are two runs of ROUNDS rounds. Measured is the quickest sample
 * of both by its pace, as jalloc-tune measures; predicted over it is printed beside predicted over
 * the median that the clock said, and what the machine allows: the quickest of the first run over
 * the one of the second. That is what a prediction reaches that knows the very call by as many
 * measurements. Last of these, predicted over measured without the factor that all calls of one
 * thread, or of all, have in common: a machine of which neighbours take more than when the profile
 * was measured has one. Then where predictions err: families, rungs, types and operands by how many
 * flops a call has.
 *
 * Then random programs of up to eight calls on three handles in two phases, at a quarter, half and
 * three quarters of what they need at best: what jprogram_choose() chose beside the best of all
 * choices, by prediction and by what was measured for each call on each rung. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "../jblas_bench/draw.h"
#include "../jblas_bench/pace.h"
#include "jalloc/profile.h"
#include "jalloc/program.h"

enum { MAX_STEPS = JHANDLE_MAX_RUNGS, MAX_ROUNDS = 40 };

static size_t rounds = 7;   /* of each of two runs */
static double profile_pace; /* 0: there is no profile */

/* ---- One call ---- */

typedef struct call {
    options_t options;
    const routine_t *routine;
    int threads;
    double flops;
    size_t count;
    jrequirement_step_t steps[MAX_STEPS];
    timing_t timings[MAX_STEPS][MAX_ROUNDS];
    double measured[MAX_STEPS]; /* the quickest by its pace, in the profile's seconds */
} call_t;

static bool read_steps(jhandle_t *handle, call_t *call) {
    problem_t problem;
    jrequirement_t *requirement = NULL;
    jrequirement_info_t info = JREQUIREMENT_INFO_INIT;
    problem_describe(&problem, call->routine, &call->options);
    if (jstatus_is_error(jhandle_start_requirement_query(handle)))
        return false;
    (void)call->routine->call(handle, &problem);
    if (jstatus_is_error(jhandle_stop_requirement_query(handle, &requirement)))
        return false;
    (void)jrequirement_get_info(requirement, &info);
    call->count = info.step_count < MAX_STEPS ? info.step_count : MAX_STEPS;
    for (size_t i = 0; i < call->count; i++) {
        call->steps[i] = (jrequirement_step_t)JREQUIREMENT_STEP_INIT;
        (void)jrequirement_get_step(requirement, i, &call->steps[i]);
    }
    (void)jrequirement_destroy(requirement);
    return call->count > 0;
}

/* A round of a call: its steps in turn, each after a call that is not counted. False: no memory,
 * or the call fails. */
static bool measure_steps(jhandle_t *handle, pace_t *pace, call_t *call, size_t round) {
    problem_t problem;
    jstatus_t status = JSTATUS_SUCCESS;
    (void)jhandle_set_threads(handle, call->threads);
    if (!measure_init(&problem, handle, call->routine, &call->options, &status))
        return false;
    for (size_t i = 0; i < call->count && !jstatus_is_error(status); i++) {
        status = measure_lend(handle, call->steps[i].size_bytes);
        (void)measure_sample(handle, &problem, &status);
        call->timings[i][round] = pace_sample(pace, handle, &problem, &status);
    }
    (void)jhandle_set_workspace(handle, NULL, 0);
    problem_fini(&problem);
    return !jstatus_is_error(status);
}

static double median_seconds(const timing_t *timings, size_t count) {
    double sorted[MAX_ROUNDS];
    for (size_t i = 0; i < count; i++)
        sorted[i] = timings[i].seconds;
    return bench_median(sorted, count);
}

static void take_quickest(const pace_t *pace, call_t *call) {
    for (size_t i = 0; i < call->count; i++)
        call->measured[i] = (profile_pace > 0 ? profile_pace : pace->fastest) *
                            pace_ratio(call->timings[i], 2 * rounds);
}

/* NULL: none has rungs. */
static const routine_t *draw_routine(uint64_t *state) {
    size_t count = 0;
    for (const routine_t *routine = routines; routine->name; routine++)
        count += draw_has(routine);
    if (count == 0)
        return NULL;
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    size_t which = (size_t)(*state >> 33) % count;
    for (const routine_t *routine = routines;; routine++)
        if (draw_has(routine) && which-- == 0)
            return routine;
}

/* A random call, of sizes up to `high`. */
static bool draw_any(draw_t *draw, uint64_t *state, jhandle_t *handle, int threads, call_t *call) {
    *call = (call_t){.routine = draw_routine(state), .threads = threads};
    if (call->routine == NULL)
        return false;
    (void)jhandle_set_threads(handle, threads);
    const char *types = call->routine->types;
    const char letter = types[(size_t)(*state >> 20) % strlen(types)];
    const char *found = strchr("sdcz", letter);
    if (found == NULL ||
        !draw_call(draw, handle, call->routine, (jdatatype_t)(found - "sdcz"), &call->options))
        return false;
    call->flops = draw->flops;
    return read_steps(handle, call);
}

/* ---- Predictions ---- */

/* A step of a call: predicted over measured, and one run over the other. */
enum { PACED, CLOCK, AGAIN, CLOCK_AGAIN, WITHOUT_COMMON, RATIOS };
typedef struct record {
    const call_t *call;
    const char *rung;
    double ratios[RATIOS];
} record_t;

typedef struct records {
    record_t *all;
    size_t count;
} records_t;

/* What a record is put with others by. */
typedef const char *key_fn(const record_t *record);

static const char *key_routine(const record_t *record) { return record->call->routine->name; }
static const char *key_rung(const record_t *record) { return record->rung; }
static const char *key_type(const record_t *record) {
    static const char *const names[] = {"s", "d", "c", "z"};
    return names[record->call->options.type];
}
static const char *key_operands(const record_t *record) {
    const options_t *o = &record->call->options;
    const bool has_side = strchr(record->call->routine->shape, 'S') != NULL,
               has_transposition = strchr(record->call->routine->shape, 'A') != NULL;
    if (has_side)
        return o->side == JBLAS_LEFT ? "left" : "right";
    return !has_transposition                ? "of no kind"
           : o->transa == JBLAS_NO_TRANSPOSE ? "A"
                                             : "A transposed";
}
static const char *key_family(const record_t *record) {
    static const struct {
        const char *name, *routines;
    } families[] = {
        {"products", " gemm symm hemm syrk herk syr2k her2k gemmt syrkx herkx skewsymm skewsyr2k "},
        {"triangles", " trmm trsm trtri trtrs lauum "},
        {"Cholesky", " potrf potrs posv potri pocon porfs dsposv "},
        {"LU", " getrf getrs gesv getri gecon gerfs dsgesv "},
        {"symmetric", " sytrf hetrf sytrs hetrs sysv hesv "},
        {"QR", " geqrf orgqr ormqr gelqf orglq ormlq gels geqp3 "}};
    char name[40];
    snprintf(name, sizeof name, " %s ", record->call->routine->name);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strstr(families[i].routines, name) != NULL)
            return families[i].name;
    return "spectra";
}

enum { ONE_THREAD, ALL_THREADS, BOTH, PARTS = BOTH };

/* Which records. */
typedef struct which {
    key_fn *key; /* NULL: all; else those of that name */
    const char *name;
    int part;
    double least_flops, most_flops;
} which_t;

static size_t take(const records_t *records, const which_t *which, int ratio, double *ratios) {
    size_t count = 0;
    for (size_t i = 0; i < records->count; i++) {
        const record_t *record = &records->all[i];
        const call_t *call = record->call;
        if ((which->part == BOTH || (call->threads > 1) == which->part) &&
            (which->key == NULL || strcmp(which->key(record), which->name) == 0) &&
            call->flops >= which->least_flops && call->flops < which->most_flops)
            ratios[count++] = record->ratios[ratio];
    }
    return count;
}

/* Takes out what all have in common: one thread's and all threads' medians become 1. */
static void take_out_common(records_t *records, double *room) {
    for (int part = 0; part < PARTS; part++) {
        const which_t which = {NULL, NULL, part, 0, INFINITY};
        const size_t count = take(records, &which, PACED, room);
        const double common = count > 0 ? bench_median(room, count) : 1;
        for (size_t i = 0; i < records->count; i++)
            if ((records->all[i].call->threads > 1) == part)
                records->all[i].ratios[WITHOUT_COMMON] = records->all[i].ratios[PACED] / common;
    }
}

static double share_within(const double *ratios, size_t count, double bound) {
    size_t within = 0;
    for (size_t i = 0; i < count; i++)
        within += ratios[i] <= 1 + bound && ratios[i] >= 1 / (1 + bound);
    return 100.0 * (double)within / (double)count;
}

/* Of one thread, of all, and of both. `room` has place for all ratios. */
static void print_row(const records_t *records, const char *label, key_fn *key, int ratio,
                      double *room) {
    printf("%-20s", label);
    for (int part = 0; part <= BOTH; part++) {
        const which_t which = {key, label, part, 0, INFINITY};
        const size_t count = take(records, &which, ratio, room);
        if (count > 0)
            printf(" | %5zu %5.0f %5.0f %6.2f", count, share_within(room, count, 0.15),
                   share_within(room, count, 0.30), bench_median(room, count));
        else
            printf(" | %5s %5s %5s %6s", "-", "-", "-", "-");
    }
    putchar('\n');
}

/* The same by how many flops a call has: how many steps, how many of 100 within 15 %, median. */
static void print_classes(const records_t *records, const char *label, key_fn *key, int part,
                          double *room) {
    static const double bounds[] = {0, 1e6, 1e7, 1e8, 4e8, INFINITY};
    printf("%-20s", label);
    for (size_t c = 0; c + 1 < sizeof bounds / sizeof *bounds; c++) {
        const which_t which = {key, label, part, bounds[c], bounds[c + 1]};
        const size_t count = take(records, &which, PACED, room);
        if (count > 0)
            printf(" | %5zu %4.0f %5.2f", count, share_within(room, count, 0.15),
                   bench_median(room, count));
        else
            printf(" | %5s %4s %5s", "-", "-", "-");
    }
    putchar('\n');
}

/* Whether it is the first of its key. */
static bool is_first(const records_t *records, size_t i, key_fn *key) {
    for (size_t before = 0; before < i; before++)
        if (strcmp(key(&records->all[before]), key(&records->all[i])) == 0)
            return false;
    return true;
}

static void print_where(const records_t *records, double *room) {
    static key_fn *const keys[] = {key_family, key_rung, key_type, key_operands};
    static const char *const heads[PARTS] = {"one thread", "all threads"};
    for (int part = 0; part < PARTS; part++) {
        printf("\n%-20s | %-16s | %-16s | %-16s | %-16s | %-16s\n%-20s", heads[part],
               "below 1e6 flops", "below 1e7", "below 1e8", "below 4e8", "more", "");
        for (int c = 0; c < 5; c++)
            fputs(" | steps  15%   med", stdout);
        putchar('\n');
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            for (size_t i = 0; i < records->count; i++)
                if (is_first(records, i, keys[k]))
                    print_classes(records, keys[k](&records->all[i]), keys[k], part, room);
    }
}

static void print_predictions(const records_t *records, double *room) {
    static const char columns[] = " | steps  15 %  30 % median";
    printf("predicted over measured, %% within\n%-20s | %-24s | %-24s | both\n%-20s%s%s%s\n", "",
           "one thread", "all threads", "routine", columns, columns, columns);
    for (size_t i = 0; i < records->count; i++)
        if (is_first(records, i, key_routine))
            print_row(records, key_routine(&records->all[i]), key_routine, PACED, room);
    static const char *const sums[RATIOS] = {"all", "all, by the clock", "measured again",
                                             "again, by the clock", "all over their median"};
    for (int ratio = 0; ratio < RATIOS; ratio++)
        print_row(records, sums[ratio], NULL, ratio, room);
    print_where(records, room);
}

/* Calls that can be measured, with one thread and with all in turn. */
static size_t draw_calls(jhandle_t *handle, int all_threads, size_t wanted, uint64_t seed,
                         call_t *calls) {
    uint64_t state = seed;
    size_t count = 0;
    draw_t draw = {.state = seed * 3 + 1, .low = 16, .high = 4096, .most_flops = 2e9};
    for (size_t i = 0; i < wanted; i++)
        count += draw_any(&draw, &state, handle, i % 2 == 0 ? 1 : all_threads, &calls[count]);
    return count;
}

/* Each round over all of them: what disturbs the machine for a while disturbs one round. A call
 * that fails, or for which there is no memory, has no steps then. */
static void measure_calls(jhandle_t *handle, pace_t *pace, call_t *calls, size_t count) {
    for (size_t round = 0; round < 2 * rounds; round++)
        for (size_t i = 0; i < count; i++)
            if (calls[i].count > 0 && !measure_steps(handle, pace, &calls[i], round))
                calls[i].count = 0;
    for (size_t i = 0; i < count; i++)
        take_quickest(pace, &calls[i]);
}

static void add_records(records_t *records, const call_t *call) {
    for (size_t s = 0; s < call->count; s++) {
        const double predicted = call->steps[s].seconds;
        const timing_t *first = call->timings[s], *second = first + rounds;
        records->all[records->count++] = (record_t){
            call,
            call->steps[s].rung,
            {predicted / call->measured[s], predicted / median_seconds(first, 2 * rounds),
             pace_ratio(first, rounds) / pace_ratio(second, rounds),
             median_seconds(first, rounds) / median_seconds(second, rounds)}};
    }
}

static void compare_predictions(jhandle_t *handle, pace_t *pace, int all_threads, size_t wanted,
                                uint64_t seed) {
    call_t *calls = calloc(wanted + 1, sizeof *calls);
    records_t records = {calloc(MAX_STEPS * wanted + 1, sizeof *records.all), 0};
    double *room = calloc(MAX_STEPS * wanted + 1, sizeof *room);
    if (calls != NULL && records.all != NULL && room != NULL) {
        const size_t count = draw_calls(handle, all_threads, wanted, seed, calls);
        measure_calls(handle, pace, calls, count);
        for (size_t i = 0; i < count; i++)
            add_records(&records, &calls[i]);
        take_out_common(&records, room);
        print_predictions(&records, room);
    }
    free(room);
    free(records.all);
    free(calls);
}

/* ---- Choices ---- */

enum { HANDLES = 3, MOST_CALLS = 8 };

typedef struct trial {
    call_t calls[MOST_CALLS];
    int handle_of[MOST_CALLS], phase_of[MOST_CALLS];
    size_t count;
} trial_t;

/* The least time of all choices that fit, by prediction or by measurement. */
static double exhaustive(const trial_t *trial, size_t budget_bytes, bool measured) {
    size_t step[MOST_CALLS] = {0};
    double best = INFINITY;
    for (;;) {
        size_t share[2][HANDLES] = {{0}}, most = 0;
        double sum = 0;
        for (size_t i = 0; i < trial->count; i++) {
            const call_t *call = &trial->calls[i];
            size_t *of = &share[trial->phase_of[i]][trial->handle_of[i]];
            const size_t bytes = call->steps[step[i]].size_bytes;
            *of = bytes > *of ? bytes : *of;
            sum += measured ? call->measured[step[i]] : call->steps[step[i]].seconds;
        }
        for (int phase = 0; phase < 2; phase++) {
            size_t together = 0;
            for (int h = 0; h < HANDLES; h++)
                together += share[phase][h];
            most = together > most ? together : most;
        }
        if (most <= budget_bytes)
            best = fmin(best, sum);
        size_t next = 0;
        while (next < trial->count && ++step[next] == trial->calls[next].count)
            step[next++] = 0;
        if (next == trial->count)
            return best;
    }
}

static jstatus_t record(jprogram_t *program, jhandle_t *handle, const call_t *call) {
    problem_t problem;
    problem_describe(&problem, call->routine, &call->options);
    jstatus_t status = jprogram_record(program, handle);
    if (jstatus_is_error(status))
        return status;
    const jstatus_t answer = call->routine->call(handle, &problem);
    status = jprogram_stop(program, handle);
    return jstatus_is_error(answer) ? answer : status;
}

/* What was chosen, as it was measured. */
static double chosen_measured(const jprogram_t *program, const trial_t *trial,
                              jhandle_t *const *handles) {
    double sum = 0;
    jprogram_call_t chosen = JPROGRAM_CALL_INIT;
    for (size_t c = 0; jprogram_get_call(program, c, &chosen) == JSTATUS_SUCCESS; c++)
        for (size_t i = 0; i < trial->count; i++) {
            const call_t *call = &trial->calls[i];
            if (chosen.handle != handles[trial->handle_of[i]] ||
                chosen.phase != (size_t)trial->phase_of[i] ||
                strcmp(chosen.call, call->steps[0].call) != 0)
                continue;
            for (size_t s = 0; s < call->count; s++)
                if (call->steps[s].size_bytes == chosen.size_bytes)
                    sum += call->measured[s];
        }
    return sum;
}

static void compare_choices(jhandle_t *handle, pace_t *pace, size_t programs, uint64_t seed) {
    size_t trials = 0, best_predicted = 0, best_measured = 0;
    double worst_predicted = 1, worst_measured = 1;
    uint64_t state = seed + 17;
    draw_t draw = {.state = seed * 5 + 1, .low = 32, .high = 1024, .most_flops = 2e8};
    jhandle_t *handles[HANDLES] = {NULL};
    for (int h = 0; h < HANDLES; h++)
        if (jstatus_is_error(jhandle_create(NULL, &handles[h])) ||
            jstatus_is_error(jhandle_set_threads(handles[h], 1)))
            return;

    for (size_t p = 0; p < programs; p++) {
        static trial_t trial;
        jprogram_t *program = NULL;
        jrequirement_t *requirement = NULL;
        jrequirement_info_t needs = JREQUIREMENT_INFO_INIT;
        trial.count = 0;
        if (jstatus_is_error(jprogram_create(&program)))
            return;
        const size_t wanted = 2 + (size_t)(state >> 40) % (MOST_CALLS - 1);
        int phase = 0;
        for (int attempts = 0; trial.count < wanted && attempts < 100; attempts++) {
            call_t *call = &trial.calls[trial.count];
            if (!draw_any(&draw, &state, handle, 1, call) || !measure_steps(handle, pace, call, 0))
                continue;
            if (phase == 0 && trial.count == wanted / 2) {
                (void)jprogram_begin_phase(program);
                phase = trial.count > 0;
            }
            trial.phase_of[trial.count] = phase;
            trial.handle_of[trial.count] = (int)(state >> 50) % HANDLES;
            if (!jstatus_is_error(record(program, handles[trial.handle_of[trial.count]], call)))
                trial.count++;
        }
        measure_calls(handle, pace, trial.calls, trial.count);
        bool is_measured = true;
        for (size_t i = 0; i < trial.count; i++)
            is_measured = is_measured && trial.calls[i].count > 0;
        (void)jprogram_get_requirement(program, &requirement);
        (void)jrequirement_get_info(requirement, &needs);
        for (size_t quarters = 1; is_measured && quarters <= 3; quarters++) {
            const size_t budget = needs.optimal_bytes / 4 * quarters;
            if (budget < needs.minimal_bytes || jstatus_is_error(jprogram_choose(program, budget)))
                continue;
            jprogram_info_t info = JPROGRAM_INFO_INIT;
            (void)jprogram_get_info(program, &info);
            const double predicted = info.seconds / exhaustive(&trial, budget, false),
                         measured = chosen_measured(program, &trial, handles) /
                                    exhaustive(&trial, budget, true);
            trials++;
            best_predicted += predicted <= 1.03;
            best_measured += measured <= 1.05;
            worst_predicted = fmax(worst_predicted, predicted);
            worst_measured = fmax(worst_measured, measured);
        }
        (void)jrequirement_destroy(requirement);
        (void)jprogram_destroy(program);
    }
    for (int h = 0; h < HANDLES; h++)
        (void)jhandle_destroy(handles[h]);
    printf("\n%zu budgets of %zu programs: within 3 %% of the best prediction %zu (worst %.3f), "
           "within 5 %% of the best measured time %zu (worst %.3f)\n",
           trials, programs, best_predicted, worst_predicted, best_measured, worst_measured);
}

int main(int argc, char **argv) {
    if (argc > 1)
        rounds = strtoul(argv[1], NULL, 10);
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS / 2 ? MAX_ROUNDS / 2 : rounds;
    const size_t calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 400,
                 programs = argc > 3 ? strtoul(argv[3], NULL, 10) : 50;
    const uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    jhandle_t *handle = NULL;
    pace_t pace;
    if (jstatus_is_error(jhandle_create(NULL, &handle)) || !pace_init(&pace)) {
        fprintf(stderr, "bench_plan: %s\n", jstatus_last_message());
        return 1;
    }
    int all_threads = 1;
    (void)jhandle_get_threads(handle, &all_threads);
    jprofile_info_t profile = JPROFILE_INFO_INIT;
    (void)jprofile_get_info(&profile);
    profile_pace = pace_of_profile(profile.path);
    printf("processor %s, profile: %s\n", jprofile_processor(),
           profile.measured ? profile.path : "the library's own");
    compare_predictions(handle, &pace, all_threads < 1 ? 1 : all_threads, calls, seed);
    compare_choices(handle, &pace, programs, seed);
    pace_fini(&pace);
    return jstatus_is_error(jhandle_destroy(handle));
}
