/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Damage that blocks, slabs, caches and lists may meet, planted one at a time: each is told as
 * "corrupted" with what was found, or is no block, and the private part of who meets it stays right
 * in itself. segment_damage_test.c changes every word and looks for signals; here it is looked at
 * what is said. */

#include "segment_tables.h"

#include "shm/shm.h"

#include <stdio.h>
#include <string.h>

/* ---- A segment with some of everything ---- */

enum { EXTENT_PAGES = 5, EXTENT_BYTES = EXTENT_PAGES * 4096, ORPHAN_BYTES = 200 };

typedef struct scene {
    place_t place;
    jsegment_t *segment, *second; /* two attachments of this process */
    jshared_t *shared, *others;   /* an allocator, by each */
    shm_header_t *header;
    shm_slot_t *slot; /* of the first */
    /* Small blocks of the first and of the second. */
    joffset_t small, foreign;
    joffset_t orphan; /* the second's; its slab is the segment's */
    /* Extents of the first, one after the other; one is in its cache. */
    joffset_t front, middle, behind, cached, guard;
    unsigned char *bytes; /* of the front */
} scene_t;

static void scene_begin(scene_t *scene) {
    memset(scene, 0, sizeof *scene);
    place_begin(&scene->place, JSEGMENT_MEMFD, MIB, 0);
    scene->segment = place_create(&scene->place);
    scene->second = place_attach(&scene->place);
    scene->shared = shared_make(scene->segment, 1);
    scene->others = shared_open(scene->second, 1);
    scene->header = header_of(scene->segment);
    scene->slot = slot_of(scene->segment, jsegment_slot(scene->segment));
    scene->orphan = shared_take(scene->others, ORPHAN_BYTES);
    JEXPECT_OK(jshared_close(scene->others));
    scene->others = shared_open(scene->second, 1);
    scene->small = shared_take(scene->shared, 48);
    scene->foreign = shared_take(scene->others, 48);
    joffset_t *extents[] = {&scene->front, &scene->middle, &scene->behind, &scene->cached,
                            &scene->guard};
    for (size_t i = 0; i < COUNT_OF(extents); ++i) {
        *extents[i] = shared_take(scene->shared, EXTENT_BYTES);
        JEXPECT_EQ(*extents[i], scene->front + i * EXTENT_BYTES);
    }
    JEXPECT_OK(jshared_deallocate(scene->shared, scene->cached));
    scene->bytes = shared_bytes(scene->shared, scene->front, EXTENT_BYTES);
    memset(scene->bytes, 0x5A, EXTENT_BYTES);
    segment_books(scene->segment);
}
static void scene_end(scene_t *scene) {
    JEXPECT_OK(jsegment_detach(scene->second));
    JEXPECT_OK(jsegment_detach(scene->segment));
    place_end(&scene->place);
}
#define SCENE(scene)                                                                               \
    __attribute__((cleanup(scene_end))) scene_t scene;                                             \
    scene_begin(&scene)

/* The entry of a page, so many pages from that of an offset. */
static shm_page_t *entry_at(const scene_t *scene, joffset_t offset, int64_t pages) {
    return page_of(scene->segment, offset) + pages;
}
static shm_page_t *slab_entry(const scene_t *scene, joffset_t offset) {
    return entry_at(
        scene, ji_slab_containing(scene->segment, offset >> SHM_PAGE_SHIFT) << SHM_PAGE_SHIFT, 0);
}
static shm_geometry_t geometry_at(jsegment_t *segment, joffset_t offset, uint64_t *page) {
    shm_geometry_t geometry = {.block_bytes = 1};
    *page = ji_slab_containing(segment, offset >> SHM_PAGE_SHIFT);
    JEXPECT_TRUE(
        ji_slab_at(segment, *page, page_of(segment, *page << SHM_PAGE_SHIFT)->word, &geometry));
    return geometry;
}
/* Who owns a block of a slab, as the slab says. */
static _Atomic(uint8_t) *owner_at(jsegment_t *segment, joffset_t offset) {
    uint64_t page;
    const shm_geometry_t geometry = geometry_at(segment, offset, &page);
    return &ji_slab_owners(
        segment, page, &geometry)[((offset - (page << SHM_PAGE_SHIFT)) - geometry.first_offset) /
                                  geometry.block_bytes];
}
/* The word of `freed` that a block has a bit in. */
static _Atomic(uint64_t) *freed_at(jsegment_t *segment, joffset_t offset, uint64_t *bit) {
    uint64_t page;
    const shm_geometry_t geometry = geometry_at(segment, offset, &page);
    const uint64_t index =
        ((offset - (page << SHM_PAGE_SHIFT)) - geometry.first_offset) / geometry.block_bytes;
    *bit = (uint64_t)1 << index % 64;
    return &ji_slab_freed(segment, page)[index / 64];
}
static uint64_t with_state(uint64_t word, unsigned state) { return (word & ~(uint64_t)15) | state; }
static uint64_t with_pages(uint64_t word, uint64_t pages) {
    return (word & 0xffffffffu) | pages << 32;
}
static uint64_t with_allocator(uint64_t word, unsigned allocator) {
    return (word & ~((uint64_t)255 << 16)) | (uint64_t)allocator << 16;
}
static uint64_t with_class(uint64_t word, unsigned class_index) {
    return (word & ~((uint64_t)255 << 24)) | (uint64_t)class_index << 24;
}

/* ---- What is done ---- */

static jstatus_t allocate(jshared_t *shared, size_t size_bytes) {
    joffset_t offset = 1;
    const jstatus_t status = jshared_allocate(shared, size_bytes, 0, &offset);
    JEXPECT_EQ(offset != JOFFSET_NULL, status == JSTATUS_SUCCESS);
    return status;
}
/* Everything that waits unused is given back before the answer is "no memory". */
static jstatus_t run_out(scene_t *scene) { return allocate(scene->shared, 4 * MIB); }
static jstatus_t get_a_slab(scene_t *scene) { return allocate(scene->shared, 4000); }
static jstatus_t adopt(scene_t *scene) { return allocate(scene->shared, ORPHAN_BYTES); }
static jstatus_t free_foreign(scene_t *scene) {
    return jshared_deallocate(scene->shared, scene->foreign);
}
static jstatus_t free_orphan(scene_t *scene) {
    return jshared_deallocate(scene->shared, scene->orphan);
}
static jstatus_t close_allocator(scene_t *scene) { return jshared_close(scene->shared); }
static jstatus_t lengthen(scene_t *scene) {
    joffset_t offset = scene->middle;
    const jstatus_t status = jshared_reallocate(scene->shared, &offset, EXTENT_BYTES + 4096, 0);
    JEXPECT_EQ(offset, scene->middle);
    return status;
}
static jstatus_t get_an_extent(scene_t *scene) { return allocate(scene->shared, 100000); }
static jstatus_t free_behind(scene_t *scene) {
    return jshared_deallocate(scene->shared, scene->behind);
}

/* ---- What is planted ---- */

static void dirty_beyond(scene_t *scene) { scene->slot->dirty = (uint64_t)1 << 40; }
static void dirty_extent(scene_t *scene) { scene->slot->dirty = scene->front >> SHM_PAGE_SHIFT; }
static void dirty_foreign(scene_t *scene) { scene->slot->dirty = scene->foreign >> SHM_PAGE_SHIFT; }
static void dirty_inside(scene_t *scene) {
    scene->slot->dirty = ji_slab_containing(scene->segment, scene->small >> SHM_PAGE_SHIFT) + 1;
}
static void dirty_links(scene_t *scene) {
    JEXPECT_OK(jshared_deallocate(scene->others, scene->small));
    /* Back to what is no page. */
    slab_entry(scene, scene->small)->links = (uint64_t)0x7fffffff << 32;
}
static void dirty_links_to_another(scene_t *scene) {
    JEXPECT_OK(jshared_deallocate(scene->others, scene->small));
    /* Which does not lead here. */
    slab_entry(scene, scene->small)->links = scene->front >> SHM_PAGE_SHIFT << 32;
}
/* Two slabs that others have emptied: one is kept, one is given back, and before each stands an end
 * of nothing. */
static void dirty_behind_false_tails(scene_t *scene) {
    joffset_t blocks[30];
    JEXPECT_OK(jshared_allocate_many(scene->shared, 8192, 0, COUNT_OF(blocks), blocks));
    JEXPECT_OK(jshared_deallocate_many(scene->others, COUNT_OF(blocks), blocks));
    for (size_t i = 0; i < COUNT_OF(blocks); ++i)
        slab_entry(scene, blocks[i])[-1].word = SHM_WORD(SHM_TAIL, 0, 0, 0, 0xfffff);
}

static void orphans_beyond(scene_t *scene) { scene->header->orphans = 0x7fffffff; }
static void orphans_owned(scene_t *scene) {
    scene->header->orphans = ji_slab_containing(scene->segment, scene->small >> SHM_PAGE_SHIFT);
}
static void orphans_header(scene_t *scene) {
    scene->header->orphans = 1;
    entry_at(scene, 4096, 0)->word = SHM_WORD(SHM_SLAB, SHM_SLOT_SEGMENT, 0, 0, 1);
}
static void orphan_of_no_allocator(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->orphan);
    entry->word = with_allocator(entry->word, SHM_ALLOCATORS);
}
static void orphan_of_no_class(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->orphan);
    entry->word = with_class(entry->word, SHM_OWN_CLASS + 1);
}
static void orphan_too_long(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->orphan);
    entry->word = with_pages(entry->word, 1 << 16);
}
static void orphan_out_of_place(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->orphan);
    const uint64_t page = ji_slab_containing(scene->segment, scene->orphan >> SHM_PAGE_SHIFT);
    /* A slab lies at a multiple of its length. */
    entry->word = with_pages(entry->word, 2 * (page & -page));
}
static void orphan_links(scene_t *scene) { slab_entry(scene, scene->orphan)->links = 0x7fffffff; }
/* One of blocks of the allocator's own size, which is no size of a block. */
static void orphan_of_odd_blocks(scene_t *scene) {
    slab_entry(scene, scene->orphan)->word =
        /* Of an allocator without such: 0. */
        with_class(slab_entry(scene, scene->orphan)->word, SHM_OWN_CLASS);
}
static void orphan_of_unaligned_blocks(scene_t *scene) {
    orphan_of_odd_blocks(scene);
    ((shm_allocator_t *)((char *)scene->header + scene->header->constants.allocators_offset))
        ->block_bytes = 200;
}
static void orphan_of_large_blocks(scene_t *scene) {
    orphan_of_odd_blocks(scene);
    ((shm_allocator_t *)((char *)scene->header + scene->header->constants.allocators_offset))
        ->block_bytes = 8208;
}

static void slab_of_nobody(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->foreign);
    entry->word = SHM_WITH_OWNER(entry->word, 0);
}
static void slab_of_no_slot(scene_t *scene) {
    shm_page_t *entry = slab_entry(scene, scene->foreign);
    entry->word = SHM_WITH_OWNER(entry->word, 200);
}
static void others_list(scene_t *scene) {
    slot_of(scene->segment, jsegment_slot(scene->second))->dirty = 0x7fffffff;
}

/* The only block of a slab is freed, so the slab is given back when memory runs out. */
static shm_page_t *empty_slab(scene_t *scene) {
    const joffset_t offset = shared_take(scene->shared, 600);
    JEXPECT_OK(jshared_deallocate(scene->shared, offset));
    return slab_entry(scene, offset);
}
static void empty_slab_in_a_list(scene_t *scene) { empty_slab(scene)->word |= SHM_LINKED; }
static void empty_slab_is_free(scene_t *scene) {
    shm_page_t *entry = empty_slab(scene);
    entry->word = with_state(entry->word, SHM_FREE);
}
static void empty_slab_of_no_length(scene_t *scene) {
    shm_page_t *entry = empty_slab(scene);
    entry->word = with_pages(entry->word, 0);
}
static void empty_slab_of_no_state(scene_t *scene) {
    shm_page_t *entry = empty_slab(scene);
    entry->word = with_state(entry->word, 9);
}

static void shrunk(scene_t *scene) {
    scene->header->total_pages = scene->header->constants.first_page + 1;
}
static void all_gone(scene_t *scene) { scene->header->total_pages = 0; }
static void too_large(scene_t *scene) {
    scene->header->total_pages = scene->header->constants.max_pages + 1;
}

static void cached_is_taken(scene_t *scene) {
    shm_page_t *entry = entry_at(scene, scene->cached, 0);
    entry->word = with_state(entry->word, SHM_BLOCK);
}
/* The cache has no room: for what is freed next, half of it is given back, what came last first. */
static void full_cache_is_taken(scene_t *scene) {
    JEXPECT_OK(jshared_deallocate(scene->shared, scene->front));
    JEXPECT_OK(jshared_deallocate(scene->shared, scene->middle));
    shm_page_t *entry = entry_at(scene, scene->middle, 0);
    entry->word = with_state(entry->word, SHM_BLOCK);
}
static void tail_of_nothing(scene_t *scene) {
    entry_at(scene, scene->cached, -1)->word = SHM_WORD(SHM_TAIL, 0, 0, 0, 0xfffff);
}
static void tail_in_the_header(scene_t *scene) {
    const uint64_t page = scene->header->constants.first_page - 1,
                   back = (scene->cached >> SHM_PAGE_SHIFT) - 1 - page;
    entry_at(scene, scene->cached, -1)->word = SHM_WORD(SHM_TAIL, 0, 0, 0, back);
    entry_at(scene, page << SHM_PAGE_SHIFT, 0)->word = SHM_WORD(SHM_FREE, 0, 0, 0, back + 1);
}
static void tail_of_a_block(scene_t *scene) {
    entry_at(scene, scene->cached, -1)->word = SHM_WORD(SHM_TAIL, 0, 0, 0, EXTENT_PAGES - 1);
}
static void before_is_in_no_list(scene_t *scene) {
    entry_at(scene, scene->cached, -1)->word = SHM_WORD(SHM_FREE, 0, 0, 0, 1);
}
static void next_beyond_the_end(scene_t *scene) {
    entry_at(scene, scene->guard, 0)->word = SHM_WORD(SHM_FREE, 0, 0, 0, 0xfffff);
    entry_at(scene, scene->behind, 0)->word = SHM_WORD(SHM_FREE, 0, 0, 0, 0xfffff);
}
static void next_is_in_no_list(scene_t *scene) {
    entry_at(scene, scene->guard, 0)->word = SHM_WORD(SHM_FREE, 0, 0, 0, EXTENT_PAGES);
    entry_at(scene, scene->behind, 0)->word = SHM_WORD(SHM_FREE, 0, 0, 0, EXTENT_PAGES);
}
/* The lists of free extents, which the rest of one goes into. */
static void bins_lead_out(scene_t *scene) {
    for (unsigned bin = 0; bin < SHM_BINS; ++bin)
        if (scene->header->bins[bin] == 0)
            scene->header->bins[bin] = 0x7fffffff;
}

typedef struct damage_row {
    const char *label;
    void (*plant)(scene_t *scene);
    jstatus_t (*work)(scene_t *scene);
    const char *says; /* a part of the message */
} damage_row_t;
static const damage_row_t damage_rows[] = {
    {"dirty_beyond", dirty_beyond, get_a_slab, "is no slab of its"},
    {"dirty_extent", dirty_extent, get_a_slab, "is no slab of its"},
    {"dirty_foreign", dirty_foreign, get_a_slab, "is no slab of its"},
    {"dirty_inside", dirty_inside, get_a_slab, "is no slab of its"},
    {"dirty_when_closing", dirty_beyond, close_allocator, "is no slab of its"},
    {"dirty_links", dirty_links, get_a_slab, "do not lead back"},
    {"dirty_links_to_another", dirty_links_to_another, get_a_slab, "do not lead back"},
    {"dirty_behind_false_tails", dirty_behind_false_tails, get_a_slab,
     "ends an extent that is not there"},
    {"orphans_beyond", orphans_beyond, adopt, "in the list of orphans and is none"},
    {"orphans_owned", orphans_owned, adopt, "in the list of orphans and is none"},
    {"orphans_header", orphans_header, adopt, "in the list of orphans and is none"},
    {"orphans_when_closing", orphans_beyond, close_allocator, "a list begins at page"},
    {"orphan_of_no_allocator", orphan_of_no_allocator, adopt, "in the list of orphans and is none"},
    {"orphan_of_no_class", orphan_of_no_class, adopt, "in the list of orphans and is none"},
    {"orphan_too_long", orphan_too_long, adopt, "in the list of orphans and is none"},
    {"orphan_out_of_place", orphan_out_of_place, adopt, "in the list of orphans and is none"},
    {"orphan_links", orphan_links, adopt, "do not lead back"},
    {"orphan_links_when_freed", orphan_links, free_orphan, "do not lead back"},
    {"orphan_of_odd_blocks", orphan_of_odd_blocks, adopt, "in the list of orphans and is none"},
    {"orphan_of_unaligned_blocks", orphan_of_unaligned_blocks, adopt,
     "in the list of orphans and is none"},
    {"orphan_of_large_blocks", orphan_of_large_blocks, adopt, "in the list of orphans and is none"},
    {"slab_of_nobody", slab_of_nobody, free_foreign, "is a slab of slot 0"},
    {"slab_of_no_slot", slab_of_no_slot, free_foreign, "is a slab of slot 200"},
    {"others_list", others_list, free_foreign, "a list begins at page"},
    {"empty_slab_in_a_list", empty_slab_in_a_list, run_out, "do not lead back"},
    {"empty_slab_is_free", empty_slab_is_free, run_out, "is freed and is no extent"},
    {"empty_slab_of_no_length", empty_slab_of_no_length, run_out, "is freed and is no extent"},
    {"empty_slab_of_no_state", empty_slab_of_no_state, run_out, "is freed and is no extent"},
    {"shrunk", shrunk, run_out, "is freed and is no extent"},
    {"all_gone", all_gone, run_out, "larger than its memory"},
    {"too_large", too_large, run_out, "larger than its memory"},
    {"cached_is_taken", cached_is_taken, run_out, "is no cached extent"},
    {"full_cache_is_taken", full_cache_is_taken, free_behind, "is no cached extent"},
    {"tail_of_nothing", tail_of_nothing, run_out, "ends an extent that is not there"},
    {"tail_in_the_header", tail_in_the_header, run_out, "ends an extent that is not there"},
    {"tail_of_a_block", tail_of_a_block, run_out, "ends an extent that is not there"},
    {"before_is_in_no_list", before_is_in_no_list, run_out, "do not lead back"},
    {"next_beyond_the_end", next_beyond_the_end, run_out, "begins a free extent beyond the end"},
    {"next_is_in_no_list", next_is_in_no_list, run_out, "do not lead back"},
    {"longer_beyond_the_end", next_beyond_the_end, lengthen, "begins a free extent beyond the end"},
    {"longer_by_what_is_in_no_list", next_is_in_no_list, lengthen, "do not lead back"},
    {"slab_beside_bins_that_lead_out", bins_lead_out, get_a_slab, "a list begins at page"},
    {"extent_beside_bins_that_lead_out", bins_lead_out, get_an_extent, "a list begins at page"},
};
static void damage_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const damage_row_t *)parameter)->label);
}

JTEST_P_NAMED(SharedDamage, IsToldAndPoisons, damage_row_t, damage_rows, damage_label) {
    SCENE(scene);
    if (jtest_has_failure())
        return;
    param->plant(&scene);
    JEXPECT_STATUS(param->work(&scene), JSTATUS_CORRUPTED);
    JEXPECT_SUBSTR(jstatus_last_message(), param->says);
    JEXPECT_EQ(scene.header->poisoned, 1);
    JEXPECT_EQ(scene.header->log_count, 0); /* what was half done is undone */
    JEXPECT_STATUS(allocate(scene.others, 30000), JSTATUS_CORRUPTED);
    for (size_t i = 0; i < EXTENT_BYTES; ++i)
        JASSERT_EQ(scene.bytes[i], 0x5A);
}

/* ---- What is no block ---- */

JTEST(SharedDamage, WhatIsNoSoundExtentOrSlabHoldsNoBlock) {
    SCENE(scene);
    shm_page_t *front = entry_at(&scene, scene.front, 0), *slab = slab_entry(&scene, scene.small);
    const uint64_t front_word = front->word, slab_word = slab->word;
    const struct {
        shm_page_t *entry;
        uint64_t word;
        joffset_t offset;
    } rows[] = {{front, with_pages(front_word, 0xfffff), scene.front},
                {front, with_state(front_word, 9), scene.front},
                {slab, with_class(slab_word, SHM_OWN_CLASS + 1), scene.small},
                {slab, with_pages(slab_word, 1 << 16), scene.small},
                {slab, with_allocator(slab_word, SHM_ALLOCATORS), scene.small}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        JSCOPED_TRACE("row %zu", i);
        const uint64_t was = rows[i].entry->word;
        rows[i].entry->word = rows[i].word;
        JEXPECT_FALSE(shared_is_live(scene.shared, rows[i].offset));
        JEXPECT_FALSE(shared_is_live(scene.others, rows[i].offset));
        JEXPECT_STATUS(jshared_deallocate(scene.others, rows[i].offset), JSTATUS_NOT_FOUND);
        rows[i].entry->word = was;
        JEXPECT_TRUE(shared_is_live(scene.shared, rows[i].offset));
    }
    segment_books(scene.segment); /* nothing was lost, and nobody took it for damage */
}

/* What a slab looks like follows from the size of its blocks and its length, and not from all of
 * them does one follow. */
JTEST(SharedDamage, ASlabHasBlocksOfASizeAndALengthThatItMayHave) {
    static const struct {
        uint64_t block_bytes, pages;
        bool sound;
    } rows[] = {{16, 1, true},     {0, 4, false},    {8, 4, false},  {40, 4, false},
                {8208, 32, false}, {16, 0, false},   {16, 3, false}, {16, 64, false},
                {8192, 1, false},  {4096, 1, false}, {8192, 4, true}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        JSCOPED_TRACE("blocks of %u bytes in %u pages", (unsigned)rows[i].block_bytes,
                      (unsigned)rows[i].pages);
        shm_geometry_t geometry = {0};
        JEXPECT_EQ(ji_slab_geometry(rows[i].block_bytes, rows[i].pages, &geometry), rows[i].sound);
        if (rows[i].sound) {
            JEXPECT_GT(geometry.block_count, 0);
            JEXPECT_LE(geometry.first_offset +
                           (uint64_t)geometry.block_count * geometry.block_bytes,
                       rows[i].pages * SHM_PAGE_BYTES);
        }
    }
}

/* The segment says that a slab is this slot's, and this attachment knows of none, of an extent, or
 * of another allocator's: what it knows by itself counts. */
JTEST(SharedDamage, ASlabThatIsNotKnownIsNotFreedIn) {
    SCENE(scene);
    const unsigned me = jsegment_slot(scene.segment);
    jshared_t *alien = shared_make(scene.segment, 2);
    const jsegment_stats_t before = segment_books(scene.segment);

    shm_page_t *entry = slab_entry(&scene, scene.foreign);
    uint64_t was = entry->word;
    entry->word = SHM_WITH_OWNER(was, me);
    JEXPECT_STATUS(jshared_deallocate(scene.shared, scene.foreign), JSTATUS_NOT_FOUND);
    entry->word = was;

    shm_geometry_t geometry;
    entry = entry_at(&scene, scene.front, 0);
    was = entry->word;
    JASSERT_TRUE(ji_slab_geometry(1024, 1, &geometry));
    memset(scene.bytes, 0, geometry.first_offset);
    memset(scene.bytes + geometry.owners_offset, (int)me, geometry.block_count);
    entry->word = SHM_WORD(SHM_SLAB, me, 0, ji_class_of(1024), 1);
    JEXPECT_STATUS(jshared_deallocate(scene.shared, scene.front + geometry.first_offset),
                   JSTATUS_NOT_FOUND);
    entry->word = was;

    /* It is moved by what the segment says, and not given back: then the move is not made. */
    entry = slab_entry(&scene, scene.small);
    was = entry->word;
    entry->word = with_allocator(was, 1);
    joffset_t moved = scene.small;
    JEXPECT_STATUS(jshared_reallocate(alien, &moved, 5000, 0), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(moved, scene.small);
    entry->word = was;

    const jsegment_stats_t after = segment_books(scene.segment);
    JEXPECT_EQ(after.owned_bytes, before.owned_bytes);
    JEXPECT_TRUE(shared_is_live(scene.shared, scene.small) &&
                 shared_is_live(scene.shared, scene.foreign));
    JEXPECT_TRUE(shared_is_live(scene.shared, scene.front));
}

/* An extent in the cache that the segment says is another's is not handed out. */
JTEST(SharedDamage, AnExtentThatChangedInTheCacheIsNotHandedOut) {
    SCENE(scene);
    cached_is_taken(&scene);
    JEXPECT_NE(shared_take(scene.shared, EXTENT_BYTES), scene.cached);
    JEXPECT_EQ(scene.header->poisoned, 0);
    JEXPECT_STATUS(run_out(&scene), JSTATUS_CORRUPTED); /* who empties the cache says so */
}

/* ---- Owner bytes ---- */

/* Blocks of the largest class, of which a slab has few, and so has a magazine. */
enum { LARGEST = 8192, PER_SLAB = 15, KEPT = 4 };

typedef struct slabs {
    place_t place;
    jsegment_t *segment, *second;
    jshared_t *shared, *others;
    joffset_t blocks[3][PER_SLAB]; /* of three slabs, each full; the magazine is empty */
} slabs_t;
static void slabs_begin(slabs_t *slabs) {
    memset(slabs, 0, sizeof *slabs);
    place_begin(&slabs->place, JSEGMENT_MEMFD, 4 * MIB, 0);
    slabs->place.options.timeout_ms = 5;
    slabs->segment = place_create(&slabs->place);
    slabs->second = place_attach(&slabs->place);
    slabs->shared = shared_make(slabs->segment, 1);
    slabs->others = shared_open(slabs->second, 1);
    JEXPECT_OK(jshared_allocate_many(slabs->shared, LARGEST, 0, 3 * PER_SLAB, slabs->blocks[0]));
    for (size_t i = 0; i < 3; ++i) {
        uint64_t first, last;
        JEXPECT_EQ(geometry_at(slabs->segment, slabs->blocks[i][0], &first).block_count, PER_SLAB);
        geometry_at(slabs->segment, slabs->blocks[i][PER_SLAB - 1], &last);
        JEXPECT_EQ(first, last);
    }
}
static void slabs_end(slabs_t *slabs) {
    segment_books(slabs->segment);
    JEXPECT_OK(jsegment_detach(slabs->second));
    JEXPECT_OK(jsegment_detach(slabs->segment));
    place_end(&slabs->place);
}
#define SLABS(slabs)                                                                               \
    __attribute__((cleanup(slabs_end))) slabs_t slabs;                                             \
    slabs_begin(&slabs)

/* Its owner and another one free a block at the same moment: each sees it live. The bit of the
 * other one is taken away while the owner looks, and is there again afterwards. */
static void free_at_once(slabs_t *slabs, joffset_t offset) {
    uint64_t bit;
    JEXPECT_OK(jshared_deallocate(slabs->others, offset));
    _Atomic(uint64_t) *freed = freed_at(slabs->segment, offset, &bit);
    JEXPECT_NE(atomic_fetch_and(freed, ~bit) & bit, 0);
    JEXPECT_OK(jshared_deallocate(slabs->shared, offset));
    atomic_fetch_or(freed, bit);
}

JTEST(SharedDamage, ABlockThatTwoFreeAtOnceIsFreeOnce) {
    SLABS(slabs);
    if (jtest_has_failure())
        return;
    free_at_once(&slabs, slabs.blocks[0][0]);
    /* A new slab: first it is taken what others have freed. */
    const joffset_t other = shared_take(slabs.shared, 64);
    joffset_t again[2];
    JEXPECT_EQ(again[0] = shared_take(slabs.shared, LARGEST), slabs.blocks[0][0]);
    JEXPECT_NE(again[1] = shared_take(slabs.shared, LARGEST), again[0]);
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, 2, again));
    JEXPECT_OK(jshared_deallocate(slabs.shared, other));
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, 2 * PER_SLAB + 14, &slabs.blocks[0][1]));
    segment_expect_empty(slabs.segment);
}

/* The same with the last one of a slab, which then is given back from its owner's list of slabs to
 * look at. */
JTEST(SharedDamage, ASlabWhoseLastBlockTwoFreeAtOnceIsGivenBack) {
    SLABS(slabs);
    if (jtest_has_failure())
        return;
    const uint64_t slab = ji_slab_containing(slabs.segment, slabs.blocks[1][0] >> SHM_PAGE_SHIFT);
    /* One that is empty is kept. */
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, PER_SLAB, slabs.blocks[0]));
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, PER_SLAB - 1, slabs.blocks[1]));
    free_at_once(&slabs, slabs.blocks[1][PER_SLAB - 1]);
    JEXPECT_EQ(SHM_STATE(page_of(slabs.segment, slab << SHM_PAGE_SHIFT)->word), SHM_SLAB);
    /* The magazine is emptied by these. */
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, PER_SLAB, slabs.blocks[2]));
    JEXPECT_NE(SHM_STATE(page_of(slabs.segment, slab << SHM_PAGE_SHIFT)->word), SHM_SLAB);
    segment_expect_empty(slabs.segment);
}

/* An empty slab that could not be given back, as the segment was busy, is used again, and given
 * back with the next. */
JTEST(SharedDamage, ASlabThatIsEmptiedWhileTheSegmentIsBusyStays) {
    SLABS(slabs);
    if (jtest_has_failure())
        return;
    hold_lock(slabs.second);
    for (size_t i = 0; i < 3; ++i)
        for (size_t k = 0; k < PER_SLAB; ++k)
            /* Freeing needs no lock. */
            JEXPECT_OK(jshared_deallocate(slabs.shared, slabs.blocks[i][k]));
    drop_lock(slabs.second);
    segment_expect_empty(slabs.segment);
    joffset_t again[3 * PER_SLAB];
    JEXPECT_OK(jshared_allocate_many(slabs.shared, LARGEST, 0, COUNT_OF(again), again));
    for (size_t i = 0; i < COUNT_OF(again); ++i)
        for (size_t k = 0; k < i; ++k)
            JEXPECT_NE(again[i], again[k]);
    const jsegment_stats_t stats = segment_books(slabs.segment);
    JEXPECT_EQ(stats.owned_bytes, COUNT_OF(again) * (size_t)LARGEST);
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, COUNT_OF(again), again));
    JEXPECT_STATUS(allocate(slabs.shared, 8 * MIB), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(segment_books(slabs.segment).cached_bytes, 0);
}

/* A block that was never handed out and that the segment says is owned: freed by its owner or by
 * another one, it goes where it was. */
JTEST(SharedDamage, ABlockThatWasNotAllocatedIsFreedIntoNothing) {
    SCENE(scene);
    const jsegment_stats_t before = segment_books(scene.segment);
    /* Behind what waits in the magazine. */
    const joffset_t far[] = {scene.small + 40 * 48, scene.small + 41 * 48};
    for (size_t i = 0; i < COUNT_OF(far); ++i) {
        JEXPECT_FALSE(shared_is_live(scene.shared, far[i]));
        atomic_store(owner_at(scene.segment, far[i]), (uint8_t)jsegment_slot(scene.segment));
        JEXPECT_OK(jshared_deallocate(i == 0 ? scene.shared : scene.others, far[i]));
    }
    JEXPECT_STATUS(run_out(&scene), JSTATUS_MEMORY_ERROR);
    atomic_store(owner_at(scene.segment, far[1]), 0);
    joffset_t many[80];
    JEXPECT_OK(jshared_allocate_many(scene.shared, 48, 0, COUNT_OF(many), many));
    for (size_t i = 0; i < COUNT_OF(many); ++i)
        for (size_t k = 0; k < i; ++k)
            JEXPECT_NE(many[i], many[k]);
    JEXPECT_OK(jshared_deallocate_many(scene.shared, COUNT_OF(many), many));
    const jsegment_stats_t after = segment_books(scene.segment);
    JEXPECT_EQ(after.owned_bytes, before.owned_bytes);
}

/* Blocks that are freed twice, as their owner bytes came back, are in the magazine twice: when the
 * first half goes out of it, their slab is empty and is given back, its shadow too. What is left of
 * it in the magazine leads nowhere, to an extent, or to another slab that lies there now. */
static const bool slabs_after[] = {false, true};
JTEST_P(SharedDamage, AMagazineOutlivesASlab, bool, slabs_after) {
    SLABS(slabs);
    if (jtest_has_failure())
        return;
    joffset_t *blocks = slabs.blocks[1], *last = blocks + PER_SLAB - KEPT;
    JEXPECT_OK(jshared_deallocate_many(slabs.others, PER_SLAB, slabs.blocks[0]));
    JEXPECT_OK(jshared_deallocate_many(slabs.others, PER_SLAB - KEPT, blocks));
    /* A new slab: first it is taken what others have freed. */
    const joffset_t other = shared_take(slabs.shared, 64);
    const uint64_t slab = ji_slab_containing(slabs.segment, last[0] >> SHM_PAGE_SHIFT);
    _Atomic(uint8_t) *owners[KEPT];
    for (size_t i = 0; i < KEPT; ++i)
        owners[i] = owner_at(slabs.segment, last[i]);
    for (size_t i = 0; i <= 2 * KEPT; ++i) {
        atomic_store(owners[i % KEPT], (uint8_t)jsegment_slot(slabs.segment));
        JEXPECT_OK(jshared_deallocate(slabs.shared, last[i % KEPT]));
    }
    JASSERT_NE(SHM_STATE(page_of(slabs.segment, slab << SHM_PAGE_SHIFT)->word), SHM_SLAB);

    joffset_t after[20];
    size_t count = 0;
    for (bool there = false; !there && count < COUNT_OF(after); ++count) {
        after[count] =
            /* A class each. */
            shared_take(slabs.shared, *param ? ji_class_bytes((unsigned)count + 4) : 9000);
        for (size_t i = 0; i < KEPT; ++i)
            there |= *param ? ji_slab_containing(slabs.segment, last[i] >> SHM_PAGE_SHIFT) != 0
                            : after[count] == last[i];
    }
    JEXPECT_LT(count, COUNT_OF(after));
    /* Empties the magazine. */
    JEXPECT_STATUS(allocate(slabs.shared, 8 * MIB), JSTATUS_MEMORY_ERROR);
    for (size_t i = 0; i < count; ++i)
        JEXPECT_TRUE(shared_is_live(slabs.shared, after[i]));
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, count, after));
    JEXPECT_OK(jshared_deallocate_many(slabs.shared, PER_SLAB, slabs.blocks[2]));
    JEXPECT_OK(jshared_deallocate(slabs.shared, other));
    segment_expect_empty(slabs.segment);
}
