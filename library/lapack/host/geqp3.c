/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* QR with column pivoting on the host: A P = Q R.
 *
 * What jpvt fixes is moved to the front and factored as by geqrf. Then the column of the largest
 * norm, of what is left of it below the rows that are done, comes next, one after the other. In a
 * block (Quintana-Orti, Sun and Bischof 1998) only the row and the column of the pivot are brought
 * up to date, by F = A^H V T, of which a reflector costs a product of the matrix as it was with v:
 *
 *     A(j+1 ..., j+1 ...) := A - V F^H     at the end of a block, one product
 *
 * Norms are not computed anew but follow from R's rows: `left` is what the square of the norm is,
 * as a part of that which was computed last, and each row takes from it the square of its element,
 * as a part likewise. Where the root of the type's precision is left, it may be rounding alone
 * (Drmac and Bujanovic 2008): the block ends, and the norm is computed. The last columns, and
 * small matrices, are brought up to date after each reflector, a few columns at a time, which stay
 * in the cache meanwhile.
 *
 * Norms, F and a row have no place in the arguments: all rungs have them. */

#include <math.h>

#include "lapack/host/reflector.h"

#define PIVOTED_BLOCK 32      /* reflectors */
#define PIVOTED_FEW 64        /* that are done one by one */
#define PIVOTED_CHUNK 8       /* columns */
#define PIVOTED_CHUNK_MOST 64 /* columns, of so many bytes */
#define PIVOTED_CHUNK_BYTES 16384

/* What a call has beside its arguments. */
typedef struct pivoted {
    ji_matmat_t call;
    jdatatype_t type;
    double *norm;  /* of what is left of a column */
    double *known; /* the norm that was computed last */
    double *left;  /* (norm / known)^2 */
    void *row;     /* of R */
    void *f;       /* its row 0 is of the block's first column */
} pivoted_t;

static void *pivoted_at(const pivoted_t *p, int64_t i, int64_t j) {
    return ji_at(p->type, p->call.a, i, j, p->call.lda);
}
static void *pivoted_f(const pivoted_t *p, int64_t i, int64_t j) {
    return ji_at(p->type, p->f, i, j, p->call.n);
}
static void *pivoted_tau(const pivoted_t *p, int64_t j) {
    return ji_at(p->type, p->call.tau, j, 0, 0);
}

/* ---- Columns ---- */

static void pivoted_swap(double *x, int64_t i, int64_t j) {
    const double there = x[j];
    x[j] = x[i], x[i] = there;
}

/* Columns i and j change places. */
static void pivoted_exchange(const pivoted_t *p, int64_t i, int64_t j) {
    int64_t *const jpvt = p->call.jpvt, there = jpvt[j];
    jpvt[j] = jpvt[i], jpvt[i] = there;
    if (p->call.m > 0)
        ji_kernels->level1[p->type]->swap(p->call.m, pivoted_at(p, 0, i), 1, pivoted_at(p, 0, j),
                                          1);
}

/* The columns that jpvt fixes come to the front; how many there are. */
static int64_t pivoted_fix(const pivoted_t *p) {
    int64_t *const jpvt = p->call.jpvt, fixed = 0;
    for (int64_t j = 0; j < p->call.n; j++) {
        const bool is_fixed = jpvt[j] != 0;
        jpvt[j] = j + 1;
        if (is_fixed && j != fixed)
            pivoted_exchange(p, fixed, j);
        fixed += is_fixed;
    }
    return fixed;
}

/* They are factored, and the others brought up to date. */
static void pivoted_factor_fixed(const pivoted_t *p, int64_t fixed) {
    ji_matmat_t factor = p->call, product = p->call;
    factor.n = fixed;
    ji_host_geqrf(&factor);

    product.side = JBLAS_LEFT, product.trans = JBLAS_CONJUGATE_TRANSPOSE;
    product.n = p->call.n - fixed, product.k = ji_min(p->call.m, fixed);
    product.c = pivoted_at(p, 0, fixed), product.ldc = p->call.lda;
    if (product.n > 0)
        ji_host_ormqr(&product);
}

/* ---- Norms ---- */

/* Of column j, from row `row` on. */
static void pivoted_compute(const pivoted_t *p, int64_t row, int64_t j) {
    const double norm = ji_reflector_norm(&p->call.head, p->call.m - row, pivoted_at(p, row, j), 1);
    p->norm[j] = p->known[j] = norm;
    p->left[j] = 1;
}

/* The least that may be left. */
static double pivoted_least(jdatatype_t type) {
    return ji_real_of(type) == JDATATYPE_F32 ? 0x1p-12 : 0x1p-26;
}

/* What n elements of a row, of so many parts, take; how many norms are lost. */
#define PIVOTED_TAKE(name, real)                                                                   \
    static inline __attribute__((always_inline))                                                   \
    int64_t name##_of(int64_t n, int parts, const real *row, double least, const double *known,    \
                      double *left, double *norm) {                                                \
        int64_t lost = 0;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double by = known[i] == 0 ? 1 : known[i];                                        \
            const double re = (double)row[i * parts] / by,                                         \
                         im = parts == 2 ? (double)row[i * parts + 1] / by : 0;                    \
            const double rest = left[i] - (re * re + im * im);                                     \
            left[i] = rest;                                                                        \
            norm[i] = known[i] * sqrt(rest < 0 ? 0 : rest);                                        \
            lost += rest <= least;                                                                 \
        }                                                                                          \
        return lost;                                                                               \
    }                                                                                              \
    static int64_t name(int64_t n, int parts, const real *row, double least, const double *known,  \
                        double *left, double *norm) {                                              \
        return parts == 1 ? name##_of(n, 1, row, least, known, left, norm)                         \
                          : name##_of(n, 2, row, least, known, left, norm);                        \
    }
PIVOTED_TAKE(pivoted_take_4, float)
PIVOTED_TAKE(pivoted_take_8, double)

/* What R's row, p->row, takes from the columns from j on; whether norms are lost. */
static bool pivoted_take(const pivoted_t *p, int64_t j) {
    const int64_t n = p->call.n - j;
    const int parts = ji_is_complex(p->type) ? 2 : 1;
    const double least = pivoted_least(p->type);
    const double *const known = p->known + j;
    double *const left = p->left + j, *const norm = p->norm + j;
    return ji_real_of(p->type) == JDATATYPE_F32
               ? pivoted_take_4(n, parts, p->row, least, known, left, norm) > 0
               : pivoted_take_8(n, parts, p->row, least, known, left, norm) > 0;
}

/* Those that are lost, of the columns from `first` on, which are up to date. */
static void pivoted_find_again(const pivoted_t *p, int64_t first) {
    const double least = pivoted_least(p->type);
    for (int64_t j = first; j < p->call.n; j++)
        if (p->left[j] <= least)
            pivoted_compute(p, first, j);
}

/* The column of the largest norm comes to j; gives where it was. */
static int64_t pivoted_choose(const pivoted_t *p, int64_t j) {
    ji_found_t found = JI_NOTHING_LARGE;
    ji_kernels->level1[JDATATYPE_F64]->iamax(p->call.n - j, p->norm + j, 1, 0, &found);
    const int64_t place = j + found.place;
    if (place != j) {
        pivoted_exchange(p, j, place);
        pivoted_swap(p->norm, j, place);
        pivoted_swap(p->known, j, place);
        pivoted_swap(p->left, j, place);
    }
    return place;
}

/* ---- Blocks ---- */

/* F's column of v, the block's k-th, which is column j: tau A^H v of what is up to date. */
static void pivoted_extend_f(const pivoted_t *p, int64_t first, int64_t k) {
    const jdatatype_t type = p->type;
    const ji_matvec_kernels_t *const kernels = ji_kernels->matvec[type];
    const int64_t j = first + k, rows = p->call.m - j, others = p->call.n - j - 1;
    const void *const v = pivoted_at(p, j, j);
    const ji_number_t tau = ji_number_load(type, pivoted_tau(p, j));
    ji_matvec_t product = {.head = p->call.head,
                           .trans = JBLAS_CONJUGATE_TRANSPOSE,
                           .m = rows,
                           .n = others,
                           .a = pivoted_at(p, j, j + 1),
                           .lda = p->call.lda,
                           .x = v,
                           .incx = 1,
                           .beta = ji_constant(type, 0),
                           .y = pivoted_f(p, k + 1, k),
                           .incy = 1};
    ji_number_store(type, &product.alpha.value, tau.re, tau.im);
    ji_host_primitives[JI_GEMV](&product);

    if (k > 0) {
        _Alignas(64) char sums[PIVOTED_BLOCK * sizeof(jcomplex_f64_t)];
        ji_value_t factor;
        ji_number_store(type, &factor, -tau.re, -tau.im);
        kernels->dots(rows, k, true, pivoted_at(p, j, first), p->call.lda, v, sums);
        kernels->scale(k, &factor, sums, 1, false, sums);
        kernels->columns(others, k, pivoted_f(p, k + 1, 0), p->call.n, sums, product.y);
    }
}

/* R's row j, the conjugate of which stays in p->row: A(j, ...) -= V(j, ...) F^H. */
static void pivoted_update_row(const pivoted_t *p, int64_t first, int64_t k) {
    const jdatatype_t type = p->type;
    const ji_matvec_kernels_t *const kernels = ji_kernels->matvec[type];
    const int64_t j = first + k, lda = p->call.lda, others = p->call.n - j - 1;
    const ji_scalar_t one = ji_constant(type, 1), minus_one = ji_constant(type, -1);
    _Alignas(64) char own[PIVOTED_BLOCK * sizeof(jcomplex_f64_t)];

    kernels->scale(k + 1, &minus_one.value, pivoted_at(p, j, first), lda, true, own);
    kernels->scale(others, &one.value, pivoted_at(p, j, j + 1), lda, true, p->row);
    kernels->columns(others, k + 1, pivoted_f(p, k + 1, 0), p->call.n, own, p->row);
    if (ji_is_complex(type))
        kernels->scale(others, &one.value, p->row, 1, true, p->row);
    kernels->scatter(others, p->row, pivoted_at(p, j, j + 1), lda);
}

/* The reflector of column j; v's one stands in its place until pivoted_end(). */
static ji_number_t pivoted_begin(const pivoted_t *p, int64_t j) {
    void *const own = pivoted_at(p, j, j);
    ji_reflect(&p->call.head, false, p->call.m - j - 1, own, 1, pivoted_tau(p, j));
    const ji_number_t diagonal = ji_number_load(p->type, own);
    ji_number_store(p->type, own, 1, 0);
    return diagonal;
}
static void pivoted_end(const pivoted_t *p, int64_t j, ji_number_t diagonal) {
    ji_number_store(p->type, pivoted_at(p, j, j), diagonal.re, diagonal.im);
}

/* `most` columns from `first` on, or as many as norms are known for; how many. */
static int64_t pivoted_block(const pivoted_t *p, int64_t first, int64_t most) {
    const jdatatype_t type = p->type;
    const ji_matvec_kernels_t *const kernels = ji_kernels->matvec[type];
    const int64_t m = p->call.m, n = p->call.n, lda = p->call.lda;
    const ji_scalar_t minus_one = ji_constant(type, -1);
    bool lost = false;
    int64_t k = 0;

    for (; k < most && !lost; k++) {
        const int64_t j = first + k, place = pivoted_choose(p, j);
        if (place != j)
            ji_kernels->level1[type]->swap(k, pivoted_f(p, k, 0), n, pivoted_f(p, place - first, 0),
                                           n);

        _Alignas(64) char own[PIVOTED_BLOCK * sizeof(jcomplex_f64_t)];
        kernels->scale(k, &minus_one.value, pivoted_f(p, k, 0), n, true, own);
        kernels->columns(m - j, k, pivoted_at(p, j, first), lda, own, pivoted_at(p, j, j));

        const ji_number_t diagonal = pivoted_begin(p, j);
        if (j + 1 < n) {
            pivoted_extend_f(p, first, k);
            pivoted_update_row(p, first, k);
            lost = pivoted_take(p, j + 1);
        }
        pivoted_end(p, j, diagonal);
    }

    const int64_t end = first + k;
    if (end < m && end < n)
        ji_factor_multiply(&p->call, JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE, m - end,
                           n - end, k, -1, pivoted_at(p, end, first), lda, pivoted_f(p, k, 0), n, 1,
                           pivoted_at(p, end, end), lda);
    if (lost)
        pivoted_find_again(p, end);
    return k;
}

/* ---- One by one ---- */

/* H^H applied to the columns behind j, a few at a time. */
static void pivoted_apply(const pivoted_t *p, int64_t j) {
    const jdatatype_t type = p->type;
    const ji_matvec_kernels_t *const kernels = ji_kernels->matvec[type];
    const int64_t rows = p->call.m - j, n = p->call.n, lda = p->call.lda;
    const int64_t fit = PIVOTED_CHUNK_BYTES / (int64_t)ji_sizeof(type) / rows,
                  chunk = ji_max(PIVOTED_CHUNK, ji_min(fit, PIVOTED_CHUNK_MOST));
    const void *const v = pivoted_at(p, j, j);
    const ji_number_t tau = ji_number_load(type, pivoted_tau(p, j));
    _Alignas(64) char sums[PIVOTED_CHUNK_MOST * sizeof(jcomplex_f64_t)];
    ji_value_t factor;
    ji_number_store(type, &factor, -tau.re, tau.im);

    for (int64_t c = j + 1; c < n; c += chunk) {
        const int64_t count = ji_min(chunk, n - c);
        void *const columns = pivoted_at(p, j, c);
        kernels->dots(rows, count, true, columns, lda, v, sums);
        kernels->scale(count, &factor, sums, 1, true, sums);
        kernels->update(rows, count, v, sums, columns, lda);
    }
}

static void pivoted_few(const pivoted_t *p, int64_t first, int64_t end) {
    const int64_t n = p->call.n;
    for (int64_t j = first; j < end; j++) {
        (void)pivoted_choose(p, j);
        const ji_number_t diagonal = pivoted_begin(p, j);
        pivoted_apply(p, j);
        pivoted_end(p, j, diagonal);
        if (j + 1 == end)
            break;

        ji_kernels->matvec[p->type]->gather(n - j - 1, pivoted_at(p, j, j + 1), p->call.lda,
                                            p->row);
        if (pivoted_take(p, j + 1))
            pivoted_find_again(p, j + 1);
    }
}

/* ---- geqp3 ---- */

/* Of norms, each a double, and of F and the row. */
static int64_t pivoted_columns_of_f(const ji_matmat_t *args) {
    return ji_min(args->m, args->n) > PIVOTED_FEW ? PIVOTED_BLOCK : 0;
}
static size_t pivoted_own_bytes(const ji_matmat_t *args) {
    const size_t n = (size_t)args->n, element = ji_sizeof(args->head.type);
    return 3 * ji_whole_lines(n * sizeof(double)) + ji_whole_lines(n * element) +
           ji_whole_lines(n * (size_t)pivoted_columns_of_f(args) * element);
}

static pivoted_t pivoted_of(const ji_matmat_t *call) {
    pivoted_t p = {.call = ji_factor_call(call), .type = call->head.type};
    const size_t own = pivoted_own_bytes(call), n = (size_t)call->n;
    p.call.panel_bytes -= own;
    char *at = (char *)call->panels + p.call.panel_bytes;
    p.call.panels = p.call.panel_bytes > 0 ? p.call.panels : NULL;

    double **const norms[] = {&p.norm, &p.known, &p.left};
    for (int i = 0; i < 3; i++, at += ji_whole_lines(n * sizeof(double)))
        *norms[i] = (double *)(void *)at;
    p.row = at;
    p.f = at + ji_whole_lines(n * ji_sizeof(p.type));
    return p;
}

void ji_host_geqp3(void *matmat) {
    const pivoted_t p = pivoted_of(matmat);
    const int64_t least = ji_min(p.call.m, p.call.n), fixed = pivoted_fix(&p);
    if (fixed > 0)
        pivoted_factor_fixed(&p, fixed);
    if (fixed >= least)
        return;

    for (int64_t j = fixed; j < p.call.n; j++)
        pivoted_compute(&p, fixed, j);
    int64_t done = fixed;
    while (least - done > PIVOTED_FEW)
        done += pivoted_block(&p, done, ji_min(PIVOTED_BLOCK, least - done - PIVOTED_FEW));
    pivoted_few(&p, done, least);
}

void ji_host_geqp3_order(void *matmat) {
    const pivoted_t p = {.call = *(const ji_matmat_t *)matmat};
    (void)pivoted_fix(&p);
}

ji_panel_bytes_t ji_geqp3_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const int64_t least = ji_min(args->m, args->n);
    const size_t own = pivoted_own_bytes(args);
    ji_matmat_t product = *args;
    product.side = JBLAS_LEFT, product.k = least;

    ji_panel_bytes_t bytes = ji_panels_for_both(
        ji_panel_bytes(handle, JI_GEMM, &args->head, args->m, args->n,
                       ji_min(PIVOTED_BLOCK, least)),
        ji_panels_for_both(ji_geqrf_bytes(handle, args), ji_ormqr_bytes(handle, &product)));
    bytes.packed += bytes.packed > 0 ? own : 0;
    bytes.packed_small += bytes.packed_small > 0 ? own : 0;
    bytes.in_place += own;
    return bytes;
}
