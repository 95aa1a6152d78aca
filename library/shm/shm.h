/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_SHM_H
#define JALLOC_SHM_SHM_H

/* A process's attachment, and what the files of this folder do for each other.
 *
 *     layout.h   what a segment looks like in memory: read it first
 *     backing.h  where its bytes are (backing.c, file.c, space.c), its constants (constants.c), and
 *                who is alive (life.c): all that knows the operating system
 *     lock.c     the segment's lock, and changes that can be undone
 *     heap/      blocks: heap/heap.h
 *     segment/   attachments, slots, roots; what becomes of the dead: segment/segment.h
 *     draw.c     the map of a segment as a picture
 *
 * What decides lies in the segment (layout.h); what is fast lies here, in memory that no other
 * process can reach: a record of each slab that this attachment owns, its cache of extents, and a
 * map that leads from a page to either. The fast paths read these alone and tell the segment by one
 * store. So a process that is killed leaves a segment from which everything follows, and a process
 * that scribbles on the segment cannot mislead another one's fast path.
 *
 * Two locks. The attachment's own (`lock`) keeps its threads apart; every function holds it. The
 * segment's (header.lock) keeps processes apart; it is taken, inside the first, by what changes
 * extents, lists, other slots' slabs or tables: ji_segment_enter() to ji_segment_leave(). Under it
 * each changed word goes through ji_put(), which notes what was there in the undo log; ji_commit()
 * forgets the log. Whoever finds the lock's holder dead takes it over and undoes what is in the
 * log. */

#include <stdatomic.h>

#include "core/core.h"
#include "core/lock.h"
#include "core/sized.h"
#include "jalloc/segment.h"
#include "memory/memory.h"
#include "shm/backing.h"
#include "shm/layout.h"

/* Sizes up to this come from slabs. */
#define SHM_SMALL_BYTES 8192
#define SHM_CLASSES 32            /* of the general allocator: four to each doubling from 128 on */
#define SHM_LINEAR_CLASSES 8      /* of 16, 32, ... 128 bytes */
#define SHM_OWN_CLASS SHM_CLASSES /* in a page's word: blocks of the allocator's own size */
#define SHM_MAX_BLOCKS 4096       /* in a slab */
#define SHM_MAX_SLAB_PAGES 32

/* Blocks in a class's magazine: so many, or those of so many bytes, but a few. */
#define SHM_READY_BLOCKS 64
#define SHM_READY_BYTES (64 << 10)
#define SHM_READY_LEAST 8

/* The attachment's cache of extents: up to so many pages each, at most so many of a length. */
#define SHM_CACHE_PAGES 64
#define SHM_CACHE_DEPTH 64
#define SHM_CACHE_LIMIT 4096  /* pages in all: 16 MiB */
#define SHM_NO_ALLOCATOR 255u /* of a cached extent */

typedef struct shm_record shm_record_t;
typedef struct shm_class shm_class_t;
typedef struct shm_notes shm_notes_t;
typedef struct shm_keeper shm_keeper_t;

/* Bytes as asked for, tag << 32; 0: the block is none of the keeper's. */
typedef uint64_t shm_note_t;
#define SHM_NOTE(size_bytes, tag) ((shm_note_t)(size_bytes) | (shm_note_t)(tag) << 32)
#define SHM_NOTE_BYTES(note) ((uint32_t)(note))
#define SHM_NOTE_TAG(note) ((jtag_t)((note) >> 32))

/* What this attachment knows of a slab of its own. */
struct shm_record {
    uint64_t summary;         /* a bit for each word of `reserved` with a clear bit */
    _Atomic(uint8_t) *owners; /* in the slab */
    _Atomic(uint64_t) *freed; /* in the slab */
    joffset_t first;          /* of block 0 */
    /* 2^32 / block_bytes, rounded up: the index of a block without a division */
    uint64_t reciprocal;
    uint64_t all_bytes; /* of its blocks */
    jshared_t *allocator;
    shm_class_t *class;     /* the allocator's */
    shm_notes_t *notes;     /* of whoever keeps some; NULL: nobody */
    shm_note_t *main_notes; /* those of each block of the allocator's main keeper; NULL: none */
    uint32_t block_bytes, block_count, word_count;
    uint32_t reserved_count;
    uint32_t page, pages;
    ji_link_t link;      /* in the class's list: slabs with blocks that are not reserved */
    ji_link_t own_link;  /* in the list of all of the allocator's */
    uint64_t reserved[]; /* blocks allocated, or in the class's magazine; padding bits are set */
};

/* What an allocator over the segment's (segment/allocator.c) keeps of each block of a slab:
 * private, as the record. The notes of blocks that are live outlast it: in the child of a fork,
 * say. */
struct shm_notes {
    shm_keeper_t *keeper;
    shm_notes_t *next;    /* of the record: another keeper's */
    shm_record_t *record; /* NULL: it has ended */
    ji_link_t link;       /* in the keeper's list */
    joffset_t first;      /* of block 0 */
    uint32_t block_bytes, block_count;
    unsigned slot;      /* whose blocks they are */
    shm_note_t notes[]; /* of each block */
};

/* The same of an extent, by its first page. */
typedef struct shm_extent_note {
    size_t size_bytes; /* as asked for; 0: none of the keeper's begins at this page */
    jtag_t tag;
    unsigned slot; /* whose it is */
} shm_extent_note_t;

/* Who keeps notes: an allocator over one of the segment's. A block that goes by another way than
 * through it is taken off the notes and these books when this attachment has it back, or hands the
 * same memory out again: so a note is never of a later owner's block in this attachment. Under the
 * attachment's lock. */
struct shm_keeper {
    uint64_t deallocation_count;
    ji_level_t in_use;          /* bytes */
    ji_list_t notes;            /* of all slabs in which it has had blocks */
    shm_extent_note_t *extents; /* by page; costs nothing where it is not used */
    size_t extent_count;
    ji_link_t link; /* among the attachment's */
};

static inline void shm_keeper_count_gone(shm_keeper_t *keeper, size_t size_bytes) {
    ++keeper->deallocation_count;
    ji_level_fall(&keeper->in_use, size_bytes);
}

/* A free block that is reserved for the class's next allocation. */
typedef struct shm_ready {
    joffset_t offset;
    _Atomic(uint8_t) *owner; /* its byte */
    shm_note_t *note;        /* in the slab's main notes; NULL: it has none */
} shm_ready_t;

struct shm_class {
    /* The magazine, last in first out: its blocks are those from `ready` to here. */
    shm_ready_t *top;
    shm_ready_t *ready;  /* owned; NULL: the class has not been used */
    shm_ready_t *limit;  /* where it is full */
    ji_list_t list;      /* slabs with blocks that are not reserved, the first is used */
    shm_record_t *empty; /* one of them that is empty: one is kept */
    uint32_t slab_count;
    char apart[12];
};
_Static_assert(sizeof(shm_class_t) == 64, "a class is found by a shift");

struct jshared {
    jsegment_t *segment;
    uint64_t id;
    jshared_kind_t kind;
    unsigned index; /* in the segment's table */
    uint32_t block_bytes;
    void *header;
    size_t header_bytes;
    joffset_t region; /* of a stack */
    size_t region_bytes;
    unsigned open_count, above_count; /* opens; allocators over it */
    shm_keeper_t *main_keeper; /* of those over it, whose notes are in the magazines; NULL: none */
    /* It was destroyed while a forked child had no slot in the segment. */
    bool gone;
    ji_list_t own;                        /* its slabs' records */
    shm_class_t classes[SHM_CLASSES + 1]; /* the last is of blocks of the allocator's own size */
};

/* What the fast paths have to do first. */
typedef enum shm_fast {
    SHM_FAST_NEVER = 0,    /* not ready */
    SHM_FAST_UNLOCKED = 1, /* nothing: one thread at a time */
    SHM_FAST_LOCKED = 2    /* take the attachment's lock */
} shm_fast_t;

struct jsegment {
    /* Read by every call. */
    ji_lock_t lock;
    bool locks;            /* threads: safe */
    bool ready;            /* it may write and has a slot in this process */
    _Atomic(uint8_t) fast; /* shm_fast_t, from these two */
    unsigned slot;
    char *base;
    shm_page_t *table;
    /* For each page: 0; a slab's record; or, odd, an extent of this slot's: pages << 1 | 1. */
    uintptr_t *map;
    uint64_t max_pages;
    atomic_uint_fast64_t known_pages; /* that are behind the mapping for certain */

    shm_header_t *header;
    shm_slot_t *slots; /* [0] is slot 1 */
    shm_allocator_t *allocators;
    shm_root_t *roots;
    shm_log_entry_t *log;
    shm_constants_t constants;
    shm_backing_t backing;
    bool read_only;
    uint64_t timeout_ms;
    uint32_t lock_word; /* what this attachment writes into the lock */
    bool lock_held;
    uint64_t log_count; /* entries of a change under way */
    bool broken;        /* a change could not be made: undo it */
    jshared_t *open[SHM_ALLOCATORS];
    ji_list_t keepers;
    struct {
        uint32_t count;
        uint32_t pages[SHM_CACHE_DEPTH];
    } cache[SHM_CACHE_PAGES + 1]; /* by length */
    uint64_t cached_pages;
    ji_link_t link; /* in the list of all of the process */
};

/* Bugs for jalloc-crash to find, which lists them. Only a build made for that has them. */
#ifdef JALLOC_PLANT_BUGS
extern unsigned ji_planted_bug;
#define JI_PLANTED(number) (ji_planted_bug == (number))
#else
#define JI_PLANTED(number) false
#endif

/* ---- Words of the segment: each access is one load or one store ---- */

static inline uint64_t shm_load(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void shm_store(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
static inline void shm_count(uint64_t *word) { shm_store(word, shm_load(word) + 1); }
static inline uint64_t shm_page_word(const jsegment_t *segment, uint64_t page) {
    return shm_load(&segment->table[page].word);
}

/* ---- lock.c: the segment's lock, and changes that can be undone ---- */

/* Holding the attachment's lock. Undoes what a dead holder left, and reaps it.
 * success; busy; corrupted (poisoned); read only. On failure it is not held. */
jstatus_t ji_segment_enter(jsegment_t *segment);
/* The same for one that may be poisoned, to look or to leave. */
jstatus_t ji_segment_enter_anyway(jsegment_t *segment);
void ji_segment_leave(jsegment_t *segment);

/* Changes a word of the bookkeeping so that it can be undone. */
void ji_put(jsegment_t *segment, uint64_t *word, uint64_t value);
/* Makes the changes since the last commit last. internal error: too many, and undone. */
jstatus_t ji_commit(jsegment_t *segment);
/* Undoes the changes since the last commit, and gives back `status`. */
jstatus_t ji_undo(jsegment_t *segment, jstatus_t status);
/* One of the two, by how the change went. */
jstatus_t ji_finish(jsegment_t *segment, jstatus_t status);
/* Says that the segment does not hold together, to everybody and as a message. Is "corrupted". */
#define JI_POISON(segment, ...)                                                                    \
    (ji_segment_poison(segment),                                                                   \
     ji_fail(JSTATUS_CORRUPTED, "the segment does not hold together: " __VA_ARGS__))
void ji_segment_poison(jsegment_t *segment) __attribute__((cold));
bool ji_segment_is_poisoned(const jsegment_t *segment);

/* ---- pages.c: extents. Under the segment's lock, without committing ---- */

/* Takes `pages` at a multiple of `multiple` (a power of two) and writes `word`, whose length is
 * filled in. success; memory error (without a message); corrupted. */
jstatus_t ji_pages_take(jsegment_t *segment, uint64_t pages, uint64_t multiple, uint64_t word,
                        uint64_t *page);
/* Frees the extent that begins there; joins it with free neighbours. `end` (may be NULL): where the
 * free extent ends. */
jstatus_t ji_pages_free(jsegment_t *segment, uint64_t page, uint64_t *end);
/* Makes an extent shorter and frees the rest, or longer by what is free behind it (memory error:
 * not enough). */
jstatus_t ji_pages_resize(jsegment_t *segment, uint64_t page, uint64_t pages);
/* Pages from `from` to `to` are new: makes them a free extent and the segment so long. */
jstatus_t ji_pages_add(jsegment_t *segment, uint64_t from, uint64_t to);
/* Whether a word can be that of an extent at `page`. */
bool ji_pages_is_extent(const jsegment_t *segment, uint64_t page, uint64_t word);
/* Pages in all now, at most those behind the mapping. */
uint64_t ji_pages_total(const jsegment_t *segment);
/* Looks whether the segment has grown; false: it says more than there is. */
bool ji_pages_refresh(jsegment_t *segment);
unsigned ji_pages_bin(uint64_t pages);
/* Lists by links: the head is a word of the segment. */
void ji_page_list_insert(jsegment_t *segment, uint64_t *head, uint64_t page);
jstatus_t ji_page_list_remove(jsegment_t *segment, uint64_t *head, uint64_t page);

/* ---- slab.c: what a slab looks like ---- */

typedef struct shm_geometry {
    uint32_t block_bytes, block_count, words;
    /* From the slab's beginning; the bits are right after shm_slab_t. */
    uint32_t owners_offset, first_offset;
} shm_geometry_t;
/* False: not even one block fits. */
bool ji_slab_geometry(uint64_t block_bytes, uint64_t pages, shm_geometry_t *geometry);
/* The geometry of the slab at `page` whose word this is; false: it is not a sound one. */
bool ji_slab_at(const jsegment_t *segment, uint64_t page, uint64_t word, shm_geometry_t *geometry);
/* The slab that contains a page, whoever owns it; 0: none. */
uint64_t ji_slab_containing(const jsegment_t *segment, uint64_t page);
static inline _Atomic(uint64_t) *ji_slab_freed(const jsegment_t *segment, uint64_t page) {
    return (_Atomic(uint64_t) *)(segment->base + (page << SHM_PAGE_SHIFT) + sizeof(shm_slab_t));
}
static inline _Atomic(uint8_t) *ji_slab_owners(const jsegment_t *segment, uint64_t page,
                                               const shm_geometry_t *geometry) {
    return (_Atomic(uint8_t) *)(segment->base + (page << SHM_PAGE_SHIFT) + geometry->owners_offset);
}
/* Who owns a block; 0: it is free. */
static inline unsigned ji_slab_owner(const jsegment_t *segment, uint64_t page,
                                     const shm_geometry_t *geometry, uint32_t index) {
    const unsigned owner =
        atomic_load_explicit(&ji_slab_owners(segment, page, geometry)[index], memory_order_relaxed);
    const uint64_t freed =
        atomic_load_explicit(&ji_slab_freed(segment, page)[index / 64], memory_order_relaxed);
    return (freed >> index % 64 & 1) != 0 ? 0 : owner;
}
/* Under the segment's lock: a block of another slot's slab is free, from when the bit is stored. */
static inline void ji_slab_note_freed(const jsegment_t *segment, uint64_t page, uint32_t index) {
    _Atomic(uint64_t) *freed = &ji_slab_freed(segment, page)[index / 64];
    atomic_store_explicit(
        freed, atomic_load_explicit(freed, memory_order_relaxed) | (uint64_t)1 << index % 64,
        memory_order_release);
}
/* Bits of the word that are blocks. */
static inline uint64_t ji_slab_valid(uint32_t block_count, uint32_t word) {
    const uint32_t rest = block_count - word * 64;
    return rest >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rest) - 1;
}
static inline unsigned ji_class_of(size_t size_bytes) { /* 1..SHM_SMALL_BYTES */
    const uint64_t last = size_bytes - 1;
    const unsigned exponent =
        63u ^ (unsigned)__builtin_clzll(last | 64); /* 2^exponent <= last; 6 for the linear ones */
    return (exponent - 6) * 4 + (unsigned)(last >> (exponent - 2));
}
uint32_t ji_class_bytes(unsigned class_index);

/* ---- heap/: this attachment's slabs and extents ---- */

/* Begins without slabs; the memory is zero. */
void ji_heap_init(jshared_t *shared);
/* Forgets all that is private: the segment's truth is another's now, or about to be free. Touches
 * no shared word. */
void ji_heap_forget(jshared_t *shared);
/* Leaves the slabs of an allocator to the segment; their blocks stay this slot's. Under the
 * segment's lock. */
jstatus_t ji_heap_leave(jshared_t *shared);
/* Gives the cached extents and empty slabs back. Under the segment's lock. */
jstatus_t ji_heap_trim(jsegment_t *segment);
/* Frees a block that may be anybody's. Under the segment's lock. success; not found; corrupted. */
jstatus_t ji_heap_free_any(jshared_t *shared, joffset_t offset);

/* ---- reap.c ---- */

/* Gives back what a slot owned, whose process is dead or is this one leaving, and marks it free.
 * Under the lock. */
jstatus_t ji_reap_slot(jsegment_t *segment, unsigned slot);
/* All dead slots, and allocators that were being destroyed. Under the lock. count may be NULL. */
jstatus_t ji_reap_all(jsegment_t *segment, unsigned *count);
/* Frees everything of an allocator in the state ending. Under the lock. */
jstatus_t ji_reap_allocator(jsegment_t *segment, unsigned index);
/* Whether the process of a taken slot is dead for certain. */
bool ji_slot_is_dead(const jsegment_t *segment, unsigned slot);

/* ---- segment.c ---- */

/* Begins a function: takes the attachment's lock and, in a child of a fork, a slot. On failure it
 * is not held. */
jstatus_t ji_segment_begin_slowly_(jsegment_t *segment);
static inline void ji_segment_end(jsegment_t *segment) {
    if (segment->locks)
        ji_lock_release(&segment->lock);
}
/* Whether it is ready; holding the lock, or where there is but one thread. What makes it not ready,
 * a fork or its end, has no other thread beside it, so the fast paths may look before they have the
 * lock. */
static inline void ji_segment_set_ready(jsegment_t *segment, bool ready) {
    segment->ready = ready;
    atomic_store_explicit(&segment->fast,
                          !ready           ? SHM_FAST_NEVER
                          : segment->locks ? SHM_FAST_LOCKED
                                           : SHM_FAST_UNLOCKED,
                          memory_order_relaxed);
}
/* Begins where nothing stands in the way: a few instructions. False: not begun. */
static inline bool ji_segment_begin_fast(jsegment_t *segment) {
    const unsigned fast = atomic_load_explicit(&segment->fast, memory_order_relaxed);
    return JI_LIKELY(fast == SHM_FAST_LOCKED) ? JI_LIKELY(ji_lock_enter_biased_(&segment->lock))
                                              : fast == SHM_FAST_UNLOCKED;
}
/* Without threads nobody asks for the lock, and a store is less than a look for threads. */
static inline void ji_segment_end_fast(jsegment_t *segment) {
    ji_lock_release_biased_(&segment->lock);
}
static inline jstatus_t ji_segment_begin(jsegment_t *segment) {
    if (segment->locks)
        ji_lock_acquire(&segment->lock);
    if (JI_LIKELY(segment->ready))
        return JSTATUS_SUCCESS;
    return ji_segment_begin_slowly_(segment);
}
/* The same for looking: a read-only attachment may. */
jstatus_t ji_segment_begin_reading(jsegment_t *segment);
/* Both locks, for a function that changes the segment; on failure neither is held. Unlocking gives
 * back `status`. */
jstatus_t ji_segment_lock(jsegment_t *segment);
jstatus_t ji_segment_unlock(jsegment_t *segment, jstatus_t status);
/* Makes the segment at least so long. Under its lock. */
jstatus_t ji_segment_extend(jsegment_t *segment, uint64_t pages);
/* Walks all attachments of the process under the list's lock. */
ji_list_t *ji_segment_list_acquire(void);
void ji_segment_list_release(void);

/* ---- shared.c, blocks.c ---- */

/* The long ways to allocate and free; begun already, not under the segment's lock. *offset is
 * JOFFSET_NULL before. */
jstatus_t ji_shared_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                             joffset_t *offset) __attribute__((noinline));
jstatus_t ji_shared_deallocate(jshared_t *shared, joffset_t offset);

/* Whether the allocator still is in the segment; notes it where not. Under the segment's lock. */
bool ji_shared_is_there(jshared_t *shared);
/* Stack: frees a block that is the last one; false: it is not. */
bool ji_shared_pop(jshared_t *shared, joffset_t offset, size_t size_bytes);

#endif
