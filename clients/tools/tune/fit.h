/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_FIT_H
#define JALLOC_TUNE_FIT_H

/* Fitting a profile's entries to measurements. */

#include <stdbool.h>

#include "jalloc/handle.h"
#include "program/profile.h"

typedef struct sample {
    double features[JI_PROFILE_FEATURES];
    float sizes[JI_PROFILE_SIZES];
    double seconds;
    double weight;  /* fitted, too */
    bool is_single; /* precision */
} sample_t;

/* Coefficients that are not negative with the least squares of relative errors, for double
 * precision. Exits where there is no memory. */
void fit(const sample_t *const *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]);
/* The same coefficients for the type of a sample. */
void fit_of_type(const sample_t *sample, const double coefficients[JI_PROFILE_FEATURES],
                 double of_type[JI_PROFILE_FEATURES]);
/* The weights by which samples of one type correct the others. Exits where there is no memory. */
void fit_weights(jhandle_t *handle, sample_t *samples, size_t count,
                 const double coefficients[JI_PROFILE_FEATURES]);

#endif
