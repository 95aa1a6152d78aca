/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The writer of JSON. It is valid whatever the texts contain. */

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "text.h"

static bool json_first = true; /* no comma before the next member */
static int json_depth;
static bool json_in_line; /* all of it in one line */

static void json_string(const char *text) {
    putchar('"');
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        const int count = text_character_bytes(next);
        if (count == 0)
            putchar('?');
        else if (*next == '"' || *next == '\\')
            printf("\\%c", *next);
        else
            fwrite(next, 1, (size_t)count, stdout);
        next += count ? count : 1;
    }
    putchar('"');
}

/* What stands before each value. */
static void json_member(const char *name) {
    if (json_depth > 0 && json_in_line)
        fputs(json_first ? "" : ", ", stdout);
    else if (json_depth > 0)
        printf("%s\n%*s", json_first ? "" : ",", 2 * json_depth, "");
    if (name != NULL) {
        json_string(name);
        fputs(": ", stdout);
    }
    json_first = false;
}

void json_open(const char *name, char bracket) {
    json_member(name);
    putchar(bracket);
    json_first = true;
    json_depth++;
}

void json_open_line(void) {
    json_in_line = true;
    json_open(NULL, '{');
}

void json_close(char bracket) {
    json_depth--;
    if (!json_first && !json_in_line)
        printf("\n%*s", 2 * json_depth, "");
    putchar(bracket);
    json_first = false;
}

void json_text(const char *name, const char *text) {
    json_member(name);
    json_string(text);
}

void json_number(const char *name, int64_t value) {
    json_member(name);
    printf("%" PRId64, value);
}

void json_real(const char *name, double value) {
    json_member(name);
    if (isfinite(value))
        printf("%.9g", value);
    else
        fputs("null", stdout);
}

void json_bool(const char *name, bool value) {
    json_member(name);
    fputs(value ? "true" : "false", stdout);
}

void json_end(void) {
    putchar('\n');
    json_in_line = false;
}
