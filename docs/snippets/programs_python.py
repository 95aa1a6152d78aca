# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What two calls need."""

import numpy as np
import jalloc

a = np.empty((512, 512))
handle = jalloc.Handle()
# snippet
assert needs.optimal_bytes > 0
handle.close()
