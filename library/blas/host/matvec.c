/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Rectangles of level 2: gemv and ger, and how threads share one. */

#include "blas/host/matvec.h"

/* ---- Rectangles ---- */

/* Rows of y that stay in the nearest cache while all columns are added to them. */
#define MATVEC_ROW_BYTES 16384

void ji_matvec_add_columns(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t rows = v->y.increment == 1 ? MATVEC_ROW_BYTES / (int64_t)ji_sizeof(v->type)
                                             : JI_MATVEC_PANEL(v->type);
    matvec_panel_t copy;
    matvec_block_t scaled;

    for (int64_t i = part->row, end; i < part->row_end; i = end) {
        end = ji_min(part->row_end, i + rows);
        void *y = matvec_take(v, &v->y, i, end - i, &copy);

        for (int64_t j = part->column; j < part->column_end; j += JI_MATVEC_BLOCK) {
            const int64_t count = ji_min(JI_MATVEC_BLOCK, part->column_end - j);
            v->kernels->scale(count, alpha, matvec_at(v, &v->x, j), v->x.increment, v->conjugate,
                              &scaled);
            v->kernels->columns(end - i, count, matvec_element(v, i, j), v->lda, &scaled, y);
        }
        matvec_give(v, &v->y, i, end - i, y);
    }
}

/* Of such long columns as many are gone through at once as are read side by side, streams that go
 * on from panel to panel (Zen 3: d, c and z of 1000 to 2500 1.0 to 1.2 of the speed of 8). */
#define MATVEC_STREAM_BYTES 6144
#define MATVEC_COLUMNS 8

/* Columns that are gone through before the next ones, x again for each few; a vector that must be
 * copied is copied once. */
static int64_t matvec_dots_width(const matvec_t *v, const matvec_part_t *part) {
    const int64_t rows = part->row_end - part->row;
    if (v->x.increment != 1)
        return INT64_MAX / 2;
    if (rows <= JI_MATVEC_PANEL(v->type))
        return JI_MATVEC_BLOCK;

    return rows < MATVEC_STREAM_BYTES / (int64_t)ji_sizeof(v->type) ? MATVEC_COLUMNS
                                                                    : v->kernels->streams;
}

void ji_matvec_add_dots(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t width = matvec_dots_width(v, part);
    matvec_panel_t copy;
    matvec_block_t sums;

    for (int64_t left = part->column; left < part->column_end; left += width) {
        const int64_t right = ji_min(part->column_end, left + width);

        for (int64_t i = part->row, end; i < part->row_end; i = end) {
            end = matvec_end(i, JI_MATVEC_PANEL(v->type), part->row_end);
            const void *x = matvec_take(v, &v->x, i, end - i, &copy);

            for (int64_t j = left; j < right; j += JI_MATVEC_BLOCK) {
                const int64_t count = ji_min(JI_MATVEC_BLOCK, right - j);
                v->kernels->dots(end - i, count, v->conjugate, matvec_element(v, i, j), v->lda, x,
                                 &sums);
                v->kernels->add(count, alpha, &sums, matvec_at(v, &v->y, j), v->y.increment);
            }
        }
    }
}

/* ---- Threads ---- */

#define MATVEC_LEAST_ROWS 64 /* of one thread: a page of a column, and whole cache lines */
#define MATVEC_LEAST_COLUMNS 8

typedef struct matvec_work {
    const matvec_t *v;
    matvec_part_t part;
    const void *alpha;
    matvec_function_t function;
    bool by_rows;
    int64_t least;
    int count;
} matvec_work_t;

/* Share `index` of [*first, *end), a multiple of `least`. */
static void matvec_share(int64_t *first, int64_t *end, int64_t least, int index, int count) {
    const int64_t portions = (*end - *first + least - 1) / least, start = *first;
    *first = start + portions * index / count * least;
    *end = ji_min(*end, start + portions * (index + 1) / count * least);
}

static void matvec_work_part(void *argument, int index) {
    const matvec_work_t *work = argument;
    matvec_part_t own = work->part;
    if (index >= work->count)
        return;

    if (work->by_rows)
        matvec_share(&own.row, &own.row_end, work->least, index, work->count);
    else
        matvec_share(&own.column, &own.column_end, work->least, index, work->count);
    work->function(work->v, &own, work->alpha);
}

void ji_matvec_divide(const matvec_t *v, const matvec_part_t *part, const void *alpha,
                      matvec_function_t function, bool by_rows) {
    const int64_t rows = part->row_end - part->row, columns = part->column_end - part->column;
    const int64_t least = by_rows ? MATVEC_LEAST_ROWS : MATVEC_LEAST_COLUMNS,
                  portions = (by_rows ? rows : columns) / least;
    const int most = matvec_count(v) == 1 ? 1 : matvec_threads(v, rows, columns);
    const int count = (int)ji_min(ji_min(matvec_count(v), most), portions);
    if (count < 2) {
        function(v, part, alpha);
        return;
    }

    matvec_work_t work = {v, *part, alpha, function, by_rows, least, count};
    ji_team_do(v->lease, matvec_work_part, &work);
}

/* ---- Products ---- */

void ji_matvec_conjugate(const matvec_t *v, const matvec_vector_t *x, int64_t n) {
    if (!ji_is_complex(v->type))
        return;

    for (int64_t i = 0; i < n; i++) {
        float *c = matvec_at(v, x, i);
        double *z = matvec_at(v, x, i);
        if (v->type == JDATATYPE_F32_C)
            c[1] = -c[1];
        else
            z[1] = -z[1];
    }
}

/* y += alpha conj(A) x, as conj(y) += conj(alpha) A conj(x). */
static void gemv_conjugated(matvec_t *v, const matvec_part_t *all, const void *alpha) {
    ji_value_t conjugated;

    matvec_conjugate(v->type, alpha, &conjugated);
    v->conjugate = ji_is_complex(v->type);
    ji_matvec_conjugate(v, &v->y, all->row_end);
    ji_matvec_divide(v, all, &conjugated, ji_matvec_add_columns, true);
    ji_matvec_conjugate(v, &v->y, all->row_end);
}

void ji_host_gemv(void *block) {
    const ji_matvec_t *args = block;
    const bool flat = !ji_is_transposed(args->trans);
    const int64_t taken = flat ? args->n : args->m, given = flat ? args->m : args->n;
    const matvec_part_t all = {0, args->m, 0, args->n};
    ji_team_lease_t lease;
    matvec_t v = matvec_of(args, taken, given);

    if (!matvec_scale(&v, args, given))
        return;

    matvec_begin(&v, &lease, args, args->m, args->n);
    if (args->trans == JBLAS_CONJUGATE)
        gemv_conjugated(&v, &all, ji_scalar_data(&args->alpha));
    else
        ji_matvec_divide(&v, &all, ji_scalar_data(&args->alpha),
                         flat ? ji_matvec_add_columns : ji_matvec_add_dots, flat);
    matvec_end_lease(&v);
}

/* ---- Updates ---- */

/* A[rows, columns] += alpha x y^T, or y^H. */
static void matvec_update_part(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t rows = v->x.increment == 1 ? part->row_end : JI_MATVEC_PANEL(v->type);
    matvec_panel_t copy;
    matvec_block_t scaled;

    for (int64_t i = part->row; i < part->row_end; i += rows) {
        const int64_t count = ji_min(rows, part->row_end - i);
        const void *x = matvec_take(v, &v->x, i, count, &copy);
        for (int64_t j = part->column; j < part->column_end; j += JI_MATVEC_BLOCK) {
            const int64_t columns = ji_min(JI_MATVEC_BLOCK, part->column_end - j);
            v->kernels->scale(columns, alpha, matvec_at(v, &v->y, j), v->y.increment, v->conjugate,
                              &scaled);
            v->kernels->update(count, columns, x, &scaled, matvec_element(v, i, j), v->lda);
        }
    }
}

static void matvec_update(const ji_matvec_t *args, bool conjugate) {
    const matvec_part_t all = {0, args->m, 0, args->n};
    ji_team_lease_t lease;
    matvec_t v = matvec_of(args, args->m, args->n);
    if (host_is_zero(v.type, &args->alpha))
        return;

    v.conjugate = conjugate, v.thread_bytes = MATVEC_THREAD_BYTES / 2;
    matvec_begin(&v, &lease, args, args->m, args->n);
    ji_matvec_divide(&v, &all, ji_scalar_data(&args->alpha), matvec_update_part, args->n < 32);
    matvec_end_lease(&v);
}

void ji_host_ger(void *block) { matvec_update(block, false); }
void ji_host_gerc(void *block) { matvec_update(block, true); }
