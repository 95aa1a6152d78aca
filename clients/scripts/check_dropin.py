#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The drop-in has every name of Debian's libblas.so.3, and shows no other but a few of OpenBLAS's: no name of
jalloc's. The one with LAPACK has these, and of LAPACK's names those of its list (library/dropin/lapack/lapack.h), each
a name of Debian's liblapack.so.3 where that is installed. Those with 64-bit integers have the same names with the suffix
64_.

BLAS's names are those of the installed library of the package libblas3, or of the package, fetched by apt-get into a scratch
folder; where there is neither LAPACK's alone are looked at, and the exit status is 77 (skipped) if they are right. --self-test
leaves a name out first."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # in the source folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def lapack_names(source):
    """The names that the drop-in has of LAPACK: LAPACKE's, too, of all functions that the rows of its list have."""
    text = (source / "library/dropin/lapack/lapack.h").read_text(encoding="utf-8")
    routines = re.findall(r"^    X\((\w+), \w+_,", text, re.M)
    rows = (source / "library/lapack/rows.h").read_text(encoding="utf-8")
    functions = set()
    for routine in routines:
        row = re.search(rf"^#define JI_FUNCTIONS_{routine}\(X, context\)((?:.*\\\n)*.*)", rows, re.M).group(1)
        for letters, stem in re.findall(r"JI_(SDCZ|SD|CZ)\(X, context, (\w+)\)", row):
            functions |= {letter + stem for letter in letters.lower()}
        functions |= set(re.findall(r"X\(context, \w+, \w, (\w+)\)", row))
    return {"LAPACKE_xerbla"} | {name for function in functions
                                 for name in (f"{function}_", f"LAPACKE_{function}", f"LAPACKE_{function}_work")}


def none_of_lapack(names):
    """Those that Debian's library has not; none where that is not installed."""
    for library in pathlib.Path("/usr/lib").glob("*/lapack/liblapack.so.3"):
        known = exported(library)
        return sorted(name for name in names if not name.startswith("LAPACKE_") and name not in known)
    return []


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
    names = exported(library)
    names_of_lapack = lapack_names(ROOT)
    unknown = none_of_lapack(names_of_lapack)
    for name in unknown:
        print(f"check_dropin: {name} is none of LAPACK's names")
    good = not unknown
    wide = arguments.build / "library" / "libjblas_blas64.so"
    for file, blas, change in (("libjlapack_lapack.so", library, str),
                               ("libjlapack_lapack64.so", wide, with_suffix)):
        good &= compare(file, exported(arguments.build / "library" / file),
                        exported(blas) | {change(name) for name in names_of_lapack})

    wanted = reference_names()
    if not wanted:
        print(f"check_dropin: BLAS's names skipped: the package {PACKAGE} is not to be had")
        return SKIPPED if good else 1
    wanted |= BESIDE
    if arguments.self_test and compare("self-test", (names - {"dgemm_"}) | {"jhandle_create"}, wanted):
        print("check_dropin: self-test: a missing name was not found")
        return 1
    good &= compare(library.name, names, wanted)
    good &= compare(wide.name, exported(wide), {with_suffix(name) for name in wanted})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
