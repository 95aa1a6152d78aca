/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-replay: plays a trace on an allocator, and says how fast it was, how much memory it took,
 * and whose.
 *
 * Each allocator is made anew for memory over time, for the state at the peak, and for the clock.
 * The timed rounds of several allocators are taken in turn, so that a machine that becomes slower
 * does so for all of them. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "books.h"
#include "picture.h"
#include "replay.h"
#include "report.h"

enum { MAX_COMPOSITIONS = 32, MAX_REPEAT = 100000 };

typedef struct arguments {
    const char *file, *only, *svg;
    const char *compositions[MAX_COMPOSITIONS];
    size_t composition_count;
    size_t repeat;
    int owner_by; /* -1: not said */
    bool json, progress;
    play_options_t play;
} arguments_t;

static const char usage[] =
    "usage: jalloc-replay FILE [--allocator COMPOSITION] [OPTION]...\n"
    "Plays a trace (RMM's log, or jalloc's own; -: standard input) on an allocator, and shows how "
    "fast it was,\n"
    "how much memory it took, how that fell apart over time, and whose it was at the peak.\n"
    "\n"
    "  -a, --allocator COMPOSITION  such as 'bfc(limit=2GiB)+guard', as in JALLOC_ALLOCATOR "
    "(general)\n"
    "  -c, --compare COMPOSITION    one more, played in turn with the first; may be given again\n"
    "  -r, --repeat N               timed rounds on one allocator, empty before the first (5); the "
    "median counts\n"
    "  -o, --only NAME              what this allocator of the trace did (those on top of a "
    "composition)\n"
    "  -d, --device NAME            whose memory (host)\n"
    "  -t, --threads                each thread of the trace is a thread; a free waits for its "
    "allocation, and\n"
    "                               nothing else keeps them together\n"
    "  -s, --streams                each stream of the trace is a stream; else all use the default "
    "stream\n"
    "      --touch, --no-touch      timed, write the first byte of each page (no)\n"
    "      --retry-failures         ask again for what the trace was refused, and free it at once; "
    "else left out\n"
    "      --owner WHAT             tell blocks apart by tag, size, thread, stream or allocator "
    "(tag if there are\n"
    "                               any, else size)\n"
    "      --svg FILE               draw memory over time and the map of the address space at the "
    "peak, of the\n"
    "                               first allocator\n"
    "  -j, --json                   one JSON object, with everything for each allocator\n"
    "  -p, --progress               show it, even where standard error is no terminal\n"
    "  -h, --help                   this\n"
    "\n"
    "Reserved is what the composition has taken from its provider; bookkeeping, what jalloc's own "
    "records of it take beside.\n"
    "Memory is measured apart from the timed rounds, in the order of the trace; the peaks of "
    "threads in a round of\n"
    "their own. Blocks that live at the end are freed, untimed.\n"
    "Exit status: 0, also where allocations failed (that is counted); 1 if a free was refused or "
    "the replay could\n"
    "not be carried out; 2 for bad usage, a composition or a trace that is not understood.\n";

/* ---- Arguments ---- */

enum { OPTION_TOUCH = 256, OPTION_NO_TOUCH, OPTION_RETRY, OPTION_OWNER, OPTION_SVG };

static size_t parse_repeat(const char *text) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < 1 || value > MAX_REPEAT)
        replay_exit(REPLAY_REFUSED, "--repeat wants a number from 1 to %d, not '%s'", MAX_REPEAT,
                    text);
    return value;
}

static int parse_owner(const char *text) {
    for (int i = 0; owner_by_names[i]; i++)
        if (strcmp(owner_by_names[i], text) == 0)
            return i;
    replay_exit(REPLAY_REFUSED, "--owner wants tag, size, thread, stream or allocator, not '%s'",
                text);
}

static void parse_device(arguments_t *arguments, const char *name) {
    if (jstatus_is_error(jdevice_get(name, &arguments->play.device)))
        replay_exit(REPLAY_REFUSED, "--device %s: %s", name, jstatus_last_message());
}

static void parse(arguments_t *arguments, int argc, char **argv) {
    static const struct option options[] = {{"allocator", required_argument, NULL, 'a'},
                                            {"compare", required_argument, NULL, 'c'},
                                            {"repeat", required_argument, NULL, 'r'},
                                            {"only", required_argument, NULL, 'o'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"threads", no_argument, NULL, 't'},
                                            {"streams", no_argument, NULL, 's'},
                                            {"touch", no_argument, NULL, OPTION_TOUCH},
                                            {"no-touch", no_argument, NULL, OPTION_NO_TOUCH},
                                            {"retry-failures", no_argument, NULL, OPTION_RETRY},
                                            {"owner", required_argument, NULL, OPTION_OWNER},
                                            {"svg", required_argument, NULL, OPTION_SVG},
                                            {"json", no_argument, NULL, 'j'},
                                            {"progress", no_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    arguments->compositions[0] = "general";
    arguments->composition_count = 1;
    arguments->repeat = 5;
    arguments->owner_by = -1;
    arguments->play.device = jdevice_host();
    for (int c; (c = getopt_long(argc, argv, "a:c:r:o:d:tsjph", options, NULL)) != -1;)
        switch (c) {
        case 'a': arguments->compositions[0] = optarg; break;
        case 'c':
            if (arguments->composition_count == MAX_COMPOSITIONS)
                replay_exit(REPLAY_REFUSED, "more than %d allocators", MAX_COMPOSITIONS);
            arguments->compositions[arguments->composition_count++] = optarg;
            break;
        case 'r': arguments->repeat = parse_repeat(optarg); break;
        case 'o': arguments->only = optarg; break;
        case 'd': parse_device(arguments, optarg); break;
        case 't': arguments->play.threads = true; break;
        case 's': arguments->play.streams = true; break;
        case OPTION_TOUCH: arguments->play.touch = true; break;
        case OPTION_NO_TOUCH: arguments->play.touch = false; break;
        case OPTION_RETRY: arguments->play.retry_failures = true; break;
        case OPTION_OWNER: arguments->owner_by = parse_owner(optarg); break;
        case OPTION_SVG: arguments->svg = optarg; break;
        case 'j': arguments->json = true; break;
        case 'p': arguments->progress = true; break;
        case 'h': fputs(usage, stdout); exit(0);
        default:
            fputs("jalloc-replay --help shows what is understood\n", stderr);
            exit(REPLAY_REFUSED);
        }
    if (optind >= argc)
        replay_exit(REPLAY_REFUSED, "no trace: jalloc-replay FILE, or --help");
    arguments->file = argv[optind++];
    if (optind < argc)
        replay_exit(REPLAY_REFUSED, "unexpected argument '%s': one trace at a time", argv[optind]);
    if (arguments->play.touch && jdevice_kind(arguments->play.device) != JDEVICE_HOST)
        replay_exit(REPLAY_REFUSED, "--touch: the memory of %s cannot be written from here",
                    jdevice_name(arguments->play.device));
}

/* A composition that is not understood is refused before a long trace is read. */
static void check_compositions(const arguments_t *arguments) {
    for (size_t i = 0; i < arguments->composition_count; i++) {
        jallocator_t *allocator;
        if (jstatus_is_error(
                jallocator_compose(arguments->play.device, arguments->compositions[i], &allocator)))
            replay_exit(REPLAY_REFUSED, "%s", jstatus_last_message());
        jallocator_destroy(allocator);
    }
}

/* ---- Rounds ---- */

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void play_rounds(const arguments_t *arguments, const trace_t *trace, result_t *results) {
    const size_t count = arguments->composition_count, repeat = arguments->repeat;
    player_t *players = replay_allocate(count, sizeof *players);
    double *seconds = replay_allocate(count * repeat, sizeof *seconds);
    for (size_t i = 0; i < count; i++)
        player_init(&players[i], trace, &arguments->play, arguments->compositions[i]);
    for (size_t round = 0; round < repeat; round++)
        for (size_t i = 0; i < count; i++) {
            replay_progress("timing", round * count + i, repeat * count);
            player_reset(&players[i]);
            seconds[i * repeat + round] = player_run(&players[i]);
            player_free_live(&players[i], trace->operation_count);
            const play_faults_t *faults = &players[i].faults;
            if (faults->failure_count + faults->error_count > 0 &&
                faults->failure_count >= results[i].faults.failure_count)
                results[i].faults = *faults;
        }
    replay_progress_end();
    for (size_t i = 0; i < count; i++) {
        double *own = seconds + i * repeat;
        qsort(own, repeat, sizeof *own, compare_seconds);
        results[i].seconds =
            repeat % 2 ? own[repeat / 2] : 0.5 * (own[repeat / 2 - 1] + own[repeat / 2]);
        results[i].fastest_seconds = own[0];
        player_fini(&players[i]);
    }
    free(players);
    free(seconds);
}

/* The memory of threads: a round of its own, since counting would slow them down. */
static void watch_threads(const arguments_t *arguments, const trace_t *trace, result_t *result) {
    player_t player;
    player_init(&player, trace, &arguments->play, result->composition);
    player_reset(&player);
    player.counted = true;
    player_run(&player);
    result->threads_peak_in_use_bytes = atomic_load(&player.peak_in_use_bytes);
    player_reserved(&player, &result->threads_peak_reserved_bytes);
    player_free_live(&player, trace->operation_count);
    player_fini(&player);
}

int main(int argc, char **argv) {
    arguments_t arguments = {0};
    trace_t trace;
    books_watch();
    parse(&arguments, argc, argv);
    if (arguments.progress || isatty(STDERR_FILENO))
        replay_progress_enable();
    check_compositions(&arguments);
    trace_read(&trace, arguments.file, arguments.only);
    const owner_by_t owner_by = arguments.owner_by >= 0 ? (owner_by_t)arguments.owner_by
                                : trace.tags.count > 1  ? OWNER_TAG
                                                        : OWNER_SIZE;

    result_t *results = replay_allocate(arguments.composition_count, sizeof *results);
    for (size_t i = 0; i < arguments.composition_count; i++) {
        result_t *result = &results[i];
        result->composition = arguments.compositions[i];
        survey_take(&result->survey, &result->snapshot, &trace, &arguments.play,
                    result->composition, owner_by);
        result->faults = result->survey.faults;
        if (arguments.play.threads)
            watch_threads(&arguments, &trace, result);
    }
    play_rounds(&arguments, &trace, results);

    report_t report = {.trace = &trace,
                       .options = &arguments.play,
                       .repeat = arguments.repeat,
                       .owner_by = owner_by,
                       .results = results,
                       .result_count = arguments.composition_count};
    (arguments.json ? report_json : report_text)(&report);
    if (arguments.svg)
        picture_write(arguments.svg, &trace, results[0].composition, &results[0].survey,
                      &results[0].snapshot);
    int code = 0;
    for (size_t i = 0; i < arguments.composition_count; i++) {
        if (results[i].faults.error_count > 0) {
            fprintf(stderr,
                    "jalloc-replay: %s: %zu frees were refused; the first, operation %zu of the "
                    "trace: %s\n",
                    results[i].composition, results[i].faults.error_count,
                    results[i].faults.first_error, results[i].faults.error_message);
            code = REPLAY_FAILED;
        }
        snapshot_free(&results[i].snapshot);
    }
    free(results);
    trace_free(&trace);
    if (fflush(stdout) != 0 || ferror(stdout))
        replay_exit(REPLAY_FAILED, "standard output cannot be written");
    return code;
}
