/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices whose every byte is known (mpi_matrix.h). Distributions are computed here by going
 * through indices one after the other, not by the formulas of layout.h. */

#include "mpi_matrix.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define AROUND 0xB5 /* what no element is made of: i8 values are below, others do not repeat it */

static double formula_number(int64_t i, int64_t j, int64_t salt, int64_t most) {
    return (double)((i * 37 + j * 101 + i * j * 7 + salt * 13 + 5) % most);
}

void matrix_formula(jdatatype_t type, int64_t i, int64_t j, int64_t salt, void *value) {
    const double real = formula_number(i, j, salt, 100003),
                 imaginary = -1 - formula_number(j, i, salt + 3, 50021);
    switch (type) {
    case JDATATYPE_F32: *(float *)value = (float)real; break;
    case JDATATYPE_F64: *(double *)value = real; break;
    case JDATATYPE_F32_C:
        ((float *)value)[0] = (float)real, ((float *)value)[1] = (float)imaginary;
        break;
    case JDATATYPE_F64_C: ((double *)value)[0] = real, ((double *)value)[1] = imaginary; break;
    case JDATATYPE_F16:
        *(jfloat16_t *)value = jalloc_f16_from_f32((float)formula_number(i, j, salt, 2039));
        break;
    case JDATATYPE_BF16:
        *(jbfloat16_t *)value = jalloc_bf16_from_f32((float)formula_number(i, j, salt, 251));
        break;
    case JDATATYPE_I8: *(int8_t *)value = (int8_t)formula_number(i, j, salt, 127); break;
    case JDATATYPE_I32: *(int32_t *)value = (int32_t)real; break;
    }
}

/* -1: stores the lower triangle, 1: the upper one, 0: both. */
static int stored_triangle(jstructure_t structure) {
    switch (structure) {
    case JSTRUCTURE_GENERAL: break;
    case JSTRUCTURE_SYMMETRIC_UPPER:
    case JSTRUCTURE_HERMITIAN_UPPER:
    case JSTRUCTURE_TRIANGULAR_UPPER: return 1;
    case JSTRUCTURE_SYMMETRIC_LOWER:
    case JSTRUCTURE_HERMITIAN_LOWER:
    case JSTRUCTURE_TRIANGULAR_LOWER: return -1;
    }
    return 0;
}

static bool is_stored(jstructure_t structure, int64_t i, int64_t j) {
    const int triangle = stored_triangle(structure);
    return triangle == 0 || (triangle > 0 ? i <= j : i >= j);
}

/* What a number that is multiplied by the imaginary part: -1 conjugates, 0 makes real. */
static void scale_imaginary(jdatatype_t type, void *value, int factor) {
    if (type == JDATATYPE_F32_C)
        ((float *)value)[1] = factor == 0 ? 0 : -((float *)value)[1];
    if (type == JDATATYPE_F64_C)
        ((double *)value)[1] = factor == 0 ? 0 : -((double *)value)[1];
}

void matrix_element(const matrix_t *matrix, int64_t i, int64_t j, void *value) {
    const jstructure_t structure = matrix->spec.structure;
    const bool hermitian =
        structure == JSTRUCTURE_HERMITIAN_UPPER || structure == JSTRUCTURE_HERMITIAN_LOWER;
    const bool triangular =
        structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER;
    const bool stored = is_stored(structure, i, j);
    if (stored)
        matrix_formula(matrix->type, i, j, matrix->salt, value);
    else if (triangular)
        memset(value, 0, matrix->size);
    else
        matrix_formula(matrix->type, j, i, matrix->salt, value);
    if (hermitian && !stored)
        scale_imaginary(matrix->type, value, -1);
    if (hermitian && i == j)
        scale_imaginary(matrix->type, value, 0);
}

/* Where the indices of the view lie along one dimension of this process's memory, in elements, by
 * counting; -1: another process's. */
static int64_t *count_places(const matrix_t *matrix, int dimension) {
    const int64_t before = matrix->spec.before[dimension], extent = matrix->extents[dimension];
    int64_t *places = malloc((size_t)(extent + 1) * sizeof *places);
    jlayout_t layout;
    (void)jbuffer_get_layout(matrix->whole, &layout);
    jbuffer_part_t part = JBUFFER_PART_INIT;
    const bool distributed = matrix->spec.kind == JBUFFER_DISTRIBUTED;
    if (distributed)
        (void)jbuffer_as_part(matrix->whole, &part);
    const jdistribution_t *whole = &part.distribution;
    int64_t local = 0;
    for (int64_t at = 0; at < before + extent; ++at) {
        const bool mine =
            !distributed || (at / whole->blocks[dimension]) % whole->grid[dimension] ==
                                whole->coordinates[dimension];
        const int64_t stride = distributed ? (dimension == 0 ? 1 : part.leading_dimension)
                               : matrix->rank > dimension ? layout.strides[dimension]
                                                          : 1;
        if (at >= before)
            places[at - before] = mine ? local * stride : -1;
        local += mine;
    }
    return places;
}

int64_t matrix_offset(const matrix_t *matrix, int64_t i, int64_t j) {
    const int64_t row = matrix->places[0][i], column = matrix->places[1][j];
    return row < 0 || column < 0 ? -1 : row + column;
}

/* This process's memory. */
static void *matrix_memory(const matrix_t *matrix, size_t *bytes) {
    void *pointer = NULL;
    if (matrix->spec.kind == JBUFFER_DISTRIBUTED) {
        jbuffer_part_t part = JBUFFER_PART_INIT;
        JEXPECT_OK(jbuffer_as_part(matrix->whole, &part));
        *bytes = (size_t)(part.leading_dimension * part.columns) * matrix->size;
        if (part.rows == 0 || part.columns == 0)
            *bytes = 0;
        return part.pointer;
    }
    jlayout_t layout;
    JEXPECT_OK(jbuffer_get_layout(matrix->whole, &layout));
    JEXPECT_OK(jlayout_get_bytes(&layout, matrix->type, bytes));
    JEXPECT_OK(jbuffer_as_pointer(matrix->whole, jdevice_kind(matrix->spec.device), &pointer));
    return pointer;
}

static void matrix_move(const matrix_t *matrix, void *to, const void *from) {
    jdevice_t *device = matrix->spec.device != NULL ? matrix->spec.device : jdevice_host();
    if (matrix->bytes > 0) {
        JEXPECT_OK(jdevice_copy(device, NULL, to, from, matrix->bytes));
        JEXPECT_OK(jstream_synchronize(device, NULL));
    }
}

/* Whether this process may write: of memory that a machine shares, the first one alone. */
static bool matrix_writes(const jmpi_t *mpi, const matrix_t *matrix) {
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    (void)jruntime_get_info(mpi->runtime, &info);
    return !matrix->spec.shared_on_node || info.node_rank == 0;
}

bool matrix_make(const jmpi_t *mpi, matrix_t *matrix, const matrix_spec_t *spec, jdatatype_t type,
                 int rank, const int64_t extents[2], int64_t salt, bool with_elements) {
    *matrix = (matrix_t){.type = type,
                         .size = jhandle_sizeof_datatype(type),
                         .rank = rank,
                         .extents = {rank > 0 ? extents[0] : 1, rank > 1 ? extents[1] : 1},
                         .salt = salt,
                         .spec = *spec};
    for (int d = 0; d < 2; ++d)
        if (d >= rank)
            matrix->spec.before[d] = matrix->spec.after[d] = 0;
    spec = &matrix->spec;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = spec->kind;
    options.type = type;
    options.device = spec->device;
    options.shared_on_node = spec->shared_on_node;
    if (spec->device == NULL && !spec->shared_on_node)
        options.allocator = jtest_failing_allocator();
    memcpy(options.grid, spec->grid, sizeof options.grid);
    JEXPECT_OK(jbuffer_allocator_create(mpi->runtime, &options, &matrix->allocator));
    if (!jmpi_all_well(mpi))
        return false;

    int64_t whole[2];
    for (int d = 0; d < 2; ++d)
        whole[d] = spec->before[d] + matrix->extents[d] + spec->after[d];
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, rank, whole, spec->order));
    if (rank == 2 && spec->kind != JBUFFER_DISTRIBUTED && spec->padding > 0)
        layout.strides[spec->order == JORDER_COLUMN_MAJOR] += spec->padding;
    if (spec->kind == JBUFFER_DISTRIBUTED && rank > 0)
        JEXPECT_OK(jlayout_set_blocks(&layout, spec->blocks));
    JEXPECT_OK(jbuffer_allocate(matrix->allocator, &layout, &matrix->whole));
    if (!jmpi_all_well(mpi))
        return false;
    JEXPECT_OK(jbuffer_slice(matrix->whole, spec->before, matrix->extents, NULL, &matrix->view));
    if (spec->structure != JSTRUCTURE_GENERAL && matrix->view != NULL) {
        jbuffer_t *structured = NULL;
        JEXPECT_OK(jbuffer_with_structure(matrix->view, spec->structure, &structured));
        JEXPECT_OK(jbuffer_release(matrix->view));
        matrix->view = structured;
    }
    if (!jmpi_all_well(mpi))
        return false;

    matrix->places[0] = count_places(matrix, 0);
    matrix->places[1] = count_places(matrix, 1);
    void *memory = matrix_memory(matrix, &matrix->bytes);
    matrix->image = malloc(matrix->bytes + 1);
    memset(matrix->image, AROUND, matrix->bytes);
    if (with_elements)
        for (int64_t j = 0; j < matrix->extents[1]; ++j)
            for (int64_t i = 0; i < matrix->extents[0]; ++i) {
                const int64_t at = matrix_offset(matrix, i, j);
                if (at >= 0 && is_stored(spec->structure, i, j))
                    matrix_formula(type, i, j, salt, matrix->image + (size_t)at * matrix->size);
            }
    if (matrix_writes(mpi, matrix))
        matrix_move(matrix, memory, matrix->image);
    MPI_Barrier(mpi->communicator);
    return jmpi_all_well(mpi);
}

void matrix_expect_copy(matrix_t *matrix, const matrix_t *source) {
    for (int64_t j = 0; j < matrix->extents[1]; ++j)
        for (int64_t i = 0; i < matrix->extents[0]; ++i) {
            const int64_t at = matrix_offset(matrix, i, j);
            if (at >= 0 && is_stored(matrix->spec.structure, i, j))
                matrix_element(source, i, j, matrix->image + (size_t)at * matrix->size);
        }
}

void matrix_check(const jmpi_t *mpi, const matrix_t *matrix, const char *what) {
    size_t bytes;
    void *memory = matrix_memory(matrix, &bytes);
    unsigned char *found = malloc(bytes + 1);
    JEXPECT_EQ(bytes, matrix->bytes);
    matrix_move(matrix, found, memory);
    if (memcmp(found, matrix->image, bytes) != 0) {
        size_t at = 0;
        while (found[at] == matrix->image[at])
            ++at;
        JFAIL("%s: rank %d: element %zu of %zu of its memory (%s) is not as expected", what,
              mpi->rank, at / matrix->size, bytes / matrix->size,
              jbuffer_kind_name(matrix->spec.kind));
    }
    free(found);
    MPI_Barrier(mpi->communicator);
}

void matrix_end(matrix_t *matrix) {
    JEXPECT_OK(jbuffer_release(matrix->view));
    JEXPECT_OK(jbuffer_release(matrix->whole));
    JEXPECT_OK(jbuffer_allocator_release(matrix->allocator));
    free(matrix->places[0]);
    free(matrix->places[1]);
    free(matrix->image);
}

void matrix_draw_grid(int ranks, int grid[2]) {
    static const int grids[][2] = {{1, 1}, {2, 2}, {1, 4}, {3, 2}, {4, 1},
                                   {1, 2}, {2, 1}, {2, 3}, {1, 3}, {6, 1}};
    int n;
    do
        n = (int)jtest_random_between(0, (int64_t)(sizeof grids / sizeof grids[0]) - 1);
    while (grids[n][0] * grids[n][1] > ranks);
    grid[0] = grids[n][0];
    grid[1] = grids[n][1];
}

void matrix_draw(const jmpi_t *mpi, matrix_spec_t *spec, jbuffer_kind_t kind,
                 const int64_t extents[2]) {
    *spec = (matrix_spec_t){.kind = kind};
    matrix_draw_grid(mpi->size, spec->grid);
    for (int d = 0; d < 2; ++d) {
        /* Of one element, some, about as many as there are, more, or aligned with nothing at
         * all. */
        const int64_t most[] = {1, 4, 9, extents[d] + 3, 70};
        spec->blocks[d] = jtest_random_between(1, most[jtest_random_between(0, 4)]);
        spec->before[d] = jtest_random_bool() ? jtest_random_between(0, 12) : 0;
        spec->after[d] = jtest_random_bool() ? jtest_random_between(0, 5) : 0;
    }
    spec->order = jtest_random_bool() ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
    spec->padding = jtest_random_between(0, 3);
}
