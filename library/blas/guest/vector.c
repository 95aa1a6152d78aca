/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 on the host, through the CBLAS. A length that its integers do not hold is done in parts
 * that they do, by the same function. An increment that they do not hold, and 0, which reference
 * BLAS defines and a CBLAS may not, are for the host's own functions.
 *
 * Where a CBLAS and the reference BLAS disagree about NaN, the reference is followed: scal
 * multiplies by zero too, and iamax finds the first NaN. */

#include <math.h>

#include "blas/guest/cblas.h"

/* Whether the CBLAS takes an increment: its integers hold it, and it is not 0. */
static inline bool host_takes(int64_t increment) {
    return (uint64_t)increment + (uint64_t)ji_blas_int_max <= 2 * (uint64_t)ji_blas_int_max &&
           increment != 0;
}

/* One part after the other; with a result of this type, their sum. */
static void host_do_parts(const ji_vector_t *v, ji_host_function_t function, jdatatype_t sum_type) {
    const jdatatype_t type = v->head.type;
    ji_value_t sum = {.z = {0, 0}}, one = sum;

    for (int64_t first = 0, count; first < v->n; first += count) {
        count = ji_min(ji_blas_int_max, v->n - first);

        ji_vector_t part = *v;
        part.n = count;
        part.x = host_part(type, v->x, v->incx, v->n, first, count);
        part.y = host_part(type, v->y, v->incy, v->n, first, count);
        part.result = &one;

        function(&part);

        if (v->result != NULL)
            host_add(sum_type, &sum, &one);
    }
    if (v->result != NULL)
        memcpy(v->result, &sum, ji_sizeof(sum_type));
}

/* Returns from a primitive that is done otherwise: by jblas's `own`, or in parts. A length of 0
 * or less has no parts. Routines of one vector have no other increment, which is 1 then. */
#define DONE_UNLESS_ONE_CALL(v, other, function, own, sum_type)                                    \
    do {                                                                                           \
        if (JI_UNLIKELY(!host_takes((v)->incx) || !host_takes(other))) {                           \
            own;                                                                                   \
            return;                                                                                \
        }                                                                                          \
        if (JI_UNLIKELY((uint64_t)(v)->n - 1 >= (uint64_t)ji_blas_int_max)) {                      \
            host_do_parts(v, function, sum_type);                                                  \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define N ((guest_int_t)v->n)
#define X v->x, (guest_int_t)v->incx
#define WRITABLE_X ji_unconst(v->x), (guest_int_t)v->incx
#define Y v->y, (guest_int_t)v->incy

void ji_guest_axpy(void *block) {
    const ji_vector_t *v = block;
    if (host_is_zero(v->head.type, &v->alpha)) /* x is not read */
        return;

    DONE_UNLESS_ONE_CALL(v, v->incy, ji_guest_axpy, ji_host_axpy(block), v->head.type);

    const void *alpha = ji_scalar_data(&v->alpha);
#define CALL(t, value) ji_guest.t##axpy(N, value(alpha), X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_guest_copy(void *block) {
    const ji_vector_t *v = block;
    DONE_UNLESS_ONE_CALL(v, v->incy, ji_guest_copy, ji_host_copy(block), v->head.type);
#define CALL(t, value) ji_guest.t##copy(N, X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_guest_swap(void *block) {
    const ji_vector_t *v = block;
    DONE_UNLESS_ONE_CALL(v, v->incy, ji_guest_swap, ji_host_swap(block), v->head.type);
#define CALL(t, value) ji_guest.t##swap(N, WRITABLE_X, Y)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

/* A CBLAS may take a zero in alpha as leave to skip the product. */
static bool scal_has_zero(const ji_vector_t *v, bool complex_alpha) {
    const float *s = ji_scalar_data(&v->alpha);
    const double *d = ji_scalar_data(&v->alpha);
    bool single = ji_real_of(v->head.type) == JDATATYPE_F32;
    return (single ? s[0] == 0 : d[0] == 0) || (complex_alpha && (single ? s[1] == 0 : d[1] == 0));
}

void ji_guest_scal(void *block) {
    const ji_vector_t *v = block;
    const bool complex_alpha = ji_is_complex(v->head.type);
    if (v->incx <= 0)
        return;

    if (scal_has_zero(v, complex_alpha)) {
        ji_host_scal(block);
        return;
    }
    DONE_UNLESS_ONE_CALL(v, 1, ji_guest_scal, ji_host_scal(block), v->head.type);

    const void *alpha = ji_scalar_data(&v->alpha);
#define CALL(t, value) ji_guest.t##scal(N, value(alpha), WRITABLE_X)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_guest_rscal(void *block) {
    const ji_vector_t *v = block;
    if (v->incx <= 0)
        return;

    if (scal_has_zero(v, false)) {
        ji_host_rscal(block);
        return;
    }

    DONE_UNLESS_ONE_CALL(v, 1, ji_guest_rscal, ji_host_rscal(block), v->head.type);

    const void *alpha = ji_scalar_data(&v->alpha);
    if (v->head.type == JDATATYPE_F32_C)
        ji_guest.csscal(N, HOST_VALUE_S(alpha), WRITABLE_X);
    else
        ji_guest.zdscal(N, HOST_VALUE_D(alpha), WRITABLE_X);
}

/* OpenBLAS 0.3.21's complex dots, on every processor with AVX, read an element beyond the last
 * where an increment is not 1: a stride further on, or before the first, where no memory may be.
 * They are called for vectors without gaps alone. */
#define COMPLEX_DOT(kernel, own)                                                                   \
    (JI_LIKELY(v->incx == 1 && v->incy == 1) ? ji_guest.kernel(N, X, Y, v->result) : own(block))

void ji_guest_dot(void *block) {
    const ji_vector_t *v = block;
    DONE_UNLESS_ONE_CALL(v, v->incy, ji_guest_dot, ji_host_dot(block), v->head.type);

    switch (v->head.type) {
    case JDATATYPE_F32: *(float *)v->result = ji_guest.sdot(N, X, Y); break;
    case JDATATYPE_F64: *(double *)v->result = ji_guest.ddot(N, X, Y); break;
    case JDATATYPE_F32_C: COMPLEX_DOT(cdotu_sub, ji_host_dot); break;
    default: COMPLEX_DOT(zdotu_sub, ji_host_dot); break;
    }
}

void ji_guest_dotc(void *block) {
    const ji_vector_t *v = block;
    DONE_UNLESS_ONE_CALL(v, v->incy, ji_guest_dotc, ji_host_dotc(block), v->head.type);

    switch (v->head.type) {
    case JDATATYPE_F32_C: COMPLEX_DOT(cdotc_sub, ji_host_dotc); break;
    default: COMPLEX_DOT(zdotc_sub, ji_host_dotc); break;
    }
}

void ji_guest_asum(void *block) {
    const ji_vector_t *v = block;
    if (v->incx <= 0) {
        memset(v->result, 0, ji_sizeof(ji_real_of(v->head.type)));
        return;
    }

    DONE_UNLESS_ONE_CALL(v, 1, ji_guest_asum, ji_host_asum(block), ji_real_of(v->head.type));

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

/* In blocks that stay in cache: asum tells whether there is a NaN in one, and only then is it
 * looked for. In a short vector a loop has found the largest before a CBLAS would have begun. */
enum { IAMAX_BLOCK = 512, IAMAX_SHORT = 16 };

void ji_guest_iamax(void *block) {
    const ji_vector_t *v = block;
    const jdatatype_t type = v->head.type;
    if (v->incx > 0 && (v->n <= IAMAX_SHORT || !host_takes(v->incx))) {
        ji_host_iamax(block);
        return;
    }

    int64_t best = -1;
    double largest = -1;

    if (v->incx > 0) {
        const int64_t most = ji_min(IAMAX_BLOCK, ji_blas_int_max);

        for (int64_t first = 0, count; first < v->n; first += count) {
            count = ji_min(most, v->n - first);

            ji_value_t sum = {.z = {0, 0}};
            ji_vector_t part = *v;
            part.n = count, part.x = host_part(type, v->x, v->incx, v->n, first, count),
            part.result = &sum;
            ji_guest_asum(&part);

            int64_t found = 0;
            if (isnan(ji_real_of(type) == JDATATYPE_F32 ? sum.s : sum.d)) {
                while (!isnan(iamax_size(v, first + found)))
                    ++found;
                best = first + found;
                break;
            }
#define CALL(t, value)                                                                             \
    found = (int64_t)ji_guest.i##t##amax((guest_int_t)count, part.x, (guest_int_t)v->incx)
            HOST_BY_TYPE(type, CALL)
#undef CALL

            double size = iamax_size(v, first + found);
            if (size > largest)
                largest = size, best = first + found;
        }
    }

    *(int64_t *)v->result = best + 1;
}
