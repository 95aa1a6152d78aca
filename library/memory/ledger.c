/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Linear probing without tombstones: an entry that is removed lets those behind it move up (Knuth, volume 3, 6.4,
 * algorithm R), so a table that many came and went through is as good as new. */

#include "memory/ledger.h"

#include <string.h>

#define LEDGER_FIRST_SLOTS 64

bool ji_ledger_grow(ji_ledger_t *ledger) {
    size_t slots = ledger->entries != NULL ? ledger->mask + 1 : 0;
    size_t wanted = slots != 0 ? 2 * slots : LEDGER_FIRST_SLOTS, bytes;
    ji_ledger_t grown = {NULL, wanted - 1, 0};
    if (!ji_size_mul(wanted, sizeof *grown.entries, &bytes) || (grown.entries = ji_metadata_zalloc(bytes)) == NULL)
        return false;
    for (size_t i = 0; i < slots; ++i) {
        const ji_ledger_entry_t *entry = &ledger->entries[i];
        if (entry->address != 0)
            ji_ledger_insert(&grown, (const void *)entry->address, entry->size_bytes, entry->tag)->number =
                entry->number;
    }
    ji_metadata_free(ledger->entries);
    *ledger = grown;
    return true;
}

ji_ledger_entry_t *ji_ledger_restore(ji_ledger_t *ledger, const void *address, size_t size_bytes, jtag_t tag) {
    /* One empty slot must be left, or a search for what is not there would not end. */
    bool has_room = ji_ledger_reserve(ledger) || ledger->count < ledger->mask;
    return has_room ? ji_ledger_insert(ledger, address, size_bytes, tag) : NULL;
}

ji_ledger_entry_t *ji_ledger_find_containing(const ji_ledger_t *ledger, const void *address) {
    for (ji_ledger_entry_t *entry = NULL; (entry = ji_ledger_next(ledger, entry)) != NULL;)
        if ((uintptr_t)address - entry->address < entry->size_bytes)
            return entry;
    return NULL;
}

void ji_ledger_remove(ji_ledger_t *ledger, ji_ledger_entry_t *entry) {
    size_t hole = (size_t)(entry - ledger->entries);
    --ledger->count;
    for (size_t slot = hole;;) {
        slot = (slot + 1) & ledger->mask;
        if (ledger->entries[slot].address == 0)
            break;
        size_t home = ji_ledger_slot(ledger, ledger->entries[slot].address);
        /* It may move up unless its home lies behind the hole, on the way from there to where it is. */
        if (((slot - home) & ledger->mask) >= ((slot - hole) & ledger->mask)) {
            ledger->entries[hole] = ledger->entries[slot];
            hole = slot;
        }
    }
    ledger->entries[hole].address = 0;
}

ji_ledger_entry_t *ji_ledger_next(const ji_ledger_t *ledger, const ji_ledger_entry_t *entry) {
    if (ledger->entries == NULL)
        return NULL;
    for (size_t i = entry != NULL ? (size_t)(entry - ledger->entries) + 1 : 0; i <= ledger->mask; ++i)
        if (ledger->entries[i].address != 0)
            return &ledger->entries[i];
    return NULL;
}

void ji_ledger_fini(ji_ledger_t *ledger) {
    ji_metadata_free(ledger->entries);
    memset(ledger, 0, sizeof *ledger);
}
