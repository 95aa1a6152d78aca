# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Traces: what was asked of an allocator, recorded, drawn, and played on others.

>>> import jalloc
>>> with jalloc.Recorder("bfc") as allocator:
...     arrays = [allocator.empty(1000 * n) for n in range(1, 20)]
...     del arrays[::2]
...     trace = allocator.trace()
>>> trace.peak_bytes, len(trace)
(1520000, 29)
>>> trace.svg().startswith("<svg")          # in a notebook, a trace is its picture
True
"""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from typing import Any, Iterator

from . import c
from ._library import tool
from ._common import c_text
from .allocator import Allocator
from .errors import check, error


@dataclasses.dataclass(frozen=True)
class Event:
    """A line of a trace."""

    thread: int
    time_ns: int  #: since the recording began; 0 where the log has times of day
    action: str  #: "allocate", "allocate failure" or "free"; "stopped", where the recording had to end
    address: int
    size_bytes: int
    allocator: str
    tag: str


class Trace:
    """A trace in a file: RMM's log, or jalloc's own (Recorder, JALLOC_RECORD). Iterating gives its events; in a
    notebook it is drawn: memory over time, and the map of the address space at the peak."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        self._folder: object = None  # a temporary one, which lives as long

    def __iter__(self) -> Iterator[Event]:
        with open(self.path, newline="", encoding="utf-8", errors="replace") as file:
            for row in csv.DictReader(file):
                time = row.get("Time") or ""
                yield Event(int(row["Thread"]), int(time) if time.isdigit() else 0, row["Action"],
                            int(row["Pointer"] or "0", 16), int(row["Size"] or "0"), row.get("Allocator") or "", row.get("Tag") or "")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def peak_bytes(self) -> int:
        """The most that was live at once, as asked for."""
        live = peak = 0
        for event in self:
            live += {"allocate": event.size_bytes, "free": -event.size_bytes}.get(event.action, 0)
            peak = max(peak, live)
        return peak

    def replay(self, composition: str = "general", *others: str, repeat: int = 5) -> dict[str, Any]:
        """Plays the trace on a composition, or on several in turn: how fast each was, how much memory it took and
        how that fell apart. What jalloc-replay --json says."""
        compared = [word for other in others for word in ("--compare", other)]
        text = self._run("--allocator", composition, *compared, "--repeat", str(repeat), "--json")
        result: dict[str, Any] = json.loads(text)
        return result

    def svg(self, composition: str = "general") -> str:
        """A picture of the trace on a composition."""
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "trace.svg"
            self._run("--allocator", composition, "--repeat", "1", "--svg", str(picture))
            text = picture.read_text(encoding="utf-8")
        return text[text.index("<svg"):]

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<Trace {self.path.name}>"

    def _run(self, *arguments: str) -> str:
        # The recording of this process is not the replay's.
        environment = {name: value for name, value in os.environ.items() if name != "JALLOC_RECORD"}
        result = subprocess.run([tool("jalloc-replay"), str(self.path), *arguments], capture_output=True, text=True,
                                check=False, env=environment)
        if result.returncode != 0:
            status = c.JSTATUS_INVALID_VALUE if result.returncode == 2 else c.JSTATUS_INTERNAL_ERROR
            raise error(status, result.stderr.strip())
        return result.stdout


class Recorder(Allocator):
    """A composition whose every call is recorded, to be used as any Allocator: for arrays, or by a handle. The
    trace is written to `file`, or to a temporary file that is kept as long as the recorder or a trace of it."""

    def __init__(self, composition: str = "general", device: str = "host", *, file: str | os.PathLike[str] | None = None,
                 over: Allocator | None = None) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if file is None:
            self._folder = tempfile.TemporaryDirectory(prefix="jalloc-trace-")
            file = pathlib.Path(self._folder.name) / "trace.csv"
        self.file = pathlib.Path(file)
        super().__init__(composition, device, over=over)
        recorded, below = self._pointer, self._finalizer
        pointer = type(recorded)()
        options = c.jrecord_options_t(file=c_text(self.file))
        check(c.jallocator_create_record(recorded, options, pointer))
        check(c.jallocator_own_below(pointer))
        below.detach()
        self._take(pointer, over)

    def trace(self) -> Trace:
        """What was recorded until now."""
        check(c.jallocator_record_flush(self.pointer))
        trace = Trace(self.file)
        trace._folder = self._folder
        return trace
