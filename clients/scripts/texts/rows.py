# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The routines of jblas: what the rows in library/blas/routine say of them, held against what the headers declare."""

import re

from texts.tree import at

ROWS = ["library/blas/routine/rows_*.h"]
HEADERS = ["include/jalloc/jblas*.h"]
ARGUMENTS = re.compile(r"^#define JI_ARGUMENTS_(\w+)\(X, t[^)]*\) (.*)$", re.MULTILINE)
FUNCTIONS = re.compile(r"^#define JI_FUNCTIONS_(\w+)\(X, context\) (.*)$", re.MULTILINE)
ARGUMENT = re.compile(r"X\(t, (\w+), ([\w, ]+)")
LETTERS = {"JI_SD": "sd", "JI_CZ": "cz", "JI_SDCZ": "sdcz", "JI_HB": "hb"}
# Fields of an argument that are parameters; one otherwise.
PARAMETERS = {"VECTOR": 2, "MATRIX": 2, "POINTERS": 2, "STRIDED": 3, "TYPED_VECTOR": 3, "TYPED_MATRIX": 3}
PROTOTYPE = re.compile(r"\bjstatus_t (jblas_\w+)\(\s*jhandle_t \*handle,([^;]*)\);")
PARAMETER = re.compile(r"(\w+)(?:\[\])?$")


def functions(text):
    """{function: names of its parameters behind the handle}, by the rows."""
    text = text.replace("\\\n", " ")
    lists = dict(ARGUMENTS.findall(text))
    found = {}
    for routine, names in FUNCTIONS.findall(text):
        body = lists[routine]
        while "X(t," not in body:
            body = lists[re.match(r"\s*JI_ARGUMENTS_(\w+)\(", body).group(1)]
        parameters = [
            name.strip() for kind, fields in ARGUMENT.findall(body)
            for name in fields.split(",")[:PARAMETERS.get(kind, 1)]
        ]
        for macro, stem in re.findall(r"\b(JI_\w+)\(X, context, (\w+)\)", names):
            found.update({f"jblas_{letter}{stem}": parameters for letter in LETTERS[macro]})
        for name in re.findall(r"X\(context, \w+, \w, (\w+)\)", names):
            found["jblas_" + name] = parameters
    return found


def all_functions(tree):
    """Those of all rows."""
    found = {}
    for name in tree.files(ROWS):
        found.update(functions(tree.read(name)))
    return found


def check_rows(tree, _build):
    """The headers of jblas declare the functions of the rows, with the same parameters, and no others."""
    rows = all_functions(tree)
    for header in tree.files(HEADERS):
        text = tree.code(header)
        for match in PROTOTYPE.finditer(text):
            name, parameters = match.group(1), match.group(2).split(",")
            named = [PARAMETER.search(parameter.strip()).group(1) for parameter in parameters]
            if name not in rows:
                yield f"{at(header, text, match)}: {name} has no row"
            elif named != rows[name]:
                yield f"{at(header, text, match)}: {name} takes {named}, its row says {rows[name]}"
            rows.pop(name, None)
    for name in rows:
        yield f"{ROWS[0]}:1: {name} is not declared"
