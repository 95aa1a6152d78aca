/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_CSV_H
#define REPLAY_CSV_H

/* A CSV file, row by row, without a copy: fields are pieces of the file, which is mapped privately.
 * A field in quotes may contain commas, newlines and doubled quotes (RFC 4180). Blank lines are
 * skipped. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_MAX_FIELDS 32

typedef struct csv_field {
    char *text; /* not terminated */
    size_t length;
} csv_field_t;

typedef struct csv {
    const char *path;
    char *begin, *next, *end;
    bool mapped;
    size_t line, next_line; /* of the row read last, and of what follows it; from 1 */
    csv_field_t fields[CSV_MAX_FIELDS];
    size_t field_count;
} csv_t;

/* "-" is standard input. Exits if the file cannot be read. */
void csv_open(csv_t *csv, const char *path);
void csv_close(csv_t *csv);

/* Reads the next row into csv->fields; false at the end. Exits on what is no CSV. */
bool csv_read_row(csv_t *csv);

/* Says what is wrong with the row read last, "FILE:LINE: ...", and exits. */
_Noreturn void csv_refuse(const csv_t *csv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool csv_field_is(const csv_field_t *field, const char *text);

/* Decimal digits and nothing else. */
bool csv_parse_number(const csv_field_t *field, uint64_t *value);
/* 0x and hexadecimal digits, decimal digits, or (nil). */
bool csv_parse_address(const csv_field_t *field, uint64_t *value);
/* Nanoseconds: decimal digits, or a clock, 11:23:45.123456 or 11:23:45:123456. */
bool csv_parse_time(const csv_field_t *field, uint64_t *time_ns, bool *clock);

#endif
