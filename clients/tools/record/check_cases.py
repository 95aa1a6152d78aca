#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs programs with and without libjalloc_record.so: what they do is the same, whatever becomes of their trace, and the
trace is whole or says why not. First the situations of record_cases, then programs of others: python3, bash, git, gcc and
perl, each if it is there.

    check_cases.py LIBRARY RECORD_CASES"""

import collections
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from check_record import check_order, read

EVENTS, FIRST, SECOND = 2000, 5000, 7000  # as in record_cases.c
HANGS_SECONDS = 50  # a program that needs so long waits for something that does not come


class Checker:
    """The library, the program of situations, and a folder of a case's own."""

    def __init__(self, library, cases, folder):
        self.library, self.cases, self.folder = pathlib.Path(library).resolve(), pathlib.Path(cases).resolve(), folder
        self.name, self.trace = "", None

    def begin(self, name):
        self.name = name
        place = self.folder / name.replace(" ", "_")
        place.mkdir()
        self.trace = place / "trace.csv"
        return place

    def require(self, condition, what):
        if not condition:
            sys.exit(f"check_cases: {self.name}: {what}")

    def environment(self, trace=None, **variables):
        env = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_RECORD")}
        return dict(env, LD_PRELOAD=str(self.library), JALLOC_RECORD_HEAP=str(trace or self.trace), **variables)

    def start(self, command, env, place, **options):
        return subprocess.Popen([str(word) for word in command], env=env, cwd=place, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def finish(self, process, text=b""):
        try:
            out, err = process.communicate(text, timeout=HANGS_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            self.require(False, f"{process.args} hangs")
        return process.returncode, out, err.decode()

    def run(self, command, place, **variables):
        return self.finish(self.start(command, self.environment(**variables), place))

    def sizes(self, path=None):
        """The trace in order; how many allocations of each size it has."""
        rows = read(path or self.trace)
        stopped = [row for row in rows if row["Action"] == "stopped"]
        check_order([row for row in rows if row["Action"] != "stopped"])
        self.require(stopped in ([], rows[-1:]), "the trace goes on after it has stopped")
        return collections.Counter(row["Size"] for row in rows if row["Action"] == "allocate"), stopped

    def whole(self, expected, path=None):
        sizes, stopped = self.sizes(path)
        found = {size: sizes[size] for size in (FIRST, SECOND)}
        self.require(found == expected and not stopped, f"{found} events, where there were {expected}; {stopped}")

    # ---- Situations ----

    def check_descriptors(self):
        for name in ("close", "close-all"):
            place = self.begin(name)
            self.require(self.run([self.cases, name], place)[0] == 0, "failed")
            for path in place.glob("data*"):
                self.require(path.read_bytes() == b"mine\n", f"the recorder wrote to {path.name}")
            self.whole({FIRST: EVENTS, SECOND: EVENTS})
        place = self.begin("close-all with a trace that cannot be written")
        env = self.environment()
        process = self.start([self.cases, "close-all"], env, place,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150000, 150000)))
        self.require(self.finish(process)[0] == 0, "failed")
        for path in place.glob("data*"):
            self.require(path.read_bytes() == b"mine\n", f"the recorder wrote to {path.name}")

    def check_ends(self):
        for name, code, expected in (("vfork", 0, {FIRST: EVENTS, SECOND: EVENTS}),
                                     ("cancel", 0, {FIRST: EVENTS, SECOND: EVENTS}),
                                     ("quick", 3, {FIRST: EVENTS, SECOND: 0})):
            place = self.begin(name)
            found = self.run([self.cases, name], place)
            self.require(found == (code, b"", ""), f"{found}")
            self.whole(expected)
        place = self.begin("fork")
        found = self.run([self.cases, "fork"], place)
        self.require(found == (0, b"", ""), f"{found}")
        self.require(self.sizes()[0][SECOND] == 0, "a child is in its parent's trace")
        place = self.begin("signal")
        for _ in range(20):
            found = self.run([self.cases, "signal"], place)
            self.require(found[:2] == (7, b""), f"{found}")
        self.require(self.sizes()[0][FIRST] > 0, "an _exit in a signal handler loses the trace")

    def check_file(self):
        """What others do to the trace while it is written."""
        def replace(trace):
            trace.rename(trace.with_suffix(".old"))
            trace.write_bytes(b"mine\n")
        def empty(trace):
            trace.write_bytes(b"")
        def add(trace):
            with open(trace, "ab") as file:
                file.write(b"mine\n")
        for change, said in ((replace, "another file"), (empty, "others write"), (add, "others write"),
                             (pathlib.Path.unlink, "not there")):
            place = self.begin(f"wait {change.__name__}")
            process = self.start([self.cases, "wait"], self.environment(), place)
            self.require(process.stdout.readline() == b"ready\n", "not ready")
            change(self.trace)
            before = self.trace.read_bytes() if self.trace.exists() else None
            code, _, err = self.finish(process, b"go\n")
            self.require(code == 0 and err.count("\n") == 1 and said in err, f"{code}: {err}")
            after = self.trace.read_bytes() if self.trace.exists() else None
            self.require(before == after, "the recorder wrote into what is not its own")

    def check_limits(self):
        place = self.begin("wait with a limit")
        limit = 100000
        process = self.start([self.cases, "wait"], self.environment(), place,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        code, _, err = self.finish(process, b"go\n")
        self.require(code == 0 and err.count("\n") == 1 and "as long as a file may be" in err, f"{code}: {err}")
        stopped = self.sizes()[1]
        self.require(len(stopped) == 1 and "as long" in stopped[0]["Tag"], "the last line does not say why")
        place = self.begin("wait with a pipe")
        ends = os.pipe()
        process = self.start([self.cases, "wait"], self.environment(f"/dev/fd/{ends[1]}"), place, pass_fds=ends[1:])
        self.require(os.read(ends[0], 6) == b"Thread", "no header in the pipe")
        os.close(ends[0])
        os.close(ends[1])
        code, _, err = self.finish(process, b"go\n")
        self.require(code == 0 and err.count("\n") == 1 and "nobody reads it" in err, f"{code}: {err}")

    def check_children(self):
        place = self.begin("children")
        found = self.run([self.cases, "children"], place)
        self.require(found == (0, b"", ""), f"{found}")
        self.whole({FIRST: EVENTS, SECOND: 0})
        self.require(len(list(place.glob("*.csv"))) == 1, "children have files that nobody asked for")
        place = self.begin("children followed")
        found = self.run([self.cases, "children"], place, trace="trace-%p.csv")  # the folder is the first program's
        self.require(found == (0, b"", ""), f"{found}")
        traces = sorted(place.glob("trace-*.csv"))
        counts = collections.Counter(tuple(self.sizes(path)[0][size] for size in (FIRST, SECOND)) for path in traces)
        self.require(counts == {(EVENTS, 0): 1, (0, EVENTS): 1, (EVENTS, EVENTS): 1}, f"{traces}: {counts}")

    # ---- Programs of others ----

    def check_program(self, name, command, traces_at_least=1, min_bytes=1024):
        """A program with the recorder, with children followed, and without: output, status and files are the same."""
        if shutil.which(command[0]) is None:
            print(f"check_cases: {name} is skipped: no {command[0]} is installed")
            return
        outcomes = []
        for way in ("without", "recorded", "followed"):
            place = self.begin(f"{name} {way}")
            traces = self.folder / f"{name}-{way}"
            traces.mkdir()
            env = {key: value for key, value in os.environ.items() if not key.startswith(("JALLOC_RECORD", "GIT_"))}
            if way != "without":
                file = "trace.csv" if way == "recorded" else "trace-%p.csv"
                env = self.environment(traces / file, JALLOC_RECORD_HEAP_MIN_BYTES=str(min_bytes))
            env.update(HOME=str(place), GIT_CONFIG_NOSYSTEM="1", LC_ALL="C", TMPDIR=str(traces))
            outcome = self.finish(self.start(command, env, place))
            files = {path.relative_to(place): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
            outcomes.append((outcome, files))
            found = sorted(traces.glob("trace*.csv"))
            least = {"without": 0, "recorded": 1, "followed": traces_at_least}[way]
            self.require(len(found) >= least and (way == "followed" or len(found) == least), f"traces: {found}")
            for path in found:
                sizes, stopped = self.sizes(path)
                self.require(not stopped and min(sizes, default=min_bytes) >= min_bytes, f"{path}: {stopped}")
        for way, outcome in zip(("recorded", "followed"), outcomes[1:]):
            self.require(outcome[0] == outcomes[0][0], f"{way}: {outcome[0]}, without {outcomes[0][0]}")
            self.require(outcome[1].keys() == outcomes[0][1].keys(), f"{way}: other files")
            for path, content in outcome[1].items():
                self.require(content == outcomes[0][1][path], f"{way}: another content of {path}")

    def check_programs(self):
        python = """
import os, subprocess, sys, threading
try:
    subprocess.run(["/no/such/program"])
except FileNotFoundError:
    print("missing")
threads = [threading.Thread(target=lambda: [bytearray(9000) for _ in range(2000)]) for _ in range(4)]
[thread.start() for thread in threads]
child = os.fork()
if child == 0:
    print(sum(len(bytearray(5000)) for _ in range(100)))
    sys.stdout.flush()
    os._exit(4)
[thread.join() for thread in threads]
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), subprocess.run(["echo", "hello"]).returncode)
sys.exit(3)
"""
        bash = """
exec 3>out.txt 4>more.txt
for i in {1..300}; do echo $i >&3; a+=$(printf %05000d $i); done
echo "done" >&4; exec 2>errors.txt
no-such-command; sleep 0.01 & wait; (echo sub; exit 4); echo $? ${#a}; exit 3
"""
        git = """
git() { command git -c user.name=n -c user.email=e@e -c init.defaultBranch=main -c gc.auto=0 "$@"; }
export GIT_AUTHOR_DATE='2000-01-01 00:00 +0000' GIT_COMMITTER_DATE='2000-01-01 00:00 +0000'
git init -q repository && cd repository || exit 1
for i in 1 2 3; do seq $((i * 10000)) > file$i; git add . && git commit -q -m $i; done
git log -p | sha1sum; git fsck --no-progress; git status --short; rm -rf .git/index; git diff --stat HEAD~2 HEAD
"""
        gcc = """
printf '#include <stdio.h>\\n#include <stdlib.h>\\nint main(void) { puts("compiled"); return 3; }\\n' > a.c
gcc -O2 -c a.c && gcc -o a a.o && ./a; echo $?; gcc -c missing.c; echo $?
"""
        perl = """
my %h; $h{$_} = "x" x ($_ % 3000) for 1 .. 3000;
my $n = 0; $n += length $h{$_} for sort keys %h; print "$n\\n";
open(my $f, ">", "out.txt"); print $f "mine\\n" x 10000; close $f;
my $pid = fork; if (!$pid) { my @a = map { "y" x 4000 } 1 .. 100; print scalar(@a), "\\n"; exit 4 }
waitpid $pid, 0; print $? >> 8, "\\n"; system("no-such-command"); print `echo hello`; exit 3
"""
        quiet = ["-W", "ignore::DeprecationWarning"]  # of a fork beside threads, which names the process
        self.check_program("python3", [sys.executable, *quiet, "-c", python], 2)
        self.check_program("bash", ["bash", "-c", bash], 2, min_bytes=4096)
        if shutil.which("git"):
            self.check_program("git", ["bash", "-c", git], 5)
        if shutil.which("gcc"):
            self.check_program("gcc", ["bash", "-c", gcc], 4)
        self.check_program("perl", ["perl", "-e", perl], 2, min_bytes=64)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(*sys.argv[1:], pathlib.Path(folder))
        for name in sorted(dir(checker)):
            if name.startswith("check_") and name != "check_program":
                getattr(checker, name)()
    print("check_cases: programs do what they do without the recorder")


if __name__ == "__main__":
    main()
