# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""jalloc: temporary memory for numerical routines, BLAS and LAPACK that use it, and shared memory that
survives kill -9.

>>> import jalloc, numpy
>>> with jalloc.Handle() as handle:
...     c = jalloc.blas.gemm(handle, numpy.ones((2, 3)), numpy.ones((3, 2)))
>>> c
array([[3., 3.],
       [3., 3.]])
"""

from . import blas, c, lapack
from ._declarations import VERSION as __version__
from .allocator import Allocator, AllocatorStatistics, Kind, kinds, tag
from .buffer import Buffer, from_dlpack
from .dropin import patch_blas
from .errors import (Busy, Error, InvalidArgument, NotFound, OutOfMemory, PerformanceWarning, Sealed, SingularMatrix,
                     Unsupported)
from .handle import Handle, HandleStatistics, Query
from .requirement import Program, ProgramInfo, Requirement, Step
from .segment import Segment, SegmentProcess, SegmentStatistics, SharedAllocator
from .trace import Event, Recorder, Trace

__all__ = ["Allocator", "AllocatorStatistics", "Buffer", "Busy", "Error", "Event", "Handle", "HandleStatistics",
           "InvalidArgument", "Kind", "NotFound", "OutOfMemory", "PerformanceWarning", "Program", "ProgramInfo", "Query",
           "Recorder", "Requirement", "Sealed", "Segment", "SegmentProcess", "SegmentStatistics", "SharedAllocator",
           "SingularMatrix", "Step", "Trace", "Unsupported", "blas", "c", "from_dlpack", "kinds", "lapack", "patch_blas",
           "tag"]
