/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The report: calls by name, handles, rungs, and whose the largest workspace was, on standard error
 * when the process ends. A handle's statistics are read when its thread ends, or by the report;
 * threads that still compute then are counted as far as they have come. Last comes what the calls
 * need (plan.c). */

#include "dropin/report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dropin/plan.h"

bool ji_dropin_reports;

typedef struct live_handle {
    jhandle_t *handle;
    struct live_handle *next;
} live_handle_t;

static struct {
    pthread_mutex_t lock; /* around all but `called` */
    ji_dropin_counter_t *called;
    live_handle_t *live;
    const jquota_t *quota;
    bool is_incomplete; /* there was no memory for a handle's part of it */
    uint64_t handle_count, lacked_count;
    uint64_t degraded_count, rung_count[JHANDLE_MAX_RUNGS];
    jhandle_stats_t largest; /* of the handle with the largest high watermark */
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __attribute__((constructor)) void report_start(void) {
    const char *wanted = secure_getenv("JALLOC_BLAS_REPORT");
    ji_dropin_reports = wanted != NULL && strcmp(wanted, "1") == 0;
}

/* ---- Counting ---- */

void ji_dropin_count(ji_dropin_counter_t *counter) {
    (void)__atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&counter->is_listed, true, __ATOMIC_RELAXED))
        return;

    counter->next = __atomic_load_n(&report.called, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&report.called, &counter->next, counter, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static void add_statistics(const jhandle_t *handle) {
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    if (jhandle_get_stats(handle, &stats) != JSTATUS_SUCCESS)
        return;

    report.degraded_count += stats.degraded_count;
    for (int rung = 0; rung < JHANDLE_MAX_RUNGS; rung++)
        report.rung_count[rung] += stats.rung_count[rung];
    if (stats.high_watermark_bytes > report.largest.high_watermark_bytes)
        report.largest = stats;
}

void ji_dropin_report_began(jhandle_t *handle, const jquota_t *quota) {
    if (!ji_dropin_reports)
        return;

    live_handle_t *live = malloc(sizeof *live);
    pthread_mutex_lock(&report.lock);
    report.quota = quota;
    report.handle_count++;
    if (live != NULL) {
        *live = (live_handle_t){handle, report.live};
        report.live = live;
    }
    report.is_incomplete |= live == NULL || !ji_dropin_plan_began(handle);
    pthread_mutex_unlock(&report.lock);
}

void ji_dropin_report_ends(jhandle_t *handle) {
    if (!ji_dropin_reports)
        return;

    pthread_mutex_lock(&report.lock);
    for (live_handle_t **at = &report.live; *at != NULL; at = &(*at)->next) {
        if ((*at)->handle != handle)
            continue;
        live_handle_t *ended = *at;
        *at = ended->next;
        add_statistics(handle);
        ji_dropin_plan_ends(handle);
        free(ended);
        break;
    }
    pthread_mutex_unlock(&report.lock);
}

void ji_dropin_report_lacked(void) {
    (void)__atomic_add_fetch(&report.lacked_count, 1, __ATOMIC_RELAXED);
}

void ji_dropin_report_forget(void) {
    pthread_mutex_init(&report.lock, NULL);
    for (ji_dropin_counter_t *counter = report.called; counter != NULL; counter = counter->next)
        counter->count = 0;
    while (report.live != NULL) {
        live_handle_t *gone = report.live;
        report.live = gone->next;
        free(gone);
    }
    ji_dropin_plan_forget();
    report.quota = NULL;
    report.is_incomplete = false;
    report.handle_count = report.lacked_count = report.degraded_count = 0;
    memset(report.rung_count, 0, sizeof report.rung_count);
    memset(&report.largest, 0, sizeof report.largest);
}

/* ---- Printing ---- */

/* The counter with the most calls among those that come after `last`: fewer calls, or as many and
 * further in the list. */
static const ji_dropin_counter_t *next_most(const ji_dropin_counter_t *last) {
    const ji_dropin_counter_t *most = NULL;
    bool is_after = last == NULL;
    for (const ji_dropin_counter_t *counter = report.called; counter != NULL;
         counter = counter->next) {
        const bool comes = last == NULL || counter->count < last->count ||
                           (is_after && counter->count == last->count);
        if (comes && (most == NULL || counter->count > most->count))
            most = counter;
        is_after |= counter == last;
    }
    return most != NULL && most->count > 0 ? most : NULL;
}

static void print_calls(void) {
    uint64_t sums[2] = {0}; /* of BLAS, of LAPACK */
    for (const ji_dropin_counter_t *counter = report.called; counter != NULL;
         counter = counter->next)
        sums[counter->lapack] += counter->count;
    fprintf(stderr, "jblas: process %ld: %llu calls of BLAS, ", (long)getpid(),
            (unsigned long long)sums[0]);
    if (sums[1] > 0)
        fprintf(stderr, "%llu of LAPACK, ", (unsigned long long)sums[1]);
    fprintf(stderr, "%llu handles\n", (unsigned long long)report.handle_count);

    enum { SHOWN = 12 };
    const ji_dropin_counter_t *counter = NULL;
    for (int i = 0; i < SHOWN && (counter = next_most(counter)) != NULL; i++)
        fprintf(stderr, "jblas: %12llu %s\n", (unsigned long long)counter->count, counter->name);
}

static void print_workspace(void) {
    jquota_stats_t stats = JQUOTA_STATS_INIT;
    if (report.quota == NULL || jquota_get_stats(report.quota, &stats) != JSTATUS_SUCCESS)
        return;

    fprintf(stderr, "jblas: workspace: %zu bytes at the peak, %llu requests refused\n",
            stats.peak_in_use_bytes, (unsigned long long)stats.refusal_count);
    if (report.largest.high_watermark_bytes > 0)
        fprintf(stderr, "jblas: most in one call: %zu bytes, %s %s\n",
                report.largest.high_watermark_bytes, report.largest.peak_routine,
                report.largest.peak_shape);

    for (int rung = 0; rung < JHANDLE_MAX_RUNGS; rung++)
        if (report.rung_count[rung] > 0)
            fprintf(stderr, "jblas: rung %d: %llu calls\n", rung,
                    (unsigned long long)report.rung_count[rung]);
    fprintf(stderr, "jblas: below the best rung: %llu calls\n",
            (unsigned long long)report.degraded_count);
}

/* What the lines above do not know of. */
static void print_missing(void) {
    const uint64_t lacked = __atomic_load_n(&report.lacked_count, __ATOMIC_RELAXED);
    if (lacked > 0)
        fprintf(stderr, "jblas: missed: %llu calls that had no handle and no workspace\n",
                (unsigned long long)lacked);
    if (report.is_incomplete)
        fprintf(stderr, "jblas: missed: a handle for which the report had no memory\n");
}

static __attribute__((destructor)) void report_end(void) {
    if (!ji_dropin_reports)
        return;

    pthread_mutex_lock(&report.lock);
    for (const live_handle_t *live = report.live; live != NULL; live = live->next)
        add_statistics(live->handle);
    print_calls();
    print_workspace();
    ji_dropin_plan_print(report.quota);
    print_missing();
    while (report.live != NULL) {
        live_handle_t *gone = report.live;
        report.live = gone->next;
        free(gone);
    }
    ji_dropin_reports = false;
    pthread_mutex_unlock(&report.lock);
}
