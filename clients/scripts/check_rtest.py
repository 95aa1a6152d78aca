#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""rtest.py must not call a failure a pass: planted runs fail in every way there is, and each must be counted."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A stand-in for a test program: writes the report that it is told, to where GoogleTest would, and exits as told.
FAKE = """import sys
report, status = sys.argv[1], int(sys.argv[2])
path = [a.split("xml:")[1] for a in sys.argv if a.startswith("--gtest_output=")][0]
if report != "none":
    cases = {"good": '<testcase status="run" result="completed"/>',
             "bad": '<testcase status="run" result="completed"><failure message="x"/></testcase>',
             "skip": '<testcase status="run" result="skipped"><skipped/></testcase>',
             "off": '<testcase status="notrun" result="suppressed"/>', "": ""}
    open(path, "w").write("<testsuites>" + "".join(cases[c] for c in report.split(",")) + "</testsuites>")
sys.exit(status)
"""

# name, attributes, command, (passed, failed)
PLANTED = [
    ("good", "", "true", (1, 0)),
    ("exit", "", "false", (0, 1)),
    ("word", "", "echo 1 failed", (1, 0)),
    ("hang", 'limit="1"', 'bash -c "sleep {sleep} &amp; sleep {sleep}"', (0, 1)),
    ("orphan", "", 'bash -c "sleep {sleep} &amp;"', (1, 0)),
    ("absent", "", "/nowhere/program", (0, 1)),
    ("signal", "", 'bash -c "kill -SEGV $$"', (0, 1)),
    ("tests", 'kind="gtest"', "{fake} good,good,skip,off 0", (2, 0)),
    ("failed_test", 'kind="gtest"', "{fake} good,bad 1", (1, 1)),
    ("failed_test_exit_0", 'kind="gtest"', "{fake} good,bad 0", (1, 1)),
    ("failed_at_exit", 'kind="gtest"', "{fake} good,good 66", (2, 1)),
    ("no_report", 'kind="gtest"', "{fake} none 0", (0, 1)),
    ("no_test", 'kind="gtest"', "{fake} off 0", (0, 1)),
    ("empty_report", 'kind="gtest"', '{fake} "" 0', (0, 1)),
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


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "fake.py").write_text(FAKE, encoding="utf-8")
        marker = f"1000.{os.getpid()}"
        words = {"sleep": marker, "fake": f"{sys.executable} {scratch / 'fake.py'}"}
        runs = "".join(f'<run name="{name}" {more}>{command.format(**words)}</run>' for name, more, command, _ in PLANTED)
        sets = scratch / "sets.xml"
        sets.write_text(f'<rtest><set name="planted">{runs}</set><set name="fine"><run name="a">true</run></set></rtest>',
                        encoding="utf-8")

        def rtest(*arguments):
            return subprocess.run([sys.executable, str(ROOT / "rtest.py"), "--sets", str(sets), "--build-dir", folder,
                                   *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

        started = time.monotonic()
        result = rtest("-t", "planted")
        lines = result.stdout.splitlines()
        summary = {line.split()[0]: line for line in lines[lines.index("== summary") + 1:]}
        for name, _, _, (passed, failed) in PLANTED:
            words = summary.get(name, "").split()
            if words[1:5] != [str(passed), "passed", str(failed), "failed"] and \
                    words[1:5] != [str(passed), "passed", str(failed), "failed,"]:
                problems.append(f"{name}: wanted {passed} passed, {failed} failed: {summary.get(name)}")
        last = f"{sum(c[0] for *_, c in PLANTED)} passed, {sum(c[1] for *_, c in PLANTED)} failed"
        if lines[-1] != last:
            problems.append(f"last line: wanted {last}: {lines[-1]}")
        if result.returncode != 1:
            problems.append(f"exit status {result.returncode} for a set that fails")
        if alive(marker):
            problems.append("a process outlived its run")
        if time.monotonic() - started > 60:
            problems.append("the limit of a second was not kept")
        fine = rtest("-t", "fine")
        if fine.returncode != 0 or fine.stdout.splitlines()[-1] != "1 passed, 0 failed":
            problems.append(f"a set that passes: {fine.stdout}")
        if rtest("-t", "nowhere").returncode == 0 or rtest("-t", "fine", "-g", "x").returncode == 0:
            problems.append("nothing to run was called a pass")
    for problem in problems:
        print(problem)
    print(f"check_rtest: {len(PLANTED)} planted runs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
