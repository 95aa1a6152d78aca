/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_SURVEY_H
#define REPLAY_SURVEY_H

/* What a trace does to an allocator's memory, measured where no clock runs: over time (survey), and
 * at the moment when most is in use (snapshot). Both are of one play of the trace, in its order, by
 * one thread, on a fresh allocator: where memory lies is chance, and two plays may differ.
 * Fragmentation is of a play of its own, for to ask a policy about its free blocks changes what it
 * does next. */

#include "play.h"

enum { SURVEY_SAMPLES = 840 }; /* parts of the time; the picture is as many units wide */

/* One part of the time. */
typedef struct sample {
    size_t in_use_bytes, in_use_max_bytes;     /* at its end, and at most; exact */
    size_t reserved_bytes, reserved_max_bytes; /* the same, as far as was looked */
    double fragmentation;                      /* at its end */
} sample_t;

typedef struct survey {
    sample_t samples[SURVEY_SAMPLES];
    /* False: the trace has no times, parts are of equally many operations. */
    bool by_time;
    size_t peak_in_use_bytes, peak_at; /* and the operation after which it was */
    size_t peak_reserved_bytes;
    size_t peak_books_bytes; /* jalloc's own records of it all, beside what is reserved */
    play_faults_t faults;
} survey_t;

/* The part of the time in which an operation lies. */
size_t survey_part(const survey_t *survey, const trace_t *trace, size_t operation);

/* By what blocks are told apart. */
typedef enum owner_by {
    OWNER_TAG,
    OWNER_SIZE,
    OWNER_THREAD,
    OWNER_STREAM,
    OWNER_ALLOCATOR
} owner_by_t;

/* All blocks at the peak that are alike. */
typedef struct owner {
    char name[80];
    size_t live_count, live_bytes;
} owner_t;

/* A live block. */
typedef struct place {
    uintptr_t address;
    size_t size_bytes;
    uint32_t owner; /* its rank */
} place_t;

/* A range of addresses that the allocator holds. */
typedef struct range {
    uintptr_t begin, end;
} range_t;

typedef struct snapshot {
    size_t reserved_bytes, books_bytes;
    double fragmentation;
    owner_t *owners; /* most bytes first */
    size_t owner_count;
    place_t *places; /* by address */
    size_t place_count;
    range_t *ranges; /* by address, at least a page apart; all places are inside */
    size_t range_count;
} snapshot_t;

/* The state after an operation that has just been played. */
void snapshot_take(snapshot_t *snapshot, const player_t *player, size_t operation, owner_by_t by);
void snapshot_free(snapshot_t *snapshot);

/* Both; the snapshot is of survey->peak_at. */
void survey_take(survey_t *survey, snapshot_t *snapshot, const trace_t *trace,
                 const play_options_t *options, const char *composition, owner_by_t by);

#endif
