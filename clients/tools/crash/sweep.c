/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* All points of a scenario, one after the other.
 *
 *     fork victim | survivor attaches, allocates | victim attaches, prepares | k instructions |
 *     SIGKILL | check | next
 *
 * The survivor is a process of its own as well, so that a hang or a crash of it is a finding and
 * not the end: the supervisor looks every few milliseconds whether the survivor comes on, ends it
 * where it does not, and has another one go on behind the point. A segment is used again for the
 * next point when the books say that it is as it was. */

#include "../common/json.h"
#include "../common/terminal.h"
#include "crash.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jalloc/status.h"

uint64_t crash_random(uint64_t *state) { /* splitmix64, Steele et al. 2014 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* What supervisor and survivor share. */
typedef struct progress {
    volatile uint64_t beat; /* grows with every play */
    volatile size_t next;   /* index of the point that is next */
    volatile size_t k, second_k;
    volatile bool done;
    sweep_totals_t totals;
    size_t shown;
} progress_t;

enum { SHOWN_FAULTS = 8 }; /* of a scenario; the rest is counted */

/* One play: where the first victim dies, and where the second one does, if there is one. Recording:
 * at the end of its operation. */
typedef struct plan {
    size_t k, second_k;
    bool record, second, record_second;
    engine_walk_t *walk, *second_walk;
    size_t deepest; /* recorded: where the undo log has most entries */
    FILE *found;    /* where faults are told */
} plan_t;

/* ---- The processes of a point ---- */

static void victim_main(void *context) {
    crash_t *crash = context;
    const scenario_t *scenario = crash->scenario;
    crash_board_t *board = crash->board;
    if (!(scenario->flags & (SCENARIO_DETACHED | SCENARIO_INHERITS))) {
        victim_must(crash, crash_attach(crash), "attaching");
        board->slot = jsegment_slot(crash->segment);
    }
    if (scenario->prepare != NULL)
        scenario->prepare(crash);
    engine_marker(&board->phase);
    scenario->operate(crash);
    board->phase = PHASE_ENDED;
}

static void second_main(void *context) {
    crash_t *crash = context;
    crash->board = crash->other_board;
    victim_must(crash, crash_attach(crash), "attaching");
    engine_marker(&crash->board->phase);
    victim_must(crash, jsegment_recover(crash->segment, NULL), "jsegment_recover");
    crash->board->phase = PHASE_ENDED;
}

/* Steps a process to its end and kills it. */
static void step_and_kill(crash_t *crash, pid_t child, crash_board_t *board, bool record,
                          engine_walk_t *walk, size_t k, size_t *deepest, sweep_totals_t *totals) {
    engine_result_t result =
        record ? engine_record(child, &board->phase, walk,
                               crash->header != NULL ? &crash->header->log_count : NULL, deepest)
               : engine_walk_to(child, &board->phase, walk, k);
    engine_kill(child);
    if (result == ENGINE_FAILED)
        crash_fault(crash, FAULT_INCONSISTENT, "the victim failed: %s",
                    board->phase == PHASE_FAILED ? board->message : "a signal ended it");
    if (result == ENGINE_STRAYED || (result == ENGINE_ENDED && !record))
        totals->strayed++;
}

static void play(crash_t *crash, plan_t *plan, progress_t *progress) {
    const scenario_t *scenario = crash->scenario;
    const bool attached = (scenario->flags & SCENARIO_ALONE) == 0;
    pid_t second = 0;
    progress->beat++;
    progress->k = plan->k;
    progress->second_k = plan->second_k;
    crash->k = plan->k + plan->second_k;
    crash->fault = FAULT_NONE;
    crash->own_count = 0;
    memset(crash->board, 0, sizeof *crash->board);
    memset(crash->other_board, 0, sizeof *crash->other_board);
    if (attached && crash->header == NULL && !crash_make(crash))
        goto done;
    if ((scenario->flags & SCENARIO_INHERITS) &&
        !crash_succeeds(crash, crash_attach(crash), "attaching"))
        goto done;
    pid_t victim = engine_fork(victim_main, crash);
    if (plan->second)
        second = engine_fork(second_main, crash);
    if (attached) {
        if (crash->segment == NULL && !crash_succeeds(crash, crash_attach(crash), "attaching"))
            goto kill;
        crash->board->survivor = jsegment_slot(crash->segment);
        crash_allocate_own(crash);
        if (scenario->before != NULL)
            scenario->before(crash);
    }
    if (plan->second && !engine_run_to_marker(second, &crash->other_board->phase))
        crash_fault(crash, FAULT_INCONSISTENT, "the second victim could not be prepared: %s",
                    crash->other_board->message);
    if (!engine_run_to_marker(victim, &crash->board->phase))
        crash_fault(crash, FAULT_INCONSISTENT, "the victim could not be prepared: %s",
                    crash->board->message);
    if (scenario->meanwhile != NULL && crash->fault == FAULT_NONE)
        scenario->meanwhile(crash);
    if (crash->fault != FAULT_NONE)
        goto kill;
    step_and_kill(crash, victim, crash->board, plan->record, plan->walk, plan->k, &plan->deepest,
                  &progress->totals);
    victim = 0;
    if (plan->second) {
        step_and_kill(crash, second, crash->other_board, plan->record_second, plan->second_walk,
                      plan->second_k, NULL, &progress->totals);
        second = 0;
    }
    if (crash->fault == FAULT_NONE) {
        if (attached)
            crash_check(crash);
        else
            scenario->settle(crash);
    }
kill:
    if (victim > 0)
        engine_kill(victim);
    if (second > 0)
        engine_kill(second);
done:
    if (crash->fault != FAULT_NONE || (scenario->flags & SCENARIO_FRESH))
        crash_unmake(crash);
}

/* Counts a play, and tells what was found. */
static void count(const crash_t *crash, const plan_t *plan, progress_t *progress) {
    sweep_totals_t *totals = &progress->totals;
    totals->tried++;
    totals->hangs += crash->fault == FAULT_HANG;
    totals->inconsistencies += crash->fault == FAULT_INCONSISTENT;
    totals->leaks += crash->fault == FAULT_LEAK;
    if (crash->fault == FAULT_NONE || progress->shown++ >= SHOWN_FAULTS)
        return;
    const engine_walk_t *walk =
        crash->scenario->flags & SCENARIO_RECOVERY ? plan->second_walk : plan->walk;
    const size_t k = crash->scenario->flags & SCENARIO_RECOVERY ? plan->second_k : plan->k;
    fprintf(plan->found, "  %s at %zu", crash->scenario->name, k);
    if (walk->count > k)
        fprintf(plan->found, " (address 0x%llx)",
                (unsigned long long)engine_file_address(walk->addresses[k]));
    if (plan->second && !(crash->scenario->flags & SCENARIO_RECOVERY))
        fprintf(plan->found, ", recovery at %zu", plan->second_k);
    fprintf(plan->found, ": %s\n", crash->message);
    fflush(plan->found);
}

/* ---- The survivor ---- */

static int compare_sizes(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static size_t faults(const sweep_totals_t *totals) {
    return totals->hangs + totals->inconsistencies + totals->leaks;
}

/* The points that the options ask for, in order; the caller frees them. */
static size_t *choose_points(const sweep_options_t *options, const char *name, size_t instructions,
                             size_t *count) {
    const size_t last = options->to < instructions ? options->to : instructions;
    const size_t stride = options->stride;
    *count = options->from <= last ? (last - options->from) / stride + 1 : 0;
    size_t *points = malloc((*count + 1) * sizeof *points);
    if (points == NULL)
        exit(TOOL_FAILED);
    for (size_t i = 0; i < *count; i++)
        points[i] = options->from + i * stride;
    if (options->points == 0 || options->points >= *count)
        return points;
    uint64_t state = options->seed;
    for (const char *c = name; *c != '\0'; c++)
        state = state * 31 + (unsigned char)*c;
    for (size_t i = 0; i < options->points; i++) { /* the first of a shuffle */
        const size_t other = i + crash_random(&state) % (*count - i), kept = points[i];
        points[i] = points[other];
        points[other] = kept;
    }
    *count = options->points;
    qsort(points, *count, sizeof *points, compare_sizes);
    return points;
}

static void survive(crash_t *crash, const sweep_options_t *options, progress_t *progress) {
    engine_walk_t walk = {0}, second_walk = {0};
    const bool recovery = (crash->scenario->flags & SCENARIO_RECOVERY) != 0;
    plan_t plan = {
        .walk = &walk, .second_walk = &second_walk, .found = options->json ? stderr : stdout};
    const bool first_time = progress->beat == 0;
    uint64_t state = options->seed;
    /* Point 0; the next play finds the C library's heap as all others will. */
    play(crash, &plan, progress);
    plan.record = true;
    if (crash->fault == FAULT_NONE)
        play(crash, &plan, progress);
    if (first_time || crash->fault != FAULT_NONE)
        count(crash, &plan, progress);
    if (crash->fault != FAULT_NONE) {
        progress->done = true;
        return;
    }
    plan.record = false;
    if (recovery) {
        plan.k = crash->scenario->flags & SCENARIO_HALF_DONE ? plan.deepest : 0;
        plan.second = plan.record_second = true;
        play(crash, &plan, progress);
        if (crash->fault != FAULT_NONE) {
            count(crash, &plan, progress);
            progress->done = true;
            return;
        }
        plan.record_second = false;
    }
    const size_t instructions = (recovery ? &second_walk : &walk)->count - 1;
    progress->totals.instructions = instructions;
    size_t point_count;
    size_t *points = choose_points(options, crash->scenario->name, instructions, &point_count);
    while (progress->next < point_count && !(options->stop && faults(&progress->totals) > 0)) {
        const size_t k = points[progress->next++];
        *(recovery ? &plan.second_k : &plan.k) = k;
        play(crash, &plan, progress);
        count(crash, &plan, progress);
        if (recovery || options->second == 0 || (crash->scenario->flags & SCENARIO_NO_SECOND))
            continue;
        plan.second = plan.record_second = true;
        play(crash, &plan, progress);
        count(crash, &plan, progress);
        plan.record_second = false;
        for (size_t i = 0;
             i < options->second && crash->fault == FAULT_NONE && second_walk.count > 1; i++) {
            plan.second_k = crash_random(&state) % second_walk.count;
            play(crash, &plan, progress);
            count(crash, &plan, progress);
        }
        plan.second = false;
        plan.second_k = 0;
    }
    crash_unmake(crash);
    free(points);
    engine_walk_fini(&walk);
    engine_walk_fini(&second_walk);
    progress->done = true;
}

/* ---- The supervisor ---- */

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits until the survivor is gone, or does not come on for too long. True: it went by itself. */
static bool supervise(pid_t survivor, const progress_t *progress, int *status) {
    uint64_t beat = progress->beat;
    double since = seconds_now();
    for (;;) {
        const struct timespec pause = {0, 2000000};
        if (waitpid(survivor, status, WNOHANG) == survivor)
            return true;
        if (beat != progress->beat) {
            beat = progress->beat;
            since = seconds_now();
        } else if (seconds_now() - since > CRASH_GUARD_S) {
            kill(survivor, SIGKILL);
            waitpid(survivor, status, 0);
            return false;
        }
        nanosleep(&pause, NULL);
    }
}

void sweep_json(const char *name, const sweep_totals_t *totals, double seconds) {
    json_open(NULL, '{');
    json_text("scenario", name);
    json_number("instructions", (int64_t)totals->instructions);
    json_number("points", (int64_t)totals->tried);
    json_number("strayed", (int64_t)totals->strayed);
    json_number("hangs", (int64_t)totals->hangs);
    json_number("inconsistencies", (int64_t)totals->inconsistencies);
    json_number("leaks", (int64_t)totals->leaks);
    json_real("seconds", seconds);
    json_close('}');
}

void sweep_scenario(const scenario_t *scenario, const sweep_options_t *options,
                    sweep_totals_t *totals) {
    progress_t *progress = crash_share(sizeof *progress);
    crash_t *crash = calloc(1, sizeof *crash);
    if (crash == NULL)
        exit(TOOL_FAILED);
    crash->scenario = scenario;
    crash->descriptor = -1;
    crash->size_bytes = scenario->flags & SCENARIO_GROWS ? 512 << 10 : 1 << 20;
    crash->max_bytes = options->array ? 0 : 1 << 20;
    if (options->array)
        crash->array = crash_share(crash->size_bytes);
    crash->processes = 8;
    crash->board = crash_share(sizeof *crash->board);
    crash->other_board = crash_share(sizeof *crash->other_board);
    snprintf(crash->name, sizeof crash->name, "/jalloc-crash-%ld", (long)getpid());
    snprintf(crash->file, sizeof crash->file, "/tmp/jalloc-crash-%ld", (long)getpid());
    const double begin = seconds_now();
    while (!progress->done) {
        fflush(stdout);
        const uint64_t beat = progress->beat;
        pid_t survivor = fork();
        if (survivor == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            survive(crash, options, progress);
            _exit(0);
        }
        int status = 0;
        const bool by_itself = supervise(survivor, progress, &status);
        if (progress->done)
            break;
        progress->totals.tried++;
        *(by_itself ? &progress->totals.inconsistencies : &progress->totals.hangs) += 1;
        fprintf(options->json ? stderr : stdout,
                "  %s at %zu, recovery at %zu: the survivor %s (signal %d)\n", scenario->name,
                progress->k, progress->second_k, by_itself ? "crashed" : "hangs",
                WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        if (options->stop || progress->next == 0 ||
            progress->beat <= beat + 2) /* not even one play: it would do so again */
            break;
    }
    const sweep_totals_t *found = &progress->totals;
    const double seconds = seconds_now() - begin;
    tool_progress_end();
    if (options->json && !options->quiet)
        sweep_json(scenario->name, found, seconds);
    else if (!options->quiet)
        printf("%-30s %9zu %8zu %6zu %6zu %6zu %6zu %8.2f\n", scenario->name, found->instructions,
               found->tried, found->strayed, found->hangs, found->inconsistencies, found->leaks,
               found->tried ? 1e3 * seconds / (double)found->tried : 0.0);
    fflush(stdout);
    totals->instructions += found->instructions;
    totals->tried += found->tried;
    totals->strayed += found->strayed;
    totals->hangs += found->hangs;
    totals->inconsistencies += found->inconsistencies;
    totals->leaks += found->leaks;
    free(crash);
}
