/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The loop that is timed, and the threads that run it.
 *
 * A block's place says what has become of it: NULL, an address, or refused. With threads, each has
 * the operations that its thread in the trace did, in their order, and nothing else orders them but
 * this: a free waits until the block is there. No circle of waiting can arise, because each waits
 * only for what came earlier in the trace. So threads drift apart further than they did when the
 * trace was recorded, and more can be in use at once.
 *
 *     thread 0   a1 ---- a2 ----------- f1 ---- f3      f3 waits for a3
 *     thread 1        a3 ---------- f2 ----------       f2 waits for a2
 *
 * A free of what was refused is left out. Two rounds never overlap; between them what lives is
 * freed, untimed. */

#include "play.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/tool.h"

/* The place of a block that was refused: an address that no allocator gives. */
static char player_refused;
#define PLAY_REFUSED ((void *)&player_refused)

/* Operations in the order in which one thread does them. */
typedef struct worker {
    player_t *player;
    const operation_t *operations;
    size_t count;
    bool touch;
    const uint32_t *numbers; /* of the operations in the trace; NULL: 0, 1, ... */
    play_faults_t *faults;
    atomic_int *start; /* 0: wait, 1: go, -1: leave */
    double end_seconds;
    pthread_t thread;
} worker_t;

static double play_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- One operation ---- */

__attribute__((noinline, cold)) static void worker_note_failure(worker_t *worker, size_t i) {
    play_faults_t *faults = worker->faults;
    if (faults->failure_count++ == 0) {
        faults->first_failure = worker->numbers ? worker->numbers[i] : i;
        snprintf(faults->failure_message, sizeof faults->failure_message, "%s",
                 jstatus_last_message());
    }
}

__attribute__((noinline, cold)) static void worker_note_error(worker_t *worker, size_t i) {
    play_faults_t *faults = worker->faults;
    atomic_store_explicit(&worker->player->refused, true, memory_order_relaxed);
    if (faults->error_count++ == 0) {
        faults->first_error = worker->numbers ? worker->numbers[i] : i;
        snprintf(faults->error_message, sizeof faults->error_message, "%s", jstatus_last_message());
    }
}

static void worker_touch(void *pointer, size_t size_bytes) {
    enum { PAGE_BYTES = 4096 }; /* the smallest there is */
    for (size_t offset = 0; offset < size_bytes; offset += PAGE_BYTES)
        ((volatile char *)pointer)[offset] = 1;
}

/* Counted after it is allocated and before it is freed, so never more than the allocator has
 * given. */
static void worker_count(player_t *player, size_t size_bytes) {
    size_t now =
        atomic_fetch_add_explicit(&player->in_use_bytes, size_bytes, memory_order_relaxed) +
        size_bytes;
    size_t peak = atomic_load_explicit(&player->peak_in_use_bytes, memory_order_relaxed);
    while (now > peak &&
           !atomic_compare_exchange_weak_explicit(&player->peak_in_use_bytes, &peak, now,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

static inline int worker_allocate(worker_t *worker, size_t i) {
    player_t *player = worker->player;
    const operation_t *operation = &worker->operations[i];
    void *pointer = NULL;
    if (player->tags)
        jtag_set(player->tags[player->trace->blocks[operation->block].tag]);
    jstatus_t status = jallocator_allocate(player->allocator, operation->size_bytes,
                                           operation_alignment(operation),
                                           player->streams[operation->stream], &pointer);
    if (jstatus_is_error(status)) {
        worker_note_failure(worker, i);
        pointer = PLAY_REFUSED;
    } else {
        if (worker->touch)
            worker_touch(pointer, operation->size_bytes);
        if (player->counted)
            worker_count(player, operation->size_bytes);
    }
    atomic_store_explicit(&player->blocks[operation->block], pointer, memory_order_release);
    return pointer != PLAY_REFUSED;
}

/* Until another thread has allocated the block. On a busy machine that thread may not be running at
 * all: after a while the processor is left to it. */
__attribute__((noinline, cold)) static void *worker_wait(_Atomic(void *) *block) {
    static const struct timespec pause = {0, 50000};
    void *pointer;
    for (int tries = 0; !(pointer = atomic_load_explicit(block, memory_order_acquire)); tries++)
        if (tries < 100)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    return pointer;
}

static inline int worker_free(worker_t *worker, size_t i) {
    player_t *player = worker->player;
    const operation_t *operation = &worker->operations[i];
    void *pointer = atomic_load_explicit(&player->blocks[operation->block], memory_order_acquire);
    if (!pointer)
        pointer = worker_wait(&player->blocks[operation->block]);
    if (pointer == PLAY_REFUSED)
        return 0;
    if (player->counted)
        atomic_fetch_sub_explicit(&player->in_use_bytes, operation->size_bytes,
                                  memory_order_relaxed);
    jstatus_t status = jallocator_deallocate(player->allocator, pointer, operation->size_bytes,
                                             player->streams[operation->stream]);
    if (jstatus_is_error(status))
        worker_note_error(worker, i);
    return -1;
}

/* What the trace was refused: asked for again and given back, where that is wanted. */
static int worker_retry(worker_t *worker, size_t i) {
    if (!worker->player->options->retry_failures || !worker_allocate(worker, i))
        return 0;
    worker->faults->served_count++;
    worker_free(worker, i);
    return 0;
}

static inline int worker_step(worker_t *worker, size_t i) {
    switch (worker->operations[i].action) {
    case ACTION_ALLOCATE: return worker_allocate(worker, i);
    case ACTION_FREE: return worker_free(worker, i);
    default: return worker_retry(worker, i);
    }
}

int player_step(player_t *player, size_t operation) {
    worker_t worker = {
        .player = player, .operations = player->trace->operations, .faults = &player->faults};
    return worker_step(&worker, operation);
}

/* ---- All operations ---- */

static void worker_run(worker_t *worker) {
    for (size_t i = 0; i < worker->count; i++)
        worker_step(worker, i);
    worker->end_seconds = play_now();
}

static void *worker_main(void *argument) {
    worker_t *worker = argument;
    int start;
    while ((start = atomic_load_explicit(worker->start, memory_order_acquire)) == 0)
        sched_yield();
    if (start > 0)
        worker_run(worker);
    return NULL;
}

/* The operations by thread, each thread's in its order: a counting sort. */
static void player_deal(const trace_t *trace, operation_t *operations, uint32_t *numbers,
                        worker_t *workers) {
    size_t *next = tool_allocate(trace->thread_count + 1, sizeof *next);
    for (size_t i = 0; i < trace->operation_count; i++)
        next[trace->threads[i] + 1]++;
    for (size_t thread = 0; thread < trace->thread_count; thread++) {
        workers[thread].operations = operations + next[thread];
        workers[thread].numbers = numbers + next[thread];
        workers[thread].count = next[thread + 1];
        next[thread + 1] += next[thread];
    }
    for (size_t i = 0; i < trace->operation_count; i++) {
        size_t place = next[trace->threads[i]]++;
        operations[place] = trace->operations[i];
        numbers[place] = (uint32_t)i;
    }
    free(next);
}

/* What a thread met joins what the others met; of the messages the earliest is kept. */
static void player_add_faults(play_faults_t *all, const play_faults_t *more) {
    if (more->failure_count > 0 &&
        (all->failure_count == 0 || more->first_failure < all->first_failure)) {
        all->first_failure = more->first_failure;
        memcpy(all->failure_message, more->failure_message, sizeof all->failure_message);
    }
    if (more->error_count > 0 && (all->error_count == 0 || more->first_error < all->first_error)) {
        all->first_error = more->first_error;
        memcpy(all->error_message, more->error_message, sizeof all->error_message);
    }
    all->failure_count += more->failure_count;
    all->served_count += more->served_count;
    all->error_count += more->error_count;
}

static double player_run_threads(player_t *player) {
    const trace_t *trace = player->trace;
    operation_t *operations = tool_allocate(trace->operation_count, sizeof *operations);
    uint32_t *numbers = tool_allocate(trace->operation_count, sizeof *numbers);
    worker_t *workers = tool_allocate(trace->thread_count, sizeof *workers);
    play_faults_t *faults = tool_allocate(trace->thread_count, sizeof *faults);
    atomic_int start = 0;
    size_t started = 0;
    player_deal(trace, operations, numbers, workers);
    for (; started < trace->thread_count; started++) {
        worker_t *worker = &workers[started];
        worker->player = player;
        worker->touch = player->options->touch;
        worker->faults = &faults[started];
        worker->start = &start;
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            break;
    }
    double begin = play_now(), end = begin;
    atomic_store_explicit(&start, started == trace->thread_count ? 1 : -1, memory_order_release);
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        player_add_faults(&player->faults, &faults[i]);
        end = workers[i].end_seconds > end ? workers[i].end_seconds : end;
    }
    if (started < trace->thread_count)
        tool_fail("the trace has %zu threads, and no more than %zu can be started",
                  trace->thread_count, started);
    free(operations);
    free(numbers);
    free(workers);
    free(faults);
    return end - begin;
}

double player_run(player_t *player) {
    if (player->options->threads)
        return player_run_threads(player);
    worker_t worker = {.player = player,
                       .operations = player->trace->operations,
                       .count = player->trace->operation_count,
                       .touch = player->options->touch,
                       .faults = &player->faults};
    double begin = play_now();
    worker_run(&worker);
    return worker.end_seconds - begin;
}

void *player_block(const player_t *player, size_t block) {
    void *pointer = atomic_load_explicit(&player->blocks[block], memory_order_relaxed);
    return pointer != PLAY_REFUSED ? pointer : NULL;
}

jallocator_t *player_provider(const player_t *player) {
    jallocator_t *allocator = player->allocator;
    for (jallocator_t *below; (below = jallocator_below(allocator));)
        allocator = below;
    return allocator;
}

size_t player_reserved(const player_t *player, size_t *peak_bytes) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    jallocator_get_stats(player_provider(player), &stats);
    *peak_bytes = stats.peak_reserved_bytes;
    return stats.reserved_bytes;
}

void player_free_live(player_t *player, size_t operation) {
    worker_t worker = {
        .player = player, .operations = player->trace->operations, .faults = &player->faults};
    for (size_t i = 0; i < player->trace->block_count; i++) {
        const block_t *block = &player->trace->blocks[i];
        void *pointer = player_block(player, i);
        if (!pointer || block->address == 0 ||
            (block->freed_by != NEVER && block->freed_by <= operation))
            continue;
        const operation_t *allocation = &player->trace->operations[block->allocated_by];
        jstatus_t status = jallocator_deallocate(player->allocator, pointer, block->size_bytes,
                                                 player->streams[allocation->stream]);
        if (jstatus_is_error(status))
            worker_note_error(&worker, block->allocated_by);
    }
}

/* ---- Beginning and end ---- */

void player_reset(player_t *player) {
    for (size_t i = 0; i < player->trace->block_count; i++)
        atomic_store_explicit(&player->blocks[i], NULL, memory_order_relaxed);
    memset(&player->faults, 0, sizeof player->faults);
}

void player_init(player_t *player, const trace_t *trace, const play_options_t *options,
                 const char *composition) {
    memset(player, 0, sizeof *player);
    player->trace = trace;
    player->options = options;
    if (jstatus_is_error(jallocator_compose(options->device, composition, &player->allocator)))
        tool_fail("allocator '%s': %s", composition, jstatus_last_message());
    player->blocks = tool_allocate(trace->block_count, sizeof *player->blocks);
    player->streams = tool_allocate(trace->stream_count, sizeof(jstream_t *));
    for (size_t i = 1; options->streams && i < trace->stream_count; i++)
        if (jstatus_is_error(jstream_create(options->device, &player->streams[i])))
            tool_fail("stream %zu of %zu: %s", i, trace->stream_count, jstatus_last_message());
    if (trace->tags.count > 1) {
        player->tags = tool_allocate(trace->tags.count, sizeof *player->tags);
        for (uint32_t i = 0; i < trace->tags.count; i++)
            player->tags[i] = jtag_intern(trace->tags.names[i]);
    }
}

void player_fini(player_t *player) {
    if (jstatus_is_error(jallocator_destroy(player->allocator)) &&
        !atomic_load_explicit(&player->refused, memory_order_relaxed))
        tool_fail("the allocator cannot be destroyed: %s", jstatus_last_message());
    for (size_t i = 1; i < player->trace->stream_count; i++)
        jstream_destroy(player->streams[i]);
    free((void *)player->blocks);
    free(player->streams);
    free(player->tags);
}
