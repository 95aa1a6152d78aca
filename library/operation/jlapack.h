/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_OPERATION_JLAPACK_H
#define JALLOC_OPERATION_JLAPACK_H

/* The ways of jblas.c's backend that jlapack has (jlapack.c). */

#include "operation/operation.h"

jstatus_t ji_solve_prepare(ji_operation_t *op);
jstatus_t ji_solve_run(ji_operation_t *op);
jstatus_t ji_lu_prepare(ji_operation_t *op);
jstatus_t ji_lu_run(ji_operation_t *op);
jstatus_t ji_lu_solve_prepare(ji_operation_t *op);
jstatus_t ji_lu_solve_run(ji_operation_t *op);
jstatus_t ji_qr_prepare(ji_operation_t *op);
jstatus_t ji_qr_run(ji_operation_t *op);
jstatus_t ji_least_squares_prepare(ji_operation_t *op);
jstatus_t ji_least_squares_run(ji_operation_t *op);
jstatus_t ji_eigen_prepare(ji_operation_t *op);
jstatus_t ji_eigen_run(ji_operation_t *op);
jstatus_t ji_svd_prepare(ji_operation_t *op);
jstatus_t ji_svd_run(ji_operation_t *op);

#endif
