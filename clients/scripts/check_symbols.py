#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The symbols that the shared libraries export are those of the checked lists, cmake/NAME.symbols, with the functions of
jblas's and jlapack's rows (texts/rows.py), and nothing else. A GPU module exports the one by which libjalloc opens it, and needs nothing of libjalloc.

Names that begin with ji_ are internal: only those that a header of library/ marks JI_SHARED, for our own libraries of the
same version, may be exported, and only where one of these imports them.

A symbol that disappears breaks programs; one that appears is a promise that somebody should have meant to make.
--update writes the lists anew; the diff is then reviewed with the change that caused it."""

import argparse
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # in the source folder

from texts.rows import all_functions
from texts.tree import Tree

ALLOWED = {
    "jalloc": re.compile(r"j(?!blas|lapack|buffer|distribution|layout|runtime)[a-z]+_[a-z0-9_]+$"),
    "jblas": re.compile(r"jblas_[a-z0-9_]+$"),
    "jlapack": re.compile(r"jlapack_[a-z0-9_]+$"),
    "jbuffer": re.compile(r"j(buffer|distribution|layout|runtime|structure|element)[a-z]*_[a-z0-9_]+$"),
    "jalloc_mpi": re.compile(r"(jruntime|jbuffer)_[a-z0-9_]+$"),
}
INTERNAL = re.compile(r"ji_")
SHARED = re.compile(r"^JI_SHARED\b[^;(\[]*?\b(ji_[a-z0-9_]+)[(\[;]", re.MULTILINE)
MODULES = ["jalloc_cuda", "jalloc_hip"]
MODULE_SYMBOLS = ["jalloc_module_open"]
MODULE_FOREIGN = re.compile(r"lib(jalloc|jblas|stdc\+\+|cudart|cuda|cublas|hipblas|rocblas|cusolver|hipsolver|rocsolver)\b")


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", "--format=posix", str(library)], text=True,
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return sorted({line.split()[0].split("@")[0] for line in lines if line} - {"_init", "_fini"})


def imported(library):
    """The internal symbols that a library takes from another."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", "--format=posix", str(library)], text=True,
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return {line.split()[0].split("@")[0] for line in lines if INTERNAL.match(line)}


def check_wanted(libraries):
    """Internal symbols that nobody imports; said where all libraries are built."""
    wanted = set().union(*(imported(library) for library in libraries))
    unwanted = [s for library in libraries for s in exported(library) if INTERNAL.match(s) and s not in wanted]
    for symbol in unwanted:
        print(f"check_symbols: {symbol} is marked JI_SHARED and imported by none of our libraries")
    return not unwanted


def shared_names(root):
    """What the headers of library/ mark as shared between our libraries."""
    return {name for header in (root / "library").rglob("*.h") for name in SHARED.findall(header.read_text(encoding="utf-8"))}


def check(name, library, path, shared, routines, update):
    symbols = exported(library)
    odd = [s for s in symbols if s not in shared and (not ALLOWED[name].match(s) or INTERNAL.match(s))]
    for symbol in odd:
        print(f"lib{name}: {symbol} is exported and is no public name")
    if update and not odd:
        path.write_text("".join(s + "\n" for s in symbols if s not in routines), encoding="utf-8")
    listed = (path.read_text(encoding="utf-8").split() if path.exists() else []) + routines
    gone, new = sorted(set(listed) - set(symbols)), sorted(set(symbols) - set(listed))
    for symbol in gone:
        print(f"lib{name}: {symbol} is in {path.name} and is not exported")
    for symbol in new:
        print(f"lib{name}: {symbol} is exported and is not in {path.name} (check_symbols.py --update)")
    print(f"check_symbols: lib{name}: {len(symbols)} symbols, {len(odd)} odd, {len(gone)} gone, {len(new)} new")
    return bool(symbols) and not odd and not gone and not new


def check_module(name, library):
    symbols = exported(library)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-d", str(library)], text=True,
                                                                stdout=subprocess.PIPE, check=True).stdout)
    foreign = [n for n in needed if MODULE_FOREIGN.match(n)]
    if symbols != MODULE_SYMBOLS:
        print(f"lib{name}: exports {' '.join(symbols) or 'nothing'}, not {' '.join(MODULE_SYMBOLS)}")
    for library_name in foreign:
        print(f"lib{name}: needs {library_name}, without which it cannot be loaded")
    print(f"check_symbols: lib{name}: {len(symbols)} symbols, needs {' '.join(needed)}")
    return symbols == MODULE_SYMBOLS and not foreign


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--update", action="store_true", help="write the lists")
    arguments = parser.parse_args()
    good, seen, shared = True, 0, shared_names(arguments.root)
    routines = [*all_functions(Tree(arguments.root))]
    for name in ALLOWED:
        library = arguments.build / "library" / f"lib{name}.so"
        if library.exists():
            seen += 1
            good &= check(name, library, arguments.root / "cmake" / f"{name}.symbols", shared,
                          [r for r in routines if r.startswith(f"{name}_")], arguments.update)
    libraries = [arguments.build / "library" / f"lib{name}.so" for name in ALLOWED]
    if all(library.exists() for library in libraries):
        good &= check_wanted(libraries)
    for name in MODULES:
        for library in (arguments.build / "library").glob(f"lib{name}.so.*"):
            good &= check_module(name, library)
    if seen == 0:
        print(f"check_symbols: no library in {arguments.build}/library")
    return 0 if good and seen else 1


if __name__ == "__main__":
    sys.exit(main())
