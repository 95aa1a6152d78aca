#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Checks what jalloc-info says of the environment and, with --check, of the machine, and its exit status.

usage: check_info.py JALLOC_INFO [FOLDER_OF_FAKE_GPU_MODULES]
"""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile


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


VERDICTS = ("ok", "note", "slow", "wrong")


def checked(program, prefix=(), before=None, **variables):
    """What --check finds, by name; of several findings of a name the worst."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JALLOC_", "XDG_"))}
    done = subprocess.run([*prefix, program, "--check", "--json"], env={**env, "HOME": "/nowhere", **variables}, text=True,
                          check=False, preexec_fn=before, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    require(done.stderr == "", f"--check with {variables}: {done.stderr}")
    answer, found = json.loads(done.stdout), {}
    for row in answer["checks"]:
        known = found.get(row["name"])
        require(row["remedy"] or row["verdict"] in ("ok", "note"), f"no remedy: {row}")
        if known is None or VERDICTS.index(row["verdict"]) > VERDICTS.index(known["verdict"]):
            found[row["name"]] = row
    bad = [row for row in found.values() if row["verdict"] in ("slow", "wrong")]
    require((done.returncode, answer["good"]) == (bool(bad), not bad), f"{done.returncode} for {found}")
    return found


def expect(found, name, verdict, words):
    row = found.get(name, {"verdict": "not there", "found": "", "remedy": ""})
    require(row["verdict"] == verdict and words in row["found"] + " -> " + row["remedy"],
            f"expected {name} {verdict} '{words}', not {row}")


def check_system(program, usual):
    expect(checked(program, before=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))),
           "memory lock", "note", "64 KiB")
    processors = len(os.sched_getaffinity(0))
    expect(checked(program, JALLOC_THREADS=str(processors + 1)), "threads", "slow", "by JALLOC_THREADS")
    if processors > 1 and usual["threads"]["verdict"] == "ok":
        expect(checked(program, before=lambda: os.sched_setaffinity(0, {0})), "threads", "note", "may run on 1 of")
        expect(checked(program, JALLOC_THREADS="1"), "threads", "note", "1, by JALLOC_THREADS")

    # A /dev/shm of one's own, too small and unwritable.
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    for options, verdict, words in (("size=64m", "note", "docker run --shm-size"), ("size=64k", "wrong", "none can be made"),
                                    ("ro", "wrong", "none can be made")):
        own = ["unshare", "--mount", "--propagation", "private",
               "sh", "-c", f'mount -t tmpfs -o {options} tmpfs /dev/shm && exec "$@"', "sh"]
        if subprocess.run([*own, "true"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            expect(checked(program, prefix=own), "segments", verdict, words)

    # Drivers of GPUs that nobody can use.
    own = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
           'mount -t tmpfs tmpfs /dev && mkdir /dev/shm && touch /dev/null /dev/nvidiactl /dev/kfd && exec "$@"', "sh"]
    if subprocess.run([*own, "true"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        found = checked(program, prefix=own)
        expect(found, "NVIDIA GPUs", "wrong", "cuda:0")
        expect(found, "AMD GPUs", "wrong", "hip:0")


def check_profile(program):
    _, versions = section(program, "versions")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "profile")
        path.write_text(f"jalloc profile 4\nlibrary\t{versions['jalloc']['library']}\nprocessor\tanother\n", encoding="utf-8")
        expect(checked(program, JALLOC_PROFILE=str(path)), "profile", "wrong", "measured on another")
    expect(checked(program, JALLOC_PROFILE="/nowhere/profile"), "profile", "wrong", "No such file")
    expect(checked(program, JALLOC_PROFILE="/nowhere/profile"), "profile", "wrong", "--output")
    expect(checked(program, JALLOC_PROFILE="none"), "profile", "note", "JALLOC_PROFILE=none")
    expect(checked(program), "profile", "note", "jalloc-tune")


def check_machine(program):
    usual = checked(program)
    names = {"version", "environment", "kernels", "profile", "NVIDIA GPUs", "AMD GPUs", "threads", "memory", "huge pages",
             "memory lock", "segments"}
    require(names <= set(usual), f"not checked: {names - set(usual)}")
    expect(usual, "version", "ok", "")
    expect(usual, "environment", "ok", "0 variables")

    found = checked(program, JALLOC_BUDGET="plenty")
    expect(found, "environment", "wrong", 'JALLOC_BUDGET="plenty"')
    expect(found, "threads", "wrong", "no handle")
    expect(checked(program, JALLOC_LAYRE="2"), "environment", "wrong", "did you mean JALLOC_LAYER?")
    expect(checked(program, JALLOC_ELEPHANT="2"), "environment", "wrong", "jalloc-info lists")
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("LAYER", "2"), ("RECORD", f"{folder}/run.csv"), ("LEAK_REPORT", "stacks"), ("LOG_LEVEL", "debug"),
                            ("ALLOCATOR", "bfc+guard"), ("ALLOCATOR", "bfc+fill")):
            expect(checked(program, **{f"JALLOC_{name}": value}), "diagnostics", "slow", f"JALLOC_{name}={value}")
    for harmless in ({"JALLOC_LOG_LEVEL": "info"}, {"JALLOC_ALLOCATOR": "bfc"}, {"JALLOC_LEAK_REPORT": "0"}):
        require("diagnostics" not in checked(program, **harmless), f"{harmless} costs nothing")
    expect(checked(program, JALLOC_MODULE_PATH="/nowhere"), "GPU modules", "wrong", "No such file")
    for gpus in ("NVIDIA GPUs", "AMD GPUs"):
        if usual[gpus]["found"] == "no such GPU here":
            require(usual[gpus]["verdict"] == "ok", f"{usual[gpus]}")
    require("GPU modules" not in usual and "diagnostics" not in usual, f"{usual}")

    if "CBLAS" in usual:
        expect(checked(program, JALLOC_CBLAS="/nowhere/libblas.so"), "CBLAS", "wrong", "/nowhere/libblas.so")
        expect(checked(program, JALLOC_LAPACK="/nowhere/liblapack.so"), "LAPACK", "wrong", "/nowhere/liblapack.so")
        expect(checked(program, JALLOC_HOST_BLAS="cblas", JALLOC_CBLAS="/nowhere/libblas.so"), "kernels", "wrong", "every call")
        if usual["kernels"]["verdict"] == "ok":
            expect(checked(program, JALLOC_HOST_ISA="generic"), "kernels", "slow", "the processor has more")
        if usual["CBLAS"]["verdict"] == "ok":
            expect(checked(program, JALLOC_HOST_BLAS="cblas"), "kernels", "note", "by JALLOC_HOST_BLAS")
    check_profile(program)
    check_system(program, usual)

    # The text says the same.
    status, text, _ = run(program, "--check", JALLOC_BUDGET="plenty", JALLOC_LAYER="2")
    require(status == 1 and "\n2 wrong, 1 slow.\n" in text and "\n  wrong  environment" in text, text)


def main():
    require(len(sys.argv) in (2, 3), __doc__)
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
    if "lapack" in json.loads(run(program, "--json")[1]):
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
    check_machine(program)
    if len(sys.argv) == 3:
        for gpus in ("NVIDIA GPUs", "AMD GPUs"):
            expect(checked(program, JALLOC_MODULE_PATH=sys.argv[2]), gpus, "slow", "without the vendor's BLAS -> install")
            expect(checked(program, JALLOC_MODULE_PATH=sys.argv[2], JALLOC_VENDOR_BLAS="0"), gpus, "slow",
                   "unset JALLOC_VENDOR_BLAS")
    print("check_info: what the environment has and what is wrong with the machine is told")


if __name__ == "__main__":
    main()
