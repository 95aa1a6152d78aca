/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_TEAM_H
#define JALLOC_CORE_TEAM_H

/* The process's threads, and how a call has some of them for a while.
 *
 *     ji_team_make(count)                 set-up: makes the threads that are missing
 *
 *     ji_team_lease_t lease;
 *     ji_team_begin(&lease, &head->threads, wanted);     takes what is free now
 *     ji_team_do(&lease, pack, &panel);                  as often as there is something to do
 *     ji_team_do(&lease, multiply, &panel);
 *     ji_team_end(&lease);
 *
 * Between begin and end nothing allocates, no thread is made and nobody waits for a thread that
 * another call has: a call that finds the team busy has fewer, at the least itself. So what is
 * computed may not depend on lease.count. */

#include <stdatomic.h>

#include "core/core.h"
#include "core/threads.h"

typedef struct ji_team_worker ji_team_worker_t; /* team.c */

/* On the caller's stack. */
typedef struct ji_team_lease {
    int count;                   /* who take part, the caller included; at least 1 */
    bool is_counted;             /* the caller is, among the busy threads */
    unsigned fork_generation;    /* a child has none of the threads */
    const jexecutor_t *executor; /* who runs the parts; NULL: the workers */
    ji_team_worker_t *first;     /* count - 1 of them, linked */
} ji_team_lease_t;

/* Leases at most `wanted` threads, the caller included: of those that `threads` allows what is free
 * now. Below 2 asks nobody and is all but free; so does a part of a lease (ji_threads_t), whom that
 * one has counted. */
JI_SHARED void ji_team_begin(ji_team_lease_t *lease, const ji_threads_t *threads, int wanted);
/* Calls part(argument, index) once for each index from 0 to lease->count - 1, and returns when all
 * are done. Parts must not wait for each other: an executor may run them one after another. */
JI_SHARED void ji_team_do(ji_team_lease_t *lease, void (*part)(void *argument, int index),
                          void *argument);
JI_SHARED void ji_team_end(ji_team_lease_t *lease);

/* Most that workers and their caller are together. */
#define JI_TEAM_MAX_THREADS 1025

/* Set-up: sees to it that there are count - 1 workers. Where a thread cannot be had there are
 * fewer. */
void ji_team_make(int count);
/* Threads that the calling thread's work may use by default: the processors it may run on, or fewer
 * where control groups leave less of their time. */
int ji_team_default_count(void);
/* Processors that the process is known to have; what set-up last found if it was more. Tests change
 * it. */
extern _Atomic(int) ji_team_processors;
/* Workers that there are; for tests. */
int ji_team_size(void);

#endif
