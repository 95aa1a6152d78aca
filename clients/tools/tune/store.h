/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_STORE_H
#define JALLOC_TUNE_STORE_H

/* What was measured, until it is fitted and written. */

#include <stdbool.h>
#include <stdio.h>

#include "fit.h"

/* A rung of a routine with a number of threads. */
typedef struct entry {
    char routine[64], rung[32]; /* as plans have them */
    char name[16];              /* the routine's without its type */
    int threads;
    sample_t *samples;
    size_t count, room;
} entry_t;

typedef struct store {
    entry_t **entries;
    size_t count;
} store_t;

/* Adds a measurement; of those of one shape the quickest is kept. `name` is the routine's without
 * its type. Exits where there is no memory. */
void store_add(store_t *store, const char *name, const char *routine, const char *rung, int threads,
               const sample_t *sample);
/* Makes seconds of timings, on a machine whose small product takes `seconds`. */
void store_scale(store_t *store, double seconds);
/* A profile's entries, fitted. Those of few samples are left out. */
void store_write(store_t *store, FILE *file, jhandle_t *handle);
/* Its calls, each with the median of those whose plans are equal. */
void store_write_calls(store_t *store, FILE *file);
/* Whether a profile's line is one of these calls. */
bool store_has_call(const store_t *store, const char *line);
void store_free(store_t *store);

#endif
