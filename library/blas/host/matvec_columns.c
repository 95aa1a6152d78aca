/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 of bands and of packed triangles, column by column over the kernels of level 1.
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

typedef struct matvec_column {
    int64_t row, row_end;
    void *first; /* element of that row */
} matvec_column_t;

/* Elements of the array before where row 0 of column j is, or would be. */
static inline int64_t column_start(const matvec_columns_t *a, int64_t j) {
    if (!a->packed)
        return a->above - j + j * a->v.lda;

    return a->upper ? j * (j + 1) / 2 : j * (2 * a->n - j - 1) / 2;
}

static inline matvec_column_t column_of(const matvec_columns_t *a, int64_t j) {
    const int64_t row = ji_max(0, j - a->above);
    return (matvec_column_t){row, ji_min(a->m, j + a->below + 1),
                             ji_at(a->v.type, a->v.a, column_start(a, j) + row, 0, 0)};
}

/* The same without its diagonal element, which is `diagonal`. */
static inline matvec_column_t column_beside(const matvec_columns_t *a, int64_t j, void **diagonal) {
    matvec_column_t column = column_of(a, j);
    *diagonal = ji_at(a->v.type, column.first, j - column.row, 0, 0);
    if (a->upper) {
        column.row_end = j;
    } else {
        column.row = j + 1;
        column.first = ji_at(a->v.type, *diagonal, 1, 0, 0);
    }
    return column;
}

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
static inline void column_add(const matvec_columns_t *a, const matvec_column_t *column,
                              const void *scalar, const matvec_vector_t *y) {
    if (column->row < column->row_end)
        a->level1->axpy(column->row_end - column->row, scalar, column->first, 1,
                        matvec_at(&a->v, y, column->row), y->increment);
}

/* column^T x, or column^H x. */
static inline void column_dot(const matvec_columns_t *a, const matvec_column_t *column,
                              bool conjugate, const matvec_vector_t *x, void *sum) {
    const size_t bytes = ji_sizeof(a->v.type);
    ji_value_t total = {.z = {0, 0}}, block;

    for (int64_t i = column->row; i < column->row_end; i += JI_REDUCE_BLOCK) {
        const int64_t count = ji_min(JI_REDUCE_BLOCK, column->row_end - i);
        const void *own = ji_at(a->v.type, column->first, i - column->row, 0, 0),
                   *other = matvec_at(&a->v, x, i);
        (conjugate ? a->level1->dotc : a->level1->dot)(count, own, 1, other, x->increment, &block);
        host_add(a->v.type, &total, &block);
    }
    memcpy(sum, &total, bytes);
}

/* column += scalar x. */
static inline void column_update(const matvec_columns_t *a, const matvec_column_t *column,
                                 const void *scalar, const matvec_vector_t *x) {
    a->level1->axpy(column->row_end - column->row, scalar, matvec_at(&a->v, x, column->row),
                    x->increment, column->first, 1);
}

/* A Hermitian matrix's element of the diagonal: its imaginary part does not count. */
static ji_value_t column_real(jdatatype_t type, const void *diagonal) {
    ji_value_t value = {.z = {0, 0}};
    memcpy(&value, diagonal, ji_sizeof(ji_real_of(type)));
    return value;
}

/* ---- Products ---- */

static bool columns_scale(const matvec_columns_t *a, const ji_matvec_t *args, int64_t count_y) {
    if (!host_is(a->v.type, &args->beta, 1))
        a->v.kernels->scale_own(count_y, ji_scalar_data(&args->beta), a->v.y.first,
                                a->v.y.increment);
    return !host_is_zero(a->v.type, &args->alpha);
}

/* y += alpha A x for columns [left, left + count). */
static void columns_add(const matvec_columns_t *a, int64_t left, int64_t count, const void *alpha) {
    matvec_block_t scaled;
    a->v.kernels->scale(count, alpha, matvec_at(&a->v, &a->v.x, left), a->v.x.increment, false,
                        &scaled);

    for (int64_t j = 0; j < count; j++) {
        const matvec_column_t column = column_of(a, left + j);
        column_add(a, &column, ji_at(a->v.type, &scaled, j, 0, 0), &a->v.y);
    }
}

/* y += alpha A^T x, or alpha A^H x, of the same columns. */
static void columns_dot(const matvec_columns_t *a, int64_t left, int64_t count, const void *alpha) {
    matvec_block_t sums;
    for (int64_t j = 0; j < count; j++) {
        const matvec_column_t column = column_of(a, left + j);
        column_dot(a, &column, a->v.conjugate, &a->v.x, ji_at(a->v.type, &sums, j, 0, 0));
    }

    a->v.kernels->add(count, alpha, &sums, matvec_at(&a->v, &a->v.y, left), a->v.y.increment);
}

/* Both, of a symmetric or Hermitian matrix. */
static void columns_symmetric(const matvec_columns_t *a, int64_t left, int64_t count,
                              const void *alpha) {
    matvec_block_t scaled, sums;
    a->v.kernels->scale(count, alpha, matvec_at(&a->v, &a->v.x, left), a->v.x.increment, false,
                        &scaled);

    for (int64_t j = 0; j < count; j++) {
        const void *scalar = ji_at(a->v.type, &scaled, j, 0, 0);
        void *diagonal;
        const matvec_column_t column = column_beside(a, left + j, &diagonal);
        const ji_value_t real = column_real(a->v.type, diagonal);
        column_add(a, &column, scalar, &a->v.y);
        a->level1->axpy(1, scalar, &real, 1, matvec_at(&a->v, &a->v.y, left + j), 1);
        column_dot(a, &column, true, &a->v.x, ji_at(a->v.type, &sums, j, 0, 0));
    }

    a->v.kernels->add(count, alpha, &sums, matvec_at(&a->v, &a->v.y, left), a->v.y.increment);
}

typedef void (*columns_function_t)(const matvec_columns_t *a, int64_t left, int64_t count,
                                   const void *alpha);

/* In blocks, of which scalars and sums have room on the stack. */
static void columns_all(const matvec_columns_t *a, const void *alpha, columns_function_t function) {
    for (int64_t j = 0; j < a->n; j += JI_MATVEC_BLOCK)
        function(a, j, ji_min(JI_MATVEC_BLOCK, a->n - j), alpha);
}

void ji_host_gbmv(void *block) {
    const ji_matvec_t *args = block;
    const bool flat = args->trans == JBLAS_NO_TRANSPOSE;
    const int64_t taken = flat ? args->n : args->m, given = flat ? args->m : args->n;
    matvec_columns_t a = columns_of(args, taken, given);
    a.m = args->m, a.below = args->kl, a.above = args->ku;

    if (columns_scale(&a, args, given))
        columns_all(&a, ji_scalar_data(&args->alpha), flat ? columns_add : columns_dot);
}

static void columns_multiply_symmetric(const matvec_columns_t *a, const ji_matvec_t *args) {
    if (columns_scale(a, args, args->n))
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

typedef struct columns_triangle {
    const matvec_columns_t *a;
    ji_matvec_triangle_t which;
    ji_scalar_t sign; /* of what an element gives to others */
    bool solves;
} columns_triangle_t;

/* x_j = a_jj x_j, or x_j / a_jj. */
static void columns_on_diagonal(const columns_triangle_t *t, const void *diagonal, void *own) {
    const ji_matvec_kernels_t *kernels = t->a->v.kernels;
    if (!t->which.unit)
        (t->solves ? kernels->solve : kernels->multiply)(1, &t->which, diagonal, 1, own);
}

/* What x_j gives to the others of its column, or has from them. */
static void columns_off_diagonal(const columns_triangle_t *t, const matvec_column_t *column,
                                 void *own) {
    const matvec_columns_t *a = t->a;
    ji_value_t scalar;

    if (t->which.transposed) {
        column_dot(a, column, t->which.conjugated, &a->v.x, &scalar);
        a->v.kernels->add(1, &t->sign.value, &scalar, own, 1);
    } else {
        a->v.kernels->scale(1, &t->sign.value, own, 1, false, &scalar);
        column_add(a, column, &scalar, &a->v.x);
    }
}

/* x = op(A) x, or op(A)^-1 x: as matvec_square.c's, with blocks of one column. */
static void columns_triangle(const matvec_columns_t *a, const ji_matvec_t *args, bool solves) {
    const columns_triangle_t t = {.a = a,
                                  .which = {.upper = a->upper,
                                            .transposed = args->trans != JBLAS_NO_TRANSPOSE,
                                            .conjugated = a->v.conjugate,
                                            .unit = args->diag == JBLAS_UNIT},
                                  .sign = ji_constant(a->v.type, solves ? -1 : 1),
                                  .solves = solves};
    const bool forward = (t.which.upper != t.which.transposed) != solves;

    for (int64_t k = 0; k < a->n; k++) {
        const int64_t j = forward ? k : a->n - 1 - k;
        void *diagonal, *own = matvec_at(&a->v, &a->v.x, j);
        const matvec_column_t column = column_beside(a, j, &diagonal);

        if (t.which.transposed == solves)
            columns_off_diagonal(&t, &column, own);
        columns_on_diagonal(&t, diagonal, own);
        if (t.which.transposed != solves)
            columns_off_diagonal(&t, &column, own);
    }
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
    for (int64_t j = 0; j < count; j++) {
        void *diagonal;
        const matvec_column_t column = column_of(a, left + j);
        column_update(a, &column, ji_at(a->v.type, scalars, j, 0, 0), x);

        (void)column_beside(a, left + j, &diagonal);
        const ji_value_t real = column_real(a->v.type, diagonal);
        memcpy(diagonal, &real, ji_sizeof(a->v.type));
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
