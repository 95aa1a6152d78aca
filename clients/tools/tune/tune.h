/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_TUNE_H
#define JALLOC_TUNE_TUNE_H

/* What the files of jalloc-tune have in common. */

#include "../../bench/jblas_bench/pace.h"
#include "store.h"

typedef struct settings {
    const char *output, *routines; /* NULL: the usual one, all */
    const char *calls;             /* a log; NULL: random shapes */
    int shapes;                    /* of each routine; 0: as many as take a minute */
    int passes;                    /* over the log */
    bool quiet, json;
} settings_t;

/* ---- measure_shape.c ---- */

/* One shape on every rung, in just its bytes, with one thread and with all. `shape` is a number of
 * its own: what is measured again is known by it. Returns the slowest of the small products. */
double measure_shape(store_t *store, pace_t *pace, jhandle_t *handle, int all_threads,
                     const routine_t *routine, const options_t *options, size_t shape);

/* ---- profile.c ---- */

/* The lines of a profile; false: not all could be written. */
bool write_shapes(FILE *file, jhandle_t *handle, int all_threads, const settings_t *settings);
/* The former profile, if there is one, with the calls of the log. */
bool write_calls(FILE *file, const char *former, jhandle_t *handle, int all_threads,
                 const settings_t *settings);
/* Exits where one is none that is measured. */
void check_routines(const char *names);

#endif
