/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_SOLVER_MATH_H
#define JALLOC_CLIENTS_FAKE_SOLVER_MATH_H

/* What the fake vendor's LAPACK computes, by the plainest loops there are, in complex numbers of
 * doubles whatever the type: LU with partial pivoting, Householder's QR as LAPACK stores it, and
 * Jacobi's rotations for eigenvalues and singular values. */

#include <complex>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(hidden)

namespace fake {

typedef std::complex<double> value_t;

struct dense_t {
    int64_t m, n;
    std::vector<value_t> values;
    dense_t(int64_t m_, int64_t n_) : m(m_), n(n_), values((size_t)(m_ * n_)) {}
    value_t &at(int64_t i, int64_t j) { return values[(size_t)(i + j * m)]; }
    const value_t &at(int64_t i, int64_t j) const { return values[(size_t)(i + j * m)]; }
};

/* A = P L U in place; ipiv from 1 on. Gives the first zero of U's diagonal, or 0. */
int dense_lu(dense_t *a, int64_t *ipiv);
/* op(A) X = B with that; `op`: 'N', 'T', 'C'. */
void dense_lu_solve(const dense_t &a, const int64_t *ipiv, char op, dense_t *b);

void dense_qr(dense_t *a, std::vector<value_t> *tau);
/* C = op(Q) C, or C op(Q), of k reflectors. */
void dense_qr_multiply(const dense_t &a, const std::vector<value_t> &tau, int64_t k, bool left,
                       bool adjoint, dense_t *c);

/* A, Hermitian and whole, becomes its eigenvectors. */
void dense_eigen(dense_t *a, std::vector<double> *values);
/* A = U diag(s) V^H, m >= n: U is m x m, V n x n. */
void dense_singular(const dense_t &a, dense_t *u, std::vector<double> *s, dense_t *v);

} // namespace fake

#pragma GCC visibility pop

#endif
