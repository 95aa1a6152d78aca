/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "segment_model.h"

#include <string.h>
#include <sys/mman.h>

/* ---- Stamps ---- */

/* Small blocks everywhere; large ones at both ends and once in each page, which no other block can
 * have part of. */
static size_t stamp_step(size_t at, size_t size_bytes) {
    return size_bytes <= 2048 || at < 64 || at + 64 >= size_bytes ? 1
           : at + 1024 < size_bytes - 64                          ? 1024
                                                                  : size_bytes - 64 - at;
}
void stamp_write(unsigned char *bytes, size_t size_bytes, uint64_t stamp) {
    for (size_t i = 0; i < size_bytes; i += stamp_step(i, size_bytes))
        bytes[i] = (unsigned char)((stamp >> (i % 8 * 8)) + i);
}
bool stamp_holds(const unsigned char *bytes, size_t size_bytes, uint64_t stamp) {
    for (size_t i = 0; i < size_bytes; i += stamp_step(i, size_bytes))
        if (bytes[i] != (unsigned char)((stamp >> (i % 8 * 8)) + i))
            return false;
    return true;
}

/* ---- The model ---- */

static unsigned char *model_bytes(const segment_model_t *model, const model_block_t *block) {
    return shared_bytes(model->shared[0], block->offset, block->size_bytes);
}

static bool model_attach(segment_model_t *model, unsigned i) {
    model->segments[i] = place_attach(model->place);
    model->shared[i] = model->segments[i] != NULL ? shared_open(model->segments[i], 1) : NULL;
    return model->shared[i] != NULL;
}

bool segment_model_begin(segment_model_t *model, place_t *place, jshared_kind_t kind,
                         size_t bytes) {
    memset(model, 0, sizeof *model);
    model->place = place;
    model->kind = kind;
    model->largest_bytes = bytes;
    model->segments[0] = place_create(place);
    if (model->segments[0] == NULL)
        return false;
    model->shared[0] = shared_make_kind(model->segments[0], 1, kind, bytes);
    return model->shared[0] != NULL && model_attach(model, 1) && model_attach(model, 2);
}

static size_t random_size(const segment_model_t *model) {
    int bits = 63 - __builtin_clzll(model->largest_bytes);
    return model->kind == JSHARED_PAGES
               ? (size_t)jtest_random_between(1, (int64_t)model->largest_bytes)
               : (size_t)jtest_random_between(1, (int64_t)1 << jtest_random_between(0, bits));
}
/* Blocks of one size are as aligned as that size is, 16 at least. */
static size_t random_alignment(const segment_model_t *model) {
    return jtest_random_between(0, 3) != 0
               ? 0
               : (size_t)1 << jtest_random_between(0, model->kind == JSHARED_PAGES ? 4 : 14);
}
static unsigned random_attachment(void) {
    return (unsigned)jtest_random_between(0, MODEL_ATTACHMENTS - 1);
}

static void model_add(segment_model_t *model, joffset_t offset, size_t size_bytes, size_t alignment,
                      unsigned owner) {
    const model_block_t block = {offset, size_bytes, jtest_random(), owner};
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *other = &model->blocks[i];
        if (offset < other->offset + other->size_bytes && other->offset < offset + size_bytes)
            JFAIL("%zu bytes at %llu overlap %zu at %llu", size_bytes, (unsigned long long)offset,
                  other->size_bytes, (unsigned long long)other->offset);
    }
    JEXPECT_EQ((uintptr_t)model_bytes(model, &block) % (alignment != 0 ? alignment : 16), 0);
    stamp_write(model_bytes(model, &block), size_bytes, block.stamp);
    model->blocks[model->count++] = block;
}
/* Takes the i-th out of the books. */
static model_block_t model_drop(segment_model_t *model, size_t i) {
    const model_block_t block = model->blocks[i];
    if (!stamp_holds(model_bytes(model, &block), block.size_bytes, block.stamp))
        JFAIL("%zu bytes at %llu have changed", block.size_bytes, (unsigned long long)block.offset);
    model->blocks[i] = model->blocks[--model->count];
    return block;
}
static size_t random_block(const segment_model_t *model) {
    return (size_t)jtest_random_between(0, (int64_t)model->count - 1);
}

static void step_allocate(segment_model_t *model, unsigned by) {
    enum { MOST = 16 };
    const size_t size = random_size(model), alignment = random_alignment(model);
    size_t count = jtest_random_between(0, 9) == 0 ? (size_t)jtest_random_between(1, MOST) : 1;
    joffset_t offsets[MOST];
    if (model->count + count > MODEL_BLOCKS)
        return;
    const jstatus_t status =
        count == 1 ? jshared_allocate(model->shared[by], size, alignment, offsets)
                   : jshared_allocate_many(model->shared[by], size, alignment, count, offsets);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        ++model->refused;
        return;
    }
    for (size_t i = 0; i < count; ++i)
        model_add(model, offsets[i], size, alignment, jsegment_slot(model->segments[by]));
}

static void step_free(segment_model_t *model, unsigned by) {
    if (jtest_random_between(0, 9) != 0) {
        JEXPECT_OK(
            jshared_deallocate(model->shared[by], model_drop(model, random_block(model)).offset));
        return;
    }
    joffset_t offsets[40];
    size_t count = 0;
    while (count < COUNT_OF(offsets) && model->count > 0)
        offsets[count++] = model_drop(model, random_block(model)).offset;
    JEXPECT_OK(jshared_deallocate_many(model->shared[by], count, offsets));
}

static void step_reallocate(segment_model_t *model, unsigned by) {
    const model_block_t block = model_drop(model, random_block(model));
    const size_t size = random_size(model), alignment = random_alignment(model);
    joffset_t offset = block.offset;
    const jstatus_t status = jshared_reallocate(model->shared[by], &offset, size, alignment);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(offset, block.offset);
        ++model->refused;
        model_add(model, offset, block.size_bytes, 0, block.owner);
        return;
    }
    const size_t kept = size < block.size_bytes ? size : block.size_bytes;
    const unsigned char *bytes = shared_bytes(model->shared[0], offset, size);
    bool holds = true; /* where the stamps of the old block were, as far as it is kept */
    for (size_t i = 0; i < kept; i += stamp_step(i, block.size_bytes))
        holds &= bytes[i] == (unsigned char)((block.stamp >> (i % 8 * 8)) + i);
    if (!holds)
        JFAIL("contents were lost from %zu to %zu bytes", block.size_bytes, size);
    model_add(model, offset, size, alignment, block.owner);
}

static void step_give(segment_model_t *model, unsigned by) {
    model_block_t *block = &model->blocks[random_block(model)];
    const unsigned self = jsegment_slot(model->segments[by]), target = random_attachment();
    const unsigned to =
        jtest_random_bool() ? JSEGMENT_SLOT_SEGMENT : jsegment_slot(model->segments[target]);
    const jstatus_t status = jshared_give(model->shared[by], block->offset, to);
    if (block->owner != self && block->owner != JSEGMENT_SLOT_SEGMENT) {
        JEXPECT_STATUS(status, JSTATUS_PERMISSION);
    } else {
        JEXPECT_OK(status);
        block->owner = to;
    }
}

static void step_misuse(segment_model_t *model, unsigned by) {
    const model_block_t *block = &model->blocks[random_block(model)];
    const joffset_t wrong =
        block->offset + 1 + (joffset_t)jtest_random_between(0, (int64_t)block->size_bytes);
    for (size_t i = 0; i < model->count; ++i)
        if (model->blocks[i].offset == wrong)
            return;
    JEXPECT_STATUS(jshared_deallocate(model->shared[by], wrong), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jshared_describe(model->shared[by], wrong, NULL, NULL), JSTATUS_NOT_FOUND);
}

/* An attachment ends, and with it what it owns. */
static void step_leave(segment_model_t *model) {
    const unsigned i = (unsigned)jtest_random_between(1, MODEL_ATTACHMENTS - 1),
                   slot = jsegment_slot(model->segments[i]);
    for (size_t k = model->count; k-- > 0;)
        if (model->blocks[k].owner == slot)
            model_drop(model, k);
    JEXPECT_OK(jsegment_detach(model->segments[i]));
    if (!model_attach(model, i))
        JFAIL("cannot attach again");
}

void segment_model_step(segment_model_t *model) {
    const unsigned by = random_attachment();
    const int64_t draw = jtest_random_between(0, 999);
    if (draw < 500 || model->count == 0)
        step_allocate(model, by);
    else if (draw < 850)
        step_free(model, by);
    else if (draw < 920)
        step_reallocate(model, by);
    else if (draw < 970)
        step_give(model, by);
    else if (draw < 997)
        step_misuse(model, by);
    else
        step_leave(model);
}

void segment_model_compare(segment_model_t *model) {
    const jsegment_stats_t stats = segment_books(model->segments[random_attachment()]);
    size_t owned[256] = {0}, given = 0;
    for (size_t i = 0; i < model->count; ++i) {
        const model_block_t *block = &model->blocks[i];
        size_t usable = 0;
        unsigned owner = 0;
        JEXPECT_OK(
            jshared_describe(model->shared[random_attachment()], block->offset, &usable, &owner));
        JEXPECT_EQ(owner, block->owner);
        JEXPECT_GE(usable, block->size_bytes);
        if (!stamp_holds(model_bytes(model, block), block->size_bytes, block->stamp))
            JFAIL("%zu bytes at %llu have changed", block->size_bytes,
                  (unsigned long long)block->offset);
        *(owner == JSEGMENT_SLOT_SEGMENT ? &given : &owned[owner]) += usable;
    }
    JEXPECT_EQ(stats.given_bytes, given);
    JEXPECT_EQ(stats.processes, MODEL_ATTACHMENTS);
    for (unsigned i = 0; i < MODEL_ATTACHMENTS; ++i) {
        const unsigned slot = jsegment_slot(model->segments[i]);
        JEXPECT_EQ(segment_process(model->segments[0], slot).owned_bytes, owned[slot]);
    }
}

void segment_model_end(segment_model_t *model) {
    segment_model_compare(model);
    while (model->count > 0)
        JEXPECT_OK(
            jshared_deallocate(model->shared[random_attachment()], model_drop(model, 0).offset));
    segment_expect_empty(model->segments[0]);
    for (unsigned i = 1; i < MODEL_ATTACHMENTS; ++i)
        JEXPECT_OK(jsegment_detach(model->segments[i]));
    JEXPECT_OK(jshared_destroy(model->shared[0]));
    jshared_t *whole = shared_make(model->segments[0], 2);
    const jsegment_stats_t stats = segment_books(model->segments[0]);
    /* Everything is one extent again. */
    const joffset_t all = shared_take(whole, segment_spare_bytes(&stats));
    JEXPECT_OK(jshared_deallocate(whole, all));
    JEXPECT_OK(jsegment_destroy(model->segments[0]));
}

/* ---- Workers ---- */

/* A block on the board says itself how large it is and what its stamp is. */
typedef struct label {
    uint64_t size_bytes, stamp;
} label_t;

static bool label_holds(const unsigned char *bytes, const label_t *label) {
    return stamp_holds(bytes + sizeof *label, label->size_bytes - sizeof *label, label->stamp);
}
static joffset_t worker_make(worker_t *worker) {
    const int bits = 63 - __builtin_clzll(worker->largest_bytes);
    size_t size = (size_t)1 << jtest_random_next(&worker->random) % (unsigned)(bits + 1);
    size = size + jtest_random_next(&worker->random) % size;
    size = size < worker->smallest_bytes  ? worker->smallest_bytes
           : size > worker->largest_bytes ? worker->largest_bytes
                                          : size;
    size = size < sizeof(label_t) ? sizeof(label_t) : size;
    const label_t label = {size, jtest_random_next(&worker->random)};
    joffset_t offset = JOFFSET_NULL;
    const jstatus_t status = jshared_allocate(worker->shared, size, 0, &offset);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        return JOFFSET_NULL;
    }
    unsigned char *bytes = shared_bytes(worker->shared, offset, size);
    memcpy(bytes, &label, sizeof label);
    stamp_write(bytes + sizeof label, size - sizeof label, label.stamp);
    return offset;
}
/* Whether a block is as its maker left it. */
static bool block_is_whole(jshared_t *shared, joffset_t offset) {
    label_t label;
    const unsigned char *bytes = shared_bytes(shared, offset, sizeof label);
    memcpy(&label, bytes, sizeof label);
    if (label.size_bytes >= sizeof label &&
        jsegment_pointer(jshared_segment(shared), offset, label.size_bytes) != NULL &&
        label_holds(bytes, &label))
        return true;
    JFAIL("the block at %llu has changed", (unsigned long long)offset);
    return false;
}

void worker_run(worker_t *worker) {
    enum { OWN = 64, BATCH = 16 };
    joffset_t own[OWN] = {JOFFSET_NULL}, batch[BATCH];
    size_t batched = 0;
    for (int64_t i = worker->iterations; i > 0 && !jtest_has_failure(); --i) {
        const uint64_t draw = jtest_random_next(&worker->random);
        joffset_t *mine = &own[draw % OWN], other = JOFFSET_NULL;
        if (*mine != JOFFSET_NULL) {
            if (!block_is_whole(worker->shared, *mine))
                return;
            if (worker->board != NULL && (draw >> 20) % 2 == 0) {
                /* Onto the board, and take what was there. */
                if (worker->gives)
                    JEXPECT_OK(jshared_give(worker->shared, *mine, JSEGMENT_SLOT_SEGMENT));
                other = joffset_exchange(&worker->board->cells[(draw >> 32) % BOARD_CELLS], *mine);
            } else {
                JEXPECT_OK(jshared_deallocate(worker->shared, *mine));
            }
            *mine = JOFFSET_NULL;
        } else {
            *mine = worker_make(worker);
        }
        if (other != JOFFSET_NULL) {
            if (!block_is_whole(worker->shared, other))
                return;
            if ((draw >> 21) % 2 == 0)
                JEXPECT_OK(jshared_deallocate(worker->shared, other));
            else
                batch[batched++] = other;
        }
        if (batched == BATCH) {
            JEXPECT_OK(jshared_deallocate_many(worker->shared, batched, batch));
            batched = 0;
        }
    }
    JEXPECT_OK(jshared_deallocate_many(worker->shared, batched, batch));
    for (size_t i = 0; i < OWN; ++i)
        if (own[i] != JOFFSET_NULL && block_is_whole(worker->shared, own[i]))
            JEXPECT_OK(jshared_deallocate(worker->shared, own[i]));
}

size_t board_clear(board_t *board, jshared_t *shared) {
    size_t count = 0;
    for (size_t i = 0; i < BOARD_CELLS; ++i) {
        const joffset_t offset = joffset_exchange(&board->cells[i], JOFFSET_NULL);
        if (offset == JOFFSET_NULL)
            continue;
        block_is_whole(shared, offset);
        JEXPECT_OK(jshared_deallocate(shared, offset));
        ++count;
    }
    return count;
}

board_t *board_map(void) {
    board_t *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        JFAIL("no board");
    return board;
}
