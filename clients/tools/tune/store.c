/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "../../bench/bench.h"
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

static entry_t *add_entry(store_t *store, const char *name, const char *routine, const char *rung,
                          int threads) {
    store->entries =
        tool_reallocate(store->entries, store->count, store->count + 1, sizeof *store->entries);
    entry_t *entry = store->entries[store->count++] = tool_allocate(1, sizeof *entry);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    snprintf(entry->routine, sizeof entry->routine, "%s", routine);
    snprintf(entry->rung, sizeof entry->rung, "%s", rung);
    entry->threads = threads;
    return entry;
}

void store_add(store_t *store, const char *name, const char *routine, const char *rung, int threads,
               const sample_t *sample) {
    entry_t *entry = find_entry(store, routine, rung, threads);
    if (entry == NULL)
        entry = add_entry(store, name, routine, rung, threads);
    for (size_t s = 0; s < entry->count; s++)
        if (entry->samples[s].shape == sample->shape) {
            if (sample->timing.seconds < entry->samples[s].timing.seconds)
                entry->samples[s].timing = sample->timing;
            return;
        }
    if (entry->count == entry->room) {
        entry->room = entry->room == 0 ? 16 : 2 * entry->room;
        entry->samples =
            tool_reallocate(entry->samples, entry->count, entry->room, sizeof *entry->samples);
    }
    entry->samples[entry->count++] = *sample;
}

void store_scale(store_t *store, double seconds) {
    for (size_t i = 0; i < store->count; i++)
        for (size_t s = 0; s < store->entries[i]->count; s++) {
            sample_t *sample = &store->entries[i]->samples[s];
            sample->seconds = seconds * pace_ratio(&sample->timing, 1);
        }
}

/* ---- Entries ---- */

/* Whether a routine is of symmetric or of Hermitian matrices, as syrk and herk are. */
static bool is_symmetric(const char *name) {
    return strncmp(name, "sy", 2) == 0 || strncmp(name, "he", 2) == 0;
}

/* Whether they differ in type at most: what is Hermitian is the symmetric routine of complex
 * numbers. */
static bool is_alike(const entry_t *a, const entry_t *b) {
    const bool symmetric = is_symmetric(a->name) && is_symmetric(b->name);
    return a->threads == b->threads && strcmp(a->rung, b->rung) == 0 &&
           strcmp(a->name + (symmetric ? 2 : 0), b->name + (symmetric ? 2 : 0)) == 0;
}

/* Entries that are alike, from `first` on. */
typedef struct alike {
    sample_t **samples; /* of all of them */
    size_t count;
    double coefficients[JI_PROFILE_FEATURES];
} alike_t;

static void fit_alike(const store_t *store, size_t first, jhandle_t *handle, alike_t *alike) {
    size_t room = 0;
    for (size_t i = first; i < store->count; i++)
        room += is_alike(store->entries[i], store->entries[first]) ? store->entries[i]->count : 0;
    *alike = (alike_t){.samples = tool_allocate(room, sizeof *alike->samples)};
    for (size_t i = first; i < store->count; i++) {
        entry_t *entry = store->entries[i];
        for (size_t s = 0; is_alike(entry, store->entries[first]) && s < entry->count; s++)
            alike->samples[alike->count++] = &entry->samples[s];
    }
    if (alike->count >= LEAST_SAMPLES) {
        fit((const sample_t *const *)alike->samples, alike->count, alike->coefficients);
        fit_weights(handle, alike->samples, alike->count, alike->coefficients);
    }
}

/* With the samples of all that are alike. */
static void write_entry(FILE *file, const entry_t *entry, const alike_t *alike) {
    double of_type[JI_PROFILE_FEATURES];
    fit_of_type(&entry->samples[0], alike->coefficients, of_type);
    fprintf(file, "entry\t%s\t%s\t%d\t%zu\nfit", entry->routine, entry->rung, entry->threads,
            alike->count);
    for (int i = 0; i < JI_PROFILE_FEATURES; i++)
        fprintf(file, "\t%.6g", of_type[i]);
    fputc('\n', file);
    for (size_t s = 0; s < alike->count; s++) {
        float sizes[JI_PROFILE_SIZES];
        const double weight = fit_weight_for(alike->samples[s], &entry->samples[0], sizes);
        fputs("at", file);
        for (int i = 0; i < JI_PROFILE_SIZES; i++)
            fprintf(file, "\t%.6g", (double)sizes[i]);
        fprintf(file, "\t%.4g\n", weight);
    }
}

static bool is_first(const store_t *store, size_t which) {
    for (size_t i = 0; i < which; i++)
        if (is_alike(store->entries[i], store->entries[which]))
            return false;
    return true;
}

void store_write(store_t *store, FILE *file, jhandle_t *handle) {
    for (size_t first = 0; first < store->count; first++) {
        alike_t alike;
        if (!is_first(store, first))
            continue;
        fit_alike(store, first, handle, &alike);
        for (size_t i = first; i < store->count && alike.count >= LEAST_SAMPLES; i++)
            if (is_alike(store->entries[i], store->entries[first]))
                write_entry(file, store->entries[i], &alike);
        free(alike.samples);
    }
}

/* ---- Calls ---- */

enum { CALL_BYTES = 256 };

/* What a call's line begins with. */
static void call_key(const entry_t *entry, const sample_t *sample, char key[CALL_BYTES]) {
    int length = snprintf(key, CALL_BYTES, "call\t%s\t%s\t%d\t", entry->routine, entry->rung,
                          entry->threads);
    for (int i = 0; i < JI_PROFILE_SIZES; i++)
        length +=
            snprintf(key + length, CALL_BYTES - (size_t)length, "%.9g\t", (double)sample->sizes[i]);
}

static bool is_same(const sample_t *a, const sample_t *b) {
    for (int i = 0; i < JI_PROFILE_SIZES; i++)
        if (a->sizes[i] != b->sizes[i])
            return false;
    return true;
}

/* Options such as a transposition are no part of a plan. */
static void write_call(FILE *file, const entry_t *entry, size_t which) {
    const sample_t *const samples = entry->samples;
    double *seconds = tool_allocate(entry->count, sizeof *seconds);
    size_t count = 0, first = entry->count;
    for (size_t s = 0; s < entry->count; s++)
        if (is_same(&samples[s], &samples[which])) {
            first = s < first ? s : first;
            seconds[count++] = samples[s].seconds;
        }
    if (first == which) { /* else it is written already */
        char key[CALL_BYTES];
        call_key(entry, &samples[which], key);
        fprintf(file, "%s%.6g\n", key, bench_median(seconds, count));
    }
    free(seconds);
}

void store_write_calls(store_t *store, FILE *file) {
    for (size_t i = 0; i < store->count; i++)
        for (size_t s = 0; s < store->entries[i]->count; s++)
            write_call(file, store->entries[i], s);
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
