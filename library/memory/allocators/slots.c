/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Slots of one size, in blocks taken from below.
 *
 *     block A      | slot 0    | slot 1    | slot 2    | slot 3    |
 *     records of A | free -> 3 | live      | live      | free: end |
 *     block B      | slot 0    | slot 1    | slot 2    | slot 3    |
 *     records of B | live      | live      | live      | live      |
 *
 *     blocks with a free slot:  A          all blocks by address:  B, A
 *
 * A record of each slot, beside the memory, says who has it or which free slot of the block
 * follows. A block that has a free slot is in a list, whose first block's first slot is taken; a
 * block that was full and gets a slot back becomes the first, so that others have a chance to
 * become free as a whole. A pointer is found in the table of blocks, by a binary search, and its
 * slot by a division.
 *
 * A free slot is behind the fence of its free. A request passes over a bounded number of slots
 * that its stream cannot have yet, then takes a new block. Only where there is none to be had are
 * all of them looked at, and in the end its stream waits for one; the host does not. */

#include "jalloc/policy.h"
#include "memory/allocators/policy.h"
#include "memory/allocators/ranges.h"

#define SLOTS_DEFAULT_SLOT_BYTES 4096
#define SLOTS_DEFAULT_BLOCK_SLOTS 64
#define SLOTS_MAX_BLOCK_SLOTS ((size_t)1 << 31) /* indices in a block are 32 bits */
#define SLOTS_MAX_ALIGNMENT ((size_t)1 << 30)
/* Free slots behind fences that a call looks at while there are other ways. */
#define SLOTS_MAX_PASSED_OVER 32
#define SLOTS_END UINT32_MAX

typedef struct slots_slot {
    size_t size_bytes; /* as asked for; 0: free */
    ji_fence_t fence;  /* free: of its free */
    jtag_t tag;        /* free: of whom it was for last */
    uint32_t next;     /* free: the next free one of the block, the latest first; or SLOTS_END */
} slots_slot_t;

typedef struct slots_block {
    uintptr_t begin;
    uint32_t slot_count, live_count;
    uint32_t free;  /* first free slot; or SLOTS_END */
    ji_link_t link; /* in the list of blocks with a free slot */
    slots_slot_t slots[];
} slots_block_t;

typedef struct slots {
    jallocator_t *self, *below;
    size_t slot_bytes, alignment; /* a slot's beginning is always a multiple of it */
    size_t block_slots, limit_slots;
    bool below_gives_in_order;
    ji_ranges_t blocks;
    ji_list_t with_free; /* blocks with a free slot */
    ji_frontier_t frontier;
    size_t slot_count, live_count, peak_slot_count, peak_live_count;
} slots_t;

/* ---- Blocks ---- */

static uintptr_t slots_address(const slots_t *slots, const slots_block_t *block, size_t index) {
    return block->begin + index * slots->slot_bytes;
}

/* Takes a block from below, whose slots are then the first free ones. */
static jstatus_t slots_grow(slots_t *slots, jstream_t *stream) {
    size_t count = slots->block_slots, bytes;
    if (count > slots->limit_slots - slots->slot_count)
        count = slots->limit_slots - slots->slot_count;
    if (count == 0)
        return ji_fail(JSTATUS_MEMORY_ERROR, "all %zu slots are in use, which is the limit",
                       slots->limit_slots);
    if (!ji_size_mul(count, slots->slot_bytes, &bytes))
        return ji_fail(JSTATUS_INVALID_SIZE, "a block of %zu slots of %zu bytes overflows", count,
                       slots->slot_bytes);

    jstatus_t status = JSTATUS_SUCCESS;
    void *memory;
    slots_block_t *block = NULL;
    if (!ji_ranges_reserve(&slots->blocks) ||
        (block = ji_metadata_zalloc(sizeof *block + count * sizeof block->slots[0])) == NULL)
        return ji_refuse_bookkeeping();

    ji_fence_t fence;
    JTRY(ji_frontier_mark_taken(&slots->frontier, slots->below_gives_in_order, stream, &fence));
    JTRY(jallocator_allocate(slots->below, bytes, slots->alignment, stream, &memory));

    block->begin = (uintptr_t)memory;
    block->slot_count = (uint32_t)count;
    for (uint32_t i = 0; i < block->slot_count; ++i) {
        block->slots[i].next = i + 1;
        block->slots[i].fence = fence;
    }
    block->slots[count - 1].next = SLOTS_END;

    ji_ranges_insert(&slots->blocks, memory, bytes, block);
    ji_list_push_front(&slots->with_free, &block->link);

    slots->slot_count += count;
    if (slots->peak_slot_count < slots->slot_count)
        slots->peak_slot_count = slots->slot_count;
    block = NULL;
done:
    ji_metadata_free(block);
    return status;
}

/* Gives a block without a live slot to below, after its fences. It stays where that fails. */
static jstatus_t slots_shrink(slots_t *slots, slots_block_t *block) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (uint32_t i = 0; i < block->slot_count; ++i)
        JTRY(ji_frontier_drain(&slots->frontier, block->slots[i].fence));
    JTRY(jallocator_deallocate(slots->below, (void *)block->begin,
                               block->slot_count * slots->slot_bytes,
                               ji_frontier_stream(&slots->frontier, block->slots[0].fence)));

    ji_ranges_remove(&slots->blocks, (void *)block->begin);
    ji_list_remove(&block->link);
    slots->slot_count -= block->slot_count;
    ji_metadata_free(block);
done:
    return status;
}

/* ---- Slots ---- */

/* Takes a free slot out of its block: the one that *link names. */
static void *slots_take(slots_t *slots, slots_block_t *block, uint32_t *link, size_t size_bytes) {
    uint32_t index = *link;
    slots_slot_t *slot = &block->slots[index];

    *link = slot->next;
    slot->size_bytes = size_bytes;
    slot->tag = ji_tag_current;

    ++block->live_count;
    if (++slots->live_count > slots->peak_live_count)
        slots->peak_live_count = slots->live_count;

    if (block->free == SLOTS_END)
        ji_list_remove(&block->link);

    return (void *)slots_address(slots, block, index);
}

/* Takes the first slot that the stream may have now, looking at so many that it may not; NULL:
 * none. */
static void *slots_search(slots_t *slots, size_t size_bytes, jstream_t *stream, size_t looks) {
    for (slots_block_t *block = JI_LIST_FIRST(&slots->with_free, slots_block_t, link);
         block != NULL; block = JI_LIST_NEXT(&slots->with_free, block, slots_block_t, link))
        for (uint32_t *link = &block->free; *link != SLOTS_END; link = &block->slots[*link].next) {
            if (ji_frontier_passed(&slots->frontier, block->slots[*link].fence, stream))
                return slots_take(slots, block, link, size_bytes);
            if (--looks == 0)
                return NULL;
        }
    return NULL;
}

static jstatus_t slots_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    slots_t *slots = context;
    if (size_bytes > slots->slot_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "a slot has %zu bytes", slots->slot_bytes);
    if (alignment > slots->alignment)
        return ji_fail(JSTATUS_INVALID_VALUE, "slots of %zu bytes are aligned to %zu",
                       slots->slot_bytes, slots->alignment);

    JTRY_RETURN(ji_policy_check_stream(&slots->frontier, stream));
    jstatus_t status = JSTATUS_SUCCESS;

    void *memory = slots_search(slots, size_bytes, stream, SLOTS_MAX_PASSED_OVER);
    if (JI_UNLIKELY(memory == NULL)) {
        status = slots_grow(slots, stream);
        memory = slots_search(slots, size_bytes, stream, SIZE_MAX);
        slots_block_t *block = JI_LIST_FIRST(&slots->with_free, slots_block_t, link);
        if (memory == NULL && block != NULL &&
            ji_frontier_wait(&slots->frontier, block->slots[block->free].fence, stream) ==
                JSTATUS_SUCCESS)
            memory = slots_take(slots, block, &block->free, size_bytes);
    }

    if (memory == NULL)
        return status;
    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* The slot that contains the pointer; NULL: none. */
static slots_slot_t *slots_at(const slots_t *slots, const void *pointer, slots_block_t **in,
                              uintptr_t *begin) {
    slots_block_t *block = ji_ranges_find(&slots->blocks, pointer);
    if (block == NULL)
        return NULL;

    size_t index = ((uintptr_t)pointer - block->begin) / slots->slot_bytes;
    *in = block;
    *begin = slots_address(slots, block, index);
    return &block->slots[index];
}

static jstatus_t slots_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    slots_t *slots = context;
    slots_block_t *block;
    uintptr_t begin;
    slots_slot_t *slot = slots_at(slots, pointer, &block, &begin);

    if (JI_UNLIKELY(slot == NULL))
        return ji_refuse_foreign(slots->self, pointer);
    if (JI_UNLIKELY(slot->size_bytes == 0))
        return ji_refuse_freed(slots->self, pointer, slot->tag);
    if (JI_UNLIKELY(begin != (uintptr_t)pointer))
        return ji_refuse_interior(slots->self, pointer, begin, slot->tag);
    if (JI_UNLIKELY(slot->size_bytes != size_bytes))
        return ji_refuse_size(slots->self, pointer, slot->tag, slot->size_bytes, size_bytes);

    JTRY_RETURN(ji_frontier_mark(&slots->frontier, stream, &slot->fence));
    if (block->free == SLOTS_END)
        ji_list_push_front(&slots->with_free, &block->link);

    slot->size_bytes = 0;
    slot->next = block->free;
    block->free = (uint32_t)(slot - block->slots);
    --block->live_count;
    --slots->live_count;
    return JSTATUS_SUCCESS;
}

static size_t slots_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const slots_t *slots = context;
    (void)pointer, (void)size_bytes;
    return slots->slot_bytes;
}

static void slots_describe(const slots_t *slots, const slots_slot_t *slot, uintptr_t begin,
                           jallocation_t *block) {
    block->pointer = (void *)begin;
    block->live = slot->size_bytes != 0;
    block->size_bytes = block->live ? slot->size_bytes : slots->slot_bytes;
    block->usable_bytes = slots->slot_bytes;
    block->tag = block->live ? slot->tag : 0;
}

static jstatus_t slots_find(void *context, const void *pointer, jallocation_t *found) {
    const slots_t *slots = context;
    slots_block_t *block;
    uintptr_t begin;
    const slots_slot_t *slot = slots_at(slots, pointer, &block, &begin);
    if (slot == NULL || (uintptr_t)pointer - begin >= slot->size_bytes)
        return JSTATUS_NOT_FOUND;

    slots_describe(slots, slot, begin, found);
    return JSTATUS_SUCCESS;
}

static void slots_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const slots_t *slots = context;
    jallocation_t shown = JALLOCATION_INIT;
    for (size_t i = 0; i < slots->blocks.count; ++i) {
        const slots_block_t *block = slots->blocks.ranges[i].block;
        for (uint32_t index = 0; index < block->slot_count; ++index) {
            slots_describe(slots, &block->slots[index], slots_address(slots, block, index), &shown);
            if (!visitor(visitor_context, &shown))
                return;
        }
    }
}

static void slots_get_stats(void *context, jallocator_stats_t *stats) {
    const slots_t *slots = context;
    size_t free_count = slots->slot_count - slots->live_count;

    if (slots->limit_slots != SIZE_MAX)
        stats->limit_bytes = slots->limit_slots * slots->slot_bytes;
    stats->reserved_bytes = slots->slot_count * slots->slot_bytes;
    stats->peak_reserved_bytes = slots->peak_slot_count * slots->slot_bytes;
    stats->free_bytes = free_count * slots->slot_bytes;
    stats->granted_bytes = slots->live_count * slots->slot_bytes;
    stats->peak_granted_bytes = slots->peak_live_count * slots->slot_bytes;
    stats->largest_free_bytes = free_count != 0 ? slots->slot_bytes : 0;
}

static void slots_clear_stats(void *context) {
    slots_t *slots = context;
    slots->peak_slot_count = slots->slot_count;
    slots->peak_live_count = slots->live_count;
}

static jstatus_t slots_trim(void *context, size_t keep_bytes) {
    slots_t *slots = context;
    jstatus_t status = JSTATUS_SUCCESS;
    JI_LIST_EACH(&slots->with_free, slots_block_t, block, link) {
        if ((slots->slot_count - slots->live_count) * slots->slot_bytes <= keep_bytes)
            break;
        if (block->live_count == 0)
            JTRY(slots_shrink(slots, block));
    }
done:
    return status;
}

static jstatus_t slots_check(void *context) {
    const slots_t *slots = context;
    return jallocator_check(slots->below);
}

static void slots_forget_stream(void *context, jstream_t *stream) {
    slots_t *slots = context;
    ji_frontier_forget(&slots->frontier, stream);
}

static void slots_destroy(void *context) {
    slots_t *slots = context;
    (void)slots_trim(slots, 0);
    for (size_t i = 0; i < slots->blocks.count; ++i) /* what below did not take */
        ji_metadata_free(slots->blocks.ranges[i].block);

    ji_ranges_fini(&slots->blocks);
    ji_frontier_fini(&slots->frontier);
    ji_metadata_free(slots);
}

static jstatus_t slots_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = slots_allocate,
        .deallocate = slots_deallocate,
        .usable_size = slots_usable_size,
        .find = slots_find,
        .visit = slots_visit,
        .get_stats = slots_get_stats,
        .clear_stats = slots_clear_stats,
        .trim = slots_trim,
        .check = slots_check,
        .forget_stream = slots_forget_stream,
        .destroy = slots_destroy,
    };

    const jslots_options_t *options = request->options;
    ji_traits_t traits = {.name = request->name,
                          .device = request->device,
                          .below = request->below,
                          .kind = &ji_kind_slots};
    size_t slot_bytes = options->slot_bytes != 0 ? options->slot_bytes : SLOTS_DEFAULT_SLOT_BYTES;
    size_t limit_slots = ji_option(options->limit_slots, JALLOC_UNLIMITED), bytes;
    JTRY_RETURN(ji_policy_threads(request->name, options->threads, &traits.threads));
    JTRY_RETURN(ji_option_check_bytes(request, "slot_bytes", options->slot_bytes));
    jstatus_t status = JSTATUS_SUCCESS;

    if (!ji_size_round_up(slot_bytes, jdevice_granule_bytes(request->device), &slot_bytes) ||
        (limit_slots != JALLOC_UNLIMITED && !ji_size_mul(limit_slots, slot_bytes, &bytes)))
        return ji_fail(JSTATUS_INVALID_VALUE, "slots: limit_slots %zu of slot_bytes %zu overflow",
                       limit_slots, options->slot_bytes);
    if (options->block_slots > SLOTS_MAX_BLOCK_SLOTS)
        return ji_fail(JSTATUS_INVALID_VALUE, "slots: block_slots is %zu, must be at most %zu",
                       options->block_slots, SLOTS_MAX_BLOCK_SLOTS);

    slots_t *slots;
    JTRY_ALLOC(slots = ji_metadata_zalloc(sizeof *slots));
    ji_list_init(&slots->with_free);
    ji_frontier_init(&slots->frontier, request->device);

    slots->below = request->below;
    slots->below_gives_in_order = ji_allocator_gives_in_order(request->below);
    slots->slot_bytes = slot_bytes;
    slots->alignment = slot_bytes & -slot_bytes; /* the largest power of two that divides it */
    if (slots->alignment > SLOTS_MAX_ALIGNMENT)
        slots->alignment = SLOTS_MAX_ALIGNMENT;
    slots->block_slots =
        options->block_slots != 0 ? options->block_slots : SLOTS_DEFAULT_BLOCK_SLOTS;
    slots->limit_slots = limit_slots;

    JTRY(ji_allocator_make(&ops, slots, &traits, out));
    slots->self = *out;
    slots = NULL;
done:
    if (slots != NULL)
        slots_destroy(slots);
    return status;
}

static const jslots_options_t slots_defaults = JSLOTS_OPTIONS_INIT;
static const jallocator_key_t slots_keys[] = {
    JI_THREADS_KEY,
    {"slot", "SIZE", "4K", "size of every slot"},
    {"block", "COUNT", "64", "slots taken from below at once"},
    {"limit", "COUNT|none|unlimited", "unlimited", "most slots there may be"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t slots_members[] = {
    {JI_KEY_CHOICE, offsetof(jslots_options_t, threads), JALLOCATOR_THREADS_NONE},
    {JI_KEY_SIZE, offsetof(jslots_options_t, slot_bytes), 0},
    {JI_KEY_COUNT, offsetof(jslots_options_t, block_slots), 0},
    {JI_KEY_COUNT, offsetof(jslots_options_t, limit_slots), 0},
};

const ji_kind_t ji_kind_slots = {
    .public = {"slots", JALLOCATOR_POLICY, "slots of one size, in constant time", slots_keys},
    .members = slots_members,
    .options_type = "jslots_options_t",
    .options_bytes = sizeof(jslots_options_t),
    .defaults = &slots_defaults,
    .create = slots_create,
};

jstatus_t jallocator_create_slots(jallocator_t *below, const jslots_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_slots, NULL, below, options, allocator);
}
