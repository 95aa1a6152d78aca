/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The backend of distributed buffers: the PBLAS and ScaLAPACK on the matrices as they lie, views by
 * their first row and column. Both end the program where an argument is wrong, so libjbuffer has
 * checked everything before, and finish() whether their 32-bit integers can hold the sizes. They
 * take memory of their own by malloc: PBLAS has no argument for workspace.
 *
 * The PBLAS align operands among themselves, so blocks of any size and views that begin anywhere
 * will do. Factorizations are in factor.c.
 *
 * A process outside of the grid has nothing to do, and must not call: its context is -1. */

#include "mpi/operations.h"

#define REAL(t)                                                                                    \
    {                                                                                              \
        p##t##geadd_, p##t##tradd_, p##t##gemm_, p##t##symm_, p##t##symm_, p##t##trsm_,            \
            p##t##potrf_, p##t##gesv_, p##t##getrf_, p##t##getrs_, p##t##geqrf_, p##t##orgqr_,     \
            p##t##gels_, p##t##syevd_, NULL, p##t##gesvd_, NULL                                    \
    }
#define COMPLEX(t)                                                                                 \
    {                                                                                              \
        p##t##geadd_, p##t##tradd_, p##t##gemm_, p##t##symm_, p##t##hemm_, p##t##trsm_,            \
            p##t##potrf_, p##t##gesv_, p##t##getrf_, p##t##getrs_, p##t##geqrf_, p##t##ungqr_,     \
            p##t##gels_, NULL, p##t##heevd_, NULL, p##t##gesvd_                                    \
    }
const pblas_table_t ji_pblas_tables[4] = {REAL(s), REAL(d), COMPLEX(c), COMPLEX(z)};
#undef REAL
#undef COMPLEX

const char *ji_mpi_letter(int value) {
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

const char *ji_mpi_triangle(const jbuffer_t *buffer) {
    return ji_structure_is_upper(buffer->layout.structure) ? "U" : "L";
}

jstatus_t ji_mpi_describe_all(const ji_operation_t *op, jbuffer_scalapack_t matrices[JI_OPERANDS]) {
    for (int i = 0; i < op->count; i++)
        if (ji_mpi_buffer(op, i) != NULL)
            JTRY_RETURN(ji_mpi_describe(ji_mpi_buffer(op, i), &matrices[i]));
    return JSTATUS_SUCCESS;
}

bool ji_mpi_needs_temporary(const ji_operation_t *op, const ji_operand_t *operand) {
    const jbuffer_t *buffer = operand->buffer;
    return ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED ||
           ji_buffer_allocator(buffer)->grid != op->allocator->grid ||
           (operand->expand && operand->layout.structure != JSTRUCTURE_GENERAL) ||
           operand->align > 0 || operand->detach;
}

/* ---- Add and transpose ---- */

const ji_value_t ji_mpi_zero;
const ji_value_t ji_mpi_one[4] = {{.s = 1}, {.d = 1}, {.c = {1, 0}}, {.z = {1, 0}}};

void ji_mpi_add(jdatatype_t type, const char *triangle, jblas_operation_t operation,
                const void *alpha, const jbuffer_scalapack_t *from, const void *beta,
                const jbuffer_scalapack_t *to) {
    const pblas_table_t *pblas = &ji_pblas_tables[type];
    if (ji_mpi_is_outside(to) || to->rows == 0 || to->columns == 0)
        return;

    if (triangle == NULL)
        pblas->geadd(ji_mpi_letter((int)operation), &to->rows, &to->columns, alpha, MATRIX(*from),
                     beta, MATRIX(*to));
    else
        pblas->tradd(triangle, ji_mpi_letter((int)operation), &to->rows, &to->columns, alpha,
                     MATRIX(*from), beta, MATRIX(*to));
}

/* C = alpha op(A) + beta C. Both general; or triangles of which the same is stored after op. */
static jstatus_t add(jblas_operation_t operation, const void *alpha, jbuffer_t *a, const void *beta,
                     jbuffer_t *c) {
    jbuffer_scalapack_t from, to;
    JTRY_RETURN(ji_mpi_describe(a, &from));
    JTRY_RETURN(ji_mpi_describe(c, &to));

    const jstructure_t structure = c->layout.structure;
    ji_mpi_add(ji_buffer_type(c), structure == JSTRUCTURE_GENERAL ? NULL : ji_mpi_triangle(c),
               operation, alpha, &from, beta, &to);
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
    jbuffer_t *a = ji_mpi_buffer(op, 0), *b = ji_mpi_buffer(op, 1), *c = ji_mpi_buffer(op, 2);
    const ji_value_t *alpha = &op->values[0], *beta = &op->values[1];

    if (op->operands[0].is_result && op->operands[1].is_result) {
        const ji_value_t sum = sum_of(op->type, alpha, beta);
        return add(JBLAS_NO_TRANSPOSE, &ji_mpi_zero, a, &sum, c);
    }
    if (op->operands[0].is_result)
        return add(JBLAS_NO_TRANSPOSE, beta, b, alpha, c);

    if (!op->operands[1].is_result) {
        JTRY_RETURN(add(JBLAS_NO_TRANSPOSE, beta, b, &ji_mpi_zero, c));
        beta = &ji_mpi_one[op->type];
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
    return add(op->operation[0], &ji_mpi_one[op->type], ji_mpi_buffer(op, 0), &ji_mpi_zero,
               ji_mpi_buffer(op, 1));
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
    const pblas_table_t *pblas = &ji_pblas_tables[op->type];

    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(ji_mpi_describe_all(op, matrices));

    const jbuffer_scalapack_t *c = &matrices[2];
    if (ji_mpi_is_outside(c) || c->rows == 0 || c->columns == 0)
        return JSTATUS_SUCCESS;

    const int first = ji_mpi_buffer(op, 0)->layout.structure != JSTRUCTURE_GENERAL ? 0 : 1;
    const jbuffer_scalapack_t *special = &matrices[first], *other = &matrices[1 - first];
    const jstructure_t structure = ji_mpi_buffer(op, first)->layout.structure;

    if (structure != JSTRUCTURE_GENERAL) {
        (ji_structure_is_hermitian(structure) ? pblas->hemm : pblas->symm)(
            first == 0 ? "L" : "R", ji_mpi_triangle(ji_mpi_buffer(op, first)), &c->rows,
            &c->columns, alpha, MATRIX(*special), MATRIX(*other), beta, MATRIX(*c));
        return JSTATUS_SUCCESS;
    }

    const int k = ji_operation_transposes(op, 0) ? matrices[0].rows : matrices[0].columns;
    pblas->gemm(ji_mpi_letter((int)op->operation[0]), ji_mpi_letter((int)op->operation[1]),
                &c->rows, &c->columns, &k, alpha, MATRIX(matrices[0]), MATRIX(matrices[1]), beta,
                MATRIX(*c));
    return JSTATUS_SUCCESS;
}

/* ---- Triangular solve ---- */

static jstatus_t triangular_run(ji_operation_t *op) {
    jbuffer_scalapack_t matrices[JI_OPERANDS];
    JTRY_RETURN(ji_mpi_describe_all(op, matrices));
    const jbuffer_scalapack_t *a = &matrices[0], *b = &matrices[1];

    if (!ji_mpi_is_outside(b) && b->rows > 0 && b->columns > 0)
        ji_pblas_tables[op->type].trsm(
            ji_mpi_letter((int)op->side), ji_mpi_triangle(ji_mpi_buffer(op, 0)),
            ji_mpi_letter((int)op->operation[0]), ji_mpi_letter((int)op->diagonal), &b->rows,
            &b->columns, op->scalars[0], MATRIX(*a), MATRIX(*b));
    return JSTATUS_SUCCESS;
}

/* ---- The backend ---- */

/* Sizes that ScaLAPACK's integers cannot say are no matter where each process does its own. */
static jstatus_t finish(ji_operation_t *op) {
    jbuffer_scalapack_t ignored[JI_OPERANDS];
    return op->way == &op->class->way ? JSTATUS_SUCCESS : ji_mpi_describe_all(op, ignored);
}

jstatus_t ji_mpi_reduce(jruntime_t *runtime, void *values, int64_t count, MPI_Datatype type,
                        MPI_Op operation) {
    const int64_t most = (int64_t)(JI_MPI_MAX_BYTES / sizeof(double)); /* of 8 bytes each */
    for (char *part = values; count > 0; count -= most, part += (size_t)most * sizeof(double))
        JTRY_RETURN(JI_MPI(MPI_Allreduce(MPI_IN_PLACE, part, (int)(count < most ? count : most),
                                         type, operation, ji_mpi_of(runtime)->all)));
    return JSTATUS_SUCCESS;
}

static jstatus_t reduce(jruntime_t *runtime, double *values, int64_t count, bool sum) {
    return ji_mpi_reduce(runtime, values, count, MPI_DOUBLE, sum ? MPI_SUM : MPI_MAX);
}

const ji_backend_t ji_mpi_backend = {
    .distributed = true,
    .needs_temporary = ji_mpi_needs_temporary,
    .finish = finish,
    .ways = {[JI_ADD] = {add_prepare, add_run},
             [JI_TRANSPOSE] = {transpose_prepare, transpose_run},
             [JI_PRODUCT] = {product_prepare, product_run},
             [JI_SOLVE_TRIANGULAR] = {.run = triangular_run},
             [JI_CHOLESKY] = {ji_mpi_square_prepare, ji_mpi_cholesky_run},
             [JI_SOLVE_BY_LU] = {ji_mpi_solve_prepare, ji_mpi_solve_run},
             [JI_LU] = {ji_mpi_lu_prepare, ji_mpi_lu_run},
             [JI_LU_SOLVE] = {ji_mpi_lu_solve_prepare, ji_mpi_lu_solve_run},
             [JI_QR] = {ji_mpi_qr_prepare, ji_mpi_qr_run},
             [JI_LEAST_SQUARES] = {ji_mpi_least_squares_prepare, ji_mpi_least_squares_run},
             [JI_EIGEN_SYMMETRIC] = {ji_mpi_eigen_prepare, ji_mpi_eigen_run},
             [JI_SVD] = {ji_mpi_svd_prepare, ji_mpi_svd_run}},
    .reduce = reduce};
