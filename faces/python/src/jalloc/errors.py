# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Statuses as exceptions. Each carries the status, and the message with the values that were wrong.

>>> import jalloc
>>> try:
...     jalloc.Allocator("buddy")
... except ValueError as error:
...     print(error.status.name, "-", error)  # doctest: +ELLIPSIS
JSTATUS_INVALID_CONFIGURATION - ...buddy...
"""

from __future__ import annotations

import warnings

import numpy as np

from . import c


class Error(Exception):
    """A call of jalloc's failed. `status` says how, the text why."""

    def __init__(self, status: c.jstatus_t, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.status, str(self))


class OutOfMemory(Error, MemoryError):
    """Memory could not be had, or less than the call needs at least."""


class InvalidArgument(Error, ValueError):
    """A value, size, pointer or text that the call does not take."""


class NotFound(Error, LookupError):
    """There is no such object, or no more."""


class Unsupported(Error, NotImplementedError):
    """This device or build does not do that."""


class Busy(Error):
    """The object is in use."""


class Sealed(Error):
    """The handle is sealed, and the call would have had to take memory."""


class SingularMatrix(Error, np.linalg.LinAlgError):
    """A factorization or iteration ended without a result. `info` is LAPACK's, from 1 on."""

    def __init__(self, message: str, info: int) -> None:
        super().__init__(c.JSTATUS_SUCCESS, message)
        self.info = info

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.info)


class PerformanceWarning(UserWarning):
    """A call took a slower way for want of workspace. The result is right."""


_CLASSES: dict[int, type[Error]] = {
    c.JSTATUS_MEMORY_ERROR: OutOfMemory,
    c.JSTATUS_INVALID_VALUE: InvalidArgument,
    c.JSTATUS_INVALID_SIZE: InvalidArgument,
    c.JSTATUS_INVALID_POINTER: InvalidArgument,
    c.JSTATUS_INVALID_HANDLE: InvalidArgument,
    c.JSTATUS_INVALID_CONFIGURATION: InvalidArgument,
    c.JSTATUS_NOT_FOUND: NotFound,
    c.JSTATUS_NOT_IMPLEMENTED: Unsupported,
    c.JSTATUS_NO_DEVICE: Unsupported,
    c.JSTATUS_BUSY: Busy,
    c.JSTATUS_SEALED: Sealed,
}


def error(status: int, message: str = "") -> Error:
    """The exception of a status."""
    known, text = c.jstatus_t(status), c.jstatus_last_message() or c.jstatus_text(status)
    return _CLASSES.get(known, Error)(known, message or text.decode(errors="replace"))


def check(status: int, stacklevel: int = 3) -> None:
    """Raises what an error is, warns of a slower way, and lets answers to size queries pass."""
    if status == 0:
        return
    if status == c.JSTATUS_PERF_DEGRADED:
        warnings.warn("a slower way was taken for want of workspace; Handle.query() says how much serves best",
                      PerformanceWarning, stacklevel)
    elif status not in (c.JSTATUS_SIZE_INCREASED, c.JSTATUS_SIZE_UNCHANGED):
        raise error(status)


def invalid(message: str) -> InvalidArgument:
    """What this package itself refuses."""
    return InvalidArgument(c.JSTATUS_INVALID_VALUE, message)
