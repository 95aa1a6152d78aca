/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Inverses on the host, by the factors that getrf and potrf leave.
 *
 *     getri   A = P L U: inv(A) = inv(U) inv(L) P^T
 *     potri   A = L L^H: inv(A) = inv(L)^H inv(L); A = U^H U: inv(U) inv(U)^H
 *
 * First the triangles are inverted where they are (trtri), then they are multiplied where they are:
 * an upper triangle by a lower one that shares its square, or (lauum) a triangle and its adjoint,
 * by halves,
 *
 *     +-----+-----+    +-----+-----+     A11 := U11 L11, the same way
 *     | U11 | U12 |    | L11 |     |     A11 += U12 L21, a product
 *     +-----+-----+ x  +-----+-----+     A12 := U12 L22
 *     |     | U22 |    | L21 | L22 |     A21 := U22 L21
 *     +-----+-----+    +-----+-----+     A22 := U22 L22, the same way
 *
 * each of which finds what it takes as it was. So nothing is copied but bases of a few columns, and
 * the bits are the same with any workspace, which is panels for products and solves. (LAPACK solves
 * X L = inv(U) instead, with a copy of L's columns; this is the method D of Higham, Accuracy and
 * Stability of Numerical Algorithms, 14.3.4, of as many flops.) */

#include "blas/algorithms/triangle.h"
#include "blas/kernels/factor.h"
#include "core/team.h"
#include "lapack/lapack.h"

#define INVERSE_BASE 32          /* columns */
#define INVERSE_STRIP_BYTES 2048 /* of each column, when columns are exchanged */

typedef struct inverse_square { /* a triangle as a matrix, with zeros */
    _Alignas(64) char data[INVERSE_BASE * INVERSE_BASE * sizeof(jcomplex_f64_t)];
} inverse_square_t;

static void inverse_expand(jdatatype_t type, jblas_uplo_t uplo, jblas_diagonal_t diag, int64_t n,
                           const void *a, int64_t lda, inverse_square_t *square) {
    const ji_value_t one = ji_constant(type, 1).value;
    const size_t size = ji_sizeof(type);
    memset(square->data, 0, (size_t)(n * n) * size);

    for (int64_t j = 0; j < n; j++) {
        const int64_t first = uplo == JBLAS_UPPER ? 0 : j, end = uplo == JBLAS_UPPER ? j + 1 : n;
        memcpy(ji_at(type, square->data, first, j, n), ji_at(type, a, first, j, lda),
               (size_t)(end - first) * size);
        if (diag == JBLAS_UNIT)
            memcpy(ji_at(type, square->data, j, j, n), &one, size);
    }
}

/* ---- Steps ---- */

/* B := triangle B or B triangle, m x n. */
static void inverse_multiply(const ji_matmat_t *call, jblas_side_t side, jblas_uplo_t uplo,
                             jblas_operation_t op, jblas_diagonal_t diag, const void *triangle,
                             void *b, int64_t m, int64_t n) {
    ji_matmat_t product = *call;
    product.uplo = uplo, product.diag = diag;
    ji_factor_triangle(JI_TRMM, &product, side, op, 1, triangle, b, call->lda, m, n);
}

/* C = U U^H or L^H L + beta C, n x n of depth k. */
static void inverse_update(const ji_matmat_t *call, const void *a, int64_t lda, double beta,
                           void *c, int64_t n, int64_t k) {
    ji_factor_update(call, call->uplo == JBLAS_LOWER, n, k, 1, a, lda, beta, c, call->lda);
}

/* ---- Products of triangles ---- */

/* U L over both, of order n at a. */
static void inverse_join(const ji_matmat_t *call, void *a, int64_t n) {
    const jdatatype_t type = call->head.type;
    const int64_t lda = call->lda;
    if (n <= INVERSE_BASE) {
        inverse_square_t upper, lower;
        inverse_expand(type, JBLAS_UPPER, JBLAS_NON_UNIT, n, a, lda, &upper);
        inverse_expand(type, JBLAS_LOWER, JBLAS_UNIT, n, a, lda, &lower);
        ji_factor_product(call, n, n, n, 1, upper.data, n, lower.data, n, 0, a, lda);
        return;
    }

    const int64_t half = ji_factor_half(&ji_host_tuning, n), rest = n - half;
    void *const a12 = ji_at(type, a, 0, half, lda), *const a21 = ji_at(type, a, half, 0, lda),
                *const a22 = ji_at(type, a, half, half, lda);
    inverse_join(call, a, half);
    ji_factor_product(call, half, half, rest, 1, a12, lda, a21, lda, 1, a, lda);
    inverse_multiply(call, JBLAS_RIGHT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, a22, a12, half,
                     rest);
    inverse_multiply(call, JBLAS_LEFT, JBLAS_UPPER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, a22, a21,
                     rest, half);
    inverse_join(call, a22, rest);
}

/* U U^H or L^H L over the triangle, of order n at a. */
static void inverse_by_adjoint(const ji_matmat_t *call, void *a, int64_t n) {
    const jdatatype_t type = call->head.type;
    const int64_t lda = call->lda;
    const bool upper = call->uplo == JBLAS_UPPER;
    if (n <= INVERSE_BASE) {
        inverse_square_t triangle;
        inverse_expand(type, call->uplo, JBLAS_NON_UNIT, n, a, lda, &triangle);
        inverse_update(call, triangle.data, n, 0, a, n, n);
        return;
    }

    const int64_t half = ji_factor_half(&ji_host_tuning, n), rest = n - half;
    void *const corner = upper ? ji_at(type, a, 0, half, lda) : ji_at(type, a, half, 0, lda),
                *const a22 = ji_at(type, a, half, half, lda);
    inverse_by_adjoint(call, a, half);
    inverse_update(call, corner, lda, 1, a, half, rest);
    inverse_multiply(call, upper ? JBLAS_RIGHT : JBLAS_LEFT, call->uplo, JBLAS_CONJUGATE_TRANSPOSE,
                     JBLAS_NON_UNIT, a22, corner, upper ? half : rest, upper ? rest : half);
    inverse_by_adjoint(call, a22, rest);
}

/* ---- Calls ---- */

/* The triangle of `call` is inverted. False: it has a zero on its diagonal, info says where, and it
 * is as it was. */
static bool inverse_of_triangle(const ji_matmat_t *call, jblas_uplo_t uplo, jblas_diagonal_t diag) {
    ji_matmat_t triangle = *call;
    triangle.uplo = uplo, triangle.diag = diag;
    ji_host_primitives[JI_TRTRI](&triangle);
    return *call->info == 0;
}

typedef struct inverse_exchange {
    const ji_matmat_t *call;
    int threads;
} inverse_exchange_t;

static int64_t inverse_strip(jdatatype_t type) {
    return INVERSE_STRIP_BYTES / (int64_t)ji_sizeof(type);
}

/* Columns j and ipiv[j] - 1, from the last one on: by strips of rows, which stay in a cache, and of
 * which each thread has its own. Shorter ones take up to three times as long where columns are a
 * power of two apart: then they all want the same few lines of the first cache. */
static void inverse_exchange_part(void *argument, int index) {
    const inverse_exchange_t *const exchange = argument;
    const ji_matmat_t *const call = exchange->call;
    const jdatatype_t type = call->head.type;
    const int64_t n = call->n, strip = inverse_strip(type);
    void *const a = ji_unconst(call->a);

    for (int64_t i = index * strip; i < n; i += exchange->threads * strip)
        for (int64_t j = n - 1; j >= 0; j--) {
            const int64_t other = call->ipiv[j] - 1;
            if (other != j)
                ji_kernels->level1[type]->swap(ji_min(strip, n - i),
                                               ji_at(type, a, i, j, call->lda), 1,
                                               ji_at(type, a, i, other, call->lda), 1);
        }
}

static void inverse_exchange(const ji_matmat_t *call) {
    const int64_t strips = (call->n - 1) / inverse_strip(call->head.type) + 1;
    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->head.threads, (int)ji_min(strips, INT16_MAX));
    inverse_exchange_t exchange = {call, lease.count};
    ji_team_do(&lease, inverse_exchange_part, &exchange);
    ji_team_end(&lease);
}

/* U, or L, whose inverse leaves the diagonal alone. */
static void inverse_of_factor(const ji_matmat_t *call, bool lower) {
    int64_t info; /* U has no zero */
    ji_matmat_t own = *call;
    own.info = &info;
    (void)inverse_of_triangle(&own, lower ? JBLAS_LOWER : JBLAS_UPPER,
                              lower ? JBLAS_UNIT : JBLAS_NON_UNIT);
}

static void inverse_of_factor_part(void *whole, int index) {
    const ji_matmat_t own = ji_factor_share(whole, index, 2);
    inverse_of_factor(&own, index == 1);
}

/* U and L have nothing in common but cache lines, and their inverses are as much work: of two
 * threads each does one, which takes less waiting than to share each product. More share those. */
static void inverse_of_factors(ji_matmat_t *call) {
    const double work = ji_product_work(call->head.type, call->n, call->n, call->n) / 6;
    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->head.threads,
                  ji_host_has_guest() ? 1 : (int)ji_min(ji_product_threads(work), 3));
    const bool at_once = lease.count == 2;
    if (at_once)
        ji_team_do(&lease, inverse_of_factor_part, call);
    ji_team_end(&lease);

    if (!at_once) {
        inverse_of_factor(call, false);
        inverse_of_factor(call, true);
    }
}

void ji_host_getri(void *matmat) {
    ji_matmat_t *const whole = matmat, call = ji_factor_call(whole);
    const ji_factor_kernels_t *const kernels = ji_kernels->factor[call.head.type];
    *call.info = kernels->find_zero(call.n, call.a, call.lda);
    if (*call.info != 0)
        return;

    inverse_of_factors(whole); /* two threads pay for smaller ones than what they share */
    inverse_join(&call, ji_unconst(call.a), call.n);
    inverse_exchange(&call);
}

void ji_host_lauum(void *matmat) {
    const ji_matmat_t call = ji_factor_call(matmat);
    inverse_by_adjoint(&call, ji_unconst(call.a), call.n);
}

void ji_host_potri(void *matmat) {
    const ji_matmat_t call = ji_factor_call(matmat);
    if (inverse_of_triangle(&call, call.uplo, JBLAS_NON_UNIT))
        inverse_by_adjoint(&call, ji_unconst(call.a), call.n);
}

/* ---- Panels ---- */

ji_panel_bytes_t ji_getri_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_factor_bytes(handle, args);
}
ji_panel_bytes_t ji_lauum_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_factor_bytes(handle, args);
}
ji_panel_bytes_t ji_potri_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_factor_bytes(handle, args);
}
