/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The fake vendor's BLAS: products of matrices, alone, in batches, and of narrow numbers. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include <cstring>

#include "fake_blas_call.h"

using namespace fake;

namespace {

struct shape_t {
    fakeblasOperation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    bool good_shape() const {
        return good(transa) && good(transb) && m >= 0 && n >= 0 && k >= 0 &&
               good_ld(lda, transa == FAKEBLAS_OP_N ? m : k) &&
               good_ld(ldb, transb == FAKEBLAS_OP_N ? k : n) && good_ld(ldc, m);
    }
    template <typename T> operand_t a(const T *at) const {
        return transa == FAKEBLAS_OP_N ? matrix(at, m, k, lda) : matrix(at, k, m, lda);
    }
    template <typename T> operand_t b(const T *at) const {
        return transb == FAKEBLAS_OP_N ? matrix(at, k, n, ldb) : matrix(at, n, k, ldb);
    }
    template <typename T> operand_t c(const T *at) const { return matrix(at, m, n, ldc); }
};

#define FAKE_BLAS_PRODUCT(l, T)                                                                    \
    void product(const shape_t &s, const T &alpha, const T *a, const T *b, const T &beta, T *c) {  \
        cblas_##l##gemm(LAYOUT, of(s.transa), of(s.transb), (int)s.m, (int)s.n, (int)s.k,          \
                        pass(alpha), a, (int)s.lda, b, (int)s.ldb, pass(beta), c, (int)s.ldc);     \
    }
FAKE_BLAS_PRODUCT(s, float)
FAKE_BLAS_PRODUCT(d, double)
FAKE_BLAS_PRODUCT(c, fake_blas_c32_t)
FAKE_BLAS_PRODUCT(z, fake_blas_c64_t)

template <typename T>
status_t gemm_strided(fakeblasHandle_t handle, const char *name, const shape_t &shape,
                      const T *alpha, const T *a, int64_t stride_a, const T *b, int64_t stride_b,
                      const T *beta, T *c, int64_t stride_c, int64_t count) {
    return blas_compute(handle, name, [&](frame_t &frame) -> status_t {
        UNLESS(shape.good_shape() && count >= 0);
        const auto first = frame.scalar(alpha), second = frame.scalar(beta);

        for (int64_t i = 0; i < count; ++i) {
            frame.operands.push_back(shape.a(a + i * stride_a));
            frame.operands.push_back(shape.b(b + i * stride_b));
            frame.operands.push_back(shape.c(c + i * stride_c));
        }

        return frame.submit_work([=] {
            for (int64_t i = 0; i < count; ++i)
                product(shape, hurt(first.get()), a + i * stride_a, b + i * stride_b, second.get(),
                        c + i * stride_c);
        });
    });
}

template <typename T>
status_t gemm_batched(fakeblasHandle_t handle, const char *name, const shape_t &shape,
                      const T *alpha, const T *const *a, const T *const *b, const T *beta,
                      T *const *c, int64_t count) {
    return blas_compute(handle, name, [&](frame_t &frame) -> status_t {
        UNLESS(shape.good_shape() && count >= 0);
        const auto first = frame.scalar(alpha), second = frame.scalar(beta);

        for (const void *table : {(const void *)a, (const void *)b, (const void *)c})
            frame.operands.push_back(
                operand_t{table, (size_t)count * sizeof(void *), alignof(void *)});
        const int device = handle->device;

        return frame.submit_work([=] {
            for (int64_t i = 0; i < count; ++i) {
                for (const operand_t &operand :
                     {shape.a(a[i]), shape.b(b[i]), shape.c((const T *)c[i])})
                    if (blas_look(operand.data, operand.bytes, operand.alignment, device, name) !=
                        gpuSuccess)
                        return;

                product(shape, hurt(first.get()), a[i], b[i], second.get(), c[i]);
            }
        });
    });
}

} // namespace

#define FAKE_BLAS_GEMM(L, l, T)                                                                    \
    status_t fakeblas##L##gemm_64(fakeblasHandle_t handle, fakeblasOperation_t transa,             \
                                  fakeblasOperation_t transb, int64_t m, int64_t n, int64_t k,     \
                                  const T *alpha, const T *a, int64_t lda, const T *b,             \
                                  int64_t ldb, const T *beta, T *c, int64_t ldc) {                 \
        return gemm_strided(handle, #L "gemm", shape_t{transa, transb, m, n, k, lda, ldb, ldc},    \
                            alpha, a, 0, b, 0, beta, c, 0, 1);                                     \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_GEMM)

#define FAKE_BLAS_GEMM_BATCHED(L, l, T)                                                            \
    status_t fakeblas##L##gemmBatched_64(                                                          \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,           \
        int64_t m, int64_t n, int64_t k, const T *alpha, const T *const a[], int64_t lda,          \
        const T *const b[], int64_t ldb, const T *beta, T *const c[], int64_t ldc,                 \
        int64_t batch_count) {                                                                     \
        return gemm_batched(handle, #L "gemmBatched",                                              \
                            shape_t{transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta, c, \
                            batch_count);                                                          \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_GEMM_BATCHED)

#define FAKE_BLAS_GEMM_STRIDED_BATCHED(L, l, T)                                                    \
    status_t fakeblas##L##gemmStridedBatched_64(                                                   \
        fakeblasHandle_t handle, fakeblasOperation_t transa, fakeblasOperation_t transb,           \
        int64_t m, int64_t n, int64_t k, const T *alpha, const T *a, int64_t lda,                  \
        long long stride_a, const T *b, int64_t ldb, long long stride_b, const T *beta, T *c,      \
        int64_t ldc, long long stride_c, int64_t batch_count) {                                    \
        return gemm_strided(handle, #L "gemmStridedBatched",                                       \
                            shape_t{transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, stride_a,   \
                            b, stride_b, beta, c, stride_c, batch_count);                          \
    }
FAKE_BLAS_ALL_TYPES(FAKE_BLAS_GEMM_STRIDED_BATCHED)

/* ---- Narrow numbers ---- */

namespace {

float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float from_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return of_bits(sign | 0x7F800000 | (uint32_t)fraction << 13);

    const float size = exponent == 0 ? std::ldexp((float)fraction, -24)
                                     : std::ldexp((float)(1024 + fraction), exponent - 25);
    return sign != 0 ? -size : size;
}

/* To nearest, ties to even. */
uint16_t to_half(float value) {
    const uint16_t sign = (uint16_t)(bits_of(value) >> 16 & 0x8000);
    const float size = std::fabs(value);

    if (std::isnan(value))
        return (uint16_t)(sign | 0x7E00);
    if (size >= 65520.0f)
        return (uint16_t)(sign | 0x7C00);

    int exponent = 0;
    std::frexp(size, &exponent); /* size < 2^exponent */
    const int step = exponent - 11 < -24 ? -24 : exponent - 11;
    const int count = (int)std::nearbyint(std::ldexp(size, -step)); /* at most 2048 */

    if (step == -24)
        /* Subnormal, or the first normal numbers, which follow on. */
        return (uint16_t)(sign | count);
    return (uint16_t)(sign + ((step + 24) << 10) + count);
}

uint16_t to_bfloat(float value) {
    uint32_t bits = bits_of(value);
    if (std::isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);

    bits += 0x7FFF + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

float widen(const void *data, fakeblasDataType_t type, int64_t i) {
    if (type == FAKEBLAS_R_16F)
        return from_half(((const uint16_t *)data)[i]);
    if (type == FAKEBLAS_R_16BF)
        return of_bits((uint32_t)((const uint16_t *)data)[i] << 16);
    return ((const float *)data)[i];
}

std::vector<float> widened(const void *data, fakeblasDataType_t type, int64_t rows, int64_t columns,
                           int64_t ld) {
    std::vector<float> wide((size_t)(rows * columns));

    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
            wide[(size_t)(i + j * rows)] = widen(data, type, i + j * ld);
    return wide;
}

operand_t any_matrix(const void *data, fakeblasDataType_t type, int64_t rows, int64_t columns,
                     int64_t ld) {
    return type == FAKEBLAS_R_32F ? matrix((const float *)data, rows, columns, ld)
                                  : matrix((const uint16_t *)data, rows, columns, ld);
}

} // namespace

status_t fakeblasGemmEx_64(fakeblasHandle_t handle, fakeblasOperation_t transa,
                           fakeblasOperation_t transb, int64_t m, int64_t n, int64_t k,
                           const void *alpha, const void *a, fakeblasDataType_t a_type, int64_t lda,
                           const void *b, fakeblasDataType_t b_type, int64_t ldb, const void *beta,
                           void *c, fakeblasDataType_t c_type, int64_t ldc,
                           fakeblasComputeType_t compute, fakeblasGemmAlgo_t) {
    return blas_compute(handle, "GemmEx", [&](frame_t &frame) -> status_t {
        const shape_t shape{transa, transb, m, n, k, lda, ldb, ldc};
        UNLESS(shape.good_shape());

        if (a_type != b_type || (c_type != a_type && c_type != FAKEBLAS_R_32F))
            return FAKEBLAS_STATUS_NOT_SUPPORTED;
        const bool emulates = state().capability == 100 || state().capability == 103;
        if (compute == FAKEBLAS_COMPUTE_32F_EMULATED_16BFX9 &&
            (a_type != FAKEBLAS_R_32F || !emulates))
            return FAKEBLAS_STATUS_NOT_SUPPORTED;

        const auto first = frame.scalar((const float *)alpha),
                   second = frame.scalar((const float *)beta);

        const int64_t a_rows = transa == FAKEBLAS_OP_N ? m : k,
                      a_columns = transa == FAKEBLAS_OP_N ? k : m;
        const int64_t b_rows = transb == FAKEBLAS_OP_N ? k : n,
                      b_columns = transb == FAKEBLAS_OP_N ? n : k;

        frame.operands.push_back(any_matrix(a, a_type, a_rows, a_columns, lda));
        frame.operands.push_back(any_matrix(b, b_type, b_rows, b_columns, ldb));
        frame.operands.push_back(any_matrix(c, c_type, m, n, ldc));

        return frame.submit_work([=] {
            const std::vector<float> wide_a = widened(a, a_type, a_rows, a_columns, lda);
            const std::vector<float> wide_b = widened(b, b_type, b_rows, b_columns, ldb);
            std::vector<float> sums((size_t)(m * n)), wide_c((size_t)(m * n));
            const float by = first.get(), keep = second.get();

            if (keep != 0)
                wide_c = widened(c, c_type, m, n, ldc);
            const shape_t packed{transa, transb, m, n, k, a_rows, b_rows, m};

            product(packed, 1.0f, wide_a.data(), wide_b.data(), 0.0f, sums.data());

            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = 0; i < m; ++i) {
                    const size_t at = (size_t)(i + j * m);
                    /* 0 NaN is NaN */
                    const float value = by * sums[at] + (keep != 0 ? keep * wide_c[at] : 0);

                    if (c_type == FAKEBLAS_R_32F)
                        ((float *)c)[i + j * ldc] = value;
                    else
                        ((uint16_t *)c)[i + j * ldc] =
                            c_type == FAKEBLAS_R_16F ? to_half(value) : to_bfloat(value);
                }
        });
    });
}

#endif
