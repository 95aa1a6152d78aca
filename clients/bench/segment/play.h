/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef SEGMENT_PLAY_H
#define SEGMENT_PLAY_H

/* What is asked of a contender, the same for all of them.
 *
 *     pair    allocate a block, free it
 *     order   allocate 64 blocks, free them in an order that was drawn once
 *     mix     1000 blocks are live; the step replaces one, whichever it is, by one of another size:
 *             of 16 bytes to 64 KiB, log-uniform. 4096 steps were drawn once and come again and
 *             again
 *
 * The first word of every block is written, as a block that nobody writes to is of no use. Before
 * anything is timed, all workers at once fill blocks with what only they know, and find it again
 * before they free them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contender.h"

enum {
    PLAY_ORDER_BLOCKS = 64,
    PLAY_MIX_BLOCKS = 1000,
    PLAY_MIX_STEPS = 4096,
    PLAY_MAX_BLOCKS = PLAY_MIX_BLOCKS
};

typedef enum play_kind_t { PLAY_PAIR, PLAY_ORDER, PLAY_MIX } play_kind_t;

typedef struct workload {
    const char *name;
    play_kind_t kind;
    size_t bytes; /* of each block; mix: 0 */
} workload_t;

/* One worker's blocks in one contender. */
typedef struct player {
    uint64_t stamp; /* no two workers have the same */
    size_t position;
    block_t live[PLAY_MAX_BLOCKS]; /* 0: none */
    uint32_t bytes[PLAY_MAX_BLOCKS];
} player_t;

/* The order and the steps; once, before the workers exist. */
void play_draw(void);
size_t play_filled_bytes(const workload_t *workload); /* what play_fill() asks for */

/* Allocates the blocks that the workload has live (for pair, as many as for order), and fills
 * them. */
bool play_fill(const contender_call_t *call, player_t *player, const workload_t *workload);
/* Finds what was written, in all of the block or in its first word, and frees. */
bool play_drain(const contender_call_t *call, player_t *player, bool whole);
/* Does it so many times: a pair, 64 pairs (order), a step. False: something was refused. */
bool play(const contender_call_t *call, player_t *player, const workload_t *workload, size_t count);

#endif
