/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "../common/tool.h"

enum { LEAST_SAMPLES = 4 };

/* From the last on: a routine's entries are asked for one after the other. */
static entry_t *find_entry(const store_t *store, const char *routine, const char *rung,
                           int threads) {
    for (size_t i = store->count; i-- > 0;) {
        entry_t *entry = store->entries[i];
        if (entry->threads == threads && strcmp(entry->rung, rung) == 0 &&
            strcmp(entry->routine, routine) == 0)
            return entry;
    }
    return NULL;
}

static entry_t *add_entry(store_t *store, const char *routine, const char *rung, int threads) {
    store->entries =
        tool_reallocate(store->entries, store->count, store->count + 1, sizeof *store->entries);
    entry_t *entry = store->entries[store->count++] = tool_allocate(1, sizeof *entry);
    snprintf(entry->routine, sizeof entry->routine, "%s", routine);
    snprintf(entry->rung, sizeof entry->rung, "%s", rung);
    entry->threads = threads;
    return entry;
}

sample_t *store_sample(store_t *store, const char *routine, const char *rung, int threads,
                       int shape) {
    entry_t *entry = find_entry(store, routine, rung, threads);
    if (entry == NULL)
        entry = add_entry(store, routine, rung, threads);
    for (size_t s = 0; s < entry->count; s++)
        if (entry->samples[s].shape == shape)
            return &entry->samples[s];
    if (entry->count == entry->room) {
        entry->room = entry->room == 0 ? 16 : 2 * entry->room;
        entry->samples =
            tool_reallocate(entry->samples, entry->count, entry->room, sizeof *entry->samples);
    }
    sample_t *sample = &entry->samples[entry->count++];
    *sample = (sample_t){.shape = shape};
    return sample;
}

/* Takes out what was never measured. */
static void drop_empty(entry_t *entry) {
    size_t kept = 0;
    for (size_t s = 0; s < entry->count; s++)
        if (entry->samples[s].seconds > 0)
            entry->samples[kept++] = entry->samples[s];
    entry->count = kept;
}

static void write_entry(FILE *file, entry_t *entry) {
    double coefficients[JI_PROFILE_FEATURES];
    drop_empty(entry);
    if (entry->count < LEAST_SAMPLES)
        return;
    fit(entry->samples, entry->count, coefficients);
    fprintf(file, "entry\t%s\t%s\t%d\t%zu\nfit", entry->routine, entry->rung, entry->threads,
            entry->count);
    for (int i = 0; i < JI_PROFILE_FEATURES; i++)
        fprintf(file, "\t%.6g", coefficients[i]);
    fputc('\n', file);
    for (size_t s = 0; s < entry->count; s++) {
        const ji_profile_point_t *point = &entry->samples[s].point;
        fputs("at", file);
        for (int i = 0; i < JI_PROFILE_SIZES; i++)
            fprintf(file, "\t%.6g", (double)point->sizes[i]);
        fprintf(file, "\t%.4g\n", (double)point->correction);
    }
}

void store_write(store_t *store, FILE *file) {
    for (size_t i = 0; i < store->count; i++)
        write_entry(file, store->entries[i]);
}

/* ---- Calls ---- */

enum { CALL_BYTES = 256 };

/* What a call's line begins with. */
static void call_key(const entry_t *entry, const sample_t *sample, char key[CALL_BYTES]) {
    const float *sizes = sample->point.sizes;
    snprintf(key, CALL_BYTES, "call\t%s\t%s\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t", entry->routine,
             entry->rung, entry->threads, (double)sizes[0], (double)sizes[1], (double)sizes[2],
             (double)sizes[3]);
}

static bool is_same(const sample_t *a, const sample_t *b) {
    for (int i = 0; i < JI_PROFILE_SIZES; i++)
        if (a->point.sizes[i] != b->point.sizes[i])
            return false;
    return true;
}

/* Options such as a transposition are no part of a plan. */
static void write_call(FILE *file, const entry_t *entry, size_t which) {
    const sample_t *const samples = entry->samples;
    double sum = 0, count = 0;
    for (size_t s = 0; s < entry->count; s++)
        if (is_same(&samples[s], &samples[which])) {
            if (s < which)
                return; /* written with that one */
            sum += samples[s].seconds, count++;
        }
    char key[CALL_BYTES];
    call_key(entry, &samples[which], key);
    fprintf(file, "%s%.6g\n", key, sum / count);
}

void store_write_calls(store_t *store, FILE *file) {
    for (size_t i = 0; i < store->count; i++) {
        drop_empty(store->entries[i]);
        for (size_t s = 0; s < store->entries[i]->count; s++)
            write_call(file, store->entries[i], s);
    }
}

bool store_has_call(const store_t *store, const char *line) {
    char key[CALL_BYTES];
    for (size_t i = 0; i < store->count && strncmp(line, "call\t", 5) == 0; i++)
        for (size_t s = 0; s < store->entries[i]->count; s++) {
            call_key(store->entries[i], &store->entries[i]->samples[s], key);
            if (strncmp(line, key, strlen(key)) == 0)
                return true;
        }
    return false;
}

void store_free(store_t *store) {
    for (size_t i = 0; i < store->count; i++) {
        free(store->entries[i]->samples);
        free(store->entries[i]);
    }
    free(store->entries);
}
