/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* blas.hpp and lapack.hpp: what a name stands for with each element type, bit by bit beside C. */

#include <gtest/gtest.h>
#include <jalloc.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using jalloc::none;
namespace blas = jalloc::blas;
namespace lapack = jalloc::lapack;

/* The functions of C of an element type. */
template <typename T> struct c_of;
#define C_OF(type, real_type, x, real_x, ix, dot_x, un, he)                                        \
    template <> struct c_of<type> {                                                                \
        using real = real_type;                                                                    \
        static constexpr auto axpy = jblas_##x##axpy;                                              \
        static constexpr auto scal = jblas_##x##scal;                                              \
        static constexpr auto asum = jblas_##real_x##asum;                                         \
        static constexpr auto nrm2 = jblas_##real_x##nrm2;                                         \
        static constexpr auto iamax = jblas_##ix##amax;                                            \
        static constexpr auto dotc = jblas_##dot_x;                                                \
        static constexpr auto gemm = jblas_##x##gemm;                                              \
        static constexpr auto gemm_batched = jblas_##x##gemm_batched;                              \
        static constexpr auto gemm_strided_batched = jblas_##x##gemm_strided_batched;              \
        static constexpr auto trsm = jblas_##x##trsm;                                              \
        static constexpr auto herk = jblas_##x##he##rk;                                            \
        static constexpr auto potrf = jlapack_##x##potrf;                                          \
        static constexpr auto gesv = jlapack_##x##gesv;                                            \
        static constexpr auto geqrf = jlapack_##x##geqrf;                                          \
        static constexpr auto ungqr = jlapack_##x##un##qr;                                         \
        static constexpr auto gecon = jlapack_##x##gecon;                                          \
    }
C_OF(float, float, s, s, is, sdot, org, sy);
C_OF(double, double, d, d, id, ddot, org, sy);
C_OF(std::complex<float>, float, c, sc, ic, cdotc, ung, he);
C_OF(std::complex<double>, double, z, dz, iz, zdotc, ung, he);

template <typename T> class CxxOverloads : public testing::Test {
  protected:
    static constexpr int order = 7;
    using magnitude = typename c_of<T>::real;
    using numbers = std::vector<T>;

    jalloc::handle handle;
    std::mt19937 random{std::random_device{}()};

    T number() {
        std::uniform_real_distribution<magnitude> from(-1, 1);
        if constexpr (std::is_same_v<T, magnitude>)
            return from(random);
        else
            return {from(random), from(random)};
    }
    numbers some(int count) {
        numbers result(static_cast<std::size_t>(count));
        for (T &element : result)
            element = number();
        return result;
    }
    /* Hermitian positive definite: a large diagonal. */
    numbers definite() {
        numbers a = some(order * order);
        for (int j = 0; j < order; ++j)
            for (int i = 0; i <= j; ++i)
                if (i == j)
                    a[static_cast<std::size_t>(i + j * order)] = T(4 * order);
                else if constexpr (std::is_same_v<T, magnitude>)
                    a[static_cast<std::size_t>(i + j * order)] =
                        a[static_cast<std::size_t>(j + i * order)];
                else
                    a[static_cast<std::size_t>(i + j * order)] =
                        std::conj(a[static_cast<std::size_t>(j + i * order)]);
        return a;
    }
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CxxOverloads, Types);

TYPED_TEST(CxxOverloads, VectorsAreThoseOfC) {
    using T = TypeParam;
    using real = typename c_of<T>::real;
    const int n = this->order;
    const auto x = this->some(n);
    auto y = this->some(n), z = y;
    const T alpha = this->number();

    EXPECT_EQ(blas::axpy(this->handle, n, alpha, x.data(), 1, y.data(), 1), JSTATUS_SUCCESS);
    EXPECT_EQ(c_of<T>::axpy(this->handle, n, &alpha, x.data(), 1, z.data(), 1), JSTATUS_SUCCESS);
    EXPECT_EQ(y, z);
    EXPECT_EQ(blas::scal(this->handle, n, alpha, y.data(), 1), JSTATUS_SUCCESS);
    EXPECT_EQ(c_of<T>::scal(this->handle, n, &alpha, z.data(), 1), JSTATUS_SUCCESS);
    EXPECT_EQ(y, z);

    real sum = 0, c_sum = 1, norm = 0, c_norm = 1;
    std::int64_t index = 0, c_index = 1;
    T product = 0, c_product = 1;
    blas::asum(this->handle, n, x.data(), 1, &sum);
    EXPECT_EQ(c_of<T>::asum(this->handle, n, x.data(), 1, &c_sum), JSTATUS_SUCCESS);
    EXPECT_EQ(sum, c_sum);
    blas::nrm2(this->handle, n, x.data(), 1, &norm);
    EXPECT_EQ(c_of<T>::nrm2(this->handle, n, x.data(), 1, &c_norm), JSTATUS_SUCCESS);
    EXPECT_EQ(norm, c_norm);
    blas::iamax(this->handle, n, x.data(), 1, &index);
    EXPECT_EQ(c_of<T>::iamax(this->handle, n, x.data(), 1, &c_index), JSTATUS_SUCCESS);
    EXPECT_EQ(index, c_index);
    blas::dotc(this->handle, n, x.data(), 1, y.data(), 1, &product);
    EXPECT_EQ(c_of<T>::dotc(this->handle, n, x.data(), 1, y.data(), 1, &c_product),
              JSTATUS_SUCCESS);
    EXPECT_EQ(product, c_product);
}

/* A real alpha scales complex numbers by csscal, which forms no 0 * infinity. */
TYPED_TEST(CxxOverloads, RealNumbersAreScalars) {
    using T = TypeParam;
    using real = typename c_of<T>::real;
    const auto x = this->some(4);
    std::vector<T> y = x, by_pointer = x;
    y[0] = T(std::numeric_limits<real>::infinity());
    const T two = 2;
    blas::scal(this->handle, 4, 2, y.data(), 1);
    EXPECT_EQ(y[0], T(std::numeric_limits<real>::infinity()));
    blas::scal(this->handle, 4, &two, by_pointer.data(), 1);
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_EQ(y[i], x[i] + x[i]);
        EXPECT_EQ(by_pointer[i], y[i]);
    }
    blas::axpy(this->handle, 4, 0, x.data(), 1, by_pointer.data(), 1); // 0 is no pointer
    EXPECT_EQ(by_pointer[3], y[3]);
    EXPECT_THROW(blas::axpy(this->handle, 4, nullptr, x.data(), 1, y.data(), 1), jalloc::error);
}

TYPED_TEST(CxxOverloads, MatricesAreThoseOfC) {
    using T = TypeParam;
    using real = typename c_of<T>::real;
    const int n = this->order;
    const auto a = this->some(n * n), b = this->some(n * n);
    auto c = this->some(n * n), d = c;
    const T alpha = this->number(), beta = this->number();
    const real real_alpha = std::real(alpha), real_beta = std::real(beta);

    blas::gemm(this->handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, alpha, a.data(), n,
               b.data(), n, beta, c.data(), n);
    EXPECT_EQ(c_of<T>::gemm(this->handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &alpha,
                            a.data(), n, b.data(), n, &beta, d.data(), n),
              JSTATUS_SUCCESS);
    EXPECT_EQ(c, d);
    blas::trsm(this->handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, n, n, alpha,
               a.data(), n, c.data(), n);
    EXPECT_EQ(c_of<T>::trsm(this->handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT,
                            n, n, &alpha, a.data(), n, d.data(), n),
              JSTATUS_SUCCESS);
    EXPECT_EQ(c, d);
    blas::herk(this->handle, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, n, n, real_alpha, a.data(), n,
               real_beta, c.data(), n);
    EXPECT_EQ(c_of<T>::herk(this->handle, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, n, n, &real_alpha,
                            a.data(), n, &real_beta, d.data(), n),
              JSTATUS_SUCCESS);
    EXPECT_EQ(c, d);
}

TYPED_TEST(CxxOverloads, BatchesAreThoseOfC) {
    using T = TypeParam;
    const int n = 3, size = n * n;
    const auto a = this->some(2 * size), b = this->some(2 * size);
    std::vector<T> c(2 * size), d(2 * size);
    const T alpha = this->number(), beta = 0;
    const T *const as[] = {a.data(), a.data() + size}, *const bs[] = {b.data(), b.data() + size};
    T *const cs[] = {c.data(), c.data() + size}, *const ds[] = {d.data(), d.data() + size};

    blas::gemm_batched(this->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, alpha, as, n,
                       bs, n, beta, cs, n, 2);
    EXPECT_EQ(c_of<T>::gemm_batched(this->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n,
                                    &alpha, as, n, bs, n, &beta, ds, n, 2),
              JSTATUS_SUCCESS);
    EXPECT_EQ(c, d);
    blas::gemm_strided_batched(this->handle, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE, n, n, n, alpha,
                               a.data(), n, size, b.data(), n, size, beta, c.data(), n, size, 2);
    EXPECT_EQ(c_of<T>::gemm_strided_batched(this->handle, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE, n, n,
                                            n, &alpha, a.data(), n, size, b.data(), n, size, &beta,
                                            d.data(), n, size, 2),
              JSTATUS_SUCCESS);
    EXPECT_EQ(c, d);
}

TYPED_TEST(CxxOverloads, FactorizationsAreThoseOfC) {
    using T = TypeParam;
    using real = typename c_of<T>::real;
    const int n = this->order;
    auto a = this->definite(), c = a;
    std::int64_t info = -1, c_info = -2, pivots[7], c_pivots[7];
    lapack::potrf(this->handle, JBLAS_LOWER, n, a.data(), n, &info);
    EXPECT_EQ(c_of<T>::potrf(this->handle, JBLAS_LOWER, n, c.data(), n, &c_info), JSTATUS_SUCCESS);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(c_info, 0);
    EXPECT_EQ(a, c);

    a = c = this->definite();
    auto x = this->some(n), y = x;
    lapack::gesv(this->handle, n, 1, a.data(), n, pivots, x.data(), n, &info);
    EXPECT_EQ(c_of<T>::gesv(this->handle, n, 1, c.data(), n, c_pivots, y.data(), n, &c_info),
              JSTATUS_SUCCESS);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(x, y);
    real reciprocal = 0, c_reciprocal = 1;
    const real norm = 5 * n;
    lapack::gecon(this->handle, JLAPACK_ONE_NORM, n, a.data(), n, norm, &reciprocal);
    EXPECT_EQ(c_of<T>::gecon(this->handle, JLAPACK_ONE_NORM, n, c.data(), n, &norm, &c_reciprocal),
              JSTATUS_SUCCESS);
    EXPECT_EQ(reciprocal, c_reciprocal);

    a = c = this->some(n * n);
    std::vector<T> tau(static_cast<std::size_t>(n)), c_tau = tau;
    lapack::geqrf(this->handle, n, n, a.data(), n, tau.data());
    lapack::ungqr(this->handle, n, n, n, a.data(), n, tau.data());
    EXPECT_EQ(c_of<T>::geqrf(this->handle, n, n, c.data(), n, c_tau.data()), JSTATUS_SUCCESS);
    EXPECT_EQ(c_of<T>::ungqr(this->handle, n, n, n, c.data(), n, c_tau.data()), JSTATUS_SUCCESS);
    EXPECT_EQ(a, c);
}

TYPED_TEST(CxxOverloads, AQueryNamesTheTypeByNone) {
    using T = TypeParam;
    std::size_t c_bytes = 0;
    const std::size_t bytes = this->handle.size_query([&] {
        lapack::potrf(this->handle, JBLAS_LOWER, 300, none<T>, 300, nullptr);
        return lapack::gesv(this->handle, 300, 2, none<T>, 300, nullptr, none<T>, 300, nullptr);
    });
    EXPECT_EQ(jhandle_start_size_query(this->handle), JSTATUS_SUCCESS);
    c_of<T>::potrf(this->handle, JBLAS_LOWER, 300, nullptr, 300, nullptr);
    c_of<T>::gesv(this->handle, 300, 2, nullptr, 300, nullptr, nullptr, 300, nullptr);
    EXPECT_EQ(jhandle_stop_size_query(this->handle, &c_bytes), JSTATUS_SUCCESS);
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(bytes, c_bytes);
}

/* A value would have ended before it is read. */
TYPED_TEST(CxxOverloads, PointerModeDeviceTakesNoValues) {
    using T = TypeParam;
    auto x = this->some(4);
    const auto before = x;
    const T one = 1;
    this->handle.set_pointer_mode(JPOINTER_MODE_DEVICE);
    try {
        blas::scal(this->handle, 4, T(1), x.data(), 1);
        FAIL() << "not refused";
    } catch (const jalloc::error &error) {
        EXPECT_EQ(error.status(), JSTATUS_INVALID_VALUE);
        EXPECT_NE(std::string(error.what()).find("scal: a scalar by value"), std::string::npos);
    }
    EXPECT_THROW(blas::axpy(this->handle, 4, 1, before.data(), 1, x.data(), 1), jalloc::error);
    EXPECT_EQ(x, before);
    EXPECT_EQ(blas::scal(this->handle, 4, &one, x.data(), 1), JSTATUS_SUCCESS);
}

} // namespace
