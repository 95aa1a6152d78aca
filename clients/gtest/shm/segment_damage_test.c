/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Every word of a segment's bookkeeping, changed in turn: whoever attaches and works gets statuses,
 * never a signal, and nothing outside the segment is touched. The segment is an array between two
 * pages that trap. The fuzz targets do the same at random; here no word is left out.
 *
 * The image has two attachments in it, of this process, so their slots are those of living
 * processes. */

#include "segment_helper.h"

#include "../../fuzz/segment_exercise.h"
#include "shm/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 128 << 10, WAYS = 8 };

typedef struct damage {
    jsegment_options_t options;
    unsigned char *array;
    unsigned char image[BYTES];
    size_t end; /* of the bookkeeping */
    size_t slabs[16], slab_count;
    unsigned how;
} damage_t;

static bool note_slab(void *context, const jextent_t *extent) {
    damage_t *damage = context;
    if (extent->state == JEXTENT_HEADER)
        damage->end = extent->size_bytes;
    if (extent->state == JEXTENT_SLAB && damage->slab_count < COUNT_OF(damage->slabs))
        damage->slabs[damage->slab_count++] = extent->offset;
    return true;
}

/* A populated segment, and its image. */
static damage_t *damage_begin(exercise_population_t *population) {
    static damage_t damage;
    memset(&damage, 0, sizeof damage);
    damage.options = (jsegment_options_t)JSEGMENT_OPTIONS_INIT;
    damage.options.backend = JSEGMENT_ARRAY;
    damage.options.array = damage.array = jtest_guard_pages(BYTES);
    damage.options.size_bytes = BYTES;
    damage.options.max_processes = 4;
    damage.options.timeout_ms = 1;
    exercise_populate(&damage.options, population);
    segment_books(population->segments[0]);
    JEXPECT_OK(jsegment_visit(population->segments[0], note_slab, &damage));
    JEXPECT_GE(damage.slab_count, 2);
    memcpy(damage.image, damage.array, BYTES);
    return &damage;
}
/* The image again, and the attachments that are in it end. */
static void damage_end(damage_t *damage, exercise_population_t *population) {
    memcpy(damage->array, damage->image, BYTES);
    segment_books(population->segments[1]);
    JEXPECT_OK(jsegment_detach(population->segments[1]));
    JEXPECT_OK(jsegment_detach(population->segments[0]));
}

static uint64_t changed(uint64_t word, size_t place, unsigned how) {
    switch (how) {
    case 0: return 0;
    case 1: return ~(uint64_t)0;
    case 2: return word + 1;
    case 3: return word ^ (uint64_t)1 << (place / 8 * 7) % 64;
    case 4: return word ^ (uint64_t)1 << (32 + place / 8 % 8); /* lengths, links back */
    case 5: return word + ((uint64_t)1 << 32);
    case 6: return (word & ~(uint64_t)15) | place / 8 % 8; /* another state of an extent */
    default: return (uint64_t)place * UINT64_C(0x9E3779B97F4A7C15);
    }
}

static void change_each(peer_t *self, void *argument) {
    damage_t *damage = argument;
    (void)self;
    for (size_t region = 0; region <= damage->slab_count; ++region) {
        const size_t begin = region == 0 ? 0 : damage->slabs[region - 1];
        const size_t end = region == 0 ? damage->end : begin + 512;
        for (size_t place = begin; place < end; place += 8) {
            uint64_t word;
            memcpy(damage->array, damage->image, BYTES);
            memcpy(&word, damage->array + place, 8);
            const uint64_t other = changed(word, place, (unsigned)(place / 8 + damage->how) % WAYS);
            if (other == word)
                continue;
            memcpy(damage->array + place, &other, 8);
            exercise_segment(&damage->options, place + damage->how, 24);
        }
    }
}

/* Each run changes every word in one way, its neighbour in another; all runs together each word in
 * every way. */
static const unsigned ways[WAYS] = {0, 1, 2, 3, 4, 5, 6, 7};
JTEST_P(SegmentDamage, AWordThatChangedIsNoSignal, unsigned, ways) {
    if (*param >= jtest_iterations(1))
        JSKIP("for longer runs");
    exercise_population_t population;
    damage_t *damage = damage_begin(&population);
    damage->how = *param;
    PEER(peer, change_each, damage); /* a child, so that a crash is one test's failure */
    peer_end(&peer);
    damage_end(damage, &population);
}

/* The undo log of somebody who may have written anything there. It may change the bookkeeping, and
 * nothing else. */
static void follow_log(peer_t *self, void *argument) {
    damage_t *damage = argument;
    (void)self;
    shm_header_t *header = (shm_header_t *)(void *)damage->array;
    const shm_constants_t *constants = &header->constants;
    shm_log_entry_t *log = (shm_log_entry_t *)(void *)(damage->array + constants->log_offset);
    const uint64_t first_block = constants->first_page << SHM_PAGE_SHIFT;
    const struct {
        uint64_t count, offset;
    } rows[] = {{1, 0},
                {1, 8},
                {1, offsetof(shm_constants_t, checksum)},
                {1, offsetof(shm_header_t, lock)},
                {1, offsetof(shm_header_t, total_pages) + 4}, /* no word */
                {1, constants->log_offset},                   /* of the log itself */
                {1, constants->log_offset + 16},
                {1, first_block}, /* a caller's bytes */
                {1, BYTES - 8},
                {1, BYTES}, /* outside */
                {1, BYTES + 4096},
                {1, (uint64_t)1 << 40},
                {1, UINT64_MAX - 7},
                {1, UINT64_MAX - 4095},
                {SHM_LOG_ENTRIES + 1, 0},
                {(uint64_t)1 << 32, 0},
                {UINT64_MAX, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        JSCOPED_TRACE("%llu entries, the first of offset %llu", (unsigned long long)rows[i].count,
                      (unsigned long long)rows[i].offset);
        memcpy(damage->array, damage->image, BYTES);
        header->log_count = rows[i].count;
        log[0].offset = rows[i].offset;
        log[0].old_value = UINT64_C(0x1122334455667788);
        jsegment_t *segment = NULL;
        JEXPECT_STATUS(jsegment_attach(&damage->options, &segment), JSTATUS_CORRUPTED);
        JEXPECT_EQ(memcmp(damage->array, damage->image, sizeof(shm_constants_t)), 0);
        JEXPECT_EQ(
            memcmp(damage->array + first_block, damage->image + first_block, BYTES - first_block),
            0);
        JEXPECT_EQ(header->poisoned, 1);
    }
}
JTEST(SegmentDamage, AnUndoLogThatLeadsElsewhereIsNotFollowed) {
    exercise_population_t population;
    damage_t *damage = damage_begin(&population);
    PEER(peer, follow_log, damage);
    peer_end(&peer);
    damage_end(damage, &population);
}

/* What verify is for: damage to the page table, to lists and to slabs is found by looking. */
JTEST(SegmentDamage, VerifyFindsAWrongPageTable) {
    exercise_population_t population;
    damage_t *damage = damage_begin(&population);
    jsegment_t *segment = population.segments[0];
    shm_constants_t constants;
    memcpy(&constants, damage->array, sizeof constants);
    unsigned tried = 0;
    for (uint64_t page = constants.first_page; page < BYTES / SHM_PAGE_BYTES; ++page) {
        shm_page_t *entry = (shm_page_t *)(void *)(damage->array + constants.table_offset) + page;
        const uint64_t was = entry->word;
        static const uint64_t bits[] = {
            1, 2, 4, (uint64_t)1 << 32, (uint64_t)1 << 33, (uint64_t)1 << 40};
        for (size_t i = 0; i < COUNT_OF(bits); ++i) {
            entry->word = was ^ bits[i];
            const jstatus_t status = jsegment_verify(segment);
            if (status != JSTATUS_CORRUPTED)
                JFAIL("page %llu: %llx instead of %llx is not noticed", (unsigned long long)page,
                      (unsigned long long)entry->word, (unsigned long long)was);
            JEXPECT_GT(strlen(jstatus_last_message()), 20);
            ++tried;
        }
        entry->word = was;
    }
    JEXPECT_GT(tried, 50);
    shm_header_t *header = (shm_header_t *)(void *)damage->array;
    for (unsigned bin = 0; bin < SHM_BINS; ++bin) {
        /* Lists that lead elsewhere, bits that are not theirs. */
        const uint64_t was = header->bins[bin], bits = header->bin_bits[bin / 64];
        header->bins[bin] = was + 1;
        JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_CORRUPTED);
        header->bins[bin] = was;
        header->bin_bits[bin / 64] ^= (uint64_t)1 << bin % 64;
        JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_CORRUPTED);
        header->bin_bits[bin / 64] = bits;
    }
    for (size_t i = 0; i < damage->slab_count; ++i) {
        shm_slab_t *slab = (shm_slab_t *)(void *)(damage->array + damage->slabs[i]);
        slab->block_bytes += 16;
        JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_CORRUPTED);
        slab->block_bytes -= 16;
        slab->block_count -= 1;
        JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_CORRUPTED);
        slab->block_count += 1;
    }
    JEXPECT_OK(jsegment_verify(segment)); /* verify itself has not poisoned it */
    damage_end(damage, &population);
}

/* Damage that an operation meets is remembered for all: from then on nobody changes the segment. */
JTEST(SegmentDamage, WhatIsMetPoisonsTheSegment) {
    exercise_population_t population;
    damage_t *damage = damage_begin(&population);
    jshared_t *shared = shared_open(population.segments[0], 1),
              *others = shared_open(population.segments[1], 1);
    shm_header_t *header = (shm_header_t *)(void *)damage->array;
    for (unsigned bin = 0; bin < SHM_BINS; ++bin)
        if (header->bins[bin] != 0)
            header->bins[bin] = 1; /* the page of the header itself */
    joffset_t offset = 9;
    JEXPECT_STATUS(jshared_allocate(shared, 20000, 0, &offset), JSTATUS_CORRUPTED);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    JEXPECT_STATUS(jshared_allocate(others, 20000, 0, &offset), JSTATUS_CORRUPTED);
    JEXPECT_STATUS(jsegment_set_root(population.segments[1], "x", 8192), JSTATUS_CORRUPTED);
    jsegment_t *late = NULL;
    JEXPECT_STATUS(jsegment_attach(&damage->options, &late), JSTATUS_CORRUPTED);
    JEXPECT_STATUS(jsegment_verify(population.segments[0]), JSTATUS_CORRUPTED);
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    (void)jsegment_get_stats(population.segments[0], &stats);
    JEXPECT_TRUE(stats.poisoned);
    /* What can be read is read. */
    JEXPECT_OK(jsegment_get_root(population.segments[0], "root", &offset));
    damage_end(damage, &population);
}
