/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FUZZ_SEGMENT_EXERCISE_H
#define JALLOC_CLIENTS_FUZZ_SEGMENT_EXERCISE_H

/* Every operation on a segment whose bytes may be anything. Nothing is expected to succeed; what is
 * demanded is that each call returns one of the statuses that it promises, that what it gives out
 * lies in the segment, and, by the guard pages around it and the sanitizers, that nothing else is
 * touched. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "jalloc/segment.h"

/* So many bytes between two pages that trap. */
static inline unsigned char *exercise_guarded(size_t bytes) {
    char *base = mmap(NULL, bytes + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FUZZ_DEMAND(base != MAP_FAILED && mprotect(base + 4096, bytes, PROT_READ | PROT_WRITE) == 0);
    return (unsigned char *)base + 4096;
}

/* A segment in them; whoever waits for its lock gives up soon. */
static inline jsegment_options_t exercise_options(unsigned char *array, size_t bytes) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_ARRAY;
    options.array = array;
    options.size_bytes = bytes;
    options.max_processes = 4;
    options.timeout_ms = 1;
    return options;
}

enum { EXERCISE_BLOCKS = 16 };

typedef struct exercise {
    jsegment_t *segment;
    jshared_t *shared[4];
    joffset_t blocks[EXERCISE_BLOCKS];
    uint64_t random; /* or the fuzzer's next bytes */
    unsigned busy;
} exercise_t;

static inline uint64_t exercise_draw(exercise_t *exercise) { /* splitmix64 */
    uint64_t z = exercise->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A status that some function of segments promises. */
static inline jstatus_t exercise_check(exercise_t *exercise, jstatus_t status) {
    switch (status) {
    case JSTATUS_BUSY: ++exercise->busy; return status;
    case JSTATUS_SUCCESS:
    case JSTATUS_CORRUPTED:
    case JSTATUS_MEMORY_ERROR:
    case JSTATUS_NOT_FOUND:
    case JSTATUS_INVALID_VALUE:
    case JSTATUS_INVALID_SIZE:
    case JSTATUS_INVALID_POINTER:
    case JSTATUS_EXISTS:
    case JSTATUS_PERMISSION:
    case JSTATUS_NO_SLOT:
    case JSTATUS_READ_ONLY:
    case JSTATUS_NOT_IMPLEMENTED:
    case JSTATUS_NOT_A_SEGMENT:
    case JSTATUS_INCOMPATIBLE:
    case JSTATUS_TRUNCATED:
    case JSTATUS_UNSAFE:
    case JSTATUS_STALE: return status;
    default:
        fprintf(stderr, "the status %s: %s\n", jstatus_name(status), jstatus_last_message());
        abort();
    }
}

static inline bool exercise_extent(void *context, const jextent_t *extent) {
    (void)extent;
    return ++*(unsigned *)context < 10000;
}
static inline void exercise_text(void *context, const char *text, size_t length) {
    (void)text;
    *(size_t *)context += length;
}

/* Looks at a segment in every way. */
static inline void exercise_look(exercise_t *exercise) {
    jsegment_t *segment = exercise->segment;
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    jsegment_process_t process = JSEGMENT_PROCESS_INIT;
    joffset_t offset = JOFFSET_NULL;
    unsigned count = 0;
    size_t length = 0;
    exercise_check(exercise, jsegment_verify(segment));
    exercise_check(exercise, jsegment_get_stats(segment, &stats));
    exercise_check(exercise, jsegment_visit(segment, exercise_extent, &count));
    exercise_check(exercise, jsegment_get_process(segment, 1, &process));
    exercise_check(exercise, jsegment_get_process(segment, 2, &process));
    exercise_check(exercise, jsegment_draw(segment, exercise_text, &length));
    static const char *const names[] = {"", "root", "other",
                                        "a name of 39 characters, the longest one"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (exercise_check(exercise, jsegment_get_root(segment, names[i], &offset)) ==
            JSTATUS_SUCCESS) {
            const volatile char *bytes = jsegment_pointer(segment, offset, 64);
            if (bytes != NULL)
                (void)bytes[63];
        }
    for (uint64_t id = 1; id <= 4; ++id) {
        jshared_t *shared = NULL;
        size_t bytes = 0;
        if (exercise_check(exercise, jshared_open(segment, id, &shared)) != JSTATUS_SUCCESS)
            continue;
        const volatile char *header = jshared_header(shared, &bytes);
        if (header != NULL && bytes > 0)
            (void)(header[0] + header[bytes - 1]);
        (void)jshared_close(shared);
    }
}

/* A block that was given out: its bytes are the caller's, so they are written. */
static inline void exercise_use(exercise_t *exercise, joffset_t offset, size_t size_bytes) {
    if (offset == JOFFSET_NULL)
        return;
    unsigned char *bytes = jsegment_pointer(exercise->segment, offset, size_bytes);
    if (bytes == NULL)
        return; /* what the segment says of its size has changed since */
    bytes[0] = bytes[size_bytes - 1] = (unsigned char)offset;
}

/* One operation that changes something. */
static inline void exercise_change(exercise_t *exercise) {
    const uint64_t draw = exercise_draw(exercise);
    joffset_t *block = &exercise->blocks[(draw >> 8) % EXERCISE_BLOCKS], many[8];
    jshared_t **shared = &exercise->shared[(draw >> 16) % 4];
    const size_t size = 1 + (size_t)((draw >> 24) % ((uint64_t)1 << (1 + (draw >> 48) % 17)));
    uint64_t mark = 0;
    if (*shared == NULL) {
        jshared_options_t options = JSHARED_OPTIONS_INIT;
        const uint64_t id = 1 + (draw >> 16) % 4;
        options.kind = (jshared_kind_t)((draw >> 60) % 3);
        options.header_bytes = (draw >> 59) % 2 ? 100 : 0;
        options.page_bytes = options.kind == JSHARED_PAGES ? 100 : 0;
        options.region_bytes = options.kind == JSHARED_STACK ? 5000 : 0;
        if (exercise_check(exercise, jshared_open(exercise->segment, id, shared)) !=
                JSTATUS_SUCCESS &&
            exercise_check(exercise, jshared_create(exercise->segment, id, &options, shared)) !=
                JSTATUS_SUCCESS)
            return;
    }
    switch (draw % 20) {
    default:
        if (exercise_check(exercise, jshared_allocate(*shared, size, (draw >> 5) % 8 ? 0 : 64,
                                                      block)) == JSTATUS_SUCCESS)
            exercise_use(exercise, *block, size);
        break;
    case 8:
    case 9:
    case 10:
    case 11: exercise_check(exercise, jshared_deallocate(*shared, *block)); break;
    case 12: exercise_check(exercise, jshared_deallocate(*shared, draw >> 40)); break;
    case 13:
        if (exercise_check(exercise, jshared_reallocate(*shared, block, size, 0)) ==
            JSTATUS_SUCCESS)
            exercise_use(exercise, *block, size);
        break;
    case 14:
        if (exercise_check(exercise, jshared_allocate_many(*shared, 1 + size % 3000, 0, 8, many)) ==
            JSTATUS_SUCCESS) {
            exercise_use(exercise, many[7], 1 + size % 3000);
            exercise_check(exercise, jshared_deallocate_many(*shared, 8, many));
        }
        break;
    case 15:
        exercise_check(exercise, jshared_give(*shared, *block,
                                              (draw >> 40) % 2 ? JSEGMENT_SLOT_SEGMENT
                                                               : 1 + (unsigned)(draw >> 41) % 3));
        break;
    case 16: exercise_check(exercise, jsegment_set_root(exercise->segment, "other", *block)); break;
    case 17: {
        size_t usable = 0;
        unsigned owner = 0;
        if (exercise_check(exercise, jshared_describe(*shared, *block, &usable, &owner)) ==
            JSTATUS_SUCCESS)
            exercise_use(exercise, *block, usable > 0 ? usable : 1);
        break;
    }
    case 18:
        if ((draw >> 40) % 4 == 0 &&
            exercise_check(exercise, jshared_destroy(*shared)) == JSTATUS_SUCCESS)
            *shared = NULL;
        else if ((draw >> 42) % 4 == 0 &&
                 exercise_check(exercise, jshared_close(*shared)) == JSTATUS_SUCCESS)
            *shared = NULL;
        else if (jshared_kind(*shared) == JSHARED_STACK &&
                 exercise_check(exercise, jshared_get_mark(*shared, &mark)) == JSTATUS_SUCCESS)
            exercise_check(exercise, jshared_rewind(*shared, (draw >> 44) % 2 ? mark : draw >> 50));
        break;
    case 19:
        exercise_check(exercise, (draw >> 40) % 2
                                     ? jsegment_recover(exercise->segment, NULL)
                                     : jsegment_grow(exercise->segment, (size_t)(draw >> 44)));
        break;
    }
}

/* Attaches, looks, works, looks, leaves. How many operations had to wait for nothing bounds the
 * time. */
static inline void exercise_segment(const jsegment_options_t *options, uint64_t random,
                                    unsigned operations) {
    exercise_t exercise = {.random = random};
    jsegment_options_t reading = *options;
    reading.read_only = true;
    if (exercise_check(&exercise, jsegment_attach(&reading, &exercise.segment)) ==
        JSTATUS_SUCCESS) {
        exercise_look(&exercise);
        exercise_check(&exercise, jsegment_detach(exercise.segment));
    }
    if (exercise_check(&exercise, jsegment_attach(options, &exercise.segment)) != JSTATUS_SUCCESS)
        return;
    exercise_look(&exercise);
    for (unsigned i = 0; i < operations && exercise.busy < 8; ++i)
        exercise_change(&exercise);
    exercise_look(&exercise);
    exercise_check(&exercise, jsegment_detach(exercise.segment));
}

/* A segment with some of everything in it, of 3 slots; two attachments stay in it, as if two
 * processes lived. */
typedef struct exercise_population {
    jsegment_t *segments[2];
} exercise_population_t;
static inline void exercise_populate(const jsegment_options_t *options,
                                     exercise_population_t *population) {
    joffset_t offset, many[60];
    jshared_t *general, *pages, *stack, *others;
    jshared_options_t kinds = JSHARED_OPTIONS_INIT;
    FUZZ_DEMAND(jsegment_create(options, &population->segments[0]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_attach(options, &population->segments[1]) == JSTATUS_SUCCESS);
    jsegment_t *segment = population->segments[0];
    kinds.header_bytes = 100;
    FUZZ_DEMAND(jshared_create(segment, 1, &kinds, &general) == JSTATUS_SUCCESS);
    kinds.header_bytes = 0;
    kinds.kind = JSHARED_PAGES;
    kinds.page_bytes = 96;
    FUZZ_DEMAND(jshared_create(segment, 2, &kinds, &pages) == JSTATUS_SUCCESS);
    kinds.kind = JSHARED_STACK;
    kinds.region_bytes = 6000;
    FUZZ_DEMAND(jshared_create(segment, 3, &kinds, &stack) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_open(population->segments[1], 1, &others) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate_many(general, 48, 0, 60, many) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_deallocate_many(others, 20, many) == JSTATUS_SUCCESS); /* from afar */
    FUZZ_DEMAND(jshared_give(general, many[30], JSEGMENT_SLOT_SEGMENT) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_give(general, many[31], jsegment_slot(population->segments[1])) ==
                JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_set_root(segment, "root", many[30]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(pages, 96, 0, &offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(stack, 1000, 0, &offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(general, 12000, 0, &offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_set_root(segment, "other", offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(others, 9000, 0, &offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_give(others, offset, JSEGMENT_SLOT_SEGMENT) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(others, 9000, 0, &offset) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_allocate(others, 700, 0, &many[0]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jshared_deallocate(others, offset) == JSTATUS_SUCCESS); /* into its cache */
}

#endif
