/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "program/call.h"

#include <stdio.h>
#include <string.h>

#include "jalloc/profile.h"

/* ---- One call ---- */

void ji_call_describe(ji_call_t *call, const jhandle_t *handle, const jplan_t *plan) {
    const size_t granule_bytes = handle->borrows.granule_mask + 1;
    *call = (ji_call_t){.routine = plan->routine, .shape_names = plan->shape_names, .times = 1};
    for (int i = 0; i < 4 && plan->shape_names && plan->shape_names[i]; ++i)
        call->shape[i] = plan->shape[i];

    for (uint32_t i = 0; i < plan->rung_count; ++i) {
        const size_t bytes = ji_rung_bytes(&plan->rungs[i], granule_bytes);
        if (!ji_rung_is_allowed(plan, i) || bytes == JALLOC_SIZE_OVERFLOW)
            continue;
        ji_way_t *way = &call->ways[call->way_count++];
        *way = (ji_way_t){.name = plan->rungs[i].name, .rung = i, .bytes = bytes};
        const jprice_t *price = ji_plan_price(plan, i);
        if (price != NULL)
            way->price = *price;
    }
}

bool ji_call_make(ji_call_t *call, const jhandle_t *handle, const jplan_t *plan) {
    const int threads = handle->device->kind == JDEVICE_HOST ? handle->threads.planned : 1;
    ji_call_describe(call, handle, plan);
    for (uint32_t i = 0; i < call->way_count; ++i)
        call->ways[i].seconds = jprofile_predict(plan, call->ways[i].rung, threads);
    return call->way_count > 0;
}

void ji_call_text(const ji_call_t *call, char text[JREQUIREMENT_CALL_BYTES]) {
    jplan_t plan;
    jplan_init(&plan, NULL, call->routine, call->shape_names, call->shape);
    const int length = snprintf(text, JREQUIREMENT_CALL_BYTES, "%s",
                                call->routine != NULL ? call->routine : "(unnamed)");
    if (length < JREQUIREMENT_CALL_BYTES - 1 && call->shape_names && *call->shape_names) {
        text[length] = ' ';
        ji_plan_shape(&plan, text + length + 1, JREQUIREMENT_CALL_BYTES - 1 - (size_t)length);
    }
}

/* ---- Lists ---- */

/* FNV-1a, 64 bits, of words: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_word(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(1099511628211);
}

static uint64_t hash_number(uint64_t hash, double number) {
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return hash_word(hash, word ^ word >> 32); /* of round numbers the low half is 0 */
}

/* Of what calls_are_alike() compares; of the name its characters: a text may be there twice. */
static uint64_t hash_of(const ji_call_t *call) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *at = call->routine; at != NULL && *at != '\0'; ++at)
        hash = hash_word(hash, (unsigned char)*at);
    for (int i = 0; i < 4; ++i)
        hash = hash_word(hash, (uint64_t)call->shape[i]);
    for (uint32_t i = 0; i < call->way_count; ++i) {
        hash = hash_word(hash, call->ways[i].bytes + call->ways[i].rung);
        hash = hash_number(hash, call->ways[i].price.flops);
    }
    return hash ^ hash >> 32;
}

static bool texts_are_alike(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool prices_are_alike(const jprice_t *a, const jprice_t *b) {
    return a->flops == b->flops && a->moved_bytes == b->moved_bytes && a->launches == b->launches;
}

/* Prices tell apart what sizes do not: sides, right-hand sides. */
static bool calls_are_alike(const ji_call_t *a, const ji_call_t *b) {
    if (a->way_count != b->way_count || memcmp(a->shape, b->shape, sizeof a->shape) != 0 ||
        !texts_are_alike(a->routine, b->routine))
        return false;
    for (uint32_t i = 0; i < a->way_count; ++i)
        if (a->ways[i].bytes != b->ways[i].bytes || a->ways[i].rung != b->ways[i].rung ||
            !prices_are_alike(&a->ways[i].price, &b->ways[i].price) ||
            !texts_are_alike(a->ways[i].name, b->ways[i].name))
            return false;
    return true;
}

/* Where the call is in the index, or the empty place where it belongs. */
static uint32_t *calls_place(const ji_calls_t *calls, const ji_call_t *call) {
    size_t place = (size_t)hash_of(call) & calls->index_mask;
    while (calls->index[place] != 0 && !calls_are_alike(&calls->at[calls->index[place] - 1], call))
        place = (place + 1) & calls->index_mask;
    return &calls->index[place];
}

/* Room for so many calls more. */
static bool calls_make_room(ji_calls_t *calls, size_t more) {
    const size_t needed = calls->count + more;
    if (needed <= calls->room)
        return true;

    size_t room = calls->room == 0 ? 16 : calls->room, bytes;
    while (room < needed && room <= UINT32_MAX / 4)
        room *= 2;
    ji_calls_t larger = {.count = calls->count, .room = room, .index_mask = 4 * room - 1};
    if (room > UINT32_MAX / 4 || !ji_size_mul(room, sizeof *larger.at, &bytes))
        return false;
    larger.at = ji_metadata_zalloc(bytes);
    larger.index = ji_metadata_zalloc(4 * room * sizeof *larger.index);
    if (larger.at == NULL || larger.index == NULL) {
        ji_calls_fini(&larger);
        return false;
    }

    if (calls->count > 0)
        memcpy(larger.at, calls->at, calls->count * sizeof *larger.at);
    for (size_t i = 0; i < calls->count; ++i)
        *calls_place(&larger, &larger.at[i]) = (uint32_t)i + 1;
    ji_calls_fini(calls);
    *calls = larger;
    return true;
}

/* Where there is room. */
static void calls_put(ji_calls_t *calls, const ji_call_t *call, uint64_t repetitions) {
    uint32_t *place = calls_place(calls, call);
    if (*place == 0) {
        calls->at[calls->count++] = *call;
        *place = (uint32_t)calls->count;
        calls->at[*place - 1].times = 0;
    }
    calls->at[*place - 1].times += call->times * repetitions;
}

bool ji_calls_add(ji_calls_t *calls, const ji_call_t *call) {
    if (!calls_make_room(calls, 1))
        return false;
    calls_put(calls, call, 1);
    return true;
}

bool ji_calls_add_all(ji_calls_t *calls, const ji_calls_t *more, uint64_t repetitions) {
    if (!calls_make_room(calls, more->count))
        return false;
    for (size_t i = 0; i < more->count; ++i)
        calls_put(calls, &more->at[i], repetitions);
    return true;
}

uint64_t ji_calls_total(const ji_calls_t *calls) {
    uint64_t total = 0;
    for (size_t i = 0; i < calls->count; ++i)
        total += calls->at[i].times;
    return total;
}

ptrdiff_t ji_calls_find(const ji_calls_t *calls, const ji_call_t *call) {
    return calls->count == 0 ? -1 : (ptrdiff_t)*calls_place(calls, call) - 1;
}

void ji_calls_fini(ji_calls_t *calls) {
    ji_metadata_free(calls->at);
    ji_metadata_free(calls->index);
    *calls = (ji_calls_t){0};
}
