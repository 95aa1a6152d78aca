# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Which libraries are called: those that JALLOC_LIB names a folder of, else those in the package, else
those that the system's loader finds. One is loaded, libjbuffer, which brings the others; a function is
looked up when it is first asked for."""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
from typing import Any

from . import _declarations

PACKAGE = pathlib.Path(__file__).resolve().parent
NAME = f"libjbuffer.so.{_declarations.SOVERSION}"


def _load() -> ctypes.CDLL:
    named, own = os.environ.get("JALLOC_LIB"), PACKAGE / "lib"
    path = os.path.join(named, NAME) if named else str(own / NAME) if own.is_dir() else NAME
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"jalloc needs its libraries, such as {NAME}: {error}. Put their folder into JALLOC_LIB, "
                          "install them (ldconfig), or take a wheel that has them") from error


_library = _load()


def function(name: str) -> Any:
    """A function of C's, with its types."""
    row: Any = _declarations.FUNCTIONS[name]
    returns, parameters, names, text = row
    found = _library[name]  # not by attribute: a function object of our own
    found.restype, found.argtypes = returns, parameters
    found.__name__ = name
    found.__doc__ = f"{name}({', '.join(names.split())})\n\n{_declarations.TEXTS[text]}"
    return found


def tool(name: str) -> str:
    """Where a program of jalloc's is: in the package, or on PATH."""
    path = shutil.which(str(PACKAGE / "bin" / name)) or shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"{name} is neither in the package nor on PATH; jalloc's install.sh installs it")
    return path
