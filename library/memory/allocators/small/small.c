/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The policy as a kind of allocator: classes, large blocks, what the fast paths pass on, and
 * inspection; small.h has the idea. */

#include <string.h>

#include "memory/allocators/policy.h"
#include "memory/allocators/small/small.h"
#include "memory/entry.h"

#define SMALL_DEFAULT_LARGEST_BYTES ((size_t)32 << 10)
#define SMALL_DEFAULT_CACHE_BYTES ((size_t)1 << 20)
#define SMALL_MAX_CACHE_BYTES ((size_t)1 << 30)

/* ---- Classes ---- */

/* The class that serves a request, or SMALL_NO_CLASS. */
static uint32_t small_class_for(const small_t *small, size_t size_bytes, size_t alignment) {
    if (size_bytes > small->largest_bytes)
        return SMALL_NO_CLASS;

    for (uint32_t i = small->class_of[(size_bytes - 1) / SMALL_STEP_BYTES]; i < small->class_count;
         ++i)
        if (small->classes[i].alignment >= alignment)
            return i;
    return SMALL_NO_CLASS;
}

/* The size of the class after that of `size_bytes`. */
static size_t small_class_next(size_t size_bytes, size_t granule_bytes) {
    size_t step = granule_bytes;
    while (size_bytes >= 16 * step)
        step *= 2;
    return size_bytes + step;
}

/* The number of classes up to a size, which becomes that of the largest one. */
static uint32_t small_class_count(size_t *largest_bytes, size_t granule_bytes) {
    uint32_t count = 1;
    size_t size = granule_bytes;
    for (; size < *largest_bytes; ++count)
        size = small_class_next(size, granule_bytes);
    *largest_bytes = size;
    return count;
}

static void small_class_fill(small_t *small, size_t granule_bytes) {
    size_t size = granule_bytes, begin = 0;
    for (uint32_t i = 0; i < small->class_count; ++i) {
        size_t divisor = size & -size;
        small->classes[i].block_bytes = (uint32_t)size;
        small->classes[i].alignment =
            (uint32_t)(divisor < SMALL_UNIT_BYTES ? divisor : SMALL_UNIT_BYTES);
        for (; begin < size / SMALL_STEP_BYTES; ++begin)
            small->class_of[begin] = (uint8_t)i;
        size = small_class_next(size, granule_bytes);
    }
}

/* ---- Large blocks ---- */

/* Where all that is below is ours, its books are enough: what is live there and no slab is a large
 * block. */
static jstatus_t large_allocate(small_t *small, small_cache_t *cache, size_t size_bytes,
                                size_t alignment, jstream_t *stream, void **pointer) {
    JTRY_RETURN(jallocator_allocate(small->below, size_bytes, alignment, stream, pointer));
    if (small->owns_all) {
        ji_small_count_blocks(small, cache, 1);
        return JSTATUS_SUCCESS;
    }

    ji_lock_acquire(&small->lock);
    bool entered = ji_ledger_reserve(&small->ledger);
    if (entered) {
        ji_ledger_insert(&small->ledger, *pointer, size_bytes, ji_tag_current);
        small_reserve(small, size_bytes);
    }
    ji_lock_release(&small->lock);

    if (entered) {
        ji_small_count_blocks(small, cache, 1);
        return JSTATUS_SUCCESS;
    }

    (void)jallocator_deallocate(small->below, *pointer, size_bytes, stream);
    *pointer = NULL;
    return ji_refuse_bookkeeping();
}

/* Takes a block out of the ledger; refuses one that is not there. */
static jstatus_t large_remove(small_t *small, const void *pointer, size_t size_bytes, jtag_t *tag) {
    ji_ledger_entry_t *entry = ji_ledger_find(&small->ledger, pointer);
    if (entry == NULL) {
        const ji_ledger_entry_t *around = ji_ledger_find_containing(&small->ledger, pointer);
        return around != NULL
                   ? ji_refuse_interior(small->allocator, pointer, around->address, around->tag)
                   : ji_refuse_foreign(small->allocator, pointer);
    }
    if (entry->size_bytes != size_bytes)
        return ji_refuse_size(small->allocator, pointer, entry->tag, entry->size_bytes, size_bytes);

    *tag = entry->tag;
    ji_ledger_remove(&small->ledger, entry);
    small_unreserve(small, size_bytes);
    return JSTATUS_SUCCESS;
}

static jstatus_t large_deallocate(small_t *small, small_cache_t *cache, void *pointer,
                                  size_t size_bytes, jstream_t *stream) {
    jtag_t tag = 0;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!small->owns_all) {
        ji_lock_acquire(&small->lock);
        status = large_remove(small, pointer, size_bytes, &tag);
        ji_lock_release(&small->lock);
    }
    if (status != JSTATUS_SUCCESS)
        return status;

    status = jallocator_deallocate(small->below, pointer, size_bytes, stream);
    if (status == JSTATUS_SUCCESS) {
        ji_small_count_blocks(small, cache, (size_t)-1);
    } else if (!small->owns_all) {
        ji_lock_acquire(&small->lock); /* it stays live */
        (void)ji_ledger_restore(&small->ledger, pointer, size_bytes, tag);
        small_reserve(small, size_bytes);
        ji_lock_release(&small->lock);
    }
    return status;
}

/* ---- Allocating and freeing, where the fast paths do not serve ---- */

static jstatus_t small_allocate_once(small_t *small, small_cache_t *cache, size_t size_bytes,
                                     size_t alignment, jstream_t *stream, void **pointer) {
    uint32_t class_index = small_class_for(small, size_bytes, alignment);
    if (class_index == SMALL_NO_CLASS)
        return large_allocate(small, cache, size_bytes, alignment, stream, pointer);

    small_item_t item;
    jstatus_t status = ji_small_cache_pop(small, cache, class_index, stream, &item);
    if (status == JSTATUS_SUCCESS) {
        small_cell_enter(item.cell, size_bytes, ji_tag_current);
        *pointer = item.pointer;
    }
    return status;
}

static jstatus_t small_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    small_t *small = context;
    jstatus_t status = ji_policy_check_stream(&small->frontier, stream);
    small_cache_t *cache = status == JSTATUS_SUCCESS ? ji_small_cache_get(small, stream) : NULL;
    if (status == JSTATUS_SUCCESS)
        status = small_allocate_once(small, cache, size_bytes, alignment, stream, pointer);

    if (status == JSTATUS_MEMORY_ERROR) { /* what other classes keep may be enough */
        ji_small_cache_empty(small);
        (void)ji_small_central_trim(small, 0, false);
        status = small_allocate_once(small, cache, size_bytes, alignment, stream, pointer);
    }

    if (status == JSTATUS_SUCCESS)
        ji_small_count_allocate(small, cache, size_bytes);
    else
        ji_small_count_failure(small, cache);
    return status;
}

/* Finds the cell of a block that is given back with this size; refuses what is no such block. */
static jstatus_t small_check_block(const small_t *small, const small_slab_t *slab,
                                   const void *pointer, size_t offset, size_t size_bytes,
                                   small_cell_t **cell) {
    size_t index;
    bool begins = small_slab_index(slab, offset, &index);
    *cell = &slab->seen.cells[index];
    size_t live_bytes = small_cell_size(*cell);
    jtag_t tag = small_cell_tag(*cell);

    if (!begins && live_bytes != 0)
        return ji_refuse_interior(small->allocator, pointer,
                                  (uintptr_t)pointer - (offset - index * slab->block_bytes), tag);
    if (live_bytes == 0)
        return begins ? ji_refuse_freed(small->allocator, pointer, tag)
                      : ji_refuse_foreign(small->allocator, pointer);
    if (live_bytes != size_bytes)
        return ji_refuse_size(small->allocator, pointer, tag, live_bytes, size_bytes);
    return JSTATUS_SUCCESS;
}

static jstatus_t small_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    small_t *small = context;
    size_t offset;
    const small_slab_t *slab = small_slab_find(small, pointer, &offset);
    small_cell_t *cell = NULL;
    jstatus_t status = ji_policy_check_stream(&small->frontier, stream);
    if (status == JSTATUS_SUCCESS && slab != NULL)
        status = small_check_block(small, slab, pointer, offset, size_bytes, &cell);
    if (status != JSTATUS_SUCCESS)
        return status;

    small_cache_t *cache = ji_small_cache_get(small, stream);
    if (slab != NULL)
        status = ji_small_cache_push(small, cache, slab->class_index, stream,
                                     (small_item_t){pointer, cell});
    else
        status = large_deallocate(small, cache, pointer, size_bytes, stream);

    if (status == JSTATUS_SUCCESS)
        ji_small_count_deallocate(small, cache, size_bytes);
    return status;
}

/* ---- Inspection ---- */

static size_t small_usable_size(void *context, const void *pointer, size_t size_bytes) {
    small_t *small = context;
    size_t offset;
    const small_slab_t *slab = small_slab_find(small, pointer, &offset);
    return slab != NULL ? slab->block_bytes
                        : jallocator_usable_size(small->below, pointer, size_bytes);
}

static void small_describe(const small_slab_t *slab, size_t index, jallocation_t *block) {
    const small_cell_t *cell = &slab->seen.cells[index];
    size_t live_bytes = small_cell_size(cell);
    uintptr_t base = small_load(slab->seen.base);

    block->live = live_bytes != 0;
    block->pointer = (void *)(base + index * slab->block_bytes);
    block->size_bytes = block->live ? live_bytes : slab->block_bytes;
    block->usable_bytes = slab->block_bytes;
    block->tag = block->live ? small_cell_tag(cell) : 0;
}

static void large_describe(const small_t *small, const ji_ledger_entry_t *entry,
                           jallocation_t *block) {
    block->live = true;
    block->pointer = (void *)entry->address;
    block->size_bytes = entry->size_bytes;
    block->usable_bytes = jallocator_usable_size(small->below, block->pointer, entry->size_bytes);
    block->tag = entry->tag;
}

static jstatus_t small_find(void *context, const void *pointer, jallocation_t *block) {
    small_t *small = context;
    size_t offset;
    const small_slab_t *slab = small_slab_find(small, pointer, &offset);
    if (slab != NULL) {
        small_describe(slab, offset / slab->block_bytes, block);
        return block->live && offset % slab->block_bytes < block->size_bytes ? JSTATUS_SUCCESS
                                                                             : JSTATUS_NOT_FOUND;
    }

    if (small->owns_all) {
        jstatus_t status = jallocator_find(small->below, pointer, block);
        block->allocator = small->allocator;
        return status;
    }

    ji_lock_acquire(&small->lock);
    const ji_ledger_entry_t *entry = ji_ledger_find(&small->ledger, pointer);
    if (entry == NULL)
        entry = ji_ledger_find_containing(&small->ledger, pointer);
    if (entry != NULL)
        large_describe(small, entry, block);
    ji_lock_release(&small->lock);
    return entry != NULL ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND;
}

static bool small_visit_slabs(const ji_list_t *slabs, jallocation_visitor_t visitor,
                              void *context) {
    JI_LIST_EACH(slabs, const small_slab_t, slab, link)
        for (size_t i = 0; i < slab->count; ++i) {
            jallocation_t block = JALLOCATION_INIT;
            small_describe(slab, i, &block);
            if (!visitor(context, &block))
                return false;
        }
    return true;
}

static void small_visit_large(small_t *small, jallocation_visitor_t visitor, void *context) {
    bool goes_on = true;
    ji_lock_acquire(&small->lock);
    for (const ji_ledger_entry_t *entry = NULL;
         goes_on && (entry = ji_ledger_next(&small->ledger, entry)) != NULL;) {
        jallocation_t block = JALLOCATION_INIT;
        large_describe(small, entry, &block);
        goes_on = visitor(context, &block);
    }
    ji_lock_release(&small->lock);
}

/* Of what is below all but our slabs. */
typedef struct small_walk {
    small_t *small;
    jallocation_visitor_t visitor;
    void *context;
} small_walk_t;

static bool small_visit_below(void *context, const jallocation_t *block) {
    const small_walk_t *walk = context;
    jallocation_t shown = *block;
    size_t offset;
    shown.allocator = NULL;
    return (block->live && small_slab_find(walk->small, block->pointer, &offset) != NULL) ||
           walk->visitor(walk->context, &shown);
}

static void small_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    small_t *small = context;
    bool goes_on = true;
    for (uint32_t i = 0; goes_on && i < small->class_count; ++i) {
        small_class_t *class = &small->classes[i];
        ji_lock_acquire(&class->lock);
        goes_on = small_visit_slabs(&class->partial, visitor, visitor_context) &&
                  small_visit_slabs(&class->full, visitor, visitor_context);
        ji_lock_release(&class->lock);
    }

    small_walk_t walk = {small, visitor, visitor_context};
    if (goes_on && small->owns_all)
        (void)jallocator_visit(small->below, small_visit_below, &walk);
    else if (goes_on)
        small_visit_large(small, visitor, visitor_context);
}

/* ---- Statistics, trimming, checking ---- */

static void small_get_stats(void *context, jallocator_stats_t *stats) {
    small_t *small = context;
    size_t cached[SMALL_MAX_CLASSES];
    ji_small_count_report(small, stats, cached);

    for (uint32_t i = 0; i < small->class_count; ++i) {
        small_class_t *class = &small->classes[i];
        ji_lock_acquire(&class->lock);
        size_t count = cached[i] + class->free_count + class->bundled_count;
        ji_lock_release(&class->lock);
        stats->free_bytes += count * class->block_bytes;
        if (count > 0)
            stats->largest_free_bytes = class->block_bytes;
    }

    if (small->owns_all) {
        jallocator_stats_t below = JALLOCATOR_STATS_INIT;
        (void)jallocator_get_stats(small->below, &below);
        stats->limit_bytes = below.limit_bytes;
        stats->reserved_bytes = below.reserved_bytes;
        stats->peak_reserved_bytes = below.peak_reserved_bytes;
        stats->free_bytes += below.free_bytes;
        stats->decommitted_bytes = below.decommitted_bytes;
        if (below.largest_free_bytes > stats->largest_free_bytes)
            stats->largest_free_bytes = below.largest_free_bytes;
    }

    /* The sum of the threads' own peaks may be far too large: where one allocates what another
     * frees, the first one's only rises. What is in use is reserved. */
    if (stats->peak_in_use_bytes > stats->peak_reserved_bytes)
        stats->peak_in_use_bytes = stats->peak_reserved_bytes;
    if (stats->in_use_bytes > stats->peak_in_use_bytes)
        stats->in_use_bytes = stats->peak_in_use_bytes;
    /* So are blocks, where one allocates and another frees between the moments of their counts. */
    if (stats->live_count > stats->peak_reserved_bytes / SMALL_STEP_BYTES)
        stats->live_count = stats->peak_reserved_bytes / SMALL_STEP_BYTES;

    /* What was free in one place may be free in another by now. */
    const size_t taken_bytes = stats->reserved_bytes + stats->decommitted_bytes;
    if (stats->free_bytes > taken_bytes)
        stats->free_bytes = taken_bytes;
    if (stats->largest_free_bytes > stats->free_bytes)
        stats->largest_free_bytes = stats->free_bytes;
}

static void small_clear_stats(void *context) {
    small_t *small = context;
    ji_small_count_clear(small);
    if (small->owns_all)
        (void)jallocator_clear_stats(small->below);
}

/* Empties the calling thread's caches; those of other threads are emptied when they next need
 * something. */
static jstatus_t small_trim(void *context, size_t keep_bytes) {
    small_t *small = context;
    ji_small_cache_empty(small);
    jstatus_t status = ji_small_central_trim(small, keep_bytes, true);
    return small->owns_all && status == JSTATUS_SUCCESS ? jallocator_trim(small->below, keep_bytes)
                                                        : status;
}

static jstatus_t small_check(void *context) {
    small_t *small = context;
    jstatus_t status = ji_small_central_check(small);
    return small->owns_all && status == JSTATUS_SUCCESS ? jallocator_check(small->below) : status;
}

static void small_forget_stream(void *context, jstream_t *stream) {
    small_t *small = context;
    ji_small_cache_forget(small, stream);
    ji_lock_acquire(&small->lock);
    ji_frontier_forget(&small->frontier, stream);
    ji_lock_release(&small->lock);
}

/* ---- Life ---- */

static void small_free(small_t *small) {
    if (small != NULL)
        ji_metadata_free(small->class_of);
    ji_metadata_free(small);
}

static void small_destroy(void *context) {
    small_t *small = context;
    ji_small_cache_leave(small);
    ji_small_central_fini(small);
    small_free(small);
}

/* What is asked for, defaults filled in. */
static jstatus_t small_check_options(const char *kind, const jsmall_options_t *options,
                                     size_t *largest_bytes, size_t *cache_bytes) {
    *largest_bytes =
        options->largest_bytes != 0 ? options->largest_bytes : SMALL_DEFAULT_LARGEST_BYTES;
    *cache_bytes = ji_option(options->cache_bytes, SMALL_DEFAULT_CACHE_BYTES);

    if ((unsigned)options->threads > JALLOCATOR_THREADS_SAFE)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: threads is %d, must be default, none, lock or safe", kind,
                       (int)options->threads);
    if (*largest_bytes > SMALL_MAX_LARGEST_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: largest_bytes is %zu, must be at most %zu", kind,
                       *largest_bytes, SMALL_MAX_LARGEST_BYTES);
    if (*cache_bytes > SMALL_MAX_CACHE_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: cache_bytes is %zu, must be at most %zu", kind,
                       *cache_bytes, SMALL_MAX_CACHE_BYTES);
    return JSTATUS_SUCCESS;
}

static const ji_entry_t small_entry = {ji_small_cache_allocate, ji_small_cache_deallocate};

/* What the fast paths do not do. */
JI_ENTRY(small_straight, straight, small_allocate, small_deallocate, false)

jstatus_t ji_small_make(const ji_request_t *request, const ji_kind_t *kind,
                        const jsmall_options_t *options, bool owns_all, jallocator_t **out) {
    static const jallocator_ops_t ops = {
        .struct_size = sizeof ops,
        .allocate = small_allocate,
        .deallocate = small_deallocate,
        .usable_size = small_usable_size,
        .find = small_find,
        .visit = small_visit,
        .get_stats = small_get_stats,
        .clear_stats = small_clear_stats,
        .trim = small_trim,
        .check = small_check,
        .forget_stream = small_forget_stream,
        .destroy = small_destroy,
    };

    size_t largest_bytes, cache_bytes;
    JTRY_RETURN(small_check_options(kind->public.name, options, &largest_bytes, &cache_bytes));

    jstatus_t status = JSTATUS_SUCCESS;
    size_t granule_bytes = jdevice_granule_bytes(request->below->device);
    uint32_t class_count = small_class_count(&largest_bytes, granule_bytes);
    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .entry = &small_entry,
                          .counts_itself = true,
                          .below_is_part = owns_all,
                          .kind = kind};

    /* The code is the same for every class of threads: what was asked for changes nothing but what
     * the allocator says of itself. */
    if (request->below->threads == JALLOCATOR_THREADS_NONE)
        traits.threads = JALLOCATOR_THREADS_NONE;
    else if (options->threads != JALLOCATOR_THREADS_DEFAULT)
        traits.threads = options->threads;

    small_t *small;
    JTRY_ALLOC(small = ji_metadata_zalloc(sizeof *small + class_count * sizeof small->classes[0]));
    JTRY_ALLOC(small->class_of = ji_metadata_alloc(largest_bytes / SMALL_STEP_BYTES));

    ji_list_init(&small->caches);
    small->below = request->below;
    small->largest_bytes = largest_bytes;
    small->cache_bytes = cache_bytes;
    small->class_count = class_count;
    small->owns_all = owns_all;
    small->straight = small_straight;
    small_class_fill(small, granule_bytes);
    ji_frontier_init(&small->frontier, request->below->device);

    JTRY(ji_small_central_init(small));
    status = ji_allocator_make(&ops, small, &traits, &small->allocator);
    if (status != JSTATUS_SUCCESS) {
        ji_small_central_fini(small);
        goto done;
    }

    ji_small_cache_enter(small);
    *out = small->allocator;
    small = NULL;
done:
    small_free(small);
    return status;
}

static jstatus_t small_create(const ji_request_t *request, jallocator_t **out) {
    return ji_small_make(request, &ji_kind_small, request->options, false, out);
}

static const jallocator_key_t small_keys[] = {
    {"threads", "none|lock|safe", "safe", "from which threads it may be called"},
    {"largest", "SIZE", "32KiB", "larger requests go straight below"},
    {"cache", "SIZE|none", "1MiB", "most a thread keeps for itself, for each stream it uses"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t small_members[] = {
    {JI_KEY_CHOICE, offsetof(jsmall_options_t, threads), JALLOCATOR_THREADS_NONE},
    {JI_KEY_SIZE, offsetof(jsmall_options_t, largest_bytes), 0},
    {JI_KEY_SIZE, offsetof(jsmall_options_t, cache_bytes), 0},
};
static const jsmall_options_t small_defaults = JSMALL_OPTIONS_INIT;

const ji_kind_t ji_kind_small = {
    .public = {"small", JALLOCATOR_POLICY,
               "small blocks by size class, with a cache for each thread", small_keys},
    .members = small_members,
    .options_type = "jsmall_options_t",
    .options_bytes = sizeof small_defaults,
    .defaults = &small_defaults,
    .create = small_create,
};

jstatus_t jallocator_create_small(jallocator_t *below, const jsmall_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_small, NULL, below, options, allocator);
}
