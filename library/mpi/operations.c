/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations on distributed buffers: the PBLAS and ScaLAPACK on the matrices as they lie, views by their first row and
 * column. Both end the program where an argument is wrong, so libjblas has checked everything before; `check` says
 * whether their 32-bit integers can hold the sizes. They take memory of their own by malloc: PBLAS has no argument for
 * workspace.
 *
 * The PBLAS align operands among themselves, so blocks of any size and views that begin anywhere will do; p?potrf alone
 * wants square blocks, and to begin with one (libjblas gives it a copy that does).
 *
 * A process outside of the grid has nothing to do, and must not call: its context is -1. */

#include "mpi/distributed.h"

#include "mpi/pblas.h"
#include "operation/operation.h"

#define TABLE(t, hermitian)                                                                                            \
    { p##t##geadd_, p##t##tradd_, p##t##gemm_, p##t##symm_, hermitian, p##t##trsm_, p##t##potrf_ }
static const pblas_table_t pblas_tables[4] = {TABLE(s, pssymm_), TABLE(d, pdsymm_), TABLE(c, pchemm_),
                                              TABLE(z, pzhemm_)};
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

static jstatus_t operation_check(jbuffer_t *buffer) {
    jbuffer_scalapack_t matrix;
    return ji_mpi_describe(buffer, &matrix);
}

static jstatus_t operation_add(jblas_operation_t operation, const void *alpha, jbuffer_t *a, const void *beta,
                               jbuffer_t *c) {
    const pblas_table_t *pblas = &pblas_tables[ji_buffer_type(c)];
    jbuffer_scalapack_t from, to;
    JTRY_RETURN(ji_mpi_describe(a, &from));
    JTRY_RETURN(ji_mpi_describe(c, &to));
    if (is_outside(&to) || to.rows == 0 || to.columns == 0)
        return JSTATUS_SUCCESS;
    if (c->layout.structure == JSTRUCTURE_GENERAL)
        pblas->geadd(letter((int)operation), &to.rows, &to.columns, alpha, MATRIX(from), beta, MATRIX(to));
    else
        pblas->tradd(triangle(c), letter((int)operation), &to.rows, &to.columns, alpha, MATRIX(from), beta, MATRIX(to));
    return JSTATUS_SUCCESS;
}

static jstatus_t operation_product(jblas_operation_t operation_a, jblas_operation_t operation_b, const void *alpha,
                                   jbuffer_t *a, jbuffer_t *b, const void *beta, jbuffer_t *c) {
    const pblas_table_t *pblas = &pblas_tables[ji_buffer_type(c)];
    jbuffer_scalapack_t left, right, result;
    JTRY_RETURN(ji_mpi_describe(a, &left));
    JTRY_RETURN(ji_mpi_describe(b, &right));
    JTRY_RETURN(ji_mpi_describe(c, &result));
    if (is_outside(&result) || result.rows == 0 || result.columns == 0)
        return JSTATUS_SUCCESS;
    const bool first = a->layout.structure != JSTRUCTURE_GENERAL;
    jbuffer_t *special = first ? a : b;
    if (special->layout.structure == JSTRUCTURE_GENERAL) {
        const int k = operation_a == JBLAS_NO_TRANSPOSE ? left.columns : left.rows;
        pblas->gemm(letter((int)operation_a), letter((int)operation_b), &result.rows, &result.columns, &k, alpha,
                    MATRIX(left), MATRIX(right), beta, MATRIX(result));
        return JSTATUS_SUCCESS;
    }
    const jbuffer_scalapack_t *matrix = first ? &left : &right, *other = first ? &right : &left;
    (ji_structure_is_hermitian(special->layout.structure) ? pblas->hemm : pblas->symm)(
        first ? "L" : "R", triangle(special), &result.rows, &result.columns, alpha, MATRIX(*matrix), MATRIX(*other),
        beta, MATRIX(result));
    return JSTATUS_SUCCESS;
}

static jstatus_t operation_solve(jblas_side_t side, jblas_operation_t operation, jblas_diagonal_t diagonal,
                                 const void *alpha, jbuffer_t *a, jbuffer_t *b) {
    jbuffer_scalapack_t matrix, right;
    JTRY_RETURN(ji_mpi_describe(a, &matrix));
    JTRY_RETURN(ji_mpi_describe(b, &right));
    if (!is_outside(&right) && right.rows > 0 && right.columns > 0)
        pblas_tables[ji_buffer_type(b)].trsm(letter((int)side), triangle(a), letter((int)operation),
                                             letter((int)diagonal), &right.rows, &right.columns, alpha, MATRIX(matrix),
                                             MATRIX(right));
    return JSTATUS_SUCCESS;
}

/* Rank 0 is in every grid, and tells the others. */
static jstatus_t operation_cholesky(jbuffer_t *a, int64_t *info) {
    jruntime_t *runtime = ji_buffer_runtime(a);
    jbuffer_scalapack_t matrix;
    int found = 0;
    JTRY_RETURN(ji_mpi_describe(a, &matrix));
    if (!is_outside(&matrix) && matrix.rows > 0)
        pblas_tables[ji_buffer_type(a)].potrf(triangle(a), &matrix.rows, MATRIX(matrix), &found);
    *info = found;
    return runtime->ops->broadcast(runtime, JI_SCOPE_ALL, 0, NULL, info, sizeof *info);
}

static jstatus_t operation_reduce(jruntime_t *runtime, double *values, int64_t count, bool sum) {
    const int64_t most = (int64_t)(JI_MPI_MAX_BYTES / sizeof *values);
    for (; count > 0; count -= most, values += most)
        JTRY_RETURN(JI_MPI(MPI_Allreduce(MPI_IN_PLACE, values, (int)(count < most ? count : most), MPI_DOUBLE,
                                         sum ? MPI_SUM : MPI_MAX, ji_mpi_of(runtime)->all)));
    return JSTATUS_SUCCESS;
}

const ji_operation_ops_t ji_mpi_operations = {.check = operation_check,
                                              .add = operation_add,
                                              .product = operation_product,
                                              .solve_triangular = operation_solve,
                                              .cholesky = operation_cholesky,
                                              .reduce = operation_reduce};
