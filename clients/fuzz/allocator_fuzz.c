/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A fuzz target: the input is a stack of allocators and a sequence of operations on it.
 *
 *     byte 0, 1      the kinds of the stack, lowest first
 *     then, each     operation, slot, size (an exponent and a fraction), alignment
 *
 * Besides right calls there are wrong ones: pointers that are foreign, interior or freed already,
 * sizes that are not those asked for, memory below that gives out, bookkeeping memory that gives
 * out. After each the allocator must be as it was. What is wrong ends the program, which is what a
 * fuzzer looks for.
 *
 * With Clang this is a libFuzzer target (cmake -DJALLOC_FUZZ=ON). Without, it has a main of its own
 * that runs files, or a number of random inputs: allocator_fuzz COUNT [SEED]. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "jalloc/jalloc.h"

enum { SLOTS = 32 };

static const char *const stages[] = {
    "bfc",
    "bfc(limit=1M,region=4K)",
    "lru",
    "lru(layouts=2,bytes=8K)",
    "pool",
    "pool(rounding=none,count=3)",
    "stack",
    "small",
    "general",
    "guard",
    "track",
    "exact",
    "limit(limit=256K)",
    "fill",
    "align",
    "statistics",
};
enum { STAGES = sizeof stages / sizeof stages[0] };

/* Memory below, and bookkeeping, that can give out. */
static long below_left, metadata_left;

static jstatus_t below_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    if (below_left-- <= 0 || size_bytes > ((size_t)1 << 24))
        return JSTATUS_MEMORY_ERROR;
    *pointer = aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
    return *pointer != NULL ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}
static jstatus_t below_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}
static void *metadata_allocate(void *context, size_t size_bytes) {
    (void)context;
    return metadata_left-- > 0 ? malloc(size_bytes) : NULL;
}
static void metadata_deallocate(void *context, void *pointer) {
    (void)context;
    free(pointer);
}

typedef struct slot {
    unsigned char *pointer, *freed; /* freed: where the last block was */
    size_t size, freed_size;
} slot_t;

static void deallocate(jallocator_t *allocator, slot_t *slot) {
    for (size_t i = 0; i<slot->size; i += slot->size> 64 ? 61 : 1)
        FUZZ_DEMAND(slot->pointer[i] == (unsigned char)(slot->size + i));
    FUZZ_DEMAND(jallocator_deallocate(allocator, slot->pointer, slot->size, NULL) ==
                JSTATUS_SUCCESS);
    slot->freed = slot->pointer;
    slot->freed_size = slot->size;
    slot->pointer = NULL;
}

static void allocate(jallocator_t *allocator, slot_t *slot, size_t size, size_t alignment) {
    void *pointer;
    if (jallocator_allocate(allocator, size, alignment, NULL, &pointer) != JSTATUS_SUCCESS) {
        FUZZ_DEMAND(pointer == NULL);
        return;
    }
    FUZZ_DEMAND(((uintptr_t)pointer & (alignment - 1)) == 0);
    slot->pointer = pointer;
    slot->size = size;
    for (size_t i = 0; i < size; ++i)
        slot->pointer[i] = (unsigned char)(size + i);
}

static bool is_live(const slot_t slots[SLOTS], const unsigned char *pointer) {
    for (int i = 0; i < SLOTS; ++i)
        if (slots[i].pointer != NULL && slots[i].pointer == pointer)
            return true;
    return false;
}

static void misuse(jallocator_t *allocator, const slot_t slots[SLOTS], const slot_t *slot,
                   unsigned which) {
    static unsigned char foreign[64];
    if (which % 4 == 0)
        FUZZ_DEMAND(jallocator_deallocate(allocator, foreign, 64, NULL) != JSTATUS_SUCCESS);
    else if (which % 4 == 1 && slot->freed != NULL && !is_live(slots, slot->freed))
        FUZZ_DEMAND(jallocator_deallocate(allocator, slot->freed, slot->freed_size, NULL) !=
                    JSTATUS_SUCCESS);
    else if (which % 4 == 2 && slot->pointer != NULL && slot->size > 1)
        FUZZ_DEMAND(jallocator_deallocate(allocator, slot->pointer + 1, slot->size - 1, NULL) !=
                    JSTATUS_SUCCESS);
    else if (which % 4 == 3 && slot->pointer != NULL)
        FUZZ_DEMAND(jallocator_deallocate(allocator, slot->pointer, slot->size + 1 + which, NULL) !=
                    JSTATUS_SUCCESS);
}

static void compare(jallocator_t *allocator, const slot_t slots[SLOTS]) {
    size_t live = 0, bytes = 0;
    for (int i = 0; i < SLOTS; ++i) {
        live += slots[i].pointer != NULL;
        bytes += slots[i].pointer != NULL ? slots[i].size : 0;
    }
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    FUZZ_DEMAND(jallocator_get_stats(allocator, &stats) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(stats.live_count == live && stats.in_use_bytes == bytes);
    FUZZ_DEMAND(jallocator_check(allocator) == JSTATUS_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    const jmetadata_hooks_t hooks = {sizeof hooks, metadata_allocate, metadata_deallocate, NULL};
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = below_allocate, .deallocate = below_deallocate};
    slot_t slots[SLOTS];
    memset(slots, 0, sizeof slots);
    below_left = metadata_left = 1L << 40;
    FUZZ_DEMAND(jmetadata_set_hooks(&hooks) == JSTATUS_SUCCESS);
    (void)jlog_set_level(JLOG_OFF);
    char composition[80];
    snprintf(composition, sizeof composition, "%s+%s", stages[data[0] % STAGES],
             stages[data[1] % STAGES]);
    jallocator_t *below, *allocator;
    FUZZ_DEMAND(jallocator_create(&ops, NULL, NULL, &below) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jallocator_compose_over(below, composition, &allocator) == JSTATUS_SUCCESS);

    for (const uint8_t *end = data + size, *step = data + 2; end - step >= 4; step += 4) {
        slot_t *slot = &slots[step[1] % SLOTS];
        const size_t bytes = ((size_t)1 << (step[2] % 18)) +
                             ((size_t)step[2] * step[3]) % ((size_t)1 << (step[2] % 18));
        switch (step[0] % 16) {
        default:
            if (slot->pointer != NULL)
                deallocate(allocator, slot);
            else
                allocate(allocator, slot, bytes, (size_t)1 << (step[3] % 14));
            break;
        case 10: misuse(allocator, slots, slot, step[3]); break;
        case 11: below_left = step[2] % 8; break;
        case 12: metadata_left = step[2] % 8; break;
        case 13: below_left = metadata_left = 1L << 40; break;
        case 14:
            FUZZ_DEMAND(jallocator_trim(allocator, (size_t)step[2] << 10) == JSTATUS_SUCCESS);
            break;
        case 15: compare(allocator, slots); break;
        }
    }
    for (int i = 0; i < SLOTS; ++i)
        if (slots[i].pointer != NULL)
            deallocate(allocator, &slots[i]);
    compare(allocator, slots);
    FUZZ_DEMAND(jallocator_destroy(allocator) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jallocator_destroy(below) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jmetadata_set_hooks(NULL) == JSTATUS_SUCCESS); /* busy while bookkeeping is live */
    return 0;
}

#ifndef JALLOC_LIBFUZZER
int main(int argc, char **argv) { return fuzz_run(argc, argv, 4096); }
#endif
