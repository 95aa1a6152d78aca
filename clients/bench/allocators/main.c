/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc's allocators against the best that others have, in one process.
 *
 *     bench_allocators [SECONDS] [--peers LIB.so...] [--only SECTION,...] [--threads N] [--traces
 *     FILE.csv...]
 *
 * fixed, mixes, traces
 *     Pools: bfc, bfc(threads=none) and general against RMM, Umpire, UMF (plug-ins, peer.h) and
 *     TensorFlow's algorithm (built in). All take their memory from the same upstream, whose
 *     addresses nobody touches: a page fault would be the system's time and not the allocator's.
 * held
 *     What a process holds by the system's count while it plays a trace and touches its blocks:
 *     general and bfc over the host's memory, and the mallocs, each in a process of its own
 *     (held.h).
 * malloc
 *     general against the mallocs of the C library, mimalloc, jemalloc and tcmalloc, which touch
 *     their own blocks.
 * many
 *     A program with two million small live blocks (many.h), of real memory.
 * stacks
 *     What a hit of the cache costs, and an adaptor on top of what lies below it.
 *
 * Each figure is the median of samples that were taken in turn: of processor time where one thread
 * plays a script, so a busy machine does little harm; of the clock where several do, which need a
 * processor each. Nanoseconds are for one operation, which is an allocation or a free, and contain
 * reading the script ("asking alone"). Who is absent is named, and an aim that was not measured is
 * not reached. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "held.h"
#include "many.h"
#include "measure.h"
#include "report.h"

enum {
    MAX_CONTENDERS = REPORT_ROWS,
    LIVE_BLOCKS = 64,
    MANY_BLOCKS = 2000000,
    MANY_BLOCKS_A_SECOND = 2 * MANY_BLOCKS,
    BURST_BLOCKS = 1000,
    MAX_TRACES = REPORT_COLUMNS - 2,
    MAX_LIBRARIES = 16
};

typedef struct options {
    double seconds;   /* of each column of a table */
    const char *only; /* NULL: all sections */
    size_t threads;
    const char *libraries[MAX_LIBRARIES], *traces[MAX_TRACES];
    size_t library_count, trace_count;
} options_t;

enum {
    AIM_BFC,
    AIM_BFC_SINGLE,
    AIM_GENERAL,
    AIM_MIMALLOC,
    AIM_JEMALLOC,
    AIM_LRU,
    AIM_QUOTA,
    AIM_TRACK,
    AIM_BFC_MEMORY,
    AIM_GENERAL_MEMORY,
    AIM_MANY,
    AIM_HELD,
    AIM_HELD_PAUSED,
    AIMS
};
static aim_t aims[AIMS] = {
    [AIM_BFC] = {.what = "bfc, operations/s over the best peer's", .at_least = true, .bound = 3},
    [AIM_BFC_SINGLE] = {.what = "bfc(threads=none), the same", .at_least = true, .bound = 3},
    [AIM_GENERAL] = {.what = "general, the same", .at_least = true, .bound = 3},
    [AIM_MIMALLOC] = {.what = "general, operations/s over mimalloc's",
                      .at_least = true,
                      .bound = 1},
    [AIM_JEMALLOC] = {.what = "general, operations/s over jemalloc's",
                      .at_least = true,
                      .bound = 1},
    [AIM_LRU] = {.what = "lru, ns for a hit", .bound = 15},
    [AIM_QUOTA] = {.what = "quota, ns on top of an operation", .bound = 10},
    [AIM_TRACK] = {.what = "track, ns on top of an operation", .bound = 10},
    [AIM_BFC_MEMORY] = {.what = "bfc, reserved over the best peer's, traces", .bound = 1},
    [AIM_GENERAL_MEMORY] = {.what = "general, the same", .bound = 1},
    [AIM_MANY] = {.what = "many small live blocks, time over malloc's", .bound = 2},
    [AIM_HELD] = {.what = "general, held / live over jemalloc's or mimalloc's", .bound = 0.05},
    [AIM_HELD_PAUSED] = {.what = "general, held at the end over jemalloc's", .bound = 1.5},
};

static options_t options = {.seconds = 0.5, .threads = 2};
static contender_t pools[MAX_CONTENDERS], heaps[MAX_CONTENDERS], stacks[MAX_CONTENDERS],
    holders[MAX_CONTENDERS];
static size_t pool_count, heap_count, stack_count, holder_count;
static bool failed; /* something of jalloc's was refused, which nothing here may be */

/* ---- Who takes part ---- */

static contender_t *enter(contender_t *field, size_t *count, contender_t contender) {
    if (*count == MAX_CONTENDERS) {
        fprintf(stderr, "bench_allocators: more than %d contenders: %s is left out\n",
                MAX_CONTENDERS, contender.name);
        return NULL;
    }
    field[*count] = contender;
    return &field[(*count)++];
}

static void enter_jalloc(contender_t *field, size_t *count, const char *composition,
                         contender_kind_t kind) {
    contender_t *entered =
        enter(field, count, (contender_t){.name = composition, .call = {.kind = kind}});
    jstatus_t status;
    if (!entered)
        return;
    if (contender_make(entered, &status)) {
        failed |= !contender_unmake(entered);
        return;
    }
    printf("%s is absent: %s\n", composition, jstatus_last_message());
    failed |= status != JSTATUS_INVALID_CONFIGURATION;
    (*count)--;
}

static contender_t heap_contender(const bench_malloc_t *heap) {
    return (contender_t){.name = heap->name,
                         .call = {CONTENDER_MALLOC, .heap_allocate = heap->allocate,
                                  .heap_deallocate = heap->deallocate}};
}

static void enter_heap(bench_malloc_t heap) {
    if (bench_malloc_load(&heap))
        enter(heaps, &heap_count, heap_contender(&heap));
    else
        printf("%s is absent: %s\n", heap.name, dlerror());
}

/* What asking costs: the script is read, and a call answers with the same address. */
static void *nothing_allocate(size_t bytes) {
    static char block;
    bench_keep(&bytes);
    return &block;
}
static void nothing_deallocate(void *pointer) { bench_keep(pointer); }

static void enter_nothing(contender_t *field, size_t *count) {
    static const bench_malloc_t nothing = {
        .name = "(asking alone)", .allocate = nothing_allocate, .deallocate = nothing_deallocate};
    contender_t *entered = enter(field, count, heap_contender(&nothing));
    if (entered)
        entered->aside = true;
}

static void enter_peer(const bench_peer_t *peer) {
    enter(pools, &pool_count,
          (contender_t){.name = peer->name, .call = {CONTENDER_PEER, .peer = peer}});
}

/* A plug-in is never closed: what it has registered with the process stays. */
static void enter_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, BENCH_PEER_GET) : NULL;
    if (!symbol) {
        printf("%s is absent: %s\n", path, dlerror());
        return;
    }
    bench_peer_get_t get;
    memcpy(&get, &symbol, sizeof get);
    const bench_peer_t *peer;
    for (size_t i = 0; (peer = get(i)) != NULL; i++)
        if (strcmp(peer->name, bench_tensorflow_bfc.name) != 0)
            enter_peer(peer);
}

static void enter_all(void) {
    enter_jalloc(pools, &pool_count, "bfc", CONTENDER_JALLOC);
    enter_jalloc(pools, &pool_count, "bfc(threads=none)", CONTENDER_JALLOC);
    enter_jalloc(pools, &pool_count, "general", CONTENDER_JALLOC);
    enter_peer(&bench_tensorflow_bfc);
    for (size_t i = 0; i < options.library_count; i++)
        enter_library(options.libraries[i]);
    if (options.library_count == 0)
        puts("RMM, Umpire and UMF are absent: --peers names their plug-ins");
    enter_nothing(pools, &pool_count);

    enter_jalloc(heaps, &heap_count, "general", CONTENDER_JALLOC_AS_MALLOC);
    enter_heap((bench_malloc_t)BENCH_MALLOC);
    enter_heap((bench_malloc_t)BENCH_MIMALLOC2);
    enter_heap((bench_malloc_t)BENCH_MIMALLOC3);
    enter_heap((bench_malloc_t)BENCH_JEMALLOC);
    enter_heap((bench_malloc_t)BENCH_TCMALLOC);
    enter_nothing(heaps, &heap_count);

    enter_jalloc(holders, &holder_count, "general", CONTENDER_JALLOC_AS_MALLOC);
    enter_jalloc(holders, &holder_count, "bfc", CONTENDER_JALLOC_AS_MALLOC);
    for (size_t i = 0; i < heap_count; i++)
        if (heaps[i].call.kind == CONTENDER_MALLOC && !heaps[i].aside)
            enter(holders, &holder_count, heaps[i]);

    enter_jalloc(stacks, &stack_count, "lru", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "lru(threads=none)", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "lru+track", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "lru+quota(budget=bench,limit=16GiB)", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "bfc", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "bfc+track", CONTENDER_JALLOC);
    enter_jalloc(stacks, &stack_count, "bfc+quota(budget=bench,limit=16GiB)", CONTENDER_JALLOC);
    enter_nothing(stacks, &stack_count);
}

/* ---- Workloads ---- */

static void text_of_size(size_t bytes, char *text, size_t length) {
    if (bytes >= (size_t)1 << 20)
        snprintf(text, length, "%zu MiB", bytes >> 20);
    else if (bytes >= (size_t)1 << 10)
        snprintf(text, length, "%zu KiB", bytes >> 10);
    else
        snprintf(text, length, "%zu B", bytes);
}

static void begin_table(table_t *table, const contender_t *field, size_t count, int decimals) {
    *table = (table_t){.rows = count, .decimals = decimals};
    for (size_t r = 0; r < count; r++) {
        table->row[r] = field[r].name;
        table->peer[r] = !contender_is_ours(&field[r]) && !field[r].aside;
    }
}

/* Makes everybody anew, lets all play, and fills in a column of `times` for each part: nanoseconds
 * of one of the `operations`. `memory`, if given, gets peak reserved over peak live of the first
 * time a contender played. */
static void run_workload(contender_t *field, size_t count, play_t play, const script_t *first,
                         const script_t *second, double operations, table_t *times,
                         table_t *memory) {
    static job_t jobs[MAX_CONTENDERS];
    size_t row[MAX_CONTENDERS], playing = 0;
    for (size_t r = 0; r < count; r++) {
        job_t *job = &jobs[playing];
        jstatus_t status;
        if (!contender_make(&field[r], &status))
            continue;
        job_init(job, &field[r], play, first, second);
        double seconds[MEASURE_PARTS] = {0};
        job->play(job, 1, seconds);
        if (job->refused) {
            failed |= contender_is_ours(&field[r]);
            failed |= !contender_unmake(&field[r]);
            job_fini(job);
            continue;
        }
        if (memory)
            memory->value[r][memory->columns] =
                (double)field[r].upstream.peak_bytes / (double)first->peak_bytes;
        row[playing++] = r;
    }
    measure(jobs, playing, options.seconds);
    size_t parts = second ? 2 : 1;
    for (size_t j = 0; j < playing; j++) {
        for (size_t part = 0; part < parts; part++)
            times->value[row[j]][times->columns + part] = jobs[j].seconds[part] / operations * 1e9;
        failed |= jobs[j].refused && contender_is_ours(jobs[j].contender);
        failed |= !contender_unmake(jobs[j].contender);
        job_fini(&jobs[j]);
    }
    times->columns += parts;
    if (memory)
        memory->columns++;
}

static bool wanted(const char *section) {
    return !options.only || strstr(options.only, section) != NULL;
}

/* A line of ratios, theirs over ours, and the aim that they are for. */
static void print_ratio(const table_t *times, const char *title, const char *ours, int peer_row,
                        const char *peer_name, aim_t *aim) {
    double ratio[REPORT_COLUMNS] = {0};
    int row = table_find(times, ours);
    for (size_t c = 0; row >= 0 && c < times->columns; c++) {
        int peer = peer_row < 0 ? table_best_peer(times, c) : peer_row;
        if (peer < 0 || times->value[row][c] == 0 || times->value[peer][c] == 0)
            continue;
        ratio[c] = times->value[peer][c] / times->value[row][c];
        if (aim)
            aim_add(aim, ratio[c], title, times->column[c]);
    }
    char name[64];
    snprintf(name, sizeof name, "%s : %s", peer_name, ours);
    table_print_line(times, name, ratio, 2);
}

static void print_pools(const table_t *times, const char *title) {
    table_print(times, title, "ns per operation");
    table_note(times, title, "bfc");
    print_ratio(times, title, "bfc", -1, "best", &aims[AIM_BFC]);
    print_ratio(times, title, "bfc(threads=none)", -1, "best", &aims[AIM_BFC_SINGLE]);
    print_ratio(times, title, "general", -1, "best", &aims[AIM_GENERAL]);
}

/* Reserved by ours over reserved by the best peer. */
static void judge_memory(const table_t *memory, const char *title, size_t first_column,
                         const char *ours, aim_t *aim) {
    int row = table_find(memory, ours);
    for (size_t c = first_column; row >= 0 && c < memory->columns; c++) {
        int peer = table_best_peer(memory, c);
        if (peer >= 0)
            aim_add(aim, memory->value[row][c] / memory->value[peer][c], title, memory->column[c]);
    }
}

static const size_t fixed_sizes[] = {64,        256,     1 << 10, 4 << 10,  16 << 10, 64 << 10,
                                     256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
static const size_t small_sizes[] = {64, 256, 1 << 10, 4 << 10};

static void bench_fixed(void) {
    static table_t table;
    for (int random_order = 0; random_order < 2; random_order++) {
        begin_table(&table, pools, pool_count, 1);
        for (size_t s = 0; s < sizeof fixed_sizes / sizeof *fixed_sizes; s++) {
            script_t script = random_order ? script_random_order(fixed_sizes[s], LIVE_BLOCKS)
                                           : script_pair(fixed_sizes[s]);
            text_of_size(fixed_sizes[s], table.column[s], sizeof table.column[s]);
            run_workload(pools, pool_count, play_script, &script, NULL, (double)script.count,
                         &table, NULL);
            script_free(&script);
        }
        print_pools(&table, random_order ? "64 live, freed in random order"
                                         : "allocated and freed at once");
    }
}

static void bench_scripts(void) {
    static table_t times, memory;
    begin_table(&times, pools, pool_count, 1);
    begin_table(&memory, pools, pool_count, 2);
    script_t script;
    size_t mixes = 0;
    for (size_t s = 0; s < 2 + options.trace_count; s++) {
        if (!wanted(s < 2 ? "mixes" : "traces"))
            continue;
        if (s == 0)
            script = script_mix("64 B..16 MiB", 64, 16 << 20, 256);
        else if (s == 1)
            script = script_mix("64 B..4 KiB", 64, 4 << 10, 1024);
        else if (!script_read(options.traces[s - 2], &script)) {
            failed = true;
            continue;
        }
        mixes += s < 2;
        snprintf(times.column[times.columns], sizeof times.column[0], "%.31s", script.name);
        snprintf(memory.column[memory.columns], sizeof memory.column[0], "%.31s", script.name);
        run_workload(pools, pool_count, play_script, &script, NULL, (double)script.count, &times,
                     &memory);
        script_free(&script);
    }
    print_pools(&times, "random mixes and recorded traces");
    static const char title[] = "peak reserved / peak live";
    table_print(&memory, title, "of the first run, as asked for");
    judge_memory(&memory, title, mixes, "bfc", &aims[AIM_BFC_MEMORY]);
    judge_memory(&memory, title, mixes, "general", &aims[AIM_GENERAL_MEMORY]);
}

/* The least of those peers' figures in a column; 0: there is none. */
static double held_by_peer(const table_t *table, size_t column, const char *peer,
                           const char *other) {
    double least = 0;
    for (size_t r = 0; r < table->rows; r++)
        if ((strcmp(table->row[r], peer) == 0 || (other && strcmp(table->row[r], other) == 0)) &&
            table->value[r][column] > 0 && (least == 0 || table->value[r][column] < least))
            least = table->value[r][column];
    return least;
}

static void bench_held(void) {
    enum { LARGEST, END, PAUSED, TRIMMED, MOMENTS };
    static const char *const titles[MOMENTS] = {
        "largest resident set / peak live", "resident at the end / peak live",
        "resident after a pause and a few calls / peak live", "resident after trim / peak live"};
    static table_t tables[MOMENTS];
    for (size_t m = 0; m < MOMENTS; m++)
        begin_table(&tables[m], holders, holder_count, 2);
    for (size_t t = 0; t < options.trace_count; t++) {
        script_t script;
        if (!script_read(options.traces[t], &script)) {
            failed = true;
            continue;
        }
        size_t column = tables[0].columns;
        held_t held[MAX_CONTENDERS];
        failed |= !held_measure(&script, holders, holder_count, held);
        for (size_t r = 0; r < holder_count; r++) {
            double bytes[MOMENTS] = {held[r].largest, held[r].end, held[r].paused, held[r].trimmed};
            for (size_t m = 0; m < MOMENTS; m++)
                tables[m].value[r][column] = bytes[m] / (double)script.peak_bytes;
        }
        for (size_t m = 0; m < MOMENTS; m++)
            snprintf(tables[m].column[tables[m].columns++], sizeof tables[m].column[0], "%.31s",
                     script.name);
        int ours = table_find(&tables[0], "general");
        double peer = held_by_peer(&tables[LARGEST], column, "jemalloc", "mimalloc");
        if (ours >= 0 && peer > 0)
            aim_add(&aims[AIM_HELD], tables[LARGEST].value[ours][column] - peer, titles[LARGEST],
                    script.name);
        peer = held_by_peer(&tables[PAUSED], column, "jemalloc", NULL);
        if (ours >= 0 && peer > 0)
            aim_add(&aims[AIM_HELD_PAUSED], tables[PAUSED].value[ours][column] / peer,
                    titles[PAUSED], script.name);
        script_free(&script);
    }
    for (size_t m = 0; m < MOMENTS; m++)
        table_print(&tables[m], titles[m], "beyond what the process held before");
}

typedef enum pattern_t {
    PATTERN_PAIR,
    PATTERN_LIVE,
    PATTERN_BURST,
    PATTERN_MIX,
    PATTERN_HANDOVER, /* of two threads alone */
    PATTERNS
} pattern_t;
static const char *const patterns[PATTERNS] = {
    [PATTERN_PAIR] = "pair",
    [PATTERN_LIVE] = "64 live, freed in random order",
    [PATTERN_BURST] = "bursts of 1000",
    [PATTERN_MIX] = "1024 live, one replaced",
    [PATTERN_HANDOVER] = "allocated by one, freed by another",
};

static script_t pattern_script(pattern_t pattern, size_t bytes) {
    switch (pattern) {
    case PATTERN_LIVE: return script_random_order(bytes, LIVE_BLOCKS);
    case PATTERN_BURST: return script_burst(bytes, BURST_BLOCKS);
    case PATTERN_MIX: return script_mix("64 B..4 KiB", 64, 4 << 10, 1024);
    default: return script_pair(bytes);
    }
}

static void bench_pattern(pattern_t pattern, size_t threads) {
    static table_t table;
    size_t sizes = pattern == PATTERN_MIX ? 1 : sizeof small_sizes / sizeof *small_sizes;
    begin_table(&table, heaps, heap_count, 1);
    for (size_t s = 0; s < sizes; s++) {
        script_t script = pattern_script(pattern, small_sizes[s]);
        if (pattern == PATTERN_MIX)
            snprintf(table.column[s], sizeof table.column[s], "%.31s", script.name);
        else
            text_of_size(small_sizes[s], table.column[s], sizeof table.column[s]);
        bool handover = pattern == PATTERN_HANDOVER;
        play_t play = handover ? play_handover : threads > 1 ? play_crew : play_script;
        run_workload(heaps, heap_count, play, &script, NULL,
                     handover ? HANDOVER_BLOCKS : (double)script.count, &table, NULL);
        script_free(&script);
    }

    char title[120];
    snprintf(title, sizeof title, "mallocs, %zu thread%s, %s", threads, threads > 1 ? "s" : "",
             patterns[pattern]);
    table_print(&table, title, "ns per operation of a thread");
    table_note(&table, title, "general");
    for (size_t r = 0; r < heap_count; r++)
        if (table.peer[r])
            print_ratio(&table, title, "general", (int)r, table.row[r],
                        strncmp(table.row[r], "mimalloc", 8) == 0 ? &aims[AIM_MIMALLOC]
                        : strcmp(table.row[r], "jemalloc") == 0   ? &aims[AIM_JEMALLOC]
                                                                  : NULL);
}

static void bench_mallocs(void) {
    for (size_t threads = 1; threads <= options.threads;
         threads += options.threads > 1 ? options.threads - 1 : 1) {
        if (!crew_start(threads)) {
            fprintf(stderr, "bench_allocators: no %zu threads\n", threads);
            failed = true;
            return;
        }
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            if (pattern != PATTERN_HANDOVER || threads > 1)
                bench_pattern((pattern_t)pattern, threads);
        crew_stop();
    }
}

/* Stacks whose every allocation is served by what was freed before: a hit. */
static void bench_stacks(void) {
    enum { BLOCKS = 256 };
    static table_t table;
    static const size_t layouts[] = {1, 16};
    begin_table(&table, stacks, stack_count, 1);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        script_t allocate, release;
        script_halves(4096, layouts[l], BLOCKS, &allocate, &release);
        snprintf(table.column[2 * l], sizeof table.column[0], "%zu size%s: allocate", layouts[l],
                 l ? "s" : "");
        snprintf(table.column[2 * l + 1], sizeof table.column[0], "deallocate");
        run_workload(stacks, stack_count, play_halves, &allocate, &release, BLOCKS, &table, NULL);
        script_free(&allocate);
        script_free(&release);
    }
    static const char title[] = "hits of a cache, and adaptors";
    table_print(&table, title, "ns per operation, 256 blocks of multiples of 4 KiB");
    for (size_t r = 0; r < stack_count; r++) {
        const char *name = table.row[r], *plus = strchr(name, '+');
        char base[32], text[64];
        snprintf(base, sizeof base, "%.*s", plus ? (int)(plus - name) : 0, name);
        int below = plus ? table_find(&table, base) : -1;
        double cost[REPORT_COLUMNS] = {0};
        for (size_t c = 0; c < table.columns && table.value[r][c] != 0; c++) {
            if (below >= 0) {
                cost[c] = table.value[r][c] - table.value[below][c];
                snprintf(text, sizeof text, "%s over %s",
                         strchr(plus, 't') == plus + 1 ? "track" : "quota", base);
                aim_add(&aims[strchr(plus, 't') == plus + 1 ? AIM_TRACK : AIM_QUOTA], cost[c], text,
                        table.column[c]);
            } else if (strncmp(name, "lru", 3) == 0 && c % 2 == 0) {
                aim_add(&aims[AIM_LRU], table.value[r][c], name, table.column[c]);
            }
        }
        if (below >= 0)
            table_print_line(&table, text, cost, 1);
    }
}

/* Two million blocks, or as many as there is time for. */
static void bench_many(void) {
    static table_t table;
    const double blocks = options.seconds * MANY_BLOCKS_A_SECOND;
    failed |= !many_run(blocks < MANY_BLOCKS ? (size_t)blocks + 1 : MANY_BLOCKS, &table);

    static const char title[] = "many small live blocks";
    table_print(&table, title, "ns per operation, 16 to 256 bytes");
    for (size_t r = 1; r < table.rows; r++) {
        double ratio[REPORT_COLUMNS] = {0};
        char name[64];
        for (size_t c = 0; c < table.columns; c++)
            ratio[c] = table.value[r][c] / table.value[0][c];
        snprintf(name, sizeof name, "%s : %s", table.row[r], table.row[0]);
        table_print_line(&table, name, ratio, 2);
        aim_add(&aims[AIM_MANY], ratio[table.columns - 1], title, table.row[r]);
    }
}

/* To a sanitizer: tcmalloc keeps what it registers when it is loaded, out of its sight. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libtcmalloc"; }

/* ---- The command line ---- */

static int usage(void) {
    fprintf(stderr,
            "usage: bench_allocators [SECONDS] [--peers LIB.so...] [--only SECTION,...] [--threads "
            "N] [--traces FILE.csv...]\n"
            "  SECONDS    for each column of a table, %g unless given\n"
            "  --peers    plug-ins of other libraries (clients/bench/peers)\n"
            "  --only     fixed, mixes, traces, held, malloc, many, stacks\n"
            "  --threads  of the comparison with mallocs, %zu unless given\n"
            "  --traces   instead of those of the repository\n",
            options.seconds, options.threads);
    return 2;
}

static bool read_options(int argc, char **argv) {
    static const char *const standard[] = {"training_transformer", "training_lengths",
                                           "training_scratch", "dense_gaussian_process"};
    static char paths[sizeof standard / sizeof *standard][512];
    bool traces_given = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool more = i + 1 < argc;
        if (strcmp(word, "--peers") == 0) {
            while (i + 1 < argc && argv[i + 1][0] != '-' && options.library_count < MAX_LIBRARIES)
                options.libraries[options.library_count++] = argv[++i];
        } else if (strcmp(word, "--traces") == 0) {
            traces_given = true;
            while (i + 1 < argc && argv[i + 1][0] != '-' && options.trace_count < MAX_TRACES)
                options.traces[options.trace_count++] = argv[++i];
        } else if (strcmp(word, "--only") == 0 && more) {
            options.only = argv[++i];
        } else if (strcmp(word, "--threads") == 0 && more) {
            options.threads = (size_t)atoi(argv[++i]);
        } else if (isdigit((unsigned char)word[0]) || word[0] == '.') {
            options.seconds = atof(word);
        } else {
            return false;
        }
    }
    for (size_t i = 0; !traces_given && i < sizeof standard / sizeof *standard; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s.csv", BENCH_TRACES, standard[i]);
        options.traces[options.trace_count++] = paths[i];
    }
    return options.seconds > 0 && options.threads >= 1 && options.threads <= MEASURE_MAX_THREADS;
}

int main(int argc, char **argv) {
    bench_restart_with_room(argv);
    held_play_if_asked(argc, argv);
    if (!read_options(argc, argv))
        return usage();
    enter_all();
    if (wanted("fixed"))
        bench_fixed();
    if (wanted("mixes") || wanted("traces"))
        bench_scripts();
    if (wanted("held"))
        bench_held();
    if (wanted("malloc"))
        bench_mallocs();
    if (wanted("many"))
        bench_many();
    if (wanted("stacks"))
        bench_stacks();
    aims_print(aims, AIMS);
    if (failed)
        fprintf(stderr, "bench_allocators: not everything went as it must\n");
    return failed;
}
