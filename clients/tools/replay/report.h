/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "survey.h"

/* What came out for one allocator. */
typedef struct result {
    const char *composition;
    double seconds; /* median of the rounds */
    double fastest_seconds;
    play_faults_t faults; /* of the round that had most failures */
    /* Of one round by threads: these drift apart, so it may be more. */
    size_t threads_peak_in_use_bytes;
    size_t threads_peak_reserved_bytes; /* than the survey's. 0 without threads */
    survey_t survey;
    snapshot_t snapshot;
} result_t;

/* Results, the first of which the others are compared with. */
typedef struct report {
    const trace_t *trace;
    const play_options_t *options;
    size_t repeat;
    owner_by_t owner_by;
    const result_t *results;
    size_t result_count;
} report_t;

extern const char *const owner_by_names[]; /* in the order of owner_by_t, ended by NULL */

void report_text(const report_t *report);
void report_json(const report_t *report);

#endif
