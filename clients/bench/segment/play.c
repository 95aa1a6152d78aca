/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "play.h"

#include <math.h>

#define MIX_LEAST_BYTES 16.0
#define MIX_DOUBLINGS 12 /* up to 64 KiB */

typedef struct step {
    uint32_t block, bytes;
} step_t;

static size_t order[PLAY_ORDER_BLOCKS]; /* in which blocks are freed */
static step_t steps[PLAY_MIX_STEPS];
/* Sizes before the first step: those that the last steps leave. */
static uint32_t first_bytes[PLAY_MIX_BLOCKS];

static uint64_t random_state = 20261121;

static size_t random_below(size_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((random_state >> 33) % bound);
}

static uint32_t random_bytes(void) {
    double unit = (double)random_below((size_t)1 << 30) / (double)(1 << 30);
    return (uint32_t)(MIX_LEAST_BYTES * exp2(MIX_DOUBLINGS * unit));
}

void play_draw(void) {
    for (size_t i = 0; i < PLAY_ORDER_BLOCKS; i++) {
        size_t other = random_below(i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < PLAY_MIX_BLOCKS; i++)
        first_bytes[i] = random_bytes();
    for (size_t i = 0; i < PLAY_MIX_STEPS; i++) {
        steps[i] = (step_t){(uint32_t)random_below(PLAY_MIX_BLOCKS), random_bytes()};
        first_bytes[steps[i].block] = steps[i].bytes;
    }
}

static size_t blocks_of(const workload_t *w) {
    return w->kind == PLAY_MIX ? PLAY_MIX_BLOCKS : PLAY_ORDER_BLOCKS;
}

static size_t bytes_of(const workload_t *w, size_t block) {
    return w->kind == PLAY_MIX ? first_bytes[block] : w->bytes;
}

size_t play_filled_bytes(const workload_t *w) {
    size_t bytes = 0;
    for (size_t i = 0; i < blocks_of(w); i++)
        bytes += bytes_of(w, i);
    return bytes;
}

static uint64_t mark_of(const player_t *p, size_t block) {
    return p->stamp ^ (uint64_t)block << 32;
}

bool play_fill(const contender_call_t *call, player_t *p, const workload_t *w) {
    bool good = true;
    p->position = 0;
    for (size_t i = 0; i < blocks_of(w); i++) {
        p->bytes[i] = (uint32_t)bytes_of(w, i);
        p->live[i] = contender_allocate(call, p->bytes[i]);
        good &= p->live[i] != 0;
        for (size_t word = 0; p->live[i] && word < p->bytes[i] / sizeof(uint64_t); word++)
            contender_memory(call, p->live[i])[word] = mark_of(p, i) + word;
    }
    return good;
}

bool play_drain(const contender_call_t *call, player_t *p, bool whole) {
    bool good = true;
    for (size_t i = 0; i < PLAY_MAX_BLOCKS; i++) {
        if (!p->live[i])
            continue;
        for (size_t word = 0; word < (whole ? p->bytes[i] / sizeof(uint64_t) : 1); word++)
            good &= contender_memory(call, p->live[i])[word] == mark_of(p, i) + word;
        good &= contender_deallocate(call, p->live[i], p->bytes[i]);
        p->live[i] = 0;
    }
    return good;
}

static bool play_pair(const contender_call_t call, size_t bytes, size_t pairs) {
    bool good = true;
    for (size_t i = 0; i < pairs; i++) {
        block_t block = contender_allocate(&call, bytes);
        if (!block)
            return false;
        *contender_memory(&call, block) = i;
        good &= contender_deallocate(&call, block, bytes);
    }
    return good;
}

static bool play_order(const contender_call_t call, size_t bytes, size_t rounds) {
    block_t live[PLAY_ORDER_BLOCKS];
    bool good = true;
    for (size_t round = 0; good && round < rounds; round++) {
        for (size_t i = 0; i < PLAY_ORDER_BLOCKS; i++) {
            live[i] = contender_allocate(&call, bytes);
            if (!live[i])
                return false;
            *contender_memory(&call, live[i]) = i;
        }
        for (size_t i = 0; i < PLAY_ORDER_BLOCKS; i++)
            good &= contender_deallocate(&call, live[order[i]], bytes);
    }
    return good;
}

static bool play_mix(const contender_call_t call, player_t *p, size_t pairs) {
    bool good = true;
    size_t position = p->position;
    for (size_t i = 0; good && i < pairs; i++) {
        step_t step = steps[position];
        position = (position + 1) % PLAY_MIX_STEPS;
        good &= contender_deallocate(&call, p->live[step.block], p->bytes[step.block]);
        p->live[step.block] = contender_allocate(&call, step.bytes);
        if (!p->live[step.block])
            return false;
        p->bytes[step.block] = step.bytes;
        *contender_memory(&call, p->live[step.block]) = mark_of(p, step.block);
    }
    p->position = position;
    return good;
}

bool play(const contender_call_t *call, player_t *p, const workload_t *w, size_t count) {
    switch (w->kind) {
    case PLAY_PAIR: return play_pair(*call, w->bytes, count);
    case PLAY_ORDER: return play_order(*call, w->bytes, count);
    case PLAY_MIX: break;
    }
    return play_mix(*call, p, count);
}
