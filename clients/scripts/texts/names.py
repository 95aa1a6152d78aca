# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Names, the reference, and files: what a text names is there, and what is there is documented."""

import pathlib
import re

from texts.programs import cmake_options, variables
from texts.rows import all_functions
from texts.tree import FOR_AUTHORS, HEADERS, at

NAME = re.compile(r"(?<![\w/.<>-])(?:j[a-z0-9]*_[a-z0-9_]+|J[A-Z0-9]*_[A-Z0-9_]*\w*)(\*?)")
MEMBER = re.compile(r"\b(j[a-z0-9_]+_t)\.([a-z_]\w*)")
LITERAL = re.compile(r"``([a-z]\w*_\w+)(?:\(\))?``|(?<!`)`([a-z]\w*_\w+)(?:\(\))?`(?!`)")
# Of other projects, and of the programs that a page makes up.
FOREIGN_WORDS = {"posix_memalign", "numa_alloc"}
REMOVED = re.compile(r"\b(is|are) gone\b|takes? the place of|\bformerly\b|\bremoved\b|\brenamed\b")


def entry_around(text, position):
    """The item or paragraph that a place stands in."""
    begins = [m.start() for m in re.finditer(r"\n\s*- |\n\s*\n", text[:position])]
    end = re.search(r"\n\s*- |\n\s*\n", text[position:])
    return text[begins[-1] if begins else 0:position + end.start() if end else len(text)]


def check_names(tree, _build):
    """A name of jalloc's that a text has is declared."""
    for name, text in tree.texts():
        known, words = tree.public(), tree.everything()
        if FOR_AUTHORS.match(name):
            known = known | words
        for match in NAME.finditer(text):
            word = match.group().rstrip("*")
            if word in known or (word in outside(tree)):
                continue
            if (match.group(1) or word.endswith("_")) and any(k.startswith(word) for k in known):
                continue
            if name == "CHANGELOG.md" and REMOVED.search(entry_around(text, match.start())):
                continue
            yield f"{at(name, text, match)}: {word} is declared nowhere"
        for match in MEMBER.finditer(text):
            if not re.search(rf"\b{match.group(2)}\b", struct_body(tree, match.group(1))):
                yield f"{at(name, text, match)}: {match.group(1)} has no member {match.group(2)}"
        for match in LITERAL.finditer(text):
            word = match.group(1) or match.group(2)
            foreign = name.endswith("coming_from.rst") or name == "docs/gpu.rst"
            if not foreign and word not in words and word not in FOREIGN_WORDS:
                yield f"{at(name, text, match)}: {word} is a name of nothing here"


def struct_body(tree, type_name):
    for name in tree.files(HEADERS):
        match = re.search(rf"typedef struct \w+ \{{(.*?)\}} {type_name};", tree.code(name),
                          re.DOTALL)
        if match:
            return match.group(1)
    return ""


def outside(tree):
    """Names that are no declarations: options of CMake, variables of the environment, a library."""
    others = re.findall(r'"(JALLOC_\w+)"', tree.read("library/core/environment.c"))
    return tree.once(
        ("outside", ""), lambda:
        {*cmake_options(tree), *variables(tree), *others, "JSTATUS_UNKNOWN", "JBUFFER_LIST_n",
         "jalloc_fortran"})


DECLARED = re.compile(r"^(?:extern )?JALLOC_(?:API|INLINE)\b[^;{]*?\b(j\w+)[(;]", re.MULTILINE | re.DOTALL)
# One that only a compiler of C finds. Internal names end in an underscore.
BURIED = re.compile(r"^static\b[^;{(]*?\binline\b[^;{]*?\b(j\w*[a-z0-9])\(", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:typedef (?:enum|struct) (\w+) \{|#define (J\w*[A-Z0-9])\b(?!_H$))",
                  re.MULTILINE)


def documented(text, position):
    """Whether a comment for the reference stands before, before the definitions right above, or
    behind it."""
    before, line = text[:position].rstrip(), text[position:text.index("\n", position)]
    if "/**<" in line or before.endswith("*/") and re.match(r"/\*\*(?!<)",
                                                            before[before.rindex("/*"):]):
        return True
    above = text[:position].split("\n\n")[-1]
    return line.startswith("#") and "#define" in above and re.search(r"/\*\*(?!<)",
                                                                     above) is not None


def check_reference(tree, _build):
    """Every public header is a page of the reference, every function, type and macro has a
    comment, and what is exported is declared."""
    pages = "".join(tree.read(n) for n in tree.files(["docs/reference/*.rst"]))
    shown = set(re.findall(r"jalloc-header:: (\w+\.h)", pages))
    headers = {pathlib.PurePosixPath(n).name for n in tree.files(HEADERS)} - {"jalloc.h"}
    for header in sorted(headers ^ shown):
        what = "not shown" if header in headers else "no public header"
        yield f"docs/reference/{header[:-2]}.rst:1: {header} is {what}"
    declared = set()
    for name in tree.files(HEADERS):
        text, code = tree.read(name), tree.code(name)
        for match in DECLARED.finditer(code):
            declared.add(match.group(1))
            before = text[:match.start()].rstrip()
            group = before.endswith(";") and "\n\n" not in text[len(before):match.start()]
            after = text[code.index(";", match.start()):].split("\n", 1)[0]
            if not before.endswith("*/") and not group and "/**<" not in after:
                yield f"{at(name, text, match)}: {match.group(1)} has no comment"
        for match in BURIED.finditer(code):
            if f"{match.group(1)}_sized(" in code:  # the caller's size of a struct is what is inline
                continue
            yield f"{at(name, text, match)}: {match.group(1)} is inline and not exported: it wants JALLOC_INLINE"
    shown, bare = set(), {}
    for name in tree.files(HEADERS):
        text, code = tree.read(name), tree.code(name)
        for match in TYPE.finditer(code):
            word = match.group(1) or match.group(2)
            if documented(text, match.start()) or word.endswith(("_INIT", "_NULL", "_H")):
                shown.add(word)
            else:
                bare[word] = f"{at(name, text, match)}: {word} has no comment"
    yield from (finding for word, finding in bare.items() if word not in shown)
    exported = {
        s
        for n in tree.files(["cmake/*.symbols"])
        for s in tree.read(n).split() if not s.startswith("ji_")
    } | all_functions(tree).keys()
    for symbol in sorted(exported - declared):
        yield f"cmake/*.symbols:1: {symbol} is exported and declared in no public header"
    for symbol in sorted(declared - exported):
        yield f"include/jalloc:1: {symbol} is declared and exported by no library"


FILE = re.compile(r"(?<![\w./-])((?:clients|docs|library|include|cmake|jalloc)/[\w./-]*\w)")
MARKDOWN_LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def check_paths(tree, _build):
    """Files and folders that a text names are there."""
    for name, text in tree.texts():
        for match in [
                *FILE.finditer(text), *(MARKDOWN_LINK.finditer(text) if name.endswith(".md") else
                                        ())
        ]:
            path = match.group(1).rstrip("/")
            places = [
                path, f"include/{path}",
                f"docs/{path[5:]}.rst" if path.startswith("docs/") else path
            ]
            if not any((tree.root / p).exists() for p in places) and text[match.end()] != "<":
                yield f"{at(name, text, match)}: {path} is not there"
