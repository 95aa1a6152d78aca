/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The backend of distributed buffers: the PBLAS and ScaLAPACK on the matrices as they lie, views by
 * their first row and column. Both end the program where an argument is wrong, so libjbuffer has
 * checked everything before, and finish() whether their 32-bit integers can hold the sizes. They
 * take memory of their own by malloc: PBLAS has no argument for workspace.
 *
 * The PBLAS align operands among themselves, so blocks of any size and views that begin anywhere
 * will do; p?potrf and p?gesv want square blocks, and to begin with one (they are given copies that
 * do).
 *
 * A process outside of the grid has nothing to do, and must not call: its context is -1. */

#include "mpi/distributed.h"

#include "mpi/pblas.h"
#include "operation/operation.h"

#define TABLE(t, hermitian)                                                                        \
    {                                                                                              \
        p##t##geadd_, p##t##tradd_, p##t##gemm_, p##t##symm_, hermitian, p##t##trsm_,              \
            p##t##potrf_, p##t##gesv_                                                              \
    }
static const pblas_table_t pblas_tables[4] = {TABLE(s, pssymm_), TABLE(d, pdsymm_),
                                              TABLE(c, pchemm_), TABLE(z, pzhemm_)};
#undef TABLE

#define MATRIX(matrix) (matrix).pointer, &(matrix).row, &(matrix).column, (matrix).descriptor

/* The letter of BLAS for an enum of CBLAS's numbers. */
static const char *letter(int value) {
    switch (value) {
    case JBLAS_NO_TRANSPOSE: return "N";
    case JBLAS_TRANSPOSE: return "T";
    case JBLAS_CONJUGATE_TRANSPOSE: return "C";
    case JBLAS_UPPER: return "U";
    case JBLAS_LOWER: return "L";
    case JBLAS_NON_UNIT: return "N";
    case JBLAS_UNIT: return "U";
    case JBLAS_LEFT: return "L";
    default: return "R";
    }
}

static const char *triangle(const jbuffer_t *buffer) {
    return ji_structure_is_upper(buffer->layout.structure) ? "U" : "L";
}

static bool is_outside(const jbuffer_scalapack_t *matrix) { return matrix->descriptor[1] < 0; }

static jbuffer_t *buffer_of(const ji_operation_t *op, int number) {
    return ji_operand_buffer(&op->operands[number]);
}

/* Invalid size: ScaLAPACK's integers cannot say it. A result to be made is as small as they. */
static jstatus_t describe(const ji_operation_t *op, jbuffer_scalapack_t matrices[JI_OPERANDS]) {
    for (int i = 0; i < op->count; i++)
        if (buffer_of(op, i) != NULL)
            JTRY_RETURN(ji_mpi_describe(buffer_of(op, i), &matrices[i]));
    return JSTATUS_SUCCESS;
}

static bool needs_temporary(const ji_operation_t *op, const ji_operand_t *operand) {
    const jbuffer_t *buffer = operand->buffer;
    return ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED ||
           ji_buffer_allocator(buffer)->grid != op->allocator->grid ||
           (operand->expand && operand->layout.structure != JSTRUCTURE_GENERAL) ||
           operand->align > 0 || operand->detach;
}

/* ---- Add and transpose ---- */

static const ji_value_t zero; /* of any type */
static const ji_value_t one[4] = {{.s = 1}, {.d = 1}, {.c = {1, 0}}, {.z = {1, 0}}};

/* C = alpha op(A) + beta C. Both general; or triangles of which the same is stored after op. */
static jstatus_t add(jblas_operation_t operation, const void *alpha, jbuffer_t *a, const void *beta,
                     jbuffer_t *c) {
    const pblas_table_t *pblas = &pblas_tables[ji_buffer_type(c)];
    jbuffer_scalapack_t from, to;

    JTRY_RETURN(ji_mpi_describe(a, &from));
    JTRY_RETURN(ji_mpi_describe(c, &to));

    if (is_outside(&to) || to.rows == 0 || to.columns == 0)
        return JSTATUS_SUCCESS;

    if (c->layout.structure == JSTRUCTURE_GENERAL)
        pblas->geadd(letter((int)operation), &to.rows, &to.columns, alpha, MATRIX(from), beta,
                     MATRIX(to));
    else
        pblas->tradd(triangle(c), letter((int)operation), &to.rows, &to.columns, alpha,
                     MATRIX(from), beta, MATRIX(to));
    return JSTATUS_SUCCESS;
}

static jstatus_t add_prepare(ji_operation_t *op) {
    const jstructure_t structure = op->operands[2].layout.structure;
    for (int i = 0; i < 2; i++)
        op->operands[i].expand = op->operands[i].layout.structure != structure;
    return JSTATUS_SUCCESS;
}

/* Of real types, too: what lies behind such a value is 0. */
static ji_value_t sum_of(jdatatype_t type, const ji_value_t *a, const ji_value_t *b) {
    if (type == JDATATYPE_F32 || type == JDATATYPE_F32_C)
        return (ji_value_t){.c = {a->c[0] + b->c[0], a->c[1] + b->c[1]}};
    return (ji_value_t){.z = {a->z[0] + b->z[0], a->z[1] + b->z[1]}};
}

/* C may itself be a term: that is scaled, and the other one added. */
static jstatus_t add_run(ji_operation_t *op) {
    jbuffer_t *a = buffer_of(op, 0), *b = buffer_of(op, 1), *c = buffer_of(op, 2);
    const ji_value_t *alpha = &op->values[0], *beta = &op->values[1];

    if (op->operands[0].is_result && op->operands[1].is_result) {
        const ji_value_t sum = sum_of(op->type, alpha, beta);
        return add(JBLAS_NO_TRANSPOSE, &zero, a, &sum, c);
    }
    if (op->operands[0].is_result)
        return add(JBLAS_NO_TRANSPOSE, beta, b, alpha, c);

    if (!op->operands[1].is_result) {
        JTRY_RETURN(add(JBLAS_NO_TRANSPOSE, beta, b, &zero, c));
        beta = &one[op->type];
    }
    return add(JBLAS_NO_TRANSPOSE, alpha, a, beta, c);
}

static jstatus_t transpose_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    /* The triangle that B wants has to be stored where op moves it from. */
    a->expand =
        (ji_operation_transposes(op, 0) ? ji_structure_flipped(a->layout.structure)
                                        : a->layout.structure) != op->operands[1].layout.structure;
    return JSTATUS_SUCCESS;
}

static jstatus_t transpose_run(ji_operation_t *op) {
    return add(op->operation[0], &one[op->type], buffer_of(op, 0), &zero, buffer_of(op, 1));
}

/* ---- Product ---- */

/* Whether the operand is symmetric or Hermitian, and op leaves it as it is. */
static bool product_leaves(const ji_operation_t *op, int which) {
    const jstructure_t structure = op->operands[which].layout.structure;
    if (structure == JSTRUCTURE_GENERAL || ji_structure_is_triangular(structure))
        return false;
    return !ji_is_complex(op->type) || op->operation[which] == JBLAS_NO_TRANSPOSE ||
           (op->operation[which] == JBLAS_CONJUGATE_TRANSPOSE) ==
               ji_structure_is_hermitian(structure);
}

/* One factor may keep its structure, where the other one is not transposed. */
static jstatus_t product_prepare(ji_operation_t *op) {
    int special = -1;
    for (int which = 0; which < 2 && special < 0; which++)
        if (product_leaves(op, which) && op->operation[1 - which] == JBLAS_NO_TRANSPOSE)
            special = which;

    for (int which = 0; which < 2; which++)
        op->operands[which].expand = which != special;
    return JSTATUS_SUCCESS;
}

static jstatus_t product_run(ji_operation_t *op) {
    const void *alpha = op->scalars[0], *beta = op->scalars[1];
    const pblas_table_t *pblas = &pblas_tables[op->type];

    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, matrices));

    const jbuffer_scalapack_t *c = &matrices[2];
    if (is_outside(c) || c->rows == 0 || c->columns == 0)
        return JSTATUS_SUCCESS;

    const int first = buffer_of(op, 0)->layout.structure != JSTRUCTURE_GENERAL ? 0 : 1;
    const jbuffer_scalapack_t *special = &matrices[first], *other = &matrices[1 - first];
    const jstructure_t structure = buffer_of(op, first)->layout.structure;

    if (structure != JSTRUCTURE_GENERAL) {
        (ji_structure_is_hermitian(structure) ? pblas->hemm : pblas->symm)(
            first == 0 ? "L" : "R", triangle(buffer_of(op, first)), &c->rows, &c->columns, alpha,
            MATRIX(*special), MATRIX(*other), beta, MATRIX(*c));
        return JSTATUS_SUCCESS;
    }

    const int k = ji_operation_transposes(op, 0) ? matrices[0].rows : matrices[0].columns;
    pblas->gemm(letter((int)op->operation[0]), letter((int)op->operation[1]), &c->rows, &c->columns,
                &k, alpha, MATRIX(matrices[0]), MATRIX(matrices[1]), beta, MATRIX(*c));
    return JSTATUS_SUCCESS;
}

/* ---- Triangular solve ---- */

static jstatus_t triangular_run(ji_operation_t *op) {
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, matrices));
    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1];

    if (!is_outside(b) && b->rows > 0 && b->columns > 0)
        pblas_tables[op->type].trsm(letter((int)op->side), triangle(buffer_of(op, 0)),
                                    letter((int)op->operation[0]), letter((int)op->diagonal),
                                    &b->rows, &b->columns, op->scalars[0], MATRIX(*a), MATRIX(*b));
    return JSTATUS_SUCCESS;
}

/* ---- Cholesky and solve by LU ---- */

/* The size of blocks that a matrix of its shape has by itself. */
static int64_t own_block(const ji_operation_t *op, const ji_operand_t *operand) {
    jlayout_t layout;
    (void)jlayout_init(&layout, operand->layout.rank, operand->layout.extents, JORDER_COLUMN_MAJOR);
    return ji_buffer_distribution(op->allocator, &layout).blocks[0];
}

/* info, as rank 0 has it, which is in every grid. */
static jstatus_t tell_info(ji_operation_t *op, int info) {
    op->found.info = info;
    return op->runtime->ops->broadcast(op->runtime, JI_SCOPE_ALL, 0, NULL, &op->found,
                                       sizeof op->found);
}

static jstatus_t cholesky_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0];
    const int64_t *blocks = a->buffer->storage->distribution.blocks, *starts = a->buffer->starts;
    if (blocks[0] != blocks[1] || starts[0] % blocks[0] != 0 || starts[1] % blocks[0] != 0)
        a->align = own_block(op, a);
    return JSTATUS_SUCCESS;
}

static jstatus_t cholesky_run(ji_operation_t *op) {
    jbuffer_t *a = buffer_of(op, 0);
    jbuffer_scalapack_t matrix;
    int found = 0;
    JTRY_RETURN(ji_mpi_describe(a, &matrix));

    if (!is_outside(&matrix) && matrix.rows > 0)
        pblas_tables[op->type].potrf(triangle(a), &matrix.rows, MATRIX(matrix), &found);

    return tell_info(op, found);
}

/* The factor takes the place of a copy of A. The rows of B have to lie as A's do. */
static jstatus_t solve_prepare(ji_operation_t *op) {
    ji_operand_t *a = &op->operands[0], *b = &op->operands[1];
    a->expand = true;
    a->align = own_block(op, a);
    if (needs_temporary(op, b) || b->buffer->storage->distribution.blocks[0] != a->align ||
        b->buffer->starts[0] != 0)
        b->align = a->align;
    /* Of each of this process's rows, and of one block. */
    op->extra_bytes = jalloc_mul(a->layout.extents[0] + a->align, sizeof(int));
    return JSTATUS_SUCCESS;
}

static jstatus_t solve_run(ji_operation_t *op) {
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(describe(op, matrices));
    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1];
    int found = 0;

    /* p?getf2 does not look at the pivot of a matrix of one row, which rank 0 has. */
    if (a->rows == 1) {
        found = op->runtime->info.rank == 0 && ji_is_zero(op->type, a->pointer);
        JTRY_RETURN(tell_info(op, found));
        if (op->found.info != 0)
            return JSTATUS_SUCCESS;
    }

    if (!is_outside(b) && a->rows > 0)
        pblas_tables[op->type].gesv(&a->rows, &b->columns, MATRIX(*a), ji_operation_extra(op),
                                    MATRIX(*b), &found);
    return tell_info(op, found);
}

/* ---- The backend ---- */

/* Sizes that ScaLAPACK's integers cannot say are no matter where each process does its own. */
static jstatus_t finish(ji_operation_t *op) {
    jbuffer_scalapack_t ignored[JI_OPERANDS];
    return op->way == &op->class->way ? JSTATUS_SUCCESS : describe(op, ignored);
}

static jstatus_t reduce(jruntime_t *runtime, double *values, int64_t count, bool sum) {
    const int64_t most = (int64_t)(JI_MPI_MAX_BYTES / sizeof *values);
    for (; count > 0; count -= most, values += most)
        JTRY_RETURN(
            JI_MPI(MPI_Allreduce(MPI_IN_PLACE, values, (int)(count < most ? count : most),
                                 MPI_DOUBLE, sum ? MPI_SUM : MPI_MAX, ji_mpi_of(runtime)->all)));
    return JSTATUS_SUCCESS;
}

const ji_backend_t ji_mpi_backend = {.distributed = true,
                                     .needs_temporary = needs_temporary,
                                     .finish = finish,
                                     .ways = {[JI_ADD] = {add_prepare, add_run},
                                              [JI_TRANSPOSE] = {transpose_prepare, transpose_run},
                                              [JI_PRODUCT] = {product_prepare, product_run},
                                              [JI_SOLVE_TRIANGULAR] = {.run = triangular_run},
                                              [JI_SOLVE_BY_LU] = {solve_prepare, solve_run},
                                              [JI_CHOLESKY] = {cholesky_prepare, cholesky_run}},
                                     .reduce = reduce};
