/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Making buffers on several processes: every kind from every other, of every type, by copy and by
 * move; views as sources; lists; and any one process failing at any allocation, with the same
 * status on all and nothing left. What each element should be follows from its place, so no process
 * has to be asked. */

#include "buffer_helper.h"
#include "mpi_fixture.h"

#include "buffer/buffer.h"

typedef struct grid_case {
    int ranks, grid[2];
} grid_case_t;
static const grid_case_t grids[] = {{1, {1, 1}}, {2, {2, 1}}, {4, {2, 2}},
                                    {4, {1, 4}}, {6, {3, 2}}, {4, {1, 2}}};

enum { LOCAL, REPLICATED, SHARED, DISTRIBUTED, OTHER_GRID, KINDS };

static jbuffer_allocator_t *make_allocator(const jmpi_t *mpi, const grid_case_t *param, int kind,
                                           jdatatype_t type) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator = NULL;
    options.type = type;
    options.kind = kind == LOCAL    ? JBUFFER_LOCAL
                   : kind <= SHARED ? JBUFFER_REPLICATED
                                    : JBUFFER_DISTRIBUTED;
    options.shared_on_node = kind == SHARED;
    if (kind == DISTRIBUTED) {
        options.grid[0] = param->grid[0];
        options.grid[1] = param->grid[1];
        options.blocks[0] = 3;
        options.blocks[1] = 2;
    }
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    return allocator;
}

/* A source: of rank 0 the places; a local one of the others something else. */
static jbuffer_t *make_source(const jmpi_t *mpi, jbuffer_allocator_t *allocator, int kind,
                              const jlayout_t *layout) {
    jbuffer_t *buffer = NULL;
    if (kind == LOCAL && mpi->rank != 0)
        JEXPECT_OK(jbuffer_construct_value(allocator, layout, NULL, &buffer));
    else
        JEXPECT_OK(
            jbuffer_construct_function(allocator, layout, buffer_fill_places, NULL, 1, &buffer));
    return buffer;
}

/* This process's elements of a buffer whose element at a place is that of starts + place. Of a
 * distributed one only what is here is looked at: asking for others is collective, and slow on
 * ranks that share processors. */
static void expect_places(jbuffer_t *buffer, const jlayout_t *structured, const int64_t starts[2]) {
    jbuffer_part_t part = JBUFFER_PART_INIT;
    jbuffer_kind_t kind = JBUFFER_LOCAL;
    jdatatype_t type = JDATATYPE_F64;
    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    if (kind == JBUFFER_DISTRIBUTED)
        JEXPECT_OK(jbuffer_as_part(buffer, &part));
    const jdistribution_t *d = &part.distribution;
    int64_t at[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(structured); ++n) {
        reference_indices(structured, n, at);
        if (!reference_is_stored(structured, at))
            continue;
        const int64_t whole[2] = {starts[0] + at[0], starts[1] + at[1]};
        char got[16] = {0}, expected[16] = {0};
        buffer_element_at(type, structured->rank, whole, expected);
        if (kind != JBUFFER_DISTRIBUTED) {
            JEXPECT_OK(jbuffer_get(buffer, at, got));
        } else {
            if (jdistribution_owner(d, 0, at[0]) != d->coordinates[0] ||
                jdistribution_owner(d, 1, at[1]) != d->coordinates[1])
                continue;
            const int64_t offset = jdistribution_to_local(d, 0, at[0]) +
                                   jdistribution_to_local(d, 1, at[1]) * part.leading_dimension;
            memcpy(got, (char *)part.pointer + (size_t)offset * reference_size(type),
                   reference_size(type));
        }
        if (!reference_same(type, got, expected)) {
            JFAIL("element (%lld, %lld) is not what its place says", (long long)at[0],
                  (long long)at[1]);
            return;
        }
    }
}

static jlayout_t random_matrix(void) {
    const int rank = jtest_random_between(0, 5) == 0 ? (int)jtest_random_between(0, 1) : 2;
    int64_t extents[2] = {jtest_random_between(0, 13), jtest_random_between(1, 13)};
    const bool square = rank == 2 && jtest_random_bool();
    jlayout_t layout = {.rank = 0};
    if (square)
        extents[0] = extents[1];
    JEXPECT_OK(jlayout_init(&layout, rank, extents,
                            jtest_random_bool() ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR));
    if (square)
        layout.structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
    return layout;
}

JMPI_TEST_P(ConstructMpi, EveryKindFromEveryOther, grid_case_t, grids) {
    for (int from = 0; from < KINDS; ++from)
        for (int to = 0; to < KINDS; ++to)
            for (int64_t n = 0; n < jtest_iterations(2); ++n) {
                const jlayout_t layout = random_matrix();
                const jdatatype_t source_type = (jdatatype_t)jtest_random_between(0, 7);
                const jdatatype_t type =
                    jtest_random_bool() ? source_type : (jdatatype_t)jtest_random_between(0, 7);
                const bool moves = jtest_random_bool();
                JSCOPED_TRACE(
                    "kind %d of %s to kind %d of %s, rank %d, %lld x %lld, structure %d, %s", from,
                    jdatatype_name(source_type), to, jdatatype_name(type), layout.rank,
                    (long long)layout.extents[0], (long long)layout.extents[1], layout.structure,
                    moves ? "moved" : "copied");
                jbuffer_allocator_t *source_allocator =
                    make_allocator(mpi, param, from, source_type);
                jbuffer_allocator_t *allocator = make_allocator(mpi, param, to, type);
                jbuffer_t *source = make_source(mpi, source_allocator, from, &layout),
                          *buffer = NULL;
                JMPI_CHECKPOINT();
                const bool refused =
                    reference_is_complex(source_type) && !reference_is_complex(type);
                bool reused = false;
                const jstatus_t status =
                    moves ? jbuffer_construct_move(allocator, &source, &buffer, &reused)
                          : jbuffer_construct_copy(allocator, source, &buffer);
                JEXPECT_STATUS(status, refused ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
                JMPI_EXPECT_SAME_STATUS(reused);
                JMPI_CHECKPOINT();
                if (moves && from == to && source_type == type && from != OTHER_GRID)
                    JEXPECT_EQ(reused, from != LOCAL || mpi->size > 0);
                if (!refused) {
                    jbuffer_kind_t kind;
                    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
                    JEXPECT_EQ(kind, to == LOCAL    ? JBUFFER_LOCAL
                                     : to <= SHARED ? JBUFFER_REPLICATED
                                                    : JBUFFER_DISTRIBUTED);
                    /* Memory of a local buffer that is used again has its own contents; complex
                     * from real has no imaginary parts. */
                    const bool own = from == LOCAL && to == LOCAL && mpi->rank != 0;
                    if (!own && reference_is_complex(source_type) == reference_is_complex(type))
                        expect_places(buffer, &layout, (const int64_t[]){0, 0});
                    JEXPECT_OK(jbuffer_release(buffer));
                }
                JEXPECT_OK(jbuffer_release(source));
                JEXPECT_OK(jbuffer_allocator_release(source_allocator));
                JEXPECT_OK(jbuffer_allocator_release(allocator));
                JMPI_CHECKPOINT();
            }
}

JMPI_TEST_P(ConstructMpi, ViewsAreConverted, grid_case_t, grids) {
    for (int from = 0; from < KINDS; ++from)
        for (int to = 0; to < KINDS; ++to) {
            JSCOPED_TRACE("kind %d to kind %d", from, to);
            const int64_t extents[2] = {11, 9},
                          starts[2] = {jtest_random_between(0, 5), jtest_random_between(0, 5)};
            const int64_t part[2] = {jtest_random_between(1, 6), jtest_random_between(1, 4)};
            const jdatatype_t type = jtest_random_bool() ? JDATATYPE_F32 : JDATATYPE_F64;
            jlayout_t layout;
            JEXPECT_OK(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
            jbuffer_allocator_t *source_allocator = make_allocator(mpi, param, from, JDATATYPE_F32);
            jbuffer_allocator_t *allocator = make_allocator(mpi, param, to, type);
            jbuffer_t *source = make_source(mpi, source_allocator, from, &layout), *view = NULL,
                      *buffer = NULL;
            JMPI_ASSERT_OK(jbuffer_slice(source, starts, part, NULL, &view));
            JMPI_ASSERT_OK(jbuffer_construct_copy(allocator, view, &buffer));
            jlayout_t packed;
            JEXPECT_OK(jlayout_init(&packed, 2, part, JORDER_COLUMN_MAJOR));
            if (from != LOCAL || to != LOCAL || mpi->rank == 0)
                expect_places(buffer, &packed, starts);
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_OK(jbuffer_release(view));
            JEXPECT_OK(jbuffer_release(source));
            JEXPECT_OK(jbuffer_allocator_release(source_allocator));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
            JMPI_CHECKPOINT();
        }
}

JMPI_TEST_P(ConstructMpi, ListsAreRankZeros, grid_case_t, grids) {
    for (int kind = REPLICATED; kind < KINDS; ++kind) {
        const int32_t own = 100 * mpi->rank,
                      list[2][3] = {{own + 1, own + 2, own + 3}, {own + 4, own + 5, own + 6}};
        jbuffer_allocator_t *allocator = make_allocator(mpi, param, kind, JDATATYPE_I32);
        jbuffer_t *buffer = NULL;
        JMPI_ASSERT_OK(jbuffer_construct_list(allocator, JBUFFER_LIST_2(list), &buffer));
        for (int64_t n = 0; n < 6; ++n) {
            int32_t value = 0;
            JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){n / 3, n % 3}, &value));
            JEXPECT_EQ(value, n + 1);
        }
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
        JMPI_CHECKPOINT();
    }
}

JMPI_TEST(ConstructMpi, TheBestAllocatorMakesWhatItChoseOnAll, 4) {
    static const char *const named[] = {"distributed", "replicated", "local"};
    const jlayout_t layout = buffer_layout_of("[9,8]");
    for (int n = 0; n < 3; ++n) {
        jtest_setenv("JALLOC_BUFFER", named[n]);
        jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
        jbuffer_allocator_t *best = NULL,
                            *all = make_allocator(mpi, &grids[2], REPLICATED, JDATATYPE_F64);
        jbuffer_t *source = make_source(mpi, all, REPLICATED, &layout), *buffers[3] = {NULL};
        options.kind = JBUFFER_BEST;
        JMPI_ASSERT_OK(jbuffer_allocator_create(mpi->runtime, &options, &best));
        JMPI_ASSERT_OK(
            jbuffer_construct_function(best, &layout, buffer_fill_places, NULL, 1, &buffers[0]));
        JMPI_ASSERT_OK(jbuffer_construct_copy(best, source, &buffers[1]));
        JMPI_ASSERT_OK(jbuffer_construct_move(best, &source, &buffers[2], NULL));
        for (int i = 0; i < 3; ++i) {
            jbuffer_kind_t kind = JBUFFER_BEST;
            JEXPECT_OK(jbuffer_get_kind(buffers[i], &kind));
            JEXPECT_STREQ(jbuffer_kind_name(kind), named[n]);
            expect_places(buffers[i], &layout, (const int64_t[]){0, 0});
            JEXPECT_OK(jbuffer_release(buffers[i]));
        }
        JEXPECT_OK(jbuffer_allocator_release(best));
        JEXPECT_OK(jbuffer_allocator_release(all));
        JMPI_CHECKPOINT();
    }
}

/* ---- Failures ---- */

static jbuffer_filled_t fail_once(void *context, const jbuffer_block_t *block) {
    return *(const bool *)context ? JBUFFER_BLOCK_FAILED : buffer_fill_places(NULL, block);
}

JMPI_TEST_P(ConstructMpi, AFunctionThatFailsOnOneRankFailsOnAll, grid_case_t, grids) {
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 2, (const int64_t[]){30, 30}, JORDER_COLUMN_MAJOR));
    for (int kind = REPLICATED; kind <= DISTRIBUTED; ++kind)
        for (int rank = 0; rank < param->grid[0] * param->grid[1]; ++rank) {
            jbuffer_allocator_t *allocator = make_allocator(mpi, param, kind, JDATATYPE_F64);
            bool fails = mpi->rank == rank;
            jbuffer_t *buffer = NULL;
            const jstatus_t status =
                jbuffer_construct_function(allocator, &layout, fail_once, &fails, 1, &buffer);
            const bool asked = kind != SHARED || rank == 0; /* one machine */
            JEXPECT_STATUS(status, asked ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
            JEXPECT_EQ(buffer == NULL, asked);
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
            JMPI_CHECKPOINT();
        }
}

JMPI_TEST_P(ConstructMpi, BookkeepingThatOneRankLacksIsMissingOnAll, grid_case_t, grids) {
    const jlayout_t layout = buffer_layout_of("[9,8]");
    for (int from = 0; from < DISTRIBUTED + 1; ++from)
        for (int to = 0; to < DISTRIBUTED + 1; ++to) {
            if (from == LOCAL && to == LOCAL)
                continue;
            const int rank = (int)jtest_random_between(0, mpi->size - 1);
            JSCOPED_TRACE("kind %d to kind %d, rank %d fails", from, to, rank);
            jbuffer_allocator_t *source_allocator = make_allocator(mpi, param, from, JDATATYPE_F32);
            jbuffer_allocator_t *allocator = make_allocator(mpi, param, to, JDATATYPE_F64);
            jbuffer_t *source = make_source(mpi, source_allocator, from, &layout), *buffer = NULL;
            /* What is made once is there. */
            JMPI_ASSERT_OK(jbuffer_construct_copy(allocator, source, &buffer));
            JEXPECT_OK(jbuffer_release(buffer));
            for (uint64_t n = 1; n < 60; ++n) {
                const size_t before = jtest_metadata_live_count();
                buffer = NULL;
                jmpi_fail_metadata_on(mpi, rank, n);
                const jstatus_t status = jbuffer_construct_copy(allocator, source, &buffer);
                const bool failed = jmpi_metadata_failed_on(mpi, rank);
                JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(buffer == NULL, failed);
                JEXPECT_OK(jbuffer_release(buffer));
                JEXPECT_EQ(jtest_metadata_live_count(), before);
                JMPI_CHECKPOINT();
                if (!failed)
                    break;
            }
            JEXPECT_OK(jbuffer_release(source));
            JEXPECT_OK(jbuffer_allocator_release(source_allocator));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
            JMPI_CHECKPOINT();
        }
}

JMPI_TEST(ConstructMpi, LessWorkspaceThanWouldBeBestIsEnough, 4) {
    const jlayout_t layout = buffer_layout_of("[900,800] blocks=(7,5)");
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *source_allocator =
                            make_allocator(mpi, &grids[2], DISTRIBUTED, JDATATYPE_F64),
                        *allocator = NULL;
    options.kind = JBUFFER_DISTRIBUTED;
    options.allocator = jtest_failing_allocator();
    options.grid[0] = 1;
    options.grid[1] = 4;
    JMPI_ASSERT_OK(jbuffer_allocator_create(mpi->runtime, &options, &allocator));
    jbuffer_t *source = make_source(mpi, source_allocator, DISTRIBUTED, &layout), *buffer = NULL;
    if (mpi->rank == 1)
        jtest_fail_allocation_after(2); /* its part, and then the workspace */
    JMPI_ASSERT_OK(jbuffer_construct_copy(allocator, source, &buffer));
    JEXPECT_EQ(jtest_allocation_count(), mpi->rank == 1 ? 3u : 2u);
    expect_places(buffer, &layout, (const int64_t[]){0, 0});
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_release(source));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_allocator_release(source_allocator));
}
