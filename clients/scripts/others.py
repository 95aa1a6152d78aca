# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What scripts that run other people's tests have in common: their options, and how they report."""

import argparse
import pathlib

from elsewhere import SOURCE, NotHere, rtest


def parser_of(text, name, library, folder):
    """A parser with the options of all: folder says what the build folder holds."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.set_defaults(name=name)
    parser.add_argument("library", nargs="?", type=pathlib.Path, help=library)
    parser.add_argument("--ask", action="store_true", help="only whether they can be had here")
    parser.add_argument("--build-dir", type=pathlib.Path, default=SOURCE / "build" / name,
                        help=f"folder of {folder} (build/{name})")
    parser.add_argument("--output-junit", type=pathlib.Path, help="file for a report")
    return parser


def parsed(parser, ask):
    """(arguments, None), or (None, the exit status) where the program is to end: ask() raises NotHere."""
    arguments = parser.parse_args()
    try:
        ask()
    except NotHere as reason:
        print(f"{arguments.name}: cannot be had here: {reason}")
        return None, rtest.SKIPPED
    if arguments.ask:
        return None, 0
    if arguments.library is None:
        parser.error("no library")
    arguments.library = arguments.library.resolve(strict=True)
    arguments.build_dir = arguments.build_dir.resolve()
    arguments.build_dir.mkdir(parents=True, exist_ok=True)
    return arguments, None


def report(arguments, tests, summary=None):
    """Says which of [(test, its problem or None)] failed, and how many. Returns the exit status."""
    for test, problem in tests:
        if problem:
            print(f"FAILED {test}\n    " + problem.strip().replace("\n", "\n    "))
    if arguments.output_junit:
        rtest.write_cases(arguments.output_junit, arguments.name, arguments.name, tests)
    if summary:
        print(summary)
    failed = sum(1 for _, problem in tests if problem)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0
