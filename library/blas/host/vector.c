/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 on the host, through the CBLAS. What its integers do not hold is done in parts that they do, by the same
 * function. A vector whose increment they do not hold goes element by element: its elements are gigabytes apart, so the
 * calls cost nothing beside the memory.
 *
 * Where a CBLAS and the reference BLAS disagree about NaN, the reference is followed: scal multiplies by zero too, and
 * iamax finds the first NaN. */

#include <math.h>

#include "blas/host/cblas.h"
#include "blas/host/guest.h"
#include "blas/host/plain.h"

/* Whether the CBLAS's integers hold a number, or a length. */
static inline bool host_holds(int64_t number) {
    return (uint64_t)number + (uint64_t)ji_blas_int_max <= 2 * (uint64_t)ji_blas_int_max;
}
/* Whether one call of the CBLAS does it all. A negative length is none: it has no parts. */
static inline bool host_is_whole(const ji_vector_t *v) {
    return (uint64_t)v->n <= (uint64_t)ji_blas_int_max && host_holds(v->incx) && host_holds(v->incy);
}

/* One part after the other; with a result of this type, their sum. */
static void host_do_parts(const ji_vector_t *v, ji_host_function_t function, jdatatype_t sum_type) {
    const jdatatype_t type = v->head.type;
    const bool fits = host_holds(v->incx) && host_holds(v->incy);
    const int64_t most = fits ? ji_blas_int_max : 1;
    ji_value_t sum = {.z = {0, 0}}, one;
    for (int64_t first = 0, count; first < v->n; first += count) {
        count = host_min(most, v->n - first);
        ji_vector_t part = *v;
        part.n = count;
        part.x = host_part(type, v->x, v->incx, v->n, first, count);
        part.y = host_part(type, v->y, v->incy, v->n, first, count);
        part.incx = fits ? v->incx : 1, part.incy = fits ? v->incy : 1;
        part.result = &one;
        function(&part);
        if (v->result != NULL)
            host_add(sum_type, &sum, &one);
    }
    if (v->result != NULL)
        memcpy(v->result, &sum, ji_sizeof(sum_type));
}
#define DO_PARTS_UNLESS_WHOLE(v, function, sum_type)                                                                   \
    do {                                                                                                               \
        if (JI_UNLIKELY(!host_is_whole(v))) {                                                                          \
            host_do_parts(v, function, sum_type);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)
#define N ((host_int_t)v->n)
#define X v->x, (host_int_t)v->incx
#define WRITABLE_X ji_unconst(v->x), (host_int_t)v->incx
#define Y v->y, (host_int_t)v->incy

void ji_host_axpy(void *block) {
    const ji_vector_t *v = block;
    DO_PARTS_UNLESS_WHOLE(v, ji_host_axpy, v->head.type);
    const void *alpha = ji_scalar_data(&v->alpha);
#define CALL(t, value) cblas_##t##axpy(N, value(alpha), X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_host_copy(void *block) {
    const ji_vector_t *v = block;
    DO_PARTS_UNLESS_WHOLE(v, ji_host_copy, v->head.type);
#define CALL(t, value) cblas_##t##copy(N, X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_host_swap(void *block) {
    const ji_vector_t *v = block;
    DO_PARTS_UNLESS_WHOLE(v, ji_host_swap, v->head.type);
#define CALL(t, value) cblas_##t##swap(N, WRITABLE_X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

/* x = alpha x, each product formed as it stands. alpha is complex (parts 2) or real. */
static void scal_by_hand(const ji_vector_t *v, bool complex_alpha) {
    jdatatype_t type = v->head.type;
    bool single = ji_real_of(type) == JDATATYPE_F32;
    const void *alpha = ji_scalar_data(&v->alpha);
    double re = single ? ((const float *)alpha)[0] : ((const double *)alpha)[0];
    double im = !complex_alpha ? 0 : single ? ((const float *)alpha)[1] : ((const double *)alpha)[1];
    for (int64_t i = 0; i < v->n; i++) {
        float *s = ji_at(type, v->x, 0, i, v->incx);
        double *d = ji_at(type, v->x, 0, i, v->incx);
        double x = single ? s[0] : d[0], y = !ji_is_complex(type) ? 0 : single ? s[1] : d[1];
        double product = complex_alpha ? re * x - im * y : re * x;
        double other = complex_alpha ? re * y + im * x : re * y;
        if (single)
            s[0] = (float)product;
        else
            d[0] = product;
        if (ji_is_complex(type) && single)
            s[1] = (float)other;
        else if (ji_is_complex(type))
            d[1] = other;
    }
}

/* A CBLAS may take a zero in alpha as leave to skip the product. */
static bool scal_has_zero(const ji_vector_t *v, bool complex_alpha) {
    const float *s = ji_scalar_data(&v->alpha);
    const double *d = ji_scalar_data(&v->alpha);
    bool single = ji_real_of(v->head.type) == JDATATYPE_F32;
    return (single ? s[0] == 0 : d[0] == 0) || (complex_alpha && (single ? s[1] == 0 : d[1] == 0));
}

void ji_host_scal(void *block) {
    const ji_vector_t *v = block;
    if (v->incx < 0)
        return;
    if (scal_has_zero(v, ji_is_complex(v->head.type))) {
        scal_by_hand(v, ji_is_complex(v->head.type));
        return;
    }
    DO_PARTS_UNLESS_WHOLE(v, ji_host_scal, v->head.type);
    const void *alpha = ji_scalar_data(&v->alpha);
#define CALL(t, value) cblas_##t##scal(N, value(alpha), WRITABLE_X)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_host_rscal(void *block) {
    const ji_vector_t *v = block;
    if (v->incx < 0)
        return;
    if (scal_has_zero(v, false)) {
        scal_by_hand(v, false);
        return;
    }
    DO_PARTS_UNLESS_WHOLE(v, ji_host_rscal, v->head.type);
    const void *alpha = ji_scalar_data(&v->alpha);
    if (v->head.type == JDATATYPE_F32_C)
        cblas_csscal(N, HOST_VALUE_S(alpha), WRITABLE_X);
    else
        cblas_zdscal(N, HOST_VALUE_D(alpha), WRITABLE_X);
}

void ji_host_dot(void *block) {
    const ji_vector_t *v = block;
    DO_PARTS_UNLESS_WHOLE(v, ji_host_dot, v->head.type);
    switch (v->head.type) {
    case JDATATYPE_F32: *(float *)v->result = ji_guest.sdot(N, X, Y); break;
    case JDATATYPE_F64: *(double *)v->result = ji_guest.ddot(N, X, Y); break;
    case JDATATYPE_F32_C: ji_guest.cdotu_sub(N, X, Y, v->result); break;
    default: ji_guest.zdotu_sub(N, X, Y, v->result); break;
    }
}

void ji_host_dotc(void *block) {
    const ji_vector_t *v = block;
    DO_PARTS_UNLESS_WHOLE(v, ji_host_dotc, v->head.type);
    switch (v->head.type) {
    case JDATATYPE_F32_C: ji_guest.cdotc_sub(N, X, Y, v->result); break;
    default: ji_guest.zdotc_sub(N, X, Y, v->result); break;
    }
}

void ji_host_asum(void *block) {
    const ji_vector_t *v = block;
    if (v->incx <= 0) {
        memset(v->result, 0, ji_sizeof(ji_real_of(v->head.type)));
        return;
    }
    DO_PARTS_UNLESS_WHOLE(v, ji_host_asum, ji_real_of(v->head.type));
    switch (v->head.type) {
    case JDATATYPE_F32: *(float *)v->result = ji_guest.sasum(N, X); break;
    case JDATATYPE_F64: *(double *)v->result = ji_guest.dasum(N, X); break;
    case JDATATYPE_F32_C: *(float *)v->result = ji_guest.scasum(N, X); break;
    default: *(double *)v->result = ji_guest.dzasum(N, X); break;
    }
}

/* |x_i| as BLAS means it. */
static double iamax_size(const ji_vector_t *v, int64_t i) {
    const void *x = ji_at(v->head.type, v->x, 0, i, v->incx);
    switch (v->head.type) {
    case JDATATYPE_F32: return fabsf(*(const float *)x);
    case JDATATYPE_F64: return fabs(*(const double *)x);
    case JDATATYPE_F32_C: /* in single precision, as the CBLAS compares */
        return fabsf(((const float *)x)[0]) + fabsf(((const float *)x)[1]);
    default: return fabs(((const double *)x)[0]) + fabs(((const double *)x)[1]);
    }
}

/* In blocks that stay in cache: asum tells whether there is a NaN in one, and only then is it looked for. In a short
 * vector a loop has found the largest before a CBLAS would have begun. */
enum { IAMAX_BLOCK = 512, IAMAX_SHORT = 16 };

void ji_host_iamax(void *block) {
    const ji_vector_t *v = block;
    const jdatatype_t type = v->head.type;
    if (v->n <= IAMAX_SHORT && v->incx > 0) {
        ji_plain_iamax(v);
        return;
    }
    int64_t best = -1;
    double largest = -1;
    if (v->incx > 0) {
        bool fits = v->incx <= ji_blas_int_max;
        const host_int_t ix = fits ? (host_int_t)v->incx : 1;
        int64_t most = fits ? host_min(IAMAX_BLOCK, ji_blas_int_max) : 1;
        for (int64_t first = 0, count; first < v->n; first += count) {
            count = host_min(most, v->n - first);
            ji_value_t sum = {.z = {0, 0}};
            ji_vector_t part = *v;
            part.n = count, part.x = host_part(type, v->x, v->incx, v->n, first, count), part.result = &sum;
            ji_host_asum(&part);
            int64_t found = 0;
            if (isnan(ji_real_of(type) == JDATATYPE_F32 ? sum.s : sum.d)) {
                while (!isnan(iamax_size(v, first + found)))
                    ++found;
                best = first + found;
                break;
            }
#define CALL(t, value) found = (int64_t)ji_guest.i##t##amax((host_int_t)count, part.x, ix)
            HOST_BY_TYPE(type, CALL)
#undef CALL
            double size = iamax_size(v, first + found);
            if (size > largest)
                largest = size, best = first + found;
        }
    }
    *(int64_t *)v->result = best + 1;
}
