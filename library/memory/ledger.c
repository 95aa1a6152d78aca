/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "memory/ledger.h"

#define LEDGER_FIRST_BITS 6

bool ji_ledger_grow(ji_ledger_t *ledger) {
    const unsigned bits =
        ledger->table.slots != NULL ? ji_hash_bits(&ledger->table) + 1 : LEDGER_FIRST_BITS;
    return ji_hash_resize(&ledger->table, bits, sizeof(ji_ledger_entry_t));
}

ji_ledger_entry_t *ji_ledger_restore(ji_ledger_t *ledger, const void *address, size_t size_bytes,
                                     jtag_t tag) {
    bool has_room = ji_ledger_reserve(ledger) || ledger->table.count < ledger->table.mask;
    return has_room ? ji_ledger_insert(ledger, address, size_bytes, tag) : NULL;
}

ji_ledger_entry_t *ji_ledger_find_containing(const ji_ledger_t *ledger, const void *address) {
    for (ji_ledger_entry_t *entry = NULL; (entry = ji_ledger_next(ledger, entry)) != NULL;)
        if ((uintptr_t)address - entry->address < entry->size_bytes)
            return entry;
    return NULL;
}

void ji_ledger_remove(ji_ledger_t *ledger, ji_ledger_entry_t *entry) {
    ji_hash_remove(&ledger->table, entry, sizeof *entry);
}
