/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a process has taken does not grow with the time that it runs: a trace of a program is played
 * two hundred times, and after the last round hardly more is reserved, in core, or in bookkeeping
 * than in the first ones.
 *
 *     round      0 ... 50          | 51 ... 199
 *     reserved   warms up; caches  | at most what it was and a quarter
 *
 * Best fit comes to rest slowly: a round begins where the last one has left it, and some find no
 * place for what others had one for (one or two per cent more after hundreds of rounds, once in a
 * while a region). A pool's limit grows by a tenth at a time as long as that saves evictions, here
 * for ninety rounds. Each page of a block is written, so that what is reserved is in core. */

#include "allocator_helper.h"
#include "jtest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 200, MOST_OPERATIONS = 10000, PAGE_BYTES = 4096, LEAK_BYTES = 128 << 10 };
/* Of what is in core beside: pages of the program and of the C library's heap that are touched for
 * the first time later. */
#define SLACK_BYTES ((size_t)256 << 10)

typedef struct operation {
    size_t size_bytes, alignment;
    uint32_t block; /* which: from 0, below the count of operations */
    bool frees;
} operation_t;
typedef struct trace {
    operation_t operations[MOST_OPERATIONS];
    size_t count;
} trace_t;

/* A block of the trace is a number there. */
static void read_trace(trace_t *trace, const char *file) {
    char line[256], action[32];
    FILE *stream = fopen(file, "re");
    trace->count = 0;
    if (stream == NULL) {
        JFAIL("%s cannot be read", file);
        return;
    }
    while (fgets(line, sizeof line, stream) != NULL) {
        uint64_t block;
        operation_t operation = {0};
        if (sscanf(line, "%*u,%*u,%31[a-z],%" SCNx64 ",%zu,%*[^,],%zu", action, &block,
                   &operation.size_bytes, &operation.alignment) != 4 ||
            block >= MOST_OPERATIONS || trace->count == MOST_OPERATIONS)
            continue; /* the heading */
        operation.block = (uint32_t)block;
        operation.frees = action[0] == 'f';
        trace->operations[trace->count++] = operation;
    }
    fclose(stream);
}

typedef struct held {
    unsigned char *pointer;
    size_t size_bytes;
} held_t;

/* From nothing live to nothing live. */
static void play(jallocator_t *allocator, const trace_t *trace) {
    static held_t held[MOST_OPERATIONS];
    for (size_t i = 0; i < trace->count; ++i) {
        const operation_t *operation = &trace->operations[i];
        held_t *block = &held[operation->block];
        if (operation->frees) {
            give(allocator, block->pointer, block->size_bytes);
            *block = (held_t){0};
            continue;
        }
        void *pointer = NULL;
        JEXPECT_OK(jallocator_allocate(allocator, operation->size_bytes, operation->alignment, NULL,
                                       &pointer));
        *block = (held_t){pointer, operation->size_bytes};
        for (size_t at = 0; pointer != NULL && at < block->size_bytes; at += PAGE_BYTES)
            block->pointer[at] = 1;
    }
    for (size_t i = 0; i < MOST_OPERATIONS; ++i) {
        give(allocator, held[i].pointer, held[i].size_bytes);
        held[i] = (held_t){0};
    }
}

typedef struct taken {
    size_t reserved_bytes, core_bytes, bookkeeping_count;
} taken_t;

static size_t core_bytes(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%*u %zu", &pages) != 1)
        JFAIL("/proc/self/statm cannot be read");
    if (file != NULL)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}
static taken_t taken(jallocator_t *provider) {
    return (taken_t){stats_of(provider).in_use_bytes, core_bytes(), jtest_metadata_live_count()};
}

typedef struct subject {
    const char *composition, *provider;
    int warm_rounds;
} subject_t;

typedef struct growth {
    taken_t warm, last;
} growth_t;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* What is taken at most in the first rounds (at any moment more or fewer pages may have gone back
 * to the system), and after the last one; a block of `leak_bytes` is lost in each. */
static growth_t play_rounds(const subject_t *subject, size_t leak_bytes) {
    static trace_t trace;
    static void *lost[ROUNDS];
    growth_t growth = {0};
    jallocator_t *provider = NULL, *allocator = NULL;
    read_trace(&trace, JALLOC_TEST_TRACES "/training_scratch.csv");
    JEXPECT_GT(trace.count, 5000);
    JEXPECT_OK(jallocator_compose(NULL, subject->provider, &provider));
    JEXPECT_OK(jallocator_compose_over(provider, subject->composition, &allocator));
    for (int round = 0; round < ROUNDS && !jtest_has_failure(); ++round) {
        if (round <= subject->warm_rounds) {
            const taken_t now = taken(provider);
            growth.warm.reserved_bytes = larger(growth.warm.reserved_bytes, now.reserved_bytes);
            growth.warm.core_bytes = larger(growth.warm.core_bytes, now.core_bytes);
            growth.warm.bookkeeping_count = now.bookkeeping_count;
        }
        lost[round] = leak_bytes != 0 ? take(allocator, leak_bytes) : NULL;
        for (size_t at = 0; at < leak_bytes; at += PAGE_BYTES)
            ((unsigned char *)lost[round])[at] = 1;
        play(allocator, &trace);
    }
    growth.last = taken(provider);
    for (int round = 0; round < ROUNDS; ++round)
        give(allocator, lost[round], leak_bytes);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(provider));
    return growth;
}

static size_t most_bytes(const growth_t *growth) { return growth->warm.reserved_bytes / 4; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool core_is_ours = false; /* shadow, and what is freed is kept for a while */
#else
static const bool core_is_ours = true;
#endif

/* Large blocks go through "small" to its provider, and mmap would be slow. */
static const subject_t subjects[] = {{"general", "mmap", 50},
                                     {"bfc", "mmap", 50},
                                     {"pool", "mmap", 100},
                                     {"lru", "mmap", 10},
                                     {"small", "malloc", 10}};
static void subject_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const subject_t *)parameter)->composition);
}

JTEST_P_NAMED(Creep, ATracePlayedManyTimesTakesHardlyMoreThanAtFirst, subject_t, subjects,
              subject_label) {
    const growth_t growth = play_rounds(param, 0);
    JEXPECT_LE(growth.last.reserved_bytes, growth.warm.reserved_bytes + most_bytes(&growth));
    JEXPECT_LE(growth.last.bookkeeping_count,
               growth.warm.bookkeeping_count + growth.warm.bookkeeping_count / 4);
    if (core_is_ours)
        JEXPECT_LE(growth.last.core_bytes,
                   growth.warm.core_bytes + most_bytes(&growth) + SLACK_BYTES);
}

/* The planted bug: a little is lost in each round. The check above must see it. */
JTEST(CreepOfTheTest, ALittleLostInEachRoundIsSeen) {
    const growth_t growth = play_rounds(&subjects[0], LEAK_BYTES);
    JEXPECT_GT(growth.last.reserved_bytes, growth.warm.reserved_bytes + most_bytes(&growth));
    if (core_is_ours)
        JEXPECT_GT(growth.last.core_bytes,
                   growth.warm.core_bytes + most_bytes(&growth) + SLACK_BYTES);
}
