#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""NumPy's and SciPy's own tests of linear algebra, with the drop-in and without.

    python_suites.py LIBRARY       runs them, and compares test by test
    python_suites.py --ask         only says whether they can be had here

They are Debian's packages, which have their tests in them, and run by Debian's Python over the
reference's LAPACK, so that BLAS is all that differs: the reference's or the library, as an
alternative of libblas.so.3 is, and once more preloaded, the library with 64 bytes of workspace. One
that has LAPACK's names, too, is preloaded both times, with all the workspace it wants and with 64
bytes, and calls of LAPACK must have gone through it. A test passes that comes out as over the
reference, whatever that is, and calls must have gone through the library. One that its suite expects to fail and lets pass, too, may come out either way: what
eigenvalues SciPy finds of a pencil that is singular (TestEig.test_singular) is decided by rounding
alone. Exit status 0: all passed. 77: not to be had here, with the reason; the packages are those of
the component programs of install.sh."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import others
from elsewhere import LIBRARIES, NotHere, rtest

PYTHON = pathlib.Path("/usr/bin/python3")  # the one that Debian's modules are for
MODULES = pathlib.Path("/usr/lib/python3/dist-packages")
SUITES = {
    "numpy": (["numpy/linalg/tests", "numpy/core/tests/test_einsum.py",
               "numpy/core/tests/test_multiarray.py", "numpy/core/tests/test_numeric.py"],
              "(linalg or einsum or dot or matmul or inner or outer or cov) and not huge"),
    "scipy": (["scipy/linalg/tests"], ""),
}
REFERENCE = {"libblas.so.3": LIBRARIES / "blas/libblas.so.3",
             "liblapack.so.3": LIBRARIES / "lapack/liblapack.so.3"}
RUN_LIMIT_S = 3600
LEAST_CALLS = 1000
LEAST_LAPACK_CALLS = 300  # where the library has LAPACK's names
EXPECTED_TO_FAIL = "pytest.xfail"  # the type of such a test that failed
COUNTED = re.compile(r"^jblas: process \d+: (\d+) calls of BLAS(?:, (\d+) of LAPACK)?", re.M)


def ask():
    """Raises NotHere where the suites cannot be run."""
    for file in (PYTHON, *REFERENCE.values(),
                 *(MODULES / path for paths, _ in SUITES.values() for path in paths)):
        if not file.exists():
            raise NotHere(f"no {file}")
    if subprocess.run([str(PYTHON), "-c", "import hypothesis, pytest"], check=False).returncode:
        raise NotHere(f"{PYTHON} has no pytest or no hypothesis")


# ---- Running -------------------------------------------------------------------------------------


def make_libraries(folder, **others):
    """A folder of the reference's libraries, with others in their places."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, library in (REFERENCE | others).items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(library)
    return {"LD_LIBRARY_PATH": str(folder)}


def run(suite, folder, variables):
    """({test: its outcome}, {test: what it says}, the calls of BLAS and of LAPACK that the drop-in
    counted) of a suite."""
    paths, wanted = SUITES[suite]
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / f"{suite}.xml"
    report.unlink(missing_ok=True)
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}",
               f"--junitxml={report}", *(["-k", wanted] if wanted else []),
               *(MODULES / path for path in paths)]
    drop = ("LD_PRELOAD", "LD_LIBRARY_PATH")
    env = {name: value for name, value in os.environ.items() if name not in drop} | variables
    env["JALLOC_BLAS_REPORT"] = "1"
    log = folder / f"{suite}.log"
    with log.open("wb") as output:
        subprocess.run([str(word) for word in command], cwd=folder, env=env, stdout=output,
                       stderr=output, timeout=RUN_LIMIT_S, check=False)
    outcomes, messages = {}, {}
    try:
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return {}, {}, (0, 0)
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        bad = next((part for part in case if part.tag in ("failure", "error", "skipped")), None)
        outcomes[name] = "passed" if bad is None else \
            EXPECTED_TO_FAIL if bad.get("type") == EXPECTED_TO_FAIL else bad.tag
        messages[name] = "" if bad is None else bad.get("message", "") + "\n" + (bad.text or "")
    counts = COUNTED.findall(log.read_text(encoding="utf-8", errors="replace"))
    return outcomes, messages, tuple(sum(int(count or 0) for count in kind)
                                     for kind in zip(("0", "0"), *counts))


def compare(suite, without, outcomes, messages):
    """(name, problem) of each test; a suite that did not run at all is one, too."""
    if not outcomes:
        yield suite, "the suite made no report"
    for name in [*without, *(name for name in outcomes if name not in without)]:
        before, after = without.get(name, "not there"), outcomes.get(name, "not there")
        same = before == after or {before, after} == {"passed", EXPECTED_TO_FAIL}
        yield name, None if same else f"{after}; over the reference {before}\n{messages.get(name)}"


def has_lapack(library):
    shown = subprocess.run(["nm", "--dynamic", "--defined-only", str(library)], text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    return " dgetrf_\n" in shown


def ways_of(library, folder):
    """{name: the environments without and with the library} of ways in which it gets into programs.
    One that is preloaded has xerbla_ before NumPy's own, which a test of it sees."""
    reference = make_libraries(folder / "reference")
    if has_lapack(library):
        without = dict(reference, LD_PRELOAD=str(REFERENCE["libblas.so.3"]))
        there = dict(reference, LD_PRELOAD=str(library))
        return {"LAPACK preloaded": (without, there),
                "LAPACK preloaded, 64 bytes": (without,
                                               dict(there, JALLOC_DEVICE_MEMORY_SIZE="64"))}
    there = make_libraries(folder / "alternative", **{"libblas.so.3": library})
    return {"alternative": (reference, there),
            "preloaded, 64 bytes": (dict(reference, LD_PRELOAD=str(REFERENCE["libblas.so.3"])),
                                    dict(reference, LD_PRELOAD=str(library),
                                         JALLOC_DEVICE_MEMORY_SIZE="64"))}


def run_all(library, suites, folder):
    """{name of a run: its (test, problem)s}."""
    results = {}
    for suite in suites:
        for way, (without, there) in ways_of(library, folder / "libraries").items():
            expected, *_ = run(suite, folder / f"{way}, without", without)
            if "passed" not in expected.values():
                sys.exit(f"python_suites: {suite}, {way}: nothing passes over the reference; "
                         f"the log is below {folder}")
            outcomes, messages, calls = run(suite, folder / way, there)
            enough = calls[0] >= LEAST_CALLS and \
                (calls[1] >= LEAST_LAPACK_CALLS or not has_lapack(library))
            few = None if enough else f"{calls} calls of BLAS and LAPACK went through the drop-in"
            results[f"{suite}, {way}"] = [("calls", few),
                                          *compare(suite, expected, outcomes, messages)]
            said = collections.Counter(outcomes.values())
            print(f"{suite}, {way}: {dict(said)}, {calls[0]} calls of BLAS and {calls[1]} of LAPACK "
                  "through the drop-in", flush=True)
    return results


def main():
    parser = others.parser_of(__doc__, "python_suites", "the drop-in", "logs and reports")
    parser.add_argument("--suites", nargs="+", choices=SUITES,
                        default=os.environ.get("PYTHON_SUITES", " ".join(SUITES)).split(),
                        help="these alone; they may stand in the environment, as PYTHON_SUITES")
    arguments, status = others.parsed(parser, ask)
    if arguments is None:
        return status
    results = run_all(arguments.library, arguments.suites, arguments.build_dir)
    return others.report(arguments,
                         [(f"{name}: {test}", problem) for name, tests in results.items() for test, problem in tests])


if __name__ == "__main__":
    sys.exit(main())
