# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""All of C's names: functions, enumerations, structs, numbers, as the manual's reference has them.

A function returns what C returns: a status is a number, nothing is raised. Structs begin as their
initializers say. A pointer to elements takes an address, None, ctypes.byref() or a NumPy array of just
that type, which must live as long as C uses it.

>>> import ctypes, numpy, jalloc.c as c
>>> handle, x, norm = ctypes.POINTER(c.jhandle_t)(), numpy.array([3.0, 4.0]), ctypes.c_double()
>>> c.jhandle_create(c.jhandle_options_t(threads=1), handle) == c.JSTATUS_SUCCESS
True
>>> c.jblas_dnrm2(handle, 2, x, 1, ctypes.byref(norm)), norm.value
(0, 5.0)
>>> c.jhandle_destroy(handle)
0
"""

from __future__ import annotations

from typing import Any

from . import _declarations, _library

_enumerators = {member.name: member for enum in vars(_declarations).values()
                if isinstance(enum, _declarations.EnumMeta) and enum is not _declarations.IntEnum for member in enum}


def __getattr__(name: str) -> Any:
    """Finds it, and keeps it, so that it is looked up once."""
    if name in _declarations.FUNCTIONS:
        value = _library.function(name)
    elif name in _enumerators:
        value = _enumerators[name]
    elif name in _declarations.NUMBERS:
        value = _declarations.NUMBERS[name]
    elif name.startswith("j") and hasattr(_declarations, name):
        value = getattr(_declarations, name)
    else:
        raise AttributeError(f"jalloc's headers declare no {name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    types = [name for name in vars(_declarations) if name.startswith("j")]
    return sorted([*_declarations.FUNCTIONS, *_enumerators, *_declarations.NUMBERS, *types])
