# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""How much memory do these solves want, and what do they cost with less? Ask, choose, and look.

A query computes nothing. Its requirement says the least and the best number of bytes, and what those between
buy; then the same calls run in half of the best, and in all of it."""

import time
import warnings

import numpy as np

import jalloc


def solves(handle, a, b):
    """A is factored, multiplied and solved with: what the program does all day."""
    x = jalloc.lapack.solve(handle, a, b, assume="positive")
    return jalloc.blas.gemm(handle, a, x)


def main():
    rng = np.random.default_rng()
    a = rng.random((800, 800))
    a = a @ a.T + 800 * np.eye(800)
    b = np.asfortranarray(rng.random((800, 50)))
    with jalloc.Handle() as handle:
        with handle.query() as query:
            solves(handle, a, b)
        need = query.requirement
        print(need)
        for step in need:
            print(f"  {step.size_bytes:>9} bytes: {1e3 * step.seconds:.2f} ms predicted, {step.degraded_count} calls slower")
        for size in (need.optimal_bytes // 2, need.optimal_bytes):
            handle.set_workspace(size)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", jalloc.PerformanceWarning)  # that is what is looked at
                start = time.perf_counter()
                product = solves(handle, a, b)
                seconds = time.perf_counter() - start
            assert np.allclose(product, b)
            print(f"with {size} bytes: {1e3 * seconds:.1f} ms\n{handle.report()}")
            handle.clear_statistics()


if __name__ == "__main__":
    main()
