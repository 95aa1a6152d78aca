/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef HELD_H
#define HELD_H

/* What a process holds, by the system's own count, while it plays a trace and touches what it gets:
 * what is between and beside the blocks counts, records too, and what a library says of itself does
 * not.
 *
 * Each contender plays in a process of its own, which is this program started anew: nobody pays for
 * what another left behind, and before the first block nothing of the contender's is there. */

#include <stdbool.h>

#include "script.h"

typedef struct held {
    double largest; /* the largest resident set */
    double end;     /* after the last operation of the trace, before what lives is freed */
    double paused;  /* HELD_PAUSE_SECONDS and a few calls later */
    double trimmed; /* after the contender's own way of giving memory back, if it has one */
} held_t;           /* bytes more than before the first block */

/* Longer than the second after which jalloc gives free pages back. */
#define HELD_PAUSE_SECONDS 1.5

enum { HELD_MAX_PLAYERS = 32 };

/* All contenders play a script that was read from a trace, at the same time. False: not everybody
 * did, and stderr says who. */
bool held_measure(const script_t *script, const contender_t *contenders, size_t count,
                  held_t *held);

/* The other side: if the command line is that of a player, plays, and never returns. */
void held_play_if_asked(int argc, char **argv);

#endif
