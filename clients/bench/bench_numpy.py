#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Calls of NumPy and SciPy over the drop-in beside the same over OpenBLAS.

    bench_numpy.py LIBRARY            libjblas_blas.so or libjlapack_lapack.so against Debian's OpenBLAS
    bench_numpy.py LIBRARY --groups lapack     solves, inverses, factorizations and least squares alone
    bench_numpy.py LIBRARY --quick    that it runs, not what it measures

Two processes of Debian's Python have the same arrays; the drop-in is preloaded into one. They make
the same call in turn, on the same processors, in an order that is turned round each time; the
median of the turns' ratios is told: above 1 means that the drop-in is faster. What both compute is
compared, too. There are two groups of calls, each with its geometric mean: blas, of products and of
those of LAPACK's routines that call BLAS by name; and lapack, of what numpy.linalg and scipy.linalg
have LAPACK for, as they are called by default. That is measured where the library has LAPACK's
names; what those call that it has not is OpenBLAS's in both processes (gelsd, which lstsq calls;
gelsy, which calls geqp3 here). OpenBLAS has the kernels that are fastest here, of those that
OPENBLAS_CORETYPE can name. Exit status 77: there is no NumPy, SciPy or OpenBLAS (Debian:
python3-scipy, libopenblas0)."""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

PYTHON = "/usr/bin/python3"  # the one that Debian's modules are for
OPENBLAS = pathlib.Path("/usr/lib") / (os.uname().machine + "-linux-gnu") / "openblas-pthread"
KERNELS = ("", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids")
SIZES = (50, 100, 200, 500, 1000, 2000)
ROUND_S = 0.02  # at least, of each turn
SETTLE_S = 0.1  # OpenBLAS's threads keep turning for a while after a call
SKIPPED = 77
CLOCKS = {"run": time.perf_counter, "cpu": time.process_time}


# ---- The calls -----------------------------------------------------------------------------------


def matrices_of(np):
    """Functions that draw a matrix: any, a lower triangle, a definite one."""
    def matrix(rng, rows, columns, kind=np.float64):
        made = rng.standard_normal((rows, columns))
        if np.dtype(kind).kind == "c":
            made = made + 1j * rng.standard_normal((rows, columns))
        return made.astype(kind)

    def triangle(rng, n):
        return np.tril(matrix(rng, n, n)) + n * np.eye(n)

    def definite(rng, n):
        a = matrix(rng, n, n)
        return a @ a.T + n * np.eye(n)

    return matrix, triangle, definite


def blas_calls(np, linalg):
    """{name: a function of n and a generator that makes the call}."""
    matrix, triangle, _ = matrices_of(np)

    def of(*shapes, call, kind=np.float64):
        """The call of matrices, whose shapes are given in parts of n."""
        def make(n, rng):
            sizes = [[size(n) if callable(size) else max(1, int(size * n)) for size in shape]
                     for shape in shapes]
            operands = [matrix(rng, *(shape + [1])[:2], kind).reshape(shape) for shape in sizes]
            return lambda: call(*operands)
        return make

    def distances(x, y):
        return np.sqrt(np.maximum((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * (x @ y.T), 0))

    def small(n, rng):
        stack = rng.standard_normal((n, 8, 8))
        return lambda: stack @ stack

    def kronecker(n, rng):
        """(A kron B) vec(X) by two products."""
        a, b, x = (matrix(rng, n // 5, n // 5) for _ in range(3))
        return lambda: b @ x @ a.T

    def triangular(n, rng):
        a, b = triangle(rng, n), np.asfortranarray(matrix(rng, n, n))
        trsm = linalg.get_blas_funcs("trsm", (a, b))
        return lambda: trsm(1.0, a.T, b, trans_a=True)

    def triangular_vector(n, rng):
        a, x = np.asfortranarray(triangle(rng, n)), rng.standard_normal(n)
        trsv = linalg.get_blas_funcs("trsv", (a, x))
        return lambda: trsv(a, x, lower=True)

    def cholesky_solve(n, rng):
        factor, b = (triangle(rng, n), True), matrix(rng, n, max(1, n // 4))
        return lambda: linalg.cho_solve(factor, b, check_finite=False)

    def tensors(n, rng):
        side = max(2, round(n ** 0.5))
        a, b = rng.standard_normal((side, side, n)), rng.standard_normal((n, side, side))
        return lambda: np.tensordot(a, b, axes=1)

    narrow = lambda n: min(n, 32)  # pylint: disable=unnecessary-lambda-assignment
    return {
        "matmul": of((1, 1), (1, 1), call=np.matmul),
        "matmul, float32": of((1, 1), (1, 1), call=np.matmul, kind=np.float32),
        "matmul, complex": of((.5, .5), (.5, .5), call=np.matmul, kind=np.complex128),
        "a.T @ b": of((1, 1), (1, 1), call=lambda a, b: a.T @ b),
        "a @ a.T": of((1, 1), call=lambda a: a @ a.T),
        "tall @ small": of((4, narrow), (narrow, narrow), call=np.matmul),
        "outer product of 32": of((1, narrow), (narrow, 1), call=np.matmul),
        "inner product of 32": of((narrow, 1), (1, narrow), call=np.matmul),
        "a @ x": of((1, 1), (1,), call=np.matmul),
        "x @ a": of((1,), (1, 1), call=np.matmul),
        "dot": of((lambda n: 100 * n,), (lambda n: 100 * n,), call=np.dot),
        "vdot, complex": of((lambda n: 50 * n,), (lambda n: 50 * n,), call=np.vdot,
                            kind=np.complex128),
        "einsum ij,jk": of((1, 1), (1, 1), call=lambda a, b: np.einsum("ij,jk->ik", a, b,
                                                                      optimize=True)),
        "tensordot": tensors,
        "multi_dot": of((1, .5), (.5, 1), (1, .25), call=lambda *a: np.linalg.multi_dot(a)),
        "distances": of((1, .25), (1, .25), call=distances),
        "covariance": of((.5, 2), call=np.cov),
        "n of 8 x 8": small,
        "kronecker": kronecker,
        "trsm": triangular,
        "trsv": triangular_vector,
        "cho_solve": cholesky_solve,
        "lstsq": of((1, .5), (1, 1), call=lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
        "qr": of((1, .5), call=lambda a: linalg.qr(a, mode="r", check_finite=False)[0]),
    }


def lapack_calls(np, linalg):
    """The same of what LAPACK computes."""
    matrix, triangle, definite = matrices_of(np)

    def of(call, *operands):
        """The call of operands, each drawn by a function of the generator and n."""
        def make(n, rng):
            drawn = [draw(rng, n) for draw in operands]
            return lambda: call(*drawn)
        return make

    def square(rng, n):
        return matrix(rng, n, n)

    def tall(rng, n):
        return matrix(rng, 2 * n, n)

    def vector(rng, n):
        return rng.standard_normal(n)

    def long_vector(rng, n):
        return rng.standard_normal(2 * n)

    def columns(rng, n):
        return matrix(rng, n, max(1, n // 4))

    def lu(rng, n):
        return linalg.lu_factor(matrix(rng, n, n))

    return {
        "numpy solve": of(np.linalg.solve, square, vector),
        "numpy solve, n/4": of(np.linalg.solve, square, columns),
        "numpy inv": of(np.linalg.inv, square),
        "numpy qr": of(lambda a: np.linalg.qr(a)[1], square),
        "numpy qr, 2n x n": of(lambda a: np.linalg.qr(a)[1], tall),
        "numpy cholesky": of(np.linalg.cholesky, definite),
        "numpy lstsq": of(lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], tall, long_vector),
        "scipy solve": of(linalg.solve, square, vector),
        "scipy solve, pos": of(lambda a, b: linalg.solve(a, b, assume_a="pos"), definite, vector),
        "scipy solve, sym": of(lambda a, b: linalg.solve(a + a.T, b, assume_a="sym"), square, vector),
        "scipy inv": of(linalg.inv, square),
        "scipy qr": of(lambda a: linalg.qr(a)[1], square),
        "scipy qr, economic": of(lambda a: linalg.qr(a, mode="economic")[1], tall),
        "scipy qr, pivoting": of(lambda a: linalg.qr(a, pivoting=True)[1], square),
        "scipy cholesky": of(lambda a: linalg.cholesky(a, lower=True), definite),
        "scipy lstsq": of(lambda a, b: linalg.lstsq(a, b)[0], tall, long_vector),
        "scipy lstsq, gelsy": of(lambda a, b: linalg.lstsq(a, b, lapack_driver="gelsy")[0], tall,
                                 long_vector),
        "scipy cho_factor": of(lambda a: np.tril(linalg.cho_factor(a, lower=True)[0]), definite),
        "scipy cho_solve": of(lambda a, b: linalg.cho_solve((a, True), b), triangle, columns),
        "scipy lu_factor": of(lambda a: linalg.lu_factor(a)[0], square),
        "scipy lu_solve": of(linalg.lu_solve, lu, columns),
    }


GROUPS = {"blas": blas_calls, "lapack": lapack_calls}


def has_lapack(library):
    return b"\0dgetrf_\0" in library.read_bytes()


# ---- The two processes ---------------------------------------------------------------------------


def work():
    """Answers the lines that come: "make NAME|N", "run TIMES", or "cpu TIMES", "kernels"."""
    import ctypes
    import numpy as np
    from scipy import linalg

    groups, call = {group: of(np, linalg) for group, of in GROUPS.items()}, None
    calls = {f"{group}: {name}": make for group, named in groups.items() for name, make in named.items()}
    print("\n".join(calls) + "\n", flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "make":
            name, n = rest.rsplit("|", 1)
            call = calls[name](int(n), np.random.default_rng(12))
            answer = float(np.abs(call()).sum())
        elif word in CLOCKS:
            clock, times = CLOCKS[word], range(int(rest))
            begun = clock()
            for _ in times:
                call()
            answer = clock() - begun
        elif word == "kernels":
            library = ctypes.CDLL("libopenblas.so.0")
            library.openblas_get_corename.restype = ctypes.c_char_p
            answer = library.openblas_get_corename().decode()
        else:
            mapped = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
            answer = int(rest in mapped)
        print(answer, flush=True)


class Worker:
    """A process that makes calls."""

    def __init__(self, threads, kernels="", preload=None, clock="run"):
        drop = ("LD_PRELOAD", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
        env = {name: value for name, value in os.environ.items() if name not in drop}
        env.update(OPENBLAS_NUM_THREADS=str(threads), JALLOC_THREADS=str(threads),
                   LD_LIBRARY_PATH=str(OPENBLAS))
        if kernels:
            env["OPENBLAS_CORETYPE"] = kernels
        if preload:
            env["LD_PRELOAD"] = str(preload)
        self.threads, self.clock = threads, clock
        # Both processes on the same: one that has another processor to itself can be faster by a tenth.
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
        command = ["taskset", "-c", processors, PYTHON, __file__, "--worker"]
        self.process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.calls = [*iter(lambda: self.process.stdout.readline().strip(), "")]

    def ask(self, *words):
        """The answer; ProcessLookupError where the process ends instead."""
        try:
            print(*words, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise ProcessLookupError(f"a process ended at {' '.join(map(str, words))}")
        return answer

    def time(self, times):
        return float(self.ask(self.clock, times)) / times

    def end(self):
        self.process.communicate()


def best_kernels(threads):
    """The value of OPENBLAS_CORETYPE with which it multiplies fastest. OpenBLAS does not ask whether
    the processor has the instructions: where it has not, the process ends."""
    found = {}
    for kernels in KERNELS:
        worker = Worker(threads, kernels)
        try:
            worker.ask("make", "blas: matmul|400")
            found[kernels] = min(worker.time(3) for _ in range(5))
        except ProcessLookupError:
            pass
        worker.end()
    return min(found, key=found.get)


# ---- Measuring -----------------------------------------------------------------------------------


def compare(ours, theirs, name, n, rounds, quick):
    """(our time, theirs, their time to ours) of a call: medians."""
    results = [float(worker.ask("make", f"{name}|{n}")) for worker in (ours, theirs)]
    if not math.isclose(*results, rel_tol=1e-3 if "float32" in name else 1e-8):
        sys.exit(f"bench_numpy: {name} of {n}: the results differ: {results}")
    if quick:
        mine, other = ours.time(1), theirs.time(1)
        return mine, other, other / mine
    slower = max(worker.time(1) for worker in (ours, theirs))
    times = max(1, int(ROUND_S / max(slower, 1e-7)))
    settle = SETTLE_S if ours.threads > 1 else 0
    samples = {ours: [], theirs: []}
    for turn in range(rounds):
        for worker in (ours, theirs) if turn % 2 else (theirs, ours):
            time.sleep(settle)
            samples[worker].append(worker.time(times))
    ratios = [other / mine for mine, other in zip(samples[ours], samples[theirs])]
    return tuple(map(statistics.median, (samples[ours], samples[theirs], ratios)))


def mean_of(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def measure(arguments, threads):
    kernels = "" if arguments.quick else arguments.kernels or best_kernels(threads)
    clock = "cpu" if arguments.cpu_time else "run"
    ours = Worker(threads, kernels, arguments.library, clock)
    theirs = Worker(threads, kernels, clock=clock)
    if ours.ask("mapped", arguments.library) != "1" or theirs.ask("mapped", arguments.library) != "0":
        sys.exit("bench_numpy: the library is not preloaded into one process alone")
    print(f"{threads} thread{'s' if threads > 1 else ''}, OpenBLAS {theirs.ask('kernels')}, medians of "
          f"{arguments.rounds}, microseconds; ratio: OpenBLAS's to the drop-in's")
    ratios = {group: {} for group in arguments.groups}
    for of_group in ours.calls:
        group, _, name = of_group.partition(": ")
        if group not in ratios or (arguments.calls and arguments.calls not in name):
            continue
        for n in arguments.sizes:
            mine, other, ratio = compare(ours, theirs, of_group, n, arguments.rounds, arguments.quick)
            ratios[group][name, n] = ratio
            print(f"{name:20} n {n:5} {mine * 1e6:11.1f} {other * 1e6:11.1f} {ratio:7.3f}", flush=True)
    for worker in (ours, theirs):
        worker.end()
    for group, of_group in ratios.items():
        if of_group:
            print(f"{threads} thread{'s' if threads > 1 else ''}, {group}: {len(of_group)} ratios, geometric "
                  f"mean {mean_of(of_group.values()):.3f}, least {min(of_group.values()):.3f} "
                  f"({', n '.join(map(str, min(of_group, key=of_group.get)))})")


def reason_against():
    """Why nothing can be measured here; None where it can."""
    if not (OPENBLAS / "libblas.so.3").exists():
        return f"no {OPENBLAS / 'libblas.so.3'}"
    try:
        subprocess.run([PYTHON, "-c", "import scipy.linalg"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return f"{PYTHON} has no SciPy"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=lambda text: pathlib.Path(text).resolve(strict=True))
    parser.add_argument("--quick", action="store_true", help="one small size, each call once")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="(1 2)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="the values of n")
    parser.add_argument("--groups", nargs="+", choices=GROUPS,
                        help="of calls (blas, and lapack where the library has LAPACK's names)")
    parser.add_argument("--calls", help="calls whose name has this in it")
    parser.add_argument("--rounds", type=int, default=11, help="turns of each process (11)")
    parser.add_argument("--cpu-time", action="store_true",
                        help="processor time, all threads', for a machine that has other work")
    parser.add_argument("--kernels", help="OpenBLAS's, in place of the fastest")
    arguments = parser.parse_args()
    reason = reason_against()
    if reason:
        print(f"bench_numpy: cannot be run here: {reason}")
        return SKIPPED
    if not arguments.groups:
        arguments.groups = [*GROUPS] if has_lapack(arguments.library) else ["blas"]
    if arguments.quick:
        arguments.sizes, arguments.rounds = [20], 1
    try:
        for threads in arguments.threads:
            measure(arguments, threads)
    except ProcessLookupError as error:
        sys.exit(f"bench_numpy: {error}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
    else:
        sys.exit(main())
