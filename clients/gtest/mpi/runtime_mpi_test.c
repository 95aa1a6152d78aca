/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The runtime view over MPI: who is where, agreement, broadcasts, grids. */

#include "mpi_fixture.h"

#include "mpi/distributed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

JMPI_TEST(MpiRuntime, CountsProcessesAndMachines, 0) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JMPI_ASSERT_OK(jruntime_get_info(mpi->runtime, &info));
    JEXPECT_STREQ(info.transport, "mpi");
    JEXPECT_EQ(info.processes, mpi->size);
    JEXPECT_EQ(info.rank, mpi->rank);
    JEXPECT_EQ(info.nodes, 1);
    JEXPECT_EQ(info.node, 0);
    JEXPECT_EQ(info.node_processes, mpi->size);
    JEXPECT_EQ(info.node_rank, mpi->rank);
    JEXPECT_GE(info.devices, 1);
}

JMPI_TEST_NODES(MpiRuntime, MachinesArePutInOrderOfRanks, 0, 2) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JMPI_ASSERT_OK(jruntime_get_info(mpi->runtime, &info));
    JEXPECT_EQ(info.nodes, (mpi->size + 1) / 2);
    JEXPECT_EQ(info.node, mpi->rank / 2);
    JEXPECT_EQ(info.node_rank, mpi->rank % 2);
    for (int rank = 0; rank < mpi->size; ++rank)
        JEXPECT_EQ(ji_mpi_of(mpi->runtime)->leader_of[rank], rank / 2 * 2);
}

JMPI_TEST(MpiRuntime, CommunicatorIsADuplicateOfTheCallers, 0) {
    MPI_Comm own = MPI_COMM_NULL;
    int relation;
    JMPI_ASSERT_OK(jruntime_get_communicator(mpi->runtime, &own));
    MPI_Comm_compare(own, mpi->communicator, &relation);
    JEXPECT_EQ(relation, MPI_CONGRUENT);
    JEXPECT_STATUS(jruntime_get_communicator(mpi->runtime, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jruntime_get_communicator(NULL, &own), JSTATUS_INVALID_POINTER);
    jruntime_t *alone = NULL;
    JMPI_ASSERT_OK(jruntime_create(&alone));
    JEXPECT_STATUS(jruntime_get_communicator(alone, &own), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jruntime_release(alone));
}

JMPI_TEST(MpiRuntime, CreatingRefusesWhatIsNoIntracommunicator, 0) {
    jruntime_t *runtime = NULL;
    JEXPECT_STATUS(jruntime_create_mpi(MPI_COMM_NULL, &runtime), JSTATUS_INVALID_VALUE);
    if (mpi->size < 2)
        return;
    MPI_Comm half, inter;
    MPI_Comm_split(mpi->communicator, mpi->rank % 2, mpi->rank, &half);
    MPI_Intercomm_create(half, 0, mpi->communicator, 1 - mpi->rank % 2, 7, &inter);
    JEXPECT_STATUS(jruntime_create_mpi(inter, &runtime), JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(runtime);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

JMPI_TEST(MpiRuntime, NullOnOneRankIsInvalidPointerOnAll, 0) {
    for (int victim = 0; victim < mpi->size; ++victim) {
        jruntime_t *runtime = NULL;
        JEXPECT_STATUS(
            jruntime_create_mpi(mpi->communicator, mpi->rank == victim ? NULL : &runtime),
            JSTATUS_INVALID_POINTER);
        JEXPECT_NULL(runtime);
    }
}

/* Each allocation of bookkeeping fails in turn, on each rank in turn. */
JMPI_TEST(MpiRuntime, CreatingFailsOnAllRanksOrNone, 0) {
    for (int victim = 0; victim < mpi->size; ++victim) {
        bool failed = true;
        for (uint64_t i = 1; failed; ++i) {
            const size_t live = jtest_metadata_live_count();
            jruntime_t *runtime = NULL;
            jmpi_fail_metadata_on(mpi, victim, i);
            const jstatus_t status = jruntime_create_mpi(mpi->communicator, &runtime);
            failed = jmpi_metadata_failed_on(mpi, victim);
            JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            if (failed)
                JEXPECT_NULL(runtime);
            JEXPECT_OK(jruntime_release(runtime));
            JEXPECT_EQ(jtest_metadata_live_count(), live);
            JMPI_CHECKPOINT();
        }
    }
}

JMPI_TEST(MpiAgree, TheLowestRankWithAnErrorIsHeard, 0) {
    JEXPECT_OK(jruntime_agree(mpi->runtime, JSTATUS_SUCCESS));
    for (int round = 0; round < 20; ++round) {
        jstatus_t first = JSTATUS_SUCCESS, degraded = JSTATUS_SUCCESS, mine = JSTATUS_SUCCESS;
        int who = -1;
        for (int rank = 0; rank < mpi->size; ++rank) {
            static const jstatus_t choices[] = {JSTATUS_SUCCESS, JSTATUS_SUCCESS,
                                                JSTATUS_PERF_DEGRADED, JSTATUS_MEMORY_ERROR,
                                                JSTATUS_INVALID_VALUE};
            const jstatus_t drawn = choices[jtest_random_between(0, 4)];
            if (rank == mpi->rank)
                mine = drawn;
            if (jstatus_is_error(drawn) && who < 0)
                first = drawn, who = rank;
            if (drawn == JSTATUS_PERF_DEGRADED)
                degraded = drawn;
        }
        if (jstatus_is_error(mine))
            ji_fail(mine, "this went wrong on %d", mpi->rank);
        JEXPECT_STATUS(jruntime_agree(mpi->runtime, mine), who >= 0 ? first : degraded);
        if (who >= 0) {
            char expected[64];
            snprintf(expected, sizeof expected, "rank %d: this went wrong on %d", who, who);
            JEXPECT_STREQ(jstatus_last_message(), expected);
            /* Agreed again by an outer function: the rank is not named twice. */
            JEXPECT_STATUS(jruntime_agree(mpi->runtime, first), first);
            JEXPECT_STREQ(jstatus_last_message(), expected);
        }
        JMPI_CHECKPOINT();
    }
}

JMPI_TEST_NODES(MpiAgree, ScopesAreHeardByTheirOwn, 6, 2) {
    const ji_runtime_ops_t *ops = mpi->runtime->ops;
    const jstatus_t mine = mpi->rank == 3 ? ji_fail(JSTATUS_BUSY, "on three") : JSTATUS_SUCCESS;
    JEXPECT_STATUS(ops->agree(mpi->runtime, JI_SCOPE_NODE, mine),
                   mpi->rank / 2 == 1 ? JSTATUS_BUSY : JSTATUS_SUCCESS);
    const jstatus_t leader = mpi->rank == 4 ? ji_fail(JSTATUS_LEAKED, "on four") : JSTATUS_SUCCESS;
    JEXPECT_STATUS(ops->agree(mpi->runtime, JI_SCOPE_LEADERS, leader),
                   mpi->rank % 2 == 0 ? JSTATUS_LEAKED : JSTATUS_SUCCESS);
    if (mpi->rank % 2 == 0)
        JEXPECT_STREQ(jstatus_last_message(), "rank 4: on four");
}

JMPI_TEST_NODES(MpiBroadcast, EachScopeHasItsRoot, 0, 2) {
    const ji_runtime_ops_t *ops = mpi->runtime->ops;
    for (int round = 0; round < 10; ++round) {
        int64_t bytes[100], expected[100];
        const int root = (int)jtest_random_between(0, mpi->size - 1);
        const int leader = (int)jtest_random_between(0, (mpi->size - 1) / 2);
        for (int i = 0; i < 100; ++i) {
            bytes[i] = mpi->rank * 1000 + i;
            expected[i] = root * 1000 + i;
        }
        JEXPECT_OK(ops->broadcast(mpi->runtime, JI_SCOPE_ALL, root, NULL, bytes, sizeof bytes));
        JEXPECT_TRUE(memcmp(bytes, expected, sizeof bytes) == 0);
        bytes[0] = mpi->rank;
        JEXPECT_OK(
            ops->broadcast(mpi->runtime, JI_SCOPE_LEADERS, leader, NULL, bytes, sizeof bytes));
        JEXPECT_EQ(bytes[0], mpi->rank % 2 == 0 ? leader * 2 : mpi->rank);
        bytes[0] = mpi->rank;
        JEXPECT_OK(ops->broadcast(mpi->runtime, JI_SCOPE_NODE, 0, NULL, bytes, sizeof bytes));
        JEXPECT_EQ(bytes[0], mpi->rank / 2 * 2);
    }
    JEXPECT_OK(ops->broadcast(mpi->runtime, JI_SCOPE_ALL, 0, NULL, NULL, 0));
}

/* Pieces of a few megabytes go through host memory. */
JMPI_TEST_ONLY_WITH("JALLOC_TEST_MODULES", MpiBroadcastDevice, GoesThroughTheHost, 0) {
    enum { COUNT = 3 << 19 }; /* of int64_t: three pieces */
    jdevice_t *device = NULL;
    void *memory = NULL;
    int64_t *values = malloc(COUNT * sizeof *values);
    JMPI_ASSERT_OK(jdevice_get("hip:0", &device));
    JMPI_ASSERT_OK(jdevice_allocate(device, JMEMORY_DEVICE, COUNT * sizeof *values, 0, &memory));
    for (int64_t i = 0; i < COUNT; ++i)
        values[i] = mpi->rank * (int64_t)COUNT + i;
    const int root = mpi->size - 1;
    JEXPECT_OK(jdevice_copy(device, NULL, memory, values, COUNT * sizeof *values));
    JEXPECT_OK(mpi->runtime->ops->broadcast(mpi->runtime, JI_SCOPE_ALL, root, device, memory,
                                            COUNT * sizeof *values));
    JEXPECT_OK(jdevice_copy(device, NULL, values, memory, COUNT * sizeof *values));
    JEXPECT_OK(jstream_synchronize(device, NULL));
    int64_t wrong = 0;
    for (int64_t i = 0; i < COUNT; ++i)
        wrong += values[i] != root * (int64_t)COUNT + i;
    JEXPECT_EQ(wrong, 0);
    /* No memory to go through on one rank: no rank waits for it. */
    jtest_fail_metadata_after(mpi->rank == 0);
    JEXPECT_STATUS(mpi->runtime->ops->broadcast(mpi->runtime, JI_SCOPE_ALL, root, device, memory,
                                                COUNT * sizeof *values),
                   JSTATUS_MEMORY_ERROR);
    jtest_fail_metadata_after(0);
    JEXPECT_OK(jdevice_deallocate(device, JMEMORY_DEVICE, memory, COUNT * sizeof *values));
    free(values);
}

JMPI_TEST(MpiGrid, PutsRanksInRowMajorOrderAndTheRestOutside, 0) {
    for (int rows = 1; rows <= mpi->size; ++rows)
        for (int columns = 1; rows * columns <= mpi->size; ++columns) {
            ji_grid_t *grid = NULL, *again = NULL;
            const int shape[2] = {rows, columns};
            JMPI_ASSERT_OK(mpi->runtime->ops->open_grid(mpi->runtime, shape, &grid));
            const bool inside = mpi->rank < rows * columns;
            JEXPECT_EQ(grid->coordinates[0], inside ? mpi->rank / columns : -1);
            JEXPECT_EQ(grid->coordinates[1], inside ? mpi->rank % columns : -1);
            JEXPECT_EQ(grid->blacs_context >= 0, inside);
            const uint64_t allocations = jtest_metadata_allocation_count();
            JMPI_ASSERT_OK(mpi->runtime->ops->open_grid(mpi->runtime, shape, &again));
            JEXPECT_TRUE(again == grid);
            JEXPECT_EQ(jtest_metadata_allocation_count(), allocations);
        }
}

JMPI_TEST(MpiGrid, NoMemoryOnOneRankIsAnErrorOnAll, 0) {
    const int shape[2] = {1, mpi->size};
    for (int victim = 0; victim < mpi->size; ++victim) {
        ji_grid_t *grid = NULL;
        jtest_fail_metadata_after(mpi->rank == victim ? 1 : 0);
        JEXPECT_STATUS(mpi->runtime->ops->open_grid(mpi->runtime, shape, &grid),
                       JSTATUS_MEMORY_ERROR);
        JEXPECT_NULL(grid);
    }
    jtest_fail_metadata_after(0);
}

JMPI_TEST(MpiRuntime, HostMemoryIsAlwaysReachable, 1) {
    JEXPECT_TRUE(jruntime_is_device_aware(JDEVICE_HOST));
    JEXPECT_FALSE(jruntime_is_device_aware((jdevice_kind_t)17));
    JEXPECT_OK(jruntime_agree(mpi->runtime, JSTATUS_SUCCESS));
}
