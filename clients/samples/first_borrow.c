/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* First borrow: temporary memory for the length of one scope.
 *
 * The median of a series needs the values in order, and the caller wants the series left alone: so
 * a copy is sorted. The copy lives in the handle's workspace. The first call makes the workspace
 * grow; every later call that needs no more costs a few nanoseconds and no allocation. The guard
 * `ws` ends the borrow wherever the scope is left. */

#include <stdlib.h>
#include <string.h>

#include "sample.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static jstatus_t median(jhandle_t *handle, const double *values, size_t count, double *result) {
    /* Ends with the function, on either return. */
    JALLOC_BORROW(ws, handle, count * sizeof(double));
    if (!ws.ok)
        return ws.status;
    double *sorted = ws.ptr[0];
    memcpy(sorted, values, count * sizeof(double));
    qsort(sorted, count, sizeof(double), compare);
    *result = count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
    return ws.status;
}

int main(void) {
    enum { COUNT = 100000 };
    static double values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        /* 0 .. COUNT - 1 in some order: 7919 and COUNT share no factor */
        values[i] = (double)(i * 7919 % COUNT);

    jhandle_t *handle;
    TRY(jhandle_create(NULL, &handle)); /* the host, default mode: the workspace grows on demand */

    const size_t counts[] = {COUNT, COUNT / 10, COUNT, COUNT};
    for (size_t call = 0; call < sizeof counts / sizeof *counts; call++) {
        double result = 0;
        TRY(median(handle, values, counts[call], &result));

        jhandle_stats_t stats = {.struct_size = sizeof stats};
        TRY(jhandle_get_stats(handle, &stats));
        printf("call %zu: median of %6zu values is %8.1f; so far %llu borrows, %llu allocations, "
               "peak %zu bytes (%s)\n",
               call + 1, counts[call], result, (unsigned long long)stats.borrow_count,
               (unsigned long long)stats.allocation_count, stats.high_watermark_bytes,
               stats.peak_routine);
        CLAIM(counts[call] != COUNT || result == 0.5 * (COUNT - 1));
        CLAIM(stats.allocation_count == 1 && stats.live_borrow_count == 0);
    }
    TRY(jhandle_destroy(handle));
    puts("one allocation served all calls");
    return 0;
}
