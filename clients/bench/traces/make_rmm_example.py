#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Writes rmm_example.csv: a log as RMM's logging_resource_adaptor writes it, of a made-up program.

    make_rmm_example.py > rmm_example.csv

Two threads, each on a stream of its own (the default stream of the thread, which CUDA names 0x2, and a created one),
work through tables in parts over a pool that gives an address out again as soon as it is free. Once the pool is full:
the failure is a row, a part is given back, and the request repeated. One table is never freed."""

POOL, GRANULE, LIMIT = 0x7F3A20000000, 256, 96 << 20
THREADS = {"a": ("20412", "0x2"), "b": ("20419", "0x55d0c8a3e2f0")}

clock_us = ((11 * 60 + 23) * 60 + 45) * 1000000 + 123456
live = {}  # name -> offset, size


def row(who, action, offset, size):
    global clock_us
    clock_us += 37 + size // 65536
    seconds, micros = divmod(clock_us, 1000000)
    thread, stream = THREADS[who]
    pointer = "(nil)" if offset is None else f"0x{POOL + offset:x}"
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
    print(f"{thread},{time},{action},{pointer},{size},{stream}")


def allocate(who, name, size):
    """First fit."""
    offset = 0
    for begin, taken in sorted(live.values()):
        if offset + size <= begin:
            break
        offset = -(-(begin + taken) // GRANULE) * GRANULE
    if offset + size > LIMIT:
        row(who, "allocate failure", None, size)
        return
    live[name] = offset, size
    row(who, "allocate", offset, size)


def free(who, name):
    row(who, "free", *live.pop(name))


def main():
    print("Thread,Time,Action,Pointer,Size,Stream")
    allocate("a", "table", 40000000)
    allocate("b", "index", 8000000)
    for part in range(3):
        allocate("a", "keys", 4194304 + 1000 * part)
        allocate("b", "hashes", 16777216 >> part)
        allocate("a", "counts", 1024)
        free("a", "keys")
        allocate("b", "sums", 8192)
        free("b", "hashes")
        free("a", "counts")
        free("b", "sums")
    allocate("b", "joined", 50000000)
    allocate("a", "sorted", 20000000)  # does not fit
    free("b", "joined")
    allocate("a", "sorted", 20000000)
    free("b", "index")
    free("a", "sorted")


if __name__ == "__main__":
    main()
