/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef SEGMENT_CREW_H
#define SEGMENT_CREW_H

/* Those who do the work: processes, or threads of this one where an allocator has no other way to
 * hand blocks on. Each is pinned to a processor of its own where there are enough. They stay from
 * the first sample to the last, and sleep when it is not their turn; a sample begins when all who
 * take part are awake.
 *
 *     program   | command |        sleeps        | results |
 *     worker 0            | warm-up, meet, timed |
 *     worker 1            | warm-up, meet, timed |
 */

#include <stdbool.h>
#include <stddef.h>

#include "contender.h"
#include "play.h"

enum {
    CREW_WORKERS = 2,
    CREW_PARTS = 2,
    CREW_HANDOVER_BYTES = 16 << 20,
    CREW_HANDOVER_BLOCKS = 2048
};

typedef enum crew_action_t {
    CREW_JOIN,      /* every contender */
    CREW_FILL,      /* play_fill */
    CREW_DRAIN,     /* play_drain: all of each block */
    CREW_DRAIN_MIX, /* play_drain: the first words */
    CREW_PLAY,      /* play, timed: the worker that took longest */
    CREW_HANDOVER,  /* worker 0 allocates (first part), worker 1 frees (second) */
    CREW_LEAVE
} crew_action_t;

typedef struct crew_command {
    crew_action_t action;
    size_t contender;
    size_t workers; /* that take part, from worker 0 on */
    const workload_t *workload;
    size_t count; /* of play(); handover: how many times */
    size_t batch; /* handover: blocks freed in one call */
} crew_command_t;

typedef struct crew_result {
    bool good;
    /* The system took the processor from somebody meanwhile, or they did not begin together. */
    bool disturbed;
    double seconds[CREW_PARTS];
} crew_result_t;

typedef struct crew crew_t;

/* The contenders must be made, and play_draw() have been called. NULL: not to be had, and stderr
 * says why. A process that dies ends the program. */
crew_t *crew_start(const contender_t *contenders, size_t count, bool threads);
crew_result_t crew_do(crew_t *crew, crew_command_t command);
bool crew_end(crew_t *crew); /* false: a contender would not be left */

bool crew_is_pinned(void);                        /* whether there is a processor for each worker */
size_t crew_handover_blocks(const workload_t *w); /* of one handover */

#endif
