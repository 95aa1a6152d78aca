/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Choosing together: memory, environment and failures differ between ranks, the answer does not. */

#include "mpi_fixture.h"

#include "buffer/buffer.h"

#include <stdio.h>
#include <string.h>

static jbuffer_allocator_t *make_best(const jmpi_t *mpi) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_BEST;
    jbuffer_allocator_t *best = NULL;
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &best));
    return best;
}

static jlayout_t matrix(int64_t n) {
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 2, (const int64_t[]){n, n}, JORDER_COLUMN_MAJOR));
    return layout;
}

/* The kind that all choose; -1 where the status was the same error on all. */
static int choose(const jmpi_t *mpi, jbuffer_allocator_t *best, const jlayout_t *layout,
                  jstatus_t expected) {
    jbuffer_allocator_t *chosen = NULL;
    const jstatus_t status = jbuffer_allocator_choose(best, layout, 0, NULL, &chosen);
    JEXPECT_STATUS(status, expected);
    const int kind = chosen != NULL ? (int)chosen->options.kind : -1;
    JEXPECT_EQ(chosen == NULL, status != JSTATUS_SUCCESS);
    (void)jmpi_same(mpi, __FILE__, __LINE__, "the kind", kind);
    JEXPECT_OK(jbuffer_allocator_release(chosen));
    return kind;
}

JMPI_TEST(ChooseMpi, GoesByTheMemoryOfTheFirst, 0) {
    jbuffer_allocator_t *best = make_best(mpi);
    JMPI_CHECKPOINT();
    const jlayout_t layout = matrix(100);
    for (int scarce = 0; scarce < mpi->size; ++scarce) {
        /* Memory for it many times over, but on one rank */
        mpi->runtime->info.node_available_bytes = mpi->rank == scarce ? 1000 : (size_t)1 << 40;
        JEXPECT_EQ(choose(mpi, best, &layout, JSTATUS_SUCCESS), mpi->size > 1 && scarce == 0
                                                                    ? JBUFFER_DISTRIBUTED
                                                                : mpi->size > 1 ? JBUFFER_REPLICATED
                                                                                : JBUFFER_LOCAL);
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
}

JMPI_TEST(ChooseMpi, GoesByTheEnvironmentOfTheFirst, 0) {
    jbuffer_allocator_t *best = make_best(mpi);
    JMPI_CHECKPOINT();
    const jlayout_t layout = matrix(10);
    const char *const names[] = {"local", "replicated", "distributed"};
    for (int kind = 0; kind < 3; ++kind) {
        jtest_setenv("JALLOC_BUFFER", names[(kind + mpi->rank) % 3]);
        JEXPECT_EQ(choose(mpi, best, &layout, JSTATUS_SUCCESS), kind);
    }
    /* One that cannot be understood is refused wherever it is. */
    for (int wrong = 0; wrong < mpi->size; ++wrong) {
        jtest_setenv("JALLOC_BUFFER", mpi->rank == wrong ? "nonsense" : "local");
        JEXPECT_EQ(choose(mpi, best, &layout, JSTATUS_INVALID_CONFIGURATION), -1);
        JEXPECT_SUBSTR(jstatus_last_message(), "nonsense");
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
}

/* Each bookkeeping allocation of the choice and of what it makes, failing on each rank in turn, for
 * each kind. */
JMPI_TEST(ChooseMpi, AFailureOnOneRankIsTheSameOnAll, 0) {
    jbuffer_allocator_t *best = make_best(mpi);
    JMPI_CHECKPOINT();
    const jlayout_t layout = matrix(10);
    const char *const names[] = {"local", "replicated", "distributed"};
    for (int kind = 0; kind < 3; ++kind) {
        jtest_setenv("JALLOC_BUFFER", names[kind]);
        for (int rank = 0; rank < mpi->size; ++rank)
            for (uint64_t n = 1; n < 50; ++n) {
                jbuffer_allocator_t *chosen = NULL;
                if (mpi->rank == rank)
                    jtest_fail_metadata_after(n);
                const jstatus_t status = jbuffer_allocator_choose(best, &layout, 0, NULL, &chosen);
                jtest_fail_metadata_after(0);
                JEXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_MEMORY_ERROR);
                (void)jmpi_same(mpi, __FILE__, __LINE__, "the status", status);
                JEXPECT_OK(jbuffer_allocator_release(chosen));
                JMPI_CHECKPOINT();
                if (status == JSTATUS_SUCCESS)
                    break;
            }
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
}

/* A buffer of the best allocator is made where all agree, and is whole. */
JMPI_TEST(ChooseMpi, BuffersOfABestAllocatorAreWhole, 0) {
    jbuffer_allocator_t *best = make_best(mpi);
    JMPI_CHECKPOINT();
    mpi->runtime->info.node_available_bytes =
        (size_t)mpi->runtime->info.node_processes * 4 * 50 * 50 * 8;
    const int64_t extents[] = {50, 51};
    for (int i = 0; i < 2; ++i) {
        const jlayout_t layout = matrix(extents[i]);
        jbuffer_t *buffer = NULL;
        jbuffer_kind_t kind = JBUFFER_BEST;
        const double value = 3;
        JMPI_ASSERT_OK(jbuffer_construct_value(best, &layout, &value, &buffer));
        JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
        JEXPECT_EQ(kind, mpi->size == 1 ? JBUFFER_LOCAL
                         : i == 0       ? JBUFFER_REPLICATED
                                        : JBUFFER_DISTRIBUTED);
        double element = 0;
        JEXPECT_OK(
            jbuffer_get(buffer, (const int64_t[]){extents[i] - 1, extents[i] / 2}, &element));
        JEXPECT_EQ(element, 3);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(best));
}
