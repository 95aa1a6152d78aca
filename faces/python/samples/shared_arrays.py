# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Workers share an array, one of them is killed with SIGKILL in the middle, and nothing is lost.

Each worker takes rows, computes in memory of its own that is in the segment, too, and writes what it has into
the shared result. The parent kills one, sees which rows are missing, and starts another for them. With
multiprocessing.shared_memory the scratch of the killed worker would stay as long as the machine is up, and an
allocator in it might be locked for good; here what it owned is free again, and all structures are sound."""

import multiprocessing
import os
import signal
import time

import numpy as np

import jalloc

ROWS, COLUMNS = 200, 500


def work(segment, first):
    """Attached again in this process: a Segment can be given to a child."""
    result, done = segment["result"], segment["done"]
    for row in range(first, ROWS, 2):
        scratch = segment.empty(None, COLUMNS)  # this process's own: free again when it ends, however
        scratch[:] = np.sin(row + np.arange(COLUMNS))
        result[row] = scratch
        done[row] = True
        time.sleep(0.001)  # so that there is a middle


def main():
    name = f"/shared-arrays-{os.getpid()}"
    with jalloc.Segment.create(name, "8MiB") as segment:
        result = segment.zeros("result", (ROWS, COLUMNS))
        done = segment.zeros("done", ROWS, bool)
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=work, args=(segment, first)) for first in range(2)]
        for worker in workers:
            worker.start()
        while done[1::2].sum() < 20:
            time.sleep(0.001)
        os.kill(workers[1].pid, signal.SIGKILL)
        for worker in workers:
            worker.join()

        segment.recover()  # others do it, too: who attaches, or runs out of memory
        segment.verify()
        print(f"killed: {done[1::2].sum()} of {ROWS // 2} rows of the second worker are done; "
              f"{segment.statistics.reaped_count} process recovered, {segment.statistics.owned_bytes} bytes left of its own")
        again = context.Process(target=work, args=(segment, 1))
        again.start()
        again.join()
        assert done.all() and np.array_equal(result, np.sin(np.arange(ROWS)[:, None] + np.arange(COLUMNS)))
        assert segment.statistics.owned_bytes == 0
        print("and all rows are there")
        segment.unlink()


if __name__ == "__main__":
    main()
