# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Layouts of public structs: each begins with its size, and can grow, or is frozen, and held by a test."""

import re

from texts.tree import HEADERS, at

LAYOUT_TEST = "clients/gtest/abi_layout_test.c"
STRUCT = re.compile(
    r"(?P<comment>/\*\*(?:[^*]|\*(?!/))*\*/)?\s*typedef struct (?P<name>\w+) \{(?P<body>.*?)\n\} (?P=name);",
    re.DOTALL)
SIZE_FIRST = re.compile(r"\s*size_t struct_size;")


def check_layouts(tree, _build):
    """A struct of a public header has struct_size first and an initializer that sets it, or its comment ends with
    "Frozen." and the test of layouts has it."""
    frozen = set(re.findall(r"\bSIZE\((\w+),", tree.read(LAYOUT_TEST)))
    for header in tree.files(HEADERS):
        text = tree.read(header)
        for match in STRUCT.finditer(text):
            name, where = match.group("name"), at(header, text, match)
            initializer = name.removesuffix("_t").upper() + "_INIT"
            says_frozen = re.search(r"\bFrozen\.\s*\*/$", match.group("comment") or "")
            if SIZE_FIRST.match(match.group("body")):
                if not re.search(rf"#define {initializer}\b[^#]*?\bsizeof\({name}\)", text):
                    yield f"{where}: {name} has no {initializer}"
            elif not says_frozen:
                yield f"{where}: {name} neither begins with struct_size nor says \"Frozen.\""
            elif name not in frozen:
                yield f"{where}: {name} is frozen and not in {LAYOUT_TEST}"
