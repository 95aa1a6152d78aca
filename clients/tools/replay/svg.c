/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The writer. Text is escaped; what is no UTF-8 (a file may have any name) or what XML forbids
 * becomes a question mark. */

#include "svg.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

FILE *svg_open(const char *path, double width, double height) {
    FILE *file = fopen(path, "w");
    if (!file)
        replay_exit(REPLAY_FAILED, "%s: %s", path, strerror(errno));
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
            width, height, width, height);
    svg_rectangle(file, 0, 0, width, height, "#ffffff");
    return file;
}

void svg_close(FILE *file, const char *path) {
    fputs("</svg>\n", file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        replay_exit(REPLAY_FAILED, "%s: could not be written", path);
}

/* Bytes of the UTF-8 character at text; 0: it is none that XML allows. */
static int svg_character_bytes(const unsigned char *text) {
    if (*text < 0x80)
        return *text >= 0x20 && *text != 0x7f;
    int count = *text >= 0xf0 && *text < 0xf5   ? 4
                : *text >= 0xe0 && *text < 0xf0 ? 3
                : *text >= 0xc2 && *text < 0xe0 ? 2
                                                : 0;
    for (int i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool no_scalar = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    bool no_character = text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe;
    return overlong || no_scalar || no_character ? 0 : count;
}

static void svg_put_escaped(FILE *file, const char *text) {
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        int count = svg_character_bytes(next);
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
