/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "mpi_operation.h"

#include <math.h>
#include <string.h>

static const jbuffer_allocator_options_t no_options = JBUFFER_ALLOCATOR_OPTIONS_INIT;

void mpi_world_begin(mpi_world_t *world, const jmpi_t *mpi, jdatatype_t type, const int grid[2]) {
    memset(world, 0, sizeof *world);
    world->mpi = mpi;
    world->type = type;
    for (int place = 0; place < PLACE_COUNT; place++) {
        jbuffer_allocator_options_t options = no_options;
        options.type = type;
        if (place >= PLACE_GRID) {
            options.kind = JBUFFER_DISTRIBUTED;
            options.grid[0] = place == PLACE_GRID ? grid[0] : mpi->size;
            options.grid[1] = place == PLACE_GRID ? grid[1] : 1;
            options.blocks[0] = jtest_random_between(1, 5);
            options.blocks[1] = jtest_random_between(1, 5);
        } else if (place != PLACE_LOCAL) {
            options.kind = JBUFFER_REPLICATED;
            options.shared_on_node = place == PLACE_SHARED;
        }
        JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &world->allocators[place]));
    }
    JEXPECT_OK(jhandle_create(NULL, &world->handle));
}

void mpi_world_end(mpi_world_t *world) {
    JEXPECT_OK(jhandle_destroy(world->handle));
    for (int place = 0; place < PLACE_COUNT; place++)
        JEXPECT_OK(jbuffer_allocator_release(world->allocators[place]));
    wide_arena_free(&world->arena);
}

void placed_make(placed_t *placed, mpi_world_t *world, place_t place, bool alone, int64_t rows,
                 int64_t columns, jstructure_t structure, bool definite) {
    memset(placed, 0, sizeof *placed);
    placed->place = place;
    operand_make(&placed->local, world->allocators[PLACE_LOCAL], rows, columns,
                 place == PLACE_LOCAL ? random_storage() : STORED_COLUMN, structure);
    if (definite)
        operand_make_definite(&placed->local, &world->arena);
    const scalar_t nan = scalar_of(world->type, NAN, NAN);
    const int rank = columns < 0 ? 1 : 2;
    if (place == PLACE_LOCAL) { /* another operand, since the first one keeps the value */
        operand_t there;
        operand_make(&there, world->allocators[PLACE_LOCAL], rows, columns, random_storage(),
                     structure);
        JEXPECT_OK(jbuffer_fill(world->handle, there.parent, &nan));
        if (alone || world->mpi->rank == 0)
            JEXPECT_OK(jbuffer_copy(world->handle, there.view, placed->local.view));
        JEXPECT_OK(jbuffer_retain(there.parent));
        JEXPECT_OK(jbuffer_retain(there.view));
        placed->whole = there.parent;
        placed->view = there.view;
        operand_free(&there);
        return;
    }
    int64_t extents[2] = {rows, columns}, larger[2];
    for (int d = 0; d < rank; d++) {
        placed->starts[d] = jtest_random_between(0, 4);
        larger[d] = placed->starts[d] + extents[d] + jtest_random_between(0, 4);
    }
    if (structure != JSTRUCTURE_GENERAL) { /* anywhere, a view says what it is */
        larger[0] += placed->starts[0];
    }
    jlayout_t layout;
    jbuffer_t *slice = NULL;
    JEXPECT_OK(jlayout_init(&layout, rank, larger, JORDER_COLUMN_MAJOR));
    const int64_t blocks[2] = {jtest_random_between(1, 7), jtest_random_between(1, 7)};
    if (place >= PLACE_GRID && jtest_random_bool())
        JEXPECT_OK(jlayout_set_blocks(&layout, blocks));
    JEXPECT_OK(jbuffer_construct_value(world->allocators[place], &layout, &nan, &placed->whole));
    JEXPECT_OK(jbuffer_slice(placed->whole, placed->starts, extents, NULL, &slice));
    if (structure != JSTRUCTURE_GENERAL) {
        JEXPECT_OK(jbuffer_with_structure(slice, structure, &placed->view));
        JEXPECT_OK(jbuffer_release(slice));
    } else {
        placed->view = slice;
    }
    JEXPECT_OK(jbuffer_copy(world->handle, placed->view, placed->local.view));
}

void placed_free(placed_t *placed) {
    JEXPECT_OK(jbuffer_release(placed->view));
    JEXPECT_OK(jbuffer_release(placed->whole));
    operand_free(&placed->local);
}

void made_expect(mpi_world_t *world, jbuffer_t *buffer, wide_matrix_t expected,
                 long double factor) {
    jbuffer_t *local = NULL;
    JEXPECT_OK(jbuffer_construct_copy(world->allocators[PLACE_LOCAL], buffer, &local));
    if (local != NULL)
        buffer_expect(local, expected, factor);
    JEXPECT_OK(jbuffer_release(local));
}

void placed_expect(mpi_world_t *world, const placed_t *placed, wide_matrix_t expected,
                   long double factor) {
    jbuffer_t *whole = NULL;
    jlayout_t layout, view;
    made_expect(world, placed->view, expected, factor);
    if (placed->place == PLACE_LOCAL)
        return;
    JEXPECT_OK(jbuffer_construct_copy(world->allocators[PLACE_LOCAL], placed->whole, &whole));
    JEXPECT_OK(jbuffer_get_layout(placed->whole, &layout));
    JEXPECT_OK(jbuffer_get_layout(placed->view, &view));
    const wide_matrix_t value = buffer_value(&world->arena, whole);
    for (int64_t j = 0; j < value.columns; j++)
        for (int64_t i = 0; i < value.rows; i++) {
            const int64_t row = i - placed->starts[0], column = j - placed->starts[1];
            const bool inside = row >= 0 && column >= 0 && row < expected.rows &&
                                column < expected.columns && layout_stores(&view, row, column);
            if (!inside && !isnan((double)__real__ * wide_at(value, i, j)))
                JFAIL("element (%ld, %ld) beside the view has changed", (long)i, (long)j);
        }
    JEXPECT_OK(jbuffer_release(whole));
}

bool is_placed(mpi_world_t *world, jbuffer_t *buffer, place_t place) {
    jbuffer_allocator_t *allocator = NULL;
    jbuffer_allocator_options_t has = no_options, wanted = no_options;
    JEXPECT_OK(jbuffer_get_allocator(buffer, &allocator));
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &has));
    JEXPECT_OK(jbuffer_allocator_get_options(world->allocators[place], &wanted));
    return has.kind == wanted.kind && has.grid[0] == wanted.grid[0] &&
           has.grid[1] == wanted.grid[1];
}

static int kind_of(place_t place) { return place == PLACE_LOCAL ? 0 : place < PLACE_GRID ? 1 : 2; }

place_t highest(size_t count, const place_t *places, const int64_t *sizes) {
    size_t best = 0;
    bool one_kind = true;
    for (size_t i = 1; i < count; i++) {
        one_kind = one_kind && kind_of(places[i]) == kind_of(places[0]);
        if (kind_of(places[i]) > kind_of(places[best]) ||
            (kind_of(places[i]) == kind_of(places[best]) && sizes[i] > sizes[best]))
            best = i;
    }
    return places[one_kind ? 0 : best];
}

void mpi_give_exactly(mpi_world_t *world) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_stop_size_query(world->handle, &bytes));
    if (bytes > 0)
        JEXPECT_OK(jhandle_set_workspace(world->handle, jtest_guard_pages(bytes), bytes));
    else
        JEXPECT_OK(jhandle_seal(world->handle));
}

void mpi_give_any(mpi_world_t *world) {
    JEXPECT_OK(jhandle_set_workspace_size(world->handle, 0));
    JEXPECT_OK(jhandle_unseal(world->handle));
}
