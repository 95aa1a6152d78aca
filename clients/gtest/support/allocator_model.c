/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "allocator_model.h"

#include <stdlib.h>
#include <string.h>

void model_init(model_t *model, jallocator_t *allocator) {
    memset(model, 0, sizeof *model);
    model->allocator = allocator;
    model->largest_bytes = (size_t)1 << 16;
    model->largest_alignment = (size_t)1 << 13;
}

/* ---- Bytes, of the host or of a GPU ---- */

static bool is_of_host(const jallocator_t *allocator) {
    return jdevice_kind(jallocator_device(allocator)) == JDEVICE_HOST;
}

static jstatus_t move(const jallocator_t *allocator, void *to, const void *from,
                      size_t size_bytes) {
    jdevice_t *device = jallocator_device(allocator);
    const jstatus_t status = jdevice_copy(device, NULL, to, from, size_bytes);
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}

jstatus_t model_try_fill(const jallocator_t *allocator, void *pointer, unsigned char value,
                         size_t size_bytes) {
    jdevice_t *device = jallocator_device(allocator);
    if (is_of_host(allocator)) {
        memset(pointer, value, size_bytes);
        return JSTATUS_SUCCESS;
    }
    const jstatus_t status = jdevice_fill(device, NULL, pointer, &value, 1, size_bytes);
    return status == JSTATUS_SUCCESS ? jstream_synchronize(device, NULL) : status;
}
void model_fill(const jallocator_t *allocator, void *pointer, unsigned char value,
                size_t size_bytes) {
    JEXPECT_OK(model_try_fill(allocator, pointer, value, size_bytes));
}

/* The bytes where they can be looked at; to be released by the caller if they are a copy. */
static const unsigned char *look(const jallocator_t *allocator, const void *pointer,
                                 size_t size_bytes, unsigned char **copy) {
    *copy = NULL;
    if (is_of_host(allocator))
        return pointer;
    *copy = malloc(size_bytes);
    JEXPECT_OK(move(allocator, *copy, pointer, size_bytes));
    return *copy;
}

bool model_is_filled(const jallocator_t *allocator, const void *pointer, unsigned char value,
                     size_t size_bytes) {
    unsigned char *copy;
    const unsigned char *bytes = look(allocator, pointer, size_bytes, &copy);
    size_t i = 0;
    while (i < size_bytes && bytes[i] == value)
        ++i;
    free(copy);
    return i == size_bytes;
}

static void model_write(const model_t *model, const model_block_t *block) {
    const bool host = is_of_host(model->allocator);
    unsigned char *bytes = host ? block->pointer : malloc(block->size_bytes);
    for (size_t i = 0; i < block->size_bytes; ++i)
        bytes[i] = (unsigned char)(block->mark + i);
    if (!host) {
        JEXPECT_OK(move(model->allocator, block->pointer, bytes, block->size_bytes));
        free(bytes);
    }
}
static bool model_is_whole(const model_t *model, const model_block_t *block) {
    unsigned char *copy;
    const unsigned char *bytes = look(model->allocator, block->pointer, block->size_bytes, &copy);
    size_t i = 0;
    while (i < block->size_bytes && bytes[i] == (unsigned char)(block->mark + i))
        ++i;
    free(copy);
    return i == block->size_bytes;
}

/* ---- The model ---- */

static void model_check_place(const model_t *model, const model_block_t *block) {
    const uintptr_t begin = (uintptr_t)block->pointer, end = begin + block->size_bytes;
    JEXPECT_EQ(begin % (block->alignment ? block->alignment : 64), 0);
    for (size_t i = 0; i < model->live_count; ++i) {
        const uintptr_t other = (uintptr_t)model->blocks[i].pointer;
        if (begin < other + model->blocks[i].size_bytes && other < end)
            JFAIL("%zu bytes at %p overlap %zu bytes at %p", block->size_bytes,
                  (void *)block->pointer, model->blocks[i].size_bytes,
                  (void *)model->blocks[i].pointer);
    }
}

bool model_allocate(model_t *model, size_t size_bytes, size_t alignment) {
    static const char *const names[] = {NULL, "alpha", "beta", "gamma"};
    model_block_t block = {NULL, size_bytes, alignment,
                           jtag_intern(names[jtest_random_between(0, 3)]), 0};
    void *pointer;
    block.mark = (unsigned char)jtest_random();
    const jtag_t before = jtag_set(block.tag);
    const jstatus_t status =
        jallocator_allocate(model->allocator, size_bytes, alignment, NULL, &pointer);
    jtag_set(before);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_NULL(pointer);
        ++model->failure_count;
        return false;
    }
    block.pointer = pointer;
    model_check_place(model, &block);
    if (!model->unreadable)
        model_write(model, &block);
    model->blocks[model->live_count++] = block;
    model->in_use_bytes += size_bytes;
    ++model->allocation_count;
    if (model->in_use_bytes > model->peak_bytes)
        model->peak_bytes = model->in_use_bytes;
    if (size_bytes > model->largest_request_bytes)
        model->largest_request_bytes = size_bytes;
    return true;
}

void model_deallocate(model_t *model, size_t i) {
    const model_block_t block = model->blocks[i];
    if (!model->unreadable && !model_is_whole(model, &block))
        JFAIL("%zu bytes at %p have changed", block.size_bytes, (void *)block.pointer);
    JEXPECT_OK(jallocator_deallocate(model->allocator, block.pointer, block.size_bytes, NULL));
    model->blocks[i] = model->blocks[--model->live_count];
    model->in_use_bytes -= block.size_bytes;
}

static int log2_of(size_t n) { return 63 - __builtin_clzll(n); }

void model_step(model_t *model) {
    const bool full = model->live_count == MODEL_MAX_LIVE;
    if (model->live_count > 0 && (full || jtest_random_between(0, 99) < 48)) {
        model_deallocate(model, (size_t)jtest_random_between(0, (int64_t)model->live_count - 1));
    } else {
        size_t size = (size_t)jtest_random_between(
            1, (int64_t)1 << jtest_random_between(0, log2_of(model->largest_bytes)));
        size_t alignment = jtest_random_between(0, 3) != 0
                               ? 0
                               : (size_t)1
                                     << jtest_random_between(0, log2_of(model->largest_alignment));
        model_allocate(model, size, alignment);
    }
}

typedef struct model_walk {
    const model_t *model;
    size_t live_count;
    bool seen[MODEL_MAX_LIVE];
} model_walk_t;

static bool model_see(void *context, const jallocation_t *block) {
    model_walk_t *walk = context;
    const model_t *model = walk->model;
    const uintptr_t begin = (uintptr_t)block->pointer, end = begin + block->size_bytes;
    if (!block->live) {
        for (size_t i = 0; i < model->live_count; ++i) {
            const uintptr_t live = (uintptr_t)model->blocks[i].pointer;
            if (begin < live + model->blocks[i].size_bytes && live < end)
                JFAIL("the free block of %zu bytes at %p contains live bytes", block->size_bytes,
                      block->pointer);
        }
        return true;
    }
    ++walk->live_count;
    for (size_t i = 0; i < model->live_count; ++i)
        if (model->blocks[i].pointer == block->pointer) {
            JEXPECT_FALSE(walk->seen[i]);
            walk->seen[i] = true;
            JEXPECT_EQ(block->size_bytes, model->blocks[i].size_bytes);
            JEXPECT_GE(block->usable_bytes, block->size_bytes);
            JEXPECT_EQ(block->tag, model->blocks[i].tag);
            JEXPECT_NOT_NULL(block->allocator);
            return true;
        }
    JFAIL("%zu bytes at %p are shown as live and are not", block->size_bytes, block->pointer);
    return true;
}

void model_compare(model_t *model) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(model->allocator, &stats));
    JEXPECT_EQ(stats.allocation_count, model->allocation_count);
    JEXPECT_EQ(stats.live_count, model->live_count);
    JEXPECT_EQ(stats.in_use_bytes, model->in_use_bytes);
    JEXPECT_EQ(stats.peak_in_use_bytes, model->peak_bytes);
    JEXPECT_EQ(stats.largest_request_bytes, model->largest_request_bytes);
    JEXPECT_EQ(stats.failure_count, model->failure_count);
    JEXPECT_LE(stats.reserved_bytes, stats.peak_reserved_bytes);
    JEXPECT_LE(stats.largest_free_bytes, stats.free_bytes);
    JEXPECT_TRUE(stats.fragmentation >= 0 && stats.fragmentation < 1);
    model_walk_t walk = {model, 0, {false}};
    JEXPECT_OK(jallocator_visit(model->allocator, model_see, &walk));
    JEXPECT_EQ(walk.live_count, model->live_count);
    JEXPECT_OK(jallocator_check(model->allocator));
}

void model_finish(model_t *model) {
    while (model->live_count > 0)
        model_deallocate(model, model->live_count - 1);
    model_compare(model);
}
