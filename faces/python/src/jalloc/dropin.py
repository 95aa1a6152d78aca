# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""NumPy over jblas: the drop-in takes the place of the BLAS that a program was linked with."""

from __future__ import annotations

import shlex
import sys

from ._library import tool


def patch_blas(budget: str | None = None) -> str:
    """How to start this program so that NumPy and SciPy compute by jblas and jlapack: a line for the shell.

    Nothing is patched: NumPy has bound its BLAS when it was loaded, so that the drop-in must be there before it.
    That is what jblas-run does (LD_PRELOAD). It takes the place of a BLAS that NumPy is linked with by its usual
    names, as Debian's is; a wheel of NumPy from PyPI has a BLAS of its own, under other names, and keeps it.

    >>> import jalloc
    >>> print(jalloc.patch_blas(budget="256M"))      # doctest: +ELLIPSIS
    /.../jblas-run --budget 256M ...
    """
    words = [tool("jblas-run"), *(["--budget", budget] if budget else []), sys.executable,
             *(sys.argv if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ["program.py"])]
    return shlex.join(words)
