/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_PLAY_H
#define REPLAY_PLAY_H

/* Playing a trace on an allocator: the operations, one by one or by the trace's threads at once. */

#include <stdatomic.h>
#include <stdbool.h>

#include "jalloc/allocator.h"
#include "trace.h"

enum { PLAY_MESSAGE_BYTES = 512 };

/* How the trace is played; the same for every allocator. */
typedef struct play_options {
    jdevice_t *device;
    bool threads;        /* the trace's threads are threads, not one after the other */
    bool streams;        /* the trace's streams are streams, not the default one */
    bool touch;          /* timed, writes the first byte of each page of a block */
    bool retry_failures; /* asks again for what the trace was refused */
} play_options_t;

/* What went wrong. */
typedef struct play_faults {
    size_t failure_count; /* allocations that were refused */
    /* Requests that the trace was refused and that were served here; they are freed at once. */
    size_t served_count;
    size_t error_count;                /* frees that were refused: never the trace's fault */
    size_t first_failure, first_error; /* the operation, where there is one */
    char failure_message[PLAY_MESSAGE_BYTES], error_message[PLAY_MESSAGE_BYTES];
} play_faults_t;

/* A trace on its way through an allocator. */
typedef struct player {
    const trace_t *trace;
    const play_options_t *options;
    jallocator_t *allocator;
    _Atomic(void *) *blocks; /* where each block lies: NULL before it is allocated */
    jstream_t **streams;     /* of each stream of the trace */
    jtag_t *tags;            /* of each tag of the trace; NULL where it has none */
    play_faults_t faults;    /* of the last round, all threads together */
    atomic_bool refused;     /* a free was refused in any round: something may be live for good */
    /* in_use_bytes is counted: not while the clock matters, all threads write to it */
    bool counted;
    atomic_size_t in_use_bytes, peak_in_use_bytes;
} player_t;

/* Makes the allocator that the composition describes, and streams; exits where that cannot be
 * done. */
void player_init(player_t *player, const trace_t *trace, const play_options_t *options,
                 const char *composition);
/* Nothing may be live; exits if the allocator thinks otherwise and has not said so before, by
 * refusing a free. */
void player_fini(player_t *player);

/* Before each round. */
void player_reset(player_t *player);
/* One operation, by the calling thread alone. Whether there are more or fewer bytes in use
 * afterwards: 1, -1, or 0 (refused, or what was refused is freed). */
int player_step(player_t *player, size_t operation);
/* All operations; the seconds they took. Exits if there are no threads. */
double player_run(player_t *player);
/* Frees what lives after this operation. */
void player_free_live(player_t *player, size_t operation);
/* The lowest allocator of the composition. */
jallocator_t *player_provider(const player_t *player);
/* What the composition has taken from its provider, now and at most: the one number that equivalent
 * compositions share. A policy's own is what it holds from the one below; and asking a policy may
 * change it (what waits to be reused is merged). */
size_t player_reserved(const player_t *player, size_t *peak_bytes);
/* Where a block lies; NULL: it was refused, or not allocated yet. */
void *player_block(const player_t *player, size_t block);

#endif
