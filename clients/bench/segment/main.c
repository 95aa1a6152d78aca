/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Allocation in a shared segment against private heaps, and against Boost.Interprocess.
 *
 *     bench_segment [SECONDS] [--peers PEER,...] [--only SECTION,...]
 *
 * one, two
 *     One process, and two at once in the same segment: blocks of 64 B, 1 KiB and 64 KiB, allocated
 *     and freed at once or 64 at a time in random order, and a random mix (play.h). A private heap
 *     is each process's own, so two processes have two. The aim is what a private heap costs: the C
 *     library's malloc, in a process with one thread, which is when it is quickest.
 *     jallocator_t over the segment has books, tags and checks beside it; its time over the
 *     segment's own, both of the same rounds, is to be at most 1.5.
 * handover
 *     One allocates, another frees: in a segment and in Boost's another process, in a heap another
 *     thread. One at a time, and so many in one call.
 * recovery
 *     A process that owns a million blocks is killed; how long jsegment_recover() takes in another
 *     one.
 *
 * Each figure is the median of samples that were taken in turn, all contenders in each round and
 * another one first each time. They are of the clock, as a contender may wait for a lock; those in
 * which the system gave the processor to somebody else are left out as long as enough remain.
 * Nanoseconds are for an allocation and its free together, and contain the loop and the writing of
 * the block's first word. Below SECONDS of 0.05 the last section has a sixteenth of its memory:
 * then it shows that it runs. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../allocators/report.h"
#include "../bench.h"
#include "contender.h"
#include "crew.h"
#include "play.h"
#include "recovery.h"

enum { MAX_CONTENDERS = 8, MAX_JOBS = 12 };

/* So short that most are not interrupted on a busy machine; bringing workers together shows in
 * none of it. */
#define SAMPLE_SECONDS 500e-6
/* Samples that were not disturbed; a busy machine has this much longer for them: */
#define ENOUGH_QUIET 25
#define MOST_PATIENCE 4 /* times the seconds */
#define SMOKE_SECONDS 0.05

static struct {
    double seconds;           /* of each column of a table */
    const char *peers, *only; /* NULL: all */
} options = {.seconds = 0.5};

static contender_t contenders[MAX_CONTENDERS];
static size_t contender_count;
static bool failed; /* something was refused, lost or overwritten, which nothing here may be */

static const workload_t workloads[] = {
    {"64 B", PLAY_PAIR, 64},
    {"1 KiB", PLAY_PAIR, 1 << 10},
    {"64 KiB", PLAY_PAIR, 64 << 10},
    {"mix", PLAY_MIX, 0},
    {"64 x 64 B", PLAY_ORDER, 64},
    {"64 x 1 KiB", PLAY_ORDER, 1 << 10},
    {"64 x 64 KiB", PLAY_ORDER, 64 << 10},
};
enum {
    WORKLOADS = sizeof workloads / sizeof *workloads,
    AIMED_WORKLOADS = 4,
    HANDOVER_WORKLOADS = 3
};

enum {
    AIM_ONE,
    AIM_ONE_UNSAFE,
    AIM_ADAPTOR,
    AIM_TWO,
    AIM_TWO_UNSAFE,
    AIM_ADAPTOR_TWO,
    AIM_RECOVERY,
    AIMS
};
static aim_t aims[AIMS] = {
    [AIM_ONE] = {.what = "one process, time over malloc's", .bound = 1},
    [AIM_ONE_UNSAFE] = {.what = "one process, threads=none, the same", .bound = 1},
    [AIM_ADAPTOR] = {.what = "one process, jallocator_t's time over the segment's", .bound = 1.5},
    [AIM_TWO] = {.what = "two processes, time over malloc's", .bound = 1},
    [AIM_TWO_UNSAFE] = {.what = "two processes, threads=none, the same", .bound = 1},
    [AIM_ADAPTOR_TWO] = {.what = "two processes, the same", .bound = 1.5},
    [AIM_RECOVERY] = {.what = "recovery, ms", .bound = 1},
};

static const char name_segment[] = "segment", name_unsafe[] = "threads=none",
                  name_adaptor[] = "jallocator_t over a segment",
                  name_boost[] = "Boost.Interprocess";

/* Whether a word is in a list "a,b,c"; NULL is the list of all. */
static bool is_in(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return list == NULL;
}

/* ---- Who takes part ---- */

static void enter(contender_t contender) {
    if (contender_make(&contender))
        contenders[contender_count++] = contender;
    else
        failed = true;
}

static contender_t heap_contender(const bench_malloc_t *heap) {
    return (contender_t){.name = heap->name,
                         .call = {.kind = CONTENDER_HEAP,
                                  .heap_allocate = heap->allocate,
                                  .heap_deallocate = heap->deallocate}};
}

static void enter_heaps(void) {
    bench_malloc_t glibc = BENCH_MALLOC, mimalloc = BENCH_MIMALLOC;
    enter(heap_contender(&glibc));
    if (!is_in(options.peers, mimalloc.name))
        return;
    if (bench_malloc_load(&mimalloc))
        enter(heap_contender(&mimalloc));
    else
        printf("%s is absent: %s\n", mimalloc.name, dlerror());
}

static void enter_boost(void) {
    if (!is_in(options.peers, "boost"))
        return;
    if (boost_heap_version())
        enter((contender_t){.name = name_boost, .call = {.kind = CONTENDER_BOOST}});
    else
        printf("%s is absent: it was not found when this program was built\n", name_boost);
}

static void leave_all(void) {
    for (size_t c = 0; c < contender_count; c++)
        contender_unmake(&contenders[c]);
    contender_count = 0;
}

/* ---- Measuring ---- */

typedef struct job {
    const char *name; /* the contender's */
    crew_t *crew;
    crew_command_t command;
    double per_count;           /* operations that a count of 1 does */
    double seconds[CREW_PARTS]; /* result: median for one operation */
    double samples[BENCH_MAX_SAMPLES][CREW_PARTS];
    bool disturbed[BENCH_MAX_SAMPLES];
    size_t quiet; /* samples that were not */
} job_t;

static crew_result_t sample(job_t *job) {
    crew_result_t result = crew_do(job->crew, job->command);
    if (!result.good) {
        fprintf(stderr, "bench_segment: %s, %s: something was refused or overwritten\n", job->name,
                job->command.workload->name);
        exit(1); /* what it would measure from here on is not known; its workers end with it */
    }
    return result;
}

static void calibrate(job_t *job) {
    for (job->command.count = 1;; job->command.count *= 2) {
        crew_result_t result = sample(job);
        if (result.seconds[0] + result.seconds[1] >= SAMPLE_SECONDS)
            return;
    }
}

static void take_median(job_t *job, size_t rounds) {
    bool all = job->quiet < BENCH_MIN_SAMPLES;
    for (int part = 0; part < CREW_PARTS; part++) {
        double values[BENCH_MAX_SAMPLES];
        size_t count = 0;
        for (size_t r = 0; r < rounds; r++)
            if (all || !job->disturbed[r])
                values[count++] = job->samples[r][part];
        job->seconds[part] =
            bench_median(values, count) / ((double)job->command.count * job->per_count);
    }
}

static bool all_are_quiet(const job_t *jobs, size_t count) {
    for (size_t j = 0; j < count; j++)
        if (jobs[j].quiet < ENOUGH_QUIET)
            return false;
    return true;
}

static void measure(job_t *jobs, size_t count) {
    for (size_t j = 0; j < count; j++) {
        calibrate(&jobs[j]);
        jobs[j].quiet = 0;
    }
    double spent = 0;
    size_t round = 0;
    for (; round < BENCH_MAX_SAMPLES &&
           (round < BENCH_MIN_SAMPLES || spent < options.seconds ||
            (spent < MOST_PATIENCE * options.seconds && !all_are_quiet(jobs, count)));
         round++)
        for (size_t turn = 0; turn < count; turn++) {
            job_t *job = &jobs[(round + turn) % count];
            crew_result_t result = sample(job);
            job->disturbed[round] = result.disturbed;
            for (int part = 0; part < CREW_PARTS; part++) {
                job->samples[round][part] = result.seconds[part];
                spent += result.seconds[part];
            }
            job->quiet += !result.disturbed;
        }
    for (size_t j = 0; j < count; j++)
        take_median(&jobs[j], round);
}

/* ---- One process, two processes ---- */

/* All workers at once fill blocks and find in them what they wrote; what is live meanwhile is
 * counted. Leaves the workload's blocks live if it is the mix, which goes on from there. */
static void check_contents(crew_t *crew, size_t workers, const workload_t *workload, size_t c) {
    crew_command_t command = {.contender = c, .workers = workers, .workload = workload};
    size_t before = contender_live_bytes(&contenders[c]);
    command.action = CREW_FILL;
    bool good = crew_do(crew, command).good;
    size_t filled = contender_live_bytes(&contenders[c]),
           asked = workers * play_filled_bytes(workload);
    if (filled != SIZE_MAX && (filled - before < asked || filled - before > 2 * asked)) {
        fprintf(stderr, "bench_segment: %s, %s: %zu bytes are live, and %zu were asked for\n",
                contenders[c].name, workload->name, filled - before, asked);
        good = false;
    }
    command.action = CREW_DRAIN;
    good = crew_do(crew, command).good && good;
    if (contenders[c].segment && contender_live_bytes(&contenders[c]) != 0) {
        fprintf(stderr, "bench_segment: %s, %s: not all is free again\n", contenders[c].name,
                workload->name);
        good = false;
    }
    command.action = CREW_FILL;
    if (workload->kind == PLAY_MIX)
        good = crew_do(crew, command).good && good;
    if (!good || !contender_is_sound(&contenders[c])) {
        fprintf(stderr, "bench_segment: %s, %s: contents were not as they were written\n",
                contenders[c].name, workload->name);
        exit(1);
    }
}

static void end_workload(crew_t *crew, size_t workers, const workload_t *workload, size_t c) {
    crew_command_t command = {CREW_DRAIN_MIX, c, workers, workload, 0, 0};
    bool good = workload->kind != PLAY_MIX || crew_do(crew, command).good;
    if (good && contender_is_sound(&contenders[c]) &&
        (!contenders[c].segment || contender_live_bytes(&contenders[c]) == 0))
        return;
    fprintf(stderr, "bench_segment: %s, %s: blocks were lost or overwritten\n", contenders[c].name,
            workload->name);
    failed = true;
}

static void print_ratio(const table_t *table, const char *title, const char *ours, const char *peer,
                        aim_t *aim) {
    int row = table_find(table, ours), peer_row = table_find(table, peer);
    if (row < 0 || peer_row < 0)
        return;
    double ratio[REPORT_COLUMNS] = {0};
    for (size_t c = 0; c < table->columns; c++) {
        ratio[c] =
            table->value[peer_row][c] > 0 ? table->value[row][c] / table->value[peer_row][c] : 0;
        if (aim && c < AIMED_WORKLOADS && ratio[c] > 0)
            aim_add(aim, ratio[c], title, table->column[c]);
    }
    char text[64];
    snprintf(text, sizeof text, "%s / %s", ours, peer);
    table_print_line(table, text, ratio, 2);
}

static void bench_processes(crew_t *crew, size_t workers) {
    static job_t jobs[MAX_JOBS];
    table_t table = {.rows = contender_count, .columns = WORKLOADS, .decimals = 1};
    for (size_t c = 0; c < contender_count; c++) {
        table.row[c] = contenders[c].name;
        table.peer[c] = contenders[c].segment == NULL;
    }
    for (size_t w = 0; w < WORKLOADS; w++) {
        snprintf(table.column[w], sizeof table.column[w], "%s", workloads[w].name);
        for (size_t c = 0; c < contender_count; c++) {
            check_contents(crew, workers, &workloads[w], c);
            jobs[c].name = contenders[c].name;
            jobs[c].crew = crew;
            jobs[c].command = (crew_command_t){CREW_PLAY, c, workers, &workloads[w], 0, 0};
            jobs[c].per_count = workloads[w].kind == PLAY_ORDER ? PLAY_ORDER_BLOCKS : 1;
        }
        measure(jobs, contender_count);
        for (size_t c = 0; c < contender_count; c++) {
            table.value[c][w] = jobs[c].seconds[0] * 1e9;
            end_workload(crew, workers, &workloads[w], c);
        }
    }
    const char *title = workers == 1 ? "one process" : "two processes";
    table_print(&table, title, "ns for allocate + free");
    table_note(&table, title, name_segment);
    print_ratio(&table, title, name_segment, "malloc", &aims[workers == 1 ? AIM_ONE : AIM_TWO]);
    print_ratio(&table, title, name_unsafe, "malloc",
                &aims[workers == 1 ? AIM_ONE_UNSAFE : AIM_TWO_UNSAFE]);
    print_ratio(&table, title, name_adaptor, name_segment,
                &aims[workers == 1 ? AIM_ADAPTOR : AIM_ADAPTOR_TWO]);
    print_ratio(&table, title, name_segment, "mimalloc", NULL);
    print_ratio(&table, title, name_unsafe, "mimalloc", NULL);
    print_ratio(&table, title, name_boost, "malloc", NULL);
}

/* ---- Handover ---- */

static void bench_handover(crew_t *processes, crew_t *threads, size_t heaps) {
    static job_t jobs[MAX_JOBS];
    static const size_t batches[] = {1, 16, 64, 256};
    static char names[MAX_JOBS][64];
    table_t table = {.columns = HANDOVER_WORKLOADS * CREW_PARTS, .decimals = 1};
    for (size_t w = 0; w < HANDOVER_WORKLOADS; w++) {
        size_t count = 0;
        for (size_t c = 0; c < contender_count; c++) {
            contender_kind_t kind = contenders[c].call.kind;
            bool batched =
                kind == CONTENDER_SEGMENT && strcmp(contenders[c].name, name_segment) == 0;
            if (contenders[c].segment && !batched)
                continue; /* who has the block's segment open otherwise frees the same way */
            for (size_t b = 0; b < (batched ? sizeof batches / sizeof *batches : 1); b++) {
                size_t row = count++;
                snprintf(names[row], sizeof names[row], batches[b] > 1 ? "%s, %zu in a call" : "%s",
                         contenders[c].name, batches[b]);
                table.row[row] = names[row];
                table.peer[row] = !batched;
                jobs[row].name = names[row];
                jobs[row].crew = kind == CONTENDER_HEAP ? threads : processes;
                jobs[row].command = (crew_command_t){CREW_HANDOVER,
                                                     kind == CONTENDER_HEAP ? c - heaps : c,
                                                     CREW_WORKERS,
                                                     &workloads[w],
                                                     0,
                                                     batches[b]};
                jobs[row].per_count = (double)crew_handover_blocks(&workloads[w]);
            }
        }
        measure(jobs, count);
        table.rows = count;
        snprintf(table.column[2 * w], sizeof table.column[0], "%s: allocate", workloads[w].name);
        snprintf(table.column[2 * w + 1], sizeof table.column[0], "free");
        for (size_t row = 0; row < count; row++)
            for (int part = 0; part < CREW_PARTS; part++)
                table.value[row][2 * w + (size_t)part] = jobs[row].seconds[part] * 1e9;
    }
    table_print(&table, "handover: one allocates, another frees (heaps: another thread)",
                "ns for a block");
}

/* ---- Recovery ---- */

static void bench_recovery(void) {
    bool smoke = options.seconds < SMOKE_SECONDS;
    size_t repeats = smoke ? 2 : 15, scale = smoke ? 16 : 1;
    size_t segment_bytes = ((size_t)1 << 30) / scale, blocks = 1000000 / scale;
    static const struct {
        const char *name;
        size_t bytes;
        bool half;
    } cases[] = {{"64 B", 64, false},
                 {"64 B, half freed", 64, true},
                 {"960 B", 960, false},
                 {"960 B, half freed", 960, true}};
    table_t table = {.row = {"median", "longest"},
                     .rows = 2,
                     .columns = sizeof cases / sizeof *cases,
                     .decimals = 3};
    char title[120];
    snprintf(title, sizeof title, "recovery of a segment of %zu MiB, %zu blocks",
             segment_bytes >> 20, blocks);
    for (size_t i = 0; i < table.columns; i++) {
        double median, longest;
        recovery_t recovery = {segment_bytes, blocks, cases[i].bytes, cases[i].half};
        snprintf(table.column[i], sizeof table.column[i], "%s", cases[i].name);
        if (!recovery_measure(&recovery, repeats, &median, &longest)) {
            failed = true;
            continue;
        }
        table.value[0][i] = median * 1e3;
        table.value[1][i] = longest * 1e3;
        if (!smoke)
            aim_add(&aims[AIM_RECOVERY], median * 1e3, title, cases[i].name);
    }
    table_print(&table, title, "ms");
}

/* ---- The command line ---- */

static void print_processor(void) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            printf("processor: %s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
    if (boost_heap_version())
        printf("Boost: %s\n", boost_heap_version());
    if (!crew_is_pinned())
        printf("fewer than %d processors: two processes take turns\n", CREW_WORKERS);
}

static int usage(void) {
    fprintf(stderr,
            "usage: bench_segment [SECONDS] [--peers PEER,...] [--only SECTION,...]\n"
            "  SECONDS  for each column of a table, %g unless given\n"
            "  --peers  beside malloc, of mimalloc, boost; all unless given\n"
            "  --only   one, two, handover, recovery\n",
            options.seconds);
    return 2;
}

static bool read_options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--peers") == 0 && i + 1 < argc)
            options.peers = argv[++i];
        else if (strcmp(word, "--only") == 0 && i + 1 < argc)
            options.only = argv[++i];
        else if (isdigit((unsigned char)word[0]) || word[0] == '.')
            options.seconds = atof(word);
        else
            return false;
    }
    return options.seconds > 0;
}

static void bench_crews(void) {
    enter((contender_t){.name = name_segment, .call = {.kind = CONTENDER_SEGMENT}});
    enter((contender_t){.name = name_unsafe,
                        .threads = JALLOCATOR_THREADS_NONE,
                        .call = {.kind = CONTENDER_SEGMENT}});
    enter((contender_t){.name = name_adaptor, .call = {.kind = CONTENDER_ALLOCATOR}});
    enter_boost();
    size_t heaps = contender_count; /* they come last, so a crew of threads can have them alone */
    enter_heaps();
    play_draw();
    crew_t *processes = crew_start(contenders, contender_count, false);
    if (!processes) {
        failed = true;
        return;
    }
    if (is_in(options.only, "one"))
        bench_processes(processes, 1);
    if (is_in(options.only, "two"))
        bench_processes(processes, 2);
    if (is_in(options.only, "handover")) {
        crew_t *threads = crew_start(contenders + heaps, contender_count - heaps, true);
        if (threads)
            bench_handover(processes, threads, heaps);
        failed |= !threads || !crew_end(threads);
    }
    failed |= !crew_end(processes);
    leave_all();
}

int main(int argc, char **argv) {
    bench_restart_with_room(argv);
    if (!read_options(argc, argv))
        return usage();
    print_processor();
    if (!options.only || is_in(options.only, "one") || is_in(options.only, "two") ||
        is_in(options.only, "handover"))
        bench_crews();
    if (is_in(options.only, "recovery"))
        bench_recovery();
    aims_print(aims, AIMS);
    if (failed)
        fprintf(stderr, "bench_segment: not everything went as it must\n");
    return failed;
}
