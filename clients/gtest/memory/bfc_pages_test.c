/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Free pages whose memory the system has back: which, when, and what is counted. The provider here
 * knows of every page whether it has memory, so that a page that is used without, or given back
 * twice, is seen. */

#include "allocator_helper.h"
#include "allocator_model.h"
#include "bfc_helper.h"
#include "jtest.h"

#include "jalloc/metadata.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"
#include "memory/allocators/small/small.h"
#include "memory/providers/provider.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGES = 1 << 15, PAGE_BYTES = 4096 };
#define KIB ((size_t)1024)

typedef enum page_state { PAGE_UNKNOWN, PAGE_HELD, PAGE_DECOMMITTED } page_state_t;

typedef struct pages {
    page_state_t state[PAGES];
    uintptr_t base;
    size_t used_pages, held_bytes, peak_bytes;
    size_t decommits, commits, given_back_count;
    bool refuses_decommit, refuses_commit, refuses_leave;
} pages_t;

static page_state_t *page_at(pages_t *pages, const void *pointer, size_t size_bytes) {
    size_t first = ((uintptr_t)pointer - pages->base) / PAGE_BYTES;
    JEXPECT_LE(first + size_bytes / PAGE_BYTES, (size_t)PAGES);
    return &pages->state[first];
}

static void pages_change(pages_t *pages, void *pointer, size_t size_bytes, page_state_t from,
                         page_state_t to) {
    page_state_t *state = page_at(pages, pointer, size_bytes);
    for (size_t i = 0; i < size_bytes / PAGE_BYTES; ++i) {
        JEXPECT_EQ(state[i], from);
        state[i] = to;
    }
}

/* Half a page off, as blocks of the C library are. */
static jstatus_t pages_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    pages_t *pages = context;
    (void)stream;
    size_t shift = alignment < PAGE_BYTES ? PAGE_BYTES / 2 : 0;
    size_t count = (size_bytes + shift + PAGE_BYTES - 1) / PAGE_BYTES;
    size_t step = alignment / PAGE_BYTES > 1 ? alignment / PAGE_BYTES : 1;
    pages->used_pages = (pages->used_pages + step - 1) / step * step;
    if (count > PAGES - pages->used_pages)
        return JSTATUS_MEMORY_ERROR;
    *pointer = (void *)(pages->base + pages->used_pages * PAGE_BYTES + shift);
    for (size_t i = 0; i < count; ++i)
        pages->state[pages->used_pages + i] = PAGE_HELD;
    pages->used_pages += count;
    pages->held_bytes += size_bytes;
    if (pages->peak_bytes < pages->held_bytes)
        pages->peak_bytes = pages->held_bytes;
    return JSTATUS_SUCCESS;
}

static jstatus_t pages_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    pages_t *pages = context;
    (void)stream;
    pages_change(pages, pointer, size_bytes, PAGE_HELD, PAGE_UNKNOWN);
    pages->held_bytes -= size_bytes;
    ++pages->given_back_count;
    return JSTATUS_SUCCESS;
}

static size_t pages_page_bytes(void *context) {
    (void)context;
    return PAGE_BYTES;
}

static jstatus_t pages_set(void *context, void *pointer, size_t size_bytes, jallocator_pages_t to) {
    pages_t *pages = context;
    JEXPECT_EQ(((uintptr_t)pointer | size_bytes) % PAGE_BYTES, 0);
    JEXPECT_GT(size_bytes, 0);
    if (to == JALLOCATOR_PAGES_DECOMMIT ? pages->refuses_decommit
        : to == JALLOCATOR_PAGES_COMMIT ? pages->refuses_commit
                                        : pages->refuses_leave)
        return JSTATUS_DEVICE_ERROR;
    if (to == JALLOCATOR_PAGES_DECOMMIT) {
        pages_change(pages, pointer, size_bytes, PAGE_HELD, PAGE_DECOMMITTED);
        pages->held_bytes -= size_bytes;
        ++pages->decommits;
    } else {
        pages_change(pages, pointer, size_bytes, PAGE_DECOMMITTED, PAGE_HELD);
        pages->held_bytes += size_bytes;
        pages->commits += to == JALLOCATOR_PAGES_COMMIT;
        if (to == JALLOCATOR_PAGES_COMMIT && pages->peak_bytes < pages->held_bytes)
            pages->peak_bytes = pages->held_bytes;
    }
    return JSTATUS_SUCCESS;
}

static pages_t pages;

/* The composition over pages; what is below is destroyed with it. */
static jallocator_t *make_over_pages(const char *composition) {
    static const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                         .allocate = pages_allocate,
                                         .deallocate = pages_deallocate,
                                         .page_bytes = pages_page_bytes,
                                         .set_pages = pages_set};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    jallocator_t *below, *allocator = NULL;
    options.threads = JALLOCATOR_THREADS_LOCK;
    memset(&pages, 0, sizeof pages);
    pages.base = (uintptr_t)1 << 40;
    JEXPECT_OK(jallocator_create(&ops, &pages, &options, &below));
    JEXPECT_OK(jallocator_compose_over(below, composition, &allocator));
    for (jallocator_t *level = allocator; level->below != NULL; level = level->below)
        JEXPECT_OK(jallocator_own_below(level));
    return allocator;
}

/* What the policy says it holds is what below has given. */
static void expect_held(jallocator_t *allocator) {
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_EQ(stats.reserved_bytes, pages.held_bytes);
    JEXPECT_EQ(stats.peak_reserved_bytes, pages.peak_bytes);
    JEXPECT_LE(stats.decommitted_bytes, stats.free_bytes);
    JEXPECT_OK(jallocator_check(allocator));
}

/* One region of 1 MiB: | kept | 512 KiB | kept | rest |. */
typedef struct gap {
    void *left, *middle, *right;
} gap_t;
#define GAP_BYTES (512 * KIB)
static gap_t make_gap(jallocator_t *allocator) {
    gap_t gap;
    gap.left = take(allocator, KIB);
    gap.middle = take(allocator, GAP_BYTES);
    gap.right = take(allocator, KIB);
    give(allocator, gap.middle, GAP_BYTES);
    return gap;
}
static void end_gap(jallocator_t *allocator, gap_t gap) {
    give(allocator, gap.left, KIB);
    give(allocator, gap.right, KIB);
    end(allocator);
    JEXPECT_EQ(pages.held_bytes, 0);
}

JTEST(BfcPages, TrimGivesFreePagesBack) {
    jallocator_t *allocator = make_over_pages("bfc");
    gap_t gap = make_gap(allocator);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, MIB);

    JEXPECT_OK(jallocator_trim(allocator, 0));
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_LE(stats.reserved_bytes, 5 * PAGE_BYTES); /* two blocks, and ends of less than a page */
    JEXPECT_EQ(stats.reserved_bytes + stats.decommitted_bytes, MIB);
    JEXPECT_EQ(stats.free_bytes, MIB - 2 * KIB);
    expect_held(allocator);

    void *again = take(allocator, GAP_BYTES - PAGE_BYTES);
    JEXPECT_GE(stats_of(allocator).reserved_bytes, GAP_BYTES - PAGE_BYTES);
    JEXPECT_EQ(pages.commits, 1);
    expect_held(allocator);
    give(allocator, again, GAP_BYTES - PAGE_BYTES);
    end_gap(allocator, gap);
    JEXPECT_EQ(pages.given_back_count, 1);
}

JTEST(BfcPages, TrimKeepsWhatItIsAskedToKeep) {
    jallocator_t *allocator = make_over_pages("bfc");
    gap_t gap = make_gap(allocator);
    size_t keep = 600 * KIB;
    JEXPECT_OK(jallocator_trim(allocator, keep));
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_LE(stats.free_bytes - stats.decommitted_bytes, keep);
    JEXPECT_GT(stats.free_bytes - stats.decommitted_bytes, keep - PAGE_BYTES);
    expect_held(allocator);
    end_gap(allocator, gap);
}

/* A chunk with memory, one without, and what is less than a page between, as one block. */
JTEST(BfcPages, NeighboursWithAndWithoutMemoryServeTogether) {
    jallocator_t *allocator = make_over_pages("bfc");
    void *first = take(allocator, 400 * KIB), *second = take(allocator, 500 * KIB);
    void *last = take(allocator, MIB - 900 * KIB);
    give(allocator, first, 400 * KIB);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    give(allocator, second, 500 * KIB);
    void *both = take(allocator, 900 * KIB);
    JEXPECT_EQ(both, first);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, MIB);
    JEXPECT_EQ(stats_of(allocator).decommitted_bytes, 0);
    expect_held(allocator);
    give(allocator, both, 900 * KIB);
    give(allocator, last, MIB - 900 * KIB);
    end(allocator);
}

/* Before more is held than ever before, what is free goes. */
JTEST(BfcPages, FreePagesMakeWay) {
    jallocator_t *allocator = make_over_pages("bfc(growth=none)");
    enum { BLOCKS = 32 };
    void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; ++i)
        blocks[i] = take(allocator, 256 * KIB);
    for (size_t i = 0; i < BLOCKS; i += 2)
        give(allocator, blocks[i], 256 * KIB);
    size_t held = stats_of(allocator).reserved_bytes;

    void *large = take(allocator, 3 * MIB);
    jallocator_stats_t stats = stats_of(allocator);
    JEXPECT_LE(stats.peak_reserved_bytes, held + held / 16);
    JEXPECT_GE(stats.decommitted_bytes, 2 * MIB);
    expect_held(allocator);

    give(allocator, large, 3 * MIB);
    for (size_t i = 1; i < BLOCKS; i += 2)
        give(allocator, blocks[i], 256 * KIB);
    end(allocator);
}

/* Who was told to keep regions keeps pages, until trim. */
JTEST(BfcPages, KeptRegionsKeepTheirPages) {
    jallocator_t *allocator = make_over_pages("bfc(growth=none,keep_regions)");
    gap_t gap = make_gap(allocator);
    void *large = take(allocator, 2 * MIB);
    JEXPECT_EQ(pages.decommits, 0);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_GT(pages.decommits, 0);
    expect_held(allocator);
    give(allocator, large, 2 * MIB);
    end_gap(allocator, gap);
}

/* Whether what is free goes when the look at the clock before it was freed is so many steps ago, of
 * a quarter of a second; again where one passes meanwhile. */
static bool goes_after(const char *composition, uint32_t steps) {
    for (;;) {
        jallocator_t *allocator = make_over_pages(composition);
        bfc_t *bfc = allocator->context;
        uint32_t now = ji_bfc_clock();
        gap_t gap = make_gap(allocator); /* which looks at the clock, too */
        void *again = take(allocator, GAP_BYTES);
        bfc->now = now - steps;
        give(allocator, again, GAP_BYTES);
        (void)stats_of(allocator);        /* so that it is merged */
        for (size_t i = 0; i < 1024; ++i) /* one of them is a call that looks at the clock */
            give(allocator, take(allocator, KIB), KIB);
        jallocator_stats_t stats = stats_of(allocator);
        expect_held(allocator);
        end_gap(allocator, gap);
        if (ji_bfc_clock() == now)
            return stats.decommitted_bytes >= GAP_BYTES - 2 * PAGE_BYTES;
    }
}

JTEST(BfcPages, WhatIsFreeForASecondGoes) {
    JEXPECT_EQ(BFC_AGE_STEP_MS, 250);
    JEXPECT_TRUE(goes_after("bfc", 4));
    JEXPECT_FALSE(goes_after("bfc", 3));
    JEXPECT_FALSE(goes_after("bfc", 1));
    JEXPECT_TRUE(goes_after("bfc", 1000)); /* with the first look behind a pause */
    /* Those leave it to trim. */
    JEXPECT_FALSE(goes_after("bfc(keep_regions)", 1000));
    JEXPECT_FALSE(goes_after("bfc(limit=1M,all_at_once,tight)", 1000));
}

JTEST(BfcPages, TheClockIsLookedAtAfterEachMiB) {
    jallocator_t *allocator = make_over_pages("bfc");
    bfc_t *bfc = allocator->context;
    void *half = take(allocator, MIB / 2), *other = take(allocator, MIB / 2 - KIB);
    ji_bfc_age(bfc);
    uint32_t before = bfc->now -= 1;
    give(allocator, half, MIB / 2);
    JEXPECT_EQ(bfc->now, before);
    give(allocator, other, MIB / 2 - KIB); /* of another size: it is merged, too */
    JEXPECT_NE(bfc->now, before);
    end(allocator);
}

/* Runs of whole pages, from four on. */
JTEST(BfcPages, RunsOf16KiBAreWorthIt) {
    for (size_t count = 1; count < 8; ++count) {
        size_t bytes = count * PAGE_BYTES, left_bytes = PAGE_BYTES / 2;
        jallocator_t *allocator = make_over_pages("bfc");
        void *left = take(allocator, left_bytes), *middle = take(allocator, bytes);
        void *right = take(allocator, MIB - left_bytes - bytes);
        give(allocator, middle, bytes);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_EQ(stats_of(allocator).decommitted_bytes, bytes >= 16 * KIB ? bytes : 0);
        expect_held(allocator);
        give(allocator, left, left_bytes);
        give(allocator, right, MIB - left_bytes - bytes);
        end(allocator);
    }
}

/* Before pages make way, 3% more than was granted at most is held; and then they do for no more
 * than a 64th of what was not found at once. Of 8 MiB every other 32 KiB are free, and nothing that
 * is asked for is found. */
JTEST(BfcPages, WhatMakesWayIsBounded) {
    enum { BLOCKS = 256, MORE = 64 };
    void *blocks[BLOCKS], *more[MORE];
    for (int paid = 0; paid < 2; ++paid) {
        jallocator_t *allocator = make_over_pages("bfc(growth=none,region=4K)");
        bfc_t *bfc = allocator->context;
        give(allocator, take(allocator, 8 * MIB), 8 * MIB);
        for (size_t i = 0; i < BLOCKS; ++i)
            blocks[i] = take(allocator, 32 * KIB);
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, 8 * MIB);
        for (size_t i = 0; i < BLOCKS; i += 2)
            give(allocator, blocks[i], 32 * KIB);

        size_t count = 0;
        if (paid) { /* the peak's growth is paid for, so only the 64th is left */
            bfc->way_peak_bytes = bfc->granted.peak_bytes;
            bfc->way_bytes = 0;
        }
        while (count < MORE && pages.decommits == 0)
            more[count++] = take(allocator, 36 * KIB);
        /* 3%: 256 KiB, seven of 36 KiB. */
        JEXPECT_EQ(count, (size_t)(paid ? 64 : 8));
        JEXPECT_GT(pages.decommits, 0);
        expect_held(allocator);

        for (size_t i = 0; i < count; ++i)
            give(allocator, more[i], 36 * KIB);
        for (size_t i = 1; i < BLOCKS; i += 2)
            give(allocator, blocks[i], 32 * KIB);
        end(allocator);
    }
}

/* Small blocks alone let time pass below, with each 64th exchange. */
JTEST(BfcPages, SmallBlocksPassTime) {
    jallocator_t *allocator = make_over_pages("general");
    bfc_t *bfc = allocator->below->context;
    const small_class_t *class = &((const small_t *)allocator->context)->classes[0];
    enum { BLOCKS = 20000 };
    static void *blocks[BLOCKS];
    gap_t gap = make_gap(allocator);
    ji_bfc_age(bfc);
    uint32_t now = --bfc->now;
    uint64_t calls = allocator->below->books.allocation_count;
    unsigned exchanges = class->exchanges;
    size_t count = 0;
    bool takes = true;
    for (int step = 0; bfc->now == now && step < 100 * BLOCKS; ++step) {
        takes = count == 0 || (takes && count < BLOCKS);
        if (takes)
            blocks[count++] = take(allocator, 64);
        else
            give(allocator, blocks[--count], 64);
    }
    JEXPECT_NE(bfc->now, now);
    JEXPECT_EQ(class->exchanges - exchanges, 64);
    while (count > 0)
        give(allocator, blocks[--count], 64);
    JEXPECT_LT(allocator->below->books.allocation_count - calls, 1000);
    give(allocator, gap.left, KIB);
    give(allocator, gap.right, KIB);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- What is refused ---- */

JTEST(BfcPages, RefusedPagesStay) {
    jallocator_t *allocator = make_over_pages("bfc");
    gap_t gap = make_gap(allocator);
    pages.refuses_decommit = true;
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, MIB);
    expect_held(allocator);
    void *block = take(allocator, GAP_BYTES);
    JEXPECT_EQ(block, gap.middle);
    give(allocator, block, GAP_BYTES);
    end_gap(allocator, gap);
}

JTEST(BfcPages, WhatCannotBeCommittedIsTakenFromBelow) {
    jallocator_t *allocator = make_over_pages("bfc");
    gap_t gap = make_gap(allocator);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    pages.refuses_commit = true;
    void *block = take(allocator, 256 * KIB);
    JEXPECT_EQ(pages.commits, 0);
    expect_held(allocator);
    pages.refuses_commit = false;
    void *other = take(allocator, GAP_BYTES - PAGE_BYTES);
    expect_held(allocator);
    give(allocator, block, 256 * KIB);
    give(allocator, other, GAP_BYTES - PAGE_BYTES);
    end_gap(allocator, gap);
}

JTEST(BfcPages, ARegionThatIsNotLeftStays) {
    jallocator_t *allocator = make_over_pages("bfc");
    gap_t gap = make_gap(allocator);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    give(allocator, gap.left, KIB);
    give(allocator, gap.right, KIB);
    pages.refuses_leave = true;
    JEXPECT_STATUS(jallocator_trim(allocator, 0), JSTATUS_DEVICE_ERROR);
    JEXPECT_EQ(pages.given_back_count, 0);
    expect_held(allocator);
    pages.refuses_leave = false;
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(pages.given_back_count, 1);
    expect_held(allocator);
    end(allocator);
}

/* Records and bins that there is no memory for leave the pages where they are. */
JTEST(BfcPages, WithoutBookkeepingMemoryPagesStay) {
    for (int has_records = 0; has_records < 2; ++has_records) {
        jallocator_t *allocator = make_over_pages("bfc");
        bfc_t *bfc = allocator->context;
        gap_t gap = make_gap(allocator);
        if (!has_records) { /* the bins are there */
            JEXPECT_OK(jallocator_trim(allocator, 0));
            give(allocator, take(allocator, GAP_BYTES - PAGE_BYTES), GAP_BYTES - PAGE_BYTES);
        }
        size_t decommitted = stats_of(allocator).decommitted_bytes;
        bfc_chunk_t *spare = bfc->spare;
        size_t spare_count = bfc->spare_count;
        if (!has_records) { /* as if all were used */
            bfc->spare = NULL;
            bfc->spare_count = 0;
        }
        jtest_fail_metadata_after(1);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_TRUE(jtest_metadata_failed());
        JEXPECT_EQ(stats_of(allocator).decommitted_bytes, decommitted);
        if (!has_records) {
            bfc->spare = spare;
            bfc->spare_count = spare_count;
        }
        expect_held(allocator);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_GT(stats_of(allocator).decommitted_bytes, decommitted);
        expect_held(allocator);
        end_gap(allocator, gap);
    }
}

/* What a stream's work is ahead in has its memory until that is done. */
JTEST(BfcPages, WorkOfAStreamKeepsPages) {
    jallocator_t *allocator = make_over_pages("bfc");
    bfc_t *bfc = allocator->context;
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    void *left = take(allocator, KIB), *middle = take_on(allocator, GAP_BYTES, stream);
    void *right = take(allocator, KIB);
    JEXPECT_OK(jallocator_deallocate(allocator, middle, GAP_BYTES, stream));

    ji_bfc_flush(bfc);
    ji_bfc_decommit(bfc, SIZE_MAX, 0); /* without a look at the stream */
    JEXPECT_GE(stats_of(allocator).reserved_bytes, GAP_BYTES);
    expect_held(allocator);

    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_LE(stats_of(allocator).reserved_bytes, 6 * PAGE_BYTES);
    expect_held(allocator);
    end_gap(allocator, (gap_t){left, middle, right});
}

/* ---- Whatever comes ---- */

static uint64_t random_state;
static size_t random_below(size_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((random_state >> 33) % bound);
}

static void play_at_random(const char *composition, uint64_t seed) {
    enum { BLOCKS = 200, STEPS = 20000 };
    static struct {
        void *pointer;
        size_t bytes;
    } blocks[BLOCKS];
    jallocator_t *allocator = make_over_pages(composition);
    memset(blocks, 0, sizeof blocks);
    random_state = seed;
    for (size_t step = 0; step < STEPS; ++step) {
        size_t i = random_below(BLOCKS);
        if (blocks[i].pointer != NULL) {
            give(allocator, blocks[i].pointer, blocks[i].bytes);
            blocks[i].pointer = NULL;
        } else {
            blocks[i].bytes = (size_t)1 << random_below(19);
            blocks[i].bytes += random_below(blocks[i].bytes);
            size_t alignment = (size_t)1 << random_below(16);
            if (jallocator_allocate(allocator, blocks[i].bytes, alignment, NULL,
                                    &blocks[i].pointer) != JSTATUS_SUCCESS) {
                blocks[i].pointer = NULL;
                continue;
            }
            page_state_t *state = page_at(&pages, blocks[i].pointer, blocks[i].bytes);
            for (size_t page = 0; page * PAGE_BYTES < blocks[i].bytes; ++page)
                JEXPECT_EQ(state[page], PAGE_HELD);
        }
        pages.refuses_decommit = step % 1000 > 900;
        pages.refuses_commit = step % 1000 > 950;
        if (random_below(200) == 0)
            JEXPECT_OK(jallocator_trim(allocator, random_below(4 * MIB)));
        if (random_below(100) == 0)
            expect_held(allocator);
    }
    for (size_t i = 0; i < BLOCKS; ++i)
        if (blocks[i].pointer != NULL)
            give(allocator, blocks[i].pointer, blocks[i].bytes);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_EQ(pages.held_bytes, 0);
}

JTEST(BfcPages, WhateverComesPagesInUseHaveMemory) {
    play_at_random("bfc", 1);
    play_at_random("bfc(tight,region=256KiB,growth=2)", 2);
    play_at_random("bfc(threads=none,limit=48MiB)", 3);
    play_at_random("bfc(limit=48MiB,all_at_once)", 4);
}

/* ---- Providers ---- */

static void check_provider(const char *composition) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, composition, &allocator));
    jallocator_t *provider = allocator->below;
    char *kept = take(allocator, KIB), *block = take(allocator, 8 * MIB);
    char *last = take(allocator, KIB);
    memset(block, 1, 8 * MIB);
    give(allocator, block, 8 * MIB);
    size_t held = stats_of(provider).reserved_bytes;
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_LT(stats_of(provider).reserved_bytes, held);
    JEXPECT_EQ(stats_of(provider).reserved_bytes, stats_of(allocator).reserved_bytes);

    char *again = take(allocator, 8 * MIB);
    memset(again, 2, 8 * MIB);
    give(allocator, again, 8 * MIB);
    give(allocator, kept, KIB);
    give(allocator, last, KIB);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(provider).reserved_bytes, 0);
    JEXPECT_OK(jallocator_clear_stats(provider));
    JEXPECT_EQ(stats_of(provider).peak_reserved_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(BfcPages, ProvidersOfHostMemoryTakePagesBack) {
    check_provider("bfc(region=16MiB)");
    check_provider("mmap+bfc(region=16MiB)");
    check_provider("numa+bfc(region=16MiB)");
}

JTEST(BfcPages, WhatTheSystemRefusesStays) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "mmap+bfc(region=16MiB)", &allocator));
    void *kept = take(allocator, KIB);
    atomic_store(&ji_pages_refusal, EINVAL);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 16 * MIB);
    JEXPECT_EQ(stats_of(allocator->below).reserved_bytes, 16 * MIB);
    atomic_store(&ji_pages_refusal, 0);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_LT(stats_of(allocator->below).reserved_bytes, MIB);
    give(allocator, kept, KIB);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* An adaptor between knows nothing of pages. */
JTEST(BfcPages, NothingBehindAnAdaptor) {
    jallocator_t *allocator = make_over_pages("track+bfc");
    gap_t gap = make_gap(allocator);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(pages.decommits, 0);
    give(allocator, gap.left, KIB);
    give(allocator, gap.right, KIB);
    JEXPECT_OK(jallocator_destroy(allocator));
}
