#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The reference BLAS's own testers over a library that has its names: levels 1 to 3 in s, d, c and
z, called as Fortran and as C in both orders, with their error exits.

    netlib.py LIBRARY              fetches and builds the testers, and runs them over the library
    netlib.py LIBRARY --self-test  and first over wrong libraries, each of which has to be found out
    netlib.py --ask                only says whether they can be had here

They come from Debian's source package lapack when they are wanted, by an apt that writes below the
build folder alone, and nothing of them is kept elsewhere. They run with the sizes that they come
with, 9 at most, and with sizes that make blocks and panels; with all the workspace they want, with
some, and with 64 bytes; with one thread and with two. Over a library that
has integers of 64 bits and the suffix 64_ they are compiled so. A test passes by the tester's own words, and
one that the tester does not mention has failed. Exit status 0: all passed. 77: not to be had here,
with the reason; the packages are those of the component programs of install.sh."""

import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import elsewhere
import others
from elsewhere import NotHere, rtest

PACKAGE = "lapack"
PROGRAMS = ("apt-get", "dpkg-source", "gcc", "gfortran", "readelf", "ldd", "nm", "objcopy")
RUN_LIMIT_S = 600  # of one tester
TESTERS = [f"{face}{kind}blat{level}"
           for face, level, kind in itertools.product(("", "c_"), "321", "zcds")]

# The most that the testers' sources are compiled for, 65 as they come; and the values in place of
# those of their input, from which of scalars the last is taken. Products of 259 have panels, and
# all of them have more bytes than "some"; a triangle of 259 is two.
LARGE_MOST = 300
LARGE = {"2": {"N": ["65", "300"], "K": ["0", "3", "70"], "ALPHA": [], "BETA": []},
         "3": {"N": ["31", "259"], "ALPHA": [], "BETA": []}}

SOME_KB = 260  # for each thread, as products want it
WORKSPACES = ("all", "some", "64B")
RUNGS = {"all": 0, "some": 1, "64B": 2}  # which products of large sizes then run on
THREADS = (1, 2)

WIDE_SUFFIX = "64_"  # of names of functions with 64-bit integers

# What testers say of calls that went wrong, wherever it stands.
COMPLAINT = re.compile(r"FAIL|SUSPECT|ILLEGAL|FATAL|\*\*\*|CALLED WITH|(?i:\berror\b)(?!-EXITS)")

Case = collections.namedtuple("Case", "name calls problem")


class Failed(Exception):
    """Why the testers could not be made, or not over this library."""


# ---- Fetching and building -----------------------------------------------------------------------


def ask():
    """Raises NotHere where the testers cannot be fetched or built."""
    for program in PROGRAMS:
        if not shutil.which(program):
            raise NotHere(f"no program {program}")
    elsewhere.mirror_answers()


def command(*words, **more):
    """Runs a program that has to succeed; what it printed."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def fetch(folder):
    """The package's source, below the folder."""
    found = sorted(folder.glob(f"{PACKAGE}-*/"))
    if found:
        return found[-1]
    mirror, codename = elsewhere.debian()
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "sources"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text(f"deb-src {mirror} {codename} main\n", encoding="utf-8")
    settings = {"Dir::State": state, "Dir::State::Lists": state / "lists",
                "Dir::State::Status": "/var/lib/dpkg/status", "Dir::Cache": state / "cache",
                "Dir::Etc::SourceList": state / "sources.list",
                "Dir::Etc::SourceParts": state / "sources",
                "APT::Sandbox::User": "root"}  # the folder may be nobody else's to read
    apt = ["apt-get", *(word for item in settings.items() for word in ("-o", "{}={}".format(*item)))]
    command(*apt, "update")
    command(*apt, "source", PACKAGE, cwd=folder)
    return sorted(folder.glob(f"{PACKAGE}-*/"))[-1]


def wide_names(library):
    """{a name as testers have it: the library's} where the library has 64-bit integers, or none."""
    exported = command("nm", "--dynamic", "--defined-only", "--format=just-symbols", library).split()
    names = {name.removesuffix(WIDE_SUFFIX): name for name in exported if name.endswith(WIDE_SUFFIX)}
    return names if "dgemm_" in names else {}


class Build:
    """The testers' objects, compiled from the sources as they are or for larger sizes; with 64-bit
    integers where `names` are those of functions that have them."""

    def __init__(self, sources, folder, large, names):
        self.folder, self.large, self.names = folder, large, names
        self.fortran, self.c = folder / "fortran", folder / "c"
        self.include = sources / "CBLAS/include"
        self.places = (sources / "BLAS/TESTING", sources / "CBLAS/testing")
        for made in (self.fortran, self.c, folder / "include"):
            made.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.include / "cblas_mangling_with_flags.h.in",
                    folder / "include/cblas_mangling.h")
        (folder / "names").write_text("".join(f"{name} {wide}\n" for name, wide in names.items()),
                                      encoding="utf-8")

    def text_of(self, name):
        place = self.places[name.startswith("c_")]
        return (place / name).read_text(encoding="utf-8", errors="replace")

    def source_of(self, tester):
        """The tester's Fortran source, with the sizes that it is to know."""
        text = self.text_of(f"{tester}.f")
        if not self.large:
            return text
        text, count = re.subn(r"\bNMAX = 65\b", f"NMAX = {LARGE_MOST}", text)
        if count != 1:
            raise Failed(f"{tester}.f has {count} bounds of sizes, not 1")
        return text

    def input_of(self, tester):
        """What the tester reads; None at level 1."""
        level = tester[-1]
        if level == "1":
            return None
        place = self.places[tester.startswith("c_")]
        kind = tester.removeprefix("c_")[0]
        name = f"{kind}in{level}" if tester.startswith("c_") else f"{tester}.in"
        text = (place / name).read_text(encoding="utf-8")
        for what, values in LARGE[level].items() if self.large else ():
            found = re.search(rf"^\d+( +NUMBER OF VALUES OF {what}\n)(.*?)( +VALUES OF {what})$", text,
                              re.M)
            if not found:
                raise Failed(f"{name} has no list of values of {what}")
            values = values or found[2].split()[-1:]
            text = text.replace(found[0], f"{len(values)}{found[1]}{' '.join(values)}{found[3]}")
        return text

    def objects_of(self, tester):
        """Compiles what the tester consists of."""
        source = self.fortran / f"{tester}.f"
        integers = ["-fdefault-integer-8"] if self.names else []
        made = [self.compile(source, self.source_of(tester), "gfortran", "-std=legacy", *integers)]
        if not tester.startswith("c_"):
            return made
        kind, level = tester[2], tester[-1]
        parts = [f"c_{kind}blas{level}.c"]
        if level != "1":
            parts += [f"c_{kind}{level}chke.c", "auxiliary.c", "c_xerbla.c"]
        include = [f"-I{self.folder / 'include'}", f"-I{self.include}", "-DADD_"]
        include += ["-DWeirdNEC"] if self.names else []  # cblas.h's word for 64-bit integers
        for part in parts:
            text = (self.places[1] / part).read_text(encoding="utf-8")
            made.append(self.compile(self.c / tester / part, text, "gcc", *include))
        # What error exits in row-major order ask of the library; not each one has it.
        made.append(self.compile(self.c / tester / "row_major.c", "int RowMajorStrg;\n", "gcc"))
        return made

    def compile(self, source, text, *compiler):
        made = source.with_suffix(".o")
        if not (made.exists() and source.read_text(encoding="utf-8") == text):
            source.parent.mkdir(parents=True, exist_ok=True)
            made.unlink(missing_ok=True)
            source.write_text(text, encoding="utf-8")
            command(*compiler, "-w", "-O2", "-c", source, "-o", made)
            command("objcopy", f"--redefine-syms={self.folder / 'names'}", made)
        return made

    def link(self, tester, library, folder):
        """The tester's program over a library. It may have the name of the system's, which the
        program must not be given in its place."""
        folder.mkdir(parents=True, exist_ok=True)
        dynamic = command("readelf", "--dynamic", library)
        name = re.search(r"\(SONAME\).*\[(.+)\]", dynamic)
        alias = folder / (name[1] if name else library.name)
        alias.unlink(missing_ok=True)
        alias.symlink_to(library)
        command("gfortran", *self.objects_of(tester), alias, f"-Wl,-rpath,{folder}", "-o",
                folder / tester)
        loads = command("ldd", folder / tester)
        if f"{alias.name} => {alias} " not in loads:
            raise Failed(f"{tester} is not run over {library}:\n{loads}")
        return folder / tester


# ---- Running and judging -------------------------------------------------------------------------


def tests_of(build, tester):
    """{name: the words by which the tester says that this passed} of all that it has to test."""
    if tester.endswith("1"):
        number = re.search(r"^ +DO \d+ IC *= *1, *(\d+)", build.text_of(f"{tester}.f"), re.M)[1]
        return {f"subprogram {n}": rf"number +{n} +(\S+) *\n +-+ PASS -+\n"
                for n in range(1, int(number) + 1)}
    orders = ("COLUMN-MAJOR", "ROW-MAJOR") if tester.startswith("c_") else ("",)
    tests = {}
    for routine in re.findall(r"^(\w+) +T\b", build.input_of(tester), re.M):
        # c_cblat2 and c_zblat2 call gerc geru here, and name no order below.
        named = routine.replace("gerc", "ger[cu]")
        tests[f"{routine} error exits"] = rf"\b{named} +PASSED THE TESTS OF ERROR-EXITS"
        for order in orders:
            tests[f"{routine} {order.lower()}".rstrip()] = \
                rf"\b{routine} +PASSED THE ({order} +)?COMPUTATIONAL TESTS \( *(\d+) CALLS\)"
    return tests


def judge(tests, status, output):
    """A Case for each test, and one for how the tester ended and what else it said. Each of its
    words is good for one test, the first that it can speak of."""
    cases, left = [], output
    for name, words in tests.items():
        found = re.search(words, left)
        if found:
            left = left[:found.start()] + left[found.end():]
            calls = next((int(word) for word in found.groups() if word and word.isdigit()), 0)
            cases.append(Case(name, calls, None))
        else:
            cases.append(Case(name, 0, "the tester does not say that it passed"))
    complaints = [line.strip() for line in output.splitlines() if COMPLAINT.search(line)]
    problem = f"exit status {status}" if status else None
    if complaints:
        problem = "\n".join(filter(None, (problem, *complaints[:20])))
    return cases + [Case("no complaint", 0, problem)]


def judge_rung(rung, output):
    """Whether the drop-in's report, where there is one, has calls on the rung."""
    lines = [line for line in output.splitlines() if line.startswith("jblas: rung ")]
    reached = not lines or any(line.startswith(f"jblas: rung {rung}:") for line in lines)
    return Case(f"rung {rung}", 0, None if reached else "none of its calls ran on it")


def run(program, tests, text, folder, variables):
    """Runs a tester in a folder of its own; its cases, and its output. In place of the program may
    stand why there is none."""
    if isinstance(program, Failed):
        return [Case(name, 0, "there is no program") for name in tests] + \
            [Case("no complaint", 0, str(program))], ""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        done = subprocess.run([str(program)], input=text or "", text=True, cwd=folder,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, JALLOC_BLAS_REPORT="1", **variables), timeout=RUN_LIMIT_S, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = f"none after {RUN_LIMIT_S} s", (late.stdout or b"").decode(errors="replace")
    for summary in folder.glob("*.out"):  # levels 2 and 3 in Fortran write one
        output += summary.read_text(encoding="utf-8", errors="replace")
    (folder / "output").write_text(output, encoding="utf-8")
    return judge(tests, status, output), output


def environment_of(workspace, threads):
    size = {"all": {}, "some": {"JALLOC_DEVICE_MEMORY_SIZE": f"{SOME_KB * threads}K"},
            "64B": {"JALLOC_DEVICE_MEMORY_SIZE": "64"}}
    return dict(size[workspace], JALLOC_THREADS=str(threads))


def runs_of(builds, testers):
    """(name, build, tester, workspace, environment) of each run."""
    for tester in testers:
        for build in builds:
            if build.large and tester.endswith("1"):
                continue
            for workspace, threads in itertools.product(WORKSPACES, THREADS):
                name = "/".join((tester, "large" if build.large else "small",
                                 f"workspace-{workspace}", f"threads-{threads}"))
                yield name, build, tester, workspace, environment_of(workspace, threads)


def run_all(builds, testers, library, folder, jobs):
    """{name of a run: its cases}."""
    wanted = [*runs_of(builds, testers)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def link(build, tester):
            try:
                return build.link(tester, library, build.folder)
            except Failed as problem:
                return problem

        pairs = [*dict.fromkeys((build, tester) for _, build, tester, *_ in wanted)]
        programs = dict(zip(pairs, pool.map(link, *zip(*pairs))))

        def run_one(name, build, tester, workspace, variables):
            cases, output = run(programs[build, tester], tests_of(build, tester),
                                build.input_of(tester), folder / name, variables)
            if build.large and tester.endswith("3"):
                cases.append(judge_rung(RUNGS[workspace], output))
            return name, cases

        return dict(pool.map(run_one, *zip(*wanted)))


# ---- Self-test -----------------------------------------------------------------------------------

# Wrong libraries, which are preloaded over a right one: what they do in place of dgemm or dtrsm.
WRONG = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static int calls, found;

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc) {
    void (*real)(const char *, const char *, const int *, const int *, const int *, const double *,
                 const double *, const int *, const double *, const int *, const double *, double *,
                 const int *) = dlsym(RTLD_NEXT, "dgemm_");
    ++calls;
    WHAT;
}
"""
REAL = "real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)"
AFTER_DGEMM = {f"D{name}{what}" for name in ("SYMM", "TRMM", "TRSM", "SYRK", "SYR2K")
               for what in ("", " error exits")}
# name: what it does, and which tests have to fail
FAULTS = {
    "none": (REAL, set()),
    "one-result": (f"{REAL}; if (calls > 3000 && *m && *n && !found++) c[0] += 1e-10",
                   {"DGEMM", "no complaint"}),
    "silent": (f"if (*lda < *m && *transa == 'N') return; {REAL}",
               {"DGEMM error exits", "no complaint"}),
    "stops": (f"{REAL}; if (calls == 3000) exit(0)", {"DGEMM"} | AFTER_DGEMM),
    "crashes": (f"if (calls == 3000) abort(); {REAL}",  # and what it wrote is lost with it
                {"DGEMM error exits", "DGEMM", "no complaint"} | AFTER_DGEMM),
}


def self_test(build, library, folder):
    """What is wrong with the judgement of wrong libraries: a text for each."""
    program = build.link("dblat3", library, folder)
    for name, (what, wanted) in FAULTS.items():
        made = folder / f"{name}.so"
        source = made.with_suffix(".c")
        source.write_text(WRONG.replace("WHAT", what), encoding="utf-8")
        command("gcc", "-w", "-shared", "-fPIC", source, "-o", made, "-ldl")
        cases, _ = run(program, tests_of(build, "dblat3"), build.input_of("dblat3"), folder / name,
                       {"LD_PRELOAD": str(made)})
        found = {case.name for case in cases if case.problem}
        if found != wanted:
            yield f"self-test: {name}: failed {sorted(found)}, not {sorted(wanted)}"


def main():
    parser = others.parser_of(__doc__, "netlib", "the BLAS to be tested", "all that is fetched and built")
    parser.add_argument("--self-test", action="store_true", help="check the check first")
    parser.add_argument("--testers", default="*", help="a pattern of their names (*)")
    parser.add_argument("--sizes", choices=("small", "large"), help="these alone")
    parser.add_argument("-j", "--jobs", type=int, default=rtest.processors(),
                        help="processes at a time (all processors)")
    arguments, status = others.parsed(parser, ask)
    if arguments is None:
        return status
    library, folder = arguments.library, arguments.build_dir
    testers = [name for name in TESTERS if pathlib.PurePath(name).match(arguments.testers)]
    if not testers:
        parser.error(f"there are {' '.join(TESTERS)}")

    sources = fetch(folder)
    names = wide_names(library)
    if names and arguments.self_test:
        parser.error("the wrong libraries of the self-test have 32-bit integers")
    builds = [Build(sources, folder / f"{size}{'64' if names else ''}", size == "large", names)
              for size in ("small", "large") if arguments.sizes in (None, size)]
    results = {}
    if arguments.self_test:
        wrong = [*self_test(Build(sources, folder / "small", False, {}), library,
                            folder / "self-test")]
        print("\n".join(wrong) or f"self-test: {len(FAULTS) - 1} faults found")
        results["self-test"] = [Case(f"{len(FAULTS)} faults", 0, "\n".join(wrong) or None)]
    results.update(run_all(builds, testers, library, folder / "runs", arguments.jobs))

    calls = sum(case.calls for cases in results.values() for case in cases)
    return others.report(arguments,
                         [(f"{name}: {case.name}", case.problem) for name, cases in results.items() for case in cases],
                         f"netlib: {sources.name}, {library.name}: {len(results)} runs, "
                         f"{calls} calls in computational tests")


if __name__ == "__main__":
    sys.exit(main())
