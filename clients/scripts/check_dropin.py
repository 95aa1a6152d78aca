#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The drop-in has every name of Debian's libblas.so.3, and shows no other but a few of OpenBLAS's: no name of
jalloc's. The one with 64-bit integers has the same names with the suffix 64_.

Names are those of the installed library of the package libblas3, or of the package, fetched by apt-get into a scratch
folder; where there is neither, the exit status is 77 (skipped). --self-test leaves a name out first."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # in the source folder

PACKAGE = "libblas3"
# What programs know from OpenBLAS.
BESIDE = {f"{before}{letter}{stem}matcopy{after}" for letter in "sdcz" for stem in "io"
          for before, after in (("", "_"), ("cblas_", ""))}
SKIPPED = 77


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", "--format=posix", str(library)], text=True,
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return {line.split()[0].split("@")[0] for line in lines if line} - {"_init", "_fini"}


def fetched_names(scratch):
    """The names of the package's library, downloaded; None where apt has none."""
    for command in (["apt-get", "download", PACKAGE], ["sh", "-c", f"dpkg -x {PACKAGE}_*.deb tree"]):
        result = subprocess.run(command, cwd=scratch, text=True, capture_output=True, check=False)
        if result.returncode != 0:
            return None
    libraries = [path for path in pathlib.Path(scratch).rglob("libblas.so.3*") if not path.is_symlink()]
    return exported(libraries[0]) if libraries else None


def reference_names():
    for library in pathlib.Path("/usr/lib").glob("*/blas/libblas.so.3"):
        return exported(library)
    with tempfile.TemporaryDirectory() as scratch:
        return fetched_names(scratch)


def with_suffix(name):
    """dgemm_ is dgemm_64_, cblas_dgemm is cblas_dgemm64_."""
    return name + "64_"


def compare(title, names, wanted):
    missing, odd = sorted(wanted - names), sorted(names - wanted)
    for name in missing:
        print(f"{title}: has no {name}")
    for name in odd:
        print(f"{title}: {name} is exported and is none of the names that it has to have")
    print(f"check_dropin: {title}: {len(names)} names, {len(missing)} missing, {len(odd)} odd")
    return not missing and not odd


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--self-test", action="store_true", help="check the check first")
    arguments = parser.parse_args()
    library = arguments.build / "library" / "libjblas_blas.so"
    if not library.exists():
        print(f"check_dropin: no {library}")
        return 1
    wanted = reference_names()
    if wanted:
        wanted |= BESIDE
    else:
        print(f"check_dropin: skipped: the package {PACKAGE} is not to be had")
        return SKIPPED

    names = exported(library)
    if arguments.self_test and compare("self-test", (names - {"dgemm_"}) | {"jhandle_create"}, wanted):
        print("check_dropin: self-test: a missing name was not found")
        return 1
    good = compare(library.name, names, wanted)
    wide = arguments.build / "library" / "libjblas_blas64.so"
    good &= compare(wide.name, exported(wide), {with_suffix(name) for name in wanted})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
