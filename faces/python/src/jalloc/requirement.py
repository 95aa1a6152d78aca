# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What calls need, and what the bytes between least and best buy; and programs, which choose."""

from __future__ import annotations

import ctypes
import dataclasses
import weakref
from typing import TYPE_CHECKING, Any, Iterator

from . import c
from ._common import Size, c_number, read, size_bytes, text_of_bytes
from .errors import check

if TYPE_CHECKING:
    from .handle import Handle


@dataclasses.dataclass(frozen=True)
class Step:
    """From size_bytes on, up to the next step, all calls together take `seconds`."""

    size_bytes: int
    seconds: float  #: predicted, of all calls one after the other
    degraded_count: int  #: calls that take a slower way
    call: str  #: that gets faster here
    rung: str  #: its way here


class Requirement:
    """What calls need: a staircase of bytes and predicted time. Requirements add up: `a + b` of what is at
    work at once, `a | b` of what comes one after the other, `a * n` of what is repeated.

    >>> import jalloc, numpy
    >>> a = numpy.empty((400, 400))
    >>> with jalloc.Handle() as handle, handle.query() as query:
    ...     jalloc.blas.gemm(handle, a, a).shape
    (400, 400)
    >>> need = query.requirement
    >>> need.minimal_bytes < need.optimal_bytes == (need | need).optimal_bytes
    True
    >>> (need + need).optimal_bytes == 2 * need.optimal_bytes
    True
    >>> len(need) == len(list(need)) > 1
    True
    """

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        weakref.finalize(self, c.jrequirement_destroy, pointer).atexit = False
        info = c.jrequirement_info_t()
        check(c.jrequirement_get_info(pointer, info))
        self.minimal_bytes: int = info.minimal_bytes  #: least with which all calls run
        self.optimal_bytes: int = info.optimal_bytes  #: with which all calls run at their best
        self.host_bytes: int = info.host_bytes  #: host workspace beside that
        self.call_count: int = info.call_count
        self.minimal_call: str = info.minimal_call.decode()  #: fails first with less than minimal_bytes
        self.optimal_call: str = info.optimal_call.decode()  #: the last that gets its best way
        self._step_count: int = info.step_count

    def __len__(self) -> int:
        return self._step_count

    def __getitem__(self, index: int) -> Step:
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} steps")
        step = c.jrequirement_step_t()
        check(c.jrequirement_get_step(self._pointer, index, step))
        return _step(step)

    def __iter__(self) -> Iterator[Step]:
        return (self[index] for index in range(len(self)))

    def at(self, size: Size) -> Step:
        """The step that so many bytes are on."""
        step = c.jrequirement_step_t()
        check(c.jrequirement_get_step_at(self._pointer, size_bytes(size), step))
        return _step(step)

    def __or__(self, other: Requirement) -> Requirement:
        return self._made(c.jrequirement_create_in_order, other)

    def __add__(self, other: Requirement) -> Requirement:
        return self._made(c.jrequirement_create_at_once, other)

    def __mul__(self, times: int) -> Requirement:
        result = ctypes.POINTER(c.jrequirement_t)()
        check(c.jrequirement_create_repeated(self._pointer, c_number(ctypes.c_uint64, times), ctypes.byref(result)))
        return Requirement(result)

    def _made(self, create: Any, other: Requirement) -> Requirement:
        kind = ctypes.POINTER(c.jrequirement_t)
        result = kind()
        check(create(2, (kind * 2)(self._pointer, other._pointer), ctypes.byref(result)))
        return Requirement(result)

    def __repr__(self) -> str:
        return (f"<Requirement of {self.call_count} calls: {text_of_bytes(self.minimal_bytes)} at least, "
                f"{text_of_bytes(self.optimal_bytes)} at best>")


def _step(step: Any) -> Step:
    return read(Step, step)


@dataclasses.dataclass(frozen=True)
class ProgramInfo:
    """A program in numbers; of the choice, zeros before there is one."""

    phase_count: int
    call_count: int
    budget_bytes: int
    size_bytes: int  #: of the hungriest phase, by the choice
    seconds: float  #: predicted, of all calls
    best_seconds: float  #: with bytes without end
    degraded_count: int


class Program:
    """Which way each call of several handles takes under one budget: calls are recorded (a size query, nothing
    is computed), ways are chosen, and the handles follow.

    >>> import jalloc, numpy
    >>> a = numpy.eye(300)
    >>> with jalloc.Handle() as handle, jalloc.Program() as program:
    ...     with program.record(handle):
    ...         x = jalloc.lapack.solve(handle, a, a)
    ...     program.choose("4MiB")
    ...     with program.enter(0):
    ...         x = jalloc.lapack.solve(handle, a, a)
    ...     bool((x == a).all()), program.info().call_count
    (True, 2)
    """

    def __init__(self) -> None:
        self._pointer = ctypes.POINTER(c.jprogram_t)()
        check(c.jprogram_create(ctypes.byref(self._pointer)))
        self._finalizer = weakref.finalize(self, c.jprogram_destroy, self._pointer)
        self._finalizer.atexit = False

    def close(self) -> None:
        """Leaves the program and ends it."""
        if self._finalizer.alive:
            check(c.jprogram_destroy(self._pointer))
            self._finalizer.detach()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_phase(self) -> None:
        """What is recorded from now on is not at work together with what was recorded before."""
        check(c.jprogram_begin_phase(self._pointer))

    def record(self, handle: Handle, times: int = 1) -> _Recording:
        """`with program.record(handle):` the calls in the block become the program's, so many times."""
        return _Recording(self._pointer, handle, times)

    def choose(self, budget: Size) -> None:
        """Chooses a way for each call, so that no phase needs more."""
        check(c.jprogram_choose(self._pointer, size_bytes(budget)))

    def enter(self, phase: int = 0) -> _Phase:
        """`with program.enter(phase):` its handles take the chosen ways in the block."""
        return _Phase(self._pointer, phase)

    def info(self) -> ProgramInfo:
        """The program in numbers."""
        info = c.jprogram_info_t()
        check(c.jprogram_get_info(self._pointer, info))
        return read(ProgramInfo, info)

    def requirement(self) -> Requirement:
        """What its calls need, phases one after the other and their handles at once."""
        result = ctypes.POINTER(c.jrequirement_t)()
        check(c.jprogram_get_requirement(self._pointer, ctypes.byref(result)))
        return Requirement(result)


class _Recording:
    def __init__(self, program: Any, handle: Handle, times: int) -> None:
        self._program, self._handle, self._times = program, handle, c_number(ctypes.c_uint64, times)

    def __enter__(self) -> None:
        check(c.jprogram_record(self._program, self._handle.pointer))

    def __exit__(self, *_: object) -> None:
        check(c.jprogram_stop_repeated(self._program, self._handle.pointer, self._times))


class _Phase:
    def __init__(self, program: Any, phase: int) -> None:
        self._program, self._phase = program, c_number(ctypes.c_size_t, phase)

    def __enter__(self) -> None:
        check(c.jprogram_enter(self._program, self._phase))

    def __exit__(self, *_: object) -> None:
        check(c.jprogram_leave(self._program))
