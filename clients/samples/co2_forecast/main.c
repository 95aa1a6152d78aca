/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* co2_forecast: ten years of CO2 over Mauna Loa from thirty-nine, by Gaussian-process regression
 * whose linear algebra is jblas calls on one jhandle_t. Reads the record, runs the regression in
 * every workspace mode (modes.c), prints what came out and draws it. Exit status: 0 when all modes
 * agree, the promises of the size query held, and, with --verify, the numbers are those of the
 * reference. */

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "co2_forecast.h"

#ifndef CO2_FORECAST_DATA_DIR
#define CO2_FORECAST_DATA_DIR "data" /* the build says where the sources are */
#endif

typedef struct settings_t {
    const char *series, *model, *data, *output, *device;
    int until, repeat; /* 0: to the record's end; by size */
    bool verify;
} settings_t;

static void print_help(void) {
    printf("usage: co2_forecast [options]\n"
           "\n"
           "Forecasts the monthly CO2 record of Mauna Loa ten years ahead by Gaussian-process "
           "regression, in every\n"
           "workspace mode of a jalloc handle, and draws record, forecast and 95%% band.\n"
           "\n"
           "  -s, --series NAME    co2 (default), sunspots (3,177 months, the larger load), or a "
           "file of such records\n"
           "  -m, --model NAME     covariance for a file: co2 (default) or sunspots\n"
           "  -u, --until YEAR     use the record up to the end of YEAR, and see how the rest was "
           "forecast\n"
           "  -o, --output FILE    the picture, SVG; default co2_forecast.svg\n"
           "  -v, --verify         compare with the reference numbers (co2, sunspots)\n"
           "  -r, --repeat N       runs per mode and rung, timed; default 15, large records 3\n"
           "  -D, --device NAME    where to compute; default host\n"
           "      --data DIR       where the records are; default " CO2_FORECAST_DATA_DIR "\n"
           "  -h, --help           this text\n");
}

static bool parse_number(const char *text, int low, int high, int *number) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < low || value > high) {
        fprintf(stderr, "co2_forecast: \"%s\" is not a number from %d to %d\n", text, low, high);
        return false;
    }
    *number = (int)value;
    return true;
}

/* False with *status set when the program is to end here. */
static bool parse_options(int argc, char **argv, settings_t *settings, int *status) {
    static const struct option options[] = {
        {"series", required_argument, NULL, 's'}, {"model", required_argument, NULL, 'm'},
        {"until", required_argument, NULL, 'u'},  {"output", required_argument, NULL, 'o'},
        {"verify", no_argument, NULL, 'v'},       {"repeat", required_argument, NULL, 'r'},
        {"device", required_argument, NULL, 'D'}, {"data", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {0}};
    *status = EXIT_FAILURE;
    for (int c; (c = getopt_long(argc, argv, "s:m:u:o:vr:D:h", options, NULL)) != -1;)
        switch (c) {
        case 's': settings->series = optarg; break;
        case 'm': settings->model = optarg; break;
        case 'u':
            if (!parse_number(optarg, 1, 9999, &settings->until))
                return false;
            break;
        case 'o': settings->output = optarg; break;
        case 'v': settings->verify = true; break;
        case 'r':
            if (!parse_number(optarg, 1, 100, &settings->repeat))
                return false;
            break;
        case 'D': settings->device = optarg; break;
        case 'd': settings->data = optarg; break;
        case 'h':
            print_help();
            *status = EXIT_SUCCESS;
            return false;
        default: return false;
        }
    if (optind < argc) {
        fprintf(stderr, "co2_forecast: \"%s\" is not an option; see --help\n", argv[optind]);
        return false;
    }
    if (settings->verify && settings->until) {
        fprintf(stderr,
                "co2_forecast: the reference numbers are for whole records: --verify or --until\n");
        return false;
    }
    return true;
}

/* Moves the months after the end of year `until` from the record to `later`, which points into the
 * record's memory. */
static void record_split(record_t *record, int until, record_t *later) {
    int64_t keep = record->count;
    while (keep > 0 && record->month[keep - 1] / 12 > until)
        keep--;
    *later = (record_t){record->count - keep, record->month + keep, record->value + keep};
    record->count = keep;
}

static void print_forecast(const model_t *model, const problem_t *problem,
                           const forecast_t *forecast) {
    char first[16], last[16];
    printf("log marginal likelihood: %.8f (data fit %.2f, complexity %.2f, normalization %.2f)\n\n",
           forecast->log_marginal_likelihood, forecast->data_fit, forecast->complexity,
           forecast->normalization);
    printf("forecast of twelve-month means, with the band that holds 95%% of what will be "
           "observed:\n\n");
    printf("  %-20s %10s   %10s   %10s   %s\n", "months", "low", "mean", "high", model->unit);
    for (int year = 0; year < FORECAST_YEARS; year++) {
        const double mean = forecast->year_mean[year],
                     half = TWO_SIDED_95 * sqrt(forecast->year_variance[year]);
        printf("  %s to %s   %10.2f   %10.2f   %10.2f\n",
               month_text(problem->month[12 * year], first),
               month_text(problem->month[12 * year + 11], last), model_to_value(model, mean - half),
               model_to_value(model, mean), model_to_value(model, mean + half));
    }
    if (model->square_root)
        printf("  (mean and band of the square root, squared)\n");
    printf("\n");
}

/* How the forecast did on months that it has not seen. */
static void print_later(const model_t *model, const record_t *later, const problem_t *problem,
                        const forecast_t *forecast) {
    int compared = 0, inside = 0;
    double sum = 0;
    for (int64_t i = 0; i < later->count; i++) {
        const int64_t j = later->month[i] - problem->month[0];
        if (j >= FORECAST_MONTHS)
            break;
        const double error = model_from_value(model, later->value[i]) - forecast->mean[j];
        inside += fabs(error) <= TWO_SIDED_95 * sqrt(forecast->variance[j]);
        sum += pow(later->value[i] - model_to_value(model, forecast->mean[j]), 2);
        compared++;
    }
    if (compared > 0)
        printf("measured later: %d of %d months lie in the 95%% band; root mean square error %.2f "
               "%s\n\n",
               inside, compared, sqrt(sum / compared), model->unit);
}

int main(int argc, char **argv) {
    settings_t settings = {.series = "co2",
                           .data = CO2_FORECAST_DATA_DIR,
                           .output = "co2_forecast.svg",
                           .device = "host"};
    record_t record = {0}, later = {0};
    problem_t problem = {0};
    forecast_t forecast;
    rung_t rungs[POSTERIOR_RUNGS];
    jdevice_t *device;
    char path[4096], first[16], last[16];
    int exit_status;

    if (!parse_options(argc, argv, &settings, &exit_status))
        return exit_status;
    exit_status = EXIT_FAILURE;
    if (jstatus_is_error(jdevice_get(settings.device, &device))) {
        fprintf(stderr, "co2_forecast: %s\n", jstatus_last_message());
        return exit_status;
    }
    const model_t *own_model = model_find(settings.series); /* of a series that has a name */
    const model_t *model = settings.model ? model_find(settings.model)
                           : own_model    ? own_model
                                          : model_find("co2");
    model_t file_model;
    if (!model) {
        fprintf(stderr, "co2_forecast: there is no model \"%s\"; there are co2 and sunspots\n",
                settings.model);
        return exit_status;
    }
    if (settings.verify && model != own_model) {
        fprintf(stderr,
                "co2_forecast: there are reference numbers for the series co2 and sunspots only\n");
        return exit_status;
    }
    if (own_model) {
        snprintf(path, sizeof path, "%s/%s", settings.data, own_model->file);
    } else { /* a file: the model's covariance under the file's name */
        snprintf(path, sizeof path, "%s", settings.series);
        file_model = *model;
        file_model.title = settings.series;
        file_model.source = "";
        model = &file_model;
    }
    if (!record_read(path, &record))
        return exit_status;
    if (settings.until)
        record_split(&record, settings.until, &later);
    if (record.count < 2) {
        fprintf(stderr, "co2_forecast: %s has no two months up to %d\n", path, settings.until);
        goto done;
    }
    printf("series: %s, %lld months, %s to %s\n", settings.series, (long long)record.count,
           month_text(record.month[0], first), month_text(record.month[record.count - 1], last));
    model_print(model);
    printf("\n");
    if (!problem_init(&problem, model, &record))
        goto done;

    const int repeat = settings.repeat ? settings.repeat : problem.n < 1000 ? 15 : 3;
    if (!modes_run(device, &problem, repeat, &forecast) ||
        !rungs_run(device, &problem, repeat, rungs) ||
        !staircase_run(device, &problem, repeat, &forecast) ||
        !stages_run(device, &problem, repeat))
        goto done;
    bool ok = true;
    print_forecast(model, &problem, &forecast);
    print_later(model, &later, &problem, &forecast);
    if (settings.verify) {
        snprintf(path, sizeof path, "%s/../reference/%s.csv", settings.data, model->name);
        ok = verify(path, &problem, &forecast);
    }
    if (picture_write(settings.output, model, &record, &later, &problem, &forecast, rungs))
        printf("picture: %s\n", settings.output);
    else
        ok = false;
    exit_status = ok ? EXIT_SUCCESS : EXIT_FAILURE;
done:
    problem_free(&problem);
    record_free(&record);
    return exit_status;
}
