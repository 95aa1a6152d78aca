# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Buffers: shaped memory on the host or on a GPU, which NumPy, PyTorch and others share without a copy.

>>> import jalloc, numpy
>>> buffer = jalloc.Buffer.zeros((2, 3))
>>> view = numpy.asarray(buffer)                      # no copy, and so does numpy.from_dlpack(buffer)
>>> view[1, 2] = 7
>>> numpy.from_dlpack(buffer)[1]
array([0., 0., 7.])
>>> x = numpy.arange(6.0)
>>> same = jalloc.from_dlpack(x)                       # x may be of any library that has DLPack
>>> x[0] = -1
>>> float(numpy.asarray(same)[0])
-1.0
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

import numpy as np

from . import _dlpack, c
from ._common import c_number, c_text, data_type, device, dtype_of
from .allocator import Allocator, Array
from .errors import check, invalid

_runtimes: dict[int, Any] = {}  # {process: its view}


def _runtime() -> Any:
    """This process's view of itself; a forked child has one of its own."""
    process = os.getpid()
    if process not in _runtimes:
        pointer = ctypes.POINTER(c.jruntime_t)()
        check(c.jruntime_create(ctypes.byref(pointer)))
        _runtimes[process] = pointer
    return _runtimes[process]


def _makes(dtype: Any, where: str, bytes_from: Allocator | None) -> Any:
    """A jbuffer_allocator_t of a type and device; the buffers keep it."""
    options = c.jbuffer_allocator_options_t(type=data_type(dtype), device=device(where))
    if bytes_from is not None:
        options.allocator = bytes_from.pointer
    pointer = ctypes.POINTER(c.jbuffer_allocator_t)()
    check(c.jbuffer_allocator_create(_runtime(), options, ctypes.byref(pointer)))
    return pointer


def _layout(shape: Any, order: str = "C", strides: tuple[int, ...] | None = None) -> Any:
    sizes = (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)
    if order not in ("C", "F"):
        raise invalid(f"the order is \"C\" or \"F\", not {order!r}")
    layout, extents = c.jlayout_t(), (ctypes.c_int64 * max(1, len(sizes)))(*(c_number(ctypes.c_int64, n) for n in sizes))
    row = c.JORDER_ROW_MAJOR if order == "C" else c.JORDER_COLUMN_MAJOR
    check(c.jlayout_init(layout, len(sizes), extents, row))
    if strides is not None and 0 not in sizes:  # without elements strides and addresses may be anything
        for i, step in enumerate(strides):
            layout.strides[i] = step if sizes[i] > 1 else max(1, step)
        check(c.jlayout_check(layout))
    return layout


class Buffer:
    """A buffer of the host or of a GPU. Buffer.empty(), zeros(), copy_of(), wrap() and load() make one; elements
    are float16, float32, float64, complex64, complex128, int8 or int32."""

    def __init__(self, pointer: Any, keeps: Any = None) -> None:
        self._pointer = pointer
        self._finalizer = weakref.finalize(self, _release, pointer, keeps)
        self._finalizer.atexit = False
        layout, kind, where = c.jlayout_t(), ctypes.c_int(), ctypes.POINTER(c.jdevice_t)()
        check(c.jbuffer_get_layout(pointer, layout))
        check(c.jbuffer_get_type(pointer, ctypes.byref(kind)))
        check(c.jbuffer_get_device(pointer, ctypes.byref(where)))
        self.shape: tuple[int, ...] = tuple(layout.extents[:layout.rank])
        self.strides: tuple[int, ...] = tuple(layout.strides[:layout.rank])  #: in elements
        self.dtype: np.dtype[Any] = dtype_of(kind.value)
        self.device: str = (c.jdevice_name(where) or b"").decode()
        self._where = where

    # ---- Making ----

    @classmethod
    def empty(cls, shape: Any, dtype: Any = float, *, device: str = "host", order: str = "C",
              allocator: Allocator | None = None) -> Buffer:
        """Uninitialized. allocator: where bytes come from; None: the process's for the device."""
        return cls._made(c.jbuffer_allocate, _makes(dtype, device, allocator), _layout(shape, order), keeps=allocator)

    @classmethod
    def zeros(cls, shape: Any, dtype: Any = float, *, device: str = "host", order: str = "C",
              allocator: Allocator | None = None) -> Buffer:
        """All zero."""
        return cls._made(c.jbuffer_construct_value, _makes(dtype, device, allocator), _layout(shape, order), None,
                         keeps=allocator)

    @classmethod
    def wrap(cls, array: Array) -> Buffer:
        """The memory of an array that can be written to, without a copy; the array lives as long."""
        if not array.flags.writeable or not array.dtype.isnative:
            raise invalid("a buffer wraps arrays that can be written to, in the machine's byte order")
        if any(step % array.itemsize for step in array.strides):
            raise invalid(f"strides of {array.strides} bytes are no multiples of {array.itemsize}")
        strides = tuple(step // array.itemsize for step in array.strides)
        return cls._made(c.jbuffer_wrap, _makes(array.dtype, "host", None), _layout(array.shape, "C", strides),
                         array.ctypes.data if array.size else None, keeps=array)

    @classmethod
    def copy_of(cls, array: Any, dtype: Any = None, *, device: str = "host", allocator: Allocator | None = None) -> Buffer:
        """A copy of an array or of a buffer, on any device; elements are converted."""
        source = array if isinstance(array, Buffer) else cls.wrap(_writable(np.asarray(array)))
        made = _makes(source.dtype if dtype is None else dtype, device, allocator)
        return cls._made(c.jbuffer_construct_copy, made, source._pointer, keeps=allocator)

    @classmethod
    def load(cls, path: str | os.PathLike[str], dtype: Any = float, *, device: str = "host") -> Buffer:
        """A file of NumPy's format .npy, whose elements are of that type."""
        return cls._made(c.jbuffer_load, _makes(dtype, device, None), c_text(path))

    @classmethod
    def _made(cls, function: Any, made: Any, *arguments: Any, keeps: Any = None) -> Buffer:
        pointer = ctypes.POINTER(c.jbuffer_t)()
        try:
            check(function(made, *arguments, ctypes.byref(pointer)))
        finally:
            c.jbuffer_allocator_release(made)  # the buffer keeps it
        return cls(pointer, keeps)

    # ---- Giving it to others ----

    @property
    def pointer(self) -> Any:
        """The buffer for the functions of jalloc.c."""
        return self._pointer

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def address(self) -> int:
        """Of the first element, on its device; 0 without elements."""
        address = ctypes.c_void_p()
        check(c.jbuffer_as_pointer(self._pointer, c.jdevice_kind(self._where), ctypes.byref(address)))
        return address.value or 0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        view = np.asarray(_Interface(self)).reshape(self.shape) if self.nbytes else np.empty(self.shape, self.dtype)
        if (dtype is None or np.dtype(dtype) == view.dtype) and not copy:
            return view
        if copy is False:
            raise ValueError(f"elements of {view.dtype} become {np.dtype(dtype)} by a copy")
        return view.astype(dtype or view.dtype)

    def __buffer__(self, flags: int) -> memoryview:
        """Python's buffer protocol, which knows this name from 3.12 on; before, memoryview(numpy.asarray(buffer))."""
        return memoryview(self.__array__())  # type: ignore[arg-type]

    def __dlpack_device__(self) -> tuple[int, int]:
        kind = c.jdevice_kind_t(c.jdevice_kind(self._where)).name.removeprefix("JDEVICE_").lower()
        return _dlpack.NUMBERS[kind], int(c.jdevice_index(self._where))

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        """A capsule of DLPack. What jalloc does to buffers has been done when it returns, so no stream waits."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the elements are on {self.device}: copy them by buffer.to()")
        if copy:
            raise BufferError("copy by Buffer.copy_of()")
        return _dlpack.give(self, self.address, self.__dlpack_device__(), self.dtype.kind, self.dtype.itemsize, self.shape,
                            self.strides)

    def to(self, device: str, dtype: Any = None) -> Buffer:
        """A copy on a device."""
        return Buffer.copy_of(self, dtype, device=device)

    def save(self, path: str | os.PathLike[str]) -> None:
        """As a file of NumPy's format .npy, which is there whole or not at all."""
        check(c.jbuffer_save(self._pointer, c_text(path)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a buffer of rank 0 has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<Buffer of {self.dtype}, {self.shape}, on {self.device}>"


class _Interface:
    """A buffer as NumPy sees its memory; the arrays keep it, and by it the buffer."""

    def __init__(self, buffer: Buffer) -> None:
        if buffer.device != "host":
            raise invalid(f"the elements are on {buffer.device}: numpy.asarray(buffer.to(\"host\"))")
        self._buffer = buffer
        # Of rank 0 NumPy would ask for a number: it gets an array of one.
        self.__array_interface__ = {"shape": buffer.shape or (1,), "typestr": buffer.dtype.str, "version": 3,
                                    "data": (buffer.address, False),
                                    "strides": tuple(step * buffer.dtype.itemsize for step in buffer.strides or (1,))}


def from_dlpack(tensor: Any) -> Buffer:
    """A buffer over the elements of any object with DLPack, such as an array of NumPy or a tensor of PyTorch, on the
    host or on a GPU; no copy. Both see what the other writes."""
    kind, index = tensor.__dlpack_device__()
    if kind not in _dlpack.KINDS:
        raise BufferError(f"DLPack's device {kind} is none of jalloc's: {_dlpack.KINDS}")
    capsule = tensor.__dlpack__() if _dlpack.KINDS[kind] == "host" else tensor.__dlpack__(stream=1 if kind == 2 else 0)
    taken = _dlpack.Taken(capsule)
    where = "host" if _dlpack.KINDS[kind] == "host" else f"{_dlpack.KINDS[kind]}:{index}"
    return Buffer._made(c.jbuffer_wrap, _makes(taken.dtype, where, None), _layout(taken.shape, "C", taken.strides),
                        (taken.address or None) if 0 not in taken.shape else None, keeps=taken)


def _writable(array: Array) -> Array:
    """What jalloc reads as a whole: native, and laid out as a layout can be."""
    good = array.flags.writeable and array.dtype.isnative and array.flags.aligned and all(step > 0 for step in array.strides)
    return array if good and array.flags.forc else np.array(array, dtype=array.dtype.newbyteorder("="), order="K")


def _release(pointer: Any, _keeps: Any) -> None:
    """What it wraps, and where its bytes are from, live until then."""
    c.jbuffer_release(pointer)
