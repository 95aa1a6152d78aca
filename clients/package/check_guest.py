#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The CBLAS as a guest, against the libraries of a build folder.

libjblas needs no BLAS and has none of its names. A program finds the CBLAS that JALLOC_CBLAS names, whatever the width
of its integers and the spelling of its names, and is told what is wrong with one that cannot be had. And a program that
has a BLAS of its own, with every name that OpenBLAS exports and all of them wrong, linked before or after libjblas or
preloaded, does not notice the guest, nor the guest it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"]
BLAS_NAMES = re.compile(r"\b(cblas_|openblas_|gotoblas|blas_|GOMP_|omp_|[sdcz](gemm|gemv|dot|axpy|trsm)_$)")

# Integer, spelling, what jblas_cblas_int_bits() is to say.
VARIANTS = {"plain": ("int", "name", 32), "wide": ("int64_t", "name", 64), "suffixed": ("int64_t", "name##64_", 64),
            "mkl": ("int64_t", "name##_64", 64), "wheel": ("int", "scipy_##name", 32),
            "wide_wheel": ("int64_t", "scipy_##name##64_", 64)}


def command(words, **more):
    result = subprocess.run([str(word) for word in words], text=True, capture_output=True, check=False, **more)
    if result.returncode != 0:
        sys.exit(f"check_guest: {' '.join(map(str, words))} ended with {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class Check:
    """Counts what is not as it should be."""

    def __init__(self, build, scratch):
        self.library, self.scratch, self.wrong, self.checks = build / "library", scratch, 0, 0

    def expect(self, what, output, *wanted):
        self.checks += 1
        for text in wanted:
            if not re.search(text, output):
                self.wrong += 1
                print(f"check_guest: {what}: expected {text!r}, and it says:\n{output.rstrip()}")

    def compile(self, name, *sources, flags=()):
        """A shared library, or a program."""
        shared = ["-shared", "-fPIC"] if name.endswith(".so") else []
        command([COMPILER, *FLAGS, *shared, *sources, "-o", self.scratch / name, *flags])
        return self.scratch / name

    def program(self, name, before=(), after=(), flags=()):
        paths = [f"-L{self.library}", f"-L{self.scratch}", f"-Wl,-rpath,{self.library}:{self.scratch}", "-Wl,--no-as-needed"]
        return self.compile(name, HERE / "guest_program.c", flags=[
            f"-I{ROOT / 'include'}", *flags, *paths, *before, "-ljblas", "-ljalloc", *after, "-ldl"])

    def run(self, program, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_")}
        result = subprocess.run([program], env={**environment, **variables}, text=True, check=False, timeout=120,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return f"{result.stdout}exit {result.returncode}\n"


def functions():
    """The functions that jblas calls, from the list itself."""
    text = '#include "blas/guest/guest.h"\n#define NAME(name, ...) guest function name;\nJI_GUEST_FUNCTION_LIST(NAME)\n'
    text = command([COMPILER, "-E", "-P", f"-I{ROOT / 'include'}", f"-I{ROOT / 'library'}", "-x", "c", "-"], input=text)
    return [f"cblas_{name}" for name in re.findall(r"guest function (\w+);", text)]


def check_needs(check):
    library = check.library / "libjblas.so"
    dynamic = command(["readelf", "-d", library])
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic)
    odd = [name for name in needed if name not in ("libjalloc", "libm", "libc", "libpthread", "libdl", "ld-linux-x86-64",
                                                   "ld-linux-aarch64", "libgcc_s")]
    symbols = [line.split()[-1] for line in command(["nm", "-D", library]).splitlines()]
    names = [name for name in symbols if BLAS_NAMES.match(name)]
    check.expect("libjblas.so", f"needs {odd}, names {names}", r"^needs \[\], names \[\]$")


def small_cblas(check, name, integer, spelling, lacks=(), extra="0"):
    """A CBLAS of ours; what it has no use for ends the program."""
    written = re.findall(r"\((cblas_\w+)", (HERE / "guest_cblas.c").read_text(encoding="utf-8"))
    rest = [function for function in functions() if function not in written and function not in lacks]
    source = check.scratch / f"{name}.c"
    source.write_text("#include <stdlib.h>\n#define SPELT_(name) " + spelling + "\n#define SPELT(name) SPELT_(name)\n"
                      f"#define INT {integer}\n#define EXTRA {extra}\n#include \"{HERE / 'guest_cblas.c'}\"\n" +
                      "".join(f"void SPELT({function})(void) {{ abort(); }}\n" for function in rest), encoding="utf-8")
    return check.compile(f"lib{name}.so", source, flags=["-lm"])


def check_variants(check, program):
    for name, (integer, spelling, bits) in VARIANTS.items():
        library = small_cblas(check, name, integer, spelling)
        output = check.run(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=str(library))
        check.expect(f"a CBLAS of {integer}, {spelling}", output,
                     rf"^right; blas cblas, .*cblas {library}, {bits} bits, 0 kernels wrong\n", r"exit 0")
        found = check.run(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=library.name, LD_LIBRARY_PATH=str(check.scratch))
        check.expect(f"{library.name} by its name", found, rf"^right; blas cblas, .*, {bits} bits")

    library = small_cblas(check, "liar", "int", "name", extra="1")
    output = check.run(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=str(library))
    check.expect("a CBLAS with a wrong kernel", output, "cblas_dasum of this CBLAS is wrong", "right; .*1 kernels wrong")


def check_refusals(check, program):
    library = small_cblas(check, "lacking", "int", "name", lacks=("cblas_zher2k",))
    for value, why in ((library, "it has no cblas_zher2k, so it is no CBLAS"), ("libm.so.6", "it has no cblas_"),
                       ("/nowhere/libblas.so", "/nowhere/libblas.so: cannot open"), ("libnowhere.so", "libnowhere.so: cannot")):
        output = check.run(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=str(value))
        check.expect(f"JALLOC_CBLAS={value}", output,
                     rf'^jblas_dgemm: JALLOC_CBLAS="{value}" cannot be loaded: {why}.*; blas none, isa none, cblas no CBLAS, 0 bits',
                     "exit 1")
    for name, value in (("HOST_BLAS", "mine"), ("HOST_ISA", "sse9"), ("CBLAS", "lib/libblas.so")):
        output = check.run(program, **{f"JALLOC_{name}": value})
        check.expect(f"JALLOC_{name}={value}", output, rf'^no handle: .*JALLOC_{name}="{value}" is not understood: expected ')


def check_kernels(check, program):
    """Each set of kernels runs, or is refused with what would."""
    best = check.run(program)
    check.expect("the default", best, r"^right; blas own, isa (avx512|avx2|generic), ")
    for isa in ("avx512", "avx2", "generic"):
        output = check.run(program, JALLOC_HOST_ISA=isa)
        check.expect(f"JALLOC_HOST_ISA={isa}", output, rf"^right; blas own, isa {isa}, |"
                     rf'^jblas_dgemm: JALLOC_HOST_ISA="{isa}": this processor cannot run these kernels; it can run (avx2, )?generic;')
    check.expect("JALLOC_HOST_ISA=generic", check.run(program, JALLOC_HOST_ISA="generic"), "^right; blas own, isa generic, ")


def openblas():
    """The OpenBLAS that the loader finds, or None."""
    listed = subprocess.run(["ldconfig", "-p"], text=True, stdout=subprocess.PIPE, check=False).stdout
    found = re.search(r"libopenblas\.so\.0 .*=> (\S+)", listed)
    return pathlib.Path(found.group(1)) if found else None


def other_blas(check, guest):
    """Every name that the guest exports, each a function that does nothing but count; its pointer to kernels is none."""
    lines = [line.split() for line in command(["nm", "-D", "--defined-only", guest]).splitlines()]
    names = {words[-1].split("@")[0]: words[-2] for words in lines if not words[-1].startswith("_")}
    names.setdefault("cblas_dgemm", "T")
    code = "".join(f".globl {name}\n.type {name}, @function\n{name}: {check.jump} other_called\n"
                   for name, kind in names.items() if kind in "TtWwi")
    data = "".join(f".globl {name}\n.type {name}, @object\n.size {name}, 8\n{name}: .quad 0\n"
                   for name, kind in names.items() if kind in "DBRdbr")
    assembly, source = check.scratch / "other_names.s", check.scratch / "other_called.c"
    assembly.write_text(f".text\n{code}.data\n{data}.section .note.GNU-stack,\"\",%progbits\n", encoding="utf-8")
    source.write_text("extern int other_calls;\nint other_calls;\nvoid other_called(void);\n"
                      "__attribute__((visibility(\"hidden\"))) void other_called(void) { ++other_calls; }\n", encoding="utf-8")
    print(f"check_guest: a BLAS of {len(names)} names of {guest.name}, all wrong")
    return check.compile("libother.so", source, assembly)


def check_strangers(check, guest):
    other = other_blas(check, guest)
    variables = {"JALLOC_HOST_BLAS": "cblas", "JALLOC_CBLAS": str(guest)}
    apart = r"other: 0 calls by jblas, 1 by the program"
    for where in ("before", "after"):
        program = check.program(f"other_{where}", **{where: ["-lother"]})
        check.expect(f"another BLAS linked {where} libjblas, guest {guest.name}", check.run(program, **variables), r"^right; blas cblas", apart)
        check.expect(f"another BLAS linked {where} libjblas", check.run(program), r"^right; blas own", apart)
    program = check.program("alone")
    check.expect(f"another BLAS preloaded, guest {guest.name}", check.run(program, LD_PRELOAD=str(other), **variables),
                 r"^right; blas cblas", apart)


def check_sanitizer(check, guest):
    """A program with a sanitizer, which would be ended by a library that binds deeply."""
    source = check.scratch / "nothing.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    for sanitizer in ("address", "thread"):
        if subprocess.run([COMPILER, f"-fsanitize={sanitizer}", source, "-o", check.scratch / "nothing"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0 or \
           subprocess.run([check.scratch / "nothing"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            print(f"check_guest: no {sanitizer} sanitizer here")
            continue
        program = check.program(f"with_{sanitizer}", flags=[f"-fsanitize={sanitizer}"])
        output = check.run(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=str(guest), ASAN_OPTIONS="detect_leaks=0")
        check.expect(f"a program with the {sanitizer} sanitizer", output, r"^right; blas cblas", "exit 0")


def main():
    if len(sys.argv) != 2:
        sys.exit(f"{__doc__}\n\nusage: check_guest.py BUILD")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="jalloc_guest_"))
    try:
        check = Check(pathlib.Path(sys.argv[1]).resolve(), scratch)
        check.jump = "b" if os.uname().machine == "aarch64" else "jmp"
        program = check.program("program")
        check_needs(check)
        check_variants(check, program)
        check_refusals(check, program)
        check_kernels(check, program)
        guests = [scratch / "libplain.so", *([openblas()] if openblas() else [])]
        for guest in guests:
            check_strangers(check, guest)
        check_sanitizer(check, guests[-1])
    finally:
        shutil.rmtree(scratch)
    print(f"check_guest: {check.checks} checks, {check.wrong} wrong")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
