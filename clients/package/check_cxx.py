#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""jalloc.hpp with the options that its users have: hello_face.cpp is compiled without a warning by every compiler there is,
as C++17 and C++20, with and without exceptions and run-time types, and with libc++ as C++23, which has mdspan; what was
compiled runs. What must not compile does not, by the first of the compilers. Each header compiles alone.

    python3 check_cxx.py BUILD"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPILERS = ["c++", "g++", "g++-14", "clang++", "clang++-14", "clang++-19"]
STANDARDS = ["c++17", "c++20"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror"]
POLICIES = [[], ["-fno-exceptions", "-fno-rtti"], ["-DJALLOC_EXCEPTIONS=0"]]
LIBRARIES = ["-ljbuffer", "-ljlapack", "-ljblas", "-ljalloc"]
PROGRAM = """#include <jalloc.hpp>
#include <string>
void program(jalloc::handle &handle, double *x, double number);
void program(jalloc::handle &handle, double *x, double number) {
    (void)x, (void)number;
    %s
}
"""
RETURNED = ["-DJALLOC_EXCEPTIONS=0"]
# Options, what must compile, what must not.
PAIRS = [
    ([], "jalloc::handle other = std::move(handle);", "jalloc::handle other = handle;"),
    ([], "jhandle_t *native = handle; (void)native;", "jhandle_t *native = jalloc::handle(); (void)native;"),
    ([], "if (handle.trim().is_error()) return;", "if (handle.trim()) return;"),
    ([], "auto ws = handle.borrow<double>(1L);", "auto ws = handle.borrow<double>(1.0);"),
    ([], "auto ws = handle.borrow<double>(1);", "auto ws = handle.borrow<std::string>(1);"),
    ([], "auto ws = handle.borrow<char, int>(1, 1);", "auto ws = handle.borrow<char, int>(1);"),
    ([], "auto ws = handle.borrow<char>(1);", "auto ws = handle.borrow<char>(1); auto moved = std::move(ws);"),
    ([], "auto ws = handle.borrow<char, char, char, char, char, char, char, char>(1, 1, 1, 1, 1, 1, 1, 1);",
     "auto ws = handle.borrow<char, char, char, char, char, char, char, char, char>(1, 1, 1, 1, 1, 1, 1, 1, 1);"),
    ([], "handle.launch([]() noexcept {});", "handle.launch([]() {});"),
    ([], "handle.launch([x]() noexcept { *x = 1; });",
     "std::string text; handle.launch([text]() noexcept { (void)text; });"),
    ([], 'jalloc::plan plan(handle, "routine", "mn", 1, 2);', 'jalloc::plan plan(handle, "routine", "mn", 1);'),
    ([], "jalloc::blas::scal(handle, 1, number, x, 1);", "jalloc::blas::scal(handle, 1, number, (const double *)x, 1);"),
    ([], "jalloc::blas::dot(handle, 1, x, 1, x, 1, x);", "float f; jalloc::blas::dot(handle, 1, x, 1, x, 1, &f);"),
    ([], "handle.trim();", "handle.trim(number);"),
    (RETURNED, "(void)handle.trim();", "handle.trim();"),
    (RETURNED, "(void)jalloc::blas::scal(handle, 1, number, x, 1);", "jalloc::blas::scal(handle, 1, number, x, 1);"),
    (RETURNED, "(void)*handle.budget();", "handle.budget();"),
    (RETURNED, "std::size_t n = *handle.budget(); (void)n;", "std::size_t n = handle.budget(); (void)n;"),
    (["-fno-exceptions"], "(void)handle.trim();", "handle.trim();"),
]


def compilers():
    """Those that are installed, each real program once."""
    found = {}
    for name in COMPILERS:
        path = shutil.which(name)
        if path:
            found.setdefault(pathlib.Path(path).resolve(), [path])
    return list(found.values())


def call(command, text=None, **more):
    return subprocess.run([str(word) for word in command], input=text, text=True, capture_output=True, check=False, **more)


def compiles(command, text):
    return call([*command, "-x", "c++", "-fsyntax-only", "-"], text).returncode == 0


def with_libcxx(command):
    """The same with libc++, or nothing."""
    other = [*command, "-stdlib=libc++"]
    return [other] if compiles([*other, "-std=c++23", "-Werror"], "#include <mdspan>\n") else []


def check_face(command, standard, policy, build, scratch):
    """What is said of a failure."""
    program = scratch / re.sub(r"\W+", "_", "_".join([*command, standard, *policy]))
    library = build / "library"
    done = call([*command, f"-std={standard}", *WARNINGS, *policy, *INCLUDE, HERE / "hello_face.cpp", "-o", program,
                 f"-L{library}", *LIBRARIES])
    if done.returncode == 0:
        done = call([program], env=dict(os.environ, LD_LIBRARY_PATH=str(library)))
    return "" if done.returncode == 0 else f"{' '.join(command)} {standard} {' '.join(policy)}:\n{done.stdout}{done.stderr}"


def check_pair(command, policy, good, bad):
    """That the one compiles shows that the other fails for what it says."""
    said = ""
    for body, wanted in ((good, True), (bad, False)):
        options = [*command, "-std=c++17", *WARNINGS, *policy, *INCLUDE]
        if compiles(options, PROGRAM % body) != wanted:
            said += f"{' '.join(policy)} {'does not compile' if wanted else 'compiles'}: {body}\n"
    return said


def check_contradiction(command):
    options = ["-std=c++17", "-fno-exceptions", "-DJALLOC_EXCEPTIONS=1", *INCLUDE]
    return f"{' '.join(command)}: exceptions without exceptions" if compiles([*command, *options], "#include <jalloc.hpp>\n") else ""


def check_header(command, path):
    done = call([*command, "-std=c++17", *WARNINGS, *INCLUDE, "-x", "c++", "-fsyntax-only", "-"],
                f"#include <{path}>\n#include <{path}>\nextern int program;\n")
    return "" if done.returncode == 0 else f"{' '.join(command)}: {path} alone:\n{done.stderr}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not (build / "include/jalloc/blas.hpp").exists():
        sys.exit(f"{build} has no include/jalloc/blas.hpp: build it first")
    INCLUDE.extend([f"-I{ROOT / 'include'}", f"-I{build / 'include'}"])
    headers = sorted(str(path.relative_to(folder)) for folder in (ROOT / "include", build / "include")
                     for path in folder.rglob("*.hpp"))
    jobs = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = compilers()
        for command in found:
            jobs += [pool.submit(check_face, command, standard, policy, build, pathlib.Path(folder))
                     for standard in STANDARDS for policy in POLICIES]
            jobs += [pool.submit(check_face, other, "c++23", [], build, pathlib.Path(folder)) for other in with_libcxx(command)]
        jobs += [pool.submit(check_pair, found[0], *pair) for pair in PAIRS]
        jobs.append(pool.submit(check_contradiction, found[0]))
        jobs += [pool.submit(check_header, found[0], path) for path in headers]
        failures = [job.result() for job in jobs if job.result()]
    print("\n".join(failures))
    print(f"check_cxx: {len(found)} compilers, {len(jobs)} checks, {len(failures)} failures")
    return 1 if failures or not found else 0


INCLUDE = []

if __name__ == "__main__":
    sys.exit(main())
