# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""LAPACK on NumPy's arrays, by a handle, without lwork: the workspace is the handle's.

Arguments are left as they are, and results are new arrays; with `overwrite` what is in Fortran's order is
worked on in place. Matrices have one type, float32, float64, complex64 or complex128. A factorization that
ends without a result raises SingularMatrix, which is numpy.linalg.LinAlgError too, and has LAPACK's info.

>>> import jalloc, numpy as np
>>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
>>> with jalloc.Handle() as handle:
...     x = jalloc.lapack.solve(handle, a, np.array([1.0, 2.0]))
...     low = jalloc.lapack.potrf(handle, a)
...     q, r = jalloc.lapack.qr(handle, a)
>>> np.allclose(a @ x, [1, 2]), np.allclose(low @ low.T, a), np.allclose(q @ r, a)
(True, True, True)

eigh, eig, svd and lstsq with an rcond are computed by a LAPACK of the system's, which is loaded then.
The other routines are in jalloc.c by their names, jlapack_dsytrf and so on.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import c
from ._arrays import REAL, copied, host, info, letter_of, operation, routine, scalar, uplo
from .allocator import Array
from .errors import SingularMatrix, invalid

if TYPE_CHECKING:
    from .handle import Handle

__all__ = ["eig", "eigh", "geqrf", "getrf", "getri", "getrs", "inv", "lstsq", "orgqr", "potrf", "potri",
           "potrs", "qr", "solve", "svd"]

_ASSUMED = {"symmetric": "sysv", "hermitian": "hesv", "positive": "posv"}


def _matrix(name: str, a: Any, square: bool = False) -> Array:
    array = np.asarray(a)
    if array.ndim != 2 or (square and array.shape[0] != array.shape[1]):
        raise invalid(f"{name} is a {'square ' if square else ''}matrix, not of shape {array.shape}")
    return array


def _right_hand_side(b: Any, n: int) -> Array:
    """As a matrix: a vector is one of one column."""
    array = np.asarray(b)
    if array.ndim not in (1, 2) or array.shape[0] != n:
        raise invalid(f"b has {n} rows, not shape {array.shape}")
    return array


def _columns(b: Array) -> int:
    return b.shape[1] if b.ndim == 2 else 1


def _ld(rows: int) -> int:
    return max(1, rows)


def _failed(what: ctypes.c_int64, text: str) -> None:
    if what.value > 0:
        raise SingularMatrix(text.format(what.value), what.value)


# ---- LU ----


def getrf(handle: Handle, a: Any, *, overwrite: bool = False) -> tuple[Array, Array]:
    """A = P L U with partial pivoting: L below the diagonal, without its ones, and U, in one matrix; and the pivots:
    row i was exchanged with row pivots[i], from 0 on. A zero on the diagonal of U is no error here."""
    lu, pivots, _ = _getrf(handle, a, overwrite)
    return lu, pivots


def _getrf(handle: Handle, a: Any, overwrite: bool) -> tuple[Array, Array, ctypes.c_int64]:
    host(handle)
    lu = copied(handle, _matrix("a", a), overwrite=overwrite)
    (m, n), found = lu.shape, info()
    pivots = np.zeros(min(m, n), np.int64)
    handle.call(routine("jlapack", letter_of(lu), "getrf"), m, n, lu, _ld(m), pivots, ctypes.byref(found), stacklevel=4)
    return lu, pivots - 1, found


def getrs(handle: Handle, lu: Any, pivots: Any, b: Any, *, trans: str = "N", overwrite: bool = False) -> Array:
    """Solves op(A) X = B with what getrf gave."""
    host(handle)
    factor = _in_order(_matrix("lu", lu, square=True))
    n = factor.shape[0]
    rows = _rows(handle, pivots, n)
    x = copied(handle, _right_hand_side(b, n), overwrite=overwrite, apart=factor)
    handle.call(routine("jlapack", letter_of(factor, x), "getrs"), operation(trans), n, _columns(x), factor, _ld(n), rows, x,
                _ld(n))
    return x


def _rows(handle: Handle, pivots: Any, n: int) -> Array:
    """Pivots as LAPACK has them, from 1 on. It does not look at them, and would write anywhere."""
    rows = np.asarray(pivots)
    if rows.shape != (n,) or rows.dtype.kind not in "iu":
        raise invalid(f"pivots are {n} numbers of rows")
    if n and not handle.querying and not (0 <= rows.min() and rows.max() < n):
        raise invalid(f"pivots are from 0 to {n - 1}, not {rows.min()} to {rows.max()}")
    return rows.astype(np.int64) + 1


def _in_order(array: Array) -> Array:
    """In Fortran's order, which factors are kept in."""
    return np.asfortranarray(array)


def getri(handle: Handle, lu: Any, pivots: Any, *, overwrite: bool = False) -> Array:
    """The inverse by what getrf gave."""
    host(handle)
    inverse, found = copied(handle, _matrix("lu", lu, square=True), overwrite=overwrite), info()
    n = inverse.shape[0]
    rows = _rows(handle, pivots, n)
    handle.call(routine("jlapack", letter_of(inverse), "getri"), n, inverse, _ld(n), rows, ctypes.byref(found))
    _failed(found, "the matrix is singular: U({0}, {0}) is 0")
    return inverse


def inv(handle: Handle, a: Any, *, overwrite: bool = False) -> Array:
    """The inverse."""
    lu, pivots = getrf(handle, _matrix("a", a, square=True), overwrite=overwrite)
    return getri(handle, lu, pivots, overwrite=True)


def solve(handle: Handle, a: Any, b: Any, *, assume: str = "general", lower: bool = True, overwrite_a: bool = False,
          overwrite_b: bool = False) -> Array:
    """Solves A X = B. b: a vector, or a matrix of right-hand sides. assume: what is known of A, "general",
    "symmetric", "hermitian" or "positive" (definite); then one triangle of it is read.

    >>> import jalloc, numpy as np
    >>> with jalloc.Handle() as handle:
    ...     solve(handle, np.zeros((2, 2)), np.ones(2))
    Traceback (most recent call last):
        ...
    jalloc.errors.SingularMatrix: the matrix is singular: U(1, 1) is 0
    """
    host(handle)
    matrix = _matrix("a", a, square=True)
    n = matrix.shape[0]
    x = copied(handle, _right_hand_side(b, n), overwrite=overwrite_b, apart=matrix)
    letter = letter_of(matrix, x)
    # What lies row by row is factored as it lies: its transpose, or the other triangle.
    order = "C" if matrix.flags.c_contiguous and not matrix.flags.f_contiguous else "F"
    factor, found = copied(handle, matrix, order, overwrite_a), info()
    by_rows = order == "C"
    if assume == "general":
        pivots = np.zeros(n, np.int64)
        handle.call(routine("jlapack", letter, "getrf"), n, n, factor, _ld(n), pivots, ctypes.byref(found))
        _failed(found, "the matrix is singular: U({0}, {0}) is 0")
        handle.call(routine("jlapack", letter, "getrs"), operation("T" if by_rows else "N"), n, _columns(x), factor, _ld(n),
                    pivots, x, _ld(n))
        return x
    if assume not in _ASSUMED:
        raise invalid(f"assume is general, {', '.join(_ASSUMED)}, not {assume!r}")
    name = "sysv" if assume == "hermitian" and letter in "sd" else _ASSUMED[assume]
    if by_rows and letter in "cz" and assume != "symmetric" and not handle.querying:  # what lies there is conj(A)
        np.conjugate(factor, out=factor)
    pivots = (np.zeros(n, np.int64),) if name != "posv" else ()  # type: ignore[assignment]
    handle.call(routine("jlapack", letter, name), uplo(lower != by_rows), n, _columns(x), factor, _ld(n), *pivots, x, _ld(n),
                ctypes.byref(found))
    _failed(found, "the leading minor of order {} is not positive" if name == "posv" else
            "the matrix is singular: block {} of D is 0")
    return x


# ---- Cholesky ----


def potrf(handle: Handle, a: Any, *, lower: bool = True, overwrite: bool = False) -> Array:
    """Cholesky's factor, A = L L^H, or U^H U where not `lower`; the other triangle is zero. One triangle of A is read."""
    host(handle)
    matrix = _matrix("a", a, square=True)
    order = "C" if matrix.flags.c_contiguous and not matrix.flags.f_contiguous else "F"
    factor, found = copied(handle, matrix, order, overwrite), info()
    n = factor.shape[0]
    # What lies row by row is the transpose, whose other triangle gives the same factor, transposed.
    handle.call(routine("jlapack", letter_of(factor), "potrf"), uplo(lower != (order == "C")), n, factor, _ld(n),
                ctypes.byref(found))
    _failed(found, "the leading minor of order {} is not positive")
    if not handle.querying:
        factor[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = 0
    return factor


def potrs(handle: Handle, factor: Any, b: Any, *, lower: bool = True, overwrite: bool = False) -> Array:
    """Solves A X = B with what potrf gave."""
    host(handle)
    known = _in_order(_matrix("factor", factor, square=True))
    n = known.shape[0]
    x = copied(handle, _right_hand_side(b, n), overwrite=overwrite, apart=known)
    handle.call(routine("jlapack", letter_of(known, x), "potrs"), uplo(lower), n, _columns(x), known, _ld(n), x, _ld(n))
    return x


def potri(handle: Handle, factor: Any, *, lower: bool = True, overwrite: bool = False) -> Array:
    """The inverse by what potrf gave, in one triangle."""
    host(handle)
    inverse, found = copied(handle, _matrix("factor", factor, square=True), overwrite=overwrite), info()
    n = inverse.shape[0]
    handle.call(routine("jlapack", letter_of(inverse), "potri"), uplo(lower), n, inverse, _ld(n), ctypes.byref(found))
    _failed(found, "the factor is singular: element ({0}, {0}) is 0")
    return inverse


# ---- QR and least squares ----


def geqrf(handle: Handle, a: Any, *, overwrite: bool = False) -> tuple[Array, Array]:
    """A = Q R: R on and above the diagonal, and below it and in tau what Q is made of."""
    host(handle)
    factor = copied(handle, _matrix("a", a), overwrite=overwrite)
    m, n = factor.shape
    tau = np.zeros(min(m, n), factor.dtype)
    handle.call(routine("jlapack", letter_of(factor), "geqrf"), m, n, factor, _ld(m), tau)
    return factor, tau


def orgqr(handle: Handle, factor: Any, tau: Array, *, overwrite: bool = False) -> Array:
    """Q with as many columns as the factor has, by what geqrf gave."""
    host(handle)
    q = copied(handle, _matrix("factor", factor), overwrite=overwrite)
    m, n = q.shape
    letter = letter_of(q, tau)
    handle.call(routine("jlapack", letter, "orgqr" if letter in "sd" else "ungqr"), m, n, tau.size, q, _ld(m),
                np.ascontiguousarray(tau))
    return q


def qr(handle: Handle, a: Any) -> tuple[Array, Array]:
    """A = Q R, with Q's first min(m, n) columns and as many rows of R."""
    factor, tau = geqrf(handle, a)
    k = tau.size
    r = np.triu(factor[:k]) if not handle.querying else factor[:k]
    return orgqr(handle, factor[:, :k], tau, overwrite=True), r


def lstsq(handle: Handle, a: Any, b: Any, *, rcond: float | None = None) -> Array:
    """The X of the least |B - A X|, and of those the least. A has full rank; where that is not known, rcond tells the
    singular values that count, as a part of the largest (-1: the precision)."""
    host(handle)
    factor = copied(handle, _matrix("a", a))
    m, n = factor.shape
    given = _right_hand_side(b, m)
    letter, rows = letter_of(factor, given), max(m, n)
    x = np.zeros((rows, _columns(given)), given.dtype, order="F")
    if not handle.querying:
        x[:m] = given.reshape(m, x.shape[1])
    found, size = info(), (m, n, x.shape[1], factor, _ld(m), x, _ld(rows))
    if rcond is None:
        handle.call(routine("jlapack", letter, "gels"), operation("N"), *size, ctypes.byref(found))
        _failed(found, "the matrix has not full rank: element ({0}, {0}) of its factor is 0")
    else:
        values, rank = np.zeros(min(m, n), REAL[letter]), ctypes.c_int64()
        handle.call(routine("jlapack", letter, "gelsd"), *size, values, scalar(rcond, REAL[letter]), ctypes.byref(rank),
                    ctypes.byref(found))
        _failed(found, "{} superdiagonals did not become 0")
    return x[:n] if given.ndim == 2 else x[:n, 0]


# ---- Eigenvalues and singular values ----


def eigh(handle: Handle, a: Any, *, lower: bool = True, vectors: bool = True) -> tuple[Array, Array] | Array:
    """Eigenvalues, ascending, and vectors of a symmetric or Hermitian A, of which one triangle is read; A V = V diag(w)."""
    host(handle)
    v, found = copied(handle, _matrix("a", a, square=True)), info()
    n, letter = v.shape[0], letter_of(v)
    w = np.zeros(n, REAL[letter])
    handle.call(routine("jlapack", letter, "syevd" if letter in "sd" else "heevd"),
                c.JLAPACK_VECTORS if vectors else c.JLAPACK_NONE, uplo(lower), n, v, _ld(n), w, ctypes.byref(found))
    _failed(found, "eigenvalues did not converge: info {}")
    return (w, v) if vectors else w


def svd(handle: Handle, a: Any, *, full: bool = False, vectors: bool = True) -> tuple[Array, Array, Array] | Array:
    """A = U diag(s) V^H: U, s and V^H, with min(m, n) columns and rows, or all of them where `full`."""
    host(handle)
    work, found = copied(handle, _matrix("a", a)), info()
    (m, n), letter = work.shape, letter_of(work)
    k = min(m, n)
    s = np.zeros(k, REAL[letter])
    u, vt = (np.zeros(shape, work.dtype, order="F") for shape in
             ([(m, m), (n, n)] if full else [(m, k), (k, n)] if vectors else [(0, 0)] * 2))
    job = c.JLAPACK_NONE if not vectors else c.JLAPACK_ALL if full else c.JLAPACK_SOME
    handle.call(routine("jlapack", letter, "gesdd"), job, m, n, work, _ld(m), s, u if vectors else None,
                _ld(m) if vectors else 1, vt if vectors else None, _ld(vt.shape[0]), ctypes.byref(found))
    _failed(found, "singular values did not converge: info {}")
    return (u, s, vt) if vectors else s


def eig(handle: Handle, a: Any) -> tuple[Array, Array]:
    """Eigenvalues and right vectors, A V = V diag(w), both complex."""
    host(handle)
    work, found = copied(handle, _matrix("a", a, square=True)), info()
    n, letter = work.shape[0], letter_of(work)
    right = np.zeros((n, n), work.dtype, order="F")
    values = [np.zeros(n, work.dtype) for _ in range(2 if letter in "sd" else 1)]
    handle.call(routine("jlapack", letter, "geev"), c.JLAPACK_NONE, c.JLAPACK_VECTORS, n, work, _ld(n), *values, None, 1, right,
                _ld(n), ctypes.byref(found))
    _failed(found, "eigenvalues did not converge: info {}")
    if letter in "cz":
        return values[0], right
    w = values[0] + 1j * values[1]
    v = right.astype(w.dtype)
    for j in np.flatnonzero(values[1] > 0):  # a pair has the real and the imaginary part
        v[:, j] = right[:, j] + 1j * right[:, j + 1]
        v[:, j + 1] = v[:, j].conj()
    return w, v
