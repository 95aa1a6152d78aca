#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs record_test under libjalloc_record.so and checks the trace: each free has its allocation, with its size and
alignment; a realloc is a free and an allocation; threads are numbered in order and free what they freed; children wrote
nothing; a trace that cannot be made leaves the program as it was.

    check_record.py LIBRARY PROGRAM"""

import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

COLUMNS = ["Thread", "Time", "Action", "Pointer", "Size", "Stream", "Alignment", "Allocator", "Tag"]
THREADS, ROUNDS, HANDED = 4, 2000, 256  # as in record_test.c
TOO_MUCH, HALF = 2**62 - 1, 2**63 - 1

# What one thread did, event by event: a = allocate, f = free, x = allocate failure; its size and alignment.
EVERY_FUNCTION = [
    "a 2001 16", "f 2001 16", "a 2002 16", "f 2002 16", "a 2003 16", "f 2003 16", "a 2004 16", "f 2004 16",
    f"x {HALF} 16", "a 2004 16", "f 2004 16", "a 2008 16", "f 2008 16", "a 2005 16", "f 2005 16", "a 2006 4096", "f 2006 4096", "a 2048 256",
    "f 2048 256", "a 2009 512", "f 2009 512", f"x {TOO_MUCH} 16", "a 2010 16",
]
LETTER = {"allocate": "a", "free": "f", "allocate failure": "x"}


def require(condition, what):
    if not condition:
        sys.exit(f"check_record: {what}")


def run(arguments, **variables):
    library, *command = arguments
    # What the check itself was started with is nobody's business.
    env = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_RECORD_HEAP")}
    env.update(LD_PRELOAD=str(pathlib.Path(library).resolve()), **variables)
    result = subprocess.run(command, env=env, text=True, stderr=subprocess.PIPE, check=False)
    require(result.returncode == 0, f"{command} ended with {result.returncode}: {result.stderr}")
    return result.stderr


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        reader = csv.DictReader(file)
        require(reader.fieldnames == COLUMNS, f"header {reader.fieldnames}")
        rows = list(reader)
    for row in rows:
        require(None not in row and None not in row.values(), f"not nine fields: {row}")
        for name in ("Thread", "Time", "Size", "Alignment"):
            row[name] = int(row[name])
        require(row["Stream"] == "0x0" and row["Allocator"] == "heap", f"{row}")
        require(row["Tag"] == "" or row["Action"] == "stopped", f"{row}")
        require(row["Pointer"].startswith("0x"), f"pointer {row}")
        row["Pointer"] = int(row["Pointer"], 16)
    return rows


def check_order(rows):
    """What holds in any trace. The allocations that are live at its end."""
    live, time, threads = {}, 0, 0
    for number, row in enumerate(rows, 2):
        where, pointer = f"line {number}: {row}", row["Pointer"]
        require(row["Time"] >= time, f"time goes back, {where}")
        time = row["Time"]
        require(row["Thread"] <= threads, f"threads are not numbered in order, {where}")
        threads = max(threads, row["Thread"] + 1)
        if row["Action"] == "allocate":
            require(pointer not in live and pointer % row["Alignment"] == 0, f"live already, or not aligned, {where}")
            live[pointer] = row
        elif row["Action"] == "free":
            allocated = live.pop(pointer, None)
            require(allocated is not None, f"freed and not allocated, {where}")
            for name in ("Size", "Alignment"):
                require(row[name] == allocated[name], f"freed with another {name}, {where}")
            row["By"] = allocated["Thread"]
        else:
            require(row["Action"] == "allocate failure" and pointer == 0, where)
    return live


def check_trace(rows):
    live = check_order(rows)
    events = [f"{LETTER[row['Action']]} {row['Size']} {row['Alignment']}" for row in rows if row["Thread"] == 0]
    known = set(EVERY_FUNCTION)
    require([event for event in events if event in known] == EVERY_FUNCTION, f"thread 0 did {events}")
    require(min(row["Size"] for row in rows) >= 1024, "a block below the threshold")
    require(not any(3000 <= row["Size"] < 4000 for row in rows), "a child wrote into its parent's trace")
    require(not any(row["Size"] in (2007, 2011) for row in rows), "an event that there was not")
    require(2010 in [row["Size"] for row in live.values()], "what is live at the end was freed")

    # Which thread has which number is chance. That it is one, and that the next one frees what it hands over, is not.
    owner = {}
    for number in range(THREADS):
        who = {row["Thread"] for row in rows if row["Size"] == 4000 + number}
        require(len(who) == 1 and 0 not in who, f"size {4000 + number} is of the threads {who}")
        owner[number] = who.pop()
    require(sorted(owner.values()) == list(range(1, THREADS + 1)), f"threads {owner}")
    count = collections.Counter((row["Action"], row["Size"], row["Thread"], row.get("By")) for row in rows)
    for number in range(THREADS):
        own, taker = owner[number], owner[(number - 1) % THREADS]
        require(count["allocate", 4000 + number, own, None] == ROUNDS, "allocations are missing")
        require(count["free", 4000 + number, own, own] == ROUNDS, "frees are missing")
        require(count["allocate", 5000 + number, own, None] == HANDED, "allocations to hand over are missing")
        require(count["free", 5000 + number, taker, own] == HANDED, "frees by the next thread are missing")


def main():
    arguments = sys.argv[1:]
    require(len(arguments) == 2, __doc__)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.csv"
        for ending in ([], ["leave"]):
            require(run([*arguments, *ending], JALLOC_RECORD_HEAP=str(trace)) == "", "something on stderr")
            check_trace(read(trace))
        library, program = arguments
        run([library, "env", program], JALLOC_RECORD_HEAP=str(trace))  # one process, two programs: the second counts
        check_trace(read(trace))
        run(arguments, JALLOC_RECORD_HEAP=str(trace), JALLOC_RECORD_HEAP_MIN_BYTES="4002")
        rows = read(trace)
        check_order(rows)
        sizes = {row["Size"] for row in rows}
        require(min(sizes) == 4002 and 4003 in sizes, "the threshold is not kept")

        # What cannot be done is said, and the program runs.
        trace.unlink()
        require(run(arguments) == "", "something on stderr without a file")
        message = run(arguments, JALLOC_RECORD_HEAP=str(trace), JALLOC_RECORD_HEAP_MIN_BYTES="4x")
        require("4x" in message and not trace.exists(), f"a bad threshold: {message}")
        message = run(arguments, JALLOC_RECORD_HEAPP=str(trace))
        require("the nearest is JALLOC_RECORD_HEAP" in message and not trace.exists(), f"a misspelt name: {message}")
        for threshold, least in (("", 4000), ("4KiB", 5000)):  # empty is not set
            run(arguments, JALLOC_RECORD_HEAP=str(trace), JALLOC_RECORD_HEAP_MIN_BYTES=threshold)
            sizes = {int(row["Size"]) for row in read(trace)}
            require(any(least <= size < least + 10 for size in sizes), f"{threshold}: {sorted(sizes)[:5]}")
            require(threshold == "" or min(sizes) >= 4096, f"{threshold}: {sorted(sizes)[:5]}")
            trace.unlink()
        message = run(arguments, JALLOC_RECORD_HEAP=folder)
        require(folder in message, f"a folder as the file: {message}")
        message = run(arguments, JALLOC_RECORD_HEAP="/dev/full")
        require("cannot be written" in message, f"a full disk: {message}")
    print("check_record: the trace is what the program did")


if __name__ == "__main__":
    main()
