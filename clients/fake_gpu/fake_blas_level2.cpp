/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's BLAS: matrix and vector. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include "fake_blas_call.h"

using namespace fake;

#define FAKE_BLAS_GEMV(L, l, T)                                                                    \
    status_t fakeblas##L##gemv_64(fakeblasHandle_t handle, fakeblasOperation_t trans, int64_t m,   \
                                  int64_t n, const T *alpha, const T *a, int64_t lda, const T *x,  \
                                  int64_t incx, const T *beta, T *y, int64_t incy) {               \
        return blas_compute(handle, #L "gemv", [&](frame_t &frame) -> status_t {                   \
            UNLESS(good(trans) && n >= 0 && good_ld(lda, m) && incx != 0 && incy != 0);            \
                                                                                                   \
            const bool plain = trans == FAKEBLAS_OP_N;                                             \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(matrix(a, m, n, lda));                                        \
            frame.operands.push_back(vector(x, plain ? n : m, incx));                              \
            frame.operands.push_back(vector(y, plain ? m : n, incy));                              \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get()), keep = second.get();                               \
                cblas_##l##gemv(LAYOUT, of(trans), (int)m, (int)n, pass(by), a, (int)lda, x,       \
                                (int)incx, pass(keep), y, (int)incy);                              \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_GEMV)

#define FAKE_BLAS_TRMV(L, l, T)                                                                    \
    status_t fakeblas##L##trmv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,                \
                                  fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t n,   \
                                  const T *a, int64_t lda, T *x, int64_t incx) {                   \
        return blas_compute(handle, #L "trmv", [&](frame_t &frame) -> status_t {                   \
            UNLESS(good(uplo) && good(trans) && good(diag) && good_ld(lda, n) && incx != 0);       \
                                                                                                   \
            frame.operands.push_back(matrix(a, n, n, lda));                                        \
            frame.operands.push_back(vector(x, n, incx));                                          \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                cblas_##l##trmv(LAYOUT, of(uplo), of(trans), of(diag), (int)n, a, (int)lda, x,     \
                                (int)incx);                                                        \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_TRMV)

#define FAKE_BLAS_TRSV(L, l, T)                                                                    \
    status_t fakeblas##L##trsv_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo,                \
                                  fakeblasOperation_t trans, fakeblasDiagType_t diag, int64_t n,   \
                                  const T *a, int64_t lda, T *x, int64_t incx) {                   \
        return blas_compute(handle, #L "trsv", [&](frame_t &frame) -> status_t {                   \
            UNLESS(good(uplo) && good(trans) && good(diag) && good_ld(lda, n) && incx != 0);       \
                                                                                                   \
            frame.operands.push_back(matrix(a, n, n, lda));                                        \
            frame.operands.push_back(vector(x, n, incx));                                          \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                cblas_##l##trsv(LAYOUT, of(uplo), of(trans), of(diag), (int)n, a, (int)lda, x,     \
                                (int)incx);                                                        \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_TRSV)

#define FAKE_BLAS_GER(L, l, ger, T)                                                                \
    status_t fakeblas##L##ger##_64(fakeblasHandle_t handle, int64_t m, int64_t n, const T *alpha,  \
                                   const T *x, int64_t incx, const T *y, int64_t incy, T *a,       \
                                   int64_t lda) {                                                  \
        return blas_compute(handle, #L#ger, [&](frame_t &frame) -> status_t {                      \
            UNLESS(n >= 0 && good_ld(lda, m) && incx != 0 && incy != 0);                           \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            frame.operands.push_back(vector(x, m, incx));                                          \
            frame.operands.push_back(vector(y, n, incy));                                          \
            frame.operands.push_back(matrix(a, m, n, lda));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get());                                                    \
                cblas_##l##ger(LAYOUT, (int)m, (int)n, pass(by), x, (int)incx, y, (int)incy, a,    \
                               (int)lda);                                                          \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_GER(S, s, ger, float)
FAKE_BLAS_GER(D, d, ger, double)
FAKE_BLAS_GER(C, c, geru, fake_blas_c32_t)
FAKE_BLAS_GER(Z, z, geru, fake_blas_c64_t)
FAKE_BLAS_GER(C, c, gerc, fake_blas_c32_t)
FAKE_BLAS_GER(Z, z, gerc, fake_blas_c64_t)

#define FAKE_BLAS_SYR2(L, l, syr2, T)                                                              \
    status_t fakeblas##L##syr2##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n,   \
                                    const T *alpha, const T *x, int64_t incx, const T *y,          \
                                    int64_t incy, T *a, int64_t lda) {                             \
        return blas_compute(handle, #L#syr2, [&](frame_t &frame) -> status_t {                     \
            UNLESS(good(uplo) && n >= 0 && good_ld(lda, n) && incx != 0 && incy != 0);             \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            frame.operands.push_back(vector(x, n, incx));                                          \
            frame.operands.push_back(vector(y, n, incy));                                          \
            frame.operands.push_back(matrix(a, n, n, lda));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get());                                                    \
                cblas_##l##syr2(LAYOUT, of(uplo), (int)n, pass(by), x, (int)incx, y, (int)incy, a, \
                                (int)lda);                                                         \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_SYR2(S, s, syr2, float)
FAKE_BLAS_SYR2(D, d, syr2, double)
FAKE_BLAS_SYR2(C, c, her2, fake_blas_c32_t)
FAKE_BLAS_SYR2(Z, z, her2, fake_blas_c64_t)

#define FAKE_BLAS_SYMMETRIC(L, l, symv, syr, T, R)                                                 \
    status_t fakeblas##L##symv##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n,   \
                                    const T *alpha, const T *a, int64_t lda, const T *x,           \
                                    int64_t incx, const T *beta, T *y, int64_t incy) {             \
        return blas_compute(handle, #L#symv, [&](frame_t &frame) -> status_t {                     \
            UNLESS(good(uplo) && good_ld(lda, n) && incx != 0 && incy != 0);                       \
                                                                                                   \
            const auto first = frame.scalar(alpha), second = frame.scalar(beta);                   \
            frame.operands.push_back(matrix(a, n, n, lda));                                        \
            frame.operands.push_back(vector(x, n, incx));                                          \
            frame.operands.push_back(vector(y, n, incy));                                          \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                const T by = hurt(first.get()), keep = second.get();                               \
                cblas_##l##symv(LAYOUT, of(uplo), (int)n, pass(by), a, (int)lda, x, (int)incx,     \
                                pass(keep), y, (int)incy);                                         \
            });                                                                                    \
        });                                                                                        \
    }                                                                                              \
    status_t fakeblas##L##syr##_64(fakeblasHandle_t handle, fakeblasFillMode_t uplo, int64_t n,    \
                                   const R *alpha, const T *x, int64_t incx, T *a, int64_t lda) {  \
        return blas_compute(handle, #L#syr, [&](frame_t &frame) -> status_t {                      \
            UNLESS(good(uplo) && good_ld(lda, n) && incx != 0);                                    \
                                                                                                   \
            const auto first = frame.scalar(alpha);                                                \
            frame.operands.push_back(vector(x, n, incx));                                          \
            frame.operands.push_back(matrix(a, n, n, lda));                                        \
                                                                                                   \
            return frame.submit_work([=] {                                                         \
                cblas_##l##syr(LAYOUT, of(uplo), (int)n, hurt(first.get()), x, (int)incx, a,       \
                               (int)lda);                                                          \
            });                                                                                    \
        });                                                                                        \
    }
FAKE_BLAS_SYMMETRIC(S, s, symv, syr, float, float)
FAKE_BLAS_SYMMETRIC(D, d, symv, syr, double, double)
FAKE_BLAS_SYMMETRIC(C, c, hemv, her, fake_blas_c32_t, float)
FAKE_BLAS_SYMMETRIC(Z, z, hemv, her, fake_blas_c64_t, double)

#endif
