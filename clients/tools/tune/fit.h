/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TUNE_FIT_H
#define JALLOC_TUNE_FIT_H

/* Fitting a profile's entry to measurements. */

#include "program/profile.h"

typedef struct sample {
    double features[JI_PROFILE_FEATURES];
    ji_profile_point_t point; /* its correction is fitted, too */
    double seconds;           /* 0: not measured */
    int shape;                /* which of the routine's */
} sample_t;

/* Coefficients that are not negative with the least squares of relative errors, and what is left as
 * corrections. */
void fit(sample_t *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]);

#endif
