/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_PROFILE_H
#define JALLOC_PROGRAM_PROFILE_H

/* The model of a profile, for the library, which evaluates it, and for jalloc-tune, which fits it.
 *
 * A call that was measured itself is predicted to take what it took. For others there are entries:
 * a routine on a rung with a number of threads. Its time is a sum of features of the plan with
 * coefficients that are not negative, times a correction that is smooth over shapes: 1 and the
 * weights of the measured ones, each times how alike the two shapes are. The weights make it what
 * was measured over the sum, as far as that is not noise: they are the solution of linear equations
 * (Gaussian process regression: Rasmussen and Williams 2006, chapter 2). Flops are a size like the
 * others: with them a shape says what its sizes leave out, such as the side of a triangle or the
 * number of right-hand sides.
 *
 * A profile is a text; columns are separated by tabulators:
 *
 *     jalloc profile 4
 *     library   0.1.0
 *     processor GenuineIntel 6-85-7, best
 *     rates     flops/s bytes/s launch            of what has no entry
 *     pace      seconds                           of jalloc-tune's small product, by which all
 *                                                 others were measured
 *     entry     routine rung threads samples      then, in a line each, the coefficients
 *     fit       c0 c1 ... c11
 *     at        four sizes, flops, weight                and the samples
 *     call      routine rung threads four sizes flops seconds
 */

#include "jalloc/profile.h"

#define JI_PROFILE_TITLE "jalloc profile 4"
/* 1, flops, bytes, launches; the plan's sizes; flops over each of these. In thousands of millions,
 * millions or thousands. */
#define JI_PROFILE_FEATURES 12
/* Of a plan, then its flops. */
#define JI_PROFILE_SIZES 5
/* Of the sizes, and of the side that a square operand is on. */
#define JI_PROFILE_PLACES (JI_PROFILE_SIZES + 1)

/* A measured shape. */
typedef struct ji_profile_point {
    float place[JI_PROFILE_PLACES];
    float weight;
} ji_profile_point_t;

/* What was measured. */
typedef struct ji_profile_key {
    const char *routine, *rung; /* within the text */
    int threads;
} ji_profile_key_t;

typedef struct ji_profile_entry {
    ji_profile_key_t key;
    double fit[JI_PROFILE_FEATURES];
    size_t first, count; /* of its points */
} ji_profile_entry_t;

/* A call that was measured itself. */
typedef struct ji_profile_call {
    ji_profile_key_t key;
    float sizes[JI_PROFILE_SIZES];
    double seconds;
} ji_profile_call_t;

typedef struct ji_profile {
    char *text; /* of the file, cut into words */
    char path[512];
    ji_profile_entry_t *entries; /* in order */
    size_t entry_count;
    ji_profile_point_t *points;
    size_t point_count;
    ji_profile_call_t *calls; /* in order */
    size_t call_count;
    double flops_per_second, bytes_per_second, launch_seconds; /* of what has no entry */
} ji_profile_t;

/* From a file, and back. */
jstatus_t ji_profile_read(const char *path, const ji_profile_t **out);
void ji_profile_free(const ji_profile_t *profile);
/* The order in which they are kept. */
int ji_profile_compare_entries(const void *left, const void *right);
int ji_profile_compare_calls(const void *left, const void *right);

void ji_profile_features(const jplan_t *plan, uint32_t rung, double features[JI_PROFILE_FEATURES]);
/* Each at least 1. */
void ji_profile_sizes(const jplan_t *plan, uint32_t rung, float sizes[JI_PROFILE_SIZES]);
/* Where such a shape is among others. */
void ji_profile_place(const float sizes[JI_PROFILE_SIZES], float place[JI_PROFILE_PLACES]);
/* How alike two shapes are: 1 of the same ones, towards 0 the farther apart they are. Positive
 * definite. */
double ji_profile_alike(const float a[JI_PROFILE_PLACES], const float b[JI_PROFILE_PLACES]);

#endif
