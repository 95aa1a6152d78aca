# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The page on Python, block after block."""

import warnings

# snippet first

n = 60
a = rng.random((n, n))
a = a @ a.T + n * np.eye(n)
b = rng.random((n, n))
warnings.simplefilter("ignore", jalloc.PerformanceWarning)
handle = jalloc.Handle()

# snippet blas
expected = a.T @ b + a @ b
expected[::2] = a[::2] @ b
assert np.allclose(c, expected) and np.allclose(a @ x, b)
assert np.allclose(lower @ lower.T, a) and np.allclose(q @ r, b)

a, b = rng.random((300, 300)), rng.random((300, 300))
# snippet budget
assert handle.degraded_count == 1

a = rng.random((n, n))
a = a @ a.T + n * np.eye(n)
# snippet c
assert info == 0 and 0 < rcond < 1
handle.close()

# snippet segment

# snippet trace
assert picture.startswith("<svg") and trace.peak_bytes >= 80000

# snippet buffer

# snippet dropin
