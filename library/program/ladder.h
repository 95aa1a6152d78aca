/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_LADDER_H
#define JALLOC_PROGRAM_LADDER_H

/* Staircases of bytes and predicted time, and how they add up.
 *
 * What always holds: there is at least one step; bytes rise from step to step; on the last every
 * call runs on its best rung. Steps are in bookkeeping memory; functions that make a ladder give
 * false where there is none, and the ladder is empty then. */

#include "program/call.h"

typedef struct ji_ladder {
    jrequirement_step_t *steps;
    size_t count;
} ji_ladder_t;

void ji_ladder_fini(ji_ladder_t *ladder); /* empty */

/* Which rung a call takes of those that fit: the first in the plan, as a handle does by itself; or
 * the one of the least time, as one does that follows a program. */
typedef enum ji_taking { JI_TAKING_FIRST, JI_TAKING_FASTEST } ji_taking_t;

/* The way that a call takes with so many bytes; NULL: none fits. */
const ji_way_t *ji_call_way(const ji_call_t *call, size_t bytes, ji_taking_t taking);

bool ji_ladder_of_nothing(ji_ladder_t *ladder); /* one step of no bytes */
bool ji_ladder_of_call(ji_ladder_t *ladder, const ji_call_t *call, ji_taking_t taking);
bool ji_ladder_of_calls(ji_ladder_t *ladder, const ji_calls_t *calls, ji_taking_t taking);
/* Parts one after the other: at each size the sum of their times. */
bool ji_ladder_in_order(ji_ladder_t *ladder, size_t count, const ji_ladder_t *parts);
bool ji_ladder_copy(ji_ladder_t *ladder, const ji_ladder_t *from);

/* Two at once: a division of bytes, step `a` of the one and `b` of the other. */
typedef struct ji_division {
    size_t bytes;
    double seconds;
    uint32_t a, b;
} ji_division_t;
typedef struct ji_divisions {
    ji_division_t *at; /* bytes rise, and time falls; but see ji_ladder_divide() */
    size_t count;
} ji_divisions_t;

#define JI_LADDER_MAX_STEPS 2048 /* of what is divided; a ladder of more is thinned */

/* The best divisions of any number of bytes; no sum of sizes overflows. The first has the fewest
 * bytes that there can be. The last is both ladders' last, whose time may be above others'. False
 * as above. */
bool ji_ladder_divide(ji_divisions_t *divisions, const ji_ladder_t *a, const ji_ladder_t *b);
void ji_divisions_fini(ji_divisions_t *divisions);
/* The ladder of divisions. */
bool ji_ladder_of_divisions(ji_ladder_t *ladder, const ji_divisions_t *divisions,
                            const ji_ladder_t *a, const ji_ladder_t *b);

/* The step that so many bytes are on; count: they are fewer than the first's. */
size_t ji_ladder_find(const ji_ladder_t *ladder, size_t bytes);

#endif
