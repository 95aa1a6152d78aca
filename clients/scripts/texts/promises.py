# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Words without exception, each with its test; of some headers all that they promise."""

import re

from texts.names import DECLARED
from texts.programs import PROGRAMS
from texts.tree import COMMENT, at

PROMISES_PAGE = "docs/testing.rst"
# Headers of which the list has all promises: at least one of each function.
COMPLETE = ["include/jalloc/allocator.h"]
ABSOLUTE = re.compile(r"\b(never|always|every|nothing)\b", re.IGNORECASE)
PROMISE_FILE = re.compile(r"^``([\w.]+)``$")
PROMISE = re.compile(r'^- "(.+)": (``[^`]+``(?:, ``[^`]+``)*)$')


def promises(tree):
    """(line, file, quote, tests) of the list in the manual."""
    text = tree.read(PROMISES_PAGE)
    place = None
    for number, line in enumerate(text.splitlines(), 1):
        heading, row = PROMISE_FILE.match(line), PROMISE.match(line)
        place = heading.group(1) if heading else place
        if row and place:
            yield number, place, row.group(1), re.findall(r"``([^`]+)``", row.group(2))


def named_by_tests(tree):
    """Suites and names of tests: what stands in the brackets of a macro that begins one."""

    def make():
        heads = re.compile(r"(?:^|\bJTEST)[A-Z_]+\(([^)]*)\)", re.MULTILINE)
        code = [tree.read(n) for n in tree.files(["clients/gtest/**/*.c", "clients/gtest/**/*.h"])]
        return {w for c in code for head in heads.findall(c) for w in re.findall(r"\w+", head)}

    return tree.once(("tests", ""), make)


def unlisted_functions(tree, name, covered):
    """Of the functions of a header those without a listed promise in their comments."""
    text = tree.read(name)
    comments = [m.span() for m in COMMENT.finditer(text) if re.match(r"/\*\*[^<]", m.group())]
    for match in DECLARED.finditer(tree.code(name)):
        begin, end = max(c for c in comments if c[1] <= match.start())
        if match.group(1)[-1] != "_" and not any(a < end and begin < b for a, b in covered):
            yield f"{at(name, text, match)}: {PROMISES_PAGE} lists no promise of {match.group(1)}"


def check_promises(tree, _build):
    """Each absolute word of README and headers stands in a sentence that the manual lists with its
    tests, and these are there. Of the headers whose list is complete each function has a row."""
    listed = {}
    for number, place, quote, tests in promises(tree):
        listed.setdefault(place, []).append((number, quote))
        for test in tests:
            suite, _, name = test.rpartition(".") if test[-3:] != ".py" else ("", "", test)
            there = {name, suite} - {""} <= named_by_tests(tree)
            if not there and not tree.files([f"clients/scripts/{name}"]) and name not in PROGRAMS:
                yield f"{PROMISES_PAGE}:{number}: there is no test {test}"
    for name, text in tree.texts():
        place = name.rpartition("/")[2]
        if name != "README.md" and not name.startswith("include/"):
            continue
        covered = []
        for number, quote in listed.get(place, ()):
            words = re.escape(quote).replace("\\ ", r"[\s*]+")
            found = [m.span() for m in re.finditer(words, text)]
            covered += found
            if not found or (name not in COMPLETE and not ABSOLUTE.search(quote)):
                yield f"{PROMISES_PAGE}:{number}: {name} does not promise \"{quote}\""
        if name in COMPLETE:
            yield from unlisted_functions(tree, name, covered)
        for match in ABSOLUTE.finditer(text):
            if not any(a <= match.start() < b for a, b in covered):
                line = text[text.rfind("\n", 0, match.start()) + 1:].split("\n")[0].strip()
                yield f'{at(name, text, match)}: no test is listed in {PROMISES_PAGE} for "{line}"'
