#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Draws what was measured. A figure is a file of docs/figures: a table, when, on what and by which
benchmark it was measured, and how it is drawn. The manual shows the picture and the table.

    figures.py --out DIR [FILE...]         draws them, as SVG
    figures.py --measure BIN --out DIR     runs the benchmarks of a build for a moment each, writes
                                           DIR/measured/NAME.json in the same form, and draws them
    figures.py --measure BIN --long --only segments --out DIR
                                           as long as for the manual, medians of three runs; of
                                           these figures alone

What the long one has written, on a machine that does nothing else, takes the place of its namesake
in docs/figures. Peers that a benchmark is told of follow --with, such as

    --with "bench_product $(clients/scripts/peers.sh build/peers)"
    --with "bench_allocators --peers peer_rmm.so peer_umpire.so peer_umf.so" """

import argparse
import collections
import dataclasses
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from check_snippets import MPI_ENVIRONMENT

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/figures"
LONG_RUNS = 3  # of which the medians stand in the figure
COLOURS = ["#34618d", "#c46a1b", "#4b7d36", "#8a4f9e", "#b0413e", "#6b7785", "#1f8a8a", "#a8842c"]


class Wrong(Exception):
    """A figure is not as it should be."""


@dataclasses.dataclass
class Plot:
    """A figure that a benchmark's lines give."""
    name: str  # NAME.json
    title: str
    form: str  # beside: a row for each x; along: a column for each x; families: neither, but means
    kind: str  # lines or bars
    take: str = ""  # series whose names have this regular expression
    peers: str = ""  # peers, alike
    drawn: str = ""  # of the table's series those, alike
    along: str = ""  # what x is
    absent: str = ""  # what the benchmark prints where it cannot measure this


@dataclasses.dataclass
class Run:
    """A benchmark, what it is told to take a moment and to fill the manual, and its figures."""
    program: str
    brief: str
    long: str
    plots: list
    ranks: int = 0  # by mpiexec


RUNS = [
    Run("bench_borrow", "0.02", "0.5", [
        Plot("borrow", "Borrow and release beside malloc and free of the same sizes", "beside",
             "bars", along="bytes, buffers")]),
    Run("bench_allocators", "0.002 --only fixed,traces,malloc", "0.6", [
        Plot("allocators", "64 live blocks of one size, freed in random order: bfc", "beside",
             "lines", take="^64 live", along="size"),
        Plot("allocators_traces", "Random mixes and recorded traces: bfc", "beside", "bars",
             take="traces$", along="trace"),
        Plot("allocators_mallocs", "64 live blocks, freed in random order: general beside mallocs",
             "beside", "lines", take="^mallocs, 1 thread, 64 live", along="size")]),
    Run("bench_segment", "0.002 --only one,two", "0.5 --only one,two", [
        Plot("segments", "An allocation and its free in a shared segment, one process", "beside",
             "bars", take="^one", along="blocks"),
        Plot("segments_two", "The same, two processes at once", "beside", "bars", take="^two",
             along="blocks")]),
    Run("bench_buffer", "0.002", "0.5", [
        Plot("buffers_local", "Buffers of one process", "along", "lines",
             take="^(construct, one|copy|construct_copy, p|product: jblas)", along="order"),
        Plot("buffers", "Buffers over four processes", "along", "lines",
             take="MPI_|pdg|replicated|places", along="order",
             absent="distributed buffers are absent")], ranks=4),
    Run("bench_product", "--quick --types d --threads 1", "--best", [
        Plot("blas", "BLAS, family by family, one thread", "families", "bars",
             take="^(?!.* threads)", drawn="^(?!least|where)", along="family"),
        Plot("trsm", "Solves and factors with triangles, one thread", "along", "lines",
             take="^(trsm|potrf|trtri)$", drawn="^d(trsm left|potrf lower)", along="order"),
        Plot("vectors", "Vectors, one thread", "along", "lines",
             take="^(axpy|dot|asum|nrm2|iamax)$", drawn="^(?!.*(zeros|tiny|mixed|debian|mkl|blis))",
             along="elements")]),
    Run("bench_batched", "0.002 d 0 1 8 g", "0.12 sdcz 0 1 32 g", [
        Plot("batched_gemm", "Batches of products, one thread", "beside", "lines",
             peers="^(?!by)", drawn="^(d.*, )?(a loop|LIBXSMM)", along="order")]),
    Run("bench_batched", "0.002 d 0 1 4 tp", "0.12 sdcz 0 1 32 tp", [
        Plot("batched_trsm", "Batches of triangular solves, one thread", "beside", "lines",
             take="trsm", peers="^(?!by)", drawn="peer", along="order"),
        Plot("batched_potrf", "Batches of Cholesky factors, one thread", "beside", "lines",
             take="potrf", peers="^(?!by)", drawn="peer", along="order")]),
    Run("bench_lapack", "0.02 d 64 128 256", "0.3 d 64 128 256 512 1024 200000x32", [
        Plot("lapack", "Factorizations and solves, double, one thread", "along", "lines",
             take="^(?!.* threads)", drawn="^(?!dsytrs|dsgesv)", along="order")]),
    Run("jblas-bench", "--file {root}/clients/bench/jblas_bench/types.bench -i 2 -j 1",
        "--file {root}/clients/bench/jblas_bench/types.bench", [
            Plot("types", "Products of small types beside a CBLAS's of converted operands",
                 "along", "bars", along="shape")]),
]


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
    # Above, so that the picture is as wide as the page also where that is narrow.
    columns = max(1, 100 // (max(map(len, series)) + 8))
    axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns)
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
        axes.set_xlim(left=min(1, 0.7 * min(every)))  # the least is a bar, too
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


def processor(said):
    if said:
        return said
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    name = re.search(r"^model name\s*: (.+)$", text, re.M)
    return f"{name.group(1) if name else os.uname().machine}, {os.cpu_count()} processors"


def lines_of(program, run, arguments, folder):
    """What a benchmark writes where BENCH_JSON says, and what it prints. A line is
    {"series": ..., "x": ..., "peer": ..., "kernels": ..., "ours_s": ..., "peer_s": ...}."""
    lines_file = pathlib.Path(folder) / "lines"
    launcher = ["mpiexec", "-n", str(run.ranks)] if run.ranks and shutil.which("mpiexec") else []
    result = subprocess.run([*launcher, program, *arguments], text=True, capture_output=True,
                            check=False, env={**os.environ, **MPI_ENVIRONMENT,
                                              "BENCH_JSON": str(lines_file)})
    if result.returncode != 0 or not lines_file.exists():
        raise Wrong(f"{run.program}: exit status {result.returncode}, "
                    f"{'lines' if lines_file.exists() else 'no lines'}: {result.stderr[-500:]}")
    lines = [json.loads(line) for line in lines_file.read_text(encoding="utf-8").splitlines()]
    command = " ".join([*launcher, run.program, *arguments])
    return lines, result.stdout, re.sub(r"(?<![^ =])/\S*/", "", command)  # no place of this machine


def medians(lines):
    """Of several runs the line of the middle ratio."""
    found = collections.defaultdict(list)
    for line in lines:
        found[line["series"], line["x"], line["peer"]].append(line)
    return [sorted(same, key=ratio)[len(same) // 2] for same in found.values()]


def digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def ratio(line):
    return line["peer_s"] / line["ours_s"]


def time_text(seconds):
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds)} s"


def beside(lines, along):
    """A row for each x: ours in time, then each peer's time over it; of each series."""
    several = len({line["series"] for line in lines}) > 1
    table, ours, columns = collections.defaultdict(dict), {}, {}
    for line in lines:
        before = f"{line['series']}, " * several
        own, peer = f"{before}ours", f"{before}{line['peer']}"
        columns.setdefault(own)
        columns.setdefault(peer)
        # The least of the comparisons: a busy neighbour only ever adds.
        least = min(line["ours_s"], ours.get((line["x"], own), math.inf))
        ours[line["x"], own] = least
        table[line["x"]][own] = time_text(least)
        table[line["x"]][peer] = digits(ratio(line))
    return ([along, *columns],
            [[x, *(row.get(column, "") for column in columns)] for x, row in table.items()],
            "columns", lambda name: not name.endswith("ours"))


def along_x(lines, along):
    """A row for each series and peer, a column for each x. Of a problem such as dtrsm left 64 the
    number is x, and the rest is the series."""
    table, columns = collections.defaultdict(dict), {}
    several = len({line["peer"] for line in lines}) > 1
    for line in lines:
        problem = re.fullmatch(r"([a-z].*) (\d+)( .*)?", line["x"])
        name, x = (problem[1] + (problem[3] or ""), problem[2]) if problem else (
            line["series"], line["x"])
        columns.setdefault(x)
        table[f"{name}, {line['peer']}" if several else name][x] = digits(ratio(line))
    return ([along, *columns],
            [[name, *(row.get(x, "") for x in columns)] for name, row in table.items()],
            "rows", lambda name: True)


def families(lines, along):
    """A row for each series: the geometric mean of each peer's time over ours, and the least of
    all, with where it is."""
    table, peers = collections.defaultdict(lambda: collections.defaultdict(list)), {}
    for line in lines:
        peers.setdefault(line["peer"])
        table[line["series"]][line["peer"]].append(line)
    rows = []
    for name, found in table.items():
        means = [digits(math.exp(sum(math.log(ratio(line)) for line in found[peer])
                                 / len(found[peer]))) if found[peer] else "" for peer in peers]
        worst = min((line for lines in found.values() for line in lines), key=ratio)
        rows.append([name, *means, digits(ratio(worst)), worst["x"]])
    return [along, *peers, "least", "where"], rows, "columns", lambda name: name != "where"


FORMS = {"beside": beside, "along": along_x, "families": families}


def figure_of(plot, lines, benchmark, machine):
    lines = [line for line in lines if re.search(plot.take, line["series"])
             and re.search(plot.peers, line["peer"])]
    if not lines:
        raise Wrong(f"{plot.name}: {benchmark} has written no line of it")
    columns, rows, series, is_drawn = FORMS[plot.form](lines, plot.along)
    names = columns[1:] if series == "columns" else [row[0] for row in rows]
    only = [name for name in names if is_drawn(name) and re.search(plot.drawn, name)]
    return Figure(title=plot.title, benchmark=benchmark, date=datetime.date.today().isoformat(),
                  processor=processor(machine),
                  kernels=", ".join(sorted({line["kernels"] for line in lines} - {""})),
                  unit="their time over ours", columns=columns, rows=rows,
                  draw={"kind": plot.kind, "series": series, "only": only})


def written(figure):
    """As JSON, a row of the table a line, as in docs/figures."""
    text = json.dumps({**dataclasses.asdict(figure), "rows": []}, indent=1)
    rows = ",\n".join(f"  {json.dumps(row)}" for row in figure.rows)
    for name in ("draw", "columns"):
        text = re.sub(rf'"{name}": ([\[{{].*?\n [\]}}])(?=,)',
                      lambda _, name=name: f'"{name}": {json.dumps(getattr(figure, name))}', text,
                      flags=re.S)
    return text.replace('"rows": []', f'"rows": [\n{rows}\n ]') + "\n"


def measure(bin_folder, out, long, only, more, machine):
    out.mkdir(parents=True, exist_ok=True)
    for run in RUNS:
        plots = [plot for plot in run.plots if not only or plot.name in only]
        if not plots:
            continue
        arguments = (run.long if long else run.brief).split() + more.get(run.program, [])
        arguments = [word.format(root=ROOT) for word in arguments]
        lines = []
        for _ in range(LONG_RUNS if long else 1):
            with tempfile.TemporaryDirectory() as folder:
                more_lines, printed, benchmark = lines_of(bin_folder / run.program, run, arguments,
                                                          folder)
            lines += more_lines
        lines = medians(lines)
        for plot in plots:
            if plot.absent and plot.absent in printed:
                print(f"{plot.name}: {plot.absent}")
                continue
            figure = figure_of(plot, lines, benchmark, machine)
            path = out / f"{plot.name}.json"
            path.write_text(written(figure), encoding="utf-8")
            draw(read(path), path.with_suffix(".svg"))
            print(f"{path}: {len(figure.rows)} rows of {run.program}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE",
                        help="figures to draw (all of docs/figures)")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--measure", type=pathlib.Path, metavar="BIN", help="run BIN's benchmarks")
    parser.add_argument("--long", action="store_true", help="as long as for the manual")
    parser.add_argument("--only", metavar="NAME,...", default="", help="these figures alone")
    parser.add_argument("--machine", metavar="TEXT", help="what the processor is, where it says "
                        "less of itself than one knows")
    parser.add_argument("--with", dest="more", metavar="'PROGRAM ARGUMENT...'", action="append",
                        default=[], help="what else a benchmark is told")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        for path in arguments.files or sorted(FIGURES.glob("*.json")):
            draw(read(path), arguments.out / f"{path.stem}.svg")
        if arguments.measure:
            measure(arguments.measure, arguments.out / "measured", arguments.long,
                    arguments.only.split(",") if arguments.only else [],
                    {words[0]: words[1:] for words in map(str.split, arguments.more)},
                    arguments.machine)
    except Wrong as wrong:
        print(f"figures: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
