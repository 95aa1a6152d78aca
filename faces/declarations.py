# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the public headers declare, as the faces for other languages need it: functions, enumerations,
structs, callbacks and numbers, in the order of the headers. They are ours and laid out by
clang-format, so that a few patterns read them; what fits none of these is an error, not an omission.

    python3 declarations.py [--json] [HEADER...]     prints what it found"""

import dataclasses
import json
import pathlib
import re
import sys

HEADERS = pathlib.Path(__file__).resolve().parents[1] / "include/jalloc"

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FUNCTION = re.compile(r"^JALLOC_(API|INLINE)\s+([\w ]+?[ *]+)(\w+)\(((?:[^()]|\([^()]*\))*)\)([^;{]*)[;{]", re.MULTILINE)
ENUM = re.compile(r"^typedef enum (\w+) \{(.*?)\} (\w+);", re.MULTILINE | re.DOTALL)
STRUCT = re.compile(r"^typedef struct (\w+)\s*\{(.*?)^\}(?: __attribute__\(\(.*?\)\))? (\w+);", re.MULTILINE | re.DOTALL)
OPAQUE = re.compile(r"^typedef struct (\w+)\s+(\*?)(\w+);", re.MULTILINE)
CALLBACK = re.compile(r"^typedef ([\w ]+?[ *]*)\(\*(\w+)\)\(([^;]*)\);", re.MULTILINE)
ALIAS = re.compile(r"^typedef (u?int\d+_t) (\w+);", re.MULTILINE)
INIT = re.compile(r"^#define (J\w+_INIT)\b((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
NUMBER = re.compile(r"^#define (J\w+)\s(?:\s*\\\n)?\s*(\(?-?(?:0x[0-9a-fA-F]+|\d+|SIZE_MAX)[uUlL]*(?: (?:<<|-) \d+)?\)?)[ \t]*$", re.MULTILINE)
LIST = re.compile(r"^#define (J\w+_LIST)\(X\)((?:[^\n]*\\\n)+[^\n]*)", re.MULTILINE)
POINTER = re.compile(r"^(.*?)\(\*(\w+)\)\((.*)\)$", re.DOTALL)
VARIABLE = re.compile(r"^(.*?[ *])(\w+)((?: ?\[\w*\])*)$", re.DOTALL)
# What neither a type nor a pattern tells: the arguments that a caller may leave out, which are NULL then, by their names, or of
# one function. Of routines' operands none is here, though a size query reads none of them.
MAY_BE_NULL = {"options", "steps", "reused", "remaining", "hooks", "request"}
MAY_BE_NULL_OF = {("jsegment_recover", "count"), ("jshared_describe", "usable_bytes"), ("jshared_describe", "owner"),
                  ("jshared_header", "size_bytes"), ("jlayout_format", "type"), ("jlayout_parse", "type"), ("jprofile_load", "path"),
                  ("jhandle_get_refused_argument", "routine"), ("jhandle_get_refused_argument", "name"),
                  ("jhandle_get_refused_argument", "number"), ("jbuffer_qr", "q"), ("jbuffer_qr", "r"), ("jbuffer_svd", "u"),
                  ("jbuffer_svd", "vt"), ("jbuffer_eigen_symmetric", "vectors")}


@dataclasses.dataclass
class Variable:
    """A parameter or a member: `type` as C has it, of a pointer to a function what it returns."""
    name: str
    type: str
    extents: list = dataclasses.field(default_factory=list)  # of an array; "" where C has none
    parameters: list | None = None  # of a pointer to a function
    may_be_null: bool = False  # a parameter that may be left out


@dataclasses.dataclass
class Function:
    header: str
    name: str
    returns: str
    parameters: list
    text: str  # the comment above it, or above those that it stands with
    inline: bool = False
    variadic: bool = False  # a format's arguments follow

    @property
    def may_return_null(self):
        """Of one that returns a pointer: whether its comment says so."""
        return re.search(r"(?<!never )NULL", self.text) is not None


@dataclasses.dataclass
class Enum:
    header: str
    name: str
    values: dict
    text: str = ""


@dataclasses.dataclass
class Struct:
    header: str
    name: str
    members: list | None  # None: opaque
    text: str = ""
    initializer: str = ""  # the macro, where there is one
    initial: list = dataclasses.field(default_factory=list)  # and what it gives each member, as C has it


@dataclasses.dataclass
class Callback:
    header: str
    name: str
    returns: str
    parameters: list
    text: str = ""


@dataclasses.dataclass
class Declarations:
    functions: dict = dataclasses.field(default_factory=dict)
    enums: dict = dataclasses.field(default_factory=dict)
    structs: dict = dataclasses.field(default_factory=dict)
    callbacks: dict = dataclasses.field(default_factory=dict)
    aliases: dict = dataclasses.field(default_factory=dict)
    numbers: dict = dataclasses.field(default_factory=dict)


def without_comments(text):
    """Spaces in their place, so that positions stay; and in that of words for other compilers."""
    return re.sub(r"\bJALLOC_HOST_DEVICE_\b", lambda m: " " * len(m.group()),
                  COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text))


def comment_before(text, position):
    """What the comment says that ends before `position`, with nothing but declarations between."""
    last = None
    for match in COMMENT.finditer(text, 0, position):
        if match.group().startswith(("/**", "/*!")) and not match.group().startswith("/**<"):
            last = match
    if last is None:
        return ""
    lines = re.sub(r"^/\*\*\s?|\s*\*/$", "", last.group()).splitlines()
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines).strip()


def split(text, by=","):
    """At commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == by and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [part for part in (" ".join(p.split()) for p in [*parts, text[last:]]) if part]


def variables(text, by=","):
    """Parameters, or with ";" members, of which several may share a type."""
    found = []
    for part in split(text, by):
        if part in ("void", "..."):
            continue
        pointer = POINTER.match(part)
        if pointer:
            found.append(Variable(pointer.group(2), pointer.group(1).strip(), [], variables(pointer.group(3))))
            continue
        first, *others = split(part)
        match = VARIABLE.match(first)
        if not match:
            raise SyntaxError(f"no variable: {part!r}")
        kind = match.group(1).strip()
        for one in [first, *(f"{kind.rstrip(' *')} {other}" for other in others)]:
            match = VARIABLE.match(one)
            found.append(Variable(match.group(2), match.group(1).strip(), re.findall(r"\[(\w*)\]", match.group(3))))
    return found


def enum_values(body, numbers, lists):
    """{name: value}; rows of an X-macro have their number first."""
    values, following = {}, 0
    for part in split(body):
        row = re.match(r"(J\w+_LIST)\((\w+)\)$", part.replace(" ", ""))
        if row:
            values.update(lists[row.group(1)])
            continue
        name, _, value = (s.strip() for s in part.partition("="))
        following = number(value, {**numbers, **values}) if value else following
        values[name] = following
        following += 1
    return values


def number(text, known):
    """The value of a C constant."""
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    text = re.sub(r"\b[A-Z]\w{2,}\b", lambda m: str(known[m.group()]), text)
    text = re.sub(r"'(.)'", lambda m: str(ord(m.group(1))), text)
    return eval(text, {"__builtins__": {}})  # pylint: disable=eval-used; it is our own header


def read(headers=None):
    """The declarations of all headers, or of some."""
    found = Declarations()
    lists = {}
    for path in sorted(headers or HEADERS.glob("*.h")):
        text = path.read_text(encoding="utf-8")
        code = without_comments(text)
        header = path.name
        for match in NUMBER.finditer(code):
            found.numbers[match.group(1)] = number(match.group(2), {"SIZE_MAX": 2**64 - 1})
        for match in LIST.finditer(code):
            lists[match.group(1)] = rows(match.group(1).removesuffix("LIST"), match.group(2))
        for match in ALIAS.finditer(code):
            found.aliases[match.group(2)] = match.group(1)
        for match in ENUM.finditer(code):
            values = enum_values(strip_macros(match.group(2)), found.numbers, lists)
            found.enums[match.group(3)] = Enum(header, match.group(3), values, comment_before(text, match.start()))
        for match in STRUCT.finditer(code):
            members = variables(match.group(2), ";")
            found.structs[match.group(3)] = Struct(header, match.group(3), members, comment_before(text, match.start()))
        for match in OPAQUE.finditer(code):
            found.structs.setdefault(match.group(3), Struct(header, match.group(3), None, comment_before(text, match.start())))
        for match in CALLBACK.finditer(code):
            found.callbacks[match.group(2)] = Callback(header, match.group(2), match.group(1).strip(), variables(match.group(3)),
                                                       comment_before(text, match.start()))
        for match in FUNCTION.finditer(code):
            kind, returns, name, parameters, _ = match.groups()
            if not name.endswith("_"):
                taken = variables(parameters)
                for variable in taken:
                    variable.may_be_null = variable.name in MAY_BE_NULL or (name, variable.name) in MAY_BE_NULL_OF
                found.functions[name] = Function(header, name, " ".join(returns.split()), taken,
                                                 comment_before(text, match.start()), kind == "INLINE",
                                                 parameters.rstrip().endswith("..."))
        for macro, body in INIT.findall(code):
            struct = found.structs[macro.removesuffix("_INIT").lower() + "_t"]
            struct.initializer = macro
            struct.initial = split(body.replace("\\\n", " ").strip()[1:-1])
    for table in (found.structs, found.numbers):  # what inline functions know of what is internal
        for name in [name for name in table if name.endswith("_")]:
            del table[name]
    return found


def rows(prefix, body):
    """{name: value} of an X-macro's rows, which begin with a name and a number in either order."""
    pairs = re.findall(r"\bX\((\w+), (\w+)", body)
    return {prefix + (b if a.isdigit() else a): int(a if a.isdigit() else b) for a, b in pairs}


def strip_macros(body):
    """An enumeration's body without the lines of the preprocessor between its rows."""
    return re.sub(r"^#[^\n]*(?:\\\n[^\n]*)*", "", body, flags=re.MULTILINE)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--json"]
    found = read([pathlib.Path(a) for a in arguments] or None)
    if "--json" in sys.argv:
        print(json.dumps(dataclasses.asdict(found), indent=1))
        return
    for kind in dataclasses.fields(found):
        print(f"{kind.name}: {len(getattr(found, kind.name))}")


if __name__ == "__main__":
    main()
