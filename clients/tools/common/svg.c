/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The writer. Text is escaped; what is no UTF-8 (a file may have any name) or what XML forbids
 * becomes a question mark. */

#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

FILE *svg_open(const char *path, double width, double height) {
    FILE *file = fopen(path, "w");
    if (!file)
        return NULL;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
            width, height, width, height);
    svg_rectangle(file, 0, 0, width, height, "#ffffff");
    return file;
}

bool svg_close(FILE *file) {
    fputs("</svg>\n", file);
    const bool failed = ferror(file) != 0;
    return fclose(file) == 0 && !failed;
}

static void svg_put_escaped(FILE *file, const char *text) {
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        int count = text_character_bytes(next);
        if (count == 0)
            fputc('?', file);
        else if (strchr("&<>\"", *next))
            fprintf(file, "&#%d;", *next);
        else
            fwrite(next, 1, (size_t)count, file);
        next += count ? count : 1;
    }
}

void svg_text(FILE *file, double x, double y, svg_anchor_t anchor, int size, const char *colour,
              const char *format, ...) {
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\">", x,
            y, anchors[anchor], size, colour);
    svg_put_escaped(file, text);
    fputs("</text>\n", file);
}

void svg_line(FILE *file, double x0, double y0, double x1, double y1, const char *style) {
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1,
            style);
}

void svg_rectangle(FILE *file, double x, double y, double width, double height,
                   const char *colour) {
    fprintf(file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x,
            y, width, height, colour);
}

double svg_nice_step(double range, int count) {
    const double power = pow(10, floor(log10(range / count)));
    static const double factors[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && factors[i] * power * count < range)
        i++;
    return factors[i] * power;
}

static svg_unit_t unit_of(const svg_unit_t *units, size_t count, double value) {
    size_t i = 0;
    while (i + 1 < count && value < units[i].size)
        i++;
    return units[i];
}

svg_unit_t svg_unit_of_bytes(double bytes) {
    static const svg_unit_t units[] = {
        {"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"bytes", 1}};
    return unit_of(units, sizeof units / sizeof *units, bytes);
}

svg_unit_t svg_unit_of_time(double seconds) {
    static const svg_unit_t units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    return unit_of(units, sizeof units / sizeof *units, seconds);
}
