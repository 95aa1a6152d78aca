/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The process's team: every part of a call runs once, by as many threads as are free and no more;
 * and what is left of it after a fork. */

#include "core/team.h"
#include "jtest.h"

#include <pthread.h>
#include <stdatomic.h>

#define MOST_PARTS 64

typedef struct parts {
    atomic_int runs[MOST_PARTS];
} parts_t;

static void count_run(void *argument, int index) {
    parts_t *parts = argument;
    atomic_fetch_add(&parts->runs[index], 1);
}

/* One lease, in which each of some steps runs every part once. Says how many took part. */
static int run_lease(const ji_threads_t *threads, int wanted, int steps) {
    ji_team_lease_t lease;
    ji_team_begin(&lease, threads, wanted);
    for (int step = 0; step < steps; step++) {
        parts_t parts = {0};
        ji_team_do(&lease, count_run, &parts);
        for (int i = 0; i < MOST_PARTS; i++)
            JEXPECT_EQ(atomic_load(&parts.runs[i]), i < lease.count);
    }
    const int count = lease.count;
    ji_team_end(&lease);
    return count;
}

JTEST(Team, RunsEveryPartOfEveryStepOnce) {
    ji_team_make(8);
    JASSERT_GE(ji_team_size(), 7);
    for (int count = 1; count <= 8; count++) {
        const ji_threads_t threads = {NULL, count};
        for (int wanted = 0; wanted <= 9; wanted++) {
            const int most = wanted < count ? wanted : count;
            JSCOPED_TRACE("%d of %d", wanted, count);
            JEXPECT_EQ(run_lease(&threads, wanted, 20), most < 1 ? 1 : most);
        }
    }
}
