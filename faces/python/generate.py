# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Writes what Python has to know of the public headers, when the package is built:

    python3 generate.py FOLDER      FOLDER/_declarations.py, what ctypes needs to call by name, and
                                    FOLDER/c.pyi, the same for people and for whoever checks types

A pointer to elements takes an address, None, byref() or a NumPy array of just that type, an array of such
pointers a list of arrays (_pointers.py has the classes). A text that C reads is bytes. What MPI, CUDA or HIP have types for is left out."""

import keyword
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import declarations  # pylint: disable=wrong-import-position

FOREIGN = {"mpi.h", "cuda.h", "hip.h"}
PLAIN = {"void": "None", "bool": "c_bool", "char": "c_char", "unsigned char": "c_ubyte", "int": "c_int",
         "unsigned": "c_uint", "float": "c_float", "double": "c_double", "size_t": "c_size_t",
         "uintptr_t": "c_size_t", **{f"{u}int{n}_t": f"c_{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}}
# Elements that arrays have: a pointer to them may be an array.
ELEMENTS = {"float": "F32", "double": "F64", "jcomplex_f32_t": "F32C", "jcomplex_f64_t": "F64C",
            "jfloat16_t": "F16", "jbfloat16_t": "BF16", "int64_t": "I64", "void": "Bytes"}
STUBS = {"None": "None", "c_bool": "bool", "c_float": "float", "c_double": "float", "c_char_p": "bytes | None"}


class Types:
    """C's types as ctypes has them."""

    def __init__(self, found):
        self.found = found

    def value(self, kind):
        """Of something that is passed or kept as a value."""
        kind = kind.removeprefix("const ").strip()
        if kind in PLAIN:
            return PLAIN[kind]
        if kind in self.found.enums:
            return "c_int"
        if kind in self.found.aliases:
            return PLAIN[self.found.aliases[kind]]
        if kind in self.found.structs or kind in self.found.callbacks:
            return kind
        raise SyntaxError(f"no type for ctypes: {kind!r}")

    def pointer(self, kind, where):
        """`kind` is what stands before the last star; where: "parameter" or "member" or "result"."""
        constant, kind = kind.startswith("const "), kind.strip()
        kind = re.sub(r"\bconst\b", "", kind).strip()
        if kind.endswith("*"):
            inside = self.pointer(kind[:-1].strip(), "member")
            return f"POINTER({inside})"
        if kind == "char":
            return "c_char_p" if where != "callback" and constant else "POINTER(c_char)"
        if where == "parameter" and kind in ELEMENTS:
            return f"{'Const' if constant else ''}{ELEMENTS[kind]}"
        if kind in ELEMENTS and kind not in ("float", "double", "int64_t"):
            return "c_void_p"
        return f"POINTER({self.value(kind)})"

    def variable(self, variable, where):
        """Of a parameter or member; an array as a parameter is a pointer."""
        if variable.parameters is not None:
            return self.callback(variable.type, variable.parameters)
        kind, extents = variable.type, variable.extents
        if extents and where == "parameter":
            if kind.endswith("const"):  # T *const x[]
                kind = kind.removesuffix("const").strip()
            if not kind.endswith("*"):
                return self.pointer(kind, where)
            inside = self.pointer(kind[:-1].strip(), where)
            return f"Many{inside}" if inside.removeprefix("Const") in ELEMENTS.values() else f"POINTER({inside})"
        kind = kind.removesuffix("const").strip()
        text = self.pointer(kind[:-1].strip(), where) if kind.endswith("*") else self.value(kind)
        for extent in reversed(extents):
            text += f" * {extent if extent.isdigit() else self.found.numbers[extent]}"
        return text

    def result(self, kind):
        return self.pointer(kind[:-1].strip(), "result") if kind.endswith("*") else self.value(kind)

    def callback(self, returns, parameters):
        inside = [self.result(returns), *(self.variable(p, "callback") for p in parameters)]
        return f"CFUNCTYPE({', '.join(inside)})"


def initial(struct, found):
    """What the initializer gives, but for zeros and the size."""
    values = {}
    names = {name: value for enum in found.enums.values() for name, value in enum.values.items()} | found.numbers
    for member, text in zip(struct.members, struct.initial):
        if re.fullmatch(r"-?\w+", text) and "sizeof" not in text and text not in ("NULL", "false", "JOFFSET_NULL"):
            value = declarations.number(text, names)
            if value:
                values[member.name] = value
    return values


def in_order(structs, types):
    """Structs behind those that are members of theirs."""
    done = []

    def put(name):
        if name in done:
            return
        for member in structs[name].members or []:
            kind = member.type.removeprefix("const ")
            if kind in structs and member.parameters is None:
                put(kind)
        done.append(name)

    for name in structs:
        put(name)
    return done


def chosen(found):
    """Without what is other headers'."""
    for kind in ("functions", "enums", "structs", "callbacks"):
        table = getattr(found, kind)
        for name in [name for name, one in table.items() if one.header in FOREIGN]:
            del table[name]
    return found


def write_declarations(found, file):
    types = Types(found)

    def say(*lines):
        print(*lines, sep="\n", file=file)

    numbers = found.numbers
    version = [numbers[f"JALLOC_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")]
    say("# mypy: ignore-errors", '"""What the headers of jalloc declare, for ctypes. Made from them by generate.py."""', "",
        "from ctypes import *", "from enum import EnumMeta, IntEnum", "",
        "from ._pointers import *", "",
        f"VERSION = \"{'.'.join(map(str, version))}\"",
        f"SOVERSION = \"{'.'.join(map(str, version[:1 if version[0] else 2]))}\"", "",
        f"NUMBERS = {numbers!r}", "")
    for enum in found.enums.values():
        say("", f"class {enum.name}(IntEnum):", *(f"    {name} = {value}" for name, value in enum.values.items()))
    structs = in_order(found.structs, types)
    for name in structs:
        say("", f"class {name}(Struct):")
        values = initial(found.structs[name], found) if found.structs[name].members else {}
        say(f"    _initial_ = {values!r}" if values else "    pass")
    say("")
    for callback in found.callbacks.values():
        say(f"{callback.name} = {types.callback(callback.returns, callback.parameters)}")
    for name in structs:
        members = found.structs[name].members
        if members is not None:
            say(f"{name}._fields_ = [", *(f"    (\"{m.name}\", {types.variable(m, 'member')})," for m in members), "]")
    texts = list(dict.fromkeys(f.text for f in found.functions.values()))
    number_of = {text: number for number, text in enumerate(texts)}
    pointers = {}  # each type of pointer is made once
    rows = []
    for function in found.functions.values():
        row = [types.result(function.returns), *(types.variable(p, "parameter") for p in function.parameters)]
        row = [pointers.setdefault(text, f"P{len(pointers)}") if text.startswith("POINTER(") else text for text in row]
        names = " ".join(p.name for p in function.parameters)
        rows.append(f"    \"{function.name}\": ({row[0]}, ({''.join(text + ', ' for text in row[1:])}), "
                    f"\"{names}\", {number_of[function.text]}),")
    say("", f"TEXTS = {texts!r}", "", *(f"{name} = {text}" for text, name in pointers.items()),
        "# {name: (result, parameters, their names, number of the text)}", "FUNCTIONS = {", *rows, "}")


def stub(text):
    """A ctypes type as a checker of types is told of it."""
    if text in STUBS:
        return STUBS[text]
    return "int" if re.fullmatch(r"c_u?(int|size_t|long|byte)\w*", text) else "Any"


def write_stub(found, file):
    types = Types(found)

    def say(*lines):
        print(*lines, sep="\n", file=file)

    def doc(text):
        return '    """' + text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n    ") + '"""'

    say('"""All of C\'s names, as the headers of jalloc declare them. Made from them by generate.py."""', "",
        "import ctypes", "from enum import IntEnum", "from typing import Any", "")
    for name in found.numbers:
        say(f"{name}: int")
    for enum in found.enums.values():
        say("", f"class {enum.name}(IntEnum):", *([doc(enum.text)] if enum.text else []),
            *(f"    {name} = {value}" for name, value in enum.values.items()), "")
        say(*(f"{name} = {enum.name}.{name}" for name in enum.values))
    for struct in found.structs.values():
        say("", f"class {struct.name}(ctypes.Structure):", *([doc(struct.text)] if struct.text else []))
        members = [(m.name, stub(types.variable(m, "member"))) for m in struct.members or []]
        say(*(f"    {name}: {kind}" for name, kind in members),
            "    def __init__(self, *values: Any, **members: Any) -> None: ...")
    for callback in found.callbacks.values():
        say("", f"{callback.name}: Any")
    for function in found.functions.values():
        parameters = ", ".join(f"{p.name}{'_' * keyword.iskeyword(p.name)}: {stub(types.variable(p, 'parameter'))}"
                               for p in function.parameters)
        result = types.result(function.returns)
        returns = "bytes" if result == "c_char_p" and not function.may_return_null else stub(result)
        say("", f"def {function.name}({parameters}) -> {returns}:",
            *([doc(function.text)] if function.text else []), "    ...")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = chosen(declarations.read())
    with open(folder / "_declarations.py", "w", encoding="utf-8") as file:
        write_declarations(found, file)
    with open(folder / "c.pyi", "w", encoding="utf-8") as file:
        write_stub(found, file)


if __name__ == "__main__":
    main()
