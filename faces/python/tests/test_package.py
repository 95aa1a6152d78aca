# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What C declares as ctypes has it, types, tools, and how to start with the drop-in."""

import ctypes
import importlib.util
import pathlib
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

import jalloc
from jalloc import _declarations, c

INCLUDE = pathlib.Path(__file__).resolve().parents[3] / "include"


def test_every_function_is_there():
    for name in _declarations.FUNCTIONS:
        assert getattr(c, name).__name__ == name
    assert set(_declarations.FUNCTIONS) < set(dir(c))
    with pytest.raises(AttributeError, match="declare no jblas_dgem$"):
        c.jblas_dgem  # pylint: disable=pointless-statement
    assert jalloc.__version__ == c.jalloc_version_string().decode()
    assert "columns" in c.jblas_dgemm.__doc__ or "op(A)" in c.jblas_dgemm.__doc__


@pytest.mark.skipif(not (INCLUDE.exists() and shutil.which("cc")), reason="no compiler, or no headers")
def test_structs_and_numbers_are_as_the_compiler_has_them(tmp_path):
    lines, expected = [], []
    for name, struct in vars(_declarations).items():
        if isinstance(struct, type) and issubclass(struct, ctypes.Structure) and getattr(struct, "_fields_", None):
            lines.append(f"S({name});")
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for member, _ in struct._fields_:
                lines.append(f"M({name}, {member});")
                expected.append(f"{name}.{member} {getattr(struct, member).offset} {getattr(struct, member).size}")
        elif isinstance(struct, type) and issubclass(struct, _declarations.IntEnum) and struct is not _declarations.IntEnum:
            for member in struct:
                lines.append(f"N({member.name});")
                expected.append(f"{member.name} {member.value}")
    for name, value in _declarations.NUMBERS.items():
        lines.append(f"N({name});")
        expected.append(f"{name} {value - 2**64 if value > 2**63 else value}")
    source = tmp_path / "look.c"
    source.write_text("#include <jalloc/jalloc.h>\n#include <stdio.h>\n"
                      "#define S(s) printf(#s \" %zu\\n\", sizeof(s))\n#define N(n) printf(#n \" %lld\\n\", (long long)n)\n"
                      "#define M(s, m) printf(#s \".\" #m \" %zu %zu\\n\", offsetof(s, m), sizeof(((s *)0)->m))\n"
                      "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run(["cc", f"-I{INCLUDE}", source, "-o", tmp_path / "look"], check=True)
    printed = subprocess.run([tmp_path / "look"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(printed) > 600 and printed == expected


def test_structs_begin_as_their_initializers_say():
    assert c.jsegment_options_t().descriptor == -1
    assert c.jbuffer_allocator_options_t().type == c.JDATATYPE_F64
    assert c.jhandle_options_t(threads=3).struct_size == ctypes.sizeof(c.jhandle_options_t)
    assert c.jmemory_request_t().numa_node == c.JMEMORY_ANY_NODE


def test_arrays_are_looked_at():
    handle = ctypes.POINTER(c.jhandle_t)()
    assert c.jhandle_create(None, handle) == 0
    x, fixed = np.ones(3), np.ones(3)
    fixed.flags.writeable = False
    assert c.jblas_dscal(handle, 3, ctypes.byref(ctypes.c_double(2)), x, 1) == 0 and (x == 2).all()
    assert c.jblas_dcopy(handle, 3, fixed, 1, x, 1) == 0 and (x == 1).all()
    for wrong in ((c.jblas_dcopy, 3, x, 1, fixed, 1), (c.jblas_scopy, 3, x, 1, x, 1), (c.jblas_dcopy, 3, "x", 1, x, 1)):
        with pytest.raises(ctypes.ArgumentError):
            wrong[0](handle, *wrong[1:])
    with pytest.raises(ctypes.ArgumentError):
        c.jblas_dcopy(ctypes.POINTER(c.jallocator_t)(), 3, x, 1, x, 1)
    assert c.jhandle_destroy(handle) == 0


def test_batches_and_callbacks():
    with jalloc.Handle(threads=1) as handle:
        arrays = [np.eye(3) * i for i in range(1, 5)]
        results = [np.zeros((3, 3)) for _ in arrays]
        one, zero = np.ones(()), np.zeros(())
        handle.call(c.jblas_dgemm_batched, c.JBLAS_NO_TRANSPOSE, c.JBLAS_NO_TRANSPOSE, 3, 3, 3, one, arrays, 3, arrays, 3, zero,
                    results, 3, 4)
        assert all(np.array_equal(r, a @ a) for r, a in zip(results, arrays))
    lines = []
    sink = c.jlog_sink_t(lambda context, level, line: lines.append(ctypes.string_at(line)))
    assert c.jlog_set_sink(sink, None) == 0
    try:
        c.jlog_write_line(b"a line")
    finally:
        c.jlog_set_sink(c.jlog_sink_t(), None)
    assert lines == [b"a line"]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_types(tmp_path):
    package = pathlib.Path(jalloc.__file__).parent
    assert (package / "py.typed").exists()
    # An unused "ignore" is another version of NumPy's.
    command = [sys.executable, "-m", "mypy", "--strict", "--no-warn-unused-ignores", "--cache-dir", tmp_path]
    result = subprocess.run([*command, "-p", "jalloc"], capture_output=True, text=True, check=False, cwd=package.parent)
    assert result.returncode == 0, result.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import jalloc\njalloc.Handle(threads=\"two\")\n")
    result = subprocess.run([*command, wrong], capture_output=True, text=True, check=False, cwd=package.parent)
    assert "arg-type" in result.stdout


def found(name):
    try:
        return jalloc._library.tool(name)
    except FileNotFoundError:
        return None


@pytest.mark.skipif(found("jblas-run") is None, reason="no tools")
def test_tools():
    for name in ("jalloc-info", "jalloc-replay", "jblas-run"):
        result = subprocess.run([found(name), *(["--help"] if name != "jalloc-info" else [])], capture_output=True, check=False)
        assert result.returncode == 0 and result.stdout
    words = shlex.split(jalloc.patch_blas("256M"))
    assert words[0].endswith("jblas-run") and words[1:3] == ["--budget", "256M"] and words[3] == sys.executable
    run = subprocess.run([*words[:4], "-c", "import os; print(os.environ['LD_PRELOAD'])"], capture_output=True, text=True,
                         check=False)
    assert "libj" in run.stdout, run.stderr


def test_no_library():
    """The message says what to do."""
    program = "import jalloc"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                            env={"JALLOC_LIB": "/nowhere", "PYTHONPATH": str(pathlib.Path(jalloc.__file__).parents[1])})
    assert result.returncode == 1 and "JALLOC_LIB" in result.stderr and "ImportError" in result.stderr


@pytest.mark.parametrize("too_much", [2**64 + 64, 2**64, -1])
def test_numbers_that_c_does_not_hold(handle, too_much):
    """ctypes would cut them to 64 bits, and less would be taken than was asked for."""
    with handle.query() as query:
        jalloc.blas.gemm(handle, np.ones((300, 300)), np.ones((300, 300)))
    segment, allocator = jalloc.Segment.create(backend="private"), jalloc.Allocator()
    for call in (lambda: handle.set_workspace(too_much), lambda: setattr(handle, "budget", too_much), lambda: handle.trim(too_much),
                 lambda: setattr(handle, "threads", too_much), lambda: jalloc.Handle(threads=too_much),
                 lambda: jalloc.Handle(budget=too_much), lambda: jalloc.Handle(preallocate=too_much),
                 lambda: jalloc.Buffer.zeros(too_much), lambda: jalloc.Buffer.empty((too_much, 2)),
                 lambda: allocator.empty(too_much, "u1"), lambda: allocator.empty(3, alignment=too_much),
                 lambda: allocator.trim(too_much), lambda: query.requirement * too_much, lambda: query.requirement.at(too_much),
                 lambda: jalloc.Program().record(handle, times=too_much), lambda: jalloc.Program().choose(too_much),
                 lambda: segment.empty(None, too_much, "u1"), lambda: segment.grow(too_much),
                 lambda: segment.allocator(too_much), lambda: segment.allocator().allocate(too_much),
                 lambda: segment.allocator().allocate(8, alignment=too_much), lambda: segment.allocator().deallocate(too_much),
                 lambda: jalloc.Segment.create(backend="private", size=too_much),
                 lambda: jalloc.Segment.create(backend="private", max_processes=too_much)):
        with pytest.raises(jalloc.InvalidArgument):
            call()
    assert handle.workspace_bytes == 0 and handle.budget is None


def test_texts_that_c_would_cut(tmp_path):
    segment = jalloc.Segment.create(backend="private")
    segment["a"] = np.arange(3)
    jalloc.Buffer.zeros(3).save(tmp_path / "x")
    for call in (lambda: segment["a\0b"], lambda: "a\0b" in segment, lambda: segment.empty("c\0", 1), lambda: segment.__delitem__("a\0"),
                 lambda: jalloc.Allocator("general\0nonsense"), lambda: jalloc.Handle("host\0"),
                 lambda: jalloc.Buffer.load(f"{tmp_path}/x\0.npy"), lambda: jalloc.Handle(budget="1\0M"),
                 lambda: jalloc.Segment.create("/jalloc-test\0")):
        with pytest.raises(jalloc.InvalidArgument):
            call()
