/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Names and their numbers.
 *
 * Names are kept in a table that only grows and are found by a linear walk: there are dozens, and
 * whoever needs one often keeps its number. A name, once published by the count, never moves or
 * changes, so numbers become names without a lock. The table is static: a tag costs no bookkeeping
 * memory, and no test finds any of it left over. */

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/lock.h"
#include "core/tag.h"

#define TAG_MAX_COUNT 1024

__thread jthread_hint_ jthread_hint_1_ = {JTHREAD_NO_ALLOCATOR_, NULL, 0};

static pthread_once_t tag_once = PTHREAD_ONCE_INIT;
static ji_lock_t tag_lock;
static char tag_names[TAG_MAX_COUNT][JTAG_NAME_BYTES]; /* [tag - 1] */
static atomic_uint tag_count;

static void tag_start(void) { ji_lock_init(&tag_lock); }

static jtag_t tag_find(const char *name, size_t length, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        if (strncmp(tag_names[i], name, length) == 0 && tag_names[i][length] == '\0')
            return i + 1;
    return 0;
}

jtag_t jtag_intern(const char *name) {
    if (name == NULL || name[0] == '\0')
        return 0;

    size_t length = strnlen(name, JTAG_NAME_BYTES - 1);
    jtag_t tag = tag_find(name, length, atomic_load_explicit(&tag_count, memory_order_acquire));
    if (tag != 0)
        return tag;

    pthread_once(&tag_once, tag_start);
    ji_lock_acquire(&tag_lock);

    unsigned count = atomic_load_explicit(&tag_count, memory_order_relaxed);
    tag = tag_find(name, length, count);
    if (tag == 0 && count < TAG_MAX_COUNT) {
        memcpy(tag_names[count], name, length);
        tag = count + 1;
        atomic_store_explicit(&tag_count, tag, memory_order_release);
    }

    ji_lock_release(&tag_lock);
    return tag;
}

const char *jtag_name(jtag_t tag) {
    return tag != 0 && tag <= atomic_load_explicit(&tag_count, memory_order_acquire)
               ? tag_names[tag - 1]
               : "";
}

jtag_t jtag_set(jtag_t tag) {
    jtag_t previous = ji_tag_current;
    jthread_hint_1_.shifted_tag = (uint64_t)tag << 32;
    return previous;
}

jtag_t jtag_current(void) { return ji_tag_current; }
