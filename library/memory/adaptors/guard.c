/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Guard words around each block.
 *
 *     from below                      pointer                pointer + size
 *     | padding ........ | guard      | the caller's bytes   | guard |
 *     |<- front: a multiple of the  ->|                      |<----->|
 *         alignment, >= guard_bytes                          guard_bytes, from the very next byte
 *
 * So the caller's pointer is aligned as below's is, and a write of a single byte too many is seen.
 * The words are made from the block's address and differ before and behind; no byte of them is 0 or
 * 0xff, which are what is written by mistake most often. They may lie in a device's memory: they
 * are written by its fill on the stream of the allocation, and read by its copy when that stream
 * has passed them. In a stream that is being captured neither can be done, so memory neither comes
 * nor goes there: capturing. A check of what is live reads on the NULL stream, and is refused while
 * a stream that waits for that one is being captured. A block found damaged when it is freed stays
 * live, so that whoever looks for the culprit still finds it as it is; the second time it goes. */

#include <stddef.h>

#include "jalloc/adaptor.h"
#include "memory/adaptors/live.h"

#define GUARD_UNIT_BYTES 16
#define GUARD_READ_BYTES 256 /* at a time */

typedef struct guard {
    ji_live_t live;
    size_t guard_bytes;
    atomic_size_t damaged_count; /* blocks that were found so when they were freed */
} guard_t;

typedef enum guard_side { GUARD_BEFORE, GUARD_BEHIND } guard_side_t;

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014: Fast splittable pseudorandom number
 * generators); each byte then 0x01, 0x03, ... 0x7f. */
static uint64_t guard_word(const ji_live_block_t *block, guard_side_t side) {
    uint64_t word = (uint64_t)(uintptr_t)block->pointer * 2 + (side == GUARD_BEHIND);

    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((word ^ (word >> 31)) | UINT64_C(0x0101010101010101)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
}

static unsigned char *guard_bytes_at(const guard_t *guard, const ji_live_block_t *block,
                                     guard_side_t side) {
    unsigned char *bytes = block->pointer;
    return side == GUARD_BEFORE ? bytes - guard->guard_bytes : bytes + block->size_bytes;
}

static jstatus_t guard_write(const guard_t *guard, const ji_live_block_t *block, guard_side_t side,
                             jstream_t *stream) {
    uint64_t word = guard_word(block, side);
    return jdevice_fill(guard->live.below->device, stream, guard_bytes_at(guard, block, side),
                        &word, sizeof word, guard->guard_bytes / sizeof word);
}

/* Reads one side, on the stream, when nothing in any stream writes to it any more. */
static jstatus_t guard_compare(const guard_t *guard, const ji_live_block_t *block,
                               guard_side_t side, jstream_t *stream) {
    unsigned char found[GUARD_READ_BYTES];
    jdevice_t *device = guard->live.below->device;
    const unsigned char *begin = guard_bytes_at(guard, block, side);
    uint64_t word = guard_word(block, side);

    for (size_t read = 0, bytes; read < guard->guard_bytes; read += bytes) {
        bytes = guard->guard_bytes - read < sizeof found ? guard->guard_bytes - read : sizeof found;
        jstatus_t status = jdevice_copy(device, stream, found, begin + read, bytes);
        if (status == JSTATUS_SUCCESS)
            status = jstream_synchronize(device, stream);

        if (status != JSTATUS_SUCCESS) {
            ji_live_settle(&guard->live, stream); /* it may still be writing to `found` */
            return status;
        }

        for (size_t i = 0; i < bytes; ++i) {
            unsigned char right = ((const unsigned char *)&word)[i % sizeof word];
            if (found[i] != right)
                return ji_fail(JSTATUS_CORRUPTED,
                               "allocator \"%s\": %zu bytes at %p (tag \"%s\"): byte %td, %s it, "
                               "was written to (0x%02x "
                               "in place of 0x%02x)",
                               guard->live.self->name, block->size_bytes, block->pointer,
                               jtag_name(block->tag),
                               begin + read + i - (unsigned char *)block->pointer,
                               side == GUARD_BEFORE ? "before" : "behind", found[i], right);
        }
    }

    return JSTATUS_SUCCESS;
}

static jstatus_t guard_inspect(const guard_t *guard, const ji_live_block_t *block,
                               jstream_t *stream) {
    jstatus_t status = guard_compare(guard, block, GUARD_BEFORE, stream);

    return status == JSTATUS_SUCCESS ? guard_compare(guard, block, GUARD_BEHIND, stream) : status;
}

static jstatus_t guard_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    guard_t *guard = context;
    ji_live_block_t block = {.size_bytes = size_bytes};

    size_t whole_bytes;
    if (!ji_size_round_up(guard->guard_bytes, alignment, &block.front_bytes) ||
        !ji_size_add(block.front_bytes, size_bytes, &whole_bytes) ||
        !ji_size_add(whole_bytes, guard->guard_bytes, &whole_bytes))
        return ji_fail(JSTATUS_INVALID_SIZE, "no %zu bytes of guards fit around %zu bytes",
                       guard->guard_bytes, size_bytes);

    void *memory;
    JTRY_RETURN(jallocator_allocate(guard->live.below, whole_bytes, alignment, stream, &memory));
    jstatus_t status = JSTATUS_SUCCESS;

    block.pointer = (char *)memory + block.front_bytes;
    JTRY(ji_live_begin_writing(&guard->live, stream, &block));
    JTRY(guard_write(guard, &block, GUARD_BEFORE, stream));
    JTRY(guard_write(guard, &block, GUARD_BEHIND, stream));
    JTRY(ji_live_end_writing(stream, &block));

    JTRY(ji_live_add(&guard->live, &block));
    *pointer = block.pointer;

done:
    if (status != JSTATUS_SUCCESS)
        ji_live_abandon(&guard->live, stream, &block, memory, whole_bytes);
    return status;
}

static jstatus_t guard_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    guard_t *guard = context;
    ji_live_block_t block;

    JTRY_RETURN(ji_live_take(&guard->live, pointer, size_bytes, &block));
    jstatus_t status = JSTATUS_SUCCESS;

    JTRY(ji_live_await_writing(&block));
    JTRY(jstream_synchronize(guard->live.below->device, stream));

    if (!block.refused) {
        status = guard_inspect(guard, &block, stream);
        block.refused = status == JSTATUS_CORRUPTED;
        atomic_fetch_add_explicit(&guard->damaged_count, block.refused, memory_order_relaxed);
        JTRY(status);
    }

    JTRY(jallocator_deallocate(guard->live.below, (char *)pointer - block.front_bytes,
                               block.front_bytes + size_bytes + guard->guard_bytes, stream));
    ji_live_drop(&guard->live, &block);

done:
    if (status != JSTATUS_SUCCESS)
        ji_live_put_back(&guard->live, &block);
    return status;
}

/* A block whose words are still ahead in its stream has not been used yet. */
static jstatus_t guard_examine(ji_live_t *live, const ji_live_block_t *block) {
    bool written = true;

    jstatus_t status =
        block->written != NULL ? jevent_query(block->written, &written) : JSTATUS_SUCCESS;
    if (status == JSTATUS_FORKED || (status == JSTATUS_SUCCESS && !written))
        return JSTATUS_SUCCESS;

    return status == JSTATUS_SUCCESS ? guard_inspect((const guard_t *)live, block, NULL) : status;
}

static jstatus_t guard_check(void *context) {
    guard_t *guard = context;
    jstatus_t status = ji_live_examine(&guard->live, guard_examine);
    return status == JSTATUS_SUCCESS ? jallocator_check(guard->live.below) : status;
}

/* What is unused is given back whatever was found. */
static jstatus_t guard_trim(void *context, size_t keep_bytes) {
    guard_t *guard = context;
    jstatus_t trimmed = jallocator_trim(guard->live.below, keep_bytes);
    jstatus_t status = ji_live_examine(&guard->live, guard_examine);
    return status == JSTATUS_SUCCESS ? trimmed : status;
}

/* Nothing is live any more: every block was looked at when it went. */
static void guard_destroy(void *context) {
    const guard_t *guard = context;
    size_t count = atomic_load_explicit(&guard->damaged_count, memory_order_relaxed);

    if (count != 0)
        jlog_write(JLOG_WARNING, NULL,
                   "allocator \"%s\": %zu of its allocations were written around",
                   guard->live.self->name, count);
}

static jstatus_t guard_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t own = {.allocate = guard_allocate,
                                         .deallocate = guard_deallocate,
                                         .trim = guard_trim,
                                         .check = guard_check,
                                         .destroy = guard_destroy};

    const jguard_options_t *options = request->options;
    if (options->guard_bytes % GUARD_UNIT_BYTES != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "guard: guard_bytes is %zu, must be a multiple of %d",
                       options->guard_bytes, GUARD_UNIT_BYTES);
    JTRY_RETURN(ji_option_check_bytes(request, "guard_bytes", options->guard_bytes));

    ji_traits_t traits = {.name = request->name, .below = request->below, .kind = &ji_kind_guard};

    guard_t *guard = ji_metadata_zalloc(sizeof *guard);
    if (guard != NULL)
        guard->guard_bytes = options->guard_bytes != 0 ? options->guard_bytes : GUARD_UNIT_BYTES;

    return ji_live_make(guard, &own, &traits, out);
}

static const jguard_options_t guard_defaults = JGUARD_OPTIONS_INIT;
static const jallocator_key_t guard_keys[] = {
    {"bytes", "SIZE", "16", "on each side, a multiple of 16"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t guard_members[] = {
    {JI_KEY_SIZE, offsetof(jguard_options_t, guard_bytes), 0}};

const ji_kind_t ji_kind_guard = {
    .public = {"guard", JALLOCATOR_ADAPTOR, "words around each block that nobody may write to",
               guard_keys},
    .members = guard_members,
    .options_type = "jguard_options_t",
    .options_bytes = sizeof(jguard_options_t),
    .defaults = &guard_defaults,
    .create = guard_create,
};

jstatus_t jallocator_create_guard(jallocator_t *below, const jguard_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_guard, NULL, below, options, allocator);
}
