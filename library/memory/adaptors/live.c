/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Blocks stand in an array; the object's ledger finds them by address, and its lock is around all
 * of it. Their slots are reused, and stay where they are when the array grows, so a walk goes by
 * number and may let the lock go at each step.
 *
 *     ledger   address -> slot           blocks   0  live       pointer, size, tag, event
 *                                                 1  free       -> 3
 *                                                 2  leaving    (not in the ledger)
 *                                                 3  free       -> capacity: none
 *
 * What an adaptor writes on a stream when it allocates may still be ahead when the block is freed
 * on another one, or when it is looked at: an event behind it tells. Inline work needs none. */

#include "memory/adaptors/live.h"
#include "memory/frontier.h"

#include <sched.h>
#include <string.h>

#define LIVE_FIRST_CAPACITY 32

/* ---- What is written, in stream order ---- */

jstatus_t ji_live_begin_writing(const ji_live_t *live, jstream_t *stream, ji_live_block_t *block) {
    jdevice_t *device = live->below->device;
    if (stream == NULL && device->kind == JDEVICE_HOST)
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_stream_refuse_captured(device, stream, "writing to memory that is taken");
    return status == JSTATUS_SUCCESS ? ji_event_create_untimed(device, &block->written) : status;
}

jstatus_t ji_live_end_writing(jstream_t *stream, ji_live_block_t *block) {
    return block->written != NULL ? jevent_record(block->written, stream) : JSTATUS_SUCCESS;
}

jstatus_t ji_live_await_writing(const ji_live_block_t *block) {
    jstatus_t status =
        block->written != NULL ? jevent_synchronize(block->written) : JSTATUS_SUCCESS;
    return status == JSTATUS_FORKED ? JSTATUS_SUCCESS : status; /* nobody is left who could write */
}

void ji_live_settle(const ji_live_t *live, jstream_t *stream) {
    for (int i = 0; i < 2; ++i) /* a wait that fails once is tried again */
        if (jstream_synchronize(live->below->device, stream) == JSTATUS_SUCCESS)
            return;
}

/* ---- The blocks ---- */

static void live_enter(const ji_live_t *live) { ji_lock_acquire(&live->self->lock); }
static void live_leave(const ji_live_t *live) { ji_lock_release(&live->self->lock); }

void ji_live_abandon(const ji_live_t *live, jstream_t *stream, const ji_live_block_t *block,
                     void *memory, size_t memory_bytes) {
    if (block->written != NULL)
        ji_live_settle(live, stream);
    (void)jevent_destroy(block->written);

    live_enter(live);
    bool is_anothers = ji_ledger_find(&live->self->ledger, block->pointer) != NULL;
    live_leave(live);
    if (!is_anothers)
        (void)jallocator_deallocate(live->below, memory, memory_bytes, stream);
}

static bool live_make_room(ji_live_t *live) {
    if (live->first_free < live->capacity)
        return true;

    uint32_t capacity = live->capacity != 0 ? 2 * live->capacity : LIVE_FIRST_CAPACITY;
    size_t bytes;
    ji_live_block_t *blocks;
    if (capacity <= live->capacity || !ji_size_mul(capacity, sizeof *blocks, &bytes) ||
        (blocks = ji_metadata_zalloc(bytes)) == NULL)
        return false;

    if (live->blocks != NULL)
        memcpy(blocks, live->blocks, live->capacity * sizeof *blocks);
    for (uint32_t i = live->capacity; i < capacity; ++i)
        blocks[i].slot = i + 1;

    ji_metadata_free(live->blocks);
    live->blocks = blocks;
    live->capacity = capacity;
    return true;
}

jstatus_t ji_live_add(ji_live_t *live, ji_live_block_t *block) {
    jstatus_t status = JSTATUS_SUCCESS;
    live_enter(live);

    if (ji_ledger_find(&live->self->ledger, block->pointer) != NULL) {
        status =
            ji_fail(JSTATUS_CORRUPTED, "allocator \"%s\": \"%s\" has given out %p, which is live",
                    live->self->name, live->below->name, block->pointer);
    } else if (!ji_ledger_reserve(&live->self->ledger) || !live_make_room(live)) {
        status = ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\": no memory for bookkeeping",
                         live->self->name);
    } else {
        block->slot = live->first_free;
        block->tag = ji_tag_current;
        live->first_free = live->blocks[block->slot].slot;
        live->blocks[block->slot] = *block;

        ji_ledger_entry_t *entry =
            ji_ledger_insert(&live->self->ledger, block->pointer, block->size_bytes, block->tag);
        entry->number = block->slot;
        ji_books_allocate(&live->self->books, block->size_bytes);
    }

    live_leave(live);
    return status;
}

static jstatus_t live_refuse(const ji_live_t *live, const void *pointer) {
    const ji_ledger_entry_t *around = ji_ledger_find_containing(&live->self->ledger, pointer);
    if (around != NULL)
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p lies inside the block at %p (tag \"%s\") and is no "
                       "beginning of one",
                       live->self->name, pointer, (void *)around->address, jtag_name(around->tag));

    return ji_refuse_unknown(live->self->name, pointer, "already");
}

jstatus_t ji_live_take(ji_live_t *live, const void *pointer, size_t size_bytes,
                       ji_live_block_t *block) {
    jstatus_t status = JSTATUS_SUCCESS;
    live_enter(live);

    ji_ledger_entry_t *entry;
    while ((entry = ji_ledger_find(&live->self->ledger, pointer)) != NULL &&
           live->blocks[entry->number].examiners != 0) {
        live_leave(live);
        sched_yield();
        live_enter(live);
    }

    if (entry == NULL) {
        status = live_refuse(live, pointer);
    } else if (entry->size_bytes != size_bytes) {
        status = ji_fail(JSTATUS_INVALID_SIZE,
                         "allocator \"%s\": %p (tag \"%s\") has %zu bytes and is given back "
                         "with %zu",
                         live->self->name, pointer, jtag_name(entry->tag), entry->size_bytes,
                         size_bytes);
    } else {
        live->blocks[entry->number].leaving = true;
        *block = live->blocks[entry->number];
        ji_ledger_remove(&live->self->ledger, entry);
        ji_books_deallocate(&live->self->books, size_bytes);
    }

    live_leave(live);
    return status;
}

void ji_live_put_back(ji_live_t *live, const ji_live_block_t *block) {
    live_enter(live);
    live->blocks[block->slot] = *block;
    live->blocks[block->slot].leaving = false;

    ji_books_restore(&live->self->books, block->size_bytes);
    ji_ledger_entry_t *entry =
        ji_ledger_restore(&live->self->ledger, block->pointer, block->size_bytes, block->tag);
    if (entry != NULL)
        entry->number = block->slot;
    live_leave(live);
}

void ji_live_drop(ji_live_t *live, const ji_live_block_t *block) {
    (void)jevent_destroy(block->written);
    live_enter(live);
    live->blocks[block->slot] = (ji_live_block_t){.slot = live->first_free};
    live->first_free = block->slot;
    live_leave(live);
}

jstatus_t ji_live_examine(ji_live_t *live,
                          jstatus_t (*examine)(ji_live_t *live, const ji_live_block_t *block)) {
    jstatus_t result = JSTATUS_SUCCESS;

    live_enter(live);
    for (uint32_t i = 0; i < live->capacity; ++i) {
        if (live->blocks[i].pointer == NULL || live->blocks[i].leaving)
            continue;

        ++live->blocks[i].examiners;
        ji_live_block_t block = live->blocks[i];
        live_leave(live);

        jstatus_t status = examine(live, &block);
        if (status != JSTATUS_SUCCESS) {
            jlog_write(JLOG_WARNING, NULL, "%s", jstatus_last_message());
            result = status;
        }

        live_enter(live);
        --live->blocks[i].examiners;
    }

    live_leave(live);
    return result;
}

/* ---- Life ---- */

static void live_destroy(void *context) {
    ji_live_t *live = context;
    if (live->destroy != NULL)
        live->destroy(context);
    ji_metadata_free(live->blocks);
    ji_metadata_free(live);
}

jstatus_t ji_live_make(void *context, const jallocator_ops_t *own, const ji_traits_t *traits,
                       jallocator_t **out) {
    ji_live_t *live = context;
    if (live == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\": no memory for bookkeeping",
                       traits->name);

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = own->allocate;
    ops.deallocate = own->deallocate;
    ops.usable_size = NULL; /* exactly what was asked for */
    ops.find = NULL;        /* the object's ledger answers */
    ops.visit = NULL;

    if (own->trim != NULL)
        ops.trim = own->trim;
    if (own->check != NULL)
        ops.check = own->check;
    ops.destroy = live_destroy;

    live->below = traits->below;
    live->destroy = own->destroy;

    ji_traits_t keeping = *traits;
    keeping.threads = JALLOCATOR_THREADS_SAFE;
    keeping.keeps_books = true;
    jstatus_t status = ji_allocator_make(&ops, live, &keeping, &live->self);
    if (status == JSTATUS_SUCCESS)
        *out = live->self;
    else
        ji_metadata_free(live);

    return status;
}
