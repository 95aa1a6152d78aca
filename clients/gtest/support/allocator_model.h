/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_ALLOCATOR_MODEL_H
#define JALLOC_CLIENTS_GTEST_ALLOCATOR_MODEL_H

/* A model of what an allocator must do, and random operations that compare it with one.
 *
 * The model knows every live block by itself: its bytes, its tag, a pattern that was written into
 * it. After each operation it can compare: blocks do not overlap and are aligned (intervals in a
 * sorted table), contents are kept, statistics are exactly the model's, and what the allocator
 * shows of itself (visit) is exactly what is live. */

#include "jalloc/allocator.h"
#include "jtest.h"

#define MODEL_MAX_LIVE 256

typedef struct model_block {
    unsigned char *pointer;
    size_t size_bytes, alignment;
    jtag_t tag;
    unsigned char mark;
} model_block_t;

typedef struct model {
    jallocator_t *allocator;
    bool unreadable;      /* contents are not looked at */
    size_t largest_bytes; /* of a request */
    size_t largest_alignment;
    model_block_t blocks[MODEL_MAX_LIVE]; /* live, in no order */
    size_t live_count, in_use_bytes, peak_bytes, largest_request_bytes;
    uint64_t allocation_count, failure_count;
} model_t;

/* Writes so many bytes of one value, or tells whether they are there: by the device that the
 * allocator's memory is of. Done on return. */
jstatus_t model_try_fill(const jallocator_t *allocator, void *pointer, unsigned char value,
                         size_t size_bytes);
void model_fill(const jallocator_t *allocator, void *pointer, unsigned char value,
                size_t size_bytes);
bool model_is_filled(const jallocator_t *allocator, const void *pointer, unsigned char value,
                     size_t size_bytes);

void model_init(model_t *model, jallocator_t *allocator);
/* Allocates one block; false where the allocator is out of memory, which is counted. Any other
 * failure fails the test.
 * */
bool model_allocate(model_t *model, size_t size_bytes, size_t alignment);
/* Gives the i-th live block back, after looking whether its contents are whole. */
void model_deallocate(model_t *model, size_t i);
/* One random allocation or deallocation. */
void model_step(model_t *model);
/* Statistics, and every block that visit shows, against the model. */
void model_compare(model_t *model);
/* Gives everything back. */
void model_finish(model_t *model);

#endif
