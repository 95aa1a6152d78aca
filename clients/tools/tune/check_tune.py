#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""jalloc-tune writes a profile that predictions then use, takes the place of an older one whole, and says what is wrong
with its arguments: check_tune.py JALLOC_TUNE PREDICTING_PROGRAM."""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

tune, program = sys.argv[1:3]
failures = []


def expect(what, holds):
    if not holds:
        failures.append(what)


def run(*arguments, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JALLOC_")}
    return subprocess.run(arguments, env=environment | variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)


with tempfile.TemporaryDirectory() as folder:
    # Where XDG says, in folders that are not there yet; and whoever predicts finds it there.
    cache = pathlib.Path(folder) / "cache"
    profile = cache / "jalloc" / "profile"
    result = run(tune, "--shapes", "4", "--routines", "potrf,trsm,syrk,herk", XDG_CACHE_HOME=str(cache))
    expect(f"a profile is measured: {result.stderr}", result.returncode == 0 and str(profile) in result.stdout)
    text = profile.read_text(encoding="utf-8") if profile.exists() else ""
    expect("its first line", text.startswith("jalloc profile 4\nlibrary\t"))
    rates = [row.split("\t") for row in text.splitlines() if row.startswith("rates\t")]
    expect(f"rates are measured, of a call too: {rates}", len(rates) == 1 and 0 < float(rates[0][3]) and rates[0][3] != "1e-6")
    for name in ("jlapack_dpotrf", "jblas_ztrsm"):
        expect(f"it has {name}", f"entry\t{name}\t" in text)
    expect("others are left out", "gemm" not in text)
    # Types have their samples in common, each shape once however often it was measured; complex flops count four times,
    # and a sample of another type half.
    samples = {}
    for row in text.splitlines():
        words = row.split("\t")
        if words[0] == "entry":
            key = tuple(words[1:4])
        elif words[0] == "at":
            samples.setdefault(key, []).append((float(words[5]), abs(float(words[6]))))
    for (routine, rung, threads), own in samples.items():
        if routine == "jlapack_spotrf":
            shared = [own] + [samples.get((f"jlapack_{letter}potrf", rung, threads), []) for letter in "dcz"]
            expect(f"{rung} {threads}: shapes {shared}", len(own) <= 16 and {len(those) for those in shared} == {len(own)})
            for each in zip(*shared):
                flops, weights = [sample[0] for sample in each], sorted(sample[1] for sample in each)
                expect(f"{rung} {threads}: flops {flops}", all(abs(other / flops[0] - times) < 1e-3 for other, times in zip(flops, (1, 1, 4, 4))))
                expect(f"{rung} {threads}: weights {weights}", all(abs(2 * other - weights[3]) <= 0.01 * weights[3] for other in weights[:3]))
    expect(f"of each type: {samples.keys()}", any(routine == "jlapack_spotrf" and len(own) > 4 for (routine, _, _), own in samples.items()))
    # Hermitian routines have the samples of symmetric ones, too.
    kin = [(samples.get((f"jblas_{letter}herk", rung, threads)), own) for (routine, rung, threads), own in samples.items()
           for letter in "cz" if routine == f"jblas_{letter}syrk"]
    expect(f"Hermitian and symmetric: {kin}", any(own == other for own, other in kin) and all(own in (None, other) for own, other in kin))
    expect("nothing is left beside it", [path.name for path in profile.parent.iterdir()] == ["profile"])
    result = run(program, XDG_CACHE_HOME=str(cache))
    expect(f"it is used without a word: {result.stderr}", result.returncode == 0 and "profile" not in result.stderr)

    # The calls of a log are added, and measured anew they take the place of those before.
    log = pathlib.Path(folder) / "log"
    line = "jblas-bench -f potrf -r d --uplo {} -n 100 --lda 100 --handle 1 --mode default --workspace 0"
    log.write_text("\n".join(["other text", line.format("L"), line.format("U"), line.format("L"), "jblas-bench -f nothing -n 3",
                              "jblas-bench -f gemm -r s -m 40 -n 300 -k 200 --lda 40 --ldb 200 --ldc 40", ""]), encoding="utf-8")
    for _ in range(2):
        result = run(tune, "--calls", str(log), XDG_CACHE_HOME=str(cache))
        expect(f"calls are measured: {result.stderr}", result.returncode == 0 and " calls, " in result.stdout)
        expect(f"what is none is named: {result.stderr}", f"{log}:5: " in result.stderr and result.stderr.count("\n") == 1)
        with_calls = profile.read_text(encoding="utf-8")
        calls = [row.split("\t") for row in with_calls.splitlines() if row.startswith("call\t")]
        keys = [tuple(row[1:-1]) for row in calls]
        expect(f"each once: {keys}", len(keys) == len(set(keys)))
        expect(f"of both routines: {keys}", {key[0] for key in keys} == {"jlapack_dpotrf", "jblas_sgemm"})
        expect(f"with their sizes: {keys}", {key[3:] for key in keys if key[0] == "jblas_sgemm"} == {("40", "300", "200", "1", "4800000")})
        expect("and seconds", all(0 < float(row[-1]) < 60 for row in calls))
        expect("the rest is as it was", with_calls.startswith(text))
    result = run(program, XDG_CACHE_HOME=str(cache))
    expect(f"it is used without a word: {result.stderr}", result.returncode == 0 and "profile" not in result.stderr)
    alone = pathlib.Path(folder) / "alone"
    result = run(tune, "--calls", str(log), "--output", str(alone))
    expect(f"without a profile: {result.stderr}", result.returncode == 0 and "\nrates\t" in alone.read_text(encoding="utf-8"))
    result = run(tune, "--calls", str(log) + ".not")
    expect(f"no log: {result.stderr}", result.returncode == 2 and "No such file" in result.stderr)

    # A log of another machine: what this one cannot do is named by its line, as in jalloc-plan.
    most = 2 ** 63 - 1
    log.write_text(f"{line.format('L')}\njblas-bench -f gemm -r d -m {most} -n 1 -k 1 --lda {most} --ldb 1 --ldc {most}\n"
                   "jblas-bench -f potrf -r d -n 9 --device cuda:9\n", encoding="utf-8")
    result = run(tune, "--calls", str(log), XDG_CACHE_HOME=str(cache))
    expect(f"the rest is measured: {result.stderr}", result.returncode == 0 and " calls, " in result.stdout)
    expect(f"sizes that overflow: {result.stderr}", f"{log}:2: gemm: " in result.stderr and str(most) in result.stderr)
    expect(f"a device: {result.stderr}", f"{log}:3: a call on cuda:9" in result.stderr)
    log.write_text(f"jblas-bench -f getrf -r d -m {2 ** 62} -n {2 ** 62}\n", encoding="utf-8")
    result = run(tune, "--calls", str(log), XDG_CACHE_HOME=str(cache))
    expect(f"nothing of it: {result.stderr}", result.returncode == 1 and "no call of it" in result.stderr and f"{log}:1: getrf: " in result.stderr)
    expect("a failure leaves nothing", [path.name for path in profile.parent.iterdir()] == ["profile"])

    # One of another machine is not.
    profile.write_text(text.replace("processor\t", "processor\tanother "), encoding="utf-8")
    result = run(program, XDG_CACHE_HOME=str(cache))
    expect(f"another machine's is refused: {result.stderr}", result.returncode == 0 and "measured on another" in result.stderr)
    result = run(tune, "--calls", str(log), XDG_CACHE_HOME=str(cache))
    expect(f"nothing is added to it: {result.stderr}", result.returncode == 1 and "measured on another" in result.stderr)
    result = run(program, JALLOC_PROFILE="none", XDG_CACHE_HOME=str(cache))
    expect(f"none is none: {result.stderr}", result.returncode == 0 and "measured on" not in result.stderr)
    result = run(program, JALLOC_PROFILE=str(profile) + ".not")
    expect(f"a name is a promise: {result.stderr}", result.returncode == 0 and "No such file" in result.stderr)

    # Whatever ends it: the former profile stays, and nothing is left beside it.
    before = profile.read_text(encoding="utf-8")
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([tune, "--quiet", "--routines", "potrf", "--output", str(profile)]) as process:
            for _ in range(1000):
                if len(list(profile.parent.iterdir())) > 1:
                    break
                time.sleep(0.01)
            process.send_signal(ending)
        left = [path.name for path in profile.parent.iterdir()]
        expect(f"{ending.name} is what ended it: {process.returncode}", process.returncode == -ending)
        expect(f"{ending.name} leaves nothing: {left}", left == ["profile"] and profile.read_text(encoding="utf-8") == before)
        for path in profile.parent.iterdir():
            if path != profile:
                path.unlink()
    limited = subprocess.run([tune, "--shapes", "4", "--routines", "potrf,trsm", "--output", str(profile)], text=True, check=False,
                             stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
    left = [path.name for path in profile.parent.iterdir()]
    expect(f"no room: {limited.returncode} {limited.stderr}", limited.returncode == 1 and "File too large" in limited.stderr)
    expect(f"no room leaves nothing: {left}", left == ["profile"] and profile.read_text(encoding="utf-8") == before)

    # Stored is not in force where the environment names another.
    for named, is_other in (("none", True), (str(profile) + ".not", True), (str(profile), False), ("", False)):
        result = run(tune, "--shapes", "4", "--routines", "potrf", "--quiet", JALLOC_PROFILE=named, XDG_CACHE_HOME=str(cache))
        expect(f"JALLOC_PROFILE={named}: {result.stderr}", result.returncode == 0 and ("JALLOC_PROFILE=" in result.stderr) == is_other)

    # What cannot be written, and arguments.
    result = run(tune, "--shapes", "4", "--routines", "potrf", "--output", str(profile / "below"))
    expect(f"no folder: {result.stderr}", result.returncode == 1 and "Not a directory" in result.stderr)
    for arguments in (["--shapes", "3"], ["--shapes", "many"], ["--passes", "0"], ["--nonsense"], ["extra"], ["--routines", "nothing"],
                      ["--routines", ""], ["--routines", "potrf,"]):
        result = run(tune, *arguments, XDG_CACHE_HOME=str(cache))
        expect(f"{arguments}: {result.returncode} {result.stderr}", result.returncode == 2 and result.stderr != "")
    result = run(tune, "--help")
    expect("help", result.returncode == 0 and "--output FILE" in result.stdout)

print(f"check_tune: {len(failures)} failures")
for failure in failures:
    print("  " + failure)
sys.exit(bool(failures))
