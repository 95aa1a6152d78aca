/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_REQUIREMENT_H
#define JALLOC_PROGRAM_REQUIREMENT_H

#include "program/ladder.h"

struct jrequirement {
    ji_ladder_t ladder;
    size_t host_bytes;
    uint64_t call_count;
};

/* Of a handle's calls in order. */
jstatus_t ji_requirement_of_calls(const ji_calls_t *calls, size_t host_bytes, const char *caller,
                                  jrequirement_t **requirement);

static inline jstatus_t ji_no_bookkeeping(const char *caller) {
    return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", caller);
}

/* A size query that keeps calls. */
typedef struct ji_recording {
    ji_watcher_t watcher; /* first */
    const void *recorder; /* whose it is; NULL: the caller's own query */
    ji_calls_t calls;
    bool lost; /* there was no memory for one of them */
} ji_recording_t;

jstatus_t ji_recording_start(jhandle_t *handle, const void *recorder, const char *caller);
/* Whether the query under way is this recorder's. */
bool ji_recording_is_of(const jhandle_t *handle, const void *recorder);
/* Ends the query. The recording is the caller's to destroy. success; size query mismatch; memory
 * error (one was lost). */
jstatus_t ji_recording_stop(jhandle_t *handle, const char *caller, ji_recording_t **recording);
void ji_recording_destroy(ji_recording_t *recording);

#endif
