#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs jalloc-replay over the shipped traces and compares what it counts with what is counted here; replays what was
recorded of a replay; gives it traces that are no traces, and looks for the line in what it says; reads the picture.

    check_replay.py PROGRAM FOLDER_OF_TRACES"""

import collections
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HEADER = "Thread,Time,Action,Pointer,Size,Stream"
OWN = HEADER + ",Alignment,Allocator,Tag"
SVG = "{http://www.w3.org/2000/svg}"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
PLOT, ROW_HEIGHT, HELD = 840, 15.0, "#eceff3"  # as in picture.c


def require(condition, what):
    if not condition:
        sys.exit(f"check_replay: {what}")


def equal(found, expected, what):
    require(found == expected, f"{what}: {found}, where {expected} is right")


class Replay:
    """The program, and a folder for traces that are made up."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments, text=None, **variables):
        env = dict(os.environ, **variables)
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):  # a sanitizer's malloc ends the program where malloc returns NULL
            env[name] = env.get(name, "") + ":allocator_may_return_null=1"
        return subprocess.run([self.program, *map(str, arguments)], env=env, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def results(self, *arguments, text=None):
        found = self.run(*arguments, "--json", text=text)
        require(found.returncode == 0 and "jalloc-replay:" not in found.stderr,
                f"{arguments}: {found.returncode}, {found.stderr}")
        return json.loads(found.stdout)

    def write(self, *rows, header=HEADER, end="\n"):
        path = self.folder / "trace.csv"
        path.write_bytes((end.join([header, *rows]) + end).encode())
        return path

    def refused(self, words, *arguments):
        found = self.run(*arguments)
        require(found.returncode == 2, f"{arguments}: ended with {found.returncode}, not 2")
        for word in words:
            require(word in found.stderr, f"{arguments}: '{word}' is not in: {found.stderr}")


def count(path):
    """What a trace of one allocator asks for."""
    live, total = {}, collections.Counter()
    threads, streams, peak, at_peak = set(), set(), 0, {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            action, key, size = row["Action"], row["Pointer"], int(row["Size"])
            threads.add(row["Thread"])
            if row["Stream"] not in ("0", "0x0", "0x1"):
                streams.add((row["Stream"], row["Thread"] if row["Stream"] == "0x2" else ""))
            total[action] += 1
            if action == "allocate":
                live[key] = size
                total["live"] += size
            elif action == "free":
                equal(live.pop(key), size, f"{path}: size of {key}")
                total["live"] -= size
            if total["live"] > peak:
                peak, at_peak = total["live"], dict(live)
    owners = collections.Counter()
    for size in at_peak.values():
        owners[size.bit_length()] += size
    return {
        "rows": total["allocate"] + total["free"] + total["allocate failure"], "allocations": total["allocate"],
        "frees": total["free"], "failures": total["allocate failure"], "threads": len(threads),
        "streams": len(streams) + 1, "peak_live_bytes": peak, "live_at_end": len(live),
        "live_at_end_bytes": sum(live.values()), "unmatched_frees": 0, "empty_rows": 0,
    }, sorted(owners.values(), reverse=True)


def check_shipped(replay, path):
    expected, owners = count(path)
    touch = ["--touch"] if expected["peak_live_bytes"] < 20e6 else []  # else it would take seconds
    ways = [["--repeat", "2"], ["--threads", "--repeat", "5"], ["--streams", "--repeat", "1", *touch],
            ["--allocator", "general", "--threads", "--streams", "--compare", "mmap+bfc+guard", "--repeat", "3"],
            ["--allocator", "mmap", "--threads", "--streams", "--compare", "malloc", "--repeat", "2"]]
    for way in ways:
        found = replay.results(path, "--allocator", "malloc", "--owner", "size", *way)
        for name, value in expected.items():
            equal(found["trace"][name], value, f"{path} {way}: {name}")
        equal(len(found["results"]), 1 + way.count("--compare"), "allocators")
        for result in found["results"]:
            equal((result["failures"], result["errors"]), (0, 0), f"{path} {way}: failures and errors")
            equal(result["peak_in_use_bytes"], expected["peak_live_bytes"], f"{path} {way}: peak in use")
            require(result["peak_reserved_bytes"] >= result["peak_in_use_bytes"], f"{path} {way}: peak reserved")
            reserved = [row["reserved_bytes"] for row in result["over_time"]]
            require(max(reserved) <= result["peak_reserved_bytes"] and
                    result["reserved_at_peak_bytes"] <= result["peak_reserved_bytes"] and
                    result["bookkeeping_at_peak_bytes"] <= result["peak_bookkeeping_bytes"],
                    f"{path} {way}: more at the peak than at most")
            threads = result["threads_peak_in_use_bytes"]
            require(result["threads_peak_reserved_bytes"] >= threads, f"{path} {way}: reserved by threads")
            least = max(1, expected["live_at_end_bytes"])
            require(threads >= least if "--threads" in way else threads == 0, f"{path} {way}: peak of threads")
            require(result["allocations_per_second"] > 0, f"{path} {way}: no time was measured")
            equal([owner["bytes"] for owner in result["owners"]], owners, f"{path} {way}: owners")
            over_time = [row["in_use_bytes"] for row in result["over_time"]]
            equal(max(over_time), expected["peak_live_bytes"], f"{path} {way}: over time")
            require(over_time[-1] >= expected["live_at_end_bytes"], f"{path} {way}: the end")
        equal(found["results"][0]["speed"], 1, "the first is compared with itself")
    text = replay.run(path, "--allocator", "malloc", "--repeat", "1").stdout
    line = f"{expected['allocations']} allocations, {expected['frees']} frees, {expected['failures']} failures;"
    require(line in text, f"{path}: '{line}' is not in {text}")


def check_equivalents(replay, path):
    """general is best fit and small blocks as one: what is taken from the provider is the same, byte for byte."""
    stacks = ["mmap+general", "mmap+bfc(tight=true,region=256KiB,growth=2)+small(largest=4KiB,cache=4MiB)",
              "mmap+general+track+exact"]
    results = replay.results(path, "-a", stacks[0], "-c", stacks[1], "-c", stacks[2], "-r", "1")["results"]
    for name in ("peak_reserved_bytes", "reserved_at_peak_bytes"):
        found = [result[name] for result in results]
        equal(len(set(found)), 1, f"{path}: {name} of {stacks}: {found}")


def check_bookkeeping(replay):
    """bfc has a record for each block: bytes that are in no statistic of an allocator."""
    rows = [f"1,{i},allocate,{hex(64 * (i + 1))},64,0" for i in range(20000)]
    found = replay.results(replay.write(*rows), "-a", "mmap+bfc", "-c", "mmap+general", "-r", "1")["results"]
    bfc, general = [result["bookkeeping_at_peak_bytes"] for result in found]
    require(20000 * 40 < bfc < 20000 * 200, f"bytes of records of bfc: {bfc}")
    require(0 < general < bfc / 4, f"bytes of records of slabs: {general}")


def check_picture(replay, path, composition):
    picture = replay.folder / "picture.svg"
    result = replay.results(path, "--allocator", composition, "--repeat", "1", "--svg", picture)["results"][0]
    root = xml.etree.ElementTree.parse(picture).getroot()
    width, height = [float(number) for number in root.get("viewBox").split()[2:]]
    blocks, held, colours = 0, 0, set()
    for rectangle in root.iter(SVG + "rect"):
        x, y, w, h = [float(rectangle.get(name)) for name in ("x", "y", "width", "height")]
        require(x >= 0 and y >= 0 and w > 0 and h > 0 and x + w <= width + 0.01 and y + h <= height + 0.01,
                f"{path}: a rectangle outside of the picture: {rectangle.attrib}")
        if h == ROW_HEIGHT and rectangle.get("fill") == HELD:
            held += w
        elif h == ROW_HEIGHT:
            blocks += w
            colours.add(rectangle.get("fill"))
    require(colours.isdisjoint(area.get("fill") for area in root.iter(SVG + "path")), f"{path}: colours of owners")
    for text in root.iter(SVG + "text"):
        x, y = float(text.get("x")), float(text.get("y"))
        require(0 <= x <= width and 0 <= y <= height, f"{path}: text outside of the picture: {text.text}")
    words = " ".join(text.text for text in root.iter(SVG + "text"))
    require(path.name in words and composition in words, f"{path}: the title is not in: {words}")
    number, unit = re.search(r"a whole row is (\d+) (\w+)", words).groups()
    scale = int(number) * UNITS[unit] / PLOT
    drawn, peak = blocks * scale, result["peak_in_use_bytes"]
    require(abs(drawn / peak - 1) < 0.1, f"{path}: {drawn:.0f} bytes are drawn as blocks, {peak} are in use")
    require(held >= 0.98 * blocks, f"{path}: blocks are drawn where nothing is held")


def check_formats(replay):
    """The same events in all ways of writing them."""
    seconds = ["23:59:59.999000", "23:59:59:999500", "00:00:00.000000", "00:00:00:001000"]  # over midnight
    rows = ["allocate,0x10,4096", "allocate failure,(nil),7", "allocate failure,0x0,7", "free,0x10,4096"]
    path = replay.write(*[f"77,{time},{row},0" for time, row in zip(seconds, rows)])
    rmm = replay.results(path, "--allocator", "malloc")["trace"]
    equal((rmm["allocations"], rmm["frees"], rmm["failures"], rmm["duration_ns"]), (1, 1, 2, 2000000), "clocks")
    path = replay.write(*[f"77,{time},{row},0x0,64,x,t" for time, row in zip((5, 6, 7, 2000005), rows)], header=OWN)
    own = replay.results(path, "--allocator", "malloc")["trace"]
    for name in rmm:
        if name not in ("allocators", "file"):
            equal(own[name], rmm[name], f"nanoseconds: {name}")
    equal(replay.results("-", "--allocator", "malloc", text=path.read_text())["trace"]["rows"], 4, "standard input")

    rows = [f"1,{time},allocate,{address},8,0" for address, time in enumerate(("23:00:00", "01:00:00", "20:00:00",
                                                                               "02:00:00"), 1)]
    trace = replay.results(replay.write(*rows), "--allocator", "malloc")["trace"]
    equal(trace["duration_ns"], 27 * 3600 * 10**9, "two midnights")
    rows = [f"{thread},1,allocate,{thread},8,{stream}" for thread, stream in
            ((1, "0"), (2, "0x1"), (3, "0x2"), (4, "0x2"), (5, "0xabc"), (6, "0xabc"))]
    rows += ["3,1,allocate,7,8,0x2", "3,2,allocate,8,8,(nil)"]
    equal(replay.results(replay.write(*rows), "-a", "malloc", "-s")["trace"]["streams"], 4, "0x2 is of a thread")

    # Columns in another order, one nobody knows, none of the optional ones; lines that end as on Windows; blank lines.
    path = replay.write("8,more,0x1,allocate", "", "8,more,0x1,free", header="Size,Other,Pointer,Action", end="\r\n")
    other = replay.results(path, "--allocator", "malloc")
    equal((other["trace"]["allocations"], other["trace"]["frees"]), (1, 1), "other columns")
    require("until_operation" in other["results"][0]["over_time"][0], "without times, the axis counts operations")

    # What is left out, and an address that is given out again.
    path = replay.write("1,1,free,0x9,5,0", "1,2,allocate,(nil),0,0", "1,3,allocate,0x1,10,0", "2,4,free,0x1,10,0",
                        "2,5,allocate,0x1,30,0", "1,1,allocate,0x2,1,0x1", "1,9,free,(nil),0,0")
    found = replay.results(path, "--allocator", "malloc", "--threads")
    trace = found["trace"]
    equal((trace["unmatched_frees"], trace["empty_rows"], trace["allocations"], trace["live_at_end_bytes"],
           trace["streams"], trace["threads"]), (1, 2, 3, 31, 1, 2), "left out")

    # The text of JALLOC_ALLOCATOR, of which the device's is taken.
    result = replay.results(path, "--allocator", "malloc+bfc;cuda:0=pool")["results"][0]
    equal((result["allocator"], result["failures"]), ("malloc+bfc;cuda:0=pool", 0), "a text by device")

    # A recorder that had to stop says why in its last row.
    path = replay.write("1,1,allocate,0x1,5,0,,heap,", '1,2,stopped,0x0,0,0x0,0,heap,"full, it is"', header=OWN)
    trace = replay.results(path, "--allocator", "malloc")["trace"]
    equal((trace["stopped"], trace["rows"], trace["live_at_end"]), ("full, it is", 1, 1), "a trace that stopped")
    text = replay.run(path, "--allocator", "malloc", "--repeat", "1").stdout
    require("ended before the program did: full, it is" in text, f"the reason is not in {text}")

    # A request that nothing can serve is counted, its free left out (a sanitizer's malloc says so on standard error).
    path = replay.write(f"1,1,allocate,0x1,{2**62},0", f"1,2,free,0x1,{2**62},0", "1,3,allocate,0x2,5,0",
                        "1,4,allocate failure,0x0,9,0")
    result = replay.results(path, "--allocator", "malloc")["results"][0]
    equal((result["failures"], result["errors"], result["peak_in_use_bytes"]), (1, 0, 5), "a failure")
    result = replay.results(path, "--allocator", "malloc", "--retry-failures")["results"][0]
    equal((result["failures"], result["served"]), (1, 1), "a failure of the trace that is served")


def check_owners(replay):
    rows = ['1,1,allocate,0x1,100,0,16,a,"x, ""y"""', "1,2,allocate,0x2,300,0x8,,a,<&>", "2,3,allocate,0x3,50,0,,a,",
            '1,4,free,0x1,100,0,16,a,', '1,5,allocate,0x4,20,0,16,a,"x, ""y"""']
    path = replay.write(*rows, header=OWN)
    for by, expected in {
            "tag": [("<&>", 300), ('x, "y"', 100), ("(no tag)", 50)],
            "thread": [("thread 0", 400), ("thread 1", 50)],
            "stream": [("stream 1", 300), ("default stream", 150)],
            "size": [("256 B to 512 B", 300), ("64 B to 128 B", 100), ("32 B to 64 B", 50)],
            "allocator": [("a", 450)]}.items():
        owners = replay.results(path, "--allocator", "malloc", "--owner", by)["results"][0]["owners"]
        equal([(owner["name"], owner["bytes"]) for owner in owners], expected, f"owners by {by}")
    equal(replay.results(path, "--allocator", "malloc")["owner_by"], "tag", "tags are there")
    named = replay.folder / "<&\x01>.csv"
    path.rename(named)
    picture = replay.folder / "picture.svg"
    replay.results(named, "--allocator", "malloc", "--svg", picture)
    words = [text.text for text in xml.etree.ElementTree.parse(picture).getroot().iter(SVG + "text")]
    require("<&?>.csv on malloc" in words and '<&>: 300 B, 1 block' in words, f"escapes: {words}")


def check_peak(replay):
    """What lives for no time at all counts; of equal peaks the first."""
    path = replay.write("1,0,allocate,1,10,0", "1,500,allocate,2,4000,0", "1,500,free,2,4000,0",
                        "1,700,allocate,3,1000,0", "1,700,allocate,4,3000,0", "1,700,free,3,1000,0",
                        "1,700,free,4,3000,0", "1,1000,free,1,10,0")
    result = replay.results(path, "-a", "malloc")["results"][0]
    equal((result["peak_in_use_bytes"], result["peak_at"], len(result["owners"])), (4010, 1, 2), "the peak")
    equal(sorted(row["in_use_bytes"] for row in result["over_time"])[-3:], [10, 4010, 4010], "two peaks over time")
    result = replay.results(path, "-a", "malloc+limit(limit=3500)")["results"][0]  # the first peak is refused
    equal((result["failures"], result["peak_in_use_bytes"], result["peak_at"]), (2, 1010, 3), "another peak")
    equal(sum(owner["bytes"] for owner in result["owners"]), 1010, "its owners")


def check_choice(replay):
    """A stack of two of which both are recorded, and an allocator beside it."""
    path = replay.write("0,1,allocate,0x1000,65536,0,,pool<-provider,", "0,2,allocate,0x1000,100,0,,top,",
                        "0,3,allocate,0x1100,200,0,,top,", "0,4,allocate,0x900000,7,0,,beside,",
                        "0,5,free,0x1000,100,0,,top,",
                        "0,6,allocate,0xa00000,90,0,,gone,", "0,6,free,0xa00000,90,0,,gone,",
                        "0,6,allocate,0xa00010,3,0,,beside,", "0,6,allocate failure,0x0,9,0,,pool<-provider,",
                        header=OWN)
    for only, expected in {None: (307, 0, ["top", "beside", "gone"]), "top": (300, 0, ["top"]),
                           "pool<-provider": (65536, 1, ["pool<-provider"])}.items():
        trace = replay.results(path, "-a", "malloc", *(["--only", only] if only else []))["trace"]
        chosen = [allocator["name"] for allocator in trace["allocators"] if allocator["replayed"]]
        equal((trace["peak_live_bytes"], trace["failures"], chosen), expected, f"--only {only}")
    replay.refused(["no allocator", "'nobody'", "pool<-provider top beside gone"], path, "--only", "nobody")


def check_recording(replay, path):
    """A replay that is recorded itself: of each of its allocators, what stands on top is played again."""
    recorded = replay.folder / "recorded.csv"
    found = replay.run(path, "-a", "malloc+bfc+guard", "-r", "1", JALLOC_RECORD=str(recorded))
    require(found.returncode == 0, f"recording: {found.stderr}")
    expected = count(path)[0]
    trace = replay.results(recorded, "-a", "malloc", "-r", "1")["trace"]
    chosen = [allocator["name"] for allocator in trace["allocators"] if allocator["replayed"]]
    require(all(name.startswith("guard") for name in chosen) and 2 <= len(chosen) < len(trace["allocators"]),
            f"what stands on top is {chosen}")
    equal((trace["peak_live_bytes"], trace["live_at_end"], trace["unmatched_frees"]),
          (expected["peak_live_bytes"], 0, 0), "a recorded replay")
    require(2 * expected["allocations"] < trace["allocations"] <= 3 * expected["allocations"], "rounds are recorded")


def check_refusals(replay, traces):
    good = "1,2,allocate,0x1,10,0"
    for rows, line, word in [
            (["1,2,allocate,0x1,10"], 2, "5 fields"),
            ([good, "1,2,free,0x1,10,0,3"], 3, "7 fields"),
            ([good, "x,2,free,0x1,10,0"], 3, "Thread 'x'"),
            ([good, "", "1,12:00,free,0x1,10,0"], 4, "Time '12:00'"),
            ([good, "1,24:00:00.1,free,0x1,10,0"], 3, "Time"),
            ([good, "1,11:23:45.1234567890,free,0x1,10,0"], 3, "Time"),
            ([good, "1,-5,free,0x1,10,0"], 3, "Time"),
            ([good, "1,3,frees,0x1,10,0"], 3, "Action 'frees'"),
            ([good, "1,3,free,0xg,10,0"], 3, "Pointer '0xg'"),
            ([good, "1,3,free,,10,0"], 3, "Pointer"),
            ([good, "1,3,free,0x1,1e3,0"], 3, "Size '1e3'"),
            ([good, "1,3,free,0x1,,0"], 3, "Size"),
            ([good, f"1,3,free,0x1,{2**64},0"], 3, "Size"),
            ([good, f"1,3,allocate,0x2,{2**63},0"], 3, "Size"),
            ([good, "1,3,free,0x1,10,s"], 3, "Stream 's'"),
            ([good, "1,3,free,0x1,11,0"], 3, "line 2 allocated 10"),
            ([good, "1,3,free,0x1,10,0", good, good], 5, "line 4"),
            (["1,2,allocate,(nil),10,0"], 2, "Pointer"),
            ([good, '"1,3,free,0x1,10,0'], 3, "quote"),
            ([good, '"1"1,3,free,0x1,10,0'], 3, "quote"),
            ([good, ",".join("1" * 40)], 3, "fields")]:
        replay.refused([f"trace.csv:{line}: ", word], replay.write(*rows), "-a", "malloc")
    replay.refused(["trace.csv:2: ", "Alignment '24'"],
                   replay.write("1,2,allocate,0x1,10,0,24,a,", header=OWN), "-a", "malloc")
    replay.refused(["trace.csv:1: ", "Pointer"], replay.write(header="Thread,Action,Size"), "-a", "malloc")
    replay.refused(["trace.csv:1: ", "two columns"], replay.write(header="Action,Pointer,Size,Size"), "-a", "malloc")
    empty = replay.folder / "empty.csv"
    empty.write_bytes(b"")
    replay.refused(["empty.csv:1: ", "empty"], empty)
    trace = traces / "rmm_example.csv"
    for words, arguments in [(["no trace"], []), (["unexpected", "two"], [trace, "two"]),
                             (["--help"], [trace, "--nothing"]),
                             (["--repeat", "'0'"], [trace, "--repeat", "0"]), (["No such file"], ["missing.csv"]),
                             (["no_such_kind"], [trace, "-a", "malloc", "-c", "no_such_kind"]),
                             (["--owner"], [trace, "--owner", "me"]), (["nowhere"], [trace, "-d", "nowhere"])]:
        replay.refused(words, *arguments)
    found = replay.run(trace, "-a", "malloc", "--svg", replay.folder / "missing" / "picture.svg")
    require(found.returncode == 1 and "missing" in found.stderr, f"a picture that cannot be made: {found.stderr}")
    # A trace without operations is no error.
    result = replay.results(replay.write(), "-a", "malloc", "--svg", replay.folder / "none.svg", "--threads")
    equal(result["results"][0]["peak_in_use_bytes"], 0, "nothing")


def check_long(replay):
    """Many rows and threads: rings of live blocks, each freed by the next thread."""
    rows, threads, ring = [], 8, 500
    for i in range(40000):
        rows.append(f"{100 + i % threads},{i},allocate,{hex(16 * (i + 1))},{64 + i % 700},0")
        if i >= ring:
            old = i - ring
            rows.append(f"{100 + (i + 1) % threads},{i},free,{hex(16 * (old + 1))},{64 + old % 700},0")
    path = replay.write(*rows)
    found = replay.results(path, "-a", "malloc", "--threads", "--repeat", "3")
    equal((found["trace"]["allocations"], found["trace"]["live_at_end"], found["trace"]["threads"]),
          (40000, ring, threads), "a long trace")
    equal((found["results"][0]["failures"], found["results"][0]["errors"]), (0, 0), "a long trace")
    progress = replay.run(path, "-a", "malloc", "--progress")
    require(progress.returncode == 0 and "timing" in progress.stderr, f"no progress: {progress.stderr}")


def main():
    require(len(sys.argv) == 3, __doc__)
    traces = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(sys.argv[1], pathlib.Path(folder))
        paths = sorted(traces.glob("*.csv"))
        require(len(paths) >= 5, f"only {len(paths)} traces in {traces}")
        for path in paths:
            check_shipped(replay, path)
            check_equivalents(replay, path)
            check_picture(replay, path, "malloc")
            check_picture(replay, path, "mmap")
        check_formats(replay)
        check_owners(replay)
        check_peak(replay)
        check_bookkeeping(replay)
        check_choice(replay)
        check_recording(replay, traces / "dense_gaussian_process.csv")
        check_refusals(replay, traces)
        check_long(replay)
    print(f"check_replay: {len(paths)} traces are replayed as they are")


if __name__ == "__main__":
    main()
