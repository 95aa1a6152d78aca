/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A line for each problem as soon as it is measured, and in the end one for each group of them: how
 * it stands to the better of the OpenBLASes that take part, problem by problem, and to its aim. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "bench_product.h"

/* What is wanted of each group; 0: nothing. */
static const struct aim {
    const char *group;
    double mean, least;
} aims[] = {
    {"sgemm 4..128", 1, 0.9}, {"dgemm 4..128", 1, 0.9}, {"cgemm 4..128", 1, 0.9},
    {"zgemm 4..128", 1, 0.9}, {"sgemm 256..", 0, 0.97}, {"dgemm 256..", 0, 0.97},
    {"cgemm 256..", 0, 0.97}, {"zgemm 256..", 0, 0.97}, {"sgemm skinny", 1, 0},
    {"dgemm skinny", 1, 0},   {"cgemm skinny", 1, 0},   {"zgemm skinny", 1, 0},
    {"symm", 1, 0.95},        {"syrk", 1, 0.95},        {"syr2k", 1, 0.95},
    {"trmm", 1, 0.95},        {"gemmt", 1, 0.95},       {"trsm", 0, 0.97},
    {"potrf", 0, 1.2},        {"trtri", 0, 1.3},        {"potrf 2048", 0, 0},
    {"trtri 2048", 0, 0},     {"gemv", 0, 0.95},        {"symv", 0, 0.95},
    {"ger", 0, 0.95},         {"axpy", 0, 0.95},        {"dot", 0, 0.95},
    {"asum", 0, 0.95},        {"nrm2", 0, 1},           {"iamax", 0, 1},
    {"tiny", 0, 1},           {"handles", 0, 2},        {"handles, other", 0, 0},
};
enum { AIMS = sizeof aims / sizeof *aims, MAX_THREADS = 64 };

/* What was found, for each number of threads. */
typedef struct found {
    size_t count, disturbed;
    double logarithms, least;
    char where[96];
} found_t;
static found_t all_found[AIMS][MAX_THREADS + 1];

static bool is_against_ourselves(void) {
    return options.rung >= 0 || options.workspace_bytes != SIZE_MAX;
}

void report_heading(void) {
    printf("\n%-30s %2s %12s %8s %4s", "", "th", "ours us", "GF/s", "rung");
    if (is_against_ourselves())
        printf(" %9s", "best rung");
    else
        for (size_t i = 0; i < peer_count; i++)
            printf(" %9.9s", peers[i].name);
    puts("   times as long as ours; ~: disturbed");
}

/* 0: none takes part, or has such a function. */
static double against_better(const figures_t *figures) {
    double least = 0;
    for (size_t i = 0; i < figures->contenders; i++) {
        double ratio = figures->ratio[i];
        bool counts = figures->is_openblas[i] || is_against_ourselves();
        if (counts && ratio > 0 && (least == 0 || ratio < least))
            least = ratio;
    }
    return least;
}

static void note(const char *group, const char *what, const figures_t *figures, size_t i) {
    char series[64];
    const bool ourselves = is_against_ourselves();
    snprintf(series, sizeof series, threads_in_use > 1 ? "%s, %d threads" : "%s", group,
             threads_in_use);
    bench_note(series, what, ourselves ? "our best rung" : peers[i].name,
               ourselves ? "" : peer_kernels(&peers[i]), figures->ours,
               figures->ours * figures->ratio[i]);
}

void report_add(const char *group, const char *what, const figures_t *figures) {
    printf("%-30s %2d %12.3f %8.2f %4d", what, threads_in_use, figures->ours * 1e6,
           figures->flops / figures->ours * 1e-9, figures->rung);
    for (size_t i = 0; i < figures->contenders; i++)
        if (figures->ratio[i] > 0) {
            printf(" %9.3f", figures->ratio[i]);
            note(group, what, figures, i);
        } else
            printf(" %9s", "-");
    printf("%s%s\n", figures->disturbed ? " ~" : "",
           figures->differs ? "   DIFFERENT RESULTS" : "");
    fflush(stdout);

    double ratio = against_better(figures);
    for (size_t a = 0; a < AIMS && ratio > 0 && threads_in_use <= MAX_THREADS; a++) {
        found_t *found = &all_found[a][threads_in_use];
        if (strcmp(aims[a].group, group) != 0)
            continue;
        if (found->count++ == 0 || ratio < found->least) {
            found->least = ratio;
            snprintf(found->where, sizeof found->where, "%s", what);
        }
        found->logarithms += log(ratio);
        found->disturbed += figures->disturbed;
    }
}

static void print_aim(const struct aim *aim, double mean, double least) {
    if (aim->mean == 0 && aim->least == 0) {
        puts("");
        return;
    }
    printf("  %s: ", mean >= aim->mean && least >= aim->least ? "reached" : "missed ");
    if (aim->mean > 0)
        printf("mean %g%s", aim->mean, aim->least > 0 ? ", " : "");
    if (aim->least > 0)
        printf("least %g", aim->least);
    puts("");
}

void report_summary(void) {
    printf("\nagainst %s, problem by problem\n%-16s %2s %5s %9s %7s %7s  %-30s\n",
           is_against_ourselves() ? "our best rung" : "the better OpenBLAS", "", "th", "count",
           "disturbed", "mean", "least", "where");
    for (size_t a = 0; a < AIMS; a++)
        for (int threads = 1; threads <= MAX_THREADS; threads++) {
            const found_t *found = &all_found[a][threads];
            if (found->count == 0)
                continue;
            double mean = exp(found->logarithms / (double)found->count);
            printf("%-16s %2d %5zu %9zu %7.3f %7.3f  %-30s", aims[a].group, threads, found->count,
                   found->disturbed, mean, found->least, found->where);
            if (is_against_ourselves())
                puts("");
            else
                print_aim(&aims[a], mean, found->least);
        }
}
