# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Segments: shared arrays, and processes that are killed."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import jalloc
from jalloc import Segment


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", "import sys, os, time, numpy as np, jalloc\n" + program, *arguments],
                            stdout=subprocess.PIPE, text=True)


def test_arrays_by_name(segment_name, rng):
    with Segment.create(segment_name, "1MiB", max_size="16MiB") as segment:
        expected = {}
        for i, dtype in enumerate(["f8", "i4", "c16", "u1", ">f4", "M8[us]", [("a", "i8"), ("b", "f4")]]):
            for order in "CF":
                name = f"{i}{order}"
                array = segment.empty(name, (3, i, 5), dtype, order)
                array[...] = np.frombuffer(bytes([7]) * array.itemsize, array.dtype)[0]
                expected[name] = array
        segment["copied"] = expected["copied"] = rng.random((4, 5)).T
        segment["scalar"] = expected["scalar"] = np.float32(3)
        assert len(segment) == len(expected) and list(segment) == sorted(expected)
        with Segment.attach(segment_name) as other:
            for name, array in expected.items():
                found = other[name]
                assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes()
                assert found.ctypes.data % 8 == 0 and (found.flags.f_contiguous or not array.flags.f_contiguous)
            other["copied"][0, 0] = -1
            assert segment["copied"][0, 0] == -1
            with pytest.raises(jalloc.Error, match="'copied' already") as caught:
                other["copied"] = np.zeros(3)
            assert caught.value.status == jalloc.c.JSTATUS_EXISTS
            del other["copied"]
            assert "copied" not in segment
            with pytest.raises(LookupError, match="no array 'copied'"):
                segment["copied"]  # pylint: disable=pointless-statement
            with pytest.raises(jalloc.InvalidArgument):
                segment["x" * 100] = np.zeros(3)
        del expected, array, found
        segment.verify()


def test_killed_in_the_middle(segment_name):
    """The child has shared arrays and arrays of its own, and is killed while it writes: what is the segment's is
    there, with each number that was written; what was the child's is free again."""
    with Segment.create(segment_name, "64MiB") as segment:
        progress = segment.zeros("progress", 1, "i8")
        before = segment.statistics
        child = start("""
segment = jalloc.Segment.attach(sys.argv[1])
result, progress = segment.zeros("result", (1000, 1000)), segment["progress"]
own = [segment.empty(None, 1 << 18) for _ in range(10)]
print("ready", flush=True)
while True:
    for i in range(1000):
        result[i] = i
        progress[0] += 1
        segment.empty(None, 1000 + i)
""", segment_name)
        assert child.stdout.readline() == "ready\n"
        while progress[0] < 1000:
            time.sleep(0.001)
        assert segment.statistics.owned_bytes >= before.owned_bytes + 10 * (8 << 18)
        child.send_signal(signal.SIGKILL)
        child.wait()

        result = segment["result"]
        assert (result == np.arange(1000.0)[:, np.newaxis]).all()
        assert [process.alive for process in segment.processes()] == [True, False]
        assert segment.recover() == 1
        after = segment.statistics
        assert after.owned_bytes == before.owned_bytes and after.reaped_count == 1 and not after.poisoned
        assert len(segment.processes()) == 1
        filled = []
        with pytest.raises(MemoryError):  # nothing that is taken from now on lies in it
            while True:
                filled.append(segment.empty(None, 1 << 14))
                filled[-1][:] = np.nan
        assert len(filled) > 100 and (result == np.arange(1000.0)[:, np.newaxis]).all()
        segment.verify()


def test_killed_again_and_again(segment_name):
    """At any instruction, allocating and naming: the others go on, and no memory is lost."""
    with Segment.create(segment_name, "8MiB") as segment:
        kept = segment.zeros("kept", 1000)
        kept[:] = np.arange(1000)
        segment.recover()
        free = None
        for _ in range(8):
            child = start("""
segment = jalloc.Segment.attach(sys.argv[1])
print("ready", flush=True)
while True:
    arrays = [segment.empty(None, n) for n in (1, 100, 5000)]
    segment["mine"] = np.ones(100)
    del segment["mine"]
""", segment_name)
            child.stdout.readline()
            time.sleep(0.01 * np.random.default_rng().random())
            child.kill()
            child.wait()
            segment.recover()
            segment.verify()
            if "mine" in segment:
                del segment["mine"]
            assert (segment["kept"] == np.arange(1000)).all()
            assert segment.statistics.owned_bytes == 0
            # Of what was given and not named yet, or not named any more and not freed, one block may be left each time.
            given = segment.statistics.given_bytes
            free = given if free is None else free
            assert given <= free + 8 * 2048


def child_adds(segment, barrier):
    array = segment["x"]
    barrier.wait()
    array += 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(segment_name, method):
    context = multiprocessing.get_context(method)
    with Segment.create(segment_name, "1MiB") as segment:
        x = segment.zeros("x", (10, 10))
        barrier = context.Barrier(1)
        for _ in range(2):
            child = context.Process(target=child_adds, args=(segment, barrier))
            child.start()
            child.join()
            assert child.exitcode == 0
        assert (x == 2).all()
        del x


def test_arrays_of_this_process(segment_name):
    with Segment.create(segment_name, "1MiB") as segment:
        segment.heap()
        x = segment.zeros(None, 1000)
        assert segment.statistics.owned_bytes >= 8000
        child = os.fork()
        if child == 0:  # the child's copy of the object does not free the parent's block
            del x
            gc.collect()
            os._exit(0)
        os.waitpid(child, 0)
        assert segment.statistics.owned_bytes >= 8000
        segment.verify()
        del x
        gc.collect()
        assert segment.statistics.owned_bytes == 0
        assert segment.empty(None, (3, 0)).shape == (3, 0) and segment.statistics.owned_bytes == 0


def test_closes_behind_its_arrays(segment_name):
    segment = Segment.create(segment_name, "1MiB")
    x = segment.zeros("x", 100)
    other = Segment.attach(segment_name)
    y = other["x"]
    other.close()
    assert segment.statistics.processes == 2
    y[:] = 3
    assert (x == 3).all()
    del y
    gc.collect()
    assert segment.statistics.processes == 1
    with pytest.raises(jalloc.InvalidArgument, match="closed"):
        other["x"]  # pylint: disable=pointless-statement
    assert "closed" in repr(other) and "1 arrays" in repr(segment)
    del x
    segment.close()


def test_full(segment_name):
    with Segment.create(segment_name, "256KiB") as segment:
        with pytest.raises(MemoryError):
            segment.zeros("too large", 1 << 20)
        assert "too large" not in segment
        segment.verify()
    Segment.remove(segment_name)
    with Segment.create(segment_name, "256KiB", max_size="4MiB") as segment:
        segment.zeros("grows", 1 << 18)
        assert segment.statistics.growth_count >= 1
        segment.grow("4MiB")
        with pytest.raises(jalloc.InvalidArgument):
            segment.grow("8MiB")


def test_read_only(segment_name):
    with Segment.create(segment_name, "1MiB") as segment:
        segment["x"] = np.arange(5)
        with Segment.attach(segment_name, read_only=True) as other:
            x = other["x"]
            assert x.tolist() == [0, 1, 2, 3, 4] and not x.flags.writeable
            with pytest.raises(ValueError):
                x[0] = 1
            with pytest.raises(jalloc.Error) as caught:
                other["y"] = x
            assert caught.value.status == jalloc.c.JSTATUS_READ_ONLY
            del x


def test_backends(tmp_path):
    path = str(tmp_path / "segment")
    with Segment.create(path, "1MiB", backend="file") as segment:
        segment["x"] = np.arange(3)
        assert segment.name == path
        with pickle.loads(pickle.dumps(segment)) as again:
            assert again["x"].tolist() == [0, 1, 2]
    with Segment.attach(path, backend="file") as segment:  # nobody was attached meanwhile
        assert segment["x"].tolist() == [0, 1, 2]
    Segment.remove(path, backend="file")
    with Segment.create(None, "1MiB", backend="memfd") as segment:
        segment["x"] = np.arange(3)
        descriptor = segment.export()
        with Segment.attach(descriptor=descriptor) as again:
            assert again["x"].tolist() == [0, 1, 2]
        os.close(descriptor)
        with pytest.raises(TypeError, match="memfd"):
            pickle.dumps(segment)
    with Segment.create(None, "1MiB", backend="private") as segment:
        segment["x"] = np.arange(3)
        assert segment["x"].sum() == 3


def test_misuse(segment_name, tmp_path):
    with pytest.raises(jalloc.NotFound):
        Segment.attach(segment_name)
    with pytest.raises(jalloc.InvalidArgument, match="posix"):
        Segment.create(segment_name, backend="cloud")
    with pytest.raises(jalloc.InvalidArgument):
        Segment.create(segment_name, "1KiB")
    with Segment.create(segment_name, "1MiB") as segment:
        with pytest.raises(jalloc.Error) as caught:
            Segment.create(segment_name, "1MiB")
        assert caught.value.status == jalloc.c.JSTATUS_EXISTS
        with pytest.raises(jalloc.Busy):
            Segment.remove(segment_name)
        with pytest.raises(jalloc.InvalidArgument):
            segment["x"] = np.array([object()])
        heap = segment.allocator()
        offset = heap.allocate(100)
        heap.view(offset, 100)[:] = 9
        jalloc.c.jsegment_set_root(segment.pointer, b"raw", offset)
        with pytest.raises(jalloc.InvalidArgument, match="names no array"):
            segment["raw"]  # pylint: disable=pointless-statement
    wrong = tmp_path / "file"
    wrong.write_bytes(b"x" * 100000)
    wrong.chmod(0o600)
    with pytest.raises(jalloc.Error) as caught:
        Segment.attach(str(wrong), backend="file")
    assert caught.value.status == jalloc.c.JSTATUS_NOT_A_SEGMENT


def test_allocators_in_it(segment_name):
    with Segment.create(segment_name, "4MiB") as segment:
        pool = segment.allocator(7)
        assert pool.number == 7
        offset = pool.allocate("1KiB", 64)
        usable, owner = pool.describe(offset)
        assert usable >= 1024 and owner == segment.processes()[0].slot
        pool.give(offset)
        assert pool.describe(offset)[1] == jalloc.c.JSEGMENT_SLOT_SEGMENT
        pool.view(offset, 128, "f8")[:] = 1
        pool.deallocate(offset)
        with pytest.raises(jalloc.NotFound):
            pool.deallocate(offset)
        allocator = pool.as_allocator()  # a handle's workspace in a segment
        with jalloc.Handle(allocator=allocator, threads=1) as handle:
            jalloc.blas.gemm(handle, np.eye(200), np.eye(200))
            assert segment.statistics.owned_bytes > 0
        allocator.close()
        assert segment.svg().startswith("<svg") and segment._repr_svg_()


def test_beside_the_standard_library(segment_name):
    """shared_memory has one array per name, and nothing that knows who has died."""
    from multiprocessing import shared_memory
    memory = shared_memory.SharedMemory(create=True, size=800)
    try:
        theirs = np.ndarray((100,), buffer=memory.buf)
        theirs[:] = 1
        with Segment.create(segment_name, "1MiB") as segment:
            segment["ours"] = theirs
            assert (segment["ours"] == theirs).all()
        del theirs
    finally:
        memory.close()
        memory.unlink()
