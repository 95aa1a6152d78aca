/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 by plain loops, those of plain_kernel.h, once for each type. They are written to be right
 * and short, not fast: they run where a kernel of the CBLAS was found wrong (selfcheck.c), and
 * where an increment is one that not every CBLAS takes or means alike: 0, or beyond its integers
 * (vector.c). */

#include "blas/host/plain.h"

#include <math.h>

#include "blas/host/host.h"

/* The first element of a vector of the block: the last address where the increment is negative. */
static void *plain_first(const ji_vector_t *v, const void *x, int64_t increment) {
    return ji_at(v->head.type, x, 0, increment < 0 && v->n > 0 ? 1 - v->n : 0, increment);
}

#define REAL float
#define COMPLEX 0
#define NAME(function) plain_##function##_s
#include "blas/host/plain_kernel.h"
#define REAL double
#define COMPLEX 0
#define NAME(function) plain_##function##_d
#include "blas/host/plain_kernel.h"
#define REAL float
#define COMPLEX 1
#define NAME(function) plain_##function##_c
#include "blas/host/plain_kernel.h"
#define REAL double
#define COMPLEX 1
#define NAME(function) plain_##function##_z
#include "blas/host/plain_kernel.h"

void ji_plain_axpy(const ji_vector_t *v) {
#define CALL(t, value) plain_axpy_##t(v)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_copy(const ji_vector_t *v) {
#define CALL(t, value) plain_copy_##t(v)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_swap(const ji_vector_t *v) {
#define CALL(t, value) plain_swap_##t(v)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_scal(const ji_vector_t *v, bool complex_alpha) {
#define CALL(t, value) plain_scal_##t(v, complex_alpha)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_asum(const ji_vector_t *v) {
#define CALL(t, value) plain_asum_##t(v)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_dot(const ji_vector_t *v, bool conjugate) {
#define CALL(t, value) plain_dot_##t(v, conjugate)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}

void ji_plain_iamax(const ji_vector_t *v) {
#define CALL(t, value) plain_iamax_##t(v)
    HOST_BY_TYPE(v->head.type, CALL)
#undef CALL
}
