# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the tests have in common: fresh random numbers, whose seed a failure shows, and a handle."""

import os
import secrets

import numpy as np
import pytest

import jalloc

TYPES = ["f4", "f8", "c8", "c16"]


@pytest.fixture
def rng(record_property):
    seed = int(os.environ.get("JALLOC_TEST_SEED", secrets.randbits(32)))
    record_property("seed", seed)
    print(f"JALLOC_TEST_SEED={seed}")  # shown of a test that fails
    return np.random.default_rng(seed)


@pytest.fixture
def handle():
    with jalloc.Handle(threads=1) as one:
        yield one


@pytest.fixture(params=TYPES)
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture
def segment_name():
    name = f"/jalloc-test-{os.getpid()}-{secrets.token_hex(4)}"
    yield name
    try:
        jalloc.Segment.remove(name, force=True)
    except jalloc.NotFound:
        pass


def numbers(rng, shape, dtype):
    """In (-1, 1), and of complex types both parts."""
    values = rng.uniform(-1, 1, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return values.astype(dtype)


LAYOUTS = ["C", "F", "every second row", "every second column", "both", "part of a larger one"]


def laid_out(array, layout):
    """The same numbers, as a view of that kind."""
    rows, columns = array.shape
    if layout in ("C", "F"):
        return np.array(array, order=layout)
    size, step = {"every second row": ((2 * rows, columns), (2, 1)), "every second column": ((rows, 2 * columns), (1, 2)),
                  "both": ((2 * rows, 2 * columns), (2, 2)), "part of a larger one": ((rows + 3, columns + 2), (1, 1))}[layout]
    whole = np.full(size, np.nan, array.dtype)
    view = whole[::step[0], ::step[1]][:rows, :columns]
    view[...] = array
    return view


def close(got, expected, depth=1):
    """Equal but for rounding in sums of so many products."""
    eps = np.finfo(got.dtype).eps
    np.testing.assert_allclose(got, expected, rtol=0, atol=16 * eps * (depth + 4))
