#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Installs a build to a scratch prefix, moves the prefix, and uses it as a stranger would: by find_package and by
pkg-config, shared and static, from C and from C++. --deb makes the Debian packages too and looks inside."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, env=None):
    command = [str(part) for part in command]
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, check=True, env=env)


def output(*command, env=None):
    return subprocess.run([str(part) for part in command], check=True, env=env, text=True,
                          stdout=subprocess.PIPE).stdout


def check_cmake(prefix, scratch):
    build = scratch / "cmake"
    run("cmake", "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON")
    run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)))
    for suffix in ("", "_static"):
        for language in ("c", "cpp"):
            program = build / f"hello_{language}{suffix}"
            run(program)
            if ("libjalloc" in output("ldd", program)) == bool(suffix):
                sys.exit(f"{program} is linked the wrong way")


def check_pkg_config(prefix, scratch, jblas):
    libdir = next(prefix.rglob("libjalloc.so")).parent
    env = dict(os.environ, PKG_CONFIG_PATH=str(libdir / "pkgconfig"), LD_LIBRARY_PATH=str(libdir))
    package = "jblas" if jblas else "jalloc"
    macro = ["-DHAVE_JBLAS=1"] if jblas else []
    for compiler, source in (("cc", "hello.c"), ("c++", "hello.cpp")):
        for static in (False, True):
            flags = output("pkg-config", "--cflags", "--libs", *(["--static"] if static else []), package, env=env).split()
            if static:  # both kinds are there, and -l prefers the shared one
                flags = [{"-ljalloc": "-l:libjalloc.a", "-ljblas": "-l:libjblas.a"}.get(f, f) for f in flags]
            program = scratch / f"{source}.{'static' if static else 'shared'}"
            run(compiler, *macro, HERE / source, "-o", program, *flags, env=env)
            run(program, env=env)


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
    modules = [f"/{module.name}" for module in (build / "library").glob("libjalloc_*.so.0")]
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
        check_cmake(prefix, scratch)
        check_pkg_config(prefix, scratch, jblas)
    if arguments.deb:
        check_deb(build)
    print("check_package: find_package and pkg-config, shared and static, C and C++: all ran")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
