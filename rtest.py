#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Builds jalloc and runs a set of tests from rtest.xml.

On a fresh machine it installs what is missing, configures, builds with warnings as errors, and runs the set. The exit
status is the verdict: 0 when every run of the set ran and passed. A run fails by its exit status, by exceeding its time
limit (its whole process group is killed), by a test that its XML reports as failed, by testing nothing, and by not being
there. The last line of the output is "N passed, N failed"; tests count one each, and so does every other run.

A run of GoogleTest is divided into as many processes as may run at a time; what they print goes into files beside the
reports, and of tests that failed onto the terminal."""

import argparse
import collections
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(__file__).resolve().parent
KILL_GRACE_S = 5  # from the polite signal to the other one
BUILD_LIMIT_S = 3600
SKIPPED = 77  # exit status of a condition that does not hold, as CTest and Automake have it

Run = collections.namedtuple("Run", "name command build targets gtest limit needs env condition")
Result = collections.namedtuple("Result", "passed failed skipped seconds note failures", defaults=((),))


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
    run = Run(name, " ".join(text), element.get("build"), words_of(element, "targets"), element.get("kind") == "gtest",
              int(element.get("limit", "600")), words_of(element, "needs"),
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


def start(command, env=None, output=None):
    """A process in a group of its own; or what went wrong."""
    print("+ " + " ".join(shlex.quote(part) for part in command), flush=True)
    try:
        return subprocess.Popen(command, cwd=SOURCE, env=env, start_new_session=True, stdin=subprocess.DEVNULL,
                                stdout=output, stderr=subprocess.STDOUT if output else None)
    except OSError as error:
        return f"could not be started: {error}"


def finish(process, deadline, limit_s):
    """Waits for what start() gave, until the deadline; None for a good end, else what went wrong."""
    if isinstance(process, str):
        return process
    try:
        status = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return f"exceeded its {limit_s} seconds and was killed"
    finally:
        kill_group(process)  # also what a finished leader left running
        process.wait()
    if status < 0:
        return f"ended by signal {-status}"
    return None if status == 0 else f"exit status {status}"


def execute(command, limit_s, env=None):
    return finish(start(command, env), time.monotonic() + limit_s, limit_s)


def show_failures(log):
    """Prints what a test program wrote about tests that failed, and about one that it never finished."""
    block = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("[ RUN "):
            block = []
        block.append(line)
        if line.startswith("[  FAILED  ]"):
            print("\n".join(block))
        if line.startswith(("[  FAILED  ]", "[       OK ]", "[  SKIPPED ]")):
            block = []
    if block and not any(line.startswith("[  PASSED  ]") for line in block):
        print("\n".join(block[-200:]))
    print(f"all of it: {log}", flush=True)


def execute_shards(command, limit_s, env, report, count):
    """Runs a test program in `count` processes, each with its part of the tests, and makes one report of theirs. None for
    a good end, else what went wrong."""
    deadline = time.monotonic() + limit_s
    parts = [report.with_suffix(f".{index + 1}.xml") for index in range(count)]
    logs = [part.with_suffix(".log") for part in parts]
    processes, problems = [], []
    try:
        for index, (part, log) in enumerate(zip(parts, logs)):
            part.unlink(missing_ok=True)
            with log.open("wb") as output:
                shard = {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(index)}
                processes.append(start(command + [f"--gtest_output=xml:{part}"], dict(env, **shard), output))
        for process, log in zip(processes, logs):
            problem = finish(process, deadline, limit_s)
            if problem:
                show_failures(log)
                problems.append(problem)
    finally:
        for process in processes:
            if not isinstance(process, str) and process.poll() is None:
                kill_group(process)
    merged = ElementTree.Element("testsuites")
    for part in parts:
        try:
            merged.extend(ElementTree.parse(part).getroot())
            part.unlink()
        except (OSError, ElementTree.ParseError):
            problems = problems or [f"{part.stem} wrote no report"]
    if len(merged):
        ElementTree.ElementTree(merged).write(report, encoding="utf-8", xml_declaration=True)
    return "; ".join(sorted(set(problems))) or None


def count_tests(path):
    """(passed, names of the failed, skipped) of a GoogleTest XML report; None when there is none that can be read."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    failed = [f"{case.get('classname')}.{case.get('name')}" for case in cases
              if case.find("failure") is not None or case.find("error") is not None]
    good = sum(case.get("status") == "run" and case.get("result") == "completed" for case in cases) - len(failed)
    return good, failed, len(cases) - good - len(failed)


def write_junit(path, name, seconds, problem):
    suite = ElementTree.Element("testsuite", name=name, tests="1", failures=str(int(problem is not None)),
                                time=f"{seconds:.3f}")
    case = ElementTree.SubElement(suite, "testcase", name=name, classname="rtest", time=f"{seconds:.3f}")
    if problem is not None:
        ElementTree.SubElement(case, "failure", message=problem)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def judge(problem, report, gtest, name):
    """(passed, failed, skipped, note, names of what failed) from how a run ended and what it reported."""
    if not gtest:
        return (0, 1, 0, problem, (name,)) if problem else (1, 0, 0, "", ())
    counts = count_tests(report)
    if counts is None:
        return 0, 1, 0, problem or "wrote no report", (name,)
    passed, failures, skipped = counts
    if passed + len(failures) == 0:
        return 0, 1, skipped, problem or "executed no test", (name,)
    if problem and not failures:  # a sanitizer's finding at exit, for example
        return passed, 1, skipped, problem, (name,)
    return passed, len(failures), skipped, problem or (f"{len(failures)} tests failed" if failures else ""), \
        tuple(f"{name}: {failure}" for failure in failures)


class Session:
    """One call of rtest.py: where things are, which presets are built, what came out."""

    def __init__(self, arguments, runs):
        self.jobs = arguments.jobs
        self.filter = arguments.filter
        self.build_dir = (arguments.build_dir or SOURCE / "build").resolve()
        self.out = (arguments.output or self.build_dir / "rtest").resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.built = {}  # preset -> None, or what went wrong
        self.results = {}
        self.targets = {}  # preset -> those that its runs need; empty: all
        for run in runs:
            known = self.targets.setdefault(run.build, list(run.targets))
            self.targets[run.build] = sorted({*known, *run.targets}) if known and run.targets else []

    def record(self, name, started, passed, failed, skipped, note, failures):
        result = Result(passed, failed, skipped, time.monotonic() - started, note, failures)
        self.results[name] = result
        verdict = "FAILED: " + note if failed else "passed" if passed else "skipped"
        say(f"{name}: {verdict} ({result.seconds:.1f} s)")

    def build(self, preset):
        """Configures and builds a preset once; it counts as a run."""
        if preset in self.built:
            return self.built[preset]
        say(f"build of {preset}")
        started, folder = time.monotonic(), self.build_dir / preset
        problem = execute(["cmake", "--preset", preset, "-B", str(folder)], BUILD_LIMIT_S)
        targets = ["--target", *self.targets[preset]] if self.targets[preset] else []
        problem = problem or execute(["cmake", "--build", str(folder), "--parallel", str(self.jobs), *targets], BUILD_LIMIT_S)
        self.built[preset] = problem
        write_junit(self.out / f"build-{preset}.xml", f"build-{preset}", time.monotonic() - started, problem)
        self.record(f"build-{preset}", started, *judge(problem, None, False, f"build-{preset}"))
        return problem

    def run(self, run):
        problem = f"{run.build} did not build" if run.build and self.build(run.build) else None
        say(f"run of {run.name}")
        started, report = time.monotonic(), self.out / f"{run.name}.xml"
        report.unlink(missing_ok=True)  # an old report must not speak for a run that died
        if problem is None:
            places = {"build": self.build_dir / (run.build or ""), "source": SOURCE, "python": sys.executable,
                      "jobs": self.jobs, "out": self.out, "build_dir": self.build_dir}
            command = [part.format(**places) for part in shlex.split(run.command)]
            env = dict(os.environ, **{name: value.format(**places) for name, value in run.env.items()})
            if run.condition:
                problem = execute([part.format(**places) for part in shlex.split(run.condition)], run.limit, env)
                if problem == f"exit status {SKIPPED}":
                    self.record(run.name, started, 0, 0, 1, "cannot be run here", ())
                    return
        if problem is None and run.gtest:
            command += [f"--gtest_filter={self.filter}"] if self.filter else []
            problem = execute_shards(command, run.limit, env, report, self.jobs)
        elif problem is None:
            problem = execute(command, run.limit, env)
        verdict = judge(problem, report, run.gtest, run.name)
        if not report.exists():
            write_junit(report, run.name, time.monotonic() - started, problem)
        self.record(run.name, started, *verdict)

    def summary(self):
        say("summary")
        width = max(map(len, self.results))
        for name, result in self.results.items():
            skipped = f", {result.skipped} skipped" if result.skipped else ""
            note = f"  {result.note}" if result.note else ""
            print(f"{name:{width}}  {result.passed:6} passed {result.failed:4} failed{skipped}"
                  f"  {result.seconds:8.1f} s{note}")
        failed = sum(r.failed for r in self.results.values())
        for result in self.results.values():
            for failure in result.failures:
                print(f"failed: {failure}")
        print(f"reports: {self.out}")
        print(f"{sum(r.passed for r in self.results.values())} passed, {failed} failed", flush=True)
        return 1 if failed else 0


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
        runs = [run for run in runs if run.gtest]
    if not runs:
        parser.error(f"nothing to run in {arguments.set}")

    def stop(number, _):
        raise KeyboardInterrupt(f"signal {number}")

    signal.signal(signal.SIGTERM, stop)
    needs = sorted({need for run in runs for need in run.needs})
    if needs and not arguments.no_dependencies:
        say("packages")
        started = time.monotonic()
        problem = execute([str(SOURCE / "install.sh"), "--dependencies-only", "--components", ",".join(needs)], BUILD_LIMIT_S)
        if problem:
            say(f"packages: {problem}; going on with what is there ({time.monotonic() - started:.0f} s)")
    session = Session(arguments, runs)
    say(f"set {arguments.set}: {len(runs)} runs")
    try:
        for run in runs:
            session.run(run)
    except KeyboardInterrupt:
        session.results["interrupted"] = Result(0, 1, 0, 0.0, "stopped by a signal", ("interrupted",))
    return session.summary()


if __name__ == "__main__":
    sys.exit(main())
