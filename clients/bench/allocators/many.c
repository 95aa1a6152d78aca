/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "many.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jalloc/allocator.h"

enum { ROUNDS = 3, LEAST_BYTES = 16, MOST_BYTES = 256 };
enum { FILLED, DRAINED, REPLACED, ALL, PHASES };
static const char *const phase_names[PHASES] = {"filled", "drained", "replaced", "all"};

/* The first is the C library's. */
static const char *const rows[] = {"malloc of C", "general", "malloc", "pool", "lru", "bfc"};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct block {
    char *pointer;
    size_t bytes;
} block_t;

typedef struct field {
    jallocator_t *allocator; /* NULL: the C library's malloc */
    block_t *blocks;
    size_t count;
    uint64_t random; /* xorshift (Marsaglia 2003): the same for everybody */
    bool refused;
} field_t;

static uint64_t next_random(field_t *field) {
    field->random ^= field->random << 13;
    field->random ^= field->random >> 7;
    return field->random ^= field->random << 17;
}

static void allocate(field_t *field, block_t *block) {
    void *pointer = NULL;
    block->bytes = LEAST_BYTES + next_random(field) % (MOST_BYTES - LEAST_BYTES + 1);
    if (field->allocator == NULL)
        pointer = malloc(block->bytes);
    else
        (void)jallocator_allocate(field->allocator, block->bytes, 0, NULL, &pointer);

    block->pointer = pointer;
    if (pointer != NULL)
        *block->pointer = 1;
    else
        field->refused = true;
}

static void release(field_t *field, const block_t *block) {
    if (field->allocator == NULL)
        free(block->pointer);
    else if (jallocator_deallocate(field->allocator, block->pointer, block->bytes, NULL) !=
             JSTATUS_SUCCESS)
        field->refused = true;
}

/* Processor time, of the system's for this process as well: whoever touches more memory pays. */
static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static double fill(field_t *field) {
    const double start = now_ns();
    for (size_t i = 0; i < field->count; i++)
        allocate(field, &field->blocks[i]);
    return now_ns() - start;
}

static double drain(field_t *field) {
    const double start = now_ns();
    for (size_t i = 0; i < field->count; i++)
        release(field, &field->blocks[i]);
    return now_ns() - start;
}

static double replace(field_t *field) {
    const double start = now_ns();
    for (size_t i = 0; i < field->count; i++) {
        block_t *block = &field->blocks[next_random(field) % field->count];
        release(field, block);
        allocate(field, block);
    }
    return now_ns() - start;
}

static bool play(const char *name, field_t *field, double ns[PHASES]) {
    field->allocator = NULL;
    field->random = 88172645463325252u;
    if (name != rows[0] &&
        jallocator_compose(jdevice_host(), name, &field->allocator) != JSTATUS_SUCCESS)
        return false;

    ns[FILLED] = fill(field);
    ns[DRAINED] = drain(field);
    const double filled = fill(field);
    ns[REPLACED] = replace(field);
    ns[ALL] = ns[FILLED] + ns[DRAINED] + filled + ns[REPLACED] + drain(field);

    const double operations = (double)field->count;
    ns[FILLED] /= operations;
    ns[DRAINED] /= operations;
    ns[REPLACED] /= 2 * operations;
    ns[ALL] /= 6 * operations;
    return field->allocator == NULL || jallocator_destroy(field->allocator) == JSTATUS_SUCCESS;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool many_run(size_t blocks, table_t *times) {
    static double ns[ROWS][ROUNDS][PHASES];
    field_t field = {.blocks = calloc(blocks, sizeof *field.blocks), .count = blocks};
    bool good = field.blocks != NULL;
    for (size_t round = 0; good && round < ROUNDS; round++)
        for (size_t r = 0; good && r < ROWS; r++)
            good = play(rows[r], &field, ns[r][round]);

    *times = (table_t){.rows = ROWS, .columns = PHASES, .decimals = 1};
    for (size_t r = 0; good && r < ROWS; r++) {
        times->row[r] = rows[r];
        times->peer[r] = r == 0;
        for (size_t phase = 0; phase < PHASES; phase++) {
            double samples[ROUNDS];
            for (size_t round = 0; round < ROUNDS; round++)
                samples[round] = ns[r][round][phase];
            qsort(samples, ROUNDS, sizeof *samples, compare);
            times->value[r][phase] = samples[ROUNDS / 2];
        }
    }

    for (size_t phase = 0; phase < PHASES; phase++)
        snprintf(times->column[phase], sizeof times->column[phase], "%s", phase_names[phase]);
    free(field.blocks);
    return good && !field.refused;
}
