/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Each public operation, in the states in which it takes different ways.
 *
 * `operate` is what is stepped. It says on the board beforehand what its death may leave: a block
 * it frees may be gone, a block it gives may have changed hands. Everything else that the victim
 * has must be gone, and everything that the survivor has must be there. */

#include "crash.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jalloc/status.h"
#include "shm/backing.h"

#define MUST(call) victim_must(crash, call, #call)
#define BLOCK(i) (crash->board->blocks[i])

/* ---- Allocation ---- */

static void take(crash_t *crash, unsigned id, size_t size_bytes, size_t alignment) {
    crash_board_t *board = crash->board;
    board->blocks[board->count] = (crash_block_t){.size_bytes = size_bytes, .id = id};
    MUST(jshared_allocate(crash_shared(crash, id), size_bytes, alignment,
                          &board->blocks[board->count].offset));
    board->count++;
}
static void take_general(crash_t *crash, size_t size_bytes) {
    take(crash, ID_GENERAL, size_bytes, 0);
}

static void prepare_64(crash_t *crash) { victim_take(crash, ID_GENERAL, 64); }
static void allocate_64(crash_t *crash) { take_general(crash, 64); }
static void allocate_16(crash_t *crash) { take_general(crash, 16); }
static void allocate_1000(crash_t *crash) { take_general(crash, 1000); }
static void allocate_8192(crash_t *crash) { take_general(crash, 8192); }
static void allocate_64k(crash_t *crash) { take_general(crash, 65536); }
static void allocate_40k(crash_t *crash) { take_general(crash, 40960); }
static void allocate_page(crash_t *crash) { take(crash, ID_PAGES, CRASH_PAGE_BYTES, 0); }
static void allocate_aligned_256(crash_t *crash) { take(crash, ID_GENERAL, 300, 256); }
static void allocate_aligned_64k(crash_t *crash) { take(crash, ID_GENERAL, 20000, 65536); }

/* An extent of 64 KiB and one of 40 KiB in the cache. */
static void prepare_cached(crash_t *crash) {
    for (int i = 0; i < 2; i++) {
        size_t block = victim_take(crash, ID_GENERAL, i == 0 ? 65536 : 40960);
        MUST(jshared_deallocate(crash->general, BLOCK(block).offset));
    }
    crash->board->count = 0;
}

/* Free extents of several lengths, with blocks between them. */
static void prepare_holes(crash_t *crash) {
    size_t first = crash->board->count;
    for (size_t i = 0; i < 12; i++)
        victim_take(crash, ID_GENERAL, 12288 + 4096 * (i % 5));
    for (size_t i = 0; i < 12; i += 2) {
        joffset_t *offset = &BLOCK(first + i).offset;
        /* So that it does not go to the cache. */
        MUST(jshared_give(crash->general, *offset, JSEGMENT_SLOT_SEGMENT));
        MUST(jshared_deallocate(crash->general, *offset));
        *offset = JOFFSET_NULL;
    }
}

/* A full slab of 1 KiB blocks, half of which the survivor frees meanwhile. */
enum { REMOTE_COUNT = 32 };
static void prepare_full_slab(crash_t *crash) {
    for (size_t i = 0; i < REMOTE_COUNT; i++)
        victim_take(crash, ID_GENERAL, 1024);
}
static void meanwhile_free_half(crash_t *crash) {
    for (size_t i = 0; i < REMOTE_COUNT; i += 2) {
        crash_succeeds(crash, jshared_deallocate(crash->general, BLOCK(i).offset),
                       "freeing the victim's block");
        BLOCK(i).offset = JOFFSET_NULL;
    }
}
static void allocate_many_1024(crash_t *crash) {
    joffset_t offsets[64];
    MUST(jshared_allocate_many(crash->general, 1024, 0, 64, offsets));
    for (size_t i = 0; i < 64; i++)
        BLOCK(crash->board->count++) =
            (crash_block_t){.offset = offsets[i], .size_bytes = 1024, .id = ID_GENERAL};
}
static void allocate_many_64(crash_t *crash) {
    joffset_t offsets[20];
    MUST(jshared_allocate_many(crash->general, 64, 0, 20, offsets));
}
static void allocate_many_pages(crash_t *crash) {
    joffset_t offsets[20];
    MUST(jshared_allocate_many(crash->pages, CRASH_PAGE_BYTES, 0, 20, offsets));
}

static void expect_no_memory(crash_t *crash, jstatus_t status) {
    victim_must(crash, status == JSTATUS_MEMORY_ERROR ? JSTATUS_SUCCESS : JSTATUS_INTERNAL_ERROR,
                "no memory is left");
}
static void prepare_full(crash_t *crash) {
    joffset_t offset;
    while (jshared_allocate(crash->general, 32768, 0, &offset) == JSTATUS_SUCCESS)
        ;
}
static void allocate_too_much(crash_t *crash) {
    joffset_t offset;
    expect_no_memory(crash, jshared_allocate(crash->general, 65536, 0, &offset));
}
static void allocate_many_too_much(crash_t *crash) {
    joffset_t offsets[64];
    expect_no_memory(crash, jshared_allocate_many(crash->general, 8192, 0, 64, offsets));
}

/* What does not fit the first size, so that the segment grows. */
static void allocate_growing(crash_t *crash) { take_general(crash, 400 << 10); }
static void grow(crash_t *crash) { MUST(jsegment_grow(crash->segment, 900 << 10)); }

/* Runs `body` in a process of its own, which ends without detaching. */
static void die_after(crash_t *crash, void (*body)(crash_t *crash)) {
    pid_t child = fork();
    if (child == 0) {
        body(crash);
        _exit(0);
    }
    siginfo_t information;
    while (waitid(P_PID, (id_t)child, &information, WEXITED) != 0)
        ;
}
/* Takes all memory; the victim will run out and take it. */
static void take_all(crash_t *crash) {
    joffset_t offset;
    while (jshared_allocate(crash->general, 20000, 0, &offset) == JSTATUS_SUCCESS)
        (void)jshared_allocate(crash->general, 200, 0, &offset);
}
static void prepare_dead_neighbour(crash_t *crash) { die_after(crash, take_all); }
static void attach_and_take_all(crash_t *crash) {
    victim_must(crash, crash_attach(crash), "attaching");
    take_all(crash);
}
/* Dead processes have all slots but the survivor's. */
static void prepare_slots_of_dead(crash_t *crash) {
    pid_t children[RANDOM_PROCESSES];
    const unsigned count = crash->processes - 1;
    volatile uint64_t *attached = &crash->board->numbers[0];
    for (unsigned i = 0; i < count; i++)
        if ((children[i] = fork()) == 0) {
            joffset_t offset;
            /* Else there is a second victim, who has a slot. */
            if (crash_attach(crash) == JSTATUS_SUCCESS)
                (void)jshared_allocate(crash->general, 200, 0, &offset);
            __atomic_fetch_add(attached, 1, __ATOMIC_SEQ_CST);
            pause();
        }
    while (*attached < count)
        usleep(100);
    for (unsigned i = 0; i < count; i++) {
        siginfo_t information;
        kill(children[i], SIGKILL);
        while (waitid(P_PID, (id_t)children[i], &information, WEXITED) != 0)
            ;
    }
}
static void prepare_attach_dead(crash_t *crash) { die_after(crash, attach_and_take_all); }
/* A slab of a dead process in which a block has been given to the segment: the segment's. */
static void leave_orphan(crash_t *crash) {
    for (int i = 0; i < 3; i++)
        victim_take(crash, ID_GENERAL, 64);
    BLOCK(1).heir = JSEGMENT_SLOT_SEGMENT;
    BLOCK(1).flags = BLOCK_IS_HERE;
    MUST(jshared_give(crash->general, BLOCK(1).offset, JSEGMENT_SLOT_SEGMENT));
}
static void prepare_orphan(crash_t *crash) {
    die_after(crash, leave_orphan);
    MUST(jsegment_recover(crash->segment, NULL));
    BLOCK(0).offset = BLOCK(2).offset = JOFFSET_NULL;
}
static void prepare_orphan_to_free(crash_t *crash) {
    prepare_orphan(crash);
    BLOCK(0) = BLOCK(1);
    BLOCK(0).flags |= BLOCK_MAY_BE_GONE;
    crash->board->count = 1;
}

/* ---- Free ---- */

static void free_0(crash_t *crash) { MUST(jshared_deallocate(crash->general, BLOCK(0).offset)); }

static void prepare_two_64(crash_t *crash) {
    prepare_64(crash);
    prepare_64(crash);
}
/* Several slabs, all of whose blocks are freed: magazines overflow, slabs are given back. */
enum { SLABS_COUNT = 200 };
static void prepare_slabs(crash_t *crash) {
    for (size_t i = 0; i < SLABS_COUNT; i++)
        victim_take(crash, ID_GENERAL, 1024);
}
static void free_slabs(crash_t *crash) {
    joffset_t offsets[SLABS_COUNT];
    for (size_t i = 0; i < SLABS_COUNT; i++)
        offsets[i] = BLOCK(i).offset;
    MUST(jshared_deallocate_many(crash->general, SLABS_COUNT, offsets));
}

static void prepare_page(crash_t *crash) { victim_take(crash, ID_PAGES, CRASH_PAGE_BYTES); }
static void free_page(crash_t *crash) { MUST(jshared_deallocate(crash->pages, BLOCK(0).offset)); }
static void prepare_40k(crash_t *crash) { victim_take(crash, ID_GENERAL, 40960); }
static void prepare_400k(crash_t *crash) { victim_take(crash, ID_GENERAL, 400 << 10); }

/* As many as the cache takes of one length, and one more: half of them go back and join. */
static void prepare_full_cache(crash_t *crash) {
    for (size_t i = 0; i < 33; i++)
        victim_take(crash, ID_GENERAL, 12288);
    for (size_t i = 1; i < 33; i++) {
        MUST(jshared_deallocate(crash->general, BLOCK(i).offset));
        BLOCK(i).offset = JOFFSET_NULL;
    }
}

/* Three neighbours of the segment's, of which the outer ones are free. */
static void prepare_middle(crash_t *crash) {
    for (size_t i = 0; i < 3; i++)
        MUST(jshared_give(crash->general, BLOCK(victim_take(crash, ID_GENERAL, 20480)).offset,
                          JSEGMENT_SLOT_SEGMENT));
    size_t middle = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t below = 0;
        for (size_t j = 0; j < 3; j++)
            below += BLOCK(j).offset < BLOCK(i).offset;
        if (below == 1)
            middle = i;
    }
    for (size_t i = 0; i < 3; i++)
        if (i != middle)
            MUST(jshared_deallocate(crash->general, BLOCK(i).offset));
    BLOCK(0) = BLOCK(middle);
    BLOCK(0).heir = JSEGMENT_SLOT_SEGMENT;
    BLOCK(0).flags = BLOCK_IS_HERE | BLOCK_MAY_BE_GONE;
    crash->board->count = 1;
}

static void give_0(crash_t *crash, size_t size_bytes, unsigned slot) {
    victim_take(crash, ID_GENERAL, size_bytes);
    MUST(jshared_give(crash->general, BLOCK(0).offset, slot));
    BLOCK(0).heir = slot;
    BLOCK(0).flags = BLOCK_IS_HERE;
}
static void prepare_given_small(crash_t *crash) {
    give_0(crash, 200, JSEGMENT_SLOT_SEGMENT);
    BLOCK(0).flags |= BLOCK_MAY_BE_GONE;
}
static void prepare_given_large(crash_t *crash) {
    give_0(crash, 20000, JSEGMENT_SLOT_SEGMENT);
    BLOCK(0).flags |= BLOCK_MAY_BE_GONE;
}
static void prepare_given_to_survivor(crash_t *crash) {
    give_0(crash, 200, crash->board->survivor);
    BLOCK(0).flags |= BLOCK_MAY_BE_GONE;
}

static void prepare_freed(crash_t *crash) {
    prepare_two_64(crash);
    free_0(crash);
}
static void free_refused(crash_t *crash) {
    jstatus_t status = jshared_deallocate(crash->general, BLOCK(0).offset);
    victim_must(crash, status == JSTATUS_NOT_FOUND ? JSTATUS_SUCCESS : JSTATUS_INTERNAL_ERROR,
                "a second free");
}

/* The survivor's blocks, freed by the victim. */
static void own_take(crash_t *crash, unsigned id, size_t size_bytes) {
    crash_block_t *block = &crash->own[crash->own_count];
    *block = (crash_block_t){.size_bytes = size_bytes, .id = id, .flags = BLOCK_MAY_BE_GONE};
    if (crash_succeeds(crash,
                       jshared_allocate(crash_shared(crash, id), size_bytes, 0, &block->offset),
                       "own block")) {
        crash_fill(crash->segment, block->offset, size_bytes, 0);
        crash->own_count++;
        crash->board->numbers[0] = block->offset; /* the last one */
    }
}
static void before_remote_small(crash_t *crash) { own_take(crash, ID_GENERAL, 64); }
static void before_remote_large(crash_t *crash) { own_take(crash, ID_GENERAL, 40960); }
static void before_remote_page(crash_t *crash) { own_take(crash, ID_PAGES, CRASH_PAGE_BYTES); }
static void free_remote(crash_t *crash) {
    MUST(jshared_deallocate(crash->general, crash->board->numbers[0]));
}
static void free_remote_page(crash_t *crash) {
    MUST(jshared_deallocate(crash->pages, crash->board->numbers[0]));
}

/* Many of the survivor's: their offsets go over the board. They are small ones of two classes and
 * large ones. */
enum { MANY = 24 };
static void before_remote_many(crash_t *crash) {
    for (size_t i = 0; i < MANY; i++)
        own_take(crash, ID_GENERAL, i % 8 == 7 ? 20000 : i % 2 ? 64 : 1024);
    for (size_t i = 0; i < MANY; i++)
        BLOCK(CRASH_BLOCKS - 1 - i) = crash->own[crash->own_count - 1 - i];
}
static void free_remote_many(crash_t *crash) {
    joffset_t offsets[MANY];
    for (size_t i = 0; i < MANY; i++)
        offsets[i] = BLOCK(CRASH_BLOCKS - 1 - i).offset;
    MUST(jshared_deallocate_many(crash->general, MANY, offsets));
}

static void prepare_many(crash_t *crash) {
    for (size_t i = 0; i < MANY; i++)
        victim_take(crash, ID_GENERAL, i % 8 == 7 ? 20000 : i % 2 ? 64 : 1024);
}
static void free_many(crash_t *crash) {
    joffset_t offsets[MANY];
    for (size_t i = 0; i < MANY; i++)
        offsets[i] = BLOCK(i).offset;
    MUST(jshared_deallocate_many(crash->general, MANY, offsets));
}

/* ---- Realloc ---- */

static void realloc_0(crash_t *crash, size_t size_bytes) {
    joffset_t offset = BLOCK(0).offset;
    MUST(jshared_reallocate(crash->general, &offset, size_bytes, 0));
}
static void realloc_40k_to_60k(crash_t *crash) { realloc_0(crash, 61440); }
static void realloc_40k_to_16k(crash_t *crash) { realloc_0(crash, 16384); }
static void realloc_40k_to_100(crash_t *crash) { realloc_0(crash, 100); }
static void realloc_64_to_200(crash_t *crash) { realloc_0(crash, 200); }
static void realloc_64_to_20k(crash_t *crash) { realloc_0(crash, 20480); }
static void realloc_64_to_50(crash_t *crash) { realloc_0(crash, 50); }
static void realloc_null(crash_t *crash) {
    joffset_t offset = JOFFSET_NULL;
    MUST(jshared_reallocate(crash->general, &offset, 200, 0));
}
static void realloc_to_nothing(crash_t *crash) { realloc_0(crash, 0); }
static void prepare_40k_with_room(crash_t *crash) {
    for (size_t i = 0; i < 2; i++)
        victim_take(crash, ID_GENERAL, 40960);
    if (BLOCK(1).offset < BLOCK(0).offset) {
        crash_block_t swapped = BLOCK(0);
        BLOCK(0) = BLOCK(1);
        BLOCK(1) = swapped;
    }
    MUST(jshared_give(crash->general, BLOCK(1).offset, JSEGMENT_SLOT_SEGMENT));
    MUST(jshared_deallocate(crash->general, BLOCK(1).offset));
    BLOCK(1).offset = JOFFSET_NULL;
}
/* The segment's own block changes its size in place: it stays the segment's, its first part stays
 * as it was. */
static void prepare_given_40k(crash_t *crash) {
    prepare_40k_with_room(crash);
    MUST(jshared_give(crash->general, BLOCK(0).offset, JSEGMENT_SLOT_SEGMENT));
    BLOCK(0).heir = JSEGMENT_SLOT_SEGMENT;
    BLOCK(0).flags = BLOCK_IS_HERE;
    BLOCK(0).size_bytes = 16384; /* what is sure to be there after shrinking */
}

/* The block of another owner, the survivor or the segment; numbers[0] has its offset. It keeps that
 * owner: where it lay, where it has moved to, or, after a kill between, at both. numbers[1]: how
 * many of its bytes are kept. */
static void own_take_to_move(crash_t *crash, size_t size_bytes, size_t kept_bytes) {
    own_take(crash, ID_GENERAL, size_bytes);
    crash->own[crash->own_count - 1].size_bytes = crash->board->numbers[1] = kept_bytes;
}
static void before_moving_64(crash_t *crash) { own_take_to_move(crash, 64, 64); }
static void before_moving_40k(crash_t *crash) { own_take_to_move(crash, 40960, 96); }
static void before_shrinking_40k(crash_t *crash) { own_take_to_move(crash, 40960, 16384); }
static void prepare_moving_given(crash_t *crash) {
    give_0(crash, 200, JSEGMENT_SLOT_SEGMENT);
    BLOCK(0).flags |= BLOCK_MAY_BE_GONE;
    crash->board->numbers[0] = BLOCK(0).offset;
    crash->board->numbers[1] = 200;
}
static void realloc_of_another(crash_t *crash, size_t size_bytes) {
    joffset_t offset = crash->board->numbers[0];
    MUST(jshared_reallocate(crash->general, &offset, size_bytes, 0));
}
static void realloc_another_to_100(crash_t *crash) { realloc_of_another(crash, 100); }
static void realloc_another_to_300(crash_t *crash) { realloc_of_another(crash, 300); }
static void realloc_another_to_16k(crash_t *crash) { realloc_of_another(crash, 16384); }
static void realloc_another_to_20k(crash_t *crash) { realloc_of_another(crash, 20480); }

static void moved_settle(crash_t *crash) {
    const joffset_t before = crash->board->numbers[0];
    const unsigned heir = crash->board->count == 1 ? BLOCK(0).heir : jsegment_slot(crash->segment);
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    size_t places = 0;
    crash_succeeds(crash, jsegment_get_stats(crash->segment, &stats), "jsegment_get_stats");
    for (joffset_t offset = 16; offset < stats.size_bytes; offset += 16) {
        unsigned owner;
        bool known = false;
        if (jshared_describe(crash->general, offset, NULL, &owner) != JSTATUS_SUCCESS)
            continue;
        for (size_t i = 0; i < crash->own_count; i++)
            known |= crash->own[i].offset == offset && crash->own[i].id == ID_GENERAL;
        places += !known || offset == before;
        if (known)
            continue;

        if (owner != heir)
            crash_fault(crash, FAULT_INCONSISTENT, "a block that has moved is of %u, not of %u",
                        owner, heir);
        else if (!crash_is_moved(crash->segment, offset, crash->board->numbers[1], before))
            crash_fault(crash, FAULT_INCONSISTENT, "a block has lost its contents as it moved");
        crash_succeeds(crash, jshared_deallocate(crash->general, offset), "freeing what has moved");
    }
    if (places == 0 || places > 2)
        crash_fault(crash, FAULT_INCONSISTENT, "another owner's block is at %zu places", places);
}

/* ---- Give ---- */

static void give_to(crash_t *crash, unsigned slot) {
    BLOCK(0).heir = slot;
    BLOCK(0).flags = BLOCK_MAY_BE_HERE;
    MUST(jshared_give(crash_shared(crash, BLOCK(0).id), BLOCK(0).offset, slot));
}
static void prepare_200(crash_t *crash) { victim_take(crash, ID_GENERAL, 200); }
static void give_segment(crash_t *crash) { give_to(crash, JSEGMENT_SLOT_SEGMENT); }
static void give_survivor(crash_t *crash) { give_to(crash, crash->board->survivor); }
/* From the segment to the survivor: it is there all the time, and one of the two has it. */
static void take_from_segment(crash_t *crash) {
    MUST(jshared_give(crash->general, BLOCK(0).offset, crash->board->slot));
}
static void prepare_take_back_small(crash_t *crash) {
    give_0(crash, 200, JSEGMENT_SLOT_SEGMENT);
    BLOCK(0).flags = BLOCK_MAY_BE_HERE;
}
static void prepare_take_back_large(crash_t *crash) {
    give_0(crash, 20000, JSEGMENT_SLOT_SEGMENT);
    BLOCK(0).flags = BLOCK_MAY_BE_HERE;
}

/* ---- Stacks ---- */

static void prepare_stack(crash_t *crash) {
    for (uint64_t i = 0; i < 3; i++) {
        joffset_t offset;
        MUST(jshared_get_mark(crash->stack, &crash->board->numbers[i]));
        MUST(jshared_allocate(crash->stack, 1000, 0, &offset));
    }
    MUST(jshared_get_mark(crash->stack, &crash->board->numbers[3]));
}
static void stack_allocate(crash_t *crash) {
    joffset_t offset;
    MUST(jshared_allocate(crash->stack, 500, 64, &offset));
}
static void stack_allocate_many(crash_t *crash) {
    joffset_t offsets[8];
    MUST(jshared_allocate_many(crash->stack, 48, 0, 8, offsets));
}
static void stack_rewind(crash_t *crash) {
    MUST(jshared_rewind(crash->stack, crash->board->numbers[1]));
}
static void stack_settle(crash_t *crash) {
    uint64_t mark = 0;
    joffset_t offset;
    crash_succeeds(crash, jshared_get_mark(crash->stack, &mark), "jshared_get_mark");
    if (mark > CRASH_REGION_BYTES ||
        (mark < crash->board->numbers[3] && mark != crash->board->numbers[1]))
        crash_fault(crash, FAULT_INCONSISTENT, "the stack stands at %llu",
                    (unsigned long long)mark);
    crash_succeeds(crash, jshared_allocate(crash->stack, 1000, 0, &offset), "a stack");
}

/* ---- Roots ---- */

enum { OLD_ROOT = 4096, NEW_ROOT = 8192 };
static void root_new(crash_t *crash) { MUST(jsegment_set_root(crash->segment, "root", NEW_ROOT)); }
static void root_remove(crash_t *crash) {
    MUST(jsegment_set_root(crash->segment, "root", JOFFSET_NULL));
}
static void prepare_root(crash_t *crash) {
    MUST(jsegment_set_root(crash->segment, "before", OLD_ROOT));
    MUST(jsegment_set_root(crash->segment, "root", OLD_ROOT));
    crash->board->numbers[0] = 1;
}
static void root_settle(crash_t *crash, bool may_be_old, bool may_be_new, bool may_be_gone) {
    joffset_t offset = JOFFSET_NULL;
    jstatus_t status = jsegment_get_root(crash->segment, "root", &offset);
    if (!(status == JSTATUS_NOT_FOUND && may_be_gone) &&
        !(status == JSTATUS_SUCCESS &&
          ((offset == OLD_ROOT && may_be_old) || (offset == NEW_ROOT && may_be_new))))
        crash_fault(crash, FAULT_INCONSISTENT, "the root is %llu: %s", (unsigned long long)offset,
                    jstatus_name(status));
    if (status == JSTATUS_SUCCESS)
        crash_succeeds(crash, jsegment_set_root(crash->segment, "root", JOFFSET_NULL),
                       "removing the root");
    if (crash->board->numbers[0] == 1)
        crash_succeeds(crash, jsegment_set_root(crash->segment, "before", JOFFSET_NULL),
                       "removing the other root");
}
static void root_settle_new(crash_t *crash) { root_settle(crash, false, true, true); }
static void root_settle_replaced(crash_t *crash) { root_settle(crash, true, true, false); }
static void root_settle_removed(crash_t *crash) { root_settle(crash, true, false, true); }

/* ---- Allocators ---- */

enum { EXTRA_PAGE_BYTES = 500 };
static void create_extra(crash_t *crash, jshared_kind_t kind) {
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    jshared_t *extra;
    options.kind = kind;
    options.header_bytes = 5000;
    options.page_bytes = EXTRA_PAGE_BYTES;
    options.region_bytes = 20000;
    if (kind != JSHARED_PAGES)
        options.page_bytes = 0;
    if (kind != JSHARED_STACK)
        options.region_bytes = 0;
    MUST(jshared_create(crash->segment, ID_EXTRA, &options, &extra));
}
static void create_general(crash_t *crash) { create_extra(crash, JSHARED_GENERAL); }
static void create_pages(crash_t *crash) { create_extra(crash, JSHARED_PAGES); }
static void create_stack(crash_t *crash) { create_extra(crash, JSHARED_STACK); }
/* Is there or is not; where it is, it is whole, and can be destroyed. */
static void extra_settle(crash_t *crash) {
    jshared_t *extra;
    size_t header_bytes = 0;
    jstatus_t status = jshared_open(crash->segment, ID_EXTRA, &extra);
    if (status == JSTATUS_NOT_FOUND || !crash_succeeds(crash, status, "jshared_open"))
        return;
    const unsigned char *header = jshared_header(extra, &header_bytes);
    if (header == NULL || header_bytes != 5000)
        crash_fault(crash, FAULT_INCONSISTENT, "the header has %zu bytes", header_bytes);
    if (jshared_kind(extra) == JSHARED_STACK)
        crash_succeeds(crash, jshared_rewind(extra, 0), "jshared_rewind");
    else
        crash_exercise(crash, extra, jshared_kind(extra) == JSHARED_PAGES ? EXTRA_PAGE_BYTES : 0);
    crash_succeeds(crash, jshared_destroy(extra), "jshared_destroy");
}

static jshared_t *victim_extra;
static void prepare_extra(crash_t *crash) {
    create_general(crash);
    MUST(jshared_open(crash->segment, ID_EXTRA, &victim_extra));
    for (size_t i = 0; i < 20; i++) {
        joffset_t offset;
        MUST(jshared_allocate(victim_extra, i % 4 == 3 ? 20000 : i % 2 ? 1000 : 64, 0, &offset));
        if (i % 5 == 0)
            MUST(jshared_give(victim_extra, offset,
                              i % 10 ? crash->board->survivor : JSEGMENT_SLOT_SEGMENT));
    }
    MUST(jshared_close(victim_extra)); /* opened twice */
}
static void destroy_extra(crash_t *crash) { MUST(jshared_destroy(victim_extra)); }
static void prepare_extra_pages(crash_t *crash) {
    create_pages(crash);
    MUST(jshared_open(crash->segment, ID_EXTRA, &victim_extra));
    joffset_t offset;
    MUST(jshared_allocate(victim_extra, EXTRA_PAGE_BYTES, 0, &offset));
    MUST(jshared_close(victim_extra));
}
static void prepare_extra_closed(crash_t *crash) {
    create_general(crash);
    MUST(jshared_open(crash->segment, ID_EXTRA, &victim_extra));
    MUST(jshared_close(victim_extra));
    MUST(jshared_close(victim_extra));
}
static void open_extra(crash_t *crash) {
    MUST(jshared_open(crash->segment, ID_EXTRA, &victim_extra));
}
static void prepare_extra_with_blocks(crash_t *crash) {
    create_general(crash);
    MUST(jshared_open(crash->segment, ID_EXTRA, &victim_extra));
    joffset_t offset;
    MUST(jshared_allocate(victim_extra, 64, 0, &offset));
    MUST(jshared_allocate(victim_extra, 20000, 0, &offset));
    MUST(jshared_close(victim_extra));
}
static void close_extra(crash_t *crash) { MUST(jshared_close(victim_extra)); }

/* ---- Behind jallocator_t ---- */

static jallocator_t *victim_allocator;
static void prepare_allocator(crash_t *crash) {
    MUST(jallocator_create_shared(crash->general, &victim_allocator));
}
static void use_allocator(crash_t *crash) {
    void *pointer;
    MUST(jallocator_allocate(victim_allocator, 200, 0, NULL, &pointer));
    MUST(jallocator_deallocate(victim_allocator, pointer, 200, NULL));
}

/* ---- Looking ---- */

static void verify(crash_t *crash) { MUST(jsegment_verify(crash->segment)); }
static void get_stats(crash_t *crash) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    MUST(jsegment_get_stats(crash->segment, &stats));
}
static bool see(void *context, const jextent_t *extent) {
    (void)extent;
    ++*(size_t *)context;
    return true;
}
static void visit(crash_t *crash) {
    size_t count = 0;
    MUST(jsegment_visit(crash->segment, see, &count));
}
static void describe(crash_t *crash) {
    MUST(jshared_describe(crash->general, BLOCK(0).offset, NULL, NULL));
}
static void recover(crash_t *crash) { MUST(jsegment_recover(crash->segment, NULL)); }

/* ---- Attachments ---- */

static void attach(crash_t *crash) { victim_must(crash, crash_attach(crash), "attaching"); }
static void detach(crash_t *crash) { MUST(jsegment_detach(crash->segment)); }
static void export_segment(crash_t *crash) {
    int descriptor;
    MUST(jsegment_export(crash->segment, &descriptor));
}

/* Slabs, extents, a cache, given blocks of both sizes to both heirs, and blocks that the survivor
 * frees. */
static void prepare_everything(crash_t *crash) {
    prepare_full_slab(crash);
    for (size_t i = 0; i < 24; i++) {
        size_t block = victim_take(crash, i % 7 == 6 ? ID_PAGES : ID_GENERAL,
                                   i % 7 == 6   ? CRASH_PAGE_BYTES
                                   : i % 3 == 2 ? 16384
                                                : 300);
        if (i % 4 == 1) {
            BLOCK(block).heir = i % 8 == 1 ? crash->board->survivor : JSEGMENT_SLOT_SEGMENT;
            BLOCK(block).flags = BLOCK_IS_HERE;
            MUST(jshared_give(crash_shared(crash, BLOCK(block).id), BLOCK(block).offset,
                              BLOCK(block).heir));
        } else if (i % 4 == 2) {
            MUST(jshared_deallocate(crash_shared(crash, BLOCK(block).id), BLOCK(block).offset));
            BLOCK(block).offset = JOFFSET_NULL;
        }
    }
}
/* The survivor gives blocks to the victim: they die with it. */
static void meanwhile_everything(crash_t *crash) {
    meanwhile_free_half(crash);
    for (size_t i = 0; i < 4; i++) {
        own_take(crash, ID_GENERAL, i % 2 ? 64 : 20000);
        crash_block_t given = crash->own[--crash->own_count];
        crash_succeeds(crash, jshared_give(crash->general, given.offset, crash->board->slot),
                       "giving to the victim");
        given.flags = 0;
        BLOCK(crash->board->count++) = given;
    }
}
static void nothing(crash_t *crash) { (void)crash; }

/* A child of a fork: its first use takes a slot. The victim is that child. */
static void child_allocates(crash_t *crash) {
    joffset_t offset;
    MUST(jshared_allocate(crash->general, 64, 0, &offset));
}

/* A child that the victim leaves behind, and that never uses what it has inherited: it must not
 * look like the victim. Until it has run its fork handlers it does. */
static void prepare_idle_child(crash_t *crash) {
    prepare_64(crash);
    pid_t child = fork();
    volatile uint64_t *started = &crash->board->numbers[1];
    if (child == 0) {
        *started = 1;
        alarm(4 * CRASH_GUARD_S);
        pause();
        _exit(0);
    }
    crash->board->numbers[0] = (uint64_t)child;
    while (*started == 0)
        usleep(100);
}
static void idle_child_settle(crash_t *crash) {
    (void)kill((pid_t)crash->board->numbers[0], SIGKILL);
}

/* ---- Segments with a name ---- */

static jsegment_options_t named_options(crash_t *crash, bool posix) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = posix ? JSEGMENT_POSIX : JSEGMENT_FILE;
    options.name = posix ? crash->name : crash->file;
    options.size_bytes = 128 << 10;
    options.max_processes = crash->processes;
    options.timeout_ms = CRASH_TIMEOUT_MS;
    return options;
}
static void named_create(crash_t *crash, bool posix) {
    jsegment_options_t options = named_options(crash, posix);
    MUST(jsegment_create(&options, &crash->segment));
}
static void create_posix(crash_t *crash) { named_create(crash, true); }
static void create_file(crash_t *crash) { named_create(crash, false); }
/* On a filesystem that has no unnamed files. */
static void create_temporary(crash_t *crash) {
    shm_backing_without = SHM_WITHOUT_TMPFILE;
    named_create(crash, false);
}
static void prepare_posix(crash_t *crash) {
    create_posix(crash);
    MUST(jshared_create(crash->segment, ID_GENERAL, NULL, &crash->general));
    joffset_t offset;
    MUST(jshared_allocate(crash->general, 64, 0, &offset));
    MUST(jshared_allocate(crash->general, 20000, 0, &offset));
}
static void prepare_posix_detached(crash_t *crash) {
    prepare_posix(crash);
    MUST(jsegment_detach(crash->segment));
}
static void attach_posix(crash_t *crash) {
    jsegment_options_t options = named_options(crash, true);
    MUST(jsegment_attach(&options, &crash->segment));
}
static void destroy_posix(crash_t *crash) { MUST(jsegment_destroy(crash->segment)); }
static void remove_posix(crash_t *crash) {
    MUST(jsegment_remove(JSEGMENT_POSIX, crash->name, JSEGMENT_REMOVE_UNUSED));
}

/* How many files whose names contain that of the segment there are; they are removed. */
static size_t remove_leftovers(const char *directory, const char *name) {
    size_t count = 0;
    DIR *files = opendir(directory);
    for (struct dirent *file; files != NULL && (file = readdir(files)) != NULL;)
        if (strstr(file->d_name, name) != NULL)
            count += unlinkat(dirfd(files), file->d_name, 0) == 0;
    if (files != NULL)
        closedir(files);
    return count;
}

/* There is no such name, or a sound segment that can be used and destroyed. */
static void named_settle(crash_t *crash, bool posix) {
    char path[128];
    struct stat information;
    snprintf(path, sizeof path, "%s%s", posix ? "/dev/shm" : "", posix ? crash->name : crash->file);
    const bool exists = lstat(path, &information) == 0;
    jsegment_options_t options = named_options(crash, posix);
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    jstatus_t status = jsegment_attach(&options, &crash->segment);
    if (status == JSTATUS_NOT_FOUND && !exists)
        return;
    if (!crash_succeeds(crash, status, "attaching to what has the name")) {
        unlink(path);
        return;
    }
    jshared_t *shared;
    crash_succeeds(crash, jsegment_recover(crash->segment, NULL), "jsegment_recover");
    crash_succeeds(crash, jsegment_verify(crash->segment), "jsegment_verify");
    crash_succeeds(crash, jsegment_get_stats(crash->segment, &stats), "jsegment_get_stats");
    if (stats.owned_bytes + stats.given_bytes + stats.cached_bytes != 0 || stats.processes != 1)
        crash_fault(crash, FAULT_LEAK, "%zu bytes owned, %zu cached, %u processes",
                    stats.owned_bytes, stats.cached_bytes, stats.processes);
    if (crash_succeeds(crash, jshared_create(crash->segment, ID_EXTRA, NULL, &shared),
                       "jshared_create"))
        crash_exercise(crash, shared, 0);
    if (!crash_succeeds(crash, jsegment_destroy(crash->segment), "jsegment_destroy"))
        unlink(path);
    crash->segment = NULL;
    if (lstat(path, &information) == 0)
        crash_fault(crash, FAULT_LEAK, "the name is still there");
}
static void posix_settle(crash_t *crash) {
    named_settle(crash, true);
    if (remove_leftovers("/dev/shm", crash->name + 1) != 0)
        crash_fault(crash, FAULT_LEAK, "there is a file left");
}
static void file_settle(crash_t *crash) {
    named_settle(crash, false);
    if (remove_leftovers("/tmp", strrchr(crash->file, '/') + 1) != 0)
        crash_fault(crash, FAULT_LEAK, "there is a file left");
}
/* Here a file with another name may be left: nothing can be done about it. */
static void temporary_settle(crash_t *crash) {
    named_settle(crash, false);
    (void)remove_leftovers("/tmp", strrchr(crash->file, '/') + 1);
}

/* ---- The list ---- */

#define NAMED (SCENARIO_ALONE | SCENARIO_DETACHED | SCENARIO_NO_SECOND)
#define UNDO (SCENARIO_RECOVERY | SCENARIO_HALF_DONE)

const scenario_t scenarios[] = {
    {"allocate-small", 0, NULL, prepare_64, NULL, allocate_64, NULL},
    {"allocate-small-new-slab", 0, NULL, NULL, NULL, allocate_64, NULL},
    {"allocate-16-new-slab", 0, NULL, NULL, NULL, allocate_16, NULL},
    {"allocate-1000-new-slab", 0, NULL, NULL, NULL, allocate_1000, NULL},
    {"allocate-8192-new-slab", 0, NULL, NULL, NULL, allocate_8192, NULL},
    {"allocate-small-aligned", 0, NULL, NULL, NULL, allocate_aligned_256, NULL},
    {"allocate-small-in-holes", 0, NULL, prepare_holes, NULL, allocate_1000, NULL},
    {"allocate-after-remote-frees", 0, NULL, prepare_full_slab, meanwhile_free_half,
     allocate_many_1024, NULL},
    {"allocate-adopting", 0, NULL, prepare_orphan, NULL, allocate_64, NULL},
    {"allocate-page", 0, NULL, prepare_page, NULL, allocate_page, NULL},
    {"allocate-page-new-slab", 0, NULL, NULL, NULL, allocate_page, NULL},
    {"allocate-large-cached", 0, NULL, prepare_cached, NULL, allocate_64k, NULL},
    {"allocate-large-split", 0, NULL, NULL, NULL, allocate_40k, NULL},
    {"allocate-large-in-holes", 0, NULL, prepare_holes, NULL, allocate_40k, NULL},
    {"allocate-large-aligned", 0, NULL, prepare_holes, NULL, allocate_aligned_64k, NULL},
    {"allocate-out-of-memory", 0, NULL, prepare_full, NULL, allocate_too_much, NULL},
    {"allocate-reaping-the-dead", 0, NULL, prepare_dead_neighbour, NULL, allocate_64k, NULL},
    {"allocate-growing", SCENARIO_FRESH | SCENARIO_GROWS, NULL, NULL, NULL, allocate_growing, NULL},
    {"allocate-many-small", 0, NULL, prepare_64, NULL, allocate_many_64, NULL},
    {"allocate-many-pages", 0, NULL, NULL, NULL, allocate_many_pages, NULL},
    {"allocate-many-out-of-memory", 0, NULL, prepare_full, NULL, allocate_many_too_much, NULL},
    {"free-small", 0, NULL, prepare_two_64, NULL, free_0, NULL},
    {"free-slabs", 0, NULL, prepare_slabs, NULL, free_slabs, NULL},
    {"free-page", 0, NULL, prepare_page, NULL, free_page, NULL},
    {"free-large", 0, NULL, prepare_40k, NULL, free_0, NULL},
    {"free-larger-than-the-cache", 0, NULL, prepare_400k, NULL, free_0, NULL},
    {"free-large-flushing", 0, NULL, prepare_full_cache, NULL, free_0, NULL},
    {"free-large-joining-both", 0, NULL, prepare_middle, NULL, free_0, NULL},
    {"free-given-small", 0, NULL, prepare_given_small, NULL, free_0, NULL},
    {"free-given-large", 0, NULL, prepare_given_large, NULL, free_0, NULL},
    {"free-orphan", 0, NULL, prepare_orphan_to_free, NULL, free_0, NULL},
    {"free-given-to-another", 0, NULL, prepare_given_to_survivor, NULL, free_0, NULL},
    {"free-twice", 0, NULL, prepare_freed, NULL, free_refused, NULL},
    {"free-remote-small", 0, before_remote_small, NULL, NULL, free_remote, NULL},
    {"free-remote-large", 0, before_remote_large, NULL, NULL, free_remote, NULL},
    {"free-remote-page", 0, before_remote_page, NULL, NULL, free_remote_page, NULL},
    {"free-remote-many", 0, before_remote_many, NULL, NULL, free_remote_many, NULL},
    {"free-many", 0, NULL, prepare_many, NULL, free_many, NULL},
    {"realloc-larger-in-place", 0, NULL, prepare_40k_with_room, NULL, realloc_40k_to_60k, NULL},
    {"realloc-smaller-in-place", 0, NULL, prepare_40k, NULL, realloc_40k_to_16k, NULL},
    {"realloc-large-to-small", 0, NULL, prepare_40k, NULL, realloc_40k_to_100, NULL},
    {"realloc-large-moving", 0, NULL, prepare_holes, NULL, realloc_40k_to_60k, NULL},
    {"realloc-small-moving", 0, NULL, prepare_64, NULL, realloc_64_to_200, NULL},
    {"realloc-small-to-large", 0, NULL, prepare_64, NULL, realloc_64_to_20k, NULL},
    {"realloc-small-same-class", 0, NULL, prepare_64, NULL, realloc_64_to_50, NULL},
    {"realloc-from-null", 0, NULL, NULL, NULL, realloc_null, NULL},
    {"realloc-to-nothing", 0, NULL, prepare_64, NULL, realloc_to_nothing, NULL},
    {"realloc-given-smaller", 0, NULL, prepare_given_40k, NULL, realloc_40k_to_16k, NULL},
    {"realloc-given-larger", 0, NULL, prepare_given_40k, NULL, realloc_40k_to_60k, NULL},
    {"realloc-given-moving", 0, NULL, prepare_moving_given, NULL, realloc_another_to_300,
     moved_settle},
    {"realloc-remote-small", 0, before_moving_64, NULL, NULL, realloc_another_to_300, moved_settle},
    {"realloc-remote-small-to-large", 0, before_moving_64, NULL, NULL, realloc_another_to_20k,
     moved_settle},
    {"realloc-remote-large-to-small", 0, before_moving_40k, NULL, NULL, realloc_another_to_100,
     moved_settle},
    {"realloc-remote-in-place", 0, before_shrinking_40k, NULL, NULL, realloc_another_to_16k,
     moved_settle},
    {"give-small-to-segment", 0, NULL, prepare_200, NULL, give_segment, NULL},
    {"give-large-to-segment", 0, NULL, prepare_40k, NULL, give_segment, NULL},
    {"give-small-to-slot", 0, NULL, prepare_200, NULL, give_survivor, NULL},
    {"give-large-to-slot", 0, NULL, prepare_40k, NULL, give_survivor, NULL},
    {"give-page-to-slot", 0, NULL, prepare_page, NULL, give_survivor, NULL},
    {"take-small-from-segment", 0, NULL, prepare_take_back_small, NULL, take_from_segment, NULL},
    {"take-large-from-segment", 0, NULL, prepare_take_back_large, NULL, take_from_segment, NULL},
    {"stack-allocate", 0, NULL, prepare_stack, NULL, stack_allocate, stack_settle},
    {"stack-allocate-many", 0, NULL, prepare_stack, NULL, stack_allocate_many, stack_settle},
    {"stack-rewind", 0, NULL, prepare_stack, NULL, stack_rewind, stack_settle},
    {"root-new", 0, NULL, NULL, NULL, root_new, root_settle_new},
    {"root-replace", 0, NULL, prepare_root, NULL, root_new, root_settle_replaced},
    {"root-remove", 0, NULL, prepare_root, NULL, root_remove, root_settle_removed},
    {"grow", SCENARIO_FRESH | SCENARIO_GROWS, NULL, NULL, NULL, grow, NULL},
    {"allocator-create", 0, NULL, NULL, NULL, create_general, extra_settle},
    {"allocator-create-pages", 0, NULL, NULL, NULL, create_pages, extra_settle},
    {"allocator-create-stack", 0, NULL, NULL, NULL, create_stack, extra_settle},
    {"allocator-open", 0, NULL, prepare_extra_closed, NULL, open_extra, extra_settle},
    {"allocator-close", 0, NULL, prepare_extra_with_blocks, NULL, close_extra, extra_settle},
    {"allocator-destroy", 0, NULL, prepare_extra, NULL, destroy_extra, extra_settle},
    {"allocator-destroy-pages", 0, NULL, prepare_extra_pages, NULL, destroy_extra, extra_settle},
    {"behind-jallocator", 0, NULL, prepare_allocator, NULL, use_allocator, NULL},
    {"verify", 0, NULL, prepare_many, NULL, verify, NULL},
    {"get-stats", 0, NULL, prepare_many, NULL, get_stats, NULL},
    {"visit", 0, NULL, prepare_many, NULL, visit, NULL},
    {"describe", 0, NULL, prepare_64, NULL, describe, NULL},
    {"export", SCENARIO_FILE, NULL, NULL, NULL, export_segment, NULL},
    {"attach", SCENARIO_DETACHED, NULL, NULL, NULL, attach, NULL},
    {"attach-reaping-the-dead", SCENARIO_DETACHED, NULL, prepare_attach_dead, NULL, attach, NULL},
    {"attach-no-free-slot", SCENARIO_DETACHED, NULL, prepare_slots_of_dead, NULL, attach, NULL},
    {"idle-child-left", 0, NULL, prepare_idle_child, NULL, allocate_64, idle_child_settle},
    {"detach", 0, NULL, prepare_many, NULL, detach, NULL},
    {"detach-with-everything", 0, NULL, prepare_everything, meanwhile_everything, detach, NULL},
    {"fork-first-use", SCENARIO_INHERITS, NULL, NULL, NULL, child_allocates, NULL},
    {"recover-nothing", 0, NULL, NULL, NULL, recover, NULL},
    {"recover-everything", SCENARIO_RECOVERY, NULL, prepare_everything, meanwhile_everything,
     nothing, NULL},
    {"recover-allocators", SCENARIO_RECOVERY, NULL, prepare_extra, NULL, nothing, extra_settle},
    {"recover-half-done-split", UNDO, NULL, prepare_holes, NULL, allocate_40k, NULL},
    {"recover-half-done-join", UNDO, NULL, prepare_middle, NULL, free_0, NULL},
    {"recover-half-done-slab", UNDO, NULL, prepare_holes, NULL, allocate_1000, NULL},
    {"recover-half-done-destroy", UNDO, NULL, prepare_extra, NULL, destroy_extra, extra_settle},
    {"recover-half-done-give", UNDO, NULL, prepare_200, NULL, give_segment, NULL},
    {"recover-half-done-growth", UNDO | SCENARIO_FRESH | SCENARIO_GROWS, NULL, NULL, NULL, grow,
     NULL},
    {"create-posix", NAMED, NULL, NULL, NULL, create_posix, posix_settle},
    {"create-file", NAMED, NULL, NULL, NULL, create_file, file_settle},
    {"create-file-with-temporary", NAMED, NULL, NULL, NULL, create_temporary, temporary_settle},
    {"attach-posix", NAMED, NULL, prepare_posix_detached, NULL, attach_posix, posix_settle},
    {"detach-posix", NAMED, NULL, prepare_posix, NULL, detach, posix_settle},
    {"destroy-posix", NAMED, NULL, prepare_posix, NULL, destroy_posix, posix_settle},
    {"remove-posix", NAMED, NULL, prepare_posix_detached, NULL, remove_posix, posix_settle},
};
const size_t scenario_count = sizeof scenarios / sizeof *scenarios;

const scenario_t *scenario_find(const char *name) {
    for (size_t i = 0; i < scenario_count; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}
