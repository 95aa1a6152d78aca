# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What does a program ask of its allocator, and which allocator would serve it best? Record, replay, draw."""

import pathlib

import numpy as np

import jalloc


def main():
    rng = np.random.default_rng()
    with jalloc.Recorder("bfc(limit=64MiB)") as allocator:
        kept = []
        for step in range(200):  # arrays of many sizes come and go
            with jalloc.tag("assemble" if step % 3 else "solve"):
                kept.append(allocator.empty(int(rng.integers(1, 20000))))
            if len(kept) > 20:
                del kept[int(rng.integers(20))]
        trace = allocator.trace()
    print(f"{len(trace)} events, at most {trace.peak_bytes} bytes at once")
    for result in trace.replay("bfc(limit=64MiB)", "general")["results"]:
        print(f"  {result['allocator']}: {result['nanoseconds_per_operation']} ns an operation, "
              f"{result['peak_reserved_bytes']} bytes reserved")
    pathlib.Path("trace.svg").write_text(trace.svg("bfc(limit=64MiB)"), encoding="utf-8")
    print("trace.svg: memory over time, and the map at the peak; a notebook shows a trace by itself")


if __name__ == "__main__":
    main()
