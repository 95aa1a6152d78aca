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
};
enum { PLANTED_BUGS = sizeof planted_bugs / sizeof *planted_bugs };
extern unsigned ji_planted_bug __attribute__((weak));

static const char usage[] =
    "usage: jalloc-crash [--scenario NAME] [OPTION]...\n"
    "Kills processes at every instruction of every operation on a shared segment, and checks in a "
    "survivor that\n"
    "nothing hangs, is inconsistent, or is lost.\n"
    "\n"
    "  -s, --scenario NAME  this one, or those whose names begin so (all)\n"
    "  -l, --list           the scenarios\n"
    "      --from K --to K  points of a scenario (all)\n"
    "      --stride N       every n-th of them (1)\n"
    "  -n, --points N       a random sample of so many of each scenario\n"
    "      --second N       also kill who recovers, at N instructions for each point\n"
    "      --seed N         of the random choices (from the clock; shown)\n"
    "  -a, --array          segments over an array instead of a file\n"
    "      --pin CPU        the processor to use (the one it starts on)\n"
    "  -r, --random N       instead: processes that work, and N kills at random moments\n"
    "  -p, --processes N    with --random: so many at a time (8)\n"
    "      --check-every N  with --random: kills from one check of all books to the next (20)\n"
    "      --plant N        jalloc-crash-planted: with bug N\n"
    "      --plants         jalloc-crash-planted: each bug must be found\n"
    "  -h, --help           this\n"
    "Exit status: 0 if no point hangs, is inconsistent or leaks; 1 if one does; 2 for bad usage; "
    "77 where a process\n"
    "may not be stepped.\n";

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

typedef struct arguments {
    sweep_options_t sweep;
    const char *scenario;
    size_t kills, processes, check_every;
    int processor;
    bool plants;
} arguments_t;

static size_t parse_number(const char *name, const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0) {
        fprintf(stderr, "jalloc-crash: --%s wants a number, not '%s'\n", name, text);
        exit(CRASH_REFUSED);
    }
    return value;
}

static void plant(size_t bug) {
    if (&ji_planted_bug == NULL || bug >= PLANTED_BUGS) {
        fprintf(stderr, "jalloc-crash: this program has no bug %zu; jalloc-crash-planted has\n",
                bug);
        exit(CRASH_REFUSED);
    }
    ji_planted_bug = (unsigned)bug;
}

static void list(void) {
    for (size_t i = 0; i < scenario_count; i++)
        puts(scenarios[i].name);
}

static void parse(arguments_t *arguments, int argc, char **argv) {
    static const struct option options[] = {{"scenario", required_argument, NULL, 's'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"from", required_argument, NULL, OPTION_FROM},
                                            {"to", required_argument, NULL, OPTION_TO},
                                            {"stride", required_argument, NULL, OPTION_STRIDE},
                                            {"points", required_argument, NULL, 'n'},
                                            {"second", required_argument, NULL, OPTION_SECOND},
                                            {"seed", required_argument, NULL, OPTION_SEED},
                                            {"array", no_argument, NULL, 'a'},
                                            {"pin", required_argument, NULL, OPTION_PIN},
                                            {"random", required_argument, NULL, 'r'},
                                            {"processes", required_argument, NULL, 'p'},
                                            {"check-every", required_argument, NULL, OPTION_CHECK},
                                            {"plant", required_argument, NULL, OPTION_PLANT},
                                            {"plants", no_argument, NULL, OPTION_PLANTS},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    sweep_options_t *sweep = &arguments->sweep;
    for (int c, which = 0; (c = getopt_long(argc, argv, "s:ln:ar:p:h", options, &which)) != -1;
         which = 0)
        switch (c) {
        case 's': arguments->scenario = optarg; break;
        case 'l': list(); exit(CRASH_OK);
        case OPTION_FROM: sweep->from = parse_number("from", optarg); break;
        case OPTION_TO: sweep->to = parse_number("to", optarg); break;
        case OPTION_STRIDE: sweep->stride = parse_number("stride", optarg); break;
        case 'n': sweep->points = parse_number("points", optarg); break;
        case OPTION_SECOND: sweep->second = parse_number("second", optarg); break;
        case OPTION_SEED: sweep->seed = parse_number("seed", optarg); break;
        case 'a': sweep->array = true; break;
        case OPTION_PIN: arguments->processor = (int)parse_number("pin", optarg); break;
        case 'r': arguments->kills = parse_number("random", optarg); break;
        case 'p': arguments->processes = parse_number("processes", optarg); break;
        case OPTION_CHECK: arguments->check_every = parse_number("check-every", optarg); break;
        case OPTION_PLANT: plant(parse_number("plant", optarg)); break;
        case OPTION_PLANTS: arguments->plants = true; break;
        case 'h': fputs(usage, stdout); exit(CRASH_OK);
        default:
            fputs("jalloc-crash --help shows what is understood\n", stderr);
            exit(CRASH_REFUSED);
        }
    if (optind < argc || sweep->stride == 0 || arguments->check_every == 0 ||
        arguments->processes == 0 || arguments->processes > RANDOM_PROCESSES) {
        fputs("jalloc-crash: unexpected argument; --help shows what is understood\n", stderr);
        exit(CRASH_REFUSED);
    }
}

/* Parent and child take turns, so one processor is faster than two. */
static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor >= 0 ? processor : sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fprintf(stderr, "jalloc-crash: not pinned: %s\n", strerror(errno));
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
        sweep_scenario(scenario, &arguments->sweep, totals);
        if (arguments->sweep.stop && totals->hangs + totals->inconsistencies + totals->leaks > 0)
            return scenario->name;
    }
    return NULL;
}

static int sweep_all(const arguments_t *arguments) {
    sweep_totals_t totals = {0};
    printf("%-30s %9s %8s %6s %6s %6s %6s %8s\n", "scenario", "instr", "points", "stray", "hangs",
           "incons", "leaks", "ms/point");
    (void)sweep(arguments, &totals);
    if (totals.tried == 0) {
        fprintf(stderr, "jalloc-crash: no scenario '%s'; --list shows them\n", arguments->scenario);
        return CRASH_REFUSED;
    }
    printf("%-30s %9zu %8zu %6zu %6zu %6zu %6zu\n", "total", totals.instructions, totals.tried,
           totals.strayed, totals.hangs, totals.inconsistencies, totals.leaks);
    return totals.hangs + totals.inconsistencies + totals.leaks == 0 ? CRASH_OK : CRASH_FAILED;
}

/* With each planted bug: something must be found. */
static int sweep_planted(arguments_t *arguments) {
    int result = CRASH_OK;
    arguments->sweep.stop = arguments->sweep.quiet = true;
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
        printf("planted %zu, %s: %s%s, %zu points\n", bug, planted_bugs[bug].what,
               name != NULL ? "found by " : "NOT FOUND", name != NULL ? name : "", totals.tried);
        fflush(stdout);
        if (name == NULL)
            result = CRASH_FAILED;
    }
    return result;
}

int main(int argc, char **argv) {
    arguments_t arguments = {.sweep = {.stride = 1, .to = SIZE_MAX, .seed = (uint64_t)time(NULL)},
                             .scenario = "all",
                             .processes = 8,
                             .check_every = 20,
                             .processor = -1};
    parse(&arguments, argc, argv);
    if (arguments.kills == 0)
        start_again_without_repeats(argv);
    printf("seed %llu\n", (unsigned long long)arguments.sweep.seed);
    if (arguments.kills != 0)
        return random_kills(arguments.kills, (unsigned)arguments.processes, arguments.check_every,
                            arguments.sweep.seed, arguments.sweep.array)
                   ? CRASH_OK
                   : CRASH_FAILED;
    fflush(stdout);

    const char *hindrance = engine_hindrance();
    if (hindrance) {
        printf("not supported: %s\n", hindrance);
        return CRASH_NOT_SUPPORTED;
    }
    pin(arguments.processor);
    return arguments.plants ? sweep_planted(&arguments) : sweep_all(&arguments);
}
