/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_SVG_H
#define TOOLS_SVG_H

/* A small writer of SVG: text, lines and rectangles, in canvas units. Errors are kept until
 * svg_close(). */

#include <stdbool.h>
#include <stdio.h>

#define SVG_INK "#1f2933"   /* text */
#define SVG_FAINT "#6b7785" /* notes, tick labels */
#define SVG_GRID "#e4e7eb"

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor_t;

/* A white canvas, so that it can be read on a page of any colour. NULL: the file cannot be made,
 * and errno says why. */
FILE *svg_open(const char *path, double width, double height);
/* False: it could not be written. */
bool svg_close(FILE *file);

void svg_text(FILE *file, double x, double y, svg_anchor_t anchor, int size, const char *colour,
              const char *format, ...) __attribute__((format(printf, 7, 8)));
void svg_line(FILE *file, double x0, double y0, double x1, double y1, const char *style);
void svg_rectangle(FILE *file, double x, double y, double width, double height, const char *colour);

/* What an axis is numbered in: the largest unit of which the value is at least one. */
typedef struct svg_unit {
    const char *name;
    double size;
} svg_unit_t;
svg_unit_t svg_unit_of_bytes(double bytes);
svg_unit_t svg_unit_of_time(double seconds);

/* A step of 1, 2 or 5 times a power of ten that divides `range` into at most `count` parts. */
double svg_nice_step(double range, int count);

#endif
