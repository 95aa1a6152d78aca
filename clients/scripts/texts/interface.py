# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""How public functions look: what is written before what is read, getters of one style, and no
function that only tests call."""

import re

from texts.names import DECLARED
from texts.tree import HEADERS, PAGES, at, blank

PROTOTYPE = re.compile(r"^JALLOC_(?:API|INLINE)\s+((?:const )?\w+ ?\**)\s*(j\w+)\(([^{;]*)\)",
                       re.MULTILINE)
FUNCTION_POINTER = re.compile(r"\w[\w *]*\(\*(\w+)\)\([^()]*\)")
DESTINATION = re.compile(r"\b(destination|dst|target)(?:\[.*)?$")
SOURCE = re.compile(r"\b(source|src|pattern)(?:\[.*)?$")
# Takes the source's memory, and says so in the caller's pointer.
GIVES_UP_ITS_SOURCE = {"jbuffer_construct_move"}

GETTER = re.compile(r"_get(_|$)")
OBJECT = re.compile(r"(const )?(j\w+_t) \*\w+$")
VALUE = re.compile(r"(?:(?!const\b)\w[\w ]*\*+|const \w+ \*\*)\w+(?:\[.*)?$")
# What is asked of an object is worked out, looked for or written somewhere: a verb says so.
VERBS = re.compile(r"_set_|_(?:find|query|describe|parse|format|slice|permute)$")
# Changes what it says.
EXCHANGES = re.compile(r"_(?:compare_)?exchange$")
# Say something of an object, and give the program a way to change it.
WAYS_IN = {"jsegment_pointer", "jshared_header"}

CALLERS = ["include/jalloc/*.h", "library/**/*.[chi]*", "library/**/*.cu", "clients/samples/**/*.c*",
           "clients/tools/**/*.[ch]", "clients/bench/**/*.[ch]*"]
BLOCK = re.compile(r"^([ \t]*)\.\. code-block:: (?:c|cpp|c\+\+)\n((?:\1[ \t]+\S[^\n]*\n|[ \t]*\n)+)|"
                   r"^```c\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# One is there because the other is: set and get, retain and release, seal and unseal, CUDA and HIP.
FAMILY = [(re.compile(r"_(?:set|get)_"), "_"), (re.compile(r"_(?:retain|release)$"), "_hold"),
          (re.compile(r"_unseal$"), "_seal"), (re.compile(r"^j(?:cuda|hip)_"), "jgpu_")]


def prototypes(tree):
    """(header, its code, match, returned type, name, parameters) of what is declared."""
    for header in tree.files(HEADERS):
        code = tree.code(header)
        for match in PROTOTYPE.finditer(code):
            text = FUNCTION_POINTER.sub(r"function \1", " ".join(match.group(3).split()))
            if not match.group(2).endswith("_"):
                yield (header, code, match, match.group(1).strip(), match.group(2),
                       [p.strip() for p in text.split(",") if p.strip() != "void"])


def check_order(tree, _build):
    """A destination stands before its source, and a source is const."""
    for header, code, match, _, name, parameters in prototypes(tree):
        destination = next((i for i, p in enumerate(parameters) if DESTINATION.search(p)), None)
        for i, parameter in enumerate(parameters):
            if not SOURCE.search(parameter) or name in GIVES_UP_ITS_SOURCE:
                continue
            if destination is not None and i < destination:
                yield f"{at(header, code, match)}: {name} has its source before its destination"
            if "*" in parameter and not parameter.startswith("const "):
                yield f"{at(header, code, match)}: {name} has a source that is not const"


def check_getters(tree, _build):
    """A getter that can fail has `get` in its name, a const object, and a status; one that cannot
    gives its value, of a const object."""
    for header, code, match, returned, name, parameters in prototypes(tree):
        where = at(header, code, match)
        first = OBJECT.match(parameters[0]) if parameters else None
        if GETTER.search(name):
            if returned != "jstatus_t" or not parameters or not VALUE.match(parameters[-1]):
                yield f"{where}: {name} has a get in its name, and no status or no value to set"
            elif first and len(parameters) > 1 and not first.group(1):
                yield f"{where}: {name} gets something of an object that is not const"
        elif returned == "jstatus_t":
            if (first and first.group(1) and len(parameters) > 1 and VALUE.match(parameters[-1]) and
                    not re.search(r"_t \*\*|\bcontext$|\bstream$", parameters[-1]) and
                    not VERBS.search(name)):
                yield f"{where}: {name} gives a value by a pointer, and has no get in its name"
        elif returned != "void" and first and not first.group(1) and name not in WAYS_IN and not EXCHANGES.search(name):
            yield f"{where}: {name} gives a value of an object that is not const"


def check_threads(tree, _build):
    """A header with functions says from which threads they may be called."""
    for header in tree.files(HEADERS):
        said = " ".join([tree.comments(header), *tree.heads(header)]).lower()
        if DECLARED.search(tree.code(header)) and "thread" not in said:
            yield f"{header}:1: says nothing of threads"


def family(name):
    for pattern, one in FAMILY:
        name = pattern.sub(one, name)
    return name


def called(tree):
    """Families of functions that somebody calls: the library, samples, tools, benchmarks, and the
    code in the texts. A definition begins its line, a call does not."""

    def words():
        found = set()
        for name in tree.files(CALLERS):
            for line in tree.code(name).splitlines():
                if line[:1] in (" ", "#"):
                    found.update(re.findall(r"\bj\w+", line))
        return found

    found = set(tree.once(("called", ""), words))
    for name in tree.files(PAGES):
        for match in BLOCK.finditer(tree.read(name)):
            block = re.sub(r"/\*.*?\*/", lambda m: blank(m.group()), match.group(), flags=re.DOTALL)
            found.update(re.findall(r"\bj\w+", block))
    return {family(word) for word in found}


def check_callers(tree, _build):
    """No public function is there for the tests alone: the library, a sample, a tool, a benchmark
    or the code in a text calls it, or what it is the other half of."""
    families = called(tree)
    for symbols in tree.files(["cmake/*.symbols"]):
        for number, name in enumerate(tree.read(symbols).split(), 1):
            if not name.startswith("ji_") and family(name) not in families:
                yield f"{symbols}:{number}: {name} is called by tests alone"
