/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One allocation after the other, in blocks taken from below.
 *
 *     bottom                            current                            spare blocks
 *     | a | b |pad| (c) | d |  rest  |  | e | f |        free           |  |       free       |
 *       1   2        3    4                5   6   serial numbers         top
 *
 * The last one freed is taken back at once, together with freed ones right below it; a block freed
 * elsewhere, as (c), waits until it is on top. When the last entry of a block goes, the block
 * beneath is current again and the empty one is spare. Spare blocks are used before below is asked
 * for more, and given back by trim, or when the limit or below leaves no other way. So every block
 * up to the current one has an entry, but for the bottom one of an empty stack.
 *
 * What is freed below a live entry is buried: nobody can use it until all above it has gone. Where
 * it is much of what the stack holds, and the stack asks below for more, the log says so once:
 * whoever frees in another order than the opposite one wants another policy.
 *
 * Serial numbers grow upwards. A mark is the number of the entry on top: to rewind is to take back
 * all with greater ones, exactly what was allocated since, and a mark whose own entry has gone is
 * too high. */

#include "jalloc/policy.h"
#include "memory/allocators/policy.h"
#include "memory/allocators/ranges.h"
#include "memory/allocators/stack_block.h"

#define STACK_DEFAULT_BLOCK_BYTES ((size_t)1 << 20)
#define STACK_MUCH_BURIED 4 /* one part in so many of what is reserved */

typedef struct stack {
    jallocator_t *self, *below;
    bool below_gives_in_order;
    size_t granule_bytes, block_bytes, limit_bytes;
    stack_block_t *bottom, *current; /* NULL: no block at all */
    ji_ranges_t blocks;
    uint64_t serial; /* of the last entry that came */
    ji_frontier_t frontier;
    size_t reserved_bytes, peak_reserved_bytes;
    size_t buried_bytes; /* of entries that are not live */
    bool has_warned;
} stack_allocator_t;

/* ---- Blocks ---- */

/* Links a block right above another one; NULL: at the bottom. */
static void stack_link(stack_allocator_t *stack, stack_block_t *block, stack_block_t *beneath) {
    block->beneath = beneath;
    block->above = beneath != NULL ? beneath->above : stack->bottom;

    if (block->above != NULL)
        block->above->beneath = block;
    if (beneath != NULL)
        beneath->above = block;
    else
        stack->bottom = block;
}

static void stack_unlink(stack_allocator_t *stack, stack_block_t *block) {
    if (block->above != NULL)
        block->above->beneath = block->beneath;
    if (block->beneath != NULL)
        block->beneath->above = block->above;
    else
        stack->bottom = block->above;
}

static void stack_free_block(stack_block_t *block) {
    if (block != NULL)
        ji_metadata_free(block->records);
    ji_metadata_free(block);
}

/* The first block without entries; NULL: none. Those above it have none either. */
static stack_block_t *stack_first_empty(const stack_allocator_t *stack) {
    stack_block_t *block = stack->current;
    return block != NULL && block->entry_count != 0 ? block->above : block;
}

/* Makes an empty block the current one: right above the last that has entries. */
static void stack_raise(stack_allocator_t *stack, stack_block_t *block) {
    stack_block_t *first = stack_first_empty(stack);
    if (block != first) {
        stack_block_t *beneath = first->beneath;
        stack_unlink(stack, block);
        stack_link(stack, block, beneath);
    }

    stack->current = block;
}

/* Takes a block from below in which the allocation fits at the very beginning, as a spare one. */
static jstatus_t stack_grow(stack_allocator_t *stack, size_t size_bytes, size_t alignment,
                            jstream_t *stream) {
    size_t bytes = size_bytes > stack->block_bytes ? size_bytes : stack->block_bytes;
    size_t rest = stack->limit_bytes - stack->reserved_bytes;
    if (size_bytes > rest)
        return ji_fail(JSTATUS_MEMORY_ERROR,
                       "%zu bytes are taken from below, of which %zu were freed beneath live ones; "
                       "the limit is %zu",
                       stack->reserved_bytes, stack->buried_bytes, stack->limit_bytes);

    if (!ji_size_round_up(bytes, stack->granule_bytes, &bytes) || bytes > rest)
        bytes = rest;

    jstatus_t status = JSTATUS_SUCCESS;
    void *memory;
    stack_block_t *block = ji_metadata_zalloc(sizeof *block);
    if (block == NULL || !ji_ranges_reserve(&stack->blocks) || !stack_make_room(block)) {
        status = ji_refuse_bookkeeping();
        goto done;
    }

    stack_record_t shadow = {.size_bytes = bytes};
    JTRY(ji_frontier_mark_taken(&stack->frontier, stack->below_gives_in_order, stream,
                                &shadow.fence));
    JTRY(jallocator_allocate(stack->below, bytes,
                             alignment > stack->granule_bytes ? alignment : stack->granule_bytes,
                             stream, &memory));

    block->begin = (uintptr_t)memory;
    block->size_bytes = bytes;
    stack_cast_shadow(block, &shadow);
    ji_ranges_insert(&stack->blocks, memory, bytes, block);
    stack_link(stack, block, stack->current);
    if (stack->current == NULL)
        stack->current = block;

    stack->reserved_bytes += bytes;
    if (stack->peak_reserved_bytes < stack->reserved_bytes)
        stack->peak_reserved_bytes = stack->reserved_bytes;
    block = NULL;
done:
    stack_free_block(block);
    return status;
}

/* Gives an empty block to below, after its fences. It stays where that fails. */
static jstatus_t stack_shrink(stack_allocator_t *stack, stack_block_t *block) {
    jstatus_t status = JSTATUS_SUCCESS;
    const stack_record_t *shadow = stack_nearest_shadow(block);
    jstream_t *stream =
        block->shadow_count != 0 ? ji_frontier_stream(&stack->frontier, shadow->fence) : NULL;
    for (size_t i = 0; i < block->shadow_count; ++i)
        JTRY(ji_frontier_drain(&stack->frontier, shadow[i].fence));
    JTRY(jallocator_deallocate(stack->below, (void *)block->begin, block->size_bytes, stream));

    ji_ranges_remove(&stack->blocks, (void *)block->begin);
    if (stack->current == block)
        stack->current = block->above; /* an empty current block is the bottom one */
    stack_unlink(stack, block);
    stack->reserved_bytes -= block->size_bytes;
    stack_free_block(block);
done:
    return status;
}

static size_t stack_free_bytes(const stack_allocator_t *stack, size_t *largest) {
    size_t sum = 0;
    *largest = 0;
    for (const stack_block_t *block = stack->current; block != NULL; block = block->above) {
        size_t rest = block->size_bytes - block->top;
        sum += rest;
        if (*largest < rest)
            *largest = rest;
    }
    return sum;
}

/* ---- Allocating and freeing ---- */

/* The current block or a spare one where the allocation has room; NULL: none. */
static stack_block_t *stack_search(stack_allocator_t *stack, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, bool wait, size_t *offset) {
    for (stack_block_t *block = stack->current; block != NULL; block = block->above)
        if (stack_fits(block, size_bytes, alignment, offset) &&
            stack_is_clear(block, &stack->frontier, *offset + size_bytes, stream, wait))
            return block;
    return NULL;
}

static jstatus_t stack_trim(void *context, size_t keep_bytes);

/* Before it asks below for more. */
static void stack_consider_warning(stack_allocator_t *stack, size_t size_bytes) {
    if (stack->has_warned || stack->buried_bytes == 0 ||
        stack->buried_bytes < stack->reserved_bytes / STACK_MUCH_BURIED)
        return;
    stack->has_warned = true;
    jlog_write(
        JLOG_WARNING, NULL,
        "allocator \"%s\": needs room for %zu bytes more, while %zu of the %zu that it holds were "
        "freed beneath live ones and wait for those; a stack is for frees in the opposite order, "
        "bfc for any",
        jallocator_name(stack->self), size_bytes, stack->buried_bytes, stack->reserved_bytes);
}

/* As stack_search where that takes a new block. Where there is none to be had, the stream waits for
 * memory that is free, or spare blocks that are too small make room for a larger one. */
static jstatus_t stack_find_room(stack_allocator_t *stack, size_t size_bytes, size_t alignment,
                                 jstream_t *stream, stack_block_t **block, size_t *offset) {
    stack_consider_warning(stack, size_bytes);
    jstatus_t status = stack_grow(stack, size_bytes, alignment, stream);

    if (status == JSTATUS_MEMORY_ERROR) {
        *block = stack_search(stack, size_bytes, alignment, stream, true, offset);
        if (*block != NULL)
            return JSTATUS_SUCCESS;
        if (stack_first_empty(stack) != NULL && stack_trim(stack, 0) == JSTATUS_SUCCESS)
            status = stack_grow(stack, size_bytes, alignment, stream);
    }

    if (status == JSTATUS_SUCCESS)
        *block = stack_search(stack, size_bytes, alignment, stream, false, offset);
    return status;
}

static jstatus_t stack_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    stack_allocator_t *stack = context;
    jstatus_t status = ji_policy_check_stream(&stack->frontier, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        return status;

    size_t offset;
    stack_block_t *block = stack_search(stack, size_bytes, alignment, stream, false, &offset);
    if (JI_UNLIKELY(block == NULL)) {
        status = stack_find_room(stack, size_bytes, alignment, stream, &block, &offset);
        if (status != JSTATUS_SUCCESS)
            return status;
    }

    if (!stack_make_room(block))
        return ji_refuse_bookkeeping();
    if (block->entry_count == 0)
        stack_raise(stack, block);

    stack_cover_shadows(block, offset + size_bytes);
    block->records[block->entry_count++] = (stack_record_t){.offset = offset,
                                                            .size_bytes = size_bytes,
                                                            .serial = ++stack->serial,
                                                            .tag = ji_tag_current,
                                                            .live = true};
    block->top = offset + size_bytes;
    *pointer = (void *)(block->begin + offset);
    return JSTATUS_SUCCESS;
}

/* Takes the last entry of the current block away, which is not live any more. */
static void stack_pop(stack_allocator_t *stack) {
    stack_block_t *block = stack->current;
    stack_record_t gone = block->records[--block->entry_count];

    stack->buried_bytes -= gone.size_bytes;
    const stack_record_t *last = stack_last_entry(block);
    block->top = last != NULL ? last->offset + last->size_bytes : 0;
    stack_cast_shadow(block, &gone);
    if (block->entry_count == 0 && block->beneath != NULL)
        stack->current = block->beneath;
}

/* Takes away what is freed on top. */
static void stack_settle(stack_allocator_t *stack) {
    for (stack_record_t *last; (last = stack_last_entry(stack->current)) != NULL && !last->live;)
        stack_pop(stack);
}

/* The last entry that begins at or before the pointer; NULL: none. */
static stack_record_t *stack_entry_at(const stack_allocator_t *stack, const void *pointer,
                                      stack_block_t **in) {
    stack_block_t *block = stack->current;
    if (block == NULL)
        return NULL;
    if ((uintptr_t)pointer - block->begin >= block->size_bytes &&
        (block = ji_ranges_find(&stack->blocks, pointer)) == NULL)
        return NULL;

    size_t offset = (uintptr_t)pointer - block->begin, low = 0, high = block->entry_count;
    stack_record_t *last = stack_last_entry(block);
    *in = block;
    if (last != NULL && last->offset <= offset) /* as with what is freed in reverse order */
        return last;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->records[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &block->records[low - 1] : NULL;
}

static jstatus_t stack_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    stack_allocator_t *stack = context;
    stack_block_t *block = NULL;
    stack_record_t *entry = stack_entry_at(stack, pointer, &block);
    size_t offset = block != NULL ? (uintptr_t)pointer - block->begin : 0;

    if (JI_UNLIKELY(entry == NULL || offset - entry->offset >= entry->size_bytes))
        return ji_refuse_foreign(stack->self, pointer);
    if (JI_UNLIKELY(!entry->live))
        return ji_refuse_freed(stack->self, pointer, entry->tag);
    if (JI_UNLIKELY(offset != entry->offset))
        return ji_refuse_interior(stack->self, pointer, block->begin + entry->offset, entry->tag);
    if (JI_UNLIKELY(entry->size_bytes != size_bytes))
        return ji_refuse_size(stack->self, pointer, entry->tag, entry->size_bytes, size_bytes);

    JTRY_RETURN(ji_frontier_mark(&stack->frontier, stream, &entry->fence));
    entry->live = false;
    stack->buried_bytes += size_bytes;
    stack_settle(stack);
    return JSTATUS_SUCCESS;
}

static void stack_describe(const stack_block_t *block, const stack_record_t *entry,
                           jallocation_t *shown) {
    shown->pointer = (void *)(block->begin + entry->offset);
    shown->size_bytes = shown->usable_bytes = entry->size_bytes;
    shown->tag = entry->tag;
    shown->live = true;
}

static jstatus_t stack_find(void *context, const void *pointer, jallocation_t *found) {
    const stack_allocator_t *stack = context;
    stack_block_t *block;
    const stack_record_t *entry = stack_entry_at(stack, pointer, &block);
    if (entry == NULL || !entry->live ||
        (uintptr_t)pointer - block->begin - entry->offset >= entry->size_bytes)
        return JSTATUS_NOT_FOUND;

    stack_describe(block, entry, found);
    return JSTATUS_SUCCESS;
}

static void stack_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const stack_allocator_t *stack = context;
    bool is_free = false; /* the current block and those above */
    for (const stack_block_t *block = stack->bottom; block != NULL; block = block->above) {
        jallocation_t shown = JALLOCATION_INIT;
        for (size_t i = 0; i < block->entry_count; ++i) {
            stack_describe(block, &block->records[i], &shown);
            if (block->records[i].live && !visitor(visitor_context, &shown))
                return;
        }

        size_t rest = block->size_bytes - block->top;
        shown = (jallocation_t){.pointer = (void *)(block->begin + block->top),
                                .size_bytes = rest,
                                .usable_bytes = rest};
        is_free = is_free || block == stack->current;
        if (is_free && rest != 0 && !visitor(visitor_context, &shown))
            return;
    }
}

static void stack_get_stats(void *context, jallocator_stats_t *stats) {
    const stack_allocator_t *stack = context;
    if (stack->limit_bytes != SIZE_MAX)
        stats->limit_bytes = stack->limit_bytes;

    stats->reserved_bytes = stack->reserved_bytes;
    stats->peak_reserved_bytes = stack->peak_reserved_bytes;
    stats->free_bytes = stack_free_bytes(stack, &stats->largest_free_bytes);
}

static void stack_clear_stats(void *context) {
    stack_allocator_t *stack = context;
    stack->peak_reserved_bytes = stack->reserved_bytes;
    stack->has_warned = false;
}

/* Gives empty blocks back until at most so many bytes are free. */
static jstatus_t stack_trim(void *context, size_t keep_bytes) {
    stack_allocator_t *stack = context;
    jstatus_t status = JSTATUS_SUCCESS;
    size_t largest, free_bytes = stack_free_bytes(stack, &largest);
    for (stack_block_t *block;
         free_bytes > keep_bytes && (block = stack_first_empty(stack)) != NULL;) {
        free_bytes -= block->size_bytes;
        JTRY(stack_shrink(stack, block));
    }
done:
    return status;
}

static jstatus_t stack_check(void *context) {
    const stack_allocator_t *stack = context;
    return jallocator_check(stack->below);
}

static void stack_forget_stream(void *context, jstream_t *stream) {
    stack_allocator_t *stack = context;
    ji_frontier_forget(&stack->frontier, stream);
}

static void stack_destroy(void *context) {
    stack_allocator_t *stack = context;
    (void)stack_trim(stack, 0);
    for (size_t i = 0; i < stack->blocks.count; ++i) /* what below did not take */
        stack_free_block(stack->blocks.ranges[i].block);

    ji_ranges_fini(&stack->blocks);
    ji_frontier_fini(&stack->frontier);
    ji_metadata_free(stack);
}

static jstatus_t stack_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = stack_allocate,
        .deallocate = stack_deallocate,
        .find = stack_find,
        .visit = stack_visit,
        .get_stats = stack_get_stats,
        .clear_stats = stack_clear_stats,
        .trim = stack_trim,
        .check = stack_check,
        .forget_stream = stack_forget_stream,
        .destroy = stack_destroy,
    };

    const jstack_options_t *options = request->options;
    ji_traits_t traits = {.name = request->name,
                          .device = request->device,
                          .below = request->below,
                          .kind = &ji_kind_stack};
    JTRY_RETURN(ji_policy_threads(request->name, options->threads, &traits.threads));
    JTRY_RETURN(ji_option_check_bytes(request, "block_bytes", options->block_bytes));
    jstatus_t status = JSTATUS_SUCCESS;

    stack_allocator_t *stack;
    JTRY_ALLOC(stack = ji_metadata_zalloc(sizeof *stack));
    ji_frontier_init(&stack->frontier, request->device);

    stack->below = request->below;
    stack->below_gives_in_order = ji_allocator_gives_in_order(request->below);
    stack->granule_bytes = jdevice_granule_bytes(request->device);
    stack->block_bytes =
        options->block_bytes != 0 ? options->block_bytes : STACK_DEFAULT_BLOCK_BYTES;
    stack->limit_bytes = ji_option(options->limit_bytes, JALLOC_UNLIMITED);

    JTRY(ji_allocator_make(&ops, stack, &traits, out));
    stack->self = *out;
    stack = NULL;
done:
    if (stack != NULL)
        stack_destroy(stack);
    return status;
}

static const jstack_options_t stack_defaults = JSTACK_OPTIONS_INIT;
static const jallocator_key_t stack_keys[] = {
    JI_THREADS_KEY,
    {"block", "SIZE", "1M", "least that is taken from below at once"},
    {"limit", "SIZE|none|unlimited", "unlimited", "most that is taken from below"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t stack_members[] = {
    {JI_KEY_CHOICE, offsetof(jstack_options_t, threads), JALLOCATOR_THREADS_NONE},
    {JI_KEY_SIZE, offsetof(jstack_options_t, block_bytes), 0},
    {JI_KEY_SIZE, offsetof(jstack_options_t, limit_bytes), 0},
};

const ji_kind_t ji_kind_stack = {
    .public = {"stack", JALLOCATOR_POLICY,
               "one allocation after the other, for frees in the opposite order; in any other "
               "memory waits",
               stack_keys},
    .members = stack_members,
    .options_type = "jstack_options_t",
    .options_bytes = sizeof(jstack_options_t),
    .defaults = &stack_defaults,
    .create = stack_create,
};

jstatus_t jallocator_create_stack(jallocator_t *below, const jstack_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_stack, NULL, below, options, allocator);
}

/* ---- Mark and rewind ---- */

static uint64_t stack_height(const stack_allocator_t *stack) {
    const stack_record_t *last = stack->current != NULL ? stack_last_entry(stack->current) : NULL;
    return last != NULL ? last->serial : 0;
}

/* Whether the entry with the serial number is in the stack; 0, the bottom, always is. */
static bool stack_reaches(const stack_allocator_t *stack, uint64_t serial) {
    const stack_block_t *block = serial != 0 ? stack->current : NULL;
    while (block != NULL && (block->entry_count == 0 || block->records[0].serial > serial))
        block = block->beneath;

    size_t low = 0, high = block != NULL ? block->entry_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->records[middle].serial <= serial)
            low = middle + 1;
        else
            high = middle;
    }

    return serial == 0 || (low != 0 && block->records[low - 1].serial == serial);
}

jstatus_t jallocator_stack_get_mark(const jallocator_t *allocator, jstack_mark_t *mark) {
    JREQUIRE(mark != NULL, JSTATUS_INVALID_POINTER);
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_stack, __func__, &found));

    ji_policy_enter(found);
    mark->height = stack_height(found->context);
    ji_policy_leave(found);
    return JSTATUS_SUCCESS;
}

static jstatus_t stack_rewind(stack_allocator_t *stack, uint64_t serial, jstream_t *stream) {
    if (!stack_reaches(stack, serial))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "allocator \"%s\": the stack is lower than the mark: what was on top then "
                       "has been taken back",
                       jallocator_name(stack->self));

    ji_fence_t fence;
    JTRY_RETURN(ji_frontier_mark(&stack->frontier, stream, &fence));

    while (stack_height(stack) > serial) {
        stack_record_t *last = stack_last_entry(stack->current);
        if (last->live) {
            last->live = false;
            last->fence = fence;
            stack->buried_bytes += last->size_bytes;
            ji_books_deallocate(&stack->self->books, last->size_bytes);
        }
        stack_pop(stack);
    }

    if (stack->current != NULL)
        stack_settle(stack);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_stack_rewind(jallocator_t *allocator, jstack_mark_t mark, jstream_t *stream) {
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_stack, __func__, &found));

    ji_policy_enter(found);
    jstatus_t status = stack_rewind(found->context, mark.height, stream);
    ji_policy_leave(found);
    return status;
}
