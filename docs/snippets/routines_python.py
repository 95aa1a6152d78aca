# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""A product."""

import numpy as np
import jalloc

a, b = np.array([[1.0, 3, 5], [2, 4, 6]]), np.ones((3, 1))
handle = jalloc.Handle()
# snippet
assert c[:, 0].tolist() == [9, 12]
handle.close()
