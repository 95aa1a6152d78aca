# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The programs in the package, under their names: what a wheel puts on PATH becomes the program itself."""

import os
import sys

from ._library import PACKAGE, tool


def _become(name: str) -> None:
    own = PACKAGE / "bin" / name
    path = str(own) if own.exists() else tool(name)
    # What stands on PATH by this name may be this very script.
    if os.path.realpath(path) == os.path.realpath(sys.argv[0]):
        sys.exit(f"{name} is not in this package, and nowhere else on PATH")
    os.execv(path, [path, *sys.argv[1:]])


def info() -> None:
    """jalloc-info."""
    _become("jalloc-info")


def plan() -> None:
    """jalloc-plan."""
    _become("jalloc-plan")


def replay() -> None:
    """jalloc-replay."""
    _become("jalloc-replay")


def run() -> None:
    """jblas-run."""
    _become("jblas-run")


def shm() -> None:
    """jalloc-shm."""
    _become("jalloc-shm")


def tune() -> None:
    """jalloc-tune."""
    _become("jalloc-tune")
