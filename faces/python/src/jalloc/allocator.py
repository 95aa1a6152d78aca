# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Allocators: compositions by text, what they have done and what they hold, and arrays in them.

>>> import jalloc
>>> with jalloc.Allocator("bfc(limit=1MiB)+guard") as allocator:
...     x = allocator.zeros((100, 100))
...     float(x.sum()), allocator.statistics.in_use_bytes
(0.0, 80000)
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import weakref
from typing import Any

import numpy as np

from . import c
from ._common import Size, c_number, c_text, collect, device, read, size_bytes, text_of_bytes
from .errors import check, invalid

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class AllocatorStatistics:
    """What an allocator has done. What it cannot know is 0."""

    allocation_count: int  #: successful allocations
    live_count: int  #: allocations not given back yet
    in_use_bytes: int  #: requested bytes that are live
    peak_in_use_bytes: int
    largest_request_bytes: int
    limit_bytes: int  #: most that may be in use or reserved; 0: no limit
    reserved_bytes: int  #: memory held from what lies below, in use or not
    peak_reserved_bytes: int
    free_bytes: int  #: sum of the free blocks held, decommitted or not
    largest_free_bytes: int
    failure_count: int  #: allocations that failed
    fragmentation: float  #: 1 - largest free / free
    granted_bytes: int  #: of what is live, as rounded up
    peak_granted_bytes: int
    decommitted_bytes: int  #: of what is free, addresses whose memory the system has back


class _Block:
    """Memory of an allocator as NumPy sees it; given back when the last array of it is gone."""

    def __init__(self, allocator: Allocator, nbytes: int, alignment: int) -> None:
        self._allocator, self._nbytes, self._process = allocator, nbytes, os.getpid()
        self._address = ctypes.c_void_p()
        check(c.jallocator_allocate(allocator.pointer, nbytes, alignment, None, ctypes.byref(self._address)))
        self.__array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "version": 3,
                                    "data": (self._address.value or 0, False)}

    def __del__(self, process: Any = os.getpid, deallocate: Any = c.jallocator_deallocate) -> None:
        # The defaults are there even when the interpreter ends. A forked child leaves its parent's books alone.
        if self._address and self._process == process():
            deallocate(self._allocator.pointer, self._address, self._nbytes, None)


def array_in(block: Any, shape: Any, dtype: Any, order: str) -> Array:
    """An array of that shape in the bytes of a block."""
    result: Array = np.asarray(block).view(dtype).reshape(shape, order=order)
    return result


def extent(shape: Any, dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """A shape as a tuple, the type, and the bytes that such an array has."""
    known = np.dtype(dtype)
    if known.hasobject or known.itemsize == 0:
        raise invalid(f"elements of {known} are no plain bytes")
    sizes = (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)
    if any(n < 0 for n in sizes):
        raise invalid(f"a shape has no negative extents: {sizes}")
    nbytes = known.itemsize
    for n in sizes:
        nbytes *= n
    return sizes, known, c_number(ctypes.c_size_t, nbytes)


class Allocator:
    """A composition of allocators, lowest first, such as "bfc(limit=2GiB)+guard"; jalloc.kinds() lists what there
    is. With `over` it stands on another Allocator. An allocator that arrays live in ends with the last of them."""

    def __init__(self, composition: str = "general", device: str = "host", *, over: Allocator | None = None) -> None:
        pointer = ctypes.POINTER(c.jallocator_t)()
        if over is None:
            check(c.jallocator_compose(_device(device), c_text(composition), ctypes.byref(pointer)))
        else:
            check(c.jallocator_compose_over(over.pointer, c_text(composition), ctypes.byref(pointer)))
        self._take(pointer, over)

    def _take(self, pointer: Any, below: Any) -> None:
        self._pointer = pointer
        self._finalizer = weakref.finalize(self, _destroy, pointer, below)
        self._finalizer.atexit = False

    @property
    def pointer(self) -> Any:
        """The allocator for the functions of jalloc.c."""
        if not self._finalizer.alive:
            raise invalid("the allocator is closed")
        return self._pointer

    def close(self) -> None:
        """Ends the allocator; Busy while arrays or handles use it."""
        if self._finalizer.alive:
            check(c.jallocator_destroy(self._pointer))
            self._finalizer.detach()

    def __enter__(self) -> Allocator:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes, or leaves that to the last array."""
        if self._finalizer.alive and c.jallocator_destroy(self._pointer) == c.JSTATUS_SUCCESS:
            self._finalizer.detach()

    # ---- Arrays ----

    def empty(self, shape: Any, dtype: Any = float, order: str = "C", alignment: int = 0) -> Array:
        """An array in this allocator's memory, which goes back when the array and its views are gone.

        >>> Allocator("limit(limit=1KiB)").empty(1000)
        Traceback (most recent call last):
            ...
        jalloc.errors.OutOfMemory: allocator "limit": no 8000 bytes ... the limit is 1024 bytes, 0 are live ...
        """
        if self.device != "host":
            raise invalid(f"NumPy's arrays are the host's; jalloc.Buffer has elements on {self.device}")
        sizes, known, nbytes = extent(shape, dtype)
        if nbytes == 0:
            return np.empty(sizes, known)
        aligned = max(c_number(ctypes.c_size_t, alignment), known.alignment) if alignment else 0
        return array_in(_Block(self, nbytes, aligned), sizes, known, order)

    def zeros(self, shape: Any, dtype: Any = float, order: str = "C", alignment: int = 0) -> Array:
        """The same, all zero."""
        array = self.empty(shape, dtype, order, alignment)
        array[...] = np.zeros((), array.dtype)
        return array

    # ---- What it holds ----

    @property
    def name(self) -> str:
        """The name of what stands on top."""
        return (c.jallocator_name(self.pointer) or b"").decode()

    @property
    def device(self) -> str:
        """The device whose memory it hands out."""
        return (c.jdevice_name(c.jallocator_device(self.pointer)) or b"").decode()

    @property
    def statistics(self) -> AllocatorStatistics:
        """What it has done."""
        stats = c.jallocator_stats_t()
        check(c.jallocator_get_stats(self.pointer, stats))
        return read(AllocatorStatistics, stats)

    def clear_statistics(self) -> None:
        """Peaks fall to the present values."""
        check(c.jallocator_clear_stats(self.pointer))

    def dump(self) -> str:
        """What it holds, for people: statistics, blocks by size, and who holds what."""
        return collect(lambda writer: c.jallocator_dump(self.pointer, c.JALLOCATOR_DUMP_TEXT, writer, None))

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary; the manual says what is in it."""
        text = collect(lambda writer: c.jallocator_dump(self.pointer, c.JALLOCATOR_DUMP_JSON, writer, None))
        result: dict[str, Any] = json.loads(text)
        return result

    def check(self) -> None:
        """Looks at all that must not have changed, such as guard words; raises an Error that names the block."""
        check(c.jallocator_check(self.pointer))

    def trim(self, keep: Size = 0) -> None:
        """Gives unused memory back until at most `keep` is held unused."""
        check(c.jallocator_trim(self.pointer, size_bytes(keep)))

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return "<Allocator, closed>"
        stats = self.statistics
        return f"<{type(self).__name__} {self.name}: {text_of_bytes(stats.in_use_bytes)} in {stats.live_count} blocks>"


_device = device  # the parameter has the name, too


def _destroy(pointer: Any, _below: Any) -> None:
    """What became unreachable; what it stands on lives until then."""
    c.jallocator_destroy(pointer)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of allocator that a composition can name."""

    name: str
    role: str  #: "provider", "policy" or "adaptor"
    summary: str
    keys: dict[str, str]  #: what it understands: {key: meaning}


def kinds() -> list[Kind]:
    """All kinds of allocators, for compositions.

    >>> {kind.name: kind.role for kind in kinds()}["bfc"]
    'policy'
    """
    found: list[Kind] = []
    while kind := c.jallocator_kind_at(len(found)):
        keys, index = {}, 0
        while kind[0].keys[index].name:
            key = kind[0].keys[index]
            keys[key.name.decode()] = f"{key.meaning.decode()} ({key.syntax.decode()}; {key.fallback.decode()})"
            index += 1
        role = c.jallocator_role_t(kind[0].role).name.removeprefix("JALLOCATOR_").lower()
        found.append(Kind(kind[0].name.decode(), role, kind[0].summary.decode(), keys))
    return found


class tag:
    """`with jalloc.tag("assemble"):` what this thread allocates in the block carries the name, in reports, dumps
    and traces."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._previous = 0

    def __enter__(self) -> None:
        self._previous = c.jtag_set(c.jtag_intern(c_text(self._name)))

    def __exit__(self, *_: object) -> None:
        c.jtag_set(self._previous)
