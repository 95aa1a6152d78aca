# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the modules have in common: sizes, element types, devices, and C's structs as dataclasses."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import gc
import os
from typing import Any, TypeVar, Union

import numpy as np

from . import c
from .errors import check, invalid

Size = Union[int, str]
"""Bytes, as a number or as a text such as "64MiB"."""

DTYPES = {"f32": "<f4", "f64": "<f8", "f32_c": "<c8", "f64_c": "<c16", "f16": "<f2", "i8": "|i1", "i32": "<i4"}
_TYPES = {dtype: getattr(c, f"JDATATYPE_{name.upper()}") for name, dtype in DTYPES.items()}


def c_number(kind: Any, value: int) -> int:
    """A number for C, which has it in that type: ctypes would cut it to the type's bits."""
    if kind(value).value != value:
        raise invalid(f"{value} does not fit into {8 * ctypes.sizeof(kind)} bits{'' if kind(-1).value < 0 else ' without a sign'}")
    return int(value)


def c_text(value: str | os.PathLike[str]) -> bytes:
    """A text or path for C, which reads it to the first zero byte."""
    encoded = os.fspath(value).encode(errors="surrogateescape")
    if b"\0" in encoded:
        raise invalid(f"{value!r} has a zero byte in it")
    return encoded


def size_bytes(size: Size) -> int:
    """A size as a number.

    >>> size_bytes("1.5 KiB".replace(" ", "")), size_bytes(64)
    (1536, 64)
    """
    if isinstance(size, str):
        result = ctypes.c_size_t()
        check(c.jconfig_parse_size(c_text(size.replace(" ", "")), ctypes.byref(result)))
        return int(result.value)
    if size < 0:
        raise invalid(f"a size is at least 0 bytes, not {size}")
    return c_number(ctypes.c_size_t, int(size))


def limit_bytes(limit: Size | None) -> int:
    """Of options, where 0 is the default: None stays the default, and 0 is a real 0."""
    return 0 if limit is None else size_bytes(limit) or c.JALLOC_NONE


def text_of_bytes(size: int) -> str:
    """A size for people."""
    value, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def data_type(dtype: Any) -> int:
    """The jdatatype_t of a NumPy type."""
    known = np.dtype(dtype)
    if known.str not in _TYPES:
        raise invalid(f"no elements of jalloc are {known}: there are {', '.join(str(np.dtype(d)) for d in _TYPES)}")
    return int(_TYPES[known.str])


def dtype_of(kind: int) -> np.dtype[Any]:
    """The NumPy type of a jdatatype_t."""
    for dtype, known in _TYPES.items():
        if known == kind:
            return np.dtype(dtype)
    raise invalid(f"NumPy has no {c.jdatatype_name(kind).decode()}")


def device(name: str) -> Any:
    """A device by its name, such as "host" or "cuda:0"."""
    found = ctypes.POINTER(c.jdevice_t)()
    check(c.jdevice_get(c_text(name), ctypes.byref(found)))
    return found


def choice(prefix: str, name: str) -> int:
    """An enumerator by the last part of its name: choice("JACCURACY", "normwise")."""
    value = getattr(c, f"{prefix}_{name.upper()}", None)
    if not isinstance(value, enum.IntEnum):
        names = [one[len(prefix) + 1:].lower() for one in dir(c) if one.startswith(f"{prefix}_")]
        raise invalid(f"{name!r} is none of {', '.join(names)}")
    return value


Sized = TypeVar("Sized")


def read(kind: type[Sized], struct: Any) -> Sized:
    """A dataclass from the members of a struct that have its fields' names."""
    values = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        value = getattr(struct, field.name)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, ctypes.Array):
            value = tuple(value)
        values[field.name] = value
    return kind(**values)


def collect(call: Any) -> str:
    """The text that a function of C's writes piece by piece: call(writer) is called."""
    pieces: list[bytes] = []

    def write(_: Any, text: Any, length: int) -> None:
        pieces.append(ctypes.string_at(text, length))

    # Collecting cycles could end an array of the very allocator that is written about, whose lock is held.
    collects = gc.isenabled()
    gc.disable()
    try:
        status = call(c.jallocator_writer_t(write))
    finally:
        if collects:
            gc.enable()
    check(status)
    return b"".join(pieces).decode(errors="replace")
