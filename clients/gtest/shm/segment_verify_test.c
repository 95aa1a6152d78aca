/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a segment's own checks say: damage of each kind is planted once, and verify, whoever looks,
 * the reaper and whoever attaches must find it for the right reason, that is by its message; a
 * lock, a gate and an undo log that others have left in the way are told as what they are. Damage
 * of every word in turn is segment_damage_test.c's. */

#include "segment_tables.h"

#include "shm/shm.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A segment with an example of each kind of extent, its pages, and how it was. */
typedef struct scene {
    jsegment_t *segment, *second;
    jshared_t *shared, *others;
    /* Pages: an extent, one in a cache, four slabs. */
    uint64_t block, cached, own, given, linked, orphan;
    uint64_t free; /* the longest free extent */
    /* Of a live block of that slab; of one freed from afar. */
    uint32_t own_index, linked_index;
    unsigned char image[MIB];
} scene_t;

/* Of the slab that contains an offset. */
static uint64_t slab_of(const scene_t *scene, joffset_t offset, uint32_t *index) {
    const uint64_t page = ji_slab_containing(scene->segment, offset >> SHM_PAGE_SHIFT);
    shm_geometry_t geometry;
    if (!ji_slab_at(scene->segment, page, shm_page_word(scene->segment, page), &geometry))
        JFAIL("offset %llu lies in no slab", (unsigned long long)offset);
    else if (index != NULL)
        *index = (uint32_t)((offset - (page << SHM_PAGE_SHIFT) - geometry.first_offset) /
                            geometry.block_bytes);
    return page;
}

static scene_t *scene_make(place_t *place) {
    static scene_t scene;
    memset(&scene, 0, sizeof scene);
    place->options.max_processes = 4;
    place->options.timeout_ms = 50;
    scene.segment = place_create(place);
    scene.second = place_attach(place);
    jsegment_t *third = place_attach(place);
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    options.kind = JSHARED_STACK;
    options.header_bytes = 100;
    options.region_bytes = 6000;
    jshared_t *stack = NULL;
    scene.shared = shared_make(scene.segment, 1);
    JEXPECT_OK(jshared_create(scene.segment, 2, &options, &stack));
    scene.others = shared_open(scene.second, 1);
    jshared_t *leaving = shared_open(third, 1);

    scene.block = shared_take(scene.shared, 20000) >> SHM_PAGE_SHIFT;
    const joffset_t cached = shared_take(scene.shared, 30000);
    scene.cached = cached >> SHM_PAGE_SHIFT;
    JEXPECT_OK(jshared_deallocate(scene.shared, cached));
    scene.own = slab_of(&scene, shared_take(scene.shared, 48), &scene.own_index);
    const joffset_t given = shared_take(scene.shared, 1000);
    JEXPECT_OK(jshared_give(scene.shared, given, JSEGMENT_SLOT_SEGMENT));
    scene.given = slab_of(&scene, given, NULL);
    const joffset_t linked = shared_take(scene.shared, 200);
    shared_take(scene.shared, 200);
    JEXPECT_OK(jshared_deallocate(scene.others, linked));
    scene.linked = slab_of(&scene, linked, &scene.linked_index);
    const joffset_t kept = shared_take(leaving, 500);
    JEXPECT_OK(jshared_give(leaving, kept, JSEGMENT_SLOT_SEGMENT));
    JEXPECT_OK(jsegment_detach(third));
    scene.orphan = slab_of(&scene, kept, NULL);
    for (uint64_t page = scene.segment->constants.first_page, longest = 0;
         page < MIB / SHM_PAGE_BYTES;) {
        const uint64_t word = shm_page_word(scene.segment, page);
        if (SHM_STATE(word) == SHM_FREE && SHM_PAGES(word) > longest) {
            longest = SHM_PAGES(word);
            scene.free = page;
        }
        page += SHM_PAGES(word) != 0 ? SHM_PAGES(word) : MIB;
    }
    segment_books(scene.segment);
    memcpy(scene.image, scene.segment->base, MIB);
    return &scene;
}
static void scene_restore(const scene_t *scene) { memcpy(scene->segment->base, scene->image, MIB); }
static void scene_end(scene_t *scene) {
    scene_restore(scene);
    segment_books(scene->segment);
    JEXPECT_OK(jsegment_detach(scene->second));
    JEXPECT_OK(jsegment_destroy(scene->segment));
}

/* Words that are changed, up to the first without a place. */
typedef struct change {
    uint64_t *word, value;
} change_t;
typedef struct row {
    const char *said;
    change_t changes[6];
} row_t;

static void plant(const change_t *changes) {
    for (; changes->word != NULL; ++changes)
        *changes->word = changes->value;
}

/* The word with the owner's byte of a block, and another owner in it. */
static change_t owner_of(const scene_t *scene, uint64_t page, uint32_t index, unsigned owner) {
    shm_geometry_t geometry;
    (void)ji_slab_at(scene->segment, page, shm_page_word(scene->segment, page), &geometry);
    const uintptr_t byte = (uintptr_t)&ji_slab_owners(scene->segment, page, &geometry)[index];
    uint64_t *word = (uint64_t *)(byte & ~(uintptr_t)7); /* NOLINT: an address inside the mapping */
    const unsigned shift = (unsigned)(byte & 7) * 8;
    return (change_t){word, (*word & ~((uint64_t)255 << shift)) | (uint64_t)owner << shift};
}
static uint64_t *freed_of(const scene_t *scene, uint64_t page, uint32_t word) {
    return (uint64_t *)ji_slab_freed(scene->segment, page) + word;
}

JTEST(SegmentVerify, EachKindOfDamageIsSaid) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    shm_header_t *header = segment->header;
    shm_page_t *table = segment->table;
    shm_allocator_t *allocators = segment->allocators;
    uint64_t *free_word = &table[scene->free].word, *block_word = &table[scene->block].word;
    uint64_t *cached_word = &table[scene->cached].word, *own_word = &table[scene->own].word;
    uint64_t *orphan_word = &table[scene->orphan].word;
    const uint64_t free_pages = SHM_PAGES(*free_word), half = free_pages / 2;
    const unsigned bin = ji_pages_bin(free_pages), slot = segment->slot,
                   second = scene->second->slot;
    uint64_t *bin_bits = &header->bin_bits[bin / 64];
    uint64_t *first_dirty = &segment->slots[slot - 1].dirty,
             *second_dirty = &segment->slots[second - 1].dirty;
    shm_slab_t *own_slab = (shm_slab_t *)(void *)(segment->base + (scene->own << SHM_PAGE_SHIFT));
    shm_geometry_t own;
    JASSERT_TRUE(ji_slab_at(segment, scene->own, *own_word, &own));
    JASSERT_NE(own.block_count % 64, 0);
    JASSERT_GE(half, 2);
    JASSERT_TRUE(*first_dirty == scene->linked && header->orphans == scene->orphan &&
                 *second_dirty == 0);
    uint64_t *region_word = &table[allocators[1].region_page].word;

    const row_t rows[] = {
        {"constants have changed",
         {{&header->constants.checksum, segment->constants.checksum + 1}}},
        /* Allocators. */
        {"has no id", {{&allocators[0].id, 0}}},
        {"two allocators have the id 2", {{&allocators[0].id, 2}}},
        {"has lost a region", {{&allocators[1].header_page, scene->block}}},
        {"has lost a region", {{&allocators[1].region_page, segment->max_pages}}},
        {"has lost a region", {{&allocators[0].header_bytes, 1}}},
        {"stands beyond its end", {{&allocators[1].top, 6001}}},
        /* Extents. */
        {"no extent begins", {{block_word, 0}}},
        {"inside the extent", {{&block_word[2], 1}}},
        {"follows a free one",
         {{free_word, SHM_WORD(SHM_FREE, 0, 0, 0, half)},
          {&table[scene->free + half - 1].word, SHM_WORD(SHM_TAIL, 0, 0, 0, half - 1)},
          {&table[scene->free + half].word, SHM_WORD(SHM_FREE, 0, 0, 0, free_pages - half)},
          {&table[scene->free + free_pages - 1].word,
           SHM_WORD(SHM_TAIL, 0, 0, 0, free_pages - half - 1)}}},
        {"has an owner", {{free_word, SHM_WITH_OWNER(*free_word, slot)}}},
        {"the block at page", {{block_word, *block_word | SHM_GIVEN}}},
        {"is of no allocator", {{block_word, *block_word | 200 << 16}}},
        {"is of no allocator", {{block_word, *block_word | 5 << 16}}},
        {"is of slot 0, which is free", {{block_word, SHM_WITH_OWNER(*block_word, 0)}}},
        {"is of slot 4, which is free", {{block_word, SHM_WITH_OWNER(*block_word, 4)}}},
        {"is of slot 200, which is free", {{block_word, SHM_WITH_OWNER(*block_word, 200)}}},
        {"the cached extent at page", {{cached_word, *cached_word ^ 1 << 16}}},
        {"is of slot 255, which is free",
         {{cached_word, SHM_WITH_OWNER(*cached_word, SHM_SLOT_SEGMENT)}}},
        {"is of slot 4, which is free", {{cached_word, SHM_WITH_OWNER(*cached_word, 4)}}},
        {"is of no allocator", {{region_word, *region_word ^ 7 << 16}, {&allocators[1].state, 0}}},
        {"is not what its allocator has",
         {{&allocators[1].region_page, 0}, {&allocators[1].region_bytes, 0}}},
        {"in the state 7", {{block_word, (*block_word & ~(uint64_t)15) | SHM_DEAD}}},
        /* Slabs. */
        {"is no sound slab", {{own_word, *own_word | (uint64_t)255 << 24}}},
        {"is no sound slab", {{own_word, *own_word | 200 << 16}}},
        {"is of no allocator", {{own_word, *own_word | 5 << 16}}},
        {"is of slot 4, which is free", {{own_word, SHM_WITH_OWNER(*own_word, 4)}}},
        {"says that it has", {{&own_slab->block_count, 1}}},
        {"says that it has", {{&own_slab->block_bytes, 16}}},
        {"beyond its end", {{freed_of(scene, scene->own, own.words - 1), (uint64_t)1 << 63}}},
        {"will not find",
         {{freed_of(scene, scene->own, scene->own_index / 64),
           (uint64_t)1 << scene->own_index % 64}}},
        {"will not find",
         {{orphan_word, *orphan_word | SHM_LINKED}, {freed_of(scene, scene->orphan, 0), 1}}},
        {"freed twice", {owner_of(scene, scene->linked, scene->linked_index, 0)}},
        {"and not given", {owner_of(scene, scene->own, scene->own_index, second)}},
        {"of slot 4, which is free", {owner_of(scene, scene->given, 0, 4)}},
        {"of slot 200, which is free", {owner_of(scene, scene->given, 0, 200)}},
        /* Lists. */
        {"the bit of bin", {{bin_bits, *bin_bits & ~((uint64_t)1 << bin % 64)}}},
        {"a list leads to page 1", {{&header->bins[bin], 1}}},
        {"a list leads to page", {{&header->bins[bin], segment->max_pages}}},
        {"a list that it does not belong to", {{&header->bins[bin], scene->block}}},
        {"a list that it does not belong to",
         {{&header->bins[bin - 1], scene->free},
          {bin_bits, *bin_bits | (uint64_t)1 << (bin - 1) % 64}}},
        {"do not lead back", {{&table[scene->free].links, (uint64_t)scene->block << 32}}},
        {"extents are free",
         {{&header->bins[bin], 0}, {bin_bits, *bin_bits & ~((uint64_t)1 << bin % 64)}}},
        {"a list that it does not belong to", {{orphan_word, *orphan_word & ~SHM_GIVEN}}},
        {"a list that it does not belong to", {{&header->orphans, scene->own}}},
        {"slabs are the segment's", {{&header->orphans, 0}}},
        {"a list that it does not belong to", {{first_dirty, scene->own}}},
        {"a list that it does not belong to", {{second_dirty, scene->linked}}},
        {"slabs say that they are in a list", {{first_dirty, 0}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        JSCOPED_TRACE("row %zu: %s", i, rows[i].said);
        plant(rows[i].changes);
        JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_CORRUPTED);
        JEXPECT_SUBSTR(jstatus_last_message(), rows[i].said);
        JEXPECT_FALSE(ji_segment_is_poisoned(segment)); /* who looks changes nothing */
        scene_restore(scene);
    }
    JEXPECT_OK(jsegment_verify(segment));
    scene_end(scene);
}

/* ---- Looking at what is damaged, or held ---- */

static bool count_extent(void *context, const jextent_t *extent) {
    (void)extent;
    ++*(unsigned *)context;
    return true;
}
static void count_text(void *context, const char *text, size_t length) {
    (void)text;
    *(size_t *)context += length;
}
/* Everybody who looks gets the status, and nothing that was not seen. */
static void expect_of_all_who_look(jsegment_t *segment, jstatus_t status) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    jsegment_process_t process = JSEGMENT_PROCESS_INIT;
    unsigned count = 0;
    size_t length = 0;
    JEXPECT_STATUS(jsegment_verify(segment), status);
    JEXPECT_STATUS(jsegment_get_stats(segment, &stats), status);
    JEXPECT_EQ(stats.size_bytes, 0);
    JEXPECT_STATUS(jsegment_get_process(segment, 1, &process), status);
    JEXPECT_FALSE(process.attached);
    JEXPECT_STATUS(jsegment_visit(segment, count_extent, &count), status);
    JEXPECT_STATUS(jsegment_draw(segment, count_text, &length), status);
    JEXPECT_EQ(length, 0);
}

JTEST(SegmentVerify, WhoLooksIsToldOfDamageAndOfAHeldLock) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *reader = place_attach_reading(&place);
    scene->segment->table[scene->block].word = 0;
    expect_of_all_who_look(scene->segment, JSTATUS_CORRUPTED);
    expect_of_all_who_look(reader, JSTATUS_CORRUPTED);
    scene_restore(scene);
    hold_lock(scene->second);
    expect_of_all_who_look(scene->segment, JSTATUS_BUSY);
    JEXPECT_OK(jsegment_verify(reader)); /* who takes no lock */
    drop_lock(scene->second);
    JEXPECT_OK(jsegment_detach(reader));
    scene_end(scene);
}

typedef struct shown {
    joffset_t offset;
    jextent_t extent;
} shown_t;
static bool keep_extent(void *context, const jextent_t *extent) {
    shown_t *shown = context;
    if (extent->offset == shown->offset)
        shown->extent = *extent;
    return true;
}
static jextent_t extent_at(jsegment_t *segment, uint64_t page) {
    shown_t shown = {.offset = page << SHM_PAGE_SHIFT};
    JEXPECT_OK(jsegment_visit(segment, keep_extent, &shown));
    return shown.extent;
}

JTEST(SegmentVerify, WhatAReaperLeftHalfDoneIsSeenAsItIs) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    uint64_t *word = &segment->table[scene->block].word;
    const size_t bytes = (size_t)SHM_PAGES(*word) << SHM_PAGE_SHIFT;
    const jsegment_stats_t before = segment_stats(segment);
    JEXPECT_EQ(extent_at(segment, scene->block).state, JEXTENT_BLOCK);
    JEXPECT_EQ(extent_at(segment, scene->block).allocator_id, 1);
    *word = SHM_WORD(SHM_DEAD, 0, 0, 0, SHM_PAGES(*word)); /* a run that is about to be free */
    JEXPECT_EQ(extent_at(segment, scene->block).state, JEXTENT_FREE);
    JEXPECT_EQ(segment_stats(segment).free_bytes, before.free_bytes + bytes);
    scene_restore(scene);

    *word |= 200 << 16; /* of an allocator that cannot be */
    JEXPECT_EQ(extent_at(segment, scene->block).allocator_id, 0);
    scene_restore(scene);

    slot_of(segment, scene->second->slot)->state = SHM_SLOT_REAPING;
    const jsegment_process_t process = segment_process(segment, scene->second->slot);
    JEXPECT_TRUE(process.attached && process.liveness_known);
    JEXPECT_FALSE(process.alive);
    scene_end(scene);
}

/* ---- Damage that is met ---- */

/* Recovers over each of these, which poisons the segment; then it is mended again. */
static void expect_recovery_to_meet(scene_t *scene, const row_t *rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        JSCOPED_TRACE("row %zu: %s", i, rows[i].said);
        plant(rows[i].changes);
        unsigned recovered = 9;
        JEXPECT_STATUS(jsegment_recover(scene->segment, &recovered), JSTATUS_CORRUPTED);
        JEXPECT_SUBSTR(jstatus_last_message(), rows[i].said);
        JEXPECT_EQ(recovered, 9);
        JEXPECT_TRUE(ji_segment_is_poisoned(scene->segment));
        scene_restore(scene);
    }
}

JTEST(SegmentVerify, AReaperDoesNotTrustWhatTheDeadLeft) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    shm_page_t *table = segment->table;
    const unsigned second = scene->second->slot;
    uint64_t *dead = &segment->slots[second - 1].state; /* from here on its slot is a dead one's */
    uint64_t *given_word = &table[scene->given].word, *block_word = &table[scene->block].word;
    const uint64_t class = (uint64_t)255 << 24, of_dead = SHM_WITH_OWNER(*given_word, second);
    const uint64_t next = scene->block + SHM_PAGES(*block_word);
    const row_t rows[] = {
        {"is no sound slab", {{dead, SHM_SLOT_REAPING}, {given_word, of_dead | class}}},
        {"is no sound slab", {{dead, SHM_SLOT_REAPING}, {given_word, *given_word | class}}},
        {"no extent begins", {{dead, SHM_SLOT_REAPING}, {block_word, 0}}},
        {"no extent begins",
         {{dead, SHM_SLOT_REAPING},
          {block_word, SHM_WITH_OWNER(*block_word, second)},
          {&table[next].word, 0}}},
        /* A block that was given to the dead: its slab is to be put into a list that begins
         * nowhere. */
        {"a list begins at page 1",
         {{dead, SHM_SLOT_REAPING},
          owner_of(scene, scene->given, 0, second),
          {&segment->slots[segment->slot - 1].dirty, 1}}},
    };
    expect_recovery_to_meet(scene, rows, COUNT_OF(rows));
    scene_end(scene);
}

JTEST(SegmentVerify, AReaperTakesAllThatWasGivenAndNothingThatIsNobodys) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    const unsigned second = scene->second->slot;
    joffset_t gifts[3];
    JEXPECT_OK(jshared_allocate_many(scene->shared, 1000, 0, COUNT_OF(gifts), gifts));
    for (size_t i = 0; i < COUNT_OF(gifts); ++i) /* of one slab */
        JEXPECT_OK(jshared_give(scene->shared, gifts[i], second));
    slot_of(segment, second)->state = SHM_SLOT_REAPING;
    uint64_t *free_word = &segment->table[scene->free].word;
    *free_word = SHM_WITH_OWNER(*free_word, second); /* which a free extent has none of */
    unsigned recovered = 9;
    JEXPECT_OK(jsegment_recover(segment, &recovered));
    JEXPECT_EQ(recovered, 1);
    JEXPECT_EQ(SHM_OWNER(*free_word), second);
    *free_word = SHM_WITH_OWNER(*free_word, 0);
    segment_books(segment);
    for (size_t i = 0; i < COUNT_OF(gifts); ++i)
        JEXPECT_FALSE(shared_is_live(scene->shared, gifts[i]));
    slot_of(segment, second)->state = SHM_SLOT_TAKEN; /* it lives, and leaves now */
    JEXPECT_OK(jsegment_detach(scene->second));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentVerify, AnAllocatorThatEndsIsTakenOutOfItsListsOrTheyAreDamaged) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    shm_header_t *header = segment->header;
    shm_page_t *table = segment->table;
    uint64_t *first = &segment->allocators[0].state, *stack = &segment->allocators[1].state;
    uint64_t *links = &table[scene->orphan].links, *block_word = &table[scene->block].word;
    const row_t rows[] = {
        {"a list of slabs does not end",
         {{stack, SHM_ALLOCATOR_ENDING}, {&header->orphans, segment->max_pages}}},
        {"a list of slabs does not end", {{stack, SHM_ALLOCATOR_ENDING}, {links, scene->orphan}}},
        {"do not lead back",
         {{first, SHM_ALLOCATOR_ENDING}, {links, (uint64_t)scene->block << 32}}},
        {"no extent begins", {{first, SHM_ALLOCATOR_ENDING}, {block_word, 0}}},
    };
    expect_recovery_to_meet(scene, rows, COUNT_OF(rows));

    /* One that a killed process had begun to destroy, beside a run that it had begun to free: both
     * are finished. */
    const jsegment_stats_t before = segment_stats(segment);
    *stack = SHM_ALLOCATOR_ENDING;
    *block_word = SHM_WORD(SHM_DEAD, 0, 0, 0, SHM_PAGES(*block_word));
    JEXPECT_OK(jsegment_recover(segment, NULL));
    const jsegment_stats_t after = segment_books(segment);
    JEXPECT_EQ(after.allocators, before.allocators - 1);
    JEXPECT_GT(after.free_bytes, before.free_bytes + 20000);
    scene_end(scene);
}

JTEST(SegmentVerify, WhoAttachesToDamageOfTheDeadGetsNoSlot) {
    for (unsigned free_slots = 0; free_slots <= 1; ++free_slots) {
        /* In the slot of one who died, or beside it. */
        JSCOPED_TRACE("%u free slots", free_slots);
        PLACE(place, JSEGMENT_MEMFD, MIB, 0);
        scene_t *scene = scene_make(&place);
        jsegment_t *late = NULL;
        for (unsigned slot = 1; slot <= 4 - free_slots; ++slot)
            scene->segment->slots[slot - 1].state = SHM_SLOT_TAKEN;
        scene->segment->table[scene->block].word = 0;
        JEXPECT_STATUS(jsegment_attach(&place.options, &late), JSTATUS_CORRUPTED);
        JEXPECT_NULL(late);
        scene_restore(scene);
        late = place_attach(&place); /* nothing of the attempt is left */
        JEXPECT_OK(jsegment_detach(late));
        scene_end(scene);
    }
}

/* ---- The lock and the undo log ---- */

JTEST(SegmentVerify, ALockThatNobodyCanHoldIsTakenOver) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    shm_header_t *header = segment->header;
    const uint64_t generation = segment->slots[segment->slot - 1].generation;
    const uint32_t words[] = {SHM_LOCK_WORD(0, 7), SHM_LOCK_WORD(200, 1), SHM_LOCK_WORD(3, 99),
                              SHM_LOCK_WORD(segment->slot, generation)};
    for (size_t i = 0; i < COUNT_OF(words); ++i) {
        JSCOPED_TRACE("lock %#x", words[i]);
        header->lock = words[i];
        JEXPECT_OK(jsegment_set_root(segment, "root", 4096));
        JEXPECT_EQ(header->lock, 0);
        header->lock = words[i];
        header->poisoned = 1;
        JEXPECT_STATUS(jsegment_set_root(segment, "root", 8192), JSTATUS_CORRUPTED);
        header->poisoned = 0;
        header->lock = words[i];
        header->log_count = SHM_LOG_ENTRIES + 1;
        JEXPECT_STATUS(jsegment_set_root(segment, "root", 8192), JSTATUS_CORRUPTED);
        JEXPECT_EQ(header->lock, 0);
        scene_restore(scene);
    }
    scene_end(scene);
}

JTEST(SegmentVerify, AChangeThatCannotBeMadeIsUndone) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    shm_header_t *header = segment->header;
    /* More words than the log has room for. */
    JASSERT_OK(ji_segment_lock(segment));
    const uint64_t before = header->growth_count;
    for (uint64_t i = 0; i <= SHM_LOG_ENTRIES; ++i)
        ji_put(segment, &header->growth_count, before + 1 + i);
    JEXPECT_STATUS(ji_segment_unlock(segment, ji_commit(segment)), JSTATUS_INTERNAL_ERROR);
    JEXPECT_EQ(header->growth_count, before);
    segment_books(segment);
    /* A list that begins nowhere. */
    JASSERT_OK(ji_segment_lock(segment));
    ji_put(segment, &header->growth_count, before + 1);
    ji_put(segment, &header->orphans, 1);
    ji_page_list_insert(segment, &header->orphans, scene->own);
    JEXPECT_STATUS(ji_segment_unlock(segment, ji_commit(segment)), JSTATUS_CORRUPTED);
    JEXPECT_EQ(header->growth_count, before);
    JEXPECT_EQ(header->orphans, scene->orphan);
    scene_restore(scene);
    /* A log that another process has scribbled on meanwhile: damage is the worse of two
     * failures. */
    JASSERT_OK(ji_segment_lock(segment));
    ji_put(segment, &header->growth_count, before + 1);
    segment->log[0].offset = 0;
    JEXPECT_STATUS(ji_segment_unlock(segment, ji_undo(segment, JSTATUS_MEMORY_ERROR)),
                   JSTATUS_CORRUPTED);
    scene_end(scene);
}

JTEST(SegmentVerify, ASegmentThatSaysItIsLargerThanItsMemoryIsNotFollowed) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 2 * MIB);
    jsegment_t *segment = place_create(&place);
    jsegment_options_t options = place.options;
    jsegment_t *reader = NULL;
    options.read_only = true;
    options.threads = JALLOCATOR_THREADS_NONE;
    JASSERT_OK(jsegment_attach(&options, &reader));
    jshared_t *shared = shared_make(segment, 1), *opened = shared_open(reader, 1), *more = NULL;
    (void)shared;
    uint64_t *total = &header_of(segment)->total_pages;
    const uint64_t was = *total, totals[] = {was + 1, segment->max_pages + 1, 0, 1};
    JEXPECT_STATUS(ji_segment_enter(reader), JSTATUS_READ_ONLY);
    for (size_t i = 0; i < COUNT_OF(totals); ++i) {
        JSCOPED_TRACE("%llu pages", (unsigned long long)totals[i]);
        *total = totals[i];
        expect_of_all_who_look(reader, JSTATUS_CORRUPTED);
        JEXPECT_STATUS(jshared_open(reader, 1, &more), JSTATUS_CORRUPTED);
        JEXPECT_STATUS(jshared_close(opened), JSTATUS_CORRUPTED);
        JEXPECT_NULL(jsegment_pointer(segment, MIB, 4096));
        JEXPECT_STATUS(jsegment_set_root(segment, "root", 4096), JSTATUS_CORRUPTED);
        JEXPECT_TRUE(ji_segment_is_poisoned(segment));
        *total = was;
        header_of(segment)->poisoned = 0;
    }
    JEXPECT_OK(jsegment_verify(reader));
    JEXPECT_OK(jshared_close(opened));
    JEXPECT_OK(jsegment_detach(reader));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentVerify, GrowingOverADamagedEndChangesNothing) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 2 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    uint64_t *last = &segment->table[MIB / SHM_PAGE_BYTES - 1].word;
    const uint64_t was = *last;
    JASSERT_EQ(SHM_STATE(was), SHM_TAIL);
    *last = was ^ (uint64_t)1 << 32;
    JEXPECT_STATUS(jsegment_grow(segment, 2 * MIB), JSTATUS_CORRUPTED);
    *last = was;
    header_of(segment)->poisoned = 0;
    JEXPECT_EQ(segment_books(segment).size_bytes, MIB);
    JEXPECT_OK(jsegment_grow(segment, 2 * MIB));
    JEXPECT_EQ(segment_books(segment).size_bytes, 2 * MIB);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Leaving and removing what others hold ---- */

JTEST(SegmentVerify, LeavingWaitsForTheLockAndRemovingForTheGate) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment, *second = scene->second, *late = NULL;
    hold_lock(second);
    JEXPECT_STATUS(jsegment_detach(segment), JSTATUS_BUSY); /* and is attached still */
    drop_lock(second);
    segment_books(segment);

    JASSERT_TRUE(shm_gate_take(&second->backing, true, 0));
    JEXPECT_STATUS(jsegment_attach(&place.options, &late), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_destroy(segment), JSTATUS_BUSY);
    shm_gate_release(&second->backing);
    jtest_fail_calls("fcntl", 1, 1, ENOLCK);
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_POSIX, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_BUSY);
    JEXPECT_TRUE(jtest_calls_failed());

    jsegment_t *reader = place_attach_reading(&place);
    JEXPECT_STATUS(jsegment_destroy(reader), JSTATUS_READ_ONLY);
    JEXPECT_OK(jsegment_detach(reader));
    /* Whom its own lock does not keep out. */
    JEXPECT_FALSE(ji_slot_is_dead(segment, segment->slot));
    scene_end(scene);
    JEXPECT_OK(jsegment_destroy(NULL));

    jtest_fail_calls("fcntl", 1, UINT64_MAX, ENOLCK); /* a file system without locks has no slots */
    JEXPECT_STATUS(jsegment_create(&place.options, &late), JSTATUS_NO_SLOT);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_NULL(late);
}

/* The segment is removed while somebody who has opened its file stands at the gate. */
static void attach_to_what_goes(peer_t *self, void *argument) {
    jsegment_options_t options = ((const place_t *)argument)->options;
    jsegment_t *late = NULL;
    options.timeout_ms = UINT64_MAX; /* as long as it takes: no time overflows */
    peer_await(self);
    JEXPECT_STATUS(jsegment_attach(&options, &late), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "meanwhile");
}
static bool has_open(pid_t process, const char *path) {
    char directory[64], target[256];
    snprintf(directory, sizeof directory, "/proc/%ld/fd", (long)process);
    DIR *listing = opendir(directory);
    bool found = false;
    for (const struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        const ssize_t length = readlinkat(dirfd(listing), entry->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        found |= strcmp(target, path) == 0;
    }
    if (listing != NULL)
        closedir(listing);
    return found;
}
JTEST(SegmentVerify, WhoIsAtTheGateWhenTheSegmentGoesHasFoundNone) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    /* Before there is a segment: it inherits nothing of it. */
    PEER(peer, attach_to_what_goes, &place);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JASSERT_TRUE(shm_gate_take(&segment->backing, true, 0));
    peer_tell(&peer);
    for (int i = 0; i < 100000 && !has_open(peer.pid, place.path); ++i)
        jtest_sleep_ms(1);
    JEXPECT_EQ(unlink(place.path), 0);
    shm_gate_release(&segment->backing);
    peer_end(&peer);
    JEXPECT_OK(jsegment_detach(segment));
}

/* ---- Small sentences ---- */

JTEST(SegmentVerify, WhatIsNoSlabHasNoGeometry) {
    shm_geometry_t geometry;
    static const uint64_t wrong[][2] = {{0, 1},  {8, 1},  {24, 1},  {SHM_SMALL_BYTES + 16, 32},
                                        {16, 0}, {16, 3}, {16, 64}, {SHM_SMALL_BYTES, 1}};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i)
        JEXPECT_FALSE(ji_slab_geometry(wrong[i][0], wrong[i][1], &geometry));
    /* Tables and blocks fit, and one more would not. */
    for (uint64_t bytes = 16; bytes <= SHM_SMALL_BYTES; bytes += 16)
        for (uint64_t pages = 1; pages <= SHM_MAX_SLAB_PAGES; pages *= 2) {
            if (!ji_slab_geometry(bytes, pages, &geometry))
                continue;
            JASSERT_LE(geometry.first_offset + geometry.block_count * bytes,
                       pages << SHM_PAGE_SHIFT);
            JASSERT_GE(geometry.first_offset, geometry.owners_offset + geometry.block_count);
            JASSERT_GE(geometry.words * 64, geometry.block_count);
        }

    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    const uint64_t word = shm_page_word(segment, scene->own);
    JEXPECT_TRUE(ji_slab_at(segment, scene->own, word, &geometry));
    JEXPECT_FALSE(
        ji_slab_at(segment, scene->block, shm_page_word(segment, scene->block), &geometry));
    /* Longer than all. */
    JEXPECT_FALSE(ji_slab_at(segment, scene->own, word | (uint64_t)1 << 31 << 32, &geometry));
    /* In the bookkeeping. */
    JEXPECT_FALSE(ji_slab_at(segment, 0, word, &geometry));
    /* Not aligned. */
    JEXPECT_FALSE(ji_slab_at(segment, scene->own | 1, SHM_WORD(SHM_SLAB, 1, 0, 0, 2), &geometry));
    scene_end(scene);
}

JTEST(SegmentVerify, NothingIsNoSegmentAllocatorOrRoot) {
    PLACE(place, JSEGMENT_ARRAY, MIB, 0);
    place.options.max_bytes = 8 * MIB; /* an array is as long as it is */
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_EQ(segment_books(segment).max_bytes, MIB);
    jshared_t *shared = NULL;
    char name[JSEGMENT_ROOT_NAME_BYTES];
    joffset_t offset;
    size_t bytes = 9;
    int descriptor;
    JEXPECT_STATUS(jsegment_export(NULL, &descriptor), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_open(NULL, 1, &shared), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jshared_destroy(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(jshared_header(NULL, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_STATUS(jsegment_get_root_at(NULL, 0, name, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_root_at(segment, 0, NULL, &offset), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_root_at(segment, 0, name, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentVerify, AnAllocatorsMemoryIsGatheredByAllMeansOrTheyFail) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 8 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    /* It grows for it. */
    jshared_t *stack = shared_make_kind(segment, 1, JSHARED_STACK, 2 * MIB), *more = NULL;
    JEXPECT_GT(segment_books(segment).size_bytes, 3 * MIB);
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    options.header_bytes = 6 * MIB;
    /* Beyond the largest size. */
    JEXPECT_STATUS(jshared_create(segment, 2, &options, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(segment_books(segment).allocators, 1);
    options.header_bytes = 1200 * KIB;
    jtest_fail_calls("fallocate", 1, 1, ENOSPC);
    /* Nor has the disk room. */
    JEXPECT_STATUS(jshared_create(segment, 2, &options, &more), JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(segment_books(segment).allocators, 1);
    /* Those that are dead might have it; their remains are damaged. */
    segment->slots[40].state = SHM_SLOT_TAKEN;
    uint64_t *word = &segment->table[segment->constants.first_page].word;
    const uint64_t was = *word;
    *word = 0;
    JEXPECT_STATUS(jshared_create(segment, 2, &options, &more), JSTATUS_CORRUPTED);
    JEXPECT_NULL(more);
    header_of(segment)->poisoned = 0;
    JEXPECT_STATUS(jshared_destroy(stack), JSTATUS_CORRUPTED);
    *word = was;
    segment->slots[40].state = SHM_SLOT_FREE;
    header_of(segment)->poisoned = 0;
    JEXPECT_OK(jshared_destroy(stack));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentVerify, AnAllocatorIsNeitherLeftNorMadeOverDamage) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    scene->segment->header->orphans = 1; /* where its slabs would go */
    JEXPECT_STATUS(jshared_close(scene->shared), JSTATUS_CORRUPTED);
    JEXPECT_EQ(jshared_id(scene->shared), 1);
    scene_restore(scene);
    hold_lock(scene->second);
    JEXPECT_STATUS(jshared_close(scene->shared), JSTATUS_BUSY);
    jshared_t *more = NULL;
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    options.header_bytes = 20000;
    JEXPECT_STATUS(jshared_create(scene->segment, 9, &options, &more), JSTATUS_BUSY);
    drop_lock(scene->second);
    for (unsigned bin = 0; bin < SHM_BINS; ++bin) /* nor is one made of what the bins lead to */
        if (scene->segment->header->bins[bin] != 0)
            scene->segment->header->bins[bin] = 1;
    JEXPECT_STATUS(jshared_create(scene->segment, 9, &options, &more), JSTATUS_CORRUPTED);
    JEXPECT_NULL(more);
    scene_end(scene);
}

JTEST(SegmentVerify, AnEntryThatIsNoAllocatorIsNotOpened) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    scene_t *scene = scene_make(&place);
    jsegment_t *segment = scene->segment;
    /* The stack, which the second has not opened. */
    shm_allocator_t *entry = &segment->allocators[1];
    const uint64_t end = segment->max_pages;
    const row_t rows[] = {
        {"kind", {{&entry->kind, JSHARED_STACK + 1}}},
        {"blocks of a stack", {{&entry->block_bytes, 16}}},
        {"odd blocks", {{&entry->kind, JSHARED_PAGES}, {&entry->block_bytes, 24}}},
        {"pages without a size", {{&entry->kind, JSHARED_PAGES}}},
        {"large blocks", {{&entry->kind, JSHARED_PAGES}, {&entry->block_bytes, (uint64_t)1 << 32}}},
        {"header outside", {{&entry->header_page, end}}},
        {"long header", {{&entry->header_bytes, MIB}}},
        {"region outside", {{&entry->region_page, end}}},
        {"long region", {{&entry->region_bytes, MIB}}},
        {"region in the bookkeeping", {{&entry->region_page, 1}}},
        {"header in the bookkeeping", {{&entry->header_page, 1}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        JSCOPED_TRACE("%s", rows[i].said);
        jshared_t *opened = NULL;
        plant(rows[i].changes);
        JEXPECT_STATUS(jshared_open(scene->second, 2, &opened), JSTATUS_CORRUPTED);
        JEXPECT_SUBSTR(jstatus_last_message(), "the entry of allocator 1 is not one");
        JEXPECT_NULL(opened);
        scene_restore(scene);
    }
    scene_end(scene);
}
