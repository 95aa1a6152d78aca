#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What the texts say is so: README.md, CONTRIBUTING.md, CHANGELOG.md, the manual and the comments of the public headers
are held against the sources, and, where a build folder is given, against what the built programs say of themselves.

Each check takes the tree and gives findings, "FILE:LINE: what was expected". --self-test plants a wrong sentence for each
of them first, and fails unless it is found."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.rst", "docs/*/*.rst"]
HEADERS = ["include/jalloc/*.h"]
SOURCES = ["include/jalloc/*.h", "library/**/*.[chi]*", "clients/**/*.[chi]*"]
# Pages for those who work on jalloc: they name what is internal, too.
FOR_AUTHORS = re.compile(r"CONTRIBUTING|CHANGELOG|docs/(adding_\w+|architecture|testing)")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")


def blank(text):
    """Spaces in its place, so that lines stay where they are."""
    return re.sub(r"[^\n]", " ", text)


# What a changed text leaves as it is.
KEPT = ("files", "read", "code", "comments", "everything", "variables", "options", "help", "info")


def only_comments(text):
    result, last = [], 0
    for match in COMMENT.finditer(text):
        kept = match.group()[0] == "/"
        result += [blank(text[last:match.start()]), match.group() if kept else blank(match.group())]
        last = match.end()
    text = "".join(result) + blank(text[last:])
    return re.sub(r"^( *)(/\*\*?|\*/?|//)|\*/", lambda m: " " * len(m.group()), text, flags=re.MULTILINE)


class Tree:
    """The source folder. `changed` holds texts that stand in the place of files, for the self-test; what `like` has made
    of all other files is used again."""

    def __init__(self, root, changed=None, like=None):
        self.root, self.changed = root, changed or {}
        self.kept = {} if like is None else {k: v for k, v in like.kept.items() if k[0] in KEPT and k[1] not in changed}

    def files(self, patterns):
        return self.once(("files", tuple(patterns)), lambda: sorted(
            {str(p.relative_to(self.root)) for pattern in patterns for p in self.root.glob(pattern) if p.is_file()}))

    def read(self, name):
        return self.once(("read", name), lambda: self.changed.get(name) or
                         (self.root / name).read_text(encoding="utf-8", errors="replace"))

    def once(self, key, make):
        """What `make` gives, made once."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def code(self, name):
        """A source without comments and strings."""
        return self.once(("code", name), lambda: COMMENT.sub(lambda m: blank(m.group()), self.read(name)))

    def comments(self, name):
        """The comments of a header alone, without the stars at the beginnings of lines."""
        return self.once(("comments", name), lambda: only_comments(self.read(name)))

    def texts(self):
        """(name, text) of all that is looked through."""
        return [(n, self.read(n)) for n in self.files(PAGES)] + [(n, self.comments(n)) for n in self.files(HEADERS)]

    def public(self):
        """What the headers declare, with the names that their lists make."""
        def make():
            names = {w for n in self.files(HEADERS) for w in WORD.findall(self.code(n))}
            for header, macro, prefix in LISTS:
                names |= {prefix + row for row in rows(self.read(header), macro)}
            return names
        return self.once(("public", ""), make)

    def everything(self):
        """Every word of every source, script and list."""
        def make():
            words = {w for n in self.files(SOURCES) for w in WORD.findall(self.read(n))}
            more = [n for n in self.files(["clients/**/*.py"]) if n != "clients/scripts/check_texts.py"]
            more += ["CMakeLists.txt", "cmake/*", "*/CMakeLists.txt", "clients/**/CMakeLists.txt", "library/**/CMakeLists.txt",
                    "docs/conf.py", "rtest.xml", "rtest.py", "install.sh"]
            words |= {pathlib.PurePosixPath(n).name.split(".")[0] for n in self.files(SOURCES)}
            return words | {w for n in self.files(more) for w in WORD.findall(self.read(n))}
        return self.once(("everything", ""), make)


LISTS = [("include/jalloc/status.h", "JSTATUS_LIST", "JSTATUS_"), ("include/jalloc/config.h", "JCONFIG_LIST", "")]


def rows(text, macro):
    """First arguments of an X-macro's rows."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)+.*)\n", text)
    return re.findall(r"\bX\((\w+),", body.group(1)) if body else []


def line_of(text, position):
    return text.count("\n", 0, position) + 1


# ---- Names ----

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
            yield f"{name}:{line_of(text, match.start())}: {word} is declared nowhere"
        for match in MEMBER.finditer(text):
            if not re.search(rf"\b{match.group(2)}\b", struct_body(tree, match.group(1))):
                yield f"{name}:{line_of(text, match.start())}: {match.group(1)} has no member {match.group(2)}"
        for match in LITERAL.finditer(text):
            word = match.group(1) or match.group(2)
            foreign = name.endswith("coming_from.rst") or name == "docs/gpu.rst"
            if not foreign and word not in words and word not in FOREIGN_WORDS:
                yield f"{name}:{line_of(text, match.start())}: {word} is a name of nothing here"


def struct_body(tree, type_name):
    for name in tree.files(HEADERS):
        match = re.search(rf"typedef struct \w+ \{{(.*?)\}} {type_name};", tree.code(name), re.DOTALL)
        if match:
            return match.group(1)
    return ""


def outside(tree):
    """Names that are no declarations: options of CMake, variables of the environment."""
    others = re.findall(r'"(JALLOC_\w+)"', tree.read("library/core/environment.c"))
    return tree.once(("outside", ""), lambda: {*cmake_options(tree), *variables(tree), *others, "JSTATUS_UNKNOWN",
                                               "JBUFFER_LIST_n"})


# ---- The reference ----

DECLARED = re.compile(r"^JALLOC_API\b[^;{]*?\b(j\w+)\(", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:typedef (?:enum|struct) (\w+) \{|#define (J\w*[A-Z0-9])\b(?!_H$))", re.MULTILINE)


def documented(text, position):
    """Whether a comment for the reference stands before, or before the definitions right above, or behind it."""
    before, line = text[:position].rstrip(), text[position:text.index("\n", position)]
    if "/**<" in line or before.endswith("*/") and re.match(r"/\*\*(?!<)", before[before.rindex("/*"):]):
        return True
    above = text[:position].split("\n\n")[-1]
    return line.startswith("#") and "#define" in above and re.search(r"/\*\*(?!<)", above) is not None


def check_reference(tree, _build):
    """Every public header is a section of the reference, every function has a comment, and what is exported is declared."""
    reference = tree.read("docs/reference.rst")
    shown = set(re.findall(r"doxygenfile:: (\w+\.h)", reference))
    headers = {pathlib.PurePosixPath(n).name for n in tree.files(HEADERS)} - {"jalloc.h"}
    for header in sorted(headers ^ shown):
        yield f"docs/reference.rst:1: {header} is {'not shown' if header in headers else 'no public header'}"
    declared = set()
    for name in tree.files(HEADERS):
        text, code = tree.read(name), tree.code(name)
        for match in DECLARED.finditer(code):
            declared.add(match.group(1))
            before = text[:match.start()].rstrip()
            group = before.endswith(";") and "\n\n" not in text[len(before):match.start()]
            after = text[code.index(";", match.start()):].split("\n", 1)[0]
            if not before.endswith("*/") and not group and "/**<" not in after:
                yield f"{name}:{line_of(text, match.start())}: {match.group(1)} has no comment"
    shown, bare = set(), {}
    for name in tree.files(HEADERS):
        text, code = tree.read(name), tree.code(name)
        for match in TYPE.finditer(code):
            word = match.group(1) or match.group(2)
            if documented(text, match.start()) or word.endswith(("_INIT", "_NULL", "_H")):
                shown.add(word)
            else:
                bare[word] = f"{name}:{line_of(text, match.start())}: {word} has no comment"
    yield from (finding for word, finding in bare.items() if word not in shown)
    exported = {s for n in tree.files(["cmake/*.symbols"]) for s in tree.read(n).split() if not s.startswith("ji_")}
    for symbol in sorted(exported - declared):
        yield f"cmake/*.symbols:1: {symbol} is exported and declared in no public header"
    for symbol in sorted(declared - exported):
        yield f"include/jalloc:1: {symbol} is declared and exported by no library"


# ---- The environment ----

GETENV = re.compile(r'\b(?:getenv|secure_getenv|heap_variable)\(\s*"(\w+)"')
PLACE_OF_VARIABLE = [(re.compile(r"JALLOC_TEST_|FAKE_GPU_"), "docs/testing.rst"), (re.compile("JALLOC_"), "docs/environment.rst")]


def variables(tree):
    """What programs, libraries and tests ask the environment for, and where."""
    return tree.once(("variables", ""), lambda: find_variables(tree))


def find_variables(tree):
    found = {}
    for name in tree.files(["library/**/*.[ch]*", "clients/**/*.[ch]*"]):
        for match in GETENV.finditer(tree.read(name)):
            found.setdefault(match.group(1), name)
    for variable in rows(tree.read("include/jalloc/config.h"), "JCONFIG_LIST"):
        found[variable] = "include/jalloc/config.h"
    return {k: v for k, v in found.items() if k.startswith(("JALLOC_", "FAKE_GPU_")) and k != "JALLOC_TEST_VARIABLE"}


def check_environment(tree, build):
    """Every variable that is read is in the manual, in the place for it, and no other."""
    found = variables(tree)
    for variable, source in sorted(found.items()):
        page = next(p for pattern, p in PLACE_OF_VARIABLE if pattern.match(variable))
        if not re.search(rf"\b{variable}\b", tree.read(page)):
            yield f"{page}:1: {variable}, which {source} reads, is not said"
    page = "docs/environment.rst"
    text = tree.read(page)
    table = set(re.findall(r"\bJALLOC_\w+", text[text.index("variable  "):].split("\n\n")[0]))
    listed = set(rows(tree.read("include/jalloc/config.h"), "JCONFIG_LIST"))
    for variable in sorted(table ^ listed):
        yield f"{page}:1: the table of when variables are read {'lacks' if variable in listed else 'has'} {variable}"
    if build:
        shown = {row["name"]: row["default"] for row in info(tree, build)["environment"]}
        for variable in sorted(set(shown) ^ listed):
            yield f"include/jalloc/config.h:1: {variable} is in one of header and jalloc-info alone"


def info(tree, build, *options):
    """What jalloc-info says. Its status is 1 where a variable of ours cannot be understood."""
    def make():
        if not (build / "bin/jalloc-info").exists():
            sys.exit(f"check_texts: there is no jalloc-info in {build}/bin to be asked")
        result = subprocess.run([build / "bin/jalloc-info", "--json", *options], text=True, capture_output=True, check=False)
        return json.loads(result.stdout)
    return tree.once(("info", options), make)


# ---- What builds and runs ----

def cmake_files(tree):
    return tree.files(["CMakeLists.txt", "cmake/*.cmake", "cmake/*.in", "docs/CMakeLists.txt", "library/**/CMakeLists.txt",
                       "clients/**/CMakeLists.txt"])


def cmake_options(tree):
    pattern = r"\b(?:option\((JALLOC_\w+)|set\((JALLOC_\w+) .*?CACHE (?:STRING|PATH|BOOL))"
    return tree.once(("options", ""), lambda: {a or b for n in cmake_files(tree) for a, b in re.findall(pattern, tree.read(n))})


OPTION_DEFAULT = re.compile(r'(?:option\((JALLOC_\w+)\s+"[^"]*"|set\((JALLOC_\w+)(?= ))\s+([^\s)]+)')


def check_build(tree, _build):
    """Presets, sets, targets, components and labels that a text names exist; what a text lists is all there is."""
    presets = json.loads(tree.read("CMakePresets.json"))
    shown = {kind: {p["name"] for p in presets[f"{kind}Presets"] if not p.get("hidden")}
             for kind in ("configure", "build", "test")}
    sets = set(re.findall(r'<set name="(\w+)"', tree.read("rtest.xml")))
    runs = set(re.findall(r'<run name="([\w-]+)"', tree.read("rtest.xml")))
    cmake = "\n".join(tree.read(n) for n in cmake_files(tree))
    labels = set(re.findall(r"LABELS\s+\"?([\w;]+)", cmake)) | set(re.findall(r"\bLABEL (\w+)", cmake))
    targets = set(re.findall(r"add_(?:executable|library|custom_target)\((\S+)", cmake))
    install = tree.read("install.sh")
    for name, text in tree.texts() + [("rtest.xml", tree.read("rtest.xml"))]:
        for pattern, known, what in (
                (r"rtest\.py[^`\n]*? -t (\w+)", sets, "set of rtest.xml"),
                (r"cmake --preset (\w+)", shown["configure"], "preset"),
                (r"--build --preset (\w+)", shown["build"], "build preset"),
                (r"ctest --preset (\w+)", shown["test"], "test preset"),
                (r"--label-regex (\w+)", labels, "label of a test"),
                (r"--target (\w[\w-]*)", targets, "target"),
                (r"-D(JALLOC_\w+)", cmake_options(tree), "option of CMakeLists.txt")):
            for match in re.finditer(pattern, text):
                if match.group(1) not in known:
                    yield f"{name}:{line_of(text, match.start())}: {match.group(1)} is no {what}"
        for match in re.finditer(r"--components (\w+)", text):
            if not re.search(rf"\b{match.group(1)}\b", install):
                yield f"{name}:{line_of(text, match.start())}: install.sh has no component {match.group(1)}"
        for match in re.finditer(r"[Ss]ets? ``?`?([\w-]+)``?`?(?: and ``?`?([\w-]+))?", text):
            for word in filter(None, match.groups()):
                if "`" in match.group() and word not in sets | runs:
                    yield f"{name}:{line_of(text, match.start())}: {word} is no set or run of rtest.xml"
    page = "docs/building.rst"
    text = tree.read(page)
    table = dict(re.findall(r"^``(JALLOC_\w+)`` +``(\w+)``", text, re.MULTILINE))
    defaults = {a or b: c for n in cmake_files(tree) for a, b, c in OPTION_DEFAULT.findall(tree.read(n))}
    for option in sorted(cmake_options(tree)):
        default = defaults.get(option, "").replace("${PROJECT_IS_TOP_LEVEL}", "ON")
        if option not in text or table.get(option, default) != default:
            yield f"{page}:1: {option} with the default {default or 'that CMake has'} is not said"
    text = tree.read("CONTRIBUTING.md")
    match = re.search(r"`CMakePresets.json` \(([\w, ]+)\)", " ".join(text.split()))
    listed = set(match.group(1).split(", ")) if match else set()
    for preset in sorted(listed ^ shown["configure"]):
        yield f"CONTRIBUTING.md:1: of presets {preset} is {'not listed' if preset in shown['configure'] else 'none'}"


# ---- Options of programs ----

PYTHON, SHELL = [sys.executable], ["bash"]
# How each is asked; {} is the build folder. jblas-bench has options that only --list of a routine could explain: --help has all.
PROGRAMS = {name: ["{}/bin/" + name] for name in (
    "jalloc-info", "jalloc-replay", "jalloc-shm", "jalloc-crash", "jblas-bench", "co2_forecast", "bench_allocators",
    "bench_borrow", "bench_buffer", "bench_overhead", "bench_segment", "jalloc-test")} | {
    "rtest.py": PYTHON + ["rtest.py"], "install.sh": SHELL + ["install.sh"],
    "gpu_check.sh": SHELL + ["clients/scripts/gpu_check.sh"], "check.py": PYTHON + ["clients/package/check.py"],
    "check_layers.py": PYTHON + ["clients/scripts/check_layers.py"], "check_texts.py": PYTHON + ["clients/scripts/check_texts.py"],
    "check_symbols.py": PYTHON + ["clients/scripts/check_symbols.py"], "lint.py": PYTHON + ["clients/scripts/lint.py"],
    "lint.py format": PYTHON + ["clients/scripts/lint.py", "format"]}
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")
COMMAND = re.compile(r"(?<![\w/-])(?:[\w./]*/)?(" + "|".join(re.escape(p) for p in PROGRAMS if " " not in p) + r")\b([^|;`#\n]*)")
ALONE = re.compile(r"``?(--[a-z][\w-]*)")
FOREIGN_OPTIONS = {"--ipc", "--shm-size", "--help"}  # and what needs no saying
NEED_A_BUILD = {"check.py", "check_symbols.py"}
LISTING = {"docs/segments/cleanup.rst": "jalloc-shm"}  # pages that show every option of a program
# Where the options of programs in C are read.
OPTION_TABLE = re.compile(r'\{"([a-z][\w-]*)", (?:no|required|optional)_argument')
TABLES = {"jalloc-info": "clients/tools/jalloc_info.c", "jalloc-shm": "clients/tools/shm/main.c",
          "jalloc-crash": "clients/tools/crash/main.c", "jalloc-replay": "clients/tools/replay/main.c",
          "co2_forecast": "clients/samples/co2_forecast/main.c", "bench_allocators": "clients/bench/allocators/main.c"}


def help_of(tree, build, program):
    """The options that --help names; None where the program is not built."""
    def make():
        command = [word.format(build) for word in PROGRAMS[program]]
        if build is None and "{}" in PROGRAMS[program][0] or "/bin/" in command[0] and not pathlib.Path(command[0]).exists():
            return None
        result = subprocess.run([*command, "--help"], cwd=tree.root, text=True, stdin=subprocess.DEVNULL, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return set(OPTION.findall(result.stdout))
    return tree.once(("help", program), make)


def check_options(tree, build):
    """An option that a text gives to a program of ours is in its --help; --help has every option that the program reads."""
    for name, text in tree.texts():
        here = set()
        for match in COMMAND.finditer(text.replace("\\\n", "  ")):
            program = match.group(1)
            here.add(program)
            if program == "lint.py" and "format" in match.group(2):
                program = "lint.py format"
            known = help_of(tree, build, program)
            options, words = OPTION.findall(match.group(2)), re.sub(r"-\S+", " ", match.group(2)).split()
            if program in NEED_A_BUILD and options and not words:
                yield f"{name}:{line_of(text, match.start())}: {program} {options[0]} wants the build folder"
            for option in options if known is not None else ():
                if option not in known and option not in FOREIGN_OPTIONS:
                    yield f"{name}:{line_of(text, match.start())}: {program} has no option {option}"
        helps = [help_of(tree, build, program) for program in here]
        known = set().union(*(h for h in helps if h is not None)) | FOREIGN_OPTIONS
        for match in ALONE.finditer(text) if helps and None not in helps else ():
            if match.group(1) not in known:
                yield f"{name}:{line_of(text, match.start())}: no program of this page has an option {match.group(1)}"
        if name in LISTING:
            for option in sorted((help_of(tree, build, LISTING[name]) or set()) - FOREIGN_OPTIONS):
                if option not in text:
                    yield f"{name}:1: {option} of {LISTING[name]} is not said"
    for program, source in TABLES.items():
        known = help_of(tree, build, program)
        for option in OPTION_TABLE.findall(tree.read(source)) if known is not None else ():
            if f"--{option}" not in known:
                yield f"{source}:1: --help does not have --{option}"


# ---- Kinds of allocators ----

KINDS_PAGE = "docs/allocators/kinds.rst"
KIND = re.compile(r"^``(\w+)``\n((?: {3}.*\n|\n)*)", re.MULTILINE)
KEY = re.compile(r"^   - ``(\w+)=([^`]+)``(?: \(([^)]*)\))?: .", re.MULTILINE)
COMPOSED = re.compile(r"\b([a-z]+)\(([a-z_]+=[^)]*)\)")
KEY_FIELD = re.compile(r".* \(([^();]*)(?:; default ([^();]*))?(?:; such as [^()]*)?\)$")


MEMBER_DEFAULT = re.compile(r"\b(\w+); /\*\*<(?:(?!\*/).)*?\b0: (\d+) ?([KMGT]iB|s)?\b")
UNITS = {"": 1, "s": 1000, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20}


def check_defaults(tree, fallbacks):
    """A default that an options struct says ("0: 1 MiB") is that of the key which sets the member."""
    for name in tree.files(HEADERS):
        text = tree.read(name)
        for struct in re.finditer(r"typedef struct j(\w+)_options_t \{(.*?)\n\}", text, re.DOTALL):
            keys = [key for kind, key in fallbacks if kind == struct.group(1)]
            for member in MEMBER_DEFAULT.finditer(" ".join(struct.group(2).split())):
                unit = r"_(bytes|count|percent|ms|slots)$"
                first = [k for k in keys if re.match(rf"{k}{unit}|\w+_{k}$", member.group(1))]
                fallback = re.match(r"(\d+)(\w*)$", fallbacks[struct.group(1), first[0]]) if first else None
                if fallback and int(member.group(2)) * UNITS[member.group(3) or ""] != \
                        int(fallback.group(1)) * UNITS[fallback.group(2)]:
                    yield (f"{name}:{line_of(text, struct.start())}: {member.group(1)} is not {member.group(2)} but "
                           f"{fallback.group()} by default")


def check_kinds(tree, build):
    """The manual lists the kinds that a composition can name, with their keys, values and defaults, as jalloc-info does; and
    what a dump has."""
    dumped = set(re.findall(r'\\"(\w+)\\":', tree.read("library/memory/introspect.c")))
    page = "docs/allocators/index.rst"
    said = set(re.findall(r'"(\w+)":', tree.read(page)))
    for key in sorted(dumped ^ said):
        yield f"{page}:1: {key} of a dump is {'not said' if key in dumped else 'not there'}"
    if build is None:
        return
    text = tree.read(KINDS_PAGE)
    listed = {(kind.group(1), *key) for kind in KIND.finditer(text) for key in KEY.findall(kind.group(2))}
    listed |= {(kind.group(1),) for kind in KIND.finditer(text)}
    there = set()
    for kind in info(tree, build, "--allocators")["allocators"]:
        there.add((kind["name"],))
        for key, field in kind.items():
            match = KEY_FIELD.match(field) if key not in ("name", "role", "summary") else None
            if match:
                there.add((kind["name"], key, match.group(1), match.group(2) or ""))
    keys = {(row[0], row[1]) for row in there if len(row) > 1}
    for name, text in tree.texts():
        for match in COMPOSED.finditer(text):
            for key in re.findall(r"(?:^|,) *(\w+)=", match.group(2)) if (match.group(1),) in there else ():
                if key != "name" and (match.group(1), key) not in keys:
                    yield f"{name}:{line_of(text, match.start())}: {key} is no key of {match.group(1)}"
    name = "docs/allocators/coming_from.rst"
    text = tree.read(name)
    begin = len(text.split("\n=")[1].split(" ")[0]) + 2  # of the right column
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"``([a-z]+)(?:\(|``)", line[begin:]):
            if (word,) not in there and word != "name":
                yield f"{name}:{number}: {word} is no kind of allocator"
    yield from check_defaults(tree, {row[:2]: row[3] for row in there if len(row) > 1})
    for row in sorted(there - listed):
        yield f"{KINDS_PAGE}:1: jalloc-info has {' '.join(row)}"
    for row in sorted(listed - there):
        yield f"{KINDS_PAGE}:1: jalloc-info has no {' '.join(row)}"


# ---- BLAS ----

# Levels 1 to 3 of the reference BLAS, and the words by which README says what of them there is not.
BLAS = """asum axpy copy dot dotu dotc iamax nrm2 scal swap rot rotg rotm rotmg sdsdot dsdot
gemv gbmv ger geru gerc symv hemv sbmv hbmv spmv hpmv syr her spr hpr syr2 her2 spr2 hpr2 trmv tbmv tpmv trsv tbsv tpsv
gemm symm hemm syrk herk syr2k her2k trmm trsm""".split()
LEFT_OUT = {"rotations": r"rot", "mixed dots": r"d?sd", "rank-2 updates": r"(sy|he|sp|hp)r2", "banded": r"[gshtp]b", "packed": r"[sht]p"}


def check_blas(tree, _build):
    """README says what of the levels of BLAS is missing: all of that and no more."""
    text = tree.read("README.md")
    declared = " ".join(DECLARED.findall(tree.code("include/jalloc/jblas.h")))
    for stem in BLAS:
        words = next((w for w, pattern in LEFT_OUT.items() if re.match(pattern, stem)), None)
        there = re.search(rf"\bjblas_(i[sdcz]|[sdcz]{{1,2}}){stem.removeprefix('i')}\b", declared) is not None
        if there == (words is not None and words in text):
            yield f"README.md:1: {stem} of BLAS is {'there' if there else 'not there'}"


# ---- Statuses ----

GIVEN = re.compile(r"\bJ(?:EXPECT|ASSERT)_STATUS\(")
DEFINED = re.compile(r"^(?:JALLOC_API )?jstatus_t (j\w+)\(", re.MULTILINE)
RETURNED = re.compile(r"(?:\breturn |fail\w*\((?:\w+, )?|\bJREQUIRE\([^;]*, )JSTATUS_(\w+)")
# In the comment of a file or a group: what all of its functions, or all that create, return.
FOR_ALL = re.compile(r"(Each create function|functions also return|\*\*Statuses\.\*\*|Each returns)(.*?)(?:\n *\n|\Z)", re.DOTALL)
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
        self.pattern = re.compile(r"\b(" + "|".join(sorted(self.phrases, key=len, reverse=True)) + r")\b")
        self.where, self.comment, self.shared = {}, {}, {}
        for header in tree.files(HEADERS):
            text, code, comments = tree.read(header), tree.code(header), tree.comments(header)
            blocks = [(m.start(), m.end()) for m in COMMENT.finditer(text) if re.match(r"/\*\*[^<]", m.group())]
            for match in DECLARED.finditer(code):
                if "jstatus_t" not in code[match.start():match.start(1)]:
                    continue
                above = [comments[a:b] for a, b in blocks if b <= match.start()]
                group = next((c for c in reversed(above) if "@name" in c), "")
                self.where[match.group(1)] = f"{header}:{line_of(text, match.start())}"
                self.comment[match.group(1)] = " ".join(above[-1].split())
                self.shared[match.group(1)] = [m for c in (above[0], group) for m in FOR_ALL.findall(c)]

    def said(self, function, seen=()):
        """The phrases, through "as jfoo()" and "what jfoo() returns" too; None where anything may come."""
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
        return phrase if said is not None and phrase in self.phrases and phrase not in said else None


def check_statuses(tree, _build):
    """Each function that returns a status says which: the words are statuses, and every one that a test expects of it, or
    that its own lines return, is among them."""
    statuses = Statuses(tree)
    for function, where in statuses.where.items():
        text = statuses.comment[function]
        if statuses.said(function) == set():
            yield f"{where}: {function} does not say which statuses it returns"
        for item in return_items(text):
            if not statuses.pattern.match(item.lower()) and not re.match(r"as j\w+\(\)|as said|(?:and )?what ", item):
                yield f"{where}: {function} returns \"{item}\", which begins with no status"
    for name in tree.files(["clients/gtest/**/*.c"]):
        code = tree.code(name)
        for match in GIVEN.finditer(code):
            call = code[match.end():item_ends(code, match.end() - 1)]
            function, status = re.match(r"\s*(j\w+)\(", call), re.search(r"JSTATUS_(\w+)\s*$", call)
            if function and status and function.group(1) in statuses.where:
                lacking = statuses.lacks(function.group(1), status.group(1))
                if lacking:
                    yield (f"{statuses.where[function.group(1)]}: {function.group(1)} can return {lacking} "
                           f"({name}:{line_of(code, match.start())})")
    for name in tree.files(["library/**/*.c"]):
        code = tree.code(name)
        for match in DEFINED.finditer(code):
            if match.group(1) not in statuses.where or ";" in code[match.end():code.index("{", match.end())]:
                continue
            body = code[match.end():code.index("\n}", match.end())]
            for status in RETURNED.finditer(body):
                lacking = statuses.lacks(match.group(1), status.group(1))
                if lacking and lacking != "internal error":  # a defect of jalloc
                    yield (f"{statuses.where[match.group(1)]}: {match.group(1)} can return {lacking} "
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
        flat = (flat[:begin - 1] if flat[begin - 1] == " " else flat[:begin] + "\0\1") + flat[end + 1:]
    return [i.strip() for i in re.split(r"\. |\.$", flat.replace("\0\1", "()"))[0].split(";") if i.strip()]


# ---- Promises ----

PROMISES_PAGE = "docs/testing.rst"
ABSOLUTE = re.compile(r"\b(never|always|every|nothing)\b", re.IGNORECASE)
PROMISE_FILE = re.compile(r"^``([\w.]+)``$")
PROMISE = re.compile(r'^- "(.+)": (``[^`]+``(?:, ``[^`]+``)*)$')


def promises(tree):
    """(line, file, quote, tests) of the list in the manual."""
    text = tree.read(PROMISES_PAGE)
    place = None
    for number, line in enumerate(text.splitlines(), 1):
        heading, row = PROMISE_FILE.match(line), PROMISE.match(line)
        place = heading.group(1) if heading else place
        if row and place:
            yield number, place, row.group(1), re.findall(r"``([^`]+)``", row.group(2))


def check_promises(tree, _build):
    """Each absolute word of README and headers stands in a sentence that the manual lists with its tests, and these are
    there."""
    def make():
        return [COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else " ", tree.read(n))
                for n in tree.files(["clients/gtest/**/*.c", "clients/gtest/**/*.h"])]
    sources = tree.once(("code", "tests"), make)
    listed = {}
    for number, place, quote, tests in promises(tree):
        listed.setdefault(place, []).append((number, quote))
        for test in tests:
            suite, _, name = test.rpartition(".") if test[-3:] != ".py" else ("", "", test)
            macro, case = re.compile(rf"\b[A-Z_]+\((?:\"\w+\", )?{suite}\b"), re.compile(rf"^[A-Z_]+\((?:[^)]*, )?{name}\b", re.M)
            there = any(case.search(s) for s in sources) and (not suite or any(macro.search(s) for s in sources))
            if not there and not tree.files([f"clients/scripts/{name}"]) and name not in PROGRAMS:
                yield f"{PROMISES_PAGE}:{number}: there is no test {test}"
    for name, text in tree.texts():
        place = name.rpartition("/")[2]
        if name != "README.md" and not name.startswith("include/"):
            continue
        covered = []
        for number, quote in listed.get(place, ()):
            words = re.escape(quote).replace("\\ ", r"[\s*]+")
            found = [m.span() for m in re.finditer(words, text)]
            covered += found
            if not found or not ABSOLUTE.search(quote):
                yield f"{PROMISES_PAGE}:{number}: {name} does not promise \"{quote}\""
        for match in ABSOLUTE.finditer(text):
            if not any(a <= match.start() < b for a, b in covered):
                line = text[text.rfind("\n", 0, match.start()) + 1:text.find("\n", match.start())].strip()
                yield f"{name}:{line_of(text, match.start())}: no test is listed in {PROMISES_PAGE} for \"{line}\""


FILE = re.compile(r"(?<![\w./-])((?:clients|docs|library|include|cmake|jalloc)/[\w./-]*\w)")
MARKDOWN_LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def check_paths(tree, _build):
    """Files and folders that a text names are there."""
    for name, text in tree.texts():
        for match in [*FILE.finditer(text), *(MARKDOWN_LINK.finditer(text) if name.endswith(".md") else ())]:
            path = match.group(1).rstrip("/")
            places = [path, f"include/{path}", f"docs/{path[5:]}.rst" if path.startswith("docs/") else path]
            if not any((tree.root / p).exists() for p in places) and text[match.end()] != "<":
                yield f"{name}:{line_of(text, match.start())}: {path} is not there"


CHECKS = [check_names, check_reference, check_environment, check_build, check_paths, check_options, check_kinds,
          check_blas, check_statuses, check_promises]


# ---- Self-test ----

# A check, a file, what stands there (None: the end of the file), what is put in its place, and what must be found.
PLANTED = [
    (check_names, "README.md", "jhandle_start_size_query", "jhandle_begin_size_query", "jhandle_begin_size_query is declared"),
    (check_names, "docs/errors.rst", None, "``JSTATUS_OUT_OF_LUCK``", "JSTATUS_OUT_OF_LUCK is declared nowhere"),
    (check_names, "docs/errors.rst", None, "JALLOC_OPENMP", "JALLOC_OPENMP is declared nowhere"),
    (check_names, "docs/errors.rst", None, "``granted_octets``", "granted_octets is a name of nothing"),
    (check_names, "docs/errors.rst", None, "``jhandle_options_t.precision``", "has no member precision"),
    (check_names, "include/jalloc/tag.h", "Static. */", "Static: jtag_nowhere(). */", "jtag_nowhere is declared nowhere"),
    (check_reference, "docs/reference.rst", ".. doxygenfile:: tag.h", "", "tag.h is not shown"),
    (check_reference, "include/jalloc/tag.h", "/** The calling thread's tag. */", "", "jtag_get has no comment"),
    (check_reference, "include/jalloc/tag.h", "/** Longest name that is kept; what goes beyond it is cut. */", "",
     "JTAG_MAX_NAME has no comment"),
    (check_reference, "include/jalloc/adaptor.h", "/** The totals. */", "/* The totals. */", "jtrack_totals_t has no comment"),
    (check_reference, "cmake/jalloc.symbols", "jtag_get\n", "", "jtag_get is declared and exported by no library"),
    (check_reference, "cmake/jalloc.symbols", None, "jtag_nowhere", "jtag_nowhere is exported and declared in no"),
    (check_environment, "docs/environment.rst", "JALLOC_BUDGET", "JALLOC_BUDGETS", "JALLOC_BUDGET, which"),
    (check_environment, "docs/environment.rst", "``JALLOC_ACCURACY``, ", "", "when variables are read lacks JALLOC_ACCURACY"),
    (check_environment, "docs/testing.rst", "JALLOC_TEST_SEED", "JALLOC_TEST_ROOT", "JALLOC_TEST_SEED, which"),
    (check_build, "CONTRIBUTING.md", "coverage, clang", "clang", "of presets coverage is not listed"),
    (check_build, "CONTRIBUTING.md", "--preset debug", "--preset debugging", "debugging is no preset"),
    (check_build, "CONTRIBUTING.md", "-t pre_checkin", "-t precheckin", "precheckin is no set"),
    (check_build, "docs/testing.rst", "--label-regex mpi", "--label-regex mpich", "mpich is no label"),
    (check_build, "CHANGELOG.md", "--components mpi", "--components mpich", "install.sh has no component mpich"),
    (check_paths, "README.md", "clients/samples/co2_forecast", "clients/samples/co3_forecast", "co3_forecast is not there"),
    (check_paths, "README.md", "(docs/gpu.rst)", "(docs/gpus.rst)", "docs/gpus.rst is not there"),
    (check_options, "README.md", "rtest.py ", "rtest.py --sett quick ", "rtest.py has no option --sett"),
    (check_options, "README.md", "--allocator general", "--alocator general", "jalloc-replay has no option --alocator"),
    (check_options, "docs/allocators/traces.rst", "``--svg``", "``--png``", "has an option --png"),
    (check_options, "docs/segments/cleanup.rst", "--older-than", "--json", "--older-than of jalloc-shm is not said"),
    (check_options, "clients/tools/jalloc_info.c", '"json", no', '"jason", no', "--help does not have --jason"),
    (check_kinds, KINDS_PAGE, "growth=COUNT`` (6)", "growth=COUNT`` (7)", "jalloc-info has bfc growth COUNT 6"),
    (check_kinds, KINDS_PAGE, "   - ``require=BOOL`` (false):", "   ", "jalloc-info has huge require BOOL false"),
    (check_kinds, KINDS_PAGE, "``slots``\n", "``slot``\n", "jalloc-info has no slot"),
    (check_kinds, "docs/allocators/index.rst", '"owners":', '"owner":', "owners of a dump is not said"),
    (check_kinds, "docs/allocators/index.rst", "bfc(limit=2GiB)", "bfc(limits=2GiB)", "limits is no key of bfc"),
    (check_kinds, "include/jalloc/adaptor.h", "0: 10 s", "0: 1 s", "timeout_ms is not 1 but 10000"),
    (check_kinds, "include/jalloc/policy.h", "at once; 0: 1 MiB", "at once; 0: 2 MiB", "region_bytes is not 2 but 1MiB"),
    (check_kinds, "docs/allocators/coming_from.rst", "``quota``", "``budget``", "budget is no kind"),
    (check_options, "docs/adding_routine.rst", "--update build/release", "--update", "wants the build folder"),
    (check_build, "docs/building.rst", "``JALLOC_FUZZ``                ``OFF``", "``JALLOC_FUZZ``  ``ON``", "JALLOC_FUZZ with the default OFF"),
    (check_build, "docs/building.rst", "``JALLOC_WERROR``, ", "", "JALLOC_WERROR with the default OFF"),
    (check_blas, "README.md", "rank-2 updates", "rotations", "syr2 of BLAS is not there"),
    (check_promises, "README.md", None, "It never fails.", "no test is listed in docs/testing.rst for \"It never"),
    (check_promises, "include/jalloc/tag.h", "every allocation", "each allocation", "does not promise \"every allocation"),
    (check_promises, PROMISES_PAGE, "Exact.RemembersSizes", "Exact.RemembersTheSizes", "no test Exact.RemembersTheSizes"),
    (check_statuses, "include/jalloc/tag.h", None, "/** @return success; bad luck. */\nJALLOC_API jstatus_t jtag_x(int a);",
     "jtag_x returns \"bad luck\""),
    (check_statuses, "include/jalloc/tag.h", None, "/** A tag. */\nJALLOC_API jstatus_t jtag_x(int a);",
     "jtag_x does not say which"),
    (check_statuses, "include/jalloc/handle.h", "(already querying: the maximum is kept);\n * invalid handle;",
     "(already querying: the maximum is kept);", "jhandle_start_size_query can return invalid handle"),
]


def self_test(tree, build):
    """What was planted and not found."""
    for check, name, old, new, expected in PLANTED:
        if build is None and check in (check_options, check_kinds):  # they ask programs
            continue
        text = tree.read(name)
        if old is not None and old not in text:
            yield f"{name} has no \"{old}\" any more"
        planted = Tree(tree.root, {name: text + f"\n{new}\n" if old is None else text.replace(old, new)}, tree)
        if not any(expected in finding for finding in check(planted, build)):
            yield f"{check.__name__}: {name}: {new or 'without ' + old}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", help="build folder, whose programs are asked")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--self-test", action="store_true", help="check the checks first")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    build = arguments.build.resolve() if arguments.build else None
    findings = [finding for check in CHECKS for finding in check(tree, build)]
    if arguments.self_test:
        findings += [f"self-test: not found: {line}" for line in self_test(tree, build)]
    for finding in findings:
        print(finding)
    print(f"check_texts: {len(tree.texts())} texts, {len(CHECKS)} checks, {len(findings)} findings")
    return 1 if findings or not tree.texts() else 0


if __name__ == "__main__":
    sys.exit(main())
