/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "pretend_runtime.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Pretended ---- */

static bool pretend_fails(pretend_runtime_t *pretend) {
    return pretend->fail_in != 0 && --pretend->fail_in == 0;
}

static void pretend_destroy(jruntime_t *runtime) { ++((pretend_runtime_t *)runtime->state)->ended; }

static jstatus_t pretend_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status) {
    pretend_runtime_t *pretend = runtime->state;
    ++pretend->agreements[scope];
    return pretend_fails(pretend) && !jstatus_is_error(status)
               ? ji_fail(pretend->fail_with, "rank 1: injected")
               : status;
}

static jstatus_t pretend_broadcast(jruntime_t *runtime, ji_scope_t scope, int root,
                                   jdevice_t *device, void *bytes, size_t size_bytes) {
    pretend_runtime_t *pretend = runtime->state;
    (void)root;
    (void)device;
    ++pretend->broadcasts[scope];
    if (pretend_fails(pretend))
        return ji_fail(pretend->fail_with, "injected");
    if (pretend->change != NULL)
        pretend->change(bytes, size_bytes);
    return JSTATUS_SUCCESS;
}

static jstatus_t pretend_open_grid(jruntime_t *runtime, const int grid[2], ji_grid_t **out) {
    pretend_runtime_t *pretend = runtime->state;
    ++pretend->opens;
    if (pretend_fails(pretend))
        return ji_fail(pretend->fail_with, "injected");
    for (int i = 0; i < PRETEND_GRIDS; ++i) {
        ji_grid_t *candidate = &pretend->grids[i];
        if (candidate->shape[0] == 0)
            *candidate =
                (ji_grid_t){.shape = {grid[0], grid[1]},
                            .coordinates = {pretend->coordinates[0], pretend->coordinates[1]},
                            .blacs_context = -1};
        if (candidate->shape[0] == grid[0] && candidate->shape[1] == grid[1]) {
            *out = candidate;
            return JSTATUS_SUCCESS;
        }
    }
    return ji_fail(JSTATUS_MEMORY_ERROR, "more grids than are pretended");
}

/* Nothing is sent. */
static jstatus_t pretend_copy_bytes(jruntime_t *runtime, const jbuffer_t *destination,
                                    const jbuffer_t *source, size_t *best, size_t *least) {
    (void)runtime;
    (void)destination;
    (void)source;
    (void)best;
    (void)least;
    return ji_fail(JSTATUS_NOT_IMPLEMENTED, "a pretended process sends nothing");
}

static jstatus_t pretend_copy(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                              void *workspace, size_t size_bytes) {
    (void)workspace;
    (void)size_bytes;
    return pretend_copy_bytes(runtime, destination, source, NULL, NULL);
}

static jstatus_t pretend_get(const jbuffer_t *buffer, const int64_t indices[2], void *value) {
    (void)indices;
    (void)value;
    return pretend_copy_bytes(NULL, buffer, buffer, NULL, NULL);
}

static const ji_runtime_ops_t pretend_replicated_ops = {.transport = "pretended",
                                                        .destroy = pretend_destroy,
                                                        .agree = pretend_agree,
                                                        .broadcast = pretend_broadcast};
static const ji_runtime_ops_t pretend_distributed_ops = {.transport = "pretended",
                                                         .destroy = pretend_destroy,
                                                         .agree = pretend_agree,
                                                         .broadcast = pretend_broadcast,
                                                         .open_grid = pretend_open_grid,
                                                         .copy_bytes = pretend_copy_bytes,
                                                         .copy = pretend_copy,
                                                         .get = pretend_get};

jstatus_t pretend_runtime_make(pretend_runtime_t *pretend, int processes, bool has_grids) {
    memset(pretend, 0, sizeof *pretend);
    pretend->fail_with = JSTATUS_DEVICE_ERROR;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    info.processes = info.node_processes = processes;
    info.nodes = 1;
    return ji_runtime_make(has_grids ? &pretend_distributed_ops : &pretend_replicated_ops, pretend,
                           &info, &pretend->runtime);
}

void pretend_runtime_set_memory(jruntime_t *runtime, size_t node_available_bytes, size_t count,
                                const jruntime_device_t gpus[]) {
    runtime->info.node_available_bytes = runtime->devices[0].available_bytes = node_available_bytes;
    runtime->info.devices = 1 + (int)count;
    for (size_t i = 0; i < count; ++i)
        runtime->devices[1 + i] = gpus[i];
}

/* ---- Teams ---- */

#define TEAM_CHUNK 4096
#define TEAM_TIMEOUT_S 300 /* for a hang, with room for sanitizers on a busy machine */
#define TEAM_DIED 77

/* A scope's members meet here. */
typedef struct team_room {
    pthread_barrier_t barrier;
    jstatus_t statuses[TEAM_MAX]; /* by rank */
    char chunk[TEAM_CHUNK];
} team_room_t;

static struct { team_room_t all, leaders, nodes[TEAM_MAX]; } * team;

static team_room_t *team_enter(const jruntime_t *runtime, ji_scope_t scope) {
    if (scope == JI_SCOPE_NODE)
        return &team->nodes[runtime->info.node];
    return scope == JI_SCOPE_ALL ? &team->all : &team->leaders;
}

static void team_destroy(jruntime_t *runtime) { (void)runtime; }

static jstatus_t team_agree(jruntime_t *runtime, ji_scope_t scope, jstatus_t status) {
    if (scope == JI_SCOPE_LEADERS && runtime->info.node_rank != 0)
        return JSTATUS_SUCCESS;
    team_room_t *room = team_enter(runtime, scope);
    room->statuses[runtime->info.rank] = status;
    (void)pthread_barrier_wait(&room->barrier);
    jstatus_t worst = JSTATUS_SUCCESS;
    for (int rank = 0; rank < runtime->info.processes; ++rank) {
        const jstatus_t other = room->statuses[rank];
        if (!jstatus_is_error(worst) && (jstatus_is_error(other) || worst == JSTATUS_SUCCESS))
            worst = other;
    }
    (void)pthread_barrier_wait(&room->barrier);
    return worst == status ? status : ji_fail(worst, "another process failed");
}

static jstatus_t team_broadcast(jruntime_t *runtime, ji_scope_t scope, int root, jdevice_t *device,
                                void *bytes, size_t size_bytes) {
    const jruntime_info_t *info = &runtime->info;
    (void)device; /* the host */
    if (scope == JI_SCOPE_LEADERS && info->node_rank != 0)
        return JSTATUS_SUCCESS;
    team_room_t *room = team_enter(runtime, scope);
    const int self = scope == JI_SCOPE_ALL    ? info->rank
                     : scope == JI_SCOPE_NODE ? info->node_rank
                                              : info->node;
    for (size_t done = 0; done < size_bytes; done += TEAM_CHUNK) {
        const size_t chunk = size_bytes - done < TEAM_CHUNK ? size_bytes - done : TEAM_CHUNK;
        if (self == root)
            memcpy(room->chunk, (char *)bytes + done, chunk);
        (void)pthread_barrier_wait(&room->barrier);
        if (self != root)
            memcpy((char *)bytes + done, room->chunk, chunk);
        (void)pthread_barrier_wait(&room->barrier);
    }
    return JSTATUS_SUCCESS;
}

static const ji_runtime_ops_t team_ops = {
    .transport = "team", .destroy = team_destroy, .agree = team_agree, .broadcast = team_broadcast};

static void team_open_room(team_room_t *room, int members) {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&room->barrier, &shared, (unsigned)members);
    pthread_barrierattr_destroy(&shared);
}

static void team_member(int rank, int processes, int per_node, team_function_t function,
                        void *argument) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    info.processes = processes;
    info.rank = rank;
    info.nodes = (processes + per_node - 1) / per_node;
    info.node = rank / per_node;
    info.node_rank = rank % per_node;
    info.node_processes = info.node == info.nodes - 1 ? processes - info.node * per_node : per_node;
    jruntime_t *runtime;
    JASSERT_OK(ji_runtime_make(&team_ops, NULL, &info, &runtime));
    function(runtime, argument);
    JEXPECT_OK(jruntime_release(runtime));
}

void team_die(void) { _exit(TEAM_DIED); }

void team_run(int processes, int per_node, team_function_t function, void *argument) {
    const int nodes = (processes + per_node - 1) / per_node;
    team = mmap(NULL, sizeof *team, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    JASSERT_NE(team, MAP_FAILED);
    team_open_room(&team->all, processes);
    team_open_room(&team->leaders, nodes);
    for (int node = 0; node < nodes; ++node)
        team_open_room(&team->nodes[node],
                       node == nodes - 1 ? processes - node * per_node : per_node);

    pid_t members[TEAM_MAX];
    fflush(NULL);
    for (int rank = 0; rank < processes; ++rank) {
        members[rank] = fork();
        if (members[rank] == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(TEAM_TIMEOUT_S);
            const uint64_t before = jtest_failure_count();
            team_member(rank, processes, per_node, function, argument);
            fflush(NULL);
            _exit(jtest_failure_count() == before ? 0 : 1);
        }
    }
    for (int rank = 0; rank < processes; ++rank) {
        int status = -1;
        const bool waited =
            members[rank] > 0 && waitpid(members[rank], &status, 0) == members[rank];
        if (!waited || !WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TEAM_DIED))
            JFAIL("member %d of a team of %d ended with %#x", rank, processes, (unsigned)status);
    }
    munmap(team, sizeof *team);
    team = NULL;
}
