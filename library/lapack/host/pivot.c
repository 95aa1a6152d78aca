/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What factorizations with pivoting have in common: interchanges of rows, and divisions by a
 * pivot. */

#include <math.h>

#include "lapack/lapack.h"

/* ---- Exchanges of rows ---- */

/* Any element of 16 bytes, which is moved as one vector. */
typedef struct wide {
    double parts[2];
} wide_t;

/* Rows ipiv[i] - 1 and i of `columns` columns, of all i from first to end; of all from end back to
 * first where it is `back`. Four columns at a time, for which a pivot is read once; all are
 * read before any is written, since the processor takes what is pages apart for the same place. */
#define EXCHANGE_COLUMNS 4
#define EXCHANGE(name, element)                                                                    \
    static inline __attribute__((always_inline)) void name##_some(                                 \
        element *a, int64_t lda, int columns, const int64_t *ipiv, int64_t first, int64_t count,   \
        int64_t step) {                                                                            \
        for (int64_t i = first; count > 0; count--, i += step) {                                   \
            const int64_t other = ipiv[i] - 1;                                                     \
            if (other == i)                                                                        \
                continue;                                                                          \
            element here[EXCHANGE_COLUMNS], there[EXCHANGE_COLUMNS];                               \
            for (int j = 0; j < columns; j++)                                                      \
                here[j] = a[j * lda + i], there[j] = a[j * lda + other];                           \
            for (int j = 0; j < columns; j++)                                                      \
                a[j * lda + i] = there[j], a[j * lda + other] = here[j];                           \
        }                                                                                          \
    }                                                                                              \
    static void name(element *a, int64_t lda, int64_t columns, const int64_t *ipiv, int64_t first, \
                     int64_t end, bool back) {                                                     \
        const int64_t from = back ? end - 1 : first, step = back ? -1 : 1;                         \
        int64_t j = 0;                                                                             \
        for (; j + EXCHANGE_COLUMNS <= columns; j += EXCHANGE_COLUMNS)                             \
            name##_some(a + j * lda, lda, EXCHANGE_COLUMNS, ipiv, from, end - first, step);        \
        for (; j < columns; j++)                                                                   \
            name##_some(a + j * lda, lda, 1, ipiv, from, end - first, step);                       \
    }
EXCHANGE(exchange_4, float)
EXCHANGE(exchange_8, double)
EXCHANGE(exchange_16, wide_t)

void ji_exchange(jdatatype_t type, void *a, int64_t lda, int64_t count, const int64_t *ipiv,
                 int64_t first, int64_t end, bool back) {
    switch (ji_sizeof(type)) {
    case 4: exchange_4(a, lda, count, ipiv, first, end, back); break;
    case 8: exchange_8(a, lda, count, ipiv, first, end, back); break;
    default: exchange_16(a, lda, count, ipiv, first, end, back);
    }
}

/* ---- Divisions ---- */

/* The reciprocal of x + i y by Smith's algorithm, as triangle kernels have it. */
#define INVERT_COMPLEX(name, real)                                                                 \
    static void name(const real *pivot, real *inverse) {                                           \
        const real x = pivot[0], y = pivot[1];                                                     \
        const bool flat = fabs((double)x) >= fabs((double)y);                                      \
        const real ratio = flat ? y / x : x / y,                                                   \
                   scale = 1 / (flat ? x + y * ratio : y + x * ratio);                             \
        inverse[0] = flat ? scale : ratio * scale;                                                 \
        inverse[1] = flat ? -ratio * scale : -scale;                                               \
    }
INVERT_COMPLEX(invert_c, float)
INVERT_COMPLEX(invert_z, double)

bool ji_invert(jdatatype_t type, const void *pivot, ji_value_t *inverse) {
    switch (type) {
    case JDATATYPE_F32: inverse->s = 1 / *(const float *)pivot; return isnormal(inverse->s);
    case JDATATYPE_F64: inverse->d = 1 / *(const double *)pivot; return isnormal(inverse->d);
    case JDATATYPE_F32_C:
        invert_c(pivot, inverse->c);
        return isnormal(fmaxf(fabsf(inverse->c[0]), fabsf(inverse->c[1])));
    default:
        invert_z(pivot, inverse->z);
        return isnormal(fmax(fabs(inverse->z[0]), fabs(inverse->z[1])));
    }
}

void ji_divide_each(jdatatype_t type, int64_t n, const void *pivot, void *x, int64_t incx) {
    for (int64_t i = 0; i < n; i++)
        switch (type) {
        case JDATATYPE_F32: ((float *)x)[i * incx] /= *(const float *)pivot; break;
        case JDATATYPE_F64: ((double *)x)[i * incx] /= *(const double *)pivot; break;
        case JDATATYPE_F32_C:
            ((jcomplex_f32_t *)x)[i * incx] /= *(const jcomplex_f32_t *)pivot;
            break;
        default: ((jcomplex_f64_t *)x)[i * incx] /= *(const jcomplex_f64_t *)pivot;
        }
}
