/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h" /* of jalloc-replay */

enum { FIXED_EVENTS = 2048, MIX_EVENTS = 16384 }; /* of a script: 16 KiB stay in the first cache */

static void *grown(void *array, size_t bytes) {
    void *larger = realloc(array, bytes);
    if (!larger) {
        perror("bench_allocators");
        exit(1);
    }
    return larger;
}

static void add(script_t *script, event_t event) {
    if (script->count == script->capacity) {
        script->capacity = 2 * script->capacity + 1024;
        script->events = grown(script->events, script->capacity * sizeof *script->events);
    }
    script->events[script->count++] = event;
}

static void add_allocate(script_t *script, size_t slot, size_t bytes) {
    if (slot >= script->slots) {
        script->live = grown(script->live, (slot + 1) * sizeof *script->live);
        memset(script->live + script->slots, 0, (slot + 1 - script->slots) * sizeof *script->live);
        script->slots = slot + 1;
    }
    script->live[slot] = (uint32_t)bytes;
    script->live_bytes += bytes;
    if (script->live_bytes > script->peak_bytes)
        script->peak_bytes = script->live_bytes;
    add(script, (event_t){(uint32_t)slot, (uint32_t)bytes});
}

static void add_free(script_t *script, size_t slot) {
    add(script, (event_t){(uint32_t)slot | SCRIPT_FREE, script->live[slot]});
    script->live_bytes -= script->live[slot];
    script->live[slot] = 0;
}

static void add_free_all(script_t *script) {
    for (size_t slot = 0; slot < script->slots; slot++)
        if (script->live[slot] != 0)
            add_free(script, slot);
}

static uint64_t random_state = 20261121;

static size_t random_below(size_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((random_state >> 33) % bound);
}

static double random_unit(void) {
    return (double)random_below((size_t)1 << 30) / (double)(1 << 30);
}

script_t script_pair(size_t bytes) {
    script_t script = {.name = "pair"};
    while (script.count < FIXED_EVENTS) {
        add_allocate(&script, 0, bytes);
        add_free(&script, 0);
    }
    return script;
}

script_t script_random_order(size_t bytes, size_t blocks) {
    script_t script = {0};
    snprintf(script.name, sizeof script.name, "%zu live", blocks);
    size_t *order = grown(NULL, blocks * sizeof *order);
    while (script.count < FIXED_EVENTS) {
        for (size_t i = 0; i < blocks; i++) {
            add_allocate(&script, i, bytes);
            order[i] = i;
        }
        for (size_t left = blocks; left > 0; left--) {
            size_t chosen = random_below(left);
            add_free(&script, order[chosen]);
            order[chosen] = order[left - 1];
        }
    }
    free(order);
    return script;
}

script_t script_burst(size_t bytes, size_t blocks) {
    script_t script = {0};
    snprintf(script.name, sizeof script.name, "bursts of %zu", blocks);
    while (script.count < FIXED_EVENTS) {
        for (size_t i = 0; i < blocks; i++)
            add_allocate(&script, i, bytes);
        add_free_all(&script);
    }
    return script;
}

void script_halves(size_t bytes, size_t layouts, size_t blocks, script_t *allocate,
                   script_t *release) {
    script_t whole = {0};
    for (size_t i = 0; i < blocks; i++)
        add_allocate(&whole, i, bytes + i % layouts * bytes);
    add_free_all(&whole);
    *allocate = (script_t){.name = "allocate", .slots = whole.slots};
    *release = (script_t){.name = "release", .slots = whole.slots};
    for (size_t i = 0; i < whole.count; i++)
        add(i < blocks ? allocate : release, whole.events[i]);
    script_free(&whole);
}

script_t script_mix(const char *name, size_t least_bytes, size_t most_bytes, size_t blocks) {
    script_t script = {0};
    snprintf(script.name, sizeof script.name, "%s", name);
    double range = log2((double)most_bytes / (double)least_bytes);
    for (size_t i = 0; script.count < MIX_EVENTS; i++) {
        size_t slot = i < blocks ? i : random_below(blocks);
        if (i >= blocks)
            add_free(&script, slot);
        add_allocate(&script, slot, (size_t)((double)least_bytes * exp2(range * random_unit())));
    }
    add_free_all(&script);
    return script;
}

bool script_read(const char *path, script_t *script) {
    trace_t trace;
    trace_read(&trace, path, NULL); /* says what is wrong with a file, and exits */
    *script = (script_t){0};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(script->name, sizeof script->name, "%.*s", (int)strcspn(base, "."), base);

    /* A slot is used again as soon as its block is freed, so they stay few. */
    uint32_t *slot_of = grown(NULL, (trace.block_count + 1) * sizeof *slot_of), *spare = NULL;
    size_t spare_count = 0;
    bool good = true;
    for (size_t i = 0; good && i < trace.operation_count; i++) {
        const operation_t *operation = &trace.operations[i];
        if (operation->action == ACTION_ALLOCATE) {
            good = operation->size_bytes <= UINT32_MAX && script->slots < SCRIPT_FREE;
            slot_of[operation->block] =
                spare_count > 0 ? spare[--spare_count] : (uint32_t)script->slots;
            add_allocate(script, slot_of[operation->block], operation->size_bytes);
        } else if (operation->action == ACTION_FREE) {
            add_free(script, slot_of[operation->block]);
            spare = grown(spare, script->slots * sizeof *spare);
            spare[spare_count++] = slot_of[operation->block];
        }
    }
    if (!good)
        fprintf(stderr, "bench_allocators: %s: a block of more than 4 GiB\n", path);
    script->played = script->count;
    add_free_all(script);
    free(slot_of);
    free(spare);
    trace_free(&trace);
    return good;
}

void script_free(script_t *script) {
    free(script->events);
    free(script->live);
    *script = (script_t){0};
}
