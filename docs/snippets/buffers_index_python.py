# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""A buffer, and Cholesky's factor in its place."""

import numpy as np
import jalloc

covariance = np.asfortranarray(4 * np.eye(800))
handle = jalloc.Handle()
# snippet
assert np.asarray(k)[799, 799] == lower[799, 799] == 2
handle.close()
