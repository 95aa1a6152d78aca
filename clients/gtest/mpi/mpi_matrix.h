/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_MPI_MATRIX_H
#define JALLOC_CLIENTS_GTEST_MPI_MATRIX_H

/* Matrices of any kind whose every byte is known, for tests of copies between them.
 *
 * A matrix is a buffer and a view of part of it. Element (i, j) of the view has a value made from
 * i, j and a salt; what lies around the view, in holes, and in a triangle that is not stored, has
 * bytes that no element is made of. An image is all of this process's memory, as it should be after
 * a copy: made from what was there before and the elements that the copy is to write, computed from
 * the formula and nothing else. So a copy is right when memory and image are the same. */

#include "mpi_fixture.h"

typedef struct matrix_spec {
    jbuffer_kind_t kind;
    bool shared_on_node;
    jdevice_t *device;           /* NULL: the host */
    int grid[2];                 /* distributed */
    int64_t blocks[2];           /* distributed */
    jorder_t order;              /* others */
    int64_t padding;             /* others: of the leading dimension */
    int64_t before[2], after[2]; /* what the whole has around the view */
    jstructure_t structure;      /* of the view */
} matrix_spec_t;

typedef struct matrix {
    jdatatype_t type;
    size_t size; /* of an element */
    int rank;
    int64_t extents[2]; /* of the view */
    int64_t salt;
    matrix_spec_t spec;
    jbuffer_allocator_t *allocator;
    jbuffer_t *whole, *view;
    int64_t *places[2];   /* of the view's rows and columns in memory, in elements; -1: elsewhere */
    unsigned char *image; /* what memory should be like */
    size_t bytes;         /* of it */
} matrix_t;

/* Collective. Makes the matrix and fills its memory: the elements where `with_elements`, otherwise
 * none. False after a failed check, on all ranks. */
bool matrix_make(const jmpi_t *mpi, matrix_t *matrix, const matrix_spec_t *spec, jdatatype_t type,
                 int rank, const int64_t extents[2], int64_t salt, bool with_elements);
/* Collective. Notes a failure where memory is not what the image says, then ends the matrix. */
void matrix_check(const jmpi_t *mpi, const matrix_t *matrix, const char *what);
void matrix_end(matrix_t *matrix);

/* Puts the elements of another matrix, which a copy should have brought, into the image. */
void matrix_expect_copy(matrix_t *matrix, const matrix_t *source);

/* The element of a matrix as its structure has it. */
void matrix_element(const matrix_t *matrix, int64_t i, int64_t j, void *value);
/* The element that the formula gives, whatever the structure. */
void matrix_formula(jdatatype_t type, int64_t i, int64_t j, int64_t salt, void *value);

/* Where an element of the view lies in this process's memory, in elements; -1: elsewhere. */
int64_t matrix_offset(const matrix_t *matrix, int64_t i, int64_t j);

/* A spec drawn at random; collective only in that all ranks draw the same. */
void matrix_draw(const jmpi_t *mpi, matrix_spec_t *spec, jbuffer_kind_t kind,
                 const int64_t extents[2]);

/* A grid of at most `ranks` processes, drawn. */
void matrix_draw_grid(int ranks, int grid[2]);

#endif
