/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of entries that are found by a number. */

#include "core/hash.h"
#include "jtest.h"

#include <string.h>

enum { KEYS = 400 };

typedef struct entry {
    uintptr_t key;
    uint32_t place;
    char rest[28]; /* moves along */
} entry_t;

static void expect_entry(const entry_t *entry, size_t place) {
    char rest[sizeof entry->rest];
    memset(rest, (int)(place % 251), sizeof rest);
    JEXPECT_EQ(entry->place, place);
    JEXPECT_EQ(memcmp(entry->rest, rest, sizeof rest), 0);
}

/* Keys that come and go, in a table that is nearly full at most, against a plain array. A third of
 * them begin their search in the last slots, so that entries move up around the end. */
JTEST(Hash, AgreesWithAnArray) {
    static uintptr_t keys[KEYS];
    static bool in[KEYS];
    enum { BITS = 8, MOST = (1 << BITS) - 1 };
    memset(in, 0, sizeof in);
    ji_hash_t hash = {NULL, 0, 0, 0};
    JASSERT_TRUE(ji_hash_resize(&hash, BITS, sizeof(entry_t)));
    JEXPECT_EQ(ji_hash_bits(&hash), BITS);
    uintptr_t key = (uintptr_t)jtest_random() << 4 | 1;
    for (size_t i = 0; i < KEYS; ++i) {
        while (key == 0 || (i % 3 == 0 && ji_hash_home_(&hash, key) < MOST - 3))
            key += 64;
        keys[i] = key;
        key += 64;
    }
    size_t count = 0;
    for (int64_t i = jtest_iterations(40000); i > 0 && !jtest_has_failure(); --i) {
        const size_t place = (size_t)jtest_random_between(0, KEYS - 1);
        entry_t *entry = ji_hash_find(&hash, keys[place], sizeof *entry);
        JASSERT_EQ(entry != NULL, in[place]);
        if (entry != NULL) {
            expect_entry(entry, place);
            ji_hash_remove(&hash, entry, sizeof *entry);
            --count;
        } else if (count < MOST) {
            entry = ji_hash_insert(&hash, keys[place], sizeof *entry);
            JEXPECT_EQ(entry->key, keys[place]);
            entry->place = (uint32_t)place;
            memset(entry->rest, (int)(place % 251), sizeof entry->rest);
            ++count;
        } else {
            continue;
        }
        in[place] = !in[place];
        JEXPECT_EQ(hash.count, count);
        if (i % 100 != 0)
            continue;
        size_t seen = 0;
        for (const entry_t *next = NULL; (next = ji_hash_next(&hash, next, sizeof *next)) != NULL;
             ++seen)
            JEXPECT_EQ(next->key, keys[next->place]);
        JEXPECT_EQ(seen, count);
    }
    ji_hash_fini(&hash);
    JEXPECT_NULL(ji_hash_next(&hash, NULL, sizeof(entry_t)));
}

JTEST(Hash, ResizesOrStaysAsItWas) {
    JFOR_EACH_FAILURE(n) {
        ji_hash_t hash = {NULL, 0, 0, 0};
        size_t entered = 0;
        unsigned bits = 2;
        for (size_t i = 1; i <= 300; ++i) {
            if (hash.slots == NULL || hash.count == hash.mask) {
                if (!ji_hash_resize(&hash, bits, sizeof(entry_t))) {
                    JEXPECT_TRUE(jtest_metadata_failed());
                    continue;
                }
                JEXPECT_EQ(ji_hash_bits(&hash), bits);
                ++bits;
            }
            entry_t *entry = ji_hash_insert(&hash, i * 4096, sizeof *entry);
            entry->place = (uint32_t)i;
            ++entered;
        }
        JEXPECT_EQ(hash.count, entered);
        for (size_t i = 1; i <= 300; ++i) {
            const entry_t *entry = ji_hash_find(&hash, i * 4096, sizeof *entry);
            entered -= entry != NULL;
            if (entry != NULL)
                JEXPECT_EQ(entry->place, i);
        }
        JEXPECT_EQ(entered, 0);
        ji_hash_fini(&hash);
    }
    ji_hash_t hash = {NULL, 0, 0, 0};
    JEXPECT_FALSE(ji_hash_resize(&hash, 62, sizeof(entry_t))); /* the size overflows */
    JEXPECT_NULL(hash.slots);
}
