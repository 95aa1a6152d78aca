/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache's records: how they come and go, what their lists cost when they change, and what a
 * message can say about a pointer. The lists of the hot path are in lru.h. */

#include "memory/allocators/lru/lru.h"
#include "memory/allocators/policy.h"

#include <string.h>

#define LRU_FIRST_RECORDS 32

/* ---- Lists ---- */

void ji_lru_list_layout(lru_t *lru, uint32_t number) {
    lru_layout_t *layout = &lru->layouts[number];
    uint32_t *bin = &lru->bins[lru_bin(layout->size_bytes)];
    layout->bin_previous = 0;
    layout->bin_next = *bin;
    lru->layouts[*bin].bin_previous = number; /* record 0's is written and never read */
    *bin = number;

    lru_link_newest(lru_uses(lru), number);
    layout->listed = true;
}

void ji_lru_strike_layout(lru_t *lru, uint32_t number) {
    lru_layout_t *layout = &lru->layouts[number];
    if (layout->bin_previous != 0)
        lru->layouts[layout->bin_previous].bin_next = layout->bin_next;
    else
        lru->bins[lru_bin(layout->size_bytes)] = layout->bin_next;
    lru->layouts[layout->bin_next].bin_previous = layout->bin_previous;
    lru_unlink(lru_uses(lru), number);
    layout->listed = false;
}

uint32_t ji_lru_next_kept(lru_t *lru, uint32_t older) {
    uint32_t number;
    while ((number = lru->blocks[older].age.newer) != 0 && lru->blocks[number].owners != 0) {
        lru_unlink(lru_ages(lru), number);
        lru->blocks[number].aged = false;
    }
    return number;
}

/* ---- Records ---- */

/* Room for one more record in a table. Record 0 of a new table is there, zeroed. */
static bool lru_grow(void **records, size_t record_bytes, uint32_t *capacity) {
    uint32_t wanted = *capacity != 0 ? 2 * *capacity : LRU_FIRST_RECORDS;
    size_t bytes;
    void *grown = NULL;
    if (wanted > *capacity && ji_size_mul(wanted, record_bytes, &bytes))
        grown = ji_metadata_zalloc(bytes);
    if (grown == NULL)
        return false;

    if (*records != NULL)
        memcpy(grown, *records, *capacity * record_bytes);
    ji_metadata_free(*records);

    *records = grown;
    *capacity = wanted;
    return true;
}

static bool lru_grow_blocks(lru_t *lru) {
    void *blocks = lru->blocks;
    bool grown = lru_grow(&blocks, sizeof *lru->blocks, &lru->block_capacity);
    lru->blocks = blocks;
    return grown;
}
static bool lru_grow_layouts(lru_t *lru) {
    void *layouts = lru->layouts;
    bool grown = lru_grow(&layouts, sizeof *lru->layouts, &lru->layout_capacity);
    lru->layouts = layouts;
    return grown;
}

bool ji_lru_init_records(lru_t *lru) {
    lru->block_count = lru->layout_count = 1; /* record 0 */
    return lru_grow_blocks(lru) && lru_grow_layouts(lru);
}

void ji_lru_fini_records(lru_t *lru) {
    ji_ledger_fini(&lru->by_address);
    ji_ledger_fini(&lru->by_layout);
    ji_metadata_free(lru->blocks);
    ji_metadata_free(lru->layouts);
}

jstatus_t ji_lru_reserve(lru_t *lru) {
    if ((lru->block_unused == 0 && lru->block_count == lru->block_capacity &&
         !lru_grow_blocks(lru)) ||
        (lru->layout_unused == 0 && lru->layout_count == lru->layout_capacity &&
         !lru_grow_layouts(lru)) ||
        !ji_ledger_reserve(&lru->by_address) || !ji_ledger_reserve(&lru->by_layout))
        return ji_refuse_bookkeeping();
    return JSTATUS_SUCCESS;
}

static uint32_t lru_make_layout(lru_t *lru, size_t size_bytes, size_t alignment) {
    uint32_t number = lru->layout_unused;
    if (number != 0)
        lru->layout_unused = lru->layouts[number].use.newer;
    else
        number = lru->layout_count++;

    lru->layouts[number] = (lru_layout_t){.size_bytes = size_bytes, .alignment = alignment};
    ji_ledger_insert(&lru->by_layout, lru_layout_key(size_bytes, alignment), size_bytes, 0)
        ->number = number;
    return number;
}

uint32_t ji_lru_enter(lru_t *lru, void *pointer, size_t size_bytes, size_t layout_bytes,
                      size_t alignment) {
    uint32_t layout = lru_find_layout(lru, layout_bytes, alignment);
    if (layout == 0)
        layout = lru_make_layout(lru, layout_bytes, alignment);
    ++lru->layouts[layout].block_count;

    uint32_t number = lru->block_unused;
    if (number != 0)
        lru->block_unused = lru->blocks[number].age.newer;
    else
        number = lru->block_count++;

    lru->blocks[number] = (lru_block_t){.address = pointer,
                                        .size_bytes = size_bytes,
                                        .owners = 1,
                                        .tag = ji_tag_current,
                                        .layout = layout};
    ji_ledger_insert(&lru->by_address, pointer, layout_bytes, 0)->number = number;

    lru->reserved_bytes += layout_bytes;
    if (lru->reserved_bytes > lru->peak_reserved_bytes)
        lru->peak_reserved_bytes = lru->reserved_bytes;

    return number;
}

void ji_lru_forget(lru_t *lru, uint32_t number) {
    lru_block_t *block = &lru->blocks[number];
    uint32_t of = block->layout;
    lru_layout_t *layout = &lru->layouts[of];

    lru->gone[lru->gone_count++ % LRU_GONE] =
        (lru_gone_t){block->address, block->size_bytes, block->tag};
    lru->reserved_bytes -= layout->size_bytes;

    ji_ledger_remove(&lru->by_address, ji_ledger_find(&lru->by_address, block->address));
    if (block->aged)
        lru_unlink(lru_ages(lru), number);
    block->age.newer = lru->block_unused;
    lru->block_unused = number;

    if (--layout->block_count != 0)
        return;
    if (layout->listed)
        ji_lru_strike_layout(lru, of);
    ji_ledger_remove(
        &lru->by_layout,
        ji_ledger_find(&lru->by_layout, lru_layout_key(layout->size_bytes, layout->alignment)));

    *layout = (lru_layout_t){.use = {lru->layout_unused, 0}};
    lru->layout_unused = of;
}

jstatus_t ji_lru_refuse(const lru_t *lru, const void *pointer) {
    const char *name = jallocator_name(lru->self);
    const ji_ledger_entry_t *entry = ji_ledger_find(&lru->by_address, pointer);

    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p was released already: it had %zu bytes and the tag "
                       "\"%s\", and is kept",
                       name, pointer, block->size_bytes, jtag_name(block->tag));
    }

    for (size_t i = 0; i < LRU_GONE && i < lru->gone_count; ++i) {
        const lru_gone_t *gone = &lru->gone[(lru->gone_count - 1 - i) % LRU_GONE];
        if (gone->address == pointer)
            return ji_fail(JSTATUS_NOT_FOUND,
                           "allocator \"%s\": %p was released already: it had %zu bytes and the "
                           "tag \"%s\", and was given back below",
                           name, pointer, gone->size_bytes, jtag_name(gone->tag));
    }

    entry = ji_ledger_find_containing(&lru->by_address, pointer);
    if (entry != NULL) {
        const lru_block_t *block = &lru->blocks[entry->number];
        return ji_fail(JSTATUS_NOT_FOUND,
                       "allocator \"%s\": %p lies inside the %s at %p of %zu bytes and the tag "
                       "\"%s\", and is no beginning of one",
                       name, pointer, block->owners != 0 ? "block" : "kept block", block->address,
                       block->size_bytes, jtag_name(block->tag));
    }

    return ji_refuse_unknown(name, pointer, "long ago");
}

jstatus_t ji_lru_check(const lru_t *lru) {
    size_t records = 0, reserved = 0, kept = 0, kept_bytes = 0, listed = 0, kept_layouts = 0,
           blocks = 0, aged = 0;
    bool whole = true;

    for (const ji_ledger_entry_t *entry = NULL;
         (entry = ji_ledger_next(&lru->by_address, entry)) != NULL; ++records) {
        const lru_block_t *block = &lru->blocks[entry->number];
        whole = whole && block->address == (void *)entry->address;
        reserved += lru->layouts[block->layout].size_bytes;
        blocks += block->owners == 0;
    }

    for (uint32_t i = lru_oldest(lru_ages(lru)); i != 0 && aged <= records;
         i = lru->blocks[i].age.newer, ++aged) {
        const lru_block_t *block = &lru->blocks[i];
        whole = whole && block->aged && lru->blocks[block->age.newer].age.older == i;
        kept += block->owners == 0;
        kept_bytes += block->owners == 0 ? lru->layouts[block->layout].size_bytes : 0;
    }
    whole = whole && blocks == kept;

    for (uint32_t i = lru_oldest(lru_uses(lru)); i != 0 && listed <= records;
         i = lru->layouts[i].use.newer, ++listed) {
        const lru_layout_t *layout = &lru->layouts[i];
        size_t of_layout = 0;
        for (uint32_t k = layout->newest; k != 0 && of_layout <= kept;
             k = lru->blocks[k].under, ++of_layout)
            whole = whole && lru->blocks[k].layout == i;

        whole = whole && layout->listed && of_layout == layout->kept_count &&
                of_layout <= layout->block_count;
        kept_layouts += of_layout != 0;
        blocks -= of_layout;
    }

    whole = whole && blocks == 0 && records == lru->by_address.table.count &&
            reserved == lru->reserved_bytes && kept == lru->kept_blocks &&
            kept_bytes == lru->kept_bytes && kept_layouts == lru->kept_layouts;
    if (!whole)
        return ji_fail(JSTATUS_CORRUPTED, "allocator \"%s\": the lists of kept blocks have changed",
                       jallocator_name(lru->self));
    return JSTATUS_SUCCESS;
}
