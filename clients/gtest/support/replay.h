/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_REPLAY_H
#define JALLOC_CLIENTS_GTEST_REPLAY_H

/* Lines of the log run again as jblas-bench does, by those of its parts that read a line and
 * measure. */

#include <stdbool.h>

#include "jalloc/handle.h"

/* The first bench line of the log, to be freed; NULL: there is none. */
char *replay_logged(void);

/* Whether two lines are of the same call, with whichever handle: the replay's is another. */
bool replay_is_alike(const char *line, const char *other);

typedef struct replayed {
    bool understood; /* or else the rest is nothing */
    jstatus_t status;
    int rung;  /* the lowest that was taken; -1: none */
    bool good; /* it succeeded, and is right where that was asked */
} replayed_t;

replayed_t replay(const char *line, bool verify);

#endif
