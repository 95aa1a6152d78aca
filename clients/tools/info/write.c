/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sections, rows and fields, as text or as JSON. */

#include <stdarg.h>
#include <stdio.h>

#include "../common/json.h"
#include "info.h"

static bool json;
static bool is_first = true; /* section */

void info_begin(bool as_json) {
    json = as_json;
    if (json)
        json_open(NULL, '{');
}

void info_end(void) {
    if (!json)
        return;
    json_close('}');
    json_end();
}

bool info_is_json(void) { return json; }

void section_begin(const char *name) {
    if (json)
        json_open(name, '[');
    else
        printf("%s%s\n", is_first ? "" : "\n", name);
    is_first = false;
}

void section_end(void) {
    if (json)
        json_close(']');
}

void row_begin(const char *name) {
    if (json) {
        json_open(NULL, '{');
        json_text("name", name);
    } else {
        printf("  %s\n", name);
    }
}

void row_end(void) {
    if (json)
        json_close('}');
}

void field_text(const char *name, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (json)
        json_text(name, text);
    else
        printf("    %-12s %s\n", name, text);
}

void field_bytes(const char *name, size_t bytes) {
    if (json)
        json_number(name, (int64_t)bytes);
    else if (bytes >= (size_t)1 << 30)
        printf("    %-12s %zu (%.1f GiB)\n", name, bytes, (double)bytes / (1 << 30));
    else if (bytes >= 1 << 20)
        printf("    %-12s %zu (%.1f MiB)\n", name, bytes, (double)bytes / (1 << 20));
    else
        printf("    %-12s %zu\n", name, bytes);
}

void field_count(const char *name, int count) {
    if (json)
        json_number(name, count);
    else
        printf("    %-12s %d\n", name, count);
}

void field_bool(const char *name, bool value) {
    if (json)
        json_bool(name, value);
    else
        printf("    %-12s %s\n", name, value ? "yes" : "no");
}
