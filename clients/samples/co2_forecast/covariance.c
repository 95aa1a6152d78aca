/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How alike two months are: covariances as sums of terms.
 *
 * The CO2 model is that of C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine
 * Learning (2006), section 5.4.3, equations 5.15 to 5.18, with the constants the book found by
 * maximizing the marginal likelihood; theta_1 .. are the book's names. The book's last equation
 * holds two terms, correlated and independent noise; the independent part is a term of its own
 * here.
 *
 * The sunspot model was made for this program. The square root of a sunspot number has about the
 * same scatter in quiet and in active years, which the number itself has not, and keeps the band
 * above zero. A cycle of about 10.9 years that drifts in amplitude and phase, activity that comes
 * and goes within a year or two, the days-to-weeks life of sunspot groups seen through monthly
 * means (a rational term: its long tail also holds the slow rise and fall over centuries), and
 * noise. The constants are those that maximize the log marginal likelihood of the 3,177 months,
 * rounded to two or three digits.
 *
 * All terms depend on the distance of two months alone, and months are counted in integers, so the
 * covariance is evaluated once for each lag that occurs rather than for each pair: some 600 times
 * in place of 100,000. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "co2_forecast.h"

static const model_t models[] = {
    {.name = "co2",
     .file = "co2-mauna-loa-monthly.csv",
     .title = "Atmospheric CO2 at Mauna Loa, monthly means",
     .unit = "ppm",
     .source = "Data: C. D. Keeling and T. P. Whorf, Scripps Institution of Oceanography. "
               "Model: Rasmussen and Williams (2006), section 5.4.3.",
     .term_count = 5,
     .term = {{TERM_SMOOTH, "long rising trend", .amplitude = 66 /* theta_1 */,
               .length = 67 /* theta_2 */},
              {TERM_PERIODIC, "seasons", .amplitude = 2.4 /* theta_3 */, .length = 90 /* theta_4 */,
               .period = 1, .width = 1.3 /* theta_5 */},
              {TERM_RATIONAL, "medium-term irregularities", .amplitude = 0.66 /* theta_6 */,
               .length = 1.2 /* theta_7 */, .shape = 0.78 /* theta_8 */},
              {TERM_SMOOTH, "correlated noise", .amplitude = 0.18 /* theta_9 */,
               .length = 1.6 / 12 /* theta_10, 1.6 months */},
              {TERM_NOISE, "independent noise", .amplitude = 0.19 /* theta_11 */}}},
    {.name = "sunspots",
     .file = "sunspots-monthly.csv",
     .title = "Relative sunspot number, monthly means",
     .unit = "sunspot number",
     .source = "Data: WDC-SILSO, Royal Observatory of Belgium. Model: of the square root; see "
               "covariance.c.",
     .square_root = true,
     .term_count = 4,
     .term = {{TERM_SMOOTH, "activity", .amplitude = 1.45, .length = 1.5},
              {TERM_PERIODIC, "solar cycle", .amplitude = 3.2, .length = 22, .period = 10.9,
               .width = 1.6},
              {TERM_RATIONAL, "sunspot groups", .amplitude = 1.03, .length = 0.042, .shape = 0.67},
              {TERM_NOISE, "independent noise", .amplitude = 0.35}}},
};

const model_t *model_find(const char *name) {
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

static double square(double x) { return x * x; }

/* d: distance in years; same: both are the same observation. */
static double term_covariance(const term_t *term, double d, bool same) {
    const double pi = 3.14159265358979323846;
    if (term->kind == TERM_NOISE)
        return same ? square(term->amplitude) : 0;
    const double decay = square(d) / (2 * square(term->length));
    double shape;
    if (term->kind == TERM_RATIONAL)
        shape = pow(1 + decay / term->shape, -term->shape);
    else if (term->kind == TERM_PERIODIC)
        shape = exp(-decay - 2 * square(sin(pi * d / term->period)) / square(term->width));
    else
        shape = exp(-decay);
    return square(term->amplitude) * shape;
}

void covariance_by_lag(const model_t *model, int64_t count, double *table) {
    for (int64_t lag = 0; lag < count; lag++) {
        table[lag] = 0;
        for (int t = 0; t < model->term_count; t++)
            table[lag] += term_covariance(&model->term[t], (double)lag / 12, lag == 0);
    }
}

void model_print(const model_t *model) {
    static const char *const kinds[] = {"squared exponential", "decaying periodic",
                                        "rational quadratic", "noise"};
    printf("covariance%s:\n", model->square_root ? " of the square root" : "");
    for (int t = 0; t < model->term_count; t++) {
        const term_t *term = &model->term[t];
        printf("  %-27s %-20s amplitude %-5g", term->meaning, kinds[term->kind], term->amplitude);
        if (term->kind != TERM_NOISE)
            printf(" length %-6.4g years", term->length);
        if (term->kind == TERM_PERIODIC)
            printf("  period %g years  width %g", term->period, term->width);
        if (term->kind == TERM_RATIONAL)
            printf("  shape %g", term->shape);
        printf("\n");
    }
}

double model_from_value(const model_t *model, double value) {
    return model->square_root ? sqrt(value) : value;
}

double model_to_value(const model_t *model, double y) {
    if (!model->square_root)
        return y;
    return y > 0 ? y * y : 0;
}
