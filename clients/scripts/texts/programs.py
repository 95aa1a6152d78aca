# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The environment, what builds and runs, and the options of programs."""

import json
import pathlib
import re
import subprocess
import sys

from texts.tree import at, info, rows

GETENV = re.compile(r'\b(?:getenv|secure_getenv|heap_variable)\(\s*"(\w+)"')
PLACE_OF_VARIABLE = [(re.compile(r"JALLOC_TEST_|FAKE_GPU_"), "docs/testing.rst"),
                     (re.compile("JALLOC_"), "docs/environment.rst")]


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
    return {
        k: v
        for k, v in found.items()
        if k.startswith(("JALLOC_", "FAKE_GPU_")) and k != "JALLOC_TEST_VARIABLE"
    }


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
        verb = "lacks" if variable in listed else "has"
        yield f"{page}:1: the table of when variables are read {verb} {variable}"
    if build:
        shown = {row["name"]: row["default"] for row in info(tree, build)["environment"]}
        for variable in sorted(set(shown) ^ listed):
            yield f"include/jalloc/config.h:1: {variable} is in one of header and jalloc-info alone"


def cmake_files(tree):
    return tree.files([
        "CMakeLists.txt", "cmake/*.cmake", "cmake/*.in", "docs/CMakeLists.txt",
        "library/**/CMakeLists.txt", "faces/**/CMakeLists.txt", "clients/**/CMakeLists.txt"
    ])


def cmake_options(tree):
    pattern = r"\b(?:option\((JALLOC_\w+)|set\((JALLOC_\w+) .*?CACHE (?:STRING|PATH|BOOL))"
    return tree.once(
        ("options", ""),
        lambda: {a or b
                 for n in cmake_files(tree)
                 for a, b in re.findall(pattern, tree.read(n))})


OPTION_DEFAULT = re.compile(
    r'(?:option\((JALLOC_\w+)\s+"[^"]*"|set\((JALLOC_\w+)(?= ))\s+([^\s)]+)')


def names_that_are(tree):
    """What a text can name of what is built and run: how it is written, all there is, and what it
    is."""
    presets = json.loads(tree.read("CMakePresets.json"))
    shown = {
        kind: {p["name"]
               for p in presets[f"{kind}Presets"] if not p.get("hidden")}
        for kind in ("configure", "build", "test")
    }
    cmake = "\n".join(tree.read(n) for n in cmake_files(tree))
    components = re.findall(r"^ {4}(\w+)\) +(?:echo|packages_of) ", tree.read("install.sh"),
                            re.MULTILINE)
    return [
        (r"rtest\.py[^`\n]*? -t (\w+)", sets_and_runs(tree)[0], "set of rtest.xml"),
        (r"cmake --preset (\w+)", shown["configure"], "preset"),
        (r"--build --preset (\w+)", shown["build"], "build preset"),
        (r"ctest --preset (\w+)", shown["test"], "test preset"),
        (r"--label-regex (\w+)", re.findall(r"\bLABELS?\s+\"?(\w+)", cmake), "label of a test"),
        (r"--target (\w[\w-]*)",
         re.findall(r"add_(?:executable|library|custom_target)\((\S+)", cmake), "target"),
        (r"-D(JALLOC_\w+)", cmake_options(tree), "option of CMakeLists.txt"),
        (r"--components (\w+)", components, "component of install.sh"),
    ]


def sets_and_runs(tree):
    text = tree.read("rtest.xml")
    return re.findall(r'<set name="(\w+)"', text), re.findall(r'<run name="([\w-]+)"', text)


def check_build(tree, _build):
    """Presets, sets, targets, components and labels that a text names exist; what a text lists is
    all there is."""
    named = names_that_are(tree)
    sets, runs = sets_and_runs(tree)
    for name, text in tree.texts() + [("rtest.xml", tree.read("rtest.xml"))]:
        for pattern, known, what in named:
            for match in re.finditer(pattern, text):
                if match.group(1) not in known:
                    yield f"{at(name, text, match)}: {match.group(1)} is no {what}"
        for match in re.finditer(r"[Ss]ets? ``?`?([\w-]+)``?`?(?: and ``?`?([\w-]+))?", text):
            for word in filter(None, match.groups()):
                if "`" in match.group() and word not in sets + runs:
                    yield f"{at(name, text, match)}: {word} is no set or run of rtest.xml"
    yield from check_listed_options(tree)
    text = tree.read("CONTRIBUTING.md")
    match = re.search(r"`CMakePresets.json` \(([\w, ]+)\)", " ".join(text.split()))
    listed, presets = set(match.group(1).split(", ")) if match else set(), named[1][1]
    for preset in sorted(listed ^ presets):
        what = "not listed" if preset in presets else "none"
        yield f"CONTRIBUTING.md:1: of presets {preset} is {what}"


def check_listed_options(tree):
    page = "docs/building.rst"
    text = tree.read(page)
    table = dict(re.findall(r"^``(JALLOC_\w+)`` +``(\w+)``", text, re.MULTILINE))
    defaults = {
        a or b: c
        for n in cmake_files(tree)
        for a, b, c in OPTION_DEFAULT.findall(tree.read(n))
    }
    for option in sorted(cmake_options(tree)):
        default = defaults.get(option, "").replace("${PROJECT_IS_TOP_LEVEL}", "ON")
        if option not in text or table.get(option, default) != default:
            yield f"{page}:1: {option} with the default {default or 'that CMake has'} is not said"


PYTHON, SHELL = [sys.executable], ["bash"]
# How each is asked; {} is the build folder.
PROGRAMS = {
    name: ["{}/bin/" + name]
    for name in ("jalloc-info", "jalloc-plan", "jalloc-replay", "jalloc-shm", "jalloc-tune", "jalloc-crash",
                 "jblas-bench", "jblas-run", "co2_forecast", "bench_allocators", "bench_borrow", "bench_buffer",
                 "bench_overhead", "bench_product", "bench_segment", "jalloc-test")
} | {
    "rtest.py": PYTHON + ["rtest.py"],
    "install.sh": SHELL + ["install.sh"],
    "gpu_check.sh": SHELL + ["clients/scripts/gpu_check.sh"],
    "bench_numpy.py": PYTHON + ["clients/bench/bench_numpy.py"],
    "netlib.py": PYTHON + ["clients/scripts/netlib.py"],
    "netlib_lapack.py": PYTHON + ["clients/scripts/netlib_lapack.py"],
    "python_suites.py": PYTHON + ["clients/scripts/python_suites.py"],
    "peers.sh": SHELL + ["clients/scripts/peers.sh"],
    "check.py": PYTHON + ["clients/package/check.py"],
    "check_layers.py": PYTHON + ["clients/scripts/check_layers.py"],
    "check_texts.py": PYTHON + ["clients/scripts/check_texts.py"],
    "check_symbols.py": PYTHON + ["clients/scripts/check_symbols.py"],
    "lint.py": PYTHON + ["clients/scripts/lint.py"],
    "lint.py format": PYTHON + ["clients/scripts/lint.py", "format"]
}
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")
COMMAND = re.compile(r"(?<![\w/-])(?:[\w./]*/)?(" +
                     "|".join(re.escape(p) for p in PROGRAMS if " " not in p) + r")\b([^|;`#\n]*)")
ALONE = re.compile(r"``?(--[a-z][\w-]*)")
FOREIGN_OPTIONS = {"--ipc", "--shm-size", "--cpus"} | {"--help", "-h", "--version", "-V"}  # others', and what needs no saying
NEED_A_BUILD = {"check.py", "check_symbols.py"}
LISTING = {"docs/segments/cleanup.rst": "jalloc-shm"}  # pages that show every option of a program
# Where the options of programs in C are read whose help is written by hand; that of installed ones is
# made of their options.
OPTION_TABLE = re.compile(r'\{"([a-z][\w-]*)", (?:no|required|optional)_argument')
TABLES = {
    "co2_forecast": "clients/samples/co2_forecast/main.c",
    "bench_allocators": "clients/bench/allocators/main.c",
    "bench_product": "clients/bench/product/main.c"
}


def help_of(tree, build, program):
    """The options that --help names; None where the program is not built."""

    def make():
        command = [word.format(build) for word in PROGRAMS[program]]
        if "{}" in PROGRAMS[program][0] and not (build and pathlib.Path(command[0]).exists()):
            return None
        result = subprocess.run([*command, "--help"],
                                cwd=tree.root,
                                text=True,
                                stdin=subprocess.DEVNULL,
                                check=False,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        return set(OPTION.findall(result.stdout))

    return tree.once(("help", program), make)


def check_options(tree, build):
    """An option that a text gives to a program of ours is in its --help; --help has every option
    that the program reads."""
    for name, text in tree.texts():
        here = set()
        for match in COMMAND.finditer(text.replace("\\\n", "  ")):
            program = match.group(1)
            here.add(program)
            if program == "lint.py" and "format" in match.group(2):
                program = "lint.py format"
            known = help_of(tree, build, program)
            options = OPTION.findall(match.group(2))
            words = re.sub(r"-\S+", " ", match.group(2)).split()
            if program in NEED_A_BUILD and options and not words:
                yield f"{at(name, text, match)}: {program} {options[0]} wants the build folder"
            for option in options if known is not None else ():
                if option not in known and option not in FOREIGN_OPTIONS:
                    yield f"{at(name, text, match)}: {program} has no option {option}"
        helps = [help_of(tree, build, program) for program in here]
        known = set().union(*(h for h in helps if h is not None)) | FOREIGN_OPTIONS
        for match in ALONE.finditer(text) if helps and None not in helps else ():
            if match.group(1) not in known:
                yield (f"{at(name, text, match)}: no program of this page has an option "
                       f"{match.group(1)}")
        if name in LISTING:
            for option in sorted((help_of(tree, build, LISTING[name]) or set()) - FOREIGN_OPTIONS):
                if option not in text:
                    yield f"{name}:1: {option} of {LISTING[name]} is not said"
    for program, source in TABLES.items():
        known = help_of(tree, build, program)
        for option in OPTION_TABLE.findall(tree.read(source)) if known is not None else ():
            if f"--{option}" not in known:
                yield f"{source}:1: --help does not have --{option}"
