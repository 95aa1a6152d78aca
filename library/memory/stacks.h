/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_STACKS_H
#define JALLOC_MEMORY_STACKS_H

/* Who allocated what lives at an address: call stacks, for reports. A later allocation at the same address takes the
 * place of the earlier one, so nothing need be told of a free. Where there is no memory for one more it is not kept. */

#include "core/lock.h"
#include "memory/ledger.h"

#define JI_STACK_FRAMES 16

typedef struct ji_stack {
    void *frames[JI_STACK_FRAMES];
    uint32_t count;
} ji_stack_t;

typedef struct ji_stacks {
    ji_lock_t lock;
    ji_ledger_t ledger; /* address -> number, the place in stacks */
    ji_stack_t *stacks;
    size_t capacity;
} ji_stacks_t;

void ji_stacks_init(ji_stacks_t *stacks);
void ji_stacks_fini(ji_stacks_t *stacks);
/* Keeps the caller's call stack for the address. */
void ji_stacks_put(ji_stacks_t *stacks, const void *address);
/* Copies what was kept for the address; count 0 where nothing was. */
ji_stack_t ji_stacks_get(ji_stacks_t *stacks, const void *address);
/* The text of a frame: function and offset where the loader knows them. */
void ji_stack_describe(void *frame, char *text, size_t text_bytes);

#endif
