#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Installs a build to a scratch prefix, moves the prefix, and uses it as a stranger would: by find_package and by
pkg-config, shared and static, from C, C++ and Fortran; with libjalloc_mpi by two processes. --deb makes the Debian packages
too and looks inside. --installed PREFIX uses what is installed there."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Two ranks on however many processors; Open MPI wants to be told twice that root may.
MPI_ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")


def run(*command, env=None):
    command = [str(part) for part in command]
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, check=True, env=env)


def output(*command, env=None):
    return subprocess.run([str(part) for part in command], check=True, env=env, text=True,
                          stdout=subprocess.PIPE).stdout


def run_hello(program, env=None):
    if "hello_mpi" in program.name:
        run("mpiexec", "-n", "2", program, env=dict(MPI_ENVIRONMENT, **(env or {})))
    else:
        run(program, env=env)


def fortran_compiler(build):
    """That of the build: no other reads its modules. None where there are none."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(r"^CMAKE_Fortran_COMPILER:\w+=(.+)$", cache, re.MULTILINE)
    return found.group(1) if found and (build / "faces/fortran/libjalloc_fortran.so").exists() else None


def configure(prefix, build, mpi, fortran=None):
    return ["cmake", "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON", f"-DWANT_MPI={'ON' if mpi else 'OFF'}",
            *([f"-DWANT_FORTRAN=ON", f"-DCMAKE_Fortran_COMPILER={fortran}"] if fortran else [])]


def check_component(command, message):
    """Whoever requires what is not there is told, and what it is."""
    result = subprocess.run([str(part) for part in command], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0 or message not in " ".join(result.stdout.split()):
        sys.exit(f"find_package does not say \"{message}\": {result.stdout}")


def check_cmake(prefix, scratch, jblas, mpi, fortran):
    build = scratch / "cmake"
    run(*configure(prefix, build, mpi, fortran))
    run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)))
    for suffix in ("", "_static"):
        for language in ("c", "cpp", *(["face"] if jblas else []), *(["mpi"] if mpi else []), *(["fortran"] if fortran else [])):
            program = build / f"hello_{language}{suffix}"
            run_hello(program)
            if ("libjalloc" in output("ldd", program)) == bool(suffix):
                sys.exit(f"{program} is linked the wrong way")
    if not mpi:
        check_component(configure(prefix, scratch / "absent", True), "this jalloc has no libjalloc_mpi")
    check_component([*configure(prefix, scratch / "no_fortran", False), "-DWANT_ALSO=fortran"],
                    "needs the language Fortran" if fortran else "this jalloc has no libjalloc_fortran")
    for component in ("cuda", "hip", "fftw"):
        wanted = [*configure(prefix, scratch / component, False), f"-DWANT_ALSO={component}"]
        if list(prefix.rglob(f"libjalloc_{component}.so.*")):
            run(*wanted)
        else:
            check_component(wanted, "jalloc has no component fftw" if component == "fftw" else
                            f"this jalloc has no libjalloc_{component}.so.")


def check_pkg_config(prefix, scratch, jblas, mpi, fortran):
    libdir = next(prefix.rglob("libjalloc.so")).parent
    env = dict(os.environ, PKG_CONFIG_PATH=str(libdir / "pkgconfig"), LD_LIBRARY_PATH=str(libdir))
    usual = "jbuffer" if jblas else "jalloc"  # which brings jblas
    macros = ["-DHAVE_JBLAS=1", "-DHAVE_JBUFFER=1"] if jblas else []
    programs = [("cc", "hello.c", usual, macros), ("c++", "hello.cpp", usual, macros)]
    programs += [("cc", "hello.c", "jlapack", ["-DHAVE_JBLAS=1", "-DHAVE_JLAPACK=1"])] if jblas else []
    programs += [("c++", "hello_face.cpp", "jbuffer", ["-std=c++17"])] if jblas else []
    programs += [("cc", "hello_mpi.c", "jalloc_mpi", macros)] if mpi else []
    programs += [(fortran, "hello.f90", "jalloc_fortran", [])] if fortran else []
    for compiler, source, package, macro in programs:
        for static in (False, True):
            flags = output("pkg-config", "--cflags", "--libs", *(["--static"] if static else []), package, env=env).split()
            if static:  # both kinds are there, and -l prefers the shared one
                ours = {f"-l{name}": f"-l:lib{name}.a" for name in ("jalloc", "jblas", "jlapack", "jbuffer", "jalloc_mpi", "jalloc_fortran")}
                flags = [ours.get(f, f) for f in flags]
            program = scratch / f"{source}.{package}.{'static' if static else 'shared'}"
            run(compiler, *macro, HERE / source, "-o", program, *flags, env=env)
            run_hello(program, env)


def check_examples(prefix, scratch, fortran):
    """The samples as they are installed: all are built, and run but for the main job and those of several processes,
    which the build's own tests run."""
    build = scratch / "examples"
    run("cmake", "-S", next(prefix.rglob("doc/jalloc/examples")), "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON")
    run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)))
    run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "--exclude-regex",
        "co2_|mpi|buffer_convert")
    samples = HERE.parent / "samples"
    wanted = {source.stem for pattern in ("*.c", "*.cpp", *(["fortran/*.f90"] if fortran else [])) for source in samples.glob(pattern)}
    if list(prefix.rglob("libjblas.so")) and not all((build / name).exists() for name in wanted | {"co2_forecast"}):
        sys.exit(f"not built of the examples: {[name for name in wanted if not (build / name).exists()]}")


def check_tools(prefix):
    """Where programs are installed, their man pages and completions are."""
    for program in [*prefix.glob("bin/jalloc-*"), *prefix.glob("bin/jblas-*")]:
        run(program, "--version")
        for page in (f"share/man/man1/{program.name}.1", f"share/bash-completion/completions/{program.name}"):
            if not (prefix / page).exists():
                sys.exit(f"{program.name} is installed without {page}")


def make_debs(build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    run("cpack", "-G", "DEB", "-B", folder, "--config", build / "CPackConfig.cmake")
    return sorted(folder.glob("*.deb"))


def check_deb(build):
    debs = make_debs(build, build / "packages")
    contents = ""
    for deb in debs:
        print(output("dpkg-deb", "--info", deb))
        contents += output("dpkg-deb", "--contents", deb)
    print(contents)
    modules = [f"/{module.name}" for module in (build / "library").glob("libjalloc_*.so.*")]
    if (build / "library" / "libjalloc_mpi.so").exists():
        modules += ["/libjalloc_mpi.so.", "/libjalloc_mpi.a", "/jalloc_mpiTargets.cmake", "/pkgconfig/jalloc_mpi.pc"]
    if fortran_compiler(build):
        modules += ["/libjalloc_fortran.so.", "/libjalloc_fortran.a", "/jalloc.mod", "/jalloc_fortranTargets.cmake",
                    "/pkgconfig/jalloc_fortran.pc"]
    for wanted in ("/libjalloc.so.", "/libjalloc.so ", "/libjalloc.a", "/include/jalloc/jalloc.h", "/jallocConfig.cmake",
                   "/pkgconfig/jalloc.pc", "/doc/jalloc/examples/CMakeLists.txt", "/man/man1/jalloc-info.1",
                   "/bash-completion/completions/jalloc-shm", *modules):
        if wanted not in contents:
            sys.exit(f"no {wanted.strip()} in the Debian packages")


def check_all(prefix, scratch, fortran):
    jblas = bool(list(prefix.rglob("libjblas.so")))
    mpi = bool(list(prefix.rglob("libjalloc_mpi.so")))
    check_cmake(prefix, scratch, jblas, mpi, fortran)
    check_pkg_config(prefix, scratch, jblas, mpi, fortran)
    check_examples(prefix, scratch, fortran)
    check_tools(prefix)
    print("check_package: find_package and pkg-config, shared and static, C and C++" +
          (", Fortran" if fortran else "") + (", two processes" if mpi else "") + ": all ran")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("build", nargs="?", type=pathlib.Path, help="build folder")
    where.add_argument("--installed", type=pathlib.Path, metavar="PREFIX", help="what is installed there, with gfortran's modules if any")
    parser.add_argument("--deb", action="store_true", help="Debian packages too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if arguments.installed:
            prefix = arguments.installed
            check_all(prefix, scratch, "gfortran" if list(prefix.rglob("jalloc.mod")) else None)
            return
        build = arguments.build.resolve()
        run("cmake", "--install", build, "--prefix", scratch / "first")
        prefix = scratch / "moved"  # nothing may remember where it was installed
        (scratch / "first").rename(prefix)
        check_all(prefix, scratch, fortran_compiler(build))
    if arguments.deb:
        check_deb(build)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
