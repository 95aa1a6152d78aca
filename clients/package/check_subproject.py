#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""jalloc as a part of another project (add_subdirectory, and so FetchContent): builds subproject/, which
has settings of its own, installs it, moves what was installed, and runs it where nothing else is left. The
prefix must then serve as an installed jalloc too. Once more with jalloc kept out of the installation.
Arguments are handed to CMake, such as -DJALLOC_CUDA=OFF."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from check import check_cmake, run

HERE = pathlib.Path(__file__).resolve().parent


def build_and_install(scratch, prefix, aside):
    """The parent project, installed to a prefix, with its build folder out of reach."""
    build = scratch / "build"
    run("cmake", "-S", HERE / "subproject", "-B", build, f"-DJALLOC_SOURCE={HERE.parents[1]}",
        f"-DASIDE={'ON' if aside else 'OFF'}", *sys.argv[1:])
    run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)))
    run("cmake", "--install", build, "--prefix", scratch / "first")
    (scratch / "first").rename(prefix)
    build.rename(scratch / "hidden")


def check_aside(prefix):
    strange = [path for path in prefix.rglob("*") if path.is_file() and path.name != "hello_static"]
    if strange:
        sys.exit(f"EXCLUDE_FROM_ALL installs {', '.join(map(str, strange))}")
    run(prefix / "bin/hello_static")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / "prefix"
        build_and_install(scratch, prefix, aside=False)
        for program in ("hello", "hello_static"):
            run(prefix / "bin" / program)
        check_cmake(prefix, scratch, mpi=False)
        if not list(prefix.rglob("solverTargets.cmake")):
            sys.exit("the parent's library is not exported")

        (scratch / "hidden").rename(scratch / "build")
        aside = scratch / "aside"
        build_and_install(scratch, aside, aside=True)
        shutil.rmtree(prefix)
        check_aside(aside)
    print("check_subproject: built, installed, moved and run as a part of another project")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
