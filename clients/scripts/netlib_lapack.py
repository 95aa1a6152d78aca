#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The reference LAPACK's own testers of linear equations over the drop-in with LAPACK's names.

    netlib_lapack.py LIBRARY              fetches and builds the testers, and runs them
    netlib_lapack.py LIBRARY --self-test  and first over wrong libraries, each of which has to be
                                          found out
    netlib_lapack.py --ask                only says whether they can be had here

They come as netlib.py's do, and are linked with Debian's liblapack.so.3 over the reference's BLAS:
what the library does not have computes there, over what it has. They run with the library preloaded
and without, on the paths in which its routines are (general, positive definite, symmetric and
Hermitian, and triangular matrices, QR and LQ, least squares, each with drivers and error exits), with their own sizes and one
more, and those of the solves by floats (ds, zc), with all the workspace that is wanted and with 64 bytes. A test is what a tester says of a path; it
passes that comes out as without the library, with as many comparisons, or passes its threshold where
it did not before. Calls of LAPACK must have gone through. Exit status 0: all passed. 77: not to be
had here, with the reason; the packages are those of the component programs of install.sh."""

import concurrent.futures
import os
import re
import subprocess
import sys

from elsewhere import NotHere, rtest
import netlib
import others
from netlib import command
from python_suites import REFERENCE, make_libraries

KINDS = ("s", "d", "c", "z", "ds", "zc")
MIXED = {"ds": "d", "zc": "z"}  # solves by floats, and the type of their matrices
PATHS = ("GE", "PO", "SY", "HE", "TR", "QR", "LQ", "LS")
LARGE = "131"  # a size more; the testers take 132 at most
LEAST_CALLS = 1000
LEAST_CALLS_MIXED = 500  # their testers make 877
RUN_LIMIT_S = 1800
WAYS = {"all workspace": {"JALLOC_THREADS": "1"},
        "two threads": {"JALLOC_THREADS": "2"},
        "64 bytes": {"JALLOC_THREADS": "1", "JALLOC_DEVICE_MEMORY_SIZE": "64"}}
COUNTED = re.compile(r"^jblas: process \d+: \d+ calls of BLAS, (\d+) of LAPACK", re.M)

# What testers say of a path: (pattern, what of it is the test, what is its outcome).
PASSED = re.compile(r"^ *All tests for +(\w{3,6} +\w+) +passed the .*\( *(\d+) +tests run\)", re.M)
FAILED = re.compile(r"^ *(\w{3,6})( +drivers?)? *: +(\d+) out of +(\d+) tests failed", re.M)
EXITS = re.compile(r"^ *(\*\*\*)? *(\w{3,6} +\w+) +(?:passed|failed) the tests of the error exits", re.M)


def ask():
    """Raises NotHere where the testers cannot be fetched, built or run."""
    netlib.ask()
    for file in REFERENCE.values():
        if not file.exists():
            raise NotHere(f"no {file}")


# ---- Building ------------------------------------------------------------------------------------


def listed(makefile, *names):
    """The objects of a makefile's variables, without what its ifdef adds."""
    text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
    text = re.sub(r"^ifdef USEXBLAS\n.*?^else\n(.*?)^endif$", r"\1", text, flags=re.M | re.S)
    return [word.removesuffix(".o") for name in names
            for line in re.findall(rf"^{name} *\+?= *(.*)$", text, re.M) for word in line.split()]


def sources_of(sources, kind):
    """The files of a kind's tester."""
    testing = sources / "TESTING"
    precision = "SC" if kind in "sc" else "DZ"
    every = () if kind in MIXED else ("ALINTST", f"{precision}LNTST")
    matrices = MIXED.get(kind, kind).upper()
    wanted = [testing / "LIN" / name for name in
              listed(testing / "LIN/Makefile", f"{kind.upper()}LINTST", *every)]
    wanted += [testing / "MATGEN" / name for name in
               listed(testing / "MATGEN/Makefile", f"{matrices}MATGEN", f"{precision}ATGEN")]
    wanted.append(sources / "INSTALL" / "second_INT_ETIME")
    wanted.append(sources / "INSTALL" / "dsecnd_INT_ETIME")
    for stem in dict.fromkeys(wanted):
        found = [stem.with_name(stem.name + suffix) for suffix in (".f", ".F", ".f90")]
        yield next(file for file in found if file.exists())


def compile_one(source, folder):
    made = folder / f"{source.stem}.o"
    if not made.exists():
        part = made.with_suffix(f".{os.getpid()}.part")
        command("gfortran", "-w", "-O1", "-std=legacy", "-frecursive", "-c", source, "-o", part)
        part.rename(made)
    return made


def build(sources, kind, folder, pool):
    """The tester, over whatever liblapack.so.3 and libblas.so.3 it is given."""
    objects = folder / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    made = [*pool.map(lambda source: compile_one(source, objects), sources_of(sources, kind))]
    program = folder / f"xlintst{kind}"
    command("gfortran", *dict.fromkeys(made), "-rdynamic", *REFERENCE.values(), "-o", program)
    return program


def input_of(sources, kind):
    """What the tester reads, of our paths, with a size more."""
    text = (sources / "TESTING" / f"{kind}test.in").read_text(encoding="utf-8")
    if kind in MIXED:
        return text
    head, paths = text[:text.index(f"\n{kind.upper()}GE") + 1], text[text.index(f"\n{kind.upper()}GE") + 1:]
    head, count = re.subn(r"^7( +Number of values of [MN]\n[\d ]*?50)( +Values)",
                          rf"8\1 {LARGE}\2", head, flags=re.M)
    if count != 2:
        raise netlib.Failed(f"{kind}test.in has {count} lists of seven sizes, not 2")
    return head + "".join(line + "\n" for line in paths.splitlines() if line[1:3] in PATHS)


# ---- Running and judging -------------------------------------------------------------------------


def run(program, text, folder, variables):
    """({what is tested: its outcome}, calls of LAPACK, problem) of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    drop = ("LD_PRELOAD", "LD_LIBRARY_PATH")
    env = {name: value for name, value in os.environ.items() if name not in drop} | variables
    env["JALLOC_BLAS_REPORT"] = "1"
    try:
        done = subprocess.run([str(program)], input=text, text=True, errors="replace", cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                              timeout=RUN_LIMIT_S, check=False)
        output, problem = done.stdout, f"exit status {done.returncode}" if done.returncode else None
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        problem = f"no end after {RUN_LIMIT_S} s"
    (folder / "output").write_text(output, encoding="utf-8")
    return outcomes_of(output), sum(map(int, COUNTED.findall(output))), problem


def outcomes_of(output):
    """{what is tested: (how many failed, of how many)}."""
    outcomes = {}
    for name, count in PASSED.findall(output):
        outcomes[" ".join(name.split())] = (0, int(count))
    for path, drivers, bad, count in FAILED.findall(output):
        outcomes[f"{path} {drivers.strip() or 'routines'}"] = (int(bad), int(count))
    for stars, name in EXITS.findall(output):
        outcomes[" ".join(name.split()) + ", error exits"] = (int(bool(stars)), 1)
    return outcomes


def compare(expected, outcomes):
    """(name, problem) of each test."""
    for name, (bad, count) in expected.items():
        if name not in outcomes:
            yield name, "the tester says nothing of it"
        else:
            failed, of = outcomes[name]
            yield name, None if of == count and failed <= bad else \
                f"{failed} of {of} failed; without the library {bad} of {count}"
    for name in outcomes.keys() - expected.keys():
        yield name, "without the library the tester says nothing of it"


def judge(expected, run_of, least_calls):
    outcomes, calls, problem = run_of
    few = None if calls >= least_calls else f"{calls} calls of LAPACK went through the drop-in"
    return [("end", problem), ("calls", few), *compare(expected, outcomes)]


def run_all(library, sources, kinds, folder, jobs):
    """{name of a run: its (test, problem)s}."""
    results = {}
    libraries = make_libraries(folder / "libraries")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for kind in kinds:
            program = build(sources, kind, folder, pool)
            text = input_of(sources, kind)
            runs = {"without": libraries}
            for way, variables in WAYS.items():
                runs[way] = libraries | variables | {"LD_PRELOAD": str(library)}
            done = dict(zip(runs, pool.map(
                lambda way: run(program, text, folder / "runs" / kind / way, runs[way]), runs)))
            expected, _, problem = done.pop("without")
            least, least_calls = (4, LEAST_CALLS_MIXED) if kind in MIXED else \
                (len(PATHS) - (kind in "sd"), LEAST_CALLS)
            if problem or len(expected) < least:
                raise netlib.Failed(f"xlintst{kind} does not run without the library: {problem}")
            for way, run_of in done.items():
                results[f"xlintst{kind}, {way}"] = judge(expected, run_of, least_calls)
                bad, count = map(sum, zip(*run_of[0].values()))
                before = sum(failed for failed, _ in expected.values())
                print(f"xlintst{kind}, {way}: {bad} of {count} comparisons failed, {before} without "
                      f"the library; {run_of[1]} calls of LAPACK through the drop-in", flush=True)
    return results


# ---- Self-test -----------------------------------------------------------------------------------

# Wrong libraries, preloaded before the right one: what they do around its dgetrf or dgeqrf.
WRONG = """
#define _GNU_SOURCE
#include <dlfcn.h>

static int calls;

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info) {
    void (*real)(const int *, const int *, double *, const int *, int *, int *) =
        dlsym(RTLD_NEXT, "dgetrf_");
    ++calls;
    WHAT;
}
"""
REAL = "real(m, n, a, lda, ipiv, info)"
FAULTS = {  # which tests have to fail, by a pattern
    "none": (REAL, r"^$"),
    "one pivot": (f"{REAL}; if (*m == 50 && *n == 50) ipiv[3] = 50", r"^DGE (routines|drivers)$"),
    "one element": (f"{REAL}; if (*m == 10 && *n == 10) a[5] += 1e-8", r"^DGE (routines|drivers)$"),
    "info": (f"{REAL}; if (*info > 0) --*info", r"^DGE (routines|drivers)$"),
    "silent": (f"if (*m < 0) return; {REAL}", r"^DGE routines, error exits$"),
}


def self_test(library, sources, folder, jobs):
    """What is wrong with the judgement of wrong libraries: a text for each."""
    libraries = make_libraries(folder / "libraries")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        program = build(sources, "d", folder, pool)
    text = re.sub(r"^D(?!GE)\w\w\b.*\n", "", input_of(sources, "d"), flags=re.M)
    expected, *_ = run(program, text, folder / "self-test/without", libraries)
    for name, (what, wanted) in FAULTS.items():
        made = folder / "self-test" / f"{name.replace(' ', '_')}.so"
        made.with_suffix(".c").write_text(WRONG.replace("WHAT", what), encoding="utf-8")
        command("gcc", "-w", "-shared", "-fPIC", made.with_suffix(".c"), "-o", made, "-ldl")
        run_of = run(program, text, folder / "self-test" / name,
                     libraries | {"LD_PRELOAD": f"{made}:{library}"})
        found = [test for test, problem in compare(expected, run_of[0]) if problem]
        if (name == "none") != (not found) or not all(re.search(wanted, test) for test in found):
            yield f"self-test: {name}: failed {found}, not {wanted}"


def main():
    parser = others.parser_of(__doc__, "netlib_lapack", "the drop-in", "all that is fetched and built")
    parser.add_argument("--self-test", action="store_true", help="check the check first")
    parser.add_argument("--kinds", default=KINDS, nargs="+", choices=KINDS,
                        help="of these types alone; ds and zc are those by floats")
    parser.add_argument("-j", "--jobs", type=int, default=rtest.processors(),
                        help="processes at a time (all processors)")
    arguments, status = others.parsed(parser, ask)
    if arguments is None:
        return status
    library, folder = arguments.library, arguments.build_dir
    sources = netlib.fetch(folder)

    results = {}
    if arguments.self_test:
        wrong = [*self_test(library, sources, folder, arguments.jobs)]
        print("\n".join(wrong) or f"self-test: {len(FAULTS) - 1} faults found", flush=True)
        results["self-test"] = [(f"{len(FAULTS)} faults", "\n".join(wrong) or None)]
    results |= run_all(library, sources, arguments.kinds, folder, arguments.jobs)
    return others.report(arguments,
                         [(f"{name}: {test}", problem) for name, cases in results.items() for test, problem in cases],
                         f"netlib_lapack: {sources.name}, {library.name}: {len(results)} runs")


if __name__ == "__main__":
    sys.exit(main())
