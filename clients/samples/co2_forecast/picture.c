/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The picture: record, forecast and 95% band, and below them what workspace was lent and what time
 * that took, as one SVG file, written with printf. Everything is drawn in the units of a 1000 x 740
 * canvas; px() and py() take a time in years and a value there. A long record is shown from sixty
 * years before its end, so that the forecast has room. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "co2_forecast.h"

#define YEARS_SHOWN 60
#define INK "#1f2933"      /* text */
#define FAINT "#6b7785"    /* notes, tick labels */
#define GRID "#e4e7eb"     /* grid */
#define RECORD "#1f4e79"   /* what was measured */
#define FORECAST "#d1495b" /* mean and band */
#define LATER "#2f9e77"    /* what was measured afterwards */
#define LENT "#7b5ea7"     /* bytes of workspace */
#define TIME "#e08e45"     /* what they save */

/* Where the plot lies on the canvas, and the ranges it shows. */
typedef struct frame_t {
    double left, right, top, bottom; /* canvas units; top < bottom */
    double x0, x1, y0, y1;           /* years, values */
} frame_t;

static double px(const frame_t *f, double x) {
    return f->left + (x - f->x0) / (f->x1 - f->x0) * (f->right - f->left);
}
static double py(const frame_t *f, double y) {
    return f->bottom - (y - f->y0) / (f->y1 - f->y0) * (f->bottom - f->top);
}

/* The middle of a month, in years. */
static double month_x(int month) { return (month + 0.5) / 12; }

/* A step of 1, 2 or 5 times a power of ten that divides `range` into at most `count` parts. */
static double nice_step(double range, int count) {
    const double power = pow(10, floor(log10(range / count)));
    const double factor[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && factor[i] * power * count < range)
        i++;
    return factor[i] * power;
}

/* Text with the characters that SVG reserves made harmless, and the digit of CO2 lowered. */
static void put_text(FILE *file, const char *text) {
    for (; *text; text++) {
        if (strncmp(text, "CO2", 3) == 0) {
            fputs("CO\xe2\x82\x82", file);
            text += 2;
        } else if (*text == '&' || *text == '<' || *text == '>') {
            fprintf(file, "&#%d;", *text);
        } else {
            fputc(*text, file);
        }
    }
}

static void put_label(FILE *file, double x, double y, const char *anchor, int size,
                      const char *weight, const char *colour, const char *text) {
    fprintf(file,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" font-weight=\"%s\" "
            "fill=\"%s\">",
            x, y, anchor, size, weight, colour);
    put_text(file, text);
    fputs("</text>\n", file);
}

static void put_line(FILE *file, double x0, double y0, double x1, double y1, const char *style) {
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1,
            style);
}

/* The part of a record that the frame shows, broken where months are missing. */
static void put_record(FILE *file, const frame_t *f, const record_t *record, const char *colour) {
    int previous = -1;
    fprintf(file,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\" stroke-linejoin=\"round\" d=\"",
            colour);
    for (int64_t i = 0; i < record->count; i++) {
        const double x = month_x(record->month[i]);
        if (x < f->x0 || x > f->x1)
            continue;
        fprintf(file, "%c%.2f %.2f", record->month[i] == previous + 1 ? 'L' : 'M', px(f, x),
                py(f, record->value[i]));
        previous = record->month[i];
    }
    fputs("\"/>\n", file);
}

static void put_axes(FILE *file, const frame_t *f, double x_step, double y_step,
                     const model_t *model) {
    char text[32];
    for (double y = ceil(f->y0 / y_step) * y_step; y <= f->y1 + 1e-9 * y_step; y += y_step) {
        put_line(file, f->left, py(f, y), f->right, py(f, y), "stroke=\"" GRID "\"");
        snprintf(text, sizeof text, "%g", y);
        put_label(file, f->left - 10, py(f, y) + 4.5, "end", 13, "normal", FAINT, text);
    }
    for (double x = ceil(f->x0 / x_step) * x_step; x <= f->x1 + 1e-9; x += x_step) {
        put_line(file, px(f, x), f->bottom, px(f, x), f->bottom + 6, "stroke=\"" FAINT "\"");
        snprintf(text, sizeof text, "%g", x);
        put_label(file, px(f, x), f->bottom + 22, "middle", 13, "normal", FAINT, text);
    }
    put_line(file, f->left, f->bottom, f->right, f->bottom, "stroke=\"" FAINT "\"");
    put_label(file, (f->left + f->right) / 2, f->bottom + 43, "middle", 13, "normal", INK, "year");
    fprintf(file, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">", f->left - 52,
            (f->top + f->bottom) / 2);
    put_label(file, 0, 0, "middle", 13, "normal", INK, model->unit);
    fputs("</g>\n", file);
}

/* One row above the plot, where it hides nothing. */
static void put_legend(FILE *file, double x, double y, bool later) {
    const struct {
        const char *colour, *text;
        int width; /* of the entry, with its gap */
        bool band;
    } entry[] = {{RECORD, "record", 112, false},
                 {FORECAST, "forecast", 124, false},
                 {FORECAST, "95% band of monthly observations", 304, true},
                 {LATER, "measured later, not used", 0, false}};
    for (int i = 0; i < (later ? 4 : 3); i++) {
        if (entry[i].band)
            fprintf(file,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"28\" height=\"12\" fill=\"%s\" "
                    "fill-opacity=\"0.25\"/>\n",
                    x, y - 6, entry[i].colour);
        else
            fprintf(file, "<path stroke=\"%s\" stroke-width=\"2\" d=\"M%.1f %.1fh28\"/>\n",
                    entry[i].colour, x, y);
        put_label(file, x + 36, y + 4.5, "start", 13, "normal", INK, entry[i].text);
        x += entry[i].width;
    }
}

/* A bar with its text behind it; however short, it can be seen. */
static void put_bar(FILE *file, double x, double y, double length, const char *colour,
                    const char *text) {
    fprintf(file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"18\" rx=\"2\" fill=\"%s\"/>\n", x,
            y, fmax(length, 2), colour);
    put_label(file, x + fmax(length, 2) + 8, y + 14, "start", 13, "normal", INK, text);
}

/* A row for each rung: its bytes on the left, its time on the right, each side to a scale of its
 * own. */
static void put_rungs(FILE *file, const frame_t *f, double y, const rung_t rungs[POSTERIOR_RUNGS]) {
    const double lent_x = f->left + 176, time_x = f->left + 516, length = 240;
    double most_lent = 0, most_time = 0;
    char text[80];
    for (int r = 0; r < POSTERIOR_RUNGS; r++) {
        most_lent = fmax(most_lent, (double)rungs[r].lent_bytes);
        most_time = fmax(most_time, rungs[r].milliseconds);
    }
    put_label(file, f->left, y, "start", 15, "bold", INK, "What lent memory buys");
    put_label(file, f->left, y + 20, "start", 13, "normal", FAINT,
              "The covariance of the 120 months to come, in three workspaces: the handle takes the "
              "best way that fits, the result is the same");
    put_label(file, lent_x, y + 48, "start", 13, "normal", LENT, "workspace, bytes");
    put_label(file, time_x, y + 48, "start", 13, "normal", TIME, "time, milliseconds");
    for (int r = 0; r < POSTERIOR_RUNGS; r++) {
        const double row = y + 58 + 28 * r;
        put_label(file, f->left, row + 14, "start", 13, "normal", INK, posterior_meaning(r));
        snprintf(text, sizeof text, "%zu", rungs[r].lent_bytes);
        put_bar(file, lent_x, row, length * (double)rungs[r].lent_bytes / most_lent, LENT, text);
        snprintf(text, sizeof text, r ? "%.2f  (%.1f x)" : "%.2f", rungs[r].milliseconds,
                 rungs[r].milliseconds / rungs[0].milliseconds);
        put_bar(file, time_x, row, length * rungs[r].milliseconds / most_time, TIME, text);
    }
}

bool picture_write(const char *path, const model_t *model, const record_t *record,
                   const record_t *later, const problem_t *problem, const forecast_t *forecast,
                   const rung_t rungs[POSTERIOR_RUNGS]) {
    double low[FORECAST_MONTHS], middle[FORECAST_MONTHS], high[FORECAST_MONTHS];
    const int first_shown = record->month[record->count - 1] + 1 - 12 * YEARS_SHOWN;
    frame_t f = {
        .left = 82, .right = 970, .top = 116, .bottom = 468, .y0 = INFINITY, .y1 = -INFINITY};

    for (int j = 0; j < FORECAST_MONTHS; j++) {
        const double half = TWO_SIDED_95 * sqrt(forecast->variance[j]);
        low[j] = model_to_value(model, forecast->mean[j] - half);
        middle[j] = model_to_value(model, forecast->mean[j]);
        high[j] = model_to_value(model, forecast->mean[j] + half);
        f.y0 = fmin(f.y0, low[j]);
        f.y1 = fmax(f.y1, high[j]);
    }
    f.x0 = (record->month[0] > first_shown ? record->month[0] : first_shown) / 12;
    f.x1 = (problem->month[FORECAST_MONTHS - 1] + 12) / 12;
    for (int64_t i = 0; i < record->count; i++)
        if (month_x(record->month[i]) >= f.x0) {
            f.y0 = fmin(f.y0, record->value[i]);
            f.y1 = fmax(f.y1, record->value[i]);
        }
    for (int64_t i = 0; i < later->count; i++)
        if (month_x(later->month[i]) <= f.x1)
            f.y1 = fmax(f.y1, later->value[i]);
    if (!(f.y1 > f.y0))
        f.y1 = f.y0 + 1;
    const double y_step = nice_step(f.y1 - f.y0, 8), x_step = nice_step(f.x1 - f.x0, 14);
    f.y0 = floor(f.y0 / y_step) * y_step;
    f.y1 = ceil(f.y1 / y_step) * y_step;

    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "co2_forecast: %s: %s\n", path, strerror(errno));
        return false;
    }
    char text[160];
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 740\" width=\"1000\" "
          "height=\"740\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
          "<rect width=\"1000\" height=\"740\" fill=\"white\"/>\n",
          file);
    put_label(file, f.left, 38, "start", 21, "bold", INK, model->title);
    snprintf(text, sizeof text,
             "Gaussian-process regression on %lld months, forecast for the next ten years; log "
             "marginal likelihood %.2f",
             (long long)record->count, forecast->log_marginal_likelihood);
    put_label(file, f.left, 62, "start", 13, "normal", FAINT, text);
    put_axes(file, &f, x_step, y_step, model);

    const double end = (record->month[record->count - 1] + 1) / 12.0;
    put_line(file, px(&f, end), f.top, px(&f, end), f.bottom,
             "stroke=\"" FAINT "\" stroke-dasharray=\"3 4\"");
    fputs("<path fill=\"" FORECAST "\" fill-opacity=\"0.25\" stroke=\"none\" d=\"", file);
    for (int j = 0; j < FORECAST_MONTHS; j++)
        fprintf(file, "%c%.2f %.2f", j ? 'L' : 'M', px(&f, month_x(problem->month[j])),
                py(&f, high[j]));
    for (int j = FORECAST_MONTHS - 1; j >= 0; j--)
        fprintf(file, "L%.2f %.2f", px(&f, month_x(problem->month[j])), py(&f, low[j]));
    fputs("Z\"/>\n", file);
    put_record(file, &f, record, RECORD);
    fputs("<path fill=\"none\" stroke=\"" FORECAST
          "\" stroke-width=\"1.5\" stroke-linejoin=\"round\" d=\"",
          file);
    for (int j = 0; j < FORECAST_MONTHS; j++)
        fprintf(file, "%c%.2f %.2f", j ? 'L' : 'M', px(&f, month_x(problem->month[j])),
                py(&f, middle[j]));
    fputs("\"/>\n", file);
    put_record(file, &f, later, LATER);
    put_legend(file, f.left, 90, later->count > 0);
    put_rungs(file, &f, 552, rungs);
    put_label(file, f.left, 724, "start", 11, "normal", FAINT, model->source);
    fputs("</svg>\n", file);

    bool ok = !ferror(file);
    ok = fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "co2_forecast: %s: could not be written\n", path);
    return ok;
}
