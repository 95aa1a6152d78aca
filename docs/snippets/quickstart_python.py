# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The first program in Python."""

# snippet
