/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_PROGRAM_H
#define JALLOC_PROGRAM_PROGRAM_H

/* A program's content.
 *
 *     call.c         what a call can be carried out by; lists of calls
 *     ladder.c       staircases, and how they add up
 *     requirement.c  requirements, and size queries that keep calls
 *     profile.c      seconds of a rung
 *     program.c      programs, and the choice
 *     follow.c       handles that take what was chosen
 *
 * A part is what one handle does in one phase: parts of a phase are at work at once, phases one
 * after the other. Each phase has the whole budget, so phases are chosen for one by one. */

#include "jalloc/program.h"
#include "program/requirement.h"

typedef struct ji_part {
    struct ji_follower *follower; /* whose handle it is */
    size_t phase;
    ji_calls_t calls;
    size_t host_bytes;
    size_t share_bytes; /* chosen */
} ji_part_t;

/* A handle of a program, in all its phases. What its handle's `follows` is, while it is entered. */
typedef struct ji_follower {
    ji_watcher_t watcher;  /* first */
    jhandle_t *handle;     /* NULL: destroyed */
    const ji_part_t *part; /* that it follows */
    bool entered;
    size_t budget_before;
    struct ji_follower *next;
} ji_follower_t;

struct jprogram {
    ji_part_t *parts; /* by phases */
    size_t part_count, part_room;
    uint64_t total;           /* of all calls, those that came again among them */
    size_t phase;             /* that was begun last */
    ji_follower_t *followers; /* in the order in which they came */
    bool chosen, entered;
    size_t budget_bytes;
};

/* The way that was chosen for a call of a part. */
static inline const ji_way_t *ji_part_way(const ji_part_t *part, const ji_call_t *call) {
    return ji_call_way(call, part->share_bytes, JI_TAKING_FASTEST);
}
/* The fastest. */
static inline const ji_way_t *ji_call_fastest(const ji_call_t *call) {
    return ji_call_way(call, SIZE_MAX, JI_TAKING_FASTEST);
}

/* A follower of the handle, made where there is none; NULL: no bookkeeping memory. */
ji_follower_t *ji_follower_of(jprogram_t *program, jhandle_t *handle);
/* Whether it has a query under way whose calls become the program's. */
static inline bool ji_follower_is_recording(const ji_follower_t *follower) {
    return follower->handle != NULL && ji_recording_is_of(follower->handle, follower);
}
/* It does not follow. */
void ji_follower_destroy(ji_follower_t *follower);

#endif
