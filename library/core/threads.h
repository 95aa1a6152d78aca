/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_THREADS_H
#define JALLOC_CORE_THREADS_H

/* Which threads a call may use. A handle has it, and each of its calls takes it along, so it is
 * small and plain; read by C and, in the GPU modules, by C++. team.h says how they are used. */

#include "jalloc/executor.h"

typedef struct ji_threads {
    const jexecutor_t *executor; /* NULL: the process's team */
    int count;                   /* at most; 1: the caller alone; 0: that, as part of a lease */
    /* Whom workspace is lent for, fixed at set-up: count, up to JI_TEAM_MAX_THREADS; or what the
     * process may use where an executor may offer any number. */
    int planned;
} ji_threads_t;

#endif
