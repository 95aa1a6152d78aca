#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""lint.py format [--fix]: clang-format over every C and C++ file, and what it leaves alone: lines of
comments are no longer than the others, rules between sections have one style. lint.py tidy BUILD:
clang-tidy over what BUILD compiles of library/ and clients/tools/, in what a line says. lint.py
analyzer BUILD: the same along paths, which takes twenty times as long (not over tests: one that fails
leaves at once, which reads as a leak). Each prints what it finds and fails when that is anything."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["include", "library", "clients", "faces"]
COLUMNS = 100  # as .clang-format has it
RULE = re.compile(r"\s*/\* *-{2,}")
GOOD_RULE = re.compile(r"\s*/\* ---- \S.*\S ---- \*/$")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu"}


def sources():
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in SUFFIXES]


def each(function, files):
    """Runs a check on every file; the number of files that it complained about."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        bad = 0
        for result in pool.map(function, files):
            if result.returncode != 0:
                bad += 1
                print(result.stdout, flush=True)
    return bad


def run(command):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)


def look_at_lines(path):
    """What clang-format does not see to, since comments hold tables and drawings."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > COLUMNS:
            found.append(f"{path}:{number}: {len(line)} columns, at most {COLUMNS}")
        if RULE.match(line) and not GOOD_RULE.match(line):
            found.append(f"{path}:{number}: expected a rule such as /* ---- Sizes ---- */")
    return subprocess.CompletedProcess([], bool(found), "\n".join(found))


def check_format(fix):
    files = sources()
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    bad = each(lambda path: run(["clang-format", *mode, path]), files)
    return len(files), bad + each(look_at_lines, files)


def check_tidy(build, analyzer):
    """A file that is compiled for two targets is looked at as the first of them compiles it: clang-tidy would look at it
    twice in one process, where the analyzer of LLVM 14 mistakes the va_start of the second time for an unknown function."""
    folders = (f"{ROOT / 'library'}/", f"{ROOT / 'clients/tools'}/")
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"].endswith(".c") and entry["file"].startswith(folders):
            entries.setdefault(entry["file"], entry)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(list(entries.values())), encoding="utf-8")
        checks = [] if analyzer else ["--checks=-clang-analyzer-*"]
        return len(entries), each(lambda name: run(["clang-tidy", "--quiet", *checks, "-p", folder, name]), sorted(entries))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("format").add_argument("--fix", action="store_true", help="change the files")
    for name in ("tidy", "analyzer"):
        what.add_parser(name).add_argument("build", type=pathlib.Path, help="build folder")
    arguments = parser.parse_args()
    files, bad = check_format(arguments.fix) if arguments.what == "format" \
        else check_tidy(arguments.build, arguments.what == "analyzer")
    print(f"lint {arguments.what}: {files} files, {bad} with findings")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
