# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The source folder as the checks read it: texts, code without comments, and
what is made of both."""

import json
import pathlib
import re
import subprocess
import sys

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.rst", "docs/*/*.rst"]
HEADERS = ["include/jalloc/*.h"]
OF_CXX = ["include/*.hpp", "include/jalloc/*.hpp"]  # the headers of C++, above them
SOURCES = ["include/jalloc/*.h", "library/**/*.[chi]*", "clients/**/*.[chi]*"]
# Pages for those who work on jalloc: they name what is internal, too.
FOR_AUTHORS = re.compile(r"CONTRIBUTING|CHANGELOG|docs/(adding_\w+|architecture|testing)")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")


def blank(text):
    """Spaces in its place, so that lines stay where they are."""
    return re.sub(r"[^\n]", " ", text)


# What a changed text leaves as it is.
KEPT = ("files", "fortran", "read", "code", "comments", "everything", "variables", "options", "help", "info",
        "tests")


def only_comments(text):
    result, last = [], 0
    for match in COMMENT.finditer(text):
        kept = match.group()[0] == "/"
        result += [blank(text[last:match.start()]), match.group() if kept else blank(match.group())]
        last = match.end()
    text = "".join(result) + blank(text[last:])
    return re.sub(r"^( *)(/\*\*?|\*/?|//)|\*/",
                  lambda m: " " * len(m.group()),
                  text,
                  flags=re.MULTILINE)


class Tree:
    """The source folder. `changed` holds texts that stand in the place of files, for the self-test;
    what `like` has made of all other files is used again."""

    def __init__(self, root, changed=None, like=None):
        self.root, self.changed = root, changed or {}
        self.kept = {} if like is None else {
            k: v
            for k, v in like.kept.items() if k[0] in KEPT and k[1] not in changed
        }

    def files(self, patterns):
        return self.once(("files", tuple(patterns)), lambda: sorted({
            str(p.relative_to(self.root))
            for pattern in patterns
            for p in self.root.glob(pattern) if p.is_file()
        }))

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
        return self.once(("code", name),
                         lambda: COMMENT.sub(lambda m: blank(m.group()), self.read(name)))

    def comments(self, name):
        """The comments of a header alone, without the stars at the beginnings of lines."""
        return self.once(("comments", name), lambda: only_comments(self.read(name)))

    def heads(self, header):
        """The first comment of a header, with that of the header to which it refers."""
        text, first = self.read(header), []
        for match in COMMENT.finditer(text):
            if re.match(r"/\*\*[^<]", match.group()):
                first = [self.comments(header)[match.start():match.end()]]
                break
        for other in re.findall(r"all\s+routines\s+stands\s+in\s+(\w+\.h)", "".join(first)):
            first += self.heads(f"include/jalloc/{other}")
        return first

    def texts(self):
        """(name, text) of all that is looked through."""
        return [(n, self.read(n)) for n in self.files(PAGES)] + [(n, self.comments(n))
                                                                 for n in self.files(HEADERS + OF_CXX)]

    def public(self):
        """What the headers declare, with the names that their lists make."""

        def make():
            names = {w for n in self.files(HEADERS + OF_CXX) for w in WORD.findall(self.code(n))}
            names |= {pathlib.PurePosixPath(n).stem for n in self.files(HEADERS)}
            for header, macro, prefix in LISTS:
                names |= {prefix + row for row in rows(self.read(header), macro)}
            return names | self.fortran()

        return self.once(("public", ""), make)

    def fortran(self):
        """What the Fortran module declares, as it is made of the headers and as it is written."""

        def make():
            made = subprocess.run(
                [sys.executable, "-B", self.root / "faces/fortran/generate.py", "module", "/dev/stdout"],
                text=True, capture_output=True, check=True).stdout
            written = [self.read(n) for n in self.files(["faces/fortran/*.f90"])]
            return {w for text in [made, *written] for w in WORD.findall(text)}

        return self.once(("fortran", ""), make)

    def everything(self):
        """Every word of every source, script and list."""

        def make():
            words = {w for n in self.files(SOURCES) for w in WORD.findall(self.read(n))}
            more = [
                n for n in self.files(["clients/**/*.py", "faces/**/*.py"]) if not n.endswith("texts/planted.py")
            ]
            more += [
                "CMakeLists.txt", "cmake/*", "*/CMakeLists.txt", "clients/**/CMakeLists.txt",
                "library/**/CMakeLists.txt", "docs/conf.py", "docs/sphinx/*.py", "rtest.xml", "rtest.py", "install.sh"
            ]
            words |= {pathlib.PurePosixPath(n).name.split(".")[0] for n in self.files(SOURCES)}
            return words | self.fortran() | {w for n in self.files(more) for w in WORD.findall(self.read(n))}

        return self.once(("everything", ""), make)


LISTS = [("include/jalloc/status.h", "JSTATUS_LIST", "JSTATUS_"),
         ("include/jalloc/config.h", "JCONFIG_LIST", "")]


def rows(text, macro):
    """The names in an X-macro's rows: their first arguments but for a number."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)+.*)\n", text)
    return re.findall(r"\bX\((?:\d+, )?(\w+),", body.group(1)) if body else []


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def at(name, text, match):
    return f"{name}:{line_of(text, match.start())}"


def info(tree, build, *options):
    """What jalloc-info says. Its status is 1 where a variable of ours cannot be understood."""

    def make():
        if not (build / "bin/jalloc-info").exists():
            sys.exit(f"check_texts: there is no jalloc-info in {build}/bin to be asked")
        result = subprocess.run([build / "bin/jalloc-info", "--json", *options],
                                text=True,
                                capture_output=True,
                                check=False)
        return json.loads(result.stdout)

    return tree.once(("info", options), make)
