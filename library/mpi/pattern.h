/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_PATTERN_H
#define JALLOC_MPI_PATTERN_H

/* Where the elements of a matrix are that two sides hold in different ways, and moving what two
 * processes share.
 *
 * Each side distributes rows to the rows of its grid of processes and columns to the columns, in
 * blocks, in turn; who has all of a matrix is a grid of one process. Rows and columns have nothing
 * to do with each other, so what a process of the one side shares with one of the other is some
 * runs of rows times some runs of columns:
 *
 *     source, blocks of 3 over 2          000111000111
 *     destination, blocks of 2 over 2     001100110011
 *     0 of the source and 1 of the destination share rows 2; 6 7
 *
 * Both processes find the same runs in the same order, each by itself, so a message has no need to
 * say what is in it. The rows of a window (some runs, found once) are moved column by column, then
 * those of the next window. */

#include "buffer/walk.h"

/* How a side distributes the indices of one dimension of a matrix (or view) to its processes. */
typedef struct ji_distribution {
    int64_t block;  /* indices of a block, at least 1 */
    int count;      /* processes */
    int step;       /* between the ranks of neighbours in this dimension */
    int64_t start;  /* index of the whole at which the view begins */
    int64_t stride; /* elements between neighbours in a process's memory */
} ji_distribution_t;

/* Indices that two processes share, in ascending order. */
typedef struct ji_run {
    int64_t index;               /* of the view */
    int64_t source, destination; /* positions in the memories of the two, along the dimension */
    int64_t length;
} ji_run_t;

/* A matrix on its way, seen from one process. */
typedef struct ji_transfer {
    int64_t extents[2];
    ji_distribution_t source[2], destination[2]; /* rows, columns */
    ji_region_t region;                          /* what is moved */
    jdatatype_t type;
    size_t element;                     /* bytes */
    bool conjugate;                     /* on the way; of a complex type */
    jdevice_t *from_device, *to_device; /* NULL: the host */
    const char *from;                   /* first elements of this process's memory */
    char *to;
    int64_t tile; /* most rows of a window */
} ji_transfer_t;

/* What one process of the source shares with one of the destination, and what of it is still to be
 * moved. */
typedef struct ji_share {
    int from[2], to[2];  /* rows and columns of their grids */
    int64_t row, column; /* of the view, where the next piece begins: a window and a column of it */
    int64_t left;        /* elements */
} ji_share_t;

/* What is done with the elements of a share. */
typedef enum ji_move {
    JI_MOVE_PACK,   /* from memory to a message */
    JI_MOVE_UNPACK, /* from a message to memory */
    JI_MOVE_DIRECT, /* from memory to memory */
    JI_MOVE_ZERO,   /* the destination's become 0 */
    JI_MOVE_REAL    /* the destination's lose their imaginary part */
} ji_move_t;

/* Begins a share: counts its elements. */
void ji_share_begin(const ji_transfer_t *transfer, ji_share_t *share);
/* Moves at most `most` of them, at least one where any are left; *moved says how many. `message`:
 * of pack and unpack; of the others any pointer. Done on return. Goes on after an error of a
 * device, so that the count is right. A direct move that changes signs is one of host memory. */
jstatus_t ji_share_move(const ji_transfer_t *transfer, ji_share_t *share, ji_move_t move,
                        int64_t most, char *message, int64_t *moved);

/* The same for pack and unpack, without moving: false where the piece is not one span of this
 * process's host memory, as it lies; otherwise the share goes on behind it, and the span is what
 * there is to send, or where to receive. */
bool ji_share_span(const ji_transfer_t *transfer, ji_share_t *share, ji_move_t move, int64_t most,
                   char **span, int64_t *moved);

/* Whether both sides distribute alike, so that every process has already what it is to have. */
bool ji_transfer_is_aligned(const ji_transfer_t *transfer);

#endif
