/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "memory/call_traces.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define CALL_TRACES_HAVE_BACKTRACE 1
#endif
#endif

#define CALL_TRACES_FIRST_CAPACITY 64

void ji_call_traces_init(ji_call_traces_t *traces) {
    memset(traces, 0, sizeof *traces);
    ji_lock_init(&traces->lock);
}

void ji_call_traces_fini(ji_call_traces_t *traces) {
    ji_lock_fini(&traces->lock);
    ji_ledger_fini(&traces->ledger);
    ji_metadata_free(traces->entries);
}

static bool call_traces_make_room(ji_call_traces_t *traces) {
    if (traces->ledger.table.count < traces->capacity)
        return true;

    size_t capacity = traces->capacity != 0 ? 2 * traces->capacity : CALL_TRACES_FIRST_CAPACITY;
    ji_call_trace_t *grown = ji_metadata_alloc(capacity * sizeof *grown);
    if (grown == NULL)
        return false;

    if (traces->entries != NULL)
        memcpy(grown, traces->entries, traces->capacity * sizeof *grown);
    ji_metadata_free(traces->entries);
    traces->entries = grown;
    traces->capacity = capacity;
    return true;
}

void ji_call_traces_put(ji_call_traces_t *traces, const void *address) {
    ji_call_trace_t trace = {{NULL}, 0};
#ifdef CALL_TRACES_HAVE_BACKTRACE
    trace.count = (uint32_t)backtrace(trace.frames, JI_CALL_TRACE_FRAMES);
#endif

    ji_lock_acquire(&traces->lock);
    ji_ledger_entry_t *entry = ji_ledger_find(&traces->ledger, address);
    if (entry == NULL && call_traces_make_room(traces) && ji_ledger_reserve(&traces->ledger)) {
        uint32_t number = (uint32_t)traces->ledger.table.count;
        entry = ji_ledger_insert(&traces->ledger, address, 1, 0);
        entry->number = number;
    }

    if (entry != NULL)
        traces->entries[entry->number] = trace;
    ji_lock_release(&traces->lock);
}

ji_call_trace_t ji_call_traces_get(ji_call_traces_t *traces, const void *address) {
    ji_call_trace_t trace = {{NULL}, 0};

    ji_lock_acquire(&traces->lock);
    const ji_ledger_entry_t *entry = ji_ledger_find(&traces->ledger, address);
    if (entry != NULL)
        trace = traces->entries[entry->number];

    ji_lock_release(&traces->lock);
    return trace;
}

void ji_call_trace_describe(void *frame, char *text, size_t text_bytes) {
    Dl_info info;
    if (dladdr(frame, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, text_bytes, "%p", frame);
        return;
    }

    const char *slash = strrchr(info.dli_fname, '/'),
               *file = slash != NULL ? slash + 1 : info.dli_fname;

    if (info.dli_sname != NULL)
        snprintf(text, text_bytes, "%s+0x%zx (%s)", info.dli_sname,
                 (size_t)((uintptr_t)frame - (uintptr_t)info.dli_saddr), file);
    else
        snprintf(text, text_bytes, "%s+0x%zx", file,
                 (size_t)((uintptr_t)frame - (uintptr_t)info.dli_fbase));
}
