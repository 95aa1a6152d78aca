# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Sphinx's configuration. The target docs (docs/CMakeLists.txt) says in the environment which version this is and where
Doxygen's XML lies."""

import os

project = "jalloc"
author = "the jalloc authors"
project_copyright = "2026, the jalloc authors"
version = release = os.environ.get("JALLOC_VERSION", "")

extensions = ["breathe"]
breathe_projects = {"jalloc": os.environ.get("JALLOC_DOXYGEN_XML", "_xml")}
breathe_default_project = "jalloc"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_default_members = ("members",)

primary_domain = "c"
highlight_language = "c"
exclude_patterns = ["_build", "_xml"]
nitpicky = True
# Types of the C standard library are documented elsewhere; the tags of opaque structs stand for their typedefs.
nitpick_ignore = [("c:identifier", name) for name in (
    "jallocator", "jdevice", "jevent", "jhandle", "jstream",
    "size_t", "ptrdiff_t", "uintptr_t", "bool", "va_list", "FILE",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")]

html_theme = "alabaster"
html_theme_options = {
    "description": "Temporary memory for numerical routines",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "240px",
}
html_copy_source = False
html_show_sphinx = False
