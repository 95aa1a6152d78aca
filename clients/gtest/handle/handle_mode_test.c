/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The four modes, every way from one to another, and what bounds growth: budget, trim, seal. */

#include "handle_helper.h"

#include <stdalign.h>
#include <stdio.h>

#define OWN_BYTES 4096
alignas(64) static unsigned char own_memory[OWN_BYTES];

/* A handle in a mode, used once, so that it holds what the mode holds. */
static jhandle_t *handle_in(jhandle_mode_t mode) {
    jhandle_t *handle = make_handle(mode == JHANDLE_MODE_PREALLOCATE ? 2048 : 0);
    if (mode == JHANDLE_MODE_MANUAL)
        JEXPECT_OK(jhandle_set_workspace_size(handle, 3000));
    if (mode == JHANDLE_MODE_USER_OWNED)
        JEXPECT_OK(jhandle_set_workspace(handle, own_memory, OWN_BYTES));
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_EQ(mode_of(handle), mode);
    return handle;
}
static const size_t held_in[] = {1024, 2048, 3008, OWN_BYTES};
static const size_t taken_in[] = {1024, 2048, 3008, 0}; /* from the allocator */

/* What a mode change is asked with. */
static const struct way {
    const char *label;
    jhandle_mode_t to;
    size_t capacity, taken;
    int kind; /* 0: size, 1: memory, 2: fixed size */
    size_t bytes;
    void *memory;
} ways[] = {
    {"size 0", JHANDLE_MODE_DEFAULT, 0, 0, 0, 0, NULL},
    {"NULL memory", JHANDLE_MODE_DEFAULT, 0, 0, 1, 100, NULL},
    {"memory of 0", JHANDLE_MODE_DEFAULT, 0, 0, 1, 0, own_memory},
    {"memory of 0 anywhere", JHANDLE_MODE_DEFAULT, 0, 0, 1, 0, own_memory + 1},
    {"fixed size 0", JHANDLE_MODE_MANUAL, 0, 0, 2, 0, NULL},
    {"fixed size 5000", JHANDLE_MODE_MANUAL, 5056, 5056, 2, 5000, NULL},
    {"size 5000", JHANDLE_MODE_MANUAL, 5056, 5056, 0, 5000, NULL},
    {"size 1", JHANDLE_MODE_MANUAL, 64, 64, 0, 1, NULL},
    {"memory", JHANDLE_MODE_USER_OWNED, 2048, 0, 1, 2048 + 63, own_memory + 1024},
    {"memory of less than a granule", JHANDLE_MODE_USER_OWNED, 0, 0, 1, 63, own_memory},
};
#define WAY_COUNT (sizeof ways / sizeof ways[0])

static jstatus_t go(jhandle_t *handle, const struct way *way) {
    if (way->kind == 2)
        return jhandle_set_fixed_workspace_size(handle, way->bytes);
    return way->kind == 0 ? jhandle_set_workspace_size(handle, way->bytes)
                          : jhandle_set_workspace(handle, way->memory, way->bytes);
}

JTEST(HandleMode, EveryTransition) {
    for (int from = JHANDLE_MODE_DEFAULT; from <= JHANDLE_MODE_USER_OWNED; ++from)
        for (size_t i = 0; i < WAY_COUNT; ++i) {
            JSCOPED_TRACE("from mode %d by %s", from, ways[i].label);
            jhandle_t *handle = handle_in((jhandle_mode_t)from);
            JEXPECT_EQ(capacity_of(handle), held_in[from]);
            JEXPECT_EQ(jtest_live_bytes(), taken_in[from]);
            JEXPECT_OK(go(handle, &ways[i]));
            JEXPECT_EQ(mode_of(handle), ways[i].to);
            JEXPECT_EQ(capacity_of(handle), ways[i].capacity);
            /* What was there before was given back. */
            JEXPECT_EQ(jtest_live_bytes(), ways[i].taken);
            if (ways[i].to == JHANDLE_MODE_DEFAULT) {
                JEXPECT_OK(touch(handle, 10000)); /* grows again */
                JEXPECT_EQ(capacity_of(handle), 10048);
            } else {
                JEXPECT_OK(touch(handle, ways[i].capacity));
                JEXPECT_STATUS(touch(handle, ways[i].capacity + 1), JSTATUS_MEMORY_ERROR);
            }
            JEXPECT_OK(jhandle_destroy(handle));
            JEXPECT_EQ(jtest_live_bytes(), 0);
        }
}

JTEST(HandleMode, FailedTransitionKeepsModeAndWorkspace) {
    for (int from = JHANDLE_MODE_DEFAULT; from <= JHANDLE_MODE_USER_OWNED; ++from) {
        JSCOPED_TRACE("from mode %d", from);
        jhandle_t *handle = handle_in((jhandle_mode_t)from);
        jborrow_t before, after;
        JEXPECT_OK(borrow_one(&before, handle, 1000));
        JEXPECT_OK(jborrow_end(&before));
        jtest_fail_allocation_after(1);
        JEXPECT_STATUS(jhandle_set_workspace_size(handle, 100000), JSTATUS_MEMORY_ERROR);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "100032");
        JEXPECT_EQ(mode_of(handle), from);
        JEXPECT_EQ(capacity_of(handle), held_in[from]);
        JEXPECT_EQ(jtest_live_bytes(), taken_in[from]);
        JEXPECT_OK(borrow_one(&after, handle, 1000));
        JEXPECT_EQ(after.ptr[0], before.ptr[0]);
        JEXPECT_OK(jborrow_end(&after));
        JEXPECT_STATUS(jhandle_set_workspace_size(handle, SIZE_MAX), JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(jhandle_set_workspace_size(handle, SIZE_MAX - 62), JSTATUS_INVALID_SIZE);
        JEXPECT_TRUE(jstatus_is_error(jhandle_set_workspace_size(handle, SIZE_MAX - 63)));
        JEXPECT_TRUE(jstatus_is_error(jhandle_set_workspace_size(handle, SIZE_MAX / 2)));
        JEXPECT_STATUS(jhandle_set_workspace(handle, own_memory + 8, 1024),
                       JSTATUS_INVALID_POINTER);
        JEXPECT_STATUS(jhandle_set_workspace(handle, own_memory + 32, 1024),
                       JSTATUS_INVALID_POINTER);
        JEXPECT_STATUS(jhandle_set_workspace(handle, own_memory, SIZE_MAX - 63),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_EQ(mode_of(handle), from);
        JEXPECT_EQ(capacity_of(handle), held_in[from]);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

JTEST(HandleMode, TheNewIsTakenBeforeTheOldIsGivenBack) {
    jhandle_t *handle = handle_in(JHANDLE_MODE_MANUAL);
    jhandle_stats_t before = stats_of(handle);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 6000));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(jtest_failing_allocator(), &stats));
    JEXPECT_EQ(stats.peak_in_use_bytes, 3008 + 6016); /* both lived for a moment */
    JEXPECT_EQ(stats_of(handle).allocation_count, before.allocation_count + 1);
    JEXPECT_EQ(stats_of(handle).deallocation_count, before.deallocation_count + 1);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In the fixed modes no call allocates, frees or synchronizes, whether it succeeds or not; with a
 * stream of its own. */
JTEST(HandleMode, FixedModesTakeAndGiveNothing) {
    for (int mode = JHANDLE_MODE_PREALLOCATE; mode <= JHANDLE_MODE_USER_OWNED; ++mode) {
        JSCOPED_TRACE("mode %d", mode);
        jstream_t *stream;
        jhandle_t *handle = handle_in((jhandle_mode_t)mode);
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        JEXPECT_OK(jhandle_set_stream(handle, stream));
        const uint64_t taken = jtest_allocation_count(), given = jtest_deallocation_count(),
                       bookkeeping = jtest_metadata_allocation_count();
        for (int i = 0; i < 200; ++i) {
            const size_t bytes = (size_t)jtest_random_between(0, 6000);
            const size_t rounded = (bytes + 63) / 64 * 64;
            JEXPECT_STATUS(touch(handle, bytes),
                           rounded <= held_in[mode] ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR);
        }
        JEXPECT_OK(jhandle_trim(handle, 0)); /* nothing, in a fixed mode */
        JEXPECT_EQ(capacity_of(handle), held_in[mode]);
        JEXPECT_EQ(jtest_allocation_count(), taken);
        JEXPECT_EQ(jtest_deallocation_count(), given);
        JEXPECT_EQ(jtest_metadata_allocation_count(), bookkeeping);
        JEXPECT_EQ(stats_of(handle).synchronization_count, 0);
        JEXPECT_EQ(stats_of(handle).growth_count, 0);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(stream));
    }
}

/* A query that nothing answers, or only calls that want nothing: what it says is taken, and nothing
 * grows. */
JTEST(HandleMode, AQueriedSizeOfZeroIsAFixedModeWithNothingInIt) {
    jhandle_t *handle = make_handle(0);
    size_t bytes = 1;
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(jhandle_set_optimal_size(handle, 0, NULL), JSTATUS_SIZE_UNCHANGED);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, bytes));
    JEXPECT_EQ(mode_of(handle), JHANDLE_MODE_MANUAL);
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jhandle_clear_stats(handle));
    const uint64_t taken = jtest_allocation_count();
    for (int i = 0; i < 3; ++i) {
        JALLOC_BORROW(nothing, handle, 0, 0);
        JEXPECT_TRUE(nothing.ok);
        JALLOC_BORROW(some, handle, 1);
        JEXPECT_STATUS(some.status, JSTATUS_MEMORY_ERROR);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "does not grow");
    }
    jplan_t plan;
    const size_t large = 4096;
    jplan_init(&plan, handle, "planned", NULL, NULL);
    jplan_add(&plan, "large", 0, 0, 1, &large);
    jplan_add(&plan, "nothing", 0, 0, 0, NULL);
    {
        JALLOC_BORROW_PLAN(ws, handle, &plan); /* the rung of zero bytes */
        JEXPECT_STATUS(ws.status, JSTATUS_PERF_DEGRADED);
        JEXPECT_EQ(ws.rung, 1);
    }
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_OK(jhandle_set_budget(handle, 64));
    JEXPECT_FALSE(jhandle_is_sealed(handle));
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_TRUE(jhandle_is_sealed(handle));
    JEXPECT_FALSE(jhandle_is_sealed(NULL));
    /* The mode's word comes before the seal's. */
    JEXPECT_STATUS(touch(handle, 1), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(touch(handle, 0));
    const jhandle_stats_t stats = stats_of(handle);
    JEXPECT_EQ(stats.high_watermark_bytes, 0);
    JEXPECT_EQ(stats.growth_count + stats.allocation_count + stats.synchronization_count, 0);
    JEXPECT_EQ(jtest_allocation_count(), taken);
    JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
    JEXPECT_OK(jhandle_set_workspace_size(handle, 0)); /* default mode again */
    JEXPECT_FALSE(jhandle_is_sealed(handle));
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleMode, FixedCapacityIsExact) {
    for (size_t granules = 1; granules <= 20; ++granules) {
        jhandle_t *handle = make_handle(granules * 64);
        jborrow_t borrow;
        const size_t fits[] = {granules * 64 - 63, 0}, too_much[] = {granules * 64 - 64 + 1, 1};
        JEXPECT_OK(jborrow_begin(&borrow, handle, "fits", 2, fits));
        JEXPECT_OK(jborrow_end(&borrow));
        JEXPECT_STATUS(jborrow_begin(&borrow, handle, "too_much", 2, too_much),
                       JSTATUS_MEMORY_ERROR);
        JEXPECT_FALSE(borrow.ok);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "too_much");
        char needed[32];
        snprintf(needed, sizeof needed, "%zu bytes", granules * 64 + 64);
        /* The message says how much was needed. */
        JEXPECT_SUBSTR(jhandle_last_message(handle), needed);
        JEXPECT_STATUS(touch(handle, granules * 64 + 1), JSTATUS_MEMORY_ERROR);
        JEXPECT_OK(touch(handle, granules * 64));
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

JTEST(HandleMode, UserMemoryIsUsedAndNothingElse) {
    unsigned char *memory = jtest_guard_pages(4096);
    jhandle_t *handle = make_handle(0);
    JASSERT_OK(jhandle_set_workspace(handle, memory, 4096));
    JALLOC_WITH_BORROW(ws, handle, 1000, 3000) {
        JEXPECT_OK(ws.status);
        JEXPECT_EQ(ws.ptr[0], memory);
        JEXPECT_EQ(ws.ptr[1], memory + 1024);
        memset(ws.ptr[0], 1, 1024);
        memset(ws.ptr[1], 2, 3072); /* up to the page that traps */
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_EQ(memory[0], 1); /* still the caller's */
    JEXPECT_EQ(jtest_allocation_count(), 0);
}

/* ---- Budget, trim, seal ---- */

JTEST(HandleBudget, BoundsWhatDefaultModeHolds) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(jhandle_set_budget(handle, 4096));
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_STATUS(touch(handle, 4097), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "budget");
    JEXPECT_EQ(capacity_of(handle), 4096);
    JEXPECT_OK(borrow_one(&outer, handle, 4000));
    /* A further block counts too. */
    JEXPECT_STATUS(borrow_one(&inner, handle, 128), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(borrow_one(&inner, handle, 64));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_set_budget(handle, 1024)); /* what is held is kept */
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_EQ(capacity_of(handle), 0);
    JEXPECT_STATUS(touch(handle, 4096), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(touch(handle, 1024));
    JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED)); /* no bound */
    JEXPECT_OK(touch(handle, 100000));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A budget below what live borrows hold: nothing is taken from them, and nothing more is given. */
JTEST(HandleBudget, BelowWhatIsHeldAllowsNothingMore) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, 1024));
    JEXPECT_OK(jhandle_set_budget(handle, 512));
    JEXPECT_STATUS(borrow_one(&inner, handle, 64), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "the budget does not allow more");
    JEXPECT_EQ(capacity_of(handle), 1024);
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleTrim, GivesBackWhatIsMoreThanAskedFor) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_trim(handle, 4096));
    JEXPECT_EQ(capacity_of(handle), 4096);
    JEXPECT_OK(jhandle_trim(handle, 4095));
    JEXPECT_LE(capacity_of(handle), 4095);
    JEXPECT_OK(jhandle_trim(handle, 0));
    JEXPECT_EQ(capacity_of(handle), 0);
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(touch(handle, 100)); /* works on */
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, handle, 10));
    JEXPECT_STATUS(jhandle_trim(handle, 0), JSTATUS_BUSY);
    JEXPECT_EQ(capacity_of(handle), 128);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleSeal, GrowthIsRefusedAndNamesTheRoutine) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    const size_t bytes = 2000;
    JEXPECT_OK(touch(handle, 1000));
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_OK(touch(handle, 1024)); /* what fits is served */
    JEXPECT_STATUS(jborrow_begin(&inner, handle, "greedy_routine", 1, &bytes), JSTATUS_SEALED);
    JEXPECT_FALSE(inner.ok);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "greedy_routine");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "2048");
    JEXPECT_OK(borrow_one(&outer, handle, 1000));
    JEXPECT_STATUS(borrow_one(&inner, handle, 1000), JSTATUS_SEALED); /* nested as well */
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_EQ(capacity_of(handle), 1024);
    JEXPECT_OK(jhandle_unseal(handle));
    JEXPECT_OK(touch(handle, 2000));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleSeal, EndsWithAModeChange) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_STATUS(touch(handle, 64), JSTATUS_SEALED);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 128));
    JEXPECT_OK(touch(handle, 128));
    JEXPECT_STATUS(touch(handle, 129), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
    JEXPECT_OK(touch(handle, 129));
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(HandleSeal, SealedHandleWithSeveralBlocksServesWhatFits) {
    jhandle_t *handle = make_handle(0);
    jborrow_t outer, inner;
    JEXPECT_OK(borrow_one(&outer, handle, 1024));
    JEXPECT_OK(borrow_one(&inner, handle, 2048));
    JEXPECT_OK(jborrow_end(&inner));
    JEXPECT_OK(jborrow_end(&outer));
    JEXPECT_OK(jhandle_seal(handle));
    const uint64_t taken = jtest_allocation_count();
    for (int i = 0; i < 3; ++i) { /* the nest that made the blocks fits them again */
        JEXPECT_OK(borrow_one(&outer, handle, 1024));
        JEXPECT_OK(borrow_one(&inner, handle, 2048));
        JEXPECT_OK(jborrow_end(&inner));
        JEXPECT_OK(jborrow_end(&outer));
    }
    JEXPECT_EQ(jtest_allocation_count(), taken);
    JEXPECT_OK(jhandle_destroy(handle));
}
