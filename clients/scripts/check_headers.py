#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Every public header compiles alone, as C11 and as C++17, without a warning, by every compiler there is, and includes
nothing but jalloc's own headers and the standard library's. mpi.h is the exception: it needs MPI's, and is compiled where
there is one."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
C_STANDARD = {"stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "string.h"}
CXX_STANDARD = re.compile(r"[a-z_]+$")  # <complex>, <utility>: no suffix
FOREIGN = {"mpi.h": "mpi.h"}  # our header: the other project's that it may include
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
C_WARNINGS = ["-Wstrict-prototypes", "-Wmissing-prototypes"]
LANGUAGES = [
    ("C11", ["-x", "c", "-std=c11"] + C_WARNINGS, ["cc", "gcc", "clang"]),
    ("C++17", ["-x", "c++", "-std=c++17"], ["c++", "g++", "clang++"]),
]


def compilers(names):
    """Those that are installed, each real program once."""
    found = {}
    for name in names:
        path = shutil.which(name)
        if path:
            found.setdefault(str(pathlib.Path(path).resolve()), path)
    return list(found.values())


def foreign_includes(header):
    for quoted, angled in INCLUDE.findall(header.read_text(encoding="utf-8")):
        name = quoted or angled
        own = quoted.startswith("jalloc/") and (header.parents[1] / quoted).exists()
        standard = bool(angled) and (angled in C_STANDARD or CXX_STANDARD.match(angled))
        if not own and not standard and FOREIGN.get(header.name) != name:
            yield name


def include_flags(header):
    """Where a foreign header is found; None where it is not installed."""
    if header.name not in FOREIGN:
        return []
    wrapper = shutil.which("mpicc")
    if not wrapper:
        return None
    shown = subprocess.run([wrapper, "-show"], text=True, capture_output=True, check=False).stdout.split()
    folders = [word[2:] for word in shown if word.startswith("-I")]
    return ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"] + [flag for folder in folders for flag in ("-isystem", folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    include = parser.parse_args().root / "include"
    checks = failures = 0
    headers = sorted((include / "jalloc").glob("*.h"))
    for header in headers:
        foreign = list(foreign_includes(header))
        checks += 1
        failures += bool(foreign)
        for name in foreign:
            print(f"{header.name}: includes {name}")
        more_flags = include_flags(header)
        if more_flags is None:
            print(f"{header.name}: not compiled, since {FOREIGN[header.name]} is not there")
            continue
        for label, flags, names in LANGUAGES:
            for compiler in compilers(names):
                command = [compiler, *flags, *more_flags, *WARNINGS, "-fsyntax-only", f"-I{include}", "-"]
                program = f"#include <jalloc/{header.name}>\n#include <jalloc/{header.name}>\nextern int program;\n"
                result = subprocess.run(command, input=program, text=True, capture_output=True, check=False)
                checks += 1
                if result.returncode != 0:
                    failures += 1
                    print(f"{header.name}: not {label} alone ({compiler}):\n{result.stderr}")
    missing = [label for label, _, names in LANGUAGES if not compilers(names)]
    for label in missing:
        print(f"no compiler for {label}")
    print(f"check_headers: {len(headers)} headers, {checks} checks, {failures} failures")
    return 1 if failures or missing or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
