/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ADAPTORS_LIVE_H
#define JALLOC_MEMORY_ADAPTORS_LIVE_H

/* An adaptor that knows the blocks that are live in it: where they are, how large exactly, for
 * whom, and since which point of their stream what the adaptor itself wrote is there. exact, guard
 * and fill are made of it; what holds for all adaptors is in adaptor.h.
 *
 * A free goes in two steps, because below is called without a lock in between: ji_live_take() takes
 * the block out, so nobody else can free it and a new block may get its address; then
 * ji_live_drop() forgets it, or, when it could not be freed after all, ji_live_put_back() makes it
 * live again, for which its slot is kept. */

#include "memory/adaptor.h"

typedef struct ji_live_block {
    void *pointer; /* NULL: the slot is free */
    size_t size_bytes;
    size_t front_bytes; /* taken from below before it; the adaptor's own */
    /* Behind what was written when it was allocated; NULL: that was done at once. */
    jevent_t *written;
    jtag_t tag;
    uint32_t slot; /* its own; of a free slot the next free one */
    uint32_t examiners;
    bool leaving; /* taken out */
    bool refused; /* a free found it damaged; the adaptor's own */
} ji_live_block_t;

typedef struct ji_live {
    jallocator_t *below; /* first, as ji_adaptor_ops wants it */
    jallocator_t *self;  /* whose context this is the beginning of; its ledger: address -> slot */
    void (*destroy)(void *context);
    ji_live_block_t *blocks;       /* under the object's lock, as its books and ledger */
    uint32_t capacity, first_free; /* capacity: none is free */
} ji_live_t;

/* Makes the adaptor over traits->below. `context` begins with a ji_live_t, is zeroed bookkeeping
 * memory and belongs to the adaptor, on failure too; NULL: memory error. Of `own` the slots
 * allocate, deallocate, trim, check and destroy are looked at; destroy is called before the context
 * is freed. */
jstatus_t ji_live_make(void *context, const jallocator_ops_t *own, const ji_traits_t *traits,
                       jallocator_t **out);

/* Before memory is written to on a stream: the block's event, where one is needed. */
jstatus_t ji_live_begin_writing(const ji_live_t *live, jstream_t *stream, ji_live_block_t *block);
/* After it. */
jstatus_t ji_live_end_writing(jstream_t *stream, ji_live_block_t *block);
/* The host waits until what was written when the block was allocated is there. */
jstatus_t ji_live_await_writing(const ji_live_block_t *block);
/* After a failure: waits, as well as can be, until nothing that was ordered in the stream is under
 * way any more: a wait that fails is tried once more. A device whose every wait fails does no
 * work. */
void ji_live_settle(const ji_live_t *live, jstream_t *stream);
/* For an allocation that came to nothing: waits for what was ordered, and gives the memory back,
 * unless it is another block's. */
void ji_live_abandon(const ji_live_t *live, jstream_t *stream, const ji_live_block_t *block,
                     void *memory, size_t memory_bytes);

/* A block is live from now on, with the thread's tag. memory error; corrupted (one is live there:
 * below has given it out twice). */
jstatus_t ji_live_add(ji_live_t *live, ji_live_block_t *block);
/* Takes out the block that begins at the pointer. not found; invalid size. Waits while it is
 * examined. */
jstatus_t ji_live_take(ji_live_t *live, const void *pointer, size_t size_bytes,
                       ji_live_block_t *block);
void ji_live_put_back(ji_live_t *live, const ji_live_block_t *block);
void ji_live_drop(ji_live_t *live, const ji_live_block_t *block);

/* Examines each live block, without the lock, while nobody can free it. Every one is examined; each
 * failure is logged, and the last one's status and message are the answer. */
jstatus_t ji_live_examine(ji_live_t *live,
                          jstatus_t (*examine)(ji_live_t *live, const ji_live_block_t *block));

#endif
