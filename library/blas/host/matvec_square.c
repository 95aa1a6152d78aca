/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 of square matrices: symv, trmv, trsv, syr, syr2, skewsymv, skewsyr2. Products and solves
 * are diagonal blocks and rectangles, here of a lower triangle:
 *
 *     D          a block of JI_MATVEC_BLOCK columns: the kernels symmetric, multiply or solve for
 *     R D        its triangle D, and for the rectangle R below it columns, dots, or both of them
 *     R R D
 */

#include "blas/host/matvec.h"

/* ---- Symmetric and Hermitian ---- */

/* What a rectangle beside the diagonal block of its columns gives, and what its mirror image
 * gives. */
static void matvec_add_both(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t columns = part->column_end - part->column;
    matvec_panel_t copy_x, copy_y;
    matvec_block_t scaled, sums;
    const void *mirrored = alpha;
    ji_value_t negated;
    if (v->symmetry == JI_SKEW_SYMMETRIC) {
        matvec_negate(v->type, alpha, &negated);
        mirrored = &negated;
    }
    v->kernels->scale(columns, alpha, matvec_at(v, &v->x, part->column), v->x.increment, false,
                      &scaled);

    for (int64_t i = part->row, end; i < part->row_end; i = end) {
        end = matvec_end(i, JI_MATVEC_SYMMETRIC_PANEL, part->row_end);
        const void *x = matvec_take(v, &v->x, i, end - i, &copy_x);
        void *y = matvec_take(v, &v->y, i, end - i, &copy_y);

        v->kernels->both(end - i, columns, v->symmetry == JI_HERMITIAN,
                         matvec_element(v, i, part->column), v->lda, &scaled, y, x, &sums);
        matvec_give(v, &v->y, i, end - i, y);
        v->kernels->add(columns, mirrored, &sums, matvec_at(v, &v->y, part->column),
                        v->y.increment);
    }
}

static void matvec_symmetric_block(const matvec_t *v, int64_t first, int64_t end, bool upper,
                                   const void *alpha) {
    matvec_block_t copy_x, copy_y;
    const void *x = matvec_take(v, &v->x, first, end - first, &copy_x);
    void *y = matvec_take(v, &v->y, first, end - first, &copy_y);
    v->kernels->symmetric(end - first, v->symmetry, upper, alpha, matvec_element(v, first, first),
                          v->lda, x, NULL, y);
    matvec_give(v, &v->y, first, end - first, y);
}

/* y += alpha A x for a tile of the triangle and its mirror image. Tiles are rows and columns
 * between multiples of `size`. */
static void matvec_symmetric_tile(const matvec_t *v, int64_t n, bool upper, const void *alpha,
                                  int64_t size, int64_t larger, int64_t smaller) {
    const int64_t rows = (upper ? smaller : larger) * size, rows_end = ji_min(n, rows + size);
    const int64_t columns = (upper ? larger : smaller) * size,
                  columns_end = ji_min(n, columns + size);

    for (int64_t j = columns, end; j < columns_end; j = end) {
        matvec_part_t beside = {rows, rows_end, j, end = ji_min(columns_end, j + JI_MATVEC_BLOCK)};
        if (larger != smaller) {
            matvec_add_both(v, &beside, alpha);
            continue;
        }

        beside.row = upper ? rows : end, beside.row_end = upper ? j : rows_end;
        if (upper)
            matvec_add_both(v, &beside, alpha);
        matvec_symmetric_block(v, j, end, upper, alpha);
        if (!upper)
            matvec_add_both(v, &beside, alpha);
    }
}

/* Threads divide tiles. Tile (i, k) writes y at the rows of i and of k, and comes after (i, k - 1)
 * and (k, i - 1) if each element of y is to have its columns in order. Tiles with the same i + k
 * wait for none of each other and write different rows: they are a round. */
typedef struct matvec_rounds {
    const matvec_t *v;
    const void *alpha;
    int64_t n, size, tiles, round;
    bool upper;
} matvec_rounds_t;

static void matvec_round_part(void *argument, int index) {
    const matvec_rounds_t *r = argument;
    const int64_t last = ji_min(r->round, r->tiles - 1);

    for (int64_t i = (r->round + 1) / 2 + index; i <= last; i += matvec_count(r->v))
        matvec_symmetric_tile(r->v, r->n, r->upper, r->alpha, r->size, i, r->round - i);
}

/* Of so many tiles a side threads have enough to do: two are busy in three quarters of the rounds'
 * time. With fewer than the least, one thread was as fast. */
#define MATVEC_TILES_PER_THREAD 4
#define MATVEC_LEAST_TILES 5

static void matvec_symmetric(const ji_matvec_t *args, ji_symmetry_t symmetry) {
    const int64_t panel = JI_MATVEC_SYMMETRIC_PANEL;
    ji_team_lease_t lease;
    matvec_t v = matvec_of(args, args->n, args->n);
    v.symmetry = symmetry;

    if (!matvec_scale(&v, args, args->n))
        return;

    matvec_begin(&v, &lease, args, args->n / 2, args->n > MATVEC_LEAST_TILES * panel ? args->n : 0);
    const int64_t wanted =
        matvec_count(&v) < 2 ? 1 : (int64_t)matvec_count(&v) * MATVEC_TILES_PER_THREAD;
    matvec_rounds_t rounds = {.v = &v,
                              .alpha = ji_scalar_data(&args->alpha),
                              .n = args->n,
                              .size = (args->n / wanted + panel - 1) / panel * panel,
                              .upper = args->uplo == JBLAS_UPPER};
    rounds.tiles = (args->n + rounds.size - 1) / rounds.size;

    for (; rounds.round < 2 * rounds.tiles - 1; rounds.round++)
        if ((rounds.round + 1) / 2 == ji_min(rounds.round, rounds.tiles - 1))
            matvec_round_part(&rounds, 0); /* one tile */
        else
            ji_team_do(v.lease, matvec_round_part, &rounds);
    matvec_end_lease(&v);
}

void ji_host_symv(void *block) { matvec_symmetric(block, JI_HERMITIAN); }
void ji_host_symv_complex(void *block) { matvec_symmetric(block, JI_SYMMETRIC); }
void ji_host_skewsymv(void *block) { matvec_symmetric(block, JI_SKEW_SYMMETRIC); }

/* ---- Triangles ---- */

typedef void (*matvec_triangle_function_t)(int64_t n, const ji_matvec_triangle_t *triangle,
                                           const void *a, int64_t lda, void *x);

static void matvec_triangle_block(const matvec_t *v, int64_t first, int64_t end,
                                  const ji_matvec_triangle_t *triangle,
                                  matvec_triangle_function_t function) {
    matvec_block_t copy;
    void *x = matvec_take(v, &v->x, first, end - first, &copy);
    function(end - first, triangle, matvec_element(v, first, first), v->lda, x);
    matvec_give(v, &v->x, first, end - first, x);
}

/* What the rectangle beside a block gives to others, or has from them. */
static void matvec_triangle_beside(const matvec_t *v, const matvec_part_t *part, bool transposed,
                                   const void *sign) {
    if (part->row == part->row_end)
        return;

    ji_matvec_divide(v, part, sign, transposed ? ji_matvec_add_dots : ji_matvec_add_columns,
                     !transposed);
}

/* trmv and trsv. They differ in the sign of what rectangles give, and trsv takes the blocks in the
 * other order and lets a block have what others give before its own triangle's turn comes. */
static void matvec_triangle(const ji_matvec_t *args, bool solves) {
    const jdatatype_t type = args->head.type;
    const ji_scalar_t sign = ji_constant(type, solves ? -1 : 1);
    const ji_matvec_triangle_t triangle = {
        .upper = args->uplo == JBLAS_UPPER,
        .transposed = ji_is_transposed(args->trans),
        .conjugated = args->trans == JBLAS_CONJUGATE_TRANSPOSE,
        .unit = args->diag == JBLAS_UNIT,
    };
    const bool forward = (triangle.upper != triangle.transposed) != solves;
    const int64_t last = (args->n - 1) / JI_MATVEC_BLOCK;
    matvec_t v = matvec_of(args, args->n, 0);
    v.thread_bytes = 4 * MATVEC_THREAD_BYTES;
    const matvec_triangle_function_t function = solves ? v.kernels->solve : v.kernels->multiply;
    const bool conjugates = args->trans == JBLAS_CONJUGATE; /* conj(A conj(x)) */
    ji_team_lease_t lease;
    v.y = v.x;
    if (conjugates)
        ji_matvec_conjugate(&v, &v.x, args->n);
    matvec_begin(&v, &lease, args, ji_min(args->n, JI_MATVEC_BLOCK), args->n - JI_MATVEC_BLOCK);

    for (int64_t k = 0; k <= last; k++) {
        const int64_t j = (forward ? k : last - k) * JI_MATVEC_BLOCK,
                      end = ji_min(args->n, j + JI_MATVEC_BLOCK);
        const matvec_part_t beside = {triangle.upper ? 0 : end, triangle.upper ? j : args->n, j,
                                      end};

        /* A product reads x before the triangle writes it, a solution after. */
        if (triangle.transposed == solves)
            matvec_triangle_beside(&v, &beside, triangle.transposed, &sign.value);
        matvec_triangle_block(&v, j, end, &triangle, function);
        if (triangle.transposed != solves)
            matvec_triangle_beside(&v, &beside, triangle.transposed, &sign.value);
    }
    matvec_end_lease(&v);
    if (conjugates)
        ji_matvec_conjugate(&v, &v.x, args->n);
}

void ji_host_trmv(void *block) { matvec_triangle(block, false); }
void ji_host_trsv(void *block) { matvec_triangle(block, true); }

/* ---- Updates ---- */

/* One triangle of A += alpha x x^H, or, with y, of A += alpha x y^H + mirrored y x^H, where the
 * second scalar is the first one's conjugate. A symmetric A has neither kind of conjugate, and of a
 * skew one the first scalar is the second one's negative. */
typedef struct matvec_rank {
    matvec_t v;
    int64_t n;
    ji_value_t alpha, mirrored;
    bool upper, has_y;
} matvec_rank_t;

/* Columns [left, right) of the triangle, at most a block of them, and rows [row, row_end), of which
 * x and y were taken. */
static void matvec_rank_columns(const matvec_rank_t *r, int64_t left, int64_t right, int64_t row,
                                int64_t row_end, const void *x, const void *y) {
    const matvec_t *v = &r->v;
    matvec_block_t of_x, of_y;

    v->kernels->scale(right - left, r->has_y ? &r->mirrored : &r->alpha, matvec_at(v, &v->x, left),
                      v->x.increment, v->conjugate, &of_x);
    if (r->has_y)
        v->kernels->scale(right - left, &r->alpha, matvec_at(v, &v->y, left), v->y.increment,
                          v->conjugate, &of_y);

    /* What is beside the diagonal block, and that. */
    const int64_t first = r->upper ? row : ji_max(row, right),
                  count = (r->upper ? ji_min(row_end, left) : row_end) - first;
    const bool has_block = row <= left && left < row_end;
    const int64_t to_first = first - row, to_block = left - row;
    if (r->has_y) {
        if (count > 0)
            v->kernels->update2(count, right - left, ji_at(v->type, x, to_first, 0, 0), &of_y,
                                ji_at(v->type, y, to_first, 0, 0), &of_x,
                                matvec_element(v, first, left), v->lda);
        if (has_block)
            v->kernels->update_triangle(
                right - left, v->symmetry, r->upper, ji_at(v->type, x, to_block, 0, 0), &of_y,
                ji_at(v->type, y, to_block, 0, 0), &of_x, matvec_element(v, left, left), v->lda);
        return;
    }
    if (count > 0)
        v->kernels->update(count, right - left, ji_at(v->type, x, to_first, 0, 0), &of_x,
                           matvec_element(v, first, left), v->lda);
    if (has_block)
        v->kernels->update_triangle(right - left, v->symmetry, r->upper,
                                    ji_at(v->type, x, to_block, 0, 0), &of_x, NULL, NULL,
                                    matvec_element(v, left, left), v->lda);
}

/* Blocks of columns in turn: each thread has short ones and long ones. */
static void matvec_rank_part(void *argument, int index) {
    const matvec_rank_t *r = argument;
    const matvec_t *v = &r->v;
    const bool is_flat = v->x.increment == 1 && (!r->has_y || v->y.increment == 1);
    const int64_t rows = is_flat ? r->n : JI_MATVEC_PANEL(v->type);
    matvec_panel_t copy_x, copy_y;

    for (int64_t row = 0; row < r->n; row += rows) {
        const int64_t row_end = ji_min(r->n, row + rows), end = r->upper ? r->n : row_end;
        const void *x = matvec_take(v, &v->x, row, row_end - row, &copy_x);
        const void *y = r->has_y ? matvec_take(v, &v->y, row, row_end - row, &copy_y) : NULL;

        for (int64_t left = r->upper ? row : 0, right; left < end; left = right) {
            right = matvec_end(left, JI_MATVEC_BLOCK, end);
            if (left / JI_MATVEC_BLOCK % matvec_count(v) == index)
                matvec_rank_columns(r, left, right, row, row_end, x, y);
        }
    }
}

static void matvec_update_triangle(const ji_matvec_t *args, ji_symmetry_t symmetry, bool has_y) {
    const jdatatype_t type = args->head.type;
    const void *alpha = ji_scalar_data(&args->alpha);
    ji_team_lease_t lease;
    matvec_rank_t rank = {.v = matvec_of(args, args->n, has_y ? args->n : 0),
                          .n = args->n,
                          .alpha = {.z = {0, 0}},
                          .upper = args->uplo == JBLAS_UPPER,
                          .has_y = has_y};
    rank.v.symmetry = symmetry;
    rank.v.conjugate = symmetry == JI_HERMITIAN && ji_is_complex(type);

    /* her's is real. */
    const bool is_real = symmetry == JI_HERMITIAN && !has_y;
    memcpy(&rank.alpha, alpha, ji_sizeof(is_real ? ji_real_of(type) : type));
    if (symmetry == JI_HERMITIAN)
        matvec_conjugate(type, &rank.alpha, &rank.mirrored);
    else
        rank.mirrored = rank.alpha;
    if (symmetry == JI_SKEW_SYMMETRIC)
        matvec_negate(type, &rank.mirrored, &rank.alpha);

    matvec_begin(&rank.v, &lease, args, args->n / 2, args->n);
    if (matvec_count(&rank.v) == 1)
        matvec_rank_part(&rank, 0);
    else
        ji_team_do(rank.v.lease, matvec_rank_part, &rank);
    matvec_end_lease(&rank.v);
}

void ji_host_syr(void *block) {
    const ji_matvec_t *args = block;
    if (!host_is_zero(ji_real_of(args->head.type), &args->alpha))
        matvec_update_triangle(args, JI_HERMITIAN, false);
}

void ji_host_syr_complex(void *block) {
    const ji_matvec_t *args = block;
    if (!host_is_zero(args->head.type, &args->alpha))
        matvec_update_triangle(args, JI_SYMMETRIC, false);
}

/* With y. */
static void matvec_update_by_both(const ji_matvec_t *args, ji_symmetry_t symmetry) {
    if (!host_is_zero(args->head.type, &args->alpha))
        matvec_update_triangle(args, symmetry, true);
}

void ji_host_syr2(void *block) { matvec_update_by_both(block, JI_HERMITIAN); }
void ji_host_syr2_complex(void *block) { matvec_update_by_both(block, JI_SYMMETRIC); }
void ji_host_skewsyr2(void *block) { matvec_update_by_both(block, JI_SKEW_SYMMETRIC); }
