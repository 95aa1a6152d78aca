/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_LEDGER_H
#define JALLOC_MEMORY_LEDGER_H

/* A table from addresses to numbers, for books that are kept beside the memory: what is live at an
 * address, which block begins there. At most three quarters full (core/hash.h); one cache line for
 * most searches. Not locked: whoever has one has a lock. Zero-initialised is empty. */

#include "core/hash.h"
#include "jalloc/tag.h"

typedef struct ji_ledger_entry {
    uintptr_t address; /* the key */
    size_t size_bytes;
    jtag_t tag;
    uint32_t number; /* the user's own */
} ji_ledger_entry_t;

typedef struct ji_ledger {
    ji_hash_t table;
} ji_ledger_t;

/* Doubles the slots: false without bookkeeping memory, and nothing has changed. */
bool ji_ledger_grow(ji_ledger_t *ledger);
/* Makes sure that one more entry has room: false without bookkeeping memory, and nothing has
 * changed. */
static inline bool ji_ledger_reserve(ji_ledger_t *ledger) {
    const size_t slots = ledger->table.mask + 1;
    return JI_LIKELY(ledger->table.slots != NULL && ledger->table.count < slots - slots / 4) ||
           ji_ledger_grow(ledger);
}

/* Enters an address that is not there; room was reserved. The entry is valid until the next change
 * of the ledger. */
static inline ji_ledger_entry_t *ji_ledger_insert(ji_ledger_t *ledger, const void *address,
                                                  size_t size_bytes, jtag_t tag) {
    ji_ledger_entry_t *entry = ji_hash_insert(&ledger->table, (uintptr_t)address, sizeof *entry);
    entry->size_bytes = size_bytes;
    entry->tag = tag;
    entry->number = 0;
    return entry;
}

/* The entry of an address; NULL where there is none. */
static inline ji_ledger_entry_t *ji_ledger_find(const ji_ledger_t *ledger, const void *address) {
    if (JI_UNLIKELY(ledger->table.slots == NULL || address == NULL))
        return NULL;

    return ji_hash_find(&ledger->table, (uintptr_t)address, sizeof(ji_ledger_entry_t));
}
/* The entry whose bytes contain the address; looks at all of them. */
ji_ledger_entry_t *ji_ledger_find_containing(const ji_ledger_t *ledger, const void *address);
/* Enters an address again that was there until just now, and stays after all. Without memory for a
 * larger ledger the room that it always keeps empty serves; NULL where others have taken that up
 * too. */
ji_ledger_entry_t *ji_ledger_restore(ji_ledger_t *ledger, const void *address, size_t size_bytes,
                                     jtag_t tag);
/* Removes an entry that ji_ledger_find gave. */
void ji_ledger_remove(ji_ledger_t *ledger, ji_ledger_entry_t *entry);
/* The entry in slot i of ji_ledger_slots(), NULL where that is empty: for a walk in which the
 * ledger may change. */
static inline size_t ji_ledger_slots(const ji_ledger_t *ledger) {
    return ledger->table.slots != NULL ? ledger->table.mask + 1 : 0;
}
static inline ji_ledger_entry_t *ji_ledger_at(const ji_ledger_t *ledger, size_t i) {
    ji_ledger_entry_t *entry = (ji_ledger_entry_t *)ledger->table.slots + i;
    return entry->address != 0 ? entry : NULL;
}
/* The entry after `entry`, the first after NULL; NULL past the last. */
static inline ji_ledger_entry_t *ji_ledger_next(const ji_ledger_t *ledger,
                                                const ji_ledger_entry_t *entry) {
    return ji_hash_next(&ledger->table, entry, sizeof *entry);
}
static inline void ji_ledger_fini(ji_ledger_t *ledger) { ji_hash_fini(&ledger->table); }

#endif
