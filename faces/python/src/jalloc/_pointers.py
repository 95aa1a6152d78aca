# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the generated declarations are made of: structs that begin as their initializers say, and
pointers to elements, which take arrays. An array must have just the type of the elements, and may be
read-only only where C does not write; an address, None or byref() is taken as it is."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

__all__ = ["Struct", *(kind + name for kind in ("", "Const", "Many", "ManyConst")
                       for name in ("F16", "BF16", "F32", "F64", "F32C", "F64C", "I64", "Bytes"))]


class Struct(ctypes.Structure):
    """Begins as the initializer of C does: its size in struct_size, and defaults."""

    _initial_: dict[str, int] = {}

    def __init__(self, *values: Any, **members: Any) -> None:
        super().__init__(*values)
        if not values and hasattr(self, "struct_size"):
            self.struct_size = ctypes.sizeof(self)
        for name, value in {**self._initial_, **members}.items():
            setattr(self, name, value)


class _Elements(ctypes.c_void_p):
    _dtype: str = ""
    _written = True

    @classmethod
    def address(cls, array: np.ndarray[Any, Any]) -> int:
        if cls._dtype and array.dtype.str != cls._dtype:
            raise TypeError(f"expected an array of {np.dtype(cls._dtype)}, not of {array.dtype}")
        if cls._written and not array.flags.writeable:
            raise TypeError("the array is read-only, and C writes to it")
        return array.ctypes.data

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return ctypes.c_void_p(cls.address(value))
        if isinstance(value, (str, bytes)):  # which ctypes would take
            raise TypeError("a text is no array of elements")
        return ctypes.c_void_p.from_param(value)


class _Many(_Elements):
    """An array of pointers: a list of arrays, or what ctypes makes."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return (ctypes.c_void_p * len(value))(*(cls.address(array) for array in value))
        return ctypes.c_void_p.from_param(value)


def _elements(dtype: str) -> list[type[_Elements]]:
    """Classes for elements that are written, and that are only read, and for arrays of pointers to such."""
    return [type("Elements", (kind,), {"_dtype": dtype, "_written": written})
            for kind in (_Elements, _Many) for written in (True, False)]


F16, ConstF16, ManyF16, ManyConstF16 = _elements("<f2")
BF16, ConstBF16, ManyBF16, ManyConstBF16 = _elements("<u2")
F32, ConstF32, ManyF32, ManyConstF32 = _elements("<f4")
F64, ConstF64, ManyF64, ManyConstF64 = _elements("<f8")
F32C, ConstF32C, ManyF32C, ManyConstF32C = _elements("<c8")
F64C, ConstF64C, ManyF64C, ManyConstF64C = _elements("<c16")
I64, ConstI64, ManyI64, ManyConstI64 = _elements("<i8")
Bytes, ConstBytes, ManyBytes, ManyConstBytes = _elements("")
