/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Least squares with coefficients that are not negative, by coordinate descent: each in turn takes
 * the value that is best for it alone, or 0. The normal equations are small, and the problem is
 * convex, so it ends at the one minimum (Franc, Hlavac and Navara 2005). A row is a measurement
 * over its time, so that relative errors count; each feature is scaled to its size. */

#include "fit.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 20000 };

void fit(sample_t *samples, size_t count, double coefficients[JI_PROFILE_FEATURES]) {
    enum { N = JI_PROFILE_FEATURES };
    double scale[N] = {0}, gram[N][N] = {{0}}, right[N] = {0}, x[N] = {0};
    for (size_t s = 0; s < count; s++)
        for (int i = 0; i < N; i++)
            scale[i] += pow(samples[s].features[i] / samples[s].seconds, 2);
    for (int i = 0; i < N; i++)
        scale[i] = scale[i] > 0 ? 1 / sqrt(scale[i]) : 0;
    for (size_t s = 0; s < count; s++)
        for (int i = 0; i < N; i++) {
            const double a = samples[s].features[i] / samples[s].seconds * scale[i];
            right[i] += a;
            for (int j = 0; j < N; j++)
                gram[i][j] += a * samples[s].features[j] / samples[s].seconds * scale[j];
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
    for (size_t s = 0; s < count; s++) {
        double fitted = 0;
        for (int i = 0; i < N; i++)
            fitted += coefficients[i] * samples[s].features[i];
        samples[s].point.correction = (float)(samples[s].seconds / fmax(fitted, 1e-9));
    }
}
