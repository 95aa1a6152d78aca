# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""DLPack's capsules through ctypes: the format of dlpack.h (version 0, which all know), made and taken.

A capsule "dltensor" holds a tensor with a deleter. Who takes it renames it to "used_dltensor", and calls the
deleter when it has done, from any thread; a capsule that nobody took deletes its tensor itself."""

from __future__ import annotations

import ctypes
from typing import Any

_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5}
KINDS = {1: "host", 2: "cuda", 10: "hip"}  #: DLPack's numbers of devices
NUMBERS = {name: number for number, name in KINDS.items()}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]


def _python(name: str, returns: Any, *parameters: Any) -> Any:
    """A function of Python's own interface, called with the interpreter's lock held. A type of our own: others in the
    process may have set theirs for the same function."""
    return ctypes.PYFUNCTYPE(returns, *parameters)((name, ctypes.pythonapi))


_new = _python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _python("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_get_pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_set_name = _python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
# Of a capsule that is ending, whose count is 0: its address, not a new reference.
_is_valid_at = _python("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_get_pointer_at = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)

_NAME, _USED = b"dltensor", b"used_dltensor"  # capsules keep these pointers
_given: dict[int, tuple[Any, ...]] = {}  # {address: the tensor and what it keeps}


def _delete(address: int) -> None:
    _given.pop(address, None)


def _end(capsule: int) -> None:
    if _is_valid_at(capsule, _NAME):
        _delete(_get_pointer_at(capsule, _NAME))


_delete_tensor = _DELETER(_delete)  # C calls them as long as the process lives
_end_capsule = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_end)


def give(owner: Any, address: int, device: tuple[int, int], kind: str, itemsize: int, shape: tuple[int, ...],
         strides: tuple[int, ...]) -> Any:
    """A capsule with a tensor; `owner` lives as long. kind: NumPy's letter; strides in elements."""
    count = len(shape)
    extents, steps = (ctypes.c_int64 * max(1, count))(*shape), (ctypes.c_int64 * max(1, count))(*strides)
    managed = _Managed()
    tensor = managed.tensor
    tensor.data, (tensor.device_type, tensor.device_id) = address or None, device
    tensor.ndim, tensor.code, tensor.bits, tensor.lanes = count, _CODES[kind], 8 * itemsize, 1
    tensor.shape, tensor.strides = extents, steps
    managed.deleter = _delete_tensor
    where = ctypes.addressof(managed)
    _given[where] = managed, extents, steps, owner
    return _new(where, _NAME, ctypes.cast(_end_capsule, ctypes.c_void_p))


class Taken:
    """A tensor that was taken out of a capsule; it is deleted with this object."""

    def __init__(self, capsule: Any) -> None:
        if not _is_valid(capsule, _NAME):
            raise BufferError("the capsule holds no tensor of DLPack, or was taken already")
        self._address = _get_pointer(capsule, _NAME)
        self._managed = _Managed.from_address(self._address)
        _set_name(capsule, _USED)
        tensor = self._managed.tensor
        self.device = tensor.device_type, tensor.device_id
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        letters = {number: letter for letter, number in _CODES.items()}
        if tensor.lanes != 1 or tensor.code not in letters:
            raise BufferError(f"elements of DLPack's kind {tensor.code} in {tensor.lanes} lanes are none of jalloc's")
        self.dtype = f"{letters[tensor.code]}{tensor.bits // 8}"
        if tensor.strides:
            self.strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
        else:
            step, strides = 1, []
            for n in reversed(self.shape):
                strides.append(step)
                step *= n
            self.strides = tuple(reversed(strides))

    def __del__(self) -> None:
        if hasattr(self, "_managed") and self._managed.deleter:
            self._managed.deleter(self._address)
