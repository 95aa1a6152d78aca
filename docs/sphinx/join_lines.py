# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Doxygen leaves the ends of lines in what stands in quotes, and Breathe takes each for the end of a
paragraph. In the XML of the folder given they become spaces, but for what is verbatim."""

import pathlib
import re
import sys

for path in pathlib.Path(sys.argv[1]).glob("*.xml"):
    parts = re.split(r"(<verbatim>.*?</verbatim>)", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    parts[::2] = [re.sub(r"(?<=[^>\s])\s*\n\s*(?=[^<\s])", " ", part) for part in parts[::2]]
    path.write_text("".join(parts), encoding="utf-8")
