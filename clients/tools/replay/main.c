/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-replay: plays a trace on an allocator, and says how fast it was, how much memory it took,
 * and whose.
 *
 * Each allocator is made anew for memory over time, for the state at the peak, and for the clock.
 * The timed rounds of several allocators are taken in turn, so that a machine that becomes slower
 * does so for all of them. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../common/terminal.h"
#include "../common/tool.h"
#include "books.h"
#include "picture.h"
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

enum { OPTION_TOUCH = 256, OPTION_NO_TOUCH, OPTION_RETRY, OPTION_OWNER, OPTION_SVG };

static const tool_option_t options[] = {
    {"allocator", "COMPOSITION", 'a',
     "such as 'bfc(limit=2GiB)+guard', as in JALLOC_ALLOCATOR (general)"},
    {"compare", "COMPOSITION", 'c', "one more, played in turn with the first; may be given again"},
    {"repeat", "COUNT", 'r',
     "timed rounds on one allocator, empty before the first (5); the median counts"},
    {"only", "NAME", 'o', "what this allocator of the trace did (those on top of a composition)"},
    {"device", "NAME", 'd', "whose memory (host)"},
    {"threads", NULL, 't',
     "each thread of the trace is a thread; a free waits for its allocation, and nothing else "
     "keeps them together"},
    {"streams", NULL, 's', "each stream of the trace is a stream; else all use the default stream"},
    {"touch", NULL, OPTION_TOUCH, "timed, write the first byte of each page"},
    {"no-touch", NULL, OPTION_NO_TOUCH, "do not (the default)"},
    {"retry-failures", NULL, OPTION_RETRY,
     "ask again for what the trace was refused, and free it at once; else left out"},
    {"owner", "tag|size|thread|stream|allocator", OPTION_OWNER,
     "what tells blocks apart (tag if there are any, else size)"},
    {"svg", "FILE", OPTION_SVG,
     "draw memory over time and the map of the address space at the peak, of the first allocator"},
    {"json", NULL, 'j', "one JSON object, with everything for each allocator"},
    {"progress", NULL, 'p', "show it, even where standard error is no terminal"},
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {
    {"0", "the trace was played; allocations that failed are counted"},
    {"1", "a free was refused, or the replay could not be carried out"},
    {"2", "wrong usage, a composition or a trace that is not understood"},
    {NULL, NULL}};
static const tool_row_t examples[] = {
    {"JALLOC_RECORD=run.csv ./program", "records every allocator of a program"},
    {"jalloc-replay run.csv", "how fast the default allocator is on it, and how full"},
    {"jalloc-replay -a 'bfc(limit=2GiB)' -c malloc --svg run.svg run.csv",
     "two allocators in turn, and a picture of the first"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-replay",
    .usage = "[OPTION]... FILE",
    .summary = "plays a trace of allocations on an allocator of your choice",
    .about = "FILE is a trace, RMM's log or jalloc's own (-: standard input). It shows how fast "
             "the allocator was, how much memory it took, how that fell apart over time, and whose "
             "it was at the peak.",
    .options = options,
    .notes = "Reserved is what the composition has taken from its provider; bookkeeping, what "
             "jalloc's own records of it take beside. Memory is measured apart from the timed "
             "rounds, in the order of the trace; the peaks of threads in a round of their own. "
             "Blocks that live at the end are freed, untimed.",
    .statuses = statuses,
    .examples = examples,
};

/* ---- Arguments ---- */

static int parse_owner(const char *text) {
    for (int i = 0; owner_by_names[i]; i++)
        if (strcmp(owner_by_names[i], text) == 0)
            return i;
    tool_refuse("--owner wants tag, size, thread, stream or allocator, not '%s'", text);
}

static void parse_device(arguments_t *arguments, const char *name) {
    if (jstatus_is_error(jdevice_get(name, &arguments->play.device)))
        tool_refuse("--device %s: %s", name, jstatus_last_message());
}

static void parse(arguments_t *arguments, int argc, char **argv) {
    arguments->compositions[0] = "general";
    arguments->composition_count = 1;
    arguments->repeat = 5;
    arguments->owner_by = -1;
    arguments->play.device = jdevice_host();
    for (int c; (c = tool_next_option(argc, argv)) != -1;)
        switch (c) {
        case 'a': arguments->compositions[0] = optarg; break;
        case 'c':
            if (arguments->composition_count == MAX_COMPOSITIONS)
                tool_refuse("more than %d allocators", MAX_COMPOSITIONS);
            arguments->compositions[arguments->composition_count++] = optarg;
            break;
        case 'r': arguments->repeat = tool_number("repeat", optarg, 1, MAX_REPEAT); break;
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
        }
    if (optind >= argc)
        tool_refuse("no trace");
    arguments->file = argv[optind++];
    if (optind < argc)
        tool_refuse("unexpected argument '%s': one trace at a time", argv[optind]);
    if (arguments->play.touch && jdevice_kind(arguments->play.device) != JDEVICE_HOST)
        tool_refuse("--touch: the memory of %s cannot be written from here",
                    jdevice_name(arguments->play.device));
}

/* A composition that is not understood is refused before a long trace is read. */
static void check_compositions(const arguments_t *arguments) {
    for (size_t i = 0; i < arguments->composition_count; i++) {
        jallocator_t *allocator;
        if (jstatus_is_error(
                jallocator_compose(arguments->play.device, arguments->compositions[i], &allocator)))
            tool_refuse("%s", jstatus_last_message());
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
    player_t *players = tool_allocate(count, sizeof *players);
    double *seconds = tool_allocate(count * repeat, sizeof *seconds);
    for (size_t i = 0; i < count; i++)
        player_init(&players[i], trace, &arguments->play, arguments->compositions[i]);
    for (size_t round = 0; round < repeat; round++)
        for (size_t i = 0; i < count; i++) {
            tool_progress("timing", round * count + i, repeat * count);
            player_reset(&players[i]);
            seconds[i * repeat + round] = player_run(&players[i]);
            player_free_live(&players[i], trace->operation_count);
            const play_faults_t *faults = &players[i].faults;
            if (faults->failure_count + faults->error_count > 0 &&
                faults->failure_count >= results[i].faults.failure_count)
                results[i].faults = *faults;
        }
    tool_progress_end();
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
    tool_begin(&tool);
    parse(&arguments, argc, argv);
    if (arguments.progress)
        tool_progress_force();
    check_compositions(&arguments);
    trace_read(&trace, arguments.file, arguments.only);
    const owner_by_t owner_by = arguments.owner_by >= 0 ? (owner_by_t)arguments.owner_by
                                : trace.tags.count > 1  ? OWNER_TAG
                                                        : OWNER_SIZE;

    result_t *results = tool_allocate(arguments.composition_count, sizeof *results);
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
    int code = TOOL_GOOD;
    for (size_t i = 0; i < arguments.composition_count; i++) {
        if (results[i].faults.error_count > 0) {
            tool_warn("%s: %zu frees were refused; the first, operation %zu of the trace: %s",
                      results[i].composition, results[i].faults.error_count,
                      results[i].faults.first_error, results[i].faults.error_message);
            code = TOOL_FAILED;
        }
        snapshot_free(&results[i].snapshot);
    }
    free(results);
    trace_free(&trace);
    return tool_end(code);
}
