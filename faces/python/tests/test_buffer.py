# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Buffers, and what other libraries make of them."""

import gc
import weakref

import numpy as np
import pytest

import jalloc
from conftest import LAYOUTS, laid_out, numbers
from jalloc import Buffer, _dlpack

TYPES = ["f2", "f4", "f8", "c8", "c16", "i1", "i4"]


@pytest.mark.parametrize("dtype,order", [(dtype, order) for dtype in TYPES for order in "CF"])
def test_numpy_sees_it(dtype, order):
    for shape in [(), (5,), (2, 3), (2, 3, 4), (0, 3)]:
        buffer = Buffer.zeros(shape, dtype, order=order)
        view = np.asarray(buffer)
        assert view.shape == buffer.shape == shape and view.dtype == dtype and not view.any() and view.flags.writeable
        assert view.flags.f_contiguous if order == "F" else view.flags.c_contiguous
        view[...] = 1
        assert np.array_equal(np.asarray(buffer), np.ones(shape, dtype)) and buffer.nbytes == view.nbytes
        assert np.shares_memory(np.asarray(buffer), view) or view.size == 0
        assert memoryview(np.asarray(buffer)).nbytes == view.nbytes
        if view.size:
            given = np.from_dlpack(buffer)
            assert np.shares_memory(given, view) and given.dtype == view.dtype and given.strides == view.strides


def test_the_view_keeps_the_memory():
    view = np.asarray(Buffer.zeros(1000))
    other = np.from_dlpack(Buffer.zeros(1000))
    gc.collect()
    view[:] = 1
    assert view.sum() == 1000 and other.sum() == 0 and len(_dlpack._given) == 1
    del other
    gc.collect()
    assert not _dlpack._given


def test_a_capsule_that_nobody_takes():
    buffer = Buffer.zeros(10)
    known = weakref.ref(buffer)
    capsule = buffer.__dlpack__()
    del buffer
    gc.collect()
    assert known() is not None and len(_dlpack._given) == 1
    del capsule
    gc.collect()
    assert known() is None and not _dlpack._given


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_from_dlpack(rng, dtype, layout):
    array = laid_out((numbers(rng, (4, 5), np.dtype("f8")) * 100).astype(dtype), layout) if dtype[0] != "i" or layout in "CF" \
        else np.asarray(rng.integers(-9, 9, (4, 5)), dtype)
    buffer = jalloc.from_dlpack(array)
    view = np.asarray(buffer)
    assert np.array_equal(view, array) and np.shares_memory(view, array)
    view[1, 2] = 3
    assert array[1, 2] == 3
    assert np.array_equal(np.from_dlpack(jalloc.from_dlpack(buffer)), array)


def test_a_tensor_lives_as_long_as_the_buffer():
    array = np.arange(10.0)
    known = weakref.ref(array)
    buffer = jalloc.from_dlpack(array)
    del array
    gc.collect()
    assert known() is not None and np.asarray(buffer)[9] == 9
    del buffer
    gc.collect()
    assert known() is None


def test_wrap_and_copy(rng):
    array = rng.random((3, 4))
    wrapped, copy = Buffer.wrap(array), Buffer.copy_of(array)
    array[0, 0] = -1
    assert np.asarray(wrapped)[0, 0] == -1 and np.asarray(copy)[0, 0] != -1
    assert np.array_equal(np.asarray(copy)[1:], array[1:])
    single = Buffer.copy_of(array, "f4")
    assert single.dtype == "f4" and np.array_equal(np.asarray(single), array.astype("f4"))
    assert np.array_equal(Buffer.copy_of(array[::-1, ::2]), array[::-1, ::2])
    assert np.array_equal(Buffer.copy_of(np.broadcast_to(array[0], (3, 4))), np.broadcast_to(array[0], (3, 4)))
    assert np.array_equal(copy.to("host"), copy) and len(copy) == 3
    for wrong in (array[::-1], np.broadcast_to(array[0], (3, 4)), array.astype(">f8"), array.astype("i8")):
        with pytest.raises(jalloc.InvalidArgument):
            Buffer.wrap(wrong)


def test_arrays_without_elements():
    """Their strides and addresses mean nothing."""
    for array in (np.zeros((3, 0)), np.zeros((0, 3))[::-1], np.ones((4, 4))[2:2, ::-1], np.broadcast_to(1.0, (0, 5)).copy("K"),
                  np.ndarray((0, 2), float, bytearray(17), 1, (0, 8)), np.lib.stride_tricks.as_strided(np.ones(1), (2, 0), (0, 0))):
        for make in Buffer.wrap, Buffer.copy_of, jalloc.from_dlpack:
            assert np.asarray(make(array)).shape == array.shape == np.from_dlpack(make(array)).shape


def test_arrays_of_another_type():
    buffer = Buffer.zeros(3)
    assert np.asarray(buffer, "f4").dtype == "f4"
    with pytest.raises(ValueError):
        buffer.__array__("f4", copy=False)
    assert not np.shares_memory(buffer.__array__(copy=True), np.asarray(buffer))


def test_allocator_and_files(tmp_path):
    with jalloc.Allocator("track") as allocator:
        buffer = Buffer.zeros((10, 10), allocator=allocator)
        assert allocator.statistics.in_use_bytes >= 800
        np.asarray(buffer)[:] = np.arange(100).reshape(10, 10)
        buffer.save(tmp_path / "x.npy")
        assert np.array_equal(np.load(tmp_path / "x.npy"), buffer)
        assert np.array_equal(Buffer.load(tmp_path / "x.npy"), buffer)
        with pytest.raises(jalloc.InvalidArgument):
            Buffer.load(tmp_path / "x.npy", "f4")
        with pytest.raises(jalloc.NotFound):
            Buffer.load(tmp_path / "y.npy")
        del buffer
        gc.collect()
        assert allocator.statistics.in_use_bytes == 0
    with pytest.raises(MemoryError):
        Buffer.empty(1 << 20, allocator=jalloc.Allocator("limit(limit=1KiB)"))


def test_misuse():
    for wrong in ("i8", "U3", object, ">f8"):
        with pytest.raises(jalloc.InvalidArgument):
            Buffer.zeros(3, wrong)
    with pytest.raises(jalloc.Error):
        Buffer.zeros((1,) * 9)
    with pytest.raises(jalloc.InvalidArgument):
        Buffer.zeros(-1)
    with pytest.raises(jalloc.InvalidArgument, match="order"):
        Buffer.zeros(3, order="K")
    with pytest.raises(jalloc.Unsupported):
        Buffer.zeros(3, device="cuda:63")
    capsule = np.zeros(3).__dlpack__()
    _dlpack.Taken(capsule)
    with pytest.raises(BufferError, match="taken already"):
        _dlpack.Taken(capsule)
    with pytest.raises((BufferError, jalloc.InvalidArgument)):
        jalloc.from_dlpack(np.zeros(3, "u2"))
    with pytest.raises(BufferError):
        Buffer.zeros(3).__dlpack__(dl_device=(2, 0))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    array = rng.random((3, 4))
    tensor = torch.from_numpy(array)
    buffer = jalloc.from_dlpack(tensor)
    assert np.shares_memory(np.asarray(buffer), array)
    again = torch.from_dlpack(buffer)
    again[0, 0] = 7
    assert array[0, 0] == 7
