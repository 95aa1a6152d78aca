/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_MPI_FIXTURE_H
#define JALLOC_CLIENTS_GTEST_MPI_FIXTURE_H

/* Tests that several processes run together.
 *
 *     JMPI_TEST(Redistribute, GivesWhatWasThere, 4) {   on the first 4 ranks; else it is skipped
 *         jbuffer_t *buffer = NULL;
 *         JMPI_ASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
 *         JEXPECT_EQ(element, expected);                notes a failure on this rank alone
 *         JMPI_CHECKPOINT();                            all return if one has failed by now
 *     }
 *
 * mpiexec starts the program on several ranks; each runs all tests, in the same order. A test says
 * how many ranks take part (0: all there are); in its body `mpi` is a const jmpi_t * with their
 * communicator and a runtime made from it, which ends with the test. The others wait at the test's
 * end, where all agree whether anybody failed: then the test has failed on every rank.
 *
 * What returns from a test must do so on all ranks at once, or the others wait for it for ever: use
 * JMPI_ASSERT_* and JMPI_CHECKPOINT() (collective) instead of JASSERT_*, which may be used only for
 * what is the same on all ranks. Random numbers are the same on all ranks, as long as all draw as
 * often.
 *
 * Ranks above 0 print nothing unless a check fails on them. JALLOC_TEST_MODULES names a folder with
 * modules of devices, for tests that exist only with it. */

#include "jtest.h"

#include "jalloc/mpi.h"

typedef struct jmpi {
    MPI_Comm communicator; /* of those that take part */
    int rank, size;        /* in it */
    jruntime_t *runtime;   /* of it */
} jmpi_t;

/* Runs a body on the first `ranks` processes; with machines of `node_processes` pretended (0: as it
 * is). */
void jmpi_run(const char *file, int line, int ranks, int node_processes,
              void (*body)(const jmpi_t *, const void *), const void *parameter);

#define JMPI_TEST_NODES(suite, name, ranks, node_processes)                                        \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi, const void *unused);                 \
    JTEST(suite, name) {                                                                           \
        jmpi_run(__FILE__, __LINE__, ranks, node_processes, jmpi_body_##suite##_##name, NULL);     \
    }                                                                                              \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi,                                      \
                                           __attribute__((unused)) const void *unused)
#define JMPI_TEST(suite, name, ranks) JMPI_TEST_NODES(suite, name, ranks, 0)

/* A test that exists only when the environment variable is set. */
#define JMPI_TEST_ONLY_WITH(variable, suite, name, ranks)                                          \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi, const void *unused);                 \
    JTEST_ONLY_WITH(variable, suite, name) {                                                       \
        jmpi_run(__FILE__, __LINE__, ranks, 0, jmpi_body_##suite##_##name, NULL);                  \
    }                                                                                              \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi,                                      \
                                           __attribute__((unused)) const void *unused)

/* One test for each element of an array; the type has a member `ranks`. In the body `param` points
 * to the element. */
#define JMPI_TEST_P(suite, name, type, array)                                                      \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi, const type *param);                  \
    static void jmpi_call_##suite##_##name(const jmpi_t *mpi, const void *parameter) {             \
        jmpi_body_##suite##_##name(mpi, parameter);                                                \
    }                                                                                              \
    JTEST_P(suite, name, type, array) {                                                            \
        jmpi_run(__FILE__, __LINE__, param->ranks, 0, jmpi_call_##suite##_##name, param);          \
    }                                                                                              \
    static void jmpi_body_##suite##_##name(const jmpi_t *mpi, const type *param)

/* Collective: whether no check has failed on any rank that takes part, since this test began. */
bool jmpi_all_well(const jmpi_t *mpi);
/* Collective: whether the number is the same on all of them; a failure of the test where it is
 * not. */
bool jmpi_same(const jmpi_t *mpi, const char *file, int line, const char *text, long long value);

/* On one rank the n-th allocation of bookkeeping from now on fails, once. */
void jmpi_fail_metadata_on(const jmpi_t *mpi, int victim, uint64_t n);
/* Collective: none fails any more; whether the failure that was asked for has happened. */
bool jmpi_metadata_failed_on(const jmpi_t *mpi, int victim);

#define JMPI_CHECKPOINT()                                                                          \
    do {                                                                                           \
        if (!jmpi_all_well(mpi))                                                                   \
            return;                                                                                \
    } while (0)
#define JMPI_ASSERT_OK(status)                                                                     \
    do {                                                                                           \
        JEXPECT_OK(status);                                                                        \
        JMPI_CHECKPOINT();                                                                         \
    } while (0)
#define JMPI_ASSERT_TRUE(condition)                                                                \
    do {                                                                                           \
        JEXPECT_TRUE(condition);                                                                   \
        JMPI_CHECKPOINT();                                                                         \
    } while (0)
/* A collective function gave this status, and the same to all. */
#define JMPI_EXPECT_SAME_STATUS(status)                                                            \
    ((void)jmpi_same(mpi, __FILE__, __LINE__, #status, (long long)(status)))
/* All ranks got this. */
#define JMPI_EXPECT_ON_ALL(status, expected)                                                       \
    do {                                                                                           \
        const jstatus_t got_ = (status);                                                           \
        JEXPECT_STATUS(got_, expected);                                                            \
        JMPI_EXPECT_SAME_STATUS(got_);                                                             \
    } while (0)

#endif
