/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Row-major calls with conjugated vectors where no memory can be had for their copies: element by
 * element, conjugating what is read. jblas's routine has been called with an alpha of 0 before, so
 * arguments were checked and y has its beta; what is added here are the definitions' sums, in
 * double precision. They are as accurate, and have not the bits of jblas's kernels. */

#include <complex.h>

#include "dropin/row_major.h"

typedef double _Complex number_t;

/* A matrix as the block has it, and what is stored of it. */
typedef struct elements {
    const ji_matvec_t *args;
    jdatatype_t type;
    ji_storage_t storage;
    bool triangle;
} elements_t;

/* Clang has no CMPLX with the C library's header. */
static number_t number_of(double real, double imaginary) {
    number_t number;
    __real__ number = real;
    __imag__ number = imaginary;
    return number;
}

static number_t get(jdatatype_t type, const void *array, int64_t index) {
    if (type == JDATATYPE_F32_C) {
        const float *at = (const float *)array + 2 * index;
        return number_of((double)at[0], (double)at[1]);
    }
    const double *at = (const double *)array + 2 * index;
    return number_of(at[0], at[1]);
}

static void put(jdatatype_t type, void *array, int64_t index, number_t value) {
    if (type == JDATATYPE_F32_C) {
        float *at = (float *)array + 2 * index;
        at[0] = (float)creal(value), at[1] = (float)cimag(value);
    } else {
        double *at = (double *)array + 2 * index;
        at[0] = creal(value), at[1] = cimag(value);
    }
}

/* Element i of `count`. */
static int64_t index_of(int64_t i, int64_t count, int64_t increment) {
    return increment < 0 ? (i - count + 1) * increment : i * increment;
}

/* The rows of column j that are stored: from `first` to before `end`. */
static void rows_of(const elements_t *e, int64_t j, int64_t *first, int64_t *end) {
    const ji_matvec_t *args = e->args;
    const bool upper = args->uplo == JBLAS_UPPER;
    *first = e->triangle && !upper ? j : 0;
    *end = !e->triangle ? args->m : upper ? j + 1 : args->n;
    if (e->storage != JI_STORED_BAND) /* a triangle's */
        return;

    if (*first < j - args->k)
        *first = j - args->k;
    if (*end > j + args->k + 1)
        *end = j + args->k + 1;
}

static int64_t element_at(const elements_t *e, int64_t i, int64_t j) {
    const ji_matvec_t *args = e->args;
    const bool upper = args->uplo == JBLAS_UPPER;
    switch (e->storage) {
    case JI_STORED_BAND: return (upper ? args->k : 0) + i - j + j * args->lda;
    case JI_STORED_PACKED: return i + ji_packed_start(upper, args->n, j);
    default: return i + j * args->lda;
    }
}

/* What one element gives to y, and its mirror image. */
static void add_product(const elements_t *e, int64_t i, int64_t j, number_t alpha) {
    const ji_matvec_t *args = e->args;
    const int64_t n = args->n;
    const int64_t yi = index_of(i, n, args->incy), yj = index_of(j, n, args->incy);
    number_t a = get(e->type, args->a, element_at(e, i, j));
    if (i == j)
        a = creal(a);

    number_t x = conj(get(e->type, args->x, index_of(j, n, args->incx)));
    put(e->type, args->y, yi, get(e->type, args->y, yi) + alpha * a * x);
    if (i == j)
        return;
    x = conj(get(e->type, args->x, index_of(i, n, args->incx)));
    put(e->type, args->y, yj, get(e->type, args->y, yj) + alpha * conj(a) * x);
}

/* What an update adds to one element; x and y stand as jblas would have them, not conjugated. */
static void add_update(const elements_t *e, ji_elementwise_t what, int64_t i, int64_t j,
                       number_t alpha) {
    const ji_matvec_t *args = e->args;
    const int64_t at = element_at(e, i, j);
    const int64_t rows = e->triangle ? args->n : args->m;
    const number_t xi = conj(get(e->type, args->x, index_of(i, rows, args->incx)));
    number_t a = get(e->type, args->a, at);

    if (what == JI_ELEMENTWISE_OUTER) {
        a += alpha * xi * get(e->type, args->y, index_of(j, args->n, args->incy));
    } else {
        const number_t xj = conj(get(e->type, args->x, index_of(j, rows, args->incx)));
        if (what == JI_ELEMENTWISE_RANK1) {
            a += creal(alpha) * xi * conj(xj);
        } else {
            const number_t yi = conj(get(e->type, args->y, index_of(i, rows, args->incy)));
            const number_t yj = conj(get(e->type, args->y, index_of(j, rows, args->incy)));
            a += alpha * xi * conj(yj) + conj(alpha) * yi * conj(xj);
        }
        if (i == j)
            a = creal(a);
    }
    put(e->type, (void *)(uintptr_t)args->a, at, a);
}

void ji_dropin_elementwise(jdatatype_t type, const ji_matvec_t *args, const ji_turned_t *turned,
                           const void *scalar, ji_storage_t storage) {
    const ji_elementwise_t what = turned->elementwise;
    const elements_t e = {args, type, storage, what != JI_ELEMENTWISE_OUTER};
    /* her's is real. */
    const number_t alpha = what != JI_ELEMENTWISE_RANK1 ? get(type, scalar, 0)
                           : type == JDATATYPE_F32_C    ? (double)*(const float *)scalar
                                                        : *(const double *)scalar;
    if (alpha == 0) /* nothing is read */
        return;

    for (int64_t j = 0; j < args->n; j++) {
        int64_t first, end;
        rows_of(&e, j, &first, &end);
        for (int64_t i = first; i < end; i++)
            if (what == JI_ELEMENTWISE_HERMITIAN)
                add_product(&e, i, j, alpha);
            else
                add_update(&e, what, i, j, alpha);
    }
}
