/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What all threads share of the small blocks: slabs by class, and bundles of free blocks on their
 * way between threads.
 *
 *     class 9     partial   [ slab ]-[ slab ]      full   [ slab ]-[ slab ]-[ slab ]
 *                 bundles   newest [64 blocks, fence]-[64, fence]-[17, fence] oldest
 *
 * A slab is taken from below with as many bytes as the class already has, between 16 KiB and 256
 * KiB: a class that is used a little costs little, one that is used a lot goes below rarely. It
 * ends where its last block ends, and has as many blocks as fill lines of cells, where there are
 * more than in one line. A bit for each block says which are free.
 *
 * Blocks come back from a thread's cache by the dozen, with one fence, and go to the next cache as
 * they came, without a look at their slabs. What is more than half a cache's worth, or half a MiB,
 * is taken apart: then a slab can become empty, and where more than half of a class's slabs are,
 * they are given back below. In slabs there are only blocks that every stream may use, or will when
 * the slab's own fence is passed, that of the stream on which the slab was taken from below. */

#include <string.h>

#include "memory/allocators/policy.h"
#include "memory/allocators/small/small.h"

#define SMALL_LEAST_SLAB_BYTES ((size_t)16 << 10)
#define SMALL_MOST_SLAB_BYTES ((size_t)256 << 10)
#define SMALL_LEAST_SLAB_BLOCKS 2
#define SMALL_BUNDLED_PART 2 /* half a cache's worth of a class may be in bundles */
#define SMALL_MOST_BUNDLED_BYTES ((size_t)512 << 10) /* of a class: those of all add up */
#define SMALL_SPARE_SLABS 2 /* empty ones that a class may keep in any case */
#define SMALL_CLOCK_EXCHANGES 64

/* ---- Fences ---- */

jstatus_t ji_small_central_mark(small_t *small, jstream_t *stream, ji_fence_t *fence) {
    *fence = (ji_fence_t){0, 0};
    if (ji_stream_is_inline(&small->frontier, stream))
        return JSTATUS_SUCCESS;

    ji_lock_acquire(&small->lock);
    jstatus_t status = ji_frontier_mark(&small->frontier, stream, fence);
    ji_lock_release(&small->lock);
    return status;
}

static bool central_passed(small_t *small, ji_fence_t fence, jstream_t *stream) {
    if (fence.index == 0)
        return true;

    ji_lock_acquire(&small->lock);
    bool passed = ji_frontier_passed(&small->frontier, fence, stream);
    ji_lock_release(&small->lock);
    return passed;
}

/* Whether every stream may use it; `waits`: until it may, where that can be. */
static bool central_passed_by_all(small_t *small, ji_fence_t fence, bool waits) {
    if (fence.index == 0)
        return true;

    ji_lock_acquire(&small->lock);
    bool passed = waits ? ji_frontier_drain(&small->frontier, fence) == JSTATUS_SUCCESS
                        : ji_frontier_passed_by_all(&small->frontier, fence);
    ji_lock_release(&small->lock);
    return passed;
}

/* ---- Slabs, under the class's lock ---- */

/* A description of a slab of so many bytes. */
static small_slab_t *slab_describe(small_t *small, size_t size_bytes) {
    ji_lock_acquire(&small->lock);
    small_slab_t **link = &small->spare;
    while (*link != NULL && (*link)->size_bytes != size_bytes)
        link = &(*link)->next_spare;

    small_slab_t *slab = *link;
    if (slab != NULL) {
        *link = slab->next_spare;
    } else if ((slab = ji_metadata_zalloc(sizeof *slab)) != NULL) {
        slab->size_bytes = size_bytes;
        slab->next_made = small->made;
        small->made = slab;
    }

    ji_lock_release(&small->lock);
    return slab;
}

static void slab_forget(small_t *small, small_slab_t *slab) {
    ji_lock_acquire(&small->lock);
    slab->next_spare = small->spare;
    small->spare = slab;
    ji_lock_release(&small->lock);
}

/* Enters a slab that was taken from below on the stream. */
static jstatus_t slab_enter(small_t *small, small_slab_t *slab, void *base, jstream_t *stream) {
    ji_lock_acquire(&small->lock);
    jstatus_t status = ji_frontier_mark(&small->frontier, stream, &slab->fence);
    if (status == JSTATUS_SUCCESS && !ji_small_table_make_room(small, small_slab_units(slab)))
        status = ji_refuse_bookkeeping();

    if (status == JSTATUS_SUCCESS) {
        small_store(slab->seen.base, (uintptr_t)base);
        small_store_release(slab->seen.bytes, slab->size_bytes);
        slab->entered = true;
        ji_small_table_insert(small_load(small->table), slab);
        small_reserve(small, slab->size_bytes);
    }

    ji_lock_release(&small->lock);
    return status;
}

static jstatus_t slab_take(small_t *small, uint32_t class_index, uint32_t count,
                           jstream_t *stream) {
    small_class_t *class = &small->classes[class_index];
    jstatus_t status = JSTATUS_SUCCESS;
    small_slab_t *slab = NULL;
    void *base = NULL;
    void *books;
    uint32_t words = (count + 63) / 64;

    JTRY_ALLOC(books = ji_metadata_zalloc(SMALL_LINE_BYTES + count * sizeof(small_cell_t) +
                                          words * sizeof slab->free_bits[0]));
    JTRY_ALLOC(slab = slab_describe(small, (size_t)count * class->block_bytes));
    JTRY(jallocator_allocate(small->below, slab->size_bytes, SMALL_UNIT_BYTES, stream, &base));

    slab->seen.reciprocal = UINT64_MAX / class->block_bytes + 1;
    slab->books = books;
    slab->seen.cells =
        (small_cell_t *)(((uintptr_t)books + SMALL_LINE_BYTES - 1) & ~(SMALL_LINE_BYTES - 1));
    slab->class_index = class_index;
    slab->seen.magazine_offset = small_magazine_offset(class_index);
    slab->block_bytes = class->block_bytes;
    slab->count = slab->free_count = count;
    slab->first_word = 0;

    slab->free_bits = (uint64_t *)(slab->seen.cells + count);
    memset(slab->free_bits, 0xFF, words * sizeof slab->free_bits[0]);
    if (count % 64 != 0)
        slab->free_bits[words - 1] = (UINT64_C(1) << count % 64) - 1;

    JTRY(slab_enter(small, slab, base, stream));
    ji_list_push_front(&class->partial, &slab->link);
    ++class->slab_count;
    ++class->empty_count;
    class->slab_bytes += slab->size_bytes;
    class->free_count += count;
    return JSTATUS_SUCCESS;
done:
    (void)jallocator_deallocate(small->below, base, slab != NULL ? slab->size_bytes : 0, stream);
    if (slab != NULL)
        slab_forget(small, slab);
    ji_metadata_free(books);
    return status;
}

/* Gives an empty slab, whose fence is passed, back below. While that is done the slab is not found
 * any more, for another may be at the same address before it is over. */
static jstatus_t slab_release(small_t *small, small_class_t *class, small_slab_t *slab) {
    small_store_release(slab->seen.bytes, 0);
    void *base = (void *)small_load(slab->seen.base);
    jstatus_t status = jallocator_deallocate(small->below, base, slab->size_bytes, NULL);
    if (status != JSTATUS_SUCCESS) {
        small_store_release(slab->seen.bytes, slab->size_bytes);
        return status;
    }

    ji_list_remove(&slab->link);
    --class->slab_count;
    --class->empty_count;
    class->slab_bytes -= slab->size_bytes;
    class->free_count -= slab->count;
    ji_metadata_free(slab->books);

    ji_lock_acquire(&small->lock);
    ji_small_table_remove(small_load(small->table), slab);
    slab->entered = false;
    small_unreserve(small, slab->size_bytes);
    ji_lock_release(&small->lock);
    slab_forget(small, slab);
    return JSTATUS_SUCCESS;
}

/* The lowest free blocks: what one thread gets is side by side, and so are its cells. Caches are
 * filled by whole lines of cells, so two threads seldom write to the same one. */
static uint32_t slab_pop(small_class_t *class, small_slab_t *slab, small_item_t *items,
                         uint32_t wanted) {
    uint32_t count = slab->free_count < wanted ? slab->free_count : wanted, taken = 0;
    uintptr_t base = small_load(slab->seen.base);
    class->empty_count -= slab->free_count == slab->count;

    while (taken < count) {
        uint64_t *bits = &slab->free_bits[slab->first_word];
        for (; *bits != 0 && taken < count; *bits &= *bits - 1) {
            uint32_t index = 64 * slab->first_word + (uint32_t)__builtin_ctzll(*bits);
            items[taken++] = (small_item_t){(void *)(base + (size_t)index * slab->block_bytes),
                                            &slab->seen.cells[index]};
        }
        slab->first_word += *bits == 0;
    }

    slab->free_count -= count;
    class->free_count -= count;
    if (slab->free_count == 0) {
        ji_list_remove(&slab->link);
        ji_list_push_front(&class->full, &slab->link);
    }
    return count;
}

static void slab_push(small_t *small, small_class_t *class, const small_item_t *item) {
    size_t offset;
    small_slab_t *slab = small_slab_find(small, item->pointer, &offset);
    uint32_t index = (uint32_t)(item->cell - slab->seen.cells);

    slab->free_bits[index / 64] |= UINT64_C(1) << index % 64;
    if (index / 64 < slab->first_word)
        slab->first_word = index / 64;
    if (slab->free_count++ == 0) {
        ji_list_remove(&slab->link);
        ji_list_push_front(&class->partial, &slab->link);
    }
    class->empty_count += slab->free_count == slab->count;
    ++class->free_count;
}

/* Gives empty slabs back, as long as the class has more than `keep_count` of them and more than
 * keep_bytes are free. */
static jstatus_t class_release(small_t *small, small_class_t *class, size_t keep_count,
                               size_t *free_bytes, size_t keep_bytes, bool waits) {
    jstatus_t status = JSTATUS_SUCCESS;
    JI_LIST_WHILE(class->empty_count > keep_count && *free_bytes > keep_bytes, &class->partial,
                  small_slab_t, slab, link) {
        if (slab->free_count != slab->count || !central_passed_by_all(small, slab->fence, waits))
            continue;

        size_t bytes = slab->size_bytes;
        jstatus_t released = slab_release(small, class, slab);
        if (released == JSTATUS_SUCCESS)
            *free_bytes -= bytes;
        else
            status = released;
    }
    return status;
}

/* ---- Bundles, under the class's lock ---- */

static void bundle_unlink(small_class_t *class, small_bundle_t *bundle) {
    ji_list_remove(&bundle->link);
    ji_list_push_front(&class->spare, &bundle->link);
}

/* The newest bundle, if it has room and its stream is that of the fence, else another one; NULL
 * without memory. */
static small_bundle_t *bundle_for(small_class_t *class, ji_fence_t fence) {
    small_bundle_t *bundle = JI_LIST_FIRST(&class->bundles, small_bundle_t, link);
    if (bundle != NULL && bundle->fence.index == fence.index &&
        bundle->count < SMALL_BUNDLE_ITEMS) {
        if (bundle->fence.serial < fence.serial)
            bundle->fence = fence;
        return bundle;
    }

    bundle = JI_LIST_FIRST(&class->spare, small_bundle_t, link);
    if (bundle != NULL)
        ji_list_remove(&bundle->link);
    else if ((bundle = ji_metadata_alloc(sizeof *bundle)) == NULL)
        return NULL;

    bundle->fence = fence;
    bundle->count = 0;
    ji_list_push_front(&class->bundles, &bundle->link);
    return bundle;
}

static void bundle_dissolve(small_t *small, small_class_t *class, small_bundle_t *bundle) {
    for (uint32_t i = 0; i < bundle->count; ++i)
        slab_push(small, class, &bundle->items[i]);
    class->bundled_count -= bundle->count;
    bundle_unlink(class, bundle);
}

static void class_free_spare(small_class_t *class) {
    JI_LIST_EACH(&class->spare, small_bundle_t, bundle, link)
        ji_metadata_free(bundle);
    ji_list_init(&class->spare);
}

/* ---- Giving and taking ---- */

/* Who works with small blocks alone hardly ever calls what is below, which has to know that time
 * passes. */
static void class_exchange(const small_t *small, small_class_t *class) {
    if (++class->exchanges % SMALL_CLOCK_EXCHANGES == 0 && small->owns_all)
        ji_bfc_pass_time(small->below);
}

static uint32_t class_pop(small_t *small, small_class_t *class, jstream_t *stream,
                          small_item_t *items, uint32_t wanted) {
    uint32_t taken = 0;
    JI_LIST_WHILE(taken < wanted, &class->bundles, small_bundle_t, bundle, link) {
        if (!central_passed(small, bundle->fence, stream))
            continue;

        while (bundle->count > 0 && taken < wanted) {
            items[taken++] = bundle->items[--bundle->count];
            --class->bundled_count;
        }
        if (bundle->count == 0)
            bundle_unlink(class, bundle);
    }

    JI_LIST_WHILE(taken < wanted, &class->partial, small_slab_t, slab, link) {
        if (central_passed(small, slab->fence, stream))
            taken += slab_pop(class, slab, items + taken, wanted - taken);
    }
    return taken;
}

/* As many blocks as the class has already, within limits; one where that is more than there is. */
static jstatus_t class_grow(small_t *small, uint32_t class_index, jstream_t *stream) {
    const small_class_t *class = &small->classes[class_index];
    size_t bytes = class->slab_bytes;
    if (bytes < SMALL_LEAST_SLAB_BYTES)
        bytes = SMALL_LEAST_SLAB_BYTES;
    if (bytes > SMALL_MOST_SLAB_BYTES)
        bytes = SMALL_MOST_SLAB_BYTES;

    size_t count = bytes / class->block_bytes;
    if (count < SMALL_LEAST_SLAB_BLOCKS)
        count = SMALL_LEAST_SLAB_BLOCKS;
    if (count > SMALL_LINE_CELLS)
        count -= count % SMALL_LINE_CELLS;

    jstatus_t status = slab_take(small, class_index, (uint32_t)count, stream);
    return status == JSTATUS_MEMORY_ERROR ? slab_take(small, class_index, 1, stream) : status;
}

jstatus_t ji_small_central_take(small_t *small, uint32_t class_index, jstream_t *stream,
                                small_item_t *items, uint32_t wanted, uint32_t *taken) {
    small_class_t *class = &small->classes[class_index];
    jstatus_t status = JSTATUS_SUCCESS;

    ji_lock_acquire(&class->lock);
    class_exchange(small, class);
    uint32_t count = class_pop(small, class, stream, items, wanted);
    if (count == 0) {
        status = class_grow(small, class_index, stream);
        if (status == JSTATUS_SUCCESS) /* the stream's own: there is nothing to wait for */
            count = class_pop(small, class, stream, items, wanted);
    }
    ji_lock_release(&class->lock);

    if (status == JSTATUS_SUCCESS)
        *taken = count;
    return status;
}

void ji_small_central_give(small_t *small, uint32_t class_index, const small_item_t *items,
                           uint32_t count, ji_fence_t fence, bool settle) {
    small_class_t *class = &small->classes[class_index];
    size_t keep_bytes = settle ? 0 : small->cache_bytes / SMALL_BUNDLED_PART;
    if (keep_bytes > SMALL_MOST_BUNDLED_BYTES)
        keep_bytes = SMALL_MOST_BUNDLED_BYTES;

    ji_lock_acquire(&class->lock);
    class_exchange(small, class);
    for (uint32_t i = 0; i < count; ++i) {
        small_bundle_t *bundle = bundle_for(class, fence);
        if (bundle != NULL) {
            bundle->items[bundle->count++] = items[i];
            ++class->bundled_count;
        } else {
            (void)central_passed_by_all(small, fence, true);
            slab_push(small, class, &items[i]);
        }
    }

    while (class->bundled_count * class->block_bytes > keep_bytes) {
        small_bundle_t *oldest = JI_LIST_LAST(&class->bundles, small_bundle_t, link);
        if (!central_passed_by_all(small, oldest->fence, false))
            break;
        bundle_dissolve(small, class, oldest);
    }

    size_t keep_count =
        class->slab_count / 2 > SMALL_SPARE_SLABS ? class->slab_count / 2 : SMALL_SPARE_SLABS;
    size_t free_bytes = SIZE_MAX;
    (void)class_release(small, class, keep_count, &free_bytes, 0, false);
    ji_lock_release(&class->lock);
}

jstatus_t ji_small_central_trim(small_t *small, size_t keep_bytes, bool waits) {
    jstatus_t status = JSTATUS_SUCCESS;
    size_t free_bytes = 0;
    for (uint32_t i = 0; i < small->class_count; ++i) {
        small_class_t *class = &small->classes[i];
        ji_lock_acquire(&class->lock);
        JI_LIST_EACH(&class->bundles, small_bundle_t, bundle, link)
            if (central_passed_by_all(small, bundle->fence, waits))
                bundle_dissolve(small, class, bundle);
        class_free_spare(class);
        free_bytes += class->free_count * class->block_bytes;
        ji_lock_release(&class->lock);
    }

    /* The large ones give most at once. */
    for (uint32_t i = small->class_count; i-- > 0 && free_bytes > keep_bytes;) {
        small_class_t *class = &small->classes[i];
        ji_lock_acquire(&class->lock);
        jstatus_t released = class_release(small, class, 0, &free_bytes, keep_bytes, waits);
        ji_lock_release(&class->lock);
        if (released != JSTATUS_SUCCESS)
            status = released;
    }
    return status;
}

/* ---- Checking ---- */

/* Whether as many blocks are free as should be, none of them live. */
static bool slab_is_whole(const small_slab_t *slab) {
    uint32_t free_count = 0;
    for (uint32_t i = 0; i < slab->count; ++i)
        if ((slab->free_bits[i / 64] >> i % 64 & 1) != 0) {
            ++free_count;
            if (i / 64 < slab->first_word || small_cell_size(&slab->seen.cells[i]) != 0)
                return false;
        }
    return free_count == slab->free_count;
}

static jstatus_t class_check(small_t *small, small_class_t *class) {
    size_t free_count = 0, bundled_count = 0;
    JI_LIST_EACH(&class->partial, const small_slab_t, slab, link) {
        free_count += slab->free_count;
        if (!slab_is_whole(slab))
            return ji_fail(
                JSTATUS_CORRUPTED,
                "allocator \"%s\": the free blocks of the slab at %p are not what they were",
                small->allocator->name, (void *)small_load(slab->seen.base));
    }

    JI_LIST_EACH(&class->bundles, const small_bundle_t, bundle, link) {
        bundled_count += bundle->count;
        for (uint32_t i = 0; i < bundle->count; ++i)
            if (small_cell_size(bundle->items[i].cell) != 0)
                return ji_fail(JSTATUS_CORRUPTED, "allocator \"%s\": %p is both free and live",
                               small->allocator->name, bundle->items[i].pointer);
    }

    if (free_count != class->free_count || bundled_count != class->bundled_count)
        return ji_fail(JSTATUS_CORRUPTED,
                       "allocator \"%s\": %zu + %zu blocks of %u bytes are free, counted %zu + %zu",
                       small->allocator->name, free_count, bundled_count, class->block_bytes,
                       class->free_count, class->bundled_count);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_small_central_check(small_t *small) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (uint32_t i = 0; i < small->class_count && status == JSTATUS_SUCCESS; ++i) {
        ji_lock_acquire(&small->classes[i].lock);
        status = class_check(small, &small->classes[i]);
        ji_lock_release(&small->classes[i].lock);
    }
    return status;
}

/* ---- Life ---- */

jstatus_t ji_small_central_init(small_t *small) {
    small_table_t *table = ji_small_table_make(SMALL_FIRST_SLOTS);
    if (table == NULL)
        return ji_refuse_bookkeeping();

    small->table = table;
    ji_lock_init(&small->lock);
    for (uint32_t i = 0; i < small->class_count; ++i) {
        small_class_t *class = &small->classes[i];
        ji_lock_init(&class->lock);
        ji_list_init(&class->partial);
        ji_list_init(&class->full);
        ji_list_init(&class->bundles);
        ji_list_init(&class->spare);
    }
    return JSTATUS_SUCCESS;
}

/* Nothing is live and the caches are empty, so every slab is. */
void ji_small_central_fini(small_t *small) {
    (void)ji_small_central_trim(small, 0, true);
    for (uint32_t i = 0; i < small->class_count; ++i)
        ji_lock_fini(&small->classes[i].lock);
    ji_lock_fini(&small->lock);

    for (small_slab_t *slab = small->made, *next; slab != NULL; slab = next) {
        next = slab->next_made;
        if (slab->entered) /* below did not take it back */
            ji_metadata_free(slab->books);
        ji_metadata_free(slab);
    }

    for (small_table_t *table = small_load(small->table), *older; table != NULL; table = older) {
        older = table->older;
        ji_metadata_free(table);
    }

    ji_frontier_fini(&small->frontier);
    ji_ledger_fini(&small->ledger);
}
