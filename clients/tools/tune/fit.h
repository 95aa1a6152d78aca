/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_FIT_H
#define JALLOC_TUNE_FIT_H

/* Fitting a profile's entries to measurements. */

#include <stdbool.h>

#include "../../bench/jblas_bench/pace.h"
#include "jalloc/handle.h"
#include "program/profile.h"

typedef struct sample {
    double features[JI_PROFILE_FEATURES];
    float sizes[JI_PROFILE_SIZES];
    size_t shape;    /* of which it is */
    timing_t timing; /* the quickest */
    double seconds;  /* by the pace */
    double weight;   /* fitted, too */
    bool is_single, is_complex;
} sample_t;

/* Coefficients that are not negative with the least squares of relative errors, for double
 * precision. Exits where there is no memory. */
void fit(const sample_t *const *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]);
/* The same coefficients for the type of a sample. */
void fit_of_type(const sample_t *sample, const double coefficients[JI_PROFILE_FEATURES],
                 double of_type[JI_PROFILE_FEATURES]);
/* The weights by which samples correct the others. Exits where there is no memory. */
void fit_weights(jhandle_t *handle, sample_t *const *samples, size_t count,
                 const double coefficients[JI_PROFILE_FEATURES]);
/* What a sample's weight is for predictions of the other's type, and its sizes there. */
double fit_weight_for(const sample_t *sample, const sample_t *other, float sizes[JI_PROFILE_SIZES]);

#endif
