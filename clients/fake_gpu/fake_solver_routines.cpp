/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The functions of the fake vendor's LAPACK: what each checks, what it asks for, what it does. */

#include "gpu/blas/vendor_solver.h"

#if GPU_HAS_SOLVER

#include "fake_solver_call.h"

using namespace fake;

/* ---- LU ---- */

static bytes_t getrf_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(m * std::min<int64_t>(n, 8) + 3) * size_of(type), (size_t)n * 8 + 40};
}

solver_status_t fakesolverDnXgetrf_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, int64_t m, int64_t n,
                                              data_type_t type, const void *, int64_t lda,
                                              data_type_t compute, size_t *device_bytes,
                                              size_t *host_bytes) {
    const bool right = params != nullptr && good_ld(lda, m) && n >= 0 && compute == type;
    return solver_query(handle, "Xgetrf_bufferSize", right, [&] {
        const bytes_t bytes = getrf_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgetrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   int64_t m, int64_t n, data_type_t type, void *a, int64_t lda,
                                   int64_t *ipiv, data_type_t compute, void *work,
                                   size_t work_bytes, void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good_ld(lda, m) && n >= 0 && compute == type);
    const stored_t matrix = stored(type, a, m, n, lda);
    const operand_t pivots = {ipiv, (size_t)std::min(m, n) * sizeof *ipiv, sizeof *ipiv};
    return solver_compute(handle, "Xgetrf", getrf_bytes(type, m, n),
                          workspace_t{work, work_bytes, host, host_bytes},
                          {matrix.operand(), pivots}, info, [=] {
                              dense_t lu = matrix.get();
                              const int found = dense_lu(&lu, ipiv);
                              matrix.put(lu);
                              return found;
                          });
}

solver_status_t fakesolverDnXgetrs(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   fakeblasOperation_t trans, int64_t n, int64_t nrhs,
                                   data_type_t type, const void *a, int64_t lda,
                                   const int64_t *ipiv, data_type_t type_b, void *b, int64_t ldb,
                                   int *info) {
    SOLVER_UNLESS(params != nullptr && good(trans) && good_ld(lda, n) && good_ld(ldb, n) &&
                  nrhs >= 0 && type_b == type);
    const stored_t matrix = stored(type, a, n, n, lda), rhs = stored(type, b, n, nrhs, ldb);
    const operand_t pivots = {ipiv, (size_t)n * sizeof *ipiv, sizeof *ipiv};
    return solver_compute(handle, "Xgetrs", bytes_t{0, 0}, workspace_t{nullptr, 0, nullptr, 0},
                          {matrix.operand(), rhs.operand(), pivots}, info, [=] {
                              dense_t x = rhs.get();
                              dense_lu_solve(matrix.get(), ipiv, "NTC"[trans], &x);
                              rhs.put(x);
                              return 0;
                          });
}

/* ---- QR ---- */

static bytes_t geqrf_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(m + 5 * n) * size_of(type), 0};
}

solver_status_t fakesolverDnXgeqrf_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, int64_t m, int64_t n,
                                              data_type_t type, const void *, int64_t lda,
                                              data_type_t type_tau, const void *,
                                              data_type_t compute, size_t *device_bytes,
                                              size_t *host_bytes) {
    const bool right =
        params != nullptr && good_ld(lda, m) && n >= 0 && type_tau == type && compute == type;
    return solver_query(handle, "Xgeqrf_bufferSize", right, [&] {
        const bytes_t bytes = geqrf_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgeqrf(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   int64_t m, int64_t n, data_type_t type, void *a, int64_t lda,
                                   data_type_t type_tau, void *tau, data_type_t compute, void *work,
                                   size_t work_bytes, void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good_ld(lda, m) && n >= 0 && type_tau == type &&
                  compute == type);
    const stored_t matrix = stored(type, a, m, n, lda), factors = column(type, tau, std::min(m, n));
    return solver_compute(handle, "Xgeqrf", geqrf_bytes(type, m, n),
                          workspace_t{work, work_bytes, host, host_bytes},
                          {matrix.operand(), factors.operand()}, info, [=] {
                              dense_t qr = matrix.get();
                              std::vector<value_t> taus;
                              dense_qr(&qr, &taus);
                              matrix.put(qr);
                              for (size_t i = 0; i < taus.size(); i++)
                                  store(type, tau, (int64_t)i, taus[i]);
                              return 0;
                          });
}

static std::vector<value_t> taus_of(const stored_t &factors) { return factors.get().values; }

static solver_status_t orgqr(fakesolverDnHandle_t handle, const char *name, data_type_t type, int m,
                             int n, int k, void *a, int lda, const void *tau, void *work,
                             int elements, int *info) {
    SOLVER_UNLESS(m >= n && n >= k && k >= 0 && good_ld(lda, m));
    const stored_t matrix = stored(type, a, m, n, lda), factors = column(type, tau, k);
    const bytes_t wanted = {(size_t)(2 * n + 7) * size_of(type), 0};
    return solver_compute(handle, name, wanted,
                          workspace_t{work, (size_t)elements * size_of(type), nullptr, 0},
                          {matrix.operand(), factors.operand()}, info, [=] {
                              dense_t q(m, n);
                              for (int i = 0; i < n; i++)
                                  q.at(i, i) = 1;
                              dense_qr_multiply(matrix.get(), taus_of(factors), k, true, false, &q);
                              matrix.put(q);
                              return 0;
                          });
}

static solver_status_t ormqr(fakesolverDnHandle_t handle, const char *name, data_type_t type,
                             fakeblasSideMode_t side, fakeblasOperation_t trans, int m, int n,
                             int k, const void *a, int lda, const void *tau, void *c, int ldc,
                             void *work, int elements, int *info) {
    const bool left = side == FAKEBLAS_SIDE_LEFT;
    const int rows = left ? m : n;
    SOLVER_UNLESS(
        good(side) && k >= 0 && k <= rows && good_ld(lda, rows) && good_ld(ldc, m) &&
        (trans == FAKEBLAS_OP_N || trans == (is_complex(type) ? FAKEBLAS_OP_C : FAKEBLAS_OP_T)));
    const stored_t matrix = stored(type, a, rows, k, lda), factors = column(type, tau, k),
                   product = stored(type, c, m, n, ldc);
    const bytes_t wanted = {(size_t)(3 * (left ? n : m) + 1) * size_of(type), 0};
    return solver_compute(
        handle, name, wanted, workspace_t{work, (size_t)elements * size_of(type), nullptr, 0},
        {matrix.operand(), factors.operand(), product.operand()}, info, [=] {
            dense_t x = product.get();
            dense_qr_multiply(matrix.get(), taus_of(factors), k, left, trans != FAKEBLAS_OP_N, &x);
            product.put(x);
            return 0;
        });
}

#define FAKE_SOLVER_TYPED(L, orgqr_, ormqr_, T, type)                                              \
    solver_status_t fakesolverDn##L##orgqr_##_bufferSize(fakesolverDnHandle_t handle, int m,       \
                                                         int n, int k, const T *, int lda,         \
                                                         const T *, int *elements) {               \
        return solver_query(handle, #L#orgqr_ "_bufferSize",                                       \
                            m >= n && n >= k && k >= 0 && good_ld(lda, m),                         \
                            [&] { *elements = 2 * n + 7; });                                       \
    }                                                                                              \
    solver_status_t fakesolverDn##L##orgqr_(fakesolverDnHandle_t handle, int m, int n, int k,      \
                                            T *a, int lda, const T *tau, T *work, int elements,    \
                                            int *info) {                                           \
        return orgqr(handle, #L#orgqr_, type, m, n, k, a, lda, tau, work, elements, info);         \
    }                                                                                              \
    solver_status_t fakesolverDn##L##ormqr_##_bufferSize(                                          \
        fakesolverDnHandle_t handle, fakeblasSideMode_t side, fakeblasOperation_t trans, int m,    \
        int n, int k, const T *, int lda, const T *, const T *, int ldc, int *elements) {          \
        const bool left = side == FAKEBLAS_SIDE_LEFT;                                              \
        return solver_query(handle, #L#ormqr_ "_bufferSize",                                       \
                            good(side) && good(trans) && k >= 0 && k <= (left ? m : n) &&          \
                                good_ld(lda, left ? m : n) && good_ld(ldc, m),                     \
                            [&] { *elements = 3 * (left ? n : m) + 1; });                          \
    }                                                                                              \
    solver_status_t fakesolverDn##L##ormqr_(fakesolverDnHandle_t handle, fakeblasSideMode_t side,  \
                                            fakeblasOperation_t trans, int m, int n, int k,        \
                                            const T *a, int lda, const T *tau, T *c, int ldc,      \
                                            T *work, int elements, int *info) {                    \
        return ormqr(handle, #L#ormqr_, type, side, trans, m, n, k, a, lda, tau, c, ldc, work,     \
                     elements, info);                                                              \
    }
FAKE_SOLVER_TYPED(S, orgqr, ormqr, float, FAKESOLVER_R_32F)
FAKE_SOLVER_TYPED(D, orgqr, ormqr, double, FAKESOLVER_R_64F)
FAKE_SOLVER_TYPED(C, ungqr, unmqr, fake_blas_c32_t, FAKESOLVER_C_32F)
FAKE_SOLVER_TYPED(Z, ungqr, unmqr, fake_blas_c64_t, FAKESOLVER_C_64F)

/* ---- Eigenvalues and singular values ---- */

static bytes_t syevd_bytes(data_type_t type, int64_t n) {
    return bytes_t{(size_t)(n * n + 2 * n) * size_of(type), (size_t)n * 24 + 8};
}

static bool good(fakesolverEigMode_t job) {
    return job == FAKESOLVER_EIG_MODE_NOVECTOR || job == FAKESOLVER_EIG_MODE_VECTOR;
}

solver_status_t fakesolverDnXsyevd_bufferSize(fakesolverDnHandle_t handle,
                                              fakesolverDnParams_t params, fakesolverEigMode_t job,
                                              fakeblasFillMode_t uplo, int64_t n, data_type_t type,
                                              const void *, int64_t lda, data_type_t type_w,
                                              const void *, data_type_t compute,
                                              size_t *device_bytes, size_t *host_bytes) {
    const bool right = params != nullptr && good(job) && good(uplo) && good_ld(lda, n) &&
                       type_w == real_of(type) && compute == type;
    return solver_query(handle, "Xsyevd_bufferSize", right, [&] {
        const bytes_t bytes = syevd_bytes(type, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXsyevd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   fakesolverEigMode_t job, fakeblasFillMode_t uplo, int64_t n,
                                   data_type_t type, void *a, int64_t lda, data_type_t type_w,
                                   void *w, data_type_t compute, void *work, size_t work_bytes,
                                   void *host, size_t host_bytes, int *info) {
    SOLVER_UNLESS(params != nullptr && good(job) && good(uplo) && good_ld(lda, n) &&
                  type_w == real_of(type) && compute == type);
    const stored_t matrix = stored(type, a, n, n, lda), values = column(type_w, w, n);
    return solver_compute(
        handle, "Xsyevd", syevd_bytes(type, n), workspace_t{work, work_bytes, host, host_bytes},
        {matrix.operand(), values.operand()}, info, [=] {
            const dense_t given = matrix.get();
            dense_t whole(n, n);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < n; i++)
                    whole.at(i, j) = i == j ? given.at(i, i).real()
                                     : (i < j) == (uplo == FAKEBLAS_FILL_MODE_UPPER)
                                         ? given.at(i, j)
                                         : std::conj(given.at(j, i));
            std::vector<double> found;
            dense_eigen(&whole, &found);
            if (job == FAKESOLVER_EIG_MODE_VECTOR)
                matrix.put(whole);
            for (int64_t i = 0; i < n; i++)
                store(type_w, w, i, found[(size_t)i]);
            return 0;
        });
}

static bytes_t gesvd_bytes(data_type_t type, int64_t m, int64_t n) {
    return bytes_t{(size_t)(3 * n + m + 9) * size_of(type), (size_t)m * 16 + 24};
}

/* Of 'A', 'S', 'O' or 'N'. */
static bool good_job(signed char job) {
    return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}
static bool good_gesvd(signed char jobu, signed char jobvt, int64_t m, int64_t n, int64_t lda,
                       int64_t ldu, int64_t ldvt) {
    return good_job(jobu) && good_job(jobvt) && !(jobu == 'O' && jobvt == 'O') && m >= n &&
           n >= 0 && good_ld(lda, m) && ldu >= 1 && ldvt >= 1 &&
           (jobu == 'N' || jobu == 'O' || ldu >= m) && (jobvt == 'N' || jobvt == 'O' || ldvt >= n);
}

solver_status_t fakesolverDnXgesvd_bufferSize(
    fakesolverDnHandle_t handle, fakesolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, data_type_t type, const void *, int64_t lda, data_type_t type_s,
    const void *, data_type_t type_u, const void *, int64_t ldu, data_type_t type_vt, const void *,
    int64_t ldvt, data_type_t compute, size_t *device_bytes, size_t *host_bytes) {
    const bool right = params != nullptr && good_gesvd(jobu, jobvt, m, n, lda, ldu, ldvt) &&
                       type_s == real_of(type) && type_u == type && type_vt == type &&
                       compute == type;
    return solver_query(handle, "Xgesvd_bufferSize", right, [&] {
        const bytes_t bytes = gesvd_bytes(type, m, n);
        *device_bytes = bytes.device, *host_bytes = bytes.host;
    });
}

solver_status_t fakesolverDnXgesvd(fakesolverDnHandle_t handle, fakesolverDnParams_t params,
                                   signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                   data_type_t type, void *a, int64_t lda, data_type_t type_s,
                                   void *s, data_type_t type_u, void *u, int64_t ldu,
                                   data_type_t type_vt, void *vt, int64_t ldvt, data_type_t compute,
                                   void *work, size_t work_bytes, void *host, size_t host_bytes,
                                   int *info) {
    SOLVER_UNLESS(params != nullptr && good_gesvd(jobu, jobvt, m, n, lda, ldu, ldvt) &&
                  type_s == real_of(type) && type_u == type && type_vt == type && compute == type);
    const auto made = [](signed char job, int64_t all, int64_t some) {
        return job == 'A' ? all : job == 'S' ? some : 0;
    };
    const stored_t matrix = stored(type, a, m, n, lda), values = column(type_s, s, n),
                   left = stored(type, u, m, made(jobu, m, n), ldu),
                   right = stored(type, vt, made(jobvt, n, n), n, ldvt);
    return solver_compute(
        handle, "Xgesvd", gesvd_bytes(type, m, n), workspace_t{work, work_bytes, host, host_bytes},
        {matrix.operand(), values.operand(), left.operand(), right.operand()}, info, [=] {
            dense_t full_u(m, m), v(n, n), vt_of(n, n), over(m, n);
            std::vector<double> found;
            dense_singular(matrix.get(), &full_u, &found, &v);
            for (int64_t j = 0; j < n; j++) {
                store(type_s, s, j, found[(size_t)j]);
                for (int64_t i = 0; i < n; i++)
                    vt_of.at(j, i) = std::conj(v.at(i, j));
            }
            left.put(full_u);
            right.put(vt_of);
            for (value_t &lost : over.values)
                lost = NAN;
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < m; i++)
                    if (jobu == 'O')
                        over.at(i, j) = full_u.at(i, j);
                    else if (jobvt == 'O' && i < n)
                        over.at(i, j) = vt_of.at(i, j);
            matrix.put(over);
            return 0;
        });
}

#endif
