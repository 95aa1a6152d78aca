#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Checks what jalloc-info says of the environment, and its exit status.

usage: check_info.py JALLOC_INFO
"""

import json
import os
import subprocess
import sys


def require(condition, message):
    if not condition:
        sys.exit(f"check_info: {message}")


def run(program, *arguments, **variables):
    """Exit status, output, errors; of jalloc's variables it has these alone."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_")}
    done = subprocess.run([program, *arguments], env={**env, **variables}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def section(program, name, **variables):
    status, output, _ = run(program, "--json", **variables)
    return status, {row["name"]: row for row in json.loads(output)[name]}


def main():
    require(len(sys.argv) == 2, __doc__)
    program = sys.argv[1]
    status, rows = section(program, "environment")
    require(status == 0 and all(row["valid"] for row in rows.values()), "the defaults are not valid")
    require("JALLOC_" not in run(program)[2], "a warning without a reason")

    # A wrong value of every variable that can have one.
    wrong = {"JALLOC_DEVICE_MEMORY_SIZE": "lots", "JALLOC_BUDGET": "-1", "JALLOC_ALLOCATOR": "bcf",
             "JALLOC_BUFFER": "best", "JALLOC_LEAK_REPORT": "yes", "JALLOC_RESULT_POLICY": "slow",
             "JALLOC_ACCURACY": "some", "JALLOC_LAYER": "8", "JALLOC_LOG_LEVEL": "chatty",
             "JALLOC_MODULE_PATH": "lib", "JALLOC_VENDOR_BLAS": "no", "JALLOC_RECORD_HEAP_MIN_BYTES": "few",
             "JALLOC_THREADS": "many", "JALLOC_HOST_BLAS": "mine", "JALLOC_CBLAS": "lib/libblas.so", "JALLOC_LAPACK": "lib/liblapack.so",
             "JALLOC_HOST_ISA": "sse9",
             "JALLOC_BLAS_REPORT": "yes"}
    any_text = {"JALLOC_RECORD", "JALLOC_RECORD_HEAP", "JALLOC_LOG_PATH", "JALLOC_PROFILE"}
    require(set(wrong) | any_text == set(rows), f"other variables: {set(rows) ^ set(wrong) ^ any_text}")
    for name, value in wrong.items():
        status, found = section(program, "environment", **{name: value})
        require(status == 1, f"{name}={value}: exit status {status}")
        require([row for row in found if not found[row]["valid"]] == [name], f"{name}={value}: another is wrong")
        status, found = section(program, "environment", **{name: ""})
        require(status == 0 and found[name]["origin"] == "default", f"{name}: empty is not unset")

    # The LAPACK, or why there is none.
    _, lapack = section(program, "lapack")
    for name, row in lapack.items():
        require("reason" in row if name == "no LAPACK" else row["integers"] in ("32 bits", "64 bits"), f"{lapack}")
    _, lapack = section(program, "lapack", JALLOC_LAPACK="/nowhere/liblapack.so.3")
    require(list(lapack) == ["no LAPACK"] and "/nowhere/liblapack.so.3" in lapack["no LAPACK"]["reason"],
            f"a LAPACK that is not there: {lapack}")

    # A misspelt name of every variable: one letter missing, two exchanged; and one that is near nothing.
    for name in rows:
        middle = len(name) - 3
        for misspelt in (name[:middle] + name[middle + 1:],
                         name[:middle] + name[middle + 1] + name[middle] + name[middle + 2:]):
            if misspelt in rows:
                continue
            status, found = section(program, "unknown variables", **{misspelt: "1"})
            require(status == 1 and list(found) == [misspelt], f"{misspelt}: {status}, {found}")
            require(found[misspelt]["nearest"] == name, f"{misspelt}: nearest is {found[misspelt]['nearest']}")
    status, output, errors = run(program, JALLOC_ELEPHANT="1", JALLOC_LAYRE="2")
    require(status == 1 and "unknown" in output, "unknown names are not told")
    require(errors.count("JALLOC_ELEPHANT") == 1 and errors.count("nearest is JALLOC_LAYER") == 1, f"log: {errors}")
    known = {"JALLOC_TEST_SCALE": "1", "JALLOC_ROOT": "/opt", "JALLOC_RECORD_HEAP_OF": "1:x", "JALLOC": "1",
             "jalloc_layer": "9"}
    status, found = section(program, "unknown variables", **known)
    require(status == 0 and not found, f"{found}: not jalloc's, or known")
    print("check_info: what the environment has is told")


if __name__ == "__main__":
    main()
