/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The memory at one moment: which blocks live where and whose they are, and which ranges of
 * addresses are held.
 *
 * Ranges are the live blocks of the lowest allocator of the composition, the provider; those less
 * than a page apart are one (malloc puts its own words between its blocks). Where a provider shows
 * none, the live blocks are the ranges. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/units.h"
#include "books.h"
#include "map.h"
#include "survey.h"

#define RANGE_GAP_BYTES 4096

/* ---- Owners ---- */

static uint32_t snapshot_owner_key(const trace_t *trace, const block_t *block, owner_by_t by) {
    switch (by) {
    case OWNER_TAG: return block->tag;
    case OWNER_SIZE: return 63u - (unsigned)__builtin_clzll(block->size_bytes);
    case OWNER_THREAD: return trace->threads[block->allocated_by];
    case OWNER_STREAM: return trace->operations[block->allocated_by].stream;
    default: return block->allocator;
    }
}

static void snapshot_owner_name(const trace_t *trace, uint32_t key, owner_by_t by, char *name,
                                size_t name_bytes) {
    char low[UNITS_BYTES], high[UNITS_BYTES];
    switch (by) {
    case OWNER_TAG:
        snprintf(name, name_bytes, "%s", key ? trace->tags.names[key] : "(no tag)");
        return;
    case OWNER_SIZE:
        units_bytes(low, (double)(UINT64_C(1) << key), 0);
        units_bytes(high, (double)(UINT64_C(1) << key) * 2, 0);
        snprintf(name, name_bytes, "%s to %s", low, high);
        return;
    case OWNER_THREAD: snprintf(name, name_bytes, "thread %u", key); return;
    case OWNER_STREAM:
        snprintf(name, name_bytes, key ? "stream %u" : "default stream", key);
        return;
    default:
        snprintf(name, name_bytes, "%s", key ? trace->allocators.names[key] : "(no name)");
        return;
    }
}

/* While owners are ranked: where each stood. */
typedef struct ranked {
    owner_t owner;
    uint32_t number;
} ranked_t;

static int snapshot_compare_owners(const void *a, const void *b) {
    const ranked_t *x = a, *y = b;
    if (x->owner.live_bytes != y->owner.live_bytes)
        return x->owner.live_bytes < y->owner.live_bytes ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static void snapshot_rank_owners(snapshot_t *snapshot) {
    ranked_t *ranked = tool_allocate(snapshot->owner_count, sizeof *ranked);
    uint32_t *rank = tool_allocate(snapshot->owner_count, sizeof *rank);
    for (size_t i = 0; i < snapshot->owner_count; i++)
        ranked[i] = (ranked_t){snapshot->owners[i], (uint32_t)i};
    qsort(ranked, snapshot->owner_count, sizeof *ranked, snapshot_compare_owners);
    for (size_t i = 0; i < snapshot->owner_count; i++) {
        snapshot->owners[i] = ranked[i].owner;
        rank[ranked[i].number] = (uint32_t)i;
    }
    for (size_t i = 0; i < snapshot->place_count; i++)
        snapshot->places[i].owner = rank[snapshot->places[i].owner];
    free(ranked);
    free(rank);
}

static int snapshot_compare_places(const void *a, const void *b) {
    const place_t *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void snapshot_take_places(snapshot_t *snapshot, const player_t *player, size_t operation,
                                 owner_by_t by) {
    const trace_t *trace = player->trace;
    map_t numbers = {0};
    size_t capacity = 0;
    for (size_t i = 0; i < trace->block_count; i++) {
        const block_t *block = &trace->blocks[i];
        uintptr_t address = (uintptr_t)player_block(player, i);
        if (address == 0 || block->address == 0 ||
            (block->freed_by != NEVER && block->freed_by <= operation))
            continue;
        uint32_t key = snapshot_owner_key(trace, block, by), number = map_find(&numbers, key);
        if (number == MAP_NONE) {
            number = (uint32_t)snapshot->owner_count++;
            snapshot->owners = tool_reallocate(snapshot->owners, number, snapshot->owner_count,
                                               sizeof *snapshot->owners);
            snapshot_owner_name(trace, key, by, snapshot->owners[number].name,
                                sizeof snapshot->owners[number].name);
            map_add(&numbers, key, number);
        }
        snapshot->owners[number].live_count++;
        snapshot->owners[number].live_bytes += block->size_bytes;
        if (snapshot->place_count == capacity) {
            size_t larger = capacity ? 2 * capacity : 1024;
            snapshot->places =
                tool_reallocate(snapshot->places, capacity, larger, sizeof *snapshot->places);
            capacity = larger;
        }
        snapshot->places[snapshot->place_count++] = (place_t){address, block->size_bytes, number};
    }
    free(numbers.entries);
    snapshot_rank_owners(snapshot);
    if (snapshot->place_count > 0)
        qsort(snapshot->places, snapshot->place_count, sizeof *snapshot->places,
              snapshot_compare_places);
}

/* ---- Ranges ---- */

typedef struct ranges {
    range_t *ranges;
    size_t count, capacity;
} ranges_t;

static void ranges_add(ranges_t *ranges, uintptr_t begin, uintptr_t end) {
    if (ranges->count < ranges->capacity)
        ranges->ranges[ranges->count] = (range_t){begin, end};
    ranges->count++;
}

/* Runs inside the allocator. */
static bool ranges_visit(void *context, const jallocation_t *block) {
    uintptr_t begin = (uintptr_t)block->pointer;
    if (block->live)
        ranges_add(context, begin, begin + block->usable_bytes);
    return true;
}

static int ranges_compare(const void *a, const void *b) {
    const range_t *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void snapshot_take_ranges(snapshot_t *snapshot, jallocator_t *allocator) {
    ranges_t ranges = {0};
    /* Counted first, then taken: a visitor must not allocate, where malloc itself may be what is
     * visited. */
    jallocator_visit(allocator, ranges_visit, &ranges);
    ranges.capacity = ranges.count + snapshot->place_count;
    ranges.ranges = tool_allocate(ranges.capacity, sizeof *ranges.ranges);
    ranges.count = 0;
    jallocator_visit(allocator, ranges_visit, &ranges);
    for (size_t i = 0; i < snapshot->place_count; i++)
        ranges_add(&ranges, snapshot->places[i].address,
                   snapshot->places[i].address + snapshot->places[i].size_bytes);
    qsort(ranges.ranges, ranges.count, sizeof *ranges.ranges, ranges_compare);
    size_t kept = 0;
    for (size_t i = 0; i < ranges.count; i++)
        if (kept > 0 && ranges.ranges[i].begin <= ranges.ranges[kept - 1].end + RANGE_GAP_BYTES) {
            if (ranges.ranges[i].end > ranges.ranges[kept - 1].end)
                ranges.ranges[kept - 1].end = ranges.ranges[i].end;
        } else {
            ranges.ranges[kept++] = ranges.ranges[i];
        }
    snapshot->ranges = ranges.ranges;
    snapshot->range_count = kept;
}

/* ---- The moment ---- */

void snapshot_take(snapshot_t *snapshot, const player_t *player, size_t operation, owner_by_t by) {
    size_t peak_bytes;
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->reserved_bytes = player_reserved(player, &peak_bytes);
    snapshot->books_bytes = books_live_bytes();
    snapshot_take_places(snapshot, player, operation, by);
    snapshot_take_ranges(snapshot, player_provider(player));
}

void snapshot_free(snapshot_t *snapshot) {
    free(snapshot->owners);
    free(snapshot->places);
    free(snapshot->ranges);
    memset(snapshot, 0, sizeof *snapshot);
}
