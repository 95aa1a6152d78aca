# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""BLAS on arrays against NumPy's own, in every type, order and stride."""

import itertools

import numpy as np
import pytest

import jalloc
from conftest import LAYOUTS, close, laid_out, numbers
from jalloc import blas

OPS = {"N": lambda a: a, "T": lambda a: a.T, "C": lambda a: a.conj().T, "R": lambda a: a.conj()}


def shaped(op, rows, columns):
    return (columns, rows) if op in "TC" else (rows, columns)


@pytest.mark.parametrize("op_a,op_b", list(itertools.product(OPS, OPS)))
def test_gemm(handle, rng, dtype, op_a, op_b):
    for layouts in rng.choice(LAYOUTS, (12, 3)):
        m, n, k = (int(size) for size in rng.integers(1, 24, 3))
        a = laid_out(numbers(rng, shaped(op_a, m, k), dtype), layouts[0])
        b = laid_out(numbers(rng, shaped(op_b, k, n), dtype), layouts[1])
        c = laid_out(numbers(rng, (m, n), dtype), layouts[2])
        alpha, beta = numbers(rng, 2, dtype)
        expected = alpha * (OPS[op_a](a) @ OPS[op_b](b)) + beta * c
        around = c.base.copy() if c.base is not None else None
        assert blas.gemm(handle, a, b, c, trans_a=op_a, trans_b=op_b, alpha=alpha, beta=beta) is c
        close(c, expected, k)
        if around is not None:  # nothing beside the view was written
            assert np.isnan(c.base).sum() == np.isnan(around).sum()
        close(blas.gemm(handle, a, b, trans_a=op_a, trans_b=op_b), OPS[op_a](a) @ OPS[op_b](b), k)


def test_no_copy_of_either_order(handle, rng, monkeypatch):
    """Both orders, and parts of larger ones, are taken as they lie."""
    def refused(*_):
        raise AssertionError("copied")
    for layouts in itertools.product(["C", "F", "part of a larger one", "every second row"], repeat=3):
        a, b, c = (laid_out(numbers(rng, (6, 6), np.dtype("f8")), layout) for layout in layouts)
        expected = a @ b
        from jalloc import _arrays
        made = [_arrays.Matrix(name, array) for name, array in (("a", a), ("b", b), ("c", c))]
        assert all(matrix.array is array for matrix, array in zip(made, (a, b, c)))
        close(blas.gemm(handle, a, b, c), expected, 6)


def test_an_operand_as_result(handle, rng, dtype):
    """Large enough that the first columns are written before the last are read."""
    n = 600
    a, b = numbers(rng, (n, n), dtype), numbers(rng, (n, n), dtype)
    expected = a @ b
    close(blas.gemm(handle, a, b, a), expected, n)
    whole = numbers(rng, (n, n + 3), dtype)
    expected = b @ whole[:, :n]
    close(blas.gemm(handle, b, whole[:, :n], whole[:, 3:]), expected, n)
    x = numbers(rng, n, dtype)
    expected = b @ x
    close(blas.gemv(handle, b, x, x), expected, n)
    x = numbers(rng, n + 1, dtype)
    expected = x[:-1] + x[1:]
    close(blas.axpy(handle, x[:-1], x[1:]), expected)


def test_empty(handle, dtype):
    assert blas.gemm(handle, np.zeros((0, 3), dtype), np.zeros((3, 2), dtype)).shape == (0, 2)
    assert not blas.gemm(handle, np.zeros((2, 0), dtype), np.zeros((0, 3), dtype)).any()
    for a, trans in (np.zeros((3, 0), dtype), "N"), (np.zeros((0, 3), dtype), "C"):
        y = np.array([1, np.nan, 3], dtype)
        assert not blas.gemv(handle, a, np.zeros(0, dtype), y, trans=trans).any()
        y[:] = 1, 2, 3
        assert blas.gemv(handle, a, np.zeros(0, dtype), y, trans=trans, beta=2).tolist() == [2, 4, 6]
        np.full(3, 7, dtype)  # what memory that is not initialized may hold
        assert not blas.gemv(handle, a, np.zeros(0, dtype), trans=trans).any()
    assert blas.nrm2(handle, np.zeros(0, dtype)) == 0 and blas.iamax(handle, np.zeros(0, dtype)) == -1


VECTORS = {"packed": lambda x: x.copy(), "second": lambda x: np.repeat(x, 2)[::2], "backwards": lambda x: x[::-1].copy()[::-1],
           "third backwards": lambda x: np.repeat(x[::-1], 3)[::3][::-1],
           "unaligned": lambda x: np.frombuffer(bytearray(b"x" + x.tobytes()), np.uint8)[1:].view(x.dtype)}


@pytest.mark.parametrize("x_lies,y_lies", list(itertools.product(VECTORS, VECTORS)))
def test_vectors(handle, rng, dtype, x_lies, y_lies):
    n = int(rng.integers(1, 50))
    x, y = VECTORS[x_lies](numbers(rng, n, dtype)), VECTORS[y_lies](numbers(rng, n, dtype))
    u, v = np.array(x), np.array(y)  # NumPy hands an unaligned vector to a BLAS, and not every BLAS survives it
    close(blas.dot(handle, x, y), np.vdot(u, v), n)
    close(blas.dotu(handle, x, y), np.dot(u, v), n)
    close(blas.nrm2(handle, x), np.linalg.norm(u), n)
    close(blas.asum(handle, x), (abs(u.real) + abs(u.imag)).sum(), n)
    assert blas.iamax(handle, x) == np.argmax(abs(u.real) + abs(u.imag))
    alpha = numbers(rng, 1, dtype)[0]
    expected = alpha * x + y
    assert blas.axpy(handle, x, y, alpha) is y
    close(y, expected)
    expected = alpha * x
    close(blas.scal(handle, x, alpha), expected)
    assert blas.iamax(handle, np.array([1, 3, -3, 3], dtype)[::-1]) == 0


@pytest.mark.parametrize("op", OPS)
def test_matrix_and_vector(handle, rng, dtype, op):
    for layout, (x_lies, y_lies) in itertools.product(LAYOUTS, [("packed", "backwards"), ("third backwards", "unaligned")]):
        m, n = (int(size) for size in rng.integers(1, 20, 2))
        a = laid_out(numbers(rng, shaped(op, m, n), dtype), layout)
        x, y = VECTORS[x_lies](numbers(rng, n, dtype)), VECTORS[y_lies](numbers(rng, m, dtype))
        alpha, beta = numbers(rng, 2, dtype)
        expected = alpha * (OPS[op](a) @ x) + beta * y
        close(blas.gemv(handle, a, x, y, trans=op, alpha=alpha, beta=beta), expected, n)
        close(blas.gemv(handle, a, x, trans=op), OPS[op](a) @ x, n)
        for conjugate in (False, True):
            c = laid_out(numbers(rng, (m, n), dtype), layout)
            expected = c + alpha * np.outer(y, x.conj() if conjugate else x)
            close(blas.ger(handle, y, x, c, alpha, conjugate), expected)


def triangle(rng, n, dtype, lower, unit):
    """As it is read, and with what is not read spoilt; well conditioned."""
    a = numbers(rng, (n, n), dtype) / n + 2 * np.eye(n, dtype=dtype)
    known = np.tril(a) if lower else np.triu(a)
    spoilt = np.where(known != 0, a, np.nan).astype(dtype)
    if unit:
        np.fill_diagonal(known, 1)
        np.fill_diagonal(spoilt, np.nan)
    return known, spoilt


@pytest.mark.parametrize("lower,op,unit", list(itertools.product([True, False], OPS, [True, False])))
def test_triangles(handle, rng, dtype, lower, op, unit):
    for a_lies, b_lies in itertools.product(LAYOUTS[:2] + LAYOUTS[-2:], LAYOUTS):
        m, n = (int(size) for size in rng.integers(1, 16, 2))
        for right in (False, True):
            known, spoilt = triangle(rng, n if right else m, dtype, lower, unit)
            a, b = laid_out(spoilt, a_lies), numbers(rng, (m, n), dtype)
            product = b @ OPS[op](known) if right else OPS[op](known) @ b
            x = laid_out(b, b_lies)
            options = {"lower": lower, "right": right, "trans": op, "unit": unit}
            close(blas.trmm(handle, a, x, alpha=2, **options), 2 * product, 16)
            x = laid_out(product, b_lies)
            close(blas.trsm(handle, a, x, **options), b, 64)
        known, spoilt = triangle(rng, m, dtype, lower, unit)
        x = numbers(rng, m, dtype)
        y = x[::-1].copy()[::-1]
        close(blas.trmv(handle, laid_out(spoilt, a_lies), y, lower=lower, trans=op, unit=unit), OPS[op](known) @ x, 16)
        close(blas.trsv(handle, laid_out(spoilt, a_lies), y, lower=lower, trans=op, unit=unit), x, 64)


@pytest.mark.parametrize("lower,right,hermitian", list(itertools.product([True, False], repeat=3)))
def test_symmetric(handle, rng, dtype, lower, right, hermitian):
    for a_lies, b_lies, c_lies in rng.choice(LAYOUTS, (24, 3)):
        m, n = (int(size) for size in rng.integers(1, 12, 2))
        a = numbers(rng, (n if right else m,) * 2, dtype)
        if hermitian:
            np.fill_diagonal(a, a.diagonal().real)
        strict = np.tril(a, -1) if lower else np.triu(a, 1)
        whole = strict + np.diag(a.diagonal()) + (strict.conj().T if hermitian else strict.T)
        spoilt = np.where(np.tri(len(a), dtype=bool) if lower else np.tri(len(a), dtype=bool).T, a, np.nan).astype(dtype)
        b, c = numbers(rng, (m, n), dtype), laid_out(numbers(rng, (m, n), dtype), c_lies)
        expected = 2 * (b @ whole if right else whole @ b) + 3 * c
        routine = blas.hemm if hermitian else blas.symm
        close(routine(handle, laid_out(spoilt, a_lies), laid_out(b, b_lies), c, lower=lower, right=right, alpha=2, beta=3),
              expected, 16)


@pytest.mark.parametrize("lower,does_transpose,hermitian", list(itertools.product([True, False], repeat=3)))
def test_rank_k(handle, rng, dtype, lower, does_transpose, hermitian):
    for a_lies, c_lies in itertools.product(LAYOUTS, LAYOUTS):
        n, k = (int(size) for size in rng.integers(1, 12, 2))
        a = laid_out(numbers(rng, (k, n) if does_transpose else (n, k), dtype), a_lies)
        left = (a.conj().T if hermitian else a.T) if does_transpose else a
        product = left @ (left.conj().T if hermitian else left.T)
        c = numbers(rng, (n, n), dtype)
        if hermitian:
            np.fill_diagonal(c, c.diagonal().real)
        triangle_of_c = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
        expected = np.where(triangle_of_c, 2 * product + 3 * c, c)
        to = laid_out(c, c_lies)
        routine, trans = (blas.herk, "C") if hermitian else (blas.syrk, "T")
        close(routine(handle, a, to, lower=lower, trans=trans if does_transpose else "N", alpha=2, beta=3), expected, 16)


def test_misuse(handle):
    a, b = np.ones((2, 3)), np.ones((3, 2))
    with pytest.raises(jalloc.InvalidArgument, match=r"op\(A\) is 2 x 3 and op\(B\) 2 x 3"):
        blas.gemm(handle, a, a)
    with pytest.raises(jalloc.InvalidArgument, match="float32, float64"):
        blas.gemm(handle, a, b.astype("f4"))
    with pytest.raises(jalloc.InvalidArgument, match="int64"):
        blas.gemm(handle, a.astype(int), b.astype(int))
    with pytest.raises(jalloc.InvalidArgument, match=">f8|float64"):
        blas.gemm(handle, a.astype(">f8"), b.astype(">f8"))
    with pytest.raises(jalloc.InvalidArgument, match="two dimensions"):
        blas.gemm(handle, a, b[0])
    with pytest.raises(jalloc.InvalidArgument, match="read-only"):
        blas.gemm(handle, a, b, np.broadcast_to(np.ones(2), (2, 2)))
    with pytest.raises(jalloc.InvalidArgument, match="3 x 3, where 2 x 2"):
        blas.gemm(handle, a, b, np.ones((3, 3)))
    with pytest.raises(jalloc.InvalidArgument, match="N, T, C and R"):
        blas.gemm(handle, a, b, trans_a="X")
    for alpha in [2.0, 3.0], []:
        with pytest.raises(jalloc.InvalidArgument, match="one number"):
            blas.scal(handle, np.ones(3), alpha)
    with pytest.raises(jalloc.InvalidArgument, match="is no float64"):
        blas.gemm(handle, a, b, alpha=1j)
    with pytest.raises(jalloc.InvalidArgument, match="herk takes N and C, not T"):
        blas.herk(handle, a.astype(complex), trans="T")
    with pytest.raises(jalloc.InvalidArgument, match="one dimension"):
        blas.nrm2(handle, a)
    with pytest.raises(jalloc.InvalidArgument):
        blas.axpy(handle, np.ones(3), np.ones(4))
    with pytest.raises(jalloc.InvalidArgument):
        blas.trsv(handle, np.ones((3, 3)), np.ones(4))
    with pytest.raises(jalloc.InvalidArgument):
        blas.symm(handle, np.ones((3, 3)), np.ones((4, 4)))
