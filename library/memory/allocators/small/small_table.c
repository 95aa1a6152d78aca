/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of slabs. It is searched without a lock (small_slab_find); who changes it holds the
 * allocator's. */

#include "memory/allocators/small/small.h"

#define SMALL_SLOTS_PER_UNIT 8 /* so that nearly every search ends where it begins */

small_slab_t ji_small_nowhere, ji_small_removed;

small_table_t *ji_small_table_make(size_t slots) {
    small_table_t *table = ji_metadata_alloc(sizeof *table + slots * sizeof table->slabs[0]);
    if (table == NULL)
        return NULL;

    table->mask = slots - 1;
    table->used = 0;
    table->older = NULL;

    for (size_t i = 0; i < slots; ++i)
        table->slabs[i] = &ji_small_nowhere;
    return table;
}

void ji_small_table_insert(small_table_t *table, small_slab_t *slab) {
    uintptr_t address = small_load(slab->seen.base);
    for (size_t units = small_slab_units(slab); units > 0; --units, address += SMALL_UNIT_BYTES) {
        size_t slot = small_table_slot(address, table->mask);
        small_slab_t *there;
        while ((there = small_load(table->slabs[slot])) != &ji_small_nowhere &&
               there != &ji_small_removed)
            slot = (slot + 1) & table->mask;

        table->used += there == &ji_small_nowhere;
        small_store_release(table->slabs[slot], slab);
    }
}

/* Nobody searches beyond an empty slot, so removed ones in front of it need not be told from it. */
static void table_clean(small_table_t *table, size_t slot) {
    size_t next = (slot + 1) & table->mask;
    if (small_load(table->slabs[next]) != &ji_small_nowhere)
        return;

    for (; small_load(table->slabs[slot]) == &ji_small_removed; slot = (slot - 1) & table->mask) {
        small_store_release(table->slabs[slot], &ji_small_nowhere);
        --table->used;
    }
}

void ji_small_table_remove(small_table_t *table, small_slab_t *slab) {
    uintptr_t address = small_load(slab->seen.base);
    for (size_t units = small_slab_units(slab); units > 0; --units, address += SMALL_UNIT_BYTES) {
        size_t slot = small_table_slot(address, table->mask);
        while (small_load(table->slabs[slot]) != slab)
            slot = (slot + 1) & table->mask;
        small_store_release(table->slabs[slot], &ji_small_removed);
        table_clean(table, slot);
    }
}

bool ji_small_table_make_room(small_t *small, size_t units) {
    small_table_t *table = small_load(small->table);
    if (table->used + units <= (table->mask + 1) / SMALL_SLOTS_PER_UNIT)
        return true;

    size_t taken = units, slots = SMALL_FIRST_SLOTS;
    for (const small_slab_t *slab = small->made; slab != NULL; slab = slab->next_made)
        taken += slab->entered ? small_slab_units(slab) : 0;
    while (slots < 2 * SMALL_SLOTS_PER_UNIT * taken)
        slots *= 2;

    small_table_t *grown = ji_small_table_make(slots);
    if (grown == NULL)
        return false;

    for (small_slab_t *slab = small->made; slab != NULL; slab = slab->next_made)
        if (slab->entered)
            ji_small_table_insert(grown, slab);

    grown->older = table;
    small_store_release(small->table, grown);
    return true;
}
