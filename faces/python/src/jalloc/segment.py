# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Segments: arrays that several processes share, and that are intact whoever of them is killed.

>>> import jalloc, os
>>> name = f"/jalloc-doctest-{os.getpid()}"
>>> with jalloc.Segment.create(name, "1MiB") as segment:
...     x = segment.zeros("temperatures", (2, 3))       # found by name, by whoever attaches
...     with jalloc.Segment.attach(name) as other:      # another process would do the same
...         other["temperatures"][1] = 20.5
...     x.tolist()
...     segment.unlink()
[[0.0, 0.0, 0.0], [20.5, 20.5, 20.5]]

A named array belongs to the segment, and stays until it is deleted. An array without a name belongs to
the process that made it, and is free again when that ends, by kill -9 as well. A named array is one block,
which begins as a file of NumPy's format .npy (1.0): programs in C find it by its root and read the header.
"""

from __future__ import annotations

import ctypes
import dataclasses
import io
import os
import weakref
from typing import Any, Iterator

import numpy as np

from . import c
from ._common import Size, c_number, c_text, choice, collect, read, size_bytes, text_of_bytes
from .allocator import Allocator, Array, array_in, extent
from .errors import NotFound, check, error, invalid

_HEAP = 1  # the id of the allocator that arrays are in


@dataclasses.dataclass(frozen=True)
class SegmentStatistics:
    """Sizes and counts. Every byte of size_bytes is in exactly one of the first five."""

    metadata_bytes: int
    owned_bytes: int  #: blocks that processes own
    given_bytes: int  #: blocks that the segment itself owns
    cached_bytes: int  #: free, and ready for one process
    free_bytes: int
    size_bytes: int
    max_bytes: int
    largest_free_bytes: int
    processes: int  #: attached, this one included
    max_processes: int
    allocators: int
    created_at: int  #: seconds since 1970
    growth_count: int
    rollback_count: int  #: half-done changes of dead processes that were undone
    reaped_count: int  #: dead processes whose blocks were given back
    poisoned: bool


@dataclasses.dataclass(frozen=True)
class SegmentProcess:
    """Who is attached."""

    slot: int
    alive: bool  #: False: died, not yet recovered
    pid: int
    attached_at: int  #: seconds since 1970
    owned_bytes: int
    cached_bytes: int


class _Attachment:
    """One attachment of this process. It ends when the Segment is closed and no array of it is left."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer
        self.array_count = [0]
        self._finalizer = weakref.finalize(self, _detach, pointer, self.array_count)

    @property
    def alive(self) -> bool:
        return self._finalizer.alive


def _detach(pointer: Any, array_count: list[int]) -> None:
    # At the end of the interpreter arrays may be in use still: then the others recover what was owned.
    if array_count[0] == 0:
        c.jsegment_detach(pointer)


class _Block:
    """Memory of a segment as NumPy sees it. Owned: goes back with the last array of it."""

    def __init__(self, attachment: _Attachment, offset: int, nbytes: int, heap: Any = None) -> None:
        address = c.jsegment_pointer(attachment.pointer, c_number(ctypes.c_uint64, offset), c_number(ctypes.c_size_t, nbytes))
        if not address:
            raise error(c.JSTATUS_CORRUPTED, f"{nbytes} bytes at offset {offset} do not lie in the segment")
        self._attachment, self._heap, self._offset, self._process = attachment, heap, offset, os.getpid()
        attachment.array_count[0] += 1
        self.__array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "version": 3,
                                    "data": (address, attachment_is_read_only(attachment))}

    def __del__(self, process: Any = os.getpid, deallocate: Any = c.jshared_deallocate) -> None:
        if not hasattr(self, "_process"):
            return
        # The block of a forked child's parent stays the parent's.
        if self._heap is not None and self._attachment.alive and self._process == process():
            deallocate(self._heap, self._offset)
        self._attachment.array_count[0] -= 1


def attachment_is_read_only(attachment: _Attachment) -> bool:
    """A read-only attachment has no slot."""
    return c.jsegment_slot(attachment.pointer) == 0


class Segment:
    """This process's attachment to a segment. Made by Segment.create() or Segment.attach().

    It is a mapping of the names of its arrays: `segment["x"]`, `"x" in segment`, `del segment["x"]`, `for name in
    segment`; `segment["x"] = array` makes a copy under a new name. It can be pickled, that is, given to another
    process: there it is attached again.
    """

    def __init__(self, pointer: Any) -> None:
        self._attachment: _Attachment | None = _Attachment(pointer)

    # ---- Making, finding, ending ----

    @classmethod
    def create(cls, name: str | None = None, size: Size = "1MiB", *, max_size: Size | None = None, backend: str = "posix",
               max_processes: int = 0, timeout_ms: int = 0) -> Segment:
        """A new segment, of 64 KiB at least, which grows by itself up to max_size.

        backend: "posix", shared memory by name; "file", a path; "memfd", without a name, for children and by
        descriptor; "private", this process alone. timeout_ms: longest wait for the lock of the segment while its
        holder lives; 0: a minute.
        """
        options = _options(backend, name, timeout_ms)
        options.size_bytes = size_bytes(size)
        options.max_bytes = 0 if max_size is None else size_bytes(max_size)
        options.max_processes = c_number(ctypes.c_uint, max_processes)
        return cls(_made(c.jsegment_create, options))

    @classmethod
    def attach(cls, name: str | None = None, *, backend: str = "posix", descriptor: int = -1, read_only: bool = False,
               timeout_ms: int = 0) -> Segment:
        """A segment that exists, by its name, or by a descriptor that export() gave."""
        options = _options(backend if descriptor < 0 else "memfd", name, timeout_ms)
        options.descriptor, options.read_only = c_number(ctypes.c_int, descriptor), read_only
        return cls(_made(c.jsegment_attach, options))

    @staticmethod
    def remove(name: str, *, backend: str = "posix", force: bool = False) -> None:
        """Takes a segment's name away, if no living process is attached to it, or by force. Whoever is attached
        keeps the memory until it detaches."""
        how = c.JSEGMENT_REMOVE_ALWAYS if force else c.JSEGMENT_REMOVE_UNUSED
        check(c.jsegment_remove(choice("JSEGMENT", backend), _name_of(backend, name), how))

    def unlink(self) -> None:
        """Takes this segment's name away; it ends when the last process detaches."""
        options = self._get_options()
        check(c.jsegment_remove(options.backend, options.name, c.JSEGMENT_REMOVE_ALWAYS))

    def close(self) -> None:
        """Detaches: at once, or when the last array of it is gone."""
        self._attachment = None

    def __enter__(self) -> Segment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def export(self) -> int:
        """A new descriptor of the segment's memory, for another process; the caller closes it."""
        descriptor = ctypes.c_int()
        check(c.jsegment_export(self.pointer, ctypes.byref(descriptor)))
        return descriptor.value

    def __reduce__(self) -> tuple[Any, ...]:
        options = self._get_options()
        backend = c.jsegment_backend_t(options.backend).name.removeprefix("JSEGMENT_").lower()
        if backend not in ("posix", "file"):
            raise TypeError(f"a segment of the backend {backend} has no name, by which another process could find it")
        return _attach_again, (options.name.decode(), backend, options.read_only)

    @property
    def pointer(self) -> Any:
        """The segment for the functions of jalloc.c."""
        if self._attachment is None:
            raise invalid("the segment is closed")
        return self._attachment.pointer

    @property
    def name(self) -> str | None:
        """The name or path, None where it has none."""
        name = self._get_options().name
        return None if name is None else str(name.decode())

    def _get_options(self) -> Any:
        options = c.jsegment_options_t()
        check(c.jsegment_get_options(self.pointer, options))
        return options

    # ---- Arrays ----

    def empty(self, name: str | None, shape: Any, dtype: Any = float, order: str = "C") -> Array:
        """A new array. With a name it belongs to the segment and is found by `segment[name]` in every process;
        without one (None) it belongs to this process, and goes when it is not used any more or the process ends.
        """
        sizes, known, nbytes = extent(shape, dtype)
        header = _header(sizes, known, order) if name is not None else b""
        heap, offset = self.heap(), ctypes.c_uint64()
        check(c.jshared_allocate(heap, max(1, len(header) + nbytes), 64, ctypes.byref(offset)))
        attachment = self._open()
        if name is None:
            return array_in(_Block(attachment, offset.value, max(1, nbytes), heap), sizes, known, order) if nbytes else \
                _freed(heap, offset.value, np.empty(sizes, known))
        try:
            block = _Block(attachment, offset.value, len(header) + nbytes)
            np.asarray(block)[:len(header)] = np.frombuffer(header, np.uint8)
            root = ctypes.c_uint64()
            if c.jsegment_get_root(self.pointer, c_text(name), ctypes.byref(root)) == c.JSTATUS_SUCCESS:
                raise error(c.JSTATUS_EXISTS, f"the segment has an array {name!r} already")
            # First it is the segment's, then it can be found: so nobody finds what could vanish.
            check(c.jshared_give(heap, offset.value, c.JSEGMENT_SLOT_SEGMENT))
            check(c.jsegment_set_root(self.pointer, c_text(name), offset.value))
        except BaseException:
            c.jshared_deallocate(heap, offset.value)
            raise
        return array_in_part(block, len(header), sizes, known, order)

    def zeros(self, name: str | None, shape: Any, dtype: Any = float, order: str = "C") -> Array:
        """The same, all zero."""
        array = self.empty(name, shape, dtype, order)
        array[...] = np.zeros((), array.dtype)
        return array

    def __getitem__(self, name: str) -> Array:
        offset = self._root(name)
        attachment = self._open()
        begin = bytes(np.asarray(_Block(attachment, offset, _PREFIX)))
        if begin[:8] != b"\x93NUMPY\x01\x00":
            raise invalid(f"{name!r} names no array, but something else at offset {offset}")
        length = _PREFIX + int.from_bytes(begin[8:10], "little")
        text = bytes(np.asarray(_Block(attachment, offset, length)))
        sizes, fortran, known = np.lib.format.read_array_header_1_0(io.BytesIO(text[8:]))  # type: ignore[no-untyped-call]
        sizes, known, nbytes = extent(sizes, known)
        return array_in_part(_Block(attachment, offset, length + nbytes), length, sizes, known, "F" if fortran else "C")

    def __setitem__(self, name: str, array: Any) -> None:
        source = np.asarray(array)
        order = "F" if source.flags.f_contiguous and not source.flags.c_contiguous else "C"
        self.empty(name, source.shape, source.dtype, order)[...] = source

    def __delitem__(self, name: str) -> None:
        """Takes the name away, and gives the array's memory back: no process may use it any more."""
        offset = self._root(name)
        check(c.jsegment_set_root(self.pointer, c_text(name), 0))
        check(c.jshared_deallocate(self.heap(), offset))

    def __contains__(self, name: str) -> bool:
        offset = ctypes.c_uint64()
        return c.jsegment_get_root(self.pointer, c_text(name), ctypes.byref(offset)) == c.JSTATUS_SUCCESS

    def __iter__(self) -> Iterator[str]:
        names, name, offset = [], ctypes.create_string_buffer(c.JSEGMENT_ROOT_NAME_BYTES), ctypes.c_uint64()
        for index in range(c.JSEGMENT_MAX_ROOTS):
            if c.jsegment_get_root_at(self.pointer, index, name, ctypes.byref(offset)) == c.JSTATUS_SUCCESS:
                names.append(name.value.decode(errors="replace"))
        return iter(sorted(names))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _root(self, name: str) -> int:
        offset = ctypes.c_uint64()
        status = c.jsegment_get_root(self.pointer, c_text(name), ctypes.byref(offset))
        if status == c.JSTATUS_NOT_FOUND:
            raise NotFound(c.JSTATUS_NOT_FOUND, f"the segment has no array {name!r}")
        check(status)
        return offset.value

    def _open(self) -> _Attachment:
        if self._attachment is None:
            raise invalid("the segment is closed")
        return self._attachment

    def heap(self) -> Any:
        """The jshared_t that arrays are in, for the functions of jalloc.c; made when it is first needed."""
        return self.allocator(_HEAP).pointer

    def allocator(self, number: int = _HEAP) -> SharedAllocator:
        """The allocator of that number in the segment, the same for every process; a general one is made where there
        is none. Arrays are in number 1."""
        pointer = ctypes.POINTER(c.jshared_t)()
        # Of two that come at once one makes it, the other opens it.
        for _ in range(2):
            status = c.jshared_open(self.pointer, c_number(ctypes.c_uint64, number), ctypes.byref(pointer))
            if status != c.JSTATUS_NOT_FOUND:
                break
            status = c.jshared_create(self.pointer, number, None, ctypes.byref(pointer))
            if status != c.JSTATUS_EXISTS:
                break
        check(status)
        return SharedAllocator(self._open(), pointer)

    # ---- What is in it ----

    def __repr__(self) -> str:
        if self._attachment is None:
            return "<Segment, closed>"
        stats = self.statistics
        return (f"<Segment {self.name or ''}: {text_of_bytes(stats.size_bytes)}, {len(self)} arrays, "
                f"{stats.processes} processes>")

    @property
    def statistics(self) -> SegmentStatistics:
        """Sizes and counts."""
        stats = c.jsegment_stats_t()
        check(c.jsegment_get_stats(self.pointer, stats))
        return read(SegmentStatistics, stats)

    def processes(self) -> list[SegmentProcess]:
        """Who is attached."""
        found = []
        for slot in range(1, self.statistics.max_processes + 1):
            process = c.jsegment_process_t()
            check(c.jsegment_get_process(self.pointer, slot, process))
            if process.attached:
                found.append(SegmentProcess(slot, process.alive, process.pid, process.attached_at, process.owned_bytes,
                                            process.cached_bytes))
        return found

    def recover(self) -> int:
        """Gives back what dead processes owned, and says of how many. It is done by itself when a process attaches,
        when memory runs out, and when the holder of the lock is found dead."""
        count = ctypes.c_uint()
        check(c.jsegment_recover(self.pointer, ctypes.byref(count)))
        return count.value

    def verify(self) -> None:
        """Looks at all structures in the segment; an Error says what is wrong and where."""
        check(c.jsegment_verify(self.pointer))

    def grow(self, size: Size) -> None:
        """Makes the segment at least so large, for every process."""
        check(c.jsegment_grow(self.pointer, size_bytes(size)))

    def svg(self) -> str:
        """A map of the segment; what a notebook shows."""
        text = collect(lambda writer: c.jsegment_draw(self.pointer, writer, None))
        return text[text.index("<svg"):]

    def _repr_svg_(self) -> str:
        return self.svg()


class SharedAllocator:
    """An allocator in a segment, which every process that is attached shares. Blocks are named by offsets."""

    def __init__(self, attachment: _Attachment, pointer: Any) -> None:
        self._attachment, self.pointer = attachment, pointer  # the segment is attached as long

    @property
    def number(self) -> int:
        """By which others open it."""
        return int(c.jshared_id(self.pointer))

    def allocate(self, size: Size, alignment: int = 0) -> int:
        """The offset of a new block, which belongs to this process until it is given away."""
        offset = ctypes.c_uint64()
        check(c.jshared_allocate(self.pointer, size_bytes(size), c_number(ctypes.c_size_t, alignment), ctypes.byref(offset)))
        return offset.value

    def deallocate(self, offset: int) -> None:
        """Gives a block back, whoever owns it."""
        check(c.jshared_deallocate(self.pointer, c_number(ctypes.c_uint64, offset)))

    def give(self, offset: int, slot: int = c.JSEGMENT_SLOT_SEGMENT) -> None:
        """Gives a block to the process in that slot, or to the segment itself: from then on it dies with that."""
        check(c.jshared_give(self.pointer, c_number(ctypes.c_uint64, offset), c_number(ctypes.c_uint, slot)))

    def view(self, offset: int, shape: Any, dtype: Any = np.uint8, order: str = "C") -> Array:
        """The bytes there as an array."""
        sizes, known, nbytes = extent(shape, dtype)
        return array_in(_Block(self._attachment, offset, nbytes), sizes, known, order)

    def describe(self, offset: int) -> tuple[int, int]:
        """Bytes that may be used of the block that begins there, and the slot of its owner."""
        usable, owner = ctypes.c_size_t(), ctypes.c_uint()
        check(c.jshared_describe(self.pointer, c_number(ctypes.c_uint64, offset), ctypes.byref(usable), ctypes.byref(owner)))
        return usable.value, owner.value

    def as_allocator(self) -> Allocator:
        """An Allocator over it, so that a handle's workspace and compositions stand in the segment."""
        pointer = ctypes.POINTER(c.jallocator_t)()
        check(c.jallocator_create_shared(self.pointer, ctypes.byref(pointer)))
        result = Allocator.__new__(Allocator)
        result._take(pointer, self)
        return result


# ---- The format of an array, which is that of a file .npy ----

_PREFIX = 10  # magic, version, length of the header


def _header(sizes: tuple[int, ...], known: np.dtype[Any], order: str) -> bytes:
    """Its length is a multiple of 64, so that elements are aligned."""
    file, form = io.BytesIO(), np.lib.format
    form.write_array_header_1_0(file, {"descr": form.dtype_to_descr(known),  # type: ignore[no-untyped-call]
                                       "fortran_order": order == "F", "shape": sizes})
    return file.getvalue()


def array_in_part(block: _Block, begin: int, sizes: tuple[int, ...], known: np.dtype[Any], order: str) -> Array:
    """An array behind a header."""
    result: Array = np.asarray(block)[begin:].view(known).reshape(sizes, order=order)  # type: ignore[call-overload]
    return result


def _freed(heap: Any, offset: int, array: Array) -> Array:
    """Of no bytes: there is no block to keep."""
    check(c.jshared_deallocate(heap, offset))
    return array


def _name_of(backend: str, name: str | None) -> bytes | None:
    if name is None:
        return None
    return c_text(f"/{name}" if backend == "posix" and not name.startswith("/") else name)


def _options(backend: str, name: str | None, timeout_ms: int) -> Any:
    return c.jsegment_options_t(backend=choice("JSEGMENT", backend), name=_name_of(backend, name),
                                timeout_ms=c_number(ctypes.c_uint64, timeout_ms))


def _made(function: Any, options: Any) -> Any:
    pointer = ctypes.POINTER(c.jsegment_t)()
    check(function(options, ctypes.byref(pointer)))
    return pointer


def _attach_again(name: str, backend: str, read_only: bool) -> Segment:
    return Segment.attach(name, backend=backend, read_only=read_only)
