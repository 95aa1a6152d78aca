/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A monthly record: a header line, then "year,month,value", in order of time. Anything else is
 * refused with the number of the line, because a forecast from a misread record looks as good as
 * any other. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "co2_forecast.h"

static bool record_append(record_t *record, int64_t *capacity, int month, double value) {
    if (record->count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 512;
        int *months = realloc(record->month, (size_t)*capacity * sizeof *months);
        if (months)
            record->month = months;
        double *values = realloc(record->value, (size_t)*capacity * sizeof *values);
        if (values)
            record->value = values;
        if (!months || !values)
            return false;
    }
    record->month[record->count] = month;
    record->value[record->count++] = value;
    return true;
}

bool record_read(const char *path, record_t *record) {
    *record = (record_t){0};
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "co2_forecast: %s: %s\n", path, strerror(errno));
        return false;
    }
    const char *wrong = NULL;
    char line[256];
    int64_t capacity = 0;
    int number = 0;
    while (!wrong && fgets(line, sizeof line, file)) {
        int year, month, end = 0;
        double value;
        if (++number == 1)
            continue; /* the header */
        if (sscanf(line, "%d,%d,%lf %n", &year, &month, &value, &end) != 3 || line[end] != '\0')
            wrong = "expected year,month,value";
        else if (year < 0 || year > 9999 || month < 1 || month > 12 || !isfinite(value))
            wrong = "year, month or value out of range";
        else if (record->count > 0 && 12 * year + month - 1 <= record->month[record->count - 1])
            wrong = "months must be in order of time";
        else if (!record_append(record, &capacity, 12 * year + month - 1, value))
            wrong = "out of memory";
    }
    if (!wrong && (ferror(file) || record->count < 2))
        wrong = ferror(file) ? "cannot be read" : "a record of two months at least is needed";
    fclose(file);
    if (wrong) {
        fprintf(stderr, "co2_forecast: %s:%d: %s\n", path, number, wrong);
        record_free(record);
    }
    return !wrong;
}

void record_free(record_t *record) {
    free(record->month);
    free(record->value);
    *record = (record_t){0};
}

const char *month_text(int month, char text[16]) {
    snprintf(text, 16, "%04d-%02d", month / 12, month % 12 + 1);
    return text;
}
