/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A trace of several allocators: which of them are replayed.
 *
 * A program whose every allocator is recorded writes what the policy gave, and before it what the
 * policy took from its provider. To replay both would count the memory twice. So what stands on top
 * is replayed: an allocator is below another if one of the other's blocks, when it was allocated,
 * lay in an older live block of the first.
 *
 *     provider  |------------------ 1 MiB ------------------|        below
 *     bfc       |-- 4 KiB --|       |--- 64 KiB ---|                 on top
 *
 * A few blocks of each tell; looking at all pairs would cost the square of the rows. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/tool.h"
#include "trace.h"

#define CHOOSE_PROBES 16 /* blocks of an allocator that are looked at */

/* Marks the allocators that have a live block around the beginning of this one. */
static void choose_mark_below(const trace_t *trace, const block_t *inner, bool *below) {
    for (size_t i = 0; i < trace->block_count; i++) {
        const block_t *outer = &trace->blocks[i];
        if (outer->allocated_by >= inner->allocated_by)
            break;
        if (outer->allocator != inner->allocator && outer->address != 0 &&
            outer->freed_by > inner->allocated_by &&
            inner->address - outer->address < outer->size_bytes)
            below[outer->allocator] = true;
    }
}

static void choose_tops(trace_t *trace) {
    uint32_t count = trace->allocators.count;
    size_t *blocks = tool_allocate(count, sizeof *blocks),
           *seen = tool_allocate(count, sizeof *seen);
    bool *below = tool_allocate(count, sizeof *below), any = false;
    for (size_t i = 0; i < trace->block_count; i++)
        blocks[trace->blocks[i].allocator]++;
    for (size_t i = 0; i < trace->block_count; i++) {
        const block_t *block = &trace->blocks[i];
        size_t stride = blocks[block->allocator] / CHOOSE_PROBES + 1;
        if (seen[block->allocator]++ % stride == 0 && block->address != 0)
            choose_mark_below(trace, block, below);
    }
    for (uint32_t i = 0; i < count; i++)
        any = any || (blocks[i] > 0 && !below[i]);
    for (uint32_t i = 0; i < count; i++)
        trace->chosen[i] = blocks[i] > 0 && !(any && below[i]);
    free(blocks);
    free(seen);
    free(below);
}

_Noreturn static void choose_refuse(const trace_t *trace, const char *allocator) {
    char names[400] = "";
    size_t length = 0;
    for (uint32_t i = 1; i < trace->allocators.count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, " %s",
                                   trace->allocators.names[i]);
    tool_refuse("%s: no allocator of the trace is named '%s'; there are:%s%s", trace->path,
                allocator, length ? names : " none with a name",
                length < sizeof names ? "" : " ...");
}

static void choose_by_name(trace_t *trace, const char *allocator) {
    bool any = false;
    for (uint32_t i = 0; i < trace->allocators.count; i++) {
        trace->chosen[i] = strcmp(trace->allocators.names[i], allocator) == 0;
        any = any || trace->chosen[i];
    }
    if (!any)
        choose_refuse(trace, allocator);
}

/* Removes the operations and blocks of the others; blocks and operations are numbered anew. */
static void choose_drop_others(trace_t *trace) {
    uint32_t *renumbered = tool_allocate(trace->operation_count, sizeof *renumbered);
    uint32_t *renumbered_block = tool_allocate(trace->block_count, sizeof *renumbered_block);
    size_t kept = 0, kept_blocks = 0;
    for (size_t i = 0; i < trace->block_count; i++)
        renumbered_block[i] =
            trace->chosen[trace->blocks[i].allocator] ? (uint32_t)kept_blocks++ : NEVER;
    for (size_t i = 0; i < trace->operation_count; i++) {
        uint32_t block = renumbered_block[trace->operations[i].block];
        if (block == NEVER)
            continue;
        renumbered[i] = (uint32_t)kept;
        trace->operations[kept] = trace->operations[i];
        trace->operations[kept].block = block;
        trace->times_ns[kept] = trace->times_ns[i];
        trace->threads[kept++] = trace->threads[i];
    }
    for (size_t i = 0; i < trace->block_count; i++)
        if (renumbered_block[i] != NEVER) {
            block_t block = trace->blocks[i];
            block.allocated_by = renumbered[block.allocated_by];
            block.freed_by = block.freed_by == NEVER ? NEVER : renumbered[block.freed_by];
            trace->blocks[renumbered_block[i]] = block;
        }
    trace->operation_count = kept;
    trace->block_count = kept_blocks;
    free(renumbered);
    free(renumbered_block);
}

static void choose_count(trace_t *trace) {
    for (size_t i = 0; i < trace->operation_count; i++) {
        const operation_t *operation = &trace->operations[i];
        if (operation->action == ACTION_FAILURE) {
            trace->failure_count++;
        } else if (operation->action == ACTION_FREE) {
            trace->free_count++;
            trace->live_bytes -= operation->size_bytes;
        } else {
            trace->allocation_count++;
            trace->live_bytes += operation->size_bytes;
            if (trace->live_bytes > trace->peak_live_bytes) {
                trace->peak_live_bytes = trace->live_bytes;
                trace->peak_at = i;
            }
        }
    }
    trace->live_count = trace->allocation_count - trace->free_count;
}

void trace_choose(trace_t *trace, const char *allocator) {
    trace->chosen = tool_allocate(trace->allocators.count, sizeof *trace->chosen);
    if (allocator)
        choose_by_name(trace, allocator);
    else
        choose_tops(trace);
    choose_drop_others(trace);
    choose_count(trace);
}
