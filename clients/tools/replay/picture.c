/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The picture.
 *
 *     title
 *     MiB |     ____          memory over time: what is reserved, and before it what is in use
 *         |  __/    \__       (the most of each part of the time), the peak marked
 *         +--------------- s
 *     0x7f..00  [####  ## ]   the address space at the peak: the bytes of a row are a power of two,
 *     0x7f..40  [ ######]     live blocks in the colour of their owner, free ones left blank
 *     # owner 12 MiB  ...     the owners, most bytes first
 *
 * A range that is longer than a row begins a row; shorter ones follow each other with a gap. A
 * block narrower than half a canvas unit is drawn half a unit wide, and one that would fall on the
 * same half unit as the one before it is not drawn: the file stays small however many blocks there
 * are. */

#include "picture.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "../common/svg.h"
#include "../common/tool.h"
#include "../common/units.h"

enum { LEFT = 112, PLOT = SURVEY_SAMPLES, RIGHT = 48, WIDTH = LEFT + PLOT + RIGHT };
enum {
    CHART_TOP = 104,
    CHART_HEIGHT = 220,
    CHART_BOTTOM = CHART_TOP + CHART_HEIGHT,
    MAP_TOP = CHART_BOTTOM + 108
};
enum { ROW_HEIGHT = 15, ROW_STEP = 20, USUAL_ROWS = 24, MOST_ROWS = 60 };
enum { OWNER_COLUMNS = 3, OWNER_STEP = 22 };
#define RANGE_GAP 3.0 /* between ranges in a row */
#define LEAST_WIDTH 0.5
#define RESERVED_COLOUR "#d8dee6"
#define IN_USE_COLOUR "#5b6b7c" /* no owner's */
#define HELD_COLOUR "#eceff3"

/* The owners with most bytes have a colour each, the others share the last one. */
static const char *const owner_colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                            "#66ccee", "#aa3377", "#e08214", "#6b4c9a",
                                            "#8c6d31", "#1b9e9e", "#e7a1c4", "#9aa5b1"};
enum { OWNER_COLOURS = sizeof owner_colours / sizeof *owner_colours };

static const char *owner_colour(size_t rank) {
    return owner_colours[rank < OWNER_COLOURS ? rank : OWNER_COLOURS - 1];
}

/* ---- Memory over time ---- */

/* The area below the values of all parts of the time. */
static void picture_area(FILE *file, const survey_t *survey, size_t offset, double top_value,
                         const char *colour) {
    fprintf(file, "<path fill=\"%s\" d=\"M%d %d", colour, LEFT, CHART_BOTTOM);
    for (int part = 0; part < SURVEY_SAMPLES; part++) {
        size_t bytes;
        memcpy(&bytes, (const char *)&survey->samples[part] + offset, sizeof bytes);
        fprintf(file, "V%.1fH%d", CHART_BOTTOM - (double)bytes / top_value * CHART_HEIGHT,
                LEFT + part + 1);
    }
    fprintf(file, "V%dZ\"/>\n", CHART_BOTTOM);
}

static void picture_chart(FILE *file, const trace_t *trace, const survey_t *survey) {
    double most = 1, all = survey->by_time ? (double)trace_duration_ns(trace) * 1e-9
                                           : (double)trace->operation_count;
    for (int part = 0; part < SURVEY_SAMPLES; part++) {
        most = fmax(most, (double)survey->samples[part].in_use_max_bytes);
        most = fmax(most, (double)survey->samples[part].reserved_max_bytes);
    }
    const svg_unit_t bytes = svg_unit_of_bytes(most),
                     time = survey->by_time ? svg_unit_of_time(all) : (svg_unit_t){"operations", 1};
    const double y_step = svg_nice_step(most / bytes.size, 6),
                 x_step = svg_nice_step(fmax(all, 1e-9) / time.size, 10);
    const double y_most = ceil(most / bytes.size / y_step) * y_step;

    picture_area(file, survey, offsetof(sample_t, reserved_max_bytes), y_most * bytes.size,
                 RESERVED_COLOUR);
    picture_area(file, survey, offsetof(sample_t, in_use_max_bytes), y_most * bytes.size,
                 IN_USE_COLOUR);
    const int y_steps = (int)lround(y_most / y_step),
              x_steps = (int)(all / time.size / x_step + 1e-9);
    for (int i = 0; i <= y_steps; i++) {
        double y = i * y_step, height = CHART_BOTTOM - y / y_most * CHART_HEIGHT;
        svg_line(file, LEFT, height, LEFT + PLOT, height,
                 "stroke=\"" SVG_FAINT "\" stroke-opacity=\"0.25\"");
        svg_text(file, LEFT - 10, height + 4, SVG_END, 12, SVG_FAINT, "%g", y);
    }
    svg_text(file, LEFT - 10, CHART_TOP - 14, SVG_END, 12, SVG_INK, "%s", bytes.name);
    for (int i = 0; i <= x_steps; i++) {
        double x = i * x_step, place = LEFT + x * time.size / fmax(all, 1e-9) * PLOT;
        svg_line(file, place, CHART_BOTTOM, place, CHART_BOTTOM + 5, "stroke=\"" SVG_FAINT "\"");
        svg_text(file, place, CHART_BOTTOM + 20, SVG_MIDDLE, 12, SVG_FAINT, "%g", x);
    }
    svg_text(file, LEFT + PLOT, CHART_BOTTOM + 40, SVG_END, 12, SVG_INK,
             survey->by_time ? "time, %s" : "%s", time.name);

    double peak = LEFT + (double)survey_part(survey, trace, survey->peak_at) + 0.5;
    bool left_half = peak < LEFT + 0.5 * PLOT;
    svg_line(file, peak, CHART_TOP - 10, peak, CHART_BOTTOM,
             "stroke=\"#c0392b\" stroke-dasharray=\"4 3\"");
    svg_text(file, peak + (left_half ? 6 : -6), CHART_TOP - 4, left_half ? SVG_START : SVG_END, 12,
             "#c0392b", "peak");
}

/* A coloured square and what it stands for. */
static void picture_key(FILE *file, double x, double y, const char *colour, const char *text) {
    svg_rectangle(file, x, y - 10, 12, 12, colour);
    svg_text(file, x + 18, y, SVG_START, 12, SVG_INK, "%s", text);
}

/* ---- The address space ---- */

/* A part of a range that lies in one row. */
typedef struct piece {
    size_t row;
    double x, width;
    uintptr_t begin, end;
} piece_t;

typedef struct layout {
    double row_bytes;
    size_t row;
    double x; /* where the next piece goes, from 0 to PLOT */
} layout_t;

static void layout_new_row(layout_t *layout) {
    layout->row += layout->x > 0;
    layout->x = 0;
}

/* The next piece of a range that goes on at `begin`. */
static piece_t layout_next(layout_t *layout, uintptr_t begin, uintptr_t end, bool first) {
    double width = fmax((double)(end - begin) / layout->row_bytes * PLOT, 1);
    if (first && layout->x > 0)
        layout->x += RANGE_GAP;
    if (width > PLOT - layout->x)
        layout_new_row(layout);
    piece_t piece = {layout->row, layout->x, fmin(width, PLOT), begin, end};
    if (width > PLOT)
        piece.end = begin + (uintptr_t)layout->row_bytes;
    layout->x += piece.width;
    return piece;
}

static size_t layout_count_rows(const snapshot_t *snapshot, double row_bytes) {
    layout_t layout = {.row_bytes = row_bytes};
    for (size_t i = 0; i < snapshot->range_count && layout.row <= MOST_ROWS; i++) {
        const range_t *range = &snapshot->ranges[i];
        for (uintptr_t begin = range->begin; begin < range->end && layout.row <= MOST_ROWS;)
            begin = layout_next(&layout, begin, range->end, begin == range->begin).end;
    }
    layout_new_row(&layout);
    return layout.row;
}

/* Bytes of a row: the least that needs no more than the usual number of rows. */
static double layout_choose(const snapshot_t *snapshot) {
    double row_bytes = 4096;
    while (layout_count_rows(snapshot, row_bytes) > USUAL_ROWS && row_bytes < 0x1p50)
        row_bytes *= 2;
    return row_bytes;
}

/* Draws the live blocks of a piece; `next` is the first that may reach into it. Returns that of the
 * piece after. */
static size_t picture_blocks(FILE *file, const snapshot_t *snapshot, const piece_t *piece, double y,
                             size_t next) {
    const double scale = piece->width / (double)(piece->end - piece->begin);
    double last_x = -1;
    for (; next < snapshot->place_count && snapshot->places[next].address < piece->end; next++) {
        const place_t *place = &snapshot->places[next];
        uintptr_t begin = place->address > piece->begin ? place->address : piece->begin;
        uintptr_t end = place->address + place->size_bytes < piece->end
                            ? place->address + place->size_bytes
                            : piece->end;
        double x = (double)(begin - piece->begin) * scale, width = (double)(end - begin) * scale;
        if (width < LEAST_WIDTH) {
            width = LEAST_WIDTH;
            x = fmin(floor(x / LEAST_WIDTH) * LEAST_WIDTH, piece->width - width);
        } else if (width > 4) {
            width -= 0.6; /* neighbours of one owner stay apart */
        }
        if (x >= last_x + LEAST_WIDTH || width > LEAST_WIDTH)
            svg_rectangle(file, LEFT + piece->x + x, y, width, ROW_HEIGHT,
                          owner_colour(place->owner));
        last_x = x;
        if (place->address + place->size_bytes > piece->end)
            break; /* goes on in the next piece */
    }
    return next;
}

static void picture_map(FILE *file, const snapshot_t *snapshot, double row_bytes) {
    layout_t layout = {.row_bytes = row_bytes};
    size_t next = 0, labelled = 0; /* rows that have their label */
    for (size_t i = 0; i < snapshot->range_count; i++)
        for (uintptr_t begin = snapshot->ranges[i].begin; begin < snapshot->ranges[i].end;) {
            piece_t piece = layout_next(&layout, begin, snapshot->ranges[i].end,
                                        begin == snapshot->ranges[i].begin);
            double y = MAP_TOP + (double)piece.row * ROW_STEP;
            if (piece.row >= MOST_ROWS) {
                svg_text(file, LEFT, y + ROW_HEIGHT - 3, SVG_START, 11, SVG_FAINT,
                         "%zu more ranges are not shown", snapshot->range_count - i);
                return;
            }
            if (piece.row >= labelled) {
                svg_text(file, LEFT - 10, y + ROW_HEIGHT - 3, SVG_END, 10, SVG_FAINT, "0x%llx",
                         (unsigned long long)piece.begin);
                labelled = piece.row + 1;
            }
            svg_rectangle(file, LEFT + piece.x, y, piece.width, ROW_HEIGHT, HELD_COLOUR);
            next = picture_blocks(file, snapshot, &piece, y, next);
            begin = piece.end;
        }
}

static void picture_owners(FILE *file, const snapshot_t *snapshot, double top) {
    size_t shown = snapshot->owner_count < OWNER_COLOURS ? snapshot->owner_count : OWNER_COLOURS;
    for (size_t rank = 0; rank < shown; rank++) {
        char text[160], bytes[UNITS_BYTES];
        owner_t owner = snapshot->owners[rank];
        if (rank + 1 == OWNER_COLOURS && snapshot->owner_count > OWNER_COLOURS) {
            for (size_t other = rank + 1; other < snapshot->owner_count; other++) {
                owner.live_bytes += snapshot->owners[other].live_bytes;
                owner.live_count += snapshot->owners[other].live_count;
            }
            snprintf(owner.name, sizeof owner.name, "%zu others", snapshot->owner_count - rank);
        }
        units_bytes(bytes, (double)owner.live_bytes, 1);
        snprintf(text, sizeof text, "%.26s: %s, %zu block%s", owner.name, bytes, owner.live_count,
                 owner.live_count == 1 ? "" : "s");
        size_t row = rank / OWNER_COLUMNS, column = rank % OWNER_COLUMNS;
        picture_key(file, LEFT + (double)column * PLOT / OWNER_COLUMNS,
                    top + (double)row * OWNER_STEP, owner_colour(rank), text);
    }
}

/* ---- The whole ---- */

static const char *picture_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void picture_write(const char *path, const trace_t *trace, const char *composition,
                   const survey_t *survey, const snapshot_t *snapshot) {
    const double row_bytes = layout_choose(snapshot);
    size_t rows = layout_count_rows(snapshot, row_bytes);
    size_t owners = snapshot->owner_count < OWNER_COLOURS ? snapshot->owner_count : OWNER_COLOURS;
    if (rows > MOST_ROWS)
        rows = MOST_ROWS + 1; /* with the line that says so */
    const double map_bottom = MAP_TOP + (double)rows * ROW_STEP;
    const size_t owner_rows = (owners + OWNER_COLUMNS - 1) / OWNER_COLUMNS;
    const double height = map_bottom + 44 + (double)owner_rows * OWNER_STEP;
    char in_use[UNITS_BYTES], reserved[UNITS_BYTES], row[UNITS_BYTES], duration[UNITS_BYTES],
        at[UNITS_BYTES];
    units_bytes(in_use, (double)survey->peak_in_use_bytes, 1);
    units_bytes(reserved, (double)survey->peak_reserved_bytes, 1);
    units_time(duration, (double)trace_duration_ns(trace) * 1e-9);

    FILE *file = svg_open(path, WIDTH, height);
    if (!file)
        tool_fail("%s: %s", path, strerror(errno));
    svg_text(file, LEFT, 36, SVG_START, 20, SVG_INK, "%s on %s", picture_base_name(trace->path),
             composition);
    svg_text(file, LEFT, 58, SVG_START, 12, SVG_FAINT,
             "%zu allocations and %zu frees in %s; at most %s in use and %s reserved; %zu failures",
             trace->allocation_count, trace->free_count, duration, in_use, reserved,
             survey->faults.failure_count);
    picture_chart(file, trace, survey);
    picture_key(file, LEFT, CHART_BOTTOM + 40, IN_USE_COLOUR, "in use");
    picture_key(file, LEFT + 90, CHART_BOTTOM + 40, RESERVED_COLOUR, "reserved");

    units_bytes(reserved, (double)snapshot->reserved_bytes, 1);
    units_bytes(row, row_bytes, 0);
    if (trace->operation_count > 0)
        units_time(at, (double)trace->times_ns[survey->peak_at] * 1e-9);
    else
        units_time(at, 0);
    svg_text(file, LEFT, MAP_TOP - 32, SVG_START, 15, SVG_INK, "Address space at the peak");
    svg_text(file, LEFT, MAP_TOP - 13, SVG_START, 12, SVG_FAINT,
             "after %s; %s of %s reserved are in use; a whole row is %s; light: held and free", at,
             in_use, reserved, row);
    picture_map(file, snapshot, row_bytes);
    picture_owners(file, snapshot, map_bottom + 24);
    if (!svg_close(file))
        tool_fail("%s: could not be written", path);
}
