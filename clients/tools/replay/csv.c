/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The scanner. The file is mapped (what cannot be mapped, such as a pipe, is read whole) and walked
 * once, so a trace of millions of rows takes about a second. The mapping is private and may be
 * written: doubled quotes are undone in place. */

#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/tool.h"

/* ---- The file ---- */

static void csv_read_whole(csv_t *csv, int file) {
    size_t size = 0, capacity = 0;
    for (;;) {
        if (size == capacity) {
            size_t larger = capacity ? 2 * capacity : 1 << 16;
            csv->begin = tool_reallocate(csv->begin, capacity, larger, 1);
            capacity = larger;
        }
        ssize_t count = read(file, csv->begin + size, capacity - size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            tool_refuse("%s: %s", csv->path, strerror(errno));
        if (count == 0)
            break;
        size += (size_t)count;
    }
    csv->end = csv->begin + size;
}

void csv_open(csv_t *csv, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    memset(csv, 0, sizeof *csv);
    csv->path = standard ? "standard input" : path;
    csv->next_line = 1;
    if (file < 0 || fstat(file, &about) != 0)
        tool_refuse("%s: %s", csv->path, strerror(errno));
    if (S_ISREG(about.st_mode) && about.st_size > 0 && !standard) {
        void *memory =
            mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        if (memory != MAP_FAILED) {
            csv->mapped = true;
            csv->begin = memory;
            csv->end = csv->begin + about.st_size;
            (void)madvise(memory, (size_t)about.st_size, MADV_SEQUENTIAL);
        }
    }
    if (!csv->mapped)
        csv_read_whole(csv, file);
    csv->next = csv->begin;
    if (!standard)
        close(file);
}

void csv_close(csv_t *csv) {
    if (csv->mapped)
        munmap(csv->begin, (size_t)(csv->end - csv->begin));
    else
        free(csv->begin);
    csv->begin = csv->next = csv->end = NULL;
}

void csv_refuse(const csv_t *csv, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tool_refuse("%s:%zu: %s", csv->path, csv->line, text);
}

/* ---- Rows ---- */

/* A field that begins with a quote; returns what follows it. */
static char *csv_read_quoted(csv_t *csv, csv_field_t *field, char *next) {
    char *write = ++next;
    field->text = next;
    for (;; next++) {
        if (next == csv->end)
            csv_refuse(csv, "a quote that is not closed");
        if (*next == '\n')
            csv->next_line++;
        if (*next == '"') {
            if (next + 1 == csv->end || next[1] != '"')
                break;
            next++;
        }
        if (write != next) /* a page that needs no change is not copied */
            *write = *next;
        write++;
    }
    field->length = (size_t)(write - field->text);
    return next + 1;
}

bool csv_read_row(csv_t *csv) {
    char *next = csv->next, *const end = csv->end;
    while (next < end && (*next == '\n' || *next == '\r'))
        csv->next_line += *next++ == '\n';
    csv->line = csv->next_line;
    csv->field_count = 0;
    if (next == end) {
        csv->next = next;
        return false;
    }
    for (;;) {
        if (csv->field_count == CSV_MAX_FIELDS)
            csv_refuse(csv, "more than %d fields", CSV_MAX_FIELDS);
        csv_field_t *field = &csv->fields[csv->field_count++];
        if (next < end && *next == '"') {
            next = csv_read_quoted(csv, field, next);
        } else {
            field->text = next;
            while (next < end && *next != ',' && *next != '\n')
                next++;
            field->length = (size_t)(next - field->text);
            if ((next == end || *next == '\n') && field->length > 0 && next[-1] == '\r')
                field->length--;
        }
        if (next < end && *next == ',') {
            next++;
            continue;
        }
        if (next < end && *next == '\r')
            next++;
        if (next < end && *next != '\n')
            csv_refuse(csv, "text after a closing quote");
        break;
    }
    if (next < end) {
        next++;
        csv->next_line++;
    }
    csv->next = next;
    return true;
}

/* ---- Fields ---- */

bool csv_field_is(const csv_field_t *field, const char *text) {
    return field->length == strlen(text) && memcmp(field->text, text, field->length) == 0;
}

static int csv_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Digits of a base from *text on, at least one; leaves *text behind them. */
static bool csv_parse_digits(const char **text, const char *end, unsigned base, uint64_t *value) {
    const char *next = *text;
    uint64_t number = 0;
    for (; next < end; next++) {
        unsigned digit = (unsigned)csv_digit(*next);
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    bool any = next > *text;
    *text = next;
    *value = number;
    return any;
}

bool csv_parse_number(const csv_field_t *field, uint64_t *value) {
    const char *next = field->text, *end = next + field->length;
    return csv_parse_digits(&next, end, 10, value) && next == end;
}

bool csv_parse_address(const csv_field_t *field, uint64_t *value) {
    const char *next = field->text, *end = next + field->length;
    if (csv_field_is(field, "(nil)")) {
        *value = 0;
        return true;
    }
    bool hexadecimal = field->length > 2 && next[0] == '0' && (next[1] | 32) == 'x';
    if (hexadecimal)
        next += 2;
    return csv_parse_digits(&next, end, hexadecimal ? 16 : 10, value) && next == end;
}

/* Two digits below a limit. */
static bool csv_parse_pair(const char **text, const char *end, uint64_t limit, uint64_t *value) {
    const char *begin = *text;
    return csv_parse_digits(text, end, 10, value) && *text - begin == 2 && *value < limit;
}

bool csv_parse_time(const csv_field_t *field, uint64_t *time_ns, bool *clock) {
    const char *next = field->text, *end = next + field->length;
    *clock = memchr(next, ':', field->length) != NULL;
    if (!*clock)
        return csv_parse_number(field, time_ns);
    uint64_t hours, minutes, seconds, fraction = 0;
    if (!csv_parse_pair(&next, end, 24, &hours) || next == end || *next++ != ':' ||
        !csv_parse_pair(&next, end, 60, &minutes) || next == end || *next++ != ':' ||
        !csv_parse_pair(&next, end, 61, &seconds)) /* a leap second is the sixtieth */
        return false;
    if (next < end) {
        if (*next != '.' && *next != ':')
            return false;
        const char *digits = ++next;
        if (!csv_parse_digits(&next, end, 10, &fraction) || next != end || next - digits > 9)
            return false;
        for (ptrdiff_t count = next - digits; count < 9; count++)
            fraction *= 10;
    }
    *time_ns = ((hours * 60 + minutes) * 60 + seconds) * 1000000000u + fraction;
    return true;
}
