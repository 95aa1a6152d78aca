/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* TensorFlow's PoolAllocator on any memory: what is freed is kept for the next request of the same
 * class, that is the same rounded size and alignment.
 *
 *     books: address -> buffer          classes: (size, alignment) -> kept buffers, latest first
 *     | 0x7f..40 | 0x7f..80 | ... |     | 4096, 64 | -> #7 -> #2            | 65536, 64 | -> #5
 *
 *     kept buffers by use:   [0] <-> #2 (oldest) <-> #5 <-> #7 (latest) <-> [0]
 *
 * TensorFlow writes size and class in front of the bytes it hands out; here they are in a table by
 * address, so the memory may be a device's, is aligned as below aligned it, and a pointer that is
 * foreign or free already is known. The latest buffer of a class is taken, for it is in the caches;
 * the oldest of all is given back when there are too many or too large ones.
 *
 * A kept buffer is behind the fence of its free. One that another stream cannot have yet is
 * passed over, by a request as well as by an eviction: so the limits are exact as soon as the
 * streams have come to the frees, and until then the pool holds more rather than make the host
 * wait. Both look at a bounded number of such buffers: a call's time does not grow with how far a
 * stream is behind.
 *
 * The limit grows as TensorFlow's does: after each 1,000 evictions that kept the limit of buffers
 * it looks at all calls since the counters were cleared. Where more than 0.2% of the frees evicted
 * one and more than 0.2% of the requests went below, the pool is too small for the program: the
 * limit becomes 100, from there on a tenth more. Evictions that kept the limit of bytes do not
 * count: more would not help. */

#include "jalloc/policy.h"
#include "memory/allocators/policy.h"
#include "memory/allocators/pool_buffers.h"

#define POOL_FIRST_BUFFERS 64
#define POOL_DEFAULT_COUNT 64
#define POOL_MAX_PASSED_OVER 32 /* buffers behind fences that one call looks at */

#define POOL_INTERVAL 1000      /* evictions between two looks at the limit */
#define POOL_TOLERABLE_PART 500 /* 0.2% is one in so many */
#define POOL_GROWTH_PART 10     /* 10% is one in so many */
#define POOL_LEAST_GROWN 100    /* TensorFlow: kMinPoolSize */

/* ---- Limits ---- */

/* Gives a kept buffer to below, its fence passed. Where below refuses it is kept, as the latest. */
static jstatus_t pool_return_kept(pool_t *pool, uint32_t index) {
    const pool_buffer_t *buffer = &pool->buffers[index];
    pool_unkeep(pool, index);

    jstatus_t status = pool_return(pool, pool_entry(pool, buffer), buffer->class, buffer->fence);
    if (status == JSTATUS_SUCCESS)
        pool_leave_record(pool, index);
    else
        pool_keep(pool, index); /* its class's room is the one it had */
    return status;
}

/* Gives the oldest kept buffers back until at most so many bytes are kept; waits for their
 * fences. */
static jstatus_t pool_give_back(pool_t *pool, size_t keep_bytes) {
    jstatus_t status = JSTATUS_SUCCESS;
    while (pool->kept_bytes > keep_bytes && status == JSTATUS_SUCCESS) {
        uint32_t oldest = pool->buffers[0].newer;
        status = ji_frontier_drain(&pool->frontier, pool->buffers[oldest].fence);
        if (status == JSTATUS_SUCCESS)
            status = pool_return_kept(pool, oldest);
    }
    return status;
}

static void pool_consider_growth(pool_t *pool) {
    if (++pool->crowded_count % POOL_INTERVAL != 0 || pool->fixed)
        return;

    bool evicts_often = pool->crowded_count * POOL_TOLERABLE_PART > pool->put_count;
    bool misses_often = pool->miss_count * POOL_TOLERABLE_PART > pool->miss_count + pool->hit_count;
    if (!evicts_often || !misses_often)
        return;

    if (pool->limit_count < POOL_LEAST_GROWN)
        pool->limit_count = POOL_LEAST_GROWN;
    else
        (void)ji_size_add(pool->limit_count, pool->limit_count / POOL_GROWTH_PART,
                          &pool->limit_count);
}

/* Gives back the oldest buffers that nobody uses any more, until the limits are kept. */
static void pool_keep_limits(pool_t *pool) {
    unsigned passed_over = 0;
    for (uint32_t index = pool->buffers[0].newer, newer; index != 0; index = newer) {
        bool too_many = pool->kept_count > pool->limit_count;
        if (!too_many && pool->kept_bytes <= pool->limit_bytes)
            return;

        newer = pool->buffers[index].newer;
        if (!ji_frontier_passed_by_all(&pool->frontier, pool->buffers[index].fence)) {
            if (++passed_over == POOL_MAX_PASSED_OVER)
                return;
            continue;
        }

        if (pool_return_kept(pool, index) != JSTATUS_SUCCESS)
            return;

        ++pool->eviction_count;
        if (too_many)
            pool_consider_growth(pool);
    }
}

/* ---- Allocating and freeing ---- */

/* The latest kept buffer of the class that the stream may use now; 0: none. */
static uint32_t pool_search(pool_t *pool, pool_class_t class, jstream_t *stream) {
    unsigned passed_over = 0;
    for (uint32_t index = pool_class_first(pool, class);
         index != 0 && passed_over < POOL_MAX_PASSED_OVER;
         index = pool->buffers[index].next, ++passed_over)
        if (ji_frontier_passed(&pool->frontier, pool->buffers[index].fence, stream))
            return index;
    return 0;
}

/* A kept buffer leaves what is kept. */
static ji_ledger_entry_t *pool_take_kept(pool_t *pool, uint32_t index) {
    pool_unkeep(pool, index);
    pool_leave_record(pool, index);
    return pool_entry(pool, &pool->buffers[index]);
}

/* Below has no more. A kept buffer of the class serves, for which the stream then waits; else all
 * that is kept is given back, and below is asked again. */
static jstatus_t pool_scrape(pool_t *pool, pool_class_t class, jstream_t *stream,
                             ji_ledger_entry_t **entry) {
    uint32_t latest = pool_class_first(pool, class);
    if (latest != 0 &&
        ji_frontier_wait(&pool->frontier, pool->buffers[latest].fence, stream) == JSTATUS_SUCCESS) {
        *entry = pool_take_kept(pool, latest);
        return JSTATUS_SUCCESS;
    }

    void *memory;
    (void)pool_give_back(pool, 0);
    jstatus_t status = jallocator_allocate(pool->below, pool_class_bytes(class),
                                           pool_class_alignment(class), stream, &memory);
    if (status == JSTATUS_SUCCESS)
        *entry = pool_enter(pool, memory, class);
    return status;
}

static jstatus_t pool_take_from_below(pool_t *pool, pool_class_t class, jstream_t *stream,
                                      ji_ledger_entry_t **entry) {
    pool->miss_count += !pool->keeps_nothing;
    if (!ji_ledger_reserve(&pool->books))
        return ji_refuse_bookkeeping();

    void *memory;
    jstatus_t status = jallocator_allocate(pool->below, pool_class_bytes(class),
                                           pool_class_alignment(class), stream, &memory);
    if (status == JSTATUS_SUCCESS)
        *entry = pool_enter(pool, memory, class);
    else if (status == JSTATUS_MEMORY_ERROR && pool->kept_count != 0)
        status = pool_scrape(pool, class, stream, entry);
    return status;
}

static jstatus_t pool_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    pool_t *pool = context;
    pool_class_t class;
    if (!pool_classify(pool, size_bytes, alignment, &class))
        return ji_fail(JSTATUS_INVALID_SIZE, "%zu bytes cannot be rounded up", size_bytes);

    JTRY_RETURN(ji_policy_check_stream(&pool->frontier, stream));

    ji_ledger_entry_t *entry = NULL;
    uint32_t index = pool_search(pool, class, stream);
    if (index != 0) {
        ++pool->hit_count;
        entry = pool_take_kept(pool, index);
    } else {
        JTRY_RETURN(pool_take_from_below(pool, class, stream, &entry));
    }

    size_t live_bytes = pool->reserved_bytes - pool->kept_bytes;
    if (pool->peak_live_bytes < live_bytes)
        pool->peak_live_bytes = live_bytes;

    *pointer = pool_hand_out(entry, size_bytes, class);
    return JSTATUS_SUCCESS;
}

static jstatus_t pool_refuse(const pool_t *pool, const void *pointer,
                             const ji_ledger_entry_t *entry) {
    if (entry != NULL)
        return ji_refuse_freed(pool->self, pointer, entry->tag);
    entry = ji_ledger_find_containing(&pool->books, pointer);
    return entry != NULL ? ji_refuse_interior(pool->self, pointer, entry->address, entry->tag)
                         : ji_refuse_foreign(pool->self, pointer);
}

static jstatus_t pool_deallocate(void *context, void *pointer, size_t size_bytes,
                                 jstream_t *stream) {
    pool_t *pool = context;
    ji_ledger_entry_t *entry = ji_ledger_find(&pool->books, pointer);
    if (JI_UNLIKELY(entry == NULL || entry->size_bytes == 0))
        return pool_refuse(pool, pointer, entry);
    if (JI_UNLIKELY(entry->size_bytes != size_bytes))
        return ji_refuse_size(pool->self, pointer, entry->tag, entry->size_bytes, size_bytes);

    ji_fence_t fence;
    JTRY_RETURN(ji_frontier_mark(&pool->frontier, stream, &fence));
    const pool_class_t class = pool_class(pool, entry);

    /* One that is not to be kept goes back at once; if the pool keeps nothing, or for want of
     * bookkeeping memory, even at the price of waiting. */
    bool too_large = pool_class_bytes(class) > pool->limit_bytes &&
                     ji_frontier_passed_by_all(&pool->frontier, fence);
    if (JI_UNLIKELY(too_large || pool->keeps_nothing || !pool_make_room(pool))) {
        jstatus_t status = ji_frontier_drain(&pool->frontier, fence);
        if (status == JSTATUS_SUCCESS)
            status = pool_return(pool, entry, class, fence);
        if (status == JSTATUS_SUCCESS && !pool->keeps_nothing) {
            ++pool->eviction_count;
            ++pool->put_count;
        }
        return status;
    }

    const uint32_t index = pool_take_record(pool);
    pool->buffers[index] =
        (pool_buffer_t){.address = entry->address, .class = class, .fence = fence};
    entry->size_bytes = 0;
    entry->number = index;

    ++pool->put_count;
    pool_keep(pool, index);
    pool_keep_limits(pool);
    return JSTATUS_SUCCESS;
}

static size_t pool_usable_size(void *context, const void *pointer, size_t size_bytes) {
    const pool_t *pool = context;
    const ji_ledger_entry_t *entry = ji_ledger_find(&pool->books, pointer);
    return entry != NULL ? pool_class_bytes(pool_class(pool, entry)) : size_bytes;
}

static void pool_describe(const pool_t *pool, const ji_ledger_entry_t *entry,
                          jallocation_t *block) {
    block->pointer = (void *)entry->address;
    block->usable_bytes = pool_class_bytes(pool_class(pool, entry));
    block->live = entry->size_bytes != 0;
    block->size_bytes = block->live ? entry->size_bytes : block->usable_bytes;
    block->tag = block->live ? entry->tag : 0;
}

static jstatus_t pool_find(void *context, const void *pointer, jallocation_t *block) {
    const pool_t *pool = context;
    const ji_ledger_entry_t *entry = ji_ledger_find(&pool->books, pointer);
    if (entry == NULL)
        entry = ji_ledger_find_containing(&pool->books, pointer);
    if (entry == NULL || entry->size_bytes == 0)
        return JSTATUS_NOT_FOUND;

    pool_describe(pool, entry, block);
    return JSTATUS_SUCCESS;
}

static void pool_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const pool_t *pool = context;
    jallocation_t block = JALLOCATION_INIT;

    for (const ji_ledger_entry_t *entry = NULL;
         (entry = ji_ledger_next(&pool->books, entry)) != NULL;) {
        pool_describe(pool, entry, &block);
        if (!visitor(visitor_context, &block))
            return;
    }
}

static void pool_get_stats(void *context, jallocator_stats_t *stats) {
    const pool_t *pool = context;
    stats->reserved_bytes = pool->reserved_bytes;
    stats->peak_reserved_bytes = pool->peak_reserved_bytes;
    stats->free_bytes = pool->kept_bytes;
    stats->granted_bytes = pool->reserved_bytes - pool->kept_bytes;
    stats->peak_granted_bytes = pool->peak_live_bytes;
    stats->largest_free_bytes = 0;

    for (const ji_ledger_entry_t *class = NULL;
         (class = ji_ledger_next(&pool->classes, class)) != NULL;)
        if (class->number != 0 && stats->largest_free_bytes < pool_class_bytes(class->address))
            stats->largest_free_bytes = pool_class_bytes(class->address);
}

static void pool_clear_stats(void *context) {
    pool_t *pool = context;
    pool->peak_reserved_bytes = pool->reserved_bytes;
    pool->peak_live_bytes = pool->reserved_bytes - pool->kept_bytes;
}

static jstatus_t pool_trim(void *context, size_t keep_bytes) {
    return pool_give_back(context, keep_bytes);
}

static jstatus_t pool_check(void *context) {
    const pool_t *pool = context;
    return jallocator_check(pool->below);
}

static void pool_forget_stream(void *context, jstream_t *stream) {
    pool_t *pool = context;
    ji_frontier_forget(&pool->frontier, stream);
}

static void pool_destroy(void *context) {
    pool_t *pool = context;
    if (pool->buffers != NULL)
        (void)pool_give_back(pool, 0);

    ji_frontier_fini(&pool->frontier);
    ji_ledger_fini(&pool->books);
    ji_ledger_fini(&pool->classes);
    ji_metadata_free(pool->buffers);
    ji_metadata_free(pool);
}

static jstatus_t pool_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = pool_allocate,
        .deallocate = pool_deallocate,
        .usable_size = pool_usable_size,
        .find = pool_find,
        .visit = pool_visit,
        .get_stats = pool_get_stats,
        .clear_stats = pool_clear_stats,
        .trim = pool_trim,
        .check = pool_check,
        .forget_stream = pool_forget_stream,
        .destroy = pool_destroy,
    };

    const jpool_options_t *options = request->options;
    ji_traits_t traits = {.name = request->name,
                          .device = request->device,
                          .below = request->below,
                          .kind = &ji_kind_pool};
    JTRY_RETURN(ji_policy_threads(request->name, options->threads, &traits.threads));
    jstatus_t status = JSTATUS_SUCCESS;

    if ((unsigned)options->rounding > JPOOL_ROUND_NONE)
        return ji_fail(
            JSTATUS_INVALID_VALUE,
            "pool: rounding = %d: must be JPOOL_ROUND_POWER_OF_TWO (0) or JPOOL_ROUND_NONE (1)",
            (int)options->rounding);

    pool_t *pool;
    JTRY_ALLOC(pool = ji_metadata_zalloc(sizeof *pool));
    ji_frontier_init(&pool->frontier, request->device);
    JTRY_ALLOC(pool->buffers = ji_metadata_zalloc(POOL_FIRST_BUFFERS * sizeof *pool->buffers));
    pool->buffer_capacity = POOL_FIRST_BUFFERS;
    pool->buffer_count = 1;

    pool->below = request->below;
    pool->granule_bytes = jdevice_granule_bytes(request->device);
    pool->rounding = options->rounding;
    pool->fixed = options->fixed;
    pool->limit_count = ji_option(options->limit_count, POOL_DEFAULT_COUNT);
    pool->limit_bytes = ji_option(options->limit_bytes, JALLOC_UNLIMITED);
    pool->keeps_nothing = pool->limit_count == 0;

    JTRY(ji_allocator_make(&ops, pool, &traits, out));
    pool->self = *out;
    pool = NULL;
done:
    if (pool != NULL)
        pool_destroy(pool);
    return status;
}

static const jpool_options_t pool_defaults = JPOOL_OPTIONS_INIT;
static const jallocator_key_t pool_keys[] = {
    JI_THREADS_KEY,
    {"rounding", "power|none", "power",
     "to what sizes are rounded up: a power of two, or not at all"},
    {"count", "COUNT|none|unlimited", "64",
     "most freed buffers kept; none: every one goes back at once"},
    {"bytes", "SIZE|none|unlimited", "unlimited", "most freed bytes kept"},
    {"fixed", "BOOL", "false",
     "count stays as it is, rather than grow where the pool is too small"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t pool_members[] = {
    {JI_KEY_CHOICE, offsetof(jpool_options_t, threads), JALLOCATOR_THREADS_NONE},
    {JI_KEY_CHOICE, offsetof(jpool_options_t, rounding), JPOOL_ROUND_POWER_OF_TWO},
    {JI_KEY_COUNT, offsetof(jpool_options_t, limit_count), 0},
    {JI_KEY_SIZE, offsetof(jpool_options_t, limit_bytes), 0},
    {JI_KEY_BOOL, offsetof(jpool_options_t, fixed), 0},
};

const ji_kind_t ji_kind_pool = {
    .public = {"pool", JALLOCATOR_POLICY,
               "keeps freed buffers for the next request of equal rounded size", pool_keys},
    .members = pool_members,
    .options_type = "jpool_options_t",
    .options_bytes = sizeof(jpool_options_t),
    .defaults = &pool_defaults,
    .create = pool_create,
};

jstatus_t jallocator_create_pool(jallocator_t *below, const jpool_options_t *options,
                                 jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_pool, NULL, below, options, allocator);
}

jstatus_t jallocator_pool_clear_counters(jallocator_t *allocator) {
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_pool, __func__, &found));

    ji_policy_enter(found);
    pool_t *pool = found->context;
    pool->hit_count = pool->miss_count = pool->put_count = pool->eviction_count =
        pool->crowded_count = 0;

    ji_policy_leave(found);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_pool_get_counters(const jallocator_t *allocator, jpool_counters_t *counters) {
    JREQUIRE(counters != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jpool_counters_t, counters, hit_count));
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_pool, __func__, &found));

    ji_policy_enter(found);
    const pool_t *pool = found->context;
    const jpool_counters_t present = {sizeof present,       pool->hit_count,   pool->miss_count,
                                      pool->eviction_count, pool->limit_count, pool->put_count};

    ji_policy_leave(found);
    JI_GIVE_RESULT(counters, &present);
    return JSTATUS_SUCCESS;
}
