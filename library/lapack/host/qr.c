/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR and LQ on the host. What is done with their Q is in qr_q.c.
 *
 * A = Q R, Q = H(1) H(2) ... H(k) and H(i) = I - tau v v^H, where v has i - 1 zeros, a one, and
 * what A has below its diagonal. So many of them as a block has columns are I - V T V^H, with a
 * triangle T (Schreiber and Van Loan 1989), and their product with a matrix is five products:
 *
 *     C1 | W = V1^H C1 + V2^H C2     V1: the block's square, with its ones and zeros, apart
 *     ---+ X = T^H W                 V2: what is below it, where it lies
 *     C2 | C1 -= V1 X, C2 -= V2 X
 *
 * A block is factored by halves of its columns (Elmroth and Gustavson 2000), down to a base of a
 * few, one reflector after the other. Where they are long, as many columns are done at once as can
 * be (gram.c); of the others what the next reflector needs is found while a piece of the columns
 * is in the cache for this one, or, of short ones, in registers (kernels/reflect_kernel.h). V1 and
 * T are on the stack.
 *
 * Columns of C are done by strips of a few, so that they come into the cache once for all five
 * products; W and X of a strip are on the stack of the thread that does it. What workspace buys is
 * a block's columns in a room apart, where no two of them fall on the same places of a cache; V^H,
 * which each strip would turn anew; and V2 by strips of rows, where its columns are pages apart: in
 * the room, once the columns are back in A. Where C is larger than caches near a processor and V
 * as well, not even a strip stays there: all columns are done at once, by products that pack what
 * they read, if workspace has W, X and panels for that; and rows of C, which what comes from the
 * right is applied to, as well. What the blocks are is decided by the shape alone, and a product's
 * bits do not depend on what is computed beside, so every rung has the same bits.
 *
 * LQ of A is QR of A^H, with the same tau: what lies in a column there lies in a row here,
 * conjugated, and what is multiplied from the left is multiplied from the right. One text is both,
 * in words of QR: `by_rows` says how A lies. */

#include <math.h>

#include "blas/kernels/batch.h"
#include "blas/kernels/factor.h"
#include "blas/kernels/move.h"
#include "blas/routine/setup.h"
#include "core/team.h"
#include "lapack/host/qr.h"
#include "lapack/host/reflector.h"

#define QR_BASE JI_REFLECT_COLUMNS
/* From which length on columns of a base are read and written once for each reflector, by pieces
 * that lie in the first cache together. In bytes of one. */
#define QR_LONG_BYTES 65536
#define QR_PIECE_BYTES 4096
#define QR_ROOM_MOST 1048576
#define QR_LINE 64             /* bytes */
#define QR_ROOM_LEAST_WORK 4e5 /* of smaller ones columns are in a cache wherever they lie */
#define QR_ROWS_BYTES 768      /* of a column of V2, in a strip of rows */
#define QR_FAR_COLUMNS 48 /* of C, for which columns of V2 that are pages apart lie by strips */
#define QR_LEAST_STRIP 8
#define QR_WIDE_BYTES 2097152 /* of C, from which on its columns are done at once, unless */
#define QR_NEAR_BYTES 524288  /* V, and a strip, stay in a second cache of 1 MiB */

static_assert(JI_GRAM_MOST * JI_GRAM_MOST * sizeof(jcomplex_f64_t) <= QR_SQUARE_BYTES, "it fits");
static_assert(QR_FAR_COLUMNS >= QR_BLOCK_MOST, "none lie by strips while the room has the columns");

/* Columns of a block, by the reflectors in all: more of them are better for products, and cost
 * more beside these. Of long columns products with few are bound by memory. */
static int64_t qr_block_columns(jdatatype_t type, bool by_rows, int64_t reflectors, int64_t rows) {
    const bool is_long = !by_rows && rows >= QR_LONG_BYTES / (int64_t)ji_sizeof(type);
    const int64_t usual = reflectors <= 64    ? QR_BASE
                          : reflectors <= 128 ? 16
                          : reflectors <= 384 ? 24
                          : reflectors <= 640 ? 32
                                              : QR_BLOCK_MOST,
                  most = type != JDATATYPE_F64_C ? QR_BLOCK_MOST : JI_GRAM_MOST;
    return ji_min(is_long ? (reflectors <= 128 ? JI_GRAM_MOST : QR_BLOCK_MOST) : usual, most);
}

/* x = y, n elements of a column, of which y lies in A. */
static void qr_take(const qr_t *qr, int64_t n, const void *y, int64_t ld, void *x) {
    const ji_scalar_t one = ji_constant(qr->type, 1);
    if (qr->by_rows)
        ji_kernels->matvec[qr->type]->scale(n, &one.value, y, ld, true, x);
    else
        memcpy(x, y, (size_t)n * ji_sizeof(qr->type));
}

/* ---- Products ---- */

/* What lies in A, and its adjoint. */
static qr_factor_t qr_stored(const qr_t *qr, const void *data, int64_t ld) {
    return qr->by_rows ? QR_ADJOINT(data, ld) : QR_PLAIN(data, ld);
}
static qr_factor_t qr_stored_adjoint(const qr_t *qr, const void *data, int64_t ld) {
    return qr->by_rows ? QR_PLAIN(data, ld) : QR_ADJOINT(data, ld);
}

/* V^H of the block, its columns from `i` on: 0, or behind V1's. */
static qr_factor_t qr_adjoint_of(const qr_t *qr, const qr_block_t *block, int64_t i) {
    if (qr->turned != NULL)
        return QR_PLAIN(qr_of_square(qr, qr->turned, block->first, block->first + i), qr->block);
    return i == 0 ? QR_ADJOINT(qr_top(qr, block), qr->block)
                  : qr_stored_adjoint(qr, qr_at(qr, block->v, block->ld, i, 0), block->ld);
}

void ji_qr_multiply(const qr_t *qr, int64_t m, int64_t n, int64_t k, double alpha, qr_factor_t a,
                    qr_factor_t b, double beta, void *c, int64_t ldc) {
    const bool packs = ji_product_work(qr->type, m, n, k) >= JI_PACKED_LEAST_GEMM;
    ji_matmat_t product = {.head = qr->call.head,
                           .transa = a.op,
                           .transb = b.op,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = ji_constant(qr->type, alpha),
                           .a = a.data,
                           .lda = a.ld,
                           .b = b.data,
                           .ldb = b.ld,
                           .beta = ji_constant(qr->type, beta),
                           .c = c,
                           .ldc = ldc,
                           .panels = packs ? qr->call.panels : NULL,
                           .panel_bytes = packs ? qr->call.panel_bytes : 0};

    if (m > 0 && n > 0 && k > 0)
        ji_host_primitives[JI_GEMM](&product);
}

/* Some of V2's rows, which lie together. */
typedef struct qr_rows {
    void *v;
    int64_t ld, first, count;
} qr_rows_t;

static int64_t qr_rows_of_strip(jdatatype_t type) {
    return QR_ROWS_BYTES / (int64_t)ji_sizeof(type);
}
static int64_t qr_strip_ld(jdatatype_t type) {
    return (QR_ROWS_BYTES + QR_LINE) / (int64_t)ji_sizeof(type);
}
static bool qr_is_far(jdatatype_t type, int64_t ld) {
    return ld * (int64_t)ji_sizeof(type) >= JI_PAGE_BYTES;
}

/* The strips begin with whole lines of C2: the first one has block->lead rows more. */
static qr_rows_t qr_strip(const qr_t *qr, const qr_block_t *block, int64_t index) {
    const int64_t rows = qr_rows_of_strip(qr->type), ld = qr_strip_ld(qr->type), lead = block->lead,
                  first = index == 0 ? 0 : lead + index * rows,
                  past = ji_min(lead + (index + 1) * rows, block->rows - block->count);
    const int64_t at = index == 0 && lead > 0 ? ld - rows - lead : 0;
    return (qr_rows_t){.v = ji_at(qr->type, block->strips, at, index * block->count, ld),
                       .ld = ld,
                       .first = first,
                       .count = past - first};
}

static void qr_lay_strips(const qr_t *qr, qr_block_t *block, const void *c2, int64_t ldc) {
    const int64_t element = (int64_t)ji_sizeof(qr->type), past = (uintptr_t)c2 % QR_LINE;
    const bool has_lines = past % element == 0 && ldc * element % QR_LINE == 0;
    block->strips = qr->strips;
    block->lead = has_lines ? (QR_LINE - past) % QR_LINE / element : 0;

    const void *const v2 = qr_below(qr, block);
    qr_rows_t rows = qr_strip(qr, block, 0);
    for (int64_t i = 1; rows.count > 0; rows = qr_strip(qr, block, i++))
        ji_room_copy(qr->type, rows.count, block->count, ji_at(qr->type, v2, rows.first, 0, 0),
                     block->ld, rows.v, rows.ld);
}

/* C2 -= V2 X. */
static void qr_subtract(const qr_t *qr, const qr_block_t *block, int64_t columns, const void *x,
                        void *c2, int64_t ldc) {
    const int64_t k = block->count;
    if (block->strips == NULL) {
        ji_qr_multiply(qr, block->rows - k, columns, k, -1,
                       qr_stored(qr, qr_below(qr, block), block->ld), QR_PLAIN(x, k), 1, c2, ldc);
        return;
    }

    qr_rows_t rows = qr_strip(qr, block, 0);
    for (int64_t i = 1; rows.count > 0; rows = qr_strip(qr, block, i++))
        ji_qr_multiply(qr, rows.count, columns, k, -1, QR_PLAIN(rows.v, rows.ld), QR_PLAIN(x, k), 1,
                       ji_at(qr->type, c2, rows.first, 0, 0), ldc);
}

/* C = (I - V op(T) V^H) C, of `columns` columns, as few as the stack has work for. */
static void qr_apply_left(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c1,
                          int64_t ldc, int64_t columns, void *w) {
    const int64_t k = block->count, below = block->rows - k;
    const void *const v1 = qr_top(qr, block);
    void *const c2 = ji_at(qr->type, c1, k, 0, 0), *const x = ji_at(qr->type, w, 0, columns, k);

    ji_qr_multiply(qr, k, columns, k, 1, qr_adjoint_of(qr, block, 0), QR_PLAIN(c1, ldc), 0, w, k);
    ji_qr_multiply(qr, k, columns, below, 1, qr_adjoint_of(qr, block, k), QR_PLAIN(c2, ldc), 1, w,
                   k);
    ji_qr_multiply(qr, k, columns, k, 1, (qr_factor_t){op, qr_t_of(qr, block), qr->block},
                   QR_PLAIN(w, k), 0, x, k);
    ji_qr_multiply(qr, k, columns, k, -1, QR_PLAIN(v1, qr->block), QR_PLAIN(x, k), 1, c1, ldc);
    qr_subtract(qr, block, columns, x, c2, ldc);
}

/* Columns of C, which threads share by strips. */
typedef struct qr_columns {
    const qr_t *qr;
    const qr_block_t *block;
    jblas_operation_t op;
    void *c;
    int64_t ldc, count, strip;
    int threads;
} qr_columns_t;

/* The last ones first: the next block's columns are near when its turn comes. */
static void qr_apply_part(void *argument, int index) {
    const qr_columns_t *columns = argument;
    const int64_t strip = columns->strip;
    _Alignas(64) char work[QR_WORK_BYTES];

    for (int64_t end = columns->count - index * strip; end > 0; end -= columns->threads * strip) {
        const int64_t j = ji_max(end - strip, 0);
        qr_apply_left(columns->qr, columns->block, columns->op,
                      ji_at(columns->qr->type, columns->c, 0, j, columns->ldc), columns->ldc,
                      end - j, work);
    }
}

/* Where vectors are narrower than a line, second caches are smaller. */
static bool qr_is_wide(jdatatype_t type, int64_t rows, int64_t columns, int64_t block) {
    const int64_t element = (int64_t)ji_sizeof(type);
    const bool is_near =
        ji_kernels->vector_bytes == QR_LINE && rows * block * element <= QR_NEAR_BYTES;
    return !is_near && columns > block && rows * columns * element >= QR_WIDE_BYTES;
}

/* So that each thread has one: what lies in several caches is slower than what lies in one. A
 * single strip's products are shared instead. */
void ji_qr_apply_to_columns(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                            int64_t ldc, int64_t count) {
    if (qr->wide != NULL && qr_is_wide(qr->type, block->rows, count, qr->block)) {
        qr_t wide = *qr;
        wide.call.panels = qr->panels, wide.call.panel_bytes = qr->panel_bytes;
        qr_apply_left(&wide, block, op, c, ldc, count, qr->wide);
        return;
    }

    qr_block_t by_strips = *block;
    if (qr->strips != NULL && count >= QR_FAR_COLUMNS && qr_is_far(qr->type, block->ld))
        qr_lay_strips(qr, &by_strips, ji_at(qr->type, c, block->count, 0, 0), ldc);

    const double work = 2 * ji_product_work(qr->type, block->rows, count, block->count);
    ji_team_lease_t lease;
    ji_team_begin(&lease, &qr->call.head.threads,
                  count < 2 * QR_LEAST_STRIP ? 1 : ji_product_threads(work));

    qr_t alone = *qr;
    if (lease.is_counted || lease.count > 1)
        alone.call.head.threads.count = 0; /* the lease has counted them */
    const int64_t share = (count + lease.count - 1) / lease.count,
                  whole = (share + QR_LEAST_STRIP - 1) / QR_LEAST_STRIP * QR_LEAST_STRIP;
    qr_columns_t columns = {.qr = &alone,
                            .block = &by_strips,
                            .op = op,
                            .c = c,
                            .ldc = ldc,
                            .count = count,
                            .strip = ji_min(QR_STRIP, whole),
                            .threads = lease.count};
    ji_team_do(&lease, qr_apply_part, &columns);
    ji_team_end(&lease);
}

void ji_qr_apply_to_rows(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                         int64_t ldc, int64_t m) {
    const jdatatype_t type = qr->type;
    const int64_t k = block->count, below = block->rows - k;
    const void *const v1 = qr_top(qr, block), *const v2 = qr_below(qr, block);

    for (int64_t i = 0; i < m; i += qr->strip) {
        const int64_t rows = ji_min(qr->strip, m - i);
        void *const c1 = ji_at(type, c, i, 0, ldc), *const c2 = ji_at(type, c1, 0, k, ldc);
        void *const w = qr->work, *const x = ji_at(type, w, 0, k, rows);

        ji_qr_multiply(qr, rows, k, k, 1, QR_PLAIN(c1, ldc), QR_PLAIN(v1, qr->block), 0, w, rows);
        ji_qr_multiply(qr, rows, k, below, 1, QR_PLAIN(c2, ldc), qr_stored(qr, v2, block->ld), 1, w,
                       rows);
        ji_qr_multiply(qr, rows, k, k, 1, QR_PLAIN(w, rows),
                       (qr_factor_t){op, qr_t_of(qr, block), qr->block}, 0, x, rows);
        ji_qr_multiply(qr, rows, k, k, -1, QR_PLAIN(x, rows), QR_ADJOINT(v1, qr->block), 1, c1,
                       ldc);
        ji_qr_multiply(qr, rows, below, k, -1, QR_PLAIN(x, rows),
                       qr_stored_adjoint(qr, v2, block->ld), 1, c2, ldc);
    }
}

void ji_qr_apply_beside(const qr_t *qr, const qr_block_t *block, jblas_operation_t op, void *c,
                        int64_t ldc, int64_t others) {
    if (qr->by_rows)
        ji_qr_apply_to_rows(
            qr, block, op == JBLAS_NO_TRANSPOSE ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE, c,
            ldc, others);
    else
        ji_qr_apply_to_columns(qr, block, op, c, ldc, others);
}

/* ---- Triangles ---- */

void ji_qr_clear_squares(const qr_t *qr) {
    const size_t bytes = (size_t)(qr->block * qr->block) * ji_sizeof(qr->type);
    memset(qr->top, 0, bytes);
    memset(qr->t, 0, bytes);
    if (qr->turned != NULL)
        memset(qr->turned, 0, bytes);
}

/* V1. */
static void qr_expand_top(const qr_t *qr, const qr_block_t *block) {
    const jdatatype_t type = qr->type;
    const int64_t k = block->count;
    void *const v1 = qr_top(qr, block);
    const ji_scalar_t one = ji_constant(type, 1);

    for (int64_t j = 0; j < k; j++) {
        memcpy(qr_of_square(qr, v1, j, j), &one.value, ji_sizeof(type));
        if (j + 1 < k)
            qr_take(qr, k - j - 1, qr_at(qr, block->v, block->ld, j + 1, j), block->ld,
                    qr_of_square(qr, v1, j + 1, j));
    }
}

/* V^H, where there is room for it: products would turn it again and again. V1 is there. */
static void qr_turn(const qr_t *qr, const qr_block_t *block) {
    const jdatatype_t type = qr->type;
    const int64_t k = block->count;
    if (qr->turned == NULL)
        return;

    void *const turned = qr_of_square(qr, qr->turned, block->first, block->first);
    const ji_move_kernels_t *const kernels = ji_kernels->move[type];
    kernels->transpose(k, k, NULL, ji_is_complex(type), qr_top(qr, block), qr->block, turned,
                       qr->block);
    kernels->transpose(block->rows - k, k, NULL, ji_is_complex(type), qr_below(qr, block),
                       block->ld, qr_of_square(qr, turned, 0, k), qr->block);
}

/* T of a block whose taus are on its diagonal: column j is T (-tau V^H v(j)). products, of order
 * qr->block, is V^H V; what is above its diagonal counts. */
static void qr_form_by(const qr_t *qr, const qr_block_t *block, const void *products) {
    const jdatatype_t type = qr->type;
    void *const t = qr_t_of(qr, block);
    const ji_scalar_t zero = ji_constant(type, 0), minus_one = ji_constant(type, -1);
    const ji_matvec_kernels_t *kernels = ji_kernels->matvec[type];

    for (int64_t j = 1; j < block->count; j++) {
        ji_value_t minus_tau;
        kernels->scale(1, &minus_one.value, qr_of_square(qr, t, j, j), 1, false, &minus_tau);
        kernels->small(j, j, JBLAS_NO_TRANSPOSE, &minus_tau, t, qr->block,
                       qr_of_square(qr, products, 0, j), &zero.value, qr_of_square(qr, t, 0, j));
    }
}

/* The same of products that are V2^H V2 as yet. */
static void qr_form_with(const qr_t *qr, const qr_block_t *block, void *products) {
    const int64_t k = block->count;
    ji_qr_multiply(qr, k, k, k, 1, qr_adjoint_of(qr, block, 0),
                   QR_PLAIN(qr_top(qr, block), qr->block), 1, products, qr->block);
    qr_form_by(qr, block, products);
}

void ji_qr_form(const qr_t *qr, const qr_block_t *block) {
    _Alignas(64) char products[QR_SQUARE_BYTES];
    const int64_t k = block->count, below = block->rows - k;
    qr_expand_top(qr, block);
    qr_turn(qr, block);
    if (below == 0)
        memset(products, 0, sizeof products);
    ji_qr_multiply(qr, k, k, below, 1, qr_adjoint_of(qr, block, k),
                   qr_stored(qr, qr_below(qr, block), block->ld), 0, products, qr->block);
    qr_form_with(qr, block, products);
}

/* V1 and T of two blocks side by side: of their corners, T12 = -T1 V1^H V2 T2. */
static void qr_join(const qr_t *qr, const qr_block_t *left, const qr_block_t *right) {
    _Alignas(64) char products[QR_SQUARE_BYTES / 4], middle[QR_SQUARE_BYTES / 4];
    const int64_t m = left->count, n = right->count;
    void *const corner = qr_of_square(qr, qr->t, left->first, right->first);
    const void *const beside = qr_below(qr, left);

    for (int64_t j = 0; j < m; j++)
        qr_take(qr, n, qr_at(qr, beside, left->ld, 0, j), left->ld,
                qr_of_square(qr, qr->top, right->first, left->first + j));
    ji_qr_multiply(qr, m, n, n, 1, qr_adjoint_of(qr, left, m),
                   QR_PLAIN(qr_top(qr, right), qr->block), 0, products, m);
    ji_qr_multiply(qr, m, n, right->rows - n, 1, qr_adjoint_of(qr, left, m + n),
                   qr_stored(qr, qr_below(qr, right), right->ld), 1, products, m);
    ji_qr_multiply(qr, m, n, n, 1, QR_PLAIN(products, m), QR_PLAIN(qr_t_of(qr, right), qr->block),
                   0, middle, m);
    ji_qr_multiply(qr, m, n, m, -1, QR_PLAIN(qr_t_of(qr, left), qr->block), QR_PLAIN(middle, m), 0,
                   corner, qr->block);
}

/* ---- A block ---- */

/* The columns of a block of A that are factored, and their taus. */
typedef struct qr_panel {
    void *a;
    int64_t lda, rows;
    void *tau;
} qr_panel_t;

static qr_block_t qr_block_of(const qr_t *qr, const qr_panel_t *panel, int64_t first,
                              int64_t count) {
    return (qr_block_t){.v = qr_at(qr, panel->a, panel->lda, first, first),
                        .ld = panel->lda,
                        .rows = panel->rows - first,
                        .first = first,
                        .count = count};
}

/* H^H beside the column that has v, one and all, of the `others` from next on. */
static void qr_apply_one(const qr_t *qr, int64_t rows, const void *v, ji_number_t tau, void *next,
                         int64_t lda, int64_t others) {
    const ji_matvec_kernels_t *kernels = ji_kernels->matvec[qr->type];
    _Alignas(64) char sums[QR_BASE * sizeof(jcomplex_f64_t)];
    ji_value_t factor;

    if (qr->by_rows) {
        ji_number_store(qr->type, &factor, -tau.re, -tau.im);
        ji_qr_multiply(qr, others, 1, rows, 1, QR_PLAIN(next, lda), QR_ADJOINT(v, lda), 0, sums,
                       QR_BASE);
        kernels->scale(others, &factor, sums, 1, false, sums);
        ji_qr_multiply(qr, others, rows, 1, 1, QR_PLAIN(sums, QR_BASE), QR_PLAIN(v, lda), 1, next,
                       lda);
        return;
    }
    ji_number_store(qr->type, &factor, -tau.re, tau.im);
    kernels->dots(rows, others, true, next, lda, v, sums);
    kernels->scale(others, &factor, sums, 1, true, sums);
    kernels->update(rows, others, v, sums, next, lda);
}

/* The reflector of column j, applied to those behind it. */
static void qr_step(const qr_t *qr, const qr_panel_t *panel, int64_t j, int64_t end) {
    const jdatatype_t type = qr->type;
    void *const v = qr_at(qr, panel->a, panel->lda, j, j);
    void *const tau = ji_at(type, panel->tau, j, 0, 0);
    const int64_t rows = panel->rows - j;

    ji_reflect(&qr->call.head, qr->by_rows, rows - 1, v, qr->by_rows ? panel->lda : 1, tau);
    const ji_number_t diagonal = ji_number_load(type, v);
    ji_number_store(type, v, 1, 0);
    qr_apply_one(qr, rows, v, ji_number_load(type, tau), qr_at(qr, v, panel->lda, 0, 1), panel->lda,
                 end - j - 1);
    ji_number_store(type, v, diagonal.re, diagonal.im);
}

/* Of a column, below its diagonal: the norm, and what C^H x is of the columns C behind it. */
typedef struct qr_ahead {
    double norm;
    _Alignas(64) char dots[QR_BASE * sizeof(jcomplex_f64_t)];
} qr_ahead_t;

/* Below row j, by pieces: x by `factor`, C += x sums with the columns C behind it (sums NULL:
 * neither), and what the next column wants to know, as long as the piece is in the cache. */
static void qr_sweep(const qr_t *qr, const qr_panel_t *panel, int64_t j, int64_t end,
                     ji_number_t factor, const void *sums, qr_ahead_t *ahead) {
    const jdatatype_t type = qr->type;
    const ji_matvec_kernels_t *kernels = ji_kernels->matvec[type];
    const ji_scalar_t one = ji_constant(type, 1);
    const int64_t others = end - j - 1, lda = panel->lda,
                  piece = QR_PIECE_BYTES / (int64_t)ji_sizeof(type);

    *ahead = (qr_ahead_t){.norm = 0};
    for (int64_t row = j + 1; row < panel->rows; row += piece) {
        const int64_t rows = ji_min(piece, panel->rows - row), top = row == j + 1;
        void *const next = ji_at(type, panel->a, row, j + 1, lda);
        if (sums != NULL) {
            void *const x = ji_at(type, panel->a, row, j, lda);
            ji_reflector_scale(type, rows, factor.re, factor.im, x, 1);
            kernels->update(rows, others, x, sums, next, lda);
        }
        if (others == 0)
            continue;

        _Alignas(64) char dots[QR_BASE * sizeof(jcomplex_f64_t)];
        const void *const below = ji_at(type, next, top, 0, 0);
        ahead->norm = hypot(ahead->norm, ji_reflector_norm(&qr->call.head, rows - top, below, 1));
        kernels->dots(rows - top, others - 1, true, ji_at(type, below, 0, 1, lda), lda, below,
                      dots);
        kernels->add(others - 1, &one.value, dots, ahead->dots, 1);
    }
}

/* Whether nothing of them was lost below the smallest numbers, or above the largest ones. */
static bool qr_is_usable(jdatatype_t type, const qr_ahead_t *ahead, double beta, int64_t others) {
    const bool is_float = ji_real_of(type) == JDATATYPE_F32;
    const double least = is_float ? 0x1p-80 : 0x1p-900, most = is_float ? 0x1p+100 : 0x1p+1000;
    bool usable = ahead->norm > 0 && fabs(beta) >= least && fabs(beta) <= most;
    for (int64_t c = 0; c < others; c++) {
        const ji_number_t dot = ji_number_load(type, ji_at(type, ahead->dots, c, 0, 0));
        const double size = fabs(dot.re) + fabs(dot.im);
        usable &= size >= least && size <= most;
    }
    return usable;
}

/* Column j by what is known of it: v^H C is C's own row and (C^H x)^H by the factor of x, so all of
 * C is read once. */
static void qr_step_ahead(const qr_t *qr, const qr_panel_t *panel, int64_t j, int64_t end,
                          qr_ahead_t *ahead) {
    const jdatatype_t type = qr->type;
    void *const v = ji_at(type, panel->a, j, j, panel->lda);
    const ji_number_t alpha = ji_number_load(type, v);
    const double beta = ji_reflector_beta(alpha, ahead->norm);
    const int64_t others = end - j - 1;
    if (!qr_is_usable(type, ahead, beta, others)) {
        qr_step(qr, panel, j, end);
        qr_sweep(qr, panel, j, end, alpha, NULL, ahead);
        return;
    }

    const ji_reflection_t by = ji_reflection_of(alpha, beta);
    const ji_number_t f = by.factor, tau = by.tau;
    _Alignas(64) char sums[QR_BASE * sizeof(jcomplex_f64_t)];
    ji_value_t one;
    for (int64_t c = 0; c < others; c++) {
        const ji_number_t top = ji_number_load(type, ji_at(type, v, 0, c + 1, panel->lda)),
                          dot = ji_number_load(type, ji_at(type, ahead->dots, c, 0, 0));
        const double re = top.re + (f.re * dot.re - f.im * dot.im),
                     im = top.im - (f.re * dot.im + f.im * dot.re);
        ji_number_store(type, ji_at(type, sums, c, 0, 0), -(tau.re * re + tau.im * im),
                        -(tau.re * im - tau.im * re));
    }
    ji_number_store(type, &one, 1, 0);
    ji_kernels->matvec[type]->update(1, others, &one, sums, ji_at(type, v, 0, 1, panel->lda),
                                     panel->lda);
    ji_number_store(type, v, beta, 0);
    ji_number_store(type, ji_at(type, panel->tau, j, 0, 0), tau.re, tau.im);
    qr_sweep(qr, panel, j, end, f, sums, ahead);
}

/* Whether a piece of them at a time is what the caches hold. */
static bool qr_is_long(const qr_t *qr, const qr_panel_t *panel) {
    return !qr->by_rows && panel->rows * (int64_t)ji_sizeof(qr->type) >= QR_LONG_BYTES;
}

static void qr_take_taus(const qr_t *qr, const qr_panel_t *panel, int64_t first, int64_t count) {
    for (int64_t j = first; j < first + count; j++)
        memcpy(qr_of_square(qr, qr->t, j, j), ji_at(qr->type, panel->tau, j, 0, 0),
               ji_sizeof(qr->type));
}

/* As many columns at once as their products tell well enough; how many, which may be none. */
static int64_t qr_at_once(const qr_t *qr, const qr_panel_t *panel, int64_t first, int64_t count) {
    _Alignas(64) char products[QR_SQUARE_BYTES];
    if (!qr_is_long(qr, panel) || panel->rows - first <= count)
        return 0;
    const int64_t done = ji_gram_reflect(
        &qr->call, ji_at(qr->type, panel->a, first, first, panel->lda), panel->lda,
        panel->rows - first, count, ji_at(qr->type, panel->tau, first, 0, 0), products, qr->block);
    if (done > 0) {
        const qr_block_t block = qr_block_of(qr, panel, first, done);
        qr_take_taus(qr, panel, first, done);
        qr_expand_top(qr, &block);
        qr_turn(qr, &block);
        qr_form_with(qr, &block, products);
    }
    return done;
}

/* QR_BASE columns in the first cache, as many as are neither 0 nor too small or large; how many. Of
 * all, V1 and T as well. */
static int64_t qr_reflect_near(const qr_t *qr, const qr_panel_t *panel, int64_t first) {
    _Alignas(64) char products[QR_SQUARE_BYTES];
    const qr_block_t block = qr_block_of(qr, panel, first, QR_BASE);
    const int64_t done = ji_kernels->factor[qr->type]->reflect(
        panel->rows - first, ji_unconst(block.v), panel->lda,
        ji_at(qr->type, panel->tau, first, 0, 0), qr_top(qr, &block), products, qr->block);

    if (done == QR_BASE) {
        qr_take_taus(qr, panel, first, QR_BASE);
        qr_turn(qr, &block);
        qr_form_by(qr, &block, products);
    }
    return done;
}

/* A few columns. */
static void qr_base(const qr_t *qr, const qr_panel_t *panel, int64_t first, int64_t count) {
    const int64_t end = first + count;
    const bool is_long = qr_is_long(qr, panel);
    qr_ahead_t ahead;
    int64_t j = first;

    if (is_long)
        qr_sweep(qr, panel, first - 1, end, (ji_number_t){0, 0}, NULL, &ahead);
    else if (!qr->by_rows && count == QR_BASE)
        j += qr_reflect_near(qr, panel, first);
    if (j == end)
        return;

    for (; j < end; j++)
        if (is_long)
            qr_step_ahead(qr, panel, j, end, &ahead);
        else
            qr_step(qr, panel, j, end);
    qr_take_taus(qr, panel, first, count);

    const qr_block_t block = qr_block_of(qr, panel, first, count);
    ji_qr_form(qr, &block);
}

static void qr_factor_panel(const qr_t *qr, const qr_panel_t *panel, int64_t first, int64_t count) {
    const int64_t done = qr_at_once(qr, panel, first, count);
    if (done == 0 && count <= QR_BASE)
        qr_base(qr, panel, first, count);
    if (done == count || (done == 0 && count <= QR_BASE))
        return;

    const int64_t half = (count / 2 + QR_BASE - 1) / QR_BASE * QR_BASE,
                  left = done > 0 ? done : half, right = count - left, middle = first + left;
    if (done == 0)
        qr_factor_panel(qr, panel, first, left);
    const qr_block_t before = qr_block_of(qr, panel, first, left);
    ji_qr_apply_beside(qr, &before, JBLAS_CONJUGATE_TRANSPOSE,
                       qr_at(qr, panel->a, panel->lda, first, middle), panel->lda, right);

    qr_factor_panel(qr, panel, middle, right);
    const qr_block_t behind = qr_block_of(qr, panel, middle, right);
    qr_join(qr, &before, &behind);
}

/* ---- Workspace ---- */

/* Where workspace is cut: the room, V^H, W and X of all rows or columns, and behind them panels. */
typedef struct qr_cut {
    int64_t block;
    size_t room, turned, work;
} qr_cut_t;

/* The room's leading dimension for so many rows: 8 lines times an odd number. QR_BASE columns are
 * read while they are written, and a load from where a store before it goes in another page waits
 * for that. */
static int64_t qr_room_ld(jdatatype_t type, bool by_rows, int64_t rows) {
    const int64_t lines = 8 * QR_LINE / (int64_t)ji_sizeof(type);
    return by_rows ? ji_room_ld(type, rows) : ((rows + lines - 1) / lines | 1) * lines;
}

/* Where strips are of use: where V's columns, A's or the room's, may be far apart. A CBLAS's bits
 * would depend on them. */
static bool qr_has_strips(jdatatype_t type, const qr_shape_t *shape) {
    return !ji_host_has_guest() && !shape->to_rows && !shape->by_rows &&
           shape->others > QR_FAR_COLUMNS &&
           qr_is_far(type, qr_room_ld(type, false, shape->length));
}

/* None where it would not stay in a cache. */
static size_t qr_cached(jdatatype_t type, int64_t elements) {
    const size_t bytes = (size_t)elements * ji_sizeof(type);
    return bytes <= QR_ROOM_MOST ? ji_whole_lines(bytes) : 0;
}

/* Elements of the room: for the columns of a block, and for V2 by strips. */
static int64_t qr_room_elements(jdatatype_t type, const qr_shape_t *shape, int64_t block) {
    const int64_t length = shape->room_length, line = QR_LINE / (int64_t)ji_sizeof(type),
                  columns = length == 0      ? 0
                            : shape->by_rows ? line + qr_room_ld(type, true, block) * length
                                             : line + qr_room_ld(type, false, length) * block,
                  strips = shape->length / qr_rows_of_strip(type) + 1;
    return qr_has_strips(type, shape) ? ji_max(columns, strips * qr_strip_ld(type) * block)
                                      : columns;
}

static qr_cut_t qr_cut(jdatatype_t type, const qr_shape_t *shape) {
    const int64_t block = qr_block_columns(type, shape->by_rows, shape->reflectors, shape->length);
    /* Of complex elements a CBLAS has other bits where V^H is turned. */
    const bool turns = !shape->to_rows && !shape->by_rows &&
                       (!ji_is_complex(type) || !ji_host_has_guest()),
               at_once = shape->to_rows || qr_is_wide(type, shape->length, shape->others, block);
    return (qr_cut_t){
        .block = block,
        .room = qr_cached(type, qr_room_elements(type, shape, block)),
        .turned = turns ? qr_cached(type, shape->length * block) : 0,
        .work =
            at_once ? ji_whole_lines((size_t)(2 * block * shape->others) * ji_sizeof(type)) : 0};
}

qr_t ji_qr_begin(const ji_matmat_t *call, qr_stack_t *stack, const qr_shape_t *shape) {
    const qr_cut_t cut = qr_cut(call->head.type, shape);
    qr_t qr = {.call = ji_factor_call(call),
               .type = call->head.type,
               .by_rows = shape->by_rows,
               .block = cut.block,
               .work = stack->work,
               .strip = QR_STRIP,
               .top = stack->top,
               .t = stack->t};
    qr.call.panels = NULL, qr.call.panel_bytes = 0;

    const size_t apart = cut.room + cut.turned, bytes = apart + cut.work;
    const bool at_once = cut.work > 0 && call->panel_bytes >= bytes + JI_PACKED_SMALL_BYTES;
    if (call->panel_bytes < apart || (shape->to_rows && !at_once))
        return qr;
    char *const turned = (char *)call->panels + cut.room, *const work = turned + cut.turned;
    qr.room = cut.room > 0 && shape->room_length > 0 ? call->panels : NULL;
    qr.strips = cut.room > 0 && qr_has_strips(qr.type, shape) ? call->panels : NULL;
    qr.turned = cut.turned > 0 ? turned : NULL;
    if (shape->to_rows) {
        qr.work = work, qr.strip = shape->others;
        qr.call.panels = work + cut.work, qr.call.panel_bytes = call->panel_bytes - bytes;
    } else if (at_once) {
        qr.wide = work;
        qr.panels = work + cut.work, qr.panel_bytes = call->panel_bytes - bytes;
    }
    return qr;
}

ji_panel_bytes_t ji_qr_bytes(const jhandle_t *handle, const ji_head_t *head,
                             const qr_shape_t *shape) {
    const qr_cut_t cut = qr_cut(head->type, shape);
    const int64_t length = shape->length, others = shape->others, block = cut.block;
    const bool rows = shape->to_rows;
    const size_t apart = cut.room + cut.turned;

    ji_panel_bytes_t bytes = {0};
    if (cut.work > 0) {
        const int64_t m = rows ? others : block, n = rows ? block : others;
        bytes = ji_panels_for_both(ji_panel_bytes(handle, JI_GEMM, head, m, n, length),
                                   ji_panel_bytes(handle, JI_GEMM, head, rows ? others : length,
                                                  rows ? length : others, block));
    }
    if (bytes.packed > 0 && bytes.packed < JI_PACKED_SMALL_BYTES)
        bytes.packed = JI_PACKED_SMALL_BYTES;
    if (bytes.packed > 0)
        bytes.packed += apart + cut.work;
    if (rows)
        return bytes;

    bytes.packed_small = 0;
    if (bytes.packed > 0)
        bytes.packed_small = apart;
    else if (ji_product_work(head->type, length, others, block) >= QR_ROOM_LEAST_WORK)
        bytes.packed = apart;
    return bytes;
}

/* ---- geqrf, gelqf ---- */

/* One row of LQ stays, as it may lie side by side. */
static qr_shape_t qr_shape_of_factor(const ji_matmat_t *call, bool by_rows) {
    const int64_t length = by_rows ? call->n : call->m;
    return (qr_shape_t){.by_rows = by_rows,
                        .to_rows = by_rows,
                        .reflectors = ji_min(call->m, call->n),
                        .length = length,
                        .others = by_rows ? call->m : call->n,
                        .room_length = by_rows && call->m == 1 ? 0 : length};
}

/* Where in the room they begin: as they lie in A, so that lines of both are of the same rows. */
static void *qr_room_of(const qr_t *qr, const void *own) {
    return (char *)qr->room + (uintptr_t)own % QR_LINE;
}

/* Columns of A into the room, or rows, or from there. */
static void qr_move(const qr_t *qr, int64_t rows, int64_t count, const void *from, int64_t ld_from,
                    void *to, int64_t ld_to) {
    ji_room_copy(qr->type, qr->by_rows ? count : rows, qr->by_rows ? rows : count, from, ld_from,
                 to, ld_to);
}

static void qr_factor(const ji_matmat_t *call, bool by_rows) {
    qr_stack_t stack;
    const jdatatype_t type = call->head.type;
    const qr_shape_t shape = qr_shape_of_factor(call, by_rows);
    const qr_t qr = ji_qr_begin(call, &stack, &shape);

    for (int64_t j = 0; j < shape.reflectors; j += qr.block) {
        const int64_t count = ji_min(qr.block, shape.reflectors - j), rows = shape.length - j,
                      others = shape.others - j - count;
        void *const own = ji_at(type, call->a, j, j, call->lda);
        qr_panel_t panel = {own, call->lda, rows, ji_at(type, call->tau, j, 0, 0)};
        if (qr.room != NULL) {
            panel.a = qr_room_of(&qr, own);
            panel.lda = qr_room_ld(type, by_rows, by_rows ? qr.block : rows);
            qr_move(&qr, rows, count, own, call->lda, panel.a, panel.lda);
        }

        ji_qr_clear_squares(&qr);
        qr_factor_panel(&qr, &panel, 0, count);
        if (qr.room != NULL)
            qr_move(&qr, rows, count, panel.a, panel.lda, own, call->lda);
        if (qr.strips != NULL && qr_is_far(type, panel.lda))
            panel.a = own, panel.lda = call->lda;
        const qr_block_t block = qr_block_of(&qr, &panel, 0, count);
        ji_qr_apply_beside(&qr, &block, JBLAS_CONJUGATE_TRANSPOSE,
                           qr_at(&qr, own, call->lda, 0, count), call->lda, others);
    }
}

void ji_host_geqrf(void *matmat) { qr_factor(matmat, false); }
void ji_host_gelqf(void *matmat) { qr_factor(matmat, true); }

ji_panel_bytes_t ji_geqrf_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_factor(args, false);
    return ji_qr_bytes(handle, &args->head, &shape);
}
ji_panel_bytes_t ji_gelqf_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const qr_shape_t shape = qr_shape_of_factor(args, true);
    return ji_qr_bytes(handle, &args->head, &shape);
}
