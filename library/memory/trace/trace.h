/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_TRACE_TRACE_H
#define JALLOC_MEMORY_TRACE_TRACE_H

/* Traces: what was allocated and freed, when, by which thread, and for what, a line for each call.
 *
 *     Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag
 *     0,1200,allocate,0x7f3a20000000,4096,0x0,64,bfc#3,assemble
 *     0,1650,free,0x7f3a20000000,4096,0x0,0,bfc#3,assemble
 *     1,1900,allocate failure,0x0,8589934592,0x0,64,bfc#3,
 *
 * Thread counts the threads of the process as they are seen, from 0. Time is in nanoseconds since
 * the file was begun, and never falls. A name with a comma or a quote is quoted as CSV does; a
 * control character in it becomes a blank. A recording that ends before its last user goes ends
 * with the action "stopped" and the reason in the tag's column, where that can still be written.
 *
 *     trace.c         the library's writer: one for each file name, shared by all adaptors that
 *                     record into it (adaptors/record.c); lines in a buffer
 *     trace_file.c    the file, the lock and the line, without the rest of the library: the
 *                     preloaded recorder of any program's heap (clients/tools/record) has a copy
 *
 * What always holds: a program is not disturbed. A call that cannot be recorded is not, and is not
 * kept waiting for long; an error is logged once and ends the recording, not the program. The lines
 * of one address alternate, allocate, free, allocate; whoever records sees to the order of its
 * calls, the lock to that of the lines. A trace ends with a whole line. A forked child never writes
 * to its parent's file.
 *
 * To read: trace_file.h says why no descriptor and no lock is kept, then trace.c. */

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
