/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Best fit with coalescing as it grows: which regions it asks for below, and when it gives them
 * back. */

#include "bfc_helper.h"

#include <stdlib.h>
#include <sys/mman.h>

/* ---- Growth ---- */

/* A region has a part of what there is, or what the request needs, or the least that is taken at
 * once. */
static const struct growth {
    size_t percent, least; /* granules */
    size_t requests[6], regions[6];
} growths[] = {
    {100, 4, {4, 8, 16, 5, 70, 64}, {4, 8, 16, 28, 70, 126}},
    {10, 1, {50, 50, 5, 20, 13, 1}, {50, 50, 10, 20, 13, 14}},
    {0, 2, {100, 100, 3, 1000, 1, 90}, {100, 100, 12, 1000, 72, 90}}, /* 6% */
};
JTEST_P(Bfc, RegionsGrowWithWhatThereIs, struct growth, growths) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = param->least * G - 10; /* rounded up */
    options.growth_percent = param->percent;
    options.split_tightly = true; /* so that what is taken is what was asked for */
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *pointers[6];
    for (int i = 0; i < 6; ++i) {
        const size_t before = script.asked_count;
        pointers[i] = take(allocator, param->requests[i] * G);
        if (script.asked_count > before)
            JEXPECT_EQ(script.asked[before], param->regions[i] * G);
    }
    for (int i = 0; i < 6; ++i)
        give(allocator, pointers[i], param->requests[i] * G);
    end(allocator);
    JEXPECT_EQ(script.granted_bytes, 0);
    options.growth_percent = 1001;
    JEXPECT_STATUS(jallocator_create_bfc(jtest_failing_allocator(), &options, &allocator),
                   JSTATUS_INVALID_VALUE);
}

/* Where blocks change their sizes, regions that are free go before more is reserved than ever
 * before. */
JTEST(Bfc, FreeRegionsGoBeforeThePeakRises) {
    for (int keep = 0; keep < 2; ++keep) {
        script_t script = {0};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = G;
        options.keep_regions = keep;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        for (size_t granules = 10; granules < 20; ++granules)
            give(allocator, take(allocator, granules * G), granules * G);
        JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, keep ? 145 * G : 19 * G);
        end(allocator);
    }
}

/* An eighth of the request left over, or as much again. */
JTEST(Bfc, SplitsTightlyWhenAsked) {
    for (int tight = 0; tight < 2; ++tight)
        for (size_t rest = 0; rest <= 8; ++rest) {
            script_t script = {0};
            jbfc_options_t options = JBFC_OPTIONS_INIT;
            options.limit_bytes = options.region_bytes = (32 + rest) * G;
            options.split_tightly = tight;
            jallocator_t *allocator;
            make(&script, &options, &allocator);
            void *pointer = take(allocator, 32 * G);
            JEXPECT_EQ(jallocator_usable_size(allocator, pointer, 32 * G),
                       tight && rest >= 4 ? 32 * G : (32 + rest) * G);
            give(allocator, pointer, 32 * G);
            end(allocator);
        }
}

JTEST(Bfc, GrowthBacksOffByATenthDownToTheRequest) {
    for (size_t largest = 100; largest <= 1000; largest += 37) {
        script_t script = {.largest_bytes = largest * G};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.region_bytes = 1000 * G;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        void *pointer = take(allocator, 100 * G);
        size_t bytes = 1000 * G;
        for (size_t i = 0; i < script.asked_count; ++i) {
            JEXPECT_EQ(script.asked[i], bytes);
            JEXPECT_EQ(bytes <= largest * G, i + 1 == script.asked_count);
            bytes = (bytes - bytes / 10) / G * G;
            bytes = bytes < 100 * G ? 100 * G : bytes;
        }
        JEXPECT_EQ(stats_of(allocator).reserved_bytes, script.granted_bytes);
        give(allocator, pointer, 100 * G);
        end(allocator);
    }
}

JTEST(Bfc, RefusedGrowthLeavesAllAsItWas) {
    script_t script = {.largest_bytes = 16 * G};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 16 * G;
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    void *pointer = take(allocator, 9 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 17 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(refused);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 16 * G);
    JEXPECT_EQ(script.given_back_count, 0);
    JEXPECT_OK(jallocator_check(allocator));
    script.largest_bytes = SIZE_MAX;
    script.asked_count = 0;
    void *other = take(allocator, 17 * G); /* grows as if nothing had been */
    JEXPECT_EQ(script.asked[0], 17 * G);
    give(allocator, other, 17 * G);
    give(allocator, pointer, 9 * G);
    end(allocator);
}

JTEST(Bfc, LimitIsExact) {
    for (size_t limit = 3 * G; limit <= 12 * G; limit += 100) {
        script_t script = {0};
        jbfc_options_t options = JBFC_OPTIONS_INIT;
        options.limit_bytes = limit;
        options.region_bytes = 2 * G;
        jallocator_t *allocator;
        make(&script, &options, &allocator);
        void *pointers[12], *refused;
        size_t count = 0;
        while (count < 12 &&
               jallocator_allocate(allocator, G, 0, NULL, &pointers[count]) == JSTATUS_SUCCESS)
            ++count;
        JEXPECT_EQ(count, limit / G); /* every granule of it and not one more */
        JEXPECT_EQ(script.granted_bytes, limit / G * G);
        JEXPECT_EQ(stats_of(allocator).limit_bytes, limit / G * G);
        JEXPECT_EQ(stats_of(allocator).fragmentation, 0.0); /* defined when full */
        for (size_t i = 0; i < count; ++i)
            give(allocator, pointers[i], G);
        /* Regions make way for one that is large enough. */
        pointers[0] = take(allocator, limit / G * G);
        JEXPECT_EQ(script.granted_bytes, limit / G * G);
        give(allocator, pointers[0], limit / G * G);
        JEXPECT_STATUS(jallocator_allocate(allocator, limit / G * G + 1, 0, NULL, &refused),
                       JSTATUS_MEMORY_ERROR);
        JEXPECT_LE(stats_of(allocator).peak_reserved_bytes, limit);
        end(allocator);
    }
}

JTEST(Bfc, AllAtOnceTakesTheLimitAndNeverMore) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = 100 * G;
    options.all_at_once = true;
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    JEXPECT_EQ(script.asked_count, 0);
    void *pointer = take(allocator, 1);
    JEXPECT_EQ(script.asked[0], 100 * G);
    JEXPECT_STATUS(jallocator_allocate(allocator, 100 * G, 0, NULL, &refused),
                   JSTATUS_MEMORY_ERROR);
    void *other = take(allocator, 99 * G);
    JEXPECT_EQ(script.asked_count, 1);
    give(allocator, other, 99 * G);
    give(allocator, pointer, 1);
    end(allocator);

    script = (script_t){.largest_bytes = 50 * G}; /* what backed off is all there will be */
    make(&script, &options, &allocator);
    pointer = take(allocator, G);
    const size_t granted = script.granted_bytes;
    JEXPECT_EQ(jallocator_allocate(allocator, 49 * G, 0, NULL, &refused), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(script.granted_bytes, granted);
    give(allocator, pointer, G);
    end(allocator);
}

JTEST(Bfc, OptionsAreChecked) {
    script_t script = {0};
    jallocator_t *allocator, *refused = NULL;
    make(&script, NULL, &allocator);
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.all_at_once = true;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "all_at_once");
    options.all_at_once = false;
    options.region_bytes = SIZE_MAX - 100;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "region_bytes");
    options.region_bytes = 0;
    options.threads = JALLOCATOR_THREADS_SAFE;
    JEXPECT_STATUS(jallocator_create_bfc(allocator, &options, &refused), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "threads");
    JEXPECT_STATUS(jallocator_create_bfc(NULL, NULL, &refused), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(refused);
    end(allocator);
    JASSERT_OK(jallocator_compose(
        NULL, "mmap+bfc(limit=1MiB,region=64KiB,threads=none,keep_regions)", &allocator));
    JEXPECT_EQ(jallocator_threads(allocator), JALLOCATOR_THREADS_NONE);
    JEXPECT_EQ(stats_of(allocator).limit_bytes, MIB);
    void *pointer = take(allocator, 100);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 64 * 1024);
    give(allocator, pointer, 100);
    end(allocator);
}

JTEST(Bfc, SizesThatNoMachineHasAreRefused) {
    script_t script = {.left_bytes = MIB};
    jallocator_t *allocator;
    make(&script, NULL, &allocator);
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 8)
        for (size_t below = 0; below < 3000; below += 77) {
            void *pointer = &script;
            const size_t sizes[] = {SIZE_MAX - below, PTRDIFF_MAX - below,
                                    PTRDIFF_MAX - 2 * MIB - below};
            for (int i = 0; i < 3; ++i) {
                const jstatus_t status =
                    jallocator_allocate(allocator, sizes[i], alignment, NULL, &pointer);
                if (status != JSTATUS_INVALID_SIZE && status != JSTATUS_MEMORY_ERROR)
                    JFAIL("%zu bytes aligned to %zu gave %s", sizes[i], alignment,
                          jstatus_name(status));
                JEXPECT_NULL(pointer);
            }
        }
    JEXPECT_EQ(script.granted_bytes, 0);
    end(allocator);
}

/* ---- Giving back ---- */

JTEST(Bfc, TrimGivesWholeFreeRegionsBackUntilLittleIsKept) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 10 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *small = take(allocator, 4 * G), *middle = take(allocator, 20 * G),
         *large = take(allocator, 40 * G);
    JEXPECT_EQ(script.granted_bytes, 70 * G);
    give(allocator, middle, 20 * G);
    JEXPECT_OK(jallocator_trim(allocator, 20 * G)); /* free are 20, and 6 of the first */
    JEXPECT_EQ(script.granted_bytes, 50 * G);
    JEXPECT_EQ(stats_of(allocator).free_bytes, 6 * G);
    give(allocator, large, 40 * G);
    JEXPECT_OK(jallocator_trim(allocator, 46 * G));
    JEXPECT_EQ(script.granted_bytes, 50 * G);
    JEXPECT_OK(jallocator_trim(allocator, 46 * G - 1));
    JEXPECT_EQ(script.granted_bytes, 10 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0)); /* the first region is in use */
    JEXPECT_EQ(script.granted_bytes, 10 * G);
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, 70 * G);
    JEXPECT_OK(jallocator_clear_stats(allocator));
    JEXPECT_EQ(stats_of(allocator).peak_reserved_bytes, 10 * G);
    give(allocator, small, 4 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    JEXPECT_EQ(script.granted_bytes, 0);
    end(allocator);
}

JTEST(Bfc, FreeRegionsMakeWayBeforeARequestFails) {
    for (int keep = 0; keep < 2; ++keep)
        for (int below_refuses = 0; below_refuses < 2; ++below_refuses) {
            JSCOPED_TRACE("keep_regions %d, below refuses %d", keep, below_refuses);
            script_t script = {.left_bytes = below_refuses ? 14 * G : 0};
            jbfc_options_t options = JBFC_OPTIONS_INIT;
            options.region_bytes = 4 * G;
            options.limit_bytes = below_refuses ? 0 : 14 * G;
            options.keep_regions = keep;
            jallocator_t *allocator;
            void *refused;
            make(&script, &options, &allocator);
            /* Regions of 4 and 8, and 2 left. */
            void *a = take(allocator, 4 * G), *b = take(allocator, 8 * G);
            give(allocator, b, 8 * G);
            if (keep) {
                JEXPECT_STATUS(jallocator_allocate(allocator, 10 * G, 0, NULL, &refused),
                               JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(script.given_back_count, 0);
            } else {
                JEXPECT_OK(jallocator_allocate(allocator, 10 * G, 0, NULL, &b));
                JEXPECT_EQ(script.given_back_count, 1);
                JEXPECT_LE(script.granted_bytes, 14 * G);
                give(allocator, b, 10 * G);
            }
            if (!below_refuses) { /* it would not help: nothing is given back for nothing */
                script.given_back_count = 0;
                JEXPECT_STATUS(jallocator_allocate(allocator, 11 * G, 0, NULL, &refused),
                               JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(script.given_back_count, 0);
            }
            give(allocator, a, 4 * G);
            end(allocator);
        }
}

/* The peak was higher, so what is free is kept at first; then below has no more, and all that is
 * free goes back. */
JTEST(Bfc, FreeRegionsGoBackWhereBelowHasNoMore) {
    script_t script = {.left_bytes = 44 * G};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.region_bytes = 4 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    void *a = take(allocator, 4 * G), *b = take(allocator, 8 * G), *c = take(allocator, 4 * G);
    give(allocator, take(allocator, 28 * G), 28 * G);
    JEXPECT_OK(jallocator_trim(allocator, 0));
    give(allocator, b, 8 * G); /* between two that are live */
    script.left_bytes = 4 * G; /* others have taken the rest */
    b = take(allocator, 12 * G);
    JEXPECT_EQ(stats_of(allocator).reserved_bytes, 20 * G);
    give(allocator, a, 4 * G);
    give(allocator, b, 12 * G);
    give(allocator, c, 4 * G);
    end(allocator);
}

/* A stream that no memory could be had for is passed over when quick lists are emptied. */
JTEST(Bfc, AStreamWithoutBinsIsPassedOver) {
    jstream_t *first, *second;
    JASSERT_OK(jstream_create(jdevice_host(), &first));
    JASSERT_OK(jstream_create(jdevice_host(), &second));
    for (uint64_t n = 1; n <= 3; ++n) {
        jallocator_t *allocator;
        void *none, *block;
        JASSERT_OK(jallocator_compose(NULL, "bfc", &allocator));
        give(allocator, take(allocator, 1000), 1000);
        jtest_fail_metadata_after(n); /* the frontier's table, that of bins, the bins */
        JEXPECT_STATUS(jallocator_allocate(allocator, 1000, 0, first, &none), JSTATUS_MEMORY_ERROR);
        JEXPECT_TRUE(jtest_metadata_failed());
        for (int i = 0; i < 4; ++i) {
            block = take_on(allocator, 1000, second);
            JEXPECT_OK(jallocator_deallocate(allocator, block, 1000, second));
        }
        JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
        JEXPECT_EQ(stats_of(allocator).free_bytes, stats_of(allocator).reserved_bytes);
        end(allocator);
    }
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

JTEST(Bfc, FailureSaysWhatThereIs) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = options.region_bytes = 20 * G;
    options.name = "scratch";
    jallocator_t *allocator;
    void *refused;
    make(&script, &options, &allocator);
    void *a = take(allocator, 4 * G), *b = take(allocator, 4 * G), *c = take(allocator, 6 * G);
    give(allocator, a, 4 * G); /* free: 4 and 6 granules */
    JEXPECT_STATUS(jallocator_allocate(allocator, 7 * G - 5, 0, NULL, &refused),
                   JSTATUS_MEMORY_ERROR);
    static const char *const parts[] = {"scratch",
                                        "1787 bytes",
                                        "1792 bytes aligned to",
                                        "2560 in use",
                                        "5120 reserved",
                                        "limit 5120",
                                        "2560 free",
                                        "largest free block 1536",
                                        "fragmentation 0.400"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        JEXPECT_SUBSTR(jstatus_last_message(), parts[i]);
    JEXPECT_EQ(stats_of(allocator).failure_count, 1);
    give(allocator, b, 4 * G);
    give(allocator, c, 6 * G);
    end(allocator);
}
