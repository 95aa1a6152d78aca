# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""A size query in Python."""

import numpy as np
import jalloc

a = np.empty((200, 200))
handle = jalloc.Handle()
# snippet
assert handle.workspace_bytes == query.bytes > 0
handle.close()
