# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Buffers, handles and allocators on a GPU, which JALLOC_TEST_DEVICE names: a real one, or that of the tests."""

import os

import numpy as np
import pytest

import jalloc
from conftest import numbers
from jalloc import Buffer

DEVICE = os.environ.get("JALLOC_TEST_DEVICE", "")
pytestmark = pytest.mark.skipif(DEVICE in ("", "host"), reason="JALLOC_TEST_DEVICE names no GPU")


class Tensor:
    """What another library would give."""

    def __init__(self, buffer):
        self.buffer = buffer

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()

    def __dlpack__(self, stream=None):
        assert stream is not None  # the default stream, by the number that DLPack has for it
        return self.buffer.__dlpack__(stream=stream)


def test_buffers(rng, dtype):
    array = numbers(rng, (3, 4), dtype)
    buffer = Buffer.copy_of(array, device=DEVICE)
    assert buffer.device == DEVICE and buffer.__dlpack_device__()[0] == {"cuda": 2, "hip": 10}[DEVICE.partition(":")[0]]
    assert np.array_equal(buffer.to("host"), array) and not np.asarray(Buffer.zeros(5, device=DEVICE).to("host")).any()
    with pytest.raises(jalloc.InvalidArgument, match="elements are on"):
        np.asarray(buffer)
    other = jalloc.from_dlpack(Tensor(buffer))
    assert other.device == DEVICE and other.address == buffer.address and np.array_equal(other.to("host"), array)


def test_what_is_the_hosts_alone():
    with jalloc.Handle(DEVICE) as handle, pytest.raises(jalloc.InvalidArgument, match="arrays are on the host"):
        jalloc.blas.gemm(handle, np.eye(2), np.eye(2))
    with jalloc.Allocator("bfc", DEVICE) as allocator:
        assert allocator.device == DEVICE
        with pytest.raises(jalloc.InvalidArgument, match="jalloc.Buffer"):
            allocator.empty(3)
