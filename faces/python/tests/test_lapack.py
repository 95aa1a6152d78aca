# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""LAPACK on arrays: results multiplied out again, and against NumPy's own."""

import itertools

import numpy as np
import pytest

import jalloc
from conftest import LAYOUTS, close, laid_out, numbers
from jalloc import lapack

HAVE_LAPACK = jalloc.c.jlapack_lapack_int_bits() != 0
needs_lapack = pytest.mark.skipif(not HAVE_LAPACK, reason="no LAPACK beneath")


def good(rng, n, dtype):
    """Far from singular."""
    return numbers(rng, (n, n), dtype) / n + 2 * np.eye(n, dtype=dtype)


def positive(rng, n, dtype):
    a = numbers(rng, (n, n), dtype)
    return (a @ a.conj().T / n + 2 * np.eye(n)).astype(dtype)


def one_triangle(a, lower):
    read = np.tri(len(a), dtype=bool)
    return np.where(read if lower else read.T, a, np.nan).astype(a.dtype)


def swapped(pivots, n):
    """Rows after the exchanges."""
    rows = list(range(n))
    for i, p in enumerate(pivots):
        rows[i], rows[p] = rows[p], rows[i]
    return rows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lu(handle, rng, dtype, layout):
    for m, n in [(1, 1), (7, 7), (12, 5), (5, 12)]:
        a = laid_out(numbers(rng, (m, n), dtype), layout)
        before = a.copy()
        lu, pivots = lapack.getrf(handle, a)
        k = min(m, n)
        low, up = np.tril(lu[:, :k], -1) + np.eye(m, k, dtype=dtype), np.triu(lu[:k])
        close((low @ up), a[swapped(pivots, m)], 2 * k)
        assert np.array_equal(a, before)


@pytest.mark.parametrize("layout,trans", list(itertools.product(LAYOUTS, "NTC")))
def test_solves_by_lu(handle, rng, dtype, layout, trans):
    n = int(rng.integers(1, 30))
    a, x = laid_out(good(rng, n, dtype), layout), numbers(rng, (n, 3), dtype)
    op = {"N": a, "T": a.T, "C": a.conj().T}[trans]
    lu, pivots = lapack.getrf(handle, a)
    close(lapack.getrs(handle, lu, pivots, op @ x, trans=trans), x, 8 * n)
    close(lapack.getrs(handle, np.ascontiguousarray(lu), pivots, op @ x[:, 0], trans=trans), x[:, 0], 8 * n)
    close(lapack.inv(handle, a) @ a, np.eye(n), 8 * n)
    close(lapack.getri(handle, lu, pivots) @ a, np.eye(n), 8 * n)


@pytest.mark.parametrize("layout,assume,lower", list(itertools.product(LAYOUTS, ["general", "symmetric", "hermitian", "positive"],
                                                                       [True, False])))
def test_solve(handle, rng, dtype, layout, assume, lower):
    n = int(rng.integers(1, 30))
    a = positive(rng, n, dtype) if assume == "positive" else good(rng, n, dtype)
    if assume == "symmetric":
        a = a + a.T
    if assume == "hermitian":
        a = a + a.conj().T
    given = laid_out(a if assume == "general" else one_triangle(a, lower), layout)
    before = given.copy()
    for x in (numbers(rng, n, dtype), numbers(rng, (n, 4), dtype)):
        b = a @ x
        close(lapack.solve(handle, given, b, assume=assume, lower=lower), x, 32 * n)
        assert np.array_equal(given, before, equal_nan=True)
        work, right = given.copy("K"), np.asfortranarray(b)
        result = lapack.solve(handle, work, right, assume=assume, lower=lower, overwrite_a=True, overwrite_b=True)
        close(result, x, 32 * n)
        assert result is right


def test_solve_with_one_array_twice(handle, rng, dtype):
    a = np.asfortranarray(good(rng, 9, dtype))
    close(lapack.solve(handle, a, a, overwrite_a=True, overwrite_b=True), np.eye(9), 64)


@pytest.mark.parametrize("layout,lower", list(itertools.product(LAYOUTS, [True, False])))
def test_cholesky(handle, rng, dtype, layout, lower):
    n = int(rng.integers(1, 30))
    a = positive(rng, n, dtype)
    given = laid_out(one_triangle(a, lower), layout)
    factor = lapack.potrf(handle, given, lower=lower)
    close(factor @ factor.conj().T if lower else factor.conj().T @ factor, a, 2 * n)
    x = numbers(rng, (n, 2), dtype)
    close(lapack.potrs(handle, factor, a @ x, lower=lower), x, 16 * n)
    inverse = lapack.potri(handle, factor, lower=lower)
    strict = np.tril(inverse, -1) if lower else np.triu(inverse, 1)
    close((strict + strict.conj().T + np.diag(inverse.diagonal())) @ a, np.eye(n), 16 * n)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_qr(handle, rng, dtype, layout):
    for m, n in [(1, 1), (7, 7), (12, 5), (5, 12)]:
        a = laid_out(numbers(rng, (m, n), dtype), layout)
        q, r = lapack.qr(handle, a)
        k = min(m, n)
        assert q.shape == (m, k) and r.shape == (k, n)
        close(q @ r, a, 4 * m)
        close(q.conj().T @ q, np.eye(k), 4 * m)
        assert not np.tril(r, -1).any()


def test_least_squares(handle, rng, dtype):
    for m, n in [(12, 5), (5, 12), (6, 6)]:
        a, b = numbers(rng, (m, n), dtype), numbers(rng, (m, 3), dtype)
        expected = np.linalg.lstsq(a.astype("c16"), b.astype("c16"), rcond=None)[0]
        scale = float(max(1, abs(expected).max()) * np.linalg.cond(a.astype("c16")))
        close(lapack.lstsq(handle, a, b) / scale, expected / scale, 16)
        close(lapack.lstsq(handle, a, b[:, 0]) / scale, expected[:, 0] / scale, 16)
        if HAVE_LAPACK:
            close(lapack.lstsq(handle, a, b, rcond=-1) / scale, expected / scale, 64)


@needs_lapack
def test_eigenvalues_and_singular_values(handle, rng, dtype):
    n = int(rng.integers(2, 20))
    a = numbers(rng, (n, n), dtype)
    hermitian = a + a.conj().T
    for lower in (True, False):
        w, v = lapack.eigh(handle, one_triangle(hermitian, lower), lower=lower)
        close(hermitian @ v, v * w, 32 * n)
        close(lapack.eigh(handle, one_triangle(hermitian, lower), lower=lower, vectors=False), w, 32 * n)
    for full in (False, True):
        b = numbers(rng, (n, n + 3), dtype)
        u, s, vt = lapack.svd(handle, b, full=full)
        close((u[:, :n] * s) @ vt[:n], b, 32 * n)
        close(lapack.svd(handle, b, vectors=False), s, 32 * n)
        assert u.shape == (n, n) and vt.shape == ((n + 3,) * 2 if full else (n, n + 3))
    w, v = lapack.eig(handle, a)
    close(a @ v, v * w, 64 * n)


def test_what_has_no_result(handle, dtype):
    singular = np.array([[1, 2], [2, 4]], dtype)
    for call in (lambda: lapack.solve(handle, singular, np.ones(2, dtype)), lambda: lapack.inv(handle, singular),
                 lambda: lapack.solve(handle, np.zeros((2, 2), dtype), np.ones(2, dtype), assume="symmetric")):
        with pytest.raises(jalloc.SingularMatrix) as caught:
            call()
        assert caught.value.info > 0 and isinstance(caught.value, np.linalg.LinAlgError)
    with pytest.raises(np.linalg.LinAlgError, match="order 2 is not positive"):
        lapack.potrf(handle, np.array([[1, 2], [2, 1]], dtype))
    with pytest.raises(jalloc.SingularMatrix, match="full rank"):
        lapack.lstsq(handle, np.array([[1, 0], [0, 0], [0, 0]], dtype), np.ones(3, dtype))


@needs_lapack
def test_numbers_that_are_not_finite(handle, dtype):
    with pytest.raises(jalloc.InvalidArgument):
        lapack.eigh(handle, np.full((3, 3), np.nan, dtype))


def test_misuse(handle):
    a = np.eye(3)
    with pytest.raises(jalloc.InvalidArgument, match="square"):
        lapack.solve(handle, np.ones((2, 3)), np.ones(2))
    with pytest.raises(jalloc.InvalidArgument, match="3 rows"):
        lapack.solve(handle, a, np.ones(4))
    with pytest.raises(jalloc.InvalidArgument, match="assume"):
        lapack.solve(handle, a, np.ones(3), assume="magic")
    with pytest.raises(jalloc.InvalidArgument, match="float32"):
        lapack.solve(handle, a, np.ones(3, "f4"))
    lu, _ = lapack.getrf(handle, a)
    for pivots in ([0, 1], [0, 1, 3], [-1, 0, 0], [0.0, 1.0, 2.0]):
        with pytest.raises(jalloc.InvalidArgument, match="pivots"):
            lapack.getrs(handle, lu, pivots, np.ones(3))
        with pytest.raises(jalloc.InvalidArgument, match="pivots"):
            lapack.getri(handle, lu, pivots)


def test_empty(handle, dtype):
    empty = np.zeros((0, 0), dtype)
    assert lapack.solve(handle, empty, np.zeros(0, dtype)).shape == (0,)
    assert lapack.potrf(handle, empty).shape == (0, 0)
    assert lapack.inv(handle, empty).shape == (0, 0)
    for b in np.zeros(0, dtype), np.zeros((0, 2), dtype):  # no equation: the least X is 0
        x = lapack.lstsq(handle, np.zeros((0, 3), dtype), b)
        assert x.shape == (3, *b.shape[1:]) and not x.any()
    assert not lapack.lstsq(handle, np.zeros((0, 3), dtype), np.zeros(0, dtype), rcond=-1).any()
