#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Builds and tests jalloc where it is not developed: with another release, compiler, MPI, CBLAS,
processor and C library, and as a part of another project.

    elsewhere.py PART          builds the part below build/elsewhere/PART and tests it
    elsewhere.py PART --ask    only says whether it can be had here
    elsewhere.py --list        the parts

PART may stand in the environment as ELSEWHERE, where rtest.py puts it. Exit status 0: all passed.
77: not to be had here, with the reason; the packages are those of the component elsewhere of
install.sh."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE))
import rtest  # pylint: disable=wrong-import-position

RELEASE = "trixie"  # Debian 13
LIBRARIES = pathlib.Path("/usr/lib") / (os.uname().machine + "-linux-gnu")
GOOGLETEST = pathlib.Path("/usr/src/googletest")  # where Debian has its sources
ARM = "aarch64-linux-gnu"  # the prefix of the cross compilers, and the folder of their libraries
# qemu-user forgets to free what it keeps of a thread, so a process that makes many of them grows;
# where it would take the machine's memory it is stopped, and its tests fail.
EMULATED_MOST_BYTES = 6 << 30
# What may depend on a processor, and runs in one process: qemu-user starts no program of another
# architecture for a test, takes minutes and gigabytes for teams of processes, and ends a forked
# child that makes a thread (7.2: qemu_plugin_vcpu_init_hook).
RESTS_ON_BLAS = "Jblas*:Operation*"
EMULATED = (RESTS_ON_BLAS + ":Handle*:Borrow*:Plan*:SizeQuery*:Layout*:Bfc*-HandleAllocator.*Fork*"
            ":HandleFork*:HandleThreads.NoThread*:BorrowThreads.InAChild*:JblasSetUp*:JblasScarce*")

Part = collections.namedtuple("Part", "about function programs files asks")
PARTS = {}


class NotHere(Exception):
    """Why a part cannot be had on this machine."""


def part(about, programs=(), files=(), asks=()):
    """Enters a function as a part, with the programs and files it needs, and further questions."""
    def enter(function):
        name = function.__name__.replace("_", "-")
        PARTS[name] = Part(about, function, programs, files, asks)
        return function
    return enter


def ask(name):
    """Raises NotHere where the part cannot be had."""
    for program in PARTS[name].programs:
        if not shutil.which(program):
            raise NotHere(f"no program {program}")
    for file in PARTS[name].files:
        if not pathlib.Path(file).exists():
            raise NotHere(f"no {file}")
    for question in PARTS[name].asks:
        question()


# ---- Building and testing ------------------------------------------------------------------------


def run(*command, env=None):
    command = [str(word) for word in command]
    print("+ " + " ".join(map(shlex.quote, command)), flush=True)
    subprocess.run(command, check=True, env=dict(os.environ, **(env or {})))


class Place:
    """The build folder of a part, and what its tests came to."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs
        self.passed = self.failed = self.skipped = 0

    def build(self, *options, targets=("jalloc-test",)):
        """For the host alone, optimized, with warnings as errors."""
        usual = ("CMAKE_BUILD_TYPE=Release", "JALLOC_WERROR=ON", "JALLOC_CUDA=OFF",
                 "JALLOC_HIP=OFF", "JALLOC_BUILD_BENCHMARKS=OFF",
                 "CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
        run("cmake", "-S", SOURCE, "-B", self.folder,
            *(f"-D{option}" for option in usual + options))
        run("cmake", "--build", self.folder, "--parallel", self.jobs, "--target", *targets)

    def count(self, passed, failed=0, skipped=0, note="", failures=()):
        """Enters what rtest.judge() found; a failure is shown at once."""
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        for failure in failures:
            print(f"FAILED {failure.name} {note}\n{failure.message}", flush=True)

    def test(self, tests="*", scale=1, prefix=(), shards=1, **variables):
        """jalloc-test, divided into `shards` processes for each that may run at a time."""
        number = shards * self.jobs
        command = [*prefix, str(self.folder / "bin/jalloc-test"), f"--gtest_filter={tests}"]
        print("+ " + " ".join(map(shlex.quote, command)), flush=True)

        def run_shard(index):
            report, log = self.folder / f"tests.{index}.xml", self.folder / f"tests.{index}.log"
            report.unlink(missing_ok=True)
            env = dict(os.environ, GTEST_TOTAL_SHARDS=str(number), GTEST_SHARD_INDEX=str(index),
                       JALLOC_TEST_SCALE=str(scale), **variables)
            with log.open("wb") as output:
                status = subprocess.run([*command, f"--gtest_output=xml:{report}"], env=env,
                                        stdout=output, stderr=output, check=False).returncode
            problem = f"exit status {status}" if status else None
            return rtest.judge(problem, report, "gtest", log.stem, [log])

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for verdict in pool.map(run_shard, range(number)):
                self.count(*verdict)

    def ctest(self, *arguments):
        report = self.folder / "ctest.xml"
        report.unlink(missing_ok=True)
        problem = None
        try:
            run("ctest", "--test-dir", self.folder, "--output-on-failure", "--no-tests=error",
                "--output-junit", report, *arguments)
        except subprocess.CalledProcessError as error:
            problem = f"exit status {error.returncode}"
        self.count(*rtest.judge(problem, report, "ctest", "ctest", []))

    def samples(self, without=""):
        """Builds the samples and runs them, without the tools and those that `without` matches."""
        found = (SOURCE / "clients/samples").glob("*.c")
        run("cmake", "--build", self.folder, "--parallel", self.jobs, "--target",
            *sorted(sample.stem for sample in found), "co2_forecast")
        others = "fake|mpi|sunspots" + ("|" + without if without else "")
        self.ctest("--tests-regex", "^sample[.]", "--exclude-regex", others)


# ---- Other systems -------------------------------------------------------------------------------


def debian():
    """(mirror, codename) of the Debian that this machine gets its packages from."""
    try:
        listed = subprocess.run(["apt-get", "indextargets", "--format",
                                 "$(ORIGIN)|$(LABEL)|$(SITE)|$(CODENAME)", "Created-By: Packages"],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotHere("no apt") from error
    for line in listed.splitlines():
        origin, label, mirror, codename = line.split("|")
        if (origin, label) == ("Debian", "Debian") and "-" not in codename:
            return mirror, codename
    raise NotHere("apt knows no mirror of Debian")


def mirror_answers(release=RELEASE):
    mirror = debian()[0]
    try:
        urllib.request.urlopen(f"{mirror}/dists/{release}/Release", timeout=30).close()
    except (OSError, ValueError) as error:
        raise NotHere(f"{mirror} does not answer: {error}") from error


def may_make_a_root():
    if os.geteuid() != 0 and not shutil.which("newuidmap"):
        raise NotHere("neither root nor newuidmap")


def run_in_debian(release, archive, commands, variant="minbase"):
    """In a new Debian that has what `archive` holds in /srv; nothing of it stays."""
    run("mmdebstrap", f"--variant={variant}",
        f"--customize-hook=tar-in {shlex.quote(str(archive))} /srv",
        f'--customize-hook=chroot "$1" bash -ec {shlex.quote(commands)}',
        release, "/dev/null", debian()[0])


@part("Debian 13 in a chroot: install.sh as root, rtest.py as an ordinary user with sudo; every "
      "component of install.sh", programs=("mmdebstrap", "git", "tar"),
      asks=(may_make_a_root, mirror_answers))
def debian13(place):
    files = place.folder / "files"
    files.write_bytes(subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    sources = place.folder / "sources.tar"
    run("tar", "-C", SOURCE, "--create", "--file", sources, "--transform", "s,^,jalloc/,",
        "--null", "--files-from", files)
    commands = """
        cd /srv/jalloc
        ./install.sh --demo
        ./install.sh
        jalloc-info
        apt-get install --yes --no-install-recommends sudo python3
        useradd --create-home tester
        echo "tester ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/tester
        chown -R tester .
        runuser -u tester -- python3 rtest.py
        ./install.sh --dependencies-only --components mpi,bench,docs,clang,lint,valgrind,coverage,targets
    """
    run_in_debian(RELEASE, sources, commands)
    place.count(1)  # its rtest.py has said how many


@part("a project of somebody else's with jalloc as a part: builds, installs, runs", ("cmake",))
def parent(place):
    run(sys.executable, SOURCE / "clients/package/check_subproject.py", "-DJALLOC_CUDA=OFF",
        "-DJALLOC_HIP=OFF", "-DJALLOC_MPI=OFF")
    place.count(1)


# ---- Other compilers and libraries ---------------------------------------------------------------


@part("Clang 19", ("clang-19", "clang++-19"))
def clang19(place):
    place.build("CMAKE_C_COMPILER=clang-19", "CMAKE_CXX_COMPILER=clang++-19", "JALLOC_MPI=OFF")
    place.test()
    place.samples()


@part("MPICH, one and two ranks", ("mpicc.mpich", "mpiexec.mpich"),
      (LIBRARIES / "libscalapack-mpich.so",))
def mpich(place):
    place.build("MPI_C_COMPILER=mpicc.mpich", "MPIEXEC_EXECUTABLE=mpiexec.mpich",
                f"SCALAPACK_LIBRARY={LIBRARIES / 'libscalapack-mpich.so'}",
                targets=("jalloc-mpi-test",))
    place.ctest("--tests-regex", "jalloc-mpi-test.[12]ranks")


def tests_of_guests():
    """The filter of rtest.xml's tests-core: what rests on a BLAS, whoever it is."""
    run = next(run for run in rtest.read_sets(SOURCE / "rtest.xml")["cores"][1]
               if run.name.startswith("tests-core-"))
    return run.command.split("--gtest_filter=")[1]


def test_guest(place, library):
    """What rests on a BLAS, computed by this one."""
    place.build("JALLOC_MPI=OFF")
    place.test(tests_of_guests(), JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS=str(library))


@part("the reference BLAS as CBLAS", files=(LIBRARIES / "blas/libblas.so.3",))
def reference_blas(place):
    test_guest(place, LIBRARIES / "blas/libblas.so.3")


@part("BLIS as CBLAS", files=(LIBRARIES / "libblis.so.4",))
def blis(place):
    test_guest(place, LIBRARIES / "libblis.so.4")


@part("OpenBLAS with 64-bit integers as CBLAS", files=(LIBRARIES / "libopenblas64.so.0",))
def openblas64(place):
    test_guest(place, LIBRARIES / "libopenblas64.so.0")


@part("musl, for libjalloc, its samples and tools", ("musl-gcc", "gcc"))
def musl(place):
    kernel = place.folder / "kernel"  # of Debian's musl-gcc the kernel's headers are not seen
    kernel.mkdir(exist_ok=True)
    multiarch = subprocess.run(["gcc", "-print-multiarch"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.strip()
    for name, at in (("linux", "linux"), ("asm-generic", "asm-generic"),
                     ("asm", f"{multiarch}/asm")):
        (kernel / name).unlink(missing_ok=True)
        (kernel / name).symlink_to(f"/usr/include/{at}")
    place.build("CMAKE_C_COMPILER=musl-gcc", f"CMAKE_C_FLAGS=-isystem {kernel}",
                "JALLOC_BUILD_JBLAS=OFF", "JALLOC_BUILD_TESTS=OFF", "JALLOC_MPI=OFF",
                targets=("all",))
    place.ctest("--exclude-regex", "mpi")


# ---- Other processors, by qemu-user --------------------------------------------------------------


def emulated(qemu, *options):
    """A prefix that runs a program under qemu-user; as many run as there are processors, so
    OpenBLAS is given one thread."""
    return ("prlimit", f"--as={EMULATED_MOST_BYTES}", qemu, "-E", "OPENBLAS_NUM_THREADS=1",
            *options)


@part("x86-64 without AVX2, by qemu-user", ("qemu-x86_64", "prlimit"))
def no_avx2(place):
    qemu = emulated("qemu-x86_64", "-cpu", "Nehalem")
    place.build("JALLOC_MPI=OFF", f"CMAKE_CROSSCOMPILING_EMULATOR={';'.join(qemu)}")
    place.test(EMULATED, 0.02, qemu, shards=4)
    place.samples()


def for_arm():
    return ("CMAKE_SYSTEM_NAME=Linux", "CMAKE_SYSTEM_PROCESSOR=aarch64",
            f"CMAKE_C_COMPILER={ARM}-gcc", f"CMAKE_CXX_COMPILER={ARM}-g++")


@part("aarch64, cross-compiled, by qemu-user: jblas's own kernels, and what else may depend on a "
      "processor", (f"{ARM}-g++", "qemu-aarch64", "prlimit"), (GOOGLETEST / "CMakeLists.txt",))
def arm(place):
    googletest = place.folder / "googletest"
    run("cmake", "-S", GOOGLETEST, "-B", googletest / "build",
        *(f"-D{option}" for option in for_arm()), "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_GMOCK=OFF", f"-DCMAKE_INSTALL_PREFIX={googletest}", "-DCMAKE_INSTALL_LIBDIR=lib")
    run("cmake", "--build", googletest / "build", "--parallel", place.jobs, "--target", "install")

    qemu = emulated("qemu-aarch64", "-L", f"/usr/{ARM}")
    place.build(*for_arm(), f"CMAKE_CROSSCOMPILING_EMULATOR={';'.join(qemu)}",
                f"GTest_DIR={googletest / 'lib/cmake/GTest'}", "JALLOC_MPI=OFF")
    place.test(EMULATED, 0.02, qemu, shards=4)
    place.samples(without="segment_vector")  # which starts itself


@part("aarch64 with Debian's OpenBLAS, cross-compiled, by qemu-user",
      (f"{ARM}-g++", "qemu-aarch64", "prlimit", "mmdebstrap"),
      asks=(may_make_a_root, mirror_answers))
def aarch64(place):
    root, archive = place.folder / "root", place.folder / "root.tar"
    if not root.exists():
        mirror, codename = debian()
        run("mmdebstrap", "--variant=extract", "--architectures=arm64",
            "--include=libopenblas-pthread-dev,libgtest-dev,libstdc++6", codename, archive, mirror)
        root.mkdir()
        run("tar", "-C", root, "--extract", "--file", archive, "--no-same-owner",
            "--exclude=./dev/*")
    libraries, blas = root / "usr/lib" / ARM, f"{ARM}/openblas-pthread"
    qemu = emulated("qemu-aarch64", "-L", str(root), "-E",
                    f"LD_LIBRARY_PATH={root / 'usr/lib' / blas}")
    place.build(*for_arm(),
                f"CMAKE_CROSSCOMPILING_EMULATOR={';'.join(qemu)}",
                f"CMAKE_EXE_LINKER_FLAGS=-Wl,-rpath-link,{libraries}",
                f"BLAS_LIBRARIES={root / 'usr/lib' / blas / 'libopenblas.so'}",
                f"CBLAS_INCLUDE_DIR={root / 'usr/include' / blas}",
                f"GTest_DIR={libraries / 'cmake/GTest'}", "JALLOC_MPI=OFF")
    place.test(EMULATED, 0.02, qemu, shards=4)
    place.samples(without="segment_vector")  # which starts itself


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=[*PARTS], default=os.environ.get("ELSEWHERE"))
    parser.add_argument("--ask", action="store_true", help="only whether it can be had here")
    parser.add_argument("--list", action="store_true", help="the parts")
    parser.add_argument("--build-dir", type=pathlib.Path, default=SOURCE / "build/elsewhere",
                        help="folder of the parts' build folders (build/elsewhere)")
    parser.add_argument("-j", "--jobs", type=int, default=rtest.processors(),
                        help="processes at a time (all processors)")
    arguments = parser.parse_args()
    if arguments.list:
        for name, entry in PARTS.items():
            print(f"{name:16} {entry.about}")
        return 0
    if arguments.part not in PARTS:
        parser.error(f"no part {arguments.part}; there are {' '.join(PARTS)}")

    try:
        ask(arguments.part)
    except NotHere as reason:
        print(f"{arguments.part}: cannot be had here: {reason}")
        return rtest.SKIPPED
    if arguments.ask:
        return 0
    place = Place(arguments.build_dir.resolve() / arguments.part, arguments.jobs)
    place.folder.mkdir(parents=True, exist_ok=True)
    try:
        PARTS[arguments.part].function(place)
    except subprocess.CalledProcessError as error:
        print(f"failed: {error}")
        place.failed += 1
    print(f"{arguments.part}: {place.passed} passed, {place.failed} failed, "
          f"{place.skipped} skipped")
    return 1 if place.failed else 0


if __name__ == "__main__":
    sys.exit(main())
