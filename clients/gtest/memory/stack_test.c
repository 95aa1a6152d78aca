/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What only the stack promises: where things lie, what is taken back when, marks. */

#include "allocator_helper.h"
#include "jtest.h"
#include "pretend_gpu.h"

#include "jalloc/device.h"
#include "jalloc/policy.h"
#include "jalloc/provider.h"

#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

static jallocator_t *make(size_t block_bytes, size_t limit_bytes) {
    jstack_options_t options = JSTACK_OPTIONS_INIT;
    jallocator_t *stack = NULL;
    options.block_bytes = block_bytes;
    options.limit_bytes = limit_bytes;
    JEXPECT_OK(jallocator_create_stack(jtest_failing_allocator(), &options, &stack));
    return stack;
}
static jstack_mark_t mark_of(jallocator_t *stack) {
    jstack_mark_t mark = {~UINT64_C(0)};
    JEXPECT_OK(jallocator_stack_get_mark(stack, &mark));
    return mark;
}

JTEST(AllocStack, OneAfterTheOtherAndTheLastIsTakenBackAtOnce) {
    jallocator_t *stack = make(4096, 0);
    char *a = take(stack, 100), *b = take(stack, 64), *c = take(stack, 1);
    JEXPECT_EQ(b, a + 128);
    JEXPECT_EQ(c, b + 64);
    JEXPECT_EQ(stats_of(stack).free_bytes, 4096 - 193);
    give(stack, c, 1);
    JEXPECT_EQ(take(stack, 200), c);
    give(stack, b, 64); /* in the middle: waits */
    JEXPECT_EQ(stats_of(stack).free_bytes, 4096 - 192 - 200);
    give(stack, c, 200); /* both */
    JEXPECT_EQ(stats_of(stack).free_bytes, 4096 - 100);
    JEXPECT_EQ(take(stack, 64), b);
    give(stack, b, 64);
    give(stack, a, 100);
    JEXPECT_EQ(stats_of(stack).free_bytes, 4096);
    JEXPECT_EQ(jtest_allocation_count(), 1);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, BlocksFollowAndAreUsedAgain) {
    jallocator_t *stack = make(1024, 0);
    void *pointers[12];
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < 12; ++i)
            pointers[i] = take(stack, 256);
        JEXPECT_EQ(jtest_allocation_count(), 3); /* four in each */
        for (size_t i = 12; i-- > 0;)
            give(stack, pointers[i], 256);
        JEXPECT_EQ(stats_of(stack).free_bytes, 3 * 1024);
        JEXPECT_EQ(stats_of(stack).largest_free_bytes, 1024);
    }
    void *large = take(stack, 5000); /* a block of its own, rounded up to the granule */
    JEXPECT_EQ(jtest_live_bytes(), 3 * 1024 + 5056);
    void *small = take(stack, 1024); /* and one of those that are spare */
    JEXPECT_EQ(jtest_allocation_count(), 4);
    give(stack, large, 5000); /* lies beneath: waits */
    give(stack, small, 1024);
    JEXPECT_EQ(stats_of(stack).free_bytes, 3 * 1024 + 5056);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, AlignsWithinAndAcrossBlocks) {
    jallocator_t *stack = make(8192, 0);
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
        void *pointers[5];
        for (size_t i = 0; i < 5; ++i) {
            JASSERT_OK(jallocator_allocate(stack, 1500, alignment, NULL, &pointers[i]));
            JEXPECT_EQ((uintptr_t)pointers[i] % alignment, 0);
            memset(pointers[i], 1, 1500);
        }
        for (size_t i = 5; i-- > 0;)
            give(stack, pointers[i], 1500);
    }
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, LimitIsExact) {
    jallocator_t *stack = make(1024, 1536);
    /* The second block has what is left. */
    void *a = take(stack, 1024), *b = take(stack, 512), *none = &none;
    JEXPECT_EQ(stats_of(stack).reserved_bytes, 1536);
    JEXPECT_EQ(stats_of(stack).limit_bytes, 1536);
    JEXPECT_STATUS(jallocator_allocate(stack, 1, 1, NULL, &none), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "limit");
    give(stack, b, 512);
    JEXPECT_STATUS(jallocator_allocate(stack, 513, 1, NULL, &none), JSTATUS_MEMORY_ERROR);
    give(stack, a, 1024);
    JEXPECT_OK(jallocator_allocate(stack, 1536, 0, NULL, &a)); /* both blocks make room for it */
    JEXPECT_EQ(jtest_live_bytes(), 1536);
    JEXPECT_EQ(stats_of(stack).peak_reserved_bytes, 1536);
    give(stack, a, 1536);
    JEXPECT_OK(jallocator_destroy(stack));
}

/* Freed in the order of coming: each new block is asked for while old ones lie beneath. */
JTEST(AllocStack, WarnsOnceOfWhatIsFreedBeneathLiveOnes) {
    jallocator_t *stack = make(1024, 8 * 1024);
    jtest_log_clear();
    char *blocks[8];
    for (int round = 0; round < 2; ++round) {
        for (size_t i = 0; i < 8; ++i) {
            blocks[i] = take(stack, 1024);
            JEXPECT_EQ(jtest_log_count(), i < 2 ? 0 : 1);
            if (i == 1 || i == 4) /* half is buried; later 2 of 5, of which nothing more is said */
                give(stack, blocks[i - 1], 1024);
        }
        JEXPECT_SUBSTR(jtest_log_text(),
                       "1024 of the 2048 that it holds were freed beneath live ones");
        void *none;
        JEXPECT_STATUS(jallocator_allocate(stack, 1024, 0, NULL, &none), JSTATUS_MEMORY_ERROR);
        JEXPECT_SUBSTR(jstatus_last_message(), "2048 were freed beneath live ones");
        for (size_t i = 8; i-- > 0;)
            if (i != 0 && i != 3)
                give(stack, blocks[i], 1024);
        JEXPECT_OK(jallocator_trim(stack, 0));
        JEXPECT_OK(jallocator_clear_stats(stack)); /* it may warn again */
        jtest_log_clear();
    }

    /* A quarter is much; what is freed in the opposite order, or rewound, is no waste. */
    jstack_mark_t mark = mark_of(stack);
    for (size_t i = 0; i < 5; ++i)
        blocks[i] = take(stack, 1024);
    give(stack, blocks[0], 1024); /* a fifth */
    JEXPECT_NOT_NULL(take(stack, 1024));
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_OK(jallocator_trim(stack, 0));
    for (size_t i = 0; i < 8; ++i)
        JEXPECT_NOT_NULL(take(stack, 1024));
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jallocator_trim(stack, 0));
    for (size_t i = 0; i < 4; ++i)
        blocks[i] = take(stack, 1024);
    give(stack, blocks[0], 1024);
    JEXPECT_NOT_NULL(take(stack, 1024));
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, TrimGivesEmptyBlocksBack) {
    jallocator_t *stack = make(1024, 0);
    void *pointers[4];
    for (size_t i = 0; i < 4; ++i)
        pointers[i] = take(stack, 1000);
    for (size_t i = 4; i-- > 1;)
        give(stack, pointers[i], 1000);
    JEXPECT_EQ(stats_of(stack).free_bytes, 3 * 1024 + 24);
    JEXPECT_OK(jallocator_trim(stack, 1100));
    JEXPECT_EQ(stats_of(stack).free_bytes, 1024 + 24);
    JEXPECT_OK(jallocator_trim(stack, 0)); /* what is above the live one stays */
    JEXPECT_EQ(jtest_live_bytes(), 1024);
    JEXPECT_EQ(stats_of(stack).peak_reserved_bytes, 4096);
    JEXPECT_OK(jallocator_clear_stats(stack));
    JEXPECT_EQ(stats_of(stack).peak_reserved_bytes, 1024);
    give(stack, pointers[0], 1000);
    JEXPECT_OK(jallocator_trim(stack, 0));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_EQ(stats_of(stack).free_bytes, 0);
    pointers[0] = take(stack, 10); /* begins anew */
    give(stack, pointers[0], 10);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, KnowsForeignInteriorAndFreedPointersAndWrongSizes) {
    jallocator_t *stack = make(1024, 0);
    char *a, *below = take(stack, 1000), *top, stranger[8];
    {
        JALLOC_TAG("assembly");
        a = take(stack, 300);
    }
    top = take(stack, 500);
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocator_find(stack, a + 299, &block));
    JEXPECT_EQ(block.pointer, a);
    JEXPECT_EQ(block.size_bytes, 300);
    JEXPECT_STREQ(jtag_name(block.tag), "assembly");
    JEXPECT_STATUS(jallocator_find(stack, a + 300, &block), JSTATUS_NOT_FOUND); /* padding */
    JEXPECT_OK(jallocator_find(stack, below + 999, &block));
    JEXPECT_EQ(block.pointer, below);
    JEXPECT_STATUS(jallocator_deallocate(stack, a + 64, 300, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "assembly");
    JEXPECT_STATUS(jallocator_deallocate(stack, stranger, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(stack, a, 301, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jstatus_last_message(), "assembly");
    give(stack, a, 300);
    JEXPECT_STATUS(jallocator_deallocate(stack, a, 300, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "given back already");
    JEXPECT_STATUS(jallocator_find(stack, a, &block), JSTATUS_NOT_FOUND);
    give(stack, top, 500);
    JEXPECT_STATUS(jallocator_deallocate(stack, top, 500, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(stack).in_use_bytes, 1000);
    give(stack, below, 1000);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, RewindFreesAllSinceTheMark) {
    jallocator_t *stack = make(1024, 0);
    const jstack_mark_t empty = mark_of(stack);
    void *a = take(stack, 256), *again;
    const jstack_mark_t mark = mark_of(stack);
    void *b = take(stack, 256);
    (void)take(stack, 2000); /* another block */
    (void)take(stack, 100);
    give(stack, b, 256); /* freed already: not counted twice */
    JEXPECT_EQ(stats_of(stack).live_count, 3);
    JEXPECT_EQ(stats_of(stack).in_use_bytes, 256 + 2000 + 100);
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_EQ(stats_of(stack).live_count, 1);
    JEXPECT_EQ(stats_of(stack).in_use_bytes, 256);
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL)); /* nothing since */
    again = take(stack, 100);
    JEXPECT_EQ(again, b);
    JEXPECT_OK(jallocator_stack_rewind(stack, empty, NULL));
    JEXPECT_EQ(stats_of(stack).live_count, 0);
    JEXPECT_EQ(stats_of(stack).in_use_bytes, 0);
    JEXPECT_EQ(take(stack, 10), a);
    JEXPECT_OK(jallocator_stack_rewind(stack, empty, NULL));
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, MarksInTheWrongOrderAreRefused) {
    jallocator_t *stack = make(1024, 0);
    void *a = take(stack, 64);
    const jstack_mark_t low = mark_of(stack);
    void *b = take(stack, 64);
    const jstack_mark_t high = mark_of(stack);
    (void)take(stack, 64);
    JEXPECT_OK(jallocator_stack_rewind(stack, low, NULL));
    JEXPECT_STATUS(jallocator_stack_rewind(stack, high, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "lower than the mark");
    /* As high as it was then, but with something else. */
    JEXPECT_EQ(take(stack, 64), b);
    JEXPECT_STATUS(jallocator_stack_rewind(stack, high, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(stats_of(stack).live_count, 2);
    JEXPECT_STATUS(jallocator_stack_rewind(stack, (jstack_mark_t){1000}, NULL),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_stack_rewind(stack, low, NULL));
    give(stack, a, 64);
    /* What was on top is gone. */
    JEXPECT_STATUS(jallocator_stack_rewind(stack, low, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_destroy(stack));
}

typedef struct shown {
    size_t live, free;
} shown_t;
static bool count_shown(void *context, const jallocation_t *block) {
    shown_t *shown = context;
    ++*(block->live ? &shown->live : &shown->free);
    return true;
}

/* A block that is larger than any is all that there may be. */
JTEST(AllocStack, ABlockIsAtMostTheLimit) {
    jallocator_t *stack = make(PTRDIFF_MAX / 2, 4096);
    void *a = take(stack, 4000);
    JEXPECT_EQ(stats_of(stack).reserved_bytes, 4096);
    void *b = take(stack, 64), *none;
    JEXPECT_STATUS(jallocator_allocate(stack, 1, 1, NULL, &none), JSTATUS_MEMORY_ERROR);
    shown_t shown = {0, 0};
    JEXPECT_OK(jallocator_visit(stack, count_shown, &shown));
    JEXPECT_EQ(shown.live, 2);
    JEXPECT_EQ(shown.free, 0);
    give(stack, b, 64);
    give(stack, a, 4000);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, RewindOnAStreamOfAnotherDeviceChangesNothing) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    jallocator_t *stack = make(1024, 0);
    jstream_t *foreign;
    JASSERT_OK(jstream_create(&gpu->device, &foreign));
    const jstack_mark_t mark = mark_of(stack);
    void *a = take(stack, 100);
    JEXPECT_STATUS(jallocator_stack_rewind(stack, mark, foreign), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(stats_of(stack).live_count, 1);
    give(stack, a, 100);
    JEXPECT_OK(jallocator_destroy(stack));
    JEXPECT_OK(jstream_destroy(foreign));
}

/* What was on top when the mark was set may be freed as long as it is not taken back. */
JTEST(AllocStack, RewindAfterTheMarkedEntryWasFreed) {
    jallocator_t *stack = make(1024, 0);
    void *a = take(stack, 64), *b = take(stack, 64);
    const jstack_mark_t mark = mark_of(stack);
    void *c = take(stack, 64), *d = take(stack, 64);
    give(stack, b, 64);
    give(stack, c, 64);
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_STATUS(jallocator_deallocate(stack, d, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(stats_of(stack).live_count, 1);
    JEXPECT_EQ(take(stack, 64), b); /* a's neighbour: b was taken back as well */
    give(stack, b, 64);
    give(stack, a, 64);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, MarkAndRewindFindTheStackBelow) {
    jallocator_t *stack, *below = jtest_failing_allocator();
    jstack_mark_t mark;
    JASSERT_OK(
        jallocator_compose(NULL, "malloc+stack(block=4K,limit=1M,threads=none)+lock", &stack));
    JEXPECT_OK(jallocator_stack_get_mark(stack, &mark));
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_OK(jallocator_destroy(stack));
    JEXPECT_STATUS(jallocator_stack_get_mark(below, &mark), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_stack_rewind(below, mark, NULL), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_stack_get_mark(NULL, &mark), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_stack_get_mark(below, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_stack_rewind(NULL, mark, NULL), JSTATUS_INVALID_POINTER);
    stack = make(0, 0); /* which has no block yet */
    JEXPECT_STATUS(jallocator_deallocate(stack, &mark, 8, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(stack));
    jstack_options_t options = JSTACK_OPTIONS_INIT;
    options.threads = JALLOCATOR_THREADS_SAFE;
    JEXPECT_STATUS(jallocator_create_stack(below, &options, &stack), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_create_stack(NULL, NULL, &stack), JSTATUS_INVALID_POINTER);
}

JTEST(AllocStack, FailuresBelowAndOfBookkeepingLeaveAllAsItWas) {
    jallocator_t *below = jtest_failing_allocator();
    jstack_options_t options = JSTACK_OPTIONS_INIT;
    options.block_bytes = 1024;
    JFOR_EACH_FAILURE(i) {
        enum { COUNT = 100 };
        struct {
            void *pointer;
            size_t size;
        } held[COUNT];
        size_t live = 0, bytes = 0;
        jallocator_t *stack = NULL;
        jstatus_t status = jallocator_create_stack(below, &options, &stack);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            continue;
        }
        for (size_t k = 0; k < COUNT; ++k) {
            const size_t size = k % 7 == 6 ? 3000 : 8 * (k % 13 + 1);
            if (k % 10 == 5)
                jtest_fail_allocation_after(1);
            held[live].size = size;
            status = jallocator_allocate(stack, size, 8, NULL, &held[live].pointer);
            if (status == JSTATUS_SUCCESS) {
                ++live;
                bytes += size;
            } else {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            }
        }
        jtest_fail_allocation_after(0);
        JEXPECT_EQ(stats_of(stack).live_count, live);
        JEXPECT_EQ(stats_of(stack).in_use_bytes, bytes);
        JEXPECT_EQ(stats_of(stack).reserved_bytes, jtest_live_bytes());
        while (live-- > 0)
            give(stack, held[live].pointer, held[live].size);
        JEXPECT_EQ(stats_of(stack).free_bytes, stats_of(stack).reserved_bytes);
        JEXPECT_OK(jallocator_destroy(stack));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

/* Memory that cannot be read or written: an access would end the program. */
JTEST(AllocStack, NeverTouchesTheMemory) {
    void *array = mmap(NULL, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *pointers[100];
    jallocator_t *below, *stack;
    jstack_options_t options = JSTACK_OPTIONS_INIT;
    options.block_bytes = 10000;
    JASSERT_NE(array, MAP_FAILED);
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, MIB, &below));
    JASSERT_OK(jallocator_create_stack(below, &options, &stack));
    const jstack_mark_t mark = mark_of(stack);
    for (size_t i = 0; i < 100; ++i)
        pointers[i] = take(stack, 100 * (i % 30 + 1));
    for (size_t i = 0; i < 100; i += 2)
        give(stack, pointers[i], 100 * (i % 30 + 1));
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_OK(jallocator_check(stack));
    JEXPECT_OK(jallocator_destroy(stack));
    JEXPECT_OK(jallocator_destroy(below));
    munmap(array, MIB);
}

/* Any order of frees, marks and rewinds, against a plain list: the books are exact, nothing
 * overlaps, and what lies there is kept. */
JTEST(AllocStack, RandomUseKeepsBooksAndContents) {
    enum { MOST = 300 };
    static struct {
        unsigned char *pointer;
        size_t size;
        unsigned char mark;
        bool live;
    } held[MOST];
    jallocator_t *stack = make(4096, 0);
    jstack_mark_t marks[MOST];
    size_t mark_at[MOST], count = 0, mark_count = 0, live = 0, bytes = 0;
    for (int64_t n = jtest_iterations(20000); n > 0 && !jtest_has_failure(); --n) {
        const int64_t what = jtest_random_between(0, 9);
        if (what < 5 && count < MOST) {
            const size_t size =
                (size_t)jtest_random_between(1, jtest_random_between(0, 20) == 0 ? 9000 : 700);
            void *pointer;
            JASSERT_OK(jallocator_allocate(stack, size, (size_t)1 << jtest_random_between(0, 9),
                                           NULL, &pointer));
            held[count].pointer = pointer;
            held[count].size = size;
            held[count].mark = (unsigned char)jtest_random();
            held[count].live = true;
            memset(pointer, held[count].mark, size);
            ++count, ++live, bytes += size;
        } else if (what < 8 && count > 0) {
            /* What marks stand on stays. */
            const size_t lowest = mark_count > 0 ? mark_at[mark_count - 1] : 0;
            const size_t i = (size_t)jtest_random_between(
                (int64_t)(jtest_random_bool() ? lowest : count - 1), (int64_t)count - 1);
            if (i >= lowest && i < count && held[i].live) {
                for (size_t k = 0; k < held[i].size; ++k)
                    JASSERT_EQ(held[i].pointer[k], held[i].mark);
                give(stack, held[i].pointer, held[i].size);
                held[i].live = false;
                --live, bytes -= held[i].size;
                while (count > lowest && !held[count - 1].live)
                    --count;
            }
        } else if (what == 8 && mark_count < 20 && (count == 0 || held[count - 1].live)) {
            marks[mark_count] = mark_of(stack);
            mark_at[mark_count++] = count;
        } else if (what == 9 && mark_count > 0 && jtest_random_between(0, 3) == 0) {
            mark_count = (size_t)jtest_random_between(0, (int64_t)mark_count - 1);
            while (count > mark_at[mark_count]) {
                --count;
                live -= held[count].live;
                bytes -= held[count].live ? held[count].size : 0;
            }
            JEXPECT_OK(jallocator_stack_rewind(stack, marks[mark_count], NULL));
        }
        JEXPECT_EQ(stats_of(stack).live_count, live);
        JEXPECT_EQ(stats_of(stack).in_use_bytes, bytes);
    }
    for (size_t i = 0; i < count; ++i)
        if (held[i].live)
            for (size_t k = 0; k < held[i].size; ++k)
                JASSERT_EQ(held[i].pointer[k], held[i].mark);
    JEXPECT_OK(jallocator_stack_rewind(stack, (jstack_mark_t){0}, NULL));
    JEXPECT_EQ(stats_of(stack).free_bytes, stats_of(stack).reserved_bytes);
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, MemoryGoesToAnotherStreamOnlyAfterItsEvent) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *first, *second;
    jallocator_t *stack = make(1024, 0);
    char *a, *b, *c, *d;
    JASSERT_OK(jstream_create(host, &first));
    JASSERT_OK(jstream_create(host, &second));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, NULL, (void **)&a));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, first, (void **)&b));
    JASSERT_OK(jtest_gate_block(&gate, host, first));
    JASSERT_OK(jallocator_deallocate(stack, b, 256, first));
    /* The same stream: at once. */
    JASSERT_OK(jallocator_allocate(stack, 128, 0, first, (void **)&c));
    JEXPECT_EQ(c, b);
    /* The rest of b's place is still b's. */
    JASSERT_OK(jallocator_allocate(stack, 64, 0, second, (void **)&d));
    JEXPECT_TRUE(d < a || d >= a + 1024);
    JEXPECT_EQ(jtest_allocation_count(), 2);
    JASSERT_OK(jallocator_deallocate(stack, d, 64, second));
    JASSERT_OK(jstream_synchronize(host, second));
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, first));
    JASSERT_OK(jallocator_allocate(stack, 64, 0, second, (void **)&d));
    JEXPECT_EQ(d, b + 128);
    JEXPECT_OK(jallocator_deallocate(stack, d, 64, second));
    JEXPECT_OK(jallocator_deallocate(stack, c, 128, first));
    JEXPECT_OK(jallocator_deallocate(stack, a, 256, NULL));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(AllocStack, RewindPutsAFenceOnWhatItFrees) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    jallocator_t *stack = make(1024, 0);
    const jstack_mark_t mark = mark_of(stack);
    void *a, *b;
    JASSERT_OK(jstream_create(host, &stream));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, stream, &a));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, stream, &b));
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    JASSERT_OK(jallocator_stack_rewind(stack, mark, stream));
    JASSERT_OK(jallocator_allocate(stack, 512, 0, stream, &b)); /* the same stream: at once */
    JEXPECT_EQ(b, a);
    JASSERT_OK(jallocator_stack_rewind(stack, mark, stream));
    char *c = take(stack, 64);
    JEXPECT_TRUE(c < (char *)a || c >= (char *)a + 1024);
    give(stack, c, 64);
    jtest_gate_open(&gate);
    JEXPECT_OK(jstream_destroy(stream)); /* its work is done: free for all */
    (void)take(stack, 1024);
    (void)take(stack, 1024);
    JEXPECT_EQ(jtest_allocation_count(), 2);
    JEXPECT_OK(jallocator_stack_rewind(stack, mark, NULL));
    JEXPECT_OK(jallocator_destroy(stack));
}

static bool sum_free(void *context, const jallocation_t *block) {
    *(size_t *)context += block->live ? 0 : block->size_bytes;
    return true;
}

/* What lies above the last entry of a block that others lie on is no free memory. */
JTEST(AllocStack, VisitAndStatisticsAgreeOnWhatIsFree) {
    jallocator_t *stack = make(1024, 0);
    void *a = take(stack, 512), *b = take(stack, 1000), *c = take(stack, 1000);
    give(stack, c, 1000);
    size_t bytes = 0;
    JEXPECT_OK(jallocator_visit(stack, sum_free, &bytes));
    JEXPECT_EQ(bytes, 24 + 1024); /* above b, and c's block; not what is above a */
    JEXPECT_EQ(stats_of(stack).free_bytes, bytes);
    give(stack, b, 1000);
    give(stack, a, 512);
    JEXPECT_OK(jallocator_destroy(stack));
}

/* Parts of 64 bytes one behind the other, taken and freed by two streams in turn, which stand at
 * their gates meanwhile. */
static void free_in_turn(jallocator_t *stack, int parts, char *pointers[], jstream_t *streams[2],
                         jtest_gate_t gates[2]) {
    jdevice_t *host = jdevice_host();
    give(stack, take(stack, 64), 64); /* inline: the block is ready for all */
    for (int i = 0; i < 2; ++i)
        JASSERT_OK(jstream_create(host, &streams[i]));
    for (int i = 0; i < parts; ++i)
        JASSERT_OK(jallocator_allocate(stack, 64, 0, streams[i % 2], (void **)&pointers[i]));

    for (int i = 0; i < 2; ++i)
        JASSERT_OK(jtest_gate_block(&gates[i], host, streams[i]));
    for (int i = parts; i-- > 0;)
        JASSERT_OK(jallocator_deallocate(stack, pointers[i], 64, streams[i % 2]));
}

/* The table of a block grows while it has shadows. */
JTEST(AllocStack, ShadowsSurviveTheGrowthOfTheirTable) {
    jtest_gate_t gates[2] = {JTEST_GATE_INIT, JTEST_GATE_INIT};
    jstream_t *streams[2];
    enum { PARTS = 12 };
    jallocator_t *stack = make(PARTS * 64, 0);
    char *pointers[PARTS], *crumb;
    free_in_turn(stack, PARTS, pointers, streams, gates);
    for (int part = 0; part < PARTS; ++part) { /* each part is its own stream's alone */
        JASSERT_OK(jallocator_allocate(stack, 1, 1, streams[1 - part % 2], (void **)&crumb));
        JEXPECT_TRUE(crumb < pointers[0] || crumb >= pointers[0] + PARTS * 64);
        JEXPECT_OK(jallocator_deallocate(stack, crumb, 1, streams[1 - part % 2]));
        for (int i = 0; i < 64; ++i) {
            JASSERT_OK(jallocator_allocate(stack, 1, 1, streams[part % 2], (void **)&crumb));
            JASSERT_EQ(crumb, pointers[part] + i);
        }
    }
    for (int i = 0; i < 2; ++i)
        jtest_gate_open(&gates[i]);
    JEXPECT_OK(jallocator_stack_rewind(stack, (jstack_mark_t){0}, NULL));
    JEXPECT_OK(jallocator_destroy(stack));
    for (int i = 0; i < 2; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
}

/* Neighbouring shadows of one stream are one, which waits for the later free. */
JTEST(AllocStack, TheLaterFreeOfNeighboursCounts) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    jallocator_t *stack = make(512, 0);
    void *a, *b, *early;
    JASSERT_OK(jstream_create(host, &stream));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, stream, &a));
    JASSERT_OK(jallocator_allocate(stack, 256, 0, stream, &b));
    JASSERT_OK(jallocator_deallocate(stack, b, 256, stream));
    early = take(stack, 64); /* asks for an event */
    JASSERT_OK(jstream_synchronize(host, stream));
    give(stack, early, 64);
    early = take(stack, 64);
    if (early != b) {
        give(stack, early, 64);
        JASSERT_OK(jallocator_trim(stack, 0));
        early = take(stack, 64);
    }
    JEXPECT_EQ(early, b); /* the first free has been passed; a part of its shadow is left */
    give(stack, early, 64);
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    JASSERT_OK(jallocator_deallocate(stack, a, 256, stream));
    early = take(stack, 64);
    JEXPECT_NE(early, a);
    give(stack, early, 64);
    jtest_gate_open(&gate);
    JEXPECT_OK(jallocator_destroy(stack));
    JEXPECT_OK(jstream_destroy(stream));
}

/* Shadows of two streams in turn: each part of the memory waits for its own. */
JTEST(AllocStack, EachPartWaitsForItsOwnStream) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gates[2] = {JTEST_GATE_INIT, JTEST_GATE_INIT};
    jstream_t *streams[2];
    enum { PARTS = 8 };
    jallocator_t *stack = make(PARTS * 64, 0);
    char *pointers[PARTS];
    free_in_turn(stack, PARTS, pointers, streams, gates);
    char *first, *next;
    JASSERT_OK(jallocator_allocate(stack, 64, 0, streams[0], (void **)&first)); /* its own part */
    JEXPECT_EQ(first, pointers[0]);
    JASSERT_OK(jallocator_allocate(stack, 64, 0, streams[0], (void **)&next)); /* the other's */
    JEXPECT_NE(next, pointers[1]);
    JEXPECT_OK(jallocator_deallocate(stack, next, 64, streams[0]));
    JASSERT_OK(jallocator_allocate(stack, 64, 0, streams[1], (void **)&next));
    JEXPECT_EQ(next, pointers[1]);
    jtest_gate_open(&gates[1]);
    JASSERT_OK(jstream_synchronize(host, streams[1]));
    char *rest;
    /* May record an event. */
    JASSERT_OK(jallocator_allocate(stack, (PARTS - 2) * 64, 0, streams[0], (void **)&rest));
    if (rest != pointers[2]) {
        JEXPECT_OK(jallocator_deallocate(stack, rest, (PARTS - 2) * 64, streams[0]));
        JASSERT_OK(jstream_synchronize(host, streams[1]));
        JASSERT_OK(jallocator_allocate(stack, (PARTS - 2) * 64, 0, streams[0], (void **)&rest));
    }
    JEXPECT_EQ(rest, pointers[2]);
    jtest_gate_open(&gates[0]);
    JEXPECT_OK(jallocator_stack_rewind(stack, (jstack_mark_t){0}, streams[0]));
    JEXPECT_OK(jallocator_destroy(stack));
    for (int i = 0; i < 2; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
}
