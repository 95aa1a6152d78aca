# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Mends in a folder of Doxygen's XML what Breathe would show otherwise than the headers mean it: ends
of lines that are left in what stands in quotes, and would end a paragraph, become spaces; a row of
a table that goes on with one above, in which it leaves a cell empty, becomes a part of it."""

import pathlib
import re
import sys
import xml.etree.ElementTree


def join_lines(text):
    parts = re.split(r"(<verbatim>.*?</verbatim>)", text, flags=re.DOTALL)
    parts[::2] = [re.sub(r"(?<=[^>\s])\s*\n\s*(?=[^<\s])", " ", part) for part in parts[::2]]
    return "".join(parts)


def is_empty(entry):
    return not "".join(entry.itertext()).strip()


def append(entry, more):
    """The contents of a cell behind those of another."""
    paragraph, other = entry.find("para"), more.find("para")
    text = f" {(other.text or '').lstrip()}"
    if len(paragraph):
        paragraph[-1].tail = (paragraph[-1].tail or "").rstrip() + text
    else:
        paragraph.text = (paragraph.text or "").rstrip() + text
    paragraph.extend(list(other))


def join_rows(table):
    last = None
    for row in table.findall("row"):
        entries = row.findall("entry")
        if last is None or not any(is_empty(entry) for entry in entries):
            last = entries
            continue
        for entry, more in zip(last, entries):
            if not is_empty(more):
                append(entry, more)
        table.remove(row)


for path in pathlib.Path(sys.argv[1]).glob("*_8h.xml"):
    root = xml.etree.ElementTree.fromstring(join_lines(path.read_text(encoding="utf-8")))
    for table in root.iter("table"):
        join_rows(table)
    path.write_text(xml.etree.ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")
