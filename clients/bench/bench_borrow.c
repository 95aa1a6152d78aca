/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a borrow costs: beginning and ending one of 1, 2 or 4 buffers against allocating and freeing
 * as many of the same sizes with the C library's malloc, mimalloc and jemalloc.
 *
 * Nothing touches the memory: page faults, which a malloc that goes to the system brings with it
 * and a workspace does not, are left out, to the peers' advantage. The handle is in manual mode, as
 * in a program that cares. A peer that is not installed is named as absent.
 *
 * Aims: at most 3 ns, and at least 10 times cheaper than any peer from 64 KiB up. */

#include "bench.h"
#include "jalloc/borrow.h"
#include "jalloc/handle.h"
#include "mallocs.h"

/* CALLS per measured call, so that the measuring loop does not count */
enum { CALLS = 32, MAX_BUFFERS = 4 };

typedef struct job {
    jhandle_t *handle;
    const bench_malloc_t *peer;
    size_t bytes;
} job_t;

static void borrow_1(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++) {
        JALLOC_BORROW(ws, job->handle, job->bytes);
        bench_keep(ws.ptr[0]);
    }
}

static void borrow_2(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++) {
        JALLOC_BORROW(ws, job->handle, job->bytes, job->bytes);
        bench_keep(ws.ptr[1]);
    }
}

static void borrow_4(void *context) {
    job_t *job = context;
    for (int i = 0; i < CALLS; i++) {
        JALLOC_BORROW(ws, job->handle, job->bytes, job->bytes, job->bytes, job->bytes);
        bench_keep(ws.ptr[3]);
    }
}

/* The peer's calls go through pointers, so that the compiler cannot remove a pair that it sees
 * through. */
static inline void allocate_and_free(const job_t *job, int buffers) {
    void *ptr[MAX_BUFFERS];
    for (int i = 0; i < CALLS; i++) {
        for (int b = 0; b < buffers; b++)
            bench_keep(ptr[b] = job->peer->allocate(job->bytes));
        for (int b = buffers; b-- > 0;)
            job->peer->deallocate(ptr[b]);
    }
}
static void allocate_1(void *context) { allocate_and_free(context, 1); }
static void allocate_2(void *context) { allocate_and_free(context, 2); }
static void allocate_4(void *context) { allocate_and_free(context, 4); }

static const struct {
    int buffers;
    bench_function_t ours, theirs;
} forms[] = {{1, borrow_1, allocate_1}, {2, borrow_2, allocate_2}, {4, borrow_4, allocate_4}};

static const char *size_text(size_t bytes, char text[32]) {
    if (bytes >= 1 << 20)
        snprintf(text, 32, "%zu MiB", bytes >> 20);
    else if (bytes >= 1 << 10)
        snprintf(text, 32, "%zu KiB", bytes >> 10);
    else
        snprintf(text, 32, "%zu B", bytes);
    return text;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.1; /* of each comparison */
    if (seconds <= 0) {
        fprintf(stderr, "usage: bench_borrow [SECONDS]: of each comparison, 0.1 unless given\n");
        return 2;
    }
    bench_restart_with_room(argv);

    bench_malloc_t peers[] = {BENCH_MALLOC, BENCH_MIMALLOC, BENCH_JEMALLOC};
    enum { PEERS = sizeof peers / sizeof *peers };
    for (int p = 1; p < PEERS; p++)
        if (!bench_malloc_load(&peers[p]))
            printf("%s is absent: %s\n", peers[p].name, dlerror());

    const size_t sizes[] = {64, 4096, 65536, 1 << 20, 64 << 20};
    jhandle_t *handle;
    jstatus_t status = jhandle_create(NULL, &handle);
    if (!jstatus_is_error(status))
        status = jhandle_set_workspace_size(handle, MAX_BUFFERS * (size_t)(64 << 20));
    if (jstatus_is_error(status)) {
        fprintf(stderr, "bench_borrow: %s: %s\n", jstatus_text(status), jstatus_last_message());
        return 1;
    }

    printf("%-8s %7s %9s", "size", "buffers", "borrow ns");
    for (int p = 0; p < PEERS; p++)
        printf(" %11s ns %7s", peers[p].name, "ratio");
    puts("");

    double slowest = 0, least_ratio = 1e9;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            bench_result_t results[PEERS];
            /* The lowest median of the comparisons: a busy neighbour only ever adds. */
            double ours = 1e9;
            for (int p = 0; p < PEERS; p++) {
                job_t job = {handle, &peers[p], sizes[s]};
                results[p] = bench_compare(
                    forms[f].ours, &job, peers[p].allocate ? forms[f].theirs : NULL, &job, seconds);
                ours = results[p].ours < ours ? results[p].ours : ours;
            }
            slowest = ours > slowest ? ours : slowest;
            char text[32];
            printf("%-8s %7d %9.2f", size_text(sizes[s], text), forms[f].buffers,
                   ours / CALLS * 1e9);
            for (int p = 0; p < PEERS; p++) {
                if (!peers[p].allocate) {
                    printf(" %14s %7s", "-", "-");
                    continue;
                }
                printf(" %14.2f %7.1f", results[p].peer / CALLS * 1e9, results[p].ratio);
                char buffers[48];
                snprintf(buffers, sizeof buffers, "%s, %d", text, forms[f].buffers);
                bench_note("borrow", buffers, peers[p].name, "", results[p].ours / CALLS,
                           results[p].peer / CALLS);
                if (sizes[s] >= 65536 && results[p].ratio < least_ratio)
                    least_ratio = results[p].ratio;
            }
            puts("");
        }
    printf("slowest borrow and release: %.2f ns (aim: at most 3); least ratio from 64 KiB up: %.1f "
           "(aim: at least 10)\n",
           slowest / CALLS * 1e9, least_ratio);

    jhandle_stats_t stats = {.struct_size = sizeof stats};
    status = jhandle_get_stats(handle, &stats);
    if (jstatus_is_error(status) || stats.borrow_count == 0 || stats.allocation_count != 1 ||
        stats.misuse_count != 0) {
        fprintf(stderr, "bench_borrow: the borrows did not succeed as they should\n");
        return 1;
    }
    return jstatus_is_error(jhandle_destroy(handle));
}
