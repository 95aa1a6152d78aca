/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 on the host, through the CBLAS, in parts that its integers hold. A vector whose increment they do not hold
 * goes element by element: its elements are gigabytes apart, so the calls cost nothing beside the memory.
 *
 * Where a CBLAS and the reference BLAS disagree about NaN, the reference is followed: scal multiplies by zero too, and
 * iamax finds the first NaN. */

#include <math.h>

#include "blas/host/cblas.h"
#include "blas/host/guest.h"

/* One part after the other: `count` elements from `first` on; the increments of CBLAS calls are ix and iy. */
#define FOR_EACH_PART(v)                                                                                               \
    const bool fits_ = ji_abs((v)->incx) <= ji_blas_int_max && ji_abs((v)->incy) <= ji_blas_int_max;                   \
    const host_int_t ix = fits_ ? (host_int_t)(v)->incx : 1, iy = fits_ ? (host_int_t)(v)->incy : 1;                   \
    const int64_t part_ = fits_ ? ji_blas_int_max : 1;                                                                 \
    for (int64_t first = 0, count; first < (v)->n && (count = host_min(part_, (v)->n - first)) > 0; first += count)
#define PART_OF_X host_part(type, v->x, v->incx, v->n, first, count)
#define PART_OF_Y host_part(type, v->y, v->incy, v->n, first, count)

void ji_host_axpy(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
    const void *alpha = ji_scalar_data(&v->alpha);
    FOR_EACH_PART(v) {
#define CALL(t, value) cblas_##t##axpy((host_int_t)count, value(alpha), PART_OF_X, ix, PART_OF_Y, iy)
        HOST_BY_TYPE(type, CALL)
#undef CALL
    }
}

void ji_host_copy(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
    FOR_EACH_PART(v) {
#define CALL(t, value) cblas_##t##copy((host_int_t)count, PART_OF_X, ix, PART_OF_Y, iy)
        HOST_BY_TYPE(type, CALL)
#undef CALL
    }
}

void ji_host_swap(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
    FOR_EACH_PART(v) {
#define CALL(t, value) cblas_##t##swap((host_int_t)count, PART_OF_X, ix, PART_OF_Y, iy)
        HOST_BY_TYPE(type, CALL)
#undef CALL
    }
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
    jdatatype_t type = v->head.type;
    const void *alpha = ji_scalar_data(&v->alpha);
    if (v->incx < 0)
        return;
    if (scal_has_zero(v, ji_is_complex(type))) {
        scal_by_hand(v, ji_is_complex(type));
        return;
    }
    FOR_EACH_PART(v) {
        (void)iy;
#define CALL(t, value) cblas_##t##scal((host_int_t)count, value(alpha), PART_OF_X, ix)
        HOST_BY_TYPE(type, CALL)
#undef CALL
    }
}

void ji_host_rscal(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
    const void *alpha = ji_scalar_data(&v->alpha);
    if (v->incx < 0)
        return;
    if (scal_has_zero(v, false)) {
        scal_by_hand(v, false);
        return;
    }
    FOR_EACH_PART(v) {
        (void)iy;
        if (type == JDATATYPE_F32_C)
            cblas_csscal((host_int_t)count, HOST_VALUE_S(alpha), PART_OF_X, ix);
        else
            cblas_zdscal((host_int_t)count, HOST_VALUE_D(alpha), PART_OF_X, ix);
    }
}

static void host_dot(const ji_vector_t *v, bool conjugate) {
    jdatatype_t type = v->head.type;
    ji_value_t sum = {.z = {0, 0}};
    FOR_EACH_PART(v) {
        const void *x = PART_OF_X, *y = PART_OF_Y;
        host_int_t n = (host_int_t)count;
        ji_value_t part;
        switch (type) {
        case JDATATYPE_F32: sum.s += ji_guest.sdot(n, x, ix, y, iy); break;
        case JDATATYPE_F64: sum.d += ji_guest.ddot(n, x, ix, y, iy); break;
        case JDATATYPE_F32_C:
            if (conjugate)
                ji_guest.cdotc_sub(n, x, ix, y, iy, (void *)&part);
            else
                ji_guest.cdotu_sub(n, x, ix, y, iy, (void *)&part);
            sum.c[0] += part.c[0], sum.c[1] += part.c[1];
            break;
        default:
            if (conjugate)
                ji_guest.zdotc_sub(n, x, ix, y, iy, (void *)&part);
            else
                ji_guest.zdotu_sub(n, x, ix, y, iy, (void *)&part);
            sum.z[0] += part.z[0], sum.z[1] += part.z[1];
        }
    }
    memcpy(v->result, &sum, ji_sizeof(type));
}
void ji_host_dot(void *block) { host_dot(block, false); }
void ji_host_dotc(void *block) { host_dot(block, true); }

static void host_set_real(const ji_vector_t *v, double value) {
    if (ji_real_of(v->head.type) == JDATATYPE_F32)
        *(float *)v->result = (float)value;
    else
        *(double *)v->result = value;
}

void ji_host_asum(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
    double sum = 0;
    if (v->incx > 0) {
        FOR_EACH_PART(v) {
            (void)iy;
            switch (type) {
            case JDATATYPE_F32: sum += ji_guest.sasum((host_int_t)count, PART_OF_X, ix); break;
            case JDATATYPE_F64: sum += ji_guest.dasum((host_int_t)count, PART_OF_X, ix); break;
            case JDATATYPE_F32_C: sum += ji_guest.scasum((host_int_t)count, PART_OF_X, ix); break;
            default: sum += ji_guest.dzasum((host_int_t)count, PART_OF_X, ix);
            }
        }
    }
    host_set_real(v, sum);
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

/* In blocks that stay in cache: asum tells whether there is a NaN in one, and only then is it looked for. */
#define IAMAX_BLOCK 512

void ji_host_iamax(void *block) {
    const ji_vector_t *v = block;
    jdatatype_t type = v->head.type;
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
            part.n = count, part.x = PART_OF_X, part.result = &sum;
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
    int64_t result = best + 1;
    memcpy(v->result, &result, sizeof result);
}
