# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Comments of sources: functions and files that they name are there."""

import pathlib
import re

from texts.tree import COMMENT, SOURCES, at, blank

NAME = re.compile(r"\b(?:ji|gpu|host|j[a-z]+)_[a-z0-9_]+\b(?![A-Z.*<])")
FILE = re.compile(r"\b[\w-]+\.(?:c|h|cu|cpp|py|sh|rst)\b")
INCLUDED = re.compile(r"^\s*# *include *[<\"](?:[\w/.+-]*/)?([\w.+-]+)[>\"]", re.MULTILINE)
# Of other projects.
FOREIGN_FILES = {"mem_overlap.c", "malloc.h", "hipblas.h", "cupti_callbacks.h"}
FOREIGN_NAMES = {"jpu_t"}


def without_comments(text):
    """Code and its strings, which macros and the linker know names by."""
    return COMMENT.sub(lambda m: blank(m.group()) if m.group()[0] == "/" else m.group(), text)


def check_comments(tree, _build):
    """A comment of a source names no function of ours and no file that is not there."""

    def make():
        files = {pathlib.PurePosixPath(n).name for n in tree.files(["**/*.*"])}
        names = {n.split(".")[0] for n in files}
        for source in tree.files(SOURCES):
            code = without_comments(tree.read(source))
            files |= set(INCLUDED.findall(code))
            names |= set(re.findall(r"\w+", code))
        lists = {n for list_ in tree.files(["**/CMakeLists.txt"]) for n in tree.read(list_).split()}
        return files, names | lists

    files, names = tree.once(("comments of sources", ""), make)
    for source in tree.files(SOURCES):
        text = tree.read(source)
        for comment in COMMENT.finditer(text):
            if comment.group()[0] != "/":
                continue
            for match in FILE.finditer(comment.group()):
                if match.group() not in files | FOREIGN_FILES:
                    yield f"{at(source, text, comment)}: there is no {match.group()}"
            for match in NAME.finditer(comment.group()):
                if match.group() not in names | FOREIGN_NAMES:
                    yield f"{at(source, text, comment)}: there is no {match.group()}"
