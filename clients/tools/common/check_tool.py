#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What every installed program has in common: --help, --version, refusals, exit statuses, JSON, what is
for terminals alone, and, with --pages FOLDER, that man page and completion say what --help says.

    check_tool.py PROGRAM [--json "ARGUMENTS"]... [--missing "ARGUMENTS"]... [--fails "ARGUMENTS"]...
                  [--coloured "ARGUMENTS"] [--progress "ARGUMENTS"] [--pages FOLDER]

ARGUMENTS are divided as a shell divides them; a {} in them is a path of which there is no file, and of --missing an empty
file and a folder, too."""

import argparse
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

WIDTH = 80
NOT_SUPPORTED = 77  # here, such as stepping a process
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
ESCAPE, RESET = "\033[", "\033[0m"


class Check:

    def __init__(self, program):
        self.program, self.name, self.findings = program, pathlib.Path(program).name, []

    def expect(self, holds, what):
        if not holds:
            self.findings.append(what)

    def run(self, *arguments, **changes):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_")}
        return subprocess.run([self.program, *arguments], env={**variables, **changes}, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def on_terminal(self, *arguments, **changes):
        """What it writes where standard output and error are a terminal."""
        variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        own, other = pty.openpty()
        with subprocess.Popen([self.program, *arguments], env={**variables, "TERM": "xterm", **changes},
                              stdin=subprocess.DEVNULL, stdout=other, stderr=other) as process:
            os.close(other)
            text = b""
            while True:
                try:
                    more = os.read(own, 65536)
                except OSError:  # the terminal's other end is closed
                    break
                text += more
                if not more:
                    break
            process.wait()
        os.close(own)
        return text.decode(errors="replace")

    def check_help(self):
        done = self.run("--help")
        text = done.stdout
        self.expect((done.returncode, done.stderr) == (0, ""), f"--help: {done.returncode} {done.stderr}")
        self.expect(text.startswith(f"usage: {self.name} "), f"--help begins otherwise: {text[:80]}")
        for title in ("Options", "Exit status", "Examples"):
            self.expect(f"\n{title}:\n" in text, f"--help has no {title}")
        for status in "012":
            self.expect(re.search(rf"\n  {status}    \S", text), f"--help does not say exit status {status}")
        self.expect(max(map(len, text.splitlines())) <= WIDTH, "a line of --help is too long")
        for option in ("--help", "--version"):
            self.expect(f" {option} " in text, f"--help has no {option}")
        self.expect(self.run("-h").stdout == text, "-h is not --help")

        # Every option is understood, also those of the examples.
        known = set(OPTION.findall(text.split("\nOptions:\n")[1].split("\n\n")[0]))
        for line in text.split("\nExamples:\n")[1].splitlines():
            if line.startswith("  " + self.name):
                for option in OPTION.findall(re.sub(r"'[^']*'", "", line)):
                    self.expect(option in known, f"the example has {option}, --help has not: {line}")
        return text

    def check_version(self):
        for option in ("--version", "-V"):
            done = self.run(option)
            self.expect(done.returncode == 0 and re.fullmatch(rf"{self.name} \d+\.\d+\.\d+\n", done.stdout),
                        f"{option}: {done.returncode} {done.stdout}")

    def check_refused(self, *arguments):
        """Exit status 2, one line of the form on standard error, nothing else."""
        done = self.run(*arguments)
        self.expect(done.returncode == 2, f"{arguments}: ended with {done.returncode}, not 2")
        self.expect(done.stdout == "", f"{arguments}: said {done.stdout[:200]}")
        self.expect(re.fullmatch(rf"{self.name}: [^\n]+; see --help\n", done.stderr),
                    f"{arguments}: refused otherwise: {done.stderr}")
        return done.stderr

    def check_options(self):
        self.expect("'--nonsense'" in self.check_refused("--nonsense"), "the wrong option is not named")
        self.expect("'-~'" in self.check_refused("-~"), "the wrong letter is not named")

    def check_full(self, *arguments):
        """Nobody takes a result for whole that is not."""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([self.program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.expect(done.returncode == 1 and "cannot be written" in done.stderr,
                    f"{arguments}, a full disk: {done.returncode} {done.stderr}")

    def check_json(self, *arguments):
        done = self.run(*arguments)
        if done.returncode == NOT_SUPPORTED:
            return False
        self.expect(done.returncode in (0, 1), f"{arguments}: {done.returncode} {done.stderr}")
        try:
            lines = [done.stdout] if done.stdout.startswith("{\n") else done.stdout.splitlines()
            self.expect(lines and all(isinstance(json.loads(line), dict) for line in lines), f"{arguments}: no object")
        except json.JSONDecodeError as error:
            self.findings.append(f"{arguments}: {error}: {done.stdout[:200]}")
        self.expect(ESCAPE not in self.on_terminal(*arguments).replace("\033[K", ""), f"{arguments}: coloured JSON")
        return True

    def check_colour(self, *arguments):
        self.expect(ESCAPE not in self.run(*arguments, TERM="xterm").stdout, f"{arguments}: coloured where no terminal is")
        coloured = self.on_terminal(*arguments)
        self.expect(ESCAPE in coloured and RESET in coloured, f"{arguments}: not coloured on a terminal: {coloured[:200]}")
        for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.expect(ESCAPE not in self.on_terminal(*arguments, **variable), f"{arguments}: coloured in spite of {variable}")
        self.expect(ESCAPE in self.on_terminal(*arguments, NO_COLOR=""), f"{arguments}: an empty NO_COLOR is none")

    def check_progress(self, *arguments):
        done = self.run(*arguments)
        if done.returncode == NOT_SUPPORTED:
            return
        self.expect("%" not in done.stderr, f"{arguments}: progress where no terminal is")
        shown = self.on_terminal(*arguments)
        self.expect(re.search(r"\r\033\[K\w[\w ]* \d+%", shown), f"{arguments}: no progress on a terminal: {shown[:200]!r}")
        self.expect(ESCAPE not in self.on_terminal(*arguments, TERM="dumb"), f"{arguments}: progress on a dumb terminal")

    def check_pages(self, folder, text):
        man = (folder / "man/man1" / f"{self.name}.1").read_text(encoding="utf-8")
        completion = folder / "completions" / self.name
        options = OPTION.findall("\n".join(re.findall(r"^  (?:-\w,|   ) --[\w-]+", text, re.MULTILINE)))
        plain = man.replace("\\-", "-").replace("\\e", "\\")
        for option in options:
            self.expect(f"{option}\\fR" in plain, f"the man page has no {option}")
        for title in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
            self.expect(f"\n.SH {title}\n" in man, f"the man page has no {title}")
        words = " ".join(plain.replace("\\fB", "").replace("\\fR", "").replace("\\&", "").split())
        for word in re.findall(r"\w{4,}", text):
            self.expect(word in words or word == "usage" or word in ("Examples", "Options", "Notes", "Exit", "status", "Commands"),
                        f"the man page lost '{word}'")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", folder / "man/man1" / f"{self.name}.1"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            self.expect(done.stderr == "", f"groff: {done.stderr}")
        if shutil.which("bash"):
            found = self.complete(completion, "--")
            self.expect(set(found) == {o for o in options if o.startswith("--")}, f"completed: {found}")
            self.expect("--version" in self.complete(completion, "--vers"), "--vers is not completed")

    def complete(self, completion, *words):
        function = "_" + self.name.replace("-", "_")
        line = [self.name, *words]
        script = (f"source {shlex.quote(str(completion))}; COMP_WORDS=({shlex.join(line)}); COMP_CWORD={len(line) - 1}; "
                  f"{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "-c", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.expect(done.returncode == 0 and done.stderr == "", f"completion: {done.stderr}")
        return done.stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    for option in ("--json", "--missing", "--fails"):
        parser.add_argument(option, action="append", default=[])
    parser.add_argument("--coloured")
    parser.add_argument("--progress")
    parser.add_argument("--pages", type=pathlib.Path)
    arguments = parser.parse_args()
    check = Check(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        nowhere = str(pathlib.Path(folder, "nowhere"))

        def divided(text, path=nowhere):
            return [word.replace("{}", path) for word in shlex.split(text)]

        text = check.check_help()
        check.check_version()
        check.check_options()
        check.check_full("--help")
        for words in arguments.json:
            if check.check_json(*divided(words)):
                check.check_full(*divided(words))
        empty = pathlib.Path(folder, "empty")
        empty.touch()
        for words in arguments.missing:
            for path in (nowhere, str(empty), folder):
                refusal = check.check_refused(*divided(words, path))
                check.expect(path in refusal, f"{words} of {pathlib.Path(path).name}: the file is not named")
        for words in arguments.fails:
            done = check.run(*divided(words))
            check.expect(done.returncode == 1 and done.stderr.startswith(f"{check.name}: ") and "nowhere" in done.stderr,
                         f"{words}: {done.returncode} {done.stderr}")
        if arguments.coloured:
            check.check_colour(*divided(arguments.coloured))
        if arguments.progress:
            check.check_progress(*divided(arguments.progress))
        if arguments.pages:
            check.check_pages(arguments.pages, text)
    for finding in check.findings:
        print(f"{check.name}: {finding}")
    print(f"check_tool: {check.name}: {len(check.findings)} findings")
    return 1 if check.findings else 0


if __name__ == "__main__":
    sys.exit(main())
