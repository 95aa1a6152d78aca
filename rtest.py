#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Builds jalloc and runs a set of tests from rtest.xml.

On a fresh machine it installs what is missing, configures, builds with warnings as errors, and runs the set. The exit
status is the verdict: 0 when every run of the set ran and passed. A run fails by its exit status, by exceeding its time
limit (its whole process group is killed), by a test that its XML reports as failed, by testing nothing, and by not being
there. The last line of the output is "N passed, N failed"; tests count one each, and so does every other run.

While it works it prints a line for each run that has ended; at the end the tests that failed, with their messages. All
else that the runs print goes into files beside the reports.

As many processes run at a time as there are processors (-j). A run of GoogleTest is divided into so many; a run that needs
one processor leaves the others to those around it; any other has the machine to itself."""

import argparse
import collections
import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(__file__).resolve().parent
KILL_GRACE_S = 5  # from the polite signal to the other one
BUILD_LIMIT_S = 3600
MESSAGE_LINES = 40  # of one failure, at the end of the output
TAIL_LINES = 30  # of the log of a run that failed without naming a test
REPORTS = ("WARNING: ThreadSanitizer", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:")
MESSAGES = 40  # failures that are shown with their messages; of more, the names
SKIPPED = 77  # exit status of a condition that does not hold, as CTest and Automake have it

Run = collections.namedtuple("Run", "name command build targets kind processors limit needs env condition")
Result = collections.namedtuple("Result", "passed failed skipped seconds note failures", defaults=((),))
Failure = collections.namedtuple("Failure", "name message")


def say(text):
    print(f"== {text}", flush=True)


def processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- rtest.xml --------------------------------------------------------------------------------------------------------


def words_of(element, name):
    return [word for word in element.get(name, "").split(",") if word]


def read_runs(element):
    """The runs that one element means: with <each>, one for each value."""
    name = element.attrib["name"]
    text = " ".join([element.text or ""] + [child.tail or "" for child in element]).split()
    if not text:
        raise ValueError(f"run {name}: no command")
    run = Run(name, " ".join(text), element.get("build"), words_of(element, "targets"), element.get("kind"),
              element.get("processors", "all"), int(element.get("limit", "600")), words_of(element, "needs"),
              {e.attrib["name"]: e.attrib["value"] for e in element.findall("env")}, None)
    each = element.find("each")
    if each is None:
        return [run]
    return [run._replace(name=f"{name}-{value}", env={**run.env, each.attrib["env"]: value}, condition=each.get("if"))
            for value in each.attrib["values"].split()]


def read_sets(path):
    """{name: (about, [run, ...])}, with the sets that a set uses put in their places."""
    elements = {e.attrib["name"]: e for e in ElementTree.parse(path).getroot().findall("set")}

    def runs_of(name, path_here):
        if name in path_here or name not in elements:
            raise ValueError(f"set {name}: " + ("uses itself" if name in path_here else "does not exist"))
        runs = {}
        for child in elements[name]:
            if child.tag == "use":
                found = runs_of(child.attrib["set"], path_here + [name])
            elif child.tag == "run":
                found = read_runs(child)
            else:
                raise ValueError(f"set {name}: <{child.tag}>")
            for run in found:
                if runs.setdefault(run.name, run) != run:
                    raise ValueError(f"set {name}: two different runs named {run.name}")
        return list(runs.values())

    return {name: (e.get("about", ""), runs_of(name, [])) for name, e in elements.items()}


# ---- running ----------------------------------------------------------------------------------------------------------


def kill_group(process):
    """Ends a process group, politely first. Harmless when it is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(KILL_GRACE_S)
        except (ProcessLookupError, PermissionError):
            break
        except subprocess.TimeoutExpired:
            continue


class Task:
    """A process in a group of its own, with a limit; what it prints goes to the end of a file."""

    def __init__(self, command, limit_s, log, env=None):
        self.limit_s, self.process, self.problem = limit_s, None, None
        with log.open("ab") as output:
            output.write(("+ " + " ".join(shlex.quote(part) for part in command) + "\n").encode())
            output.flush()
            self.deadline = time.monotonic() + limit_s
            try:
                self.process = subprocess.Popen(command, cwd=SOURCE, env=env, start_new_session=True, stdout=output,
                                                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
            except OSError as error:
                self.problem = f"could not be started: {error}"

    def finish(self):
        """Waits for it, until its limit; None for a good end, else what went wrong."""
        if self.process is None:
            return self.problem
        try:
            status = self.process.wait(max(0.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return f"exceeded its {self.limit_s} seconds and was killed"
        finally:
            self.kill()  # also what a finished leader left running
        if status < 0:
            return f"ended by signal {-status}"
        return None if status == 0 else f"exit status {status}"

    def kill(self):
        if self.process is not None:
            kill_group(self.process)
            self.process.wait()


class Slots:
    """The processors, taken by runs in their order."""

    def __init__(self, count):
        self.count, self.free, self.changed = count, count, threading.Condition()

    def take(self, count):
        with self.changed:
            self.changed.wait_for(lambda: self.free >= count)
            self.free -= count

    def give(self, count):
        with self.changed:
            self.free += count
            self.changed.notify_all()


# ---- reports ----------------------------------------------------------------------------------------------------------


def merge_reports(parts, report):
    """One report of those of a run's processes; what is wrong, or None."""
    merged, problem = ElementTree.Element("testsuites"), None
    for part in parts:
        try:
            merged.extend(ElementTree.parse(part).getroot())
            part.unlink()
        except (OSError, ElementTree.ParseError):
            problem = problem or f"{part.stem} wrote no report"
    if len(merged):
        ElementTree.ElementTree(merged).write(report, encoding="utf-8", xml_declaration=True)
    return problem


def message_of(case):
    """What a test case says about its failure: GoogleTest in the failures, CTest in the output."""
    texts = [e.get("message") or e.text or "" for e in case if e.tag in ("failure", "error")]
    return "\n".join(texts + [e.text or "" for e in case.findall("system-out")]).strip()


def read_report(path):
    """(passed, failures, skipped) of an XML report of GoogleTest's or CTest's; None when there is none that can be read."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    failures, good = [], 0
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            suite, name = case.get("classname"), case.get("name")
            failures.append(Failure(name if suite in (None, name) else f"{suite}.{name}", message_of(case)))
        elif case.get("status") == "run" and case.get("result", "completed") == "completed":
            good += 1
    return good, failures, len(cases) - good - len(failures)


def write_cases(path, name, classname, cases, seconds=0.0):
    """A report of (name, problem) each, None where there is none, that took so long together."""
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(cases)), time=f"{seconds:.3f}",
                                failures=str(sum(problem is not None for _, problem in cases)))
    for case, problem in cases:
        element = ElementTree.SubElement(suite, "testcase", name=case, classname=classname, status="run")
        if problem is not None:
            ElementTree.SubElement(element, "failure", message=problem)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def write_junit(path, name, seconds, problem):
    write_cases(path, name, "rtest", [(name, problem)], seconds)


def report_of(lines):
    """The first thing that a sanitizer reported, below the test it came up in: it may be far from the log's end."""
    first = next((n for n, line in enumerate(lines) if any(words in line for words in REPORTS)), None)
    if first is None:
        return []
    begun = [line for line in lines[:first] if line.startswith("[ RUN ")]
    return begun[-1:] + lines[first:first + MESSAGE_LINES - 2]


def tail(logs):
    """The ends of logs, what a sanitizer reported, and the test that a program was in when it ended."""
    texts = []
    for log in logs:
        with contextlib.suppress(OSError):
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            texts += report_of(lines[:-TAIL_LINES])
            begun = [n for n, line in enumerate(lines) if line.startswith("[ RUN ")]
            inside = begun and not any(line.startswith(("[  FAILED  ]", "[       OK ]", "[  SKIPPED ]"))
                                       for line in lines[begun[-1]:])
            texts += lines[max(begun[-1] if inside else 0, len(lines) - TAIL_LINES):] + [f"({log})"]
    return "\n".join(texts)


def judge(problem, report, kind, name, logs):
    """(passed, failed, skipped, note, failures) from how a run ended and what it reported. A run may fail as a whole."""
    counts = read_report(report) if kind else None if problem else (1, [], 0)
    passed, failures, skipped = counts or (0, [], 0)
    if counts is None:
        problem = problem or "wrote no report"
    elif passed + len(failures) == 0:
        problem = problem or "executed no test"
    if problem and not failures:  # of a good report a sanitizer's finding at exit, for example
        return passed, 1, skipped, problem, (Failure(name, f"{problem}\n{tail(logs)}"),)
    note = ", ".join(filter(None, (f"{len(failures)} failed" if failures else "", problem)))
    return passed, len(failures), skipped, note, \
        tuple(failure._replace(name=f"{name}: {failure.name}") for failure in failures)


class Session:
    """One call of rtest.py: where things are, which presets are built, what runs, what came out."""

    def __init__(self, arguments, runs):
        self.jobs = arguments.jobs
        self.filter = arguments.filter
        self.build_dir = (arguments.build_dir or SOURCE / "build").resolve()
        self.out = (arguments.output or self.build_dir / "rtest").resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.built = {}  # preset -> None, or what went wrong
        self.targets = {}  # preset -> those that its runs need; empty: all
        for run in runs:
            known = self.targets.setdefault(run.build, list(run.targets))
            self.targets[run.build] = sorted({*known, *run.targets}) if known and run.targets else []
        names = [f"build-{preset}" for preset in self.targets if preset] + [run.name for run in runs]
        self.results = dict.fromkeys(names)  # None: not yet
        self.count = self.left = len(names)
        self.slots = Slots(self.jobs)
        self.lock = threading.RLock()  # of what follows, of the results and of the terminal
        self.running = {}  # name -> when it began
        self.tasks, self.waiting = [], []  # all that was started; threads that wait for it
        self.stopping = threading.Event()
        self.tty = sys.stdout.isatty()
        self.ticker = threading.Thread(target=self.tick, daemon=True)
        self.ticker.start()

    def tick(self):
        """Says what is being done: in the terminal's last line, or once a minute."""
        while not self.stopping.wait(1 if self.tty else 60):
            with self.lock:
                now = ", ".join(f"{name} {time.monotonic() - since:.0f} s" for name, since in self.running.items())
                if now and self.tty:
                    text = f"{'':{2 * len(str(self.count)) + 3}} {now}"
                    print(f"\r\033[K{text[:shutil.get_terminal_size().columns - 1]}", end="", flush=True)
                elif now:
                    print(f"   running: {now}", flush=True)

    def begin(self, name):
        with self.lock:
            self.running[name] = time.monotonic()
        return self.running[name]

    def record(self, name, started, passed, failed, skipped, note, failures):
        """Enters a result and prints its line: how many of how many, what it was, how long it took."""
        result = Result(passed, failed, skipped, time.monotonic() - started, note, failures)
        verdict = f"FAILED: {note}" if failed else f"{passed} passed" if passed else "skipped"
        verdict += f", {skipped} skipped" if passed and skipped else f", {note}" if note and not failed else ""
        with self.lock:
            self.running.pop(name, None)
            self.results[name] = result
            self.left -= 1
            width = len(str(self.count))
            print(("\r\033[K" if self.tty else "") + f"[{self.count - self.left:{width}}/{self.count}] "
                  f"{name:{max(map(len, self.results))}}  {verdict}  ({result.seconds:.1f} s)", flush=True)

    def task(self, *arguments):
        """Starts a task that ends when all is stopped. The main thread alone starts tasks."""
        with self.lock:
            self.tasks.append(Task(*arguments))
        return self.tasks[-1]

    def execute(self, *arguments):
        return self.task(*arguments).finish()

    def fresh(self, name):
        log = self.out / f"{name}.log"
        log.unlink(missing_ok=True)
        return log

    def build(self, preset):
        """Configures and builds a preset once; it counts as a run."""
        if preset in self.built:
            return self.built[preset]
        self.slots.take(self.jobs)
        name, folder = f"build-{preset}", self.build_dir / preset
        started, log, env = self.begin(name), self.fresh(name), dict(os.environ)
        if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists():
            env.setdefault("CMAKE_GENERATOR", "Ninja")
        problem = self.execute(["cmake", "--preset", preset, "-B", str(folder)], BUILD_LIMIT_S, log, env)
        targets = ["--target", *self.targets[preset]] if self.targets[preset] else []
        problem = problem or self.execute(["cmake", "--build", str(folder), "--parallel", str(self.jobs), *targets],
                                          BUILD_LIMIT_S, log)
        self.built[preset] = problem
        write_junit(self.out / f"{name}.xml", name, time.monotonic() - started, problem)
        self.record(name, started, *judge(problem, None, None, name, [log]))
        self.slots.give(self.jobs)
        return problem

    def start(self, run):
        """Starts a run when processors are free for it; a thread waits for it."""
        problem = f"{run.build} did not build" if run.build and self.build(run.build) else None
        report = self.out / f"{run.name}.xml"
        report.unlink(missing_ok=True)  # an old report must not speak for a run that died
        if problem:
            write_junit(report, run.name, 0.0, problem)
            self.record(run.name, time.monotonic(), 0, 1, 0, problem, (Failure(run.name, problem),))
            return
        processors = self.jobs if run.processors == "all" else min(self.jobs, int(run.processors))
        first = 1 if run.kind == "gtest" else processors
        self.slots.take(first)
        places = {"build": self.build_dir / (run.build or ""), "source": SOURCE, "python": sys.executable,
                  "jobs": self.jobs, "out": self.out, "build_dir": self.build_dir}
        command = [part.format(**places) for part in shlex.split(run.command)]
        env = dict(os.environ, **{name: value.format(**places) for name, value in run.env.items()})
        started = self.begin(run.name)
        if run.condition:
            problem = self.execute([part.format(**places) for part in shlex.split(run.condition)], run.limit,
                                   self.fresh(run.name), env)
            if problem:
                if problem == f"exit status {SKIPPED}":
                    self.record(run.name, started, 0, 0, 1, "cannot be run here", ())
                else:
                    write_junit(report, run.name, time.monotonic() - started, problem)
                    self.record(run.name, started, 0, 1, 0, problem, (Failure(run.name, problem),))
                self.slots.give(first)
                return
        if run.kind == "gtest":
            command += [f"--gtest_filter={self.filter}"] if self.filter else []
        parts = [report.with_suffix(f".{n + 1}.xml") for n in range(processors)] if run.kind == "gtest" else [report]
        logs = [self.fresh(part.stem) for part in parts]
        problems, threads = [None] * len(parts), []

        def wait(index, task):
            problems[index] = task.finish()
            self.slots.give(first)

        for index, (part, log) in enumerate(zip(parts, logs)):
            part.unlink(missing_ok=True)
            more, shard = {None: ([], {}), "ctest": (["--output-junit", str(part)], {}),
                           "gtest": ([f"--gtest_output=xml:{part}"], {"GTEST_TOTAL_SHARDS": str(len(parts)),
                                                                      "GTEST_SHARD_INDEX": str(index)})}[run.kind]
            if index:
                self.slots.take(1)
            task = self.task(command + more, run.limit, log, dict(env, **shard))
            threads.append(threading.Thread(target=wait, args=(index, task)))
            threads[-1].start()

        def end():
            for thread in threads:
                thread.join()
            lost = merge_reports(parts, report) if run.kind == "gtest" else None
            problem = "; ".join(sorted({p for p in problems if p})) or lost
            to_blame = [log for log, bad in zip(logs, problems) if bad] or logs
            verdict = judge(problem, report, run.kind, run.name, to_blame)
            if not report.exists():
                write_junit(report, run.name, time.monotonic() - started, problem)
            if not self.stopping.is_set():
                self.record(run.name, started, *verdict)

        self.waiting.append(threading.Thread(target=end))
        self.waiting[-1].start()

    def run(self, runs):
        try:
            for run in runs:
                self.start(run)
            for thread in self.waiting:
                thread.join()
        except KeyboardInterrupt:
            self.stopping.set()
            for task in self.tasks:
                task.kill()
            for thread in self.waiting:
                thread.join()
            self.results["interrupted"] = Result(0, 1, 0, 0.0, "stopped by a signal",
                                                 (Failure("interrupted", "stopped by a signal"),))
        self.stopping.set()
        self.ticker.join()

    def summary(self):
        results = {name: result for name, result in self.results.items() if result is not None}
        say("summary")
        width = max(map(len, results))
        for name, result in results.items():
            skipped = f", {result.skipped} skipped" if result.skipped else ""
            note = f"  {result.note}" if result.note else ""
            print(f"{name:{width}}  {result.passed:6} passed {result.failed:4} failed{skipped}"
                  f"  {result.seconds:8.1f} s{note}")
        for number, failure in enumerate(f for result in results.values() for f in result.failures):
            print(f"failed: {failure.name}")
            lines = failure.message.splitlines() if number < MESSAGES else []
            left_out = len(lines) - MESSAGE_LINES - TAIL_LINES
            if left_out > 0:
                lines[MESSAGE_LINES:-TAIL_LINES] = [f"... {left_out} lines"]
            for line in lines:
                print(f"    {line}")
        failed = sum(r.failed for r in results.values())
        print(f"reports and logs: {self.out}")
        print(f"{sum(r.passed for r in results.values())} passed, {failed} failed", flush=True)
        return 1 if failed else 0


def install_packages(needs):
    """In this process's session, and with its terminal: sudo may ask for a password. Where not all can be had, each
    component is asked for by itself, so that one does not keep the others away."""
    say("packages")
    started = time.monotonic()

    def install(components):
        command = [str(SOURCE / "install.sh"), "--dependencies-only", "--components", ",".join(components)]
        try:
            status = subprocess.run(command, cwd=SOURCE, check=False, timeout=BUILD_LIMIT_S).returncode
            return f"exit status {status}" if status else None
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)

    problems = {}
    if install(needs):
        problems = {need: problem for need in needs if (problem := install([need]))}
    for need, problem in problems.items():
        say(f"packages of {need}: {problem}; going on with what is there ({time.monotonic() - started:.0f} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--set", default="quick", help="the set to run (quick)")
    parser.add_argument("-g", "--filter", help="a GoogleTest filter; runs without GoogleTest are left out")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder for the JUnit XML (build/rtest)")
    parser.add_argument("--sets", type=pathlib.Path, default=SOURCE / "rtest.xml", help="the file of sets (rtest.xml)")
    parser.add_argument("--list", action="store_true", help="show the sets and their runs")
    parser.add_argument("--no-dependencies", action="store_true", help="install no packages")
    parser.add_argument("--build-dir", type=pathlib.Path, help="folder of the build folders (build)")
    parser.add_argument("-j", "--jobs", type=int, default=processors(), help="processes at a time (all processors)")
    arguments = parser.parse_args()
    try:
        sets = read_sets(arguments.sets)
    except (OSError, ValueError, KeyError, ElementTree.ParseError) as error:
        parser.exit(2, f"{arguments.sets}: {error}\n")
    if arguments.list:
        for name, (about, runs) in sets.items():
            print(f"{name:12} {about}\n{'':12}   {' '.join(run.name for run in runs)}")
        return 0
    if arguments.set not in sets:
        parser.error(f"no set {arguments.set}; there are {' '.join(sets)}")
    runs = sets[arguments.set][1]
    if arguments.filter:
        runs = [run for run in runs if run.kind == "gtest"]
    if not runs:
        parser.error(f"nothing to run in {arguments.set}")

    def stop(number, _):
        raise KeyboardInterrupt(f"signal {number}")

    signal.signal(signal.SIGTERM, stop)
    needs = sorted({need for run in runs for need in run.needs})
    session = Session(arguments, runs)
    try:
        if needs and not arguments.no_dependencies:
            install_packages(needs)
    except KeyboardInterrupt:
        return 1
    say(f"set {arguments.set}: {session.count} runs")
    session.run(runs)
    return session.summary()


if __name__ == "__main__":
    sys.exit(main())
