# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""An array in a segment."""

import jalloc

n = 1000
# snippet
x[n - 1] = 1
assert segment["x"][n - 1] == 1 and scratch.shape == (n,)
segment.unlink()
