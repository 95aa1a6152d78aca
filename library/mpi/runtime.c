/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The runtime view over MPI: who is where, and how processes agree.
 *
 *     all      0 1 2 3 4 5 6 7      the caller's communicator, duplicated, errors returned
 *     node     0 1 2 3|0 1 2 3      processes that share memory
 *     leaders  0       1            the first of each machine
 *
 * Agreeing is one reduction of a number: who has failed says its rank, who was merely slower says
 * its rank behind all of those, everyone else says nothing. The smallest number names the process
 * whose status and message all then hear. A hash of the arguments goes along, as itself and
 * negated, whose minima belong together only where all have the same. So success, the usual case,
 * costs one message of 24 bytes, and no process ever goes on while another has given up, or does
 * something else. */

#include "mpi/distributed.h"

#include <stdio.h>
#include <string.h>

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#define RUNTIME_STAGING_BYTES ((size_t)4 << 20) /* of a broadcast of memory MPI cannot reach */
#define RUNTIME_MESSAGE_BYTES 512

/* ---- MPI's errors ---- */

jstatus_t ji_mpi_status(int error, const char *what) {
    if (JI_LIKELY(error == MPI_SUCCESS))
        return JSTATUS_SUCCESS;

    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = '\0';
    return ji_fail(JSTATUS_DEVICE_ERROR, "%s: %s", what, text);
}

jstatus_t ji_mpi_check_alive(void) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized && !finalized ? JSTATUS_SUCCESS
                                     : ji_fail(JSTATUS_DEVICE_ERROR, "MPI is %s",
                                               finalized ? "finalized" : "not initialized");
}

bool jruntime_is_device_aware(jdevice_kind_t device) {
    switch (device) {
    case JDEVICE_HOST: return true;
    case JDEVICE_CUDA:
#if defined(MPIX_CUDA_AWARE_SUPPORT)
        return MPIX_Query_cuda_support() == 1;
#else
        return false;
#endif
    case JDEVICE_HIP:
#if defined(MPIX_ROCM_AWARE_SUPPORT)
        return MPIX_Query_rocm_support() == 1;
#else
        return false;
#endif
    }
    return false;
}

/* ---- Agreement ---- */

static MPI_Comm runtime_scope(const jruntime_t *runtime, ji_scope_t scope) {
    const ji_mpi_t *mpi = ji_mpi_of(runtime);
    return scope == JI_SCOPE_ALL ? mpi->all : scope == JI_SCOPE_NODE ? mpi->node : mpi->leaders;
}

/* What the process that is heard says. */
typedef struct runtime_verdict {
    int status;
    int rank; /* in the whole runtime */
    char message[RUNTIME_MESSAGE_BYTES];
} runtime_verdict_t;

/* Whether the message says already on which rank it was made: it was agreed upon before. */
static bool runtime_names_rank(const char *message) {
    int rank, length = 0;
    return sscanf(message, "rank %d: %n", &rank, &length) == 1 && length > 0;
}

static jstatus_t runtime_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status,
                               uint64_t arguments) {
    const MPI_Comm communicator = runtime_scope(runtime, scope);
    if (communicator == MPI_COMM_NULL)
        return status;

    jstatus_t failed = ji_mpi_check_alive();
    if (failed != JSTATUS_SUCCESS)
        return failed;

    int rank, size;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);

    const int64_t says = status == JSTATUS_SUCCESS  ? INT64_MAX
                         : jstatus_is_error(status) ? rank
                                                    : (int64_t)size + rank;
    const int64_t hash = (int64_t)(arguments >> 1);
    const int64_t mine[3] = {says, hash, -hash};
    int64_t least[3] = {INT64_MAX, 0, 0};

    failed = JI_MPI(MPI_Allreduce(mine, least, 3, MPI_INT64_T, MPI_MIN, communicator));
    if (failed != JSTATUS_SUCCESS)
        return failed;

    const int64_t first = least[0];
    if (first >= size && least[1] != -least[2])
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "the %d processes have not all called the same collective function with the "
                       "same arguments (shapes, blocks, kinds, options); this is rank %d",
                       size, rank);

    if (first == INT64_MAX)
        return JSTATUS_SUCCESS;

    runtime_verdict_t verdict = {status, runtime->info.rank, ""};
    snprintf(verdict.message, sizeof verdict.message, "%s", jstatus_last_message());
    failed =
        JI_MPI(MPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, (int)(first % size), communicator));
    if (failed != JSTATUS_SUCCESS)
        return failed;

    if (first >= size)
        return (jstatus_t)verdict.status;
    if (runtime_names_rank(verdict.message))
        return ji_fail((jstatus_t)verdict.status, "%s", verdict.message);
    return ji_fail((jstatus_t)verdict.status, "rank %d: %s", verdict.rank, verdict.message);
}

jstatus_t ji_mpi_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status) {
    return runtime_agree(runtime, scope, status, 0);
}

static jstatus_t runtime_agree_on(jruntime_t *runtime, jstatus_t status, uint64_t arguments) {
    return runtime_agree(runtime, JI_SCOPE_ALL, status, arguments);
}

/* ---- Broadcast ---- */

static jstatus_t runtime_broadcast_host(MPI_Comm communicator, int root, char *bytes,
                                        size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        const size_t part =
            size_bytes - done < JI_MPI_MAX_BYTES ? size_bytes - done : JI_MPI_MAX_BYTES;
        JTRY_RETURN(JI_MPI(MPI_Bcast(bytes + done, (int)part, MPI_BYTE, root, communicator)));
        done += part;
    }
    return JSTATUS_SUCCESS;
}

/* Through host memory. A copy that fails does not end the loop, because the others wait for the
 * rest of it. */
static jstatus_t runtime_broadcast_staged(jruntime_t *runtime, ji_scope_t scope, int root,
                                          jdevice_t *device, char *bytes, size_t size_bytes) {
    const MPI_Comm communicator = runtime_scope(runtime, scope);
    const size_t most = size_bytes < RUNTIME_STAGING_BYTES ? size_bytes : RUNTIME_STAGING_BYTES;
    jstatus_t status = JSTATUS_SUCCESS, copied = JSTATUS_SUCCESS;
    int rank;
    MPI_Comm_rank(communicator, &rank);

    char *staging = ji_metadata_alloc(most);
    if (staging == NULL)
        status =
            ji_fail(JSTATUS_MEMORY_ERROR, "no memory for %zu bytes between device and MPI", most);
    JTRY(ji_mpi_agree(runtime, scope, status));

    for (size_t done = 0; done < size_bytes; done += most) {
        const size_t part = size_bytes - done < most ? size_bytes - done : most;
        if (rank == root && copied == JSTATUS_SUCCESS) {
            copied = jdevice_copy(device, NULL, staging, bytes + done, part);
            if (copied == JSTATUS_SUCCESS)
                copied = jstream_synchronize(device, NULL);
        }

        JTRY(runtime_broadcast_host(communicator, root, staging, part));
        if (rank != root && copied == JSTATUS_SUCCESS) {
            copied = jdevice_copy(device, NULL, bytes + done, staging, part);
            if (copied == JSTATUS_SUCCESS)
                copied = jstream_synchronize(device, NULL); /* the staging is used again */
        }
    }

    status = copied;
done:
    ji_metadata_free(staging);
    return status;
}

static jstatus_t runtime_broadcast(jruntime_t *runtime, ji_scope_t scope, int root,
                                   jdevice_t *device, void *bytes, size_t size_bytes) {
    const MPI_Comm communicator = runtime_scope(runtime, scope);
    if (communicator == MPI_COMM_NULL || size_bytes == 0)
        return JSTATUS_SUCCESS;
    JTRY_RETURN(ji_mpi_check_alive());
    return jruntime_is_device_aware(jdevice_kind(device))
               ? runtime_broadcast_host(communicator, root, bytes, size_bytes)
               : runtime_broadcast_staged(runtime, scope, root, device, bytes, size_bytes);
}

/* ---- Life ---- */

static void runtime_free_communicator(MPI_Comm *communicator) {
    if (*communicator != MPI_COMM_NULL)
        MPI_Comm_free(communicator);
}

static void runtime_free_communicators(ji_mpi_t *mpi) {
    runtime_free_communicator(&mpi->leaders);
    runtime_free_communicator(&mpi->node);
    runtime_free_communicator(&mpi->all);
}

static void runtime_destroy(jruntime_t *runtime) {
    ji_mpi_t *mpi = ji_mpi_of(runtime);
    ji_mpi_close_grids(runtime);
    if (ji_mpi_check_alive() == JSTATUS_SUCCESS)
        runtime_free_communicators(mpi);
    ji_metadata_free(mpi);
}

/* Machines: the communicators of one and of their first processes, and what `info` and `leader_of`
 * say of them. */
static jstatus_t runtime_split(ji_mpi_t *mpi, int node_processes, jruntime_info_t *info) {
    jstatus_t status = JSTATUS_SUCCESS;
    int leader[2]; /* number of the machine, rank of its first process */

    if (node_processes > 0)
        JTRY(JI_MPI(MPI_Comm_split(mpi->all, info->rank / node_processes, info->rank, &mpi->node)));
    else
        JTRY(JI_MPI(MPI_Comm_split_type(mpi->all, MPI_COMM_TYPE_SHARED, info->rank, MPI_INFO_NULL,
                                        &mpi->node)));
    JTRY(JI_MPI(MPI_Comm_set_errhandler(mpi->node, MPI_ERRORS_RETURN)));

    MPI_Comm_rank(mpi->node, &info->node_rank);
    MPI_Comm_size(mpi->node, &info->node_processes);

    JTRY(JI_MPI(MPI_Comm_split(mpi->all, info->node_rank == 0 ? 0 : MPI_UNDEFINED, info->rank,
                               &mpi->leaders)));
    if (mpi->leaders != MPI_COMM_NULL) {
        JTRY(JI_MPI(MPI_Comm_set_errhandler(mpi->leaders, MPI_ERRORS_RETURN)));
        MPI_Comm_rank(mpi->leaders, &leader[0]);
        MPI_Comm_size(mpi->leaders, &info->nodes);
        leader[1] = info->rank;
    }

    JTRY(JI_MPI(MPI_Bcast(leader, 2, MPI_INT, 0, mpi->node)));
    JTRY(JI_MPI(MPI_Bcast(&info->nodes, 1, MPI_INT, 0, mpi->node)));
    info->node = leader[0];
    JTRY(JI_MPI(MPI_Allgather(&leader[1], 1, MPI_INT, mpi->leader_of, 1, MPI_INT, mpi->all)));
done:
    return status;
}

static const ji_runtime_ops_t runtime_ops = {
    .transport = "mpi",
    .destroy = runtime_destroy,
    .agree = ji_mpi_agree,
    .agree_on = runtime_agree_on,
    .broadcast = runtime_broadcast,
    .open_grid = ji_mpi_open_grid,
    .copy_bytes = ji_mpi_copy_bytes,
    .copy = ji_mpi_copy,
    .get = ji_mpi_get,
    .save = ji_mpi_save,
    .load = ji_mpi_load,
    .backend = &ji_mpi_backend,
};

/* From the duplicate on every process takes every step: a pointer that is NULL here, or bookkeeping
 * that cannot be had, is an error that all hear of. Until there is a runtime, `probe` stands in for
 * it. */
jstatus_t ji_runtime_create_mpi(MPI_Comm communicator, int node_processes, jruntime_t **runtime) {
    jstatus_t status = ji_mpi_check_alive();
    if (status != JSTATUS_SUCCESS)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s", jstatus_last_message());
    if (communicator == MPI_COMM_NULL)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "jruntime_create_mpi: the communicator is MPI_COMM_NULL");
    int inter = 0;
    MPI_Comm_test_inter(communicator, &inter);
    if (inter)
        return ji_fail(JSTATUS_INVALID_VALUE, "jruntime_create_mpi: an intercommunicator");

    jruntime_info_t info = JRUNTIME_INFO_INIT;
    info.transport = runtime_ops.transport;
    MPI_Comm_rank(communicator, &info.rank);
    MPI_Comm_size(communicator, &info.processes);
    ji_mpi_t without = {.all = MPI_COMM_NULL, .node = MPI_COMM_NULL, .leaders = MPI_COMM_NULL};
    ji_mpi_t *mpi =
        ji_metadata_zalloc(sizeof *mpi + (size_t)info.processes * sizeof mpi->leader_of[0]);
    ji_mpi_t *parts = mpi != NULL ? mpi : &without;
    *parts = without;
    jruntime_t probe = {.state = parts, .info = info}, *made = NULL;

    JTRY(JI_MPI(MPI_Comm_dup(communicator, &parts->all)));
    JTRY(JI_MPI(MPI_Comm_set_errhandler(parts->all, MPI_ERRORS_RETURN)));

    status = runtime == NULL
                 ? ji_fail(JSTATUS_INVALID_POINTER, "jruntime_create_mpi: requires runtime != NULL")
             : mpi == NULL
                 ? ji_fail(JSTATUS_MEMORY_ERROR, "jruntime_create_mpi: no memory for bookkeeping")
                 : JSTATUS_SUCCESS;
    JTRY(ji_mpi_agree(&probe, JI_SCOPE_ALL, status));
    JTRY(ji_mpi_agree(&probe, JI_SCOPE_ALL, runtime_split(mpi, node_processes, &info)));

    status = ji_runtime_make(&runtime_ops, mpi, &info, &made);
    JTRY(ji_mpi_agree(&probe, JI_SCOPE_ALL, status));

    *runtime = made;
    return status;
done:
    if (made != NULL) { /* it was made here, but not everywhere */
        jruntime_release(made);
    } else {
        runtime_free_communicators(parts);
        ji_metadata_free(mpi);
    }
    return status;
}

jstatus_t jruntime_create_mpi(MPI_Comm communicator, jruntime_t **runtime) {
    return ji_runtime_create_mpi(communicator, 0, runtime);
}

jstatus_t jruntime_get_communicator(const jruntime_t *runtime, MPI_Comm *communicator) {
    JTRY_RETURN(ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__));

    JREQUIRE(communicator != NULL, JSTATUS_INVALID_POINTER);
    if (runtime->ops != &runtime_ops)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: the runtime is not of MPI", __func__);
    *communicator = ji_mpi_of(runtime)->all;
    return JSTATUS_SUCCESS;
}
