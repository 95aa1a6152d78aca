/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Best fit with coalescing against a model of bytes: every sequence of a small universe, and random
 * ones of a large one. */

#include "bfc_helper.h"

#include <stdlib.h>
#include <string.h>

/* Which granule belongs to which block: the model that everything is compared with. */
typedef struct model {
    size_t granules;
    int owner[16]; /* 0: free */
    struct {
        void *pointer;
        size_t granules;
    } live[8];
    size_t live_count;
    uintptr_t base; /* address of the first granule; 0: not known yet */
    int next_owner;
} model_t;

static bool model_has_room(const model_t *model, size_t granules) {
    size_t run = 0;
    for (size_t i = 0; i < model->granules; ++i)
        if ((run = model->owner[i] == 0 ? run + 1 : 0) == granules)
            return true;
    return false;
}

/* Whether blocks, live and free, are what the model says, and free ones are as long as can be. */
static bool model_agrees(const model_t *model, jallocator_t *allocator) {
    const view_t view = view_of(allocator);
    size_t place = 0;
    for (size_t i = 0; i < view.count; ++i) {
        const size_t granules = view.blocks[i].usable_bytes / G;
        if ((uintptr_t)view.blocks[i].pointer != model->base + place * G)
            return false;
        for (size_t k = 0; k < granules; ++k)
            if ((model->owner[place + k] != 0) != view.blocks[i].live ||
                model->owner[place + k] != model->owner[place])
                return false;
        place += granules;
        if (!view.blocks[i].live && place < model->granules && model->owner[place] == 0)
            return false; /* a free neighbour that was not merged */
    }
    return view.count == 0 || place == model->granules;
}

/* Runs one sequence: 0..2 take 1..3 granules, 3.. give the (code - 3)-th live block back. False
 * where there is none to give back: the sequence is no sequence. */
static bool run_sequence(const unsigned char *codes, size_t length, size_t granules,
                         bool look_always) {
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = granules * G;
    options.all_at_once = true;
    options.threads = JALLOCATOR_THREADS_NONE;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    if (allocator == NULL)
        return false;
    model_t model = {.granules = granules, .next_owner = 1};
    bool valid = true;
    for (size_t i = 0; i < length && valid; ++i) {
        if (codes[i] >= 3) {
            const size_t k = codes[i] - 3u;
            if (k >= model.live_count) {
                valid = false;
                break;
            }
            give(allocator, model.live[k].pointer, model.live[k].granules * G);
            const size_t first = ((uintptr_t)model.live[k].pointer - model.base) / G;
            for (size_t place = first, owner = (size_t)model.owner[first];
                 place < granules && (size_t)model.owner[place] == owner; ++place)
                model.owner[place] = 0;
            model.live[k] = model.live[--model.live_count];
        } else {
            const size_t wanted = codes[i] + 1u;
            void *pointer;
            const jstatus_t status = jallocator_allocate(allocator, wanted * G, 0, NULL, &pointer);
            if ((status == JSTATUS_SUCCESS) != model_has_room(&model, wanted))
                JFAIL("%zu granules: %s", wanted, jstatus_name(status));
            if (status != JSTATUS_SUCCESS)
                continue;
            if (model.base == 0)
                model.base = (uintptr_t)pointer; /* all is free: the front is handed out */
            const size_t usable = jallocator_usable_size(allocator, pointer, wanted * G) / G;
            const size_t first = ((uintptr_t)pointer - model.base) / G;
            if (usable < wanted || usable >= 2 * wanted || first + usable > granules)
                JFAIL("%zu granules got %zu", wanted, usable);
            for (size_t place = first; place < first + usable; ++place) {
                if (model.owner[place] != 0)
                    JFAIL("a granule was handed out twice");
                model.owner[place] = model.next_owner;
            }
            ++model.next_owner;
            model.live[model.live_count].pointer = pointer;
            model.live[model.live_count++].granules = wanted;
        }
        if ((look_always || i + 1 == length) &&
            (!model_agrees(&model, allocator) || jallocator_check(allocator) != JSTATUS_SUCCESS)) {
            char text[16] = "";
            for (size_t k = 0; k <= i; ++k)
                text[k] = (char)('0' + codes[k]);
            JFAIL("%zu granules: after the operations %s the blocks are not what they should be",
                  granules, text);
        }
    }
    for (size_t k = 0; k < model.live_count; ++k)
        give(allocator, model.live[k].pointer, model.live[k].granules * G);
    JEXPECT_OK(jallocator_destroy(allocator));
    return valid;
}

/* All sequences of a length: the codes are the digits of a number, and digits behind one that made
 * no sense are skipped. */
JTEST(Bfc, EverySequenceOfASmallUniverseIsRight) {
    const size_t length = jtest_iterations(1) > 1 ? 7 : 6;
    for (size_t granules = 4; granules <= 6; ++granules)
        for (int looks = 0; looks < 2; ++looks) { /* looking empties the quick lists */
            unsigned char codes[8] = {0};
            for (;;) {
                size_t live = 0, bad = length; /* at most that many are live: requests may fail */
                for (size_t i = 0; i < length && bad == length; ++i) {
                    if (codes[i] < 3)
                        ++live;
                    else if (codes[i] - 3u < live)
                        --live;
                    else
                        bad = i;
                }
                if (bad == length) {
                    run_sequence(codes, length, granules, looks);
                    bad = length - 1;
                } else {
                    for (size_t i = bad; i < length; ++i)
                        codes[i] = i == bad ? 8 : 0; /* the last digit: counts on in front of it */
                }
                if (jtest_has_failure())
                    return;
                size_t place = bad;
                while (place < length && ++codes[place] > 8) {
                    codes[place] = 0;
                    --place; /* wraps past the first: all are done */
                }
                if (place >= length)
                    break;
            }
        }
}

JTEST(Bfc, MillionsOfRandomOperationsAgreeWithAModelOfBytes) {
    enum { HELD = 200 };
    script_t script = {0};
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = 4096 * G;
    options.region_bytes = 4096 * G;
    jallocator_t *allocator;
    make(&script, &options, &allocator);
    static unsigned char owned[4096];
    static struct {
        void *pointer;
        size_t size, usable;
    } held[HELD];
    memset(owned, 0, sizeof owned);
    memset(held, 0, sizeof held);
    size_t in_use = 0, peak = 0;
    uintptr_t base = 0;
    for (int64_t i = 0; i < jtest_iterations(300000); ++i) {
        const size_t k = jtest_random() % HELD;
        if (held[k].pointer != NULL) {
            give(allocator, held[k].pointer, held[k].size);
            memset(owned + ((uintptr_t)held[k].pointer - base) / G, 0, held[k].usable / G);
            in_use -= held[k].size;
            held[k].pointer = NULL;
        } else {
            void *pointer;
            held[k].size = jtest_random_bool() ? (jtest_random() % 4 + 1) * 1000
                                               : jtest_random() % (60 * G) + 1;
            if (jallocator_allocate(allocator, held[k].size, 0, NULL, &pointer) !=
                JSTATUS_SUCCESS) {
                size_t run = 0, longest = 0;
                for (size_t g = 0; g < 4096; ++g) {
                    run = owned[g] ? 0 : run + 1;
                    longest = run > longest ? run : longest;
                }
                if (longest * G >= held[k].size)
                    JFAIL("%zu bytes were refused and %zu are free in one piece", held[k].size,
                          longest * G);
                JEXPECT_EQ(stats_of(allocator).largest_free_bytes, longest * G);
                continue;
            }
            if (base == 0)
                base = (uintptr_t)pointer;
            held[k].pointer = pointer;
            held[k].usable = jallocator_usable_size(allocator, pointer, held[k].size);
            for (size_t g = 0; g < held[k].usable / G; ++g)
                if (owned[((uintptr_t)pointer - base) / G + g]++ != 0) {
                    JFAIL("a granule was handed out twice");
                    return;
                }
            in_use += held[k].size;
            peak = in_use > peak ? in_use : peak;
        }
        if (i % 20000 == 0) {
            JASSERT_OK(jallocator_check(allocator));
            JEXPECT_EQ(stats_of(allocator).in_use_bytes, in_use);
            JEXPECT_EQ(stats_of(allocator).peak_in_use_bytes, peak);
        }
    }
    for (size_t k = 0; k < HELD; ++k)
        if (held[k].pointer != NULL)
            give(allocator, held[k].pointer, held[k].size);
    JEXPECT_EQ(stats_of(allocator).largest_free_bytes, 4096 * G);
    end(allocator);
}
