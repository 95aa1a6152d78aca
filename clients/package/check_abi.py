#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Programs of other versions, against the libraries of a build folder.

The public headers are copied and altered: every struct that begins with its size has a member less at its end (or as
many as make it smaller), or one more. abi_calls.c, compiled with each, calls the library with every one of these
structs: a smaller one works and nothing behind it is written, a larger one works as long as the new member is zero and
is refused by name if not, and no size is refused.

A program whose inline functions know another layout of what is internal is not loaded."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
CALLS = HERE / "abi_calls.c"
LIBRARIES = ["jalloc_mpi", "jbuffer", "jlapack", "jblas", "jalloc"]  # whoever needs another stands before it
COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]

STRUCT = re.compile(r"typedef struct (\w+) \{\n(    size_t struct_size;.*?)\n\} \1;", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?P<base>.*?)(?P<names>\**\w+(?: ?\[[^]]*\])*(?:\s*,\s*\**\w+(?:\[[^]]*\])*)*)$", re.DOTALL)
SHOWN = ["jextent_t"]  # a visitor is shown it: no caller says how large it is

# What the inline functions of a header know by a number: the object with that number, what a library of another layout
# has instead, and a program that calls one of them.
LAYOUTS = [
    ("borrow.h", "jborrow_calls_2_", "jborrow_calls_3_", "const jborrow_calls_ jborrow_calls_3_ = {0};",
     "JALLOC_BORROW(ws, NULL, 64); return ws.ok;"),
    ("allocator.h", "jallocator_calls_2_", "jallocator_calls_3_",
     "const jallocator_calls_ jallocator_calls_3_ = {0}; __thread jthread_hint_ jthread_hint_1_;",
     "void *pointer; return jallocator_allocate(NULL, 64, 0, NULL, &pointer) == JSTATUS_SUCCESS;"),
]


def run(command, **more):
    result = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def declarators(body):
    """The members of a struct, each as a declaration of its own, with its name."""
    for declaration in COMMENT.sub("", body).split(";")[:-1]:
        declaration = " ".join(declaration.split())
        function = re.search(r"\(\*(\w+)\)", declaration)
        if function:
            yield function.group(1), declaration
            continue
        match = DECLARATION.match(declaration)
        for name in re.split(r"\s*,\s*", match.group("names")):
            yield re.search(r"\w+", name).group(), f"{match.group('base').strip()} {name}"


def ends(structs, scratch, flags):
    """Where each member of each struct ends, and the struct."""
    lines = [f'printf("{name} {member} %zu\\n", offsetof({name}, {member}) + sizeof(({name} *)0)->{member});'
             for name, members in structs.items() for member, _ in members]
    lines += [f'printf("{name} . %zu\\n", sizeof({name}));' for name in structs]
    headers = "".join(f"#include <jalloc/{path.name}>\n" for path in headers_of(flags))
    source = scratch / "ends.c"
    source.write_text(f"#include <stdio.h>\n{headers}int main(void) {{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    run([COMPILER, *flags, f"-I{INCLUDE}", source, "-o", scratch / "ends"])
    found = {}
    for line in run([scratch / "ends"]).splitlines():
        name, member, end = line.split()
        found[name, member] = int(end)
    return found


def headers_of(flags):
    return [p for p in sorted((INCLUDE / "jalloc").glob("*.h")) if p.name != "mpi.h" or "-DABI_MPI=1" in flags]


def without_the_last(name, members, ends_of):
    """The fewest members less with which the struct is smaller."""
    kept = list(members)
    while (ends_of[name, kept[-1][0]] + 7) // 8 * 8 == ends_of[name, "."]:
        kept.pop()
    return kept


def alter(scratch, variant, structs, ends_of):
    """The headers with every struct changed."""
    folder = scratch / variant
    shutil.copytree(INCLUDE, folder)

    def changed(match):
        name = match.group(1)
        if name not in structs:
            return match.group()
        members = structs[name]
        members = without_the_last(name, members, ends_of) if variant == "less" else [*members, ("", "size_t added_")]
        return f"typedef struct {name} {{\n" + "".join(f"    {text};\n" for _, text in members) + f"}} {name};"

    for header in (folder / "jalloc").glob("*.h"):
        header.write_text(STRUCT.sub(changed, header.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def check_structs(scratch, libraries, flags):
    structs = {m.group(1): list(declarators(m.group(2)))
               for header in headers_of(flags) for m in STRUCT.finditer(header.read_text(encoding="utf-8"))}
    called = set(re.findall(r"CALL(?:_LESS)?\((\w+)", CALLS.read_text(encoding="utf-8")))
    missing = sorted(set(structs) - called - set(SHOWN))
    if missing or not structs:
        sys.exit(f"check_abi: abi_calls.c calls nothing with {', '.join(missing)}")

    ends_of = ends(structs, scratch, flags)
    for variant in ("same", "less", "more"):
        include = INCLUDE if variant == "same" else alter(scratch, variant, structs, ends_of)
        program = scratch / f"program_{variant}"
        run([COMPILER, *flags, f"-I{include}", f"-DABI_{variant.upper()}=1", CALLS, "-o", program, *libraries])
        print(f"check_abi: {variant}: {run([program]).strip()}")


def check_layout(scratch, build, libraries, layout):
    """As the loader does it by default, and in programs of both kinds of code."""
    name, ours, theirs, definition, call = layout
    include = f"#include <jalloc/{name}>\n"
    source, stub = scratch / "caller.c", scratch / "stub.c"
    source.write_text(f'#include <stdio.h>\n{include}int main(void) {{ puts("loaded"); {call} }}\n', encoding="utf-8")
    stub.write_text(include + definition + "\n", encoding="utf-8")
    other = scratch / theirs
    shutil.copytree(INCLUDE, other)
    header = other / "jalloc" / name
    header.write_text(header.read_text(encoding="utf-8").replace(ours, theirs), encoding="utf-8")
    soname = re.search(r"\(SONAME\).*\[(.*)\]", run(["readelf", "-d", build / "library/libjalloc.so"])).group(1)
    run([COMPILER, "-shared", "-fPIC", f"-I{other}", stub, f"-Wl,-soname,{soname}", "-o", scratch / "libother.so"])

    for kind in (["-fPIE", "-pie"], ["-fno-PIE", "-no-pie"]):
        program = scratch / "caller"
        run([COMPILER, *kind, "-O2", f"-I{INCLUDE}", source, "-o", program, "-Wl,-z,lazy", *libraries])
        if run([program]) != "loaded\n":
            sys.exit("check_abi: a program of this layout does not run")
        run([COMPILER, *kind, "-O2", f"-I{other}", source, "-o", program, "-Wl,-z,lazy", scratch / "libother.so",
             f"-Wl,-rpath,{build}/library"])
        result = subprocess.run([program], text=True, capture_output=True, check=False)
        if result.returncode == 0 or "loaded" in result.stdout or theirs not in result.stderr:
            sys.exit(f"check_abi: a program of another layout ({' '.join(kind)}) ended with {result.returncode}:\n"
                     f"{result.stdout}{result.stderr}")
    print(f"check_abi: programs whose {name} knows another layout are not loaded")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    built = [name for name in LIBRARIES if (build / "library" / f"lib{name}.so").exists()]
    flags = list(FLAGS)
    if "jalloc_mpi" in built and shutil.which("mpicc"):
        shown = run(["mpicc", "-show"]).split()
        flags += ["-DABI_MPI=1", *(f for word in shown if word.startswith("-I") for f in ("-isystem", word[2:]))]
    else:
        built = [name for name in built if name != "jalloc_mpi"]
    libraries = [f"-L{build}/library", *(f"-l{name}" for name in built), f"-Wl,-rpath,{build}/library"]
    with tempfile.TemporaryDirectory() as folder:
        check_structs(pathlib.Path(folder), libraries, flags)
        for layout in LAYOUTS:
            check_layout(pathlib.Path(folder), build, libraries, layout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
