/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_MPI_OPERATION_H
#define JALLOC_CLIENTS_GTEST_MPI_OPERATION_H

/* Operands of every kind for operations of several processes: each is made from a local one, the
 * same on all ranks, whose value is known. A local operand beside others counts on rank 0 alone, so
 * the other ranks hold NaN. */

#include "mpi_fixture.h"
#include "operation_helper.h"

typedef enum {
    PLACE_LOCAL,
    PLACE_REPLICATED,
    PLACE_SHARED,
    PLACE_GRID,
    PLACE_OTHER_GRID,
    PLACE_COUNT
} place_t;

typedef struct mpi_world {
    const jmpi_t *mpi;
    jdatatype_t type;
    jbuffer_allocator_t *allocators[PLACE_COUNT];
    jhandle_t *handle;
    wide_arena_t arena;
} mpi_world_t;

/* Collective. `grid`: of PLACE_GRID; the other one is drawn. */
void mpi_world_begin(mpi_world_t *world, const jmpi_t *mpi, jdatatype_t type, const int grid[2]);
void mpi_world_end(mpi_world_t *world);

typedef struct placed {
    operand_t local; /* the same on all ranks: its value */
    jbuffer_t *whole, *view;
    int64_t starts[2]; /* of the view in the whole */
    place_t place;
} placed_t;

/* Collective. A random operand at a place, part of something larger that is NaN elsewhere. columns
 * < 0: a vector. `alone`: a local one counts on every rank. */
void placed_make(placed_t *placed, mpi_world_t *world, place_t place, bool alone, int64_t rows,
                 int64_t columns, jstructure_t structure, bool definite);
void placed_free(placed_t *placed);
/* Collective. Judges the view, on every rank, and that nothing else has changed. */
void placed_expect(mpi_world_t *world, const placed_t *placed, wide_matrix_t expected,
                   long double factor);
/* The same of a buffer that was made. */
void made_expect(mpi_world_t *world, jbuffer_t *buffer, wide_matrix_t expected, long double factor);

/* Whether the buffer stands at that place: its allocator's kind and grid. */
bool is_placed(mpi_world_t *world, jbuffer_t *buffer, place_t place);
/* The place of the result by the table of jbuffer_propagate(): of operands of these sizes. */
place_t highest(size_t count, const place_t *places, const int64_t *sizes);

/* Gives the handle exactly what the query under way says, right before a guard page. */
void mpi_give_exactly(mpi_world_t *world);
void mpi_give_any(mpi_world_t *world);

#endif
