/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 of bands and of packed triangles, column by column.
 *
 * Column j holds rows [row, row_end) of the matrix, side by side, wherever it begins:
 *
 *     band             element (i, j) is in row ku + i - j of the array
 *     packed, upper    column j begins behind j (j + 1) / 2 elements, with row 0
 *     packed, lower    column j begins behind those of j columns, with row j
 *
 * So each routine is one loop for both. Products with a vector add a column to y, or give y its
 * dot; a symmetric matrix does both with what is beside the diagonal. Vectors may lie apart: what
 * the kernels give does not depend on it. One thread does all of it. */

#include "blas/host/matvec.h"
#include "blas/kernels/level1.h"

/* ---- Columns ---- */

typedef struct matvec_columns {
    matvec_t v;
    const ji_level1_t *level1;
    int64_t m, n;
    int64_t below, above; /* diagonals that there are at most */
    bool packed;
    bool upper; /* of a triangle */
} matvec_columns_t;

/* Elements of the array before where row 0 of column j is, or would be. */
static inline int64_t column_start(const matvec_columns_t *a, int64_t j) {
    if (!a->packed)
        return a->above - j + j * a->v.lda;

    return ji_packed_start(a->upper, a->n, j);
}

static inline ji_matvec_column_t column_of(const matvec_columns_t *a, int64_t j) {
    const int64_t row = ji_max(0, j - a->above), row_end = ji_min(a->m, j + a->below + 1);
    return (ji_matvec_column_t){.first = ji_at(a->v.type, a->v.a, column_start(a, j) + row, 0, 0),
                                .row = row,
                                .rows = ji_max(0, row_end - row),
                                .own = j};
}

static inline void *column_diagonal(const matvec_columns_t *a, const ji_matvec_column_t *column) {
    return ji_at(a->v.type, column->first, column->own - column->row, 0, 0);
}

/* The same with the diagonal's element apart. */
static inline ji_matvec_column_t column_beside(const matvec_columns_t *a, int64_t j) {
    ji_matvec_column_t column = column_of(a, j);
    column.diagonal = column_diagonal(a, &column);
    column.rows--;
    if (!a->upper) {
        column.row++;
        column.first = ji_at(a->v.type, column.first, 1, 0, 0);
    }
    return column;
}

/* A block of them. */
typedef struct matvec_column_block {
    ji_matvec_column_t at[JI_MATVEC_BLOCK];
} matvec_column_block_t;

static matvec_columns_t columns_of(const ji_matvec_t *args, int64_t count_x, int64_t count_y) {
    return (matvec_columns_t){.v = matvec_of(args, count_x, count_y),
                              .level1 = ji_kernels->level1[args->head.type],
                              .m = args->n,
                              .n = args->n,
                              .upper = args->uplo == JBLAS_UPPER};
}

static matvec_columns_t triangle_band_of(const ji_matvec_t *args, int64_t count_y) {
    matvec_columns_t a = columns_of(args, args->n, count_y);
    *(a.upper ? &a.above : &a.below) = args->k;
    return a;
}

static matvec_columns_t packed_of(const ji_matvec_t *args, int64_t count_y) {
    matvec_columns_t a = columns_of(args, args->n, count_y);
    *(a.upper ? &a.above : &a.below) = args->n - 1;
    a.packed = true;
    return a;
}

/* ---- What is done with one ---- */

/* y += scalar column. */
static inline void column_add(const matvec_columns_t *a, const ji_matvec_column_t *column,
                              const void *scalar) {
    if (column->rows > 0)
        a->level1->axpy(column->rows, scalar, column->first, 1,
                        matvec_at(&a->v, &a->v.y, column->row), a->v.y.increment);
}

/* column^T x, or column^H x. */
static inline void column_dot(const matvec_columns_t *a, const ji_matvec_column_t *column,
                              void *sum) {
    const matvec_vector_t *x = &a->v.x;
    ji_value_t total = {.z = {0, 0}}, block;

    for (int64_t i = 0; i < column->rows; i += JI_REDUCE_BLOCK) {
        const int64_t count = ji_min(JI_REDUCE_BLOCK, column->rows - i);
        const void *own = ji_at(a->v.type, column->first, i, 0, 0),
                   *other = matvec_at(&a->v, x, column->row + i);
        (a->v.conjugate ? a->level1->dotc : a->level1->dot)(count, own, 1, other, x->increment,
                                                            &block);
        host_add(a->v.type, &total, &block);
    }
    memcpy(sum, &total, ji_sizeof(a->v.type));
}

/* column += scalar x. */
static inline void column_update(const matvec_columns_t *a, const ji_matvec_column_t *column,
                                 const void *scalar, const matvec_vector_t *x) {
    a->level1->axpy(column->rows, scalar, matvec_at(&a->v, x, column->row), x->increment,
                    column->first, 1);
}

/* ---- Products ---- */

/* y += alpha A x, or alpha A conj(x), for columns [left, left + count). */
static void columns_add(const matvec_columns_t *a, int64_t left, int64_t count, const void *alpha) {
    matvec_block_t scaled;
    a->v.kernels->scale(count, alpha, matvec_at(&a->v, &a->v.x, left), a->v.x.increment,
                        a->v.conjugate, &scaled);

    for (int64_t j = 0; j < count; j++) {
        const ji_matvec_column_t column = column_of(a, left + j);
        column_add(a, &column, ji_at(a->v.type, &scaled, j, 0, 0));
    }
}

/* y += alpha A^T x, or alpha A^H x, of the same columns. */
static void columns_dot(const matvec_columns_t *a, int64_t left, int64_t count, const void *alpha) {
    matvec_block_t sums;
    for (int64_t j = 0; j < count; j++) {
        const ji_matvec_column_t column = column_of(a, left + j);
        column_dot(a, &column, ji_at(a->v.type, &sums, j, 0, 0));
    }

    a->v.kernels->add(count, alpha, &sums, matvec_at(&a->v, &a->v.y, left), a->v.y.increment);
}

/* Both, of a symmetric or Hermitian matrix. */
static void columns_symmetric(const matvec_columns_t *a, int64_t left, int64_t count,
                              const void *alpha) {
    const matvec_t *v = &a->v;
    matvec_column_block_t block;
    matvec_block_t scaled, sums;

    for (int64_t j = 0; j < count; j++)
        block.at[j] = column_beside(a, left + j);
    v->kernels->scale(count, alpha, matvec_at(v, &v->x, left), v->x.increment, false, &scaled);
    v->kernels->symmetric_skew(count, block.at, &scaled, v->x.first, v->x.increment, v->y.first,
                               v->y.increment, &sums);
    v->kernels->add(count, alpha, &sums, matvec_at(v, &v->y, left), v->y.increment);
}

typedef void (*columns_function_t)(const matvec_columns_t *a, int64_t left, int64_t count,
                                   const void *alpha);

/* In blocks, of which scalars and sums have room on the stack. */
static void columns_all(const matvec_columns_t *a, const void *alpha, columns_function_t function) {
    for (int64_t j = 0; j < a->n; j += JI_MATVEC_BLOCK)
        function(a, j, ji_min(JI_MATVEC_BLOCK, a->n - j), alpha);
}

/* y += alpha conj(A) x, as conj(y) += conj(alpha) A conj(x). */
static void columns_add_conjugated(matvec_columns_t *a, const void *alpha) {
    ji_value_t conjugated;

    matvec_conjugate(a->v.type, alpha, &conjugated);
    a->v.conjugate = ji_is_complex(a->v.type);
    ji_matvec_conjugate(&a->v, &a->v.y, a->m);
    columns_all(a, &conjugated, columns_add);
    ji_matvec_conjugate(&a->v, &a->v.y, a->m);
}

void ji_host_gbmv(void *block) {
    const ji_matvec_t *args = block;
    const bool flat = !ji_is_transposed(args->trans);
    const int64_t taken = flat ? args->n : args->m, given = flat ? args->m : args->n;
    matvec_columns_t a = columns_of(args, taken, given);
    a.m = args->m, a.below = args->kl, a.above = args->ku;

    if (!matvec_scale(&a.v, args, given))
        return;

    if (args->trans == JBLAS_CONJUGATE)
        columns_add_conjugated(&a, ji_scalar_data(&args->alpha));
    else
        columns_all(&a, ji_scalar_data(&args->alpha), flat ? columns_add : columns_dot);
}

static void columns_multiply_symmetric(const matvec_columns_t *a, const ji_matvec_t *args) {
    if (matvec_scale(&a->v, args, args->n))
        columns_all(a, ji_scalar_data(&args->alpha), columns_symmetric);
}

void ji_host_sbmv(void *block) {
    const ji_matvec_t *args = block;
    const matvec_columns_t a = triangle_band_of(args, args->n);
    columns_multiply_symmetric(&a, args);
}

void ji_host_spmv(void *block) {
    const ji_matvec_t *args = block;
    const matvec_columns_t a = packed_of(args, args->n);
    columns_multiply_symmetric(&a, args);
}

/* ---- Triangles ---- */

/* x = op(A) x, or op(A)^-1 x: as matvec_square.c's, with blocks of one column. */
static void columns_triangle(const matvec_columns_t *a, const ji_matvec_t *args, bool solves) {
    const matvec_t *v = &a->v;
    const ji_matvec_triangle_t triangle = {.upper = a->upper,
                                           .transposed = ji_is_transposed(args->trans),
                                           .conjugated = v->conjugate,
                                           .unit = args->diag == JBLAS_UNIT};
    const bool forward = (triangle.upper != triangle.transposed) != solves;
    const bool conjugates = args->trans == JBLAS_CONJUGATE; /* conj(A conj(x)) */
    matvec_column_block_t block;

    if (conjugates)
        ji_matvec_conjugate(v, &v->x, a->n);
    for (int64_t k = 0, count; k < a->n; k += count) {
        count = ji_min(JI_MATVEC_BLOCK, a->n - k);
        for (int64_t i = 0; i < count; i++)
            block.at[i] = column_beside(a, forward ? k + i : a->n - 1 - k - i);
        (solves ? v->kernels->solve_skew : v->kernels->multiply_skew)(count, block.at, &triangle,
                                                                      v->x.first, v->x.increment);
    }
    if (conjugates)
        ji_matvec_conjugate(v, &v->x, a->n);
}

void ji_host_tbmv(void *block) {
    const matvec_columns_t a = triangle_band_of(block, 0);
    columns_triangle(&a, block, false);
}

void ji_host_tbsv(void *block) {
    const matvec_columns_t a = triangle_band_of(block, 0);
    columns_triangle(&a, block, true);
}

void ji_host_tpmv(void *block) {
    const matvec_columns_t a = packed_of(block, 0);
    columns_triangle(&a, block, false);
}

void ji_host_tpsv(void *block) {
    const matvec_columns_t a = packed_of(block, 0);
    columns_triangle(&a, block, true);
}

/* ---- Updates ---- */

/* A += x s^T with scalars s of these columns; the diagonal of a Hermitian one becomes real. */
static void columns_update(const matvec_columns_t *a, int64_t left, int64_t count,
                           const matvec_vector_t *x, const matvec_block_t *scalars) {
    const size_t bytes = ji_is_complex(a->v.type) ? ji_sizeof(a->v.type) / 2 : 0;

    for (int64_t j = 0; j < count; j++) {
        const ji_matvec_column_t column = column_of(a, left + j);
        column_update(a, &column, ji_at(a->v.type, scalars, j, 0, 0), x);
        memset((char *)column_diagonal(a, &column) + bytes, 0, bytes);
    }
}

/* A += alpha x x^T, or x x^H. */
static void columns_rank_1(const matvec_columns_t *a, int64_t left, int64_t count,
                           const void *alpha) {
    const matvec_t *v = &a->v;
    matvec_block_t of_x;
    v->kernels->scale(count, alpha, matvec_at(v, &v->x, left), v->x.increment, v->conjugate, &of_x);
    columns_update(a, left, count, &v->x, &of_x);
}

/* A += alpha x y^T + alpha y x^T, or alpha x y^H + conj(alpha) y x^H. */
static void columns_rank_2(const matvec_columns_t *a, int64_t left, int64_t count,
                           const void *alpha) {
    const matvec_t *v = &a->v;
    matvec_block_t of_x, of_y;
    ji_value_t conjugated;
    matvec_conjugate(v->type, alpha, &conjugated);
    v->kernels->scale(count, &conjugated, matvec_at(v, &v->x, left), v->x.increment, v->conjugate,
                      &of_x);
    v->kernels->scale(count, alpha, matvec_at(v, &v->y, left), v->y.increment, v->conjugate, &of_y);

    columns_update(a, left, count, &v->x, &of_y);
    columns_update(a, left, count, &v->y, &of_x);
}

void ji_host_spr(void *block) {
    const ji_matvec_t *args = block;
    const jdatatype_t real = ji_real_of(args->head.type);
    ji_value_t alpha = {.z = {0, 0}};
    if (host_is_zero(real, &args->alpha))
        return;

    memcpy(&alpha, ji_scalar_data(&args->alpha), ji_sizeof(real)); /* hpr's is real */
    matvec_columns_t a = packed_of(args, 0);
    a.v.conjugate = ji_is_complex(a.v.type);
    columns_all(&a, &alpha, columns_rank_1);
}

void ji_host_spr2(void *block) {
    const ji_matvec_t *args = block;
    if (host_is_zero(args->head.type, &args->alpha))
        return;

    matvec_columns_t a = packed_of(args, args->n);
    a.v.conjugate = ji_is_complex(a.v.type);
    columns_all(&a, ji_scalar_data(&args->alpha), columns_rank_2);
}
