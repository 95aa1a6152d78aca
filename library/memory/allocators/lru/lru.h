/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_LRU_LRU_H
#define JALLOC_MEMORY_ALLOCATORS_LRU_LRU_H

/* A cache of freed blocks by layout, least recently used out first, with reference counts; after
 * Hpt's memory pool.
 *
 * A layout is a size, rounded up to the granule, and an alignment. Every block that was taken from
 * below, or adopted, has a record, and so has every layout that has a block; both are found by a
 * ledger, blocks by their address and layouts by size and alignment as one number. A block keeps
 * its layout as long as it is here: one that serves a smaller request returns to the layout that it
 * came from, and has its true size when it is given back below.
 *
 *     layouts, by use      4096/64  <->  512/64  <->  1 MiB/64
 *                             |             |             |
 *     kept blocks,          newest        newest        newest       served from this end
 *     by layout               |             |             |
 *                           oldest        oldest        oldest
 *
 *     all kept blocks      newest <-> ... <-> oldest                 given back from this end
 *
 * So the capacity in bytes takes the block that has been kept longest, whatever its layout, and the
 * capacity in layouts the layout that was used longest ago with all its blocks. A block whose
 * stream has not passed its release cannot be given back below; it is passed over, and the cache
 * may be beyond its capacity until a later release finds that it has passed.
 *
 * Blocks and layouts are records in two tables that grow. They refer to each other by number, so
 * nothing here points to a record across a call that may make a table grow. Record 0 of each is no
 * record: it is the end of its ring, and its number means none. Both are 64 bytes: a number becomes
 * an address by a shift.
 *
 *     ring of ages   0 <-> oldest <-> ... <-> newest <-> 0     blocks by the time they were kept
 *     ring of uses   0 <-> oldest <-> ... <-> newest <-> 0     listed layouts by use
 *     layout         newest kept block -> under -> ... -> oldest
 *     bin            listed layouts of about one size
 *
 * Leaving is lazy in both rings. A layout is listed, by use and in its bin, when a block of it is
 * kept; when its last kept block serves a request it stays, since one will be back soon, and
 * whoever comes upon an empty one strikes it off. A block that serves a request stays in the ring
 * of ages in the same way where it is the newest there. So one layout allocated and freed in turn
 * moves nothing but the head of its own list.
 *
 * Always true, and looked at by ji_lru_check: a block has owners or is in its layout's list, never
 * both; kept_bytes, kept_blocks and kept_layouts are what the lists add up to; the bytes of all
 * blocks are reserved_bytes.
 *
 * To read in this order:
 *
 *     lru.h            records, and the lists as the fast paths use them
 *     lru.c            what a request does, the ways from the cheapest on
 *     lru_owners.c     reference counts, and blocks that are adopted
 *     lru_evict.c      what is given back below, and when
 *     lru_records.c    how records come and go, what a message can say of a pointer, the check */

#include "core/hash.h"
#include "jalloc/policy.h"
#include "memory/frontier.h"
#include "memory/memory.h"

/* No machine has more; leaves room in a layout's number for the alignment. */
#define LRU_MAX_BYTES (SIZE_MAX >> 6)
#define LRU_MAX_ALIGNMENT ((size_t)1 << 30) /* as for every allocator */
#define LRU_LOOKS 16        /* blocks whose stream is asked whether it has passed, in one search */
#define LRU_RECENT_BITS 9   /* layouts that are found without the ledger */
#define LRU_BIN_STEP_BITS 4 /* bins to a power of two */
#define LRU_BINS (64 << LRU_BIN_STEP_BITS)
#define LRU_GONE 64 /* blocks given back below that a message can still name */

/* A position in a ring of records: a member of each record of a table, record 0 its beginning and
 * end. */
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
    /* In that ring; true of a kept block, and of a live one that was kept before and not struck
     * off. */
    bool aged;
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
    /* As in force: bytes SIZE_MAX where there is none, percent 0 for exact. */
    size_t capacity_layouts, capacity_bytes, nearest_percent;

    lru_block_t *blocks;
    lru_layout_t *layouts;
    /* Records used so far, there are; the first given up. */
    uint32_t block_count, block_capacity, block_unused;
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

/* ---- Lists ---- */

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

/* The record, which is in the ring, is the newest one now. */
static inline void lru_make_newest(lru_ring_t ring, uint32_t record) {
    if (lru_newest(ring) != record) {
        lru_unlink(ring, record);
        lru_link_newest(ring, record);
    }
}

void ji_lru_list_layout(lru_t *lru, uint32_t number);   /* which has no kept block yet */
void ji_lru_strike_layout(lru_t *lru, uint32_t number); /* which has none any more */
/* The kept block that is next older than all but `older`, 0: than all; 0: there is none. Strikes
 * live ones off. */
uint32_t ji_lru_next_kept(lru_t *lru, uint32_t older);

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
        ji_lru_list_layout(lru, of);
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

/* ---- Looking up ---- */

/* Grows with the size; sizes less than 1/16 apart may share one. */
static inline uint32_t lru_bin(size_t size_bytes) {
    unsigned exponent = 63 - (unsigned)__builtin_clzll(size_bytes);
    uint64_t fraction = ((uint64_t)size_bytes << (63 - exponent)) >> (63 - LRU_BIN_STEP_BITS);
    return (exponent << LRU_BIN_STEP_BITS) | (uint32_t)(fraction & ((1 << LRU_BIN_STEP_BITS) - 1));
}

/* A number for a layout. Not 0, since no size is. */
static inline const void *lru_layout_key(size_t size_bytes, size_t alignment) {
    return (const void *)(size_bytes << 5 | (unsigned)__builtin_ctzll(alignment));
}

static inline uint32_t *lru_recent(lru_t *lru, size_t size_bytes) {
    return &lru->recent[ji_hash_spread(size_bytes, 64 - LRU_RECENT_BITS)];
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

    const ji_ledger_entry_t *entry =
        ji_ledger_find(&lru->by_layout, lru_layout_key(size_bytes, alignment));
    return entry != NULL ? *recent = entry->number : 0;
}

/* The live block that begins at the pointer; 0: there is none. */
static inline uint32_t lru_find_live(const lru_t *lru, const void *pointer) {
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);
    return JI_LIKELY(entry != NULL && lru->blocks[entry->number].owners != 0) ? entry->number : 0;
}

/* ---- Giving back ---- */

static inline bool lru_is_beyond_capacity(const lru_t *lru) {
    return lru->kept_bytes > lru->capacity_bytes || lru->kept_layouts > lru->capacity_layouts;
}

/* Gives a kept block to below, its fence passed. Where below refuses, it stays. */
jstatus_t ji_lru_give_back(lru_t *lru, uint32_t number);
/* Brings what is kept within the capacity, as far as that can be done without waiting. `number` was
 * kept last. */
void ji_lru_evict(lru_t *lru, uint32_t number);
/* Everything that may be given back without waiting; whether that was anything. */
bool ji_lru_evict_all(lru_t *lru);
/* The oldest until at most keep_bytes are kept; waits for their streams. A slot of the table of
 * functions. */
jstatus_t ji_lru_trim(void *context, size_t keep_bytes);

/* One owner less of any block; *left is how many there are then. On failure nothing has changed. */
jstatus_t ji_lru_let_go_any(lru_t *lru, uint32_t number, jstream_t *stream, size_t *left);

/* The same; the usual one is the only owner and has used the block inline. */
static inline jstatus_t lru_let_go(lru_t *lru, uint32_t number, jstream_t *stream, size_t *left) {
    const lru_block_t *block = &lru->blocks[number];
    if (JI_UNLIKELY(block->fence.index != 0 || block->owners != 1 || block->adoption != NULL ||
                    !ji_stream_is_inline(&lru->frontier, stream)))
        return ji_lru_let_go_any(lru, number, stream, left);

    *left = 0;
    lru_keep(lru, number, block->layout);
    if (JI_UNLIKELY(lru_is_beyond_capacity(lru)))
        ji_lru_evict(lru, number);
    return JSTATUS_SUCCESS;
}

/* ---- Records ---- */

/* The tables, empty. On failure they are to be freed as after success. */
bool ji_lru_init_records(lru_t *lru);
void ji_lru_fini_records(lru_t *lru);
/* Sees to it that ji_lru_enter cannot fail. success; memory error. */
jstatus_t ji_lru_reserve(lru_t *lru);
/* Enters a block that is not here, with one owner. Room was reserved. */
uint32_t ji_lru_enter(lru_t *lru, void *pointer, size_t size_bytes, size_t layout_bytes,
                      size_t alignment);
/* Forgets a block that is in no layout's list, and its layout if that was its last one. Messages
 * can name it for a while. */
void ji_lru_forget(lru_t *lru, uint32_t number);
/* Says what is known about a pointer at which no live block begins. not found. */
jstatus_t ji_lru_refuse(const lru_t *lru, const void *pointer) __attribute__((cold));
/* Adds everything up again. success; corrupted. */
jstatus_t ji_lru_check(const lru_t *lru);

#endif
