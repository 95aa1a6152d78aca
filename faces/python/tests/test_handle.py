# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Handles: queries, workspaces, budgets, slower ways, threads, forks, misuse."""

import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import jalloc
from conftest import close, numbers

N = 600  # products of which borrow on any processor: smaller ones may fit a second cache


@pytest.fixture
def matrix(rng):
    return numbers(rng, (N, N), np.dtype("f8")) / N + 2 * np.eye(N)


def test_query_then_no_growth(handle, rng, matrix):
    x = rng.random(N)
    with handle.query() as query:
        assert handle.querying
        with pytest.raises(jalloc.InvalidArgument, match="has not ended"):
            query.bytes  # pylint: disable=pointless-statement
        jalloc.lapack.solve(handle, matrix, matrix @ x)
    assert not handle.querying and query.bytes > 0
    assert query.requirement.optimal_bytes == query.bytes >= query.requirement.minimal_bytes
    handle.set_workspace(query.bytes)
    assert handle.mode == "manual" and handle.workspace_bytes >= query.bytes
    handle.clear_statistics()
    close(jalloc.lapack.solve(handle, matrix, matrix @ x), x, 8 * N)
    assert handle.statistics.growth_count == handle.statistics.allocation_count == handle.degraded_count == 0
    assert handle.statistics.high_watermark_bytes <= query.bytes


def test_query_reads_nothing(handle):
    """It ends, too, where the block raises."""
    with pytest.raises(jalloc.InvalidArgument):
        with handle.query():
            jalloc.blas.gemm(handle, np.ones((2, 3)), np.ones((2, 3)))
    assert not handle.querying
    c = np.full((2, 2), 5.0)
    with handle.query():
        jalloc.blas.gemm(handle, np.ones((2, 2)), np.ones((2, 2)), c)
    assert (c == 5).all()


def test_too_little_is_slower_and_warned_of(handle, matrix):
    with handle.query() as query:
        jalloc.blas.gemm(handle, matrix, matrix)
    need = query.requirement
    handle.set_workspace(need.minimal_bytes)
    with pytest.warns(jalloc.PerformanceWarning, match="slower way") as caught:
        close(jalloc.blas.gemm(handle, matrix, matrix), matrix @ matrix, N)
    assert caught[0].filename == __file__ and handle.degraded_count == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handle.set_workspace(query.bytes)
        jalloc.blas.gemm(handle, matrix, matrix)
    assert need.at(need.minimal_bytes).seconds >= need.at(need.optimal_bytes).seconds
    assert [step.size_bytes for step in need] == sorted(step.size_bytes for step in need)


def test_what_was_not_announced(handle, matrix):
    """Is an error before anything is computed."""
    handle.degradation = "announced"
    handle.set_workspace(0)
    result = np.full((N, N), 5.0)
    with pytest.raises(jalloc.OutOfMemory, match="gemm"):
        jalloc.blas.gemm(handle, matrix, matrix, result)
    assert (result == 5).all() and handle.statistics.unannounced_count == 1


def test_nothing_to_work_in(handle, rng):
    """LAPACK's condition number has no way without workspace: the handle's message is the exception's."""
    a = numbers(rng, (30, 30), np.dtype("f8"))
    handle.set_workspace(0)
    c, norm, result = jalloc.c, np.ones(()), np.zeros(())
    with pytest.raises(jalloc.OutOfMemory, match="jlapack_dgecon") as caught:
        handle.call(c.jlapack_dgecon, c.JLAPACK_ONE_NORM, 30, np.asfortranarray(a), 30, norm, result)
    assert caught.value.status == c.JSTATUS_MEMORY_ERROR and isinstance(caught.value, MemoryError)
    assert str(caught.value) == handle.last_message


def test_budget(matrix):
    with jalloc.Handle(threads=1, budget="64KiB") as handle:
        assert handle.budget == 64 << 10
        with pytest.warns(jalloc.PerformanceWarning):
            close(jalloc.blas.gemm(handle, matrix, matrix), matrix @ matrix, N)
        assert handle.workspace_bytes <= 64 << 10
        handle.budget = None
        assert handle.budget is None
        jalloc.blas.gemm(handle, matrix, matrix)
        assert handle.workspace_bytes > 64 << 10
        handle.trim()
        assert handle.workspace_bytes == 0
    with jalloc.Handle(budget=0) as handle:
        assert handle.budget == 0


def test_a_workspace_of_the_callers(handle, matrix):
    memory = np.zeros(1 << 23, np.uint8)
    handle.set_workspace(memory)
    assert handle.mode == "user_owned"
    jalloc.blas.gemm(handle, matrix, matrix)
    assert memory.any() and handle.statistics.allocation_count == 0
    handle.set_workspace(None)
    assert handle.mode == "default"
    with pytest.raises(jalloc.InvalidArgument):
        handle.set_workspace(np.zeros((4, 4))[:, ::2])


def test_seal(handle, matrix):
    with pytest.raises(jalloc.Sealed, match="gemm"):
        with handle.sealed():
            jalloc.blas.gemm(handle, matrix, matrix)
    jalloc.blas.gemm(handle, matrix, matrix)
    with handle.sealed():
        jalloc.blas.gemm(handle, matrix, matrix)


def test_preallocate_from_an_allocator(matrix):
    with jalloc.Handle(allocator="bfc(limit=64MiB)+track", preallocate="8 MiB", threads=1) as handle:
        assert handle.mode == "preallocate" and handle.workspace_bytes == 8 << 20
        jalloc.blas.gemm(handle, matrix, matrix)
    allocator = jalloc.Allocator("general")
    with jalloc.Handle(allocator=allocator, preallocate="1MiB"):
        assert allocator.statistics.in_use_bytes == 1 << 20
        with pytest.raises(jalloc.Busy):
            allocator.close()
    allocator.close()
    with pytest.raises(jalloc.OutOfMemory):
        jalloc.Handle(allocator="limit(limit=1KiB)", preallocate="1MiB")


def test_options(handle):
    for name in ("componentwise", "normwise"):
        handle.accuracy = name
        assert handle.accuracy == name
    for name in ("same_bits", "fast"):
        handle.results = name
        assert handle.results == name
    handle.degradation = "announced"
    assert handle.degradation == "announced"
    handle.threads = 2
    assert handle.threads == 2
    with pytest.raises(jalloc.InvalidArgument, match="componentwise, default, normwise"):
        handle.accuracy = "perfect"
    for options in ({"budget": "many"}, {"budget": -1}, {"threads": -1}, {"device": "tpu:0"}, {"allocator": "bfc(limit=lots)"}):
        with pytest.raises(jalloc.Error):
            jalloc.Handle(**options)


def test_closed(handle):
    other = jalloc.Handle()
    other.close()
    other.close()
    assert "closed" in repr(other)
    with pytest.raises(jalloc.InvalidArgument, match="closed"):
        jalloc.blas.gemm(other, np.eye(2), np.eye(2))
    assert "host" in repr(handle)


def test_threads_with_a_handle_each(rng):
    matrices = [numbers(rng, (150, 150), np.dtype("f8")) for _ in range(8)]
    results = [None] * 8

    def work(i):
        with jalloc.Handle() as own:
            for _ in range(5):
                results[i] = jalloc.blas.gemm(own, matrices[i], matrices[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, result in zip(matrices, results):
        close(result, a @ a, 150)


def test_one_handle_in_two_threads(handle, rng):
    """Each call is right or is refused with Busy."""
    a = numbers(rng, (200, 200), np.dtype("f8"))
    right, refused, wrong = [], [], []

    def work():
        for _ in range(30):
            try:
                result = jalloc.blas.gemm(handle, a, a)
            except jalloc.Busy:
                refused.append(1)
            else:
                (right if np.allclose(result, a @ a) else wrong).append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right and not wrong and len(right) + len(refused) == 120
    jalloc.blas.gemm(handle, a, a)


def in_child(function):
    """What a forked child gives back."""
    get, put = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(put, repr(function()).encode())
        except BaseException as error:  # pylint: disable=broad-except
            os.write(put, repr(error).encode())
        finally:
            os._exit(0)
    os.close(put)
    with open(get, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


def test_fork(handle, rng):
    a = numbers(rng, (100, 100), np.dtype("f8"))
    jalloc.blas.gemm(handle, a, a)

    def child():
        try:
            jalloc.blas.gemm(handle, a, a)
        except jalloc.Error as error:
            with jalloc.Handle(threads=1) as own:
                return error.status.name, bool(np.allclose(jalloc.blas.gemm(own, a, a), a @ a))
        return None

    assert in_child(child) == "('JSTATUS_FORKED', True)"
    close(jalloc.blas.gemm(handle, a, a), a @ a, 100)


def test_program(rng):
    a = numbers(rng, (N, N), np.dtype("f8"))
    with jalloc.Handle(threads=1) as one, jalloc.Handle(threads=1) as other, jalloc.Program() as program:
        for handle in (one, other):
            with program.record(handle, times=3):
                jalloc.blas.gemm(handle, a, a)
        with program.record(one):  # which has no way without workspace
            one.call(jalloc.c.jlapack_dgecon, jalloc.c.JLAPACK_ONE_NORM, N, None, N, None, None)
        program.begin_phase()
        with program.record(one):
            jalloc.blas.gemm(one, a, a)
        need = program.requirement()
        with pytest.raises(jalloc.OutOfMemory, match="gecon"):
            program.choose(need.minimal_bytes - 64)
        program.choose(need.optimal_bytes)
        info = program.info()
        assert info.phase_count == 2 and info.degraded_count == 0 and info.size_bytes <= info.budget_bytes
        with program.enter(0):
            for handle in (one, other):
                close(jalloc.blas.gemm(handle, a, a), a @ a, N)
        with pytest.raises(jalloc.InvalidArgument):
            with program.enter(7):
                pass


def test_exceptions_are_pickled():
    for error in (jalloc.OutOfMemory(jalloc.c.JSTATUS_MEMORY_ERROR, "no bytes"), jalloc.SingularMatrix("zero", 3)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


def test_each_failed_allocation_of_bookkeeping():
    """The n-th one fails, for n = 1, 2, ... until all goes well: an exception each time, nothing is lost."""
    program = """
import ctypes, numpy as np, jalloc
from jalloc import c
c_library = ctypes.CDLL(None)
c_library.malloc.restype, c_library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c_library.free.argtypes = [ctypes.c_void_p]
left, live = -1, set()
def allocate(context, size):
    global left
    left -= 1
    if left == 0: return None
    p = c_library.malloc(size); live.add(p); return p
def release(context, p):
    live.discard(p); c_library.free(p)
fields = dict(c.jmetadata_hooks_t._fields_)
hooks = c.jmetadata_hooks_t()
names = [name for name in fields if name not in ("struct_size", "context")]
for name, function in zip(names, (allocate, release)): setattr(hooks, name, fields[name](function))
assert c.jmetadata_set_hooks(hooks) == 0, c.jstatus_last_message()
def work():
    with jalloc.Allocator("bfc(limit=4MiB)+track") as allocator:
        x = allocator.zeros(100); del x
        with jalloc.Handle(allocator=allocator, threads=1) as handle:
            jalloc.blas.gemm(handle, np.eye(120), np.eye(120))
work()
first = len(live)
failures = 0
for n in range(1, 1000):
    left = n
    try:
        work()
    except jalloc.OutOfMemory: failures += 1
    except jalloc.Busy: failures += 1
    except jalloc.Error as error: raise
    finally: reached = left <= 0
    left = -1
    if not reached: break
print(failures, len(live) - first, n)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    failures, lost, last = map(int, result.stdout.split())
    assert failures > 3 and last < 999 and lost <= 0
