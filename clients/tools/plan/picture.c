/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The picture.
 *
 *     title
 *     ms |          ,--------- 1.2 MiB: jblas_dgemm m=...   each step is named at the right, by a
 *        |##       ,---------- 4 MiB: jblas_dtrsm m=...     line that goes up from its corner
 *        | ########,           over all that comes after it, so that no two lines cross
 *        |         #########
 *        +------------------ bytes, each mark four times the one before
 *
 * Steps that are close together have their names one above the other: from the last back, a name
 * stands at its step's height or so far above the next as a line of text needs. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/svg.h"
#include "../common/units.h"
#include "plan.h"

enum { LEFT = 84, PLOT = 600, LABELS = LEFT + PLOT + 28, RIGHT = 430, WIDTH = LABELS + RIGHT };
enum { TITLE = 84, CHART = 280, FOOT = 72, LABEL_STEP = 17, LABEL_SIZE = 11, MARGIN = 36 };
enum { NAMED = 12, NAME_CHARACTERS = 58 };
#define CURVE_COLOUR "#2f6f9f"
#define AREA_COLOUR "#dce9f3"
#define BUDGET_COLOUR "#c0392b"

/* What is drawn where. */
typedef struct chart {
    const plan_t *plan;
    double top;             /* of the plot */
    double least, most;     /* bytes at the left and at the right, on a scale of factors */
    double lowest, highest; /* seconds at the bottom and at the top */
    size_t named[NAMED], named_count;
    double label_y[NAMED];
} chart_t;

static double x_of(const chart_t *chart, double bytes) {
    const double part =
        log2(fmax(bytes, chart->least) / chart->least) / log2(chart->most / chart->least);
    return LEFT + fmin(part, 1) * PLOT;
}

static double y_of(const chart_t *chart, double seconds) {
    const double range = chart->highest - chart->lowest;
    return chart->top + (range > 0 ? (chart->highest - seconds) / range : 0.5) * CHART;
}

static void chart_scale(chart_t *chart) {
    const plan_t *plan = chart->plan;
    const double best = plan_best(plan).seconds;
    double worst = 0;
    for (size_t i = 0; i < plan->info.step_count; i++)
        worst = fmax(worst, plan_step(plan, i).seconds);
    /* 0 has no place on a scale of factors: it stands at the left, before the first step. */
    const bool has_zero = plan->info.minimal_bytes == 0 && plan->info.step_count > 1;
    const double first = (double)plan_step(plan, has_zero ? 1 : 0).size_bytes;
    chart->least = exp2(floor(log2(fmax(first, 64)) - (has_zero ? 2 : 0)));
    chart->most = fmax((double)plan->info.optimal_bytes, 2 * chart->least) * 1.25;
    const double step = svg_nice_step(fmax(worst - best, 1e-3 * worst), 5);
    chart->lowest = fmax(floor(best / step) * step, 0);
    chart->highest = ceil(worst / step + 1e-9) * step;
}

/* From the last back, so that each is above the next. Gives the room that is needed above. */
static double chart_place_labels(chart_t *chart) {
    double below = INFINITY;
    chart->named_count = plan_thin(chart->plan, NAMED, chart->named);
    for (size_t i = chart->named_count; i-- > 0;) {
        const double y = y_of(chart, plan_step(chart->plan, chart->named[i]).seconds);
        below = chart->label_y[i] = fmin(y, below - LABEL_STEP);
    }
    return fmax(chart->top + LABEL_SIZE - below, 0);
}

static void chart_axes(FILE *file, const chart_t *chart) {
    const svg_unit_t time = svg_unit_of_time(chart->highest);
    const double range = chart->highest - chart->lowest;
    const double step = svg_nice_step(range / time.size, 6) * time.size;
    const double first = ceil(chart->lowest / step - 1e-9);
    for (int i = 0; (first + i) * step <= chart->highest + 1e-9 * step; i++) {
        const double at = (first + i) * step, y = y_of(chart, at);
        svg_line(file, LEFT, y, LEFT + PLOT, y, "stroke=\"" SVG_GRID "\"");
        svg_text(file, LEFT - 8, y + 4, SVG_END, 12, SVG_FAINT, "%.6g", at / time.size);
    }
    svg_text(file, LEFT - 8, chart->top - 14, SVG_END, 12, SVG_INK, "%s", time.name);

    /* At most ten marks: each a power of two times the one before. */
    const double factor = exp2(fmax(ceil(log2(chart->most / chart->least) / 10), 1));
    for (int i = 0;; i++) {
        const double bytes = chart->least * pow(factor, i);
        char text[UNITS_BYTES];
        if (bytes > chart->most)
            break;
        units_bytes(text, bytes, 0);
        const bool is_zero = bytes == chart->least && chart->plan->info.minimal_bytes == 0;
        const double x = x_of(chart, bytes);
        svg_line(file, x, chart->top + CHART, x, chart->top + CHART + 5,
                 "stroke=\"" SVG_FAINT "\"");
        svg_text(file, x, chart->top + CHART + 20, SVG_MIDDLE, 11, SVG_FAINT, "%s",
                 is_zero ? "0" : text);
    }
    svg_text(file, LEFT + PLOT, chart->top + CHART + 42, SVG_END, 12, SVG_INK, "workspace");
}

/* The staircase, with the area below it or as a line. */
static void chart_curve(FILE *file, const chart_t *chart, bool is_area) {
    const plan_t *plan = chart->plan;
    const double bottom = chart->top + CHART;
    for (size_t i = 0; i < plan->info.step_count; i++) {
        const jrequirement_step_t step = plan_step(plan, i);
        const double x = x_of(chart, (double)step.size_bytes), y = y_of(chart, step.seconds);
        if (i == 0)
            fprintf(file, "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"2\" d=\"M%.1f %.1fV%.1f",
                    is_area ? AREA_COLOUR : "none", is_area ? "none" : CURVE_COLOUR, x,
                    is_area ? bottom : y, y);
        else
            fprintf(file, "H%.1fV%.1f", x, y);
    }
    fprintf(file, "H%d", LEFT + PLOT);
    if (is_area)
        fprintf(file, "V%.1fZ", bottom);
    fputs("\"/>\n", file);
}

static void chart_name_steps(FILE *file, const chart_t *chart) {
    for (size_t i = 0; i < chart->named_count; i++) {
        const jrequirement_step_t step = plan_step(chart->plan, chart->named[i]);
        const double x = x_of(chart, (double)step.size_bytes), y = y_of(chart, step.seconds);
        char bytes[UNITS_BYTES], name[2 * JREQUIREMENT_CALL_BYTES];
        units_bytes(bytes, (double)step.size_bytes, 2);
        snprintf(name, sizeof name, "%s%s%s%s%s", bytes, step.call[0] != '\0' ? ": " : "",
                 step.call, step.rung != NULL ? ", " : "", step.rung != NULL ? step.rung : "");
        if (strlen(name) > NAME_CHARACTERS)
            memcpy(name + NAME_CHARACTERS - 3, "...", sizeof "...");
        svg_line(file, x, y, LABELS - 6, chart->label_y[i],
                 "stroke=\"" SVG_FAINT "\" stroke-opacity=\"0.45\" stroke-width=\"0.8\"");
        svg_rectangle(file, x - 2.5, y - 2.5, 5, 5, CURVE_COLOUR);
        svg_text(file, LABELS, chart->label_y[i] + 4, SVG_START, LABEL_SIZE, SVG_INK, "%s", name);
    }
}

static void chart_budget(FILE *file, const chart_t *chart) {
    const choices_t *choices = chart->plan->choices;
    if (!choices->has_budget || choices->budget_bytes < chart->plan->info.minimal_bytes)
        return;
    const double x = x_of(chart, (double)choices->budget_bytes);
    char bytes[UNITS_BYTES];
    units_bytes(bytes, (double)choices->budget_bytes, 2);
    svg_line(file, x, chart->top - 8, x, chart->top + CHART,
             "stroke=\"" BUDGET_COLOUR "\" stroke-dasharray=\"4 3\"");
    svg_text(file, x, chart->top - 14, x > LEFT + 0.5 * PLOT ? SVG_END : SVG_START, 12,
             BUDGET_COLOUR, "budget %s", bytes);
}

void picture_write(const plan_t *plan, const char *path) {
    const char *slash = strrchr(plan->log->path, '/');
    chart_t chart = {.plan = plan, .top = TITLE + MARGIN};
    chart_scale(&chart);
    const double above = chart_place_labels(&chart);
    chart.top += above;
    for (size_t i = 0; i < chart.named_count; i++)
        chart.label_y[i] += above;

    FILE *file = svg_open(path, WIDTH, chart.top + CHART + FOOT);
    if (file == NULL)
        tool_fail("%s: %s", path, strerror(errno));
    char minimal[UNITS_BYTES], optimal[UNITS_BYTES];
    units_bytes(minimal, (double)plan->info.minimal_bytes, 2);
    units_bytes(optimal, (double)plan->info.optimal_bytes, 2);
    svg_text(file, LEFT, 36, SVG_START, 20, SVG_INK, "%s",
             slash != NULL ? slash + 1 : plan->log->path);
    svg_text(file, LEFT, 58, SVG_START, 12, SVG_FAINT,
             "predicted time of %llu calls; at least %s, at best %s",
             (unsigned long long)plan->call_count, minimal, optimal);
    chart_curve(file, &chart, true);
    chart_axes(file, &chart);
    chart_name_steps(file, &chart);
    chart_curve(file, &chart, false);
    chart_budget(file, &chart);
    if (!svg_close(file))
        tool_fail("%s: could not be written", path);
}
