/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers as objects: references and what keeps memory alive, views of views, down-casts, single
 * elements, and every misuse with its status. Distributed ones:
 * buffer_grid_test.c, and over MPI: mpi/. */

#include "buffer_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct made {
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jbuffer_t *buffer;
} made_t;

/* A local buffer whose elements tell their place, in memory that is watched. */
static made_t make(const char *text, jdatatype_t type) {
    made_t made = {NULL, NULL, NULL};
    const jlayout_t layout = buffer_layout_of(text);
    JEXPECT_OK(jruntime_create(&made.runtime));
    made.allocator = buffer_allocator_of(made.runtime, JBUFFER_LOCAL, type, NULL,
                                         jtest_failing_allocator(), false);
    JEXPECT_OK(jbuffer_construct_function(made.allocator, &layout, buffer_fill_places, NULL, 1,
                                          &made.buffer));
    return made;
}
static void end(made_t *made) {
    JEXPECT_OK(jbuffer_release(made->buffer));
    JEXPECT_OK(jbuffer_allocator_release(made->allocator));
    JEXPECT_OK(jruntime_release(made->runtime));
    JEXPECT_EQ(jtest_live_bytes(), 0u);
}

/* ---- References ---- */

JTEST(Buffer, LivesAsLongAsItsReferences) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    JEXPECT_OK(jbuffer_retain(made.buffer));
    JEXPECT_OK(jbuffer_retain(made.buffer));
    JEXPECT_OK(jbuffer_release(made.buffer));
    JEXPECT_OK(jbuffer_release(made.buffer));
    JEXPECT_EQ(jtest_live_bytes(), 160u);
    double value;
    JEXPECT_OK(jbuffer_get(made.buffer, (const int64_t[]){1, 2}, &value));
    end(&made);
}

JTEST(Buffer, KeepsItsAllocatorAndTheRuntime) {
    made_t made = make("[4]", JDATATYPE_F64);
    JEXPECT_OK(jbuffer_allocator_release(made.allocator));
    JEXPECT_OK(jruntime_release(made.runtime));
    jbuffer_allocator_t *allocator = NULL;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JEXPECT_OK(jbuffer_get_allocator(made.buffer, &allocator));
    JEXPECT_EQ(allocator, made.allocator);
    JEXPECT_OK(jruntime_get_info(jbuffer_allocator_runtime(allocator), &info));
    JEXPECT_OK(jbuffer_release(made.buffer));
    JEXPECT_STATUS(jbuffer_allocator_retain(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(jtest_live_bytes(), 0u);
}

/* One release too many is refused: what buffers have of their allocator, and that of its runtime,
 * stays theirs. */
JTEST(Buffer, ReleasesBeyondTheProgramsOwnTakeNothingAway) {
    made_t made = make("[4]", JDATATYPE_F64);
    double value = -1;
    jbuffer_allocator_t *allocator = NULL;
    JEXPECT_OK(jbuffer_allocator_retain(made.allocator));
    JEXPECT_OK(jbuffer_allocator_release(made.allocator));
    JEXPECT_OK(jbuffer_allocator_release(made.allocator));
    JEXPECT_OK(jruntime_release(made.runtime));
    for (int i = 0; i < 3; ++i) {
        JEXPECT_STATUS(jbuffer_allocator_release(made.allocator), JSTATUS_NOT_FOUND);
        JEXPECT_SUBSTR(jstatus_last_message(), "released more often than retained");
        JEXPECT_STATUS(jruntime_release(made.runtime), JSTATUS_NOT_FOUND);
    }
    JEXPECT_OK(jbuffer_get(made.buffer, (const int64_t[]){1}, &value));
    JEXPECT_EQ(value, (double)buffer_number_at(1, (const int64_t[]){1}).re);
    /* Found again through the buffer, they can be retained and released as before. */
    JEXPECT_OK(jbuffer_get_allocator(made.buffer, &allocator));
    JEXPECT_OK(jbuffer_allocator_retain(allocator));
    JEXPECT_OK(jruntime_retain(jbuffer_allocator_runtime(allocator)));
    JEXPECT_OK(jbuffer_release(made.buffer));
    JEXPECT_STATUS(jbuffer_release(made.buffer), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_STATUS(jbuffer_allocator_release(allocator), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jruntime_release(made.runtime));
    JEXPECT_STATUS(jruntime_release(made.runtime), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(jtest_live_bytes(), 0u);
}

/* With a view the same: a buffer is gone, its memory and allocator are not. */
JTEST(Buffer, ABufferReleasedTwiceLeavesItsViews) {
    made_t made = make("[4]", JDATATYPE_F64);
    jbuffer_t *view = NULL;
    double value = -1;
    JASSERT_OK(jbuffer_slice(made.buffer, (const int64_t[]){1}, (const int64_t[]){2}, NULL, &view));
    JEXPECT_OK(jbuffer_release(made.buffer));
    JEXPECT_STATUS(jbuffer_release(made.buffer), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jbuffer_get(view, (const int64_t[]){0}, &value));
    JEXPECT_EQ(value, (double)buffer_number_at(1, (const int64_t[]){1}).re);
    made.buffer = view;
    end(&made);
}

JTEST(Buffer, ViewsKeepTheMemory) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    jbuffer_t *slice, *turned, *triangle;
    JASSERT_OK(
        jbuffer_slice(made.buffer, (const int64_t[]){1, 1}, (const int64_t[]){3, 3}, NULL, &slice));
    JASSERT_OK(jbuffer_permute(slice, (const int[]){1, 0}, &turned));
    JASSERT_OK(jbuffer_with_structure(turned, JSTRUCTURE_TRIANGULAR_LOWER, &triangle));
    JEXPECT_OK(jbuffer_release(made.buffer));
    double value;
    JEXPECT_STATUS(jbuffer_get(made.buffer, (const int64_t[]){0, 0}, &value), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jbuffer_release(slice));
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_EQ(jtest_live_bytes(), 160u);
    /* Element (1, 3) of the whole. */
    JEXPECT_OK(jbuffer_get(triangle, (const int64_t[]){2, 0}, &value));
    JEXPECT_EQ(value, (double)buffer_number_at(2, (const int64_t[]){1, 3}).re);
    JEXPECT_OK(jbuffer_get(triangle, (const int64_t[]){0, 2}, &value));
    JEXPECT_EQ(value, 0.0);
    made.buffer = triangle;
    end(&made);
}

JTEST(Buffer, WhatIsWrittenThroughAViewIsInTheWhole) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    jbuffer_t *view;
    double value = -3, got;
    JASSERT_OK(jbuffer_slice(made.buffer, (const int64_t[]){0, 1}, (const int64_t[]){2, 2},
                             (const int64_t[]){3, 2}, &view));
    JEXPECT_OK(jbuffer_set(view, (const int64_t[]){1, 1}, &value));
    JEXPECT_OK(jbuffer_get(made.buffer, (const int64_t[]){3, 3}, &got));
    JEXPECT_EQ(got, -3.0);
    JEXPECT_OK(jbuffer_release(view));
    end(&made);
}

JTEST(Buffer, ViewsOfViewsSeeWhatTheyShould) {
    for (int64_t n = 0; n < jtest_iterations(60); ++n) {
        made_t made = make(n % 2 ? "[7,6,5]" : "[7,6,5] row ld=8", JDATATYPE_I32);
        jbuffer_t *view = made.buffer;
        JASSERT_OK(jbuffer_retain(view));
        /* What index d of the view is in the whole: dimension[d], and start + step * index. */
        int dimension[3] = {0, 1, 2};
        int64_t start[3] = {0, 0, 0}, step[3] = {1, 1, 1}, extents[3] = {7, 6, 5};
        for (int k = 0; k < 4; ++k) {
            jbuffer_t *next = NULL;
            if (jtest_random_bool()) {
                int order[3] = {0, 1, 2}, old_dimension[3];
                int64_t old_start[3], old_step[3], old_extents[3];
                const int a = (int)jtest_random_between(0, 2), b = (int)jtest_random_between(0, 2),
                          kept = order[a];
                order[a] = order[b];
                order[b] = kept;
                JASSERT_OK(jbuffer_permute(view, order, &next));
                memcpy(old_dimension, dimension, sizeof dimension);
                memcpy(old_start, start, sizeof start);
                memcpy(old_step, step, sizeof step);
                memcpy(old_extents, extents, sizeof extents);
                for (int d = 0; d < 3; ++d) {
                    dimension[d] = old_dimension[order[d]];
                    start[d] = old_start[order[d]];
                    step[d] = old_step[order[d]];
                    extents[d] = old_extents[order[d]];
                }
            } else {
                int64_t from[3], count[3], by[3];
                for (int d = 0; d < 3; ++d) {
                    from[d] = jtest_random_between(0, extents[d] - 1);
                    by[d] = jtest_random_between(1, 2);
                    count[d] = jtest_random_between(1, (extents[d] - 1 - from[d]) / by[d] + 1);
                    start[d] += from[d] * step[d];
                    step[d] *= by[d];
                    extents[d] = count[d];
                }
                JASSERT_OK(jbuffer_slice(view, from, count, by, &next));
            }
            JEXPECT_OK(jbuffer_release(view));
            view = next;
        }
        for (int64_t i = 0; i < extents[0]; ++i)
            for (int64_t j = 0; j < extents[1]; ++j)
                for (int64_t k = 0; k < extents[2]; ++k) {
                    const int64_t indices[3] = {i, j, k};
                    int64_t whole[3];
                    int32_t value;
                    for (int d = 0; d < 3; ++d)
                        whole[dimension[d]] = start[d] + step[d] * indices[d];
                    JASSERT_OK(jbuffer_get(view, indices, &value));
                    JASSERT_EQ(value, (int32_t)buffer_number_at(3, whole).re);
                }
        JEXPECT_OK(jbuffer_release(view));
        end(&made);
    }
}

JTEST(Buffer, EmptyViewsHaveNoPointer) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    jbuffer_t *view;
    void *pointer = &made;
    JASSERT_OK(
        jbuffer_slice(made.buffer, (const int64_t[]){4, 5}, (const int64_t[]){0, 0}, NULL, &view));
    JEXPECT_OK(jbuffer_as_pointer(view, JDEVICE_HOST, &pointer));
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jbuffer_release(view));
    end(&made);
}

JTEST(Buffer, ViewsThatFailLeaveNothing) {
    made_t made = make("[4,4]", JDATATYPE_F64);
    for (int which = 0; which < 3; ++which)
        JFOR_EACH_FAILURE(i) {
            jbuffer_t *view = NULL;
            const jstatus_t status =
                which == 0 ? jbuffer_slice(made.buffer, (const int64_t[]){0, 0},
                                           (const int64_t[]){2, 2}, NULL, &view)
                : which == 1
                    ? jbuffer_permute(made.buffer, (const int[]){1, 0}, &view)
                    : jbuffer_with_structure(made.buffer, JSTRUCTURE_SYMMETRIC_UPPER, &view);
            JEXPECT_STATUS(status,
                           jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(view == NULL, jtest_metadata_failed());
            JEXPECT_OK(jbuffer_release(view));
        }
    end(&made); /* whose memory is given back: no reference was left */
}

static void *share_references(void *argument) {
    jbuffer_t *buffer = argument;
    for (int i = 0; i < 2000; ++i) {
        jbuffer_t *view = NULL;
        double value;
        if (jbuffer_retain(buffer) != JSTATUS_SUCCESS ||
            jbuffer_slice(buffer, (const int64_t[]){1, 1}, (const int64_t[]){2, 2}, NULL, &view) !=
                JSTATUS_SUCCESS ||
            jbuffer_release(buffer) != JSTATUS_SUCCESS ||
            jbuffer_get(view, (const int64_t[]){0, 1}, &value) != JSTATUS_SUCCESS ||
            jbuffer_release(view) != JSTATUS_SUCCESS)
            return argument;
    }
    return NULL;
}

JTEST(Buffer, ReferencesAreSafeFromAnyThread) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, share_references, made.buffer), 0);
    for (int i = 0; i < 4; ++i) {
        void *failed;
        JASSERT_EQ(pthread_join(threads[i], &failed), 0);
        JEXPECT_NULL(failed);
    }
    end(&made);
}

/* ---- Misuse ---- */

/* Calls everything that takes a buffer, with one that should be answered `expected`. */
static void expect_refused(jbuffer_allocator_t *allocator, jbuffer_t *buffer, jstatus_t expected) {
    const int64_t indices[2] = {0, 0};
    const int order[2] = {0, 1};
    jbuffer_t *out = NULL, *source = buffer;
    jlayout_t layout;
    jbuffer_kind_t kind;
    jdatatype_t type;
    jdevice_t *device;
    jbuffer_allocator_t *got;
    jbuffer_part_t part = JBUFFER_PART_INIT;
    void *pointer;
    double value = 0;
    bool reused;
    JEXPECT_STATUS(jbuffer_retain(buffer), expected);
    JEXPECT_STATUS(jbuffer_slice(buffer, indices, indices, NULL, &out), expected);
    JEXPECT_STATUS(jbuffer_permute(buffer, order, &out), expected);
    JEXPECT_STATUS(jbuffer_with_structure(buffer, JSTRUCTURE_GENERAL, &out), expected);
    JEXPECT_STATUS(jbuffer_get_layout(buffer, &layout), expected);
    JEXPECT_STATUS(jbuffer_get_kind(buffer, &kind), expected);
    JEXPECT_STATUS(jbuffer_get_type(buffer, &type), expected);
    JEXPECT_STATUS(jbuffer_get_device(buffer, &device), expected);
    JEXPECT_STATUS(jbuffer_get_allocator(buffer, &got), expected);
    JEXPECT_STATUS(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer), expected);
    JEXPECT_STATUS(jbuffer_as_part(buffer, &part), expected);
    JEXPECT_STATUS(jbuffer_get(buffer, indices, &value), expected);
    JEXPECT_STATUS(jbuffer_set(buffer, indices, &value), expected);
    JEXPECT_STATUS(jbuffer_construct_copy(allocator, buffer, &out), expected);
    JEXPECT_STATUS(jbuffer_construct_move(allocator, &source, &out, &reused), expected);
    JEXPECT_EQ(source, buffer);
    JEXPECT_NULL(out);
}

JTEST(Buffer, WhatIsNoLiveBufferIsRefusedByEveryFunction) {
    made_t made = make("[4,4]", JDATATYPE_F64);
    char foreign[sizeof(jbuffer_t)] = {0};
    expect_refused(made.allocator, NULL, JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jbuffer_release(NULL));
    expect_refused(made.allocator, (jbuffer_t *)foreign, JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_release((jbuffer_t *)foreign), JSTATUS_NOT_FOUND);
    expect_refused(made.allocator, (jbuffer_t *)made.allocator, JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_release((jbuffer_t *)made.runtime), JSTATUS_NOT_FOUND);
    jbuffer_t *freed;
    JASSERT_OK(jbuffer_with_structure(made.buffer, JSTRUCTURE_GENERAL, &freed));
    JASSERT_OK(jbuffer_release(freed));
    expect_refused(made.allocator, freed, JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_release(freed), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "jbuffer_release");
    end(&made);
}

JTEST(Buffer, ResultPointersMustNotBeNull) {
    made_t made = make("[4,4]", JDATATYPE_F64);
    const int64_t indices[2] = {0, 0};
    const int order[2] = {0, 1};
    double value = 0;
    JEXPECT_STATUS(jbuffer_slice(made.buffer, indices, indices, NULL, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_permute(made.buffer, order, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_with_structure(made.buffer, JSTRUCTURE_GENERAL, NULL),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get_layout(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get_kind(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get_type(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get_device(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get_allocator(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_pointer(made.buffer, JDEVICE_HOST, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_as_part(made.buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get(made.buffer, indices, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_get(made.buffer, NULL, &value), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_set(made.buffer, indices, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_set(made.buffer, NULL, &value), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_permute(made.buffer, NULL, &(jbuffer_t *){NULL}),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_slice(made.buffer, NULL, indices, NULL, &(jbuffer_t *){NULL}),
                   JSTATUS_INVALID_POINTER);
    end(&made);
}

JTEST(Buffer, ViewsOutsideOfTheWholeAreRefused) {
    made_t made = make("[4,5]", JDATATYPE_F64);
    jbuffer_t *view = NULL;
    JEXPECT_STATUS(
        jbuffer_slice(made.buffer, (const int64_t[]){2, 0}, (const int64_t[]){3, 1}, NULL, &view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(
        jbuffer_slice(made.buffer, (const int64_t[]){-1, 0}, (const int64_t[]){1, 1}, NULL, &view),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_slice(made.buffer, (const int64_t[]){0, 0}, (const int64_t[]){1, 1},
                                 (const int64_t[]){0, 1}, &view),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_permute(made.buffer, (const int[]){1, 1}, &view), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_with_structure(made.buffer, JSTRUCTURE_SYMMETRIC_LOWER, &view),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jbuffer_with_structure(made.buffer, (jstructure_t)99, &view),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(view);
    double value = 7;
    JEXPECT_STATUS(jbuffer_get(made.buffer, (const int64_t[]){4, 0}, &value),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_get(made.buffer, (const int64_t[]){0, -1}, &value),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_set(made.buffer, (const int64_t[]){0, 5}, &value),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(value, 7.0);
    end(&made);
}

/* ---- Down-casts ---- */

JTEST(Buffer, ElementsThatShareAPlaceAreRefusedMemory) {
    static const struct {
        jlayout_t layout;
        bool nested;
    } cases[] = {
        {{.rank = 2, .extents = {5, 3}, .strides = {1, 4}}, false},
        {{.rank = 2, .extents = {5, 3}, .strides = {1, 5}}, true},
        {{.rank = 2, .extents = {5, 3}, .strides = {3, 1}}, true},
        {{.rank = 2, .extents = {5, 3}, .strides = {2, 1}}, false},
        {{.rank = 2, .extents = {1, 3}, .strides = {7, 1}}, true},
        {{.rank = 3, .extents = {2, 3, 4}, .strides = {12, 4, 1}}, true},
        {{.rank = 3, .extents = {2, 3, 4}, .strides = {11, 4, 1}}, false},
        {{.rank = 2, .extents = {0, 3}, .strides = {1, 1}}, true},
        {{.rank = 2, .extents = {INT64_MAX, 0}, .strides = {INT64_MAX, INT64_MAX}}, true},
    };
    made_t made = make("[4]", JDATATYPE_F64);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        JSCOPED_TRACE("case %zu", i);
        jbuffer_t *buffer = NULL;
        const jstatus_t expected = cases[i].nested ? JSTATUS_SUCCESS : JSTATUS_INVALID_VALUE;
        JEXPECT_STATUS(jbuffer_allocate(made.allocator, &cases[i].layout, &buffer), expected);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    end(&made);
}

JTEST(Buffer, DownCastsAreChecked) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    made_t made = make("[4,5] ld=6", JDATATYPE_F32);
    void *pointer = NULL, *first = NULL;
    jbuffer_t *view;
    JEXPECT_OK(jbuffer_as_pointer(made.buffer, JDEVICE_HOST, &first));
    JASSERT_OK(
        jbuffer_slice(made.buffer, (const int64_t[]){1, 2}, (const int64_t[]){2, 2}, NULL, &view));
    JEXPECT_OK(jbuffer_as_pointer(view, JDEVICE_HOST, &pointer));
    JEXPECT_EQ(pointer, (char *)first + (1 + 2 * 6) * sizeof(float));
    pointer = NULL;
    JEXPECT_STATUS(jbuffer_as_pointer(made.buffer, JDEVICE_CUDA, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "local on host");
    jbuffer_part_t part = JBUFFER_PART_INIT;
    JEXPECT_STATUS(jbuffer_as_part(made.buffer, &part), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "local");
    JEXPECT_NULL(pointer);

    jbuffer_allocator_t *on_gpu =
        buffer_allocator_of(made.runtime, JBUFFER_LOCAL, JDATATYPE_F32, &gpu->device, NULL, false);
    jbuffer_t *there;
    const jlayout_t layout = buffer_layout_of("[3]");
    JASSERT_OK(jbuffer_allocate(on_gpu, &layout, &there));
    JEXPECT_OK(jbuffer_as_pointer(there, JDEVICE_CUDA, &pointer));
    JEXPECT_TRUE(pretend_gpu_is_live(pointer));
    JEXPECT_STATUS(jbuffer_as_pointer(there, JDEVICE_HOST, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_as_pointer(there, JDEVICE_HIP, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(there));
    JEXPECT_OK(jbuffer_allocator_release(on_gpu));
    JEXPECT_OK(jbuffer_release(view));
    end(&made);
}

/* ---- Structures ---- */

JTEST(Buffer, ElementsAreAsTheStructureHasThem) {
    made_t made = make("[5,5]", JDATATYPE_F64_C);
    const jcomplex_f64_t stain = 3 + 4 * (jcomplex_f64_t)__builtin_complex(0.0, 1.0);
    /* An imaginary part on the diagonal. */
    JEXPECT_OK(jbuffer_set(made.buffer, (const int64_t[]){2, 2}, &stain));
    jlayout_t layout;
    void *data;
    JEXPECT_OK(jbuffer_get_layout(made.buffer, &layout));
    JEXPECT_OK(jbuffer_as_pointer(made.buffer, JDEVICE_HOST, &data));
    for (int structure = 0; structure <= JSTRUCTURE_TRIANGULAR_LOWER; ++structure) {
        JSCOPED_TRACE("structure %d", structure);
        jbuffer_t *view;
        JASSERT_OK(jbuffer_with_structure(made.buffer, (jstructure_t)structure, &view));
        layout.structure = (jstructure_t)structure;
        for (int64_t n = 0; n < 25; ++n) {
            const int64_t indices[2] = {n % 5, n / 5};
            jcomplex_f64_t got, same;
            JEXPECT_OK(jbuffer_get(view, indices, &got));
            const reference_number_t expected =
                reference_get(&layout, JDATATYPE_F64_C, data, indices);
            JEXPECT_EQ(__real__ got, (double)expected.re);
            JEXPECT_EQ(__imag__ got, (double)expected.im);
            if (!reference_is_stored(&layout, indices)) {
                JEXPECT_STATUS(jbuffer_set(view, indices, &got), JSTATUS_INVALID_VALUE);
                JEXPECT_SUBSTR(jstatus_last_message(), "triangle");
            } else if (indices[0] != indices[1]) {
                JEXPECT_OK(jbuffer_set(view, indices, &got));
                JEXPECT_OK(jbuffer_get(view, indices, &same));
                JEXPECT_EQ(__real__ same, __real__ got);
            }
        }
        JEXPECT_OK(jbuffer_release(view));
    }
    end(&made);
}

/* ---- Every failure ---- */

JTEST(Buffer, EachFailureOfADeviceLeavesTheElementAndTheValue) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64, &gpu->device, NULL, false);
    const jlayout_t layout = buffer_layout_of("[2]");
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_construct_value(allocator, &layout, &(double){1}, &buffer));
    gpu->fail_with = JSTATUS_DEVICE_ERROR;
    for (int setting = 0; setting < 2; ++setting)
        for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
            const int64_t index = 1;
            double value = 7;
            gpu->failed = false;
            gpu->fail_in = n;
            const jstatus_t status =
                setting ? jbuffer_set(buffer, &index, &value) : jbuffer_get(buffer, &index, &value);
            gpu->fail_in = 0;
            failed = gpu->failed;
            JEXPECT_TRUE(failed || n > 1);
            JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            JEXPECT_EQ(value, failed || setting ? 7.0 : 1.0);
        }
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
}

/* From rank 0 for all, on the host or a device, packed or in pieces: each message and each call of
 * the device fails. */
JTEST(Buffer, EachFailureOfABroadcastIsTheCopys) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    /* A piece is no more than a mebibyte. */
    static const char *const layouts[] = {"[40,30]", "[70000,2] ld=70001"};
    for (int rank = 0; rank < 2; ++rank)
        for (int device = 0; device < 2; ++device)
            for (int holes = 0; holes < 2; ++holes) {
                JSCOPED_TRACE("rank %d, device %d, holes %d", rank, device, holes);
                pretend_runtime_t pretend;
                JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
                pretend.runtime->info.rank = rank;
                jbuffer_allocator_t *local = buffer_allocator_of(pretend.runtime, JBUFFER_LOCAL,
                                                                 JDATATYPE_F64, NULL, NULL, false);
                jbuffer_allocator_t *replicated =
                    buffer_allocator_of(pretend.runtime, JBUFFER_REPLICATED, JDATATYPE_F64,
                                        device ? &gpu->device : NULL, NULL, false);
                const jlayout_t layout = buffer_layout_of(layouts[holes]);
                jbuffer_t *from, *to;
                size_t best, least;
                JASSERT_OK(jbuffer_construct_value(local, &layout, &(double){3}, &from));
                JASSERT_OK(jbuffer_allocate(replicated, &layout, &to));
                JASSERT_OK(ji_buffer_copy_bytes(to, from, &best, &least));
                void *workspace = aligned_alloc(64, best + 64);
                memset(workspace, 0, best);
                for (int elsewhere = 0; elsewhere < 2; ++elsewhere)
                    for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                        gpu->failed = false;
                        gpu->fail_in = elsewhere ? 0 : n;
                        pretend.fail_in = elsewhere ? n : 0;
                        const jstatus_t status = ji_buffer_copy(to, from, NULL, workspace, least);
                        failed = elsewhere ? pretend.fail_in == 0 : gpu->failed;
                        gpu->fail_in = pretend.fail_in = 0;
                        JEXPECT_TRUE(failed || n > (elsewhere ? 1 + 1 + (uint64_t)holes : 0));
                        JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                    }
                double value = 0;
                JEXPECT_OK(jbuffer_get(to, (const int64_t[]){39, 1}, &value));
                JEXPECT_TRUE(rank != 0 || value == 3.0);
                free(workspace);
                JEXPECT_OK(jbuffer_release(to));
                JEXPECT_OK(jbuffer_release(from));
                JEXPECT_OK(jbuffer_allocator_release(replicated));
                JEXPECT_OK(jbuffer_allocator_release(local));
                JEXPECT_OK(jruntime_release(pretend.runtime));
            }
    JEXPECT_EQ(gpu->violations, 0u);
}

/* A placeholder has no part, no pointer and no elements yet. */
JTEST(Buffer, APlaceholderHasNoContents) {
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 4, true));
    for (int kind = JBUFFER_LOCAL; kind <= JBUFFER_DISTRIBUTED; ++kind) {
        jbuffer_allocator_t *allocator = buffer_allocator_of(pretend.runtime, (jbuffer_kind_t)kind,
                                                             JDATATYPE_F64, NULL, NULL, false);
        const jlayout_t layout = buffer_layout_of("[3,3]");
        jbuffer_t *promised, *copied = NULL;
        jbuffer_part_t part = JBUFFER_PART_INIT, before = part;
        void *pointer = &part;
        double value = 7;
        JASSERT_OK(ji_buffer_promise(allocator, &layout, &promised));
        const jstatus_t down = kind == JBUFFER_DISTRIBUTED
                                   ? jbuffer_as_part(promised, &part)
                                   : jbuffer_as_pointer(promised, JDEVICE_HOST, &pointer);
        JEXPECT_STATUS(down, JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "placeholder");
        JEXPECT_EQ(memcmp(&part, &before, sizeof part), 0);
        JEXPECT_EQ(pointer, &part);
        JEXPECT_STATUS(jbuffer_get(promised, (const int64_t[]){0, 0}, &value),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jbuffer_set(promised, (const int64_t[]){0, 0}, &value),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jbuffer_save(promised, "/nowhere/a.npy"), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(jbuffer_construct_copy(allocator, promised, &copied), JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "placeholder");
        JEXPECT_NULL(copied);
        JEXPECT_EQ(value, 7.0);
        JEXPECT_OK(jbuffer_release(promised));
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(pretend.runtime));
}

/* Two that are everyone's, of different runtimes: nobody could be asked. */
JTEST(Buffer, CopiesBetweenRuntimesNeedALocalSide) {
    pretend_runtime_t pretend[2];
    jbuffer_allocator_t *allocators[2][2];
    jbuffer_t *buffers[2];
    const jlayout_t layout = buffer_layout_of("[3,3]");
    for (int r = 0; r < 2; ++r) {
        JASSERT_OK(pretend_runtime_make(&pretend[r], 1, false));
        for (int k = 0; k < 2; ++k)
            allocators[r][k] =
                buffer_allocator_of(pretend[r].runtime, k == 0 ? JBUFFER_LOCAL : JBUFFER_REPLICATED,
                                    JDATATYPE_F64, NULL, NULL, false);
    }
    for (int k = 0; k < 2; ++k)
        JASSERT_OK(jbuffer_construct_function(allocators[0][k], &layout, buffer_fill_places, NULL,
                                              1, &buffers[k]));
    for (int to = 0; to < 2; ++to)
        for (int from = 0; from < 2; ++from) {
            JSCOPED_TRACE("to %d, from %d", to, from);
            jbuffer_t *made = NULL;
            const bool refused = to == 1 && from == 1;
            JEXPECT_STATUS(jbuffer_construct_copy(allocators[1][to], buffers[from], &made),
                           refused ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
            JEXPECT_EQ(made == NULL, refused);
            if (refused)
                JEXPECT_SUBSTR(jstatus_last_message(), "different runtimes");
            else
                BUFFER_EXPECT_PLACES(made, &layout);
            JEXPECT_OK(jbuffer_release(made));
        }
    for (int r = 0; r < 2; ++r) {
        JEXPECT_OK(r == 0 ? jbuffer_release(buffers[0]) : jbuffer_release(buffers[1]));
        for (int k = 0; k < 2; ++k)
            JEXPECT_OK(jbuffer_allocator_release(allocators[r][k]));
        JEXPECT_OK(jruntime_release(pretend[r].runtime));
    }
}
