/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef SEGMENT_RECOVERY_H
#define SEGMENT_RECOVERY_H

/* How long the others are held up when a process dies that owned a great deal.
 *
 *     victim    attach, allocate all, free some   | killed                     |
 *     survivor  attach                            |         recover, timed     | verify, count
 *
 * Both are new processes each time: the survivor has seen nothing of what it is to give back, so
 * the page faults of its first look are in the figure. */

#include <stdbool.h>
#include <stddef.h>

typedef struct recovery {
    size_t segment_bytes;
    size_t blocks; /* that the victim allocates */
    size_t bytes;  /* of each */
    bool half;     /* it frees every other one, at random, before it dies */
} recovery_t;

/* Does it `repeats` times (at most RECOVERY_MAX_REPEATS): the median and the longest time of
 * jsegment_recover(), in seconds. False: something went wrong or was not given back, and stderr
 * says what. */
enum { RECOVERY_MAX_REPEATS = 51 };
bool recovery_measure(const recovery_t *recovery, size_t repeats, double *median, double *longest);

#endif
