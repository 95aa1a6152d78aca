/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_BUFFER_H
#define BENCH_BUFFER_H

/* bench_buffer: what its files share. Figures are ratios, how much faster we are than what is
 * written beside them, so 1 is as fast. */

#include "../allocators/report.h"
#include "world.h"

enum { AIM_CONSTRUCT, AIM_COPY, AIM_REDISTRIBUTE, AIM_DISTRIBUTED_PRODUCT, AIMS };
extern aim_t aims[AIMS];

/* Puts a ratio into a table, notes it, and holds it against an aim (AIMS: none). */
void report_ratio(table_t *table, size_t row, size_t column, bench_result_t result, int aim);
/* Rank 0 prints. */
void report_table(const table_t *table, const char *title);

/* Square matrices of f64; aborts where one cannot be made. leading_dimension 0: packed. */
jlayout_t square_layout(int64_t order, int64_t leading_dimension);
jbuffer_allocator_t *make_allocator(jbuffer_kind_t kind, int rows, int columns, int64_t block);
jbuffer_t *make_square(jbuffer_allocator_t *allocator, int64_t order, int64_t leading_dimension);
/* The element at a place in the whole: cheap, so that the memory shows, and no two that could be
 * confused are the same. */
static inline double value_at(int64_t i, int64_t j) { return (double)i + 4096.0 * (double)j; }

/* local.c: one process. */
void bench_construct(void);
void bench_local_copies(void);
void bench_local_products(void);

/* distributed.c: all processes. */
#ifdef BENCH_HAVE_MPI
void bench_distributed_copies(void);
void bench_redistribution(void);
void bench_distributed_products(void);
#endif

#endif
