/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SEGMENT_MODEL_H
#define JALLOC_CLIENTS_GTEST_SEGMENT_MODEL_H

/* A model of what an allocator in a segment must do, and workers that strain one.
 *
 * The model knows every live block: where it is, how large, whose, and what was written into it. It
 * does random operations through several attachments of this process to one segment, right ones and
 * wrong ones, and compares the segment's books with its own: contents, owners, and the bytes that
 * each slot owns, which must be equal.
 *
 * A worker is one of many, threads or processes, that work at once. Nobody knows all blocks then;
 * each block carries stamps from its first byte to its last, so one that was handed out twice,
 * moved or freed too early is seen by whoever looks next. Blocks that go from worker to worker lie
 * on a board, in memory that all of them share. */

#include "segment_helper.h"

#define MODEL_ATTACHMENTS 3
#define MODEL_BLOCKS 400

typedef struct model_block {
    joffset_t offset;
    size_t size_bytes;
    uint64_t stamp;
    unsigned owner;
} model_block_t;

typedef struct segment_model {
    place_t *place;
    jsegment_t *segments[MODEL_ATTACHMENTS]; /* the first stays to the end */
    jshared_t *shared[MODEL_ATTACHMENTS];
    jshared_kind_t kind;
    size_t largest_bytes; /* of a request */
    model_block_t blocks[MODEL_BLOCKS];
    size_t count, refused; /* live; allocations that there was no memory for */
} segment_model_t;

/* Makes the segment and in it an allocator, whose id is 1. bytes: of a page, or of requests at
 * most. False: it failed. */
bool segment_model_begin(segment_model_t *model, place_t *place, jshared_kind_t kind, size_t bytes);
void segment_model_step(segment_model_t *model);
void segment_model_compare(segment_model_t *model);
/* Gives everything back, and looks whether all that there was can be had again. */
void segment_model_end(segment_model_t *model);

/* Writes stamps into a block, and looks whether they are there. */
void stamp_write(unsigned char *bytes, size_t size_bytes, uint64_t stamp);
bool stamp_holds(const unsigned char *bytes, size_t size_bytes, uint64_t stamp);

/* Where workers put blocks for each other. */
#define BOARD_CELLS 256
typedef struct board {
    joffset_atomic_t cells[BOARD_CELLS];
    uint64_t go, taken[64]; /* go: bits that the test sets. taken: blocks that worker i freed */
} board_t;

typedef struct worker {
    jshared_t *shared;
    board_t *board; /* NULL: none */
    uint64_t random;
    int64_t iterations;
    size_t largest_bytes, smallest_bytes;
    /* What goes to the board belongs to the segment from then on, so that it outlives this
     * worker. */
    bool gives;
} worker_t;
/* Works; gives what it still has back. */
void worker_run(worker_t *worker);
/* A board in memory that this process and those forked from it share; to be unmapped. */
board_t *board_map(void);
/* Gives back what lies on the board. How many blocks. */
size_t board_clear(board_t *board, jshared_t *shared);

#endif
