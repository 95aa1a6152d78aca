/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_FIT_H
#define JALLOC_TUNE_FIT_H

/* Fitting a profile's entries to measurements. */

#include <stdbool.h>

#include "program/profile.h"

typedef struct sample {
    double features[JI_PROFILE_FEATURES];
    ji_profile_point_t point; /* its correction is fitted, too */
    double seconds;
    bool is_single; /* precision */
} sample_t;

/* Coefficients that are not negative with the least squares of relative errors, for double
 * precision. Exits where there is no memory. */
void fit(const sample_t *const *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]);
/* The same coefficients for the type of a sample. */
void fit_of_type(const sample_t *sample, const double coefficients[JI_PROFILE_FEATURES],
                 double of_type[JI_PROFILE_FEATURES]);
/* What is left of a sample as its correction. */
void fit_correct(sample_t *sample, const double coefficients[JI_PROFILE_FEATURES]);

#endif
