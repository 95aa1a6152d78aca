#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs a program that is linked with BLAS by jblas-run and reads the report: its calls and threads are counted, a
budget is kept and said, what is wrong is refused before the program starts, and the program's own end is passed on.

    check_run.py JBLAS_RUN PROGRAM"""

import os
import re
import subprocess
import sys

THREADS = 11  # of "dropin_program threads", each with two calls; its main thread has one


def require(condition, what):
    if not condition:
        sys.exit(f"check_run: {what}")


def run(*command, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_")}
    env.update(variables)
    result = subprocess.run(command, env=env, text=True, capture_output=True, check=False)
    return result.returncode, result.stdout, result.stderr


def number(report, pattern):
    found = re.search(pattern, report)
    require(found, f"no {pattern!r} in the report:\n{report}")
    return int(found.group(1))


def main():
    tool, program = sys.argv[1:]

    code, _, report = run(tool, "--report", "--threads", "1", program, "threads")
    require(code == 0, f"ended with {code}: {report}")
    require(number(report, r": (\d+) calls of BLAS, ") == 2 * THREADS + 1, f"calls:\n{report}")
    require(number(report, r" (\d+) dgemm_\n") == 2 * THREADS + 1, f"by name:\n{report}")
    require(number(report, r", (\d+) handles") == THREADS + 1, f"handles:\n{report}")
    require(number(report, r"workspace: (\d+) bytes at the peak") > 0, f"peak:\n{report}")
    require("most in one call: " in report and "jblas_dgemm m=150 n=150 k=150" in report, f"owner:\n{report}")

    code, _, report = run(tool, "--report", "--budget", "64K", program, "threads")
    require(code == 0 and number(report, r"workspace: (\d+) bytes at the peak") <= 65536, f"budget:\n{report}")
    require(number(report, r"below the best rung: (\d+) calls") > 0, f"rungs:\n{report}")

    code, _, report = run(tool, "--report", program, "threads", PROGRAM_SOLVES="1")
    require(code == 0 and number(report, r", (\d+) of LAPACK, ") == 2 * THREADS + 1, f"LAPACK:\n{report}")
    require(number(report, r" (\d+) dgesv_\n") == 2 * THREADS + 1, f"LAPACK by name:\n{report}")

    code, _, report = run(tool, program, "threads")
    require((code, report) == (0, ""), f"without a report: {code} {report}")
    code, output, _ = run(tool, "sh", "-c", "echo $LD_PRELOAD; exit 7", LD_PRELOAD="libm.so.6")
    require(code == 7 and re.fullmatch(r"/.*/libjlapack_lapack\.so:libm\.so\.6\n", output), f"{code} {output}")
    code, output, _ = run(tool, "--blas", "sh", "-c", "echo $LD_PRELOAD")
    require(code == 0 and re.fullmatch(r"/.*/libjblas_blas\.so\n", output), f"--blas: {code} {output}")

    for wrong in (["--budget", "plenty", program], ["--threads", "x", program], ["--nonsense", program], []):
        code, _, message = run(tool, *wrong)
        require(code == 2 and message, f"{wrong}: {code} {message}")
    code, _, message = run(tool, "/nowhere/program")
    require(code == 127 and "/nowhere/program" in message, f"no program: {code} {message}")
    print("check_run: a program's calls, threads and workspace are reported")


if __name__ == "__main__":
    main()
