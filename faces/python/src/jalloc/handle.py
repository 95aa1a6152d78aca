# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The handle: a device and a workspace that routines borrow from.

>>> import jalloc, numpy
>>> rng = numpy.random.default_rng(1)
>>> a, b = rng.random((300, 300)), rng.random(300)
>>> with jalloc.Handle(threads=1) as handle:
...     with handle.query() as query:                # calls only say what they need
...         x = jalloc.lapack.solve(handle, a, b)
...     handle.set_workspace(query.bytes)            # from here on jalloc allocates no more
...     x = jalloc.lapack.solve(handle, a, b)
...     numpy.allclose(a @ x, b), handle.statistics.growth_count
(True, 0)
"""

from __future__ import annotations

import ctypes
import dataclasses
import threading
import weakref
from typing import Any

import numpy as np

from . import c
from ._common import Size, c_number, choice, device, limit_bytes, read, size_bytes, text_of_bytes
from .allocator import Allocator
from .errors import Busy, check, invalid
from .requirement import Requirement


@dataclasses.dataclass(frozen=True)
class HandleStatistics:
    """What a handle has done since it was made, or since clear_statistics()."""

    borrow_count: int  #: borrows that succeeded
    live_borrow_count: int
    in_use_bytes: int  #: borrowed now
    high_watermark_bytes: int  #: most that was borrowed at once
    peak_routine: str  #: the routine that set the high watermark
    peak_shape: str  #: and its shape, such as "m=512 n=64"
    growth_count: int  #: times that default mode took a larger block
    allocation_count: int  #: workspace blocks taken
    deallocation_count: int  #: workspace blocks given back
    synchronization_count: int  #: times that the host waited for a stream
    rung_count: tuple[int, ...]  #: planned calls by rung, best first
    degraded_count: int  #: planned calls that took a slower way
    misuse_count: int
    unplanned_count: int  #: calls that the program, which is followed, does not know
    unannounced_count: int


class Query:
    """What a size query found out; of use when its block has ended."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._requirement: Requirement | None = None
        self.host_bytes = 0  #: host workspace beside the workspace, which GPU vendors' libraries want

    def __enter__(self) -> Query:
        check(c.jhandle_start_requirement_query(self._handle.pointer))
        return self

    def __exit__(self, *_: object) -> None:
        host, result = ctypes.c_size_t(), ctypes.POINTER(c.jrequirement_t)()
        check(c.jhandle_stop_requirement_query(self._handle.pointer, ctypes.byref(result)))
        self._requirement = Requirement(result)
        check(c.jhandle_get_host_query_size(self._handle.pointer, ctypes.byref(host)))
        self.host_bytes = host.value

    @property
    def requirement(self) -> Requirement:
        """What the calls need: least, best, and what the bytes between buy."""
        if self._requirement is None:
            raise invalid("the query has not ended")
        return self._requirement

    @property
    def bytes(self) -> int:
        """The workspace with which each of the calls runs at its best."""
        return self.requirement.optimal_bytes


class _Seal:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        check(c.jhandle_seal(self._handle.pointer))

    def __exit__(self, *_: object) -> None:
        check(c.jhandle_unseal(self._handle.pointer))


class Handle:
    """A handle. Without options its workspace grows as calls need it.

    device: where calls run, "host" or a GPU such as "cuda:0". allocator: where workspace comes from, an
    Allocator or a composition such as "bfc(limit=2GiB)". preallocate: this much at once and no more later.
    budget: most that growth may hold. threads: most that a call uses, 0 being what the process may use.
    accuracy: "componentwise" or "normwise". results: "fast", or "same_bits" whatever the workspace. Sizes
    are bytes, or texts such as "64MiB".

    A handle is for one thread at a time, and another's call meanwhile is refused with Busy: threads that work
    at once have a handle each.
    """

    def __init__(self, device: str = "host", *, allocator: Allocator | str | None = None, preallocate: Size | None = None,
                 budget: Size | None = None, threads: int = 0, accuracy: str = "default", results: str = "default") -> None:
        self._lock = threading.Lock()
        self._workspace: Any = None  # the caller's memory, kept as long as it is used
        self._allocator = Allocator(allocator, device) if isinstance(allocator, str) else allocator
        where = _device(device)
        options = c.jhandle_options_t(device=where, threads=c_number(ctypes.c_int, threads),
                                      preallocate_bytes=limit_bytes(preallocate), budget_bytes=limit_bytes(budget), accuracy=choice("JACCURACY", accuracy),
                                      result_policy=choice("JRESULT_POLICY", results))
        if self._allocator is not None:
            options.allocator = self._allocator.pointer
        self.device = device
        self._pointer = ctypes.POINTER(c.jhandle_t)()
        check(c.jhandle_create(options, ctypes.byref(self._pointer)))
        self._finalizer = weakref.finalize(self, _destroy, self._pointer, self._allocator)
        self._finalizer.atexit = False

    @property
    def pointer(self) -> Any:
        """The handle for the functions of jalloc.c."""
        if not self._finalizer.alive:
            raise invalid("the handle is closed")
        return self._pointer

    def close(self) -> None:
        """Ends the handle and gives its workspace back."""
        if self._finalizer.alive:
            check(c.jhandle_destroy(self._pointer))
            self._finalizer.detach()
            self._workspace = self._allocator = None

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, routine: Any, *arguments: Any, stacklevel: int = 3) -> None:
        """Calls a function of jalloc.c with this handle: errors are raised, a slower way is warned of."""
        if not self._lock.acquire(blocking=False):
            raise Busy(c.JSTATUS_BUSY, "another thread is in a call with this handle: give each a handle of its own")
        try:
            status = routine(self.pointer, *arguments)
        finally:
            self._lock.release()
        check(status, stacklevel + 1)

    # ---- Workspace ----

    def query(self) -> Query:
        """`with handle.query() as query:` the calls in the block compute nothing, and read no array; they say what
        workspace serves them best. Then query.bytes is what to set."""
        return Query(self)

    @property
    def querying(self) -> bool:
        """Whether a size query is under way."""
        return bool(c.jhandle_is_size_query(self.pointer))

    def set_workspace(self, workspace: Size | np.ndarray[Any, Any] | None) -> None:
        """A number of bytes: exactly that much, which does not grow. An array: its memory, which is kept until
        another workspace is set. None: growth on demand, as in the beginning.

        >>> with Handle() as handle:
        ...     handle.set_workspace("1MiB")
        ...     handle.mode, handle.workspace_bytes
        ('manual', 1048576)
        """
        if isinstance(workspace, np.ndarray):
            if not (workspace.flags.forc and workspace.flags.writeable):
                raise invalid("a workspace is contiguous and can be written to")
            # NumPy aligns to less than routines want: they have what lies behind the first multiple.
            address = workspace.ctypes.data
            skipped = -address % c.jdevice_granule_bytes(c.jhandle_device(self.pointer))
            if workspace.nbytes <= skipped:
                raise invalid(f"{workspace.nbytes} bytes are too few for a workspace")
            check(c.jhandle_set_workspace(self.pointer, address + skipped, workspace.nbytes - skipped))
            self._workspace = workspace
            return
        if workspace is None:
            check(c.jhandle_set_workspace_size(self.pointer, 0))
        else:
            check(c.jhandle_set_fixed_workspace_size(self.pointer, size_bytes(workspace)))
        self._workspace = None

    @property
    def mode(self) -> str:
        """"default", "preallocate", "manual" or "user_owned"."""
        return c.jhandle_mode_t(self._get(c.jhandle_get_mode, ctypes.c_int)).name[len("JHANDLE_MODE_"):].lower()

    @property
    def workspace_bytes(self) -> int:
        """What borrows can have without growth."""
        return int(self._get(c.jhandle_get_workspace_size, ctypes.c_size_t))

    @property
    def budget(self) -> int | None:
        """Most that growth may hold; None: no bound. A call that wants more takes a slower way.

        >>> with Handle(budget="1MiB") as handle:
        ...     handle.budget
        1048576
        """
        size = int(self._get(c.jhandle_get_budget, ctypes.c_size_t))
        return None if size == c.JALLOC_UNLIMITED else size

    @budget.setter
    def budget(self, size: Size | None) -> None:
        check(c.jhandle_set_budget(self.pointer, c.JALLOC_UNLIMITED if size is None else size_bytes(size)))

    def trim(self, keep: Size = 0) -> None:
        """Gives workspace back if more than `keep` is held and the mode is the default."""
        check(c.jhandle_trim(self.pointer, size_bytes(keep)))

    def sealed(self) -> _Seal:
        """`with handle.sealed():` calls that would have to take memory raise Sealed, and the message names them."""
        return _Seal(self)

    # ---- How it computes ----

    @property
    def threads(self) -> int:
        """The most threads that a call uses; 0: as many as an executor offers."""
        return int(self._get(c.jhandle_get_threads, ctypes.c_int))

    @threads.setter
    def threads(self, count: int) -> None:
        check(c.jhandle_set_threads(self.pointer, c_number(ctypes.c_int, count)))

    @property
    def accuracy(self) -> str:
        """"componentwise", or "normwise": faster ways as well, whose error is bounded in the norm."""
        return c.jaccuracy_t(self._get(c.jhandle_get_accuracy, ctypes.c_int)).name[len("JACCURACY_"):].lower()

    @accuracy.setter
    def accuracy(self, name: str) -> None:
        check(c.jhandle_set_accuracy(self.pointer, choice("JACCURACY", name)))

    @property
    def results(self) -> str:
        """"fast", or "same_bits": bits do not depend on how much workspace there was."""
        value = c.jresult_policy_t(self._get(c.jhandle_get_result_policy, ctypes.c_int))
        return value.name[len("JRESULT_POLICY_"):].lower()

    @results.setter
    def results(self, name: str) -> None:
        check(c.jhandle_set_result_policy(self.pointer, choice("JRESULT_POLICY", name)))

    @property
    def degradation(self) -> str:
        """"allowed": a call may take a slower way; "announced": only where a program planned it."""
        value = c.jdegradation_t(self._get(c.jhandle_get_degradation, ctypes.c_int))
        return value.name[len("JDEGRADATION_"):].lower()

    @degradation.setter
    def degradation(self, name: str) -> None:
        check(c.jhandle_set_degradation(self.pointer, choice("JDEGRADATION", name)))

    # ---- Diagnosis ----

    @property
    def statistics(self) -> HandleStatistics:
        """What the handle has done."""
        stats = c.jhandle_stats_t()
        check(c.jhandle_get_stats(self.pointer, stats))
        return read(HandleStatistics, stats)

    def clear_statistics(self) -> None:
        """Counters fall to 0, the high watermark to what is in use."""
        check(c.jhandle_clear_stats(self.pointer))

    @property
    def degraded_count(self) -> int:
        """How many calls took a slower way for want of workspace."""
        return self.statistics.degraded_count

    @property
    def last_message(self) -> str:
        """The message of the last error of a call with this handle."""
        return (c.jhandle_last_message(self.pointer) or b"").decode(errors="replace")

    def report(self) -> str:
        """The statistics for people.

        >>> import jalloc, numpy
        >>> with Handle(threads=1) as handle:
        ...     c = jalloc.blas.gemm(handle, numpy.eye(200), numpy.eye(200))
        ...     print(handle.report())  # doctest: +ELLIPSIS
        workspace     ... (default mode), grown 1 time
        peak          ... by jblas_dgemm m=200 n=200 k=200
        borrows       1
        slower ways   none
        """
        stats = self.statistics
        times = "1 time" if stats.growth_count == 1 else f"{stats.growth_count} times"
        peak = f"{text_of_bytes(stats.high_watermark_bytes)} by {stats.peak_routine} {stats.peak_shape}".rstrip()
        return "\n".join([f"workspace     {text_of_bytes(self.workspace_bytes)} ({self.mode} mode), grown {times}",
                          f"peak          {peak if stats.high_watermark_bytes else 'none'}",
                          f"borrows       {stats.borrow_count}",
                          f"slower ways   {stats.degraded_count or 'none'}"])

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return "<Handle, closed>"
        return f"<Handle on {self.device}: {text_of_bytes(self.workspace_bytes)} of workspace, {self.mode} mode>"

    def _get(self, function: Any, kind: Any) -> Any:
        value = kind()
        check(function(self.pointer, ctypes.byref(value)))
        return value.value


_device = device  # the parameter has the name, too


def _destroy(pointer: Any, _allocator: Allocator | None) -> None:
    """What became unreachable: its allocator lives until then. Of a forked child it answers forked."""
    c.jhandle_destroy(pointer)
