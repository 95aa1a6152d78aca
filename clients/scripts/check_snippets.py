#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Every block of code in README, CONTRIBUTING, the manual and the public headers is compiled and
run, taken from the text itself. A block is C, C++, Fortran, shell, CMake or Python and says so;
what is no code is `text`.

A block is a whole program and runs as it stands, or a comment right before it (`.. snippet: WHAT`
in reStructuredText, `<!-- snippet: WHAT -->` in Markdown) says where it belongs. WHAT is one of

    in FRAME           it takes the place of the comment `snippet` in docs/snippets/FRAME.c, with a
                       FRAME.cpp beside it in C++ as well; or in FRAME.cpp, .f90, .sh, .cmake, .py
    in FRAME.PART      of the comment `snippet PART`: several blocks of one program
    as FILE            a whole program, kept by this name for the blocks behind it on the page
    quotes PATH        it stands, but for white space, in a sample or a test
    shown only, because REASON

In a header the n-th @code of name.h is part n of name_h.c. The blocks of a page run one after the
other in one scratch folder.

No line has more than 88 columns but of what a program prints, which is `text` and shown only.

What a careful user looks at is looked at. A whole program uses each status but those of what it
gives back at its end. In a frame a status that the text leaves aside is looked at all the same: an
error ends the program. Who passes &info compares info. In shell blocks what takes long is not run
(install.sh, rtest.py, cmake, programs named by their build folder): the options, variables, sets,
presets and tests that they name must exist. All others run; `program` is docs/snippets/program.c.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77  # a program's exit status where the machine lacks what it needs
LIMIT_S = 120
SHOWN_CHARACTERS = 3000  # of what a command that failed has printed
LANGUAGES = {"c": "c", "cpp": "cpp", "c++": "cpp", "sh": "sh", "cmake": "cmake",
             "python": "python", "fortran": "fortran", "text": "text"}
CMAKE_BEGIN = "cmake_minimum_required(VERSION 3.22)\nproject(snippet C)\n"
SUFFIX = {"c": ".c", "cpp": ".cpp", "sh": ".sh", "python": ".py", "cmake": ".cmake",
          "fortran": ".f90"}
# Flags, who compiled the build by CMake's name, others, and who compiles what has ranks.
COMPILERS = {"c": (["-std=c11"], "CMAKE_C_COMPILER", ["cc", "gcc", "clang"], "MPI_C_COMPILER"),
             "cpp": (["-std=c++17"], "CMAKE_CXX_COMPILER", ["c++", "g++", "clang++"],
                     "MPI_CXX_COMPILER")}
# Frames declare for the eye what the text does not use.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-function",
            "-Wno-unused-but-set-variable"]
ENDS = re.compile(r"_(destroy|release|detach|remove|deallocate)$")  # the way out
MARK = re.compile(r"^[ \t]*(?:/\*|#|!)[ \t]*snippet(?:[ \t]+(\w+))?[ \t]*(?:\*/)?[ \t]*$", re.M)
MOST_COLUMNS = 88  # of code on a page: what is wider is cut off, behind a scroll bar
COMPARES_INFO = re.compile(r"\binfo\s*(?:>|!=|==|<)")
# Two ranks on however many processors; Open MPI wants to be told twice that root may.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}

Block = collections.namedtuple("Block", "path line language text what")


class Wrong(Exception):
    """A snippet is not as it should be."""


class Absent(Exception):
    """What a snippet needs is not there."""


# ---- reading -------------------------------------------------------------------------------------


def indent_of(line):
    return len(line) - len(line.lstrip())


def dedented(lines):
    indent = min((indent_of(line) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip("\n") + "\n"


def read_rst(path, lines):
    what, number = None, 0
    while number < len(lines):
        line = lines[number]
        number += 1
        comment = re.match(r"\s*\.\. snippet: (.+)", line)
        directive = re.match(r"\s*\.\. (?:code-block|sourcecode|code)::\s*(\S*)", line)
        if comment:
            what = comment.group(1).strip()
        elif directive or re.search(r"::\s*$", line) and not re.match(r"\s*\.\. ", line):
            first = number
            while first < len(lines) and re.match(r"\s*(:\w+:.*)?$", lines[first]):
                first += 1
            end = first
            while end < len(lines) and (not lines[end].strip()
                                        or indent_of(lines[end]) > indent_of(line)):
                end += 1
            language = directive.group(1) if directive else ""
            yield Block(path, first + 1, language, dedented(lines[first:end]), what)
            what, number = None, end
        elif line.strip() and what is not None:
            raise Wrong(f"{path}:{number}: \"snippet: {what}\" stands before no block")


def read_markdown(path, lines):
    what, number = None, 0
    while number < len(lines):
        line = lines[number]
        number += 1
        comment = re.match(r"\s*<!-- snippet: (.+?) -->", line)
        fence = re.match(r"\s*```\s*(\S*)", line)
        if comment:
            what = comment.group(1)
        elif fence:
            first = number
            while number < len(lines) and not lines[number].strip().startswith("```"):
                number += 1
            yield Block(path, first + 1, fence.group(1), dedented(lines[first:number]), what)
            what, number = None, number + 1
        elif line.strip() and what is not None:
            raise Wrong(f"{path}:{number}: \"snippet: {what}\" stands before no block")


def read_header(path, lines):
    number = count = 0
    while number < len(lines):
        number += 1
        if "@code" not in lines[number - 1]:
            continue
        first, count = number, count + 1
        while "@endcode" not in lines[number]:
            number += 1
        code = [re.sub(r"^\s*\* ?", "", line) for line in lines[first:number]]
        frame = f"{pathlib.Path(path).stem}_h.{count}"
        yield Block(path, first + 1, "c", dedented(code), f"in {frame}")


def read_blocks(root):
    blocks = []
    for pattern, reader in (("README.md", read_markdown), ("CONTRIBUTING.md", read_markdown),
                            ("docs/**/*.rst", read_rst), ("include/jalloc/*.h", read_header)):
        for path in sorted(root.glob(pattern)):
            lines = path.read_text(encoding="utf-8").splitlines()
            blocks += reader(str(path.relative_to(root)), lines)
    return blocks


# ---- statuses ------------------------------------------------------------------------------------


def status_functions(root):
    """Names of the functions that return a status."""
    headers = sorted((root / "include/jalloc").glob("*.h"))
    text = "".join(path.read_text(encoding="utf-8") for path in headers)
    return set(re.findall(r"(?:JALLOC_API|JALLOC_INLINE) jstatus_t (\w+)\(", text))


def blanked(code):
    """The code with comments and strings blanked, every other character in its place."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'",
                  lambda match: re.sub(r"[^\n]", " ", match.group()), code, flags=re.S)


def unlooked(code, functions):
    """(begin, end, name) of the calls that are a statement, though they return a status."""
    plain = blanked(code)
    for match in re.finditer(r"\b(\w+)\(", plain):
        if match.group(1) not in functions:
            continue
        before = plain[:match.start()].rstrip()
        begins_line = "\n" in plain[len(before):match.start()]
        if before and before[-1] not in ";{})" or before.endswith(")") and not begins_line:
            continue
        depth, end = 1, match.end()
        while depth and end < len(plain):
            depth += {"(": 1, ")": -1}.get(plain[end], 0)
            end += 1
        if plain[end:].lstrip().startswith(";"):
            yield match.start(), end, match.group(1)


def looked_at(code, functions):
    """A fragment with each status looked at. Lines stay where they are."""
    for begin, end, _ in reversed(list(unlooked(code, functions))):
        code = f"{code[:begin]}SNIPPET_TRY({code[begin:end]}){code[end:]}"
    return code


# ---- running -------------------------------------------------------------------------------------


def compilers(names):
    found = {}
    for name in names:
        path = shutil.which(name)
        if path:
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())


class Runner:
    """Runs blocks against a build."""

    def __init__(self, root, build, scratch):
        self.root, self.build, self.scratch = root, build, scratch
        self.frames, self.library = root / "docs/snippets", build / "library"
        self.fortran = build / "faces/fortran"
        if not (self.library / "libjblas.so").exists():
            raise Absent(f"{self.library} has no libjblas.so: build it first")
        self.functions = status_functions(root)
        presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {preset["name"] for preset in presets["configurePresets"]}
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        self.cache = dict(re.findall(r"^(\w+):\w+=(.+)$", cache, re.M))
        sets = (root / "rtest.xml").read_text(encoding="utf-8")
        self.sets = set(re.findall(r'<set name="(\w+)"', sets))
        self.lock, self.prefix, self.helps = threading.Lock(), None, {}
        self.package = None
        (scratch / "bin").mkdir()
        self.compile("c", self.frames / "program.c", scratch / "bin/program")

    def command(self, words, folder, env=None):
        words = [str(word) for word in words]
        known = {name: value for name, value in os.environ.items()
                 if not name.startswith("JALLOC_")}
        known["PATH"] = os.pathsep.join([str(self.scratch / "bin"), str(self.build / "bin"),
                                         os.environ.get("PATH", "")])
        known["LD_LIBRARY_PATH"] = (f"{self.library}:{self.build / 'clients/tools/record'}:"
                                    f"{self.fortran}")
        try:
            result = subprocess.run(words, cwd=folder, env={**known, **(env or {})},
                                    stdin=subprocess.DEVNULL, text=True, capture_output=True,
                                    check=False, timeout=LIMIT_S)
        except FileNotFoundError:
            raise Absent(f"no {words[0]}") from None
        except subprocess.TimeoutExpired:
            raise Wrong(f"{words[0]} did not end within {LIMIT_S} s") from None
        printed = (result.stdout + result.stderr).strip()[-SHOWN_CHARACTERS:]
        if result.returncode == SKIPPED:
            raise Absent(printed.splitlines()[-1] if printed else "it says so")
        if result.returncode != 0:
            shown = " ".join(words[:6]).replace(f"{self.scratch}/", "")
            raise Wrong(f"{shown}: exit status {result.returncode}\n{printed}")
        return result.stdout

    def folder_of(self, block):
        folder = self.scratch / block.path.replace("/", "-")
        folder.mkdir(exist_ok=True)
        return folder

    def fit(self, text, block):
        """Names in POSIX shared memory become this run's and this page's own."""
        name = f"/mesh-{os.getpid()}-{block.path.replace('/', '-')}"
        return re.sub(r"(?<=[\s\"=])/mesh\b", name, text)

    def installed(self):
        """Where jalloc is installed, for those who look for it."""
        with self.lock:
            if self.prefix is None:
                prefix = self.scratch / "prefix"
                self.command(["cmake", "--install", self.build, "--prefix", prefix], self.scratch)
                self.prefix = prefix
            return self.prefix

    def compile(self, language, source, program):
        """By the build's compiler; all others look at it. Gives whether it is for ranks."""
        flags, own, others, wrapper = COMPILERS[language]
        ranks = "<jalloc/mpi.h>" in source.read_text(encoding="utf-8")
        found = compilers([self.cache.get(own, ""), *others])
        links = ["-ljbuffer", "-ljlapack", "-ljblas", "-ljalloc", "-lm", "-lpthread"]
        if ranks:
            found = compilers([self.cache.get(wrapper, "")])
            if not found or not (self.library / "libjalloc_mpi.so").exists():
                raise Absent("no MPI")
            links = ["-ljalloc_mpi", self.cache["SCALAPACK_LIBRARY"], *links]
        if not found:
            raise Absent(f"no compiler for {language}")
        common = [*flags, *WARNINGS, f"-I{self.root / 'include'}", f"-I{self.build / 'include'}",
                  f"-I{self.frames}", source]
        for compiler in found[1:]:
            self.command([compiler, *common, "-fsyntax-only"], source.parent)
        self.command([found[0], *common, "-o", program, f"-L{self.library}", *links],
                     source.parent)
        return ranks

    def has_fortran(self):
        return (self.fortran / "libjalloc_fortran.so").exists()

    def need_fortran(self):
        if not self.has_fortran():
            raise Absent("no libjalloc_fortran")

    def compile_fortran(self, source, program):
        self.need_fortran()
        gnu = ["-std=f2008", "-pedantic", *WARNINGS[:4], "-Wno-compare-reals"]
        compiler = self.cache["CMAKE_Fortran_COMPILER"]
        self.command([compiler, *([] if "flang" in compiler else gnu), f"-I{self.fortran / 'modules'}",
                      source, "-o", program, f"-L{self.fortran}", "-ljalloc_fortran",
                      f"-L{self.library}", "-ljbuffer", "-ljlapack", "-ljblas", "-ljalloc"],
                     source.parent)

    def run(self, language, source, folder):
        """Compiles, where that is needed, and runs."""
        if language == "cmake":
            if "jalloc_fortran" in source.read_text(encoding="utf-8"):
                self.need_fortran()
            self.cmake(source, folder)
        elif language == "fortran":
            self.compile_fortran(source, folder / "fortran.out")
            self.command([folder / "fortran.out"], folder)
        elif language == "python":
            self.python(source, folder)
        elif language == "sh":
            self.command(["sh", "-e", source], folder)
        else:
            program = folder / (source.name.replace(".", "_") + ".out")
            ranks = self.compile(language, source, program)
            env = dict(MPI_ENVIRONMENT) if ranks else {}
            if re.search(r"\"(cuda|hip):0\"", source.read_text(encoding="utf-8")):
                env["JALLOC_MODULE_PATH"] = str(self.build / "fake_gpu")
            start = [self.cache.get("MPIEXEC_EXECUTABLE", "mpiexec"), "-n", "2"] if ranks else []
            self.command([*start, program], folder, env)

    def python(self, source, folder):
        """A program that imports jalloc has the package, and an interpreter that has NumPy."""
        if not re.search(r"^import jalloc\b", source.read_text(encoding="utf-8"), re.M):
            self.command([sys.executable, source], folder)
            return
        faces = self.root / "faces/python"
        with self.lock:
            if self.package is None:
                package = self.scratch / "python"
                shutil.copytree(faces / "src", package)
                self.command([sys.executable, faces / "generate.py", package / "jalloc"], folder)
                self.package = package
        for python in (sys.executable, "/usr/bin/python3"):
            if not subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                                  check=False).returncode:
                self.command([python, source], folder, {"PYTHONPATH": str(self.package),
                                                        "JALLOC_LIB": str(self.library)})
                return
        raise Absent("no NumPy")

    def framed(self, name, blocks):
        """Blocks of one frame, in each language that the frame is there in."""
        files = sorted(self.frames.glob(f"{name}.*"))
        if not files:
            raise Wrong(f"there is no frame docs/snippets/{name}.*")
        parts = {block.what.partition(".")[2]: block for block in blocks}
        for frame in files:
            text = frame.read_text(encoding="utf-8")
            marks = sorted(mark.group(1) or "" for mark in MARK.finditer(text))
            if marks != sorted(parts) or len(parts) != len(blocks):
                raise Wrong(f"{frame.name} has room for {marks}, the text has "
                            f"{sorted(block.what for block in blocks)}")
            language = next(key for key, suffix in SUFFIX.items() if suffix == frame.suffix)

            def put(mark):
                block = parts[mark.group(1) or ""]
                if LANGUAGES[block.language] != language and language != "cpp":
                    raise Wrong(f"{block.path}:{block.line}: {block.language} in {frame.name}")
                if language not in COMPILERS:
                    return block.text
                after = text[:mark.end()].count("\n") + 2
                return (f'#line {block.line} "{block.path}"\n'
                        f"{looked_at(block.text, self.functions)}"
                        f'#line {after} "docs/snippets/{frame.name}"')

            folder = self.folder_of(blocks[0])
            source = folder / frame.name
            source.write_text(self.fit(MARK.sub(put, text), blocks[0]), encoding="utf-8")
            self.run(language, source, folder)

    def whole(self, block):
        language, folder = LANGUAGES[block.language], self.folder_of(block)
        name = block.what[len("as "):] if block.what else f"line_{block.line}{SUFFIX[language]}"
        if language == "sh":
            self.shell(block, folder)
            return
        if language in COMPILERS:
            if not re.search(r"\bint main\(", block.text):
                raise Wrong("no whole program, and no comment says to which frame it belongs")
            for begin, _, called in unlooked(block.text, self.functions):
                if not ENDS.search(called):
                    line = block.line + block.text.count("\n", 0, begin)
                    raise Wrong(f"line {line}: nobody looks at the status of {called}()")
        if language == "fortran" and not re.search(r"^program \w+$", block.text, re.M):
            raise Wrong("no whole program, and no comment says to which frame it belongs")
        begin = CMAKE_BEGIN if language == "cmake" else ""
        (folder / name).write_text(begin + self.fit(block.text, block), encoding="utf-8")
        self.run(language, folder / name, folder)

    def cmake(self, lists, folder):
        """A project beside the page's files, with an installed jalloc; runs what it builds."""
        build = folder / "build"
        lists.rename(folder / "CMakeLists.txt")
        self.command(["cmake", "-S", folder, "-B", build, f"-DSNIPPETS={self.frames}",
                      f"-DCMAKE_PREFIX_PATH={self.installed()}"], folder)
        self.command(["cmake", "--build", build], folder)
        text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
        for target in re.findall(r"add_executable\((\w+)", text):
            self.command([build / target], folder)

    # ---- shell ----

    def shell(self, block, folder):
        for line in self.fit(block.text, block).replace("\\\n", " ").splitlines():
            for command in re.split(r"\s&&\s", line):
                words = shlex.split(command, comments=True)
                if "jalloc_fortran" in command:
                    self.need_fortran()
                while words and re.match(r"\w+=", words[0]):
                    words.pop(0)
                if not words or self.is_looked_up(words):
                    continue
                env = {}
                if "pkg-config" in command:
                    package = next(self.installed().rglob("pkgconfig"))
                    env = {"PKG_CONFIG_PATH": str(package), "LD_LIBRARY_PATH": str(package.parent)}
                self.command(["sh", "-ec", command], folder, env)

    def is_looked_up(self, words):
        """Whether a command is one that is not run; then what is said of it must be so."""
        if words[0] == "python3" and len(words) > 1:
            words = words[1:]
        name = words[0]
        options = [word.partition("=")[0] for word in words[1:] if word.startswith("-")]
        built = re.fullmatch(r"build/(\w+)/bin/([\w-]+)", name)
        if name in ("cmake", "ctest") and "--preset" in words:
            self.find_preset(words[words.index("--preset") + 1])
        elif name == "cmake":  # jalloc itself, from its source folder
            for variable in re.findall(r"-D(\w+)", " ".join(options)):
                if variable not in self.cache:
                    raise Wrong(f"CMakeCache.txt has no {variable}")
        elif built:
            self.find_preset(built.group(1))
            self.find_tests(built.group(2), words[1:])
        elif name == "rtest.py":
            self.find_options(name, options, [sys.executable, "rtest.py", "--help"])
            if "-t" in words and words[words.index("-t") + 1] not in self.sets:
                raise Wrong(f"rtest.xml has no set {words[words.index('-t') + 1]}")
        elif name == "./install.sh":
            self.find_options(name, options, ["bash", "install.sh", "--help"])
        elif name.startswith("clients/scripts/"):
            self.find_options(name, options, ["cat", name])
        else:
            return False
        return True

    def find_options(self, name, options, command):
        """A program's options, in what the command prints."""
        if not (self.root / name).exists():
            raise Wrong(f"there is no {name}")
        if name not in self.helps:
            self.helps[name] = self.command(command, self.root)
        for option in options:
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", self.helps[name]):
                raise Wrong(f"{name} has no option {option}")

    def find_preset(self, preset):
        if preset not in self.presets:
            raise Wrong(f"CMakePresets.json has no preset {preset}")

    def find_tests(self, program, arguments):
        path = self.build / "bin" / program
        if not path.exists():
            raise Wrong(f"the build has no {program}")
        if any(argument.startswith("--gtest_filter") for argument in arguments):
            listed = self.command([path, *arguments, "--gtest_list_tests"], self.scratch)
            if not re.search(r"^  \w", listed, re.M):
                raise Wrong(f"{program} has no test of that name")

    def quoted(self, block):
        path = self.root / block.what[len("quotes "):]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if re.sub(r"\s+", "", block.text) not in re.sub(r"\s+", "", text):
            raise Wrong(f"it does not stand in {path.relative_to(self.root)}")


# ---- all of it -----------------------------------------------------------------------------------


def jobs_of(blocks):
    """{page: [(block, what to do with a runner, or None)]} in the page's order, and the frames."""
    pages, frames = collections.OrderedDict(), {}

    def refused(why):
        def job(_):
            raise Wrong(why)
        return job

    for block in blocks:
        what = block.what or ""
        job = refused(f"not understood: \"snippet: {what}\"")
        width = max(map(len, block.text.splitlines()), default=0)
        printed = block.language == "text" and what.startswith("shown only")
        if width > MOST_COLUMNS and not printed:
            job = refused(f"{width} columns, at most {MOST_COLUMNS}")
        elif block.language not in LANGUAGES:
            job = refused(f"no language that is known: \"{block.language}\"")
        elif LANGUAGES[block.language] == "text":
            continue
        elif "&info" in block.text and not COMPARES_INFO.search(block.text):
            job = refused("info is not looked at")
        elif what.startswith("in "):
            name = what[len("in "):].partition(".")[0]
            if name in frames:
                frames[name].append(block)
                continue
            frames[name] = [block]
            job = lambda runner, name=name: runner.framed(name, frames[name])
        elif what.startswith("quotes "):
            job = lambda runner, block=block: runner.quoted(block)
        elif re.match(r"shown only, because \S", what):
            job = None
        elif what == "" or what.startswith("as "):
            job = lambda runner, block=block: runner.whole(block)
        pages.setdefault(block.path, []).append((block, job))
    return pages, frames


def run_page(runner, jobs):
    """[(block, word, why)]"""
    results = []
    for block, job in jobs:
        word, why = "fine", ""
        if job is None:
            word, why = "shown only", block.what.partition("because ")[2]
        else:
            try:
                job(runner)
            except Wrong as wrong:
                word, why = "WRONG", str(wrong)
            except Absent as absent:
                word, why = "skipped", str(absent)
        results.append((block, word, why))
    return results


def run_blocks(runner, blocks):
    pages, frames = jobs_of(blocks)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        done = list(pool.map(lambda jobs: run_page(runner, jobs), pages.values()))
    for left in pathlib.Path("/dev/shm").glob(f"mesh-{os.getpid()}-*"):  # of one that failed
        left.unlink()
    return [result for page in done for result in page], frames


def check(runner, blocks, everything):
    results, frames = run_blocks(runner, blocks)
    for path in sorted(runner.frames.iterdir()) if everything else []:
        if path.suffix == ".c" and path.stem not in {*frames, "program"}:
            unused = Block(f"docs/snippets/{path.name}", 1, "", "", "")
            results.append((unused, "WRONG", "no text needs this frame"))
    for block, word, why in results:
        if word != "fine":
            print(f"{block.path}:{block.line}: {word}: {why}")
    counts = collections.Counter(word for _, word, _ in results)
    print(f"check_snippets: {len(results)} programs and commands from "
          f"{len({block.path for block in blocks})} texts: {counts['fine']} fine, "
          f"{counts['skipped']} skipped, {counts['shown only']} shown only, "
          f"{counts['WRONG']} wrong")
    return 1 if counts["WRONG"] or not counts["fine"] else 0


# Blocks that must be found wrong: language, comment, text, a part of what is said of them.
MISTAKES = [
    ("", None, "int main(void) { return 0; }", "no language"),
    ("c", None, "jhandle_destroy(handle);", "no whole program"),
    ("c", None, f"int main(void) {{ return 0; /* {'w' * 88} */ }}", "columns, at most 88"),
    ("text", None, "w" * 89, "columns, at most 88"),
    ("c", None, "int main(void) { return 1; }", "exit status 1"),
    ("c", None, "#include <jalloc/jalloc.h>\nint main(void) { jstatus_t s; return 0 }", "error"),
    ("c", None, "#include <jalloc/jalloc.h>\nint main(void) {\n    jhandle_t *handle;\n"
                "    jhandle_create(NULL, &handle);\n}", "line 4: nobody looks"),
    ("c", None, "int main(void) { int info; f(&info); return 0; }", "info is not looked at"),
    ("c", "shown only", "f();", "not understood"),
    ("c", "in nowhere", "f();", "no frame"),
    ("c", "in workspace_borrow.part", "f();", "has room for"),
    ("c", "quotes README.md", "jhandle_create(nothing);", "does not stand"),
    ("c", "in allocators_segment", "allocator = NULL;\n"
          "jallocator_compose(NULL, \"bcf\", &allocator);", "page:2: jallocator_compose"),
    ("cpp", None, "int main() { double *x = static_cast<void *>(0); return 0; }", "error"),
    ("sh", None, "false", "exit status 1"),
    ("sh", None, "no-such-program-of-jalloc", "exit status 127"),
    ("sh", None, "./install.sh --speed", "no option --speed"),
    ("sh", None, "python3 rtest.py -t slow", "no set slow"),
    ("sh", None, "cmake --preset fast && true", "no preset fast"),
    ("sh", None, "build/release/bin/jalloc-trst", "no jalloc-trst"),
    ("sh", None, "cmake -S . -B build/own -DJALLOC_SPEED=ON", "no JALLOC_SPEED"),
    ("cmake", None, "find_package(jalloc REQUIRED COMPONENTS speed)", "NOT FOUND"),
    ("python", None, "raise ValueError", "ValueError"),
    ("fortran", None, "call f()", "no whole program"),
    ("fortran", None, "program p\nuse jalloc\ntype(jhandle_t) :: h\nh = 1\nend program", "rror"),
    ("fortran", None, "program p\nerror stop 3\nend program", "exit status 3"),
]


def self_test(runner):
    mistakes = [m for m in MISTAKES if m[0] != "fortran" or runner.has_fortran()]
    blocks = [Block("page", 1, *block) for block in
              ((language, text + "\n", what) for language, what, text, _ in mistakes)]
    failures = 0
    for block, (_, _, _, expected) in zip(blocks, mistakes):
        (_, word, why), = run_blocks(runner, [block])[0]
        if word != "WRONG" or expected not in why:
            failures += 1
            print(f"self-test: {block.text!r} is {word} ({why}), not \"{expected}\"")
    readers = [(read_rst, ["Text::", "", "   code"], ""), (read_markdown, ["```", "code"], "")]
    for reader, lines, language in readers:
        found = list(reader("page", lines))
        if [block.language for block in found] != [language]:
            failures += 1
            print(f"self-test: {lines} gives {found}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--only", metavar="TEXT", help="pages that have this in their path")
    parser.add_argument("--self-test", action="store_true",
                        help="first see the check find what is wrong")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    try:
        blocks = [block for block in read_blocks(root) if (arguments.only or "") in block.path]
        with tempfile.TemporaryDirectory() as scratch:
            runner = Runner(root, arguments.build.resolve(), pathlib.Path(scratch))
            if arguments.self_test and self_test(runner):
                return 1
            return check(runner, blocks, arguments.only is None)
    except (Wrong, Absent) as error:
        print(f"check_snippets: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
