/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Numbers, times and names for people and for programs. Names of files are other people's text: a
 * terminal is shown no control characters of theirs, and JSON is valid whatever they contain. */

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shm.h"

static bool json_first = true; /* no comma before the next member */
static int json_depth;

/* Bytes of the UTF-8 character at text, if it is one that may be shown; else 0. */
static int character_bytes(const unsigned char *text) {
    if (*text < 0x80)
        return *text >= 0x20 && *text != 0x7f;
    const int count = *text >= 0xf0 && *text < 0xf5   ? 4
                      : *text >= 0xe0 && *text < 0xf0 ? 3
                      : *text >= 0xc2 && *text < 0xe0 ? 2
                                                      : 0;
    for (int i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    const bool control = text[0] == 0xc2 && text[1] < 0xa0;
    const bool overlong =
        (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    const bool no_scalar =
        (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return control || overlong || no_scalar ? 0 : count;
}

void shm_print_safe(FILE *file, const char *text, int width) {
    int shown = 0;
    for (const unsigned char *next = (const unsigned char *)text; *next; shown++) {
        const int count = character_bytes(next);
        if (count == 0)
            fputc('?', file);
        else
            fwrite(next, 1, (size_t)count, file);
        next += count ? count : 1;
    }
    for (; shown < width; shown++)
        fputc(' ', file);
}

void shm_complain(const char *path, const char *what, const char *why) {
    fputs("jalloc-shm: ", stderr);
    shm_print_safe(stderr, path, 0);
    fprintf(stderr, ": %s%s", what, what[0] ? ": " : "");
    shm_print_safe(stderr, why, 0);
    fputc('\n', stderr);
}

shm_text_t shm_size_text(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    shm_text_t size;
    double value = (double)bytes;
    unsigned unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(size.text, sizeof size.text, "%.*f %s", unit == 0 || value >= 100 ? 0 : 1, value,
             units[unit]);
    return size;
}

shm_text_t shm_time_text(int64_t seconds) {
    shm_text_t text = {"-"};
    const time_t time = (time_t)seconds;
    struct tm local;
    if (seconds != 0 && localtime_r(&time, &local) != NULL)
        strftime(text.text, sizeof text.text, "%Y-%m-%d %H:%M:%S", &local);
    return text;
}

shm_text_t shm_user_text(uid_t user) {
    shm_text_t text;
    const struct passwd *known = getpwuid(user);
    if (known != NULL)
        snprintf(text.text, sizeof text.text, "%s", known->pw_name);
    else
        snprintf(text.text, sizeof text.text, "%lu", (unsigned long)user);
    return text;
}

static void json_string(const char *text) {
    putchar('"');
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        const int count = character_bytes(next);
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
    if (json_depth > 0)
        printf("%s\n%*s", json_first ? "" : ",", 2 * json_depth, "");
    if (name != NULL) {
        json_string(name);
        fputs(": ", stdout);
    }
    json_first = false;
}

void shm_json_open(const char *name, char bracket) {
    json_member(name);
    putchar(bracket);
    json_first = true;
    json_depth++;
}

void shm_json_close(char bracket) {
    json_depth--;
    if (!json_first)
        printf("\n%*s", 2 * json_depth, "");
    putchar(bracket);
    json_first = false;
}

void shm_json_text(const char *name, const char *text) {
    json_member(name);
    json_string(text);
}

void shm_json_number(const char *name, int64_t value) {
    json_member(name);
    printf("%" PRId64, value);
}

void shm_json_real(const char *name, double value) {
    json_member(name);
    printf("%.6g", value);
}

void shm_json_bool(const char *name, bool value) {
    json_member(name);
    fputs(value ? "true" : "false", stdout);
}

void shm_json_end(void) { putchar('\n'); }
