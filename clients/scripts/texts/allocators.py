# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Kinds of allocators with their keys and defaults, and dumps."""

import re

from texts.tree import HEADERS, at, info

KINDS_PAGE = "docs/allocators/kinds.rst"
KIND = re.compile(r"^``(\w+)``\n((?: {3}.*\n|\n)*)", re.MULTILINE)
KEY = re.compile(r"^   - ``(\w+)=([^`]+)``(?: \(([^)]*)\))?: .", re.MULTILINE)
COMPOSED = re.compile(r"\b([a-z]+)\(([a-z_]+=[^)]*)\)")
KEY_FIELD = re.compile(r".* \(([^();]*)(?:; default ([^();]*))?(?:; such as [^()]*)?\)$")

# What is said behind a member, or above it.
MEMBER = re.compile(r"/\*\*(?!<)(?P<above>(?:(?!\*/).)*)\*/ [^;/]*\b(?P<below>\w+);|"
                    r"\b(?P<name>\w+); /\*\*<(?P<behind>(?:(?!\*/).)*)\*/")
DEFAULT = re.compile(r"\b0: (\d+) ?([KMGT]iB|s)?\b")
UNITS = {"": 1, "s": 1000, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20}


def check_defaults(tree, fallbacks):
    """A default that an options struct says ("0: 1 MiB") is that of the key for the member."""
    for name in tree.files(HEADERS):
        text = tree.read(name)
        for struct in re.finditer(r"typedef struct j(\w+)_options_t \{(.*?)\n\}", text, re.DOTALL):
            keys = [key for kind, key in fallbacks if kind == struct.group(1)]
            for member in MEMBER.finditer(" ".join(struct.group(2).split())):
                said = DEFAULT.search(member["above"] or member["behind"])
                if not said:
                    continue
                what = member["below"] or member["name"]
                unit = r"_(bytes|count|percent|ms|slots)$"
                first = [k for k in keys if re.match(rf"{k}{unit}|\w+_{k}$", what)]
                set_by = fallbacks[struct.group(1), first[0]] if first else ""
                fallback = re.match(r"(\d+)(\w*)$", set_by)
                if fallback and int(said.group(1)) * UNITS[said.group(2) or ""] != \
                        int(fallback.group(1)) * UNITS[fallback.group(2)]:
                    yield (f"{at(name, text, struct)}: {what} is not {said.group(1)} "
                           f"but {fallback.group()} by default")


def check_kinds(tree, build):
    """The manual lists the kinds that a composition can name, with their keys, values and defaults,
    as jalloc-info does; and what a dump has."""
    dumped = set(re.findall(r'\\"(\w+)\\":', tree.read("library/memory/introspect.c")))
    page = "docs/allocators/index.rst"
    said = set(re.findall(r'"(\w+)":', tree.read(page)))
    for key in sorted(dumped ^ said):
        yield f"{page}:1: {key} of a dump is {'not said' if key in dumped else 'not there'}"
    if build is None:
        return
    text = tree.read(KINDS_PAGE)
    listed = {(kind.group(1), *key)
              for kind in KIND.finditer(text)
              for key in KEY.findall(kind.group(2))}
    listed |= {(kind.group(1), ) for kind in KIND.finditer(text)}
    there = set()
    for kind in info(tree, build, "--allocators")["allocators"]:
        there.add((kind["name"], ))
        for key, field in kind.items():
            match = KEY_FIELD.match(field) if key not in ("name", "role", "summary") else None
            if match:
                there.add((kind["name"], key, match.group(1), match.group(2) or ""))
    keys = {(row[0], row[1]) for row in there if len(row) > 1}
    for name, text in tree.texts():
        for match in COMPOSED.finditer(text):
            if (match.group(1), ) not in there:
                continue
            for key in re.findall(r"(?:^|,) *(\w+)=", match.group(2)):
                if key != "name" and (match.group(1), key) not in keys:
                    yield f"{at(name, text, match)}: {key} is no key of {match.group(1)}"
    name = "docs/allocators/coming_from.rst"
    text = tree.read(name)
    begin = len(text.split("\n=")[1].split(" ")[0]) + 2  # of the right column
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"``([a-z]+)(?:\(|``)", line[begin:]):
            if (word, ) not in there and word != "name":
                yield f"{name}:{number}: {word} is no kind of allocator"
    yield from check_defaults(tree, {row[:2]: row[3] for row in there if len(row) > 1})
    for row in sorted(there - listed):
        yield f"{KINDS_PAGE}:1: jalloc-info has {' '.join(row)}"
    for row in sorted(listed - there):
        yield f"{KINDS_PAGE}:1: jalloc-info has no {' '.join(row)}"
