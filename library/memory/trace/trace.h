/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_TRACE_TRACE_H
#define JALLOC_MEMORY_TRACE_TRACE_H

/* The writer of trace files: one for each file name, shared by all who record into it. A line per
 * call:
 *
 *     Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag
 *     0,1200,allocate,0x7f3a20000000,4096,0x0,64,bfc#3,assemble
 *     0,1650,free,0x7f3a20000000,4096,0x0,0,bfc#3,assemble
 *     1,1900,allocate failure,0x0,8589934592,0x0,64,bfc#3,
 *
 * Thread counts the threads of the process as they are seen, from 0. Time is in nanoseconds since
 * the file was begun, and never falls. A name with a comma or a quote is quoted as CSV does; a
 * control character in it becomes a blank. A recording that ends before its last user goes ends
 * with the action "stopped" and the reason in the place of the tag, where that can still be
 * written. */

#include "core/core.h"
#include "jalloc/device.h"
#include "jalloc/tag.h"
#include "memory/trace/trace_file.h"

typedef struct ji_trace ji_trace_t;

typedef enum ji_trace_action {
    JI_TRACE_ALLOCATE,
    JI_TRACE_FAILURE,
    JI_TRACE_FREE
} ji_trace_action_t;

typedef struct ji_trace_event {
    ji_trace_action_t action;
    const void *pointer; /* NULL for a failure */
    size_t size_bytes, alignment;
    const jstream_t *stream;
    const char *allocator; /* at most JI_TRACE_MAX_NAME characters */
    jtag_t tag;
} ji_trace_event_t;

/* One more user of the file; NULL: standard error. memory error; io error. */
jstatus_t ji_trace_open(const char *file, ji_trace_t **trace);
/* One user less. What is buffered is written; the last one closes the file. */
void ji_trace_close(ji_trace_t *trace);
/* Never fails: an error is logged once, and no more is recorded. */
void ji_trace_write(ji_trace_t *trace, const ji_trace_event_t *event);
/* io error, also when recording has stopped for one. */
jstatus_t ji_trace_flush(ji_trace_t *trace);

#endif
