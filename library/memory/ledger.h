/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_LEDGER_H
#define JALLOC_MEMORY_LEDGER_H

/* A table from addresses to numbers, for books that are kept beside the memory: what is live at an address, which block
 * begins there. Open addressing with linear probing; at most three quarters full; one cache line for most searches. Not
 * locked: whoever has one has a lock. Zero-initialised is empty. */

#include "core/core.h"
#include "jalloc/tag.h"

typedef struct ji_ledger_entry {
    uintptr_t address; /* 0: the slot is empty */
    size_t size_bytes;
    jtag_t tag;
    uint32_t number; /* the user's own */
} ji_ledger_entry_t;

typedef struct ji_ledger {
    ji_ledger_entry_t *entries; /* NULL: nothing was ever entered */
    size_t mask;                /* slots - 1; a power of two of slots */
    size_t count;
} ji_ledger_t;

/* Doubles the slots: false without bookkeeping memory, and nothing has changed. */
bool ji_ledger_grow(ji_ledger_t *ledger);
/* Makes sure that one more entry has room: false without bookkeeping memory, and nothing has changed. */
static inline bool ji_ledger_reserve(ji_ledger_t *ledger) {
    size_t slots = ledger->mask + 1;
    return JI_LIKELY(ledger->entries != NULL && ledger->count < slots - slots / 4) || ji_ledger_grow(ledger);
}
/* Where the search for an address begins. Addresses are multiplied by the golden ratio (Fibonacci hashing): they are
 * multiples of powers of two, and the high bits of the product are not. */
static inline size_t ji_ledger_slot(const ji_ledger_t *ledger, uintptr_t address) {
    return (size_t)(((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & ledger->mask;
}

/* Enters an address that is not there; room was reserved. The entry is valid until the next change of the ledger. */
static inline ji_ledger_entry_t *ji_ledger_insert(ji_ledger_t *ledger, const void *address, size_t size_bytes,
                                                  jtag_t tag) {
    size_t slot = ji_ledger_slot(ledger, (uintptr_t)address);
    while (ledger->entries[slot].address != 0)
        slot = (slot + 1) & ledger->mask;
    ledger->entries[slot] = (ji_ledger_entry_t){(uintptr_t)address, size_bytes, tag, 0};
    ++ledger->count;
    return &ledger->entries[slot];
}

/* The entry of an address; NULL where there is none. */
static inline ji_ledger_entry_t *ji_ledger_find(const ji_ledger_t *ledger, const void *address) {
    if (JI_UNLIKELY(ledger->entries == NULL || address == NULL))
        return NULL;
    for (size_t slot = ji_ledger_slot(ledger, (uintptr_t)address);; slot = (slot + 1) & ledger->mask) {
        ji_ledger_entry_t *entry = &ledger->entries[slot];
        if (JI_LIKELY(entry->address == (uintptr_t)address))
            return entry;
        if (entry->address == 0)
            return NULL;
    }
}
/* The entry whose bytes contain the address; looks at all of them. */
ji_ledger_entry_t *ji_ledger_find_containing(const ji_ledger_t *ledger, const void *address);
/* Enters an address again that was there until just now, and stays after all. Without memory for a larger ledger the
 * room that it always keeps empty serves; NULL where others have taken that up too. */
ji_ledger_entry_t *ji_ledger_restore(ji_ledger_t *ledger, const void *address, size_t size_bytes, jtag_t tag);
/* Removes an entry that ji_ledger_find gave. */
void ji_ledger_remove(ji_ledger_t *ledger, ji_ledger_entry_t *entry);
/* The entry after `entry`, the first after NULL; NULL past the last. */
ji_ledger_entry_t *ji_ledger_next(const ji_ledger_t *ledger, const ji_ledger_entry_t *entry);
void ji_ledger_fini(ji_ledger_t *ledger);

#endif
