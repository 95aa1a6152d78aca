/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

enum { FIGURE_WIDTH = 9 };

/* Of the names at the left. */
static int name_width(const table_t *table) {
    int width = 27; /* the longest ratio's */
    for (size_t r = 0; r < table->rows; r++)
        width = (int)strlen(table->row[r]) + 1 > width ? (int)strlen(table->row[r]) + 1 : width;
    return width;
}

static int column_width(const table_t *table, size_t column) {
    int width = (int)strlen(table->column[column]) + 2;
    return width > FIGURE_WIDTH ? width : FIGURE_WIDTH;
}

static void print_figure(double value, int width, int decimals, char mark) {
    if (value == 0)
        printf("%*s%c", width - 1, "-", ' ');
    else
        printf("%*.*f%c", width - 1, value >= 1000 ? 0 : decimals, value, mark);
}

int table_best_peer(const table_t *table, size_t column) {
    int best = -1;
    for (size_t r = 0; r < table->rows; r++) {
        double value = table->value[r][column];
        if (table->peer[r] && value != 0 && (best < 0 || value < table->value[best][column]))
            best = (int)r;
    }
    return best;
}

int table_find(const table_t *table, const char *name) {
    for (size_t r = 0; r < table->rows; r++)
        if (strcmp(table->row[r], name) == 0)
            return (int)r;
    return -1;
}

void table_print(const table_t *table, const char *title, const char *unit) {
    printf("\n%s: %s\n%-*s", title, unit, name_width(table), "");
    for (size_t c = 0; c < table->columns; c++)
        printf("%*s ", column_width(table, c) - 1, table->column[c]);
    puts("");
    for (size_t r = 0; r < table->rows; r++) {
        printf("%-*s", name_width(table), table->row[r]);
        for (size_t c = 0; c < table->columns; c++)
            print_figure(table->value[r][c], column_width(table, c), table->decimals,
                         table_best_peer(table, c) == (int)r ? '*' : ' ');
        puts("");
    }
    fflush(stdout);
}

void table_note(const table_t *table, const char *series, const char *ours) {
    int row = table_find(table, ours);
    for (size_t r = 0; r < table->rows && row >= 0; r++)
        for (size_t c = 0; c < table->columns && table->peer[r]; c++)
            if (table->value[row][c] > 0 && table->value[r][c] > 0)
                bench_note(series, table->column[c], table->row[r], "", table->value[row][c] * 1e-9,
                           table->value[r][c] * 1e-9);
}

void table_print_line(const table_t *table, const char *name, const double *values, int decimals) {
    printf("%-*s", name_width(table), name);
    for (size_t c = 0; c < table->columns; c++)
        print_figure(values[c], column_width(table, c), decimals, ' ');
    puts("");
    fflush(stdout);
}

static bool aim_is_worse(const aim_t *aim, double figure, double than) {
    return aim->at_least ? figure < than : figure > than;
}

void aim_add(aim_t *aim, double figure, const char *table, const char *column) {
    double *figures = realloc(aim->figure, (aim->count + 1) * sizeof *figures);
    if (!figures) {
        perror("bench_allocators");
        exit(1);
    }
    aim->figure = figures;
    aim->reached += !aim_is_worse(aim, figure, aim->bound);
    if (aim->count == 0 || aim_is_worse(aim, figure, aim->worst)) {
        aim->worst = figure;
        snprintf(aim->where, sizeof aim->where, "%s, %s", table, column);
    }
    aim->figure[aim->count++] = figure;
}

void aims_print(aim_t *aims, size_t count) {
    printf("\n%-58s %9s %8s %9s  %s\n", "aims", "median", "worst", "reached", "where it is worst");
    for (size_t a = 0; a < count; a++) {
        aim_t *aim = &aims[a];
        char text[80];
        snprintf(text, sizeof text, "%s: at %s %g", aim->what, aim->at_least ? "least" : "most",
                 aim->bound);
        if (aim->count == 0)
            printf("%-58s not measured\n", text);
        else
            printf("%-58s %9.2f %8.2f %4zu of %-3zu %s: %s\n", text,
                   bench_median(aim->figure, aim->count), aim->worst, aim->reached, aim->count,
                   aim->reached == aim->count ? "reached" : "missed", aim->where);
        free(aim->figure);
    }
}
