/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"

enum { MAX_CONTENDERS = 16, SPINS_BEFORE_YIELD = 1000 };
#define MOST_APART 0.1 /* of a sample's time: whoever begins later was not let on */

typedef struct part {
    _Alignas(64) double begin;
    double end, seconds[CREW_PARTS];
    bool good, disturbed;
} part_t;

/* What all see: in memory that forked processes share. */
struct crew {
    pthread_barrier_t barrier; /* the workers and the program */
    crew_command_t command;
    bool over;
    bool threads;
    size_t contender_count;
    const contender_t *contenders;
    pid_t process[CREW_WORKERS];
    pthread_t thread[CREW_WORKERS];
    part_t part[CREW_WORKERS];
    _Alignas(64) _Atomic size_t arrived;               /* at meetings, since the command */
    _Alignas(64) block_t blocks[CREW_HANDOVER_BLOCKS]; /* being handed over */
};

typedef struct worker {
    crew_t *crew;
    size_t index;
    size_t meetings; /* of this command */
    contender_t contenders[MAX_CONTENDERS];
    player_t players[MAX_CONTENDERS];
} worker_t;

/* ---- Workers ---- */

/* Waits for all who take part in the command; awake, so that they go on together. */
static void meet(worker_t *w) {
    size_t all = ++w->meetings * w->crew->command.workers;
    atomic_fetch_add(&w->crew->arrived, 1);
    for (int spins = 0; atomic_load_explicit(&w->crew->arrived, memory_order_acquire) < all;
         spins++)
        if (spins > SPINS_BEFORE_YIELD)
            sched_yield();
}

/* How often the processor was taken from this thread although it wanted to go on. */
static long interruptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static bool timed_play(worker_t *w, part_t *part) {
    const crew_command_t *command = &w->crew->command;
    const contender_call_t *call = &w->contenders[command->contender].call;
    player_t *player = &w->players[command->contender];
    bool good = play(call, player, command->workload, command->count / 4 + 1);
    meet(w);
    long before = interruptions();
    part->begin = bench_now();
    good &= play(call, player, command->workload, command->count);
    part->end = bench_now();
    part->disturbed = interruptions() != before;
    return good;
}

static bool hand_on(const contender_call_t *call, block_t *blocks, size_t count, size_t bytes) {
    for (size_t i = 0; i < count; i++) {
        blocks[i] = contender_allocate(call, bytes);
        if (!blocks[i])
            return false;
        *contender_memory(call, blocks[i]) = i;
    }
    return true;
}

static bool take_over(const contender_call_t *call, const block_t *blocks, size_t count,
                      size_t bytes, size_t batch) {
    bool good = true;
    if (batch > 1)
        for (size_t i = 0; i < count; i += batch)
            good &= jshared_deallocate_many(call->shared, batch < count - i ? batch : count - i,
                                            blocks + i) == JSTATUS_SUCCESS;
    else
        for (size_t i = 0; i < count; i++)
            good &= contender_deallocate(call, blocks[i], bytes);
    return good;
}

/* In turns, so that each side's time is its own. The first allocation of a turn pays for taking
 * back what the other side has freed; the freeing side has read every block before its clock runs,
 * as whoever uses a block has. */
static bool timed_handover(worker_t *w, part_t *part) {
    const crew_command_t *command = &w->crew->command;
    const contender_call_t call = w->contenders[command->contender].call;
    size_t count = crew_handover_blocks(command->workload), bytes = command->workload->bytes;
    block_t *blocks = w->crew->blocks;
    bool good = true;
    part->seconds[w->index] = 0;
    for (size_t turn = 0; turn < command->count; turn++) {
        if (w->index == 0) {
            long before = interruptions();
            double begin = bench_now();
            good &= hand_on(&call, blocks, count, bytes);
            part->seconds[0] += bench_now() - begin;
            part->disturbed |= interruptions() != before;
        }
        meet(w);
        if (w->index == 1) {
            for (size_t i = 0; i < count; i++)
                good &= blocks[i] && *contender_memory(&call, blocks[i]) == i;
            long before = interruptions();
            double begin = bench_now();
            good = good && take_over(&call, blocks, count, bytes, command->batch);
            part->seconds[1] += bench_now() - begin;
            part->disturbed |= interruptions() != before;
        }
        meet(w);
    }
    return good;
}

static bool obey(worker_t *w, part_t *part) {
    const crew_command_t *command = &w->crew->command;
    const contender_call_t *call = &w->contenders[command->contender].call;
    player_t *player = &w->players[command->contender];
    bool good = true;
    part->disturbed = false;
    switch (command->action) {
    case CREW_JOIN:
        for (size_t c = 0; c < w->crew->contender_count; c++)
            good = contender_join(&w->contenders[c]) && good;
        break;
    case CREW_LEAVE:
        for (size_t c = 0; c < w->crew->contender_count; c++)
            good = contender_leave(&w->contenders[c]) && good;
        break;
    case CREW_FILL: return play_fill(call, player, command->workload);
    case CREW_DRAIN: return play_drain(call, player, true);
    case CREW_DRAIN_MIX: return play_drain(call, player, false);
    case CREW_PLAY: return timed_play(w, part);
    case CREW_HANDOVER: return timed_handover(w, part);
    }
    return good;
}

/* The n-th processor of those that this program may use; -1: there are not so many. */
static int processor_of(size_t n) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set) && n-- == 0)
                return cpu;
    return -1;
}

bool crew_is_pinned(void) { return processor_of(CREW_WORKERS - 1) >= 0; }

static void pin(size_t index) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor_of(index), &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void work(crew_t *crew, size_t index) {
    worker_t *w = calloc(1, sizeof *w);
    if (!w) {
        perror("bench_segment");
        exit(1);
    }
    w->crew = crew;
    w->index = index;
    memcpy(w->contenders, crew->contenders, crew->contender_count * sizeof *w->contenders);
    for (size_t c = 0; c < crew->contender_count; c++)
        w->players[c].stamp = 0x5eedu + index;
    if (crew_is_pinned())
        pin(index);
    for (;;) {
        pthread_barrier_wait(&crew->barrier);
        if (crew->over)
            break;
        w->meetings = 0;
        if (index < crew->command.workers)
            crew->part[index].good = obey(w, &crew->part[index]);
        pthread_barrier_wait(&crew->barrier);
    }
    free(w);
}

/* ---- The program ---- */

static crew_t *living; /* the crew whose processes must not end */

/* Without this the program would wait for a dead worker at the barrier. */
static void on_death(int signal) {
    (void)signal;
    static const char text[] = "bench_segment: a worker died\n";
    for (size_t i = 0; living && i < CREW_WORKERS; i++)
        if (living->process[i] > 0)
            (void)kill(living->process[i], SIGKILL);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

typedef struct start {
    crew_t *crew;
    size_t index;
} start_t;

static void *thread_main(void *argument) {
    start_t start = *(start_t *)argument;
    free(argument);
    work(start.crew, start.index);
    return NULL;
}

static bool start_thread(crew_t *crew, size_t index) {
    start_t *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (start_t){crew, index};
    errno = pthread_create(&crew->thread[index], NULL, thread_main, start);
    if (errno != 0)
        free(start);
    return errno == 0;
}

static bool start_process(crew_t *crew, size_t index) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) {
        crew->process[index] = child;
        return child > 0;
    }
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        work(crew, index);
    _exit(0); /* what the program has to write or to free is the program's */
}

crew_t *crew_start(const contender_t *contenders, size_t count, bool threads) {
    crew_t *crew =
        mmap(NULL, sizeof *crew, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crew == MAP_FAILED || count > MAX_CONTENDERS) {
        perror("bench_segment: workers");
        return NULL;
    }
    crew->contenders = contenders;
    crew->contender_count = count;
    crew->threads = threads;
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&crew->barrier, &attributes, CREW_WORKERS + 1);
    pthread_barrierattr_destroy(&attributes);
    if (!threads) {
        living = crew;
        signal(SIGCHLD, on_death);
    }
    fflush(NULL);
    for (size_t i = 0; i < CREW_WORKERS; i++)
        if (!(threads ? start_thread(crew, i) : start_process(crew, i))) {
            perror("bench_segment: a worker");
            exit(1); /* the others end with the program */
        }
    if (crew_do(crew, (crew_command_t){.action = CREW_JOIN, .workers = CREW_WORKERS}).good)
        return crew;
    (void)crew_end(crew);
    return NULL;
}

crew_result_t crew_do(crew_t *crew, crew_command_t command) {
    crew->command = command;
    atomic_store(&crew->arrived, 0);
    pthread_barrier_wait(&crew->barrier);
    pthread_barrier_wait(&crew->barrier);
    crew_result_t result = {.good = true};
    double first = crew->part[0].begin, last = first;
    for (size_t i = 0; i < command.workers; i++) {
        const part_t *part = &crew->part[i];
        result.good &= part->good;
        result.disturbed |= part->disturbed;
        if (command.action != CREW_PLAY)
            continue;
        first = part->begin < first ? part->begin : first;
        last = part->begin > last ? part->begin : last;
        double seconds = part->end - part->begin;
        result.seconds[0] = seconds > result.seconds[0] ? seconds : result.seconds[0];
    }
    result.disturbed |= last - first > MOST_APART * result.seconds[0];
    for (size_t i = 0; command.action == CREW_HANDOVER && i < CREW_PARTS; i++)
        result.seconds[i] = crew->part[i].seconds[i];
    return result;
}

bool crew_end(crew_t *crew) {
    bool good = crew_do(crew, (crew_command_t){.action = CREW_LEAVE, .workers = CREW_WORKERS}).good;
    if (!crew->threads) {
        signal(SIGCHLD, SIG_DFL);
        living = NULL;
    }
    crew->over = true;
    pthread_barrier_wait(&crew->barrier);
    for (size_t i = 0; i < CREW_WORKERS; i++)
        if (crew->threads)
            pthread_join(crew->thread[i], NULL);
        else
            while (waitpid(crew->process[i], NULL, 0) < 0 && errno == EINTR) {
            }
    pthread_barrier_destroy(&crew->barrier);
    munmap(crew, sizeof *crew);
    return good;
}

size_t crew_handover_blocks(const workload_t *w) {
    size_t most = CREW_HANDOVER_BYTES / w->bytes;
    return most < CREW_HANDOVER_BLOCKS ? most : CREW_HANDOVER_BLOCKS;
}
