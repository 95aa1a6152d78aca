# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The routines of jblas and of jlapack: what their rows say of them, held against what the headers declare."""

import re

from texts.tree import at

HEADERS = ["include/jalloc/jblas*.h"]
# Of each prefix: the rows, the headers, and the list of its routines that have no batched forms, where there is one.
LIBRARIES = {"jblas_": (["library/blas/routine/rows_*.h"], HEADERS, None, None),
             "jlapack_": (["library/lapack/rows*.h"], ["include/jalloc/jlapack*.h"], ["library/lapack/rows*.h"],
                          r"JI_LAPACK_(?:PLAIN|GUEST\w*)_LIST")}
ARGUMENTS = re.compile(r"^#define JI_ARGUMENTS_(\w+)\(X, t([^)]*)\) (.*)$", re.MULTILINE)
FUNCTIONS = re.compile(r"^#define JI_FUNCTIONS_(\w+)\(X, context\) (.*)$", re.MULTILINE)
ARGUMENT = re.compile(r"X\(t, (\w+), ([\w, ]+)")
LETTERS = {"JI_SD": "sd", "JI_CZ": "cz", "JI_SDCZ": "sdcz", "JI_HB": "hb"}
PROTOTYPE = re.compile(r"\bjstatus_t ((?:jblas|jlapack)_\w+)\(\s*jhandle_t \*handle,([^;]*)\);")

ENUMERATIONS = {"SIDE": "jblas_side_t", "UPLO": "jblas_uplo_t", "DIAGONAL": "jblas_diagonal_t", "DATATYPE": "jdatatype_t", "NORM": "jlapack_norm_t",
                "VECTORS": "jlapack_job_t", "PARTS": "jlapack_job_t", "RANGE": "jlapack_range_t"}
ELEMENTS = {"s": "float", "d": "double", "c": "jcomplex_f32_t", "z": "jcomplex_f64_t", "h": "jfloat16_t",
            "b": "jbfloat16_t", "x": "void"}
REALS = {"s": "float", "d": "double", "c": "float", "z": "double", "h": "float", "b": "float", "x": "void"}
SUFFIXES = {"plain": "", "pointers": "_batched", "strided": "_strided_batched"}
# How many fields of an operand are parameters.
OPERANDS = {"VECTOR": 2, "MATRIX": 2, "PACKED": 1, "TYPED_VECTOR": 3, "TYPED_MATRIX": 3}


def enum_type(which):
    """The C type of an enumeration."""
    return ENUMERATIONS.get(which, "jblas_operation_t")


def scalar_type(letter, of):
    """The C type of a scalar or a result."""
    if of == "INDEX":
        return "int64_t"
    if of == "WIDE":
        return "double"
    if of in ("REAL", "REALS", "PARAMETERS") or (of == "SUM" and letter in "hb"):
        return REALS[letter]
    return ELEMENTS[letter]


def parameters(form, letter, arguments):
    """A form's parameters behind the handle, as C has them."""
    found = []
    for kind, fields in arguments:
        name = fields[0]
        if kind == "ENUM":
            found.append(f"{enum_type(fields[1])} {name}")
        elif kind in OPERANDS:
            count = OPERANDS[kind]
            const = "const " if fields[count] == "READ" else ""
            found.append(f"{const}{ELEMENTS[letter]} *" + (f"const {name}[]" if form == "pointers" else name))
            found.extend(f"{'jdatatype_t' if field.endswith('_type') else 'int64_t'} {field}" for field in fields[1:count])
            if form == "strided":
                found.append(f"int64_t stride_{name}")
        elif kind in ("INDICES", "FACTORS", "REALS"):
            element = "int64_t" if kind == "INDICES" else (ELEMENTS if kind == "FACTORS" else REALS)[letter]
            found.append(f"{'const ' if fields[1] == 'READ' else ''}{element} *{name}")
            if form != "plain":
                found.append(f"int64_t stride_{name}")
        elif kind == "NUMBER":
            const = "const " if fields[2] == "READ" else ""
            found.append(f"{const}{scalar_type(letter, fields[1])} *" + (f"const {name}[]" if form == "pointers" else name))
            if form == "strided":
                found.append(f"int64_t stride_{name}")
        elif kind in ("SCALAR", "RESULT"):
            const = "const " if kind == "SCALAR" else ""
            found.append(f"{const}{scalar_type(letter, fields[1])} *{name}")
        else:
            found.append(f"int64_t {name}")
    return found if form == "plain" else [*found, "int64_t batch_count"]


def arguments_of(body, lists):
    """[(kind, fields)] of a row; the words that it hands to another list are put in."""
    while "X(t," not in body:
        name, words = re.match(r"\s*JI_ARGUMENTS_(\w+)\(X, t([^)]*)\)", body).groups()
        places, body = lists[name]
        for place, word in zip(re.findall(r"\w+", places), re.findall(r"\w+", words)):
            body = re.sub(rf"(?<=, ){place}\b", word, body)
    return [(kind, [field.strip() for field in fields.split(",")]) for kind, fields in ARGUMENT.findall(body)]


def plain_routines(tree, headers, macro):
    """Those without batched forms."""
    if headers is None:
        return set()
    text = "".join(tree.read(header) for header in tree.files(headers))
    lists = re.findall(rf"#define {macro}\(X\)((?:.*\\\n)*.*)\n", text)
    return set(re.findall(r"X\((\w+),", "".join(lists)))


def functions(prefix, text, plain):
    """{function: its parameters behind the handle}, by the rows, in all forms; plain: routines that have one alone."""
    text = text.replace("\\\n", " ")
    lists = {name: (places, body) for name, places, body in ARGUMENTS.findall(text)}
    found = {}
    for routine, names in FUNCTIONS.findall(text):
        arguments = arguments_of(lists[routine][1], lists)
        typed = [(letter + stem, letter) for macro, stem in re.findall(r"\b(JI_\w+)\(X, context, (\w+)\)", names)
                 for letter in LETTERS[macro]]
        typed += [(name, letter) for letter, name in re.findall(r"X\(context, \w+, (\w), (\w+)\)", names)]
        typed += [(letter + half + stem, letter) for stem in re.findall(r"JI_SY_HE\(X, context, \w+, (\w+)\)", names)
                  for letter, half in (("s", "sy"), ("d", "sy"), ("c", "he"), ("z", "he"))]
        for form, suffix in [("plain", "")] if routine in plain else SUFFIXES.items():
            for name, letter in typed:
                found[f"{prefix}{name}{suffix}"] = parameters(form, letter, arguments)
    return found


def all_functions(tree):
    """Those of all rows."""
    found = {}
    for prefix, (rows, _headers, header, macro) in LIBRARIES.items():
        for name in tree.files(rows):
            found.update(functions(prefix, tree.read(name), plain_routines(tree, header, macro)))
    return found


def check_rows(tree, _build):
    """The headers of jblas and of jlapack declare the functions of the rows, in all forms, with the same parameters,
    and no others."""
    rows = all_functions(tree)
    for header in tree.files([pattern for library in LIBRARIES.values() for pattern in library[1]]):
        text = tree.code(header)
        for match in PROTOTYPE.finditer(text):
            name, declared = match.group(1), [" ".join(part.split()) for part in match.group(2).split(",")]
            if name not in rows:
                yield f"{at(header, text, match)}: {name} has no row"
            elif declared != rows[name]:
                yield f"{at(header, text, match)}: {name} takes {declared}, its row says {rows[name]}"
            rows.pop(name, None)
    for name, expected in rows.items():
        yield f"{LIBRARIES['jblas_'][0][0]}:1: not declared: JALLOC_API jstatus_t {name}(jhandle_t *handle, {', '.join(expected)});"
