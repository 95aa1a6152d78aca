/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers on a GPU: every way to make one, single elements, views, copies between the host and the
 * device with strides, structures and other types, moves, files. The elements tell their places, so
 * whatever is moved wrongly is seen. */

#include "buffer_helper.h"
#include "gpu_device.h"

#include "buffer/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const layouts[] = {"[]",
                                      "[9]",
                                      "[0,3]",
                                      "[7,5]",
                                      "[7,5] row",
                                      "[6,5] ld=9 blocks=(4,2)",
                                      "[3,4,2] strides=(10,1,40)",
                                      "[6,6] symmetric-lower",
                                      "[6,6] ld=8 hermitian-upper",
                                      "[7,7] row triangular-upper",
                                      "[2,1,2,2,1,2]"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

typedef struct world {
    jruntime_t *runtime;
    jbuffer_allocator_t *here, *there; /* on the host and on the device */
} world_t;

static world_t world_of(jdatatype_t type) {
    world_t world = {NULL, NULL, NULL};
    JEXPECT_OK(jruntime_create(&world.runtime));
    world.here = buffer_allocator_of(world.runtime, JBUFFER_LOCAL, type, NULL, NULL, false);
    world.there =
        buffer_allocator_of(world.runtime, JBUFFER_LOCAL, type, gpu_device(), NULL, false);
    return world;
}
static void world_end(world_t *world) {
    JEXPECT_OK(jbuffer_allocator_release(world->here));
    JEXPECT_OK(jbuffer_allocator_release(world->there));
    JEXPECT_OK(jruntime_release(world->runtime));
}

/* Runs a function for each type and layout. */
static void for_each(void (*function)(world_t *world, jdatatype_t type, const jlayout_t *layout)) {
    for (int type = 0; type < REFERENCE_TYPES; ++type) {
        world_t world = world_of((jdatatype_t)type);
        for (int n = 0; n < LAYOUTS; ++n) {
            JSCOPED_TRACE("%s of %s", layouts[n], jdatatype_name((jdatatype_t)type));
            const jlayout_t layout = buffer_layout_of(layouts[n]);
            function(&world, (jdatatype_t)type, &layout);
        }
        world_end(&world);
    }
}

static jbuffer_t *make(jbuffer_allocator_t *allocator, const jlayout_t *layout, int threads) {
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(
        jbuffer_construct_function(allocator, layout, buffer_fill_places, NULL, threads, &buffer));
    return buffer;
}

static void check_forms(world_t *world, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_t *buffer = NULL;
    char value[16];
    void *pointer = NULL;
    for (int threads = 1; threads <= 3; threads += 2) {
        buffer = make(world->there, layout, threads);
        BUFFER_EXPECT_PLACES(buffer, layout);
        JEXPECT_OK(jbuffer_as_pointer(buffer, jdevice_kind(gpu_device()), &pointer));
        JEXPECT_STATUS(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer), JSTATUS_INVALID_VALUE);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    reference_encode(type, (reference_number_t){21, 0}, value);
    JASSERT_OK(jbuffer_construct_value(world->there, layout, value, &buffer));
    BUFFER_EXPECT_VALUE(buffer, 21);
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(jbuffer_construct_value(world->there, layout, NULL, &buffer));
    BUFFER_EXPECT_VALUE(buffer, 0);
    JEXPECT_OK(jbuffer_release(buffer));
    if (layout->rank >= 2) {
        JASSERT_OK(jbuffer_construct_identity(world->there, layout, &buffer));
        BUFFER_EXPECT_IDENTITY(buffer);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JASSERT_OK(jbuffer_allocate(world->there, layout, &buffer));
    int64_t indices[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(layout); ++n) {
        reference_indices(layout, n, indices);
        buffer_element_at(type, layout->rank, indices, value);
        if (reference_is_stored(layout, indices))
            JEXPECT_OK(jbuffer_set(buffer, indices, value));
    }
    BUFFER_EXPECT_PLACES(buffer, layout);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST(GpuBuffer, EveryFormOfConstruction) { for_each(check_forms); }

JTEST(GpuBuffer, Lists) {
    world_t world = world_of(JDATATYPE_F32);
    const float list[2][3] = {{1, 2, 3}, {4, 5, 6}};
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_construct_list(world.there, JBUFFER_LIST_2(list), &buffer));
    for (int64_t n = 0; n < 6; ++n) {
        float value = 0;
        JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){n / 3, n % 3}, &value));
        JEXPECT_EQ(value, (float)(n + 1));
    }
    JEXPECT_OK(jbuffer_release(buffer));
    world_end(&world);
}

static jbuffer_filled_t every_other_zero(void *context, const jbuffer_block_t *block) {
    (void)context;
    return block->starts[0] / 2 % 2 ? JBUFFER_BLOCK_ZERO : buffer_fill_places(NULL, block);
}

JTEST(GpuBuffer, ZeroBlocksAreZeroInUsedMemory) {
    world_t world = world_of(JDATATYPE_F64);
    const jlayout_t layout = buffer_layout_of("[8,6] ld=10 blocks=(2,3)");
    double value = -7;
    jbuffer_t *buffer;
    JASSERT_OK(jbuffer_construct_value(world.there, &layout, &value, &buffer));
    JEXPECT_OK(jbuffer_release(buffer));
    JASSERT_OK(
        jbuffer_construct_function(world.there, &layout, every_other_zero, NULL, 1, &buffer));
    for (int64_t n = 0; n < 48; ++n) {
        const int64_t indices[2] = {n % 8, n / 8};
        JEXPECT_OK(jbuffer_get(buffer, indices, &value));
        JEXPECT_EQ(value, n % 8 / 2 % 2 ? 0.0 : (double)buffer_number_at(2, indices).re);
    }
    JEXPECT_OK(jbuffer_release(buffer));
    world_end(&world);
}

static void check_copies(world_t *world, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_t *here = make(world->here, layout, 1), *there = make(world->there, layout, 1),
              *copy = NULL;
    jbuffer_t *const sources[2] = {here, there};
    jbuffer_allocator_t *const targets[2] = {world->here, world->there};
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            JSCOPED_TRACE("from %d to %d", from, to);
            JASSERT_OK(jbuffer_construct_copy(targets[to], sources[from], &copy));
            BUFFER_EXPECT_PLACES(copy, layout);
            JEXPECT_OK(jbuffer_release(copy));
        }
    for (int other = 0; other < REFERENCE_TYPES; ++other) {
        jbuffer_allocator_t *rebound;
        JASSERT_OK(
            jbuffer_allocator_rebind(world->there, JBUFFER_LOCAL, (jdatatype_t)other, &rebound));
        const bool refused =
            reference_is_complex(type) && !reference_is_complex((jdatatype_t)other);
        for (int from = 0; from < 2; ++from) {
            JEXPECT_STATUS(jbuffer_construct_copy(rebound, sources[from], &copy),
                           refused ? JSTATUS_INVALID_VALUE : JSTATUS_SUCCESS);
            if (refused)
                continue;
            if (reference_is_complex(type) == reference_is_complex((jdatatype_t)other))
                BUFFER_EXPECT_PLACES(copy, layout);
            JEXPECT_OK(jbuffer_release(copy));
        }
        JEXPECT_OK(jbuffer_allocator_release(rebound));
    }
    JEXPECT_OK(jbuffer_release(here));
    JEXPECT_OK(jbuffer_release(there));
}
JTEST(GpuBuffer, CopiesBetweenHostAndDeviceAndTypes) { for_each(check_copies); }

/* Any strides on either side, between places: what is beside them stays. */
JTEST(GpuBuffer, CopiesTouchWhatTheyShouldAlone) {
    for (int64_t n = 0; n < jtest_iterations(200); ++n) {
        int64_t extents[JLAYOUT_MAX_RANK];
        const bool structured = jtest_random_bool();
        const int rank = structured ? 2 : (int)jtest_random_between(0, 4);
        const jdatatype_t type = (jdatatype_t)jtest_random_between(0, REFERENCE_TYPES - 1);
        reference_random_extents(rank, 200, extents);
        if (structured)
            extents[1] = extents[0] = extents[0] > 12 ? 12 : extents[0];
        jlayout_t layout[2];
        void *host[2], *device[2], *data[2];
        size_t bytes[2];
        /* Bit 0: destination on the device, bit 1: source. */
        const int where = (int)jtest_random_between(1, 3);
        for (int side = 0; side < 2; ++side) {
            layout[side] = reference_random_layout(rank, extents);
            if (structured)
                layout[side].structure =
                    (jstructure_t)jtest_random_between(0, JSTRUCTURE_TRIANGULAR_LOWER);
            bytes[side] = (size_t)reference_span(&layout[side]) * reference_size(type) + 16;
            host[side] = calloc(1, bytes[side]);
            reference_random_fill(type, host[side], reference_span(&layout[side]));
            device[side] = gpu_take(bytes[side]);
            gpu_upload(device[side], host[side], bytes[side]);
            data[side] = where >> side & 1 ? device[side] : host[side];
        }
        void *expected = malloc(bytes[0]), *actual = malloc(bytes[0]);
        memcpy(expected, host[0], bytes[0]);
        reference_copy(&layout[0], type, expected, &layout[1], type, host[1]);
        const ji_elements_t to = {where & 1 ? gpu_device() : jdevice_host(), type, layout[0],
                                  data[0]};
        const ji_elements_t from = {where & 2 ? gpu_device() : jdevice_host(), type, layout[1],
                                    data[1]};
        void *staging = malloc(ji_elements_copy_bytes(&to, &from) + 1);
        JEXPECT_OK(ji_elements_copy(&to, &from, NULL, staging));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        if (where & 1)
            gpu_download(actual, device[0], bytes[0]);
        else
            memcpy(actual, host[0], bytes[0]);
        REFERENCE_EXPECT_SPAN(type, actual, expected, reference_span(&layout[0]));
        for (int side = 0; side < 2; ++side) {
            gpu_give(device[side], bytes[side]);
            free(host[side]);
        }
        free(staging);
        free(expected);
        free(actual);
    }
}

static void check_views(world_t *world, jdatatype_t type, const jlayout_t *layout) {
    if (layout->rank != 2 || layout->structure != JSTRUCTURE_GENERAL ||
        reference_count(layout) == 0)
        return;
    jbuffer_t *whole = make(world->there, layout, 1), *slice, *turned, *copy;
    const int64_t extents[2] = {(layout->extents[0] - 2) / 2 + 1, layout->extents[1] - 1};
    JASSERT_OK(
        jbuffer_slice(whole, (const int64_t[]){1, 1}, extents, (const int64_t[]){2, 1}, &slice));
    JASSERT_OK(jbuffer_permute(slice, (const int[]){1, 0}, &turned));
    JEXPECT_OK(jbuffer_release(whole));
    JASSERT_OK(jbuffer_construct_copy(world->here, turned, &copy));
    for (int64_t j = 0; j < extents[1]; ++j)
        for (int64_t i = 0; i < extents[0]; ++i) {
            char got[16], expected[16];
            buffer_element_at(type, 2, (const int64_t[]){1 + 2 * i, 1 + j}, expected);
            JEXPECT_OK(jbuffer_get(turned, (const int64_t[]){j, i}, got));
            JEXPECT_TRUE(reference_same(type, got, expected));
            JEXPECT_OK(jbuffer_get(copy, (const int64_t[]){j, i}, got));
            JEXPECT_TRUE(reference_same(type, got, expected));
        }
    JEXPECT_OK(jbuffer_release(copy));
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(slice));
}
JTEST(GpuBuffer, ViewsKeepDeviceMemoryAndAreCopied) { for_each(check_views); }

static void check_moves(world_t *world, jdatatype_t type, const jlayout_t *layout) {
    jbuffer_t *buffer = make(world->there, layout, 1);
    void *before, *after;
    bool reused = false;
    (void)type;
    JEXPECT_OK(jbuffer_as_pointer(buffer, jdevice_kind(gpu_device()), &before));
    JASSERT_OK(jbuffer_construct_move(world->there, &buffer, &buffer, &reused));
    JEXPECT_TRUE(reused);
    JEXPECT_OK(jbuffer_as_pointer(buffer, jdevice_kind(gpu_device()), &after));
    JEXPECT_EQ(before, after);
    JASSERT_OK(jbuffer_construct_move(world->here, &buffer, &buffer, &reused));
    JEXPECT_FALSE(reused);
    BUFFER_EXPECT_PLACES(buffer, layout);
    JASSERT_OK(jbuffer_construct_move(world->there, &buffer, &buffer, &reused));
    JEXPECT_FALSE(reused);
    BUFFER_EXPECT_PLACES(buffer, layout);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST(GpuBuffer, MovesStayOnTheDeviceOrCopy) { for_each(check_moves); }

static void check_files(world_t *world, jdatatype_t type, const jlayout_t *layout) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/jalloc-gpu-buffer-%ld.npy", (long)getpid());
    jbuffer_t *buffer = make(world->there, layout, 1), *loaded;
    if (type != JDATATYPE_BF16) {
        jbuffer_allocator_t *const into[2] = {world->here, world->there};
        JASSERT_OK(jbuffer_save(buffer, path));
        for (int i = 0; i < 2; ++i) {
            JASSERT_OK(jbuffer_load(into[i], path, &loaded));
            BUFFER_EXPECT_PLACES(loaded, layout);
            JEXPECT_OK(jbuffer_release(loaded));
        }
        JEXPECT_EQ(unlink(path), 0);
    }
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST(GpuBuffer, FilesAreSavedAndLoaded) { for_each(check_files); }
