/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One conformance suite over every kind of allocator, and over random compositions of three: what
 * any of them must do, whoever it stands on. A row is a composition; the suite fails when a kind
 * that can be composed has no row. What only one kind promises is in the kind's own test.
 *
 * The suite is part of two programs: over the host's memory, and over a GPU's, which faults when
 * the host touches it. Each says its device. Bytes are written and read by the model's functions,
 * which go through the device there. */

#include "allocator_helper.h"
#include "allocator_model.h"
#include "conformance.h"
#include "jtest.h"

#include "jalloc/config.h"
#include "jalloc/provider.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

typedef struct subject {
    const char *composition;
    size_t largest_bytes;      /* of a request; 0: anything */
    size_t largest_alignment;  /* 0: anything */
    bool shares_streams_badly; /* no policy in it: memory freed on a stream goes back at once */
} subject_t;

static const subject_t subjects[] = {
    {"malloc", 0, 0, true},
    {"mmap", 0, 0, true},
    {"huge", 0, 0, true},
    {"numa", 0, 0, true},
    {"device", 0, 0, true},
    {"device(kind=pinned)", 0, 0, true},
    {"device(kind=managed)", 0, 0, true},
    {"device(kind=ordered)", 0, 0, false},
    {"segment", 0, 0, true},
    {"segment(size=4M,backend=memfd)", 0, 0, true},
    {"stack", 0, 0, false},
    {"stack(block=64K)", 0, 0, false},
    {"slots(slot=64K)", 64 << 10, 4096, false},
    {"pool", 0, 0, false},
    {"pool(rounding=none,count=8)", 0, 0, false},
    {"bfc", 0, 0, false},
    {"bfc(limit=16M,all_at_once)", 0, 0, false},
    {"lru", 0, 0, false},
    {"lru(layouts=3,bytes=64K)", 0, 0, false},
    {"small", 0, 0, true}, /* large blocks go straight to the provider */
    {"bfc+small", 0, 0, false},
    {"general", 0, 0, false},
    {"track", 0, 0, true},
    {"track(records=16,stacks)", 0, 0, true},
    {"exact", 0, 0, true},
    {"record(file=/dev/null)", 0, 0, true},
    {"guard", 0, 0, true},
    {"fill", 0, 0, true},
    {"limit(limit=1G)", 0, 0, true},
    {"retry(timeout=1)", 0, 0, true},
    {"align(alignment=128)", 0, 0, true},
    {"lock", 0, 0, true},
    {"visit", 0, 0, true},
    {"statistics", 0, 0, true},
    {"quota(budget=conformance,limit=1G)", 0, 0, true},
    {"bfc(limit=256M)+guard", 0, 0, false},
    {"general+track+quota(budget=conformance,limit=1G)", 0, 0, false},
    {"mmap+bfc+lru", 0, 0, false},
    {"mmap+bfc(region=4K)", 0, 0, false},
    {"device(kind=ordered)+bfc", 0, 0, false},
    {"segment(size=16M)+bfc", 0, 0, false},
    {"segment(size=16M)+general+track", 0, 0, false},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static void subject_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const subject_t *)parameter)->composition);
    for (; *name != '\0'; ++name)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9')))
            *name = '_';
}
#define CONFORMS(name) JTEST_P_NAMED(Conformance, name, subject_t, subjects, subject_label)

static bool on_gpu(void) { return jdevice_kind(conformance_device()) != JDEVICE_HOST; }
/* Where all is slower. */
static int64_t iterations(int64_t n) { return jtest_iterations(on_gpu() ? (n + 7) / 8 : n); }

static jallocator_t *make(const subject_t *subject) {
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose(conformance_device(), subject->composition, &allocator));
    return allocator;
}
static size_t size_up_to(const subject_t *subject, size_t size) {
    return subject->largest_bytes != 0 && size > subject->largest_bytes ? subject->largest_bytes
                                                                        : size;
}

static bool begins_with_provider(const subject_t *subject) {
    const size_t length = strcspn(subject->composition, "(+");
    const jallocator_kind_t *kind = NULL;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i)
        if (strlen(kind->name) == length && strncmp(kind->name, subject->composition, length) == 0)
            break;
    return kind != NULL && kind->role == JALLOCATOR_PROVIDER;
}

/* A provider of the host's memory has none of a GPU's. */
#define SKIP_WHAT_IS_NOT_HERE()                                                                    \
    do {                                                                                           \
        if (on_gpu() && begins_with_provider(param) &&                                             \
            strncmp(param->composition, "device", 6) != 0)                                         \
            JSKIP("the host's alone");                                                             \
    } while (0)

static bool shows(void *context, const jallocation_t *block) {
    const void **wanted = context;
    if (block->live && block->pointer == *wanted)
        *wanted = NULL;
    return *wanted != NULL;
}

/* Whether the block that begins at the pointer is one of the allocator's: by every function that
 * can tell. */
static bool is_known(jallocator_t *allocator, const void *pointer) {
    jallocation_t block = JALLOCATION_INIT;
    const void *wanted = pointer;
    const bool owned = owns(allocator, pointer);
    JEXPECT_STATUS(jallocator_find(allocator, pointer, &block),
                   owned ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_visit(allocator, shows, &wanted));
    JEXPECT_EQ(wanted == NULL, owned);
    return owned;
}

JTEST(Conformance, EveryKindHasARow) {
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        size_t row = 0, length = strlen(kind->name);
        while (row < SUBJECTS && !(strncmp(subjects[row].composition, kind->name, length) == 0 &&
                                   strchr("(", subjects[row].composition[length]) != NULL))
            ++row;
        if (row == SUBJECTS && strcmp(kind->name, "null") != 0)
            JFAIL("the kind \"%s\" is not tested for conformance", kind->name);
        JEXPECT_NOT_NULL(kind->summary);
        for (size_t other = 0; other < i; ++other)
            JEXPECT_TRUE(strcmp(kind->name, jallocator_kind_at(other)->name) != 0);
    }
}

CONFORMS(BeginsEmptyAndEndsEmpty) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_EQ(stats.fragmentation, 0);
    JEXPECT_GT(strlen(jallocator_name(allocator)), 0);
    JEXPECT_EQ(jallocator_device(allocator), conformance_device());
    JEXPECT_NE(jallocator_threads(allocator), JALLOCATOR_THREADS_DEFAULT);
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(AlignsFrom1To2MiB) {
    SKIP_WHAT_IS_NOT_HERE();
    static const size_t sizes[] = {1, 7, 64, 4096, 40001};
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    const size_t most = param->largest_alignment != 0 ? param->largest_alignment : 2 * MIB;
    for (size_t alignment = 1; alignment <= most; alignment *= 2)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            void *pointers[3];
            const size_t size = size_up_to(param, sizes[i]);
            for (size_t k = 0; k < 3; ++k) { /* several, so that the second follows an odd end */
                JASSERT_OK(jallocator_allocate(allocator, size, alignment, NULL, &pointers[k]));
                JEXPECT_EQ((uintptr_t)pointers[k] % alignment, 0);
                JEXPECT_GE(jallocator_usable_size(allocator, pointers[k], size), size);
                model_fill(allocator, pointers[k], 1, size);
            }
            for (size_t k = 0; k < 3; ++k)
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[k], size, NULL));
        }
    JEXPECT_OK(jallocator_destroy(allocator));
}

static void run_model(jallocator_t *allocator, const subject_t *subject, int64_t steps) {
    static model_t model; /* large, and tests run one after the other */
    model_init(&model, allocator);
    if (subject->largest_bytes != 0)
        model.largest_bytes = subject->largest_bytes;
    if (subject->largest_alignment != 0)
        model.largest_alignment = subject->largest_alignment;
    for (int64_t i = 0; i < steps && !jtest_has_failure(); ++i) {
        model_step(&model);
        /* It looks at everything: long runs, less often. */
        if (i % 256 == 0 || (i < 2000 && i % 16 == 0))
            model_compare(&model);
    }
    model_finish(&model);
}

CONFORMS(AgreesWithTheModel) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    run_model(allocator, param, iterations(1500));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    if (strncmp(param->composition, "segment", 7) != 0 || strchr(param->composition, '+') != NULL)
        /* Everything was given back to below; a segment has nothing below. */
        JEXPECT_EQ(stats.free_bytes, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(ZeroBytesAreNullAndNotCounted) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    void *pointer = &allocator;
    JEXPECT_OK(jallocator_allocate(allocator, 0, 64, NULL, &pointer));
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_deallocate(allocator, NULL, 0, NULL));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(RefusesSizesNearTheLargest) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    static const size_t alignments[] = {1, 64, 4096, 2 * MIB};
    for (size_t below = 0; below < 3000; below += below < 20 ? 1 : 131)
        for (size_t i = 0; i < 4; ++i)
            for (unsigned shift = 0; shift < 3; ++shift) {
                void *pointer = &allocator;
                const jstatus_t status = jallocator_allocate(allocator, (SIZE_MAX >> shift) - below,
                                                             alignments[i], NULL, &pointer);
                JEXPECT_TRUE(status == JSTATUS_INVALID_SIZE || status == JSTATUS_MEMORY_ERROR ||
                             status == JSTATUS_INVALID_VALUE);
                JEXPECT_NULL(pointer);
            }
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    void *pointer;
    JEXPECT_OK(jallocator_allocate(allocator, 100, 64, NULL, &pointer)); /* and it works as ever */
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(RefusesWhatIsNotABlockAndStaysWhole) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    enum { SIZE = 1000 };
    unsigned char *pointer;
    void *other;
    static unsigned char foreign[64];
    JASSERT_OK(jallocator_allocate(allocator, SIZE, 64, NULL, (void **)&pointer));
    /* So that something stays live. */
    JASSERT_OK(jallocator_allocate(allocator, SIZE, 64, NULL, &other));
    model_fill(allocator, pointer, 7, SIZE);
    JEXPECT_STATUS(jallocator_deallocate(allocator, foreign, 64, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer + 64, SIZE - 64, NULL),
                   JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer + 1, SIZE, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, SIZE - 1, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, SIZE + 1, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, 0, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(NULL, pointer, SIZE, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(model_is_filled(allocator, pointer, 7, SIZE));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.live_count, 2);
    JEXPECT_EQ(stats.in_use_bytes, 2 * SIZE);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, SIZE, NULL));
    JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, SIZE, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(allocator, other, SIZE, NULL));
    JEXPECT_STATUS(jallocator_deallocate(allocator, other, SIZE, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A block of `below` is not one of `above`, which says so and counts nothing; and it is live as
 * before. */
static void expect_foreign(jallocator_t *above, jallocator_t *below) {
    enum { SIZE = 1000 };
    void *own, *foreign;
    /* But for what an allocator above has taken. */
    const jallocator_stats_t empty = stats_of(above);
    /* So that there is something to take off. */
    JASSERT_OK(jallocator_allocate(above, SIZE, 64, NULL, &own));
    JASSERT_OK(jallocator_allocate(below, SIZE, 64, NULL, &foreign));
    model_fill(below, foreign, 3, SIZE);

    JEXPECT_STATUS(jallocator_deallocate(above, foreign, SIZE, NULL), JSTATUS_NOT_FOUND);
    const jallocator_stats_t stats = stats_of(above);
    JEXPECT_EQ(stats.live_count, empty.live_count + 1);
    JEXPECT_EQ(stats.in_use_bytes, empty.in_use_bytes + SIZE);
    JEXPECT_TRUE(model_is_filled(below, foreign, 3, SIZE));
    JEXPECT_TRUE(is_known(below, foreign));
    JEXPECT_FALSE(is_known(above, foreign));

    JEXPECT_OK(jallocator_deallocate(below, foreign, SIZE, NULL));
    JEXPECT_TRUE(is_known(above, own));
    JEXPECT_OK(jallocator_deallocate(above, own, SIZE, NULL));
    JEXPECT_FALSE(is_known(above, own));
    JEXPECT_EQ(stats_of(above).live_count, empty.live_count);
}

/* Each allocator of a stack, over what it stands on: of both kinds, such as know their blocks and
 * such as do not. */
CONFORMS(RefusesWhatWasAllocatedBelow) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param), *below = NULL;
    JASSERT_NOT_NULL(allocator);
    for (jallocator_t *above = allocator; jallocator_below(above) != NULL;
         above = jallocator_below(above))
        expect_foreign(above, jallocator_below(above));
    JEXPECT_OK(jallocator_destroy(allocator));
    if (begins_with_provider(param))
        return;
    JASSERT_OK(jallocator_compose(conformance_device(), "bfc", &below));
    JASSERT_OK(jallocator_compose_over(below, param->composition, &allocator));
    expect_foreign(allocator, jallocator_below(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(below));
}

CONFORMS(FindsByAnyAddressInside) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    static const size_t sizes[] = {1, 100, 5000, 60000};
    unsigned char *pointers[4];
    for (size_t i = 0; i < 4; ++i) {
        const jtag_t before = jtag_set(jtag_intern("finder"));
        JASSERT_OK(jallocator_allocate(allocator, sizes[i], 0, NULL, (void **)&pointers[i]));
        jtag_set(before);
    }
    for (size_t i = 0; i < 4; ++i)
        for (size_t at = 0; at<sizes[i]; at += sizes[i]> 3 ? sizes[i] / 3 : 1) {
            jallocation_t block = JALLOCATION_INIT, anywhere = JALLOCATION_INIT;
            JEXPECT_OK(jallocator_find(allocator, pointers[i] + at, &block));
            JEXPECT_EQ(block.pointer, pointers[i]);
            JEXPECT_EQ(block.size_bytes, sizes[i]);
            JEXPECT_GE(block.usable_bytes, sizes[i]);
            JEXPECT_STREQ(jtag_name(block.tag), "finder");
            JEXPECT_TRUE(block.live);
            JEXPECT_OK(jallocation_find(pointers[i] + at, &anywhere));
            JEXPECT_EQ(anywhere.pointer, block.pointer);
            JEXPECT_EQ(anywhere.allocator, block.allocator);
            JEXPECT_EQ(owns(allocator, pointers[i] + at), at == 0);
        }
    for (size_t i = 0; i < 4; ++i) {
        jallocation_t block = JALLOCATION_INIT;
        JEXPECT_STATUS(jallocator_find(allocator, pointers[i] + sizes[i], &block),
                       JSTATUS_NOT_FOUND); /* however many bytes may be used */
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], sizes[i], NULL));
        JEXPECT_STATUS(jallocator_find(allocator, pointers[i], &block), JSTATUS_NOT_FOUND);
    }
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(IsBusyWhileLiveAndGoesWhenKeptNoMore) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    void *pointer;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "100 bytes in 1 allocations");
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    JEXPECT_OK(jallocator_retain(allocator));
    JEXPECT_STATUS(jallocator_destroy(allocator), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_release(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}

CONFORMS(ClearLowersThePeaks) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    void *small, *large;
    const size_t size = size_up_to(param, 50000);
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &small));
    JASSERT_OK(jallocator_allocate(allocator, size, 0, NULL, &large));
    JEXPECT_OK(jallocator_deallocate(allocator, large, size, NULL));
    JEXPECT_OK(jallocator_clear_stats(allocator));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.peak_in_use_bytes, 100);
    JEXPECT_EQ(stats.largest_request_bytes, 0);
    JEXPECT_EQ(stats.allocation_count, 2);
    JEXPECT_OK(jallocator_deallocate(allocator, small, 100, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* A device may need bookkeeping memory to write, and there may be none. */
static bool fill_or_fail(jallocator_t *allocator, void *pointer, unsigned char value,
                         size_t size_bytes) {
    const jstatus_t status = model_try_fill(allocator, pointer, value, size_bytes);
    if (!jtest_metadata_failed())
        JEXPECT_OK(status);
    return status == JSTATUS_SUCCESS;
}

/* Making one, and using it, with the n-th bookkeeping allocation failing: a clear status, and
 * nothing lost. */
CONFORMS(SurvivesEveryFailureOfBookkeeping) {
    SKIP_WHAT_IS_NOT_HERE();
    JFOR_EACH_FAILURE(n) {
        jallocator_t *allocator = NULL;
        const jstatus_t status =
            jallocator_compose(conformance_device(), param->composition, &allocator);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_NULL(allocator);
            continue;
        }
        enum { BLOCKS = 12 };
        void *pointers[BLOCKS];
        size_t sizes[BLOCKS], live = 0;
        bool filled[BLOCKS];
        for (size_t i = 0; i < BLOCKS; ++i) {
            sizes[i] = size_up_to(param, 100 + 3000 * i * i);
            const jstatus_t answer =
                jallocator_allocate(allocator, sizes[i], 0, NULL, &pointers[i]);
            if (answer != JSTATUS_SUCCESS) {
                JEXPECT_STATUS(answer, JSTATUS_MEMORY_ERROR);
                JEXPECT_TRUE(jtest_metadata_failed());
                JEXPECT_NULL(pointers[i]);
            } else {
                filled[i] = fill_or_fail(allocator, pointers[i], (unsigned char)i, sizes[i]);
                ++live;
            }
        }
        jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.live_count, live);
        for (size_t i = 0; i < BLOCKS; ++i)
            if (pointers[i] != NULL) {
                if (filled[i])
                    JEXPECT_TRUE(
                        model_is_filled(allocator, pointers[i], (unsigned char)i, sizes[i]));
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], sizes[i], NULL));
            }
        JEXPECT_OK(jallocator_check(allocator));
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}

/* The same with the n-th allocation of what is below failing: a request fails, or is served from
 * what is kept; the rest goes on, and everything is given back in the end. */
CONFORMS(SurvivesEveryFailureOfBelow) {
    SKIP_WHAT_IS_NOT_HERE();
    enum { BLOCKS = 24 };
    jallocator_t *below = jtest_failing_allocator(), *allocator = NULL;
    if (begins_with_provider(param))
        JSKIP("there is nothing below");
    if (on_gpu())
        JSKIP("below is the host's memory");
    bool failed = true;
    for (uint64_t n = 1; failed; ++n) {
        JSCOPED_TRACE("the allocation %d below fails", (int)n);
        JASSERT_OK(jallocator_compose_over(below, param->composition, &allocator));
        const uint64_t before = jtest_allocation_count();
        jtest_fail_allocation_after(n);
        void *pointers[BLOCKS];
        size_t sizes[BLOCKS], live = 0;
        for (size_t i = 0; i < BLOCKS; ++i) {
            sizes[i] = size_up_to(param, 1 + (i * i * 977) % 90000);
            const jstatus_t status =
                jallocator_allocate(allocator, sizes[i], 0, NULL, &pointers[i]);
            if (status == JSTATUS_SUCCESS) {
                memset(pointers[i], (int)i, sizes[i]);
                ++live;
            } else {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_NULL(pointers[i]);
            }
            if (i % 3 == 2 && pointers[i - 2] != NULL) { /* something is always kept */
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[i - 2], sizes[i - 2], NULL));
                pointers[i - 2] = NULL;
                --live;
            }
        }
        failed = jtest_allocation_count() - before >= n;
        jtest_fail_allocation_after(0);
        jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
        JEXPECT_OK(jallocator_get_stats(allocator, &stats));
        JEXPECT_EQ(stats.live_count, live);
        for (size_t i = 0; i < BLOCKS; ++i)
            if (pointers[i] != NULL) {
                JEXPECT_EQ(((unsigned char *)pointers[i])[0], i);
                JEXPECT_EQ(((unsigned char *)pointers[i])[sizes[i] - 1], i);
                JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], sizes[i], NULL));
            }
        JEXPECT_OK(jallocator_check(allocator));
        JASSERT_OK(jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
    }
}

/* ---- Threads ---- */

enum { THREADS = 8 };
typedef struct worker {
    jallocator_t *allocator;
    const subject_t *subject;
    unsigned number;
    int64_t rounds;
    atomic_uint *errors;
    _Atomic(unsigned char *) *mailbox; /* blocks handed to whoever takes them */
    /* Here and not on the thread's stack, which a forked child does not have. */
    unsigned char *held[16], *letter;
    size_t sizes[16];
} worker_t;
#define MAIL_BYTES 333

static void *work(void *argument) {
    worker_t *worker = argument;
    unsigned char **held = worker->held;
    size_t *sizes = worker->sizes;
    uint64_t state = worker->number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < worker->rounds; ++i) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const unsigned slot = (unsigned)(state >> 33) % 16;
        bool right = true;
        if (held[slot] != NULL) {
            right = model_is_filled(worker->allocator, held[slot],
                                    (unsigned char)(worker->number + slot), sizes[slot]);
            right = right && jallocator_deallocate(worker->allocator, held[slot], sizes[slot],
                                                   NULL) == JSTATUS_SUCCESS;
            held[slot] = NULL;
        } else {
            sizes[slot] = size_up_to(worker->subject, 1 + (size_t)(state >> 40) % 9000);
            right = jallocator_allocate(worker->allocator, sizes[slot], 0, NULL,
                                        (void **)&held[slot]) == JSTATUS_SUCCESS;
            if (right)
                model_fill(worker->allocator, held[slot], (unsigned char)(worker->number + slot),
                           sizes[slot]);
        }
        if (i % 8 == 0) { /* a block from here is freed over there */
            if (jallocator_allocate(worker->allocator, MAIL_BYTES, 0, NULL,
                                    (void **)&worker->letter) == JSTATUS_SUCCESS)
                model_fill(worker->allocator, worker->letter, 0x5a, MAIL_BYTES);
            else
                right = false;
            unsigned char *other = atomic_exchange(worker->mailbox, worker->letter);
            if (other != NULL)
                right = right && model_is_filled(worker->allocator, other, 0x5a, MAIL_BYTES) &&
                        jallocator_deallocate(worker->allocator, other, MAIL_BYTES, NULL) ==
                            JSTATUS_SUCCESS;
        }
        if (!right)
            atomic_fetch_add(worker->errors, 1);
    }
    for (unsigned slot = 0; slot < 16; ++slot)
        if (held[slot] != NULL && jallocator_deallocate(worker->allocator, held[slot], sizes[slot],
                                                        NULL) != JSTATUS_SUCCESS)
            atomic_fetch_add(worker->errors, 1);
    return NULL;
}

CONFORMS(EightThreadsAtOnce) {
    SKIP_WHAT_IS_NOT_HERE();
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    atomic_uint errors = 0;
    _Atomic(unsigned char *) mailbox = NULL;
    worker_t workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; ++i) {
        workers[i] =
            (worker_t){allocator, param, i, iterations(400), &errors, &mailbox, {NULL}, NULL, {0}};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    unsigned char *letter = atomic_load(&mailbox);
    if (letter != NULL)
        JEXPECT_OK(jallocator_deallocate(allocator, letter, MAIL_BYTES, NULL));
    JEXPECT_EQ(atomic_load(&errors), 0);
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    JEXPECT_EQ(stats.live_count, 0);
    JEXPECT_EQ(stats.in_use_bytes, 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Forks ---- */

static void use_in_child(void *argument) {
    const worker_t *worker = argument;
    work(argument);
    JEXPECT_EQ(atomic_load(worker->errors), 0);
}

/* Another thread is in the midst of it when the process forks: the child's copy is whole and not
 * locked for ever. */
CONFORMS(WorksOnInAForkedChild) {
    if (on_gpu())
        JSKIP("no GPU's runtime survives a fork");
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    atomic_uint errors = 0, child_errors = 0;
    _Atomic(unsigned char *) mailbox = NULL, child_mailbox = NULL;
    worker_t busy = {allocator, param, 1,  jtest_iterations(2000), &errors, &mailbox,
                     {NULL},    NULL,  {0}};
    worker_t child = {allocator, param, 2, 100, &child_errors, &child_mailbox, {NULL}, NULL, {0}};
    pthread_t thread;
    pthread_create(&thread, NULL, work, &busy);
    for (int i = 0; i < 3; ++i)
        jtest_in_child(20, use_in_child, &child);
    pthread_join(thread, NULL);
    unsigned char *letter = atomic_load(&mailbox);
    if (letter != NULL)
        JEXPECT_OK(jallocator_deallocate(allocator, letter, MAIL_BYTES, NULL));
    JEXPECT_EQ(atomic_load(&errors), 0);
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Streams ---- */

/* Work in a stream stands still until as many have been let go, or for a while: an allocator may
 * wait for that stream. */
#define HOLD_MS 10
typedef struct hold {
    atomic_uint *let_go;
    unsigned number; /* of this one, from 1 */
} hold_t;
static void hold_in_stream(void *arguments) {
    const hold_t *hold = arguments;
    for (int waited = 0; waited < HOLD_MS && atomic_load(hold->let_go) < hold->number; ++waited)
        jtest_sleep_ms(1);
}

/* Blocks are written, read again and freed in the order of a stream, many times over, while other
 * streams get and use what was freed. A block that is handed over too early is seen when what was
 * read is looked at, and by a race detector. Returns how many were.
 *
 * A device need not run streams beside each other, and a GPU does not while it is asked for pinned
 * memory. So all of that is taken before, and a few times the first stream is held between writing
 * and reading until the others have done what they were given:
 *
 *     stream 0   write a | held -------------------------- | read a
 *     others             | write, read what they were given |
 *
 * What they were given may be what was freed above, and must not be a. */
static unsigned use_on_streams(jallocator_t *allocator, const subject_t *subject, int64_t rounds) {
    enum { STREAMS = 3, UNIT = 20000, MOST = 3 * UNIT, HOLDS = 8 };
    jdevice_t *device = conformance_device();
    jstream_t *streams[STREAMS];
    jevent_t *written = NULL;
    atomic_uint let_go = 0;
    unsigned errors = 0, held = 0;
    int64_t release = 0; /* the round before which the first stream goes on */
    JEXPECT_OK(jevent_create(device, &written));
    size_t *sizes = calloc((size_t)rounds, sizeof *sizes);
    unsigned char *read = NULL;
    JEXPECT_OK(jdevice_allocate(device, JMEMORY_PINNED, (size_t)rounds * MOST, 0, (void **)&read));
    for (int i = 0; i < STREAMS; ++i)
        JEXPECT_OK(jstream_create(device, &streams[i]));
    for (int64_t round = 0; round < rounds && read != NULL; ++round) {
        if (round == release && atomic_load(&let_go) < held) {
            for (int i = 1; i < STREAMS; ++i)
                JEXPECT_OK(jstream_synchronize(device, streams[i]));
            atomic_store(&let_go, held);
        }
        jstream_t *stream = streams[jtest_random_between(0, STREAMS - 1)];
        const size_t size =
            size_up_to(subject, (size_t)jtest_random_between(1, MOST / UNIT) * UNIT);
        const unsigned char value = (unsigned char)round;
        void *pointer;
        JEXPECT_OK(jallocator_allocate(allocator, size, 0, stream, &pointer));
        if (pointer == NULL)
            break;
        sizes[round] = size;
        JEXPECT_OK(jdevice_fill(device, stream, pointer, &value, 1, size));
        const bool holding = atomic_load(&let_go) < held;
        const bool hold = stream == streams[0] && !holding && held < HOLDS;
        if (hold || (on_gpu() && !holding && jtest_random_bool())) {
            /* A GPU is lazy: so it stops here. */
            JEXPECT_OK(jevent_record(written, stream));
            JEXPECT_OK(jevent_synchronize(written));
        }
        if (hold) {
            const hold_t arguments = {&let_go, ++held};
            JEXPECT_OK(
                jstream_launch(device, stream, hold_in_stream, &arguments, sizeof arguments));
            release = round + jtest_random_between(2, 6);
        }
        JEXPECT_OK(jdevice_copy(device, stream, read + round * MOST, pointer, size));
        /* The work may not even have begun. */
        JEXPECT_OK(jallocator_deallocate(allocator, pointer, size, stream));
    }
    atomic_store(&let_go, held);
    for (int i = 0; i < STREAMS; ++i)
        JEXPECT_OK(jstream_destroy(streams[i]));
    for (int64_t round = 0; round < rounds; ++round)
        for (size_t i = 0; i < sizes[round]; ++i)
            if (read[round * MOST + (int64_t)i] != (unsigned char)round) {
                ++errors;
                break;
            }
    free(sizes);
    JEXPECT_OK(jdevice_deallocate(device, JMEMORY_PINNED, read, (size_t)rounds * MOST));
    JEXPECT_OK(jevent_destroy(written));
    return errors;
}

CONFORMS(StreamsNeverShareABlock) {
    SKIP_WHAT_IS_NOT_HERE();
    if (param->shares_streams_badly)
        JSKIP("providers ignore streams");
    jallocator_t *allocator = make(param);
    JASSERT_NOT_NULL(allocator);
    JEXPECT_EQ(use_on_streams(allocator, param, iterations(300)), 0);
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_OK(jallocator_destroy(allocator));
}

#ifndef __SANITIZE_THREAD__ /* which sees it too, and says so */
/* The planted bug: an allocator that forgets the stream when it gets memory back, and hands it to
 * the next who asks. The check above must see it. */
enum { FORGETFUL_BLOCKS = 4 };
typedef struct forgetful {
    jallocator_t *below;
    void *kept[FORGETFUL_BLOCKS];
    size_t sizes[FORGETFUL_BLOCKS];
} forgetful_t;
static jstatus_t forgetful_allocate(void *context, size_t size_bytes, size_t alignment,
                                    jstream_t *stream, void **pointer) {
    forgetful_t *forgetful = context;
    for (int i = 0; i < FORGETFUL_BLOCKS; ++i)
        if (forgetful->kept[i] != NULL && forgetful->sizes[i] == size_bytes) {
            *pointer = forgetful->kept[i];
            forgetful->kept[i] = NULL;
            return JSTATUS_SUCCESS;
        }
    return jallocator_allocate(forgetful->below, size_bytes, alignment, stream, pointer);
}
static jstatus_t forgetful_deallocate(void *context, void *pointer, size_t size_bytes,
                                      jstream_t *stream) {
    forgetful_t *forgetful = context;
    for (int i = 0; i < FORGETFUL_BLOCKS; ++i)
        if (forgetful->kept[i] == NULL) {
            forgetful->kept[i] = pointer;
            forgetful->sizes[i] = size_bytes;
            return JSTATUS_SUCCESS;
        }
    return jallocator_deallocate(forgetful->below, pointer, size_bytes, stream);
}

JTEST(ConformanceOfTheTest, AForgottenStreamIsSeen) {
    static const subject_t subject = {"bfc", 0, 0, false};
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = forgetful_allocate,
                                  .deallocate = forgetful_deallocate};
    forgetful_t context = {.below = make(&subject)};
    jallocator_t *forgetful;
    JASSERT_NOT_NULL(context.below);
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.device = conformance_device();
    JASSERT_OK(jallocator_create(&ops, &context, &options, &forgetful));
    unsigned seen = 0;
    for (int tries = 0; tries < 50 && seen == 0; ++tries)
        seen = use_on_streams(forgetful, &subject, 300);
    JEXPECT_GT(seen, 0);
    JEXPECT_OK(jallocator_destroy(forgetful));
    for (int i = 0; i < FORGETFUL_BLOCKS; ++i)
        JEXPECT_OK(jallocator_deallocate(context.below, context.kept[i], context.sizes[i], NULL));
    JEXPECT_OK(jallocator_destroy(context.below));
}
#endif

/* ---- Memory that the host cannot read ---- */

/* Policies, and adaptors that do not write, on addresses that fault when they are touched. */
JTEST(Conformance, PoliciesNeverTouchTheMemory) {
    static const char *const untouching[] = {
        "stack",  "slots", "pool",  "bfc",   "lru",  "small", "general",    "track", "exact",
        "record", "limit", "retry", "align", "lock", "visit", "statistics", "quota"};
    static const char *const arguments[] = {"",
                                            "(slot=64K)",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "(file=/dev/null)",
                                            "(limit=1G)",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "",
                                            "(budget=conformance,limit=1G)"};
    const size_t bytes = 256 * MIB;
    void *mapping =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    JASSERT_TRUE(mapping != MAP_FAILED);
    for (size_t i = 0; i < sizeof untouching / sizeof untouching[0]; ++i) {
        JSCOPED_TRACE("%s", untouching[i]);
        jallocator_t *array, *allocator = NULL;
        JASSERT_OK(jallocator_create_array(jdevice_host(), mapping, bytes, &array));
        char stage[80];
        snprintf(stage, sizeof stage, "%s%s", untouching[i], arguments[i]);
        JASSERT_OK(jallocator_compose_over(array, stage, &allocator));
        static model_t model;
        model_init(&model, allocator);
        model.unreadable = true;
        if (i == 1)
            model.largest_alignment = 4096;
        for (int64_t step = jtest_iterations(1000); step > 0 && !jtest_has_failure(); --step)
            model_step(&model);
        model_finish(&model);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_OK(jallocator_destroy(array));
    }
    munmap(mapping, bytes);
}

/* ---- Random compositions ---- */

JTEST(Conformance, RandomCompositionsOfThree) {
    for (int64_t compositions = iterations(60); compositions > 0 && !jtest_has_failure();
         --compositions) {
        char composition[200] = "";
        size_t largest = 0, alignment = 0;
        for (int level = 0; level < 3; ++level) {
            const subject_t *subject =
                /* Neither providers nor compositions. */
                &subjects[jtest_random_between(10, SUBJECTS - 8)];
            snprintf(composition + strlen(composition), sizeof composition - strlen(composition),
                     "%s%s", level > 0 ? "+" : "", subject->composition);
            if (subject->largest_bytes != 0)
                largest = 4096, alignment = 1024; /* what others make of a request must fit too */
        }
        if (strstr(composition, "slots") != NULL)
            continue; /* others above ask for more than a slot */
        JSCOPED_TRACE("%s", composition);
        const subject_t whole = {composition, largest, alignment, false};
        jallocator_t *allocator = make(&whole);
        JASSERT_NOT_NULL(allocator);
        run_model(allocator, &whole, 300);
        JEXPECT_OK(jallocator_trim(allocator, 0));
        JEXPECT_OK(jallocator_destroy(allocator));
    }
}
