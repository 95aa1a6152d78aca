#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""rtest.py must not call a failure a pass: planted runs fail in every way there is, and each must be counted, and shown
with its message. Runs that share the processors, a signal, and a user without a terminal are looked at too."""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import elsewhere

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A stand-in for a test program: writes its shard's part of the report that it is told, to where GoogleTest would, and
# exits as told.
FAKE = """import os, sys
report, status = sys.argv[1], int(sys.argv[2])
shards, shard = int(os.environ["GTEST_TOTAL_SHARDS"]), int(os.environ["GTEST_SHARD_INDEX"])
path = [a.split("xml:")[1] for a in sys.argv if a.startswith("--gtest_output=")][0]
name = 'classname="Suite" name="Name"'
print("[ RUN      ] Suite.Name\\nprinted\\n" + ("" if report == "dies" else "[       OK ] Suite.Name"), flush=True)
if report == "dies":
    os.abort()
if report.startswith("raced"):
    print("WARNING: ThreadSanitizer: data race" + "\\n[       OK ] Suite.Later" * 100, flush=True)
if report != "none" and not (report.endswith("one_dies") and shard == 1):
    cases = {"good": f'<testcase {name} status="run" result="completed"/>',
             "bad": f'<testcase {name} status="run" result="completed"><failure message="x.c:1&#10;'
                    f'reason{os.environ.get("VALUE", "")}"/></testcase>',
             "skip": f'<testcase {name} status="run" result="skipped"><skipped/></testcase>',
             "off": f'<testcase {name} status="notrun" result="suppressed"/>', "": "", "one_dies": "", "raced": ""}
    part = report.split(",")[shard::shards]
    open(path, "w").write("<testsuites>" + "".join(cases[c] for c in part) + "</testsuites>")
sys.exit(status)
"""
JOBS = 3

# A stand-in for ctest.
FAKE_CTEST = """import sys
path = sys.argv[sys.argv.index("--output-junit") + 1]
cases = {"good": '<testcase name="a" classname="a" status="run"><system-out>fine</system-out></testcase>',
         "bad": '<testcase name="b" classname="b" status="fail"><failure message=""/><system-out>said why</system-out></testcase>',
         "skip": '<testcase name="c" classname="c" status="notrun"><skipped message="x"/></testcase>', "": ""}
open(path, "w").write("<testsuite>" + "".join(cases[c] for c in sys.argv[1].split(",")) + "</testsuite>")
sys.exit(int(sys.argv[2]))
"""
EACH = '<each env="VALUE" values="7 8 9" if="bash -c \'case $VALUE in 7) exit 0;; 8) exit 77;; *) exit 1;; esac\'"/>'

# name, attributes, command (None: a run that <each> makes), (passed, failed) of the run of that name
PLANTED = [
    ("good", "", "true", (1, 0)),
    ("exit", "", "false", (0, 1)),
    ("word", "", "echo 1 failed", (1, 0)),
    ("hang", 'limit="1"', 'bash -c "sleep {sleep} &amp; sleep {sleep}"', (0, 1)),
    ("orphan", "", 'bash -c "sleep {sleep} &amp;"', (1, 0)),
    ("absent", "", "/nowhere/program", (0, 1)),
    ("absent_test", 'kind="gtest"', "/nowhere/program", (0, 1)),
    ("hanging_test", 'kind="gtest" limit="1"', "sleep {sleep}", (0, 1)),
    ("signal", "", 'bash -c "kill -SEGV $$"', (0, 1)),
    ("tests", 'kind="gtest"', "{fake} good,good,skip,off 0", (2, 0)),
    ("failed_test", 'kind="gtest"', "{fake} good,bad 1", (1, 1)),
    ("failed_test_exit_0", 'kind="gtest"', "{fake} good,bad 0", (1, 1)),
    ("failed_at_exit", 'kind="gtest"', "{fake} good,good 66", (2, 1)),
    ("no_report", 'kind="gtest"', "{fake} none 0", (0, 1)),
    ("no_test", 'kind="gtest"', "{fake} off 0", (0, 1)),
    ("empty_report", 'kind="gtest"', '{fake} "" 0', (0, 1)),
    ("all_shards", 'kind="gtest"', "{fake} good,good,good,good,good,good,bad 0", (6, 1)),
    ("lost_shard", 'kind="gtest"', "{fake} good,good,good,one_dies 0", (2, 1)),
    ("raced", 'kind="gtest"', "{fake} raced,good,good,good 66", (3, 1)),
    ("crashed_test", 'kind="gtest"', "{fake} dies 0", (0, 1)),
    ("ctest_good", 'kind="ctest"', "{ctest} good,good,skip 0", (2, 0)),
    ("ctest_bad", 'kind="ctest"', "{ctest} good,bad 8", (1, 1)),
    ("ctest_exit", 'kind="ctest"', "{ctest} good 8", (1, 1)),
    ("ctest_nothing", 'kind="ctest"', '{ctest} "" 0', (0, 1)),
    ("one_of_two", 'processors="1"', "bash -c 'echo this is why; exit 3'", (0, 1)),
    ("two_of_two", 'processors="1"', "true", (1, 0)),
    ("each", 'kind="gtest"', EACH + "{fake} good,bad 1", None),
    ("each-7", "", None, (1, 1)),
    ("each-8", "", None, (0, 0)),
    ("each-9", "", None, (0, 1)),
]


def alive(marker):
    """Whether a process still sleeps for the marked time."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().split(b"\0")[:2] == [b"sleep", marker.encode()])
        except OSError:  # it ended meanwhile
            pass
    return any(found)


def check_elsewhere():
    """The set elsewhere has a run of each part that elsewhere.py knows."""
    def lines(*command):
        return subprocess.run([sys.executable, *map(str, command)], text=True, check=True,
                              stdout=subprocess.PIPE).stdout.splitlines()

    parts = {line.split()[0] for line in lines(ROOT / "clients/scripts/elsewhere.py", "--list")}
    listed = lines(ROOT / "rtest.py", "--list")
    at = next((i for i, line in enumerate(listed) if line.startswith("elsewhere ")), None)
    runs = set() if at is None else set(listed[at + 1].split())
    return [f"set elsewhere and elsewhere.py --list differ in {name}"
            for name in sorted(runs ^ {f"elsewhere-{part}" for part in parts})]


def check_elsewhere_counts(folder, fake):
    """elsewhere.py counts and shows what jalloc-test reports, shard by shard."""
    place = elsewhere.Place(folder, JOBS)
    program = folder / "bin/jalloc-test"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexec {fake} good,good,skip,bad,good 1 \"$@\"\n",
                       encoding="utf-8")
    program.chmod(0o755)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        place.test()
    counts = place.passed, place.failed, place.skipped
    problems = []
    if counts != (3, 3, 1):  # a test, a program that ends badly, and one that executed no test
        problems.append(f"elsewhere.py: wanted (3, 3, 1): {counts}")
    for words in ("tests.0: Suite.Name", "reason", "tests.2 exit status 1"):
        if words not in said.getvalue():
            problems.append(f"elsewhere.py does not say {words}")
    return problems


def check_packages(folder):
    """A component whose packages cannot be had does not keep those of the others away."""
    folder.mkdir()
    runner, program = elsewhere.rtest, folder / "install.sh"
    source = runner.SOURCE
    program.write_text('#!/bin/sh\ncase $3 in *gone*) exit 1;; esac\necho $3 >>installed\n', encoding="utf-8")
    program.chmod(0o755)
    runner.SOURCE = folder
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runner.install_packages(["gone", "test", "there"])
    runner.SOURCE = source
    installed = (folder / "installed").read_text(encoding="utf-8").split()
    if installed == ["test", "there"] and "packages of gone: exit status 1" in said.getvalue():
        return []
    return [f"a component that cannot be had: {installed}, {said.getvalue()}"]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "fake.py").write_text(FAKE, encoding="utf-8")
        marker = f"1000.{os.getpid()}"
        (scratch / "ctest.py").write_text(FAKE_CTEST, encoding="utf-8")
        words = {"sleep": marker, "fake": f"{sys.executable} {scratch / 'fake.py'}",
                 "ctest": f"{sys.executable} {scratch / 'ctest.py'}"}
        runs = "".join(f'<run name="{name}" {more}>{command.format(**words)}</run>' 
                       for name, more, command, _ in PLANTED if command)
        sets = scratch / "sets.xml"
        meet = 'bash -c "touch {0}.{1}; for i in $(seq 600); do test -e {0}.{2} &amp;&amp; exit 0; sleep 0.1; done; exit 1"'
        together = "".join(f'<run name="{a}" processors="1">{meet.format(scratch / "here", a, b)}</run>' for a, b in ("xy", "yx"))
        alone = f'<run name="alone">test -e {scratch}/here.x -a -e {scratch}/here.y</run>'
        sets.write_text(f'<rtest><set name="planted">{runs}</set><set name="fine"><run name="a">true</run></set>'
                        f'<set name="together">{together}{alone}</set>'
                        f'<set name="long"><run name="sleep">sleep {marker}</run><run name="never">true</run></set></rtest>',
                        encoding="utf-8")

        call = [sys.executable, str(ROOT / "rtest.py"), "--sets", str(sets), "--build-dir", folder, "-j", str(JOBS)]

        def rtest(*arguments):
            return subprocess.run([*call, *arguments], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)

        started = time.monotonic()
        result = rtest("-t", "planted")
        lines = result.stdout.splitlines()
        summary = {line.split()[0]: line for line in lines[lines.index("== summary") + 1:] if line[:1].strip()}
        expected = {name: counts for name, _, _, counts in PLANTED if counts}
        for name, (passed, failed) in expected.items():
            words = summary.get(name, "").split()
            if words[1:5] != [str(passed), "passed", str(failed), "failed"] and \
                    words[1:5] != [str(passed), "passed", str(failed), "failed,"]:
                problems.append(f"{name}: wanted {passed} passed, {failed} failed: {summary.get(name)}")
        last = f"{sum(c[0] for c in expected.values())} passed, {sum(c[1] for c in expected.values())} failed"
        if lines[-1] != last:
            problems.append(f"last line: wanted {last}: {lines[-1]}")
        for line in ("failed: exit", "failed: failed_test: Suite.Name", "    x.c:1", "failed: each-7: Suite.Name", "    reason7",
                     "failed: ctest_bad: b", "    said why", "failed: one_of_two", "    exit status 3", "    this is why",
                     "failed: crashed_test", "    [ RUN      ] Suite.Name", "    WARNING: ThreadSanitizer: data race"):
            if line not in lines:
                problems.append(f"no line \"{line}\"")
        if "fine" in lines or "printed" in lines:
            problems.append("what a run prints is on the terminal")
        for number, line in enumerate((line for line in lines if line.startswith("[")), 1):
            if not line.startswith(f"[{number:{len(str(len(expected)))}}/{len(expected)}] "):
                problems.append(f"line {number} of {len(expected)} runs: {line}")
        if not all((scratch / "rtest" / f"{name}.log").exists() for name in ("exit", "tests.1", "ctest_bad")):
            problems.append("a log is not there")
        if result.returncode != 1:
            problems.append(f"exit status {result.returncode} for a set that fails")
        if alive(marker):
            problems.append("a process outlived its run")
        if time.monotonic() - started > 60:
            problems.append("the limit of a second was not kept")
        fine = rtest("-t", "fine")
        if fine.returncode != 0 or fine.stdout.splitlines()[-1] != "1 passed, 0 failed":
            problems.append(f"a set that passes: {fine.stdout}")
        if rtest("-t", "together").stdout.splitlines()[-1] != "3 passed, 0 failed":
            problems.append("runs of one processor did not run together, or another one did not wait for them")
        with subprocess.Popen([*call, "-t", "long"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as stopped:
            while not alive(marker) and stopped.poll() is None:
                time.sleep(0.05)
            stopped.send_signal(signal.SIGTERM)
            last = stopped.communicate()[0].splitlines()[-1]
        if stopped.returncode != 1 or last != "0 passed, 1 failed" or alive(marker):
            problems.append(f"a signal: exit status {stopped.returncode}, {last}")
        if rtest("-t", "nowhere").returncode == 0 or rtest("-t", "fine", "-g", "x").returncode == 0:
            problems.append("nothing to run was called a pass")
        fake = f"{sys.executable} {scratch / 'fake.py'}"
        problems += check_elsewhere_counts(scratch / "elsewhere", fake)
        problems += check_packages(scratch / "packages")
    problems += check_elsewhere()
    for problem in problems:
        print(problem)
    print(f"check_rtest: {len(PLANTED)} planted runs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
