# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""NumPy's arrays as BLAS takes them: an address, an increment or a leading dimension. BLAS is column-major; a
matrix that lies row by row is its transpose, so that arrays of either order are taken without a copy. What
BLAS cannot take as it lies (strides in both dimensions, addresses that are not aligned) is copied: an operand
before the call, a result back behind it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import c
from .allocator import Array
from .errors import invalid

if TYPE_CHECKING:
    from .handle import Handle

LETTERS = {"<f4": "s", "<f8": "d", "<c8": "c", "<c16": "z"}
REAL: dict[str, np.dtype[Any]] = {"s": np.dtype("f4"), "c": np.dtype("f4"), "d": np.dtype("f8"), "z": np.dtype("f8")}

OPERATIONS = {"N": c.JBLAS_NO_TRANSPOSE, "T": c.JBLAS_TRANSPOSE, "C": c.JBLAS_CONJUGATE_TRANSPOSE, "R": c.JBLAS_CONJUGATE}
_TRANSPOSED = {c.JBLAS_NO_TRANSPOSE: c.JBLAS_TRANSPOSE, c.JBLAS_TRANSPOSE: c.JBLAS_NO_TRANSPOSE,
               c.JBLAS_CONJUGATE_TRANSPOSE: c.JBLAS_CONJUGATE, c.JBLAS_CONJUGATE: c.JBLAS_CONJUGATE_TRANSPOSE}


def letter_of(*arrays: Any) -> str:
    """BLAS's letter of the one element type that arrays must have."""
    types = {np.dtype(array.dtype).str for array in arrays}
    letter = LETTERS.get(next(iter(types))) if len(types) == 1 else None
    if letter is None:
        names = ", ".join(sorted(str(np.dtype(t)) for t in types))
        raise invalid(f"operands are all float32, float64, complex64 or complex128, not {names}")
    return letter


def operation(name: str) -> c.jblas_operation_t:
    """Of "N", "T", "C", "R"."""
    if name not in OPERATIONS:
        raise invalid(f"an operation is one of N, T, C and R, not {name!r}")
    return OPERATIONS[name]


def transposed(op: c.jblas_operation_t, by: bool = True) -> c.jblas_operation_t:
    """The operation on the transpose."""
    return _TRANSPOSED[op] if by else op


def uplo(lower: bool) -> c.jblas_uplo_t:
    """Which triangle."""
    return c.JBLAS_LOWER if lower else c.JBLAS_UPPER


def routine(prefix: str, letter: str, name: str) -> Any:
    """The function of a type, such as jblas_dgemm."""
    return getattr(c, f"{prefix}_{letter}{name}")


def scalar(value: Any, dtype: Any) -> Array:
    """alpha and its like, which C reads by a pointer."""
    if np.iscomplexobj(value) and np.dtype(dtype).kind != "c":
        raise invalid(f"{value!r} is no {np.dtype(dtype)}")
    if np.size(value) != 1:
        raise invalid(f"a scalar is one number, not an array of shape {np.shape(value)}")
    return np.array(value, dtype)


def host(handle: Handle) -> None:
    """NumPy's arrays are the host's."""
    if handle.device != "host":
        raise invalid(f"NumPy's arrays are on the host, the handle is on {handle.device}; jalloc.c takes addresses there")


def _overlaps(array: Array, outputs: tuple[Array, ...]) -> bool:
    return any(np.may_share_memory(array, output) for output in outputs)


class Vector:
    """A vector as BLAS takes it."""

    def __init__(self, name: str, array: Array, outputs: tuple[Array, ...] = (), written: bool = False) -> None:
        if array.ndim != 1:
            raise invalid(f"{name} has one dimension, not {array.ndim}")
        self._target: Array | None = None
        good = array.flags.aligned and array.strides[0] % array.itemsize == 0 and (array.strides[0] != 0 or array.size <= 1)
        if written:
            _writable(name, array)
            if not good:
                self._target, array = array, array.copy()
        elif not good or _overlaps(array, outputs):
            array = array.copy()
        self.array = array
        self.size = array.size
        self.increment = array.strides[0] // array.itemsize if array.size > 1 else 1
        # With a negative increment BLAS begins at the last address: it is given the first one.
        self.address = array.ctypes.data + min(0, (array.size - 1) * array.strides[0] if array.size else 0)

    def done(self) -> None:
        """Behind the call: what was written to a copy goes where it belongs."""
        if self._target is not None:
            self._target[...] = self.array


class Matrix:
    """A matrix as BLAS takes it: `rows` and `columns` are its own; it lies in memory column by column, or, where
    `is_row_major`, its transpose does."""

    def __init__(self, name: str, array: Array, outputs: tuple[Array, ...] = (), written: bool = False,
                 row_major: bool | None = None) -> None:
        """row_major: which of both it is to be; None: as it lies."""
        if array.ndim != 2:
            raise invalid(f"{name} has two dimensions, not {array.ndim}")
        orders = (False, True) if row_major is None else (row_major,)
        good = [order for order in orders if _leading(array, order)]
        self._target: Array | None = None
        if written:
            _writable(name, array)
        if not good or (not written and _overlaps(array, outputs)):
            self._target = array if written else None
            array = array.copy("C" if orders[0] else "F")
            good = [orders[0]]
        self.array = array
        self.rows, self.columns = array.shape
        self.is_row_major = good[0]
        self.leading = _leading(array, good[0])
        self.address = array.ctypes.data

    def op(self, op: c.jblas_operation_t) -> c.jblas_operation_t:
        """The operation for BLAS, which sees what lies in memory."""
        return transposed(op, self.is_row_major)

    def done(self) -> None:
        """Behind the call: what was written to a copy goes where it belongs."""
        if self._target is not None:
            self._target[...] = self.array


def _leading(array: Array, row_major: bool) -> int:
    """The leading dimension of an array that lies row by row or column by column; 0: BLAS cannot take it so."""
    size, fast = array.itemsize, 1 if row_major else 0
    short, near = int(array.shape[fast]), int(array.strides[fast])
    long, far = int(array.shape[1 - fast]), int(array.strides[1 - fast])
    if array.size == 0:
        return max(1, short)
    if not array.flags.aligned or (short > 1 and near != size):
        return 0
    if long <= 1:
        return max(1, short)
    return far // size if far % size == 0 and far // size >= max(1, short) else 0


def _writable(name: str, array: Array) -> None:
    if not array.flags.writeable:
        raise invalid(f"{name} is written, and the array is read-only")


def copied(handle: Handle, array: Any, order: str = "F", overwrite: bool = False, apart: Array | None = None) -> Array:
    """What a factorization works in: a copy in that order, or the array itself where that is allowed and fits, and
    shares nothing with what it has to be apart from. During a size query nothing is read, so nothing is copied."""
    source = np.asarray(array)
    overwrite = overwrite and (apart is None or not np.may_share_memory(source, apart))
    if overwrite and source.flags.writeable and source.flags.aligned and (source.flags.f_contiguous if order == "F" else source.flags.c_contiguous):
        return source
    if handle.querying:
        return np.empty(source.shape, source.dtype, order=order)  # type: ignore[call-overload, no-any-return]
    return source.copy(order)  # type: ignore[arg-type]


def info() -> ctypes.c_int64:
    """LAPACK's info, which stays 0 in a size query."""
    return ctypes.c_int64()
