/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_CALL_H
#define JALLOC_PROGRAM_CALL_H

/* What a call can be carried out by, taken from its plan; and lists of calls, in which one that
 * comes again is counted. */

#include "handle/handle.h"
#include "jalloc/requirement.h"

/* A rung that may be taken. */
typedef struct ji_way {
    const char *name;
    uint32_t rung; /* its index in the plan */
    size_t bytes;
    jprice_t price; /* zeros: the plan says none */
    double seconds; /* predicted */
} ji_way_t;

typedef struct ji_call {
    const char *routine; /* static text; NULL: it has no name */
    const char *shape_names;
    int64_t shape[4];
    uint64_t times;
    uint32_t way_count;
    ji_way_t ways[JHANDLE_MAX_RUNGS]; /* in the order of the plan */
} ji_call_t;

/* The call of a sound plan, once. False: no rung has a size that memory has. */
bool ji_call_make(ji_call_t *call, const jhandle_t *handle, const jplan_t *plan);
/* The same without times, so without asking the profile; enough for ji_calls_find(). */
void ji_call_describe(ji_call_t *call, const jhandle_t *handle, const jplan_t *plan);
/* "jblas_dtrsm m=512 n=64" */
void ji_call_text(const ji_call_t *call, char text[JREQUIREMENT_CALL_BYTES]);

/* Zero-initialized it is empty. */
typedef struct ji_calls {
    ji_call_t *at;
    size_t count, room;
    uint32_t *index;   /* of the calls, by their hash; 0 is empty, i + 1 call i */
    size_t index_mask; /* its size - 1; more than twice the calls */
} ji_calls_t;

/* Adds a call, or counts it where it is there already. False without bookkeeping memory. */
bool ji_calls_add(ji_calls_t *calls, const ji_call_t *call);
/* Adds all calls of `more`, or none where there is no memory; each counts so many times. */
bool ji_calls_add_all(ji_calls_t *calls, const ji_calls_t *more, uint64_t repetitions);
/* All calls, those that came again among them. */
uint64_t ji_calls_total(const ji_calls_t *calls);
/* The place of a call like this one; -1: there is none. */
ptrdiff_t ji_calls_find(const ji_calls_t *calls, const ji_call_t *call);
void ji_calls_fini(ji_calls_t *calls); /* empty again */

#endif
