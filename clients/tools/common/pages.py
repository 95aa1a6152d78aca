#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Makes a program's man page and bash completion from its --help, whose layout is tool.c's: sections
begin with a line without indentation that ends with a colon, entries are indented by two columns and
their texts by more.

    pages.py --man FILE --completion FILE [--see NAME...] -- PROGRAM

PROGRAM may stand behind what it is run by, such as an emulator."""

import argparse
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"  (?:-(?P<letter>\w),|   ) --(?P<name>[\w-]+)(?: (?P<value>\S+))?$")
FILES = {"FILE", "LOG"}
# NAME is one that `PROGRAM list` shows, in its first column, with or without the slash before it. Anybody may have chosen it, so
# bash is given none as a word to expand (compgen -W), and none that has other letters than names usually have.
LISTED = r"""
        local name
        if ((COMP_CWORD > 1)); then
            while read -r name; do
                if [[ ${{name#/}} == "${{current#/}}"* ]]; then COMPREPLY+=("$name"); fi
            done < <({program} list 2>/dev/null | sed -nE 's,^(/[[:alnum:]._-]+)  .*,\1,p')
        fi"""


class Help:
    """What --help says, taken apart."""

    def __init__(self, text):
        head, *sections = re.split(r"\n\n?(?=[A-Z][\w ]*:\n)", text.rstrip("\n"))
        usage, summary, *about = head.split("\n\n")
        self.usage = [line[7:] for line in usage.splitlines()]
        self.name = self.usage[0].split()[0]
        self.summary = " ".join(summary.split())
        self.about = [" ".join(paragraph.split()) for paragraph in about]
        self.sections = {}
        for section in sections:
            title, _, body = section.partition(":\n")
            self.sections[title] = list(self.entries(body))

    @staticmethod
    def entries(body):
        """(what stands at the margin, its text)"""
        for entry in re.split(r"\n(?=  \S|      --)", body):
            first, *rest = entry.split("\n")
            name, _, text = first[6:].partition("  ") if "--" in first[:9] else first[2:].partition("  ")
            name = first[:first.index(name)] + name if name else first
            yield name, " ".join((text + " " + " ".join(rest)).split())

    def options(self):
        """Of each: letter or None, name, value or None, text."""
        for name, text in self.sections["Options"]:
            match = OPTION.match(name)
            if match is None:
                sys.exit(f"pages.py: {self.name}: not an option: {name!r}")
            yield match["letter"], match["name"], match["value"], text

    def commands(self):
        return [name.strip() for name, _ in self.sections.get("Commands", [])]


# ---- The man page ---------------------------------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def man(page, version, others):
    name = page.name
    summary = page.summary[0].lower() + page.summary[1:].rstrip(".")
    lines = [f'.TH {name.upper()} 1 "" "jalloc {version}" "jalloc"', ".SH NAME",
             f"{roff(name)} \\- {roff(summary)}", ".SH SYNOPSIS"]
    for form in page.usage:
        lines += [".nf" if form == page.usage[0] else "", f"\\fB{name}\\fR {roff(form[len(name) + 1:])}"]
    lines += [".fi", ".SH DESCRIPTION", roff(page.summary)]
    for paragraph in page.about:
        lines += [".PP", roff(paragraph)]
    for title, entries in page.sections.items():
        lines.append(f".SH {title.upper()}")
        if title == "Options":
            for letter, option, value, text in page.options():
                names = [f"\\fB\\-{letter}\\fR"] if letter else []
                names.append(f"\\fB\\-\\-{roff(option)}\\fR" + (f" \\fI{roff(value)}\\fR" if value else ""))
                lines += [".TP", ", ".join(names), roff(text)]
        elif title == "Notes":
            lines += [roff(" ".join(f"{entry} {text}".strip() for entry, text in entries).strip())]
        else:
            for entry, text in entries:
                lines += [".TP", f"\\fB{roff(entry.strip())}\\fR", roff(text)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(line for line in lines if line) + "\n"


# ---- The completion -------------------------------------------------------------------------------


def completion(page):
    function = "_" + page.name.replace("-", "_")
    words, cases = [], []
    for letter, option, value, _ in page.options():
        words.append(f"--{option}")
        if value is None:
            continue
        names = f"--{option}" + (f"|-{letter}" if letter else "")
        if value in FILES:
            cases.append(f"    {names}) mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;")
        elif "|" in value:
            choices = value.replace("|", " ")
            cases.append(f"    {names}) mapfile -t COMPREPLY < <(compgen -W '{choices}' -- \"$current\"); return ;;")
        else:
            cases.append(f"    {names}) COMPREPLY=(); return ;;")
    commands = page.commands()
    if "PROGRAM" in page.usage[0]:
        operands = 'mapfile -t COMPREPLY < <(compgen -c -- "$current")'
    elif commands:
        names = " ".join(commands)
        operands = (f"if ((COMP_CWORD == 1)); then mapfile -t COMPREPLY < <(compgen -W '{names}' -- \"$current\"); "
                    "else mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); fi")
        if "list" in commands and any(form.endswith("NAME...") for form in page.usage):
            operands += LISTED.format(program=page.name)
    elif any(re.search(rf"\b{word}\b", " ".join(page.usage)) for word in FILES):
        operands = 'mapfile -t COMPREPLY < <(compgen -f -- "$current")'
    else:
        operands = "COMPREPLY=()"
    return "\n".join([
        f"# bash completion of {page.name}, made from its --help", f"{function}() {{",
        '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
        '    case $previous in', *cases, "    esac", '    if [[ $current == -* ]]; then',
        f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(words)}' -- \"$current\")", "    else",
        f"        {operands}", "    fi", "}",
        f"complete -o filenames -F {function} {page.name}"
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--man", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--completion", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--see", nargs="*", default=[], metavar="NAME", help="the other programs")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()

    def ask(option):
        return subprocess.run([*arguments.program, option], check=True, text=True, stdout=subprocess.PIPE).stdout

    page = Help(ask("--help"))
    version = ask("--version").split()[-1]
    for path, text in ((arguments.man, man(page, version, arguments.see)), (arguments.completion, completion(page))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
