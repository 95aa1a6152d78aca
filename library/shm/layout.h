/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_LAYOUT_H
#define JALLOC_SHM_LAYOUT_H

/* What a segment looks like in memory. All in it is an offset or a number, never an address.
 *
 *     page 0   | header: constants (never change, checksum), then the lock and the counters      |
 *              | slots: one for each process        | allocators        | roots     | undo log   |
 *              | page table: two words for each page of the largest size the segment may have    |
 *     first    | pages that are handed out, in extents ...                                       |
 *     total    | (beyond the present size: nothing is reserved, nothing is touched)              |
 *
 * The page table is the truth about extents. The word of an extent's first page says what it is,
 * whose, and how long; the word of a free extent's last page says how far back the first is; all
 * other words are 0, so an offset that is not the beginning of an extent is told from one that is:
 *
 *     page      0 ... first                                                    total
 *     word      |      | FREE 4 | 0 | 0 | TAIL 3 | BLOCK 2 s5 | 0 | SLAB 4 s5 | 0 | 0 | 0 |
 *
 * From the first page on, extents follow each other without a gap, and no two free ones are
 * neighbours. Free extents are also in lists by length (bins), whose links are in the second word.
 *
 * A slab is an extent of 2^n pages, at a multiple of its length, divided into blocks of one size.
 * At its front stand its tables:
 *
 *     | shm_slab_t | freed: a bit per block | owner: a byte per block | rest | blocks ... |
 *
 * A block's owner byte is the slot that owns it; 0 is free. Allocating, freeing and giving a block
 * are one store of its byte. Blocks of a slab are allocated by the slab's owner alone, and freed by
 * it so. What others free they note in `freed`, under the lock, and the slab's owner takes it from
 * there; a block noted there is free as well. */

#include <stdint.h>

#define SHM_PAGE_SHIFT 12
#define SHM_PAGE_BYTES ((uint64_t)1 << SHM_PAGE_SHIFT)
#define SHM_MAX_PAGES ((uint64_t)1 << 30) /* 4 TiB: a page's index fits the 32 bits of a link */

#define SHM_MAGIC "jallocSG"
#define SHM_BYTE_ORDER 0x01020304u
#define SHM_LAYOUT_VERSION 1u

#define SHM_ALLOCATORS 64
#define SHM_ROOTS 128
#define SHM_LOG_ENTRIES 192 /* words that one change may touch; the longest takes about 60 */
#define SHM_SLOT_SEGMENT 255u
#define SHM_MAX_SLOTS 250u

/* Never changes after the segment was made. A copy is what a process works with. */
typedef struct shm_constants {
    char magic[8];
    uint32_t byte_order, layout_version;
    uint32_t page_bytes, constants_bytes;
    uint64_t features;   /* none yet: another value is another layout */
    uint64_t max_pages;  /* of the whole segment */
    uint64_t slot_count; /* numbered from 1 */
    uint64_t slots_offset, allocators_offset, roots_offset, log_offset, table_offset;
    uint64_t first_page;    /* that can be handed out */
    uint64_t has_file;      /* liveness by locks of the file; else by process */
    uint64_t pid_namespace; /* of the creator */
    char boot_id[40];       /* text of the kernel's; "" where there is none */
    uint64_t segment_id;    /* random */
    int64_t created_at;     /* seconds since 1970 */
    int64_t creator_pid;
    uint64_t checksum; /* of all before it */
} shm_constants_t;

/* Words that change. Each access is atomic; only lock and poisoned are written without the lock. */
#define SHM_BINS 256
typedef struct shm_header {
    shm_constants_t constants;
    char apart0[512 - sizeof(shm_constants_t)];

    uint32_t lock;     /* 0 free; SHM_LOCK_* */
    uint32_t poisoned; /* 1: a structure did not hold together. Written by anybody, for good */
    char apart1[56];

    uint64_t log_count;   /* entries of the undo log that are to be undone */
    uint64_t total_pages; /* the present size, in pages */
    uint64_t orphans;     /* first page of the list of slabs that the segment owns; 0: none */
    uint64_t growth_count, rollback_count, reaped_count;
    uint64_t bin_bits[SHM_BINS / 64];
    uint64_t bins[SHM_BINS]; /* first page of each list of free extents; 0: empty */
} shm_header_t;
_Static_assert(sizeof(shm_header_t) <= 4096, "the header has one page");

/* The lock's word: slot, the slot's generation, and whether somebody sleeps. */
#define SHM_LOCK_WAITERS 0x80000000u
#define SHM_LOCK_SLOT(word) ((word)&0xffu)
#define SHM_LOCK_GENERATION(word) (((word) >> 8) & 0x7fffffu)
#define SHM_LOCK_WORD(slot, generation) ((uint32_t)(slot) | ((uint32_t)(generation)&0x7fffffu) << 8)

typedef enum shm_slot_state {
    SHM_SLOT_FREE = 0,
    SHM_SLOT_TAKEN = 1,
    /* What it owns is being given back; whoever takes the lock next finishes it. */
    SHM_SLOT_REAPING = 2
} shm_slot_state_t;
typedef struct shm_slot {
    uint64_t claim; /* without a file: who has it, backing.c; 0: nobody. With one: unused */
    /* shm_slot_state_t. From taken to free only under the lock, by the reaper or by itself */
    uint64_t state;
    uint64_t generation; /* of those that had it */
    /* The generation that the state and all below speak of. Another one: that process is dead, and
     * its successor waits for the lock. */
    uint64_t joined;
    int64_t pid, attached_at;
    uint64_t pid_namespace;
    uint64_t opened; /* a bit for each allocator it has open */
    /* First page of the list of its slabs in which others have freed blocks; 0: none. */
    uint64_t dirty;
    char apart[56];
} shm_slot_t;
_Static_assert(sizeof(shm_slot_t) == 128, "slots do not share cache lines");

typedef enum shm_allocator_state {
    SHM_ALLOCATOR_FREE = 0,
    SHM_ALLOCATOR_READY = 1,
    SHM_ALLOCATOR_ENDING = 2 /* destroyed; its extents are being given back */
} shm_allocator_state_t;
typedef struct shm_allocator {
    uint64_t state, id, kind;           /* jshared_kind_t */
    uint64_t block_bytes;               /* pages: of each block */
    uint64_t header_page, header_bytes; /* the caller's header; page 0: none */
    uint64_t region_page, region_bytes; /* of a stack */
    /* Of a stack: bytes of its region in use. Changed without the lock. */
    uint64_t top;
    char apart[56];
} shm_allocator_t;
_Static_assert(sizeof(shm_allocator_t) == 128, "a stack's top does not share a cache line");

typedef struct shm_root {
    /* Odd: valid; a number that is never used again for another name. Written last, and first. */
    uint64_t state;
    uint64_t offset;
    char name[48];
} shm_root_t;
_Static_assert(sizeof(shm_root_t) == 64, "a root");

typedef struct shm_log_entry {
    uint64_t offset, old_value; /* of a word */
} shm_log_entry_t;

/* The page table. */
typedef struct shm_page {
    uint64_t word; /* what the extent is that begins here, SHM_WORD; or a tail; or 0 */
    /* Of a free extent in its bin, of a slab in a list: next | previous << 32, pages; 0: none. */
    uint64_t links;
} shm_page_t;

typedef enum shm_state {
    SHM_INSIDE = 0,
    SHM_FREE = 1,
    SHM_BLOCK = 2,
    SHM_CACHED = 3, /* free, in the cache of its owner */
    SHM_SLAB = 4,
    /* The last page of a free extent of two or more; "pages" is the way back to its first. */
    SHM_TAIL = 5,
    SHM_REGION = 6,
    /* A dead slot's extents, on their way to be free; words inside may be what was there. */
    SHM_DEAD = 7
} shm_state_t;

/* state:4 | flags:4 | owner:8 | allocator:8 | class:8 | pages:32 */
#define SHM_WORD(state, owner, allocator, class, pages)                                            \
    ((uint64_t)(state) | (uint64_t)(owner) << 8 | (uint64_t)(allocator) << 16 |                    \
     (uint64_t)(class) << 24 | (uint64_t)(pages) << 32)
#define SHM_STATE(word) ((shm_state_t)((word)&15))
#define SHM_OWNER(word) ((unsigned)((word) >> 8 & 255))
#define SHM_ALLOCATOR(word) ((unsigned)((word) >> 16 & 255))
#define SHM_CLASS(word) ((unsigned)((word) >> 24 & 255))
#define SHM_PAGES(word) ((uint64_t)(word) >> 32)
#define SHM_WITH_OWNER(word, owner) (((word) & ~((uint64_t)255 << 8)) | (uint64_t)(owner) << 8)
#define SHM_GIVEN                                                                                  \
    ((uint64_t)1                                                                                   \
     << 4) /* flag of a slab: blocks may be another's. Set under the lock, never taken back */
#define SHM_LINKED ((uint64_t)1 << 5) /* flag of a slab: it is in its owner's dirty list */

/* At the front of a slab; the tables follow it (slab.c). */
typedef struct shm_slab {
    /* For verify: as computed from the class, or it is corrupted. */
    uint64_t block_bytes, block_count;
    char apart[48];
} shm_slab_t;
_Static_assert(sizeof(shm_slab_t) == 64, "a line");

#endif
