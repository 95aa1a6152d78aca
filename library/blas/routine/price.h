/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_PRICE_H
#define JALLOC_BLAS_ROUTINE_PRICE_H

/* What routines count: flops, and the prices of a plan's rungs made from them. */

#include "jalloc/borrow.h"

/* The sizes of one call, by the names of its arguments; what it has not is 0. */
typedef struct ji_sizes {
    double m, n, k, nrhs, kl, ku, kd;
    double order; /* of A where a side decides it; else n */
} ji_sizes_t;

/* Of one item, of real types; complex ones count four times. A batched form's name is its plain
 * one's. 0: it only moves, or looks for something until it has it. */
double ji_flops(const char *routine, const ji_sizes_t *sizes);

/* Prices of all rungs, by the block that the plan was made of. */
void ji_price_plan(jplan_t *plan, const void *block);

/* The plan of a call that has one way, which needs nothing. */
void ji_plain_plan(jplan_t *plan, const jhandle_t *handle, const void *block);

#endif
