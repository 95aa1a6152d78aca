/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Factorizations of distributed buffers, by ScaLAPACK.
 *
 * Its routines want square blocks, and to begin with one: where an operand does not, and where it
 * is to be kept, they are given a copy that does. What else they write lies beside it in the
 * operation's own workspace, as a matrix with the copy's blocks, and results are made of these by
 * the PBLAS, which take any blocks. Where there are reflectors none of these is one row as a whole:
 * of such a matrix ScaLAPACK takes a row for a column (the increment is 1 either way), and then not
 * all processes do the same. Such an A is copied once more, into the first of two rows.
 *
 * How much work they want is computed by the formulas that they document, since asking them
 * communicates. info is rank 0's, which is in every grid, and so are values: p?syevd does not sort
 * those of others where the matrix is one block. */

#include "mpi/operations.h"

#include "mpi/scalapack.h"

#include <limits.h>
#include <string.h>

/* ---- Topologies ---- */

/* p?orgqr leaves the topology of broadcasts as another one than it found, and not on all processes;
 * where they differ the PBLAS (p?tradd, in the next operation) wait for each other for ever. So
 * what ScaLAPACK does is done between these two. */
typedef struct topologies {
    int context;
    char of[2][3];
} topologies_t;
static const char *const topology_operations[] = {"Broadcast", "Combine"};
static const char *const topology_scopes[] = {"Rowwise", "Columnwise", "All"};

static topologies_t keep_topologies(const jbuffer_scalapack_t *matrix) {
    topologies_t kept = {.context = matrix->descriptor[1]};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            pb_topget_(&kept.context, topology_operations[i], topology_scopes[j], &kept.of[i][j]);
    return kept;
}

static void restore_topologies(const topologies_t *kept) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            pb_topset_(&kept->context, topology_operations[i], topology_scopes[j], &kept->of[i][j]);
}

/* ---- Blocks ---- */

/* The size of blocks that a matrix of its shape has by itself. */
static int64_t own_block(const ji_operation_t *op, const ji_operand_t *operand) {
    jlayout_t layout;
    (void)jlayout_init(&layout, operand->layout.rank, operand->layout.extents, JORDER_COLUMN_MAJOR);
    return ji_buffer_distribution(op->allocator, &layout).blocks[0];
}

/* In place, if it has square blocks and begins with one. */
jstatus_t ji_mpi_square_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    const int64_t *blocks = a->buffer->storage->distribution.blocks, *starts = a->buffer->starts;
    if (ji_mpi_needs_temporary(op, a) || blocks[0] != blocks[1] || starts[0] % blocks[0] != 0 ||
        starts[1] % blocks[0] != 0)
        a->align = own_block(op, a);
    return JSTATUS_SUCCESS;
}

/* In a copy of A without structure. */
static void copy_a(ji_operation_t *op) {
    op->operands[0].expand = true;
    op->operands[0].align = own_block(op, &op->operands[0]);
}

/* ---- Answers ---- */

static jstatus_t broadcast(const ji_operation_t *op, void *bytes, size_t size_bytes) {
    return op->runtime->ops->broadcast(op->runtime, JI_SCOPE_ALL, 0, NULL, bytes, size_bytes);
}

static jstatus_t tell_info(ji_operation_t *op, int info) {
    op->found.info = info;
    JTRY_RETURN(broadcast(op, &op->found, sizeof op->found));
    if (op->found.info < 0)
        return ji_fail(JSTATUS_INTERNAL_ERROR, "%s: ScaLAPACK refused an argument: info %lld",
                       op->name, (long long)op->found.info);
    return JSTATUS_SUCCESS;
}

/* Values, too, which rise or fall where they are right: not all routines tell of those that did not
 * converge. */
static jstatus_t tell_values(ji_operation_t *op, int info, bool rise) {
    const double *values = ji_operation_array(op);
    const size_t count = op->array_bytes / sizeof *values;
    JTRY_RETURN(tell_info(op, info));
    if (count == 0)
        return JSTATUS_SUCCESS;

    if (op->runtime->info.rank == 0)
        ji_operation_widen_array(op);
    JTRY_RETURN(broadcast(op, ji_operation_array(op), op->array_bytes));

    for (size_t i = 1; i < count && op->found.info == 0; i++)
        if (!(rise ? values[i - 1] <= values[i] : values[i - 1] >= values[i]))
            op->found.info = (int64_t)count + 1;
    return JSTATUS_SUCCESS;
}

/* p?getrf does nothing where the whole matrix is one row: whether its pivot is 0. */
static jstatus_t look_at_one_row(const ji_operation_t *op, const jbuffer_t *a, int *info) {
    ji_value_t pivot;
    *info = 0;
    if (a->storage->distribution.extents[0] != 1 || a->layout.extents[0] != 1 ||
        (a->layout.rank > 1 && a->layout.extents[1] == 0))
        return JSTATUS_SUCCESS;
    JTRY_RETURN(op->runtime->ops->get(a, a->starts, &pivot));
    *info = ji_is_zero(op->type, &pivot);
    return JSTATUS_SUCCESS;
}

/* ---- Cholesky ---- */

jstatus_t ji_mpi_cholesky_run(ji_operation_t *op) {
    jbuffer_t *a = ji_mpi_buffer(op, 0);
    jbuffer_scalapack_t matrix;
    int found = 0;
    JTRY_RETURN(ji_mpi_describe(a, &matrix));

    if (!ji_mpi_is_outside(&matrix) && matrix.rows > 0)
        ji_pblas_tables[op->type].potrf(ji_mpi_triangle(a), &matrix.rows, MATRIX(matrix), &found);

    return tell_info(op, found);
}

/* ---- Solve by LU ---- */

/* The rows of B have to lie as those of an A with such blocks do, which begins with its first. */
static void align_rows(ji_operation_t *op, int64_t block) {
    ji_operand_t *b = &op->operands[1];
    if (ji_mpi_needs_temporary(op, b) || b->buffer->storage->distribution.blocks[0] != block ||
        b->buffer->starts[0] != 0)
        b->align = block;
}

/* The factor takes the place of a copy of A. */
jstatus_t ji_mpi_solve_prepare(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0];
    copy_a(op);
    align_rows(op, a->align);
    /* Of each of this process's rows, and of one block. */
    op->extra_bytes = jalloc_mul(a->layout.extents[0] + a->align, sizeof(int));
    return JSTATUS_SUCCESS;
}

jstatus_t ji_mpi_solve_run(ji_operation_t *op) {
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(ji_mpi_describe_all(op, matrices));
    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1];

    int found;
    JTRY_RETURN(look_at_one_row(op, ji_mpi_buffer(op, 0), &found));
    if (found == 0 && !ji_mpi_is_outside(b) && a->rows > 0)
        ji_pblas_tables[op->type].gesv(&a->rows, &b->columns, MATRIX(*a), ji_operation_extra(op),
                                       MATRIX(*b), &found);
    return tell_info(op, found);
}

/* ---- LU ---- */

/* p?getrf's pivots are of this process's rows of the whole matrix, and of one block. */
jstatus_t ji_mpi_lu_prepare(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0];
    JTRY_RETURN(ji_mpi_square_prepare(op));
    const jdistribution_t *whole = &a->buffer->storage->distribution;
    const int64_t rows =
        a->align > 0 ? a->layout.extents[0] + a->align : whole->extents[0] + whole->blocks[0];
    op->extra_bytes = jalloc_mul(rows, sizeof(int));
    return JSTATUS_SUCCESS;
}

/* Of each row, from the process that has it in the grid's first column; rows of the view. */
static jstatus_t gather_pivots(ji_operation_t *op, const jbuffer_t *a) {
    const jdistribution_t *whole = &a->storage->distribution;
    const int *local = ji_operation_extra(op);
    int64_t *pivots = ji_operation_array(op);
    const int64_t count = (int64_t)(op->array_bytes / sizeof *pivots), start = a->starts[0];

    for (int64_t i = 0; i < count; i++) {
        const bool mine = whole->coordinates[1] == 0 &&
                          whole->coordinates[0] == jdistribution_owner(whole, 0, start + i);
        pivots[i] = mine ? local[jdistribution_to_local(whole, 0, start + i)] - start : 0;
    }
    return ji_mpi_reduce(op->runtime, pivots, count, MPI_INT64_T, MPI_MAX);
}

jstatus_t ji_mpi_lu_run(ji_operation_t *op) {
    jbuffer_t *a = ji_mpi_buffer(op, 0);
    jbuffer_scalapack_t matrix;
    int found, one_row;
    JTRY_RETURN(ji_mpi_describe(a, &matrix));
    JTRY_RETURN(look_at_one_row(op, a, &one_row));

    found = 0;
    if (!ji_mpi_is_outside(&matrix) && matrix.rows > 0 && matrix.columns > 0)
        ji_pblas_tables[op->type].getrf(&matrix.rows, &matrix.columns, MATRIX(matrix),
                                        ji_operation_extra(op), &found);
    JTRY_RETURN(tell_info(op, found != 0 ? found : one_row));
    return gather_pivots(op, a);
}

/* ---- Solve by a factor ---- */

/* In place, if it is the first rows of a matrix with square blocks. */
jstatus_t ji_mpi_lu_solve_prepare(ji_operation_t *op) {
    const ji_operand_t *a = &op->operands[0];
    JTRY_RETURN(ji_mpi_square_prepare(op));
    if (a->buffer->starts[0] != 0)
        op->operands[0].align = own_block(op, a);

    const int64_t block = a->align > 0 ? a->align : a->buffer->storage->distribution.blocks[0];
    align_rows(op, block);
    op->extra_bytes = jalloc_mul(a->layout.extents[0] + block, sizeof(int));
    return JSTATUS_SUCCESS;
}

/* Of each of this process's rows. */
static int *scatter_pivots(const ji_operation_t *op, const jbuffer_t *a) {
    const jdistribution_t *whole = &a->storage->distribution;
    int *local = ji_operation_extra(op);
    for (int64_t i = 0; i < a->layout.extents[0]; i++)
        if (whole->coordinates[0] == jdistribution_owner(whole, 0, i))
            local[jdistribution_to_local(whole, 0, i)] = (int)op->pivots[i];
    return local;
}

jstatus_t ji_mpi_lu_solve_run(ji_operation_t *op) {
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(ji_mpi_describe_all(op, matrices));
    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1];

    int found = 0;
    if (!ji_mpi_is_outside(b) && a->rows > 0)
        ji_pblas_tables[op->type].getrs(ji_mpi_letter(op->operation[0]), &a->rows, &b->columns,
                                        MATRIX(*a), scatter_pivots(op, ji_mpi_buffer(op, 0)),
                                        MATRIX(*b), &found);
    return tell_info(op, found);
}

/* ---- Workspace of the others ---- */

/* What a routine wants: matrices beside A's copy, by rows and columns; elements of arrays, rwork of
 * real ones. */
enum { SCRATCHES = 3, ONE_ROW = 2, ROOMS = SCRATCHES + 4 };
typedef struct needs {
    int64_t scratch[SCRATCHES][2]; /* the last: A, where it is one row */
    int64_t whole_rows;            /* of each of them, at least */
    int64_t tau, work, rwork, iwork;
} needs_t;

typedef struct room {
    jbuffer_scalapack_t scratch[SCRATCHES];
    void *tau, *work, *rwork;
    int *iwork;
    int lwork, lrwork, liwork;
} room_t;

/* A matrix with the blocks of A's copy. */
static jdistribution_t distribution_of(const ji_operation_t *op, int64_t rows, int64_t columns) {
    const ji_grid_t *grid = op->allocator->grid;
    const int64_t block = op->operands[0].align;
    return (jdistribution_t){{rows, columns},
                             {block, block},
                             {grid->shape[0], grid->shape[1]},
                             {grid->coordinates[0], grid->coordinates[1]}};
}

/* How many of so many rows (0) or columns (1) this process has; process 0. */
static int64_t local_count(const ji_operation_t *op, int dimension, int64_t count) {
    const jdistribution_t d = distribution_of(op, count, count);
    return jdistribution_local_count(&d, dimension, d.coordinates[dimension], count);
}
static int64_t first_count(const ji_operation_t *op, int dimension, int64_t count) {
    const jdistribution_t d = distribution_of(op, count, count);
    return jdistribution_local_count(&d, dimension, 0, count);
}

/* a b, or more than ScaLAPACK's integers hold: of sizes that they hold. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 16
                                                  : ji_min(product, INT64_MAX / 16);
}

/* What multiplying by Q wants, of so many rows and columns here. */
static int64_t product_work(int64_t block, int64_t rows_and_columns) {
    return times(block, block) +
           ji_max(times(block, block - 1) / 2, times(block, rows_and_columns));
}

static ji_matrix_t shape_of(const ji_operation_t *op, int operand) {
    return ji_matrix(op->type, &op->operands[operand].layout, NULL);
}

/* Rows of the whole of a matrix beside A's copy, and which this process has. */
static int64_t whole_rows(const needs_t *needs, int which) {
    return ji_max(needs->whole_rows, needs->scratch[which][0]);
}
static int64_t scratch_rows(const ji_operation_t *op, const needs_t *needs, int which) {
    return ji_max(1, local_count(op, 0, whole_rows(needs, which)));
}

static void room_bytes(const ji_operation_t *op, const needs_t *needs, size_t bytes[ROOMS]) {
    const int64_t element = (int64_t)ji_sizeof(op->type),
                  real = (int64_t)ji_sizeof(ji_real_of(op->type));
    for (int i = 0; i < SCRATCHES; i++)
        bytes[i] = jalloc_matrix_bytes(op->type, scratch_rows(op, needs, i),
                                       local_count(op, 1, needs->scratch[i][1]));
    bytes[SCRATCHES] = jalloc_mul(needs->tau, element);
    bytes[SCRATCHES + 1] = jalloc_mul(needs->work, element);
    bytes[SCRATCHES + 2] = jalloc_mul(needs->rwork, real);
    bytes[SCRATCHES + 3] = jalloc_mul(needs->iwork, sizeof(int));
}

static jstatus_t count_room(ji_operation_t *op, const needs_t *needs) {
    const int64_t most = ji_max(needs->work, ji_max(needs->rwork, needs->iwork));
    if (most > INT_MAX)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "%s: a workspace of %lld elements: ScaLAPACK counts in 32 bits", op->name,
                       (long long)most);

    size_t bytes[ROOMS];
    room_bytes(op, needs, bytes);
    op->extra_bytes = JI_ALIGNMENT; /* kernels of OpenBLAS 0.3.21 (zgemv) read one element beyond */
    for (int i = 0; i < ROOMS; i++)
        if (!ji_size_round_up(bytes[i], JI_ALIGNMENT, &bytes[i]) ||
            !ji_size_add(op->extra_bytes, bytes[i], &op->extra_bytes)) {
            op->extra_bytes = JALLOC_SIZE_OVERFLOW;
            break;
        }
    return JSTATUS_SUCCESS;
}

static jbuffer_scalapack_t scratch_at(const ji_operation_t *op, const needs_t *needs, int which,
                                      void *memory) {
    const int64_t *extents = needs->scratch[which];
    const int block = (int)op->operands[0].align;
    return (jbuffer_scalapack_t){
        .pointer = memory,
        .row = 1,
        .column = 1,
        .rows = (int)extents[0],
        .columns = (int)extents[1],
        .descriptor = {SCALAPACK_BLOCK_CYCLIC, op->allocator->grid->blacs_context,
                       (int)whole_rows(needs, which), (int)extents[1], block, block, 0, 0,
                       (int)scratch_rows(op, needs, which)}};
}

static room_t take_room(const ji_operation_t *op, const needs_t *needs) {
    size_t bytes[ROOMS];
    char *at[ROOMS], *next = ji_operation_extra(op);
    room_bytes(op, needs, bytes);
    for (int i = 0; i < ROOMS; i++) {
        at[i] = next;
        next += ji_align_bytes(bytes[i]);
    }

    room_t room = {.tau = at[SCRATCHES],
                   .work = at[SCRATCHES + 1],
                   .rwork = at[SCRATCHES + 2],
                   .iwork = (int *)(void *)at[SCRATCHES + 3],
                   .lwork = (int)needs->work,
                   .lrwork = (int)needs->rwork,
                   .liwork = (int)needs->iwork};
    for (int i = 0; i < SCRATCHES; i++)
        room.scratch[i] = scratch_at(op, needs, i, at[i]);
    return room;
}

/* All operands, of which A is as ScaLAPACK takes it. */
static jstatus_t describe(const ji_operation_t *op, const room_t *room,
                          jbuffer_scalapack_t matrices[JI_OPERANDS]) {
    JTRY_RETURN(ji_mpi_describe_all(op, matrices));
    if (room->scratch[ONE_ROW].rows != 1)
        return JSTATUS_SUCCESS;
    ji_mpi_add(op->type, NULL, JBLAS_NO_TRANSPOSE, &ji_mpi_one[op->type], &matrices[0],
               &ji_mpi_zero, &room->scratch[ONE_ROW]);
    matrices[0] = room->scratch[ONE_ROW];
    return JSTATUS_SUCCESS;
}

/* A result, if it is wanted, from the first rows and columns of a matrix. */
static void give(const ji_operation_t *op, int operand, const jbuffer_scalapack_t *from,
                 const jbuffer_scalapack_t *to) {
    if (op->operands[operand].buffer != NULL)
        ji_mpi_add(op->type, NULL, JBLAS_NO_TRANSPOSE, &ji_mpi_one[op->type], from, &ji_mpi_zero,
                   to);
}
static void give_zeros(const ji_operation_t *op, const jbuffer_scalapack_t *to) {
    ji_mpi_add(op->type, NULL, JBLAS_NO_TRANSPOSE, &ji_mpi_zero, to, &ji_mpi_zero, to);
}

/* ---- QR ---- */

static needs_t qr_needs(const ji_operation_t *op) {
    const ji_matrix_t a = shape_of(op, 0);
    const int64_t rows = local_count(op, 0, a.rows), columns = local_count(op, 1, a.columns),
                  block = op->operands[0].align;
    return (needs_t){.scratch[ONE_ROW] = {a.rows == 1, a.columns},
                     .whole_rows = 2,
                     .tau = columns,
                     .work = times(block, rows + columns + block)};
}

jstatus_t ji_mpi_qr_prepare(ji_operation_t *op) {
    copy_a(op);
    op->operands[2].align = op->operands[0].align;
    op->operands[2].expand = true;
    const needs_t needs = qr_needs(op);
    return count_room(op, &needs);
}

/* R's stand-in lies as A's copy does, so that each process has both. */
static void give_r(const ji_operation_t *op, const jbuffer_scalapack_t *a,
                   const jbuffer_scalapack_t *r) {
    const jdistribution_t d = distribution_of(op, r->rows, r->columns);
    const int64_t rows = local_count(op, 0, r->rows), columns = local_count(op, 1, r->columns);
    const size_t size = ji_sizeof(op->type);
    for (int64_t local = 0; local < columns; local++) {
        const int64_t j = jdistribution_to_global(&d, 1, d.coordinates[1], local),
                      above = local_count(op, 0, ji_min(j + 1, r->rows));
        char *to = (char *)r->pointer + (size_t)(local * r->descriptor[8]) * size;
        memcpy(to, (char *)a->pointer + (size_t)(local * a->descriptor[8]) * size,
               (size_t)above * size);
        memset(to + (size_t)above * size, 0, (size_t)(rows - above) * size);
    }
}

jstatus_t ji_mpi_qr_run(ji_operation_t *op) {
    const pblas_table_t *table = &ji_pblas_tables[op->type];
    const needs_t needs = qr_needs(op);
    const room_t room = take_room(op, &needs);
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, &room, matrices));

    const jbuffer_scalapack_t *a = &matrices[0];
    const int k = a->rows < a->columns ? a->rows : a->columns;
    int found = 0;
    if (!ji_mpi_is_outside(a) && k > 0) {
        const topologies_t kept = keep_topologies(a);
        table->geqrf(&a->rows, &a->columns, MATRIX(*a), room.tau, room.work, &room.lwork, &found);
        if (op->operands[2].buffer != NULL)
            give_r(op, a, &matrices[2]);
        if (found == 0 && op->operands[1].buffer != NULL)
            table->orgqr(&a->rows, &k, &k, MATRIX(*a), room.tau, room.work, &room.lwork, &found);
        restore_topologies(&kept);
        give(op, 1, a, &matrices[1]);
    }
    return tell_info(op, found);
}

/* ---- Least squares ---- */

/* B, and after it X, whichever has more rows, is beside A's copy. tau is a part of p?gels's
 * work. */
static needs_t least_squares_needs(const ji_operation_t *op) {
    const ji_matrix_t a = shape_of(op, 0), b = shape_of(op, 1);
    const int64_t rows = local_count(op, 0, a.rows), columns = local_count(op, 1, a.columns),
                  most = local_count(op, 0, ji_max(a.rows, a.columns)),
                  first = first_count(op, 0, ji_max(a.rows, a.columns)),
                  right = local_count(op, 1, b.columns), block = op->operands[0].align;
    const int64_t factor = times(block, rows + columns + block),
                  product = product_work(block, most + ji_max(right, columns + first));
    return (needs_t){
        .scratch = {{ji_max(a.rows, a.columns), b.columns}, [ONE_ROW] = {a.rows == 1, a.columns}},
        .whole_rows = 2,
        .work = ji_max(rows, columns) + ji_max(factor, product)};
}

jstatus_t ji_mpi_least_squares_prepare(ji_operation_t *op) {
    copy_a(op);
    const needs_t needs = least_squares_needs(op);
    return count_room(op, &needs);
}

/* Where the diagonal of the factor in A's copy is 0, on all processes: p?gels does not look. */
static jstatus_t find_zero_on_diagonal(ji_operation_t *op, const jbuffer_scalapack_t *a) {
    const int64_t k = a->rows < a->columns ? a->rows : a->columns;
    const jdistribution_t d = distribution_of(op, a->rows, a->columns);
    int64_t first = k + 1;
    for (int64_t i = 0; i < k && first > k; i++) {
        if (d.coordinates[0] != jdistribution_owner(&d, 0, i) ||
            d.coordinates[1] != jdistribution_owner(&d, 1, i))
            continue;
        const int64_t at =
            jdistribution_to_local(&d, 0, i) + jdistribution_to_local(&d, 1, i) * a->descriptor[8];
        if (ji_is_zero(op->type, (char *)a->pointer + at * (int64_t)ji_sizeof(op->type)))
            first = i + 1;
    }
    JTRY_RETURN(ji_mpi_reduce(op->runtime, &first, 1, MPI_INT64_T, MPI_MIN));
    op->found.info = first > k ? 0 : first;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_mpi_least_squares_run(ji_operation_t *op) {
    const needs_t needs = least_squares_needs(op);
    const room_t room = take_room(op, &needs);
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, &room, matrices));

    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1], *x = &matrices[2];
    const jbuffer_scalapack_t *both = &room.scratch[0];
    if (op->zero || x->columns == 0) {
        give_zeros(op, x);
        return JSTATUS_SUCCESS;
    }

    int found = 0;
    if (!ji_mpi_is_outside(a)) {
        jbuffer_scalapack_t right = *both;
        right.rows = b->rows;
        const topologies_t kept = keep_topologies(a);
        give(op, 1, b, &right);
        ji_pblas_tables[op->type].gels("N", &a->rows, &a->columns, &b->columns, MATRIX(*a),
                                       MATRIX(*both), room.work, &room.lwork, &found);
        restore_topologies(&kept);
    }
    JTRY_RETURN(tell_info(op, found));
    JTRY_RETURN(find_zero_on_diagonal(op, a));
    if (op->found.info == 0)
        give(op, 2, both, x);
    return JSTATUS_SUCCESS;
}

/* ---- Eigenvalues ---- */

/* p?syevd has no way without vectors. */
static needs_t eigen_needs(const ji_operation_t *op) {
    const int64_t n = shape_of(op, 0).rows, block = op->operands[0].align,
                  rows = local_count(op, 0, n), columns = local_count(op, 1, n),
                  part = times(rows, columns);
    needs_t needs = {.scratch = {{n, n}},
                     .whole_rows = 1,
                     .iwork = 7 * n + 8 * (int64_t)op->allocator->grid->shape[1] + 2};
    if (ji_is_complex(op->type)) {
        const int64_t least = ji_max(n, ji_max(block, 2));
        needs.work =
            n + times(block, first_count(op, 0, least) + first_count(op, 1, least) + block);
        needs.rwork = 1 + 9 * n + 3 * part;
    } else {
        /* The last step's is not in what p?syevd says, which does without it then. */
        const int64_t reduction = 3 * n + ji_max(times(block, rows + 1), 3 * block),
                      product = product_work(block, rows + columns);
        needs.work = ji_max(1 + 6 * n + 2 * part, ji_max(reduction, product)) + 2 * n;
    }
    return needs;
}

jstatus_t ji_mpi_eigen_prepare(ji_operation_t *op) {
    copy_a(op);
    op->operands[0].expand = false; /* the stored triangle is enough */
    const needs_t needs = eigen_needs(op);
    return count_room(op, &needs);
}

jstatus_t ji_mpi_eigen_run(ji_operation_t *op) {
    const pblas_table_t *table = &ji_pblas_tables[op->type];
    const needs_t needs = eigen_needs(op);
    const room_t room = take_room(op, &needs);
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, &room, matrices));

    const jbuffer_scalapack_t *a = &matrices[0], *vectors = &room.scratch[0];
    const char *triangle = ji_mpi_triangle(ji_mpi_buffer(op, 0));
    int found = 0;
    if (!ji_mpi_is_outside(a) && a->rows > 0) {
        const topologies_t kept = keep_topologies(a);
        if (ji_is_complex(op->type))
            table->heevd("V", triangle, &a->rows, MATRIX(*a), ji_operation_array(op),
                         MATRIX(*vectors), room.work, &room.lwork, room.rwork, &room.lrwork,
                         room.iwork, &room.liwork, &found);
        else
            table->syevd("V", triangle, &a->rows, MATRIX(*a), ji_operation_array(op),
                         MATRIX(*vectors), room.work, &room.lwork, room.iwork, &room.liwork,
                         &found);
        restore_topologies(&kept);
        give(op, 1, vectors, &matrices[1]);
    }
    return tell_values(op, found, true);
}

/* ---- Singular values ---- */

/* How many processes the grid has. */
static int64_t processes_of(const ji_operation_t *op) {
    const ji_grid_t *grid = op->allocator->grid;
    return (int64_t)grid->shape[0] * grid->shape[1];
}

static needs_t svd_needs(const ji_operation_t *op) {
    const ji_matrix_t a = shape_of(op, 0);
    const bool u = op->operands[1].buffer != NULL, vt = op->operands[2].buffer != NULL;
    const int64_t k = ji_min(a.rows, a.columns), most = ji_max(a.rows, a.columns),
                  block = op->operands[0].align, processes = processes_of(op);
    const int64_t rows = local_count(op, 0, a.rows), columns = local_count(op, 1, a.columns),
                  first = ji_max(first_count(op, 0, a.rows), first_count(op, 1, a.columns));

    /* The rows of U and columns of V^H that are turned here, dealt out one by one. */
    const int64_t turned = (u ? a.rows / processes + 1 : 0) + (vt ? a.columns / processes + 1 : 0);
    const int64_t left = u ? product_work(block, local_count(op, 1, k) + rows) : 0,
                  right = vt ? product_work(block, local_count(op, 0, k) + columns) : 0;
    const int64_t reduction = ji_max(times(block, rows + columns + 1) + columns, first),
                  values = times(k, turned) + ji_max(ji_max(1, 4 * k), ji_max(left, right));

    const bool complex = ji_is_complex(op->type);
    return (needs_t){.scratch = {{u ? a.rows : 0, u ? k : 0},
                                 {vt ? k : 0, vt ? a.columns : 0},
                                 [ONE_ROW] = {a.rows == 1, a.columns}},
                     .whole_rows = 2,
                     .work = 1 + (complex ? 2 : 6) * most + ji_max(reduction, values),
                     .rwork = complex ? 1 + 4 * most : 0};
}

jstatus_t ji_mpi_svd_prepare(ji_operation_t *op) {
    copy_a(op);
    const needs_t needs = svd_needs(op);
    return count_room(op, &needs);
}

/* p?gesvd says k + 1 where processes have found different values. Those to which it gives nothing
 * to turn find them by another algorithm, and so do not count. */
static int svd_info(const ji_operation_t *op, const jbuffer_scalapack_t *a, int found) {
    const int k = a->rows < a->columns ? a->rows : a->columns;
    const int64_t turned = ji_max(op->operands[1].buffer != NULL ? a->rows : 0,
                                  op->operands[2].buffer != NULL ? a->columns : 0);
    return found == k + 1 && turned < processes_of(op) ? 0 : found;
}

jstatus_t ji_mpi_svd_run(ji_operation_t *op) {
    const pblas_table_t *table = &ji_pblas_tables[op->type];
    const needs_t needs = svd_needs(op);
    const room_t room = take_room(op, &needs);
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, &room, matrices));

    const jbuffer_scalapack_t *a = &matrices[0], *u = &room.scratch[0], *vt = &room.scratch[1];
    const char *job_u = op->operands[1].buffer != NULL ? "V" : "N",
               *job_vt = op->operands[2].buffer != NULL ? "V" : "N";
    int found = 0;
    if (!ji_mpi_is_outside(a) && a->rows > 0 && a->columns > 0) {
        const topologies_t kept = keep_topologies(a);
        if (ji_is_complex(op->type))
            table->gesvd_complex(job_u, job_vt, &a->rows, &a->columns, MATRIX(*a),
                                 ji_operation_array(op), MATRIX(*u), MATRIX(*vt), room.work,
                                 &room.lwork, room.rwork, &found);
        else
            table->gesvd(job_u, job_vt, &a->rows, &a->columns, MATRIX(*a), ji_operation_array(op),
                         MATRIX(*u), MATRIX(*vt), room.work, &room.lwork, &found);
        restore_topologies(&kept);
        give(op, 1, u, &matrices[1]);
        give(op, 2, vt, &matrices[2]);
        found = svd_info(op, a, found);
    }
    return tell_values(op, found, false);
}
