/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Distributed buffers as one pretended process of a grid sees them: views, which parts overlap, and
 * when a move uses the memory again. Over MPI: mpi/. */

#include "buffer_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

JTEST(Buffer, ADistributedViewIsAPlaceInTheWhole) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    pretend.coordinates[0] = 0;
    pretend.coordinates[1] = 1;
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64, NULL, NULL, false);
    const jlayout_t layout = buffer_layout_of("[5,9] row blocks=(2,2)");
    jbuffer_t *buffer, *view, *deeper = NULL;
    jbuffer_part_t part = JBUFFER_PART_INIT;
    void *pointer = NULL;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JEXPECT_OK(jbuffer_as_part(buffer, &part));
    JEXPECT_EQ(part.rows, 3);
    JEXPECT_EQ(part.columns, 4); /* 2 3 6 7 */
    JEXPECT_EQ(part.leading_dimension, 3);
    JEXPECT_NOT_NULL(part.pointer);
    JEXPECT_EQ(part.extents[1], 9);
    JASSERT_OK(
        jbuffer_slice(buffer, (const int64_t[]){1, 2}, (const int64_t[]){4, 6}, NULL, &view));
    JASSERT_OK(jbuffer_slice(view, (const int64_t[]){1, 1}, (const int64_t[]){2, 2},
                             (const int64_t[]){1, 1}, &deeper));
    jbuffer_part_t inner = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_part(deeper, &inner));
    JEXPECT_EQ(inner.pointer, part.pointer);
    JEXPECT_EQ(inner.starts[0], 2);
    JEXPECT_EQ(inner.starts[1], 3);
    JEXPECT_EQ(inner.extents[0], 2);
    jlayout_t got;
    JEXPECT_OK(jbuffer_get_layout(deeper, &got));
    JEXPECT_EQ(got.strides[0], 1);
    JEXPECT_EQ(got.strides[1], 5);

    /* Element (1, 1) of the deepest is (3, 4) of the whole, another's; (0, 0) is (2, 3), another's
     * row. */
    double value = 5, before[12];
    memcpy(before, part.pointer, sizeof before);
    JEXPECT_OK(jbuffer_set(deeper, (const int64_t[]){0, 0}, &value));
    JEXPECT_OK(jbuffer_set(deeper, (const int64_t[]){1, 1}, &value));
    JEXPECT_EQ(memcmp(before, part.pointer, sizeof before), 0);
    JEXPECT_OK(jbuffer_set(view, (const int64_t[]){3, 4}, &value)); /* (4, 6): local (2, 2) */
    JEXPECT_EQ(((double *)part.pointer)[2 + 2 * 3], 5.0);
    memcpy(before, part.pointer, sizeof before);
    /* (4, 7), and another's column beside it */
    JEXPECT_OK(jbuffer_set(view, (const int64_t[]){3, 5}, &(double){6}));
    JEXPECT_OK(jbuffer_set(view, (const int64_t[]){3, 2}, &(double){7}));
    before[2 + 3 * 3] = 6;
    JEXPECT_EQ(memcmp(before, part.pointer, sizeof before), 0);
    /* Nothing is sent. */
    JEXPECT_STATUS(jbuffer_get(view, (const int64_t[]){3, 4}, &value), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_EQ(value, 5.0);

    JEXPECT_STATUS(jbuffer_slice(buffer, (const int64_t[]){0, 0}, (const int64_t[]){2, 2},
                                 (const int64_t[]){1, 2}, &deeper),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_permute(buffer, (const int[]){1, 0}, &deeper), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "distributed");
    part.struct_size = 1;
    JEXPECT_STATUS(jbuffer_as_part(buffer, &part), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(deeper));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_release(view));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Against what two rectangles have in common. */
JTEST(Buffer, ViewsOfADistributedBufferOverlapAsRectanglesDo) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64, NULL, NULL, false);
    for (int rank = 0; rank <= 2; ++rank) {
        const jlayout_t layout = buffer_layout_of(rank == 0 ? "[]" : rank == 1 ? "[4]" : "[4,4]");
        jbuffer_t *whole;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &whole));
        for (int64_t n = 0; n < jtest_iterations(300); ++n) {
            jbuffer_t *views[2];
            int64_t starts[2][2] = {{0}}, extents[2][2] = {{1, 1}, {1, 1}};
            for (int v = 0; v < 2; ++v) {
                for (int d = 0; d < rank; ++d) {
                    starts[v][d] = jtest_random_between(0, 3);
                    extents[v][d] = jtest_random_between(0, 4 - starts[v][d]);
                }
                JASSERT_OK(jbuffer_slice(whole, starts[v], extents[v], NULL, &views[v]));
            }
            int common = 0;
            for (int64_t i = 0; i < 4; ++i)
                for (int64_t j = 0; j < 4; ++j) {
                    bool in[2];
                    for (int v = 0; v < 2; ++v)
                        in[v] = i >= starts[v][0] && i < starts[v][0] + extents[v][0] &&
                                j >= starts[v][1] && j < starts[v][1] + extents[v][1];
                    common += in[0] && in[1];
                }
            const bool same = memcmp(starts[0], starts[1], sizeof starts[0]) == 0 &&
                              memcmp(extents[0], extents[1], 16) == 0;
            JEXPECT_EQ(ji_buffer_overlap(views[0], views[1]), common == 0 ? JI_OVERLAP_NONE
                                                              : same      ? JI_OVERLAP_SAME
                                                                          : JI_OVERLAP_SOME);
            JEXPECT_OK(jbuffer_release(views[0]));
            JEXPECT_OK(jbuffer_release(views[1]));
        }
        jbuffer_t *other;
        JASSERT_OK(jbuffer_allocate(allocator, &layout, &other));
        JEXPECT_EQ(ji_buffer_overlap(whole, other), JI_OVERLAP_NONE);
        JEXPECT_OK(jbuffer_release(other));
        JEXPECT_OK(jbuffer_release(whole));
    }
    const jlayout_t square = buffer_layout_of("[4,4]");
    jbuffer_t *whole, *upper;
    JASSERT_OK(jbuffer_allocate(allocator, &square, &whole));
    JASSERT_OK(jbuffer_with_structure(whole, JSTRUCTURE_SYMMETRIC_UPPER, &upper));
    JEXPECT_EQ(ji_buffer_overlap(whole, upper), JI_OVERLAP_SOME); /* it is read another way */
    JEXPECT_OK(jbuffer_release(upper));
    JEXPECT_OK(jbuffer_release(whole));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* The same bytes seen as other elements, or from the middle of one, or so far apart that sums would
 * overflow: told to overlap where they do, or might. */
JTEST(Buffer, WrappedMemoryOverlapsWhateverItIsSeenAs) {
    static _Alignas(16) char memory[32 << 10];
    static const struct {
        jdatatype_t type[2];
        const char *layout[2];
        size_t at[2];
        ji_overlap_t overlap;
    } cases[] = {
        {{JDATATYPE_F64, JDATATYPE_F32}, {"[4]", "[4]"}, {0, 0}, JI_OVERLAP_SOME},
        {{JDATATYPE_F64, JDATATYPE_F32}, {"[4]", "[4]"}, {0, 32}, JI_OVERLAP_NONE},
        {{JDATATYPE_F64, JDATATYPE_F64}, {"[4]", "[4]"}, {0, 0}, JI_OVERLAP_SAME},
        {{JDATATYPE_F64, JDATATYPE_F64}, {"[4]", "[5]"}, {0, 0}, JI_OVERLAP_SOME},
        /* Half an element further. */
        {{JDATATYPE_F64_C, JDATATYPE_F64_C}, {"[4]", "[4]"}, {0, 8}, JI_OVERLAP_SOME},
        {{JDATATYPE_I8, JDATATYPE_I8},
         {"[4]", "[2] strides=(4611686018427387904)"},
         {1, 0},
         JI_OVERLAP_SOME},
        /* Every second one of either; too many to be sure of that. */
        {{JDATATYPE_I8, JDATATYPE_I8},
         {"[10,10] strides=(2,42)", "[10,10] strides=(4,44)"},
         {0, 1},
         JI_OVERLAP_NONE},
        {{JDATATYPE_I8, JDATATYPE_I8},
         {"[80,80] strides=(2,322)", "[80,80] strides=(4,324)"},
         {0, 1},
         JI_OVERLAP_SOME},
    };
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        JSCOPED_TRACE("case %zu", i);
        jbuffer_allocator_t *allocators[2];
        jbuffer_t *buffers[2];
        for (int k = 0; k < 2; ++k) {
            const jlayout_t layout = buffer_layout_of(cases[i].layout[k]);
            allocators[k] =
                buffer_allocator_of(runtime, JBUFFER_LOCAL, cases[i].type[k], NULL, NULL, false);
            JASSERT_OK(jbuffer_wrap(allocators[k], &layout, memory + cases[i].at[k], &buffers[k]));
        }
        JEXPECT_EQ((int)ji_buffer_overlap(buffers[0], buffers[1]), (int)cases[i].overlap);
        JEXPECT_EQ((int)ji_buffer_overlap(buffers[1], buffers[0]), (int)cases[i].overlap);
        for (int k = 0; k < 2; ++k) {
            JEXPECT_OK(jbuffer_release(buffers[k]));
            JEXPECT_OK(jbuffer_allocator_release(allocators[k]));
        }
    }
    JEXPECT_OK(jruntime_release(runtime));
}

/* A part of a distributed buffer is wrapped memory here, and who knows what elsewhere. */
JTEST(Buffer, APartThatIsWrappedTwiceOverlapsHere) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    jbuffer_allocator_t *allocators[2];
    jbuffer_t *buffers[3];
    double memory[30];
    const jlayout_t layout = buffer_layout_of("[5,3]");
    for (int k = 0; k < 2; ++k) {
        allocators[k] =
            buffer_allocator_of(pretend.runtime, k == 0 ? JBUFFER_DISTRIBUTED : JBUFFER_LOCAL,
                                JDATATYPE_F64, NULL, NULL, false);
        JASSERT_OK(jbuffer_wrap(allocators[k], &layout, memory, &buffers[k]));
    }
    JASSERT_OK(jbuffer_wrap(allocators[1], &layout, memory + 15, &buffers[2]));
    JEXPECT_EQ((int)ji_buffer_overlap(buffers[0], buffers[1]), (int)JI_OVERLAP_HERE);
    JEXPECT_EQ((int)ji_buffer_overlap(buffers[1], buffers[0]), (int)JI_OVERLAP_HERE);
    JEXPECT_EQ((int)ji_buffer_overlap(buffers[0], buffers[2]), (int)JI_OVERLAP_NONE);
    for (int k = 0; k < 3; ++k)
        JEXPECT_OK(jbuffer_release(buffers[k]));
    for (int k = 0; k < 2; ++k)
        JEXPECT_OK(jbuffer_allocator_release(allocators[k]));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* A single process's memory is moved between distributed and local as it lies, in whichever
 * direction, and back. */
JTEST(Buffer, MovesOfOneProcessUseDistributedMemoryAgain) {
    static const char *const layouts[] = {"[]",    "[0]",   "[1]",   "[5]",  "[0,3]",
                                          "[1,4]", "[4,1]", "[5,3]", "[3,3]"};
    static const jbuffer_kind_t kinds[] = {JBUFFER_LOCAL, JBUFFER_REPLICATED};
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    jbuffer_allocator_t *distributed =
        buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64, NULL, NULL, false);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i)
        for (int k = 0; k < 2; ++k) {
            JSCOPED_TRACE("%s, kind %d", layouts[i], (int)kinds[k]);
            const jlayout_t layout = buffer_layout_of(layouts[i]);
            jbuffer_allocator_t *here =
                buffer_allocator_of(pretend.runtime, kinds[k], JDATATYPE_F64, NULL, NULL, false);
            jbuffer_t *buffer, *moved = NULL;
            bool reused = false;
            jbuffer_kind_t kind;
            JASSERT_OK(
                jbuffer_construct_function(here, &layout, buffer_fill_places, NULL, 1, &buffer));
            const void *const memory = buffer->storage->pointer;
            for (int round = 0; round < 2; ++round) {
                JASSERT_OK(jbuffer_construct_move(distributed, &buffer, &moved, &reused));
                JEXPECT_TRUE(reused && buffer == NULL);
                JEXPECT_OK(jbuffer_get_kind(moved, &kind));
                JEXPECT_EQ(kind, JBUFFER_DISTRIBUTED);
                jbuffer_part_t part = JBUFFER_PART_INIT;
                JEXPECT_OK(jbuffer_as_part(moved, &part));
                JEXPECT_EQ(part.pointer, memory);
                JEXPECT_EQ(part.rows, layout.rank > 0 ? layout.extents[0] : 1);
                JEXPECT_EQ(part.columns, layout.rank > 1 ? layout.extents[1] : 1);
                JASSERT_OK(jbuffer_construct_move(here, &moved, &buffer, &reused));
                JEXPECT_TRUE(reused && moved == NULL);
                BUFFER_EXPECT_PLACES(buffer, &layout);
            }
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_OK(jbuffer_allocator_release(here));
        }
    JEXPECT_OK(jbuffer_allocator_release(distributed));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* What everybody has in host memory each takes its part of, and nobody need ask whether it went
 * well. */
JTEST(Buffer, PartsOfWhatAllHaveAreTakenWithoutAsking) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 2, true));
    const jlayout_t layout = buffer_layout_of("[5,3]");
    for (int to = 0; to < 2; ++to)
        for (int from = 0; from < 2; ++from) {
            jbuffer_allocator_t *distributed =
                buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64,
                                    to ? &gpu->device : NULL, NULL, false);
            jbuffer_allocator_t *replicated =
                buffer_allocator_of(pretend.runtime, JBUFFER_REPLICATED, JDATATYPE_F64,
                                    from ? &gpu->device : NULL, NULL, false);
            jbuffer_t *parts, *whole, *moved = NULL;
            JASSERT_OK(jbuffer_allocate(distributed, &layout, &parts));
            JASSERT_OK(jbuffer_allocate(replicated, &layout, &whole));
            const unsigned before = pretend.agreements[JI_SCOPE_ALL];
            JEXPECT_STATUS(ji_buffer_copy(parts, whole, NULL, NULL, 0), JSTATUS_NOT_IMPLEMENTED);
            JEXPECT_EQ(pretend.agreements[JI_SCOPE_ALL] - before, to || from ? 1u : 0u);
            /* A move has to be a copy. */
            JEXPECT_STATUS(jbuffer_construct_move(distributed, &whole, &moved, NULL),
                           JSTATUS_NOT_IMPLEMENTED);
            JEXPECT_NULL(moved);
            JEXPECT_OK(jbuffer_release(parts));
            JEXPECT_OK(jbuffer_release(whole));
            JEXPECT_OK(jbuffer_allocator_release(replicated));
            JEXPECT_OK(jbuffer_allocator_release(distributed));
        }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Memory that is no column-major matrix as it lies becomes no distributed one, which then would be
 * a copy. */
JTEST(Buffer, OnlyWhatIsStoredAsAMatrixIsMovedAsItIs) {
    static const char *const layouts[] = {"[5,3] row", "[5,3] ld=6", "[1,4] row", "[2,2,2]"};
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 1, true));
    jbuffer_allocator_t *distributed =
        buffer_allocator_of(pretend.runtime, JBUFFER_DISTRIBUTED, JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *here =
        buffer_allocator_of(pretend.runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false);
    for (size_t i = 0; i <= sizeof layouts / sizeof layouts[0]; ++i) {
        /* Columns that do not begin where the memory does. */
        const bool part = i == sizeof layouts / sizeof layouts[0];
        JSCOPED_TRACE("%s", part ? "a part" : layouts[i]);
        const jlayout_t layout = buffer_layout_of(part ? "[5,3]" : layouts[i]);
        jbuffer_t *buffer, *view, *moved = NULL;
        bool reused = true;
        JASSERT_OK(jbuffer_construct_value(here, &layout, NULL, &buffer));
        if (part) {
            JASSERT_OK(jbuffer_slice(buffer, (const int64_t[]){0, 1}, (const int64_t[]){5, 2}, NULL,
                                     &view));
            JEXPECT_OK(jbuffer_release(buffer));
            buffer = view;
        }
        JEXPECT_STATUS(jbuffer_construct_move(distributed, &buffer, &moved, &reused),
                       /* Nothing is sent here. */
                       layout.rank > 2 ? JSTATUS_INVALID_VALUE : JSTATUS_NOT_IMPLEMENTED);
        JEXPECT_NULL(moved);
        JEXPECT_TRUE(reused);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(here));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

static int windows_ended;
static void end_window(void *window) { windows_ended += *(int *)window; }

/* The window is of a distributed buffer, which it stays with to the end; so does another runtime's
 * memory with that. */
JTEST(Buffer, MemoryWithAWindowOrOfAnotherRuntimeIsNotMovedAsItIs) {
    pretend_runtime_t pretend[2];
    JASSERT_OK(pretend_runtime_make(&pretend[0], 1, true));
    JASSERT_OK(pretend_runtime_make(&pretend[1], 1, true));
    jbuffer_allocator_t *distributed = buffer_allocator_of(pretend[0].runtime, JBUFFER_DISTRIBUTED,
                                                           JDATATYPE_F64, NULL, NULL, false);
    jbuffer_allocator_t *here[2];
    for (int r = 0; r < 2; ++r)
        here[r] = buffer_allocator_of(pretend[r].runtime, JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL,
                                      false);
    const jlayout_t layout = buffer_layout_of("[5,3]");
    jbuffer_t *buffer, *moved = NULL;
    bool reused = true;
    int window = 1;
    JASSERT_OK(jbuffer_allocate(distributed, &layout, &buffer));
    buffer->storage->window = &window;
    buffer->storage->end_window = end_window;
    JEXPECT_STATUS(jbuffer_construct_move(here[0], &buffer, &moved, &reused),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_NULL(moved);
    JEXPECT_EQ(windows_ended, 0);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_EQ(windows_ended, 1);
    JASSERT_OK(jbuffer_construct_function(here[0], &layout, buffer_fill_places, NULL, 1, &buffer));
    JASSERT_OK(jbuffer_construct_move(here[1], &buffer, &moved, &reused));
    JEXPECT_FALSE(reused);
    JEXPECT_NULL(buffer);
    JEXPECT_TRUE(ji_buffer_runtime(moved) == pretend[1].runtime);
    BUFFER_EXPECT_PLACES(moved, &layout);
    JEXPECT_OK(jbuffer_release(moved));
    for (int r = 0; r < 2; ++r)
        JEXPECT_OK(jbuffer_allocator_release(here[r]));
    JEXPECT_OK(jbuffer_allocator_release(distributed));
    for (int r = 0; r < 2; ++r)
        JEXPECT_OK(jruntime_release(pretend[r].runtime));
}

/* Between grids alone, blocks alone, or of a view: what does not lie as it should is not taken as
 * it lies. */
JTEST(Buffer, DistributedMemoryIsUsedAgainInTheSameDistributionAlone) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    const jlayout_t layout = buffer_layout_of("[5,5]");
    for (int differs = 0; differs <= 4; ++differs) {
        JSCOPED_TRACE("differs %d", differs);
        jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
        options.kind = JBUFFER_DISTRIBUTED;
        options.type = JDATATYPE_F64;
        options.grid[0] = options.grid[1] = 2;
        options.blocks[0] = options.blocks[1] = 3;
        jbuffer_allocator_t *from, *to;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &from));
        options.grid[0] -= differs == 1;
        options.grid[1] -= differs == 2;
        options.blocks[0] -= differs == 3;
        options.blocks[1] -= differs == 4;
        JASSERT_OK(jbuffer_allocator_create(pretend.runtime, &options, &to));
        jbuffer_t *buffer, *moved = NULL;
        bool reused = false;
        JASSERT_OK(jbuffer_allocate(from, &layout, &buffer));
        jbuffer_t *const given = buffer;
        const jstatus_t status = jbuffer_construct_move(to, &buffer, &moved, &reused);
        /* It would be a copy. */
        JEXPECT_STATUS(status, differs == 0 ? JSTATUS_SUCCESS : JSTATUS_NOT_IMPLEMENTED);
        JEXPECT_EQ(reused, differs == 0);
        JEXPECT_EQ(buffer, differs == 0 ? NULL : given);
        JEXPECT_EQ(moved, differs == 0 ? given : NULL);
        JEXPECT_OK(jbuffer_release(given));
        JEXPECT_OK(jbuffer_allocator_release(from));
        JEXPECT_OK(jbuffer_allocator_release(to));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}
