/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Kept blocks are given back below: within the capacity when one is kept, everything when below has
 * no more, the oldest on trim. The first two do not wait: a block whose stream has not passed its
 * release is passed over. */

#include "memory/allocators/lru/lru.h"

jstatus_t ji_lru_give_back(lru_t *lru, uint32_t number) {
    const lru_block_t *block = &lru->blocks[number];
    jstatus_t status =
        jallocator_deallocate(lru->below, block->address, lru->layouts[block->layout].size_bytes,
                              ji_frontier_stream(&lru->frontier, block->fence));

    if (status == JSTATUS_SUCCESS) {
        lru_take(lru, number, block->layout);
        ji_lru_forget(lru, number);
    }
    return status;
}

/* The same where the fence has been passed; false: it stays. */
static bool lru_evict_block(lru_t *lru, uint32_t number) {
    bool evicted = ji_frontier_passed_by_all(&lru->frontier, lru->blocks[number].fence) &&
                   ji_lru_give_back(lru, number) == JSTATUS_SUCCESS;
    lru->eviction_count += evicted;
    return evicted;
}

/* Of a layout all that may be given back; false: not everything. */
static bool lru_evict_layout(lru_t *lru, uint32_t number) {
    uint32_t left = lru->layouts[number].kept_count, block = lru->layouts[number].oldest;

    while (left != 0) {
        uint32_t newer = lru->blocks[block].above;
        if (!lru_evict_block(lru, block))
            return false;
        block = newer;
        --left;
    }
    return true;
}

void ji_lru_evict(lru_t *lru, uint32_t number) {
    /* What cannot be kept in any case must not drive out the others. */
    if (lru->layouts[lru->blocks[number].layout].size_bytes > lru->capacity_bytes)
        (void)lru_evict_block(lru, number);

    unsigned looks = LRU_LOOKS;
    uint32_t newer;
    for (uint32_t layout = lru_oldest(lru_uses(lru));
         lru->kept_layouts > lru->capacity_layouts && layout != 0 && looks != 0; layout = newer) {
        newer = lru->layouts[layout].use.newer;
        if (lru->layouts[layout].kept_count == 0)
            ji_lru_strike_layout(lru, layout);
        else if (!lru_evict_layout(lru, layout))
            --looks;
    }

    for (uint32_t block = ji_lru_next_kept(lru, 0);
         lru->kept_bytes > lru->capacity_bytes && block != 0 && looks != 0; block = newer) {
        newer = ji_lru_next_kept(lru, block);
        if (!lru_evict_block(lru, block))
            --looks;
    }
}

bool ji_lru_evict_all(lru_t *lru) {
    size_t before = lru->kept_blocks;
    uint32_t newer;

    for (uint32_t block = ji_lru_next_kept(lru, 0); block != 0; block = newer) {
        newer = ji_lru_next_kept(lru, block);
        (void)lru_evict_block(lru, block);
    }

    return lru->kept_blocks < before;
}

jstatus_t ji_lru_trim(void *context, size_t keep_bytes) {
    lru_t *lru = context;
    jstatus_t status = JSTATUS_SUCCESS;
    while (status == JSTATUS_SUCCESS && lru->kept_bytes > keep_bytes) {
        uint32_t block = ji_lru_next_kept(lru, 0);
        status = ji_frontier_drain(&lru->frontier, lru->blocks[block].fence);
        if (status == JSTATUS_SUCCESS)
            status = ji_lru_give_back(lru, block);
    }
    return status;
}
