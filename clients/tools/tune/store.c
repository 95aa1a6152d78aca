/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "store.h"

#include <stdlib.h>
#include <string.h>

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
    entry_t **const larger = realloc(store->entries, (store->count + 1) * sizeof *store->entries);
    if (larger == NULL)
        return NULL;
    store->entries = larger;
    entry_t *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    snprintf(entry->routine, sizeof entry->routine, "%s", routine);
    snprintf(entry->rung, sizeof entry->rung, "%s", rung);
    entry->threads = threads;
    store->entries[store->count++] = entry;
    return entry;
}

sample_t *store_sample(store_t *store, const char *routine, const char *rung, int threads,
                       int shape) {
    entry_t *entry = find_entry(store, routine, rung, threads);
    if (entry == NULL && (entry = add_entry(store, routine, rung, threads)) == NULL)
        return NULL;
    for (size_t s = 0; s < entry->count; s++)
        if (entry->samples[s].shape == shape)
            return &entry->samples[s];
    if (entry->count == FIT_MAX_SAMPLES)
        return NULL;
    sample_t *sample = &entry->samples[entry->count++];
    sample->shape = shape;
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

void store_free(store_t *store) {
    for (size_t i = 0; i < store->count; i++)
        free(store->entries[i]);
    free(store->entries);
}
