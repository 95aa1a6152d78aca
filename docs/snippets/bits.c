/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include <jalloc/jblas.h>

#include "snippet.h"

enum { M = 70, N = 50, K = 600, LONG = 10000 };

/* snippet real */

/* snippet complex */

/* The complex product of the page: the real one with these two. */
static void complex_product(int64_t m, int64_t n, int64_t k, const double *alpha, const double *a,
                            int64_t lda, const double *b, int64_t ldb, const double *beta,
                            double *c, int64_t ldc) {
    static const double one[2] = {1, 0};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t first = 0; first < k; first += DEPTH / 2) {
                double sum[2] = {0, 0};
                for (int64_t s = first; s < k && s < first + DEPTH / 2; s++)
                    add_product(sum, &a[2 * (i + s * lda)], &b[2 * (s + j * ldb)]);
                update(alpha, sum, first == 0 ? beta : one, &c[2 * (i + j * ldc)]);
            }
}

/* snippet block */

/* snippet tree */

/* snippet rotate */

/* snippet columns */

static double a[2 * M * K], b[2 * K * N], c[2 * M * N], own[2 * M * N], x[LONG], y[LONG];

static void fill(double *numbers, int64_t count) {
    static uint32_t state = 1;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (double)(int32_t)(state = state * 1664525 + 1013904223) / 1e9;
}

static void check_products(jhandle_t *handle) {
    const double alpha[2] = {1.25, -0.3}, beta[2] = {0.7, 0.1};
    const void *const own_alpha = alpha, *const own_beta = beta, *const own_a = a, *const own_b = b;
    void *const own_c = c;

    memcpy(own, c, sizeof own);
    SNIPPET_TRY(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, M, N, K, alpha, a, M, b,
                            K, beta, c, M));
    product(M, N, K, alpha[0], a, M, b, K, beta[0], own, M);
    EXPECT(memcmp(c, own, sizeof own) == 0);

    SNIPPET_TRY(jblas_zgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, M, N, K, own_alpha,
                            own_a, M, own_b, K, own_beta, own_c, M));
    complex_product(M, N, K, alpha, a, M, b, K, beta, own, M);
    EXPECT(memcmp(c, own, sizeof own) == 0);
}

static void check_sums(jhandle_t *handle) {
    double sum = 0;
    SNIPPET_TRY(jblas_ddot(handle, LONG, x, 1, y, 1, &sum));
    EXPECT(sum == dot(LONG, x, y));
}

static void check_rotations(jhandle_t *handle) {
    double own_x[M], own_y[M], rotated_x[M], rotated_y[M];
    const double cosine = 0.6, sine = 0.8;
    memcpy(own_x, x, sizeof own_x), memcpy(own_y, y, sizeof own_y);
    memcpy(rotated_x, x, sizeof rotated_x), memcpy(rotated_y, y, sizeof rotated_y);

    SNIPPET_TRY(jblas_drot(handle, M, rotated_x, 1, rotated_y, 1, &cosine, &sine));
    rotate(M, own_x, own_y, cosine, sine, -sine, cosine);
    EXPECT(memcmp(own_x, rotated_x, sizeof own_x) == 0);
    EXPECT(memcmp(own_y, rotated_y, sizeof own_y) == 0);
}

static void check_columns(jhandle_t *handle) {
    const double alpha = 0.3, beta = 1;
    memcpy(own, y, M * sizeof *y);
    SNIPPET_TRY(jblas_dgemv(handle, JBLAS_NO_TRANSPOSE, M, N, &alpha, a, M, x, 1, &beta, y, 1));
    columns(M, N, alpha, a, M, x, own);
    EXPECT(memcmp(own, y, M * sizeof *y) == 0);
}

int main(void) {
    jhandle_t *handle = NULL;
    const char *isa = "";
#ifdef __x86_64__
    SNIPPET_TRY(jblas_get_host_isa(&isa));
    if (strcmp(isa, "generic") == 0) {
        puts("the kernels round products and sums apart");
        return 77;
    }
#endif
    (void)isa;
    fill(a, 2 * M * K), fill(b, 2 * K * N), fill(c, 2 * M * N), fill(x, LONG), fill(y, LONG);
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    check_products(handle);
    check_sums(handle);
    check_rotations(handle);
    check_columns(handle);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
