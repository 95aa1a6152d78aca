#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Every public header compiles alone, as C11 and as C++17, without a warning, by every compiler there is, and includes
nothing but jalloc's own headers and the standard library's. mpi.h is the exception: it needs MPI's, and is compiled where
there is one.

The guards of borrow.h compile in every standard of C without a warning, and a jump past one does not; in C++ they take
sizes of every integer type without a warning, and of no other. The lists of buffer.h take arrays, and no pointer
compiles."""

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

# Of buffer.h: declarations, the macro's argument, its rank, and whether it is a C array of that rank.
LISTS = [
    ("double a[3]", "a", 1, True),
    ("const float a[2]", "a", 1, True),
    ("double a[2][3]", "a", 2, True),
    ("double a[2][3]", "a[1]", 1, True),
    ("int n = 4; double a[n][3]", "a", 2, True),
    ("double a[1][2][3]", "a", 3, True),
    ("double a[1][2][3][4]", "a", 4, True),
    ("double *a", "a", 1, False),
    ("const double *const a = 0", "a", 1, False),
    ("double *a[2]", "a", 2, False),
    ("double (*a)[3]", "a", 2, False),
    ("double *a[2][3]", "a", 3, False),
    ("double (*a[2])[3]", "a", 3, False),
    ("double (*a)[2][3]", "a", 3, False),
    ("double *a[2][3][4]", "a", 4, False),
    ("double (*a)[2][3][4]", "a", 4, False),
    ("double a[2][3]", "a", 1, False),
    ("double a[2]", "a", 2, False),
    ("long a[2]", "a", 1, False),
]
LIST_PROGRAM = """#include <jalloc/buffer.h>
extern jstatus_t make(jbuffer_allocator_t *allocator, jbuffer_t **buffer);
jstatus_t make(jbuffer_allocator_t *allocator, jbuffer_t **buffer) {{
    {};
    return jbuffer_construct_list(allocator, JBUFFER_LIST_{}({}), buffer);
}}
"""


GUARD_STANDARDS = ["c99", "gnu99", "c11", "gnu11", "c17", "c2x", "gnu2x"]
GUARD_PROGRAM = """
#include <jalloc/borrow.h>
extern int program(jhandle_t *handle, const jplan_t *plan, int way);
int program(jhandle_t *handle, const jplan_t *plan, int way) {
    int status = 0;
    (void)plan;
    %s
done:
    return status;
}
"""
GUARDS = [  # label, whether it compiles, body
    ("a borrow in a block before the label", True, "{ JALLOC_BORROW(ws, handle, 64); if (!ws.ok || way) goto done; }"),
    ("a plan in a block before the label", True, "{ JALLOC_BORROW_PLAN(ws, handle, plan); if (!ws.ok || way) goto done; }"),
    ("two borrows", True, "if (way) { JALLOC_BORROW(a, handle, 64); JALLOC_BORROW(b, handle, 64, 8); status = a.ok + b.ok; goto done; }"),
    ("the block form", True, "JALLOC_WITH_BORROW(ws, handle, 64) { if (!ws.ok || way) goto done; }"),
    ("a goto past a borrow", False, "if (way) goto done; JALLOC_BORROW(ws, handle, 64); status = ws.status;"),
    ("a goto past a plan", False, "if (way) goto done; JALLOC_BORROW_PLAN(ws, handle, plan); status = ws.status;"),
    ("a case past a borrow", False,
     "switch (way) { case 1:; JALLOC_BORROW(ws, handle, 64); status = ws.status; break; case 2: status = 2; } goto done;"),
]

# The type of a size, and whether C++ takes it.
SIZE_STANDARDS = ["c++11", "c++17", "c++20"]
SIZE_WARNINGS = WARNINGS + ["-Wconversion", "-Wsign-conversion"]
SIZE_PROGRAM = """
#include <jalloc/borrow.h>
enum plain { FEW = 100 };
enum class strict { FEW = 100 };
jstatus_t program(jhandle_t *handle, %(type)s size);
jstatus_t program(jhandle_t *handle, %(type)s size) {
    if (jhandle_is_size_query(handle))
        return JALLOC_SET_OPTIMAL_SIZE(handle, size, 8, sizeof size);
    JALLOC_WITH_BORROW(inner, handle, size) {
        if (!inner)
            return inner.status;
    }
    JALLOC_BORROW(ws, handle, size, 8, sizeof size);
    return ws.status;
}
"""
SIZES = [("size_t", True), ("int64_t", True), ("int", True), ("unsigned char", True), ("plain", True), ("double", False),
         ("strict", False), ("void *", False)]


def check_sizes(include):
    """How many were tried, and how many were not as they should be."""
    checks = failures = 0
    for compiler in compilers(LANGUAGES[1][2]):
        for standard in SIZE_STANDARDS:
            command = [compiler, "-x", "c++", f"-std={standard}", *SIZE_WARNINGS, "-fsyntax-only", f"-I{include}", "-"]
            for kind, compiles in SIZES:
                result = subprocess.run(command, input=SIZE_PROGRAM % {"type": kind}, text=True, capture_output=True,
                                        check=False)
                checks += 1
                if (result.returncode == 0) != compiles:
                    failures += 1
                    print(f"borrow.h: a size of type {kind}, {standard} ({compiler}):\n{result.stderr or 'compiles'}")
    return checks, failures


def check_guards(include):
    """How many were tried, and how many were not as they should be."""
    checks = failures = 0
    for compiler in compilers(LANGUAGES[0][2]):
        for standard in GUARD_STANDARDS:
            command = [compiler, "-x", "c", f"-std={standard}", *C_WARNINGS, *WARNINGS, "-Wvla", "-fsyntax-only",
                       f"-I{include}", "-"]
            for label, compiles, body in GUARDS:
                result = subprocess.run(command, input=GUARD_PROGRAM % body, text=True, capture_output=True, check=False)
                refused = result.returncode != 0 and "jump" in result.stderr
                checks += 1
                if (result.returncode == 0) != compiles or refused == compiles:
                    failures += 1
                    print(f"{label}, {standard} ({compiler}):\n{result.stderr or 'compiles'}")
    return checks, failures


INITIALIZER = re.compile(r"#define (J\w+_INIT)\b[^#]*?\bsizeof\((\w+)\)")


def check_initializers(include):
    """Every initializer initializes all of its type, in each language. Gives checks and failures."""
    checks = failures = 0
    for header in sorted((include / "jalloc").glob("*.h")):
        more_flags = include_flags(header)
        text = header.read_text(encoding="utf-8")
        found = INITIALIZER.findall(text)
        if not found or more_flags is None:
            continue
        variables = "".join(f"extern const {type_name} object{i};\nconst {type_name} object{i} = {macro};\n"
                            for i, (macro, type_name) in enumerate(found))
        for label, flags, names in LANGUAGES:
            for compiler in compilers(names):
                command = [compiler, *flags, *more_flags, *WARNINGS, "-fsyntax-only", f"-I{include}", "-"]
                result = subprocess.run(command, input=f"#include <jalloc/{header.name}>\n{variables}", text=True,
                                        capture_output=True, check=False)
                checks += len(found)
                if result.returncode != 0:
                    failures += 1
                    print(f"{header.name}: an initializer is no {label} ({compiler}):\n{result.stderr}")
    return checks, failures


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


def check_lists(include):
    """The macros of nested lists take arrays and nothing else, by every C compiler. Gives checks and failures."""
    checks = failures = 0
    _, flags, names = LANGUAGES[0]
    for compiler in compilers(names):
        for declaration, argument, rank, is_array in LISTS:
            command = [compiler, *flags, "-Wno-sizeof-pointer-div", "-fsyntax-only", f"-I{include}", "-"]
            program = LIST_PROGRAM.format(declaration, rank, argument)
            result = subprocess.run(command, input=program, text=True, capture_output=True, check=False)
            checks += 1
            if (result.returncode == 0) != is_array:
                failures += 1
                print(f"buffer.h: JBUFFER_LIST_{rank}({argument}) of \"{declaration}\" "
                      f"{'is refused' if is_array else 'compiles'} ({compiler})\n{result.stderr}")
    return checks, failures


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
    for check in (check_guards, check_sizes, check_lists, check_initializers):
        more_checks, more_failures = check(include)
        checks += more_checks
        failures += more_failures
    missing = [label for label, _, names in LANGUAGES if not compilers(names)]
    for label in missing:
        print(f"no compiler for {label}")
    print(f"check_headers: {len(headers)} headers, {checks} checks, {failures} failures")
    return 1 if failures or missing or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
