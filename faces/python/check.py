#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The Python package as a user has it: a fresh virtual environment, a wheel that pip builds, and the tests, the
examples of the docstrings and the samples, run outside of the source tree.

    check.py BUILD [PYTEST ARGUMENT]...     the wheel has the libraries of that build
    check.py --source                       all is compiled from the sources, as by `pip install`

Then a wheel without libraries calls those of the first one (JALLOC_LIB)."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPONENTS = ["libjalloc", "libjblas", "libjblas_blas", "libjlapack", "libjlapack_lapack", "libjbuffer", "clients"]
WANTED = "import numpy, pytest, venv, ensurepip, sys; assert sys.version_info >= (3, 11)"


def run(command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def interpreter():
    """One that has NumPy and pytest, such as Debian's; else this one, which gets them from PyPI."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([candidate, "-c", WANTED], capture_output=True, check=False).returncode == 0:
            return candidate, []
    return sys.executable, ["numpy", "pytest"]


def environment(folder, start, packages):
    run([start, "-m", "venv", "--system-site-packages", folder])
    python = folder / "bin/python"
    if packages:
        run([python, "-m", "pip", "install", "--quiet", *packages])
    return python


def wheel(python, folder, *definitions):
    defined = [word for definition in definitions for word in ("--config-settings", f"cmake.define.{definition}")]
    run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, *defined, HERE])
    found, = folder.glob("*.whl")
    assert found.name.endswith(("py3-none-linux_x86_64.whl", "py3-none-linux_aarch64.whl")), found
    return found


def main():
    build, arguments = sys.argv[1], sys.argv[2:]
    start, packages = interpreter()
    with tempfile.TemporaryDirectory(prefix="jalloc-python-") as scratch:
        scratch = pathlib.Path(scratch)
        python = environment(scratch / "venv", start, packages)
        definitions = []
        if build != "--source":
            prefix = scratch / "prefix"
            for component in COMPONENTS:
                run(["cmake", "--install", build, "--prefix", prefix, "--component", component], stdout=subprocess.DEVNULL)
            definitions = [f"JALLOC_PYTHON_LIBRARIES={prefix}"]
        run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel(python, scratch / "wheel", *definitions)])
        if definitions:  # what is in the wheel needs nothing of it
            prefix.rename(scratch / "prefix-gone")

        outside = scratch / "outside"
        outside.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("JALLOC_LIB", "PYTHON"))}
        clean["PATH"] = f"{scratch / 'venv/bin'}:{clean['PATH']}"
        options = {"cwd": outside, "env": clean}
        pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", HERE / "pyproject.toml", "--rootdir", HERE]
        run([*pytest, HERE / "tests", "--pyargs", "jalloc", *arguments], **options)
        if build != "--source":  # over the runtime of the tests
            fake = {"JALLOC_MODULE_PATH": str(pathlib.Path(build).resolve() / "fake_gpu")}
            for device in ("cuda:0", "hip:0"):
                run([*pytest, HERE / "tests/test_device.py"], cwd=outside, env={**clean, **fake, "JALLOC_TEST_DEVICE": device})
        for sample in sorted((HERE / "samples").glob("*.py")):
            run([python, sample], **options)
        run(["jalloc-info"], stdout=subprocess.DEVNULL, **options)

        other = environment(scratch / "other", start, packages)
        run([other, "-m", "pip", "install", "--quiet", "--no-deps", wheel(other, scratch / "pure", "JALLOC_PYTHON_LIBRARIES=OFF")])
        text = "import jalloc, pathlib; print(pathlib.Path(jalloc.__file__).parent / 'lib')"
        libraries = run([python, "-c", text], stdout=subprocess.PIPE, text=True, **options).stdout.strip()
        program = "import jalloc, numpy; h = jalloc.Handle(); print(jalloc.blas.gemm(h, numpy.eye(2), numpy.eye(2)))"
        run([other, "-c", program], cwd=outside, env={**clean, "JALLOC_LIB": libraries})
    return 0


if __name__ == "__main__":
    sys.exit(main())
