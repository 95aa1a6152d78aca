/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "world.h"

#ifdef BENCH_HAVE_MPI
#include "jalloc/mpi.h"
#endif

#define SAMPLE_SECONDS 200e-6 /* of one sample, at least: waking a process is a fiftieth of it */
#define MOST_REPEATS ((size_t)1 << 16)

world_t world = {.count = 1, .seconds = 0.5};

static bool alone; /* rank 0 does something by itself */

#ifdef BENCH_HAVE_MPI
void world_begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.count);
    MUST(jruntime_create_mpi(MPI_COMM_WORLD, &world.runtime));
    MUST(jhandle_create(NULL, &world.handle));
}

void world_end(void) {
    MUST(jhandle_destroy(world.handle));
    MUST(jruntime_release(world.runtime));
    MPI_Finalize();
}

void world_stop(const char *file, int line, const char *what, const char *why) {
    fprintf(stderr, "bench_buffer: %s:%d: process %d: %s: %s\n", file, line, world.rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void meet(void) {
    if (!alone)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The largest of all processes. */
static double most(double mine) {
    double all = mine;
    if (!alone)
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* A barrier that takes no processor. */
static void meet_asleep(void) {
    const struct timespec pause = {0, 2000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

#else
void world_begin(int *argc, char ***argv) {
    (void)argc, (void)argv;
    MUST(jruntime_create(&world.runtime));
    MUST(jhandle_create(NULL, &world.handle));
}

void world_end(void) {
    MUST(jhandle_destroy(world.handle));
    MUST(jruntime_release(world.runtime));
}

void world_stop(const char *file, int line, const char *what, const char *why) {
    fprintf(stderr, "bench_buffer: %s:%d: %s: %s\n", file, line, what, why);
    exit(1);
}

static void meet(void) {}
static double most(double mine) { return mine; }
static void meet_asleep(void) {}
#endif

void world_alone(void (*work)(void)) {
    alone = true;
    if (world.rank == 0)
        work();
    alone = false;
    meet_asleep();
}

static double sample(bench_function_t function, void *context, size_t repeat) {
    meet();
    const double start = bench_now();
    for (size_t i = 0; i < repeat; i++)
        function(context);
    meet();
    return most(bench_now() - start);
}

static size_t calibrate(bench_function_t function, void *context) {
    size_t repeat = 1;
    while (sample(function, context, repeat) < SAMPLE_SECONDS && repeat < MOST_REPEATS)
        repeat *= 2;
    return repeat;
}

bench_result_t world_compare(bench_function_t ours, bench_function_t peer, void *context) {
    static double samples[2][BENCH_MAX_SAMPLES];
    bench_function_t ways[2] = {ours, peer};
    const size_t repeats[2] = {calibrate(ours, context), calibrate(peer, context)};
    double spent = 0;
    size_t round = 0;
    for (; round < BENCH_MAX_SAMPLES && (round < BENCH_MIN_SAMPLES || spent < world.seconds);
         round++)
        for (size_t turn = 0; turn < 2; turn++) {
            const size_t way = (round + turn) % 2;
            const double seconds = sample(ways[way], context, repeats[way]);
            samples[way][round] = seconds / (double)repeats[way];
            spent += seconds;
        }
    bench_result_t result = {.ours = bench_median(samples[0], round),
                             .peer = bench_median(samples[1], round),
                             .samples = round};
    result.ratio = result.peer / result.ours;
    return result;
}
