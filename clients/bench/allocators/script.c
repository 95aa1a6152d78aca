/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double random_unit(void) { return (double)random_below((size_t)1 << 30) / (double)(1 << 30); }

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

void script_halves(size_t bytes, size_t layouts, size_t blocks, script_t *allocate, script_t *release) {
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

/* One line of a trace. False: it is none that can be played. */
static bool read_line(script_t *script, char *line, size_t most_blocks) {
    char *field[6], *rest = line; /* Thread,Time,Action,Pointer,Size,Stream... */
    for (int i = 0; i < 6; i++)
        if ((field[i] = strsep(&rest, ",")) == NULL)
            return false;
    bool allocates = strcmp(field[2], "allocate") == 0;
    unsigned long long block = strtoull(field[3], NULL, 16), bytes = strtoull(field[4], NULL, 10);
    if ((!allocates && strcmp(field[2], "free") != 0) || block >= most_blocks || bytes == 0 || bytes > UINT32_MAX)
        return false;
    bool is_live = block < script->slots && script->live[block] != 0;
    if (allocates == is_live || (is_live && script->live[block] != bytes))
        return false;
    if (allocates)
        add_allocate(script, block, bytes);
    else
        add_free(script, block);
    return true;
}

bool script_read(const char *path, script_t *script) {
    static const char columns[] = "Thread,Time,Action,Pointer,Size,Stream";
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return false;
    }
    *script = (script_t){0};
    const char *base = strrchr(path, '/');
    snprintf(script->name, sizeof script->name, "%.*s", (int)strcspn(base ? base + 1 : path, "."),
             base ? base + 1 : path);
    char *line = NULL;
    size_t capacity = 0, number = 1;
    bool good = getline(&line, &capacity, file) > 0 && strncmp(line, columns, sizeof columns - 1) == 0;
    while (good && getline(&line, &capacity, file) > 0)
        good = read_line(script, line, (size_t)1 << 24) && ++number;
    if (!good)
        fprintf(stderr, "%s:%zu: not a line of a trace with numbered blocks\n", path, number);
    free(line);
    fclose(file);
    add_free_all(script);
    if (!good)
        script_free(script);
    return good;
}

void script_free(script_t *script) {
    free(script->events);
    free(script->live);
    *script = (script_t){0};
}
