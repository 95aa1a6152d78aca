/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One suite for all buffers of a process: every kind, element type and a set of layouts goes
 * through everything that a buffer can do, with the same answers. Several processes:
 * buffer_team_test.c and the tests over MPI. */

#include "buffer_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct conformance {
    jbuffer_kind_t kind;
    bool shared;
} conformance_t;

static const conformance_t kinds[] = {
    {JBUFFER_LOCAL, false}, {JBUFFER_REPLICATED, false}, {JBUFFER_REPLICATED, true}};
static void name_of(const void *parameter, char *name) {
    const conformance_t *c = parameter;
    snprintf(name, JTEST_MAX_NAME + 1, "%s%s", jbuffer_kind_name(c->kind),
             c->shared ? "_shared" : "");
}

static const char *const layouts[] = {
    "[]",
    "[1]",
    "[7]",
    "[0,3]",
    "[4,5]",
    "[4,5] row",
    "[5,6] ld=9",
    "[5,6] row ld=7 blocks=(2,4)",
    "[3,4,5] blocks=(2,0,2)",
    "[2,3,2] strides=(6,1,20)",
    "[6,6] symmetric-lower",
    "[6,6] hermitian-upper ld=8",
    "[6,6] row hermitian-lower",
    "[6,6] triangular-upper",
    "[7,7] triangular-lower",
    "[2,2,1,2,1,2,2,2]",
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* The text form has its attributes in one order; these are written as one thinks of them. */
static jlayout_t layout_number(int n) {
    jlayout_t layout = {.rank = 0};
    const jstatus_t status = jlayout_parse(layouts[n], &layout, NULL);
    JEXPECT_OK(status);
    return layout;
}

/* Runs a function with each allocator and layout. */
typedef void (*conformance_function_t)(jbuffer_allocator_t *allocator, jdatatype_t type,
                                       const jlayout_t *layout);

static void for_each(const conformance_t *param, conformance_function_t function) {
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    for (int type = 0; type < REFERENCE_TYPES; ++type) {
        jbuffer_allocator_t *allocator =
            buffer_allocator_of(runtime, param->kind, (jdatatype_t)type, NULL, NULL, param->shared);
        for (int n = 0; n < LAYOUTS; ++n) {
            const jlayout_t layout = layout_number(n);
            JSCOPED_TRACE("%s of %s", layouts[n], jdatatype_name((jdatatype_t)type));
            function(allocator, (jdatatype_t)type, &layout);
        }
        JEXPECT_OK(jbuffer_allocator_release(allocator));
    }
    JEXPECT_OK(jruntime_release(runtime));
}

static jbuffer_t *make_places(jbuffer_allocator_t *allocator, const jlayout_t *layout) {
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(jbuffer_construct_function(allocator, layout, buffer_fill_places, NULL, 1, &buffer));
    return buffer;
}

static void check_allocate(jbuffer_allocator_t *allocator, jdatatype_t type,
                           const jlayout_t *layout) {
    jbuffer_t *buffer = NULL;
    jlayout_t got;
    jbuffer_kind_t kind;
    jdatatype_t got_type;
    jdevice_t *got_device;
    jbuffer_allocator_t *got_allocator;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    void *pointer;
    JASSERT_OK(jbuffer_allocate(allocator, layout, &buffer));
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &options));
    JEXPECT_OK(jbuffer_get_layout(buffer, &got));
    JEXPECT_TRUE(jlayout_equal(&got, layout));
    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
    JEXPECT_EQ(kind, options.kind);
    JEXPECT_OK(jbuffer_get_type(buffer, &got_type));
    JEXPECT_EQ(got_type, type);
    JEXPECT_OK(jbuffer_get_device(buffer, &got_device));
    JEXPECT_EQ(got_device, options.device);
    JEXPECT_OK(jbuffer_get_allocator(buffer, &got_allocator));
    JEXPECT_EQ(got_allocator, allocator);
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    JEXPECT_EQ(pointer == NULL, reference_count(layout) == 0);

    int64_t indices[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(layout); ++n) {
        char element[16];
        reference_indices(layout, n, indices);
        buffer_element_at(type, layout->rank, indices, element);
        JEXPECT_STATUS(jbuffer_set(buffer, indices, element), reference_is_stored(layout, indices)
                                                                  ? JSTATUS_SUCCESS
                                                                  : JSTATUS_INVALID_VALUE);
    }
    BUFFER_EXPECT_PLACES(buffer, layout);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST_P_NAMED(BufferConformance, WhatIsSetIsGot, conformance_t, kinds, name_of) {
    for_each(param, check_allocate);
}

static void check_values(jbuffer_allocator_t *allocator, jdatatype_t type,
                         const jlayout_t *layout) {
    jbuffer_t *buffer = NULL;
    char value[16];
    reference_encode(type, (reference_number_t){42, 0}, value);
    JASSERT_OK(jbuffer_construct_value(allocator, layout, value, &buffer));
    BUFFER_EXPECT_VALUE(buffer, 42);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_value(allocator, layout, NULL, &buffer));
    BUFFER_EXPECT_VALUE(buffer, 0);
    JEXPECT_OK(jbuffer_release(buffer));
    if (layout->rank < 2) {
        buffer = NULL;
        JEXPECT_STATUS(jbuffer_construct_identity(allocator, layout, &buffer),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_NULL(buffer);
        return;
    }
    JASSERT_OK(jbuffer_construct_identity(allocator, layout, &buffer));
    BUFFER_EXPECT_IDENTITY(buffer);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST_P_NAMED(BufferConformance, ValuesZerosAndIdentities, conformance_t, kinds, name_of) {
    for_each(param, check_values);
}

static void check_function(jbuffer_allocator_t *allocator, jdatatype_t type,
                           const jlayout_t *layout) {
    (void)type;
    for (int threads = 0; threads < 4; ++threads) {
        jbuffer_t *buffer = NULL;
        JASSERT_OK(jbuffer_construct_function(allocator, layout, buffer_fill_places, NULL, threads,
                                              &buffer));
        BUFFER_EXPECT_PLACES(buffer, layout);
        JEXPECT_OK(jbuffer_release(buffer));
    }
}
JTEST_P_NAMED(BufferConformance, FunctionsFillEveryElement, conformance_t, kinds, name_of) {
    for_each(param, check_function);
}

/* To every kind and type that there is. */
static void check_copies(jbuffer_allocator_t *allocator, jdatatype_t type,
                         const jlayout_t *layout) {
    jbuffer_t *buffer = make_places(allocator, layout);
    for (int to = 0; to < REFERENCE_TYPES; ++to)
        for (jbuffer_kind_t kind = JBUFFER_LOCAL; kind <= JBUFFER_REPLICATED; ++kind) {
            JSCOPED_TRACE("to %s of %s", jbuffer_kind_name(kind), jdatatype_name((jdatatype_t)to));
            jbuffer_allocator_t *other = NULL;
            jbuffer_t *copy = NULL;
            JASSERT_OK(jbuffer_allocator_rebind(allocator, kind, (jdatatype_t)to, &other));
            const bool refused =
                reference_is_complex(type) && !reference_is_complex((jdatatype_t)to);
            JEXPECT_STATUS(jbuffer_construct_copy(other, buffer, &copy),
                           refused ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
            if (refused) {
                JEXPECT_NULL(copy);
            } else {
                jlayout_t got, packed;
                JEXPECT_OK(jbuffer_get_layout(copy, &got));
                JEXPECT_OK(
                    jlayout_init(&packed, layout->rank, layout->extents, JORDER_COLUMN_MAJOR));
                packed.structure = layout->structure;
                JEXPECT_TRUE(jlayout_equal(&got, &packed));
                if (reference_is_complex(type) || !reference_is_complex((jdatatype_t)to))
                    BUFFER_EXPECT_PLACES(copy, layout);
                JEXPECT_OK(jbuffer_release(copy));
            }
            JEXPECT_OK(jbuffer_allocator_release(other));
        }
    BUFFER_EXPECT_PLACES(buffer, layout);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST_P_NAMED(BufferConformance, CopiesHaveTheSameElements, conformance_t, kinds, name_of) {
    for_each(param, check_copies);
}

static void check_moves(jbuffer_allocator_t *allocator, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &options));
    for (jbuffer_kind_t kind = JBUFFER_LOCAL; kind <= JBUFFER_REPLICATED; ++kind) {
        jbuffer_t *source = make_places(allocator, layout), *moved = NULL;
        jbuffer_allocator_t *other = NULL, *got = NULL;
        jbuffer_allocator_options_t other_options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
        void *before, *after;
        bool reused = false;
        JASSERT_OK(jbuffer_allocator_rebind(allocator, kind, type, &other));
        JEXPECT_OK(jbuffer_allocator_get_options(other, &other_options));
        JEXPECT_OK(jbuffer_as_pointer(source, JDEVICE_HOST, &before));
        JASSERT_OK(jbuffer_construct_move(other, &source, &moved, &reused));
        JEXPECT_NULL(source);
        const bool alike = options.kind != JBUFFER_REPLICATED ||
                           other_options.kind != JBUFFER_REPLICATED ||
                           options.shared_on_node == other_options.shared_on_node;
        const bool shared = options.shared_on_node || other_options.shared_on_node;
        JEXPECT_EQ(reused, alike && (!shared || options.kind == other_options.kind));
        JEXPECT_OK(jbuffer_as_pointer(moved, JDEVICE_HOST, &after));
        if (reused)
            JEXPECT_EQ(before, after);
        JEXPECT_OK(jbuffer_get_allocator(moved, &got));
        JEXPECT_EQ(got, other);
        BUFFER_EXPECT_PLACES(moved, layout);
        JEXPECT_OK(jbuffer_release(moved));
        JEXPECT_OK(jbuffer_allocator_release(other));
    }
}
JTEST_P_NAMED(BufferConformance, MovesHaveTheSameElements, conformance_t, kinds, name_of) {
    for_each(param, check_moves);
}

static void check_views(jbuffer_allocator_t *allocator, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_t *buffer = make_places(allocator, layout), *view = NULL, *turned = NULL;
    int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK], steps[JLAYOUT_MAX_RANK],
        indices[JLAYOUT_MAX_RANK] = {0};
    int order[JLAYOUT_MAX_RANK];
    const int rank = layout->rank;
    for (int d = 0; d < rank; ++d) {
        starts[d] = layout->extents[d] > 1 ? 1 : 0;
        steps[d] = 1 + (d + rank) % 2;
        extents[d] =
            layout->extents[d] == 0 ? 0 : (layout->extents[d] - 1 - starts[d]) / steps[d] + 1;
        order[d] = rank - 1 - d;
    }
    if (layout->structure == JSTRUCTURE_GENERAL) {
        JASSERT_OK(jbuffer_slice(buffer, starts, extents, steps, &view));
        JASSERT_OK(jbuffer_permute(view, order, &turned));
        jlayout_t got;
        JEXPECT_OK(jbuffer_get_layout(turned, &got));
        for (int64_t n = 0; n < reference_count(&got); ++n) {
            char actual[16], expected[16];
            int64_t whole[JLAYOUT_MAX_RANK] = {0};
            reference_indices(&got, n, indices);
            for (int d = 0; d < rank; ++d)
                whole[d] = starts[d] + steps[d] * indices[rank - 1 - d];
            buffer_element_at(type, rank, whole, expected);
            JEXPECT_OK(jbuffer_get(turned, indices, actual));
            JEXPECT_TRUE(reference_same(type, actual, expected));
        }
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_release(turned));
    }
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST_P_NAMED(BufferConformance, ViewsSeeTheElementsOfTheWhole, conformance_t, kinds, name_of) {
    for_each(param, check_views);
}

static void check_files(jbuffer_allocator_t *allocator, jdatatype_t type, const jlayout_t *layout) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/jalloc-conformance-%ld.npy", (long)getpid());
    jbuffer_t *buffer = make_places(allocator, layout), *loaded = NULL;
    if (type == JDATATYPE_BF16) {
        JEXPECT_STATUS(jbuffer_save(buffer, path), JSTATUS_NOT_IMPLEMENTED);
    } else {
        JEXPECT_OK(jbuffer_save(buffer, path));
        JEXPECT_OK(jbuffer_load(allocator, path, &loaded));
        BUFFER_EXPECT_PLACES(loaded, layout);
        JEXPECT_OK(jbuffer_release(loaded));
        JEXPECT_EQ(unlink(path), 0);
    }
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST_P_NAMED(BufferConformance, FilesGiveTheSameElementsBack, conformance_t, kinds, name_of) {
    for_each(param, check_files);
}
