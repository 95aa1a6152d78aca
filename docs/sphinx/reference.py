# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The reference: a page for each public header, of what Doxygen read there. Functions that share a
comment, as those of s d c z do, share an entry; under each stand the guides that mention it, and
each name in a guide, in its text or in its code, leads to its entry."""

import collections
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

DOCS = pathlib.Path(__file__).resolve().parents[1]
NAME = re.compile(r"\b[jJ][A-Za-z0-9]*_\w+")
IN_CODE = re.compile(r'<span class="n[cf]?">([jJ]\w+)</span>')  # as Pygments marks it up
MOST_GUIDES = 5
# Pages that name functions, but are not about their use.
NO_GUIDES = ("reference/", "performance", "testing", "architecture", "adding_", "versions")
# The kinds of sections that Breathe makes, in the order in which a page has them.
SECTIONS = ["user-defined", "func", "enum", "typedef", "var", "define"]


class Header(Directive):
    """What one header declares."""
    required_arguments = 1

    def run(self):
        header = self.arguments[0]
        lines = StringList([f".. doxygenfile:: {header}"], self.state.document["source"])
        parent = nodes.Element()
        self.state.nested_parse(lines, self.content_offset, parent)
        include = f"#include <jalloc/{header}>"
        return [nodes.literal_block(include, include, language="c"), *parent.children]


def is_reference(app):
    return app.env.docname.startswith("reference/") and app.env.docname != "reference/index"


def guides_of_names():
    """{name: guides}, those first that mention it most often."""
    counts = collections.defaultdict(collections.Counter)
    for path in sorted(DOCS.rglob("*.rst")):
        guide = str(path.relative_to(DOCS).with_suffix(""))
        if not guide.startswith(NO_GUIDES):
            for name in NAME.findall(path.read_text(encoding="utf-8")):
                counts[name][guide] += 1
    return {name: [guide for guide, _ in count.most_common()] for name, count in counts.items()}


def share_entries(app, doctree):
    """A function without a comment of its own joins the entry above."""
    if not is_reference(app):
        return
    last = None
    for entry in list(doctree.findall(addnodes.desc)):
        if entry["objtype"] != "function":
            continue
        if entry[-1].astext().strip():
            last = entry
        elif last is not None and last.parent is entry.parent:
            last[-1:-1] = entry[:-1]
            entry.parent.remove(entry)
        else:
            logging.getLogger(__name__).warning("%s has no text", entry[0].astext(), location=entry)


def find_torn(app, doctree):
    """A sentence that goes on in another paragraph or in a list began a line in the header with a
    sign that means something to Doxygen."""
    if not is_reference(app):
        return
    for block in doctree.findall(nodes.paragraph):
        following = block.next_node(siblings=True, descend=False)
        text = following.astext() if isinstance(following, nodes.paragraph) else ""
        ends = block.astext().rstrip().endswith((".", ":", ";", ",", ")", "?"))
        if text[:1].islower() and not ends or isinstance(following, nodes.bullet_list) and not ends:
            logging.getLogger(__name__).warning("torn apart: %s", block.astext()[-60:], location=block)


def name_guides(app, doctree):
    """Each entry says which guides mention what it declares."""
    if not is_reference(app):
        return
    guides = guides_of_names()
    for entry in doctree.findall(addnodes.desc):
        names = [name.astext() for signature in entry[:-1] for name in signature.findall(addnodes.desc_name)]
        found = list(dict.fromkeys(guide for name in names for guide in guides.get(name, ())))
        if not found:
            continue
        line = nodes.paragraph("", "Guides: ", classes=["guides"])
        for guide in found[:MOST_GUIDES]:
            if len(line) > 1:
                line += nodes.Text(", ")
            line += addnodes.pending_xref("", nodes.inline("", guide), refdomain="std", reftype="doc",
                                          reftarget=f"/{guide}", refdoc=app.env.docname,
                                          refexplicit=False, refwarn=True)
        entry[-1] += line


def make_sections(app, doctree):
    """Breathe's parts of a page become sections of it, which have a place in its contents."""
    if not is_reference(app):
        return
    made = []
    for part in list(doctree.findall(nodes.container)):
        if "breathe-sectiondef" not in part["classes"] or part["objtype"] not in SECTIONS:
            continue
        title = part.next_node(nodes.rubric)
        section = nodes.section("", nodes.title("", title.astext()), ids=[nodes.make_id(title.astext())])
        title.parent.remove(title)
        section += part.children
        made.append((SECTIONS.index(part["objtype"]), section))
        page = part.parent
        page.remove(part)
    for _, section in sorted(made, key=lambda one: one[0]):
        page += section


def places(app):
    """{name: (page, anchor)} of what is declared, made once: after all has been read."""
    if not hasattr(app, "jalloc_places"):
        objects = app.env.get_domain("c").get_objects()
        app.jalloc_places = {name: (page, anchor) for name, _, _, page, anchor, _ in objects
                             if "." not in name}
    return app.jalloc_places


def link_literals(app, doctree, docname):
    """Each literal that is or calls what the headers declare leads to its entry."""
    declared = places(app)
    for literal in list(doctree.findall(nodes.literal)):
        name = NAME.match(literal.astext())
        if name and name.group() in declared and not literal.next_node(nodes.reference) \
                and not isinstance(literal.parent, (nodes.reference, nodes.title)):
            page, anchor = declared[name.group()]
            literal.replace_self(make_refnode(app.builder, docname, page, anchor, literal.deepcopy()))


def link_code(app, pagename, _template, context, _doctree):
    """The same in blocks of code, which only the page itself has word by word."""
    if "body" not in context:
        return
    declared = places(app)

    def linked(match):
        if match.group(1) not in declared:
            return match.group()
        page, anchor = declared[match.group(1)]
        uri = app.builder.get_relative_uri(pagename, page)
        return f'<a class="declared" href="{uri}#{anchor}">{match.group()}</a>'

    context["body"] = IN_CODE.sub(linked, context["body"])


def setup(app):
    app.add_directive("jalloc-header", Header)
    # Before Sphinx makes the contents of the page.
    for number, step in enumerate((share_entries, find_torn, name_guides, make_sections)):
        app.connect("doctree-read", step, priority=100 + number)
    app.connect("doctree-resolved", link_literals)
    app.connect("html-page-context", link_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
