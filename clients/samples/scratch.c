/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Scratch memory for one operation is a borrow.
 *
 * TensorFlow hands an operation a ScratchAllocator: memory that is given back when the operation's
 * scope has ended and its stream has passed, with a limit, and in the form OneTimeScratchAllocator
 * one allocation only. A handle does all three: the guard ends with its scope, stream order makes
 * the same bytes safe for the next operation, the workspace's size in a fixed mode is the limit,
 * and a scope that borrows everything there is can borrow only once. */

#include "sample.h"

enum { LIMIT = 1 << 20 };

/* The mean of the squares, by a buffer of as many numbers. Its scratch is gone when it returns. */
static jstatus_t operation(jhandle_t *handle, const double *x, size_t n, double *mean) {
    JALLOC_BORROW(scratch, handle, n * sizeof(double));
    if (!scratch.ok)
        return scratch.status; /* more than the limit: said, not fatal */
    double *squares = scratch.ptr[0];
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        squares[i] = x[i] * x[i];
    for (size_t i = 0; i < n; i++)
        sum += squares[i];
    *mean = sum / (double)n;
    return JSTATUS_SUCCESS;
}

/* One-time scratch: the first borrow takes all there is, so a second one in the same scope is
 * refused. */
static jstatus_t use_once(jhandle_t *handle, jstatus_t *second) {
    size_t all;
    jstatus_t status = jhandle_get_workspace_size(handle, &all);
    if (status != JSTATUS_SUCCESS)
        return status;
    JALLOC_BORROW(once, handle, all);
    JALLOC_BORROW(twice, handle, 1);
    *second = twice.status;
    return once.status;
}

int main(void) {
    static double x[LIMIT / sizeof(double) + 1];
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = 2;
    jhandle_t *handle;
    double mean = 0;
    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_set_workspace_size(handle,
                                   /* The limit; nothing is allocated inside an operation from now
                                    * on. */
                                   LIMIT));

    for (int i = 0; i < 3; i++) { /* again and again in the same bytes */
        TRY(operation(handle, x, LIMIT / sizeof(double), &mean));
        CLAIM(mean == 4);
    }
    CLAIM(operation(handle, x, LIMIT / sizeof(double) + 1, &mean) == JSTATUS_MEMORY_ERROR);
    printf("above the limit: %s\n", jhandle_last_message(handle));

    jstatus_t second = JSTATUS_SUCCESS;
    TRY(use_once(handle, &second));
    CLAIM(second == JSTATUS_MEMORY_ERROR);
    printf("a second time: %s\n", jstatus_text(second));
    TRY(operation(handle, x, 100, &mean)); /* the scope has ended: all is there again */

    jhandle_stats_t stats = {.struct_size = sizeof stats};
    TRY(jhandle_get_stats(handle, &stats));
    printf("%llu borrows, %llu allocations\n", (unsigned long long)stats.borrow_count,
           (unsigned long long)stats.allocation_count);
    CLAIM(stats.in_use_bytes == 0 && stats.allocation_count == 1);
    TRY(jhandle_destroy(handle));
    return 0;
}
