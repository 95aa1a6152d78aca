#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Compiles library/gpu/*/*.cu as device code for an AMD processor, with Clang 19, and reads in the
compiler's report what each kernel takes. Debian's hipcc does not know gfx942 and gfx1100.

    hip_targets.py TARGET          compiles for the target, such as gfx942
    hip_targets.py TARGET --ask    only says whether that can be done here

TARGET may stand in the environment as HIP_TARGET, where rtest.py puts it. A line is printed for each
family of kernels. Kernels of level 1, which are limited by memory, must have their numbers in
registers: one that has scratch memory fails, by its name.

Exit status 0: all compiled, and no kernel of level 1 has scratch memory. 77: cannot be done here,
with the reason; the packages are those of the component hip_targets of install.sh."""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE))
import rtest  # pylint: disable=wrong-import-position

LIBRARIES = pathlib.Path("/usr/lib") / (os.uname().machine + "-linux-gnu")
BITCODE = LIBRARIES / "amdgcn/bitcode"
PROGRAMS = ("clang-19", "c++filt", "g++")  # of g++ the C++ library's headers
FILES = (BITCODE / "ocml.bc", pathlib.Path("/usr/include/hip/hip_runtime.h"))
LEVEL_1 = ("copy.cu", "level1.cu", "reduce.cu")

# Arrays that are indexed at run time, and structs whose address is taken, lie in scratch memory. A
# pass moves some of them to LDS, where the report would count them as shared memory: it is turned off.
COMPILE = ("clang-19", "-x", "hip", "-std=c++17", "-O3", "-Wall", "-Wextra", "-Werror",
           "--cuda-device-only", "-S", "-o", os.devnull, "-I", str(SOURCE / "include"), "-I",
           str(SOURCE / "library"), "-Rpass-analysis=kernel-resource-usage", "-mllvm",
           "-disable-promote-alloca-to-lds")

# What the device libraries ask of a processor: its number. Debian's are older than some.
ISA = """target triple = "amdgcn-amd-amdhsa"
@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 {}, align 4
"""

# Of the self-test: an array of 512 bytes that cannot be registers, and a kernel without one.
PLANTED = """#include <hip/hip_runtime.h>
template <typename T> __global__ void planted_kernel(T *x, int place) {
    T kept[64];
    for (int i = 0; i < 64; ++i)
        kept[i] = x[i * place];
    x[threadIdx.x] = kept[place];
}
template __global__ void planted_kernel<double>(double *x, int place);
__global__ void clean_kernel(double *x) { x[threadIdx.x] += 1; }
"""

Kernel = collections.namedtuple("Kernel", "source family name scratch lds registers")


def reason_against():
    """Why nothing can be compiled here; None where it can."""
    for program in PROGRAMS:
        if not shutil.which(program):
            return f"no program {program}"
    for file in FILES:
        if not file.exists():
            return f"no {file}"
    return None


def isa_number(target):
    """gfx942 is 9402, gfx90a 9010, gfx1100 11000: all but the last two digits are the generation's."""
    return int(target[3:-2]) * 1000 + int(target[-2], 16) * 100 + int(target[-1], 16)


def make_device_libraries(folder, target):
    """The installed libraries, and what they lack for the target."""
    folder.mkdir(parents=True, exist_ok=True)
    for library in BITCODE.glob("*.bc"):
        if not (folder / library.name).exists():
            (folder / library.name).symlink_to(library)
    isa = folder / f"oclc_isa_version_{target[3:]}.bc"
    if not isa.exists():
        subprocess.run(["clang-19", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir", "-c",
                        "-emit-llvm", "-o", str(isa), "-"], input=ISA.format(isa_number(target)),
                       text=True, check=True)


def read_kernels(source, report):
    """The kernels of a report, which has a remark for each number, the kernel's name first."""
    found = []
    for label, value in re.findall(r"remark: +([^:\n]+): (\S+) \[-Rpass-analysis", report):
        if label == "Function Name":
            found.append({})
        found[-1][label] = value
    names = subprocess.run(["c++filt"], input="\n".join(one["Function Name"] for one in found),
                           text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return [Kernel(source.name, re.search(r"(\w+)[<(]", name)[1], name,
                   int(one["ScratchSize [bytes/lane]"]), int(one["LDS Size [bytes/block]"]),
                   int(one["VGPRs"])) for one, name in zip(found, names)]


def compile_source(source, target, libraries):
    """(the source's kernels, what the compiler says against it)."""
    done = subprocess.run([*COMPILE, f"--offload-arch={target}", f"--rocm-device-lib-path={libraries}",
                           str(source)], text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return [], f"{target} {source.name}: exit status {done.returncode}\n{done.stderr}"
    return read_kernels(source, done.stderr), ""


def show(target, kernels):
    """A line for each family of a source."""
    for (source, family), members in itertools.groupby(kernels, lambda kernel: kernel[:2]):
        members = list(members)
        scratch, lds, registers = (max(column) for column in list(zip(*members))[3:])
        print(f"{target:8} {source:14} {family:26} kernels {len(members):3}, at most: scratch "
              f"{scratch:3} bytes a lane, LDS {lds:5} bytes, {registers:3} registers")


def findings_of(target, kernels, sources):
    """Kernels that have scratch memory, and sources in which no kernel was seen."""
    for source in sources:
        if not any(kernel.source == source for kernel in kernels):
            yield f"{target} {source}: no kernel in the compiler's report"
    for kernel in kernels:
        if kernel.source in sources and kernel.scratch:
            yield f"{target} {kernel.source}: {kernel.scratch} bytes of scratch a lane: {kernel.name}"


def self_test(target, folder, libraries):
    """The planted kernel is found, by its name, and the other one is not."""
    planted = folder / "planted.cu"
    planted.write_text(PLANTED, encoding="utf-8")
    kernels, error = compile_source(planted, target, libraries)
    found = [*findings_of(target, kernels, ["planted.cu", "empty.cu"])]
    wanted = [f"{target} empty.cu: no kernel in the compiler's report",
              rf"{target} planted.cu: 5\d\d bytes of scratch a lane: void planted_kernel<double>\(.*\)"]
    if len(found) != len(wanted) or not all(map(re.fullmatch, wanted, found)):
        yield f"self-test: wanted {wanted}: {found} {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", default=os.environ.get("HIP_TARGET"))
    parser.add_argument("--ask", action="store_true", help="only whether it can be done here")
    parser.add_argument("--self-test", action="store_true", help="check the check first")
    parser.add_argument("--build-dir", type=pathlib.Path, default=SOURCE / "build/hip_targets",
                        help="folder of the device libraries (build/hip_targets)")
    parser.add_argument("-j", "--jobs", type=int, default=rtest.processors(),
                        help="compilers at a time (all processors)")
    arguments = parser.parse_args()
    target = arguments.target
    if not re.fullmatch(r"gfx\d{1,2}[\da-f]{2}", target or ""):
        parser.error(f"no target of AMD's: {target}")

    reason = reason_against()
    if reason:
        print(f"{target}: cannot be compiled for here: {reason}")
        return rtest.SKIPPED
    if arguments.ask:
        return 0

    folder = arguments.build_dir.resolve() / target
    libraries = folder / "bitcode"
    make_device_libraries(libraries, target)
    findings = [*self_test(target, folder, libraries)] if arguments.self_test else []
    kernels, sources = [], sorted((SOURCE / "library/gpu").rglob("*.cu"))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for found, error in pool.map(lambda source: compile_source(source, target, libraries), sources):
            kernels += sorted(found)
            findings += [error] if error else []
    show(target, kernels)
    findings += findings_of(target, kernels, LEVEL_1)
    for finding in findings:
        print(finding)
    print(f"{target}: {len(sources)} sources, {len(kernels)} kernels, {len(findings)} findings")
    return 1 if findings or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
