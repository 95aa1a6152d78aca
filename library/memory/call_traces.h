/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_CALL_TRACES_H
#define JALLOC_MEMORY_CALL_TRACES_H

/* Who allocated what lives at an address: call traces, for reports. A later allocation at the same
 * address takes the place of the earlier one, so nothing need be told of a free. Where there is no
 * memory for one more it is not kept. */

#include "core/lock.h"
#include "memory/ledger.h"

#define JI_CALL_TRACE_FRAMES 16

typedef struct ji_call_trace {
    void *frames[JI_CALL_TRACE_FRAMES];
    uint32_t count;
} ji_call_trace_t;

typedef struct ji_call_traces {
    ji_lock_t lock;
    ji_ledger_t ledger; /* address -> number, the index of its entry */
    ji_call_trace_t *entries;
    size_t capacity;
} ji_call_traces_t;

void ji_call_traces_init(ji_call_traces_t *traces);
void ji_call_traces_fini(ji_call_traces_t *traces);
/* Keeps the caller's call trace for the address. */
void ji_call_traces_put(ji_call_traces_t *traces, const void *address);
/* Copies what was kept for the address; count 0 where nothing was. */
ji_call_trace_t ji_call_traces_get(ji_call_traces_t *traces, const void *address);
/* The text of a frame: function and offset where the loader knows them. */
void ji_call_trace_describe(void *frame, char *text, size_t text_bytes);

#endif
