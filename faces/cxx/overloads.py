#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Writes jalloc/blas.hpp and jalloc/lapack.hpp: the routines of jblas and jlapack in C++, one name for all element
types, from the declarations of C.

    python3 overloads.py FOLDER

Arguments are C's in their order, results among them: a result may be in device memory and come later, and in a size
query there is none. Scalars may be values too (scalar.hpp). What a routine is called of which but some element types
are there, a real one of he*, un*, dotc and their like, has that name as well, so that templates have one."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import declarations  # noqa: E402 pylint: disable=wrong-import-position

SCALARS = {"alpha", "beta", "anorm", "above", "up_to", "abstol", "rcond"}
ROTATION = {"c", "s"}  # scalars of rot
# The types' letters in a name, and what is left without them; of two precisions or none at all: the name itself.
AS_IT_IS = re.compile(r"(?:dsdot|sdsdot|dsgesv|dsposv|zcgesv|zcposv|\w+_ex)(?:(?:_strided)?_batched)?$")
NAMES = [(re.compile(r"i[sdcz](amax|amin)\b"), r"i\1"), (re.compile(r"(?:sc|dz)(asum|nrm2)\b"), r"\1"),
         (re.compile(r"(?:cs|zd)(scal|rot)\b"), r"\1"), (re.compile(r"[sdczhb](\w+)$"), r"\1")]
# Complex routines, and the real ones that do the same.
REAL = [(re.compile(r"he(?=mm|mv|r|ev|gv|tr|sv)"), "sy"), (re.compile(r"un(?=g|m)"), "or"), (re.compile(r"hb(?=mv)"), "sb"),
        (re.compile(r"hp(?=mv|r)"), "sp"), (re.compile(r"dot[cu]"), "dot"), (re.compile(r"ger[cu]"), "ger")]
TYPES = {"jcomplex_f32_t": "std::complex<float>", "jcomplex_f64_t": "std::complex<double>"}
HEAD = """/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
/* Made by faces/cxx/overloads.py from the headers of C: changes belong there. */
#ifndef JALLOC_{guard}_HPP
#define JALLOC_{guard}_HPP

#include "jalloc/{header}.h"
{more}#include "jalloc/outcome.hpp"
#include "jalloc/scalar.hpp"

namespace jalloc {{
inline namespace JALLOC_POLICY_ {{
namespace {space} {{
"""
TAIL = """
} // namespace %s
} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
"""


def base_name(name):
    """A routine's name without the letters of its element type."""
    if AS_IT_IS.match(name):
        return name
    batch = re.search(r"(?:_strided)?_batched$|$", name).group()
    plain = name.removesuffix(batch)
    for pattern, replacement in NAMES:
        if pattern.fullmatch(plain):
            return pattern.sub(replacement, plain) + batch
    raise SyntaxError(f"{name}: of what element type?")


def cxx_type(text):
    return re.sub(r"jcomplex_f\d\d_t", lambda match: TYPES[match.group()], text)


def is_scalar(function, variable):
    name = variable.name in SCALARS or variable.name in ROTATION and "rot" in function.name
    return name and not variable.extents and re.fullmatch(r"const \w+ \*", variable.type) and "void" not in variable.type


def overload(function, name):
    """One inline function. scal has overloads of real and of complex alpha: then a real number is the former."""
    parameters, arguments, scalars = [], [], []
    for variable in function.parameters:
        if is_scalar(function, variable):
            kind = re.match(r"const (\w+)", variable.type).group(1)
            wrapper = "exactly" if name.startswith("scal") and "complex" in kind else "scalar"
            parameters.append(f"{wrapper}<{cxx_type(kind)}> {variable.name}")
            arguments.append(f"{variable.name}.pointer()")
            scalars.append(variable.name)
        else:
            extents = "".join(f"[{extent}]" for extent in variable.extents)
            kind = cxx_type(variable.type)
            parameters.append(f"{kind}{'' if kind.endswith('*') else ' '}{variable.name}{extents}")
            arguments.append(variable.name)
    call = f"{function.name}({', '.join(arguments)})"
    lines = [f"inline outcome {name}({', '.join(parameters)}) {{"]
    if scalars:
        lines += [f"    const jstatus_t may = detail::may_pass(handle, \"{function.name}\", {', '.join(scalars)});",
                  f"    return check(may == JSTATUS_SUCCESS ? {call} : may);"]
    else:
        lines += [f"    return check({call});"]
    return "\n".join([*lines, "}"])


def families(functions, prefix):
    """{name: [function]}, and with the real ones of complex names."""
    found = {}
    for function in functions.values():
        if function.name.startswith(prefix) and function.parameters and function.parameters[0].type == "jhandle_t *":
            found.setdefault(base_name(function.name.removeprefix(prefix)), []).append(function)
    for name, members in found.items():
        for pattern, replacement in REAL:
            real = pattern.sub(replacement, name, count=1) if pattern.match(name) else name
            if real != name and real in found and len(members) == 2:
                members += [function for function in found[real]
                            if function.name.removeprefix(prefix)[0] in "sd" and alike(function, members[0])]
    return found


def alike(one, other):
    return len(one.parameters) == len(other.parameters)


def write(functions, prefix, space, header, more):
    text = [HEAD.format(guard=space.upper(), header=header, more=more, space=space)]
    for name, members in families(functions, prefix).items():
        signatures = set()
        comment = "\n".join(f" * {line}".rstrip() for line in members[0].text.splitlines()).lstrip(" *")
        text.append(f"/** {comment} */")
        for function in members:
            made = overload(function, name)
            signature = re.sub(r"\w+[,)]", "", made.partition("{")[0])
            if signature in signatures:
                raise SyntaxError(f"{function.name}: {name} has such arguments already")
            signatures.add(signature)
            text.append(made)
    return "\n".join(text) + TAIL % space


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    functions = declarations.read().functions
    (folder / "blas.hpp").write_text(write(functions, "jblas_", "blas", "jblas", ""), encoding="utf-8")
    (folder / "lapack.hpp").write_text(
        write(functions, "jlapack_", "lapack", "jlapack", '#include "jalloc/jlapack_batched.h"\n'), encoding="utf-8")


if __name__ == "__main__":
    main()
