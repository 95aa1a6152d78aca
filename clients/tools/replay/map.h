/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_MAP_H
#define REPLAY_MAP_H

/* Numbers to numbers: addresses to live blocks, the system's thread ids to ours. Open addressing
 * with linear probing, at most half full; removal moves up what was displaced (Knuth, volume 3, 6.4
 * R), so there are no tombstones. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../common/tool.h"

#define MAP_NONE UINT32_MAX /* no value */

typedef struct map_entry {
    uint64_t key;
    uint32_t value_plus_1; /* 0: empty */
} map_entry_t;

typedef struct map {
    map_entry_t *entries;
    size_t slots, count; /* slots: 0 or a power of two */
} map_t;

/* Fibonacci hashing: addresses differ in their middle bits. */
static inline size_t map_home(const map_t *map, uint64_t key) {
    return (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (map->slots - 1);
}

/* The entry of the key, or the empty one where it would go. */
static inline map_entry_t *map_entry(const map_t *map, uint64_t key) {
    size_t slot = map_home(map, key);
    while (map->entries[slot].value_plus_1 && map->entries[slot].key != key)
        slot = (slot + 1) & (map->slots - 1);
    return &map->entries[slot];
}

static inline uint32_t map_find(const map_t *map, uint64_t key) {
    return map->slots ? map_entry(map, key)->value_plus_1 - 1 : MAP_NONE;
}

/* The key must not be there yet. value < MAP_NONE. */
static inline void map_add(map_t *map, uint64_t key, uint32_t value) {
    if (2 * (map->count + 1) > map->slots) {
        map_t larger = {.slots = map->slots ? 2 * map->slots : 64, .count = map->count};
        larger.entries = tool_allocate(larger.slots, sizeof *larger.entries);
        for (size_t slot = 0; slot < map->slots; slot++)
            if (map->entries[slot].value_plus_1)
                *map_entry(&larger, map->entries[slot].key) = map->entries[slot];
        free(map->entries);
        *map = larger;
    }
    *map_entry(map, key) = (map_entry_t){key, value + 1};
    map->count++;
}

/* The key must be there. */
static inline void map_remove(map_t *map, uint64_t key) {
    size_t hole = (size_t)(map_entry(map, key) - map->entries), mask = map->slots - 1;
    for (size_t slot = (hole + 1) & mask; map->entries[slot].value_plus_1; slot = (slot + 1) & mask)
        if (((slot - map_home(map, map->entries[slot].key)) & mask) >= ((slot - hole) & mask)) {
            map->entries[hole] = map->entries[slot];
            hole = slot;
        }
    map->entries[hole].value_plus_1 = 0;
    map->count--;
}

#endif
