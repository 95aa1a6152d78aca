#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the texts say is so: README.md, CONTRIBUTING.md, CHANGELOG.md, the manual and the comments
of the public headers are held against the sources, and, where a build folder is given, against what
the built programs say of themselves.

Each check (texts/) takes the tree and gives findings, "FILE:LINE: what was expected". --self-test
plants wrong sentences for each of them, and fails unless they are found."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # in the source folder

from texts.allocators import check_kinds
from texts.comments import check_comments
from texts.families import check_families
from texts.interface import check_callers, check_getters, check_order, check_threads
from texts.layouts import check_layouts
from texts.names import check_names, check_paths, check_reference
from texts.planted import PLANTED
from texts.programs import check_build, check_environment, check_options
from texts.promises import check_promises
from texts.rows import check_rows
from texts.statuses import check_statuses
from texts.tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = [
    check_names, check_reference, check_environment, check_build, check_paths, check_options,
    check_kinds, check_families, check_rows, check_comments, check_statuses, check_promises,
    check_layouts, check_order, check_getters, check_callers,
    check_threads
]


def self_test(tree, build):
    """What was planted and not found."""
    for check, name, old, new, expected in PLANTED:
        if build is None and check in (check_options, check_kinds):  # they ask programs
            continue
        text = tree.read(name)
        if old is not None and old not in text:
            yield f"{name} has no \"{old}\" any more"
        planted = Tree(tree.root,
                       {name: text + f"\n{new}\n" if old is None else text.replace(old, new)}, tree)
        if not any(expected in finding for finding in check(planted, build)):
            yield f"{check.__name__}: {name}: {new or 'without ' + old}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build",
                        type=pathlib.Path,
                        nargs="?",
                        help="build folder, whose programs are asked")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--self-test", action="store_true", help="check the checks first")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    build = arguments.build.resolve() if arguments.build else None
    findings = [finding for check in CHECKS for finding in check(tree, build)]
    if arguments.self_test:
        findings += [f"self-test: not found: {line}" for line in self_test(tree, build)]
    for finding in findings:
        print(finding)
    print(f"check_texts: {len(tree.texts())} texts, {len(CHECKS)} checks, {len(findings)} findings")
    return 1 if findings or not tree.texts() else 0


if __name__ == "__main__":
    sys.exit(main())
