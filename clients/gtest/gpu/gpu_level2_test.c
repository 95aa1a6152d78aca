/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 on a GPU at sizes where kernels change their way: several diagonal blocks of a triangle,
 * columns long enough for a whole thread block, matrices much longer than wide. */

#include "gpu_device.h"
#include "jblas_reference.h"

#include <stdlib.h>
#include <string.h>

/* Triangles are walked in blocks of 256, and in tiles of 32 within them. */
JTEST_EACH_FUNCTION(GpuLevel2, SeveralDiagonalBlocks) {
    static const int64_t edges[] = {255, 256, 257, 287, 288, 289, 511, 512, 513, 514};
    if (param->routine->level != 2)
        return;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t i = jtest_iterations(4); i > 0 && !jtest_has_failure(); --i) {
        const int64_t n = edges[jtest_random_between(0, 9)];
        BLAS_CASE(c, param, .low = i % 2 ? n : 230, .high = i % 2 ? n : 600, .plain = true,
                  .guard_before = i % 4 < 2);
        const jstatus_t status = gpu_blas_call(handle, c);
        JEXPECT_OK(status);
        if (status == JSTATUS_SUCCESS)
            blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What a known zero alpha keeps from being read need not be there. */
JTEST_EACH_FUNCTION(GpuLevel2, WhatIsNotReadMayBeMissing) {
    if (param->routine->level > 2)
        return;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t i = jtest_iterations(3); i > 0 && !jtest_has_failure(); --i) {
        BLAS_CASE(c, param, .low = 1, .high = i % 2 ? 40 : 300, .alpha_zero = true);
        gpu_case_t g;
        gpu_case_begin(&g, handle, c);
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            if (c->operand[which].unread && !c->operand[which].written)
                c->pointer[which] = NULL;
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        gpu_case_end(&g, true);
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Not nearly zero, as a sum of products may be. */
JTEST_EACH_FUNCTION(GpuLevel2, HermitianDiagonalsBecomeReal) {
    if (strcmp(param->routine->name, "her") != 0)
        return;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t i = jtest_iterations(4); i > 0 && !jtest_has_failure(); --i) {
        BLAS_CASE(c, param, .low = 1, .high = 200, .plain = true);
        const blas_operand_t *a = &c->operand[1];
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_right(c);
        for (int64_t j = 0; j < a->rows && !jtest_has_failure(); ++j)
            JEXPECT_TRUE(__imag__ wide_get(a->data, a->element, blas_index(a, 0, j, j)) == 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Long and wide ---- */

typedef struct shape {
    int64_t m, n;
} shape_t;

static wide_t number(int element) {
    wide_t value = jtest_random_double(-1, 1);
    if (wide_is_complex(element))
        __imag__ value = jtest_random_double(-1, 1);
    return value;
}

static wide_t times(wide_t a, wide_t b, bool conjugated) {
    const long double re = __real__ a, im = conjugated ? -__imag__ a : __imag__ a;
    wide_t c = re * __real__ b - im * __imag__ b;
    __imag__ c = re * __imag__ b + im * __real__ b;
    return c;
}

static jstatus_t gemv(jhandle_t *handle, int element, jblas_operation_t trans, shape_t s,
                      const void *alpha, const void *a, const void *x, const void *beta, void *y) {
    switch (element) {
    case JDATATYPE_F32:
        return jblas_sgemv(handle, trans, s.m, s.n, alpha, a, s.m, x, 1, beta, y, 1);
    case JDATATYPE_F64:
        return jblas_dgemv(handle, trans, s.m, s.n, alpha, a, s.m, x, 1, beta, y, 1);
    case JDATATYPE_F32_C:
        return jblas_cgemv(handle, trans, s.m, s.n, alpha, a, s.m, x, 1, beta, y, 1);
    default: return jblas_zgemv(handle, trans, s.m, s.n, alpha, a, s.m, x, 1, beta, y, 1);
    }
}

static void *draw(int element, int64_t count, void **device) {
    const size_t bytes = (size_t)count * wide_sizeof(element);
    void *host = malloc(bytes);
    for (int64_t i = 0; i < count; ++i)
        wide_put(host, element, i, number(element));
    *device = gpu_take(bytes);
    gpu_upload(*device, host, bytes);
    return host;
}

JTEST(GpuLevel2, LongAndWideMatrices) {
    static const shape_t shapes[] = {{2047, 9}, {2048, 9}, {5001, 7},
                                     {3, 4000}, {1, 9000}, {9000, 1}};
    jhandle_t *handle = gpu_make_handle();
    for (int element = 0; element < 4; ++element)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
            for (int trans = JBLAS_NO_TRANSPOSE;
                 trans <= JBLAS_CONJUGATE_TRANSPOSE && !jtest_has_failure(); ++trans) {
                const shape_t s = shapes[i];
                const bool plain = trans == JBLAS_NO_TRANSPOSE;
                const int64_t in = plain ? s.n : s.m, out = plain ? s.m : s.n;
                const size_t size = wide_sizeof(element);
                _Alignas(16) unsigned char alpha[16], beta[16];
                void *da, *dx, *dy, *a = draw(element, s.m * s.n, &da), *x = draw(element, in, &dx);
                void *y = draw(element, out, &dy), *got = malloc((size_t)out * size);
                wide_put(alpha, element, 0, number(element));
                wide_put(beta, element, 0, number(element));
                JSCOPED_TRACE("type %d, %ld x %ld, operation %d", element, (long)s.m, (long)s.n,
                              trans);
                JEXPECT_OK(
                    gemv(handle, element, (jblas_operation_t)trans, s, alpha, da, dx, beta, dy));
                gpu_download(got, dy, (size_t)out * size);
                for (int64_t o = 0; o < out; ++o) {
                    wide_t sum = 0;
                    for (int64_t k = 0; k < in; ++k)
                        sum += times(wide_get(a, element, plain ? o + k * s.m : k + o * s.m),
                                     wide_get(x, element, k), trans == JBLAS_CONJUGATE_TRANSPOSE);
                    const wide_t want =
                        times(wide_get(alpha, element, 0), sum, false) +
                        times(wide_get(beta, element, 0), wide_get(y, element, o), false);
                    const wide_t apart = wide_get(got, element, o) - want;
                    JEXPECT_LE((double)wide_abs(apart),
                               4 * (double)wide_epsilon(element) * (double)(in + 8));
                }
                gpu_give(da, (size_t)(s.m * s.n) * size);
                gpu_give(dx, (size_t)in * size);
                gpu_give(dy, (size_t)out * size);
                free(a), free(x), free(y), free(got);
            }
    JEXPECT_OK(jhandle_destroy(handle));
}
