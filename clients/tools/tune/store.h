/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_STORE_H
#define JALLOC_TUNE_STORE_H

/* What was measured, until it is fitted and written. */

#include <stdio.h>

#include "fit.h"

/* A rung of a routine with a number of threads. */
typedef struct entry {
    char routine[64], rung[32]; /* as plans have them */
    int threads;
    size_t count;
    sample_t samples[FIT_MAX_SAMPLES];
} entry_t;

typedef struct store {
    entry_t **entries;
    size_t count;
} store_t;

/* The place of a shape's measurement: the one that is there, or a new one of 0 seconds. NULL: there
 * is no memory, or no room. */
sample_t *store_sample(store_t *store, const char *routine, const char *rung, int threads,
                       int shape);
/* The lines of a profile. Entries of few samples are left out. */
void store_write(store_t *store, FILE *file);
void store_free(store_t *store);

#endif
