/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* MPI begins before main() and ends after it, so that GoogleTest's output can be turned away from
 * the first line on: that of ranks above 0 goes to a file that nobody sees, and from there to
 * standard error when a test has failed. */

#include "mpi_fixture.h"

#include "mpi/distributed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing here takes so long; a test that waits for ever should at least say which it is. */
#define HANG_S 240

static int world_rank, world_size;
static FILE *hidden; /* what ranks above 0 print */

/* Shows what was printed since the last call if a check has failed meanwhile, or forgets it. */
static void hidden_flush(void) {
    static uint64_t failures;
    if (hidden == NULL)
        return;
    const bool show = jtest_failure_count() != failures;
    failures = jtest_failure_count();
    fflush(stdout);
    char text[4096];
    size_t length;
    rewind(hidden);
    if (show)
        fprintf(stderr, "---- rank %d ----\n", world_rank);
    while (show && (length = fread(text, 1, sizeof text, hidden)) > 0)
        fwrite(text, 1, length, stderr);
    rewind(hidden);
    if (ftruncate(fileno(hidden), 0) != 0)
        perror("mpi_fixture");
}

/* What a runtime that outlives MPI says. No test can look at that, since MPI ends but once: the
 * program fails. */
static void fixture_end(void) {
    hidden_flush();
    jruntime_t *runtime = NULL, *late = NULL;
    const bool made = jruntime_create_mpi(MPI_COMM_WORLD, &runtime) == JSTATUS_SUCCESS;
    MPI_Finalize();
    if (!made || jruntime_agree(runtime, JSTATUS_SUCCESS) != JSTATUS_DEVICE_ERROR ||
        jruntime_create_mpi(MPI_COMM_WORLD, &late) != JSTATUS_INVALID_VALUE ||
        jruntime_release(runtime) != JSTATUS_SUCCESS) {
        fprintf(stderr, "rank %d: a runtime after MPI_Finalize(): %s\n", world_rank,
                jstatus_last_message());
        _exit(1);
    }
}

static void __attribute__((constructor)) fixture_begin(void) {
    int provided;
    char seed[32] = "";
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    atexit(fixture_end);
    if (getenv("JALLOC_TEST_SEED"))
        snprintf(seed, sizeof seed, "%s", getenv("JALLOC_TEST_SEED"));
    /* Whatever each was told: one for all. */
    MPI_Bcast(seed, sizeof seed, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (seed[0] != '\0')
        setenv("JALLOC_TEST_SEED", seed, 1);
    if (world_rank == 0)
        return;
    unsetenv("GTEST_OUTPUT"); /* one report is enough */
    hidden = tmpfile();
    if (hidden == NULL || dup2(fileno(hidden), STDOUT_FILENO) < 0)
        perror("mpi_fixture");
}

static void fixture_hang(int number) {
    (void)number;
    static const char text[] = " waits for ever\n";
    const char *name = jtest_name();
    if (write(STDERR_FILENO, name, strlen(name)) < 0 ||
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(3);
    _exit(2);
}

static bool all_of(MPI_Comm communicator, bool mine) {
    int well = mine, all = 0;
    MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, communicator);
    return all != 0;
}

bool jmpi_all_well(const jmpi_t *mpi) { return all_of(mpi->communicator, !jtest_has_failure()); }

bool jmpi_same(const jmpi_t *mpi, const char *file, int line, const char *text, long long value) {
    long long mine[2] = {value, -value}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_LONG_LONG, MPI_MIN, mpi->communicator);
    if (least[0] == -least[1])
        return true;
    jtest_fail(file, line, "%s differs between ranks: %lld on rank %d, others have %lld to %lld",
               text, value, mpi->rank, least[0], -least[1]);
    return false;
}

void jmpi_fail_metadata_on(const jmpi_t *mpi, int victim, uint64_t n) {
    jtest_fail_metadata_after(mpi->rank == victim ? n : 0);
}

bool jmpi_metadata_failed_on(const jmpi_t *mpi, int victim) {
    int failed = jtest_metadata_failed();
    jtest_fail_metadata_after(0);
    MPI_Bcast(&failed, 1, MPI_INT, victim, mpi->communicator);
    return failed != 0;
}

void jmpi_run(const char *file, int line, int ranks, int node_processes,
              void (*body)(const jmpi_t *, const void *), const void *parameter) {
    if (ranks > world_size) {
        jtest_skip(file, line, "it takes more ranks than there are");
        return;
    }
    hidden_flush(); /* what the last test's end had to say */
    if (getenv("JALLOC_TEST_MODULES"))
        jtest_setenv("JALLOC_MODULE_PATH", getenv("JALLOC_TEST_MODULES"));
    signal(SIGALRM, fixture_hang);
    alarm(HANG_S);
    const bool takes_part = ranks == 0 || world_rank < ranks;
    jmpi_t mpi = {MPI_COMM_NULL, -1, 0, NULL};
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, world_rank, &mpi.communicator);
    if (takes_part) {
        MPI_Comm_rank(mpi.communicator, &mpi.rank);
        MPI_Comm_size(mpi.communicator, &mpi.size);
        JEXPECT_OK(ji_runtime_create_mpi(mpi.communicator, node_processes, &mpi.runtime));
        if (jmpi_all_well(&mpi)) {
            body(&mpi, parameter);
            JEXPECT_OK(jruntime_release(mpi.runtime));
        }
        MPI_Comm_free(&mpi.communicator);
    }
    const bool mine = !jtest_has_failure(), all = all_of(MPI_COMM_WORLD, mine);
    alarm(0);
    if (mine && !all)
        jtest_fail(file, line, "the test failed on another rank");
    hidden_flush();
}
