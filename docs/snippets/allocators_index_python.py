# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""An array in a composition's memory."""

import jalloc

# snippet
assert allocator.statistics.in_use_bytes >= x.nbytes
