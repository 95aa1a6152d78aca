/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Least squares with coefficients that are not negative, by coordinate descent: each in turn takes
 * the value that is best for it alone, or 0. The normal equations are small, and the problem is
 * convex, so it ends at the one minimum (Franc, Hlavac and Navara 2005). A row is a measurement
 * over its time, so that relative errors count; each feature is scaled to its size.
 *
 * The four types of a routine are fitted together, for a single precision's flops take half the
 * time and all else is counted in bytes or calls: a fit of four times as many measurements errs
 * less where none was near. How a type differs is left to its corrections, which are those of all
 * types as far as they have them in common: a sample of another type is at most half as much alike.
 *
 * What is measured over fitted is taken for a smooth function of the shape with noise: of each
 * sample the same at first, then more of those that stay far from the function, for a measurement
 * that was disturbed is not a bit off but wrong (iterated weights, as by Huber 1964). */

#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/bench.h"
#include "../common/tool.h"
#include "jalloc/jlapack.h"

enum { SWEEPS = 20000 };
#define OTHER_TYPE 0.5 /* how alike samples of the same shape and of two types are */

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

static bool is_of_type(const sample_t *a, const sample_t *b) {
    return a->is_single == b->is_single && a->is_complex == b->is_complex;
}

/* Complex types count four times the flops. */
double fit_weight_for(const sample_t *sample, const sample_t *other,
                      float sizes[JI_PROFILE_SIZES]) {
    const float times = (other->is_complex ? 4.0f : 1.0f) / (sample->is_complex ? 4.0f : 1.0f);
    memcpy(sizes, sample->sizes, sizeof sample->sizes);
    sizes[JI_PROFILE_SIZES - 1] = fmaxf(sizes[JI_PROFILE_SIZES - 1] * times, 1);
    return sample->weight * (is_of_type(sample, other) ? 1 : OTHER_TYPE);
}

/* The equations: how alike the samples are, and on the diagonal the noise of each. */
static void fill_matrix(sample_t *const *samples, size_t count, const double *noise,
                        double *matrix) {
    float(*places)[JI_PROFILE_PLACES] = tool_allocate(count, sizeof *places);
    for (size_t s = 0; s < count; s++) {
        float sizes[JI_PROFILE_SIZES];
        (void)fit_weight_for(samples[s], samples[0], sizes);
        ji_profile_place(sizes, places[s]);
    }
    for (size_t column = 0; column < count; column++)
        for (size_t row = column; row < count; row++)
            matrix[column * count + row] =
                ji_profile_alike(places[row], places[column]) *
                    (is_of_type(samples[row], samples[column]) ? 1 : OTHER_TYPE) +
                (row == column ? noise[row] : 0);
    free(places);
}

void fit_weights(jhandle_t *handle, sample_t *const *samples, size_t count,
                 const double coefficients[JI_PROFILE_FEATURES]) {
    enum { ROUNDS = 4 };
    /* A correction is some 0.3, a measurement 0.07 off. */
    const double size = 0.3, off = 0.07, usual = off * off / (size * size), far = 1.5 * off;
    double *matrix = tool_allocate(count * count, sizeof *matrix),
           *weights = tool_allocate(count, sizeof *weights),
           *noise = tool_allocate(count, sizeof *noise);
    int64_t info = 0;
    for (size_t s = 0; s < count; s++)
        noise[s] = usual;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t s = 0; s < count; s++)
            weights[s] = samples[s]->seconds / fitted_of(samples[s], coefficients) - 1;
        fill_matrix(samples, count, noise, matrix);
        if (jstatus_is_error(jlapack_dposv(handle, JBLAS_LOWER, (int64_t)count, 1, matrix,
                                           (int64_t)count, weights, (int64_t)count, &info)) ||
            info != 0)
            tool_fail("%s", jstatus_last_message());
        /* Noise times weight is how far the function is from the sample. */
        for (size_t s = 0; s < count; s++)
            noise[s] = usual * fmax(1, fabs(noise[s] * weights[s]) / far);
    }
    for (size_t s = 0; s < count; s++)
        samples[s]->weight = weights[s];
    free(noise);
    free(weights);
    free(matrix);
}
