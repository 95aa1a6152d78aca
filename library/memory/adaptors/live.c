/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Blocks stand in an array; a ledger finds them by address. Their slots are reused, and stay where
 * they are when the array grows, so a walk goes by number and may let the lock go at each step.
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

void ji_live_abandon(const ji_live_t *live, jstatus_t why, jstream_t *stream,
                     const ji_live_block_t *block, void *memory, size_t memory_bytes) {
    if (block->written != NULL)
        ji_live_settle(live, stream);
    (void)jevent_destroy(block->written);

    if (why != JSTATUS_CORRUPTED)
        (void)jallocator_deallocate(live->below, memory, memory_bytes, stream);
}

/* ---- The blocks ---- */

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
    ji_lock_acquire(&live->lock);

    if (ji_ledger_find(&live->ledger, block->pointer) != NULL) {
        status =
            ji_fail(JSTATUS_CORRUPTED, "allocator \"%s\": \"%s\" has given out %p, which is live",
                    live->self->name, live->below->name, block->pointer);
    } else if (!ji_ledger_reserve(&live->ledger) || !live_make_room(live)) {
        status = ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\": no memory for bookkeeping",
                         live->self->name);
    } else {
        block->slot = live->first_free;
        block->tag = ji_tag_current;
        live->first_free = live->blocks[block->slot].slot;
        live->blocks[block->slot] = *block;

        ji_ledger_entry_t *entry =
            ji_ledger_insert(&live->ledger, block->pointer, block->size_bytes, block->tag);
        entry->number = block->slot;
    }

    ji_lock_release(&live->lock);
    return status;
}

static jstatus_t live_refuse(const ji_live_t *live, const void *pointer) {
    const ji_ledger_entry_t *around = ji_ledger_find_containing(&live->ledger, pointer);
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
    ji_lock_acquire(&live->lock);

    ji_ledger_entry_t *entry;
    while ((entry = ji_ledger_find(&live->ledger, pointer)) != NULL &&
           live->blocks[entry->number].examiners != 0) {
        ji_lock_release(&live->lock);
        sched_yield();
        ji_lock_acquire(&live->lock);
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
        ji_ledger_remove(&live->ledger, entry);
    }

    ji_lock_release(&live->lock);
    return status;
}

void ji_live_put_back(ji_live_t *live, const ji_live_block_t *block) {
    ji_lock_acquire(&live->lock);
    live->blocks[block->slot] = *block;
    live->blocks[block->slot].leaving = false;

    ji_ledger_entry_t *entry =
        ji_ledger_restore(&live->ledger, block->pointer, block->size_bytes, block->tag);
    if (entry != NULL)
        entry->number = block->slot;
    ji_lock_release(&live->lock);
}

void ji_live_drop(ji_live_t *live, const ji_live_block_t *block) {
    (void)jevent_destroy(block->written);
    ji_lock_acquire(&live->lock);
    live->blocks[block->slot] = (ji_live_block_t){.slot = live->first_free};
    live->first_free = block->slot;
    ji_lock_release(&live->lock);
}

jstatus_t ji_live_examine(ji_live_t *live,
                          jstatus_t (*examine)(ji_live_t *live, const ji_live_block_t *block)) {
    jstatus_t result = JSTATUS_SUCCESS;

    ji_lock_acquire(&live->lock);
    for (uint32_t i = 0; i < live->capacity; ++i) {
        if (live->blocks[i].pointer == NULL || live->blocks[i].leaving)
            continue;

        ++live->blocks[i].examiners;
        ji_live_block_t block = live->blocks[i];
        ji_lock_release(&live->lock);

        jstatus_t status = examine(live, &block);
        if (status != JSTATUS_SUCCESS) {
            jlog_write(JLOG_WARNING, NULL, "%s", jstatus_last_message());
            result = status;
        }

        ji_lock_acquire(&live->lock);
        --live->blocks[i].examiners;
    }

    ji_lock_release(&live->lock);
    return result;
}

/* ---- Slots of the table ---- */

static jallocation_t live_describe(const ji_live_t *live, const ji_ledger_entry_t *entry) {
    return (jallocation_t){
        .struct_size = sizeof(jallocation_t),
        .allocator = live->self,
        .pointer = (void *)entry->address,
        .size_bytes = entry->size_bytes,
        .usable_bytes = entry->size_bytes,
        .tag = entry->tag,
        .live = true,
    };
}

static jstatus_t live_find(void *context, const void *pointer, jallocation_t *block) {
    ji_live_t *live = context;

    ji_lock_acquire(&live->lock);
    const ji_ledger_entry_t *entry = ji_ledger_find(&live->ledger, pointer);
    if (entry == NULL)
        entry = ji_ledger_find_containing(&live->ledger, pointer);
    if (entry != NULL)
        *block = live_describe(live, entry);
    ji_lock_release(&live->lock);

    return entry != NULL ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND;
}

static void live_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    ji_live_t *live = context;

    ji_lock_acquire(&live->lock);
    for (const ji_ledger_entry_t *entry = NULL;
         (entry = ji_ledger_next(&live->ledger, entry)) != NULL;) {
        jallocation_t block = live_describe(live, entry);
        if (!visitor(visitor_context, &block))
            break;
    }
    ji_lock_release(&live->lock);
}

static void live_destroy(void *context) {
    ji_live_t *live = context;
    if (live->destroy != NULL)
        live->destroy(context);
    ji_lock_fini(&live->lock);
    ji_ledger_fini(&live->ledger);
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
    ops.find = live_find;
    ops.visit = live_visit;

    if (own->trim != NULL)
        ops.trim = own->trim;
    if (own->check != NULL)
        ops.check = own->check;
    ops.destroy = live_destroy;

    live->below = traits->below;
    live->destroy = own->destroy;
    ji_lock_init(&live->lock);

    jstatus_t status = ji_allocator_make(&ops, live, traits, &live->self);
    if (status == JSTATUS_SUCCESS) {
        *out = live->self;
    } else {
        live->destroy = NULL;
        live_destroy(live);
    }

    return status;
}
