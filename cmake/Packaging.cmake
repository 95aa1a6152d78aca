# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
