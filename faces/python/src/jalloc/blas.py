# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""BLAS on NumPy's arrays, by a handle. Arrays of either order, and views that BLAS can take as they lie, are
not copied; all operands of a call have one type, float32, float64, complex64 or complex128. What is written
is returned. An operand that overlaps the result is copied first.

Operations: "N" none, "T" transpose, "C" conjugate transpose, "R" conjugate.

>>> import jalloc, numpy as np
>>> handle = jalloc.Handle()
>>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
>>> c = jalloc.blas.gemm(handle, a, b)
>>> jalloc.blas.gemm(handle, a, a, c, trans_b="T", alpha=2, beta=1) is c
True
>>> c
array([[ 13.,  31.],
       [ 40., 112.]])
>>> handle.close()

The other routines are in jalloc.c by their names, jblas_dsyr2k and so on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import c as _c
from ._arrays import REAL, Matrix, Vector, host, letter_of, operation, routine, scalar, transposed, uplo
from .allocator import Array
from .errors import invalid

if TYPE_CHECKING:
    from .handle import Handle

__all__ = ["asum", "axpy", "dot", "dotu", "gemm", "gemv", "ger", "hemm", "herk", "iamax", "nrm2", "scal", "symm", "syrk",
           "trmm", "trmv", "trsm", "trsv"]


def _matched(what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise invalid(f"{what} is {' x '.join(map(str, found))}, where {' x '.join(map(str, expected))} is wanted")


# ---- Vectors ----


def axpy(handle: Handle, x: Array, y: Array, alpha: Any = 1) -> Array:
    """y = alpha x + y."""
    host(handle)
    letter = letter_of(x, y)
    to, given = Vector("y", y, written=True), Vector("x", x, (y,))
    _matched("x", x.shape, y.shape)
    handle.call(routine("jblas", letter, "axpy"), given.size, scalar(alpha, y.dtype), given.address, given.increment,
                to.address, to.increment)
    to.done()
    return y


def scal(handle: Handle, x: Array, alpha: Any) -> Array:
    """x = alpha x."""
    host(handle)
    to = Vector("x", x, written=True)
    # BLAS goes through a vector from either end, but for the routines of one vector.
    handle.call(routine("jblas", letter_of(x), "scal"), to.size, scalar(alpha, x.dtype), to.address, abs(to.increment))
    to.done()
    return x


def _dot(handle: Handle, x: Array, y: Array, names: dict[str, str]) -> Any:
    host(handle)
    letter = letter_of(x, y)
    left, right = Vector("x", x), Vector("y", y)
    _matched("x", x.shape, y.shape)
    result = np.zeros((), x.dtype)
    handle.call(getattr(_c, f"jblas_{names[letter]}"), left.size, left.address, left.increment, right.address,
                right.increment, result, stacklevel=4)
    return result[()]


def dot(handle: Handle, x: Array, y: Array) -> Any:
    """x^H y, as numpy.vdot()."""
    return _dot(handle, x, y, {"s": "sdot", "d": "ddot", "c": "cdotc", "z": "zdotc"})


def dotu(handle: Handle, x: Array, y: Array) -> Any:
    """x^T y, as numpy.dot()."""
    return _dot(handle, x, y, {"s": "sdot", "d": "ddot", "c": "cdotu", "z": "zdotu"})


def _of_one(handle: Handle, x: Array, names: dict[str, str], kind: Any = None) -> Any:
    host(handle)
    letter = letter_of(x)
    given = Vector("x", x)
    result = np.zeros((), REAL[letter] if kind is None else kind)
    handle.call(getattr(_c, f"jblas_{names[letter]}"), given.size, given.address, abs(given.increment), result, stacklevel=4)
    return result[()]


def nrm2(handle: Handle, x: Array) -> Any:
    """The Euclidean norm."""
    return _of_one(handle, x, {"s": "snrm2", "d": "dnrm2", "c": "scnrm2", "z": "dznrm2"})


def asum(handle: Handle, x: Array) -> Any:
    """The sum of |Re| + |Im|."""
    return _of_one(handle, x, {"s": "sasum", "d": "dasum", "c": "scasum", "z": "dzasum"})


def iamax(handle: Handle, x: Array) -> int:
    """The index of the first element with the largest |Re| + |Im|, from 0; -1 where there is none."""
    if x.ndim == 1 and x.strides[0] < 0:
        x = x.copy()  # the first of equals
    return int(_of_one(handle, x, {"s": "isamax", "d": "idamax", "c": "icamax", "z": "izamax"}, np.int64)) - 1


# ---- A matrix and a vector ----


def gemv(handle: Handle, a: Array, x: Array, y: Array | None = None, *, trans: str = "N", alpha: Any = 1, beta: Any = 0) -> Array:
    """y = alpha op(A) x + beta y. Without y it is made."""
    host(handle)
    op = operation(trans)
    rows, columns = _shape(a, op)
    if y is None:
        y, beta = np.empty(rows, a.dtype), 0
    letter = letter_of(a, x, y)
    matrix, given, to = Matrix("a", a, (y,)), Vector("x", x, (y,)), Vector("y", y, written=True)
    _matched("x", x.shape, (columns,))
    _matched("y", y.shape, (rows,))
    stored = matrix.array.T if matrix.is_row_major else matrix.array
    handle.call(routine("jblas", letter, "gemv"), matrix.op(op), *stored.shape, scalar(alpha, y.dtype), matrix.address,
                matrix.leading, given.address, given.increment, scalar(beta, y.dtype), to.address, to.increment)
    to.done()
    if columns == 0 and not handle.querying:  # of sums without terms BLAS leaves y as it was
        y[...] = beta * y if beta != 0 else 0
    return y


def ger(handle: Handle, x: Array, y: Array, a: Array, alpha: Any = 1, conjugate: bool = False) -> Array:
    """A = alpha x y^T + A, or with y^H where `conjugate`."""
    host(handle)
    letter = letter_of(x, y, a)
    to = Matrix("a", a, written=True)
    _matched("a", a.shape, (x.size, y.size))
    if to.is_row_major and conjugate and letter in "cz":  # of the transpose it would be conj(y) x^T
        y, conjugate = y.conj(), False
    left, right = Vector("x", x, (a,)), Vector("y", y, (a,))
    if to.is_row_major:
        left, right = right, left
    name = "ger" if letter in "sd" else "gerc" if conjugate else "geru"
    handle.call(routine("jblas", letter, name), left.size, right.size, scalar(alpha, a.dtype), left.address, left.increment,
                right.address, right.increment, to.address, to.leading)
    to.done()
    return a


def _triangle_vector(name: str, handle: Handle, a: Array, x: Array, lower: bool, trans: str, unit: bool) -> Array:
    host(handle)
    letter = letter_of(a, x)
    matrix, to = Matrix("a", a, (x,)), Vector("x", x, written=True)
    _matched("a", a.shape, (x.size, x.size))
    handle.call(routine("jblas", letter, name), uplo(lower != matrix.is_row_major), matrix.op(operation(trans)),
                _c.JBLAS_UNIT if unit else _c.JBLAS_NON_UNIT, to.size, matrix.address, matrix.leading, to.address,
                to.increment, stacklevel=4)
    to.done()
    return x


def trsv(handle: Handle, a: Array, x: Array, *, lower: bool = True, trans: str = "N", unit: bool = False) -> Array:
    """Solves op(A) x = b with a triangle; x holds b before."""
    return _triangle_vector("trsv", handle, a, x, lower, trans, unit)


def trmv(handle: Handle, a: Array, x: Array, *, lower: bool = True, trans: str = "N", unit: bool = False) -> Array:
    """x = op(A) x with a triangle."""
    return _triangle_vector("trmv", handle, a, x, lower, trans, unit)


# ---- Matrices ----


def _shape(a: Array, op: _c.jblas_operation_t) -> tuple[int, ...]:
    is_transposed = op in (_c.JBLAS_TRANSPOSE, _c.JBLAS_CONJUGATE_TRANSPOSE)
    return tuple(a.shape[::-1]) if is_transposed else tuple(a.shape)


def gemm(handle: Handle, a: Array, b: Array, c: Array | None = None, *, trans_a: str = "N", trans_b: str = "N",
         alpha: Any = 1, beta: Any = 0) -> Array:
    """C = alpha op(A) op(B) + beta C. Without c it is made."""
    host(handle)
    op_a, op_b = operation(trans_a), operation(trans_b)
    if a.ndim != 2 or b.ndim != 2:
        raise invalid(f"a and b have two dimensions, not {a.ndim} and {b.ndim}")
    (m, k), (k_b, n) = _shape(a, op_a), _shape(b, op_b)
    if k != k_b:
        raise invalid(f"op(A) is {m} x {k} and op(B) {k_b} x {n}")
    if c is None:
        c, beta = np.empty((m, n), a.dtype), 0
    letter = letter_of(a, b, c)
    to, left, right = Matrix("c", c, written=True), Matrix("a", a, (c,)), Matrix("b", b, (c,))
    _matched("c", c.shape, (m, n))
    first, second = (left, left.op(op_a)), (right, right.op(op_b))
    if to.is_row_major:  # C^T = op(B)^T op(A)^T
        first, second, m, n = (right, transposed(second[1])), (left, transposed(first[1])), n, m
    handle.call(routine("jblas", letter, "gemm"), first[1], second[1], m, n, k, scalar(alpha, c.dtype), first[0].address,
                first[0].leading, second[0].address, second[0].leading, scalar(beta, c.dtype), to.address, to.leading)
    to.done()
    return c


def _symm(name: str, handle: Handle, a: Array, b: Array, c: Array | None, lower: bool, right: bool, alpha: Any,
          beta: Any) -> Array:
    host(handle)
    if c is None:
        c, beta = np.empty(b.shape, b.dtype), 0
    letter = letter_of(a, b, c)
    name = "symm" if letter in "sd" else name
    to = Matrix("c", c, written=True)
    # B lies as C does, and so does a Hermitian A, whose transpose is another matrix than it.
    given = Matrix("b", b, (c,), row_major=to.is_row_major)
    matrix = Matrix("a", a, (c,), row_major=to.is_row_major if name == "hemm" else None)
    _matched("c", c.shape, b.shape)
    _matched("a", a.shape, (b.shape[right],) * 2)
    side, m, n = right, to.rows, to.columns
    if to.is_row_major:
        side, m, n = not side, n, m
    handle.call(routine("jblas", letter, name), _c.JBLAS_RIGHT if side else _c.JBLAS_LEFT, uplo(lower != matrix.is_row_major),
                m, n, scalar(alpha, c.dtype), matrix.address, matrix.leading, given.address, given.leading,
                scalar(beta, c.dtype), to.address, to.leading, stacklevel=4)
    to.done()
    return c


def symm(handle: Handle, a: Array, b: Array, c: Array | None = None, *, lower: bool = True, right: bool = False,
         alpha: Any = 1, beta: Any = 0) -> Array:
    """C = alpha A B + beta C, or alpha B A + beta C where `right`; A is symmetric, one triangle is read."""
    return _symm("symm", handle, a, b, c, lower, right, alpha, beta)


def hemm(handle: Handle, a: Array, b: Array, c: Array | None = None, *, lower: bool = True, right: bool = False,
         alpha: Any = 1, beta: Any = 0) -> Array:
    """The same with a Hermitian A."""
    return _symm("hemm", handle, a, b, c, lower, right, alpha, beta)


def _syrk(name: str, handle: Handle, a: Array, c: Array | None, lower: bool, trans: str, alpha: Any, beta: Any) -> Array:
    host(handle)
    op = operation(trans)
    n, k = _shape(a, op)
    if c is None:
        c, beta = np.zeros((n, n), a.dtype), 0
    letter = letter_of(a, c)
    name = "syrk" if letter in "sd" else name
    if op not in (_c.JBLAS_NO_TRANSPOSE, _c.JBLAS_CONJUGATE_TRANSPOSE if name == "herk" else _c.JBLAS_TRANSPOSE) \
            and not (letter in "sd" and trans == "C"):
        raise invalid(f"{name} takes N and {'C' if name == 'herk' else 'T'}, not {trans}")
    to = Matrix("c", c, written=True)
    matrix = Matrix("a", a, (c,), row_major=to.is_row_major if name == "herk" else None)
    _matched("c", c.shape, (n, n))
    # The transpose of C: of A A^T itself, of A A^H conj(A) A^T. In memory that is a product of what lies there.
    does_transpose = (op != _c.JBLAS_NO_TRANSPOSE) != matrix.is_row_major
    other = _c.JBLAS_CONJUGATE_TRANSPOSE if name == "herk" else _c.JBLAS_TRANSPOSE
    kind = REAL[letter] if name == "herk" else c.dtype
    handle.call(routine("jblas", letter, name), uplo(lower != to.is_row_major), other if does_transpose else
                _c.JBLAS_NO_TRANSPOSE, n, k, scalar(alpha, kind), matrix.address, matrix.leading, scalar(beta, kind),
                to.address, to.leading, stacklevel=4)
    to.done()
    return c


def syrk(handle: Handle, a: Array, c: Array | None = None, *, lower: bool = True, trans: str = "N", alpha: Any = 1,
         beta: Any = 0) -> Array:
    """One triangle of C = alpha A A^T + beta C, or with "T" of alpha A^T A + beta C."""
    return _syrk("syrk", handle, a, c, lower, trans, alpha, beta)


def herk(handle: Handle, a: Array, c: Array | None = None, *, lower: bool = True, trans: str = "N", alpha: Any = 1,
         beta: Any = 0) -> Array:
    """One triangle of C = alpha A A^H + beta C, or with "C" of alpha A^H A + beta C; alpha and beta are real."""
    return _syrk("herk", handle, a, c, lower, trans, alpha, beta)


def _triangle_matrix(name: str, handle: Handle, a: Array, b: Array, lower: bool, right: bool, trans: str, unit: bool,
                     alpha: Any) -> Array:
    host(handle)
    letter = letter_of(a, b)
    to, matrix = Matrix("b", b, written=True), Matrix("a", a, (b,))
    _matched("a", a.shape, (b.shape[right],) * 2)
    op, side, m, n = matrix.op(operation(trans)), right, to.rows, to.columns
    if to.is_row_major:  # B^T = B^T op(A)^T
        op, side, m, n = transposed(op), not side, n, m
    handle.call(routine("jblas", letter, name), _c.JBLAS_RIGHT if side else _c.JBLAS_LEFT, uplo(lower != matrix.is_row_major),
                op, _c.JBLAS_UNIT if unit else _c.JBLAS_NON_UNIT, m, n, scalar(alpha, b.dtype), matrix.address,
                matrix.leading, to.address, to.leading, stacklevel=4)
    to.done()
    return b


def trsm(handle: Handle, a: Array, b: Array, *, lower: bool = True, right: bool = False, trans: str = "N", unit: bool = False,
         alpha: Any = 1) -> Array:
    """Solves op(A) X = alpha B, or X op(A) = alpha B where `right`, with a triangle; X comes over B."""
    return _triangle_matrix("trsm", handle, a, b, lower, right, trans, unit, alpha)


def trmm(handle: Handle, a: Array, b: Array, *, lower: bool = True, right: bool = False, trans: str = "N", unit: bool = False,
         alpha: Any = 1) -> Array:
    """B = alpha op(A) B, or alpha B op(A) where `right`, with a triangle."""
    return _triangle_matrix("trmm", handle, a, b, lower, right, trans, unit, alpha)
