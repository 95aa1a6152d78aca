/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_HASH_H
#define JALLOC_CORE_HASH_H

/* The table of entries that are found by a number, mostly an address: open addressing with linear
 * probing.
 *
 *     slot     0   1   2   3   4   5   6   7
 *            |   | a | b |   |   | c |   |   |       home(a) = home(b) = 1
 *
 * An entry's home is ji_hash_spread()'s of the upper bits of its key, and so those of 512 bytes of
 * addresses begin within four slots: blocks that are neighbours in memory come and go together, and
 * so do their cache lines here.
 *
 * There are no tombstones: an entry that is removed lets those behind it move up (Knuth, algorithm
 * R), so a table that many came and went through is as good as new. An entry is the user's struct,
 * whose first member is its key, a uintptr_t; 0 is no key, a slot with it is empty. Every function
 * is told the struct's size, which is a constant where it is called, so that the table is as fast
 * as one written for that struct. Entries move: a pointer to one is good until the next change.
 *
 * How full it may be is the user's to say, who resizes it in time; one slot has to stay empty, or a
 * search for what is not there would not end. Not locked: whoever has one has a lock.
 * Zero-initialised it has no slots yet. */

#include <string.h>

#include "core/core.h"

/* A key as a number of 64 - shift bits: the high bits of a product, so that all of the key counts
 * (Fibonacci hashing: Knuth, volume 3, 6.4). */
static inline size_t ji_hash_spread(uint64_t key, unsigned shift) {
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

typedef struct ji_hash {
    void *slots;    /* NULL: it was never resized */
    size_t mask;    /* slots - 1; a power of two of slots */
    size_t count;   /* entries */
    unsigned shift; /* 64 - the binary logarithm of the number of slots */
} ji_hash_t;

/* Makes it 2^bits slots, more than there are entries and four at least. False without bookkeeping
 * memory, and nothing has changed. */
bool ji_hash_resize(ji_hash_t *hash, unsigned bits, size_t entry_bytes);
void ji_hash_fini(ji_hash_t *hash); /* it has no slots again */

/* The binary logarithm of the number of slots. */
static inline unsigned ji_hash_bits(const ji_hash_t *hash) { return 64 - hash->shift; }

static inline uintptr_t *ji_hash_at_(const ji_hash_t *hash, size_t slot, size_t entry_bytes) {
    return (uintptr_t *)(void *)((char *)hash->slots + slot * entry_bytes);
}
/* Keys that differ in these lower bits alone are neighbours; the upper ones of these bits say which
 * slot of four a neighbour's home is. */
#define JI_HASH_NEAR_BITS 9
#define JI_HASH_HOME_BITS 2

/* Where the search for a key begins. The table has at least so many slots. */
static inline size_t ji_hash_home_(const ji_hash_t *hash, uintptr_t key) {
    const size_t among = key >> (JI_HASH_NEAR_BITS - JI_HASH_HOME_BITS);
    return ji_hash_spread(key >> JI_HASH_NEAR_BITS, hash->shift) ^
           (among & ((1u << JI_HASH_HOME_BITS) - 1));
}

/* The entry of a key, NULL where there is none. The table has slots. */
static inline void *ji_hash_find(const ji_hash_t *hash, uintptr_t key, size_t entry_bytes) {
    for (size_t slot = ji_hash_home_(hash, key);; slot = (slot + 1) & hash->mask) {
        uintptr_t *entry = ji_hash_at_(hash, slot, entry_bytes);
        if (JI_LIKELY(*entry == key))
            return entry;
        if (*entry == 0)
            return NULL;
    }
}

/* Enters a key that is not there, and returns its entry, whose other members are the caller's to
 * write. There is room. */
static inline void *ji_hash_insert(ji_hash_t *hash, uintptr_t key, size_t entry_bytes) {
    size_t slot = ji_hash_home_(hash, key);
    while (*ji_hash_at_(hash, slot, entry_bytes) != 0)
        slot = (slot + 1) & hash->mask;

    uintptr_t *entry = ji_hash_at_(hash, slot, entry_bytes);
    *entry = key;
    ++hash->count;
    return entry;
}

/* Removes an entry that is there. */
static inline void ji_hash_remove(ji_hash_t *hash, void *entry, size_t entry_bytes) {
    size_t hole = (size_t)((char *)entry - (char *)hash->slots) / entry_bytes;
    --hash->count;

    for (size_t slot = hole;;) {
        slot = (slot + 1) & hash->mask;
        const uintptr_t key = *ji_hash_at_(hash, slot, entry_bytes);
        if (JI_LIKELY(key == 0))
            break;

        /* It may move up unless its home lies behind the hole, on the way to where it is. */
        if (((slot - ji_hash_home_(hash, key)) & hash->mask) >= ((slot - hole) & hash->mask)) {
            memcpy(ji_hash_at_(hash, hole, entry_bytes), ji_hash_at_(hash, slot, entry_bytes),
                   entry_bytes);
            hole = slot;
        }
    }

    *ji_hash_at_(hash, hole, entry_bytes) = 0;
}

/* The entry behind `entry`, the first behind NULL; NULL past the last. */
void *ji_hash_next(const ji_hash_t *hash, const void *entry, size_t entry_bytes);

#endif
