# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Marks in a recorded heap: a block of a size that nobody else asks for, allocated and freed at once.

After BUILD the program makes what it works on, after STEPS it does what the trace shows, until END."""

import ctypes

BUILD, STEPS, END = 700000001, 700000003, 700000007


def mark(size):
    heap = ctypes.CDLL(None)  # the program's own malloc, which may be a recorder's
    heap.malloc.restype, heap.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    heap.free.restype, heap.free.argtypes = None, [ctypes.c_void_p]
    heap.free(heap.malloc(size))
