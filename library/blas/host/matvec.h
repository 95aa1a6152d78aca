/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_MATVEC_H
#define JALLOC_BLAS_HOST_MATVEC_H

/* Level 2 on the host, over the kernels of kernels/matvec.h.
 *
 *   matvec.c          rectangles, and threads that share one: gemv, ger
 *   matvec_square.c   symv, trmv, trsv, syr, syr2, and skewsymv and skewsyr2: rectangles beside
 *                     diagonal blocks
 *   matvec_columns.c  bands and packed triangles: gbmv, sbmv, spmv, tbmv, tbsv, tpmv, tpsv, spr,
 *                     spr2
 *
 * Nothing is allocated: what a kernel takes is contiguous, and vectors that are not are copied, a
 * panel at a time, to the stack. */

#include "blas/host/host.h"
#include "blas/kernels/matvec.h"
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

/* Of a matrix that is read once, for each thread: with a little less, two were slower than one.
 * Half of it is enough where the matrix is written, too; a triangle needs four times as much, since
 * each block of its columns is divided anew. */
#define MATVEC_THREAD_BYTES ((int64_t)176 * 1024)

/* What the loops below read of a call. */
typedef struct matvec {
    jdatatype_t type;
    const ji_matvec_kernels_t *kernels;
    void *a;
    int64_t lda;
    matvec_vector_t x, y;
    ji_symmetry_t symmetry; /* of a square A */
    bool conjugate;         /* A's, of dots; and what is scaled, of columns and updates */
    int64_t thread_bytes;   /* of A, for each thread */
    ji_team_lease_t *lease; /* NULL: the caller alone */
} matvec_t;

/* BLAS has the lowest address of a vector of n. One that is not read may be NULL. */
static inline matvec_vector_t matvec_vector(jdatatype_t type, const void *x, int64_t n,
                                            int64_t incx) {
    const int64_t first = incx < 0 && x != NULL ? (1 - n) * incx : 0;
    return (matvec_vector_t){ji_at(type, x, first, 0, 0), incx};
}

static inline matvec_t matvec_of(const ji_matvec_t *args, int64_t count_x, int64_t count_y) {
    const jdatatype_t type = args->head.type;
    return (matvec_t){.type = type,
                      .kernels = ji_kernels->matvec[type],
                      .a = ji_unconst(args->a),
                      .lda = args->lda,
                      .x = matvec_vector(type, args->x, count_x, args->incx),
                      .y = matvec_vector(type, args->y, count_y, args->incy),
                      .conjugate = args->trans == JBLAS_CONJUGATE_TRANSPOSE,
                      .thread_bytes = MATVEC_THREAD_BYTES};
}

/* y = beta y, of n elements. Gives whether anything is to be added to it. */
static inline bool matvec_scale(const matvec_t *v, const ji_matvec_t *args, int64_t n) {
    if (!host_is(v->type, &args->beta, 1))
        v->kernels->scale_own(n, ji_scalar_data(&args->beta), v->y.first, v->y.increment);
    return !host_is_zero(v->type, &args->alpha);
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

/* x = conj(x): two of these turn a product with A into one with conj(A). */
void ji_matvec_conjugate(const matvec_t *v, const matvec_vector_t *x, int64_t n);

/* Where the panel or block of this size that holds `first` ends. */
static inline int64_t matvec_end(int64_t first, int64_t size, int64_t last) {
    return ji_min(last, (first / size + 1) * size);
}

/* result = -scalar. */
static inline void matvec_negate(jdatatype_t type, const void *scalar, ji_value_t *result) {
    memcpy(result, scalar, ji_sizeof(type));
    switch (type) {
    case JDATATYPE_F32: result->s = -result->s; break;
    case JDATATYPE_F64: result->d = -result->d; break;
    case JDATATYPE_F32_C: result->c[0] = -result->c[0], result->c[1] = -result->c[1]; break;
    default: result->z[0] = -result->z[0], result->z[1] = -result->z[1];
    }
}

/* result = conj(scalar). */
static inline void matvec_conjugate(jdatatype_t type, const void *scalar, ji_value_t *result) {
    memcpy(result, scalar, ji_sizeof(type));
    if (type == JDATATYPE_F32_C)
        result->c[1] = -result->c[1];
    else if (type == JDATATYPE_F64_C)
        result->z[1] = -result->z[1];
}

/* ---- Rectangles ---- */

typedef struct matvec_part {
    int64_t row, row_end, column, column_end;
} matvec_part_t;

typedef void (*matvec_function_t)(const matvec_t *v, const matvec_part_t *part, const void *alpha);

/* y[rows] += alpha A x[columns], or A conj(x). */
void ji_matvec_add_columns(const matvec_t *v, const matvec_part_t *part, const void *alpha);
/* y[columns] += alpha A^T x[rows], or A^H. */
void ji_matvec_add_dots(const matvec_t *v, const matvec_part_t *part, const void *alpha);

/* ---- Threads ---- */

/* They divide rows or columns of the result, so each element is one thread's, and its sum the same
 * for any number of them. */

/* How many threads so much of a matrix keeps busy. */
static inline int matvec_threads(const matvec_t *v, int64_t rows, int64_t columns) {
    const double bytes = (double)rows * (double)columns * (double)ji_sizeof(v->type);
    const double most = bytes / (double)v->thread_bytes;
    return most < 2 ? 1 : most < INT16_MAX ? (int)most : INT16_MAX;
}

/* Leases as many as so much of a matrix keeps busy; for little of it nobody is asked. */
static inline void matvec_begin(matvec_t *v, ji_team_lease_t *lease, const ji_matvec_t *args,
                                int64_t rows, int64_t columns) {
    const int threads = matvec_threads(v, rows, columns);
    v->lease = threads < 2 ? NULL : lease;
    if (threads >= 2)
        ji_team_begin(lease, &args->head.threads, threads);
}
static inline int matvec_count(const matvec_t *v) { return v->lease == NULL ? 1 : v->lease->count; }
static inline void matvec_end_lease(const matvec_t *v) {
    if (v->lease != NULL)
        ji_team_end(v->lease);
}
/* Runs the function on the part: divided by those who are leased. */
void ji_matvec_divide(const matvec_t *v, const matvec_part_t *part, const void *alpha,
                      matvec_function_t function, bool by_rows);

#endif
