/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a number in options asks for: 0 the default, JALLOC_NONE a real 0, JALLOC_UNLIMITED no
 * bound; and the same as text, where a 0 that is written is a 0. */

#include "jtest.h"

#include "jalloc/jalloc.h"

#include <stdio.h>
#include <string.h>

static jallocator_t *composed(const char *format, const char *value) {
    char composition[128];
    jallocator_t *allocator = NULL;
    snprintf(composition, sizeof composition, format, value);
    JEXPECT_OK(jallocator_compose(NULL, composition, &allocator));
    return allocator;
}

/* One block comes and goes. */
static jstatus_t come_and_go(jallocator_t *allocator, size_t size_bytes) {
    void *pointer;
    const jstatus_t status = jallocator_allocate(allocator, size_bytes, 0, NULL, &pointer);
    return status != JSTATUS_SUCCESS ? status
                                     : jallocator_deallocate(allocator, pointer, size_bytes, NULL);
}

static size_t kept_by(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(allocator, &stats));
    return stats.reserved_bytes;
}

JTEST(Option, ALimitOfNothingIsNoLimitThatIsMissing) {
    static const char *const kinds[] = {"malloc+stack(%s)", "malloc+slots(%s)", "malloc+bfc(%s)",
                                        "malloc+general(%s)",
                                        "malloc+quota(budget=option_test,limit=1M,%s)"};
    static const char *const keys[] = {"limit=", "limit=", "limit=", "limit=", "maximum="};
    static const struct {
        const char *value;
        jstatus_t status;
    } values[] = {{"none", JSTATUS_MEMORY_ERROR},
                  {"0", JSTATUS_MEMORY_ERROR},
                  {"unlimited", JSTATUS_SUCCESS}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
            JSCOPED_TRACE("%s %s%s", kinds[kind], keys[kind], values[i].value);
            char argument[32];
            snprintf(argument, sizeof argument, "%s%s", keys[kind], values[i].value);
            jallocator_t *allocator = composed(kinds[kind], argument);
            JASSERT_NOT_NULL(allocator);
            JEXPECT_STATUS(come_and_go(allocator, 4096), values[i].status);
            JEXPECT_OK(jallocator_destroy(allocator));
        }
}

JTEST(Option, NothingIsKeptWhereThatIsAskedFor) {
    static const char *const kinds[] = {"malloc+pool(count=%s)", "malloc+pool(bytes=%s)",
                                        "malloc+lru(layouts=%s)", "malloc+lru(bytes=%s)"};
    static const struct {
        const char *value;
        bool keeps;
    } values[] = {{"none", false}, {"0", false}, {"unlimited", true}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
            JSCOPED_TRACE("%s %s", kinds[kind], values[i].value);
            jallocator_t *allocator = composed(kinds[kind], values[i].value);
            JASSERT_NOT_NULL(allocator);
            JEXPECT_OK(come_and_go(allocator, 4096));
            JEXPECT_EQ(kept_by(allocator) != 0, values[i].keeps);
            JEXPECT_OK(jallocator_destroy(allocator));
        }
    jallocator_t *small = composed("malloc+small(cache=%s)", "none"),
                 *bfc = composed("malloc+bfc(growth=%s)", "0");
    JEXPECT_OK(come_and_go(small, 64));
    JEXPECT_OK(come_and_go(bfc, 64));
    JEXPECT_OK(jallocator_destroy(small));
    JEXPECT_OK(jallocator_destroy(bfc));
}

JTEST(Option, RetryWaitsForNobodyWhereThatIsAskedFor) {
    jallocator_t *retry = composed("malloc+limit(limit=100)+retry(timeout=%s)", "0");
    JEXPECT_STATUS(come_and_go(retry, 101), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "waited 0 ms");
    JEXPECT_OK(jallocator_destroy(retry));
    retry = composed("malloc+limit(limit=100)+retry(timeout=%s)", "unlimited");
    JEXPECT_OK(come_and_go(retry, 100));
    JEXPECT_OK(jallocator_destroy(retry));
}

JTEST(Option, ASegmentGrowsUnlessItIsToldNotTo) {
    jallocator_t *fixed = composed("segment(size=256K,max=%s)", "none"),
                 *grows = composed("segment(size=%s)", "256K");
    JEXPECT_STATUS(come_and_go(fixed, 1 << 20), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(come_and_go(grows, 1 << 20));
    JEXPECT_OK(jallocator_destroy(fixed));
    JEXPECT_OK(jallocator_destroy(grows));

    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment = NULL;
    options.size_bytes = 256 << 10;
    options.max_bytes = JALLOC_NONE;
    options.timeout_ms = JALLOC_NONE;
    JASSERT_OK(jsegment_create(&options, &segment));
    JEXPECT_STATUS(jsegment_grow(segment, 512 << 10), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jsegment_destroy(segment));
    options.max_bytes = JALLOC_UNLIMITED; /* its table would be as large */
    JEXPECT_STATUS(jsegment_create(&options, &segment), JSTATUS_INVALID_SIZE);
}

JTEST(Option, WordsAreRefusedWhereTheyMeanNothing) {
    jallocator_t *allocator = NULL;
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+stack(block=none)", &allocator),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+stack(limit=half)", &allocator),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), "expected a size such as 64MiB, none or unlimited");
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+lru(nearest=unlimited)", &allocator),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+bfc(limit=0,all_at_once)", &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jallocator_compose(NULL, "malloc+bfc(limit=unlimited,all_at_once)", &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(allocator);
}

/* Options that are zeroed, but for their size, are those of the initializer. */
#define EXPECT_ZERO_IS_DEFAULT(type, INIT)                                                         \
    do {                                                                                           \
        static type zeroed,                                                                        \
            initial = INIT; /* static: no byte between members is anything but 0 */                \
        JEXPECT_EQ(initial.struct_size, sizeof initial);                                           \
        initial.struct_size = 0;                                                                   \
        JEXPECT_EQ(memcmp(&zeroed, &initial, sizeof zeroed), 0);                                   \
    } while (0)

JTEST(Option, ZeroIsTheDefault) {
    EXPECT_ZERO_IS_DEFAULT(jallocator_options_t, JALLOCATOR_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jstack_options_t, JSTACK_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jslots_options_t, JSLOTS_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jlru_options_t, JLRU_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jsmall_options_t, JSMALL_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jgeneral_options_t, JGENERAL_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jguard_options_t, JGUARD_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jretry_options_t, JRETRY_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jalign_options_t, JALIGN_OPTIONS_INIT);
    EXPECT_ZERO_IS_DEFAULT(jquota_share_options_t, JQUOTA_SHARE_OPTIONS_INIT);
    JEXPECT_EQ(JNUMA_PREFER, 0);
    JEXPECT_EQ(JRESULT_POLICY_DEFAULT, 0);
    JEXPECT_EQ(JACCURACY_DEFAULT, 0);
}

JTEST(Option, TextsAreCopied) {
    char name[] = "mine";
    jallocator_t *below, *allocator;
    JASSERT_OK(jallocator_create_malloc(&below));
#define EXPECT_COPIES(kind, type, INIT)                                                            \
    do {                                                                                           \
        type options = INIT;                                                                       \
        options.name = name;                                                                       \
        JASSERT_OK(jallocator_create_##kind(below, &options, &allocator));                         \
        name[0] = 'x';                                                                             \
        JEXPECT_STREQ(jallocator_name(allocator), "mine");                                         \
        name[0] = 'm';                                                                             \
        JEXPECT_OK(jallocator_destroy(allocator));                                                 \
    } while (0)
    EXPECT_COPIES(stack, jstack_options_t, JSTACK_OPTIONS_INIT);
    EXPECT_COPIES(pool, jpool_options_t, JPOOL_OPTIONS_INIT);
    EXPECT_COPIES(bfc, jbfc_options_t, JBFC_OPTIONS_INIT);
    EXPECT_COPIES(lru, jlru_options_t, JLRU_OPTIONS_INIT);
    EXPECT_COPIES(general, jgeneral_options_t, JGENERAL_OPTIONS_INIT);
    EXPECT_COPIES(track, jtrack_options_t, JTRACK_OPTIONS_INIT);
    EXPECT_COPIES(guard, jguard_options_t, JGUARD_OPTIONS_INIT);
    EXPECT_COPIES(retry, jretry_options_t, JRETRY_OPTIONS_INIT);
    JEXPECT_OK(jallocator_destroy(below));
}

/* ---- What an option may not be ---- */

/* One member is wrong, the others are their defaults: it is named, and nothing is made. */
#define EXPECT_REFUSED(kind, member, value)                                                        \
    do {                                                                                           \
        JSCOPED_TRACE("%s of %s", #member, #kind);                                                 \
        const j##kind##_options_t options = {.struct_size = sizeof options, .member = value};      \
        jallocator_t *refused = NULL;                                                              \
        JEXPECT_STATUS(jallocator_create_##kind(below, &options, &refused),                        \
                       JSTATUS_INVALID_VALUE);                                                     \
        JEXPECT_SUBSTR(jstatus_last_message(), #member);                                           \
        JEXPECT_NULL(refused);                                                                     \
    } while (0)

JTEST(Option, WhatIsRefusedIsNamed) {
    static char long_name[JALLOCATOR_NAME_BYTES + 1];
    jallocator_t *below = jtest_failing_allocator();
    memset(long_name, 'n', JALLOCATOR_NAME_BYTES);

    EXPECT_REFUSED(stack, threads, JALLOCATOR_THREADS_SAFE);
    EXPECT_REFUSED(slots, threads, JALLOCATOR_THREADS_SAFE);
    EXPECT_REFUSED(pool, threads, JALLOCATOR_THREADS_SAFE);
    EXPECT_REFUSED(bfc, threads, JALLOCATOR_THREADS_SAFE);
    EXPECT_REFUSED(lru, threads, JALLOCATOR_THREADS_SAFE);
    EXPECT_REFUSED(small, threads, (jallocator_threads_t)4);
    EXPECT_REFUSED(bfc, threads, (jallocator_threads_t)-1);

    EXPECT_REFUSED(stack, block_bytes, SIZE_MAX);
    EXPECT_REFUSED(stack, block_bytes, PTRDIFF_MAX / 2 + (size_t)1);
    EXPECT_REFUSED(slots, slot_bytes, SIZE_MAX);
    EXPECT_REFUSED(slots, slot_bytes, PTRDIFF_MAX / 2 + (size_t)1);
    EXPECT_REFUSED(slots, block_slots, ((size_t)1 << 31) + 1);
    EXPECT_REFUSED(slots, limit_slots, SIZE_MAX / 4096 + 1);
    EXPECT_REFUSED(pool, rounding, (jpool_rounding_t)2);
    EXPECT_REFUSED(pool, rounding, (jpool_rounding_t)-1);
    EXPECT_REFUSED(bfc, region_bytes, PTRDIFF_MAX / 2 + (size_t)1);
    EXPECT_REFUSED(bfc, growth_percent, 1001);
    EXPECT_REFUSED(bfc, growth_percent, JALLOC_UNLIMITED);
    EXPECT_REFUSED(bfc, all_at_once, true); /* without a limit */
    EXPECT_REFUSED(small, largest_bytes, ((size_t)1 << 20) + 1);
    EXPECT_REFUSED(small, cache_bytes, ((size_t)1 << 30) + 1);
    EXPECT_REFUSED(small, cache_bytes, JALLOC_UNLIMITED);
    EXPECT_REFUSED(general, largest_bytes, ((size_t)1 << 20) + 1);

    EXPECT_REFUSED(track, record_count, SIZE_MAX);
    EXPECT_REFUSED(guard, guard_bytes, 24);
    EXPECT_REFUSED(guard, guard_bytes, PTRDIFF_MAX / 2 + (size_t)1);
    EXPECT_REFUSED(fill, on_allocate, (jfill_value_t)4);
    EXPECT_REFUSED(fill, on_deallocate, (jfill_value_t)-1);
    EXPECT_REFUSED(limit, limit_bytes, 0);
    EXPECT_REFUSED(align, alignment_bytes, 96);
    EXPECT_REFUSED(align, alignment_bytes, (size_t)1 << 31);

    EXPECT_REFUSED(stack, name, long_name);
    EXPECT_REFUSED(slots, name, long_name);
    EXPECT_REFUSED(pool, name, long_name);
    EXPECT_REFUSED(bfc, name, long_name);
    EXPECT_REFUSED(lru, name, long_name);
    EXPECT_REFUSED(small, name, long_name);
    EXPECT_REFUSED(general, name, long_name);
    EXPECT_REFUSED(track, name, long_name);
    EXPECT_REFUSED(record, name, long_name);
    EXPECT_REFUSED(guard, name, long_name);
    EXPECT_REFUSED(fill, name, long_name);
    EXPECT_REFUSED(limit, name, long_name);
    EXPECT_REFUSED(retry, name, long_name);
    EXPECT_REFUSED(align, name, long_name);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* The largest that is taken, of each that has a largest. */
JTEST(Option, TheLargestIsTaken) {
    jallocator_t *below = jtest_failing_allocator(), *allocator;
#define EXPECT_TAKEN(kind, member, value)                                                          \
    do {                                                                                           \
        JSCOPED_TRACE("%s of %s", #member, #kind);                                                 \
        const j##kind##_options_t options = {.struct_size = sizeof options, .member = value};      \
        JASSERT_OK(jallocator_create_##kind(below, &options, &allocator));                         \
        JEXPECT_OK(jallocator_destroy(allocator));                                                 \
    } while (0)
    EXPECT_TAKEN(stack, block_bytes, PTRDIFF_MAX / 2);
    EXPECT_TAKEN(slots, slot_bytes, PTRDIFF_MAX / 2);
    EXPECT_TAKEN(guard, guard_bytes, PTRDIFF_MAX / 2 / 16 * 16);
    EXPECT_TAKEN(slots, block_slots, (size_t)1 << 31);
    EXPECT_TAKEN(slots, limit_slots, SIZE_MAX / 4096);
    EXPECT_TAKEN(bfc, region_bytes, PTRDIFF_MAX / 2);
    EXPECT_TAKEN(bfc, growth_percent, 1000);
    EXPECT_TAKEN(small, largest_bytes, (size_t)1 << 20);
    EXPECT_TAKEN(small, cache_bytes, (size_t)1 << 30);
    EXPECT_TAKEN(general, largest_bytes, (size_t)1 << 20);
    EXPECT_TAKEN(align, alignment_bytes, (size_t)1 << 30);
}
