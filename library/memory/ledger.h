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
    uintptr_t address; /* 0: the place is empty */
    size_t size_bytes;
    jtag_t tag;
    uint32_t number; /* the user's own */
} ji_ledger_entry_t;

typedef struct ji_ledger {
    ji_ledger_entry_t *entries; /* NULL: nothing was ever entered */
    size_t mask;                /* places - 1; a power of two of places */
    size_t count;
} ji_ledger_t;

/* Makes sure that one more entry has room: false without bookkeeping memory, and nothing has changed. */
bool ji_ledger_reserve(ji_ledger_t *ledger);
/* Enters an address that is not there; room was reserved. The entry is valid until the next change of the ledger. */
ji_ledger_entry_t *ji_ledger_insert(ji_ledger_t *ledger, const void *address, size_t size_bytes, jtag_t tag);
/* The entry of an address; NULL where there is none. */
ji_ledger_entry_t *ji_ledger_find(const ji_ledger_t *ledger, const void *address);
/* The entry whose bytes contain the address; looks at all of them. */
ji_ledger_entry_t *ji_ledger_find_containing(const ji_ledger_t *ledger, const void *address);
/* Removes an entry that ji_ledger_find gave. */
void ji_ledger_remove(ji_ledger_t *ledger, ji_ledger_entry_t *entry);
/* The entry after `entry`, the first after NULL; NULL past the last. */
ji_ledger_entry_t *ji_ledger_next(const ji_ledger_t *ledger, const ji_ledger_entry_t *entry);
void ji_ledger_fini(ji_ledger_t *ledger);

#endif
