/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

typedef struct node {
    struct node *left, *right;
    double value;
} node_t;

static void make_temporaries(jallocator_t *stack) {
    void *pointer;
    for (size_t bytes = 100; bytes < 1000; bytes += 100)
        SNIPPET_TRY(jallocator_allocate(stack, bytes, 0, NULL, &pointer));
}

static const size_t bytes_of_all_layers = (size_t)64 << 20;
static void train(jallocator_t *pool) {
    void *layers[8];
    for (size_t i = 0; i < 8; i++)
        SNIPPET_TRY(jallocator_allocate(pool, (i + 1) << 16, 0, NULL, &layers[i]));
    for (size_t i = 0; i < 8; i++)
        SNIPPET_TRY(jallocator_deallocate(pool, layers[i], (i + 1) << 16, NULL));
}

static int unloaded;
static void unload(void *context, void *pointer, size_t size_bytes) {
    (void)context, (void)pointer, (void)size_bytes;
    unloaded++;
}

static void expect_serves(jallocator_t *allocator, size_t bytes) {
    void *pointer;
    SNIPPET_TRY(jallocator_allocate(allocator, bytes, 0, NULL, &pointer));
    memset(pointer, 1, bytes);
    SNIPPET_TRY(jallocator_deallocate(allocator, pointer, bytes, NULL));
}

static void use_stack(jallocator_t *below) {
    jallocator_t *stack;
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    /* snippet stack */
    SNIPPET_TRY(jallocator_get_stats(stack, &stats));
    EXPECT(stats.live_count == 0 && stats.allocation_count == 900);
    SNIPPET_TRY(jallocator_destroy(stack));
}

static void use_slots(jallocator_t *below) {
    jallocator_t *nodes;
    /* snippet slots */
    expect_serves(nodes, sizeof(node_t));
    SNIPPET_TRY(jallocator_destroy(nodes));
}

static void use_pool(jallocator_t *below) {
    jallocator_t *pool;
    /* snippet pool */
    EXPECT(large_enough && seen.hit_count == 8);
    SNIPPET_TRY(jallocator_destroy(pool));
}

static void use_lru(jallocator_t *below) {
    static _Alignas(256) unsigned char image[4096];
    const size_t bytes = 100000;
    jallocator_t *cache;
    void *tensor;
    /* snippet lru */
    EXPECT(owners == 2 && left == 0 && unloaded == 1 && kept.kept_blocks == 1);
    SNIPPET_TRY(jallocator_destroy(cache));
}

static void use_general(void) {
    jallocator_t *first, *heap, *second, *bfc, *fine;
    /* snippet general */
    expect_serves(heap, 100000);
    expect_serves(fine, 100);
    expect_serves(fine, 100000);
    SNIPPET_TRY(jallocator_destroy(heap));
    SNIPPET_TRY(jallocator_destroy(first));
    SNIPPET_TRY(jallocator_destroy(fine));
    SNIPPET_TRY(jallocator_destroy(bfc));
    SNIPPET_TRY(jallocator_destroy(second));
}

int main(void) {
    jallocator_t *below;
    SNIPPET_TRY(jallocator_create_malloc(&below));
    use_stack(below);
    use_slots(below);
    use_pool(below);
    use_lru(below);
    use_general();
    SNIPPET_TRY(jallocator_destroy(below));
    return 0;
}
