#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Draws what was measured. A figure is a file of docs/figures: a table, when, on what and by which
benchmark it was measured, and how it is drawn. The manual shows the picture and the table.

    figures.py --out DIR [FILE...]         draws them, as SVG
    figures.py --measure BIN --out DIR     runs the benchmarks of a build for a moment each, writes
                                           DIR/measured/NAME.json in the same form, and draws them

A figure that is measured anew takes the place of one in docs/figures by hand, once it was measured
for long enough on a machine that does nothing else."""

import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/figures"
# Each with what it is told, so that it takes seconds: benchmark, arguments, name, what is shown.
BENCHMARKS = [
    ("bench_borrow", ["0.02"], "borrow", "Borrow and release beside malloc and free"),
    ("bench_batched", ["0.002", "d", "0", "1", "8", "g"], "batched_gemm", "Batches of products"),
    ("bench_lapack", ["0.02", "d", "64", "128", "256"], "lapack", "Factorizations and solves"),
]
COLOURS = ["#34618d", "#c46a1b", "#4b7d36", "#8a4f9e", "#b0413e", "#6b7785", "#1f8a8a", "#a8842c"]


class Wrong(Exception):
    """A figure is not as it should be."""


@dataclasses.dataclass
class Figure:
    title: str
    benchmark: str  # the command
    date: str  # of the measurement
    processor: str
    kernels: str  # "" where none are called
    unit: str  # of what is drawn
    draw: dict  # kind lines or bars; series rows or columns; only: which of them; rows: of bars
    columns: list
    rows: list  # of texts, the first one a name
    note: str = ""

    def __post_init__(self):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.date) or not self.processor:
            raise Wrong("it says not when, or on what, it was measured")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise Wrong("a row has another length than the heading")
        names = self.columns[1:] if self.draw["series"] == "columns" else [r[0] for r in self.rows]
        lacking = set(self.draw.get("only") or ()) - set(names)
        if lacking:
            raise Wrong(f"the table has no {', '.join(sorted(lacking))}")

    def series(self):
        """(names along the axis, {series: values}); None where nothing was measured."""
        rows = [r for r in self.rows if r[0] in self.draw.get("rows", [r[0]])]
        if self.draw["series"] == "columns":
            along = [row[0] for row in rows]
            found = {name: [value(row[i]) for row in rows]
                     for i, name in enumerate(self.columns) if i > 0}
        else:
            along, found = self.columns[1:], {r[0]: [value(v) for v in r[1:]] for r in rows}
        only = self.draw.get("only") or list(found)
        return along, {name: found[name] for name in only}

    def told(self):
        """When and on what it was measured, for below the picture."""
        kernels = f" Kernels: {self.kernels}." if self.kernels else ""
        return f"{self.date}, {self.processor}.{kernels}{' ' * bool(self.note)}{self.note}"


def value(text):
    match = re.match(r"[\d,]*\.?\d+", text)
    return float(match.group().replace(",", "")) if match else None


def read(path):
    try:
        return Figure(**json.loads(path.read_text(encoding="utf-8")))
    except (Wrong, TypeError, ValueError) as error:
        raise Wrong(f"{path}: {error}") from None


# ---- drawing -------------------------------------------------------------------------------------


def draw(figure, path):
    import matplotlib
    matplotlib.use("svg")
    # Letters stay letters, and the same figure gives the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "jalloc", "font.size": 10,
                                "font.family": "sans-serif", "axes.spines.top": False,
                                "axes.spines.right": False, "axes.prop_cycle":
                                matplotlib.cycler(color=COLOURS)})
    from matplotlib import pyplot
    along, series = figure.series()
    if figure.draw["kind"] == "bars":
        height = 0.9 + 0.16 * len(along) * (len(series) + 0.6)
        drawing, axes = pyplot.subplots(figsize=(7.6, max(2.4, height)))
        bars(axes, along, series)
        axes.set_xlabel(figure.unit)
    else:
        drawing, axes = pyplot.subplots(figsize=(7.6, 3.8))
        lines(axes, along, series)
        axes.set_ylabel(figure.unit)
        axes.set_xlabel(figure.columns[0])
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    drawing.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(drawing)


def ratios(values):
    """Whether these are ratios, of which some lie on either side of 1 or near it."""
    return min(values) < 2


def bars(axes, along, series):
    from matplotlib import ticker
    width = 0.85 / len(series)
    for i, (name, values) in enumerate(series.items()):
        places = [k + i * width for k in range(len(along))]
        axes.barh(places, [v or 0 for v in values], width * 0.9, label=name)
    axes.set_yticks([k + 0.425 - width / 2 for k in range(len(along))], along)
    axes.invert_yaxis()
    every = [v for values in series.values() for v in values if v]
    if max(every) > 30 * min(every):
        axes.set_xscale("log")
        axes.set_xlim(left=min(1, min(every)))
        axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    if ratios(every):
        axes.axvline(1, color="#444444", linewidth=1)


def lines(axes, along, series):
    from matplotlib import ticker
    for name, values in series.items():
        points = [(k, v) for k, v in enumerate(values) if v is not None]
        axes.plot([k for k, _ in points], [v for _, v in points], marker="o", markersize=4, label=name)
    axes.set_xticks(range(len(along)), along)
    every = [v for values in series.values() for v in values if v is not None]
    if max(every) > 8 * min(every):
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.grid(axis="y", color="#e4e7eb")
    if ratios(every):
        axes.axhline(1, color="#444444", linewidth=1)


# ---- measuring -----------------------------------------------------------------------------------


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    name = re.search(r"^model name\s*: (.+)$", text, re.M)
    return f"{name.group(1) if name else os.uname().machine}, {os.cpu_count()} processors"


def measured(program, arguments, title):
    """The figure of one run, from the lines of JSON that a benchmark writes where BENCH_JSON says:
    {"series": ..., "x": ..., "peer": ..., "kernels": ..., "ours_s": ..., "peer_s": ...}."""
    with tempfile.TemporaryDirectory() as folder:
        lines_file = pathlib.Path(folder) / "lines"
        result = subprocess.run([program, *arguments], text=True, capture_output=True, check=False,
                                env={**os.environ, "BENCH_JSON": str(lines_file)})
        if result.returncode != 0 or not lines_file.exists():
            raise Wrong(f"{program.name}: exit status {result.returncode}, "
                        f"{'lines' if lines_file.exists() else 'no lines'}: {result.stderr[-500:]}")
        entries = [json.loads(line) for line in lines_file.read_text(encoding="utf-8").splitlines()]
    table, along, kernels = collections.defaultdict(dict), {}, set()
    for entry in entries:
        name = entry["series"] + (f", {entry['peer']}" if entry["peer"] else "")
        table[name][entry["x"]] = f"{entry['peer_s'] / entry['ours_s']:.3g}"
        along[entry["x"]] = None
        kernels.add(entry["kernels"])
    return Figure(title=title, benchmark=" ".join([program.name, *arguments]),
                  date=datetime.date.today().isoformat(), processor=processor(),
                  kernels=", ".join(sorted(kernels - {""})), unit="their time over ours",
                  draw={"kind": "lines", "series": "rows"}, columns=["", *along],
                  rows=[[name, *(row.get(x, "") for x in along)] for name, row in table.items()])


def measure(bin_folder, out):
    out.mkdir(parents=True, exist_ok=True)
    for program, arguments, name, title in BENCHMARKS:
        figure = measured(bin_folder / program, arguments, title)
        path = out / f"{name}.json"
        path.write_text(json.dumps(dataclasses.asdict(figure), indent=1) + "\n", encoding="utf-8")
        draw(read(path), path.with_suffix(".svg"))
        print(f"{path}: {len(figure.rows)} series of {program}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE",
                        help="figures to draw (all of docs/figures)")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--measure", type=pathlib.Path, metavar="BIN", help="run BIN's benchmarks")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        for path in arguments.files or sorted(FIGURES.glob("*.json")):
            draw(read(path), arguments.out / f"{path.stem}.svg")
        if arguments.measure:
            measure(arguments.measure, arguments.out / "measured")
    except Wrong as wrong:
        print(f"figures: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
