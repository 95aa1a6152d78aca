/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Strided batches: which strides keep the matrices C apart. */

#include "jalloc/jalloc.h"
#include "jtest.h"

#define PLACES 256

/* Whether two matrices of a batch have an element in common, by marking them all. */
static bool share(int64_t m, int64_t n, int64_t ld, int64_t stride, int64_t count) {
    bool taken[PLACES] = {false};
    for (int64_t item = 0; item < count; item++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                bool *place = &taken[item * stride + j * ld + i];
                if (*place)
                    return true;
                *place = true;
            }
    return false;
}

/* Every small shape, leading dimension, stride of either sign and count: refused where elements are
 * shared, and right otherwise. */
JTEST(JblasBatch, MatricesMayInterleaveButNotOverlap) {
    const double one = 1, two = 2, a[5] = {1, 2, 3, 4, 5};
    int64_t interleaved = 0;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 0; m < 5; m++)
        for (int64_t n = 0; n < 4; n++)
            for (int64_t ld = m > 0 ? m : 1; ld < 14; ld++)
                for (int64_t stride = 0; stride < 30; stride++)
                    for (int64_t count = 1; count < 6 && !jtest_has_failure(); count++) {
                        double c[PLACES] = {0};
                        const int64_t sign = (m + ld + stride) % 2 ? 1 : -1;
                        JSCOPED_TRACE("m %ld n %ld ldc %ld stride_c %ld count %ld", (long)m,
                                      (long)n, (long)ld, (long)(sign * stride), (long)count);
                        const jstatus_t status = jblas_dgemm_strided_batched(
                            handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, m, n, 1, &one, a, 5, 0,
                            a, 1, 0, &two, c + (sign < 0 ? (count - 1) * stride : 0), ld,
                            sign * stride, count);
                        if (share(m, n, ld, stride, count)) {
                            JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
                            JEXPECT_SUBSTR(jhandle_last_message(handle), "overlap");
                            continue;
                        }
                        JEXPECT_OK(status);
                        interleaved += m > 0 && count > 1 && stride < ld * (n - 1) + m;
                        for (int64_t item = 0; item < count; item++)
                            for (int64_t j = 0; j < n; j++)
                                for (int64_t i = 0; i < m; i++) {
                                    JEXPECT_EQ(c[item * stride + j * ld + i], a[i] * a[j]);
                                    c[item * stride + j * ld + i] = 0;
                                }
                        for (int64_t place = 0; place < PLACES; place++)
                            JEXPECT_EQ(c[place], 0);
                    }
    JEXPECT_GT(interleaved, 1000);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Large numbers. 2^40 + 1 is 257 times `part`; 2^24 strides of 2^16 end one element before it. */
JTEST(JblasBatch, OverlapIsToldForLargeStrides) {
    const int64_t far = ((int64_t)1 << 40) + 1, part = far / 257, power = 1 << 16, times = 1 << 24;
    const struct {
        int64_t m, n, ldc, stride, count;
        bool overlaps;
    } cases[] = {
        {1, 2, far, part, 257, false},
        {1, 2, far, part, 258, true},
        {1, power, far, power, times, false},
        {2, 2, far, power, times, false},
        {2, 2, far, power, times + 1, true},
        {2, 4, far, far * 2 + 1, 2, true},
        {2, 4, far, far * 2 + 2, 2, false},
        {2, 4, far, far * 2 - 1, 2, true},
        {2, 4, far, far * 2 - 2, 2, false},
        {2, power, 6, 2, 3, false},
        {2, power, 6, 2, 4, true},
        {2, power, 6, -2, 3, false},
    };
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jhandle_start_size_query(handle)); /* checks alone */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        JSCOPED_TRACE("case %zu", i);
        const jstatus_t status = jblas_sgemm_strided_batched(
            handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, cases[i].m, cases[i].n, 1, NULL, NULL,
            2, 0, NULL, 1, 0, NULL, NULL, cases[i].ldc, cases[i].stride, cases[i].count);
        JEXPECT_STATUS(status, cases[i].overlaps ? JSTATUS_INVALID_SIZE : JSTATUS_SIZE_UNCHANGED);
    }
    size_t bytes;
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Each stride alone: two matrices so far apart are in no memory. */
JTEST(JblasBatch, StridesBeyondMemoryAreRefused) {
    static const char *const said[3] = {"stride_a = ", "stride_b = ", "stride_c = "};
    const double one = 1, a = 2;
    double c = 3;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int which = 0; which < 3; which++) {
        int64_t strides[3] = {0, 0, 1};
        strides[which] = INT64_MAX;
        JEXPECT_STATUS(jblas_dgemm_strided_batched(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE,
                                                   1, 1, 1, &one, &a, 1, strides[0], &a, 1,
                                                   strides[1], &one, &c, 1, strides[2], 2),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_SUBSTR(jhandle_last_message(handle), said[which]);
    }
    JEXPECT_EQ(c, 3);
    JEXPECT_OK(jhandle_destroy(handle));
}
