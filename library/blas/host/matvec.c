/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 by kernels of jblas's own (kernels/matvec.h). A routine is cut into rectangles, which are
 * what gemv is, and diagonal blocks:
 *
 *     trmv, trsv, symv, lower      a block of JI_MATVEC_BLOCK columns: its triangle D, which
 *       D                          multiply, solve or symmetric does, and the rectangle R below it:
 *       R D                        columns, dots, or both of them
 *       R R D
 *
 * Nothing is allocated: what a kernel takes is contiguous, and vectors that are not are copied, a
 * panel at a time, to the stack. */

#include "blas/kernels/matvec.h"
#include "blas/host/host.h"
#include "core/team.h"

/* ---- Vectors ---- */

#define MATVEC_ELEMENT_BYTES 16 /* at most */
/* What a panel or a block of a vector is copied to. */
typedef struct matvec_panel {
    _Alignas(64) char bytes[4096];
} matvec_panel_t;
typedef struct matvec_block {
    _Alignas(64) char bytes[JI_MATVEC_BLOCK * MATVEC_ELEMENT_BYTES];
} matvec_block_t;

/* A vector whose element i is at i * increment. */
typedef struct matvec_vector {
    void *first;
    int64_t increment;
} matvec_vector_t;

/* What the loops below read of a call. */
typedef struct matvec {
    jdatatype_t type;
    const ji_matvec_kernels_t *kernels;
    void *a;
    int64_t lda;
    matvec_vector_t x, y;
    bool conjugate; /* of dots, and of what updates scale */
    ji_team_lease_t *lease;
} matvec_t;

/* BLAS has the lowest address of a vector of n. */
static matvec_vector_t matvec_vector(jdatatype_t type, const void *x, int64_t n, int64_t incx) {
    const int64_t first = incx < 0 ? (1 - n) * incx : 0;
    return (matvec_vector_t){ji_at(type, x, first, 0, 0), incx};
}

static matvec_t matvec_of(const ji_matvec_t *args, int64_t count_x, int64_t count_y) {
    const jdatatype_t type = args->head.type;
    return (matvec_t){.type = type,
                      .kernels = ji_kernels->matvec[type],
                      .a = ji_unconst(args->a),
                      .lda = args->lda,
                      .x = matvec_vector(type, args->x, count_x, args->incx),
                      .y = matvec_vector(type, args->y, count_y, args->incy),
                      .conjugate = args->trans == JBLAS_CONJUGATE_TRANSPOSE};
}

static inline void *matvec_element(const matvec_t *v, int64_t i, int64_t j) {
    return ji_at(v->type, v->a, i, j, v->lda);
}
static inline void *matvec_at(const matvec_t *v, const matvec_vector_t *x, int64_t i) {
    return ji_at(v->type, x->first, 0, i, x->increment);
}

/* Elements [first, first + count), contiguous: where they are, or a copy. */
static inline void *matvec_take(const matvec_t *v, const matvec_vector_t *x, int64_t first,
                                int64_t count, void *copy) {
    void *own = matvec_at(v, x, first);
    if (JI_LIKELY(x->increment == 1))
        return own;

    v->kernels->gather(count, own, x->increment, copy);
    return copy;
}

/* Puts back what was taken and changed. */
static inline void matvec_give(const matvec_t *v, const matvec_vector_t *x, int64_t first,
                               int64_t count, const void *taken) {
    if (JI_UNLIKELY(x->increment != 1))
        v->kernels->scatter(count, taken, matvec_at(v, x, first), x->increment);
}

/* Where the panel or block of this size that holds `first` ends. */
static inline int64_t matvec_end(int64_t first, int64_t size, int64_t last) {
    return ji_min(last, (first / size + 1) * size);
}

/* ---- Rectangles ---- */

typedef struct matvec_part {
    int64_t row, row_end, column, column_end;
} matvec_part_t;

/* Rows of y that stay in the nearest cache while all columns are added to them. */
#define MATVEC_ROW_BYTES 16384

/* y[rows] += alpha A x[columns]. */
static void matvec_add_columns(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t rows = v->y.increment == 1 ? MATVEC_ROW_BYTES / (int64_t)ji_sizeof(v->type)
                                             : JI_MATVEC_PANEL(v->type);
    matvec_panel_t copy;
    matvec_block_t scaled;

    for (int64_t i = part->row, end; i < part->row_end; i = end) {
        end = ji_min(part->row_end, i + rows);
        void *y = matvec_take(v, &v->y, i, end - i, &copy);

        for (int64_t j = part->column; j < part->column_end; j += JI_MATVEC_BLOCK) {
            const int64_t count = ji_min(JI_MATVEC_BLOCK, part->column_end - j);
            v->kernels->scale(count, alpha, matvec_at(v, &v->x, j), v->x.increment, false, &scaled);
            v->kernels->columns(end - i, count, matvec_element(v, i, j), v->lda, &scaled, y);
        }
        matvec_give(v, &v->y, i, end - i, y);
    }
}

/* Columns that are gone through before the next ones. A few are read as so many streams, and x
 * again for each few; a vector that must be copied is copied once. */
static int64_t matvec_dots_width(const matvec_t *v, const matvec_part_t *part) {
    if (v->x.increment != 1)
        return INT64_MAX / 2;

    return part->row_end - part->row > JI_MATVEC_PANEL(v->type) ? 8 : JI_MATVEC_BLOCK;
}

/* y[columns] += alpha A^T x[rows], or A^H. */
static void matvec_add_dots(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
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

/* They divide rows or columns of the result, so each element is one thread's, and its sum the same
 * for any number of them. */

/* Of the matrix for each thread. From half of it on two threads were faster than one on an idle
 * machine; where others want the processors, each hand-over may cost much more than it saves. */
#define MATVEC_THREAD_BYTES ((int64_t)256 * 1024)
#define MATVEC_LEAST_ROWS 64 /* of one thread: a page of a column, and whole cache lines */
#define MATVEC_LEAST_COLUMNS 8

typedef void (*matvec_function_t)(const matvec_t *v, const matvec_part_t *part, const void *alpha);
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

/* How many threads so much of a matrix keeps busy. */
static int matvec_threads(const matvec_t *v, int64_t rows, int64_t columns) {
    const double bytes = (double)rows * (double)columns * (double)ji_sizeof(v->type);
    const double most = bytes / (double)MATVEC_THREAD_BYTES;
    return most < 2 ? 1 : most < INT16_MAX ? (int)most : INT16_MAX;
}

static void matvec_begin(matvec_t *v, ji_team_lease_t *lease, const ji_matvec_t *args, int64_t rows,
                         int64_t columns) {
    v->lease = lease;
    ji_team_begin(lease, &args->head.threads, matvec_threads(v, rows, columns));
}

/* Runs the function on the part: divided by those who are leased. */
static void matvec_divide(const matvec_t *v, const matvec_part_t *part, const void *alpha,
                          matvec_function_t function, bool by_rows) {
    const int64_t rows = part->row_end - part->row, columns = part->column_end - part->column;
    const int64_t least = by_rows ? MATVEC_LEAST_ROWS : MATVEC_LEAST_COLUMNS,
                  portions = (by_rows ? rows : columns) / least;
    const int count =
        v->lease->count < 2
            ? 1
            : (int)ji_min(ji_min(v->lease->count, matvec_threads(v, rows, columns)), portions);
    if (count < 2) {
        function(v, part, alpha);
        return;
    }

    matvec_work_t work = {v, *part, alpha, function, by_rows, least, count};
    ji_team_do(v->lease, matvec_work_part, &work);
}

void ji_host_gemv(void *block) {
    const ji_matvec_t *args = block;
    const bool flat = args->trans == JBLAS_NO_TRANSPOSE;
    const int64_t taken = flat ? args->n : args->m, given = flat ? args->m : args->n;
    const matvec_part_t all = {0, args->m, 0, args->n};
    ji_team_lease_t lease;
    matvec_t v = matvec_of(args, taken, given);

    if (!host_is(v.type, &args->beta, 1))
        v.kernels->scale_own(given, ji_scalar_data(&args->beta), v.y.first, v.y.increment);
    if (host_is_zero(v.type, &args->alpha))
        return;

    matvec_begin(&v, &lease, args, args->m, args->n);
    matvec_divide(&v, &all, ji_scalar_data(&args->alpha),
                  flat ? matvec_add_columns : matvec_add_dots, flat);
    ji_team_end(&lease);
}

/* ---- Symmetric and Hermitian ---- */

/* What a rectangle beside the diagonal block of its columns gives, and what its mirror image
 * gives. */
static void matvec_add_both(const matvec_t *v, const matvec_part_t *part, const void *alpha) {
    const int64_t columns = part->column_end - part->column;
    matvec_panel_t copy_x, copy_y;
    matvec_block_t scaled, sums;
    v->kernels->scale(columns, alpha, matvec_at(v, &v->x, part->column), v->x.increment, false,
                      &scaled);

    for (int64_t i = part->row, end; i < part->row_end; i = end) {
        end = matvec_end(i, JI_MATVEC_PANEL(v->type), part->row_end);
        const void *x = matvec_take(v, &v->x, i, end - i, &copy_x);
        void *y = matvec_take(v, &v->y, i, end - i, &copy_y);

        v->kernels->both(end - i, columns, matvec_element(v, i, part->column), v->lda, &scaled, y,
                         x, &sums);
        matvec_give(v, &v->y, i, end - i, y);
        v->kernels->add(columns, alpha, &sums, matvec_at(v, &v->y, part->column), v->y.increment);
    }
}

static void matvec_symmetric_block(const matvec_t *v, int64_t first, int64_t end, bool upper,
                                   const void *alpha) {
    matvec_block_t copy_x, copy_y;
    const void *x = matvec_take(v, &v->x, first, end - first, &copy_x);
    void *y = matvec_take(v, &v->y, first, end - first, &copy_y);
    v->kernels->symmetric(end - first, upper, alpha, matvec_element(v, first, first), v->lda, x, y);
    matvec_give(v, &v->y, first, end - first, y);
}

void ji_host_symv(void *block) {
    const ji_matvec_t *args = block;
    const matvec_t v = matvec_of(args, args->n, args->n);
    const void *alpha = ji_scalar_data(&args->alpha);
    const bool upper = args->uplo == JBLAS_UPPER;

    if (!host_is(v.type, &args->beta, 1))
        v.kernels->scale_own(args->n, ji_scalar_data(&args->beta), v.y.first, v.y.increment);
    if (host_is_zero(v.type, &args->alpha))
        return;

    for (int64_t j = 0, end; j < args->n; j = end) {
        end = ji_min(args->n, j + JI_MATVEC_BLOCK);
        const matvec_part_t beside = {upper ? 0 : end, upper ? j : args->n, j, end};
        if (upper)
            matvec_add_both(&v, &beside, alpha);
        matvec_symmetric_block(&v, j, end, upper, alpha);
        if (!upper)
            matvec_add_both(&v, &beside, alpha);
    }
}

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

    matvec_divide(v, part, sign, transposed ? matvec_add_dots : matvec_add_columns, !transposed);
}

/* trmv and trsv. They differ in the sign of what rectangles give, and trsv takes the blocks in the
 * other order and lets a block have what others give before its own triangle's turn comes. */
static void matvec_triangle(const ji_matvec_t *args, bool solves) {
    const jdatatype_t type = args->head.type;
    const ji_scalar_t sign = ji_constant(type, solves ? -1 : 1);
    const ji_matvec_triangle_t triangle = {
        .upper = args->uplo == JBLAS_UPPER,
        .transposed = args->trans != JBLAS_NO_TRANSPOSE,
        .conjugated = args->trans == JBLAS_CONJUGATE_TRANSPOSE,
        .unit = args->diag == JBLAS_UNIT,
    };
    const bool forward = (triangle.upper != triangle.transposed) != solves;
    const int64_t last = (args->n - 1) / JI_MATVEC_BLOCK;
    matvec_t v = matvec_of(args, args->n, 0);
    const matvec_triangle_function_t function = solves ? v.kernels->solve : v.kernels->multiply;
    ji_team_lease_t lease;
    v.y = v.x;
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
    ji_team_end(&lease);
}

void ji_host_trmv(void *block) { matvec_triangle(block, false); }
void ji_host_trsv(void *block) { matvec_triangle(block, true); }

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

    v.conjugate = conjugate;
    matvec_begin(&v, &lease, args, args->m, args->n);
    matvec_divide(&v, &all, ji_scalar_data(&args->alpha), matvec_update_part,
                  args->n < args->m / 8);
    ji_team_end(&lease);
}

void ji_host_ger(void *block) { matvec_update(block, false); }
void ji_host_gerc(void *block) { matvec_update(block, true); }

static void matvec_conjugate(jdatatype_t type, const void *scalar, ji_value_t *result) {
    memcpy(result, scalar, ji_sizeof(type));
    if (type == JDATATYPE_F32_C)
        result->c[1] = -result->c[1];
    else if (type == JDATATYPE_F64_C)
        result->z[1] = -result->z[1];
}

static void matvec_clear_imaginary(jdatatype_t type, void *element) {
    if (type == JDATATYPE_F32_C)
        ((float *)element)[1] = 0;
    else
        ((double *)element)[1] = 0;
}

/* One triangle of A += alpha x x^H, or, with y, of A += alpha x y^H + conj(alpha) y x^H. */
static void matvec_update_triangle(const ji_matvec_t *args, const void *alpha, bool has_y) {
    const matvec_t v = matvec_of(args, args->n, has_y ? args->n : 0);
    const bool upper = args->uplo == JBLAS_UPPER, conjugate = ji_is_complex(v.type);
    const bool is_flat = v.x.increment == 1 && (!has_y || v.y.increment == 1);
    const int64_t rows = is_flat ? args->n : JI_MATVEC_PANEL(v.type);
    matvec_panel_t copy_x, copy_y;
    matvec_block_t of_x, of_y;
    ji_value_t conjugated;
    matvec_conjugate(v.type, alpha, &conjugated);

    for (int64_t row = 0, row_end; row < args->n; row = row_end) {
        row_end = ji_min(args->n, row + rows);
        const void *x = matvec_take(&v, &v.x, row, row_end - row, &copy_x);
        const void *y = has_y ? matvec_take(&v, &v.y, row, row_end - row, &copy_y) : NULL;
        const int64_t column_end = upper ? args->n : row_end;

        for (int64_t left = upper ? row : 0, right; left < column_end; left = right) {
            right = matvec_end(left, JI_MATVEC_BLOCK, column_end);
            v.kernels->scale(right - left, has_y ? &conjugated : alpha, matvec_at(&v, &v.x, left),
                             v.x.increment, conjugate, &of_x);
            if (has_y)
                v.kernels->scale(right - left, alpha, matvec_at(&v, &v.y, left), v.y.increment,
                                 conjugate, &of_y);

            for (int64_t j = left; j < right; j++) {
                const int64_t first = upper ? row : ji_max(row, j),
                              end = upper ? ji_min(row_end, j + 1) : row_end;
                const void *own_x = ji_at(v.type, x, first - row, 0, 0);
                const void *own_s = ji_at(v.type, &of_x, j - left, 0, 0);
                if (has_y)
                    v.kernels->update2(end - first, 1, own_x, ji_at(v.type, &of_y, j - left, 0, 0),
                                       ji_at(v.type, y, first - row, 0, 0), own_s,
                                       matvec_element(&v, first, j), v.lda);
                else
                    v.kernels->update(end - first, 1, own_x, own_s, matvec_element(&v, first, j),
                                      v.lda);
            }
        }
    }
    if (conjugate)
        for (int64_t j = 0; j < args->n; j++)
            matvec_clear_imaginary(v.type, matvec_element(&v, j, j));
}

void ji_host_syr(void *block) {
    const ji_matvec_t *args = block;
    const jdatatype_t real = ji_real_of(args->head.type);
    ji_value_t alpha = {.z = {0, 0}};

    if (host_is_zero(real, &args->alpha))
        return;

    memcpy(&alpha, ji_scalar_data(&args->alpha), ji_sizeof(real)); /* her's is real */
    matvec_update_triangle(args, &alpha, false);
}

void ji_host_syr2(void *block) {
    const ji_matvec_t *args = block;
    if (!host_is_zero(args->head.type, &args->alpha))
        matvec_update_triangle(args, ji_scalar_data(&args->alpha), true);
}
