/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "fake_solver_math.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace fake;

/* ---- LU ---- */

static double pivot_size(value_t x) { return std::abs(x.real()) + std::abs(x.imag()); }

static void swap_rows(dense_t *a, int64_t i, int64_t j) {
    for (int64_t column = 0; column < a->n && i != j; column++)
        std::swap(a->at(i, column), a->at(j, column));
}

int fake::dense_lu(dense_t *a, int64_t *ipiv) {
    int info = 0;
    for (int64_t k = 0; k < std::min(a->m, a->n); k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < a->m; i++)
            if (pivot_size(a->at(i, k)) > pivot_size(a->at(pivot, k)))
                pivot = i;
        ipiv[k] = pivot + 1;
        swap_rows(a, k, pivot);
        if (a->at(k, k) == value_t(0)) {
            info = info == 0 ? (int)k + 1 : info;
            continue;
        }
        for (int64_t i = k + 1; i < a->m; i++) {
            const value_t factor = a->at(i, k) /= a->at(k, k);
            for (int64_t j = k + 1; j < a->n; j++)
                a->at(i, j) -= factor * a->at(k, j);
        }
    }
    return info;
}

/* Element (i, j) of op(A). */
static value_t element(const dense_t &a, char op, int64_t i, int64_t j) {
    return op == 'N' ? a.at(i, j) : op == 'T' ? a.at(j, i) : std::conj(a.at(j, i));
}

/* B := inv(op(T)) B with a triangle of A; `lower` says of op(T). */
static void solve_triangle(const dense_t &a, char op, bool lower, bool unit, dense_t *b) {
    const int64_t n = a.n;
    for (int64_t column = 0; column < b->n; column++)
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = lower ? step : n - 1 - step;
            value_t sum = b->at(i, column);
            for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
                sum -= element(a, op, i, j) * b->at(j, column);
            b->at(i, column) = unit ? sum : sum / element(a, op, i, i);
        }
}

void fake::dense_lu_solve(const dense_t &a, const int64_t *ipiv, char op, dense_t *b) {
    const bool plain = op == 'N';
    for (int64_t k = 0; k < a.n && plain; k++)
        swap_rows(b, k, ipiv[k] - 1);
    solve_triangle(a, op, true, plain, b); /* L, or U transposed */
    solve_triangle(a, op, false, !plain, b);
    for (int64_t k = a.n - 1; k >= 0 && !plain; k--)
        swap_rows(b, k, ipiv[k] - 1);
}

/* ---- QR ---- */

/* Element i of reflector k. */
static value_t reflector(const dense_t &a, int64_t k, int64_t i) {
    return i < k ? value_t(0) : i == k ? value_t(1) : a.at(i, k);
}

/* Columns [first, end) of C := (I - tau v v^H) C. */
static void reflect(const dense_t &a, int64_t k, value_t tau, dense_t *c, int64_t first,
                    int64_t end) {
    for (int64_t j = first; j < end; j++) {
        value_t sum = 0;
        for (int64_t i = k; i < c->m; i++)
            sum += std::conj(reflector(a, k, i)) * c->at(i, j);
        for (int64_t i = k; i < c->m; i++)
            c->at(i, j) -= tau * reflector(a, k, i) * sum;
    }
}

void fake::dense_qr(dense_t *a, std::vector<value_t> *tau) {
    const int64_t steps = std::min(a->m, a->n);
    tau->assign((size_t)steps, 0);
    for (int64_t k = 0; k < steps; k++) {
        const value_t alpha = a->at(k, k);
        double below = 0;
        for (int64_t i = k + 1; i < a->m; i++)
            below += std::norm(a->at(i, k));
        if (below == 0 && alpha.imag() == 0)
            continue;

        const double norm = std::sqrt(std::norm(alpha) + below),
                     beta = alpha.real() >= 0 ? -norm : norm;
        (*tau)[(size_t)k] = value_t((beta - alpha.real()) / beta, -alpha.imag() / beta);
        for (int64_t i = k + 1; i < a->m; i++)
            a->at(i, k) /= alpha - beta;
        reflect(*a, k, std::conj((*tau)[(size_t)k]), a, k + 1, a->n);
        a->at(k, k) = beta;
    }
}

static dense_t adjoint_of(const dense_t &a) {
    dense_t turned(a.n, a.m);
    for (int64_t j = 0; j < a.n; j++)
        for (int64_t i = 0; i < a.m; i++)
            turned.at(j, i) = std::conj(a.at(i, j));
    return turned;
}

void fake::dense_qr_multiply(const dense_t &a, const std::vector<value_t> &tau, int64_t k,
                             bool left, bool adjoint, dense_t *c) {
    if (!left) { /* C op(Q) is the adjoint of op(Q)^H C^H */
        dense_t turned = adjoint_of(*c);
        dense_qr_multiply(a, tau, k, true, !adjoint, &turned);
        *c = adjoint_of(turned);
        return;
    }
    for (int64_t step = 0; step < k; step++) {
        const int64_t i = adjoint ? step : k - 1 - step;
        reflect(a, i, adjoint ? std::conj(tau[(size_t)i]) : tau[(size_t)i], c, 0, c->n);
    }
}

/* ---- Jacobi ---- */

struct rotation_t {
    double c, s;
    value_t phase; /* that column q is multiplied by first */
};

/* Of the 2 x 2 matrix (alpha gamma; conj(gamma) beta), to be diagonal. */
static rotation_t rotation_of(double alpha, double beta, value_t gamma) {
    const double size = std::abs(gamma), zeta = (beta - alpha) / (2 * size),
                 t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)),
                 c = 1 / std::sqrt(1 + t * t);
    return {c, t * c, std::conj(gamma) / size};
}

static void rotate_columns(dense_t *a, int64_t p, int64_t q, const rotation_t &r) {
    for (int64_t i = 0; i < a->m; i++) {
        const value_t x = a->at(i, p), y = a->at(i, q) * r.phase;
        a->at(i, p) = r.c * x - r.s * y;
        a->at(i, q) = r.s * x + r.c * y;
    }
}
static void rotate_rows(dense_t *a, int64_t p, int64_t q, const rotation_t &r) {
    for (int64_t j = 0; j < a->n; j++) {
        const value_t x = a->at(p, j), y = a->at(q, j) * std::conj(r.phase);
        a->at(p, j) = r.c * x - r.s * y;
        a->at(q, j) = r.s * x + r.c * y;
    }
}

static dense_t identity(int64_t n) {
    dense_t made(n, n);
    for (int64_t i = 0; i < n; i++)
        made.at(i, i) = 1;
    return made;
}

/* Columns in the order of the keys. */
static dense_t sorted(const dense_t &a, const std::vector<int64_t> &order) {
    dense_t made(a.m, (int64_t)order.size());
    for (size_t j = 0; j < order.size(); j++)
        for (int64_t i = 0; i < a.m; i++)
            made.at(i, (int64_t)j) = a.at(i, order[j]);
    return made;
}

#define JACOBI_SWEEPS 60

void fake::dense_eigen(dense_t *a, std::vector<double> *values) {
    const int64_t n = a->n;
    dense_t v = identity(n);
    double norm = 0;
    for (const value_t &x : a->values)
        norm += std::norm(x);

    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        double off = 0;
        for (int64_t q = 1; q < n; q++)
            for (int64_t p = 0; p < q; p++) {
                const value_t gamma = a->at(p, q);
                off += std::norm(gamma);
                if (gamma == value_t(0))
                    continue;
                const rotation_t r = rotation_of(a->at(p, p).real(), a->at(q, q).real(), gamma);
                rotate_columns(a, p, q, r);
                rotate_rows(a, p, q, r);
                rotate_columns(&v, p, q, r);
            }
        if (off <= norm * 1e-34)
            break;
    }

    std::vector<int64_t> order((size_t)n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t i, int64_t j) { return a->at(i, i).real() < a->at(j, j).real(); });
    values->clear();
    for (int64_t i : order)
        values->push_back(a->at(i, i).real());
    *a = sorted(v, order);
}

/* Column j of U becomes a unit vector that is orthogonal to those before it. */
static void complete(dense_t *u, int64_t j) {
    for (int64_t unit = 0; unit < u->m; unit++) {
        for (int64_t i = 0; i < u->m; i++)
            u->at(i, j) = i == unit;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t k = 0; k < j; k++) {
                value_t sum = 0;
                for (int64_t i = 0; i < u->m; i++)
                    sum += std::conj(u->at(i, k)) * u->at(i, j);
                for (int64_t i = 0; i < u->m; i++)
                    u->at(i, j) -= sum * u->at(i, k);
            }
        double norm = 0;
        for (int64_t i = 0; i < u->m; i++)
            norm += std::norm(u->at(i, j));
        if (norm < 0.25 / (double)u->m)
            continue;
        for (int64_t i = 0; i < u->m; i++)
            u->at(i, j) /= std::sqrt(norm);
        return;
    }
}

void fake::dense_singular(const dense_t &given, dense_t *u, std::vector<double> *s, dense_t *v) {
    dense_t a = given;
    const int64_t m = a.m, n = a.n;
    dense_t turns = identity(n);
    const auto inner = [&](int64_t p, int64_t q) {
        value_t sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += std::conj(a.at(i, p)) * a.at(i, q);
        return sum;
    };

    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        bool rotated = false;
        for (int64_t q = 1; q < n; q++)
            for (int64_t p = 0; p < q; p++) {
                const value_t gamma = inner(p, q);
                const double alpha = inner(p, p).real(), beta = inner(q, q).real();
                if (std::abs(gamma) <= 1e-16 * std::sqrt(alpha * beta))
                    continue;
                const rotation_t r = rotation_of(alpha, beta, gamma);
                rotate_columns(&a, p, q, r);
                rotate_columns(&turns, p, q, r);
                rotated = true;
            }
        if (!rotated)
            break;
    }

    std::vector<double> norms;
    std::vector<int64_t> order((size_t)n);
    for (int64_t j = 0; j < n; j++)
        norms.push_back(std::sqrt(inner(j, j).real()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t i, int64_t j) { return norms[(size_t)i] > norms[(size_t)j]; });

    *v = sorted(turns, order);
    *u = dense_t(m, m);
    s->clear();
    for (int64_t j = 0; j < m; j++) {
        const double norm = j < n ? norms[(size_t)order[(size_t)j]] : 0;
        if (j < n)
            s->push_back(norm);
        if (norm == 0)
            complete(u, j);
        for (int64_t i = 0; i < m && norm > 0; i++)
            u->at(i, j) = a.at(i, order[(size_t)j]) / norm;
    }
}
