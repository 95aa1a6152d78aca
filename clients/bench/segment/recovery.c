/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "recovery.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "jalloc/segment.h"

enum { ALLOCATOR_ID = 1 };

/* What a child tells by a pipe. */
typedef struct report {
    bool good;
    unsigned slots; /* that were recovered */
    double seconds;
} report_t;

typedef struct child {
    pid_t process;
    int to, from; /* ends of the pipes that the program has; -1: none */
} child_t;

typedef void (*role_t)(const recovery_t *recovery, int descriptor, int from, int to);

static bool said(jstatus_t status) {
    if (status != JSTATUS_SUCCESS)
        fprintf(stderr, "bench_segment: recovery: %s\n", jstatus_last_message());
    return status == JSTATUS_SUCCESS;
}

static void tell(int to, report_t report) {
    if (write(to, &report, sizeof report) != (ssize_t)sizeof report)
        _exit(1);
}

static bool hear(int from, report_t *report) {
    ssize_t got;
    do
        got = read(from, report, sizeof *report);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *report;
}

/* ---- The children ---- */

static bool attach(int descriptor, jsegment_t **segment, jshared_t **shared) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.descriptor = descriptor;
    return said(jsegment_attach(&options, segment)) &&
           said(jshared_open(*segment, ALLOCATOR_ID, shared));
}

static void be_victim(const recovery_t *recovery, int descriptor, int from, int to) {
    (void)from;
    jsegment_t *segment;
    jshared_t *shared;
    bool good = attach(descriptor, &segment, &shared);
    joffset_t *blocks = calloc(recovery->blocks, sizeof *blocks);
    good = good && blocks;
    for (size_t i = 0; good && i < recovery->blocks; i++)
        good = said(jshared_allocate(shared, recovery->bytes, 0, &blocks[i]));
    uint64_t random = 1;
    for (size_t i = 0; good && recovery->half && i < recovery->blocks; i++)
        if (bench_random(&random) < 0)
            good = said(jshared_deallocate(shared, blocks[i]));
    tell(to, (report_t){.good = good});
    for (;;)
        pause();
}

static void be_survivor(const recovery_t *recovery, int descriptor, int from, int to) {
    (void)recovery;
    jsegment_t *segment;
    jshared_t *shared;
    report_t report = {.good = attach(descriptor, &segment, &shared)};
    tell(to, report);
    if (!report.good || !hear(from, &report))
        _exit(1);
    double begin = bench_now();
    report.good = said(jsegment_recover(segment, &report.slots));
    report.seconds = bench_now() - begin;
    tell(to, report);
}

/* ---- The program ---- */

static bool start(child_t *child, role_t role, const recovery_t *recovery, int descriptor) {
    int down[2], up[2];
    *child = (child_t){0, -1, -1};
    if (pipe(down) != 0)
        return false;
    if (pipe(up) != 0) {
        close(down[0]);
        close(down[1]);
        return false;
    }
    fflush(NULL);
    pid_t parent = getpid();
    child->process = fork();
    if (child->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(down[1]);
        close(up[0]);
        if (getppid() == parent)
            role(recovery, descriptor, down[0], up[1]);
        _exit(0);
    }
    close(down[0]);
    close(up[1]);
    child->to = down[1];
    child->from = up[0];
    report_t report;
    return child->process > 0 && hear(child->from, &report) && report.good;
}

static void end(child_t *child) {
    if (child->process > 0) {
        (void)kill(child->process, SIGKILL);
        while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (child->to >= 0)
        close(child->to);
    if (child->from >= 0)
        close(child->from);
    *child = (child_t){0, -1, -1};
}

/* Whether the victim owns what it should, or after its death nobody anything. */
static bool owned(jsegment_t *segment, size_t least, size_t most) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    if (!said(jsegment_get_stats(segment, &stats)))
        return false;
    if (stats.owned_bytes < least || stats.owned_bytes > most)
        fprintf(stderr, "bench_segment: recovery: %zu bytes are owned, not %zu to %zu\n",
                stats.owned_bytes, least, most);
    return stats.owned_bytes >= least && stats.owned_bytes <= most;
}

static bool recover_once(const recovery_t *recovery, jsegment_t *segment, int descriptor,
                         double *seconds) {
    child_t victim, survivor;
    report_t report = {0};
    size_t bytes = recovery->blocks * recovery->bytes;
    bool good = start(&survivor, be_survivor, recovery, descriptor);
    good = start(&victim, be_victim, recovery, descriptor) && good;
    good = good && (recovery->half ? owned(segment, bytes * 4 / 10, bytes * 8 / 10)
                                   : owned(segment, bytes, bytes * 2));
    end(&victim);
    if (good) {
        tell(survivor.to, report);
        good = hear(survivor.from, &report) && report.good;
        if (good && report.slots != 1)
            fprintf(stderr, "bench_segment: recovery: %u slots were recovered, not 1\n",
                    report.slots);
        good = good && report.slots == 1;
    }
    end(&survivor);
    *seconds = report.seconds;
    return good && owned(segment, 0, 0) && said(jsegment_verify(segment));
}

bool recovery_measure(const recovery_t *recovery, size_t repeats, double *median, double *longest) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.name = "bench-recovery";
    options.size_bytes = recovery->segment_bytes;
    jsegment_t *segment = NULL;
    jshared_t *shared;
    int descriptor = -1;
    double seconds[RECOVERY_MAX_REPEATS];
    bool good = said(jsegment_create(&options, &segment)) &&
                said(jshared_create(segment, ALLOCATOR_ID, NULL, &shared)) &&
                said(jsegment_export(segment, &descriptor));
    for (size_t r = 0; good && r < repeats; r++)
        good = recover_once(recovery, segment, descriptor, &seconds[r]);
    if (descriptor >= 0)
        close(descriptor);
    good = said(jsegment_detach(segment)) && good;
    if (good) {
        *median = bench_median(seconds, repeats); /* sorts */
        *longest = seconds[repeats - 1];
    }
    return good;
}
