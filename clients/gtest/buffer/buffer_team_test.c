/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers of several processes without MPI: replicated ones, also in one copy per machine, between
 * forked processes that agree and broadcast through shared memory. What local buffers of different
 * contents become, who calls a function, what is used again by a move, and that an error on any one
 * process is the same error on all, at every place where one can happen, with nothing left and
 * nobody waiting. */

#include "buffer_helper.h"
#include "pretend_runtime.h"

#include "buffer/buffer.h"

#include <stdlib.h>

typedef struct setting {
    int processes, per_node;
} setting_t;
static const setting_t settings[] = {{2, 2}, {3, 2}, {4, 1}, {4, 2}};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void in_every_setting(team_function_t function, void *argument) {
    for (int i = 0; i < SETTINGS; ++i) {
        JSCOPED_TRACE("%d processes, %d on each machine", settings[i].processes,
                      settings[i].per_node);
        team_run(settings[i].processes, settings[i].per_node, function, argument);
    }
}

static int rank_of(const jruntime_t *runtime) { return runtime->info.rank; }

/* A local buffer: on rank 0 its places, elsewhere something else. */
static jbuffer_t *make_local(jruntime_t *runtime, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, type, NULL, NULL, false);
    jbuffer_t *buffer = NULL;
    char value[16];
    reference_encode(type, (reference_number_t){-rank_of(runtime), 0}, value);
    if (rank_of(runtime) == 0)
        JEXPECT_OK(
            jbuffer_construct_function(allocator, layout, buffer_fill_places, NULL, 1, &buffer));
    else
        JEXPECT_OK(jbuffer_construct_value(allocator, layout, value, &buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    return buffer;
}

/* ---- Conversions ---- */

static const char *const layouts[] = {"[]",
                                      "[9]",
                                      "[0,2]",
                                      "[7,5] row",
                                      "[8,8] ld=11 hermitian-lower",
                                      "[6,6] triangular-upper",
                                      "[3,4,5]",
                                      "[200,90]"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static void replicate(jruntime_t *runtime, void *argument) {
    (void)argument;
    for (int shared = 0; shared < 2; ++shared)
        for (int n = 0; n < LAYOUTS; ++n)
            for (int to = JDATATYPE_F64; to <= JDATATYPE_F64_C; to += 2) {
                JSCOPED_TRACE("%s, shared %d, to %s", layouts[n], shared,
                              jdatatype_name((jdatatype_t)to));
                const jlayout_t layout = buffer_layout_of(layouts[n]);
                const bool complex = to == JDATATYPE_F64_C;
                jbuffer_t *local = make_local(runtime, complex ? JDATATYPE_F32_C : JDATATYPE_F32,
                                              &layout),
                          *all = NULL, *back = NULL;
                jbuffer_t *again = NULL;
                jbuffer_allocator_t *allocator = buffer_allocator_of(
                    runtime, JBUFFER_REPLICATED, (jdatatype_t)to, NULL, NULL, shared);
                jbuffer_allocator_t *other = buffer_allocator_of(
                    runtime, JBUFFER_REPLICATED, (jdatatype_t)to, NULL, NULL, !shared);
                jbuffer_allocator_t *alone =
                    buffer_allocator_of(runtime, JBUFFER_LOCAL, (jdatatype_t)to, NULL, NULL, false);
                JASSERT_OK(jbuffer_construct_copy(allocator, local, &all));
                BUFFER_EXPECT_PLACES(all, &layout);
                JASSERT_OK(jbuffer_construct_copy(other, all, &again));
                BUFFER_EXPECT_PLACES(again, &layout);
                JASSERT_OK(jbuffer_construct_copy(alone, all, &back));
                BUFFER_EXPECT_PLACES(back, &layout);
                JEXPECT_OK(jbuffer_release(back));
                JEXPECT_OK(jbuffer_release(again));
                JEXPECT_OK(jbuffer_release(all));
                JEXPECT_OK(jbuffer_release(local));
                JEXPECT_OK(jbuffer_allocator_release(allocator));
                JEXPECT_OK(jbuffer_allocator_release(other));
                JEXPECT_OK(jbuffer_allocator_release(alone));
            }
}
JTEST(BufferTeam, ALocalBufferOfRankZeroBecomesEveryones) { in_every_setting(replicate, NULL); }

/* Into memory with holes, which is broadcast in pieces of a mebibyte. */
static void replicate_with_holes(jruntime_t *runtime, void *argument) {
    (void)argument;
    static const char *const holes[] = {"[5,4] ld=7", "[700,300] ld=701",
                                        "[3,400,200] strides=(401,1,1300)",
                                        "[600,600] ld=608 symmetric-lower"};
    for (int shared = 0; shared < 2; ++shared)
        for (size_t n = 0; n < sizeof holes / sizeof holes[0]; ++n) {
            JSCOPED_TRACE("%s, shared %d", holes[n], shared);
            const jlayout_t layout = buffer_layout_of(holes[n]);
            jlayout_t packed;
            JEXPECT_OK(jlayout_init(&packed, layout.rank, layout.extents, JORDER_ROW_MAJOR));
            jbuffer_t *local = make_local(runtime, JDATATYPE_F64, &packed), *all = NULL;
            jbuffer_allocator_t *allocator =
                buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, shared);
            JASSERT_OK(jbuffer_allocate(allocator, &layout, &all));
            size_t best = 0, least = 0;
            JEXPECT_TRUE(ji_buffer_copy_is_collective(all, local));
            JEXPECT_OK(ji_buffer_copy_bytes(all, local, &best, &least));
            JEXPECT_GT(least, 0u);
            JEXPECT_LE(best, (size_t)1 << 20);
            void *workspace = malloc(best);
            JEXPECT_OK(ji_buffer_copy(all, local, NULL, workspace, least));
            free(workspace);
            BUFFER_EXPECT_PLACES(all, &layout);
            JEXPECT_OK(jbuffer_release(all));
            JEXPECT_OK(jbuffer_release(local));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
}
JTEST(BufferTeam, HolesDoNotHinderABroadcast) {
    team_run(3, 2, replicate_with_holes, NULL);
    team_run(2, 1, replicate_with_holes, NULL);
}

static void take_list(jruntime_t *runtime, void *argument) {
    (void)argument;
    for (int shared = 0; shared < 2; ++shared) {
        const double own = 100 * rank_of(runtime),
                     list[2][3] = {{own + 1, own + 2, own + 3}, {own + 4, own + 5, own + 6}};
        jbuffer_allocator_t *allocator =
            buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, shared);
        jbuffer_t *buffer = NULL;
        double value = 0;
        JASSERT_OK(jbuffer_construct_list(allocator, JBUFFER_LIST_2(list), &buffer));
        JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){1, 1}, &value));
        JEXPECT_EQ(value, 5.0);
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
}
JTEST(BufferTeam, ListsAreRankZeros) { in_every_setting(take_list, NULL); }

static jbuffer_filled_t count_calls(void *context, const jbuffer_block_t *block) {
    ++*(int *)context;
    return buffer_fill_places(NULL, block);
}

static void call_function(jruntime_t *runtime, void *argument) {
    (void)argument;
    for (int shared = 0; shared < 2; ++shared) {
        jbuffer_allocator_t *allocator =
            buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_I32, NULL, NULL, shared);
        const jlayout_t layout = buffer_layout_of("[6,6] blocks=(3,2)");
        jbuffer_t *buffer = NULL;
        int calls = 0;
        JASSERT_OK(jbuffer_construct_function(allocator, &layout, count_calls, &calls, 1, &buffer));
        JEXPECT_EQ(calls, !shared || runtime->info.node_rank == 0 ? 6 : 0);
        BUFFER_EXPECT_PLACES(buffer, &layout); /* the others see it as soon as it is made */
        JEXPECT_OK(jbuffer_release(buffer));
        int32_t value = 11;
        JASSERT_OK(jbuffer_construct_value(allocator, &layout, &value, &buffer));
        BUFFER_EXPECT_VALUE(buffer, 11);
        JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS)); /* all have looked */
        value = 12 + rank_of(runtime);
        JEXPECT_OK(jbuffer_set(buffer, (const int64_t[]){2, 1}, &value));
        JEXPECT_OK(jruntime_agree(runtime, JSTATUS_SUCCESS));
        const int writer = shared ? rank_of(runtime) - runtime->info.node_rank : rank_of(runtime);
        JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){2, 1}, &value));
        JEXPECT_EQ(value, 12 + writer);
        JEXPECT_OK(jbuffer_release(buffer));
        JASSERT_OK(jbuffer_construct_identity(allocator, &layout, &buffer));
        BUFFER_EXPECT_IDENTITY(buffer);
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
}
JTEST(BufferTeam, OneProcessOfAMachineFillsASharedBuffer) { in_every_setting(call_function, NULL); }

/* ---- Moves ---- */

static void move_buffers(jruntime_t *runtime, void *argument) {
    (void)argument;
    const jlayout_t layout = buffer_layout_of("[5,6]");
    jbuffer_allocator_t *alone =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *all =
        buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, false);
    for (int how = 0; how < 3; ++how) {
        jbuffer_t *buffer = NULL, *view = NULL;
        bool reused = how != 0;
        JASSERT_OK(jbuffer_construct_function(all, &layout, buffer_fill_places, NULL, 1, &buffer));
        /* One alone has another reference. */
        if (how == 1 && rank_of(runtime) == runtime->info.processes - 1)
            JEXPECT_OK(jbuffer_with_structure(buffer, JSTRUCTURE_GENERAL, &view));
        if (how == 2) { /* to replicated: rank 0's contents have to be told */
            JEXPECT_OK(jbuffer_release(buffer));
            buffer = make_local(runtime, JDATATYPE_F64, &layout);
        }
        JASSERT_OK(jbuffer_construct_move(how == 2 ? all : alone, &buffer, &buffer, &reused));
        JEXPECT_EQ(reused, how == 0);
        BUFFER_EXPECT_PLACES(buffer, &layout);
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(alone));
    JEXPECT_OK(jbuffer_allocator_release(all));
}
JTEST(BufferTeam, MovesUseMemoryAgainOnAllOrOnNone) { in_every_setting(move_buffers, NULL); }

/* ---- Failures ---- */

static jbuffer_filled_t fail_here(void *context, const jbuffer_block_t *block) {
    return *(const bool *)context ? JBUFFER_BLOCK_FAILED : buffer_fill_places(NULL, block);
}

enum { FORMS = 8 };

/* Makes a replicated buffer, or a local one of a replicated one, in each way. `wrong`: this process
 * passes something that cannot be. */
static jstatus_t make_form(int form, jbuffer_allocator_t *allocator, jbuffer_allocator_t *alone,
                           jbuffer_t *local, jbuffer_t *source, bool wrong, jbuffer_t **buffer) {
    jlayout_t layout = buffer_layout_of("[6,6] ld=8");
    const double list[2] = {1, 2}, value = 4;
    bool fails = wrong;
    jbuffer_t *given = source;
    if (wrong)
        layout.strides[0] = 0;
    switch (form) {
    case 0: return jbuffer_allocate(allocator, &layout, buffer);
    case 1: return jbuffer_construct_value(allocator, &layout, &value, buffer);
    case 2: return jbuffer_construct_identity(allocator, wrong ? NULL : &layout, buffer);
    case 3:
        return jbuffer_construct_list(allocator, 1, (const int64_t[]){2},
                                      wrong ? JDATATYPE_I8 : JDATATYPE_F64, list, buffer);
    case 4:
        layout.strides[0] = 1;
        return jbuffer_construct_function(allocator, &layout, fail_here, &fails, 1, buffer);
    case 5: return jbuffer_construct_copy(allocator, wrong ? NULL : local, buffer);
    case 6:
        return jbuffer_construct_copy(wrong ? (jbuffer_allocator_t *)&layout : alone, source,
                                      buffer);
    default: {
        jstatus_t status = jbuffer_retain(source);
        if (status == JSTATUS_SUCCESS)
            status = jbuffer_construct_move(alone, &given, wrong ? NULL : buffer, NULL);
        if (status != JSTATUS_SUCCESS)
            (void)jbuffer_release(given);
        return status;
    }
    }
}

typedef struct failing {
    int rank; /* where */
    bool shared;
} failing_t;

static void fail_on_one(jruntime_t *runtime, void *argument) {
    const failing_t *failing = argument;
    const bool here = rank_of(runtime) == failing->rank;
    const jlayout_t layout = buffer_layout_of("[5,6]");
    jbuffer_allocator_t *alone =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *all = buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL,
                                                   NULL, failing->shared);
    jbuffer_t *local = make_local(runtime, JDATATYPE_F64, &layout), *source = NULL;
    JASSERT_OK(jbuffer_construct_copy(all, local, &source));
    for (int form = 0; form < FORMS; ++form) {
        JSCOPED_TRACE("form %d, shared %d, rank %d fails, this is %d", form, failing->shared,
                      failing->rank, rank_of(runtime));
        jbuffer_t *buffer = NULL;
        /* An argument that is wrong on one process; of a shared buffer only the first of a machine
         * calls the function. */
        const bool matters = form != 4 || !failing->shared || failing->rank % 2 == 0;
        const jstatus_t status = make_form(form, all, alone, local, source, here, &buffer);
        const jstatus_t refused = form == 2 || form == 5 || form == 7 ? JSTATUS_INVALID_POINTER
                                  : form == 6                         ? JSTATUS_NOT_FOUND
                                                                      : JSTATUS_INVALID_VALUE;
        JEXPECT_STATUS(status, matters ? refused : JSTATUS_SUCCESS);
        JEXPECT_EQ(buffer == NULL, matters);
        JEXPECT_OK(jbuffer_release(buffer));
        buffer = NULL;
        /* What is made once is there. */
        JEXPECT_OK(make_form(form, all, alone, local, source, false, &buffer));
        JEXPECT_OK(jbuffer_release(buffer));

        /* The n-th bookkeeping allocation of that process fails: the same on all, until it has
         * fewer. */
        for (uint64_t n = 1; n < 100; ++n) {
            const size_t before = jtest_metadata_live_count();
            buffer = NULL;
            if (here)
                jtest_fail_metadata_after(n);
            const jstatus_t got = make_form(form, all, alone, local, source, false, &buffer);
            const bool failed = here && jtest_metadata_failed();
            if (here)
                jtest_fail_metadata_after(0);
            /* What it should have been: the one that failed says. */
            const jstatus_t expected =
                jruntime_agree(runtime, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_STATUS(got, expected);
            JEXPECT_EQ(buffer == NULL, expected != JSTATUS_SUCCESS);
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_EQ(jtest_metadata_live_count(), before);
            if (expected == JSTATUS_SUCCESS)
                break;
            JEXPECT_LT(n, 99u);
        }
    }
    BUFFER_EXPECT_PLACES(source, &layout);
    JEXPECT_OK(jbuffer_release(source));
    JEXPECT_OK(jbuffer_release(local));
    JEXPECT_OK(jbuffer_allocator_release(alone));
    JEXPECT_OK(jbuffer_allocator_release(all));
}

JTEST(BufferTeam, AnErrorOnOneProcessIsTheErrorOfAll) {
    for (int rank = 0; rank < 3; ++rank)
        for (int shared = 0; shared < 2; ++shared) {
            failing_t failing = {rank, shared};
            team_run(3, 2, fail_on_one, &failing);
        }
}

/* Memory that one process cannot have. */
static void starve_one(jruntime_t *runtime, void *argument) {
    const int *starved = argument;
    const bool here = rank_of(runtime) == *starved;
    const jlayout_t layout = buffer_layout_of("[5,6]");
    jbuffer_allocator_t *all = buffer_allocator_of(runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL,
                                                   jtest_failing_allocator(), false);
    jbuffer_t *local = make_local(runtime, JDATATYPE_F64, &layout);
    for (int form = 0; form < 6; ++form)
        for (uint64_t n = 1; n < 20; ++n) {
            const uint64_t before = jtest_allocation_count();
            jbuffer_t *buffer = NULL;
            if (here)
                jtest_fail_allocation_after(n);
            const jstatus_t got = make_form(form, all, all, local, local, false, &buffer);
            jtest_fail_allocation_after(0);
            const bool failed = here && jtest_allocation_count() - before >= n;
            const jstatus_t expected =
                jruntime_agree(runtime, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_STATUS(got, expected);
            JEXPECT_EQ(buffer == NULL, expected != JSTATUS_SUCCESS);
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_EQ(jtest_live_bytes(), 0u);
            if (expected == JSTATUS_SUCCESS)
                break;
        }
    JEXPECT_OK(jbuffer_release(local));
    JEXPECT_OK(jbuffer_allocator_release(all));
    JEXPECT_OK(jallocator_check(jtest_failing_allocator()));
}

JTEST(BufferTeam, MemoryThatOneProcessLacksIsMissingOnAll) {
    (void)jtest_failing_allocator(); /* made before the processes part */
    for (int rank = 0; rank < 3; ++rank)
        team_run(3, 2, starve_one, &rank);
}
