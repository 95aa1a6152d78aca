/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Allocating and freeing, and the policy as a kind of allocator; lru.h has the idea.
 *
 * A request goes the first of these ways that leads anywhere:
 *
 *     1. a kept block of its layout
 *     2. of the kept blocks up to nearest_percent larger, one of the smallest layout
 *     3. below
 *     4. below, after everything kept that may be given back was given back
 *     5. a kept block of the ways 1 and 2 whose stream has not passed its release: the request's
 *        stream waits for it
 *
 * For the second way layouts are listed in bins, sixteen to a power of two. */

#include "memory/allocators/lru/lru.h"
#include "memory/allocators/policy.h"
#include "memory/entry.h"

#define LRU_DEFAULT_LAYOUTS 256
#define LRU_DEFAULT_NEAREST_PERCENT 12

/* A request, as asked for and as it is taken from below. */
typedef struct lru_request {
    size_t size_bytes, alignment;
    size_t layout_bytes, layout_alignment;
    jstream_t *stream;
} lru_request_t;

/* ---- Allocating ---- */

/* The block of a layout (or of none) that a stream may use: the newest, since it is the likeliest
 * to be in a cache of the processor; where streams have not passed the newest ones, the oldest. 0:
 * none. */
static uint32_t lru_choose(lru_t *lru, uint32_t layout, jstream_t *stream) {
    uint32_t block = lru->layouts[layout].newest;
    for (unsigned looks = LRU_LOOKS; block != 0 && looks != 0;
         --looks, block = lru->blocks[block].under)
        if (ji_frontier_passed(&lru->frontier, lru->blocks[block].fence, stream))
            return block;

    if (block != 0 &&
        ji_frontier_passed(&lru->frontier, lru->blocks[lru->layouts[layout].oldest].fence, stream))
        return lru->layouts[layout].oldest;
    return 0;
}

/* Most bytes that a block for the request may have. */
static size_t lru_nearest_limit(const lru_t *lru, const lru_request_t *request) {
    size_t more, rest;
    if (!ji_size_mul(request->layout_bytes / 100, lru->nearest_percent, &more) ||
        !ji_size_mul(request->layout_bytes % 100, lru->nearest_percent, &rest) ||
        !ji_size_add(more, rest / 100, &more) || !ji_size_add(more, request->layout_bytes, &more))
        return SIZE_MAX;
    return more;
}

/* A kept block of the smallest layout that serves the request; 0: none. `passed`: that its stream
 * may use now, else any. Looks through the bins upwards. */
static uint32_t lru_search(lru_t *lru, const lru_request_t *request, bool passed) {
    size_t limit = lru_nearest_limit(lru, request);
    uint32_t best = 0, best_block = 0, next;

    for (uint32_t bin = lru_bin(request->size_bytes); bin <= lru_bin(limit) && best == 0; ++bin)
        for (uint32_t number = lru->bins[bin]; number != 0; number = next) {
            const lru_layout_t *layout = &lru->layouts[number], *rival = &lru->layouts[best];
            next = layout->bin_next;

            if (layout->kept_count == 0) {
                ji_lru_strike_layout(lru, number);
                continue;
            }

            if (layout->size_bytes < request->size_bytes || layout->size_bytes > limit ||
                layout->alignment < request->alignment)
                continue;
            if (best != 0 &&
                (layout->size_bytes > rival->size_bytes ||
                 (layout->size_bytes == rival->size_bytes && layout->alignment > rival->alignment)))
                continue;

            uint32_t block = passed ? lru_choose(lru, number, request->stream) : layout->newest;
            if (block != 0) {
                best = number;
                best_block = block;
            }
        }

    return best_block;
}

/* A hit, of whichever sort it is. */
static uint32_t lru_count_hit(lru_t *lru, const lru_request_t *request, uint32_t block) {
    bool exact = lru_layout_is(&lru->layouts[lru->blocks[block].layout], request->layout_bytes,
                               request->layout_alignment);
    ++*(exact ? &lru->hit_count : &lru->nearest_hit_count);
    return block;
}

/* A kept block that the request's stream may use at once; 0: none. */
static uint32_t lru_find_kept(lru_t *lru, const lru_request_t *request) {
    if (lru->kept_blocks == 0)
        return 0;

    uint32_t layout = lru_find_layout(lru, request->layout_bytes, request->layout_alignment);
    uint32_t block = lru_choose(lru, layout, request->stream);
    if (block == 0)
        block = lru_search(lru, request, true);

    return block != 0 ? lru_count_hit(lru, request, block) : 0;
}

/* A kept block that the stream has to wait for first. The host never waits, so there is none for
 * inline work. */
static uint32_t lru_find_awaited(lru_t *lru, const lru_request_t *request) {
    if (lru->kept_blocks == 0 || ji_stream_is_inline(&lru->frontier, request->stream))
        return 0;

    uint32_t block = lru_search(lru, request, false);
    if (block == 0 || ji_frontier_wait(&lru->frontier, lru->blocks[block].fence, request->stream) !=
                          JSTATUS_SUCCESS)
        return 0;
    return lru_count_hit(lru, request, block);
}

static jstatus_t lru_take_from_below(lru_t *lru, const lru_request_t *request, void **pointer) {
    JTRY_RETURN(ji_lru_reserve(lru));

    void *memory;
    jstatus_t status = jallocator_allocate(lru->below, request->layout_bytes,
                                           request->layout_alignment, request->stream, &memory);
    if (status != JSTATUS_SUCCESS)
        return status;

    if (ji_ledger_find(&lru->by_address, memory) != NULL) {
        (void)jallocator_deallocate(lru->below, memory, request->layout_bytes, request->stream);
        return ji_fail(JSTATUS_INTERNAL_ERROR,
                       "allocator \"%s\" handed out %p, which is not given back yet",
                       jallocator_name(lru->below), memory);
    }

    ji_lru_enter(lru, memory, request->size_bytes, request->layout_bytes,
                 request->layout_alignment);
    ++lru->miss_count;
    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* A kept block becomes a live one. */
static inline void *lru_serve(lru_t *lru, uint32_t number, uint32_t layout, size_t size_bytes) {
    lru_block_t *block = &lru->blocks[number];
    lru_take(lru, number, layout);
    lru_make_newest(lru_uses(lru), layout);

    /* Its neighbours in the ring of ages are in the caches now, and will hardly be when it is
     * kept again. The newest one moves nothing then. */
    if (block->aged && lru_newest(lru_ages(lru)) != number) {
        lru_unlink(lru_ages(lru), number);
        block->aged = false;
    }

    block->size_bytes = size_bytes;
    block->tag = ji_tag_current;
    block->owners = 1;
    block->adoption = NULL;
    return block->address;
}

/* Any request. */
static __attribute__((noinline)) jstatus_t lru_allocate_any(lru_t *lru, size_t size_bytes,
                                                            size_t alignment, jstream_t *stream,
                                                            void **pointer) {
    if (size_bytes > LRU_MAX_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "more than %zu bytes", (size_t)LRU_MAX_BYTES);

    lru_request_t request = {size_bytes, alignment, lru_layout_bytes(lru, size_bytes),
                             lru_layout_alignment(lru, alignment), stream};
    uint32_t block = lru_find_kept(lru, &request);

    if (block == 0) {
        jstatus_t status = lru_take_from_below(lru, &request, pointer);
        if (status == JSTATUS_MEMORY_ERROR && ji_lru_evict_all(lru))
            status = lru_take_from_below(lru, &request, pointer);
        if (status != JSTATUS_MEMORY_ERROR || (block = lru_find_awaited(lru, &request)) == 0)
            return status;
    }

    *pointer = lru_serve(lru, block, lru->blocks[block].layout, size_bytes);
    return JSTATUS_SUCCESS;
}

/* The usual request: its layout was used lately and the newest block that is kept of it may be used
 * at once. */
static jstatus_t lru_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    lru_t *lru = context;
    jstatus_t status = ji_policy_check_stream(&lru->frontier, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        return status;

    size_t layout_bytes = lru_layout_bytes(lru, size_bytes);
    uint32_t layout = *lru_recent(lru, layout_bytes), block = lru->layouts[layout].newest;
    if (JI_UNLIKELY(!lru_layout_is(&lru->layouts[layout], layout_bytes,
                                   lru_layout_alignment(lru, alignment)) ||
                    block == 0 || lru->blocks[block].fence.index != 0))
        return lru_allocate_any(lru, size_bytes, alignment, stream, pointer);

    ++lru->hit_count;
    *pointer = lru_serve(lru, block, layout, size_bytes);
    return JSTATUS_SUCCESS;
}

/* ---- Releasing ---- */

static jstatus_t lru_deallocate(void *context, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    lru_t *lru = context;
    uint32_t number = lru_find_live(lru, pointer);
    if (JI_UNLIKELY(number == 0))
        return ji_lru_refuse(lru, pointer);

    const lru_block_t *block = &lru->blocks[number];
    if (JI_UNLIKELY(block->size_bytes != size_bytes))
        return ji_fail(
            JSTATUS_INVALID_SIZE,
            "allocator \"%s\": %p has %zu bytes and the tag \"%s\", and is given back with %zu",
            jallocator_name(lru->self), pointer, block->size_bytes, jtag_name(block->tag),
            size_bytes);

    size_t left;
    jstatus_t status = lru_let_go(lru, number, stream, &left);
    if (JI_UNLIKELY(status == JSTATUS_SUCCESS && left != 0)) {
        /* The object has booked the end of a block that lives on. */
        ++lru->self->books.live_count;
        lru->self->books.in_use_bytes += size_bytes;
    }
    return status;
}

JI_POLICY_ENTRIES(lru)

/* ---- Inspection ---- */

static void lru_describe(const lru_t *lru, const lru_block_t *from, jallocation_t *block) {
    block->pointer = from->address;
    block->usable_bytes = lru->layouts[from->layout].size_bytes;
    block->live = from->owners != 0;
    block->size_bytes = block->live ? from->size_bytes : block->usable_bytes;
    block->tag = block->live ? from->tag : 0;
}

static size_t lru_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const lru_t *lru = context;
    uint32_t number = lru_find_live(lru, pointer);
    return number != 0 ? lru->layouts[lru->blocks[number].layout].size_bytes : size_bytes;
}

static jstatus_t lru_find(void *context, const void *pointer, jallocation_t *block) {
    const lru_t *lru = context;
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    if (entry == NULL)
        entry = ji_ledger_find_containing(&lru->by_address, pointer);
    if (entry == NULL)
        return JSTATUS_NOT_FOUND;

    const lru_block_t *around =
        &lru->blocks[entry->number]; /* the entry is as large as its layout */
    if (around->owners == 0 || (uintptr_t)pointer - entry->address >= around->size_bytes)
        return JSTATUS_NOT_FOUND;

    lru_describe(lru, around, block);
    return JSTATUS_SUCCESS;
}

static void lru_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const lru_t *lru = context;
    jallocation_t block = JALLOCATION_INIT;

    for (const ji_ledger_entry_t *entry = NULL;
         (entry = ji_ledger_next(&lru->by_address, entry)) != NULL;) {
        lru_describe(lru, &lru->blocks[entry->number], &block);
        if (!visitor(visitor_context, &block))
            return;
    }
}

static void lru_get_stats(void *context, jallocator_stats_t *stats) {
    const lru_t *lru = context;
    stats->reserved_bytes = lru->reserved_bytes;
    stats->peak_reserved_bytes = lru->peak_reserved_bytes;
    stats->free_bytes = lru->kept_bytes;
    stats->largest_free_bytes = 0;

    for (uint32_t i = lru_newest(lru_uses(lru)); i != 0; i = lru->layouts[i].use.older)
        if (lru->layouts[i].kept_count != 0 &&
            lru->layouts[i].size_bytes > stats->largest_free_bytes)
            stats->largest_free_bytes = lru->layouts[i].size_bytes;
}

static void lru_clear_stats(void *context) {
    lru_t *lru = context;
    lru->peak_reserved_bytes = lru->reserved_bytes;
}

/* What is below is looked at as well. */
static jstatus_t lru_check(void *context) {
    const lru_t *lru = context;
    jstatus_t status = ji_lru_check(lru);
    return status == JSTATUS_SUCCESS ? jallocator_check(lru->below) : status;
}

static void lru_forget_stream(void *context, jstream_t *stream) {
    lru_t *lru = context;
    ji_frontier_forget(&lru->frontier, stream);
}

/* ---- Life ---- */

static void lru_free_parts(lru_t *lru) {
    if (lru == NULL)
        return;

    ji_frontier_fini(&lru->frontier);
    ji_lru_fini_records(lru);
    ji_metadata_free(lru);
}

static void lru_destroy(void *context) {
    lru_t *lru = context;
    while (lru->kept_blocks != 0) {
        uint32_t block = ji_lru_next_kept(lru, 0);
        jstatus_t status = ji_frontier_drain(&lru->frontier, lru->blocks[block].fence);
        if (status == JSTATUS_SUCCESS)
            status = ji_lru_give_back(lru, block);

        if (status != JSTATUS_SUCCESS) {
            jlog_write(JLOG_WARNING, __func__,
                       "allocator \"%s\": a kept block cannot be given back: %s",
                       jallocator_name(lru->self), jstatus_last_message());
            lru_take(lru, block, lru->blocks[block].layout);
            ji_lru_forget(lru, block);
        }
    }

    lru_free_parts(lru);
}

static jstatus_t lru_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = lru_allocate,
        .deallocate = lru_deallocate,
        .usable_size = lru_usable_size,
        .find = lru_find,
        .visit = lru_visit,
        .get_stats = lru_get_stats,
        .clear_stats = lru_clear_stats,
        .trim = ji_lru_trim,
        .check = lru_check,
        .forget_stream = lru_forget_stream,
        .destroy = lru_destroy,
    };

    const jlru_options_t *options = request->options;
    ji_traits_t traits = {.name = request->name, .below = request->below, .kind = &ji_kind_lru};
    JTRY_RETURN(ji_policy_threads("lru", options->threads, &traits.threads));
    jstatus_t status = JSTATUS_SUCCESS;

    lru_t *lru;
    JTRY_ALLOC(lru = ji_metadata_zalloc(sizeof *lru));
    ji_frontier_init(&lru->frontier, request->device);
    if (!ji_lru_init_records(lru)) {
        status = ji_fail(JSTATUS_MEMORY_ERROR, "lru: no memory for bookkeeping");
        goto done;
    }

    lru->below = request->below;
    lru->granule_mask = jdevice_granule_bytes(request->device) - 1;
    lru->capacity_layouts = ji_option(options->capacity_layouts, LRU_DEFAULT_LAYOUTS);
    lru->capacity_bytes = ji_option(options->capacity_bytes, JALLOC_UNLIMITED);
    lru->nearest_percent = ji_option(options->nearest_percent, LRU_DEFAULT_NEAREST_PERCENT);

    traits.entry = traits.threads == JALLOCATOR_THREADS_LOCK ? &lru_locked : &lru_single;
    JTRY(ji_allocator_make(&ops, lru, &traits, &lru->self));
    *out = lru->self;
    lru = NULL;
done:
    lru_free_parts(lru);
    return status;
}

static const jallocator_key_t lru_keys[] = {
    {"layouts", "COUNT|none|unlimited", "256", "most different layouts kept"},
    {"bytes", "SIZE|none|unlimited", "unlimited", "most bytes kept"},
    {"nearest", "COUNT|none", "12",
     "a kept block up to this many percent larger may serve; none: exact only"},
    JI_THREADS_KEY,
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t lru_members[] = {
    {JI_KEY_COUNT, offsetof(jlru_options_t, capacity_layouts), 0},
    {JI_KEY_SIZE, offsetof(jlru_options_t, capacity_bytes), 0},
    {JI_KEY_COUNT, offsetof(jlru_options_t, nearest_percent), 0},
    {JI_KEY_CHOICE, offsetof(jlru_options_t, threads), JALLOCATOR_THREADS_NONE},
};
static const jlru_options_t lru_defaults = JLRU_OPTIONS_INIT;

const ji_kind_t ji_kind_lru = {
    .public = {"lru", JALLOCATOR_POLICY,
               "freed blocks kept by layout, least recently used out first", lru_keys},
    .members = lru_members,
    .options_type = "jlru_options_t",
    .options_bytes = sizeof lru_defaults,
    .defaults = &lru_defaults,
    .create = lru_create,
};

jstatus_t jallocator_create_lru(jallocator_t *below, const jlru_options_t *options,
                                jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_lru, NULL, below, options, allocator);
}

jstatus_t jallocator_lru_clear(jallocator_t *allocator) {
    jallocator_t *cache;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache));

    ji_policy_enter(cache);
    jstatus_t status = ji_lru_trim(cache->context, 0);
    ji_policy_leave(cache);
    return status;
}

jstatus_t jallocator_lru_get_counters(const jallocator_t *allocator, jlru_counters_t *counters) {
    JREQUIRE(counters != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jlru_counters_t, counters, hit_count));
    jallocator_t *cache;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_lru, __func__, &cache));

    ji_policy_enter(cache);
    const lru_t *lru = cache->context;
    const jlru_counters_t present = {sizeof present,   lru->hit_count,      lru->nearest_hit_count,
                                     lru->miss_count,  lru->eviction_count, lru->kept_layouts,
                                     lru->kept_blocks, lru->kept_bytes};
    ji_policy_leave(cache);

    JI_GIVE_RESULT(counters, &present);
    return JSTATUS_SUCCESS;
}
