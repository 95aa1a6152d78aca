/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_OPERATIONS_H
#define JALLOC_MPI_OPERATIONS_H

/* What the files of the backend of distributed buffers have in common: operations.c, the PBLAS;
 * factor.c, ScaLAPACK. */

#include "mpi/distributed.h"

#include "mpi/pblas.h"
#include "operation/operation.h"

extern const pblas_table_t ji_pblas_tables[4];
extern const ji_value_t ji_mpi_zero; /* of any type */
extern const ji_value_t ji_mpi_one[4];

#define MATRIX(matrix) (matrix).pointer, &(matrix).row, &(matrix).column, (matrix).descriptor

/* The letter of BLAS for an enum of CBLAS's numbers; for the triangle that is stored. */
const char *ji_mpi_letter(int value);
const char *ji_mpi_triangle(const jbuffer_t *buffer);

static inline bool ji_mpi_is_outside(const jbuffer_scalapack_t *matrix) {
    return matrix->descriptor[1] < 0;
}

static inline jbuffer_t *ji_mpi_buffer(const ji_operation_t *op, int number) {
    return ji_operand_buffer(&op->operands[number]);
}

/* Invalid size: ScaLAPACK's integers cannot say it. Of operands that are there. */
jstatus_t ji_mpi_describe_all(const ji_operation_t *op, jbuffer_scalapack_t matrices[JI_OPERANDS]);
/* Whether something stands in for an operand that is there. */
bool ji_mpi_needs_temporary(const ji_operation_t *op, const ji_operand_t *operand);

/* C = alpha op(A) + beta C of the whole of C, or (triangle not NULL) of its upper or lower
 * trapezoid. */
void ji_mpi_add(jdatatype_t type, const char *triangle, jblas_operation_t operation,
                const void *alpha, const jbuffer_scalapack_t *from, const void *beta,
                const jbuffer_scalapack_t *to);
/* values[i] = that of all processes' values[i], of 8 bytes each. */
jstatus_t ji_mpi_reduce(jruntime_t *runtime, void *values, int64_t count, MPI_Datatype type,
                        MPI_Op operation);

/* Ways of factor.c. */
jstatus_t ji_mpi_square_prepare(ji_operation_t *op);
jstatus_t ji_mpi_cholesky_run(ji_operation_t *op);
jstatus_t ji_mpi_solve_prepare(ji_operation_t *op);
jstatus_t ji_mpi_solve_run(ji_operation_t *op);
jstatus_t ji_mpi_lu_prepare(ji_operation_t *op);
jstatus_t ji_mpi_lu_run(ji_operation_t *op);
jstatus_t ji_mpi_lu_solve_prepare(ji_operation_t *op);
jstatus_t ji_mpi_lu_solve_run(ji_operation_t *op);
jstatus_t ji_mpi_qr_prepare(ji_operation_t *op);
jstatus_t ji_mpi_qr_run(ji_operation_t *op);
jstatus_t ji_mpi_least_squares_prepare(ji_operation_t *op);
jstatus_t ji_mpi_least_squares_run(ji_operation_t *op);
jstatus_t ji_mpi_eigen_prepare(ji_operation_t *op);
jstatus_t ji_mpi_eigen_run(ji_operation_t *op);
jstatus_t ji_mpi_svd_prepare(ji_operation_t *op);
jstatus_t ji_mpi_svd_run(ji_operation_t *op);

#endif
