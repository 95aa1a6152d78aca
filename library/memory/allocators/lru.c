/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A cache of freed blocks by layout, least recently used out first, with reference counts; after Hpt's memory pool.
 *
 * A layout is a size, rounded up to the granule, and an alignment. Every block that was taken from below, or adopted, has
 * a record, and so has every layout that has a block; both are found by a ledger, blocks by their address and layouts by
 * size and alignment as one number. A block keeps its layout as long as it is here: one that serves a smaller request
 * returns to the layout that it came from, and has its true size when it is given back below.
 *
 *     layouts, by use      4096/64  <->  512/64  <->  1 MiB/64
 *                             |             |             |
 *     kept blocks,          newest        newest        newest       served from this end
 *     by layout               |             |             |
 *                           oldest        oldest        oldest
 *
 *     all kept blocks      newest <-> ... <-> oldest                 given back from this end
 *
 * So the capacity in bytes takes the block that has been kept longest, whatever its layout, and the capacity in layouts the
 * layout that was used longest ago with all its blocks. A block whose stream has not passed its release cannot be given
 * back below; it is passed over, and the cache may be beyond its capacity until a later release finds that it has passed.
 *
 * A request goes the first of these ways that leads anywhere:
 *
 *     1. a kept block of its layout
 *     2. of the kept blocks up to nearest_percent larger, one of the smallest layout (below)
 *     3. below
 *     4. below, after everything kept that may be given back was given back
 *     5. a kept block of the ways 1 and 2 whose stream has not passed its release: the request's stream waits for it
 *
 * For the second way layouts are listed in bins, sixteen to a power of two. A layout is listed, there and by use, when a
 * block of it is kept; when its last kept block serves a request it stays listed, since it will be back soon, and whoever
 * comes upon an empty one strikes it off. So allocating and freeing one layout in turn moves nothing but its block.
 *
 * Always true, and looked at by lru_check: a record has owners or is in the lists of kept blocks, never both; kept_bytes,
 * kept_blocks and kept_layouts are what the lists add up to; the bytes of all blocks are reserved_bytes.
 *
 * Record 0 of each table is no record: it is the end of its ring, and what stands for none. Nothing here points to a
 * record across a call that may make the tables grow. */

#include <string.h>

#include "jalloc/policy.h"
#include "memory/frontier.h"
#include "memory/memory.h"

#define LRU_FIRST_RECORDS 32
#define LRU_RECENT_BITS 7   /* layouts that are found without the ledger */
#define LRU_BIN_STEP_BITS 4 /* bins to a power of two */
#define LRU_BINS (64 << LRU_BIN_STEP_BITS)
#define LRU_MAX_BYTES (SIZE_MAX >> 6) /* no machine has more; leaves room in a layout's number for the alignment */
#define LRU_MAX_ALIGNMENT ((size_t)1 << 30) /* as for every allocator */
#define LRU_GONE 64                         /* blocks given back below that a message can still name */
#define LRU_LOOKS 16                        /* blocks whose stream is asked whether it has passed, in one search */

/* A place in a ring of records: a member of each record of a table, record 0 its beginning and end. */
typedef struct lru_link {
    uint32_t newer, older;
} lru_link_t;

/* What becomes of an adopted block. */
typedef struct lru_adoption {
    void (*give_back)(void *context, void *pointer, size_t size_bytes);
    void *context;
} lru_adoption_t;

typedef struct lru_block {
    void *address;
    size_t size_bytes; /* as asked for; of a kept block the last time */
    ji_fence_t fence;  /* passed when every stream that it was released on has passed that */
    uint32_t owners;   /* 0: kept */
    jtag_t tag;        /* as size_bytes */
    uint32_t layout;
    lru_link_t age; /* blocks by the time they were kept; newer: the next unused record */
    bool aged;      /* in that ring; true of a kept block, and of a live one that was kept before and not struck off */
    union {
        struct {
            uint32_t above, under; /* kept: towards the newest and the oldest block of the layout */
        };
        lru_adoption_t *adoption; /* live; NULL: it came from below and goes there */
    };
} lru_block_t;

typedef struct lru_layout {
    size_t size_bytes, alignment; /* 0, 0: unused */
    uint32_t newest, oldest;      /* kept block */
    uint32_t kept_count;
    uint32_t block_count; /* kept and live; at 0 the record is unused again */
    lru_link_t use;       /* listed layouts by use; newer: the next unused record */
    uint32_t bin_next, bin_previous;
    bool listed;     /* by use and in its bin; true where kept_count is not 0 */
    uint64_t unused; /* 64 bytes: a record is found by a shift */
} lru_layout_t;

/* A block that was given back below. */
typedef struct lru_gone {
    const void *address;
    size_t size_bytes;
    jtag_t tag;
} lru_gone_t;

typedef struct lru {
    jallocator_t *self, *below;
    size_t granule_mask;
    size_t capacity_layouts, capacity_bytes, nearest_percent; /* as in force: bytes SIZE_MAX, percent 0 for exact */
    lru_block_t *blocks;
    lru_layout_t *layouts;
    uint32_t block_count, block_capacity, block_unused; /* records used so far, there are; the first given up */
    uint32_t layout_count, layout_capacity, layout_unused;
    uint32_t kept_layouts, kept_blocks;
    size_t kept_bytes;
    size_t reserved_bytes, peak_reserved_bytes;
    uint64_t hit_count, nearest_hit_count, miss_count, eviction_count;
    ji_ledger_t by_address; /* number: a block */
    ji_ledger_t by_layout;  /* address: lru_layout_key; number: a layout */
    ji_frontier_t frontier;
    uint32_t recent[1 << LRU_RECENT_BITS]; /* layouts, by a hash of the size; may be outdated */
    uint32_t bins[LRU_BINS];               /* the first layout of each */
    lru_gone_t gone[LRU_GONE];             /* the last ones, in turn */
    size_t gone_count;                     /* since creation */
} lru_t;

/* A request, as asked for and as it is taken from below. */
typedef struct lru_request {
    size_t size_bytes, alignment;
    size_t layout_bytes, layout_alignment;
    jstream_t *stream;
} lru_request_t;

/* ---- Lists ---------------------------------------------------------------------------------------------------------- */

typedef struct lru_ring {
    char *first;   /* the link of record 0 */
    size_t stride; /* from one record to the next */
} lru_ring_t;

static inline lru_ring_t lru_ages(const lru_t *lru) {
    return (lru_ring_t){(char *)&lru->blocks->age, sizeof *lru->blocks};
}
static inline lru_ring_t lru_uses(const lru_t *lru) {
    return (lru_ring_t){(char *)&lru->layouts->use, sizeof *lru->layouts};
}
static inline lru_link_t *lru_link(lru_ring_t ring, uint32_t record) {
    return (lru_link_t *)(void *)(ring.first + record * ring.stride);
}
static inline uint32_t lru_newest(lru_ring_t ring) { return lru_link(ring, 0)->older; }
static inline uint32_t lru_oldest(lru_ring_t ring) { return lru_link(ring, 0)->newer; }

static inline void lru_link_newest(lru_ring_t ring, uint32_t record) {
    uint32_t older = lru_newest(ring);
    lru_link_t *link = lru_link(ring, record);
    link->newer = 0;
    link->older = older;
    lru_link(ring, older)->newer = record;
    lru_link(ring, 0)->older = record;
}
static inline void lru_unlink(lru_ring_t ring, uint32_t record) {
    const lru_link_t *link = lru_link(ring, record);
    uint32_t newer = link->newer, older = link->older;
    lru_link(ring, older)->newer = newer;
    lru_link(ring, newer)->older = older;
}

/* Grows with the size; sizes less than 1/16 apart may share one. */
static inline uint32_t lru_bin(size_t size_bytes) {
    unsigned exponent = 63 - (unsigned)__builtin_clzll(size_bytes);
    uint64_t fraction = ((uint64_t)size_bytes << (63 - exponent)) >> (63 - LRU_BIN_STEP_BITS);
    return (exponent << LRU_BIN_STEP_BITS) | (uint32_t)(fraction & ((1 << LRU_BIN_STEP_BITS) - 1));
}

static void lru_list_layout(lru_t *lru, uint32_t number) {
    lru_layout_t *layout = &lru->layouts[number];
    uint32_t *bin = &lru->bins[lru_bin(layout->size_bytes)];
    layout->bin_previous = 0;
    layout->bin_next = *bin;
    lru->layouts[*bin].bin_previous = number; /* record 0's is written and never read */
    *bin = number;
    lru_link_newest(lru_uses(lru), number);
    layout->listed = true;
}

static void lru_strike_layout(lru_t *lru, uint32_t number) {
    lru_layout_t *layout = &lru->layouts[number];
    if (layout->bin_previous != 0)
        lru->layouts[layout->bin_previous].bin_next = layout->bin_next;
    else
        lru->bins[lru_bin(layout->size_bytes)] = layout->bin_next;
    lru->layouts[layout->bin_next].bin_previous = layout->bin_previous;
    lru_unlink(lru_uses(lru), number);
    layout->listed = false;
}

/* The record, which is in the ring, is the newest one now. */
static inline void lru_make_newest(lru_ring_t ring, uint32_t record) {
    if (lru_newest(ring) != record) {
        lru_unlink(ring, record);
        lru_link_newest(ring, record);
    }
}

/* A block of a layout loses its last owner and goes into the lists. */
static inline void lru_keep(lru_t *lru, uint32_t number, uint32_t of) {
    lru_block_t *block = &lru->blocks[number];
    lru_layout_t *layout = &lru->layouts[of];
    block->owners = 0;
    block->above = 0;
    block->under = layout->newest;
    lru->blocks[layout->newest].above = number; /* record 0's is written and never read */
    if (layout->newest == 0)
        layout->oldest = number;
    layout->newest = number;
    if (JI_LIKELY(block->aged))
        lru_make_newest(lru_ages(lru), number);
    else
        lru_link_newest(lru_ages(lru), number);
    block->aged = true;
    if (layout->kept_count++ == 0)
        ++lru->kept_layouts;
    ++lru->kept_blocks;
    lru->kept_bytes += layout->size_bytes;
    if (JI_LIKELY(layout->listed))
        lru_make_newest(lru_uses(lru), of);
    else
        lru_list_layout(lru, of);
}

/* A kept block of a layout leaves them, but for the ring of ages. */
static inline void lru_take(lru_t *lru, uint32_t number, uint32_t of) {
    const lru_block_t *block = &lru->blocks[number];
    lru_layout_t *layout = &lru->layouts[of];
    if (block->above != 0)
        lru->blocks[block->above].under = block->under;
    else
        layout->newest = block->under;
    if (block->under != 0)
        lru->blocks[block->under].above = block->above;
    else
        layout->oldest = block->above;
    if (--layout->kept_count == 0)
        --lru->kept_layouts;
    --lru->kept_blocks;
    lru->kept_bytes -= layout->size_bytes;
}

/* The kept block that is next older than all but `older`, 0: than all; 0: there is none. Strikes live ones off. */
static uint32_t lru_next_kept(lru_t *lru, uint32_t older) {
    uint32_t number;
    while ((number = lru->blocks[older].age.newer) != 0 && lru->blocks[number].owners != 0) {
        lru_unlink(lru_ages(lru), number);
        lru->blocks[number].aged = false;
    }
    return number;
}

/* ---- Records -------------------------------------------------------------------------------------------------------- */

/* Room for one more record in a table. Record 0 of a new table is there, zeroed. */
static bool lru_grow(void **records, size_t record_bytes, uint32_t *capacity) {
    uint32_t wanted = *capacity != 0 ? 2 * *capacity : LRU_FIRST_RECORDS;
    size_t bytes;
    void *grown = NULL;
    if (wanted > *capacity && ji_size_mul(wanted, record_bytes, &bytes))
        grown = ji_metadata_zalloc(bytes);
    if (grown == NULL)
        return false;
    if (*records != NULL)
        memcpy(grown, *records, *capacity * record_bytes);
    ji_metadata_free(*records);
    *records = grown;
    *capacity = wanted;
    return true;
}

static bool lru_grow_blocks(lru_t *lru) {
    void *blocks = lru->blocks;
    bool grown = lru_grow(&blocks, sizeof *lru->blocks, &lru->block_capacity);
    lru->blocks = blocks;
    return grown;
}
static bool lru_grow_layouts(lru_t *lru) {
    void *layouts = lru->layouts;
    bool grown = lru_grow(&layouts, sizeof *lru->layouts, &lru->layout_capacity);
    lru->layouts = layouts;
    return grown;
}

/* Sees to it that lru_enter cannot fail. */
static jstatus_t lru_reserve(lru_t *lru) {
    if ((lru->block_unused == 0 && lru->block_count == lru->block_capacity && !lru_grow_blocks(lru)) ||
        (lru->layout_unused == 0 && lru->layout_count == lru->layout_capacity && !lru_grow_layouts(lru)) ||
        !ji_ledger_reserve(&lru->by_address) || !ji_ledger_reserve(&lru->by_layout))
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
    return JSTATUS_SUCCESS;
}

/* A number for a layout. Not 0, since no size is. */
static const void *lru_layout_key(size_t size_bytes, size_t alignment) {
    return (const void *)(size_bytes << 5 | (unsigned)__builtin_ctzll(alignment));
}

static inline uint32_t *lru_recent(lru_t *lru, size_t size_bytes) {
    return &lru->recent[(size_bytes * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LRU_RECENT_BITS)];
}

static inline size_t lru_layout_bytes(const lru_t *lru, size_t size_bytes) {
    return (size_bytes + lru->granule_mask) & ~lru->granule_mask;
}
static inline size_t lru_layout_alignment(const lru_t *lru, size_t alignment) {
    return alignment > lru->granule_mask ? alignment : lru->granule_mask + 1;
}
static inline bool lru_layout_is(const lru_layout_t *layout, size_t size_bytes, size_t alignment) {
    return layout->size_bytes == size_bytes && layout->alignment == alignment;
}

/* The layout's record; 0: it has none. */
static inline uint32_t lru_find_layout(lru_t *lru, size_t size_bytes, size_t alignment) {
    uint32_t *recent = lru_recent(lru, size_bytes);
    if (JI_LIKELY(lru_layout_is(&lru->layouts[*recent], size_bytes, alignment)))
        return *recent;
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_layout, lru_layout_key(size_bytes, alignment));
    return entry != NULL ? *recent = entry->number : 0;
}

static uint32_t lru_make_layout(lru_t *lru, size_t size_bytes, size_t alignment) {
    uint32_t number = lru->layout_unused;
    if (number != 0)
        lru->layout_unused = lru->layouts[number].use.newer;
    else
        number = lru->layout_count++;
    lru->layouts[number] = (lru_layout_t){.size_bytes = size_bytes, .alignment = alignment};
    ji_ledger_insert(&lru->by_layout, lru_layout_key(size_bytes, alignment), size_bytes, 0)->number = number;
    return number;
}

/* Enters a block that is not here, with one owner. Room was reserved. */
static uint32_t lru_enter(lru_t *lru, void *pointer, size_t size_bytes, size_t layout_bytes, size_t alignment) {
    uint32_t layout = lru_find_layout(lru, layout_bytes, alignment);
    if (layout == 0)
        layout = lru_make_layout(lru, layout_bytes, alignment);
    ++lru->layouts[layout].block_count;
    uint32_t number = lru->block_unused;
    if (number != 0)
        lru->block_unused = lru->blocks[number].age.newer;
    else
        number = lru->block_count++;
    lru->blocks[number] = (lru_block_t){
        .address = pointer, .size_bytes = size_bytes, .owners = 1, .tag = ji_tag_current, .layout = layout};
    ji_ledger_insert(&lru->by_address, pointer, layout_bytes, 0)->number = number;
    lru->reserved_bytes += layout_bytes;
    if (lru->reserved_bytes > lru->peak_reserved_bytes)
        lru->peak_reserved_bytes = lru->reserved_bytes;
    return number;
}

/* Forgets a block that is in no list, and its layout if that was its last one. Messages can name it for a while. */
static void lru_forget(lru_t *lru, uint32_t number) {
    lru_block_t *block = &lru->blocks[number];
    uint32_t of = block->layout;
    lru_layout_t *layout = &lru->layouts[of];
    lru->gone[lru->gone_count++ % LRU_GONE] = (lru_gone_t){block->address, block->size_bytes, block->tag};
    lru->reserved_bytes -= layout->size_bytes;
    ji_ledger_remove(&lru->by_address, ji_ledger_find(&lru->by_address, block->address));
    if (block->aged)
        lru_unlink(lru_ages(lru), number);
    block->age.newer = lru->block_unused;
    lru->block_unused = number;
    if (--layout->block_count != 0)
        return;
    if (layout->listed)
        lru_strike_layout(lru, of);
    ji_ledger_remove(&lru->by_layout,
                     ji_ledger_find(&lru->by_layout, lru_layout_key(layout->size_bytes, layout->alignment)));
    *layout = (lru_layout_t){.use = {lru->layout_unused, 0}};
    lru->layout_unused = of;
}

/* The live block that begins at the pointer; 0: there is none. */
static inline uint32_t lru_find_live(const lru_t *lru, const void *pointer) {
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    return JI_LIKELY(entry != NULL && lru->blocks[entry->number].owners != 0) ? entry->number : 0;
}

/* Says what is known about a pointer at which no live block begins. */
static __attribute__((cold)) jstatus_t lru_refuse(const lru_t *lru, const void *pointer) {
    const char *name = jallocator_name(lru->self);
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p was released already: it had %zu bytes and the tag \"%s\", and is kept",
                       name, pointer, block->size_bytes, jtag_name(block->tag));
    }
    for (size_t i = 0; i < LRU_GONE && i < lru->gone_count; ++i) {
        const lru_gone_t *gone = &lru->gone[(lru->gone_count - 1 - i) % LRU_GONE];
        if (gone->address == pointer)
            return ji_fail(JSTATUS_NOT_FOUND,
                           "allocator \"%s\": %p was released already: it had %zu bytes and the tag \"%s\", and was "
                           "given back below",
                           name, pointer, gone->size_bytes, jtag_name(gone->tag));
    }
    entry = ji_ledger_find_containing(&lru->by_address, pointer);
    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p lies inside the %s at %p of %zu bytes and the tag \"%s\", and is no "
                       "beginning of one",
                       name, pointer, block->owners != 0 ? "block" : "kept block", block->address, block->size_bytes,
                       jtag_name(block->tag));
    }
    return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\": %p is not live: never handed out, or given back long ago",
                   name, pointer);
}

/* ---- Giving back ---------------------------------------------------------------------------------------------------- */

/* Gives a kept block to below, its fence passed. Where below refuses, it stays. */
static jstatus_t lru_give_back(lru_t *lru, uint32_t number) {
    const lru_block_t *block = &lru->blocks[number];
    jstatus_t status = jallocator_deallocate(lru->below, block->address, lru->layouts[block->layout].size_bytes, NULL);
    if (status == JSTATUS_SUCCESS) {
        lru_take(lru, number, block->layout);
        lru_forget(lru, number);
    }
    return status;
}

/* The same where the fence has been passed; false: it stays. */
static bool lru_evict_block(lru_t *lru, uint32_t number) {
    bool evicted = ji_frontier_passed(&lru->frontier, lru->blocks[number].fence, NULL) &&
                   lru_give_back(lru, number) == JSTATUS_SUCCESS;
    lru->eviction_count += evicted;
    return evicted;
}

/* Of a layout all that may be given back; false: not everything. */
static bool lru_evict_layout(lru_t *lru, uint32_t number) {
    uint32_t left = lru->layouts[number].kept_count, block = lru->layouts[number].oldest;
    while (left != 0) {
        uint32_t newer = lru->blocks[block].above;
        if (!lru_evict_block(lru, block))
            return false;
        block = newer;
        --left;
    }
    return true;
}

static inline bool lru_is_beyond_capacity(const lru_t *lru) {
    return lru->kept_bytes > lru->capacity_bytes || lru->kept_layouts > lru->capacity_layouts;
}

/* Brings what is kept within the capacity, as far as that can be done without waiting. `number` was kept last. */
static __attribute__((noinline)) void lru_evict(lru_t *lru, uint32_t number) {
    /* What cannot be kept in any case must not drive out the others. */
    if (lru->layouts[lru->blocks[number].layout].size_bytes > lru->capacity_bytes)
        (void)lru_evict_block(lru, number);
    unsigned looks = LRU_LOOKS;
    uint32_t newer;
    for (uint32_t layout = lru_oldest(lru_uses(lru));
         lru->kept_layouts > lru->capacity_layouts && layout != 0 && looks != 0; layout = newer) {
        newer = lru->layouts[layout].use.newer;
        if (lru->layouts[layout].kept_count == 0)
            lru_strike_layout(lru, layout);
        else if (!lru_evict_layout(lru, layout))
            --looks;
    }
    for (uint32_t block = lru_next_kept(lru, 0); lru->kept_bytes > lru->capacity_bytes && block != 0 && looks != 0;
         block = newer) {
        newer = lru_next_kept(lru, block);
        if (!lru_evict_block(lru, block))
            --looks;
    }
}

/* Everything that may be given back without waiting; whether that was anything. */
static bool lru_evict_all(lru_t *lru) {
    size_t before = lru->kept_blocks;
    uint32_t newer;
    for (uint32_t block = lru_next_kept(lru, 0); block != 0; block = newer) {
        newer = lru_next_kept(lru, block);
        (void)lru_evict_block(lru, block);
    }
    return lru->kept_blocks < before;
}

/* The oldest until at most keep_bytes are kept; waits for their streams. */
static jstatus_t lru_trim(void *context, size_t keep_bytes) {
    lru_t *lru = context;
    jstatus_t status = JSTATUS_SUCCESS;
    while (status == JSTATUS_SUCCESS && lru->kept_bytes > keep_bytes) {
        uint32_t block = lru_next_kept(lru, 0);
        status = ji_frontier_drain(&lru->frontier, lru->blocks[block].fence);
        if (status == JSTATUS_SUCCESS)
            status = lru_give_back(lru, block);
    }
    return status;
}

/* ---- Allocating ----------------------------------------------------------------------------------------------------- */

/* The block of a layout (or of none) that a stream may use: the newest, since it is the likeliest to be in a cache of the processor;
 * where streams have not passed the newest ones, the oldest. 0: none. */
static uint32_t lru_choose(lru_t *lru, uint32_t layout, jstream_t *stream) {
    uint32_t block = lru->layouts[layout].newest;
    for (unsigned looks = LRU_LOOKS; block != 0 && looks != 0; --looks, block = lru->blocks[block].under)
        if (ji_frontier_passed(&lru->frontier, lru->blocks[block].fence, stream))
            return block;
    if (block != 0 && ji_frontier_passed(&lru->frontier, lru->blocks[lru->layouts[layout].oldest].fence, stream))
        return lru->layouts[layout].oldest;
    return 0;
}

/* Most bytes that a block for the request may have. */
static size_t lru_nearest_limit(const lru_t *lru, const lru_request_t *request) {
    size_t more;
    if (!ji_size_mul(request->layout_bytes / 100, lru->nearest_percent, &more) ||
        !ji_size_add(more, request->layout_bytes % 100 * lru->nearest_percent / 100, &more) ||
        !ji_size_add(more, request->layout_bytes, &more))
        return SIZE_MAX;
    return more;
}

/* A kept block of the smallest layout that serves the request; 0: none. `passed`: that its stream may use now, else any.
 * Looks through the bins upwards. */
static uint32_t lru_search(lru_t *lru, const lru_request_t *request, bool passed) {
    size_t limit = lru_nearest_limit(lru, request);
    uint32_t best = 0, best_block = 0, next;
    for (uint32_t bin = lru_bin(request->size_bytes); bin <= lru_bin(limit) && best == 0; ++bin)
        for (uint32_t number = lru->bins[bin]; number != 0; number = next) {
            const lru_layout_t *layout = &lru->layouts[number], *rival = &lru->layouts[best];
            next = layout->bin_next;
            if (layout->kept_count == 0) {
                lru_strike_layout(lru, number);
                continue;
            }
            if (layout->size_bytes < request->size_bytes || layout->size_bytes > limit ||
                layout->alignment < request->alignment)
                continue;
            if (best != 0 && (layout->size_bytes > rival->size_bytes ||
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
    bool exact =
        lru_layout_is(&lru->layouts[lru->blocks[block].layout], request->layout_bytes, request->layout_alignment);
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

/* A kept block that the stream has to wait for first. The host never waits, so there is none for inline work. */
static uint32_t lru_find_awaited(lru_t *lru, const lru_request_t *request) {
    if (lru->kept_blocks == 0 || ji_stream_is_inline(&lru->frontier, request->stream))
        return 0;
    uint32_t block = lru_search(lru, request, false);
    if (block == 0 || ji_frontier_wait(&lru->frontier, lru->blocks[block].fence, request->stream) != JSTATUS_SUCCESS)
        return 0;
    return lru_count_hit(lru, request, block);
}

static jstatus_t lru_take_from_below(lru_t *lru, const lru_request_t *request, void **pointer) {
    jstatus_t status = lru_reserve(lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    void *memory;
    status =
        jallocator_allocate(lru->below, request->layout_bytes, request->layout_alignment, request->stream, &memory);
    if (status != JSTATUS_SUCCESS)
        return status;
    if (ji_ledger_find(&lru->by_address, memory) != NULL) {
        (void)jallocator_deallocate(lru->below, memory, request->layout_bytes, request->stream);
        return ji_fail(JSTATUS_INTERNAL_ERROR, "allocator \"%s\" handed out %p, which is not given back yet",
                       jallocator_name(lru->below), memory);
    }
    lru_enter(lru, memory, request->size_bytes, request->layout_bytes, request->layout_alignment);
    ++lru->miss_count;
    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* A kept block becomes a live one. */
static inline void *lru_serve(lru_t *lru, uint32_t number, uint32_t layout, size_t size_bytes) {
    lru_block_t *block = &lru->blocks[number];
    lru_take(lru, number, layout);
    lru_make_newest(lru_uses(lru), layout);
    block->size_bytes = size_bytes;
    block->tag = ji_tag_current;
    block->owners = 1;
    block->adoption = NULL;
    return block->address;
}

/* Any request. */
static __attribute__((noinline)) jstatus_t lru_allocate_any(lru_t *lru, size_t size_bytes, size_t alignment,
                                                            jstream_t *stream, void **pointer) {
    if (size_bytes > LRU_MAX_BYTES)
        return ji_fail(JSTATUS_INVALID_SIZE, "more than %zu bytes", (size_t)LRU_MAX_BYTES);
    lru_request_t request = {size_bytes, alignment, lru_layout_bytes(lru, size_bytes),
                             lru_layout_alignment(lru, alignment), stream};
    uint32_t block = lru_find_kept(lru, &request);
    if (block == 0) {
        jstatus_t status = lru_take_from_below(lru, &request, pointer);
        if (status == JSTATUS_MEMORY_ERROR && lru_evict_all(lru))
            status = lru_take_from_below(lru, &request, pointer);
        if (status != JSTATUS_MEMORY_ERROR || (block = lru_find_awaited(lru, &request)) == 0)
            return status;
    }
    *pointer = lru_serve(lru, block, lru->blocks[block].layout, size_bytes);
    return JSTATUS_SUCCESS;
}

/* The usual request: its layout was used lately and the newest block that is kept of it may be used at once. */
static jstatus_t lru_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer) {
    lru_t *lru = context;
    size_t layout_bytes = lru_layout_bytes(lru, size_bytes);
    uint32_t layout = *lru_recent(lru, layout_bytes), block = lru->layouts[layout].newest;
    if (JI_UNLIKELY(!lru_layout_is(&lru->layouts[layout], layout_bytes, lru_layout_alignment(lru, alignment)) ||
                    block == 0 || lru->blocks[block].fence.index != 0))
        return lru_allocate_any(lru, size_bytes, alignment, stream, pointer);
    ++lru->hit_count;
    *pointer = lru_serve(lru, block, layout, size_bytes);
    return JSTATUS_SUCCESS;
}

/* ---- Releasing ------------------------------------------------------------------------------------------------------ */

/* The fence of a block that is released on a stream and may have an older one, of an earlier owner's or of the use before
 * this, which no stream waited for: what comes of both. The host does not wait; inline work is done, so the older one
 * stands. */
static jstatus_t lru_merge_fence(lru_t *lru, ji_fence_t older, jstream_t *stream, ji_fence_t *fence) {
    if (!ji_frontier_passed(&lru->frontier, older, stream)) {
        if (ji_stream_is_inline(&lru->frontier, stream)) {
            *fence = older;
            return JSTATUS_SUCCESS;
        }
        jstatus_t status = ji_frontier_wait(&lru->frontier, older, stream);
        if (status != JSTATUS_SUCCESS)
            return status;
    }
    return ji_frontier_mark(&lru->frontier, stream, fence);
}

/* The last owner of an adopted block has let go. */
static jstatus_t lru_end_adoption(lru_t *lru, uint32_t number) {
    const lru_block_t *block = &lru->blocks[number];
    lru_adoption_t *adoption = block->adoption;
    void *pointer = block->address;
    size_t size_bytes = block->size_bytes;
    jstatus_t status = ji_frontier_drain(&lru->frontier, block->fence);
    if (status != JSTATUS_SUCCESS)
        return status;
    lru_forget(lru, number);
    adoption->give_back(adoption->context, pointer, size_bytes);
    ji_metadata_free(adoption);
    return JSTATUS_SUCCESS;
}

/* One owner less of any block; *left is how many there are then. On failure nothing has changed. */
static __attribute__((noinline)) jstatus_t lru_let_go_any(lru_t *lru, uint32_t number, jstream_t *stream,
                                                          size_t *left) {
    lru_block_t *block = &lru->blocks[number];
    jstatus_t status = lru_merge_fence(lru, block->fence, stream, &block->fence);
    if (status != JSTATUS_SUCCESS)
        return status;
    *left = block->owners - 1;
    if (*left != 0) {
        --block->owners;
        return JSTATUS_SUCCESS;
    }
    if (block->adoption != NULL)
        return lru_end_adoption(lru, number);
    lru_keep(lru, number, block->layout);
    if (lru_is_beyond_capacity(lru))
        lru_evict(lru, number);
    return JSTATUS_SUCCESS;
}

/* The same; the usual one is the only owner and has used the block inline. */
static inline jstatus_t lru_let_go(lru_t *lru, uint32_t number, jstream_t *stream, size_t *left) {
    const lru_block_t *block = &lru->blocks[number];
    if (JI_UNLIKELY(block->fence.index != 0 || block->owners != 1 || block->adoption != NULL ||
                    !ji_stream_is_inline(&lru->frontier, stream)))
        return lru_let_go_any(lru, number, stream, left);
    *left = 0;
    lru_keep(lru, number, block->layout);
    if (JI_UNLIKELY(lru_is_beyond_capacity(lru)))
        lru_evict(lru, number);
    return JSTATUS_SUCCESS;
}

static jstatus_t lru_deallocate(void *context, void *pointer, size_t size_bytes, jstream_t *stream) {
    lru_t *lru = context;
    uint32_t number = lru_find_live(lru, pointer);
    if (JI_UNLIKELY(number == 0))
        return lru_refuse(lru, pointer);
    const lru_block_t *block = &lru->blocks[number];
    if (JI_UNLIKELY(block->size_bytes != size_bytes))
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "allocator \"%s\": %p has %zu bytes and the tag \"%s\", and is given back with %zu",
                       jallocator_name(lru->self), pointer, block->size_bytes, jtag_name(block->tag), size_bytes);
    size_t left;
    jstatus_t status = lru_let_go(lru, number, stream, &left);
    if (JI_UNLIKELY(status == JSTATUS_SUCCESS &&
                    left != 0)) { /* the object has booked the end of a block that lives on */
        ++lru->self->books.live_count;
        lru->self->books.in_use_bytes += size_bytes;
    }
    return status;
}

/* ---- Looking -------------------------------------------------------------------------------------------------------- */

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
    if (entry == NULL || lru->blocks[entry->number].owners == 0)
        return JSTATUS_NOT_FOUND;
    lru_describe(lru, &lru->blocks[entry->number], block);
    return JSTATUS_SUCCESS;
}

static void lru_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    const lru_t *lru = context;
    jallocation_t block = JALLOCATION_INIT;
    for (const ji_ledger_entry_t *entry = NULL; (entry = ji_ledger_next(&lru->by_address, entry)) != NULL;) {
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
        if (lru->layouts[i].kept_count != 0 && lru->layouts[i].size_bytes > stats->largest_free_bytes)
            stats->largest_free_bytes = lru->layouts[i].size_bytes;
}

static void lru_clear_stats(void *context) {
    lru_t *lru = context;
    lru->peak_reserved_bytes = lru->reserved_bytes;
}

/* Adds everything up again; what is below is looked at as well. */
static jstatus_t lru_check(void *context) {
    const lru_t *lru = context;
    size_t records = 0, reserved = 0, kept = 0, kept_bytes = 0, listed = 0, kept_layouts = 0, blocks = 0, aged = 0;
    bool whole = true;
    for (const ji_ledger_entry_t *entry = NULL; (entry = ji_ledger_next(&lru->by_address, entry)) != NULL; ++records) {
        const lru_block_t *block = &lru->blocks[entry->number];
        whole = whole && block->address == (void *)entry->address;
        reserved += lru->layouts[block->layout].size_bytes;
        blocks += block->owners == 0;
    }
    for (uint32_t i = lru_oldest(lru_ages(lru)); i != 0 && aged <= records; i = lru->blocks[i].age.newer, ++aged) {
        const lru_block_t *block = &lru->blocks[i];
        whole = whole && block->aged && lru->blocks[block->age.newer].age.older == i;
        kept += block->owners == 0;
        kept_bytes += block->owners == 0 ? lru->layouts[block->layout].size_bytes : 0;
    }
    whole = whole && blocks == kept;
    for (uint32_t i = lru_oldest(lru_uses(lru)); i != 0 && listed <= records; i = lru->layouts[i].use.newer, ++listed) {
        const lru_layout_t *layout = &lru->layouts[i];
        size_t of_layout = 0;
        for (uint32_t k = layout->newest; k != 0 && of_layout <= kept; k = lru->blocks[k].under, ++of_layout)
            whole = whole && lru->blocks[k].layout == i;
        whole = whole && layout->listed && of_layout == layout->kept_count && of_layout <= layout->block_count;
        kept_layouts += of_layout != 0;
        blocks -= of_layout;
    }
    whole = whole && blocks == 0 && records == lru->by_address.count && reserved == lru->reserved_bytes &&
            kept == lru->kept_blocks && kept_bytes == lru->kept_bytes && kept_layouts == lru->kept_layouts;
    if (!whole)
        return ji_fail(JSTATUS_CORRUPTED, "allocator \"%s\": the lists of kept blocks have changed",
                       jallocator_name(lru->self));
    return jallocator_check(lru->below);
}

static void lru_forget_stream(void *context, jstream_t *stream) {
    lru_t *lru = context;
    ji_frontier_forget(&lru->frontier, stream);
}

/* ---- Life ----------------------------------------------------------------------------------------------------------- */

static void lru_free_parts(lru_t *lru) {
    if (lru == NULL)
        return;
    ji_frontier_fini(&lru->frontier);
    ji_ledger_fini(&lru->by_address);
    ji_ledger_fini(&lru->by_layout);
    ji_metadata_free(lru->blocks);
    ji_metadata_free(lru->layouts);
    ji_metadata_free(lru);
}

static void lru_destroy(void *context) {
    lru_t *lru = context;
    while (lru->kept_blocks != 0) {
        uint32_t block = lru_next_kept(lru, 0);
        jstatus_t status = ji_frontier_drain(&lru->frontier, lru->blocks[block].fence);
        if (status == JSTATUS_SUCCESS)
            status = lru_give_back(lru, block);
        if (status != JSTATUS_SUCCESS) {
            jlog_write(JLOG_WARNING, jallocator_destroy, "allocator \"%s\": a kept block cannot be given back: %s",
                       jallocator_name(lru->self), jstatus_last_message());
            lru_take(lru, block, lru->blocks[block].layout);
            lru_forget(lru, block);
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
        .trim = lru_trim,
        .check = lru_check,
        .forget_stream = lru_forget_stream,
        .destroy = lru_destroy,
    };
    const jlru_options_t *options = request->options;
    bool unsaid = options->threads == JALLOCATOR_THREADS_DEFAULT;
    if (!unsaid && options->threads != JALLOCATOR_THREADS_NONE && options->threads != JALLOCATOR_THREADS_LOCK)
        return ji_fail(JSTATUS_INVALID_VALUE, "lru: options->threads is %d, must be default, none or lock",
                       (int)options->threads);
    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = unsaid ? JALLOCATOR_THREADS_LOCK : options->threads,
                          .kind = &ji_kind_lru};
    lru_t *lru;
    JTRY_ALLOC(lru = ji_metadata_zalloc(sizeof *lru));
    ji_frontier_init(&lru->frontier, request->device);
    JTRY_ALLOC(lru_grow_blocks(lru) && lru_grow_layouts(lru) ? lru : NULL);
    lru->block_count = lru->layout_count = 1;
    lru->below = request->below;
    lru->granule_mask = jdevice_granule_bytes(request->device) - 1;
    lru->capacity_layouts = options->capacity_layouts != 0 ? options->capacity_layouts : 256;
    lru->capacity_bytes = options->capacity_bytes != 0 ? options->capacity_bytes : SIZE_MAX;
    lru->nearest_percent = options->nearest_percent == 0   ? 12
                           : options->nearest_percent == 1 ? 0
                                                           : options->nearest_percent;
    JTRY(ji_allocator_make(&ops, lru, &traits, &lru->self));
    *out = lru->self;
    lru = NULL;
done:
    lru_free_parts(lru);
    return status;
}

static const jallocator_key_t lru_keys[] = {
    {"layouts", "COUNT", "256", "most different layouts kept"},
    {"bytes", "SIZE", "no limit", "most bytes kept"},
    {"nearest", "COUNT", "12", "a kept block up to this many percent larger may serve; 1: exact only"},
    JI_THREADS_KEY,
    {NULL, NULL, NULL, NULL},
};
static const ji_key_place_t lru_places[] = {
    {JI_KEY_COUNT, offsetof(jlru_options_t, capacity_layouts), 0},
    {JI_KEY_SIZE, offsetof(jlru_options_t, capacity_bytes), 0},
    {JI_KEY_COUNT, offsetof(jlru_options_t, nearest_percent), 0},
    {JI_KEY_CHOICE, offsetof(jlru_options_t, threads), JALLOCATOR_THREADS_NONE},
};
static const jlru_options_t lru_defaults = JLRU_OPTIONS_INIT;

const ji_kind_t ji_kind_lru = {
    .public = {"lru", JALLOCATOR_POLICY, "freed blocks kept by layout, least recently used out first", lru_keys},
    .places = lru_places,
    .options_bytes = sizeof lru_defaults,
    .defaults = &lru_defaults,
    .create = lru_create,
};

jstatus_t jallocator_create_lru(jallocator_t *below, const jlru_options_t *options, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_lru, NULL, below, options, allocator);
}

/* ---- Reference counts ----------------------------------------------------------------------------------------------- */

/* The cache at or below an allocator, its lock taken as the object takes it. */
static jstatus_t lru_lock(jallocator_t *allocator, const char *caller, lru_t **lru) {
    jallocator_t *cache;
    jstatus_t status = ji_allocator_require_kind(allocator, &ji_kind_lru, caller, &cache);
    if (status != JSTATUS_SUCCESS)
        return status;
    if (cache->threads == JALLOCATOR_THREADS_LOCK)
        ji_lock_acquire(&cache->lock);
    *lru = cache->context;
    return JSTATUS_SUCCESS;
}
static void lru_unlock(lru_t *lru) {
    if (lru->self->threads == JALLOCATOR_THREADS_LOCK)
        ji_lock_release(&lru->self->lock);
}

jstatus_t jallocator_lru_retain(jallocator_t *allocator, void *pointer) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    uint32_t number = lru_find_live(lru, pointer);
    if (number == 0)
        status = lru_refuse(lru, pointer);
    else if (lru->blocks[number].owners == UINT32_MAX)
        status = ji_fail(JSTATUS_INVALID_VALUE, "allocator \"%s\": %p has 2^32 - 1 owners", jallocator_name(lru->self),
                         pointer);
    else
        ++lru->blocks[number].owners;
    lru_unlock(lru);
    return status;
}

jstatus_t jallocator_lru_release(jallocator_t *allocator, void *pointer, jstream_t *stream, size_t *remaining) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    size_t left = 0;
    uint32_t number = lru_find_live(lru, pointer);
    if (number == 0) {
        status = lru_refuse(lru, pointer);
    } else {
        size_t size_bytes = lru->blocks[number].size_bytes;
        status = lru_let_go(lru, number, stream, &left);
        if (status == JSTATUS_SUCCESS && left == 0)
            ji_books_deallocate(&lru->self->books, size_bytes);
    }
    lru_unlock(lru);
    if (status == JSTATUS_SUCCESS && remaining != NULL)
        *remaining = left;
    return status;
}

jstatus_t jallocator_lru_count(jallocator_t *allocator, const void *pointer, size_t *count) {
    JREQUIRE(pointer != NULL && count != NULL, JSTATUS_INVALID_POINTER);
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    uint32_t number = lru_find_live(lru, pointer);
    if (number == 0)
        status = lru_refuse(lru, pointer);
    else
        *count = lru->blocks[number].owners;
    lru_unlock(lru);
    return status;
}

/* Enters a foreign block. `adoption` may be NULL; it is the block's if this succeeds. */
static jstatus_t lru_adopt(lru_t *lru, void *pointer, size_t size_bytes, size_t alignment, lru_adoption_t *adoption) {
    if (alignment == 0)
        alignment = lru->granule_mask + 1;
    if (((uintptr_t)pointer & (alignment - 1)) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "jallocator_lru_adopt: %p is not aligned to %zu", pointer, alignment);
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_EXISTS, "allocator \"%s\": %p is here already, %s with %zu bytes and the tag \"%s\"",
                       jallocator_name(lru->self), pointer, block->owners != 0 ? "live" : "kept", block->size_bytes,
                       jtag_name(block->tag));
    }
    jstatus_t status = lru_reserve(lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    uint32_t number = lru_enter(lru, pointer, size_bytes, size_bytes, alignment);
    lru->blocks[number].adoption = adoption;
    ji_books_allocate(&lru->self->books, size_bytes);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_lru_adopt(jallocator_t *allocator, void *pointer, size_t size_bytes, size_t alignment,
                               void (*give_back)(void *context, void *pointer, size_t size_bytes),
                               void *give_back_context) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(size_bytes != 0 && size_bytes <= LRU_MAX_BYTES, JSTATUS_INVALID_SIZE);
    JREQUIRE(alignment == 0 || (ji_is_power_of_two(alignment) && alignment <= LRU_MAX_ALIGNMENT),
             JSTATUS_INVALID_VALUE);
    lru_adoption_t *adoption = NULL;
    if (give_back != NULL) {
        adoption = ji_metadata_alloc(sizeof *adoption);
        if (adoption == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", __func__);
        *adoption = (lru_adoption_t){give_back, give_back_context};
    }
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status == JSTATUS_SUCCESS) {
        status = lru_adopt(lru, pointer, size_bytes, alignment, adoption);
        lru_unlock(lru);
    }
    if (status != JSTATUS_SUCCESS)
        ji_metadata_free(adoption);
    return status;
}

jstatus_t jallocator_lru_clear(jallocator_t *allocator) {
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status == JSTATUS_SUCCESS) {
        status = lru_trim(lru, 0);
        lru_unlock(lru);
    }
    return status;
}

jstatus_t jallocator_lru_get_counters(jallocator_t *allocator, jlru_counters_t *counters) {
    JREQUIRE(counters != NULL, JSTATUS_INVALID_POINTER);
    if (counters->struct_size < sizeof *counters)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: counters->struct_size is %zu, must be %zu", __func__,
                       counters->struct_size, sizeof *counters);
    lru_t *lru;
    jstatus_t status = lru_lock(allocator, __func__, &lru);
    if (status != JSTATUS_SUCCESS)
        return status;
    *counters = (jlru_counters_t){counters->struct_size, lru->hit_count,    lru->nearest_hit_count, lru->miss_count,
                                  lru->eviction_count,   lru->kept_layouts, lru->kept_blocks,       lru->kept_bytes};
    lru_unlock(lru);
    return JSTATUS_SUCCESS;
}
