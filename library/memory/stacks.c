/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "memory/stacks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define STACKS_HAVE_BACKTRACE 1
#endif
#endif

#define STACKS_FIRST_CAPACITY 64

void ji_stacks_init(ji_stacks_t *stacks) {
    memset(stacks, 0, sizeof *stacks);
    ji_lock_init(&stacks->lock);
}

void ji_stacks_fini(ji_stacks_t *stacks) {
    ji_lock_fini(&stacks->lock);
    ji_ledger_fini(&stacks->ledger);
    ji_metadata_free(stacks->stacks);
}

static bool stacks_make_room(ji_stacks_t *stacks) {
    if (stacks->ledger.count < stacks->capacity)
        return true;
    size_t capacity = stacks->capacity != 0 ? 2 * stacks->capacity : STACKS_FIRST_CAPACITY;
    ji_stack_t *grown = ji_metadata_alloc(capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    if (stacks->stacks != NULL)
        memcpy(grown, stacks->stacks, stacks->capacity * sizeof *grown);
    ji_metadata_free(stacks->stacks);
    stacks->stacks = grown;
    stacks->capacity = capacity;
    return true;
}

void ji_stacks_put(ji_stacks_t *stacks, const void *address) {
    ji_stack_t stack = {{NULL}, 0};
#ifdef STACKS_HAVE_BACKTRACE
    stack.count = (uint32_t)backtrace(stack.frames, JI_STACK_FRAMES);
#endif
    ji_lock_acquire(&stacks->lock);
    ji_ledger_entry_t *entry = ji_ledger_find(&stacks->ledger, address);
    if (entry == NULL && stacks_make_room(stacks) && ji_ledger_reserve(&stacks->ledger)) {
        uint32_t number = (uint32_t)stacks->ledger.count;
        entry = ji_ledger_insert(&stacks->ledger, address, 1, 0);
        entry->number = number;
    }
    if (entry != NULL)
        stacks->stacks[entry->number] = stack;
    ji_lock_release(&stacks->lock);
}

ji_stack_t ji_stacks_get(ji_stacks_t *stacks, const void *address) {
    ji_stack_t stack = {{NULL}, 0};
    ji_lock_acquire(&stacks->lock);
    const ji_ledger_entry_t *entry = ji_ledger_find(&stacks->ledger, address);
    if (entry != NULL)
        stack = stacks->stacks[entry->number];
    ji_lock_release(&stacks->lock);
    return stack;
}

void ji_stack_describe(void *frame, char *text, size_t text_bytes) {
    Dl_info info;
    if (dladdr(frame, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, text_bytes, "%p", frame);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash != NULL ? slash + 1 : info.dli_fname;
    if (info.dli_sname != NULL)
        snprintf(text, text_bytes, "%s+0x%zx (%s)", info.dli_sname,
                 (size_t)((uintptr_t)frame - (uintptr_t)info.dli_saddr), file);
    else
        snprintf(text, text_bytes, "%s+0x%zx", file, (size_t)((uintptr_t)frame - (uintptr_t)info.dli_fbase));
}
