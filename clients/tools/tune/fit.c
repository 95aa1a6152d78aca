/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Least squares with coefficients that are not negative, by coordinate descent: each in turn takes
 * the value that is best for it alone, or 0. The normal equations are small, and the problem is
 * convex, so it ends at the one minimum (Franc, Hlavac and Navara 2005). A row is a measurement
 * over its time, so that relative errors count; each feature is scaled to its size.
 *
 * The four types of a routine are fitted together, for a single precision's flops take half the
 * time and all else is counted in bytes or calls: a fit of four times as many measurements errs
 * less where none was near. How a type differs is left to its corrections. */

#include "fit.h"

#include <math.h>
#include <stdlib.h>

#include "../../bench/bench.h"
#include "../common/tool.h"

enum { SWEEPS = 20000 };

/* What a feature of a sample is in double precision. */
static double feature_of(const sample_t *sample, int i) {
    const bool is_flops = i == 1 || i >= JI_PROFILE_FEATURES - (JI_PROFILE_SIZES - 1);
    return sample->features[i] * (is_flops && sample->is_single ? 0.5 : 1);
}

/* Of coefficients for double precision. */
static double fitted_of(const sample_t *sample, const double coefficients[JI_PROFILE_FEATURES]) {
    double fitted = 0;
    for (int i = 0; i < JI_PROFILE_FEATURES; i++)
        fitted += coefficients[i] * feature_of(sample, i);
    return fmax(fitted, 1e-9);
}

/* Makes as many measurements longer than fitted as are shorter: with what lasted too long the
 * squares of relative errors draw a fit down. */
static void centre(const sample_t *const *samples, size_t count,
                   double coefficients[JI_PROFILE_FEATURES]) {
    double *ratios = tool_allocate(count, sizeof *ratios);
    for (size_t s = 0; s < count; s++)
        ratios[s] = samples[s]->seconds / fitted_of(samples[s], coefficients);
    const double middle = bench_median(ratios, count);
    for (int i = 0; i < JI_PROFILE_FEATURES; i++)
        coefficients[i] *= middle;
    free(ratios);
}

void fit(const sample_t *const *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]) {
    enum { N = JI_PROFILE_FEATURES };
    double scale[N] = {0}, gram[N][N] = {{0}}, right[N] = {0}, x[N] = {0};
    for (size_t s = 0; s < count; s++)
        for (int i = 0; i < N; i++)
            scale[i] += pow(feature_of(samples[s], i) / samples[s]->seconds, 2);
    for (int i = 0; i < N; i++)
        scale[i] = scale[i] > 0 ? 1 / sqrt(scale[i]) : 0;
    for (size_t s = 0; s < count; s++)
        for (int i = 0; i < N; i++) {
            const double a = feature_of(samples[s], i) / samples[s]->seconds * scale[i];
            right[i] += a;
            for (int j = 0; j < N; j++)
                gram[i][j] += a * feature_of(samples[s], j) / samples[s]->seconds * scale[j];
        }

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double moved = 0;
        for (int i = 0; i < N; i++) {
            if (gram[i][i] == 0)
                continue;
            double rest = right[i];
            for (int j = 0; j < N; j++)
                rest -= j == i ? 0 : gram[i][j] * x[j];
            const double better = fmax(rest / gram[i][i], 0);
            moved = fmax(moved, fabs(better - x[i]));
            x[i] = better;
        }
        if (moved < 1e-9)
            break;
    }

    for (int i = 0; i < N; i++)
        coefficients[i] = x[i] * scale[i];
    centre(samples, count, coefficients);
}

void fit_of_type(const sample_t *sample, const double coefficients[JI_PROFILE_FEATURES],
                 double of_type[JI_PROFILE_FEATURES]) {
    sample_t ones = {.is_single = sample->is_single};
    for (int i = 0; i < JI_PROFILE_FEATURES; i++) {
        ones.features[i] = 1;
        of_type[i] = coefficients[i] * feature_of(&ones, i);
    }
}

void fit_correct(sample_t *sample, const double coefficients[JI_PROFILE_FEATURES]) {
    sample->point.correction = (float)(sample->seconds / fitted_of(sample, coefficients));
}
