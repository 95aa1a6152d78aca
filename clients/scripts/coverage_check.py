#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Holds the branch coverage of each folder of library/ against its figure, and each branch left against a list.

    coverage_check.py --reset BUILD              forgets what earlier runs of the tests counted
    coverage_check.py BUILD --out DIR            the table; DIR/coverage-left.txt: what is left and is not listed
    coverage_check.py BUILD --folder core        one folder alone

BUILD is built with JALLOC_COVERAGE. Branches are GCC's, as gcovr reads them, without those of exceptions; where a file is
compiled several times, a branch counts once and is taken if it is in one of them. The figure of a folder is taken / all: a
branch that is listed does not count as taken.

clients/scripts/coverage/FOLDER.txt has, after comments with #,

    floor 98.0                                   fails below this, in %
    unlisted 0                                   fails with more branches left that no entry names; 0 if it is not said
    config.c: config_judge: 1: if (a && b)       an entry: file, function, how many branches of the line are left, the line
        why no test takes them                   indented: the reason, for all the entries right before it

An entry names lines by their text, so it stays true when lines move; of equal lines of one function it means the sum. `2?`:
so many at most, for what a machine or a race decides. An entry without a reason, one that names no line with a branch, and
one of which all branches are taken are errors."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["core", "device", "handle", "memory", "shm", "blas", "buffer", "operation", "mpi", "gpu"]

# Where objects of library/ lie in a build. Each is read by itself: gcovr cannot add up two compilations of a file whose
# functions begin on different lines, as the two flavours of library/gpu do.
OBJECTS = ["library", "clients/fake_gpu/CMakeFiles/jalloc_fake_cuda.dir", "clients/fake_gpu/CMakeFiles/jalloc_fake_hip.dir"]

Place = collections.namedtuple("Place", "file function text")  # file within the folder; text: the line, spaces made single
Line = collections.namedtuple("Line", "place number branches taken")
Entry = collections.namedtuple("Entry", "where count perhaps")
ENTRY = re.compile(r"(?P<file>\S+): (?P<function>.+?): (?P<count>\d+)(?P<perhaps>\??): (?P<text>.+)$")


def single_spaced(text):
    return " ".join(text.split())


# ---- what was counted ---------------------------------------------------------------------------------------------------


def run_gcovr(build, objects, report):
    command = ["gcovr", "--root", str(ROOT), "--filter", "library/", "--object-directory", str(build),
               "--exclude-throw-branches", "--exclude-unreachable-branches",
               "--gcov-ignore-parse-errors",  # counts that gcov subtracts can be negative where a child was killed
               "--json", str(report), str(build / objects)]
    subprocess.run(command, check=True, cwd=ROOT)  # which the filter is relative to
    return json.loads(report.read_text(encoding="utf-8"))


def merge(reports):
    """{file: ({line: [taken, ...]}, {first line: function})}: of each branch, whether one of the reports has it taken."""
    files = {}
    for report in reports:
        for file in report["files"]:
            lines, functions = files.setdefault(file["file"], ({}, {}))
            for function in file.get("functions", []):
                functions.setdefault(function["lineno"], function["name"].split("(")[0])
            for line in file["lines"]:
                counts = [branch["count"] > 0 for branch in line["branches"]]
                known = lines.setdefault(line["line_number"], [])
                known += [False] * (len(counts) - len(known))
                for index, taken in enumerate(counts):
                    known[index] = known[index] or taken
    return files


def lines_of(files, root):
    """{folder: [Line, ...]} of the lines that branch."""
    folders = collections.defaultdict(list)
    for path, (lines, functions) in sorted(files.items()):
        _, folder, name = path.split("/", 2)
        source = (root / path).read_text(encoding="utf-8").splitlines()
        starts = sorted(functions)
        for number, taken in sorted(lines.items()):
            if taken:
                start = max((s for s in starts if s <= number), default=None)
                place = Place(name, functions.get(start, "-"), single_spaced(source[number - 1]))
                folders[folder].append(Line(place, number, len(taken), sum(taken)))
    return folders


# ---- what is listed -----------------------------------------------------------------------------------------------------


def read_list(path):
    """(floor, unlisted, {Place: Entry}, complaints)"""
    floor, unlisted, entries, complaints, waiting, explained = None, 0, {}, [], [], False

    def end_group():
        if not explained:
            complaints.extend(f"{entries[place].where}: no reason" for place in waiting)
        waiting.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where, words = f"{path.name}:{number}", line.split()
        if not words or words[0].startswith("#"):
            continue
        if line[0].isspace():
            if not waiting:
                complaints.append(f"{where}: a reason of nothing")
            explained = True
            continue
        if explained:
            end_group()
        explained = False
        match = ENTRY.match(line)
        if words[0] in ("floor", "unlisted") and len(words) == 2 and re.fullmatch(r"\d+(\.\d+)?", words[1]):
            if words[0] == "floor":
                floor = float(words[1])
            else:
                unlisted = int(words[1])
        elif match:
            place = Place(match["file"], match["function"], single_spaced(match["text"]))
            if place in entries:
                complaints.append(f"{where}: said before at {entries[place].where}")
            entries[place] = Entry(where, int(match["count"]), bool(match["perhaps"]))
            waiting.append(place)
        else:
            complaints.append(f"{where}: neither floor, unlisted, an entry, nor a reason: {line}")
    end_group()
    if floor is None:
        complaints.append(f"{path.name}: no floor")
    return floor or 0.0, unlisted, entries, complaints


# ---- the verdict --------------------------------------------------------------------------------------------------------


def judge(folder, lines, path):
    """(row of the table, complaints, [(Line, count), ...]: what is left and not listed)"""
    floor, allowed, entries, complaints = read_list(path)
    branches, taken = sum(line.branches for line in lines), sum(line.taken for line in lines)
    percent = 100.0 * taken / branches if branches else 100.0
    left = collections.Counter()
    for line in lines:
        left[line.place] += line.branches - line.taken
    for place, entry in entries.items():
        if place not in left:
            complaints.append(f"{entry.where}: no branch in {place.function} of {place.file}: {place.text}")
        elif left[place] == 0 and not entry.perhaps:
            complaints.append(f"{entry.where}: all its branches are taken: {place.text}")
    excused = {place: entry.count for place, entry in entries.items()}
    unlisted = []
    for line in lines:
        missed = line.branches - line.taken
        spared = min(missed, excused.get(line.place, 0))
        excused[line.place] = excused.get(line.place, 0) - spared
        if missed > spared:
            unlisted.append((line, missed - spared))
    count = sum(missed for _, missed in unlisted)
    if not branches:
        complaints.append(f"{folder}: nothing was counted")
    if percent < floor:
        complaints.append(f"{folder}: {percent:.2f} % of its branches are taken, less than {floor}")
    if count > allowed:
        complaints.append(f"{folder}: {count} branches left that are not listed, more than {allowed}")
    return (folder, branches, taken, percent, branches - taken - count, count, floor), complaints, unlisted


def entries_for(folder, unlisted):
    """Text from which entries are made: add the reasons."""
    counts, numbers = collections.Counter(), collections.defaultdict(list)
    for line, missed in unlisted:
        counts[line.place] += missed
        numbers[line.place].append(str(line.number))
    return "".join(f"# library/{folder}/{place.file}:{','.join(numbers[place])}\n"
                   f"{place.file}: {place.function}: {count}: {place.text}\n" for place, count in counts.items())


def check(reports, folders, root, lists, out):
    """Prints the table and the complaints; True for a pass."""
    lines = lines_of(merge(reports), root)
    complaints, left = [], ""
    print(f"{'folder':8} {'branches':>9} {'taken':>7} {'%':>7} {'listed':>7} {'unlisted':>9} {'floor':>7}")
    for folder in folders:
        row, found, unlisted = judge(folder, lines[folder], lists / f"{folder}.txt")
        print("{:8} {:9} {:7} {:7.2f} {:7} {:9} {:7.2f}".format(*row))
        complaints += found
        left += entries_for(folder, unlisted)
    if out:
        path = out / "coverage-left.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(left, encoding="utf-8")
        print(f"left and not listed: {path}")
    for complaint in complaints:
        print(complaint)
    print(f"coverage_check: {len(folders)} folders, {len(complaints)} complaints")
    return not complaints


# ---- the check of the check ---------------------------------------------------------------------------------------------

SOURCE = "int f(int a) {\n    if (a)\n        g();\n    if  (b)\n        h();\n}\n"


def planted_report(first, second, line=2):
    """One file, a function on line 1, two branches on line 2, or as told, and two on line 4."""
    rows = [{"line_number": number, "branches": [{"count": count} for count in counts]}
            for number, counts in ((line, first), (4, second), (5, []))]
    return {"files": [{"file": "library/core/a.c", "functions": [{"name": "f", "lineno": 1}], "lines": rows}]}


PLANTED = [  # what is said, the reports, the list, a part of the complaint (None: a pass)
    ("all taken", [planted_report([1, 1], [2, 2])], "floor 100", None),
    ("half taken, as the floor says", [planted_report([1, 0], [2, 0])], "floor 50\nunlisted 2", None),
    ("below the floor", [planted_report([1, 0], [2, 0])], "floor 51\nunlisted 2", "less than 51"),
    ("unlisted", [planted_report([1, 0], [2, 2])], "floor 50", "1 branches left that are not listed"),
    ("listed", [planted_report([1, 0], [2, 0])],
     "floor 50\na.c: f: 1: if (a)\na.c: f: 1: if (b)\n  a reason\n  that goes on", None),
    ("listed, and still below", [planted_report([1, 0], [2, 2])], "floor 80\na.c: f: 1: if (a)\n  r", "less than 80"),
    ("more left than listed", [planted_report([0, 0], [2, 2])], "floor 50\na.c: f: 1: if (a)\n  r", "1 branches left"),
    ("no reason", [planted_report([1, 0], [2, 2])], "floor 50\na.c: f: 1: if (a)", "no reason"),
    ("no reason, and another has", [planted_report([1, 0], [2, 0])],
     "floor 50\na.c: f: 1: if (a)\n  r\na.c: f: 1: if (b)", "a.txt:4: no reason"),
    ("taken", [planted_report([1, 1], [2, 2])], "floor 50\na.c: f: 1: if (a)\n  r", "all its branches are taken"),
    ("perhaps taken", [planted_report([1, 1], [2, 2])], "floor 50\na.c: f: 1?: if (a)\n  r", None),
    ("other text", [planted_report([1, 0], [2, 2])], "floor 50\nunlisted 1\na.c: f: 1: if (c)\n  r", "no branch in f"),
    ("other function", [planted_report([1, 0], [2, 2])], "floor 50\nunlisted 1\na.c: g: 1: if (a)\n  r", "no branch in g"),
    ("no such thing", [planted_report([1, 1], [2, 2])], "floor 50\nceiling 3", "neither floor"),
    ("twice", [planted_report([1, 0], [2, 2])], "floor 50\na.c: f: 1: if (a)\na.c: f: 1: if (a)\n  r", "said before"),
    ("a reason alone", [planted_report([1, 1], [2, 2])], "floor 50\n  r", "a reason of nothing"),
    ("no floor", [planted_report([1, 1], [2, 2])], "unlisted 0", "no floor"),
    ("nothing", [], "floor 0", "nothing was counted"),
    ("each half in one of two", [planted_report([1, 0], [2, 0]), planted_report([0, 1], [0, 2])], "floor 100", None),
    ("two with other lines", [planted_report([1, 0], [2, 2]), planted_report([0, 1], [2, 2], 3)],
     "floor 60\nunlisted 2", None),
]


def self_test():
    missed = []
    for name, reports, text, expected in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "library" / "core").mkdir(parents=True)
            (root / "library" / "core" / "a.c").write_text(SOURCE, encoding="utf-8")
            (root / "a.txt").write_text(text + "\n", encoding="utf-8")
            lines = lines_of(merge(reports), root)["core"]
            complaints = judge("core", lines, root / "a.txt")[1]
        if (not complaints) if expected else bool(complaints):
            missed.append(f"{name}: {complaints}")
        elif expected and (len(complaints) != 1 or expected not in complaints[0]):
            missed.append(f"{name}: {complaints}")
    for line in missed:
        print(f"coverage_check: self-test: {line}")
    print(f"coverage_check: self-test: {len(PLANTED) - len(missed)} of {len(PLANTED)} planted cases judged right")
    return not missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--reset", action="store_true", help="forget what was counted")
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="only this one; may be given several times")
    parser.add_argument("--out", type=pathlib.Path, help="where coverage-left.txt goes")
    parser.add_argument("--self-test", action="store_true", help="check the check, and nothing else without BUILD")
    arguments = parser.parse_args()
    if arguments.self_test and not self_test():
        return 1
    if arguments.build is None:
        return 0 if arguments.self_test else parser.error("BUILD is missing")
    if arguments.reset:
        for path in arguments.build.rglob("*.gcda"):
            path.unlink()
        return 0
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        reports = [run_gcovr(build, objects, pathlib.Path(folder, "report.json"))
                   for objects in OBJECTS if (build / objects).is_dir()]
    return 0 if check(reports, arguments.folder or FOLDERS, ROOT, ROOT / "clients/scripts/coverage", arguments.out) else 1


if __name__ == "__main__":
    sys.exit(main())
