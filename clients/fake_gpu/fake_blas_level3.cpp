/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's BLAS: matrix and matrix; products are in fake_blas_gemm.cpp. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include <cstring>

#include "fake_blas_call.h"

using namespace fake;

#define FAKE_BLAS_SYMM(L, l, T)                                                                    \
    status_t fakeblas##L##symm_64(fakeblasHandle_t handle, fakeblasSideMode_t side,                \
                                  fakeblasFillMode_t uplo, int64_t m, int64_t n, const T *alpha,   \
                                  const T *a, int64_t lda, const T *b, int64_t ldb, const T *beta, \
                                  T *c, int64_t ldc) {                                             \
        return blas_compute(handle, #L "symm", [&](frame_t &frame) -> status_t {                   \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                              \
            UNLESS(good(side) && good(uplo) && n >= 0 && good_ld(lda, order) && good_ld(ldb, m) && \
                   good_ld(ldc, m));                                                               \
                                                                                                   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(matrix(a, order, order, lda));                                \
            frame.operands.push_back(matrix(b, m, n, ldb));                                        \
            frame.operands.push_back(matrix(c, m, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get()), keep = second.get();                               \
                cblas_##l##symm(LAYOUT, of(side), of(uplo), (int)m, (int)n, pass(by), a, (int)lda, \
                                b, (int)ldb, pass(keep), c, (int)ldc);                             \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_SYMM)

#define FAKE_BLAS_SYRK(L, l, T)                                                                    \
    status_t fakeblas##L##syrk_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,                \
                                  fakeblasOperation_t trans, int64_t n, int64_t k, const T *alpha, \
                                  const T *a, int64_t lda, const T *beta, T *c, int64_t ldc) {     \
        return blas_compute(handle, #L "syrk", [&](frame_t &frame) -> status_t {                   \
            const bool plain = trans == FAKEBLAS_OP_N;                                             \
            UNLESS(good(uplo) && (plain || trans == FAKEBLAS_OP_T) && n >= 0 && k >= 0 &&          \
                   good_ld(lda, plain ? n : k) && good_ld(ldc, n));                                \
                                                                                                   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));         \
            frame.operands.push_back(matrix(c, n, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get()), keep = second.get();                               \
                cblas_##l##syrk(LAYOUT, of(uplo), of(trans), (int)n, (int)k, pass(by), a,          \
                                (int)lda, pass(keep), c, (int)ldc);                                \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_SYRK)

#define FAKE_BLAS_TRMM(L, l, T)                                                                    \
    status_t fakeblas##L##trmm_64(                                                                 \
        fakeblasHandle_t handle, fakeblasSideMode_t side, fakeblasFillMode_t uplo,                 \
        fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t m, int64_t n, const T *alpha,  \
        const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {                     \
        return blas_compute(handle, #L "trmm", [&](frame_t &frame) -> status_t {                   \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                              \
            UNLESS(good(side) && good(uplo) && good(trans) && good(diag) && n >= 0 &&              \
                   good_ld(lda, order) && good_ld(ldb, m) && good_ld(ldc, m) &&                    \
                   (b != c || ldb == ldc));                                                        \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            frame.operands.push_back(matrix(a, order, order, lda));                                \
            frame.operands.push_back(matrix(b, m, n, ldb));                                        \
            frame.operands.push_back(matrix(c, m, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get());                                                    \
                                                                                                   \
                for (int64_t j = 0; b != c && j < n; ++j)                                          \
                    memcpy(c + j * ldc, b + j * ldb, (size_t)m * sizeof(T));                       \
                                                                                                   \
                cblas_##l##trmm(LAYOUT, of(side), of(uplo), of(trans), of(diag), (int)m, (int)n,   \
                                pass(by), a, (int)lda, c, (int)ldc);                               \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_TRMM)

#define FAKE_BLAS_TRSM(L, l, T)                                                                    \
    status_t fakeblas##L##trsm_64(fakeblasHandle_t handle, fakeblasSideMode_t side,                \
                                  fakeblasFillMode_t uplo, fakeblasOperation_t trans,              \
                                  fakeblasDiagType_t diag, int64_t m, int64_t n, const T *alpha,   \
                                  const T *a, int64_t lda, T *b, int64_t ldb) {                    \
        return blas_compute(handle, #L "trsm", [&](frame_t &frame) -> status_t {                   \
            const int64_t order = side == FAKEBLAS_SIDE_LEFT ? m : n;                              \
            UNLESS(good(side) && good(uplo) && good(trans) && good(diag) && n >= 0 &&              \
                   good_ld(lda, order) && good_ld(ldb, m));                                        \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            frame.operands.push_back(matrix(a, order, order, lda));                                \
            frame.operands.push_back(matrix(b, m, n, ldb));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get());                                                    \
                cblas_##l##trsm(LAYOUT, of(side), of(uplo), of(trans), of(diag), (int)m, (int)n,   \
                                pass(by), a, (int)lda, b, (int)ldb);                               \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_TRSM)

namespace {

float multiply(float a, float b) { return a * b; }
double multiply(double a, double b) { return a * b; }
template <typename C> C multiply(const C &a, const C &b) {
    return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
float add(float a, float b) { return a + b; }
double add(double a, double b) { return a + b; }
template <typename C> C add(const C &a, const C &b) { return C{a.x + b.x, a.y + b.y}; }
float conjugated(float a) { return a; }
double conjugated(double a) { return a; }
template <typename C> C conjugated(const C &a) { return C{a.x, -a.y}; }

template <typename T>
T element(const T *a, int64_t ld, fakeblasOperation_t operation, int64_t i, int64_t j) {
    if (operation == FAKEBLAS_OP_N)
        return a[i + j * ld];
    return operation == FAKEBLAS_OP_T ? a[j + i * ld] : conjugated(a[j + i * ld]);
}

} // namespace

#define FAKE_BLAS_GEAM(L, l, T)                                                                    \
    status_t fakeblas##L##geam_64(fakeblasHandle_t handle, fakeblasOperation_t transa,             \
                                  fakeblasOperation_t transb, int64_t m, int64_t n,                \
                                  const T *alpha, const T *a, int64_t lda, const T *beta,          \
                                  const T *b, int64_t ldb, T *c, int64_t ldc) {                    \
        return blas_compute(handle, #L "geam", [&](frame_t &frame) -> status_t {                   \
            const bool plain_a = transa == FAKEBLAS_OP_N, plain_b = transb == FAKEBLAS_OP_N;       \
            UNLESS(good(transa) && good(transb) && m >= 0 && n >= 0 &&                             \
                   good_ld(lda, plain_a ? m : n) && good_ld(ldb, plain_b ? m : n) &&               \
                   good_ld(ldc, m) && (a != c || (plain_a && lda == ldc)) &&                       \
                   (b != c || (plain_b && ldb == ldc)));                                           \
                                                                                                   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(plain_a ? matrix(a, m, n, lda) : matrix(a, n, m, lda));       \
            frame.operands.push_back(plain_b ? matrix(b, m, n, ldb) : matrix(b, n, m, ldb));       \
            frame.operands.push_back(matrix(c, m, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T x = first.get(), y = second.get();                                         \
                                                                                                   \
                for (int64_t j = 0; j < n; ++j)                                                    \
                    for (int64_t i = 0; i < m; ++i) {                                              \
                        const T from_a =                                                           \
                            is_zero(x) ? T() : multiply(x, element(a, lda, transa, i, j));         \
                        const T from_b =                                                           \
                            is_zero(y) ? T() : multiply(y, element(b, ldb, transb, i, j));         \
                        c[i + j * ldc] = add(from_a, from_b);                                      \
                    }                                                                              \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_GEAM)

#define FAKE_BLAS_HERK(L, l, T, R)                                                                 \
    status_t fakeblas##L##herk_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,                \
                                  fakeblasOperation_t trans, int64_t n, int64_t k, const R *alpha, \
                                  const T *a, int64_t lda, const R *beta, T *c, int64_t ldc) {     \
        return blas_compute(handle, #L "herk", [&](frame_t &frame) -> status_t {                   \
            const bool plain = trans == FAKEBLAS_OP_N;                                             \
            UNLESS(good(uplo) && (plain || trans == FAKEBLAS_OP_C) && n >= 0 && k >= 0 &&          \
                   good_ld(lda, plain ? n : k) && good_ld(ldc, n));                                \
                                                                                                   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));         \
            frame.operands.push_back(matrix(c, n, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                cblas_##l##herk(LAYOUT, of(uplo), of(trans), (int)n, (int)k, hurt(first.get()), a, \
                                (int)lda, second.get(), c, (int)ldc);                              \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_HERK(C, c, fake_blas_c32_t, float)
FAKE_BLAS_HERK(Z, z, fake_blas_c64_t, double)

#define FAKE_BLAS_SYR2K(L, l, syr2k, T, R, TURNED)                                                 \
    status_t fakeblas##L##syr2k##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,             \
                                     fakeblasOperation_t trans, int64_t n, int64_t k,              \
                                     const T *alpha, const T *a, int64_t lda, const T *b,          \
                                     int64_t ldb, const R *beta, T *c, int64_t ldc) {              \
        return blas_compute(handle, #L#syr2k, [&](frame_t &frame) -> status_t {                    \
            const bool plain = trans == FAKEBLAS_OP_N;                                             \
            UNLESS(good(uplo) && (plain || trans == TURNED) && n >= 0 && k >= 0 &&                 \
                   good_ld(lda, plain ? n : k) && good_ld(ldb, plain ? n : k) && good_ld(ldc, n)); \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            const auto second = frame.scalar(beta);                                                \
            frame.operands.push_back(plain ? matrix(a, n, k, lda) : matrix(a, k, n, lda));         \
            frame.operands.push_back(plain ? matrix(b, n, k, ldb) : matrix(b, k, n, ldb));         \
            frame.operands.push_back(matrix(c, n, n, ldc));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get());                                                    \
                const R keep = second.get();                                                       \
                cblas_##l##syr2k(LAYOUT, of(uplo), of(trans), (int)n, (int)k, pass(by), a,         \
                                 (int)lda, b, (int)ldb, pass(keep), c, (int)ldc);                  \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_SYR2K(S, s, syr2k, float, float, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(D, d, syr2k, double, double, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(C, c, syr2k, fake_blas_c32_t, fake_blas_c32_t, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(Z, z, syr2k, fake_blas_c64_t, fake_blas_c64_t, FAKEBLAS_OP_T)
FAKE_BLAS_SYR2K(C, c, her2k, fake_blas_c32_t, float, FAKEBLAS_OP_C)
FAKE_BLAS_SYR2K(Z, z, her2k, fake_blas_c64_t, double, FAKEBLAS_OP_C)

#endif
