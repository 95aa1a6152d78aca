#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Cuts the part between two marks (marks.py) out of a recorded heap, whole in itself, and says what is in it.

    cut_trace.py [--alignment BYTES] [--allocator NAME] [--whole] RECORDED CUT

What was allocated after BUILD and still lives at STEPS comes first, with the time 0; then what happened from STEPS to
END. A free of anything older is left out, so each free has its allocation; what lives at END stays live. Each block has
a number in place of its address, threads are numbered in the order in which they are met, and times begin at STEPS."""

import argparse
import csv
import sys

from marks import BUILD, END, STEPS


def part(rows):
    """The rows of the blocks that live at STEPS, then those until END; times count from STEPS."""
    mark, live, begin = None, {}, 0
    for row in rows:
        pointer, size, time = row["Pointer"], int(row["Size"]), int(row["Time"])
        if size in (BUILD, STEPS, END):
            if size == STEPS and mark == BUILD:
                begin = time
                yield from (dict(old, Time=0) for old in live.values())
            mark = size
        elif mark == END:
            return
        elif mark is not None and (row["Action"] != "free" or pointer in live):
            if row["Action"] == "allocate":
                live[pointer] = row
            elif row["Action"] == "free":
                del live[pointer]
            if mark == STEPS:
                yield dict(row, Time=time - begin)


def whole(rows):
    """All rows but frees of what was allocated before the first."""
    live = set()
    for row in rows:
        if row["Action"] == "allocate":
            live.add(row["Pointer"])
        elif row["Action"] == "free" and row["Pointer"] not in live:
            continue
        yield dict(row, Time=int(row["Time"]))


def renumber(rows):
    """Numbers for addresses, from 1, each used once, and for threads, from 0."""
    blocks, count, threads = {}, 0, {}
    for row in rows:
        pointer, number = row["Pointer"], 0
        if row["Action"] == "allocate":
            count += 1
            number = blocks[pointer] = count
        elif row["Action"] == "free":
            number = blocks.pop(pointer)
        yield dict(row, Pointer=f"0x{number:x}", Thread=threads.setdefault(row["Thread"], len(threads)))


def describe(rows):
    live = peak = crossing = 0
    threads = {}
    for row in rows:
        if row["Action"] == "allocate":
            live += int(row["Size"])
            peak = max(peak, live)
            threads[row["Pointer"]] = row["Thread"]
        elif row["Action"] == "free":
            live -= int(row["Size"])
            crossing += threads[row["Pointer"]] != row["Thread"]
    return (f"{len(rows)} events, {sum(row['Time'] == 0 for row in rows)} of them blocks that lived before; "
            f"peak {peak} bytes, {live} live at the end; {len({row['Size'] for row in rows})} sizes; "
            f"{len({row['Thread'] for row in rows})} threads, {crossing} blocks freed by another than their own; "
            f"{rows[-1]['Time'] / 1e6:.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded")
    parser.add_argument("cut")
    parser.add_argument("--alignment", type=int, help="only blocks that were asked for with this alignment")
    parser.add_argument("--allocator", default="heap", help="what to call the allocator")
    parser.add_argument("--whole", action="store_true", help="all that was recorded, of a program that sets no marks")
    arguments = parser.parse_args()
    with open(arguments.recorded, newline="", encoding="ascii") as file:
        reader = csv.DictReader(file)
        wanted = (row for row in reader
                  if arguments.alignment in (None, int(row["Alignment"])) or int(row["Size"]) in (BUILD, STEPS, END))
        rows = [dict(row, Allocator=arguments.allocator) for row in renumber(whole(wanted) if arguments.whole else part(wanted))]
    if not rows:
        sys.exit(f"{arguments.recorded}: nothing between the marks")
    with open(arguments.cut, "w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, reader.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{arguments.cut}: {describe(rows)}")


if __name__ == "__main__":
    main()
