/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPORT_H
#define REPORT_H

/* Tables of contenders by workloads, and the aims that they are held against. */

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_ROWS = 32, REPORT_COLUMNS = 16 };

typedef struct table {
    const char *row[REPORT_ROWS];
    char column[REPORT_COLUMNS][32];
    size_t rows, columns;
    double value[REPORT_ROWS][REPORT_COLUMNS]; /* 0: there is none */
    int decimals;
    bool peer[REPORT_ROWS]; /* whether a row is somebody else's */
} table_t;

/* The best peer's row in a column, the one with the least value; -1: there is none. */
int table_best_peer(const table_t *table, size_t column);
/* The row of that name; -1: there is none. */
int table_find(const table_t *table, const char *name);
/* Prints it; the best peer of each column has a star. */
void table_print(const table_t *table, const char *title, const char *unit);
/* Notes a row beside each peer's, each column a point of the series (bench_note()). The values are
 * nanoseconds. */
void table_note(const table_t *table, const char *series, const char *ours);
/* A line below a table. 0: there is none. */
void table_print_line(const table_t *table, const char *name, const double *values, int decimals);

/* What is wanted of a number of figures: each at least, or each at most, so much. */
typedef struct aim {
    const char *what;
    bool at_least;
    double bound;
    /* What was found. */
    double *figure;
    size_t count, reached;
    double worst;
    char where[120];
} aim_t;

void aim_add(aim_t *aim, double figure, const char *table, const char *column);
/* Prints all; those without figures are said to be not measured. */
void aims_print(aim_t *aims, size_t count);

#endif
