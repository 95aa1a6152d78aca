# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Allocators, arrays in them, and traces."""

import gc
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import jalloc

try:
    jalloc._library.tool("jalloc-replay")
    HAVE_REPLAY = True
except FileNotFoundError:
    HAVE_REPLAY = False
needs_replay = pytest.mark.skipif(not HAVE_REPLAY, reason="no jalloc-replay")


def test_arrays_give_their_memory_back(rng):
    allocator = jalloc.Allocator("bfc(limit=8MiB)")
    x = allocator.empty((100, 50), "f4", order="F")
    assert x.flags.f_contiguous and x.flags.writeable and x.shape == (100, 50)
    x[...] = rng.random((100, 50))
    view = x[10:20].T
    expected = view.copy()
    del x
    gc.collect()
    assert allocator.statistics.live_count == 1 and np.array_equal(view, expected)
    del view
    gc.collect()
    stats = allocator.statistics
    assert stats.live_count == 0 and stats.in_use_bytes == 0 and stats.peak_in_use_bytes == 20000
    allocator.clear_statistics()
    assert allocator.statistics.peak_in_use_bytes == 0
    allocator.close()
    with pytest.raises(jalloc.InvalidArgument, match="closed"):
        allocator.empty(3)


def test_alignment_and_types():
    with jalloc.Allocator() as allocator:
        assert allocator.empty(7, "f8", alignment=4096).ctypes.data % 4096 == 0
        for dtype in ("i1", "f2", "c16", "M8[ns]", [("a", "i4"), ("b", "f8")]):
            assert not allocator.zeros(5, dtype).view(np.uint8).any()
        assert allocator.empty((3, 0)).size == 0
        with pytest.raises(jalloc.InvalidArgument):
            allocator.empty(3, object)
        with pytest.raises(jalloc.InvalidArgument):
            allocator.empty((-1, 3))
        with pytest.raises(jalloc.InvalidArgument, match="alignment"):
            allocator.empty(3, alignment=24)


def test_closes_behind_its_arrays():
    with jalloc.Allocator("general") as allocator:
        x = allocator.zeros(1000)
        with pytest.raises(jalloc.Busy, match="8000"):
            allocator.close()
    del allocator
    gc.collect()
    x[:] = 1  # still there
    assert x.sum() == 1000


def test_out_of_memory():
    with jalloc.Allocator("limit(limit=1MiB)") as allocator:
        arrays = [allocator.empty(1 << 17, "u1") for _ in range(8)]
        with pytest.raises(MemoryError) as caught:
            allocator.empty(1)
        assert caught.value.status == jalloc.c.JSTATUS_MEMORY_ERROR and "limit" in str(caught.value)
        assert allocator.statistics.failure_count == 1
        arrays.pop()
        allocator.empty(1)


def test_compositions():
    assert {"bfc", "general", "guard", "record", "limit"} <= {kind.name for kind in jalloc.kinds()}
    bfc = next(kind for kind in jalloc.kinds() if kind.name == "bfc")
    assert bfc.role == "policy" and "limit" in bfc.keys
    with pytest.raises(jalloc.InvalidArgument, match="buddy"):
        jalloc.Allocator("buddy")
    below = jalloc.Allocator("general")
    above = jalloc.Allocator("limit(limit=1KiB)", over=below)
    x = above.empty(10)
    assert below.statistics.in_use_bytes >= 80
    with pytest.raises(jalloc.Busy):
        below.close()
    del x
    above.close()
    below.close()


def test_a_guard_sees_what_is_written_behind_an_array():
    with jalloc.Allocator("guard") as allocator:
        x = allocator.zeros(8, "u1")
        allocator.check()
        behind = np.lib.stride_tricks.as_strided(x, (9,), (1,))
        behind[8] ^= 0xff
        with pytest.raises(jalloc.Error) as caught:
            allocator.check()
        assert caught.value.status == jalloc.c.JSTATUS_CORRUPTED
        behind[8] ^= 0xff
        del behind, x


def test_dump_and_tags():
    with jalloc.Allocator("general") as allocator:
        with jalloc.tag("assemble"):
            x = allocator.zeros(1000)
        assert "assemble" in allocator.dump()
        known = allocator.to_dict()
        assert "assemble" in json.dumps(known) and "8000" in json.dumps(known)
        assert "8" in repr(allocator) and allocator.name
        del x


@pytest.mark.parametrize("composition", ["general", "bfc(limit=16MiB)"])
def test_recorder(composition):
    with jalloc.Recorder(composition) as allocator:
        arrays = [allocator.zeros(100 * n) for n in range(1, 11)]
        del arrays[::2]
        trace = allocator.trace()
    events = list(trace)
    assert [event.action for event in events] == ["allocate"] * 10 + ["free"] * 5
    assert [event.size_bytes for event in events[:10]] == [800 * n for n in range(1, 11)]
    assert trace.peak_bytes == 44000 and len(trace) == 15
    del allocator
    gc.collect()
    assert len(trace) == 15  # the file lives as long as the trace


def test_logs_of_others(tmp_path):
    file = tmp_path / "rmm.csv"
    file.write_text("Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00:000001,allocate,0x10,100,0x0\n"
                    "1,10:00:00:000002,free,0x10,100,0x0\n1,10:00:00:000003,allocate,0x10,70,0x0\n")
    trace = jalloc.Trace(file)
    assert trace.peak_bytes == 100 and [event.time_ns for event in trace] == [0, 0, 0]
    file.write_text("Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n0,5,allocate,0x10,100,0x0,64,bfc#1,\n"
                    "0,9,stopped,,,,,,disk full\n")
    assert [(event.action, event.size_bytes, event.tag) for event in trace][1] == ("stopped", 0, "disk full")


def test_a_recorder_ends_with_what_it_records():
    below = jalloc.Allocator("general")
    recorder = jalloc.Recorder("limit(limit=1MiB)", over=below)
    recorder.zeros(10)
    recorder.close()
    below.close()  # nobody stands on it any more


@needs_replay
def test_replay_and_picture():
    with jalloc.Recorder("general") as recorder, jalloc.Handle(allocator=recorder, threads=1) as handle:
        jalloc.blas.gemm(handle, np.eye(300), np.eye(300))
        trace = recorder.trace()
        assert trace.peak_bytes > 0
        result = trace.replay("bfc", "general", repeat=1)
        assert isinstance(result, dict) and "bfc" in json.dumps(result)
        assert trace.svg("bfc").startswith("<svg") and trace._repr_svg_().rstrip().endswith("</svg>")
        with pytest.raises(jalloc.InvalidArgument, match="buddy"):
            trace.replay("buddy")


@needs_replay
def test_recorded_by_the_environment(tmp_path):
    file = tmp_path / "trace.csv"
    program = "import jalloc; a = jalloc.Allocator('bfc'); x = a.zeros(1000); del x"
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "JALLOC_RECORD": str(file)})
    trace = jalloc.Trace(file)
    assert trace.peak_bytes >= 8000 and len(trace.svg()) > 100


def test_fork_leaves_the_parents_arrays():
    allocator = jalloc.Allocator("general")
    x = allocator.zeros(10)
    child = os.fork()
    if child == 0:
        x[0] = 1
        del x
        os._exit(0)
    os.waitpid(child, 0)
    assert x[0] == 0 and allocator.statistics.live_count == 1
