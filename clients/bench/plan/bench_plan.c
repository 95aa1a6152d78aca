/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Predictions beside what is measured, and choices beside all that there are.
 *
 *     bench_plan [ROUNDS [CALLS [PROGRAMS [SEED]]]]
 *
 * First random calls of every routine with rungs, types and sizes as jalloc-tune did not see them,
 * up to 4096 and as far as one call takes no more than some tenth of a second, on each step of
 * their staircases, with one thread and with all: predicted over measured, the median of ROUNDS
 * over all of them, each by the pace of the machine (pace.h), and as the clock has it. Beside it,
 * what the machine allows: the first half of the rounds over the second, by the pace and by the
 * clock. That is what a prediction reaches that knows the very call by as many measurements.
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

enum { MAX_STEPS = JHANDLE_MAX_RUNGS, MAX_FAMILIES = 80, MAX_RATIOS = 4000, MAX_ROUNDS = 32 };

static size_t rounds = 8;
static double profile_pace; /* 0: there is no profile */

/* ---- One call ---- */

typedef struct call {
    options_t options;
    const routine_t *routine;
    size_t count;
    jrequirement_step_t steps[MAX_STEPS];
    double paced[MAX_STEPS][MAX_ROUNDS], seconds[MAX_STEPS][MAX_ROUNDS];
    double measured[MAX_STEPS]; /* their medians by the pace, in the profile's seconds */
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

/* Some rounds, the steps in turn, each after a call that is not counted. False: no memory, or the
 * call fails. */
static bool measure_steps(jhandle_t *handle, pace_t *pace, call_t *call, size_t first,
                          size_t count) {
    problem_t problem;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!measure_init(&problem, handle, call->routine, &call->options, &status))
        return false;
    for (size_t round = first; round < first + count; round++)
        for (size_t i = 0; i < call->count && !jstatus_is_error(status); i++) {
            status = measure_lend(handle, call->steps[i].size_bytes);
            (void)measure_sample(handle, &problem, &status);
            call->paced[i][round] =
                pace_sample(pace, handle, &problem, &status, &call->seconds[i][round]);
        }
    (void)jhandle_set_workspace(handle, NULL, 0);
    problem_fini(&problem);
    return !jstatus_is_error(status);
}

static double median_of(const double *samples, size_t count) {
    double sorted[MAX_ROUNDS];
    memcpy(sorted, samples, count * sizeof *samples);
    return bench_median(sorted, count);
}

/* Of all rounds. */
static void take_medians(const pace_t *pace, call_t *call) {
    for (size_t i = 0; i < call->count; i++)
        call->measured[i] =
            (profile_pace > 0 ? profile_pace : pace->fastest) * median_of(call->paced[i], rounds);
}

static const routine_t *draw_routine(uint64_t *state) {
    size_t count = 0;
    for (const routine_t *routine = routines; routine->name; routine++)
        count += draw_has(routine);
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    size_t which = (size_t)(*state >> 33) % count;
    for (const routine_t *routine = routines;; routine++)
        if (draw_has(routine) && which-- == 0)
            return routine;
}

/* A random call, of sizes up to `high`. */
static bool draw_any(draw_t *draw, uint64_t *state, jhandle_t *handle, call_t *call) {
    call->routine = draw_routine(state);
    const char *types = call->routine->types;
    const char letter = types[(size_t)(*state >> 20) % strlen(types)];
    const char *found = strchr("sdcz", letter);
    return found != NULL &&
           draw_call(draw, handle, call->routine, (jdatatype_t)(found - "sdcz"), &call->options) &&
           read_steps(handle, call);
}

/* ---- Predictions ---- */

/* Ratios with one thread, and with all. */
typedef struct family {
    const char *name;
    struct {
        size_t count;
        double ratios[MAX_RATIOS];
    } with[2];
} family_t;

/* A call of the first part. */
typedef struct drawn {
    call_t call;
    int threads;
    bool failed;
} drawn_t;

static void add_ratio(family_t *family, int threads, double ratio) {
    const int with = threads > 1;
    if (family->with[with].count < MAX_RATIOS)
        family->with[with].ratios[family->with[with].count++] = ratio;
}

static double share_within(const double *ratios, size_t count, double bound) {
    size_t within = 0;
    for (size_t i = 0; i < count; i++)
        within += ratios[i] <= 1 + bound && ratios[i] >= 1 / (1 + bound);
    return 100.0 * (double)within / (double)count;
}

static void print_ratios(double *ratios, size_t count) {
    if (count > 0)
        printf(" | %5zu %5.0f %5.0f %6.2f", count, share_within(ratios, count, 0.15),
               share_within(ratios, count, 0.30), bench_median(ratios, count));
    else
        printf(" | %5s %5s %5s %6s", "-", "-", "-", "-");
}

/* With one thread, with all, and both together. */
static void print_family(family_t *family) {
    static double both[2 * MAX_RATIOS];
    size_t count = 0;
    printf("%-20s", family->name);
    for (int with = 0; with < 2; with++) {
        const size_t more = family->with[with].count;
        memcpy(both + count, family->with[with].ratios, more * sizeof *both);
        count += more;
        print_ratios(family->with[with].ratios, more);
    }
    print_ratios(both, count);
    putchar('\n');
}

/* Calls that can be measured, with one thread and with all in turn. */
static size_t draw_calls(jhandle_t *handle, int all_threads, size_t wanted, uint64_t seed,
                         drawn_t *drawn) {
    uint64_t state = seed;
    size_t count = 0;
    draw_t draw = {.state = seed * 3 + 1, .low = 16, .high = 4096, .most_flops = 2e9};
    for (size_t i = 0; i < wanted; i++) {
        drawn_t *next = &drawn[count];
        *next = (drawn_t){.threads = i % 2 == 0 ? 1 : all_threads};
        (void)jhandle_set_threads(handle, next->threads);
        count += draw_any(&draw, &state, handle, &next->call);
    }
    return count;
}

/* Each round over all of them: what disturbs the machine for a while disturbs one round. */
static void measure_calls(jhandle_t *handle, pace_t *pace, drawn_t *drawn, size_t count) {
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            (void)jhandle_set_threads(handle, drawn[i].threads);
            if (!drawn[i].failed)
                drawn[i].failed = !measure_steps(handle, pace, &drawn[i].call, round, 1);
        }
    for (size_t i = 0; i < count; i++)
        if (!drawn[i].failed)
            take_medians(pace, &drawn[i].call);
}

static family_t *family_of(family_t *families, const char *name) {
    for (size_t i = 0; i + 1 < MAX_FAMILIES; i++) {
        families[i].name = families[i].name != NULL ? families[i].name : name;
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    }
    return &families[MAX_FAMILIES - 1]; /* whose name stays NULL */
}

static void compare_predictions(jhandle_t *handle, pace_t *pace, int all_threads, size_t calls,
                                uint64_t seed) {
    static family_t families[MAX_FAMILIES],
        all = {.name = "all"}, all_clock = {.name = "all, by the clock"},
        again = {.name = "measured again"}, again_clock = {.name = "again, by the clock"};
    drawn_t *drawn = calloc(calls + 1, sizeof *drawn);
    if (drawn == NULL)
        return;
    const size_t count = draw_calls(handle, all_threads, calls, seed, drawn), half = rounds / 2;
    measure_calls(handle, pace, drawn, count);
    for (size_t i = 0; i < count; i++) {
        const call_t *call = &drawn[i].call;
        for (size_t s = 0; s < call->count && !drawn[i].failed; s++) {
            const double predicted = call->steps[s].seconds, ratio = predicted / call->measured[s];
            const int threads = drawn[i].threads;
            add_ratio(family_of(families, call->routine->name), threads, ratio);
            add_ratio(&all, threads, ratio);
            add_ratio(&all_clock, threads, predicted / median_of(call->seconds[s], rounds));
            add_ratio(&again, threads,
                      median_of(call->paced[s], half) /
                          median_of(call->paced[s] + half, rounds - half));
            add_ratio(&again_clock, threads,
                      median_of(call->seconds[s], half) /
                          median_of(call->seconds[s] + half, rounds - half));
        }
    }
    free(drawn);
    static const char columns[] = " | rungs  15 %  30 % median";
    printf("predicted over measured, %% within\n%-20s | %-24s | %-24s | both\n%-20s%s%s%s\n", "",
           "one thread", "all threads", "routine", columns, columns, columns);
    for (family_t *family = families; family->name != NULL; family++)
        print_family(family);
    family_t *const sums[] = {&all, &all_clock, &again, &again_clock};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        print_family(sums[i]);
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
    (void)jhandle_set_threads(handle, 1);

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
            if (!draw_any(&draw, &state, handle, call) ||
                !measure_steps(handle, pace, call, 0, rounds))
                continue;
            take_medians(pace, call);
            if (phase == 0 && trial.count == wanted / 2) {
                (void)jprogram_begin_phase(program);
                phase = trial.count > 0;
            }
            trial.phase_of[trial.count] = phase;
            trial.handle_of[trial.count] = (int)(state >> 50) % HANDLES;
            if (!jstatus_is_error(record(program, handles[trial.handle_of[trial.count]], call)))
                trial.count++;
        }
        (void)jprogram_get_requirement(program, &requirement);
        (void)jrequirement_get_info(requirement, &needs);
        for (size_t quarters = 1; quarters <= 3; quarters++) {
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
    rounds = rounds < 2 ? 2 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
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
