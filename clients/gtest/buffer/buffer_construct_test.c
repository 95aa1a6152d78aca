/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Making buffers by one process: what a function is called for and in which threads, blocks that
 * are zero, lists of any rank, wrapped memory, copies of anything into anything, moves that use
 * memory again and moves that cannot, and every way to fail: bookkeeping, memory, the function,
 * arguments. Parts of distributed buffers are looked at as each process of a pretended grid. */

#include "buffer_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include "buffer/buffer.h"
#include "jalloc/provider.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct maker {
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
} maker_t;

/* Local buffers, in memory that is watched or in the process's. */
static maker_t maker_of(jdatatype_t type, bool watched) {
    maker_t maker = {NULL, NULL};
    JEXPECT_OK(jruntime_create(&maker.runtime));
    maker.allocator = buffer_allocator_of(maker.runtime, JBUFFER_LOCAL, type, NULL,
                                          watched ? jtest_failing_allocator() : NULL, false);
    return maker;
}
static void maker_end(maker_t *maker) {
    JEXPECT_OK(jbuffer_allocator_release(maker->allocator));
    JEXPECT_OK(jruntime_release(maker->runtime));
}

/* ---- Functions ---- */

enum { MOST = 4000 };

/* What a function that counts has seen. */
typedef struct census {
    jlayout_t layout; /* of the whole */
    pthread_mutex_t lock;
    unsigned visits[MOST]; /* by the number of the element, the first index fastest */
    unsigned calls;
    unsigned fail_at; /* this call fails; 0: none */
    bool zero;        /* says "zero" of every other block */
    int threads;      /* that have called */
    pthread_t thread[16];
} census_t;

static jbuffer_filled_t count_elements(void *context, const jbuffer_block_t *block) {
    census_t *census = context;
    jlayout_t here = {.rank = block->rank};
    pthread_mutex_lock(&census->lock);
    const unsigned call = ++census->calls;
    int t = 0;
    while (t < census->threads && !pthread_equal(census->thread[t], pthread_self()))
        ++t;
    if (t == census->threads && t < 16)
        census->thread[census->threads++] = pthread_self();
    for (int d = 0; d < block->rank; ++d) {
        here.extents[d] = block->extents[d];
        here.strides[d] = block->strides[d];
    }
    for (int64_t n = 0; n < reference_count(&here); ++n) {
        int64_t indices[JLAYOUT_MAX_RANK] = {0}, number = 0, scale = 1;
        reference_indices(&here, n, indices);
        for (int d = 0; d < block->rank; ++d) {
            number += (block->starts[d] + indices[d]) * scale;
            scale *= census->layout.extents[d];
        }
        ++census->visits[number];
    }
    pthread_mutex_unlock(&census->lock);
    const bool zero = census->zero && call % 2 == 0;
    if (!zero)
        (void)buffer_fill_places(NULL, block);
    return call == census->fail_at ? JBUFFER_BLOCK_FAILED
           : zero                  ? JBUFFER_BLOCK_ZERO
                                   : JBUFFER_BLOCK_FILLED;
}

static census_t *census_of(const jlayout_t *layout) {
    census_t *census = calloc(1, sizeof *census);
    census->layout = *layout;
    pthread_mutex_init(&census->lock, NULL);
    return census;
}

static jlayout_t random_blocks(int64_t most) {
    int64_t extents[JLAYOUT_MAX_RANK];
    const int rank = (int)jtest_random_between(0, 5);
    reference_random_extents(rank, most, extents);
    if (rank == 2 && jtest_random_bool())
        extents[1] = extents[0] = extents[0] > 60 ? 60 : extents[0];
    jlayout_t layout = reference_random_layout(rank, extents);
    if (rank == 2 && extents[0] == extents[1])
        layout.structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
    for (int d = 0; d < rank; ++d)
        layout.blocks[d] = jtest_random_between(0, extents[d] + 1);
    return layout;
}

JTEST(BufferConstruct, FunctionsSeeEveryElementOnce) {
    maker_t maker = maker_of(JDATATYPE_F32_C, true);
    for (int64_t n = 0; n < jtest_iterations(300); ++n) {
        const jlayout_t layout = random_blocks(MOST);
        census_t *census = census_of(&layout);
        const int threads = (int)jtest_random_between(0, 6);
        jbuffer_t *buffer = NULL;
        JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, count_elements, census,
                                              threads, &buffer));
        for (int64_t i = 0; i < reference_count(&layout); ++i) {
            int64_t indices[JLAYOUT_MAX_RANK] = {0};
            reference_indices(&layout, i, indices);
            if (reference_is_stored(&layout, indices))
                JASSERT_EQ(census->visits[i], 1u);
            else
                JASSERT_LE(census->visits[i], 1u);
        }
        JEXPECT_LE(census->threads, threads == 0 ? 1 : threads); /* these are below 1 MiB */
        BUFFER_EXPECT_PLACES(buffer, &layout);
        JEXPECT_OK(jbuffer_release(buffer));
        free(census);
    }
    maker_end(&maker);
}

JTEST(BufferConstruct, FunctionsAreAskedForTheLayoutsBlocks) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[6,9] blocks=(4,3)"),
                    triangle = buffer_layout_of("[9,9] blocks=(3,3) symmetric-upper");
    const jlayout_t empty = buffer_layout_of("[3,0] blocks=(2,2)"),
                    lower = buffer_layout_of("[9,9] blocks=(3,3) triangular-lower");
    const jlayout_t *layouts[] = {&layout, &triangle, &empty, &lower};
    const unsigned calls[] = {6, 6, 0, 6}; /* of the triangles without the blocks beside them */
    for (int i = 0; i < 4; ++i) {
        census_t *census = census_of(layouts[i]);
        jbuffer_t *buffer;
        JASSERT_OK(jbuffer_construct_function(maker.allocator, layouts[i], count_elements, census,
                                              1, &buffer));
        JEXPECT_EQ(census->calls, calls[i]);
        JEXPECT_OK(jbuffer_release(buffer));
        free(census);
    }
    maker_end(&maker);
}

static jbuffer_filled_t measure_pieces(void *context, const jbuffer_block_t *block) {
    int64_t *sizes = context; /* calls, largest, whole columns */
    ++sizes[0];
    const int64_t size = block->extents[0] * block->extents[1];
    sizes[1] = size > sizes[1] ? size : sizes[1];
    sizes[2] += block->starts[0] == 0 && block->extents[0] == 1000;
    return JBUFFER_BLOCK_FILLED;
}

JTEST(BufferConstruct, UndividedLayoutsComeInPiecesAlongTheSlowestDimension) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[1000,400] ld=1004");
    int64_t sizes[3] = {0};
    jbuffer_t *buffer;
    JASSERT_OK(
        jbuffer_construct_function(maker.allocator, &layout, measure_pieces, sizes, 1, &buffer));
    JEXPECT_EQ(sizes[1], 32000); /* 250 KiB */
    JEXPECT_EQ(sizes[0], 13);
    JEXPECT_EQ(sizes[2], 13);
    JEXPECT_OK(jbuffer_release(buffer));
    maker_end(&maker);
}

/* Threads that meet inside of a function. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int wanted, here, most;
    bool met;
} meeting_t;

static jbuffer_filled_t meet(void *context, const jbuffer_block_t *block) {
    meeting_t *meeting = context;
    struct timespec limit;
    (void)block;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    pthread_mutex_lock(&meeting->lock);
    ++meeting->here;
    meeting->most = meeting->here > meeting->most ? meeting->here : meeting->most;
    meeting->met = meeting->met || meeting->here >= meeting->wanted;
    pthread_cond_broadcast(&meeting->changed);
    int error = 0;
    while (!meeting->met && error == 0)
        error = pthread_cond_timedwait(&meeting->changed, &meeting->lock, &limit);
    pthread_mutex_unlock(&meeting->lock);
    if (meeting->wanted == 1)
        jtest_sleep_ms(20); /* others, where there are any, would come meanwhile */
    pthread_mutex_lock(&meeting->lock);
    --meeting->here;
    pthread_mutex_unlock(&meeting->lock);
    return error == 0 ? JBUFFER_BLOCK_FILLED : JBUFFER_BLOCK_FAILED;
}

static void check_meeting(jbuffer_allocator_t *allocator, const char *text, int max_threads,
                          int wanted) {
    JSCOPED_TRACE("%s, max_threads %d", text, max_threads);
    const jlayout_t layout = buffer_layout_of(text);
    meeting_t meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, wanted, 0, 0, false};
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(
        jbuffer_construct_function(allocator, &layout, meet, &meeting, max_threads, &buffer));
    JEXPECT_EQ(meeting.most, wanted);
    JEXPECT_OK(jbuffer_release(buffer));
}

JTEST(BufferConstruct, AsManyThreadsAsAskedWorkAtOnce) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, false));
    pretend.runtime->info.threads = 3;
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(pretend.runtime, JBUFFER_LOCAL, JDATATYPE_I8, NULL, NULL, false);
    check_meeting(allocator, "[1024,2048]", 0, 3); /* the runtime's */
    check_meeting(allocator, "[1024,1024]", 0, 1); /* not above a mebibyte */
    check_meeting(allocator, "[1024,2048]", 1, 1);
    check_meeting(allocator, "[1024,2048]", 5, 5);
    check_meeting(allocator, "[4,8] blocks=(1,4)", 20, 8); /* no more than there are blocks */
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

static jbuffer_filled_t say_zero(void *context, const jbuffer_block_t *block) {
    const int64_t *filled = context; /* the block that is not zero */
    if (block->starts[0] != filled[0] || block->starts[1] != filled[1])
        return JBUFFER_BLOCK_ZERO;
    return buffer_fill_places(NULL, block);
}

JTEST(BufferConstruct, BlocksOfZerosCostNothing) {
    maker_t maker = maker_of(JDATATYPE_F64, false);
    const jlayout_t layout = buffer_layout_of("[4096,4096] blocks=(4096,64)"); /* 128 MiB */
    const int64_t filled[2] = {0, 640};
    const size_t bytes = (size_t)4096 * 4096 * 8, page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *resident = malloc(bytes / page + 1);
    for (int i = 0; i < 2; ++i) {
        jbuffer_t *buffer = NULL;
        void *data;
        size_t count = 0;
        if (i == 0)
            JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, say_zero,
                                                  (void *)(uintptr_t)filled, 0, &buffer));
        else
            JASSERT_OK(jbuffer_construct_value(maker.allocator, &layout, NULL, &buffer));
        JASSERT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &data));
        char *begin = (char *)((uintptr_t)data & ~(uintptr_t)(page - 1));
        JASSERT_EQ(mincore(begin, bytes, resident), 0);
        for (size_t p = 0; p < bytes / page; ++p)
            count += resident[p] & 1;
        /* 2 MiB were written; huge pages may round that up */
        JEXPECT_LE(count * page, (size_t)16 << 20);
        const int64_t places[3][2] = {{5, 3}, {100, 641}, {4095, 4095}};
        for (int k = 0; k < 3; ++k) {
            double value = -1;
            JEXPECT_OK(jbuffer_get(buffer, places[k], &value));
            JEXPECT_EQ(value, i == 0 && k == 1 ? (double)buffer_number_at(2, places[k]).re : 0.0);
        }
        JEXPECT_OK(jbuffer_release(buffer));
    }
    free(resident);
    maker_end(&maker);
}

JTEST(BufferConstruct, ZeroBlocksAreZeroInUsedMemory) {
    /* Memory that comes back from an earlier buffer, full of other things. */
    maker_t maker = maker_of(JDATATYPE_F32, false);
    for (int64_t n = 0; n < jtest_iterations(40); ++n) {
        const jlayout_t layout = random_blocks(3000);
        jbuffer_t *before = NULL, *buffer = NULL;
        int64_t span;
        void *data;
        JEXPECT_OK(jlayout_get_span(&layout, &span));
        JASSERT_OK(jbuffer_allocate(maker.allocator, &layout, &before));
        JEXPECT_OK(jbuffer_as_pointer(before, JDEVICE_HOST, &data));
        if (span > 0)
            memset(data, 0xa5, (size_t)span * sizeof(float));
        JEXPECT_OK(jbuffer_release(before));
        census_t *census = census_of(&layout);
        census->zero = true;
        JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, count_elements, census, 1,
                                              &buffer));
        for (int64_t i = 0; i < reference_count(&layout); ++i) {
            int64_t indices[JLAYOUT_MAX_RANK] = {0};
            float value;
            reference_indices(&layout, i, indices);
            if (!reference_is_stored(&layout, indices))
                continue;
            JASSERT_OK(jbuffer_get(buffer, indices, &value));
            JASSERT_TRUE(value == 0 || value == (float)buffer_number_at(layout.rank, indices).re);
        }
        JEXPECT_OK(jbuffer_release(buffer));
        free(census);
    }
    maker_end(&maker);
}

JTEST(BufferConstruct, AFunctionThatFailsEndsTheConstruction) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[20,20] blocks=(5,5)");
    for (unsigned at = 1; at <= 16; ++at)
        for (int threads = 1; threads <= 4; threads += 3) {
            census_t *census = census_of(&layout);
            census->fail_at = at;
            jbuffer_t *buffer = NULL;
            JEXPECT_STATUS(jbuffer_construct_function(maker.allocator, &layout, count_elements,
                                                      census, threads, &buffer),
                           JSTATUS_INVALID_VALUE);
            JEXPECT_SUBSTR(jstatus_last_message(), "block number");
            JEXPECT_NULL(buffer);
            if (threads == 1)
                JEXPECT_EQ(census->calls, at);
            JEXPECT_EQ(jtest_live_bytes(), 0u);
            free(census);
        }
    maker_end(&maker);
}

/* ---- Lists ---- */

JTEST(BufferConstruct, ListsOfEveryRankKeepTheirIndices) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    double number = 7.5, line[3] = {1, 2, 3}, matrix[2][3] = {{1, 2, 3}, {4, 5, 6}},
           cube[2][1][3] = {{{1, 2, 3}}, {{4, 5, 6}}};
    double hyper[2][2][1][2] = {{{{1, 2}}, {{3, 4}}}, {{{5, 6}}, {{7, 8}}}}, value;
    jbuffer_t *buffer;
    jlayout_t layout;
    JASSERT_OK(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_0(number), &buffer));
    JEXPECT_OK(jbuffer_get(buffer, NULL, &value));
    JEXPECT_EQ(value, 7.5);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_1(line), &buffer));
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){2}, &value));
    JEXPECT_EQ(value, 3.0);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_2(matrix), &buffer));
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_EQ(layout.rank, 2);
    JEXPECT_EQ(layout.extents[0], 2);
    JEXPECT_EQ(layout.strides[1], 2); /* column-major */
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 3; ++j) {
            JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i, j}, &value));
            JEXPECT_EQ(value, matrix[i][j]);
        }
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_3(cube), &buffer));
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){1, 0, 1}, &value));
    JEXPECT_EQ(value, 5.0);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_4(hyper), &buffer));
    for (int64_t i = 0; i < 8; ++i) {
        JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i / 4, i / 2 % 2, 0, i % 2}, &value));
        JEXPECT_EQ(value, (double)(i + 1));
    }
    JEXPECT_OK(jbuffer_release(buffer));
    /* Beyond the macros: rank 5, and nothing at all. */
    double many[32];
    const int64_t extents[5] = {2, 2, 2, 2, 2}, none[2] = {0, 4};
    for (int i = 0; i < 32; ++i)
        many[i] = i;
    JASSERT_OK(jbuffer_construct_list(maker.allocator, 5, extents, JDATATYPE_F64, many, &buffer));
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){1, 0, 1, 1, 0}, &value));
    JEXPECT_EQ(value, 22.0);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_list(maker.allocator, 2, none, JDATATYPE_F64, NULL, &buffer));
    JEXPECT_OK(jbuffer_release(buffer));
    buffer = NULL;
    JEXPECT_STATUS(
        jbuffer_construct_list(maker.allocator, 5, extents, JDATATYPE_F32, many, &buffer),
        JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "f32");
    JEXPECT_STATUS(
        jbuffer_construct_list(maker.allocator, 5, extents, JDATATYPE_F64, NULL, &buffer),
        JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_list(maker.allocator, 5, NULL, JDATATYPE_F64, many, &buffer),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(
        jbuffer_construct_list(maker.allocator, 9, extents, JDATATYPE_F64, many, &buffer),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_construct_list(maker.allocator, 2, (const int64_t[]){-1, 2},
                                          JDATATYPE_F64, many, &buffer),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_NULL(buffer);
    maker_end(&maker);
}

/* ---- Wrapped memory ---- */

JTEST(BufferConstruct, WrappedMemoryStaysTheCallers) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[2,3] ld=4");
    double *memory = jtest_guard_pages(11 * sizeof(double)); /* just the span */
    jbuffer_t *buffer = NULL, *moved = NULL, *kept;
    bool reused = true;
    const double value = 9;
    void *pointer;
    JASSERT_OK(jbuffer_wrap(maker.allocator, &layout, memory, &buffer));
    JEXPECT_EQ(jtest_allocation_count(), 0u);
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    JEXPECT_EQ(pointer, memory);
    JEXPECT_OK(jbuffer_set(buffer, (const int64_t[]){1, 2}, &value));
    JEXPECT_EQ(memory[1 + 2 * 4], 9.0);
    JEXPECT_OK(jbuffer_construct_move(maker.allocator, &buffer, &moved, &reused));
    JEXPECT_FALSE(reused);
    JEXPECT_NULL(buffer);
    JEXPECT_OK(jbuffer_release(moved));
    memory[0] = 3; /* still there */
    JASSERT_OK(jbuffer_wrap(maker.allocator, &layout, memory, &kept));
    JEXPECT_OK(jbuffer_release(kept));
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, (char *)memory + 4, &buffer),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, NULL, &buffer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, NULL, memory, &buffer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, memory, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(NULL, &layout, memory, &buffer), JSTATUS_INVALID_POINTER);
    jbuffer_allocator_t *shared =
        buffer_allocator_of(maker.runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, true);
    jbuffer_allocator_t *best =
        buffer_allocator_of(maker.runtime, JBUFFER_BEST, JDATATYPE_F64, NULL, NULL, false);
    JEXPECT_STATUS(jbuffer_wrap(shared, &layout, memory, &buffer), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_wrap(best, &layout, memory, &buffer), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(jbuffer_allocator_release(shared));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_NULL(buffer);
    maker_end(&maker);
}

/* ---- Copies and moves ---- */

JTEST(BufferConstruct, CopiesOfAnythingAreWhatTheReferenceSays) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    pretend_gpu_t *gpu = pretend_gpu_make();
    jdevice_t *const devices[2] = {NULL, &gpu->device};
    for (int64_t n = 0; n < jtest_iterations(400); ++n) {
        const jlayout_t layout = random_blocks(400);
        const jdatatype_t from = (jdatatype_t)jtest_random_between(0, 7),
                          to = (jdatatype_t)jtest_random_between(0, 7);
        jdevice_t *const here = devices[jtest_random_between(0, 1)],
                         *const there = devices[jtest_random_between(0, 1)];
        JSCOPED_TRACE("%s on %s to %s on %s", jdatatype_name(from), jdevice_name(here),
                      jdatatype_name(to), jdevice_name(there));
        jbuffer_allocator_t *source_allocator =
            buffer_allocator_of(runtime, JBUFFER_LOCAL, from, here, NULL, false);
        jbuffer_allocator_t *allocator =
            buffer_allocator_of(runtime, jtest_random_bool() ? JBUFFER_LOCAL : JBUFFER_REPLICATED,
                                to, there, NULL, false);
        const int64_t span = reference_span(&layout);
        const size_t bytes = (size_t)span * reference_size(from);
        void *memory = malloc(bytes + 16);
        reference_random_fill(from, memory, span);
        jbuffer_t *source = NULL, *copy = NULL;
        /* The pretended device's is the host's. */
        JASSERT_OK(jbuffer_wrap(source_allocator, &layout, memory, &source));
        const bool refused = reference_is_complex(from) && !reference_is_complex(to);
        JEXPECT_STATUS(jbuffer_construct_copy(allocator, source, &copy),
                       refused ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
        if (!refused) {
            jlayout_t got;
            void *pointer,
                *expected = calloc((size_t)reference_count(&layout) + 1, reference_size(to));
            JEXPECT_OK(jbuffer_get_layout(copy, &got));
            JEXPECT_EQ(got.structure, layout.structure);
            JEXPECT_OK(
                jbuffer_as_pointer(copy, there == NULL ? JDEVICE_HOST : JDEVICE_CUDA, &pointer));
            int64_t indices[JLAYOUT_MAX_RANK] = {0};
            reference_copy(&got, to, expected, &layout, from, memory);
            for (int64_t i = 0; i < reference_count(&got); ++i) {
                reference_indices(&got, i, indices);
                const size_t at = (size_t)reference_offset(&got, indices) * reference_size(to);
                if (reference_is_stored(&got, indices))
                    JASSERT_TRUE(reference_same(to, (char *)pointer + at, (char *)expected + at));
            }
            free(expected);
            JEXPECT_OK(jbuffer_release(copy));
        }
        JEXPECT_OK(jbuffer_release(source));
        free(memory);
        JEXPECT_OK(jbuffer_allocator_release(source_allocator));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_EQ(gpu->violations, 0u);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferConstruct, MovesNeedTheOnlyReference) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[4,5] row ld=6");
    for (int how = 0; how < 4; ++how) {
        jbuffer_t *source, *other = NULL, *moved = NULL;
        jlayout_t got;
        void *before, *after;
        bool reused;
        JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, 1,
                                              &source));
        JEXPECT_OK(jbuffer_as_pointer(source, JDEVICE_HOST, &before));
        if (how == 1) {
            JEXPECT_OK(jbuffer_retain(source));
            other = source;
        } else if (how == 2) {
            JEXPECT_OK(jbuffer_with_structure(source, JSTRUCTURE_GENERAL, &other));
        } else if (how == 3) { /* a view that is alone: the whole memory is its own */
            JEXPECT_OK(jbuffer_slice(source, (const int64_t[]){0, 0}, (const int64_t[]){4, 5}, NULL,
                                     &other));
            JEXPECT_OK(jbuffer_release(source));
            source = other;
            other = NULL;
        }
        JASSERT_OK(jbuffer_construct_move(maker.allocator, &source, &moved, &reused));
        JEXPECT_NULL(source);
        JEXPECT_EQ(reused, how == 0 || how == 3);
        JEXPECT_OK(jbuffer_as_pointer(moved, JDEVICE_HOST, &after));
        JEXPECT_EQ(before == after, reused);
        JEXPECT_OK(jbuffer_get_layout(moved, &got));
        JEXPECT_EQ(got.strides[0], reused ? 6 : 1); /* memory that is used again lies as it did */
        BUFFER_EXPECT_PLACES(moved, &layout);
        if (other != NULL) {
            BUFFER_EXPECT_PLACES(other, &layout); /* the other reference sees what it saw */
            JEXPECT_OK(jbuffer_release(other));
        }
        JEXPECT_OK(jbuffer_release(moved));
        JEXPECT_EQ(jtest_live_bytes(), 0u);
    }
    maker_end(&maker);
}

JTEST(BufferConstruct, MovesBetweenTypesAndDevicesCopy) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    maker_t maker = maker_of(JDATATYPE_F64, true);
    jbuffer_allocator_t *others[2] = {
        buffer_allocator_of(maker.runtime, JBUFFER_LOCAL, JDATATYPE_F32, NULL, NULL, false),
        buffer_allocator_of(maker.runtime, JBUFFER_LOCAL, JDATATYPE_F64, &gpu->device, NULL,
                            false)};
    const jlayout_t layout = buffer_layout_of("[4,5]");
    for (int i = 0; i < 2; ++i) {
        jbuffer_t *buffer;
        bool reused = true;
        JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, 1,
                                              &buffer));
        JASSERT_OK(
            /* Source and result in one variable. */
            jbuffer_construct_move(others[i], &buffer, &buffer, &reused));
        JEXPECT_FALSE(reused);
        JASSERT_NOT_NULL(buffer);
        BUFFER_EXPECT_PLACES(buffer, &layout);
        JEXPECT_EQ(jtest_live_bytes(), 0u);
        JEXPECT_OK(jbuffer_release(buffer));
        JEXPECT_OK(jbuffer_allocator_release(others[i]));
    }
    maker_end(&maker);
}

JTEST(BufferConstruct, AMoveThatFailsLeavesTheSource) {
    maker_t maker = maker_of(JDATATYPE_F64_C, false);
    jbuffer_allocator_t *real =
        buffer_allocator_of(maker.runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *watched = buffer_allocator_of(
        maker.runtime, JBUFFER_LOCAL, JDATATYPE_F32_C, NULL, jtest_failing_allocator(), false);
    const jlayout_t layout = buffer_layout_of("[4,5]");
    jbuffer_t *source, *moved = NULL;
    JASSERT_OK(
        jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, 1, &source));
    jbuffer_t *const before = source;
    bool reused = true;
    JEXPECT_STATUS(jbuffer_construct_move(real, &source, &moved, &reused), JSTATUS_INVALID_VALUE);
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jbuffer_construct_move(watched, &source, &moved, &reused), JSTATUS_MEMORY_ERROR);
    JEXPECT_STATUS(jbuffer_construct_move(watched, &source, NULL, &reused),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_move(watched, NULL, &moved, &reused), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_move(NULL, &source, &moved, &reused), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(reused);
    JEXPECT_NULL(moved);
    JEXPECT_EQ(source, before);
    BUFFER_EXPECT_PLACES(source, &layout);
    JEXPECT_OK(jbuffer_release(source));
    JEXPECT_OK(jbuffer_allocator_release(watched));
    JEXPECT_OK(jbuffer_allocator_release(real));
    maker_end(&maker);
}

JTEST(BufferConstruct, TheBestAllocatorMakesBuffersOfItsChoice) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *best =
        buffer_allocator_of(runtime, JBUFFER_BEST, JDATATYPE_F32, NULL, NULL, false);
    const jlayout_t layout = buffer_layout_of("[4,5]");
    jbuffer_t *buffers[5] = {NULL};
    const float list[2] = {1, 2};
    bool reused;
    JASSERT_OK(jbuffer_construct_function(best, &layout, buffer_fill_places, NULL, 1, &buffers[0]));
    BUFFER_EXPECT_PLACES(buffers[0], &layout);
    JASSERT_OK(jbuffer_construct_copy(best, buffers[0], &buffers[1]));
    JASSERT_OK(jbuffer_construct_move(best, &buffers[1], &buffers[2], &reused));
    BUFFER_EXPECT_PLACES(buffers[2], &layout);
    JASSERT_OK(jbuffer_construct_list(best, JBUFFER_LIST_1(list), &buffers[3]));
    JASSERT_OK(jbuffer_allocate(best, &layout, &buffers[4]));
    for (int i = 0; i < 5; ++i) {
        jbuffer_kind_t kind = JBUFFER_BEST;
        if (buffers[i] == NULL)
            continue;
        JEXPECT_OK(jbuffer_get_kind(buffers[i], &kind));
        JEXPECT_EQ(kind, JBUFFER_LOCAL);
        JEXPECT_OK(jbuffer_release(buffers[i]));
    }
    buffers[0] = buffers[1] = NULL;
    JEXPECT_STATUS(jbuffer_allocate(best, NULL, &buffers[0]), JSTATUS_INVALID_POINTER);
    JASSERT_OK(jbuffer_allocate(best, &layout, &buffers[1]));
    JEXPECT_STATUS(jbuffer_construct_move(best, &buffers[1], NULL, &reused),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(buffers[0]);
    JASSERT_NOT_NULL(buffers[1]);
    JEXPECT_OK(jbuffer_release(buffers[1]));
    JEXPECT_OK(jbuffer_allocator_release(best));
    JEXPECT_OK(jruntime_release(runtime));
}

/* ---- Every failure ---- */

enum { FORMS = 7 };
/* Makes a buffer in each way. */
static jstatus_t make_form(int form, jbuffer_allocator_t *allocator, jbuffer_t *source,
                           jbuffer_t **buffer) {
    const jlayout_t layout = buffer_layout_of("[4,5] ld=6");
    const float list[2][2] = {{1, 2}, {3, 4}}, value = 3;
    switch (form) {
    case 0: return jbuffer_allocate(allocator, &layout, buffer);
    case 1: return jbuffer_construct_value(allocator, &layout, &value, buffer);
    case 2: return jbuffer_construct_identity(allocator, &layout, buffer);
    case 3: return jbuffer_construct_list(allocator, JBUFFER_LIST_2(list), buffer);
    case 4:
        return jbuffer_construct_function(allocator, &layout, buffer_fill_places, NULL, 3, buffer);
    case 5: return jbuffer_construct_copy(allocator, source, buffer);
    default: {
        jbuffer_t *given = source;
        jstatus_t status = jbuffer_retain(source);
        if (status == JSTATUS_SUCCESS)
            status = jbuffer_construct_move(allocator, &given, buffer, NULL);
        if (status != JSTATUS_SUCCESS) /* the reference is still the caller's */
            (void)jbuffer_release(given);
        return status;
    }
    }
}

JTEST(BufferConstruct, EveryFailureIsAStatusAndLeavesNothing) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    for (int where = 0; where < 5; ++where) {
        jdevice_t *device = where == 3 ? &gpu->device : NULL;
        const bool shared = where == 2;
        const jbuffer_kind_t kind = where == 4                 ? JBUFFER_BEST
                                    : where == 0 || where == 3 ? JBUFFER_LOCAL
                                                               : JBUFFER_REPLICATED;
        jbuffer_allocator_t *allocator =
            buffer_allocator_of(runtime, kind, JDATATYPE_F32, device,
                                where < 2 ? jtest_failing_allocator() : NULL, shared);
        jbuffer_allocator_t *wide =
            buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, device, NULL, false);
        const jlayout_t layout = buffer_layout_of("[4,4] ld=5");
        jbuffer_t *source;
        JASSERT_OK(jbuffer_construct_function(wide, &layout, buffer_fill_places, NULL, 1, &source));
        for (int form = 0; form < FORMS; ++form) {
            JSCOPED_TRACE("form %d, where %d", form, where);
            jbuffer_t *buffer = NULL;
            /* What is made once is there. */
            JASSERT_OK(make_form(form, allocator, source, &buffer));
            JEXPECT_OK(jbuffer_release(buffer));
            JFOR_EACH_FAILURE(i) {
                buffer = NULL;
                const jstatus_t status = make_form(form, allocator, source, &buffer);
                JEXPECT_STATUS(status,
                               jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(buffer == NULL, status != JSTATUS_SUCCESS);
                JEXPECT_OK(jbuffer_release(buffer));
            }
            if (where < 2)
                for (uint64_t n = 1;; ++n) {
                    const uint64_t before = jtest_allocation_count();
                    buffer = NULL;
                    jtest_fail_allocation_after(n);
                    const jstatus_t status = make_form(form, allocator, source, &buffer);
                    jtest_fail_allocation_after(0);
                    const bool failed = jtest_allocation_count() - before >= n;
                    JEXPECT_STATUS(status, failed ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                    JEXPECT_EQ(buffer == NULL, failed);
                    JEXPECT_OK(jbuffer_release(buffer));
                    JEXPECT_EQ(jtest_live_bytes(), 0u);
                    if (!failed)
                        break;
                }
            if (where == 3)
                for (uint64_t n = 1;; ++n) {
                    buffer = NULL;
                    gpu->fail_in = n;
                    gpu->fail_with = JSTATUS_DEVICE_ERROR;
                    gpu->failed = false;
                    const jstatus_t status = make_form(form, allocator, source, &buffer);
                    gpu->fail_in = 0;
                    JEXPECT_STATUS(status, gpu->failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                    JEXPECT_EQ(buffer == NULL, gpu->failed);
                    JEXPECT_OK(jbuffer_release(buffer));
                    if (!gpu->failed)
                        break;
                }
        }
        JEXPECT_OK(jbuffer_release(source));
        JEXPECT_OK(jbuffer_allocator_release(wide));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(runtime));
}

/* What is filled or converted on the host for a device takes memory of the caller's allocator where
 * that is the host's, else of the process's. */
JTEST(BufferConstruct, WithoutScratchForADeviceNothingIsLeft) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jruntime_t *runtime;
    jallocator_t *bytes;
    JASSERT_OK(jruntime_create(&runtime));
    JASSERT_OK(jallocator_create_device(&gpu->device, JMEMORY_DEVICE, &bytes));
    jbuffer_allocator_t *there =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F32, &gpu->device, bytes, false);
    jbuffer_allocator_t *wide =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, &gpu->device, bytes, false);
    jbuffer_allocator_t *here = buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL,
                                                    jtest_failing_allocator(), false);
    const jlayout_t layout = buffer_layout_of("[40,30] blocks=(3,4)");
    jbuffer_t *source, *buffer = NULL;
    JASSERT_OK(jbuffer_construct_function(there, &layout, buffer_fill_places, NULL, 1, &source));
    for (uint64_t n = 1; n <= 3; ++n) { /* the buffer's memory, what is converted, and neither */
        jtest_fail_allocation_after(n);
        JEXPECT_STATUS(jbuffer_construct_copy(here, source, &buffer),
                       n < 3 ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        jtest_fail_allocation_after(0);
        JEXPECT_EQ(buffer == NULL, n < 3);
    }
    BUFFER_EXPECT_PLACES(buffer, &layout);
    JEXPECT_OK(jbuffer_release(buffer));
    for (int converts = 0; converts < 2; ++converts)
        JFOR_EACH_FAILURE(i) { /* those of making the process's allocator, too */
            buffer = NULL;
            const jstatus_t status =
                converts ? jbuffer_construct_copy(wide, source, &buffer)
                         : jbuffer_construct_function(there, &layout, buffer_fill_places, NULL, 1,
                                                      &buffer);
            /* An allocator may do without some of its bookkeeping. */
            if (!jtest_metadata_failed())
                JEXPECT_OK(status);
            else if (status != JSTATUS_SUCCESS)
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_EQ(buffer == NULL, status != JSTATUS_SUCCESS);
            JEXPECT_OK(jbuffer_release(buffer));
        }
    jbuffer_t *part; /* which goes through the host: it has holes */
    JASSERT_OK(
        jbuffer_slice(source, (const int64_t[]){0, 0}, (const int64_t[]){20, 30}, NULL, &part));
    jtest_setenv("JALLOC_ALLOCATOR", "null");
    for (int threads = 1; threads <= 3; ++threads) {
        buffer = NULL;
        JEXPECT_STATUS(
            jbuffer_construct_function(there, &layout, buffer_fill_places, NULL, threads, &buffer),
            JSTATUS_MEMORY_ERROR);
        JEXPECT_STATUS(jbuffer_construct_copy(wide, source, &buffer), JSTATUS_MEMORY_ERROR);
        JEXPECT_STATUS(jbuffer_construct_copy(there, part, &buffer), JSTATUS_MEMORY_ERROR);
        JEXPECT_NULL(buffer);
    }
    JEXPECT_OK(jbuffer_release(part));
    JEXPECT_OK(jbuffer_release(source));
    JEXPECT_OK(jbuffer_allocator_release(here));
    JEXPECT_OK(jbuffer_allocator_release(wide));
    JEXPECT_OK(jbuffer_allocator_release(there));
    JEXPECT_OK(jallocator_destroy(bytes));
    JEXPECT_EQ(pretend_gpu_live_bytes(), 0u);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(BufferConstruct, ArgumentsAreChecked) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[4,5]");
    jlayout_t bad = layout, huge = layout;
    bad.strides[0] = 0;
    huge.strides[1] = INT64_MAX / 16;
    huge.extents[1] = 9;
    jbuffer_t *buffer = NULL;
    char foreign[64] = {0};
    jbuffer_allocator_t *const wrong[] = {NULL, (jbuffer_allocator_t *)foreign};
    for (int i = 0; i < 2; ++i) {
        const jstatus_t expected = i == 0 ? JSTATUS_INVALID_POINTER : JSTATUS_NOT_FOUND;
        const double list[1] = {1};
        JEXPECT_STATUS(jbuffer_allocate(wrong[i], &layout, &buffer), expected);
        JEXPECT_STATUS(jbuffer_wrap(wrong[i], &layout, foreign, &buffer), expected);
        JEXPECT_STATUS(jbuffer_construct_value(wrong[i], &layout, NULL, &buffer), expected);
        JEXPECT_STATUS(jbuffer_construct_identity(wrong[i], &layout, &buffer), expected);
        JEXPECT_STATUS(jbuffer_construct_list(wrong[i], JBUFFER_LIST_1(list), &buffer), expected);
        JEXPECT_STATUS(
            jbuffer_construct_function(wrong[i], &layout, buffer_fill_places, NULL, 1, &buffer),
            expected);
        JEXPECT_STATUS(jbuffer_construct_list(maker.allocator, JBUFFER_LIST_1(list), NULL),
                       JSTATUS_INVALID_POINTER);
        /* Nobody can be asked. */
        JEXPECT_STATUS(jbuffer_construct_copy(wrong[i], NULL, &buffer), expected);
    }
    const jlayout_t *const layouts[] = {NULL, &bad, &huge};
    const jstatus_t statuses[] = {JSTATUS_INVALID_POINTER, JSTATUS_INVALID_VALUE,
                                  JSTATUS_INVALID_SIZE};
    for (int i = 0; i < 3; ++i) {
        JSCOPED_TRACE("layout %d", i);
        JEXPECT_STATUS(jbuffer_allocate(maker.allocator, layouts[i], &buffer), statuses[i]);
        JEXPECT_STATUS(jbuffer_construct_value(maker.allocator, layouts[i], NULL, &buffer),
                       statuses[i]);
        JEXPECT_STATUS(jbuffer_construct_identity(maker.allocator, layouts[i], &buffer),
                       statuses[i]);
        JEXPECT_STATUS(jbuffer_construct_function(maker.allocator, layouts[i], buffer_fill_places,
                                                  NULL, 1, &buffer),
                       statuses[i]);
    }
    JEXPECT_STATUS(jbuffer_allocate(maker.allocator, &layout, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_value(maker.allocator, &layout, NULL, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_identity(maker.allocator, &layout, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(
        jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, 1, NULL),
        JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_construct_function(maker.allocator, &layout, NULL, NULL, 1, &buffer),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(
        jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, -1, &buffer),
        JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(buffer);
    maker_end(&maker);
}

/* Threads that cannot be had: the others, or the caller alone, do their work. */
JTEST(BufferConstruct, WithoutThreadsTheCallerFillsAll) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[40,30] blocks=(3,4)");
    for (uint64_t n = 1; n <= 4; ++n) {
        jbuffer_t *buffer;
        jtest_fail_calls("pthread_create", n, 1, EAGAIN);
        JASSERT_OK(jbuffer_construct_function(maker.allocator, &layout, buffer_fill_places, NULL, 4,
                                              &buffer));
        JEXPECT_EQ(jtest_calls_failed(), n < 4);
        BUFFER_EXPECT_PLACES(buffer, &layout);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    maker_end(&maker);
}

JTEST(BufferConstruct, WrappingThatFailsLeavesNothing) {
    maker_t maker = maker_of(JDATATYPE_F64, true);
    const jlayout_t layout = buffer_layout_of("[2,2]"), none = buffer_layout_of("[0,2]");
    double memory[4] = {1, 2, 3, 4};
    jbuffer_t *buffer = NULL;
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, NULL, &buffer), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, memory, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_wrap(maker.allocator, &layout, (char *)memory + 1, &buffer),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(buffer);
    JASSERT_OK(jbuffer_wrap(maker.allocator, &none, NULL, &buffer));
    JEXPECT_OK(jbuffer_release(buffer));
    JFOR_EACH_FAILURE(i) {
        buffer = NULL;
        const jstatus_t status = jbuffer_wrap(maker.allocator, &layout, memory, &buffer);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(buffer == NULL, status != JSTATUS_SUCCESS);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_EQ(memory[3], 4.0);
    maker_end(&maker);
}

/* ---- Parts of distributed buffers ---- */

/* Each process of a pretended grid makes its part; together they must have everything, once. */
JTEST(BufferConstruct, PartsOfADistributedBufferAreTheWholeTogether) {
    for (int64_t n = 0; n < jtest_iterations(60); ++n) {
        const int rows = (int)jtest_random_between(1, 3), columns = (int)jtest_random_between(1, 3);
        const int rank = (int)jtest_random_between(0, 2);
        jlayout_t layout = {.rank = rank};
        int64_t extents[2] = {jtest_random_between(0, 30), jtest_random_between(0, 30)};
        const bool square = rank == 2 && jtest_random_bool();
        extents[1] = square ? extents[0] : extents[1];
        JASSERT_OK(jlayout_init(&layout, rank, extents, JORDER_COLUMN_MAJOR));
        if (square)
            layout.structure = (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
        for (int d = 0; d < rank; ++d)
            layout.blocks[d] = jtest_random_between(1, 6);
        census_t *census = census_of(&layout);
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                pretend_runtime_t pretend;
                jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
                jbuffer_allocator_t *allocator;
                jbuffer_t *made[3] = {NULL};
                JASSERT_OK(pretend_runtime_make(&pretend, rows * columns, true));
                pretend.coordinates[0] = r;
                pretend.coordinates[1] = c;
                options.kind = JBUFFER_DISTRIBUTED;
                options.type = JDATATYPE_F64;
                options.grid[0] = rows;
                options.grid[1] = columns;
                const double value = 4;
                JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &allocator));
                JASSERT_OK(jbuffer_construct_function(allocator, &layout, count_elements, census, 2,
                                                      &made[0]));
                JASSERT_OK(jbuffer_construct_value(allocator, &layout, &value, &made[1]));
                JEXPECT_STATUS(jbuffer_construct_identity(allocator, &layout, &made[2]),
                               rank < 2 ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
                for (int k = 0; k < 3; ++k) {
                    jbuffer_part_t part = JBUFFER_PART_INIT;
                    if (made[k] == NULL)
                        continue;
                    JASSERT_OK(jbuffer_as_part(made[k], &part));
                    for (int64_t i = 0; i < part.rows; ++i)
                        for (int64_t j = 0; j < part.columns; ++j) {
                            const int64_t whole[2] = {
                                jdistribution_to_global(&part.distribution, 0, r, i),
                                jdistribution_to_global(&part.distribution, 1, c, j)};
                            const double got =
                                ((const double *)part.pointer)[i + j * part.leading_dimension];
                            if (!reference_is_stored(&layout, whole))
                                continue;
                            JASSERT_EQ(got, k == 0   ? (double)buffer_number_at(rank, whole).re
                                            : k == 1 ? 4.0
                                                     : (double)(whole[0] == whole[1]));
                        }
                    JEXPECT_OK(jbuffer_release(made[k]));
                }
                JEXPECT_OK(jbuffer_allocator_release(allocator));
                JEXPECT_OK(jruntime_release(pretend.runtime));
            }
        for (int64_t i = 0; i < reference_count(&layout); ++i) {
            int64_t indices[JLAYOUT_MAX_RANK] = {0};
            reference_indices(&layout, i, indices);
            if (reference_is_stored(&layout, indices))
                JASSERT_EQ(census->visits[i], 1u);
        }
        free(census);
    }
}
