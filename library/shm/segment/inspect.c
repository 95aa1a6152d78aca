/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Looking at a segment: extents, statistics, who owns what, and whether everything holds together.
 *
 * One walk over the page table serves all. It believes nothing: an extent's word must be one before
 * the next is looked for at its end, and a slab's tables are where its geometry says.
 *
 * The lock does not keep processes from their own slabs and caches, so the word of an extent and
 * the owners of its blocks may change at any time. The walk reads each once and counts then and
 * there: whoever wants numbers takes those, and each byte is in one account, where it was when it
 * was looked at. */

#include "shm/heap/heap.h"

#include <string.h>

/* What an extent's bytes are. */
typedef struct inspect_bytes {
    uint64_t metadata, owned, given, cached, free;
} inspect_bytes_t;

typedef struct inspect_extent {
    uint64_t page, word;
    shm_geometry_t geometry; /* of a slab */
    /* Blocks of a slab: all that are live, and of them those that the segment owns and those of the
     * watched slot. */
    unsigned live_count, given_count, watched_count;
} inspect_extent_t;

static unsigned slab_owner(const jsegment_t *segment, const inspect_extent_t *extent,
                           uint32_t index) {
    return ji_slab_owner(segment, extent->page, &extent->geometry, index);
}

static void slab_count(const jsegment_t *segment, unsigned watched, inspect_extent_t *extent) {
    for (uint32_t i = 0; i < extent->geometry.block_count; ++i) {
        const unsigned owner = slab_owner(segment, extent, i);
        extent->live_count += owner != 0;
        extent->given_count += owner == SHM_SLOT_SEGMENT;
        extent->watched_count += owner != 0 && owner == watched;
    }
}

/* Calls `see` for each extent; it ends the walk by false. `watched`: a slot whose blocks are
 * counted apart; 0: none. */
typedef bool (*inspect_see_t)(const jsegment_t *segment, const inspect_extent_t *extent,
                              void *context);

static jstatus_t inspect_walk(const jsegment_t *segment, unsigned watched, inspect_see_t see,
                              void *context) {
    const uint64_t total = ji_pages_total(segment);
    for (uint64_t page = segment->constants.first_page; page < total;) {
        inspect_extent_t extent = {.page = page, .word = shm_page_word(segment, page)};
        if (!ji_pages_is_extent(segment, page, extent.word))
            return ji_fail(JSTATUS_CORRUPTED, "no extent begins at page %llu",
                           (unsigned long long)page);

        if (SHM_STATE(extent.word) == SHM_SLAB) {
            if (!ji_slab_at(segment, page, extent.word, &extent.geometry))
                return ji_fail(JSTATUS_CORRUPTED, "page %llu is no sound slab",
                               (unsigned long long)page);
            slab_count(segment, watched, &extent);
        }

        if (!see(segment, &extent, context))
            break;

        page += SHM_PAGES(extent.word);
    }
    return JSTATUS_SUCCESS;
}

/* What the bytes of an extent are: for all (slot 0), or those of one slot alone. */
static void inspect_count(const inspect_extent_t *extent, unsigned slot, inspect_bytes_t *bytes) {
    const uint64_t length = SHM_PAGES(extent->word) << SHM_PAGE_SHIFT;
    const unsigned owner = SHM_OWNER(extent->word);

    switch (SHM_STATE(extent->word)) {
    case SHM_FREE:
    case SHM_DEAD: bytes->free += length; break;
    case SHM_BLOCK:
        if (owner == SHM_SLOT_SEGMENT)
            bytes->given += length;
        else if (slot == 0 || slot == owner)
            bytes->owned += length;
        break;
    case SHM_CACHED:
        if (slot == 0 || slot == owner)
            bytes->cached += length;
        break;
    case SHM_SLAB: {
        const uint64_t block = extent->geometry.block_bytes;
        bytes->metadata += length - extent->geometry.block_count * block;
        if (slot == 0 || slot == owner)
            bytes->cached += (extent->geometry.block_count - extent->live_count) * block;
        bytes->given += extent->given_count * block;
        bytes->owned +=
            (slot == 0 ? extent->live_count - extent->given_count : extent->watched_count) * block;
        break;
    }
    default: bytes->metadata += length;
    }
}

/* Begins to look: with the segment's lock, but for a read-only attachment. The lock, and what a
 * dead process left half done under it, are no part of what is seen. */
static jstatus_t inspect_begin(const jsegment_t *seen) {
    jsegment_t *segment = (jsegment_t *)seen;
    jstatus_t status = ji_segment_begin_reading(segment);
    if (status == JSTATUS_SUCCESS && !segment->read_only) {
        status = ji_segment_enter_anyway(segment);
        if (status != JSTATUS_SUCCESS)
            ji_segment_end(segment);
    }
    return status;
}
static jstatus_t inspect_end(const jsegment_t *seen, jstatus_t status) {
    jsegment_t *segment = (jsegment_t *)seen;
    if (!segment->read_only)
        ji_segment_leave(segment);
    ji_segment_end(segment);
    return status;
}

/* ---- Extents ---- */

typedef struct visit_context {
    jextent_visitor_t visitor;
    void *context;
} visit_context_t;

static bool visit_see(const jsegment_t *segment, const inspect_extent_t *extent, void *context) {
    static const jextent_state_t states[] = {
        [SHM_FREE] = JEXTENT_FREE,     [SHM_DEAD] = JEXTENT_FREE, [SHM_BLOCK] = JEXTENT_BLOCK,
        [SHM_CACHED] = JEXTENT_CACHED, [SHM_SLAB] = JEXTENT_SLAB, [SHM_REGION] = JEXTENT_REGION,
    };
    const visit_context_t *visit = context;

    const shm_state_t state = SHM_STATE(extent->word);
    jextent_t shown = {.struct_size = sizeof shown,
                       .offset = extent->page << SHM_PAGE_SHIFT,
                       .size_bytes = (size_t)SHM_PAGES(extent->word) << SHM_PAGE_SHIFT,
                       .state = states[state],
                       .owner = SHM_OWNER(extent->word)};

    const unsigned index = SHM_ALLOCATOR(extent->word);
    if ((state == SHM_BLOCK || state == SHM_SLAB || state == SHM_REGION) &&
        index < SHM_ALLOCATORS) {
        const shm_allocator_t *entry = &segment->allocators[index];
        shown.allocator_id = shm_load(&entry->id);
        if (state == SHM_REGION && shm_load(&entry->region_page) == extent->page)
            shown.block_bytes = (size_t)shm_load(&entry->top);
    }

    if (state == SHM_SLAB) {
        shown.block_bytes = extent->geometry.block_bytes;
        shown.block_count = extent->geometry.block_count;
        shown.live_count = extent->live_count;
    }

    return visit->visitor(visit->context, &shown);
}

jstatus_t jsegment_visit(const jsegment_t *segment, jextent_visitor_t visitor, void *context) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(visitor != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(inspect_begin(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    const jextent_t header = {.struct_size = sizeof header,
                              .size_bytes = (size_t)segment->constants.first_page << SHM_PAGE_SHIFT,
                              .state = JEXTENT_HEADER};
    visit_context_t visit = {visitor, context};

    if (visitor(context, &header))
        status = inspect_walk(segment, 0, visit_see, &visit);
    return inspect_end(segment, status);
}

/* ---- Statistics ---- */

typedef struct stats_context {
    inspect_bytes_t bytes;
    unsigned slot;
    uint64_t largest_free, free_extents;
} stats_context_t;

static bool stats_see(const jsegment_t *segment, const inspect_extent_t *extent, void *context) {
    stats_context_t *stats = context;
    (void)segment;
    inspect_count(extent, stats->slot, &stats->bytes);

    if (SHM_STATE(extent->word) == SHM_FREE) {
        ++stats->free_extents;
        if (SHM_PAGES(extent->word) > stats->largest_free)
            stats->largest_free = SHM_PAGES(extent->word);
    }
    return true;
}

jstatus_t jsegment_get_stats(const jsegment_t *segment, jsegment_stats_t *stats) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(stats != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jsegment_stats_t, stats, metadata_bytes));

    JTRY_RETURN(inspect_begin(segment));
    stats_context_t seen = {.bytes.metadata = segment->constants.first_page << SHM_PAGE_SHIFT};
    jstatus_t status = inspect_walk(segment, 0, stats_see, &seen);

    if (status == JSTATUS_SUCCESS) {
        const shm_header_t *header = segment->header;
        jsegment_stats_t now = {
            .metadata_bytes = seen.bytes.metadata,
            .owned_bytes = seen.bytes.owned,
            .given_bytes = seen.bytes.given,
            .cached_bytes = seen.bytes.cached,
            .free_bytes = seen.bytes.free,
            .size_bytes = (size_t)ji_pages_total(segment) << SHM_PAGE_SHIFT,
            .max_bytes = (size_t)segment->max_pages << SHM_PAGE_SHIFT,
            .largest_free_bytes = (size_t)seen.largest_free << SHM_PAGE_SHIFT,
            .free_extents = (size_t)seen.free_extents,
            .max_processes = (unsigned)segment->constants.slot_count,
            .created_at = segment->constants.created_at,
            .growth_count = shm_load(&header->growth_count),
            .rollback_count = shm_load(&header->rollback_count),
            .reaped_count = shm_load(&header->reaped_count),
            .poisoned = ji_segment_is_poisoned(segment),
        };

        for (unsigned i = 0; i < segment->constants.slot_count; ++i)
            now.processes += shm_load(&segment->slots[i].state) != SHM_SLOT_FREE;
        for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
            now.allocators += shm_load(&segment->allocators[i].state) == SHM_ALLOCATOR_READY;

        JI_GIVE_RESULT(stats, &now);
    }
    return inspect_end(segment, status);
}

jstatus_t jsegment_get_process(const jsegment_t *segment, unsigned slot,
                               jsegment_process_t *process) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(process != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jsegment_process_t, process, attached));
    if (slot == 0 || slot > segment->constants.slot_count)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: slot = %u: must be 1 to %u", __func__, slot,
                       (unsigned)segment->constants.slot_count);

    JTRY_RETURN(inspect_begin(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    const shm_slot_t *entry = &segment->slots[slot - 1];
    stats_context_t seen = {.slot = slot};
    jsegment_process_t found = JSEGMENT_PROCESS_INIT;
    const uint64_t state = shm_load(&entry->state);

    if (state != SHM_SLOT_FREE) {
        status = inspect_walk(segment, slot, stats_see, &seen);

        const shm_life_t life = slot == segment->slot ? SHM_ALIVE
                                : state == SHM_SLOT_REAPING
                                    ? SHM_DEAD_PROCESS
                                    : shm_life_of(&segment->backing, slot, shm_load(&entry->claim));

        found.attached = true;
        found.alive = life != SHM_DEAD_PROCESS;
        found.liveness_known = life != SHM_LIFE_UNKNOWN;
        found.pid = __atomic_load_n(&entry->pid, __ATOMIC_RELAXED);
        found.attached_at = __atomic_load_n(&entry->attached_at, __ATOMIC_RELAXED);
        found.owned_bytes = seen.bytes.owned;
        found.cached_bytes = seen.bytes.cached;
    }

    if (status == JSTATUS_SUCCESS)
        JI_GIVE_RESULT(process, &found);
    return inspect_end(segment, status);
}

/* ---- Verify ---- */

typedef struct verify_context {
    jstatus_t status;
    uint64_t free_extents, orphans, linked, previous; /* the word of the extent before */
} verify_context_t;

#define VERIFY(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return ji_fail(JSTATUS_CORRUPTED, __VA_ARGS__);                                        \
    } while (0)

static bool verify_is_owner(const jsegment_t *segment, unsigned owner) {
    return owner == SHM_SLOT_SEGMENT ||
           (owner >= 1 && owner <= segment->constants.slot_count &&
            shm_load(&segment->slots[owner - 1].state) != SHM_SLOT_FREE);
}
static bool verify_is_allocator(const jsegment_t *segment, unsigned index) {
    return index < SHM_ALLOCATORS &&
           shm_load(&segment->allocators[index].state) != SHM_ALLOCATOR_FREE;
}

static jstatus_t verify_slab(const jsegment_t *segment, const inspect_extent_t *extent) {
    const unsigned long long page = extent->page;
    const shm_geometry_t *geometry = &extent->geometry;
    const shm_slab_t *slab = (const shm_slab_t *)(segment->base + (extent->page << SHM_PAGE_SHIFT));
    VERIFY(shm_load(&slab->block_bytes) == geometry->block_bytes &&
               shm_load(&slab->block_count) == geometry->block_count,
           "the slab at page %llu says that it has %llu blocks of %llu bytes", page,
           (unsigned long long)shm_load(&slab->block_count),
           (unsigned long long)shm_load(&slab->block_bytes));

    _Atomic(uint8_t) *owners = ji_slab_owners(segment, extent->page, geometry);
    for (uint32_t w = 0; w < geometry->words; ++w) {
        const uint64_t freed =
            atomic_load_explicit(&ji_slab_freed(segment, extent->page)[w], memory_order_relaxed);
        VERIFY((freed & ~ji_slab_valid(geometry->block_count, w)) == 0,
               "the slab at page %llu has freed blocks beyond its end", page);
        VERIFY(freed == 0 || ((extent->word & SHM_LINKED) != 0 &&
                              SHM_OWNER(extent->word) != SHM_SLOT_SEGMENT),
               "the slab at page %llu has freed blocks that its owner will not find", page);
        for (uint64_t rest = freed; rest != 0; rest &= rest - 1)
            VERIFY(atomic_load_explicit(&owners[w * 64 + (uint32_t)__builtin_ctzll(rest)],
                                        memory_order_relaxed) != 0,
                   "the slab at page %llu has a block that was freed twice", page);
    }
    for (uint32_t i = 0; i < geometry->block_count; ++i) {
        const unsigned owner = slab_owner(segment, extent, i);
        if (owner == 0 || owner == SHM_OWNER(extent->word))
            continue;
        VERIFY((extent->word & SHM_GIVEN) != 0,
               "block %u of the slab at page %llu is of slot %u, and not given", i, page, owner);
        VERIFY(verify_is_owner(segment, owner),
               "block %u of the slab at page %llu is of slot %u, which is free", i, page, owner);
    }

    return JSTATUS_SUCCESS;
}

/* The words inside an extent are 0, but for a free one's tail. */
static jstatus_t verify_inside(const jsegment_t *segment, const inspect_extent_t *extent) {
    const uint64_t pages = SHM_PAGES(extent->word), end = extent->page + pages;
    const bool has_tail = SHM_STATE(extent->word) == SHM_FREE;
    for (uint64_t inside = extent->page + 1; inside < end; ++inside) {
        const uint64_t word = shm_page_word(segment, inside);
        const uint64_t right =
            has_tail && inside == end - 1 ? SHM_WORD(SHM_TAIL, 0, 0, 0, pages - 1) : 0;
        VERIFY(word == right, "page %llu, inside the extent at page %llu, has the word %llx",
               (unsigned long long)inside, (unsigned long long)extent->page,
               (unsigned long long)word);
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t verify_extent(const jsegment_t *segment, const inspect_extent_t *extent,
                               verify_context_t *seen) {
    const unsigned long long page = extent->page;
    const uint64_t pages = SHM_PAGES(extent->word);
    const shm_state_t state = SHM_STATE(extent->word);
    const unsigned owner = SHM_OWNER(extent->word), allocator = SHM_ALLOCATOR(extent->word);

    JTRY_RETURN(verify_inside(segment, extent));
    switch (state) {
    case SHM_FREE:
        VERIFY(SHM_STATE(seen->previous) != SHM_FREE,
               "the free extent at page %llu follows a free one", page);
        VERIFY(extent->word == SHM_WORD(SHM_FREE, 0, 0, 0, pages),
               "the free extent at page %llu has an owner", page);
        ++seen->free_extents;
        break;
    case SHM_BLOCK:
        VERIFY(extent->word == SHM_WORD(SHM_BLOCK, owner, allocator, 0, pages),
               "the block at page %llu has the word %llx", page, (unsigned long long)extent->word);
        VERIFY(verify_is_allocator(segment, allocator), "the block at page %llu is of no allocator",
               page);
        VERIFY(verify_is_owner(segment, owner),
               "the block at page %llu is of slot %u, which is free", page, owner);
        break;
    case SHM_CACHED:
        VERIFY(extent->word == SHM_WORD(SHM_CACHED, owner, SHM_NO_ALLOCATOR, 0, pages),
               "the cached extent at page %llu has the word %llx", page,
               (unsigned long long)extent->word);
        VERIFY(owner != SHM_SLOT_SEGMENT && verify_is_owner(segment, owner),
               "the cached extent at page %llu is of slot %u, which is free", page, owner);
        break;
    case SHM_SLAB:
        VERIFY(verify_is_allocator(segment, allocator), "the slab at page %llu is of no allocator",
               page);
        VERIFY(verify_is_owner(segment, owner),
               "the slab at page %llu is of slot %u, which is free", page, owner);
        seen->orphans += owner == SHM_SLOT_SEGMENT;
        seen->linked += (extent->word & SHM_LINKED) != 0;
        return verify_slab(segment, extent);
    case SHM_REGION: {
        VERIFY(verify_is_allocator(segment, allocator),
               "the region at page %llu is of no allocator", page);
        const shm_allocator_t *entry = &segment->allocators[allocator];
        VERIFY(shm_load(&entry->header_page) == extent->page ||
                   shm_load(&entry->region_page) == extent->page,
               "the region at page %llu is not what its allocator has", page);
        break;
    }
    default: VERIFY(false, "the extent at page %llu is in the state %d", page, (int)state);
    }

    return JSTATUS_SUCCESS;
}

static bool verify_see(const jsegment_t *segment, const inspect_extent_t *extent, void *context) {
    verify_context_t *seen = context;
    seen->status = verify_extent(segment, extent, seen);
    seen->previous = extent->word;
    return seen->status == JSTATUS_SUCCESS;
}

/* One list: each entry is of the state, its links lead to its neighbours. Counts them. */
static jstatus_t verify_list(const jsegment_t *segment, const uint64_t *head, shm_state_t state,
                             unsigned owner, uint64_t flags, int bin, uint64_t *count) {
    const uint64_t total = ji_pages_total(segment);
    uint64_t before = 0, steps = 0;
    for (uint64_t page = shm_load(head), links; page != 0;
         before = page, page = links & 0xffffffffu) {
        VERIFY(page >= segment->constants.first_page && page < total && ++steps <= total,
               "a list leads to page %llu", (unsigned long long)page);

        const uint64_t word = shm_page_word(segment, page);
        links = shm_load(&segment->table[page].links);
        VERIFY(SHM_STATE(word) == state && SHM_OWNER(word) == owner && (word & flags) == flags &&
                   (bin < 0 ||
                    (SHM_PAGES(word) != 0 && ji_pages_bin(SHM_PAGES(word)) == (unsigned)bin)),
               "page %llu is in a list that it does not belong to", (unsigned long long)page);

        VERIFY(links >> 32 == before, "the links of page %llu do not lead back",
               (unsigned long long)page);
        ++*count;
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t verify_lists(const jsegment_t *segment, const verify_context_t *seen) {
    jstatus_t status = JSTATUS_SUCCESS;

    uint64_t in_bins = 0, orphans = 0, linked = 0;
    for (int bin = 0; bin < SHM_BINS; ++bin) {
        const bool bit = (shm_load(&segment->header->bin_bits[bin / 64]) >> bin % 64 & 1) != 0;
        VERIFY(bit == (shm_load(&segment->header->bins[bin]) != 0), "the bit of bin %d is wrong",
               bin);
        JTRY(verify_list(segment, &segment->header->bins[bin], SHM_FREE, 0, 0, bin, &in_bins));
    }

    JTRY(verify_list(segment, &segment->header->orphans, SHM_SLAB, SHM_SLOT_SEGMENT, SHM_GIVEN, -1,
                     &orphans));

    for (unsigned slot = 1; slot <= segment->constants.slot_count; ++slot)
        JTRY(verify_list(segment, &segment->slots[slot - 1].dirty, SHM_SLAB, slot, SHM_LINKED, -1,
                         &linked));

    VERIFY(in_bins == seen->free_extents, "%llu extents are free, %llu are in bins",
           (unsigned long long)seen->free_extents, (unsigned long long)in_bins);
    VERIFY(orphans == seen->orphans, "%llu slabs are the segment's, %llu are in its list",
           (unsigned long long)seen->orphans, (unsigned long long)orphans);
    VERIFY(linked == seen->linked, "%llu slabs say that they are in a list, %llu are",
           (unsigned long long)seen->linked, (unsigned long long)linked);
done:
    return status;
}

/* An entry that is in use: its id is its own, its regions are there. */
static jstatus_t verify_entry(const jsegment_t *segment, unsigned index) {
    const shm_allocator_t *entry = &segment->allocators[index];
    const unsigned long long id = shm_load(&entry->id);
    VERIFY(id != 0, "allocator %u has no id", index);
    for (unsigned i = 0; i < index; ++i)
        VERIFY(shm_load(&segment->allocators[i].state) != SHM_ALLOCATOR_READY ||
                   shm_load(&segment->allocators[i].id) != id,
               "two allocators have the id %llu", id);

    const uint64_t regions[][2] = {{shm_load(&entry->header_page), shm_load(&entry->header_bytes)},
                                   {shm_load(&entry->region_page), shm_load(&entry->region_bytes)}};
    for (int r = 0; r < 2; ++r) {
        const uint64_t page = regions[r][0],
                       pages = (regions[r][1] + SHM_PAGE_BYTES - 1) >> SHM_PAGE_SHIFT;
        VERIFY(pages == 0 || (page < ji_pages_total(segment) &&
                              shm_page_word(segment, page) ==
                                  SHM_WORD(SHM_REGION, SHM_SLOT_SEGMENT, index, 0, pages)),
               "allocator %llu has lost a region", id);
    }

    VERIFY(shm_load(&entry->top) <= shm_load(&entry->region_bytes),
           "the stack %llu stands beyond its end", id);
    return JSTATUS_SUCCESS;
}

static jstatus_t verify_tables(const jsegment_t *segment) {
    VERIFY(memcmp(&segment->header->constants, &segment->constants, sizeof segment->constants) == 0,
           "the header's constants have changed");
    VERIFY(segment->read_only || shm_load(&segment->header->log_count) == 0,
           "the undo log is not empty");
    for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
        if (shm_load(&segment->allocators[i].state) == SHM_ALLOCATOR_READY)
            JTRY_RETURN(verify_entry(segment, i));
    return JSTATUS_SUCCESS;
}

static jstatus_t segment_verify(const jsegment_t *segment) {
    verify_context_t seen = {.status = JSTATUS_SUCCESS};
    VERIFY(!ji_segment_is_poisoned(segment), "the segment was found damaged before");
    jstatus_t status = verify_tables(segment);

    if (status == JSTATUS_SUCCESS)
        status = inspect_walk(segment, 0, verify_see, &seen);
    if (status == JSTATUS_SUCCESS)
        status = seen.status;
    return status == JSTATUS_SUCCESS ? verify_lists(segment, &seen) : status;
}

jstatus_t jsegment_verify(const jsegment_t *segment) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = inspect_begin(segment);
    return status == JSTATUS_SUCCESS ? inspect_end(segment, segment_verify(segment)) : status;
}
