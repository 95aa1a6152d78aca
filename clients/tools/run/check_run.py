#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs a program that is linked with BLAS by jblas-run and reads the report: its calls and threads are counted, a
budget is kept and said, what its calls need is what jalloc-plan says of their log, what is wrong is refused before the
program starts, and the program's own end is passed on.

    check_run.py JBLAS_RUN PROGRAM JALLOC_PLAN"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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


# One call of dgels, which has no way without workspace.
LEAST_SQUARES = """
import ctypes
n, info = 40, ctypes.c_int(9)
a = (ctypes.c_double * (n * n))(*[(i % (n + 1) == 0) * n + i % 7 for i in range(n * n)])
b, work = (ctypes.c_double * n)(), (ctypes.c_double * 4096)()
at = lambda value: ctypes.byref(ctypes.c_int(value))
ctypes.CDLL(None).dgels_(b"N", at(n), at(n), at(1), a, at(n), b, at(n), work, at(4096), ctypes.byref(info), 1)
raise SystemExit(info.value)
"""


def predicted(report):
    """Seconds at best, and how many more there were."""
    found = re.search(r"plan: predicted (\S+) s at best, and (\S+) s more with what there was", report)
    require(found and float(found.group(1)) > 0, f"no prediction in the report:\n{report}")
    return float(found.group(1)), float(found.group(2))


def seconds_more(report):
    return predicted(report)[1]


def check_plan(tool, program, plan_tool):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "calls.log")
        code, _, report = run(tool, "--report", "--threads", "1", program, "threads", PROGRAM_SOLVES="1",
                              JALLOC_LAYER="2", JALLOC_LOG_PATH=str(log))
        require(code == 0, f"with a log: {code} {report}")
        code, answer, errors = run(plan_tool, log, "--json", "--in-order", JALLOC_THREADS="1")
        require(code == 0, f"jalloc-plan: {errors}")
        each = json.loads(answer)
        code, answer, errors = run(plan_tool, log, "--json", JALLOC_THREADS="1")
        require(code == 0 and json.loads(answer)["handles"] == THREADS + 1, f"handles: {answer} {errors}")

    # Threads that were there at once add up, and how many were is chance.
    for which in ("minimal", "optimal"):
        told, one = number(report, which + r" (\d+) bytes, "), each[which + "_bytes"]
        require(told == one or (one > 0 and told % one == 0 and told <= (THREADS + 1) * one), f"{which}: {told}, {one}")
    optimal = number(report, r"optimal (\d+) bytes, ")
    require(re.search(rf"plan: setting JALLOC_(BUDGET|DEVICE_MEMORY_SIZE)={optimal}\n", report), f"setting:\n{report}")
    require(each["optimal_call"] in report and seconds_more(report) == 0, f"who and what:\n{report}")

    best = each["steps"][-1]["seconds"]
    require(abs(predicted(report)[0] - best) <= 1e-3 * best, f"not the log's {best}:\n{report}")

    # What is taken away costs time, and with the setting nothing is.
    _, _, report = run(tool, "--report", "--budget", "4K", "--threads", "1", program, "threads")
    require(seconds_more(report) > 0, f"a budget costs nothing:\n{report}")
    for size, costs in ((4096, True), (each["optimal_bytes"], False)):
        _, _, report = run(tool, "--report", "--threads", "1", program, "threads", JALLOC_DEVICE_MEMORY_SIZE=str(size))
        require((seconds_more(report) > 0) == costs, f"with {size} bytes each:\n{report}")
        require((number(report, r"below the best rung: (\d+) calls") > 0) == costs, f"with {size} bytes each:\n{report}")

    code, _, report = run(tool, "--report", "--budget", "64", "--threads", "1", sys.executable, "-c", LEAST_SQUARES)
    minimal = number(report, r"plan: minimal (\d+) bytes, jlapack_dgels m=40 n=40, ")
    require(code == 0 and f"the budget of 64 bytes lacks {minimal - 64}: jlapack_dgels m=40 n=40" in report, report)


def check_folders(tool):
    """The loader divides LD_PRELOAD at blanks and colons: no program is run without jblas."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("with blank", "with:colon"):
            place = pathlib.Path(folder, name)
            for part in ("bin", "library"):
                (place / part).mkdir(parents=True)
            pathlib.Path(place, "library", "libjlapack_lapack.so").touch()
            shutil.copy(tool, place / "bin")
            code, output, message = run(str(place / "bin" / pathlib.Path(tool).name), "echo", "ran")
            require(code == 1 and output == "" and message.count("\n") == 1 and name in message,
                    f"{name}: {code} {output}{message}")


def main():
    tool, program, plan_tool = sys.argv[1:]

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

    check_plan(tool, program, plan_tool)
    code, _, report = run(tool, program, "threads")
    require((code, report) == (0, ""), f"without a report: {code} {report}")
    code, output, _ = run(tool, "sh", "-c", "echo $LD_PRELOAD; exit 7", LD_PRELOAD="libm.so.6")
    require(code == 7 and re.fullmatch(r"/.*/libjlapack_lapack\.so:libm\.so\.6\n", output), f"{code} {output}")
    code, output, _ = run(tool, "--blas", "sh", "-c", "echo $LD_PRELOAD")
    require(code == 0 and re.fullmatch(r"/.*/libjblas_blas\.so\n", output), f"--blas: {code} {output}")

    for wrong in (["--budget", "plenty", program], ["--threads", "x", program], ["--budget=", program],
                  ["--threads", "", program], ["--nonsense", program], []):
        code, _, message = run(tool, *wrong)
        require(code == 2 and message, f"{wrong}: {code} {message}")
    code, _, message = run(tool, "/nowhere/program")
    require(code == 127 and "/nowhere/program" in message, f"no program: {code} {message}")
    code, _, message = run(tool, __file__)  # as env has it, of what is there
    require(code == 126 and __file__ in message, f"no executable: {code} {message}")
    check_folders(tool)
    print("check_run: a program's calls, threads and workspace are reported")


if __name__ == "__main__":
    main()
