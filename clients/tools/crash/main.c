/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-crash: kills processes at every instruction of every operation on a segment, and looks
 * whether the others find it in order.
 *
 * Planted bugs show that it would see one. They are in the program jalloc-crash-planted alone,
 * whose library is compiled with JALLOC_PLANT_BUGS; planted_bugs[] says what they are. */

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/json.h"
#include "../common/terminal.h"
#include "crash.h"

/* What JI_PLANTED(n) does in library/shm, and which scenarios are likely to find it: those are
 * tried first. */
typedef struct planted_bug {
    const char *what, *scenario;
} planted_bug_t;
static const planted_bug_t planted_bugs[] = {
    [1] = {"undoing forgets the first entry of the log", "allocate-large-split"},
    [2] = {"an entry of the log counts before it is written", "allocate-large-split"},
    [3] = {"a word is changed before its entry in the log counts", "allocate-large-split"},
    [4] = {"the log is cleared before it is undone", "recover-half-done"},
    [5] = {"the lock of a dead process is never taken over", "give-large-to-segment"},
    [6] = {"joining extents is committed in two halves", "free-large-joining-both"},
    [7] = {"a remote free is noted before the slab is in its owner's list", "free-remote-small"},
    [8] = {"reaping frees what the dead process had given away", "recover-everything"},
    [9] = {"a slot is free before what it owned is", "recover-everything"},
    [10] = {"what a killed reaper left half cleared is not cleared again", "recover-everything"},
    [11] = {"an allocator is ready before it is made", "allocator-create"},
    [12] = {"a block that moves becomes its mover's", "realloc-remote"},
};
enum { PLANTED_BUGS = sizeof planted_bugs / sizeof *planted_bugs };
extern unsigned ji_planted_bug __attribute__((weak));

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_STRIDE,
    OPTION_SECOND,
    OPTION_SEED,
    OPTION_PIN,
    OPTION_CHECK,
    OPTION_PLANT,
    OPTION_PLANTS
};

static const tool_option_t options[] = {
    {"scenario", "NAME", 's', "this one, or those whose names begin so (all)"},
    {"list", NULL, 'l', "the scenarios"},
    {"from", "POINT", OPTION_FROM, "first point of a scenario (0)"},
    {"to", "POINT", OPTION_TO, "last point (that of the last instruction)"},
    {"stride", "COUNT", OPTION_STRIDE, "every n-th of them (1)"},
    {"points", "COUNT", 'n', "a random sample of so many of each scenario"},
    {"second", "COUNT", OPTION_SECOND,
     "also kill who recovers, at so many instructions for each point"},
    {"seed", "NUMBER", OPTION_SEED, "of the random choices (from the clock; shown)"},
    {"array", NULL, 'a', "segments over an array instead of a file"},
    {"pin", "CPU", OPTION_PIN, "the processor to use (the one it starts on)"},
    {"random", "COUNT", 'r', "instead: processes that work, and so many kills at random moments"},
    {"processes", "COUNT", 'p', "with --random: so many at a time (8)"},
    {"check-every", "COUNT", OPTION_CHECK,
     "with --random: kills from one check of all books to the next (20)"},
    {"plant", "BUG", OPTION_PLANT, "jalloc-crash-planted: with that bug"},
    {"plants", NULL, OPTION_PLANTS, "jalloc-crash-planted: each bug must be found"},
    TOOL_JSON,
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {{"0", "no point hangs, is inconsistent or leaks"},
                                      {"1", "one does"},
                                      {"2", "wrong usage"},
                                      {"77", "a process may not be stepped here (ptrace)"},
                                      {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jalloc-crash --points 100", "a sample of a hundred instructions of each operation"},
    {"jalloc-crash --random 10000 --processes 16", "kills at random moments"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-crash",
    .usage = "[OPTION]...",
    .summary = "kills processes at every instruction of every operation on a shared segment",
    .about = "And checks in a survivor that nothing hangs, is inconsistent, or is lost.",
    .options = options,
    .statuses = statuses,
    .examples = examples,
};

typedef struct arguments {
    sweep_options_t sweep;
    const char *scenario;
    size_t kills, processes, check_every;
    int processor;
    bool plants, list;
} arguments_t;

static void plant(size_t bug) {
    if (&ji_planted_bug == NULL || bug >= PLANTED_BUGS)
        tool_refuse("this program has no bug %zu; jalloc-crash-planted has", bug);
    ji_planted_bug = (unsigned)bug;
}

static void list(bool json) {
    if (json) {
        json_open(NULL, '{');
        json_open("scenarios", '[');
    }
    for (size_t i = 0; i < scenario_count; i++)
        if (json)
            json_text(NULL, scenarios[i].name);
        else
            puts(scenarios[i].name);
    if (json) {
        json_close(']');
        json_close('}');
        json_end();
    }
}

static void parse(arguments_t *arguments, int argc, char **argv) {
    sweep_options_t *sweep = &arguments->sweep;
    for (int c; (c = tool_next_option(argc, argv)) != -1;)
        switch (c) {
        case 's': arguments->scenario = optarg; break;
        case 'l': arguments->list = true; break;
        case OPTION_FROM: sweep->from = tool_number("from", optarg, 0, SIZE_MAX); break;
        case OPTION_TO: sweep->to = tool_number("to", optarg, 0, SIZE_MAX); break;
        case OPTION_STRIDE: sweep->stride = tool_number("stride", optarg, 1, SIZE_MAX); break;
        case 'n': sweep->points = tool_number("points", optarg, 0, SIZE_MAX); break;
        case OPTION_SECOND: sweep->second = tool_number("second", optarg, 0, SIZE_MAX); break;
        case OPTION_SEED: sweep->seed = tool_number("seed", optarg, 0, INT64_MAX); break;
        case 'a': sweep->array = true; break;
        case OPTION_PIN:
            arguments->processor = (int)tool_number("pin", optarg, 0, CPU_SETSIZE - 1);
            break;
        case 'r': arguments->kills = tool_number("random", optarg, 0, SIZE_MAX); break;
        case 'p':
            arguments->processes = tool_number("processes", optarg, 1, RANDOM_PROCESSES);
            break;
        case OPTION_CHECK:
            arguments->check_every = tool_number("check-every", optarg, 1, SIZE_MAX);
            break;
        case OPTION_PLANT: plant(tool_number("plant", optarg, 0, SIZE_MAX)); break;
        case OPTION_PLANTS: arguments->plants = true; break;
        case 'j': sweep->json = true; break;
        }
    if (optind < argc)
        tool_refuse("unexpected argument '%s'", argv[optind]);
}

/* Parent and child take turns, so one processor is faster than two. */
static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor >= 0 ? processor : sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        tool_warn("not pinned: %s", strerror(errno));
}

/* The C library clears and copies larger memory by one instruction that repeats itself, each time a
 * step. It reads what it is told about that when the program starts, so it is started again. */
static void start_again_without_repeats(char **argv) {
    if (getenv("GLIBC_TUNABLES") != NULL)
        return;
    setenv(
        "GLIBC_TUNABLES",
        "glibc.cpu.x86_rep_stosb_threshold=1073741824:glibc.cpu.x86_rep_movsb_threshold=1073741824",
        1);
    execv("/proc/self/exe", argv);
}

/* The scenarios that are asked for; with `stop`, up to the first that finds anything: its name. */
static const char *sweep(const arguments_t *arguments, sweep_totals_t *totals) {
    const scenario_t *exact = scenario_find(arguments->scenario);
    const size_t length = strcmp(arguments->scenario, "all") == 0 ? 0 : strlen(arguments->scenario);
    for (size_t i = 0; i < scenario_count; i++) {
        const scenario_t *scenario = &scenarios[i];
        if (exact != NULL ? scenario != exact
                          : strncmp(scenario->name, arguments->scenario, length) != 0)
            continue;
        if (arguments->sweep.array &&
            (scenario->flags & (SCENARIO_FILE | SCENARIO_GROWS | SCENARIO_ALONE)) != 0)
            continue;
        tool_progress("sweeping", i, scenario_count);
        sweep_scenario(scenario, &arguments->sweep, totals);
        if (arguments->sweep.stop && totals->hangs + totals->inconsistencies + totals->leaks > 0)
            return scenario->name;
    }
    return NULL;
}

static size_t faults(const sweep_totals_t *totals) {
    return totals->hangs + totals->inconsistencies + totals->leaks;
}

static int sweep_all(const arguments_t *arguments) {
    sweep_totals_t totals = {0};
    const bool json = arguments->sweep.json;
    if (json)
        json_open("scenarios", '[');
    else
        printf("%-30s %9s %8s %6s %6s %6s %6s %8s\n", "scenario", "instr", "points", "stray",
               "hangs", "incons", "leaks", "ms/point");
    (void)sweep(arguments, &totals);
    if (totals.tried == 0)
        tool_refuse("no scenario '%s'; --list shows them", arguments->scenario);
    if (json) {
        json_close(']');
        json_bool("good", faults(&totals) == 0);
    } else {
        printf("%-30s %9zu %8zu %6zu %6zu %6zu %6zu\n", "total", totals.instructions, totals.tried,
               totals.strayed, totals.hangs, totals.inconsistencies, totals.leaks);
    }
    return faults(&totals) == 0 ? TOOL_GOOD : TOOL_FAILED;
}

static void report_planted(size_t bug, const char *found_by, size_t points, bool json) {
    if (!json) {
        printf("planted %zu, %s: %s%s, %zu points\n", bug, planted_bugs[bug].what,
               found_by != NULL ? "found by " : "NOT FOUND", found_by != NULL ? found_by : "",
               points);
        return;
    }
    json_open(NULL, '{');
    json_number("bug", (int64_t)bug);
    json_text("what", planted_bugs[bug].what);
    json_bool("found", found_by != NULL);
    json_text("by", found_by != NULL ? found_by : "");
    json_number("points", (int64_t)points);
    json_close('}');
}

/* With each planted bug: something must be found. */
static int sweep_planted(arguments_t *arguments) {
    int result = TOOL_GOOD;
    arguments->sweep.stop = arguments->sweep.quiet = true;
    if (arguments->sweep.json)
        json_open("planted", '[');
    for (size_t bug = 0; bug < PLANTED_BUGS; bug++) {
        sweep_totals_t totals = {0};
        plant(bug);
        if (bug == 0) /* none */
            continue;
        arguments->scenario = planted_bugs[bug].scenario;
        const char *name = sweep(arguments, &totals);
        if (name == NULL) {
            arguments->scenario = "all";
            name = sweep(arguments, &totals);
        }
        report_planted(bug, name, totals.tried, arguments->sweep.json);
        fflush(stdout);
        if (name == NULL)
            result = TOOL_FAILED;
    }
    if (arguments->sweep.json)
        json_close(']');
    return result;
}

static int run(arguments_t *arguments) {
    if (arguments->kills != 0)
        return random_kills(arguments->kills, (unsigned)arguments->processes,
                            arguments->check_every, &arguments->sweep)
                   ? TOOL_GOOD
                   : TOOL_FAILED;
    const char *hindrance = engine_hindrance();
    if (hindrance != NULL) {
        tool_warn("not supported: %s", hindrance);
        exit(CRASH_NOT_SUPPORTED);
    }
    pin(arguments->processor);
    return arguments->plants ? sweep_planted(arguments) : sweep_all(arguments);
}

int main(int argc, char **argv) {
    arguments_t arguments = {.sweep = {.stride = 1, .to = SIZE_MAX, .seed = (uint64_t)time(NULL)},
                             .scenario = "all",
                             .processes = 8,
                             .check_every = 20,
                             .processor = -1};
    const bool *json = &arguments.sweep.json;
    tool_begin(&tool);
    parse(&arguments, argc, argv);
    if (arguments.list) {
        list(*json);
        return tool_end(TOOL_GOOD);
    }
    if (arguments.kills == 0)
        start_again_without_repeats(argv);
    if (*json) {
        json_open(NULL, '{');
        json_number("seed", (int64_t)arguments.sweep.seed);
    } else {
        printf("seed %llu\n", (unsigned long long)arguments.sweep.seed);
    }
    fflush(stdout); /* children have what is not written */

    const int result = run(&arguments);
    if (*json) {
        json_close('}');
        json_end();
    }
    return tool_end(result);
}
