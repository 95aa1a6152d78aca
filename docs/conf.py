# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Sphinx's configuration. The target docs (docs/CMakeLists.txt) says in the environment which version this is and where
Doxygen's XML lies."""

import os
import pathlib
import re
import sys

import furo
from docutils import nodes
from docutils.parsers.rst import Directive

SOURCE = pathlib.Path(__file__).parent.parent
sys.dont_write_bytecode = True  # in the source folder
sys.path[:0] = [str(SOURCE / "clients/scripts"), str(SOURCE / "docs/sphinx")]
import figures  # what was measured
from texts import families, tree  # what the checks of texts know of the routines

project = "jalloc"
author = "the jalloc authors"
project_copyright = "2026, the jalloc authors"
version = release = os.environ.get("JALLOC_VERSION", "")

extensions = ["breathe", "sphinx_copybutton", "sphinx_inline_tabs", "reference"]
breathe_projects = {"jalloc": os.environ.get("JALLOC_DOXYGEN_XML", "_xml")}
breathe_default_project = "jalloc"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_default_members = ("members",)

primary_domain = "c"
highlight_language = "c"
exclude_patterns = ["_build", "_xml"]
nitpicky = True
smartquotes = False  # what stands in quotes is a name, as a program has it
# Types of the C standard library are documented elsewhere; the tags of opaque structs stand for their typedefs.
nitpick_ignore = [("c:identifier", name) for name in (
    "jallocator", "jbuffer", "jbuffer_allocator", "jdevice", "jevent", "jhandle", "jprogram", "jquota", "jrequirement",
    "jruntime", "jsegment", "jshared",
    "jstream", "CUstream_st", "ihipStream_t", "MPI_Comm", "MPI_Win",
    "size_t", "ptrdiff_t", "uintptr_t", "bool", "va_list", "FILE",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")]

html_theme = "furo"
html_title = f"jalloc {release}"
html_static_path = ["static"]
html_css_files = ["jalloc.css"]


def dark_colours():
    """Furo's, once more for a dark system where nobody used the page's switch: the stylesheet that Debian packages has lost
    the rule for that, and would leave white pages with dark code and pictures."""
    style = (pathlib.Path(furo.__file__).parent / "theme/furo/static/styles/furo.css").read_text(encoding="utf-8")
    rule = re.search(r'body\[data-theme="?dark"?\]\s*\{([^}]*--color[^}]*)', style).group(1)
    return dict(re.findall(r"--([\w-]+):\s*([^;]+?)\s*(?:;|$)", rule))


html_theme_options = {"navigation_with_keys": True, "dark_css_variables": dark_colours()}
html_copy_source = False
html_show_sphinx = False


def listed(header, macro):
    """The rows of an X-macro list in a public header, each a list of its arguments: what the library itself is made from."""
    text = (pathlib.Path(__file__).parent.parent / "include/jalloc" / header).read_text(encoding="utf-8")
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)+.*)\n", text).group(1).replace("\\\n", "\n")
    rows = []
    for row in re.findall(r'X\(((?:[^()"]|"[^"]*")*)\)', body):
        # Strings that stand side by side are one, as in C.
        arguments = re.findall(r'(?:"[^"]*"\s*)+|[^\s,"][^,"]*', row)
        rows.append(["".join(re.findall(r'"([^"]*)"', a)) if '"' in a else a.strip() for a in arguments])
    if not rows:
        raise ValueError(f"{header}: {macro} has no rows")
    return rows


class Listed(Directive):
    """A definition list made from one of those lists; subclasses say of which, and what a row's term and text are."""

    def run(self):
        items = nodes.definition_list()
        for row in listed(self.header, self.macro):
            term, text = self.entry(*row)
            items += nodes.definition_list_item("", nodes.term("", "", nodes.literal("", term)),
                                                nodes.definition("", nodes.paragraph("", text)))
        return [items]


class Environment(Listed):
    header, macro = "config.h", "JCONFIG_LIST"

    def entry(self, number, name, default, syntax, meaning):
        return f"{name}={syntax}", f"{meaning}. Default: {default or 'empty'}."


class Statuses(Listed):
    header, macro = "status.h", "JSTATUS_LIST"

    def entry(self, name, number, text):
        return f"JSTATUS_{name} = {number}", f"{text}."


class Measured(Directive):
    """What figures.py has drawn of a file of docs/figures, and the table beneath, so that both have the same numbers."""
    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        path = SOURCE / f"docs/figures/{name}.json"
        self.state.document.settings.env.note_dependency(str(path))
        figure = figures.read(path)
        drawn = pathlib.Path(os.environ.get("JALLOC_FIGURES", "_figures")) / f"{name}.svg"
        here = pathlib.Path(self.state.document["source"]).parent
        image = nodes.image(uri=os.path.relpath(drawn, here), alt=f"{figure.title}: {figure.unit}")
        caption = nodes.caption("", f"{figure.title}: {figure.unit}. {figure.told()} Measured by ",
                                nodes.literal("", figure.benchmark), nodes.Text("."))
        numbers = table([figure.columns, *figure.rows])
        numbers["classes"] = ["numbers"]
        return [nodes.figure("", image, caption),
                nodes.raw("", "<details><summary>The numbers</summary>", format="html"), numbers,
                nodes.raw("", "</details>", format="html")]


def table(rows, widths=None):
    """A table whose first row is its heading."""
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=width) for width in widths or [1] * len(rows[0])]
    lines = [nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in row)) for row in rows]
    group += [nodes.thead("", lines[0]), nodes.tbody("", *lines[1:])]
    return nodes.table("", group)


class Families(Directive):
    """A table of the families of BLAS: how many of their routines there are, and in batches, and which lack."""

    def run(self):
        rows = [["Family", "Host and GPUs", "Batched", "Not there yet"]]
        for family in families.families(tree.Tree(SOURCE)):
            total = len(family.have) + len(family.lacking)
            if total:
                rows.append([family.title, f"{len(family.have)} of {total}",
                             f"{len(family.batched)} of {total}", " ".join(family.lacking)])
        return [table(rows, (3, 1, 1, 5))]


def setup(app):
    app.add_directive("jalloc-families", Families)
    app.add_directive("jalloc-figure", Measured)
    app.add_directive("jalloc-environment", Environment)
    app.add_directive("jalloc-statuses", Statuses)
    return {"parallel_read_safe": True}
