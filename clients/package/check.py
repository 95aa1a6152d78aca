#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Installs a build to a scratch prefix, moves the prefix, and uses it as a stranger would: by find_package and by
pkg-config, shared and static, from C and from C++; with libjalloc_mpi by two processes. --deb makes the Debian packages
too and looks inside."""

import argparse
import os
import pathlib
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


def configure(prefix, build, mpi):
    return ["cmake", "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON", f"-DWANT_MPI={'ON' if mpi else 'OFF'}"]


def check_component(command, message):
    """Whoever requires what is not there is told, and what it is."""
    result = subprocess.run([str(part) for part in command], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0 or message not in " ".join(result.stdout.split()):
        sys.exit(f"find_package does not say \"{message}\": {result.stdout}")


def check_cmake(prefix, scratch, jblas, mpi):
    build = scratch / "cmake"
    run(*configure(prefix, build, mpi))
    run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)))
    for suffix in ("", "_static"):
        for language in ("c", "cpp", *(["face"] if jblas else []), *(["mpi"] if mpi else [])):
            program = build / f"hello_{language}{suffix}"
            run_hello(program)
            if ("libjalloc" in output("ldd", program)) == bool(suffix):
                sys.exit(f"{program} is linked the wrong way")
    if not mpi:
        check_component(configure(prefix, scratch / "absent", True), "this jalloc has no libjalloc_mpi")
    for component in ("cuda", "hip", "fftw"):
        wanted = [*configure(prefix, scratch / component, False), f"-DWANT_ALSO={component}"]
        if list(prefix.rglob(f"libjalloc_{component}.so.*")):
            run(*wanted)
        else:
            check_component(wanted, "jalloc has no component fftw" if component == "fftw" else
                            f"this jalloc has no libjalloc_{component}.so.")


def check_pkg_config(prefix, scratch, jblas, mpi):
    libdir = next(prefix.rglob("libjalloc.so")).parent
    env = dict(os.environ, PKG_CONFIG_PATH=str(libdir / "pkgconfig"), LD_LIBRARY_PATH=str(libdir))
    usual = "jbuffer" if jblas else "jalloc"  # which brings jblas
    macros = ["-DHAVE_JBLAS=1", "-DHAVE_JBUFFER=1"] if jblas else []
    programs = [("cc", "hello.c", usual, macros), ("c++", "hello.cpp", usual, macros)]
    programs += [("cc", "hello.c", "jlapack", ["-DHAVE_JBLAS=1", "-DHAVE_JLAPACK=1"])] if jblas else []
    programs += [("c++", "hello_face.cpp", "jbuffer", ["-std=c++17"])] if jblas else []
    programs += [("cc", "hello_mpi.c", "jalloc_mpi", macros)] if mpi else []
    for compiler, source, package, macro in programs:
        for static in (False, True):
            flags = output("pkg-config", "--cflags", "--libs", *(["--static"] if static else []), package, env=env).split()
            if static:  # both kinds are there, and -l prefers the shared one
                ours = {f"-l{name}": f"-l:lib{name}.a" for name in ("jalloc", "jblas", "jlapack", "jbuffer", "jalloc_mpi")}
                flags = [ours.get(f, f) for f in flags]
            program = scratch / f"{source}.{package}.{'static' if static else 'shared'}"
            run(compiler, *macro, HERE / source, "-o", program, *flags, env=env)
            run_hello(program, env)


def check_deb(build):
    packages = build / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    run("cpack", "-G", "DEB", "-B", packages, "--config", build / "CPackConfig.cmake")
    debs = sorted(packages.glob("*.deb"))
    contents = ""
    for deb in debs:
        print(output("dpkg-deb", "--info", deb))
        contents += output("dpkg-deb", "--contents", deb)
    print(contents)
    modules = [f"/{module.name}" for module in (build / "library").glob("libjalloc_*.so.*")]
    if (build / "library" / "libjalloc_mpi.so").exists():
        modules += ["/libjalloc_mpi.so.", "/libjalloc_mpi.a", "/jalloc_mpiTargets.cmake", "/pkgconfig/jalloc_mpi.pc"]
    for wanted in ("/libjalloc.so.", "/libjalloc.so ", "/libjalloc.a", "/include/jalloc/jalloc.h", "/jallocConfig.cmake",
                   "/pkgconfig/jalloc.pc", *modules):
        if wanted not in contents:
            sys.exit(f"no {wanted.strip()} in the Debian packages")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--deb", action="store_true", help="Debian packages too")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        run("cmake", "--install", build, "--prefix", scratch / "first")
        prefix = scratch / "moved"  # nothing may remember where it was installed
        (scratch / "first").rename(prefix)
        jblas = bool(list(prefix.rglob("libjblas.so")))
        mpi = bool(list(prefix.rglob("libjalloc_mpi.so")))
        check_cmake(prefix, scratch, jblas, mpi)
        check_pkg_config(prefix, scratch, jblas, mpi)
    if arguments.deb:
        check_deb(build)
    print("check_package: find_package and pkg-config, shared and static, C and C++" +
          (", two processes" if mpi else "") + ": all ran")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
