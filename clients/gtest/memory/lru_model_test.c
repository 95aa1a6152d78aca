/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The cache of freed blocks compared, call by call, with a model that is nothing but a list. */

#include "lru_helper.h"

#include <stdio.h>
#include <string.h>

enum { MODEL_BLOCKS = 300 };

typedef struct model_block {
    void *pointer;
    size_t size, layout_bytes, alignment, owners; /* owners 0: kept */
    uint64_t kept_at;
} model_block_t;
typedef struct model_layout {
    size_t bytes, alignment;
    uint64_t used_at;
} model_layout_t;

typedef struct model {
    model_block_t blocks[MODEL_BLOCKS]; /* in no order */
    size_t count;
    model_layout_t layouts[MODEL_BLOCKS * 4]; /* all there ever were */
    size_t layout_count;
    uint64_t clock;
    size_t capacity_layouts, capacity_bytes, percent;
    jlru_counters_t counters;
    size_t reserved, in_use, live;
} model_t;

static model_layout_t *model_layout(model_t *model, size_t bytes, size_t alignment) {
    for (size_t i = 0; i < model->layout_count; ++i)
        if (model->layouts[i].bytes == bytes && model->layouts[i].alignment == alignment)
            return &model->layouts[i];
    model->layouts[model->layout_count] = (model_layout_t){bytes, alignment, 0};
    return &model->layouts[model->layout_count++];
}
static void model_use(model_t *model, const model_block_t *block) {
    model_layout(model, block->layout_bytes, block->alignment)->used_at = ++model->clock;
}
static void model_count_kept(model_t *model) {
    jlru_counters_t *counters = &model->counters;
    counters->kept_blocks = counters->kept_bytes = counters->kept_layouts = 0;
    model->reserved = model->in_use = model->live = 0;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i];
        model->reserved += block->layout_bytes;
        if (block->owners != 0) {
            model->in_use += block->size;
            ++model->live;
            continue;
        }
        ++counters->kept_blocks;
        counters->kept_bytes += block->layout_bytes;
        bool first = true;
        for (size_t k = 0; k < i; ++k)
            first = first && (model->blocks[k].owners != 0 ||
                              model->blocks[k].layout_bytes != block->layout_bytes ||
                              model->blocks[k].alignment != block->alignment);
        counters->kept_layouts += first;
    }
}
static void model_evict(model_t *model, size_t i) {
    model->blocks[i] = model->blocks[--model->count];
    ++model->counters.eviction_count;
    model_count_kept(model);
}
static size_t model_oldest(const model_t *model) {
    size_t oldest = MODEL_BLOCKS;
    for (size_t i = 0; i < model->count; ++i)
        if (model->blocks[i].owners == 0 &&
            (oldest == MODEL_BLOCKS || model->blocks[i].kept_at < model->blocks[oldest].kept_at))
            oldest = i;
    return oldest;
}
static void model_evict_oldest_layout(model_t *model) {
    const model_layout_t *oldest = NULL;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i];
        const model_layout_t *layout = model_layout(model, block->layout_bytes, block->alignment);
        if (block->owners == 0 && (oldest == NULL || layout->used_at < oldest->used_at))
            oldest = layout;
    }
    for (size_t i = model->count; i-- > 0;)
        if (model->blocks[i].owners == 0 && model->blocks[i].layout_bytes == oldest->bytes &&
            model->blocks[i].alignment == oldest->alignment)
            model_evict(model, i);
}
static void model_release(model_t *model, size_t i) {
    model_block_t *block = &model->blocks[i];
    if (--block->owners == 0) {
        block->kept_at = ++model->clock;
        model_use(model, block);
        model_count_kept(model);
        if (block->layout_bytes > model->capacity_bytes)
            model_evict(model, i);
        while (model->counters.kept_layouts > model->capacity_layouts)
            model_evict_oldest_layout(model);
        while (model->counters.kept_bytes > model->capacity_bytes)
            model_evict(model, model_oldest(model));
    }
    model_count_kept(model);
}
/* The kept block that serves the request: of its layout, else of the smallest that will do, the
 * newest; MODEL_BLOCKS: none. */
static size_t model_choose(const model_t *model, size_t size, size_t alignment, size_t bytes,
                           size_t aligned) {
    size_t limit = bytes + bytes * (model->percent == JALLOC_NONE ? 0 : model->percent) / 100,
           best = MODEL_BLOCKS;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i],
                            *rival = best != MODEL_BLOCKS ? &model->blocks[best] : NULL;
        if (block->owners != 0 || block->layout_bytes < size || block->layout_bytes > limit ||
            block->alignment < alignment)
            continue;
        bool exact = block->layout_bytes == bytes && block->alignment == aligned;
        bool rival_exact =
            rival != NULL && rival->layout_bytes == bytes && rival->alignment == aligned;
        if (rival == NULL || (exact && !rival_exact) ||
            (exact == rival_exact &&
             (block->layout_bytes < rival->layout_bytes ||
              (block->layout_bytes == rival->layout_bytes &&
               (block->alignment < rival->alignment ||
                (block->alignment == rival->alignment && block->kept_at > rival->kept_at))))))
            best = i;
    }
    return best;
}

static void model_allocate(model_t *model, jallocator_t *lru, size_t size, size_t alignment) {
    size_t bytes = (size + 63) / 64 * 64, aligned = alignment > 64 ? alignment : 64;
    size_t chosen = model_choose(model, size, alignment, bytes, aligned);
    bool fails = jtest_random_between(0, 49) == 0;
    void *pointer = NULL;
    jtest_fail_allocation_after(fails ? 1 : 0);
    jstatus_t status = jallocator_allocate(lru, size, alignment, NULL, &pointer);
    jtest_fail_allocation_after(0);
    if (chosen != MODEL_BLOCKS) {
        model_block_t *block = &model->blocks[chosen];
        JEXPECT_OK(status);
        JEXPECT_EQ(pointer, block->pointer);
        ++*(block->layout_bytes == bytes && block->alignment == aligned
                ? &model->counters.hit_count
                : &model->counters.nearest_hit_count);
        model_use(model, block);
        block->owners = 1;
        block->size = size;
    } else if (fails && model->counters.kept_blocks == 0) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
    } else {
        JEXPECT_OK(status);
        if (fails)
            for (size_t i = model->count; i-- > 0;)
                if (model->blocks[i].owners == 0)
                    model_evict(model, i);
        for (size_t i = 0; i < model->count; ++i)
            JEXPECT_NE(pointer, model->blocks[i].pointer);
        ++model->counters.miss_count;
        model->blocks[model->count++] = (model_block_t){pointer, size, bytes, aligned, 1, 0};
    }
    model_count_kept(model);
}

static void model_compare(model_t *model, jallocator_t *lru) {
    const jlru_counters_t *expected = &model->counters, actual = counters_of(lru);
    const jallocator_stats_t stats = stats_of(lru);
    JEXPECT_EQ(actual.hit_count, expected->hit_count);
    JEXPECT_EQ(actual.nearest_hit_count, expected->nearest_hit_count);
    JEXPECT_EQ(actual.miss_count, expected->miss_count);
    JEXPECT_EQ(actual.eviction_count, expected->eviction_count);
    JEXPECT_EQ(actual.kept_layouts, expected->kept_layouts);
    JEXPECT_EQ(actual.kept_blocks, expected->kept_blocks);
    JEXPECT_EQ(actual.kept_bytes, expected->kept_bytes);
    JEXPECT_EQ(stats.in_use_bytes, model->in_use);
    JEXPECT_EQ(stats.live_count, model->live);
    JEXPECT_EQ(stats.reserved_bytes, model->reserved);
    JEXPECT_EQ(stats.free_bytes, expected->kept_bytes);
    JEXPECT_EQ(jtest_live_bytes(), model->reserved);
}

/* A live block's place in the model; MODEL_BLOCKS: there is none. */
static size_t model_any_live(const model_t *model) {
    if (model->live == 0)
        return MODEL_BLOCKS;
    size_t i = (size_t)jtest_random_between(0, (int64_t)model->count - 1);
    while (model->blocks[i].owners == 0)
        i = (i + 1) % model->count;
    return i;
}

static const struct model_case {
    const char *label;
    size_t layouts, bytes, nearest, sizes;
} model_cases[] = {
    {"roomy", 256, (size_t)1 << 30, 12, 4000}, {"few_layouts", 3, (size_t)1 << 30, 30, 1000},
    {"few_bytes", 256, 3000, 12, 2000},        {"tight", 2, 1500, JALLOC_NONE, 2500},
    {"any_will_do", 8, 8000, 1000, 4000},
};
static void model_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct model_case *)parameter)->label);
}

JTEST_P_NAMED(Lru, DoesWhatAListDoes, struct model_case, model_cases, model_label) {
    static model_t model;
    memset(&model, 0, sizeof model);
    model.capacity_layouts = param->layouts;
    model.capacity_bytes = param->bytes;
    model.percent = param->nearest;
    jallocator_t *lru =
        make_lru(jtest_failing_allocator(), param->layouts, param->bytes, param->nearest);
    for (int64_t step = jtest_iterations(6000); step > 0 && !jtest_has_failure(); --step) {
        size_t live = model_any_live(&model);
        int64_t what = jtest_random_between(0, 99);
        if (what < 45 && model.live < 40 && model.count < MODEL_BLOCKS - 1) {
            model_allocate(
                &model, lru, (size_t)jtest_random_between(1, (int64_t)param->sizes),
                jtest_random_between(0, 9) == 0 ? 1024 : (size_t)1 << jtest_random_between(0, 7));
        } else if (what < 85 && live != MODEL_BLOCKS) {
            size_t left = 0;
            if (what % 2 == 0)
                JEXPECT_OK(jallocator_deallocate(lru, model.blocks[live].pointer,
                                                 model.blocks[live].size, NULL));
            else
                JEXPECT_OK(jallocator_lru_release(lru, model.blocks[live].pointer, NULL, &left));
            if (what % 2 != 0)
                JEXPECT_EQ(left, model.blocks[live].owners - 1);
            model_release(&model, live);
        } else if (what < 95 && live != MODEL_BLOCKS) {
            JEXPECT_OK(jallocator_lru_retain(lru, model.blocks[live].pointer));
            ++model.blocks[live].owners;
        } else if (what == 99) {
            size_t most = (size_t)jtest_random_between(0, (int64_t)(2 * model.counters.kept_bytes));
            JEXPECT_OK(jallocator_trim(lru, most));
            for (const uint64_t evictions = model.counters.eviction_count;
                 model.counters.kept_bytes > most; model.counters.eviction_count = evictions)
                model_evict(&model, model_oldest(&model));
        }
        model_compare(&model, lru);
        if (step % 64 == 0)
            JEXPECT_OK(jallocator_check(lru));
    }
    for (size_t i = 0; i < model.count; ++i)
        for (; model.blocks[i].owners != 0; --model.blocks[i].owners)
            JEXPECT_OK(jallocator_lru_release(lru, model.blocks[i].pointer, NULL, NULL));
    destroy_lru(lru);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}
