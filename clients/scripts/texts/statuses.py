# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Which statuses the headers say that functions return, and which they are seen to return."""

import re

from texts.names import DECLARED
from texts.tree import COMMENT, HEADERS, at, line_of, rows

GIVEN = re.compile(r"\bJ(?:EXPECT|ASSERT)_STATUS\(")
DEFINED = re.compile(r"^(?:JALLOC_API )?jstatus_t (j\w+)\(", re.MULTILINE)
RETURNED = re.compile(r"(?:\breturn |fail\w*\((?:\w+, )?|\bJREQUIRE\([^;]*, )JSTATUS_(\w+)")
# In the comment of a file or a group: what all of its functions, or all that create, return.
FOR_ALL = re.compile(
    r"(Each\s+create\s+function|functions\s+also\s+return|\*\*Statuses\.\*\*|Each\s+returns)"
    r"(.*?)(?:\n *\n|\Z)",
    re.DOTALL)
OPEN_LIST = re.compile(r"\bwhat [^;@]*? answers?\b|\b(?:returns|gives) `status`")


def item_ends(text, begin):
    """Where the round bracket that opens at `begin` closes."""
    depth = 0
    for i in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


class Statuses:
    """Which statuses the headers say that each function returns."""

    def __init__(self, tree):
        names = rows(tree.read("include/jalloc/status.h"), "JSTATUS_LIST")
        self.phrases = {name.lower().replace("_", " "): name for name in names}
        self.pattern = re.compile(r"\b(" + "|".join(sorted(self.phrases, key=len, reverse=True)) +
                                  r")\b")
        self.where, self.comment, self.shared = {}, {}, {}
        for header in tree.files(HEADERS):
            text, code, comments = tree.read(header), tree.code(header), tree.comments(header)
            blocks = [(m.start(), m.end()) for m in COMMENT.finditer(text)
                      if re.match(r"/\*\*[^<]", m.group())]
            for match in DECLARED.finditer(code):
                if "jstatus_t" not in code[match.start():match.start(1)]:
                    continue
                above = [comments[a:b] for a, b in blocks if b <= match.start()]
                group = next((c for c in reversed(above) if "@name" in c), "")
                self.where[match.group(1)] = f"{header}:{line_of(text, match.start())}"
                self.comment[match.group(1)] = " ".join(above[-1].split())
                self.shared[match.group(1)] = [
                    m for c in (*tree.heads(header), group) for m in FOR_ALL.findall(c)
                ]

    def said(self, function, seen=()):
        """The phrases, by "as jfoo()" and "what jfoo() returns" too; None: anything may come."""
        text = self.comment[function]
        if OPEN_LIST.search(text):
            return None
        result = set(self.pattern.findall(text.lower()))
        for whom, what in self.shared[function]:
            if "create" not in whom or "_create" in function:
                result |= set(self.pattern.findall(" ".join(what.split()).lower()))
        for other in re.findall(r"\b(?:as|what|and) (j\w+)", text, re.IGNORECASE):
            if other in self.comment and other != function and other not in seen:
                more = self.said(other, (*seen, function))
                if more is None:
                    return None
                result |= more
        return result

    def lacks(self, function, status):
        said = self.said(function)
        phrase = status.lower().replace("_", " ")
        lacking = said is not None and phrase in self.phrases and phrase not in said
        return phrase if lacking else None


def check_statuses(tree, _build):
    """Each function that returns a status says which: the words are statuses, and every one that a
    test expects of it, or that its own lines return, is among them."""
    statuses = Statuses(tree)
    for function, where in statuses.where.items():
        text = statuses.comment[function]
        if statuses.said(function) == set():
            yield f"{where}: {function} does not say which statuses it returns"
        for item in return_items(text):
            if not statuses.pattern.match(item.lower()) and not re.match(
                    r"as j\w+\(\)|as said|(?:and )?what ", item):
                yield f"{where}: {function} returns \"{item}\", which begins with no status"
    for name in tree.files(["clients/gtest/**/*.c"]):
        code = tree.code(name)
        for match in GIVEN.finditer(code):
            call = code[match.end():item_ends(code, match.end() - 1)]
            function, status = re.match(r"\s*(j\w+)\(", call), re.search(r"JSTATUS_(\w+)\s*$", call)
            if function and status and function.group(1) in statuses.where:
                lacking = statuses.lacks(function.group(1), status.group(1))
                if lacking:
                    yield (f"{statuses.where[function.group(1)]}: {function.group(1)} can return "
                           f"{lacking} ({at(name, code, match)})")
    for name in tree.files(["library/**/*.c"]):
        code = tree.code(name)
        for match in DEFINED.finditer(code):
            if match.group(1) not in statuses.where or ";" in code[match.end():code.
                                                                   index("{", match.end())]:
                continue
            body = code[match.end():code.index("\n}", match.end())]
            for status in RETURNED.finditer(body):
                lacking = statuses.lacks(match.group(1), status.group(1))
                if lacking and lacking != "internal error":  # a defect of jalloc
                    yield (
                        f"{statuses.where[match.group(1)]}: {match.group(1)} can return {lacking} "
                        f"({name}:{line_of(code, match.end() + status.start())})")


def return_items(text):
    """What stands between the semicolons of "@return", without what is in brackets."""
    match = re.search(r"@return (.*)", text)
    if not match:
        return []
    flat = match.group(1)
    while "(" in flat:
        begin = flat.index("(")
        end = item_ends(flat, begin)
        flat = (flat[:begin - 1] if flat[begin - 1] == " " else flat[:begin] + "\0\1") + flat[end +
                                                                                              1:]
    return [
        i.strip() for i in re.split(r"\. |\.$", flat.replace("\0\1", "()"))[0].split(";")
        if i.strip()
    ]
