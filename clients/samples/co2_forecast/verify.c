/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Compares a forecast with the numbers of reference/, which were computed in higher precision by
 * reference.py, without jalloc, BLAS or LAPACK. Every number of the forecast has to be there, once,
 * and none but those.
 *
 * What may be expected: the condition number of the CO2 covariance is 5.5e7, so the weights alpha
 * are right to some 1e-9 of their size. What is compared is better behaved: means come out right to
 * 1e-12, variances to 1e-10, and the log marginal likelihood, a difference of terms six times its
 * size, to a few times 1e-10. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "co2_forecast.h"

#define TOLERANCE 1e-8 /* of the number's size */

bool verify(const char *path, const problem_t *problem, const forecast_t *forecast) {
    struct {
        const char *name;
        const double *value;
        int count, months_each;
        double worst; /* largest relative difference so far */
    } quantity[] = {{"log_marginal_likelihood", &forecast->log_marginal_likelihood, 1, 0, 0},
                    {"mean", forecast->mean, FORECAST_MONTHS, 1, 0},
                    {"variance", forecast->variance, FORECAST_MONTHS, 1, 0},
                    {"year_mean", forecast->year_mean, FORECAST_YEARS, 12, 0},
                    {"year_variance", forecast->year_variance, FORECAST_YEARS, 12, 0}};
    const int quantity_count = sizeof quantity / sizeof quantity[0];
    char line[256];
    int number = 0, which = 0, index = 0;
    bool ok = true;

    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr,
                "co2_forecast: %s: cannot be read; there are reference numbers for co2 and "
                "sunspots only\n",
                path);
        return false;
    }
    while (ok && fgets(line, sizeof line, file)) {
        char name[32], month[16], expected_month[16] = "";
        double expected;
        if (++number == 1)
            continue; /* the header */
        if (sscanf(line, "%31[^,],,%lf", name, &expected) == 2)
            month[0] = '\0';
        else
            ok = sscanf(line, "%31[^,],%15[^,],%lf", name, month, &expected) == 3;
        if (ok && which < quantity_count && quantity[which].months_each > 0)
            month_text(problem->month[index * quantity[which].months_each], expected_month);
        ok = ok && which < quantity_count && strcmp(name, quantity[which].name) == 0 &&
             strcmp(month, expected_month) == 0;
        if (!ok) {
            fprintf(stderr, "co2_forecast: %s:%d: not the number that belongs here\n", path,
                    number);
            break;
        }
        double difference = fabs(quantity[which].value[index] - expected) / fabs(expected);
        if (!(difference <= quantity[which].worst))
            quantity[which].worst = isnan(difference) ? INFINITY : difference;
        if (++index == quantity[which].count) {
            index = 0;
            which++;
        }
    }
    fclose(file);
    if (ok && which < quantity_count) {
        fprintf(stderr, "co2_forecast: %s: ends too early\n", path);
        ok = false;
    }
    if (!ok)
        return false;
    printf("verify: largest relative difference from the reference, of which %.0e is allowed\n\n",
           TOLERANCE);
    for (int q = 0; q < quantity_count; q++) {
        const bool within = quantity[q].worst <= TOLERANCE;
        printf("  %-24s %4d  %9.1e  %s\n", quantity[q].name, quantity[q].count, quantity[q].worst,
               within ? "ok" : "FAILED");
        ok = ok && within;
    }
    printf("\n");
    return ok;
}
